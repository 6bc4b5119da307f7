"""The log: one entry of a kind a minute, of bounded length, as text or as JSON lines."""

from __future__ import annotations

import json
import logging
import subprocess
import sys

from companion.service.log import (
    LONGEST_ENTRY,
    MOST_KINDS,
    JsonFormatter,
    OncePerMinute,
    TextFormatter,
)


def entry(message: str, *values: object, name: str = "web.server") -> logging.LogRecord:
    return logging.LogRecord(name, logging.WARNING, __file__, 1, message, values, None)


def failed(text: str) -> logging.LogRecord:
    record = entry("it failed")
    try:
        raise ValueError(text)
    except ValueError:
        record.exc_info = sys.exc_info()
    return record


class TestOncePerMinute:
    def test_a_kind_is_written_once_a_minute_and_counts_the_rest(self) -> None:
        now = [0.0]
        once = OncePerMinute(clock=lambda: now[0])
        assert [once.filter(entry("lost: %s", n)) for n in range(5)] == [True] + [False] * 4
        assert once.filter(entry("lost: %s", 1, name="vision.cameras"))
        now[0] = 60.0
        again = entry("lost: %s", 9)
        assert once.filter(again)
        assert TextFormatter().format(again) == "WARNING web.server: lost: 9 (4 more in between)"

    def test_any_number_of_kinds_takes_bounded_memory(self) -> None:
        once = OncePerMinute(clock=lambda: 0.0)
        for n in range(3 * MOST_KINDS):
            assert once.filter(entry(f"kind {n}"))
        assert len(once._kinds) == MOST_KINDS


class TestForms:
    def test_json_is_one_object_a_line_with_the_traceback(self) -> None:
        told = JsonFormatter().format(failed("bad\nnews"))
        assert "\n" not in told
        read = json.loads(told)
        assert (read["level"], read["logger"], read["message"]) == (
            "warning",
            "web.server",
            "it failed",
        )
        assert read["traceback"].endswith("ValueError: bad\nnews")

    def test_a_long_entry_is_shortened_and_keeps_its_end(self) -> None:
        told = TextFormatter().format(failed("x" * 10 * LONGEST_ENTRY + " the end"))
        assert len(told) <= LONGEST_ENTRY + 3
        assert told.startswith("WARNING web.server: it failed\nTraceback")
        assert told.endswith("the end")


def test_the_program_writes_its_log_to_standard_error() -> None:
    script = (
        "import logging; from companion.service import log; log.install(level='info', form='json');"
        "log.install(level='info', form='json');"
        "[logging.getLogger('a').info('n %d', n) for n in range(9)]"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.stdout == ""
    assert [json.loads(line)["message"] for line in run.stderr.splitlines()] == ["n 0"]
