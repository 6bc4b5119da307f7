"""Decides, frame by frame, whether something moves that may concern the dice."""

from __future__ import annotations

import math

from vision.evidence import SceneEvidence
from vision.reading import Frame, Pixels, Reading
from vision.tracking.fusion import RestFrame, lie_alike
from vision.tracking.motion import Changes, Thumbnail, changes, is_near, thumbnail
from vision.tracking.settle import RETRY_S, says_the_same

THROW_S = 0.4
"""Seconds after a simulated throw within which the dice come into the picture."""

RESTLESS_S = 2.0
"""Seconds of motion after which dice are read that lie still beside it (docs/limits.md)."""

PAUSE_S = 1.0
"""Seconds without motion that end it: a waving arm pauses at each turn (chosen, not measured)."""

FEWEST_ALIKE = 3
"""Readings, `RETRY_S` apart, that find the same dice at the same places, after which a change over
them is that of a shadow (chosen, not measured)."""


class Stillness:
    """State to compare each frame with the one before.

    Attributes:
        before: The newest frame in small; None where the next one counts as motion.
        changed_s: Capture time of the last frame in which anything changed, also far from the dice.
        is_relit: The lamp changed, so that the next frame's differences are no motion.
        throw_due_s: Time until which thrown dice are on their way into the picture; infinite
            before the first still frame after the throw, None without one.
    """

    def __init__(self) -> None:
        """Begin with no frame."""
        self.before: Thumbnail | None = None
        self.changed_s = -math.inf
        self.is_relit = False
        self.throw_due_s: float | None = None
        self._pixels: Pixels | None = None
        self._shaded_s = -math.inf  # when a change at the dice was taken for a shadow's
        self._stirred_s = -math.inf
        self._seen: tuple[RestFrame, Reading] | None = None  # the last reading while things moved
        self._alike = 0  # readings in a row like it

    def is_broken(
        self, frame: Frame, lying: SceneEvidence | None, *, is_all_seen: bool, read_s: float
    ) -> bool:
        """Whether something moved since the frame before.

        Args:
            lying: The dice that were read last, if they lie still since.
            is_all_seen: Whether these are all dice in play.
            read_s: Capture time of the last reading.
        """
        at_s, before, same = frame.captured_at_s, self.before, frame.pixels is self._pixels
        # A folder shows the very same array again and again, and it may be huge.
        now = before if same and before is not None else thumbnail(frame.pixels)
        self.before, self._pixels = now, frame.pixels
        if before is None:
            moved = True  # the first frame may have caught dice in flight
        elif now is before or self.is_relit:
            moved = False
        else:
            changed = changes(before, now)
            moved = self._is_disturbed(changed, at_s, lying, read_s, is_all_seen=is_all_seen)
        if moved:
            self.throw_due_s = None
        elif self.throw_due_s is not None:
            # Thrown dice are on their way into the picture; until then it only looks still.
            self.throw_due_s = min(self.throw_due_s, at_s + THROW_S)
            moved = at_s < self.throw_due_s
        return moved

    def is_stirred(self, at_s: float, read_s: float) -> bool:
        """Whether anything changed in this frame, or over the dice since they were read."""
        return self.changed_s == at_s or self._shaded_s > read_s

    def _is_disturbed(
        self,
        changed: Changes,
        at_s: float,
        lying: SceneEvidence | None,
        read_s: float,
        *,
        is_all_seen: bool,
    ) -> bool:
        """Whether there is a change that may concern the dice.

        Dice that are all seen stay as they were read while nothing moves near them: they may be
        offered, or a person corrects them. Where something moves for long, such as a sleeve beside
        the tray, the dice are read as if all were still: if none of them moves from one reading to
        the next, they lie still. If they are read alike after each of several motions at the dice,
        it is a shadow that moves over them.
        """
        if not changed.any():
            return False
        if at_s - self.changed_s >= PAUSE_S:
            self._stirred_s, self._alike = at_s, 0
        self.changed_s = at_s
        is_restless = at_s - self._stirred_s >= RESTLESS_S
        if lying is not None and (is_restless or is_all_seen):
            is_at_dice = is_near(changed, lying)
            if is_at_dice and self._alike >= FEWEST_ALIKE:
                self._shaded_s = at_s
                return False
            return is_at_dice
        return not is_restless or at_s - read_s < RETRY_S

    def on_reading(self, rest: RestFrame, reading: Reading, *, is_first: bool) -> None:
        """Note what was read of a frame, whether it was still or not.

        Args:
            is_first: It is the first reading since something moved at the dice.
        """
        was = self._seen
        if was is not None and says_the_same(was[1], reading) and lie_alike(was[0], rest):
            if not is_first or rest.at_s - was[0].at_s < RETRY_S:
                return
            self._alike += bool(rest.scene.dice)
        else:
            self._alike = 1
        self._seen = (rest, reading)
