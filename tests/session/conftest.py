"""A table with a history, and what is kept of it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.session.fakes import Stage


@pytest.fixture
def played(tmp_path: Path) -> Path:
    """A table in its third game: the first was put aside, the second ended early."""
    stage = Stage(tmp_path / "table")
    stage.seat("Ada", "Ben")
    stage.session.start("big_points", house=("finish_turn",))
    stage.close_red()
    stage.session.pause()
    stage.session.start()
    stage.roll(2, 3)
    stage.answer(0, "R5")
    stage.correct(2, 4)
    stage.session.end()
    stage.session.change_settings({"hints": False}, {"volume": 40})
    stage.session.rematch()
    stage.roll(1, 2)
    stage.answer(0, "R3", key="a key")
    stage.session.close_action()
    stage.session.change_settings({"sound": False})
    stage.store.close()
    return tmp_path / "table"


def rewritten(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what a kept value says, with the right checksum."""
    data = json.loads(path.read_bytes().partition(b"\n")[2])
    change(data)
    packed = json.dumps(data).encode()
    path.write_bytes(b"%08x\n%b" % (zlib.crc32(packed), packed))
