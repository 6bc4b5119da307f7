"""Whether a table can be played at, and why not: part by part, without waiting for any of them."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from companion.doctor.machine import NEARLY_FULL_MB, TOO_FULL_MB
from companion.messages.catalogue import load_phrases
from companion.messages.equipment import fault_line
from companion.session.session import Session
from companion.tray import CameraState

LOCK_S = 0.5
"""Seconds a step may keep the table to itself before it counts as stuck."""

SILENT_S = 10.0
"""Seconds without a picture after which a camera that should see is reported."""

_TEXTS = load_phrases("en")


class State(StrEnum):
    """State of a part, or of the whole table."""

    OK = "ok"
    IMPAIRED = "impaired"
    FAILED = "failed"

    @property
    def rank(self) -> int:
        """Higher is worse."""
        return list(State).index(self)


@dataclass(frozen=True, slots=True)
class Part:
    """State of a part, with the reason if it is not ok."""

    state: State = State.OK
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Health:
    """State of the table: as bad as its worst part; failed means that nobody can play.

    Attributes:
        reading_age_s: Seconds since the last frame; None without a camera.
        free_mb: Free megabytes where games are kept; None where nothing is known.
    """

    parts: Mapping[str, Part] = field(default_factory=dict)
    reading_age_s: float | None = None
    free_mb: float | None = None

    @property
    def state(self) -> State:
        """State of the whole table."""
        return max(
            (part.state for part in self.parts.values()), key=lambda s: s.rank, default=State.OK
        )


class Live(Protocol):
    """The camera loop."""

    @property
    def frame_age_s(self) -> float:
        """Seconds since the last frame."""

    @property
    def camera(self) -> CameraState:
        """State of the camera."""


class Monitor:
    """Looks after the parts of a running table; may be called from any thread."""

    def __init__(
        self,
        session: Session,
        data_dir: Path,
        *,
        live: Live | None = None,
        sound: Callable[[], str | None] | None = None,
        broker: Callable[[], str | None] | None = None,
        threads: Sequence[threading.Thread] = (),
    ) -> None:
        """Take the parts.

        Args:
            data_dir: Where games are kept.
            sound: Returns why the voice is silent, or None; without it there is no voice.
            broker: Returns why the MQTT broker is away, or None; without it there is no broker.
            threads: Threads that run as long as the table.
        """
        self._session, self._data_dir, self._live, self._sound = session, data_dir, live, sound
        self._broker, self._threads = broker, tuple(threads)

    def health(self) -> Health:
        """Check every part; takes `LOCK_S` at most."""
        free_mb = _free_mb(self._data_dir)
        faults = dict(self._session.faults)
        parts = {
            "steps": self._steps(),
            "storage": _storage(self._data_dir, "storage" in faults),
            "disk": _disk(free_mb),
            "camera": self._camera(faults),
            "button": _equipment("button", faults.get("button")),
            "sound": _impaired(self._sound() if self._sound is not None else None),
            "threads": self._running(),
        }
        if "repeat" in faults:
            parts["repeat"] = _equipment("repeat", faults["repeat"])
        if self._broker is not None:
            parts["broker"] = _impaired(self._broker())
        age_s = self._live.frame_age_s if self._live is not None else None
        return Health(parts, age_s, free_mb)

    def _steps(self) -> Part:
        if self._session.is_free(LOCK_S):
            return Part()
        return Part(State.FAILED, "a step waits for the disk")

    def _camera(self, faults: Mapping[str, str]) -> Part:
        if (fault := faults.get("camera")) is not None:
            return _equipment("camera", fault)
        if self._live is None or not self._live.camera.sees_dice:
            return Part()
        age_s = self._live.frame_age_s
        if age_s < SILENT_S:
            return Part()
        return Part(State.IMPAIRED, f"no picture for {age_s:.0f} s; dice can be entered by hand")

    def _running(self) -> Part:
        ended = sorted({each.name for each in self._threads if not each.is_alive()})
        if not ended:
            return Part()
        return Part(State.IMPAIRED, f"ended: {', '.join(ended)}; start the table again")


def _impaired(reason: str | None) -> Part:
    return Part() if reason is None else Part(State.IMPAIRED, reason)


def _equipment(part: str, fault: str | None) -> Part:
    return _impaired(None if fault is None else _TEXTS.tell(fault_line(part, fault)))


def _storage(directory: Path, has_failed: bool) -> Part:
    if not os.path.isdir(directory):
        return Part(State.FAILED, "the data directory is gone")
    if not os.access(directory, os.W_OK | os.X_OK):
        return Part(State.FAILED, "the data directory cannot be written")
    if has_failed:
        return Part(State.FAILED, "the last step could not be saved")
    return Part()


def _free_mb(directory: Path) -> float | None:
    try:
        return shutil.disk_usage(directory).free / 1e6
    except OSError:
        return None


def _disk(free_mb: float | None) -> Part:
    if free_mb is None or free_mb >= NEARLY_FULL_MB:
        return Part()
    state = State.FAILED if free_mb < TOO_FULL_MB else State.IMPAIRED
    return Part(state, f"only {free_mb:.0f} MB free")
