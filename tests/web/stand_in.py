"""A tray without a camera, and dice lying in it, for tests of the page."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np

from companion.coach.worker import Worker
from companion.engine import DieColour, Roll
from companion.service.power import PowerStep
from companion.session.session import Joined
from companion.tray import DieView, Problem, ProblemCode, TrayStatus, TrayView
from tests.session.fakes import Stage

SIZE_WH = (640, 480)


def picture() -> bytes:
    """A small JPEG."""
    ok, data = cv2.imencode(".jpg", np.full((48, 64, 3), 90, np.uint8))
    assert ok
    return data.tobytes()


@dataclass
class StandInTray:
    """Remembers what it was asked for; its pictures are numbered."""

    throws: int = 0
    told: list[str | None] = field(default_factory=list)
    mishaps: tuple[str, ...] = ("cocked", "off")
    troubles: tuple[str, ...] = ("dark",)
    pictures: dict[int, bytes] = field(default_factory=dict)

    def throw(self, *, mishap: str | None = None) -> None:
        self.throws += 1
        self.told.append(mishap)

    def trouble(self, name: str) -> None:
        self.told.append(name)

    def reoffer(self) -> None:
        self.told.append("reoffer")

    def jpeg(self, number: int | None = None) -> bytes | None:
        if number is None:
            return next(reversed(self.pictures.values()), None)
        return self.pictures.get(number)


@dataclass
class StandInPower:
    """Remembers what it was asked for."""

    is_offered: bool = False
    taken: list[PowerStep] = field(default_factory=list)

    def take(self, step: PowerStep) -> None:
        self.taken.append(step)


class RememberingWorker(Worker):
    """The coach's process, which works a call out once: the games of many tests are the same."""

    def __init__(self) -> None:
        super().__init__()
        self._found: dict[bytes, Any] = {}

    def call(
        self,
        function: Callable[..., Any],
        *args: Any,
        progress: Callable[[float], None] | None = None,
    ) -> Any:
        key = pickle.dumps((function, args))
        if key not in self._found:
            self._found[key] = super().call(function, *args, progress=progress)
        return self._found[key]


def dice_in_tray(roll: Roll, *, frame: int = 1, status: str = "ok", tilted: str = "") -> TrayView:
    """A tray with a roll's dice in a ring, settled unless one is tilted."""
    values = [(DieColour.WHITE, v) for v in roll.white] + list(roll.coloured)
    dice = []
    for i, (colour, value) in enumerate(values):
        angle = 2 * np.pi * i / len(values)
        x, y = 320 + 170 * float(np.cos(angle)), 240 + 130 * float(np.sin(angle))
        left, top, right, bottom = x - 36, y - 36, x + 36, y + 36
        corners = ((left, top), (right, top), (right, bottom), (left, bottom))
        dice.append(
            DieView(
                colour=colour,
                value=value,
                confidence=0.5 if colour.value == tilted else 0.99,
                centre_xy=(x, y),
                corners_xy=corners,
                cocked=colour.value == tilted,
            )
        )
    problems = (Problem(ProblemCode.COCKED, DieColour(tilted)),) if tilted else ()
    status = "cocked" if tilted else status
    settled = roll if status == "ok" else None
    return TrayView(TrayStatus(status), settled, frame, SIZE_WH, tuple(dice), problems)


def a_roll(low: int, high: int, **colour: int) -> Roll:
    """A roll of all six dice; colours not named show a three, a zero leaves a die out."""
    values = {"red": 3, "yellow": 3, "green": 3, "blue": 3} | colour
    return Roll.of((low, high), {DieColour(c): v for c, v in values.items() if v})


def seat(stage: Stage, name: str) -> Joined:
    """Give somebody a seat."""
    joined = stage.session.join(name)
    assert isinstance(joined, Joined), joined
    return joined
