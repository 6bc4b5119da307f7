"""The pictures of confirmed rolls, written beside the game."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from companion.adapters.camera import keep_pictures
from companion.config import Config
from companion.history.pictures import Pictures
from tests.session.corrections import seen
from tests.session.fakes import Stage


class Live:
    """A camera loop with one picture."""

    def jpeg(self, number: int | None = None) -> bytes:
        return b"dice"


def test_a_slow_card_keeps_nobody_waiting_for_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who confirms a roll may be the camera's thread, for whose lock every page waits."""
    is_answered, keep = threading.Event(), Pictures.keep

    def keep_late(pictures: Pictures, *picture: Any) -> None:
        assert is_answered.wait(9)
        keep(pictures, *picture)

    monkeypatch.setattr(Pictures, "keep", keep_late)
    stage = Stage(tmp_path)
    with ExitStack() as stack:
        config = replace(Config(), data_dir=tmp_path)
        pictures = keep_pictures(config, stage.session, Live(), stack)  # type: ignore[arg-type]
        assert pictures is not None
        stage.seat("Ada", "Ben")
        assert stage.session.start("base", 0) is None
        stage.session.see(seen())
        assert stage.session.press() is None
        assert pictures.all() == []
        is_answered.set()
    assert [each.turn for each in pictures.all()] == [1], "closing waits for the last one"
    stage.store.close()
