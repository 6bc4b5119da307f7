"""Notices follow from the event log alone."""

from __future__ import annotations

from pathlib import Path

from companion.history.notices import notices_of
from tests.session.fakes import Stage


def a_game(tmp_path: Path) -> Stage:
    stage = Stage(tmp_path)
    stage.seat("Ada", "Ben")
    assert stage.session.start("base", 0) is None
    assert stage.roll(3, 4) is None
    assert stage.answer(1, "R7") == ""
    return stage


def test_a_corrected_roll_names_the_cross_that_is_gone(tmp_path: Path) -> None:
    stage = a_game(tmp_path)
    assert stage.correct(4, 4) is None
    notices = stage.session.view().notices
    assert [(n.player, n.kind, n.lost) for n in notices] == [
        (0, "corrected", ()),
        (1, "corrected", ("R7",)),
    ]
    assert notices == notices_of(stage.store.load())


def test_an_undone_action_names_the_miss_that_is_gone(tmp_path: Path) -> None:
    stage = a_game(tmp_path)
    assert stage.answer(0, None) == ""
    assert stage.answer(0, None) == ""  # action 2: the miss
    assert stage.session.undo() is None
    [ada, ben] = stage.session.view().notices
    assert (ada.kind, ada.misses, ben.misses) == ("undone", -1, 0)
    assert (ada, ben) == notices_of(stage.store.load())


def test_notices_survive_a_restart_and_end_with_the_game(tmp_path: Path) -> None:
    stage = a_game(tmp_path)
    assert stage.session.close_action() is None
    [notice] = stage.session.view().notices
    assert (notice.player, notice.kind) == (0, "closed")
    stage = stage.again()
    assert stage.session.view().notices == (notice,)
    assert stage.session.end() is None
    assert stage.session.rematch() is None
    assert stage.session.view().notices == ()
    stage.store.close()


def test_an_answer_of_the_host_is_a_notice_for_its_player_alone(tmp_path: Path) -> None:
    stage = a_game(tmp_path)
    assert stage.session.answer(0, 1, 1, "Y7", done=True, is_by_host=True) is None
    [notice] = stage.session.view().notices
    assert (notice.player, notice.kind, notice.crossed) == (0, "answered", "Y7")
    stage.store.close()
