"""The background model: when a still tray becomes the background of the next throw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from companion.tray import Point, TrayStatus
from vision.evidence import SceneEvidence
from vision.reading import Pixels
from vision.tracking.background import (
    Background,
    begins_throw,
    holds_roll,
    lies_at,
    without_background,
)
from vision.tracking.fusion import RestFrame


class BackgroundModel:
    """Learns the background from settled trays.

    Attributes:
        background: The newest one.
    """

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self.background = Background()
        self._with_roll = Background()  # the newest tray with a roll, before any background
        self._covered: tuple[Point, ...] = ()  # where dice lay in it
        self._rolled: tuple[Point, ...] = ()  # dice of a roll that nobody confirmed
        self._first: tuple[Point, ...] = ()  # detections taken for the first dice of a throw
        self._outlasted: tuple[Point, ...] = ()  # those of them that lay there before a whole roll

    def learn(
        self, pixels: Pixels, rest: RestFrame, status: TrayStatus, used: Sequence[Point]
    ) -> bool:
        """Take a settled tray into account; returns whether it is the background now.

        Args:
            status: The status that is shown.
            used: Centres of the used dice.
        """
        inside = [die for die in rest.scene.dice if die.in_tray]
        places = tuple(die.centre_xy for die in inside)
        if holds_roll(rest.scene.dice):
            if status is not TrayStatus.OLD:
                self._rolled = places
            if self.background.pixels is None:
                self._with_roll, self._covered = Background(pixels), places
            self._outlasted = self._outlasted or self._first
            return False
        if status is TrayStatus.EMPTY:
            self._rolled = ()
        elif self._begins_throw(pixels, rest.scene, used):
            if not self._outlasted or not all(lies_at(self._outlasted, die) for die in inside):
                self._first, self._outlasted = places, ()
                return False
            self._rolled = ()  # it lay there before the last roll, and still does: it is no die
        self._first = self._outlasted = ()
        self.background = Background(pixels, rest.whole, self._rolled)
        self._with_roll = Background()
        return True

    def _begins_throw(self, pixels: Pixels, seen: SceneEvidence, used: Sequence[Point]) -> bool:
        if begins_throw(self.background, pixels, seen, used):
            return True
        if self.background.pixels is not None:
            return False
        # Nobody saw the bare tray; what came since the last roll lay there is no print, unless a
        # die of that roll hid it.
        came = tuple(
            die
            for die in without_background(self._with_roll, pixels, seen.dice)
            if all(math.dist(xy, die.centre_xy) > die.edge_px for xy in self._covered)
        )
        return begins_throw(self._with_roll, pixels, replace(seen, dice=came), used)

    def on_confirmed(self, *, is_read: bool) -> None:
        """Note that the roll in the tray was confirmed.

        Args:
            is_read: It was that of the dice which were read: each of them is a die.
        """
        self._rolled = ()
        if is_read:
            self._first = self._outlasted = ()

    def forget(self) -> None:
        """Forget the background, because the tray is measured otherwise."""
        self.background = self._with_roll = Background()
