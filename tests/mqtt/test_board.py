"""The board and the events of a game: what leaves the table, with names and without."""

from __future__ import annotations

import pytest

from companion.messages.catalogue import LANGUAGES, load_phrases
from companion.mqtt.board import board_of
from companion.mqtt.happenings import happenings
from companion.mqtt.payloads import Board, GameEvent, decode, encoded
from companion.session.view import View
from tests.session.fakes import Stage, dice_seen

BEGAN = "2026-11-20T20:15:00+01:00"


def board(stage: Stage, language: str = "en") -> Board:
    made = board_of(
        stage.session.view(),
        load_phrases(language),
        name="Table 1",
        url="http://table1.local:8000",
        began=BEGAN,
        asked=None,
        at=BEGAN,
    )
    assert decode(encoded(made), Board) == made, "what is published can be read"
    return made


def events(before: View, stage: Stage) -> list[GameEvent]:
    after = stage.session.view()
    said = [after.announcement] if after.announcement is not None else []
    found = happenings(before, after, said, load_phrases("en"), began=BEGAN, at=BEGAN)
    assert [decode(encoded(each), GameEvent) for each in found] == found
    return found


def test_the_board_shows_the_whole_game(two: Stage) -> None:
    two.session.change_settings({"share_names": True})
    two.roll(3, 4)
    two.answer(1, "R7")
    shown = board(two)
    game = shown.game
    assert game is not None
    assert (game.game, game.phase, game.turn, game.active) == ("1-20261120191500", "action1", 1, 0)
    assert game.roll is not None
    assert (game.roll.sum, game.roll.coloured["red"]) == (7, 3)
    assert game.waiting_for == (0,)
    assert [(each.name, each.label, each.answered) for each in game.players] == [
        ("Ada", "Ada", False),
        ("Ben", "Ben", True),
    ]
    assert game.leaders == (0, 1)
    assert "White 7" in shown.text
    assert "Ada" in shown.text


def test_a_board_lasts_when_others_take_the_seats_after_a_game(two: Stage) -> None:
    two.play_out()
    for seat in (0, 1):
        two.session.let_go(seat)
    two.seat("Cleo", "Dora")
    game = board(two).game
    assert game is not None
    assert [each.label for each in game.players] == ["Player 6", "Player 7"]
    two.session.change_settings({"share_names": True})
    shown = board(two)
    assert shown.game is not None
    assert [each.name for each in shown.game.players] == ["Ada", "Ben"]
    assert [each.name for each in shown.seats] == ["Cleo", "Dora"]


def test_who_gives_the_seat_up_keeps_the_number(two: Stage) -> None:
    two.roll(3, 4)
    assert two.session.let_go(1) is None
    shown = board(two).game
    assert shown is not None
    assert [each.label for each in shown.players] == ["Player 1", "Player 2"]


def test_who_leaves_keeps_the_number_in_any_order_of_seats(stage: Stage) -> None:
    stage.seat("Ada", "Ben", "Cleo", "Dora")
    stage.session.leave(1)
    assert stage.session.order((3, 0, 2)) is None
    assert stage.session.start("base", 0) is None

    def labels() -> dict[str, str]:
        game = board(stage).game
        assert game is not None
        return dict(zip(stage.game.names, [each.label for each in game.players], strict=True))

    playing = {"Dora": "Player 4", "Ada": "Player 1", "Cleo": "Player 3"}
    assert labels() == playing
    stage.roll(3, 4)
    assert stage.session.let_go(2) is None
    assert labels() == playing
    assert board(stage).text.startswith("Player 3 leaves the game")
    assert stage.session.let_go(0) is None
    assert labels() == playing


def test_two_who_left_one_seat_are_told_apart(two: Stage) -> None:
    two.roll(3, 4)
    two.session.close_action()
    two.session.close_action()
    two.session.let_go(1)
    two.session.pause()
    two.session.leave(0)
    two.seat("Cleo", "Ada")
    assert two.session.resume(1) is None
    assert two.session.let_go(1) is None
    assert len(set(two.game.seats)) == 2
    game = board(two).game
    assert game is not None
    assert len({each.label for each in game.players}) == 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_name_leaves_the_table_unless_the_host_agrees(language: str, two: Stage) -> None:
    """Every announcement of a game, its events and its board; also one about somebody who left."""
    seen = []
    before = two.session.view()

    def look() -> None:
        nonlocal before
        seen.append(board(two, language))
        seen.extend(events(before, two))  # type: ignore[arg-type]
        before = two.session.view()

    two.close_red()
    look()
    two.answer(1, None)
    two.time.pass_s(10)
    look()
    two.session.close_action()
    look()
    two.roll(3, 4, red=0)
    look()
    two.session.leave(1)
    look()
    two.play_out()
    look()
    texts = [encoded(each).decode() for each in seen]
    assert len(texts) >= 10
    for name in ("Ada", "Ben"):
        assert [text for text in texts if name in text] == []
    shown = board(two, language).game
    assert shown is not None
    assert shown.players[1].label == load_phrases(language).say("house.player", number=2)


