"""Reviews made on a thread of their own: nobody waits for one, and one is made at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from companion.coach import review
from companion.coach.background import Reviewed, Reviews
from companion.history.archive import SavedGame
from tests.coach.test_pictures import a_game

PATIENCE_S = 60.0


def finished(reviews: Reviews, game: SavedGame) -> Reviewed:
    until = time.monotonic() + PATIENCE_S
    while (found := reviews.of(game)).share < 1:
        assert time.monotonic() < until
        time.sleep(0.01)
    return found


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, list[int]]:
    """Reviews that stop half-way until the event is set, with 20 games from each position."""
    goes_on, made, real = threading.Event(), list[int](), review.review

    def slow(start: Any, events: Any, *, progress: Callable[[float], None]) -> Any:
        made.append(len(events))
        progress(0.5)
        assert goes_on.wait(PATIENCE_S)
        return real(start, events, rollouts=20, progress=progress)

    monkeypatch.setattr(review, "review", slow)
    return goes_on, made


def test_nobody_waits_and_one_is_made_at_a_time(held: tuple[threading.Event, list[int]]) -> None:
    (goes_on, made), reviews, one = held, Reviews(), a_game()
    other = replace(a_game(2), number=2)
    assert reviews.of(one).review is None
    until = time.monotonic() + PATIENCE_S
    while reviews.of(one).share != 0.5:
        assert time.monotonic() < until
    assert reviews.of(other) == Reviewed(0.0)
    assert len(made) == 1
    goes_on.set()
    for game in (one, other, one):
        found = finished(reviews, game).review
        assert found is not None
        totals = [game.state.total(player) for player in range(3)]
        assert max(found.final) == max(totals) - sorted(totals)[1]
    assert made == [len(one.events), len(other.events)], "a made review is kept"


def test_a_game_that_goes_on_is_never_reviewed() -> None:
    game = a_game()
    begun = replace(game, events=game.events[:6], state=game.start)
    assert Reviews().of(begun) == Reviewed(1.0)


@pytest.mark.logs_errors
def test_a_failure_is_logged_and_the_next_game_reviewed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    reviews = Reviews()
    with monkeypatch.context() as broken:
        broken.setattr(review, "review", lambda *_, **__: 1 / 0)
        assert finished(reviews, a_game()) == Reviewed(1.0)
    assert "game 1 cannot be reviewed" in caplog.text
    monkeypatch.setattr(review, "ROLLOUTS", 20)
    assert finished(reviews, replace(a_game(), number=2)).review is not None
