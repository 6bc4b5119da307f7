"""Keeps only the newest picture of a device that delivers at its own rate."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from vision.cameras.pace import Clock
from vision.reading import Pixels

LOGGER = logging.getLogger(__name__)

Grab = Callable[[], Pixels | None]
"""Waits for a device's next picture; None if that failed."""

STALL_S = 1.4
"""Seconds without a picture after which a device is lost; the table reports it within two seconds.
Webcams in dim light still deliver five pictures a second."""

FAILURES = 5
"""Consecutive failed grabs after which the device counts as gone."""

FAILURE_PAUSE_S = 0.02
"""Pause after a failed grab: an unplugged device fails at once."""


class LatestFrame:
    """Thread that grabs pictures and keeps the newest.

    A stalled device blocks its reader for seconds or for ever. It blocks only this thread, and
    `take` raises after `STALL_S`.
    """

    def __init__(
        self,
        grab: Grab,
        release: Callable[[], object],
        *,
        clock: Clock = time.monotonic,
    ) -> None:
        """Start grabbing; the same thread calls `release` at the end."""
        self._grab = grab
        self._release = release
        self._clock = clock
        self._changed = threading.Condition()
        self._picture: tuple[Pixels, float] | None = None
        self._heard_s = clock()
        self._fault: str | None = None
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="camera-grab", daemon=True)
        self._thread.start()

    @property
    def is_silent(self) -> bool:
        """Whether the device is gone or has been silent for too long; does not block."""
        return self._fault is not None or self._clock() - self._heard_s >= STALL_S

    def take(self, timeout_s: float = 0.5) -> tuple[Pixels, float] | None:
        """Wait for a new picture, and return it with its capture time.

        Returns:
            None if none came within `timeout_s`.
        Raises:
            ConnectionError: The device is gone or has been silent for too long.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._picture is not None or self._fault is not None, timeout_s
            )
            if self._picture is not None:
                picture, self._picture = self._picture, None
                return picture
            if self._fault is not None:
                raise ConnectionError(self._fault)
            if self.is_silent:
                silent_s = self._clock() - self._heard_s
                raise ConnectionError(f"no picture for {silent_s:.1f} s")
            return None

    def close(self) -> None:
        """Stop the thread, which releases the device; a blocked one does so when it wakes."""
        with self._changed:
            self._is_closed = True
        if self._thread is not threading.current_thread():
            self._thread.join(1.0)

    def _run(self) -> None:
        try:
            self._grab_on()
        except Exception as error:
            LOGGER.exception("the camera failed")
            self._fail(f"{type(error).__name__}: {error}")
        finally:
            try:
                self._release()
            except Exception:
                LOGGER.exception("the camera could not be released")

    def _grab_on(self) -> None:
        failures = 0
        while not self._is_closed:
            pixels = self._grab()
            with self._changed:
                if pixels is not None:
                    failures = 0
                    self._heard_s = self._clock()
                    self._picture = (pixels, self._heard_s)
                    self._changed.notify_all()
                    continue
            failures += 1
            if failures >= FAILURES:
                self._fail("gives no pictures any more")
                return
            time.sleep(FAILURE_PAUSE_S)

    def _fail(self, text: str) -> None:
        with self._changed:
            self._fault = text
            self._changed.notify_all()