def test_each_happening_is_one_event(two: Stage) -> None:
    before = two.session.view()
    two.roll(3, 4)
    (roll,) = events(before, two)
    assert (roll.event_type, roll.seat, roll.player) == ("roll", 0, "Player 1")
    assert roll.roll is not None
    assert (roll.roll.white, roll.roll.sum) == ((3, 4), 7)
    assert roll.text.startswith("White 7.")
    before = two.session.view()
    assert two.correct(3, 5) is None
    (corrected,) = events(before, two)
    assert corrected.event_type == "corrected"
    assert corrected.roll is not None
    assert corrected.roll.sum == 8
    before = two.session.view()
    two.session.close_action()
    two.session.close_action()
    (penalty,) = events(before, two)
    assert (penalty.event_type, penalty.turn, penalty.seat) == ("penalty", roll.turn, 0)
    assert two.state.turn == roll.turn + 1
    before = two.session.view()
    two.play_out()
    assert [each.event_type for each in events(before, two)][-1] == "game_over"
    assert events(before, two)[-1].winners == (1,)


def test_an_undo_throws_no_dice(two: Stage) -> None:
    two.roll(3, 4)
    two.session.close_action()
    two.session.close_action()
    for _ in range(2):  # back to the turn before, with and without a roll of the next one
        before = two.session.view()
        two.session.undo()
        assert events(before, two) == []
        two.session.close_action()
        two.roll(2, 6)
        before = two.session.view()
        two.session.undo()
        two.session.undo()
        assert events(before, two) == []
        two.session.close_action()


def test_a_game_that_is_ended_early_has_no_winners(two: Stage) -> None:
    two.roll(3, 4)
    before = two.session.view()
    two.session.end()
    (over,) = events(before, two)
    assert (over.event_type, over.winners) == ("game_over", ())


def test_a_game_that_everybody_leaves_is_over(two: Stage) -> None:
    two.session.let_go(0)
    before = two.session.view()
    two.session.let_go(1)
    (over,) = events(before, two)
    assert (over.event_type, over.winners, over.player) == ("game_over", (), "Player 2")
    assert "The game was ended early." in over.text


def test_what_happens_while_somebody_leaves_is_told(two: Stage) -> None:
    before = two.session.view()
    two.session.let_go(1)
    two.roll(3, 4)
    (roll,) = events(before, two)
    assert (roll.event_type, roll.player) == ("roll", "Player 1")


def test_nobody_wins_a_game_alone(stage: Stage) -> None:
    stage.seat("Ada")
    stage.session.start("base", 0)
    stage.roll(3, 4)
    before = stage.session.view()
    stage.play_out()
    over = events(before, stage)[-1]
    assert (over.event_type, over.winners) == ("game_over", ())


def test_a_closed_row_names_its_colour(two: Stage) -> None:
    two.close_red()
    before = two.session.view()
    two.answer(1, None)
    two.time.pass_s(10)
    (closed,) = events(before, two)
    assert (closed.event_type, closed.colour, closed.seat) == ("row_closed", "red", 0)
    assert "red" in closed.text


def test_rows_that_close_at_once_are_told_once(two: Stage) -> None:
    two.session.end()
    assert two.session.start("base", 0, house=("finish_turn",)) is None
    for total in (2, 3, 4, 5, 6):
        two.roll(total // 2, total - total // 2)
        two.answer(0, f"R{total}")
        two.answer(1, f"Y{total}")
        two.answer(two.state.active, None)
    two.roll(6, 6)
    before = two.session.view()
    two.answer(0, "R12")
    two.answer(1, "Y12")
    two.time.pass_s(10)
    red, yellow = events(before, two)
    assert [(each.event_type, each.colour, each.seat) for each in (red, yellow)] == [
        ("row_closed", "red", 0),
        ("row_closed", "yellow", 1),
    ]
    assert red.text == "", "a speaker reads every text"
    assert "red" in yellow.text
    assert "yellow" in yellow.text


def test_another_game_and_an_unchanged_one_make_no_events(two: Stage) -> None:
    before = two.session.view()
    two.session.see(dice_seen(3, 4))
    assert events(before, two) == []
    two.play_out()
    before = two.session.view()
    assert two.session.rematch() is None
    assert events(before, two) == []
