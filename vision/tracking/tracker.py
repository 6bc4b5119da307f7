"""The work done for every frame: motion, a reading when it is still, the settle step."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from companion.engine.dice import DieColour, Roll
from companion.tray import CameraFault, CameraState, Note, NoteCode, TrayStatus, TrayView
from vision.reading import Frame, Pixels, Reading
from vision.tracking.frame_buffer import KeptFrames
from vision.tracking.health import Health, Sight, examine, sight_of
from vision.tracking.motion import Glance, glance, motion
from vision.tracking.settle import (
    DEFAULT_RULES,
    SettleRules,
    Settling,
    Shown,
    confirm,
    forget_used,
    look_again,
    needs_reading,
    remembered,
    settle,
)

THROW_S = 0.4
"""So long after a simulated throw the dice must have come into the picture."""


class Eye(Protocol):
    """Reads single frames."""

    def read(self, frame: Frame, in_play: Sequence[DieColour]) -> Reading:
        """Say what lies in the tray; an unreadable picture is a reading, not an error."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one frame showed, before it is weighed with what was known.

    Attributes:
        is_due: The frame has to be read; `reading` is there once it was.
        health: How the camera is, this frame included.
    """

    frame: Frame
    moved: bool
    in_play: tuple[DieColour, ...]
    is_due: bool = False
    reading: Reading | None = None
    health: Health = field(default_factory=Health)


class TrayWatch:
    """Turns frames into what the tray shows, one step each; knows no thread and no clock.

    `glimpse` and `read` do the slow part and keep to their own fields, `weigh` the quick one: a
    caller with threads guards everything but these two with one mutex.
    """

    def __init__(
        self,
        eye: Eye,
        in_play: Callable[[], Sequence[DieColour]],
        *,
        rules: SettleRules = DEFAULT_RULES,
        confirmed_roll: Roll | None = None,
        is_camera: bool = True,
    ) -> None:
        """Begin with nothing seen.

        Args:
            is_camera: Whether frames come from a camera, which can be covered or freeze;
                recordings show what they show.
        """
        self._eye = eye
        self._in_play = in_play
        self._rules = rules
        self._is_camera = is_camera
        self._health = Health()
        self._last_s: float | None = None
        self._before: Glance | None = None
        self._sighted: Glance | None = None
        self._pixels: Pixels | None = None
        self._throw_due_s: float | None = None
        self._state = Settling(used_roll=confirmed_roll)
        self._asked: tuple[DieColour, ...] | None = None
        self._frames = KeptFrames()
        self._shown_frame: Frame | None = None
        self._seen_frame: Frame | None = None
        self._is_reading = False
        self._is_relit = False
        self.camera = CameraState.OK
        self.notes: tuple[Note, ...] = ()

    @property
    def frames(self) -> KeptFrames:
        """The frames whose pictures may still be asked for."""
        return self._frames

    @property
    def is_reading(self) -> bool:
        """Whether the dice lie still and the verdict on them is due any moment."""
        return self._is_reading

    def step(self, frame: Frame) -> TrayView | None:
        """Take a frame; return the tray's view if that changed it."""
        before = self.view()
        self.weigh(self.look(frame))
        after = self.view()
        return after if after != before else None

    def look(self, frame: Frame) -> Look:
        """Measure motion against the frame before, and read when there was none."""
        return self.read(self.glimpse(frame))

    def glimpse(self, frame: Frame) -> Look:
        """Measure motion against the frame before, and say whether to read."""
        moved = self._has_moved(frame)
        in_play = tuple(self._in_play())
        health = self._health
        if self._is_camera:
            assert self._before is not None
            health = examine(health, self._sight(frame, self._before, moved=moved))
        if health.is_blind:
            return Look(frame, moved, in_play, health=health)
        state = self._state
        if self._asked != in_play:
            state = look_again(state)
        is_due = needs_reading(state, frame.captured_at_s, moved=moved, rules=self._rules)
        is_due = is_due or (self._is_relit and not moved)
        # A lens that seems covered would show an empty tray, and its dice as new ones afterwards.
        is_due = is_due and not health.is_suspected_blind
        self._is_relit = False
        return Look(frame, moved, in_play, is_due, health=health)

    def read(self, look: Look) -> Look:
        """Have the eye read a frame that is due."""
        if not look.is_due:
            return look
        self._last_s = None  # how long the eye takes says nothing about the camera
        return replace(look, reading=self._eye.read(look.frame, look.in_play))

    def begin_reading(self) -> None:
        """Hear that a frame is going to be read; to be told before `read`."""
        shown = self._state.shown
        self._is_reading = shown.roll is None and shown.status.is_undecided

    def overlook(self, frame: Frame) -> Look:
        """See of a frame that is not to be judged only whether the camera sees anything."""
        health = self._health
        if self._is_camera:
            health = examine(health, self._sight(frame, glance(frame.pixels), moved=True))
        return Look(frame, True, (), health=health)

    def _sight(self, frame: Frame, now: Glance, *, moved: bool) -> Sight:
        before, self._sighted = self._sighted, now
        gap_s = None if self._last_s is None else frame.captured_at_s - self._last_s
        self._last_s = frame.captured_at_s
        return sight_of(now, before, frame.captured_at_s, moved=moved, gap_s=gap_s)

    def _has_moved(self, frame: Frame) -> bool:
        before, same = self._before, frame.pixels is self._pixels
        # A folder shows the very same array again and again, and it may be huge.
        now = before if same and before is not None else glance(frame.pixels)
        # The first frame may have caught dice in flight: it counts as motion.
        is_still = now is before or (before is not None and self._is_relit)
        moved = before is None or not (is_still or motion(before, now) == 0.0)
        self._before, self._pixels = now, frame.pixels
        if moved:
            self._throw_due_s = None
        elif self._throw_due_s is not None:
            # Thrown dice are on their way into the picture; until then it only looks still.
            self._throw_due_s = min(self._throw_due_s, frame.captured_at_s + THROW_S)
            moved = frame.captured_at_s < self._throw_due_s
        return moved

    def weigh(self, look: Look) -> None:
        """Take a look into account."""
        self._frames.keep_newest(look.frame)
        self._health = look.health
        if self._health.is_blind:
            self._blind(look.frame)
            return
        if self._state.shown.status.is_blind:
            self._state = self._without(TrayStatus.WAITING)
        self._weigh(look)
        if not self._state.shown.status.is_undecided or look.moved:
            self._is_reading = False

    def _blind(self, frame: Frame) -> None:
        assert self._health.fault is not None
        status = TrayStatus(self._health.fault.value)
        if self._state.shown.status is not status:
            self._state = self._without(status)
            self._show(frame)
        self._is_reading = False

    def _weigh(self, look: Look) -> None:
        state = self._state
        if self._asked != look.in_play:
            state = look_again(state) if self._asked is not None else state
            self._asked = look.in_play
        if self._shown_frame is None and look.moved:
            # Nothing is known yet: that is waiting, not motion.
            self._show(look.frame)
            return
        was = state.shown
        state = settle(
            state,
            look.frame.captured_at_s,
            moved=look.moved,
            reading=look.reading,
            rules=self._rules,
        )
        self._state = state
        if look.reading is not None and state.seen is look.reading:
            self._seen_frame = look.frame
        shown = state.shown
        if shown.reading is None:
            if shown != was:
                self._show(look.frame)
        elif shown.reading is look.reading:
            self._show(look.frame)
        elif shown.reading is state.seen and self._seen_frame is not None:
            self._show(self._seen_frame)

    def thrown(self) -> None:
        """Hear that dice were thrown: what lay in the tray is not offered any more."""
        self._state = settle(self._state, self._state.read_s, moved=True)
        self._throw_due_s = math.inf

    def lost(self) -> None:
        """Hear that the camera gives no pictures.

        Another thread may be at a look meanwhile: what that leads to is not to be weighed.
        """
        self._state = self._without(TrayStatus.LOST)
        self._is_reading = False
        self.camera, self.notes = CameraState.LOST, ()

    def heard(self, camera: CameraState) -> None:
        """Hear that the camera gives pictures (again); the next frame counts as motion.

        To be called where `look` is called, and guarded.
        """
        self.camera = camera
        # That it has noise is known for good, else one that comes back frozen would pass for drawn.
        self._health, self._last_s = Health(noisy=self._health.noisy), None
        self.restart()

    def linger(self) -> None:
        """Hear that the verdict takes longer than anybody would wait for without a word."""
        shown = self._state.shown
        if self._is_reading and shown.status.is_undecided:
            shown = Shown(TrayStatus.READING, None, shown.reading)
            self._state = replace(self._state, shown=shown)

    def doubt(self) -> None:
        """Hear that something unforeseen went wrong with the picture."""
        self._state = self._without(TrayStatus.UNCERTAIN)
        self._is_reading = False
        self.notes = (Note(NoteCode.FAILED),)

    def _without(self, status: TrayStatus) -> Settling:
        """Nothing known any more but which dice are used up."""
        return remembered(self._state, Shown(status))

    def confirmed(self, roll: Roll | None = None) -> None:
        """Hear that a roll was confirmed or typed: its dice are not offered again."""
        self._state = confirm(self._state, roll)

    def reoffer(self) -> None:
        """Offer what lies in the tray although it was confirmed before."""
        self._state = forget_used(self._state)

    def pass_over(self, look: Look) -> None:
        """Take a frame that was overlooked: it is to be shown and not judged."""
        self._frames.keep_newest(look.frame)
        self._health = look.health
        if self._health.is_blind:
            self._blind(look.frame)

    def relit(self) -> None:
        """Hear that another lamp shines on the next frame: what differs in it has not moved.

        It is read again all the same. To be called where `glimpse` is called, not guarded.
        """
        self._is_relit = True

    def restart(self) -> None:
        """Count the next frame as motion, because it shows something else or frames were missed.

        To be called where `look` is called, not guarded.
        """
        self._before = None

    def _show(self, frame: Frame) -> None:
        self._shown_frame = frame
        self._frames.keep(frame)

    def view(self) -> TrayView:
        """Return what the tray shows."""
        shown, frame, reading = self._state.shown, self._shown_frame, self._state.shown.reading
        camera, fault = self.camera, self._health.fault
        if camera is CameraState.LOST:
            fault = CameraFault.LOST
        elif self._health.is_blind:
            camera = CameraState.LOST
        view = TrayView(shown.status, notes=self.notes, camera=camera, fault=fault)
        if frame is None:
            return view
        height, width = frame.pixels.shape[:2]
        return replace(
            view,
            roll=shown.roll,
            frame=frame.number,
            size_wh=(width, height),
            dice=reading.dice if reading is not None else (),
            problems=reading.problems if reading is not None else (),
        )
