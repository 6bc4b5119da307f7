"""The log on standard error: levels, one entry of a kind a minute, as text or as JSON lines."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime

FORMS = ("text", "json")
LEVELS = ("error", "warning", "info")

WINDOW_S = 60.0
"""In which only the first entry of a kind is written."""

MOST_KINDS = 200
"""So many kinds are remembered; the longest unused is forgotten first."""

LONGEST_ENTRY = 4000
"""Characters of an entry, its traceback included; the end of a traceback says most."""


class OncePerMinute(logging.Filter):
    """Passes the first entry of a kind each minute, with the number of those left out before.

    A kind is a logger with a message before its values are filled in.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._kinds: OrderedDict[tuple[str, str], tuple[float, int]] = OrderedDict()
        self._mutex = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether an entry is written."""
        kind, now_s = (record.name, str(record.msg)), self._clock()
        with self._mutex:
            since_s, left_out = self._kinds.pop(kind, (-WINDOW_S, 0))
            if now_s - since_s < WINDOW_S:
                self._kinds[kind] = (since_s, left_out + 1)
                return False
            self._kinds[kind] = (now_s, 0)
            while len(self._kinds) > MOST_KINDS:
                self._kinds.popitem(last=False)
        record.left_out = left_out
        return True


class TextFormatter(logging.Formatter):
    """`WARNING web.server: the message (3 more in between)`, and a traceback below."""

    def format(self, record: logging.LogRecord) -> str:
        """Return an entry as text."""
        text = f"{record.levelname} {record.name}: {record.getMessage()}{_more(record)}"
        if record.exc_info:
            text += f"\n{self.formatException(record.exc_info)}"
        return _shortened(text)


class JsonFormatter(logging.Formatter):
    """An object for each line: time, level, logger, message, and where there is one, traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Return an entry as one line of JSON."""
        at = datetime.fromtimestamp(record.created).astimezone()
        entry = {
            "time": at.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _shortened(record.getMessage()),
            "left_out": getattr(record, "left_out", 0),
        }
        if record.exc_info:
            entry["traceback"] = _shortened(self.formatException(record.exc_info))
        return json.dumps(entry, ensure_ascii=False)


class _Handler(logging.StreamHandler):  # type: ignore[type-arg]
    """The handler of `install`."""


def install(*, level: str = "warning", form: str = "text") -> None:
    """Write the log to standard error; replaces an earlier call, but nobody else's handlers.

    Args:
        level: The lowest level that is written, of LEVELS.
        form: text or json.
    """
    root = logging.getLogger()
    if any(not isinstance(each, _Handler) for each in root.handlers):
        return
    handler = _Handler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    handler.addFilter(OncePerMinute())
    root.handlers[:] = [handler]
    root.setLevel(level.upper())


def _more(record: logging.LogRecord) -> str:
    left_out = getattr(record, "left_out", 0)
    return f" ({left_out} more in between)" if left_out else ""


def _shortened(text: str) -> str:
    if len(text) <= LONGEST_ENTRY:
        return text
    half = LONGEST_ENTRY // 2
    return f"{text[:half]} … {text[-half:]}"
