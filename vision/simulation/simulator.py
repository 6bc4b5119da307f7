"""Throws the simulated dice of a running camera loop, and disturbs its camera."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from companion.engine.dice import DieColour
from vision.simulation.camera import ALL_MISHAPS, TROUBLES, SimulatedTray
from vision.tracking.camera_loop import CameraLoop


class Simulator:
    """The controls of a simulated tray; real cameras have no counterpart.

    The tray is changed on the camera's thread, between two frames.

    Attributes:
        mishaps: Ways in which `throw` can go wrong.
        troubles: Disturbances that `trouble` accepts.
    """

    mishaps: tuple[str, ...] = ALL_MISHAPS
    troubles: tuple[str, ...] = TROUBLES

    def __init__(
        self, tray: SimulatedTray, loop: CameraLoop, in_play: Callable[[], Sequence[DieColour]]
    ) -> None:
        self._tray = tray
        self._loop = loop
        self._in_play = in_play

    def throw(self, *, mishap: str | None = None) -> None:
        """Throw the dice in play and return at once."""
        dice = tuple(self._in_play())
        self._loop.expect_throw()
        self._loop.call_soon(lambda: self._tray.throw(dice, mishap=mishap))

    def trouble(self, name: str) -> None:
        """Disturb the camera from its next frame on."""
        self._loop.call_soon(lambda: self._tray.trouble(name))
