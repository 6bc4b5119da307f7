"""A stand-in for the tray's set-up, which keeps what a page sends it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from flask import Flask

from companion.engine import DieColour
from companion.tray import CameraState
from tests.session.fakes import Stage
from tests.web.stand_in import StandInTray, picture
from web import Equipment, create_app
from web.access import Access
from web.ports import Point

PLAYS = ["green", "yellow", "white", "red", "blue", "white"]


@dataclass(slots=True)
class Known:
    plays: DieColour
    is_odd: bool
    centre_xy: Point = (0.0, 0.0)
    corners_xy: Sequence[Point] = ()


def looked() -> list[Known]:
    return [
        Known(
            DieColour(name),
            name == "blue",
            (100.0 * n + 70, 240.0),
            [(100.0 * n + 70 + x, 240.0 + y) for x, y in ((-20, -20), (20, -20), (20, 20))],
        )
        for n, name in enumerate(PLAYS)
    ]


@dataclass
class StandInSetup:
    """Keeps what it is sent; the next step raises `trouble`, if there is any."""

    size_wh: tuple[int, int] = (640, 480)
    faults: Sequence[str] = ()
    change: str | None = None
    corners: Sequence[Point] | None = None
    controls: Mapping[str, float] = field(default_factory=lambda: {"exposure": 157.0})
    is_held: bool = False
    dice: Sequence[Known] = ()
    proposed: Sequence[Point] | None = ((60.0, 50.0), (585.0, 50.0), (590.0, 445.0), (50.0, 440.0))
    trouble: Exception | None = None

    def _step(self) -> None:
        trouble, self.trouble = self.trouble, None
        if trouble is not None:
            raise trouble

    def state(self) -> StandInSetup:
        return self

    def propose(self) -> Sequence[Point] | None:
        self._step()
        return self.proposed

    def keep_corners(self, corners: Sequence[Point]) -> None:
        self._step()
        self.corners = list(corners)

    def hold_exposure(self) -> None:
        self._step()
        self.is_held = bool(self.controls)

    def look_at_dice(self) -> tuple[int, Sequence[Known]]:
        self._step()
        return 7, looked()

    def keep_dice(self, plays: Sequence[DieColour], number: int | None = None) -> None:
        self._step()
        assert number in (None, 7)
        self.dice = [Known(colour, False) for colour in plays]

    def forget(self) -> None:
        self._step()
        self.corners, self.dice, self.is_held = None, (), False


@pytest.fixture
def wizard() -> StandInSetup:
    return StandInSetup()


@pytest.fixture
def app(stage: Stage, wizard: StandInSetup) -> Flask:
    return create_app(
        stage.session,
        tray=(tray := StandInTray(pictures={1: picture()})),
        simulator=tray,
        equipment=lambda: Equipment(CameraState.SIMULATED, "mock"),
        setup=wizard,
        access=Access(pin="471147"),
    )
