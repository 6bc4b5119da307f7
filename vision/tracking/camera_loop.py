"""The camera thread: frames in, reports of what the tray shows out, and never stuck."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from queue import Empty, SimpleQueue

from companion.engine.dice import DieColour, Roll
from companion.errors import CameraUnavailable
from companion.tray import CameraState, Note, TrayView
from vision.cameras.camera import Camera
from vision.reading import Frame
from vision.tracking.frame_buffer import as_jpeg
from vision.tracking.settle import DEFAULT_RULES, SettleRules
from vision.tracking.tracker import Eye, TrayWatch

LOGGER = logging.getLogger(__name__)

REOPEN_S = (0.5, 1.0, 2.0)
"""Waits between attempts to get a lost camera back; the last one repeats. A camera that is
plugged in again is back within seconds, and one that stays away costs next to nothing."""

CHECK_S = 0.25
"""Between two checks from outside the camera's thread; with `newest.STALL_S` people hear of a
camera that fell silent within two seconds, and of a slow reading within half a second."""

TROUBLE_S = 0.5
"""Wait after an error nobody foresaw, so that one in every frame does not burn a processor."""

_CAMERAS = ("v4l2", "pi", "simulated")
"""Kinds of camera that can be covered, freeze or be too slow; recordings show what they show."""

LONGEST_BLINK_S = 1.5
"""A lamp that changes for longer than this is not waited for: the eye must not depend on it."""

LightAt = Callable[[float], str | None]
OnView = Callable[[TrayView], None]


class LiveTray:
    """Watches the tray on a thread of its own.

    `on_view` is called whenever what people would see changes: on the camera thread, or on the
    thread that calls `confirmed`, `reoffer` or `throw`, before these return. It is called one at
    a time and in order, so once `confirmed` has returned, the confirmed roll is never reported
    again. Those methods must not be called holding a lock that `on_view` needs.
    """

    def __init__(
        self,
        camera: Camera,
        *,
        reopen: Callable[[], Camera],
        eye: Eye,
        in_play: Callable[[], Sequence[DieColour]],
        on_view: OnView,
        rules: SettleRules = DEFAULT_RULES,
        confirmed_roll: Roll | None = None,
    ) -> None:
        """Take an open camera; nothing runs before `start`.

        Args:
            camera: Owned from here on: `close` closes it.
            reopen: Opens the same camera again after it was lost; raises CameraUnavailable.
            eye: Reads single frames.
            in_play: The dice the game expects now.
            on_view: Hears what the tray shows.
            confirmed_roll: What was confirmed before a restart: its dice may still lie there,
                and are no new throw.
        """
        self._camera: Camera | None = camera
        self._reopen = reopen
        self._in_play = in_play
        self._on_view = on_view
        self._watch = TrayWatch(
            eye,
            in_play,
            rules=rules,
            confirmed_roll=confirmed_roll,
            is_camera=camera.kind in _CAMERAS,
        )
        self._watch.camera = _state_of(camera)
        self._can_throw = camera.can_throw
        self._mishaps, self._troubles = tuple(camera.mishaps), tuple(camera.troubles)
        self._mutex = threading.RLock()
        self._light_at: LightAt | None = None
        self._light: str | None = None
        self._steady_s: float | None = None
        self._overlooking = False
        self._requests: SimpleQueue[Callable[[Camera], None]] = SimpleQueue()
        self._told: TrayView | None = None
        self._number = 0
        self._attempts = 0
        self._trouble: str | None = None
        self._jpegs: dict[int, bytes] = {}
        self._stop = threading.Event()
        self._was_reading = False
        self._thread = threading.Thread(target=self._run, name="camera", daemon=True)
        self._guard = threading.Thread(target=self._keep_checking, name="camera-guard", daemon=True)

    @property
    def view(self) -> TrayView:
        """What the tray shows now."""
        with self._mutex:
            return self._watch.view()

    @property
    def is_reading(self) -> bool:
        """Whether the dice lie still and the verdict on them is due any moment.

        Takes no lock: whoever asks may hold one that `on_view` needs.
        """
        return self._watch.is_reading

    @property
    def is_overlooking(self) -> bool:
        """Whether the newest frames were left out, so that motion in them is yet to be seen.

        Takes no lock either.
        """
        return self._overlooking

    @property
    def can_throw(self) -> bool:
        """Whether `throw` works."""
        return self._can_throw

    def heed(self, light_at: LightAt) -> None:
        """Tell the table's lamp from motion.

        Args:
            light_at: Which light of the lamp fell into a frame captured at a time; None while it
                was changing.
        """
        self._light_at = light_at

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()
        self._guard.start()

    def close(self) -> None:
        """Stop watching and let go of the camera; may be called twice."""
        self._stop.set()
        for thread in (self._guard, self._thread):
            if thread.is_alive() and thread is not threading.current_thread():
                thread.join(3.0)
        if not self._thread.is_alive():
            self._drop_camera()

    def confirmed(self, roll: Roll | None = None) -> None:
        """Hear that a roll was confirmed or typed: the dice that lie there are used up."""
        with self._mutex:
            self._watch.confirmed(roll)
            self._tell()
        self._requests.put(self._confirm_to)

    def reoffer(self) -> None:
        """Offer what lies in the tray although it was confirmed, because a person said so."""
        with self._mutex:
            self._watch.reoffer()
            self._tell()

    @property
    def mishaps(self) -> tuple[str, ...]:
        """Ways in which `throw` can go wrong; none of a real tray."""
        return self._mishaps

    @property
    def troubles(self) -> tuple[str, ...]:
        """What `trouble` knows; nothing of a real camera."""
        return self._troubles

    def trouble(self, name: str) -> None:
        """Let the simulated camera suffer one of `troubles`, from its next frame on.

        Raises:
            CameraUnavailable: It knows no such trouble.
        """
        if name not in self._troubles:
            raise CameraUnavailable(f"trouble: the camera knows no {name!r}")
        self._requests.put(lambda camera: camera.trouble(name))

    def throw(self, *, mishap: str | None = None) -> None:
        """Throw the dice in play and return at once.

        Raises:
            CameraUnavailable: This camera cannot throw dice.
        """
        if not self._can_throw:
            raise CameraUnavailable("throw: only the simulated tray can throw dice")
        dice = tuple(self._in_play())
        with self._mutex:
            self._watch.thrown()
            self._tell()
        self._requests.put(lambda camera: camera.throw(dice, mishap=mishap))

    def jpeg(self, number: int | None = None) -> bytes | None:
        """Give a frame as JPEG, the newest without a number; None where it is not kept any more.

        Encoded when first asked for, on the asking thread.
        """
        with self._mutex:
            frame = self._watch.frames.get(number)
            kept = self._jpegs.get(frame.number) if frame is not None else None
        if frame is None or kept is not None:
            return kept
        data = as_jpeg(frame)
        with self._mutex:
            self._jpegs[frame.number] = data
            while len(self._jpegs) > 6:
                del self._jpegs[next(iter(self._jpegs))]
        return data

    def frame(self) -> Frame | None:
        """The newest frame; None where there was none yet, and while the camera is lost."""
        with self._mutex:
            if self._camera is None:
                return None
            return self._watch.frames.get(None)

    @property
    def controls(self) -> Mapping[str, float]:
        """What the camera's exposure and colours are held at; empty where they are not."""
        camera = self._camera
        return camera.controls if camera is not None else {}

    def turn(self) -> float:
        """Do the work of one frame; returns how many seconds to wait before the next turn."""
        try:
            if self._camera is None:
                self._get_back()
            assert self._camera is not None
            self._do_requests(self._camera)
            frame = self._camera.read()
            if frame is not None:
                self._number += 1
                self._take(replace(frame, number=self._number), self._camera.notes)
        except CameraUnavailable as error:
            return self._lose(str(error))
        except Exception as error:
            return self._go_on(error)
        return 0.0

    def check(self) -> None:
        """Look after the camera while its thread may be busy with a reading; knows no time but
        that of its last call.

        A camera that fell silent is told at once, and a reading that lasts from one check to the
        next is told as such, however long the thread takes.
        """
        camera = self._camera
        is_silent = camera is not None and camera.is_silent
        with self._mutex:
            is_reading = self._watch.is_reading
            if is_silent and camera is self._camera and self._watch.camera is not CameraState.LOST:
                self._watch.lost()
            elif is_reading and self._was_reading:
                self._watch.linger()
            self._was_reading = is_reading
            self._tell()

    def _take(self, frame: Frame, notes: tuple[Note, ...]) -> None:
        if self._light_at is not None and not self._is_lit_steadily(frame, self._light_at):
            return
        if self._watch.camera is CameraState.LOST and self._camera is not None:
            with self._mutex:
                self._watch.heard(_state_of(self._camera))
        look = self._watch.glimpse(frame)
        if look.is_due:
            with self._mutex:
                self._watch.begin_reading()
            look = self._watch.read(look)
        with self._mutex:
            if self._watch.camera is CameraState.LOST:
                return  # it fell silent meanwhile: what was read is no longer to be offered
            self._watch.weigh(look)
            self._overlooking = False
            self._watch.notes = notes
            self._tell()
        if look.reading is not None:
            self._trouble = None

    def _is_lit_steadily(self, frame: Frame, light_at: LightAt) -> bool:
        """Whether the lamp stood still for a frame; one under another light has no motion."""
        light = light_at(frame.captured_at_s)
        if light is None:
            if self._steady_s is None:
                self._steady_s = frame.captured_at_s
            if frame.captured_at_s - self._steady_s >= LONGEST_BLINK_S:
                return True
            self._overlooking = True
            look = self._watch.overlook(frame)
            with self._mutex:
                self._watch.pass_over(look)
                self._tell()
            return False
        self._steady_s = frame.captured_at_s
        if light != self._light:
            self._light = light
            self._watch.relit()
        return True

    def _run(self) -> None:
        while not self._stop.is_set():
            wait_s = self.turn()
            if wait_s > 0.0:
                self._stop.wait(wait_s)
        self._drop_camera()

    def _keep_checking(self) -> None:
        while not self._stop.wait(CHECK_S):
            try:
                self.check()
            except Exception:
                LOGGER.exception("the camera could not be looked after")

    def _do_requests(self, camera: Camera) -> None:
        while True:
            try:
                request = self._requests.get_nowait()
            except Empty:
                return
            request(camera)

    def _confirm_to(self, camera: Camera) -> None:
        if camera.confirmed():
            self._watch.restart()
            with self._mutex:
                self._watch.reoffer()

    def _get_back(self) -> None:
        camera = self._reopen()
        LOGGER.info("camera is back: %s", camera.description)
        self._camera = camera
        self._attempts = 0
        with self._mutex:
            self._watch.heard(_state_of(camera))
            self._watch.notes = camera.notes

    def _lose(self, text: str) -> float:
        if self._camera is not None:
            LOGGER.warning("camera lost: %s", text)
        with self._mutex:
            self._watch.lost()
            self._overlooking = False
            self._tell()
        self._drop_camera()  # only now: a driver that hangs lets its closing take a second
        wait_s = REOPEN_S[min(self._attempts, len(REOPEN_S) - 1)]
        self._attempts += 1
        return wait_s

    def _go_on(self, error: Exception) -> float:
        text = f"{type(error).__name__}: {error}"
        if text != self._trouble:
            LOGGER.error("watching the tray failed", exc_info=error)
            self._trouble = text
        with self._mutex:
            self._watch.doubt()
            self._tell()
        return TROUBLE_S

    def _drop_camera(self) -> None:
        camera, self._camera = self._camera, None
        if camera is not None:
            try:
                camera.close()
            except Exception:
                LOGGER.exception("the camera could not be closed")

    def _tell(self) -> None:
        view = self._watch.view()
        if view == self._told:
            return
        self._told = view
        try:
            self._on_view(view)
        except Exception:
            LOGGER.exception("the tray's view was not accepted")


def _state_of(camera: Camera) -> CameraState:
    return CameraState.SIMULATED if camera.kind == "simulated" else CameraState.OK
