"""A CameraLoop turned frame by frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from companion.engine.dice import ALL_DICE, DieColour
from companion.errors import CameraUnavailable
from companion.tray import Problem, TrayView
from tests.vision.tray_fakes import FakeClock, ScriptedCamera, ScriptedReader, ok, picture
from vision.cameras.camera import Camera
from vision.reading import Pixels, Reading
from vision.tracking.camera_loop import CameraLoop

REST = picture()


class Table:
    """A CameraLoop turned by hand, with everything it said."""

    def __init__(
        self,
        script: Sequence[Pixels | Exception | None],
        *readings: Reading | Exception,
        later: Sequence[Sequence[Pixels | Exception | None] | Exception] = (),
        **camera: bool,
    ) -> None:
        self.clock = FakeClock()
        self.camera = ScriptedCamera(self.clock, script, **camera)
        self.cameras = [self.camera]
        self.later = list(later)
        self.reader = ScriptedReader(*readings or (ok(),))
        self.in_play: tuple[DieColour, ...] = ALL_DICE
        self.reports: list[TrayView] = []
        self.known: list[Problem] = []
        self.live = CameraLoop(
            self.camera,
            reopen=self.reopen,
            reader=self.reader,
            in_play=lambda: self.in_play,
            on_view=self.reports.append,
            annotated=lambda view: replace(view, problems=(*view.problems, *self.known)),
        )

    def reopen(self) -> Camera:
        what = self.later.pop(0) if self.later else CameraUnavailable("camera: still away")
        if isinstance(what, Exception):
            raise what
        self.cameras.append(ScriptedCamera(self.clock, what))
        return self.cameras[-1]

    def turns(self, count: int) -> list[float]:
        return [self.live.turn() for _ in range(count)]

    @property
    def said(self) -> list[str]:
        return [report.status.value for report in self.reports]
