"""Metrics in the text form of Prometheus (exposition format 0.0.4)."""

from __future__ import annotations

import os
import resource
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from companion.doctor.health import Health

MEDIA = "text/plain; version=0.0.4; charset=utf-8"

Samples = Iterable[tuple[Mapping[str, str], float]]


@dataclass
class Requests:
    """Counts answered requests; may be used from any thread."""

    _counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    _seconds: Counter[str] = field(default_factory=Counter)  # a Counter adds floats as well
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def add(self, method: str, status: int, seconds: float) -> None:
        """Count a request by its kind, its status and the time it took."""
        kind = "read" if method in ("GET", "HEAD", "OPTIONS") else "step"
        with self._mutex:
            self._counts[kind, f"{status // 100}xx"] += 1
            self._seconds[kind] += seconds  # type: ignore[assignment]

    def counts(self) -> dict[tuple[str, str], int]:
        """Number of requests by kind and class of status."""
        with self._mutex:
            return dict(self._counts)

    def seconds(self) -> dict[str, float]:
        """Seconds spent on them by kind."""
        with self._mutex:
            return dict(self._seconds)


def exposition(
    health: Health,
    requests: Requests,
    *,
    version: str,
    frames: int | None,
    revision: int,
    streams: int,
) -> str:
    """Write all metrics; none carries a name, a code or an address.

    Args:
        frames: Frames of the camera since the start; None without a camera.
        revision: Number of records in the log.
        streams: Open streams.
    """
    own = resource.getrusage(resource.RUSAGE_SELF)
    families: list[tuple[str, str, str, Samples]] = [
        ("info", "gauge", "Version of the program.", [({"version": version}, 1)]),
        (
            "part_state",
            "gauge",
            "State of a part: 0 ok, 1 impaired, 2 failed.",
            [({"part": name}, part.state.rank) for name, part in health.parts.items()],
        ),
        ("frames_total", "counter", "Frames of the camera.", _known(frames)),
        ("reading_age_seconds", "gauge", "Since the last frame.", _known(health.reading_age_s)),
        (
            "disk_free_bytes",
            "gauge",
            "Free where games are kept.",
            _known(None if health.free_mb is None else health.free_mb * 1e6),
        ),
        ("records", "gauge", "Records in the log.", _known(revision)),
        ("streams", "gauge", "Open live updates.", _known(streams)),
        (
            "requests_total",
            "counter",
            "Answered requests.",
            [
                ({"kind": kind, "status": status}, count)
                for (kind, status), count in sorted(requests.counts().items())
            ],
        ),
        (
            "request_seconds_total",
            "counter",
            "Seconds spent on answering.",
            [({"kind": kind}, seconds) for kind, seconds in sorted(requests.seconds().items())],
        ),
        ("cpu_seconds_total", "counter", "Of the process.", _known(own.ru_utime + own.ru_stime)),
        ("resident_memory_bytes", "gauge", "Of the process.", _known(_resident_bytes())),
        ("threads", "gauge", "Of the process.", _known(threading.active_count())),
        ("open_files", "gauge", "Of the process.", _known(_open_files())),
    ]
    return "".join(
        _family(f"dice_companion_{name}", kind, text, samples)
        for name, kind, text, samples in families
    )


def _known(value: float | None) -> Samples:
    return [] if value is None else [({}, value)]


def _family(name: str, kind: str, text: str, samples: Samples) -> str:
    lines = [f"{name}{_labels(labels)} {value:.17g}\n" for labels, value in samples]
    if not lines:
        return ""
    return f"# HELP {name} {text}\n# TYPE {name} {kind}\n" + "".join(lines)


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs = (f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{','.join(pairs)}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _resident_bytes() -> int | None:
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return None
    return int(pages) * resource.getpagesize()


def _open_files() -> int | None:
    try:
        return len(os.listdir("/proc/self/fd"))
    except OSError:
        return None
