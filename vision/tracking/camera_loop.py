"""The camera thread: frames in, views of the tray out, and never stuck."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from queue import SimpleQueue
from weakref import WeakKeyDictionary

from companion.engine.dice import DieColour, Roll
from companion.errors import CameraUnavailable
from companion.tray import CameraState, TrayView
from vision.cameras.camera import Camera, CameraKind, PictureSequence
from vision.reading import Frame
from vision.tracking.frame_buffer import as_jpeg
from vision.tracking.tracker import Reader, TrayTracker

LOGGER = logging.getLogger(__name__)

REOPEN_S = 0.25
"""Seconds between attempts to open a lost camera. An attempt costs little while it is away, and a
webcam is back within three seconds, even if it was opened too early once."""

CHECK_S = 0.25
"""Seconds between two checks of the camera's thread. With `capture.STALL_S` a silent camera is
reported within two seconds, and a slow reading within half a second."""

TROUBLE_S = 0.5
"""Seconds to wait after an unexpected error, so that one in every frame costs no processor."""

LONGEST_TURN_S = 20.0
"""Seconds that one turn of the camera's thread may take: opening a camera takes up to eight, and
so may a reading on a busy machine. A thread that is longer away hangs."""

LONGEST_BLINK_S = 1.5
"""Seconds after which frames are read although the lamp is still changing."""

LightAt = Callable[[float], str | None]
OnView = Callable[[TrayView], None]


class CameraLoop:
    """Watches the tray on a thread of its own.

    `on_view` is called whenever the view changes: on the camera's thread, on its guard's, or on
    the thread that calls `on_confirmed`, `reoffer` or `expect_throw`, before these return. Calls
    come one at a time and in order, so once `on_confirmed` has returned, the confirmed roll is
    never offered again. Do not call these methods holding a lock that `on_view` needs.
    """

    def __init__(
        self,
        camera: Camera | None,
        *,
        reopen: Callable[[], Camera],
        reader: Reader,
        in_play: Callable[[], Sequence[DieColour]],
        on_view: OnView,
        annotated: Callable[[TrayView], TrayView] = lambda view: view,
        confirmed_rolls: tuple[Roll, ...] = (),
    ) -> None:
        """Take an open camera; nothing runs before `start`.

        Args:
            camera: Owned from here on: `close` closes it. None if it is not there yet: it counts
                as lost until `reopen` opens it.
            reopen: Opens the same camera again after it was lost; raises CameraUnavailable.
            reader: Reads single frames.
            in_play: The dice the game expects now.
            on_view: Receives every new view of the tray.
            annotated: Adds to each view what is known besides, such as a change of the light.
            confirmed_rolls: The roll confirmed before a restart, and its corrections; if its dice
                still lie there, they are no new throw.
        """
        self._camera = camera
        self._reopen = reopen
        self._on_view, self._annotated = on_view, annotated
        self._tracker = TrayTracker(
            reader,
            in_play,
            confirmed_rolls=confirmed_rolls,
            is_camera=camera is None or not camera.kind.is_recorded,
        )
        if camera is None:
            self._tracker.on_camera_lost()
        else:
            self._tracker.camera = _state_of(camera)
        self._mutex = threading.RLock()
        self._light_at: LightAt | None = None
        self._light: str | None = None
        self._steady_s: float | None = None
        self._is_skipping = False
        self._requests: SimpleQueue[Callable[[], object]] = SimpleQueue()
        self._published: TrayView | None = None
        self._number = 0
        self._frame_at_s = self._turned_at_s = time.monotonic()
        self._reading_s: float | None = None
        self._trouble: str | None = None
        self._jpegs: WeakKeyDictionary[Frame, bytes] = WeakKeyDictionary()
        self._stop = threading.Event()
        self._was_reading = False
        self._thread = threading.Thread(target=self._run, name="camera", daemon=True)
        self._guard = threading.Thread(target=self._keep_checking, name="camera-guard", daemon=True)

    @property
    def view(self) -> TrayView:
        """Current view of the tray."""
        with self._mutex:
            return self._annotated(self._tracker.view())

    @property
    def camera(self) -> CameraState:
        """State of the camera. Takes no lock."""
        return self._tracker.camera

    @property
    def frames(self) -> int:
        """Number of frames since the start. Takes no lock."""
        return self._number

    @property
    def frame_age_s(self) -> float:
        """Seconds since the last frame, or since the start. Takes no lock."""
        return time.monotonic() - self._frame_at_s

    @property
    def reading_s(self) -> float | None:
        """Seconds that the last reading took; None before the first. Takes no lock."""
        return self._reading_s

    @property
    def is_turning(self) -> bool:
        """Whether both threads run and none hangs, with or without a camera. Takes no lock."""
        is_alive = self._thread.is_alive() and self._guard.is_alive()
        return is_alive and time.monotonic() - self._turned_at_s < LONGEST_TURN_S

    @property
    def is_reading(self) -> bool:
        """Whether the dice lie still and their reading is due any moment.

        Takes no lock: the caller may hold one that `on_view` needs.
        """
        return self._tracker.is_reading

    @property
    def is_skipping_frames(self) -> bool:
        """Whether the newest frames were not checked for motion. Takes no lock."""
        return self._is_skipping

    def use_lamp_schedule(self, light_at: LightAt) -> None:
        """Ignore changes of the table's lamp when motion is measured.

        Args:
            light_at: Returns the light that fell into a frame captured at a time; None while the
                lamp was changing.
        """
        self._light_at = light_at

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()
        self._guard.start()

    def close(self) -> None:
        """Stop watching and close the camera; may be called twice."""
        self._stop.set()
        for thread in (self._guard, self._thread):
            if thread.is_alive() and thread is not threading.current_thread():
                thread.join(3.0)
        if not self._thread.is_alive():
            self._drop_camera()

    def on_confirmed(self, roll: Roll | None = None) -> None:
        """Note that a roll was confirmed or typed: the dice that lie there are used up."""
        with self._mutex:
            self._tracker.on_confirmed(roll)
            self._publish()
        self._requests.put(self._show_next)

    def reoffer(self) -> None:
        """Offer the dice in the tray although they were confirmed: a person asked for it."""
        with self._mutex:
            self._tracker.reoffer()
            self._publish()

    def on_corrected(self, roll: Roll) -> None:
        """Note that the dice confirmed last show another roll than was confirmed."""
        with self._mutex:
            self._tracker.on_corrected(roll)

    def read_anew(self) -> None:
        """Forget what the frames before showed: the tray is read by another calibration."""
        self._requests.put(self._read_anew)

    def expect_throw(self) -> None:
        """Withdraw the offered roll, because dice are about to be thrown."""
        with self._mutex:
            self._tracker.expect_throw()
            self._publish()

    def call_soon(self, call: Callable[[], object]) -> None:
        """Call a function on the camera's thread, before it reads the next frame."""
        self._requests.put(call)

    def jpeg(self, number: int | None = None) -> bytes | None:
        """Return a frame as JPEG, the newest without a number; None if it is no longer kept.

        It is encoded at the first request, on the caller's thread.
        """
        with self._mutex:
            frame = self._tracker.frames.get(number)
            data = None if frame is None else self._jpegs.get(frame)
        if frame is not None and data is None:
            data = as_jpeg(frame)
            with self._mutex:
                self._jpegs[frame] = data
        return data

    def frame(self, number: int | None = None) -> Frame | None:
        """A frame that is still kept, the newest without a number.

        None before the first one, and while the camera is lost.
        """
        with self._mutex:
            if self._camera is None:
                return None
            return self._tracker.frames.get(number)

    @property
    def controls(self) -> Mapping[str, float] | None:
        """Held exposure and colours of the camera, as `Camera.controls`."""
        camera = self._camera
        return camera.controls if camera is not None else {}

    def turn(self) -> float:
        """Do the work of one frame; return how many seconds to wait before the next turn."""
        try:
            camera = self._camera or self._get_back()
            while not self._requests.empty():
                self._requests.get()()
            frame = camera.read()
            if frame is not None:
                self._number += 1
                self._frame_at_s = time.monotonic()
                self._take(replace(frame, number=self._number), camera)
        except CameraUnavailable as error:
            return self._lose(str(error))
        except Exception as error:
            return self._go_on(error)
        return 0.0

    def check(self) -> None:
        """Check the camera while its thread may be busy reading.

        A camera that fell silent is reported at once, and so is a reading that lasts from one
        check to the next.
        """
        camera = self._camera
        is_silent = camera is not None and camera.is_silent
        with self._mutex:
            is_reading = self._tracker.is_reading
            if (
                is_silent
                and camera is self._camera
                and self._tracker.camera is not CameraState.LOST
            ):
                self._tracker.on_camera_lost()
            elif is_reading and self._was_reading:
                self._tracker.mark_slow()
            self._was_reading = is_reading
            self._publish()

    def _take(self, frame: Frame, camera: Camera) -> None:
        if self._tracker.camera is CameraState.LOST:
            with self._mutex:
                self._tracker.on_camera_restored(_state_of(camera))
        if self._light_at is not None and not self._is_lit_steadily(frame, self._light_at):
            return
        observed = self._tracker.measure_motion(frame)
        if observed.is_due:
            with self._mutex:
                self._tracker.begin_reading()
            began_s = time.perf_counter()
            observed = self._tracker.read(observed)
            self._reading_s = time.perf_counter() - began_s
        with self._mutex:
            if self._tracker.camera is CameraState.LOST:
                return  # it fell silent meanwhile: this reading is outdated
            self._tracker.update(observed)
            self._is_skipping = False
            self._tracker.notes = camera.notes
            self._publish()
        if observed.reading is not None:
            self._trouble = None

    def _is_lit_steadily(self, frame: Frame, light_at: LightAt) -> bool:
        """Whether the lamp did not change during a frame; another light is no motion."""
        light = light_at(frame.captured_at_s)
        if light is None:
            if self._steady_s is None:
                self._steady_s = frame.captured_at_s
            if frame.captured_at_s - self._steady_s >= LONGEST_BLINK_S:
                return True
            self._is_skipping = True
            with self._mutex:
                self._tracker.skip(frame)
                self._publish()
            return False
        self._steady_s = frame.captured_at_s
        if light != self._light:
            self._light = light
            self._tracker.on_lamp_changed()
        return True

    def _run(self) -> None:
        while not self._stop.is_set():
            wait_s = self.turn()
            self._turned_at_s = time.monotonic()
            if wait_s > 0.0:
                self._stop.wait(wait_s)
        self._drop_camera()

    def _keep_checking(self) -> None:
        while not self._stop.wait(CHECK_S):
            try:
                self.check()
            except Exception:
                LOGGER.exception("the camera could not be checked")

    def _read_anew(self) -> None:
        with self._mutex:
            self._tracker.read_anew()
            self._publish()

    def _show_next(self) -> None:
        """Go on to the next picture of a folder."""
        if isinstance(self._camera, PictureSequence) and self._camera.show_next():
            self._tracker.expect_change()
            with self._mutex:
                self._tracker.reoffer()

    def _get_back(self) -> Camera:
        self._camera = self._reopen()
        LOGGER.info("camera is back: %s", self._camera.description)
        return self._camera

    def _lose(self, text: str) -> float:
        if self._camera is not None:
            LOGGER.warning("camera lost: %s", text)
        with self._mutex:
            self._tracker.on_camera_lost()
            self._is_skipping = False
            self._publish()
        self._drop_camera()  # last, because a hanging driver takes a second to close
        return REOPEN_S

    def _go_on(self, error: Exception) -> float:
        text = f"{type(error).__name__}: {error}"
        if text != self._trouble:
            LOGGER.error("reading the tray failed", exc_info=error)
            self._trouble = text
        with self._mutex:
            self._tracker.mark_failed()
            self._publish()
        return TROUBLE_S

    def _drop_camera(self) -> None:
        camera, self._camera = self._camera, None
        if camera is not None:
            try:
                camera.close()
            except Exception:
                LOGGER.exception("the camera could not be closed")

    def _publish(self) -> None:
        view = self._annotated(self._tracker.view())
        if view == self._published:
            return
        self._published = view
        try:
            self._on_view(view)
        except Exception:
            LOGGER.exception("the receiver of the tray's view failed")


def _state_of(camera: Camera) -> CameraState:
    return CameraState.SIMULATED if camera.kind is CameraKind.SIMULATED else CameraState.OK
