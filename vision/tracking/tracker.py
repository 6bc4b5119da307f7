"""Work done for every frame: measure motion, read while all is still, settle the result."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from companion.engine.dice import DieColour, Roll
from companion.tray import (
    CameraFault,
    CameraState,
    Note,
    NoteCode,
    Problem,
    ProblemCode,
    TrayStatus,
    TrayView,
)
from vision.reading import Frame, Reading
from vision.tracking.background_model import BackgroundModel
from vision.tracking.frame_buffer import FrameBuffer
from vision.tracking.fusion import WINDOW, RestFrame, best_reading, lie_alike, rest_frame
from vision.tracking.health import FrameStats, Health, frame_stats, update_health
from vision.tracking.motion import Thumbnail, thumbnail
from vision.tracking.settle import (
    Settling,
    Shown,
    confirm,
    correct,
    forget_used,
    look_again,
    needs_reading,
    remembered,
    settle,
)
from vision.tracking.stillness import Stillness
from vision.tracking.used_dice import UsedDice

_ALL_SEEN = (TrayStatus.OK, TrayStatus.UNCERTAIN, TrayStatus.COCKED)
"""States in which all dice in play are seen, whether they are read or not."""

PEEK_S = 3.0
"""Seconds between two readings through a lens that seems covered (chosen, not measured)."""


class Reader(Protocol):
    """Reads single frames."""

    def read(self, frame: Frame, in_play: Sequence[DieColour]) -> Reading:
        """Read the dice of a frame; an unreadable picture is a reading, not an error."""


@dataclass(frozen=True, slots=True)
class FrameObservation:
    """Observations of one frame, before it is combined with the frames before.

    Attributes:
        is_stirred: Something moved, but not at the dice that were read last.
        is_due: The frame has to be read; `reading` is set once it was.
        is_relit: The lamp changed before the frame, so that motion was not measured.
        rest: The detector's outputs for the frame, if the reader keeps them.
        health: Health of the camera, this frame included.
    """

    frame: Frame
    moved: bool
    in_play: tuple[DieColour, ...]
    is_stirred: bool = False
    is_due: bool = False
    is_relit: bool = False
    reading: Reading | None = None
    rest: RestFrame | None = None
    health: Health = field(default_factory=Health)


class TrayTracker:
    """Turns frames into a TrayView, one step each; has no thread and no clock.

    A caller with threads guards all methods with one mutex, except those that only the camera's
    thread calls: `measure_motion`, `read`, `on_lamp_changed`, `expect_change`.

    Attributes:
        frames: Those whose pictures may still be requested.
        is_reading: Whether the dice lie still and their reading is due any moment.
    """

    def __init__(
        self,
        reader: Reader,
        in_play: Callable[[], Sequence[DieColour]],
        *,
        confirmed_rolls: tuple[Roll, ...] = (),
        is_camera: bool = True,
    ) -> None:
        """Begin with nothing seen.

        Args:
            is_camera: Whether frames come from a camera, which can be covered or freeze;
                recordings cannot.
        """
        self._reader = reader
        self._in_play = in_play
        self._is_camera = is_camera
        self._health = Health()
        self._last_s: float | None = None
        self._stats_of: Thumbnail | None = None
        self._stillness = Stillness()
        self._state = Settling(used_rolls=confirmed_rolls)
        self._read_for: tuple[DieColour, ...] = ()
        self.frames = FrameBuffer()
        self._shown_frame: Frame | None = None
        self._seen_frame: Frame | None = None
        self.is_reading = False
        self._at_rest: tuple[RestFrame, ...] = ()
        self._model = BackgroundModel()
        self._used = UsedDice()
        self.camera = CameraState.OK
        self.notes: tuple[Note, ...] = ()

    def measure_motion(self, frame: Frame) -> FrameObservation:
        """Measure motion against the frame before, and decide whether to read."""
        at_s, stillness = frame.captured_at_s, self._stillness
        moved = stillness.is_broken(
            frame,
            self._at_rest[-1].scene if self._at_rest else None,
            is_all_seen=self._state.shown.status in _ALL_SEEN,
            read_s=self._state.read_s,
        )
        is_stirred = stillness.is_stirred(at_s, self._state.read_s) and not moved
        is_relit, stillness.is_relit = stillness.is_relit and not moved, False
        in_play = tuple(self._in_play())
        if moved or self._read_for != in_play:
            self._at_rest = ()
        health = self._health
        if self._is_camera:
            assert stillness.before is not None
            stats = self._stats(frame, stillness.before, moved=moved or is_stirred)
            health = update_health(health, stats)
        if health.is_blind:
            self._at_rest = ()  # dice are moved unseen
            # Another tray with less detail looks like a covered lens, but shows its dice.
            is_covered = health.fault is CameraFault.BLOCKED
            is_due = is_covered and not moved and at_s - self._state.read_s >= PEEK_S
            return FrameObservation(frame, moved, in_play, is_due=is_due, health=health)
        state = self._state if self._read_for == in_play else look_again(self._state)
        is_due = needs_reading(state, at_s, moved=moved, is_stirred=is_stirred)
        # A lens that seems covered would show an empty tray, and its dice as new ones afterwards.
        is_due = (is_due or is_relit) and not health.is_suspected_blind
        return FrameObservation(frame, moved, in_play, is_stirred, is_due, is_relit, health=health)

    def read(self, observed: FrameObservation) -> FrameObservation:
        """Read the dice of a frame that is due."""
        if not observed.is_due:
            return observed
        frame, self._last_s = observed.frame, None  # a reading's time is no gap between frames
        reading = self._reader.read(frame, observed.in_play)
        if reading.evidence is None or frame.is_damaged:  # it is read alone, and never announced
            self._at_rest = ()
            return replace(observed, reading=reading)
        at_s, background = frame.captured_at_s, self._model.background
        rest = rest_frame(frame.pixels, reading.evidence, at_s, background)
        may_differ = observed.is_relit or observed.is_stirred
        if may_differ and self._at_rest and not lie_alike(self._at_rest[-1], rest):
            self._at_rest = ()  # a die was moved while the lamp changed, or under a shadow
        # Where something moves, other dice may have come beside those that lie still.
        self._at_rest = (*self._at_rest, rest)[-(2 if observed.is_stirred else WINDOW) :]
        reading, is_first = best_reading(self._at_rest, observed.in_play), len(self._at_rest) == 1
        self._stillness.on_reading(rest, reading, is_first=is_first)
        return replace(observed, reading=reading, rest=rest)

    def begin_reading(self) -> None:
        """Note that a frame is about to be read; to be called before `read`."""
        shown = self._state.shown
        self.is_reading = shown.roll is None and shown.status.is_undecided

    def _stats(self, frame: Frame, now: Thumbnail, *, moved: bool) -> FrameStats:
        before, self._stats_of = self._stats_of, now
        gap_s = None if self._last_s is None else frame.captured_at_s - self._last_s
        self._last_s = frame.captured_at_s
        return frame_stats(now, before, frame.captured_at_s, moved=moved, gap_s=gap_s)

    def update(self, observed: FrameObservation) -> None:
        """Combine an observation with the frames before."""
        self.frames.keep_newest(observed.frame)
        self._health = observed.health
        if self._health.is_blind and not self._sees_dice(observed):
            self._show_blind(observed.frame)
            return
        if self._state.shown.status.is_blind:
            self._state = self._without(TrayStatus.WAITING)
        self._settle(observed)
        if not self._state.shown.status.is_undecided or observed.moved:
            self.is_reading = False

    def _sees_dice(self, observed: FrameObservation) -> bool:
        """Whether a camera that seemed blind shows most dice; its health is judged anew then."""
        reading, at_s = observed.reading, observed.frame.captured_at_s
        if reading is None:
            return False
        self._state = replace(self._state, read_s=at_s)
        if 2 * sum(die.in_tray for die in reading.dice) <= len(observed.in_play):
            return False
        self._health = self._health.anew()
        return True

    def _show_blind(self, frame: Frame) -> None:
        assert self._health.fault is not None
        status = TrayStatus(self._health.fault.value)
        if self._state.shown.status is not status:
            self._state = self._without(status)
            self._show(frame)
        self.is_reading = False

    def _settle(self, observed: FrameObservation) -> None:
        state = self._state
        if self._read_for != observed.in_play:
            state, self._read_for = look_again(state), observed.in_play
        if self._shown_frame is None and observed.moved:
            # Nothing is known yet: that is waiting, not motion.
            self._show(observed.frame)
            return
        was, reading, at_s = state.shown, observed.reading, observed.frame.captured_at_s
        away = self._is_elsewhere(observed)
        state = settle(state, at_s, moved=observed.moved, reading=reading, is_elsewhere=away)
        self._state = state
        if reading is not None and state.seen is reading:
            self._seen_frame = observed.frame
        if state.used and state.used != self._used.dice:  # found again after a restart, or pushed
            self._keep_used()
        shown = state.shown
        if observed.rest is not None and not observed.is_stirred and not away:
            self._learn_background(observed.frame, observed.rest, shown)
        if shown.reading is None:
            if shown != was:
                self._show(observed.frame)
        elif shown.reading is reading:
            self._show(observed.frame)
        elif shown.reading is state.seen and self._seen_frame is not None:
            self._show(self._seen_frame)

    def _is_elsewhere(self, observed: FrameObservation) -> bool:
        """Whether the tray only seems empty, while the used dice still lie there."""
        state, reading = self._state, observed.reading
        if reading is None or reading.status is not TrayStatus.EMPTY:
            return False
        has_used = bool(state.used or state.last_rolls)
        return has_used and self._used.may_lie_there(observed.frame.pixels)

    def _learn_background(self, frame: Frame, rest: RestFrame, shown: Shown) -> None:
        """Take a settled tray without a roll as the background of the next throw."""
        if shown.status.is_undecided:
            return
        used, model = [die.centre_xy for die in self._state.used], self._model
        if model.learn(frame.pixels, rest, shown.status, used):
            self._at_rest = (rest_frame(frame.pixels, rest.scene, rest.at_s, model.background),)

    def expect_throw(self) -> None:
        """Withdraw the offered roll, because dice are about to be thrown.

        A roll confirmed before a restart, whose dice were not seen since, is not awaited any more:
        with a seed the first throw shows it again.
        """
        state = self._state if self._state.used else forget_used(self._state)
        self._state = settle(state, state.read_s, moved=True)
        self._stillness.throw_due_s = math.inf

    def on_camera_lost(self) -> None:
        """Note that the camera delivers no frames.

        Another thread may be reading meanwhile; its observation must not reach `update`.
        """
        self._state = self._without(TrayStatus.LOST)
        self.is_reading = False
        self.camera, self.notes = CameraState.LOST, ()

    def on_camera_restored(self, camera: CameraState) -> None:
        """Note that the camera delivers frames (again); the next one counts as motion.

        To be called on the thread that calls `measure_motion`, and guarded.
        """
        self.camera = camera
        self._health, self._last_s = self._health.anew(), None
        self.expect_change()

    def mark_slow(self) -> None:
        """Show that dice are being read, because the reading takes longer than usual."""
        shown = self._state.shown
        if self.is_reading and shown.status.is_undecided:
            shown = Shown(TrayStatus.READING, None, shown.reading)
            self._state = replace(self._state, shown=shown)

    def mark_failed(self) -> None:
        """Note that reading a frame failed unexpectedly."""
        self._state = self._without(TrayStatus.UNCERTAIN)
        self.is_reading = False
        self.notes = (Note(NoteCode.FAILED),)

    def _without(self, status: TrayStatus) -> Settling:
        """State with nothing known but the used dice and the last rolls."""
        return remembered(self._state, Shown(status))

    def on_confirmed(self, roll: Roll | None = None) -> None:
        """Note that a roll was confirmed or typed: its dice are not offered again."""
        is_read = self._state.shown.roll is not None
        self._state = confirm(self._state, roll)
        self._keep_used()
        self._model.on_confirmed(is_read=is_read)

    def _keep_used(self) -> None:
        """Keep pictures of the used dice, and of the tray without them."""
        lying = None if self._seen_frame is None else self._seen_frame.pixels
        tray = self._model.background.pixels
        tray = self._used.tray if tray is None else tray
        self._used = UsedDice.kept(self._state.used, lying, tray)

    def on_corrected(self, roll: Roll) -> None:
        """Note that the dice confirmed last show another roll: neither is offered again."""
        self._state = correct(self._state, roll)

    def reoffer(self) -> None:
        """Offer the dice in the tray although they were confirmed before."""
        self._state = forget_used(self._state)

    def skip(self, frame: Frame) -> None:
        """Show a frame and check it for the camera's health, but do not judge it.

        To be called on the thread that calls `measure_motion`, guarded.
        """
        self.frames.keep_newest(frame)
        if self._is_camera:
            stats = self._stats(frame, thumbnail(frame.pixels), moved=True)
            self._health = update_health(self._health, stats)
        if self._health.is_blind:
            self._show_blind(frame)

    def read_anew(self) -> None:
        """Forget what was read, but not which dice are used: the next frame is read otherwise.

        To be called on the thread that calls `measure_motion`, guarded.
        """
        self._at_rest = ()
        self._model.forget()
        self._state = remembered(self._state, Shown(TrayStatus.READING))
        self.is_reading = True

    def on_lamp_changed(self) -> None:
        """Read the next frame anew and count its differences not as motion.

        To be called on the thread that calls `measure_motion`, not guarded.
        """
        self._stillness.is_relit = True

    def expect_change(self) -> None:
        """Count the next frame as motion, because frames were missed or others follow.

        To be called on the thread that calls `measure_motion`, not guarded.
        """
        self._stillness.before = None

    def _show(self, frame: Frame) -> None:
        self._shown_frame = frame
        self.frames.keep(frame)

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
        doubts = [Problem(ProblemCode.UNCERTAIN, c) for c in DieColour if c in shown.doubted]
        return replace(
            view,
            roll=shown.roll,
            frame=frame.number,
            size_wh=frame.size_wh,
            dice=reading.dice if reading is not None else (),
            problems=(*(reading.problems if reading is not None else ()), *doubts),
        )
