"""An odd evening: each figure counts what was played, and damage costs its own game only."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from companion.coach.fairness import fairness_of
from companion.coach.report import told
from companion.coach.review import review
from companion.engine import COLOURED, End, HouseRule, Roll
from companion.eventlog.record import Record
from companion.eventlog.store import FILE_NAME
from companion.history.archive import saved_games
from companion.history.export import text_of
from companion.history.results import Result
from companion.history.statistics import statistics
from companion.messages.catalogue import load_phrases
from tests.session.fakes import Stage


def leave(stage: Stage, *seats: int) -> None:
    for number in seats:
        assert stage.session.leave(number) is None


def an_odd_evening(stage: Stage) -> None:
    """Game 1: put aside, corrected, undone, taken up. 2: ended early. 3: house rules, Big Points,
    somebody leaves. 4: one player. 5: game 1 from a file, with other names, one other cross and no
    readings."""
    stage.seat("Ada", "Ben")
    assert stage.session.start("base", 0) is None
    assert stage.roll(6, 6, red=6) is None
    assert stage.correct(3, 4, red=6) is None
    assert stage.answer(0, "R7") == ""
    assert stage.answer(0, "Y7") == ""  # changed before the action closed
    assert stage.answer(1, None) == ""
    assert stage.answer(0, None) == ""
    assert stage.session.pause() is None
    assert stage.session.start("base", 0) is None  # game 2
    assert stage.type_roll(1, 1) is None
    assert stage.answer(0, "R2") == ""
    assert stage.session.end() is None
    assert stage.session.resume(1) is None
    assert stage.type_roll(5, 5) is None
    assert stage.session.undo() is None
    stage.play_out()
    house = [HouseRule.BONUS_NEXT_TURN.value]
    stage.seat("Cleo")
    assert stage.session.start("big_points", 0, house) is None  # game 3
    assert stage.type_roll(3, 4) is None
    for seat in range(3):
        assert stage.answer(seat, "G7") == ""
    assert stage.answer(0, None) == ""
    assert stage.session.let_go(2) is None
    stage.play_out()
    leave(stage, 1)
    assert stage.session.start("base", 0) is None  # game 4
    assert stage.type_roll(2, 2) is None
    assert stage.answer(0, "R4") == ""
    assert stage.answer(0, None) == ""
    stage.play_out()
    lines = stage.session.past.games()[0].lines()
    lines[0] = lines[0].replace("Ada", "Dora").replace("Ben", "Emil")
    lines[2] = lines[2].replace("Y7", "G7")
    revision = stage.session.view().table.revision
    stage.store.append((Record(revision + 1, "imported", {"number": 5, "lines": lines}),))


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    stage = Stage(tmp_path)
    an_odd_evening(stage)
    stage.store.close()
    return tmp_path


def results(directory: Path) -> list[Result]:
    stage = Stage(directory)
    found = stage.session.past.results()
    stage.store.close()
    return found


def test_every_game_is_counted_as_it_was_played(odd: Path) -> None:
    one, early, big, alone, imported = results(odd)
    assert (one.names, one.rolls[0], one.misread[0]) == (("Ada", "Ben"), "346333", ("white", 6))
    assert one.crosses == (1, 0), "the answer that was changed leaves no cross"
    assert "553333" not in one.rolls, "an undone roll counts nowhere"
    assert (early.end, early.winners, early.counts) == ("ended_early", (), False)
    assert (big.variant, big.house, big.crosses) == ("big_points", ("bonus_next_turn",), (1, 1, 1))
    assert (alone.names, alone.winners) == (("Ada",), ()), "nobody wins alone"
    assert (imported.is_imported, imported.rolls) == (True, one.rolls)
    assert imported.misread == (), "a file has the dice that counted and no reading"


def test_statistics_and_dice_of_an_odd_evening(odd: Path) -> None:
    games = results(odd)
    found = statistics(games)
    by_name = {each.name: each for each in found.players}
    assert found.games == 4
    assert by_name["Ada"].games == 3
    assert by_name["Cleo"].games == 1, "who leaves keeps the game"
    assert {each.name for each in found.players if each.rating is None} == set()
    assert statistics(games, variant="big_points").games == 1
    own = [game for game in games if not game.is_imported]
    dice = fairness_of(own)
    assert dice.throws == sum(len(game.rolls) for game in own)
    assert sum(dice.dice[0].counts) == 2 * dice.throws
    assert sum(map(sum, (each.misread for each in dice.dice))) == 2, "both white dice, corrected"


def test_dice_that_were_entered_wrong_are_no_misread_ones(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.seat("Ada", "Ben")
    assert stage.session.start("base", 0) is None
    assert stage.session.typed_roll(Roll.of((6, 6), dict.fromkeys(COLOURED, 1))) is None
    assert stage.session.correct_roll(Roll.of((1, 6), dict.fromkeys(COLOURED, 1))) is None
    stage.store.close()
    (game,) = results(tmp_path)
    assert (game.rolls, game.misread) == (("161111",), ())


def test_every_finished_game_has_a_report(odd: Path) -> None:
    stage = Stage(odd)
    for game in stage.session.past.games():
        found = review(game.start, game.events, rollouts=8)
        report = told(game, found, load_phrases("en"))
        assert report.scores.svg.startswith("<svg")
        is_played = game.state.end is not End.ENDED_EARLY or game.state.turn > 1
        assert (report.luck is not None) is is_played, game.number
    stage.store.close()


def test_a_damaged_record_costs_its_own_game_only(odd: Path) -> None:
    before = results(odd)
    with sqlite3.connect(odd / FILE_NAME) as db:
        began = next(
            revision
            for revision, data in db.execute("SELECT revision, data FROM log WHERE kind='started'")
            if '"number": 3' in data
        )
        db.execute("DELETE FROM log WHERE revision = ?", (began + 2,))
    db.close()
    for path in odd.glob("games.*"):
        if path.name != FILE_NAME:
            path.unlink()
    after = {game.number: game for game in results(odd)}
    for game in before:
        if game.number != 3:
            assert after[game.number].totals == game.totals
            assert after[game.number].rolls == game.rolls
    assert statistics(after.values()).games == 3 + (3 in after and after[3].counts)


def test_a_resumed_game_has_the_seats_of_its_last_evening(stage: Stage) -> None:
    stage.seat("Ada", "Ben")
    assert stage.session.start("base", 0) is None
    assert stage.type_roll(2, 2) is None
    assert stage.session.pause() is None
    leave(stage, 0, 1)
    stage.seat("Cleo", "Ben", "Ada")
    leave(stage, 0)
    assert stage.session.resume(1) is None
    (game,) = saved_games(stage.store.load())
    assert dict(zip(game.names, game.seats, strict=True)) == {"Ada": 2, "Ben": 1}


def test_a_name_from_right_to_left_keeps_its_row_and_points_in_a_record(stage: Stage) -> None:
    stage.seat("\u05d0\u05d1", "Ben")
    assert stage.session.start("base", 0) is None
    assert stage.type_roll(3, 4) is None
    assert stage.answer(0, "R7") == ""
    assert stage.answer(1, "Y7") == ""
    assert stage.answer(0, None) == ""
    stage.play_out()
    (game,) = saved_games(stage.store.load())
    text = text_of(game, load_phrases("en"))
    name = "\u2068\u05d0\u05d1\u2069"
    assert f"White sum: {name} red 7, Ben yellow 7" in text
    assert f". {name}  " in text


def test_a_record_for_people_tells_who_left_and_when(stage: Stage) -> None:
    stage.seat("Ada", "Ben", "Cleo", "Dora")
    assert stage.session.start("base", 0) is None
    assert stage.session.let_go(3) is None
    assert stage.type_roll(3, 4) is None
    assert stage.session.let_go(1) is None
    assert stage.session.close_action() is None
    assert stage.session.close_action() is None
    assert stage.type_roll(2, 4) is None
    (game,) = saved_games(stage.store.load())
    told = [line.strip() for line in text_of(game, load_phrases("en")).splitlines()]
    dora, ben = (
        told.index(f"{who} leaves the game and keeps their points.") for who in ("Dora", "Ben")
    )
    assert dora < told.index("Turn 1: Ada") < ben < told.index("Turn 2: Cleo")
