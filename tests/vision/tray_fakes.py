"""A clock turned by hand, readings by the word, pictures that move when told, scripted readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from companion.engine.dice import ALL_DICE, DieColour, Roll
from companion.errors import CameraUnavailable
from companion.tray import DieView, Note, Problem, ProblemCode, TrayStatus, TrayView
from vision.cameras.camera import CameraKind
from vision.reading import Frame, Pixels, Reading
from vision.tracking.tracker import TrayTracker


def step(tracker: TrayTracker, frame: Frame) -> TrayView | None:
    """Let a tracker take a frame; the tray's view if that changed it."""
    before = tracker.view()
    tracker.update(tracker.read(tracker.measure_motion(frame)))
    after = tracker.view()
    return after if after != before else None


def watch(
    tracker: TrayTracker, numbers: range, pictures: Callable[[int], Pixels], fps: float = 10.0
) -> list[TrayView]:
    """Let a tracker take a picture for each number; the tray's view after each."""
    views = []
    for number in numbers:
        step(tracker, Frame(pictures(number), number / fps, number))
        views.append(tracker.view())
    return views


class FakeClock:
    """Stands still until somebody sleeps."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def die(
    colour: str | None, value: int | None, x: float = 0.0, y: float = 0.0, **more: object
) -> DieView:
    """A die of 40 px."""
    corners = ((x - 20, y - 20), (x + 20, y - 20), (x + 20, y + 20), (x - 20, y + 20))
    known = DieColour(colour) if colour else None
    return DieView(known, value, 0.99, (x, y), corners, **more)  # type: ignore[arg-type]


def ok(values: str = "34-4225", *, dx: float = 0.0, dy: float = 0.0) -> Reading:
    """A reading of six dice: two whites, then red, yellow, green, blue."""
    digits = [int(c) for c in values if c.isdigit()]
    colours = [c.value for c in ALL_DICE]
    dice = tuple(
        die(c, v, 60.0 + 70.0 * n + dx, 100.0 + 9.0 * n * n + dy)
        for n, (c, v) in enumerate(zip(colours, digits, strict=True))
    )
    roll = Roll.of((digits[0], digits[1]), dict(zip(ALL_DICE[2:], digits[2:], strict=True)))
    return Reading(TrayStatus.OK, dice, (), roll)


def bad(status: str, *dice: DieView, colour: str | None = None) -> Reading:
    """A reading that may not be announced."""
    named = DieColour(colour) if colour else None
    problem = Problem(ProblemCode(status), named)
    return Reading(TrayStatus(status), tuple(dice), (problem,))


def picture(shade: int = 90, spot: int | None = None) -> Pixels:
    """A grey picture with a white patch somewhere along its middle."""
    pixels: Pixels = np.full((240, 320, 3), shade, np.uint8)
    if spot is not None:
        pixels[100:130, spot : spot + 30] = 250
    return pixels


class ScriptedReader:
    """Gives readings in the order of the script, the last one for ever.

    Attributes:
        meanwhile: Called during each reading.
    """

    def __init__(self, *script: Reading | Exception) -> None:
        self.script = list(script)
        self.meanwhile: Callable[[], object] = lambda: None
        self.asked: list[tuple[DieColour, ...]] = []
        self.frames: list[tuple[Reading, Frame]] = []

    def read(self, frame: Frame, in_play: Sequence[DieColour]) -> Reading:
        self.asked.append(tuple(in_play))
        self.meanwhile()
        answer = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(answer, Exception):
            raise answer
        reading = replace(answer)
        self.frames.append((reading, frame))
        return reading


class ScriptedCamera:
    """Plays a script, ten steps a second: pixels are frames, None is a pause, errors are raised."""

    kind = CameraKind.V4L2
    source = "/dev/video9"
    description = "scripted camera"
    controls: Mapping[str, float] = MappingProxyType({})

    def __init__(
        self,
        clock: FakeClock,
        script: Sequence[Pixels | Exception | None],
        *,
        shows_others: bool = False,
    ) -> None:
        self._clock = clock
        self._script = list(script)
        self.shows_others = shows_others
        self.notes: tuple[Note, ...] = ()
        self.number = 0
        self.is_silent = False
        self.closed = 0
        self.confirmations = 0

    def read(self) -> Frame | None:
        self._clock.sleep(0.1)
        if not self._script:
            raise CameraUnavailable("camera '/dev/video9': the script is over")
        step = self._script.pop(0)
        if isinstance(step, Exception):
            raise step
        if step is None:
            return None
        self.number += 1
        return Frame(step, self._clock(), self.number)

    def show_next(self) -> bool:
        self.confirmations += 1
        return self.shows_others

    def close(self) -> None:
        self.closed += 1
