"""A stand-in for espeak-ng that reports what it was asked, and a speaker that calls it."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.audio.espeak import Speaker
from tests.waiting import until

PATIENCE_S = 20.0
"""For what must come; it comes in milliseconds."""

STAND_IN = """#!/bin/sh
# Says on the pipe what it was asked, and whether another one is still at it.
text=$(cat)
exec 9>"{folder}/one-voice"
if flock -n 9; then alone=alone; else alone=TWO-VOICES; fi
printf '%s|%s|%s\\n' "$alone" "$*" "$text" >"{folder}/pipe"
case "$text" in
  *forever*) exec sleep 60 ;;
  *crash*) echo "cannot open the sound" >&2; exit 3 ;;
  *no-card*) echo "ALSA lib: blah" >&2; echo "error: No such file or directory" >&2 ;;
esac
printf 'said|%s\\n' "$text" >"{folder}/pipe"
"""


class StandIn:
    """A program named espeak-ng on the PATH, and the pipe it reports on."""

    def __init__(self, folder: Path) -> None:
        program = folder / "espeak-ng"
        program.write_text(STAND_IN.format(folder=folder))
        program.chmod(0o755)
        os.mkfifo(folder / "pipe")
        # Open for both, so that neither side waits for the other to open it.
        self._pipe = os.open(folder / "pipe", os.O_RDWR)
        self._lines: list[str] = []
        self._rest = b""

    def line(self) -> str:
        """The next line it reported."""
        while not self._lines:
            ready, _, _ = select.select([self._pipe], [], [], PATIENCE_S)
            assert ready, "the voice said nothing"
            *lines, self._rest = (self._rest + os.read(self._pipe, 65536)).split(b"\n")
            self._lines += [line.decode() for line in lines]
        return self._lines.pop(0)

    def all_lines(self) -> list[str]:
        """Whatever it reported until now."""
        found = [*self._lines]
        while select.select([self._pipe], [], [], 0)[0]:
            found += os.read(self._pipe, 65536).decode().splitlines()
        return found

    def close(self) -> None:
        os.close(self._pipe)


@pytest.fixture
def voice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    stand_in = StandIn(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    yield stand_in
    stand_in.close()


@pytest.fixture
def speaker(voice: StandIn) -> Iterator[Speaker]:
    speaker = Speaker()
    speaker.tune(80, 150)
    yield speaker
    speaker.close()


def until_silent(speaker: Speaker) -> None:
    until(lambda: not speaker._queue and speaker._current is None)
