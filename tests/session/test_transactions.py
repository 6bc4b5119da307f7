"""A step of several records is stored as a whole, or not at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from companion.errors import StoreError
from companion.eventlog.store import FILE_NAME
from companion.session.session import HostStep, Joined
from tests.session.fakes import Stage

Step = Callable[[Stage], object]


def nobody(stage: Stage) -> None:
    """An empty table."""


def seated(stage: Stage) -> None:
    stage.seat("Ada", "Ben")


def started(stage: Stage) -> None:
    seated(stage)
    stage.session.start("base", 0)


def rolled(stage: Stage) -> None:
    started(stage)
    stage.roll(3, 4)


def put_aside(stage: Stage) -> None:
    rolled(stage)
    stage.session.pause()
    stage.session.leave(0)
    stage.session.leave(1)


@contextmanager
def disk_full_after(directory: Path, records: int) -> Iterator[None]:
    """The database refuses every record after so many more."""
    with closing(sqlite3.connect(directory / FILE_NAME)) as db:
        (last,) = db.execute("SELECT coalesce(max(revision), 0) FROM log").fetchone()
        db.execute(
            f"CREATE TRIGGER full BEFORE INSERT ON log WHEN NEW.revision > {last + records}"
            " BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
        db.commit()
        yield
        db.execute("DROP TRIGGER full")
        db.commit()


def kinds(stage: Stage, after: int) -> list[str]:
    return [record.kind for record in stage.store.load(after)]


@pytest.mark.parametrize(
    ("prepare", "step", "expected"),
    [
        pytest.param(
            nobody,
            lambda stage: stage.session.join("Ada", "device"),
            ["seated", "hosted"],
            id="the first seat makes a host",
        ),
        pytest.param(
            started,
            lambda stage: stage.session.join("Cleo"),
            ["seated", "started"],
            id="a newcomer enters a game without a roll",
        ),
        pytest.param(
            rolled,
            lambda stage: stage.session.let_go(1),
            ["seat_closed", "left"],
            id="a player leaves a running game",
        ),
        pytest.param(
            put_aside,
            lambda stage: stage.session.resume(1),
            ["seated", "seated", "resumed"],
            id="a game is resumed without its players",
        ),
        pytest.param(
            seated,
            lambda stage: stage.session.change_settings({"hints": False}, {"language": "de"}),
            ["set"],
            id="hints and language change",
        ),
    ],
)
def test_a_refused_record_undoes_the_whole_step(
    tmp_path: Path, prepare: Step, step: Step, expected: list[str]
) -> None:
    stage = Stage(tmp_path)
    prepare(stage)
    before, heard = stage.session.view().table, list(stage.told)
    for room in range(len(expected)):
        with disk_full_after(tmp_path, room), pytest.raises(StoreError, match="disk full"):
            step(stage)
        assert kinds(stage, before.revision) == [], f"with room for {room} records"
        assert stage.session.view().table == before
        told = [each for each in stage.told if each.kind != "fault"]
        assert told == heard, "nothing is announced that did not happen"
    result = step(stage)
    assert result is None or isinstance(result, Joined)
    assert kinds(stage, before.revision) == expected
    assert stage.again().session.view().table == stage.session.view().table


def test_settings_take_effect_together(two: Stage) -> None:
    with pytest.raises(ValueError, match="volume"):
        two.session.change_settings({"hints": False}, {"language": "de", "volume": 900})
    assert two.session.view().table.settings.hints
    assert two.session.phrases.language == "en"


@pytest.mark.parametrize("step", [HostStep.UNDO, HostStep.CLOSE, HostStep.END])
def test_a_preview_changes_nothing(two: Stage, step: HostStep) -> None:
    two.roll(3, 4)
    two.answer(0, "R7")
    before, records = two.session.view(), list(two.store.load())
    lines = two.session.preview(step)
    assert isinstance(lines, list)
    assert lines
    assert two.session.view() == before
    assert list(two.store.load()) == records
