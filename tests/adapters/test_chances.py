"""The chances that a table view shows: off until the host wants them, and soon after a roll."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from companion.adapters.chances import FEWEST_GAMES, MOST_GAMES, LiveChances
from companion.coach.worker import Worker, WorkerError
from tests.session.fakes import Stage
from tests.waiting import until


@pytest.fixture
def live(stage: Stage) -> Iterator[LiveChances]:
    live = LiveChances(stage.session)
    yield live
    live.close()


def test_chances_follow_roll_correction_and_undo(stage: Stage, live: LiveChances) -> None:
    stage.seat("Ada", "Ben")
    stage.session.start("base", 0)
    time.sleep(0.1)
    assert live.of(1) == (), "off unless the host wants them"
    stage.session.change_settings({"chances": True})
    until(lambda: live.of(1) != ())
    for step in (
        lambda: stage.roll(6, 6, red=6),
        lambda: stage.correct(1, 1, red=6),
        lambda: stage.session.undo(),
    ):
        before, version = live.of(1), stage.session.view().version
        assert step() is None
        until(lambda old=before: live.of(1) != old)
        until(lambda old=version: stage.session.view().version >= old + 2)
        assert sum(each.share for each in live.of(1)) == pytest.approx(1)
    kept = live.of(1)
    assert stage.answer(0, "R12") == "LOCK_NEEDS_FIVE"
    assert stage.answer(0, None) == ""
    time.sleep(0.1)
    assert live.of(1) == kept, "an answer is no news of luck"
    assert live.of(2) == ()
    stage.session.change_settings({"chances": False})
    until(lambda: live.of(1) == ())
    stage.session.change_settings({"chances": True})
    until(lambda: live.of(1) != ())
    stage.session.end()
    until(lambda: live.of(1) == ())


@pytest.mark.logs_errors
def test_chances_that_cannot_be_computed_leave_none_of_an_earlier_roll(
    stage: Stage, live: LiveChances, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise WorkerError("coach: the process ended")

    stage.seat("Ada", "Ben")
    stage.session.change_settings({"chances": True})
    stage.session.start("base", 0)
    until(lambda: live.of(1) != ())
    with monkeypatch.context() as failing:
        failing.setattr(Worker, "call", fail)
        stage.roll(1, 1)
        until(lambda: live.of(1) == ())
    until(lambda: live.of(1) != ())


def test_a_slow_machine_plays_fewer_games_until_it_is_quick_again(
    stage: Stage, live: LiveChances, monkeypatch: pytest.MonkeyPatch
) -> None:
    def games() -> float:
        (share, error), _ = live.of(1)
        return round(share * (1 - share) / error**2, -1)  # and four that are added

    monkeypatch.setattr("companion.adapters.chances.WITHIN_S", -1.0)
    stage.seat("Ada", "Ben")
    stage.session.change_settings({"chances": True})
    stage.session.start("base", 0)
    until(lambda: live.of(1) != ())
    assert games() == 400
    stage.roll(1, 1)
    until(lambda: games() == 200)
    for values in ((2, 1), (2, 2), (2, 3)):
        before = live.of(1)
        stage.correct(*values)
        until(lambda old=before: live.of(1) != old)
    assert games() == FEWEST_GAMES
    monkeypatch.setattr("companion.adapters.chances.WITHIN_S", 100.0)
    for values in ((3, 1), (3, 2), (3, 3)):
        before = live.of(1)
        stage.correct(*values)
        until(lambda old=before: live.of(1) != old)
    assert games() == MOST_GAMES
