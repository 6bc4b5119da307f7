"""Several games with changing people: paused, resumed, latecomers, players who leave."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.engine import Phase
from companion.session.session import HostStep, Joined, Rejected
from tests.session.fakes import Stage, a_turn, begin


class TestPaused:
    def test_a_game_goes_on_where_it_was(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben")
        a_turn(stage, "R7", "Y7")
        stage.roll(2, 2)
        stage.answer(0, "R4", done=False)  # not to the right: refused
        stage.answer(1, "B4", done=False)
        before = stage.state
        assert stage.session.pause() is None
        assert stage.session.view().table.game is None
        assert stage.told[-1].text.startswith("Game 1 is saved")
        assert stage.session.undo() is not None
        stage = stage.again()
        assert stage.session.resume(1) is None
        assert stage.state == before
        assert stage.told[-1].text.startswith("White 4. Ben may cross")
        stage.answer(0, None)
        assert stage.state.waiting_for == ()

    def test_several_games_are_kept_apart(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben")
        a_turn(stage, "R7", "Y7")
        stage.session.pause()
        stage.session.start("big_points", 0)
        a_turn(stage, "G7", None)
        stage.session.pause()
        stage.session.start("base", 0)
        assert stage.session.resume(1) is not None, "a game is on"
        stage.session.end()
        stage = stage.again()
        assert [game.number for game in stage.session.view().table.paused] == [1, 2]
        assert stage.session.resume(2) is None
        assert stage.state.plan.name == "big_points"
        a_turn(stage, None, "G7")
        stage.session.end()
        assert stage.session.resume(1) is None
        stage = stage.again()
        assert stage.game.number == 1
        assert stage.state.total(0) == 1
        assert [(g.number, g.is_over) for g in stage.session.past.games()] == [
            (1, False),
            (2, True),
            (3, True),
        ]

    def test_players_find_their_seats_by_name_on_another_evening(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben", "Cleo")
        a_turn(stage, "R7", "Y7", "G7")
        stage.session.pause()
        for seat in (0, 1, 2):
            assert stage.session.leave(seat) is None
        stage.seat("cleo", "Ada")
        assert stage.session.resume(1) is None
        assert stage.game.seats == (1, 2, 0)
        table = stage.session.view().table
        assert [seat.name for seat in table.seats] == ["cleo", "Ada", "Ben"]
        assert stage.session.view().offered == {2}, "a seat that waits can be taken with one tap"
        assert isinstance(stage.session.claim(0), Rejected)
        late = stage.session.join("BEN")
        assert isinstance(late, Joined)
        assert stage.session.seats_of((late.token,)) == (2,)
        a_turn(stage, None, None, "B7")
        assert stage.again().game.seats == (1, 2, 0)

    def test_a_seat_that_waits_is_claimed_once(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben")
        stage.session.pause()
        assert stage.session.leave(1) is None
        assert stage.session.resume(1) is None
        claimed = stage.session.claim(1)
        assert isinstance(claimed, Joined)
        assert stage.session.seats_of((claimed.token,)) == (1,)
        assert stage.session.view().offered == frozenset()
        assert isinstance(stage.session.claim(1), Rejected)

    def test_a_bot_whose_seat_was_freed_comes_back(self, stage: Stage) -> None:
        stage.seat("Ada")
        stage.session.add_bot("easy")
        stage.session.start("base", 0)
        stage.session.pause()
        stage.session.let_go(1)
        assert stage.session.resume(1) is None
        assert [seat.bot for seat in stage.session.view().table.seats] == ["", "easy"]
        stage.session.end()
        assert stage.session.rematch() is None
        assert stage.game.bots == ("", "easy")

    def test_without_room_for_all_it_stays_saved(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben")
        stage.session.pause()
        stage.session.leave(0)
        stage.session.leave(1)
        stage.seat("V", "W", "X", "Y")
        rejected = stage.session.resume(1)
        assert rejected is not None
        assert rejected.code == "NO_ROOM"
        assert [seat.name for seat in stage.session.view().table.seats] == ["V", "W", "X", "Y"]
        assert stage.session.resume(7) is not None

    def test_seats_of_people_who_are_here_count_once(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben")
        stage.session.pause()
        stage.session.leave(0)
        stage.session.leave(1)
        stage.seat("V", "W", "X")
        assert stage.session.resume(1) is None
        names = [seat.name for seat in stage.session.view().table.seats]
        assert names == ["V", "W", "X", "Ada", "Ben"]

    def test_a_resumed_game_tells_whose_turn_it_is(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben")
        a_turn(stage, "R7", "Y7")
        stage.session.pause()
        stage.told.clear()
        assert stage.session.resume(1) is None
        assert [said.text for said in stage.told] == ["Ben throws next."]

    def test_nothing_to_pause(self, stage: Stage) -> None:
        assert stage.session.pause() is not None
        begin(stage, "Ada")
        stage.session.end()
        rejected = stage.session.pause()
        assert rejected is not None
        assert rejected.code == "NO_GAME"
        assert stage.message(rejected) == "No game is running."  # not "yet"

    def test_a_press_after_a_game_was_saved(self, stage: Stage) -> None:
        begin(stage, "Ada")
        stage.session.pause()
        stage.session.press()
        assert stage.told[-1].text == "No game is running."

    def test_an_undo_does_not_reach_behind_a_resume(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben")
        a_turn(stage, "R7", "Y7")
        stage.session.pause()
        stage.session.resume(1)
        assert stage.session.undo() is not None
        a_turn(stage, "G7", "B7")
        assert stage.session.undo() is None


class TestGameNumbers:
    @pytest.mark.parametrize("leaver", [0, 2])
    def test_a_newcomer_after_a_leaving_joins_a_game_without_a_roll(
        self, tmp_path: Path, leaver: int
    ) -> None:
        stage = Stage(tmp_path)
        stage.seat("Ada", "Ben", "Cleo")
        stage.session.start(first=0)
        stage.session.let_go(leaver)
        stage.seat("Dan")
        seats = {seat.number for seat in stage.session.view().table.seats}
        assert set(stage.game.seats) == seats
        assert len(stage.game.names) == 3
        assert stage.game.names[stage.state.active] == ("Ben" if leaver == 0 else "Ada")
        stage.roll(3, 4)
        assert len(stage.state.waiting_for) == 3

    def test_a_game_somebody_joined_late_stays_in_it(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben")
        stage.seat("Cleo")
        a_turn(stage, "R7", "Y7", "G7")
        stage.session.end()
        stage.session.rematch()
        all_three = ("Ada", "Ben", "Cleo")
        assert [(g.number, g.names) for g in stage.session.past.games()] == [
            (1, all_three),
            (2, all_three),
        ]
        stage = stage.again()
        assert [g.names for g in stage.session.past.games()] == [all_three, all_three]

    def test_no_number_is_given_twice(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben")
        stage.session.pause()
        assert stage.session.start("base", 0) is None
        a_turn(stage, "R7", "Y7")
        stage.session.end()
        assert stage.session.resume(1) is None
        stage.seat("Cleo")
        a_turn(stage, "R7", "Y7", "G7")
        stage.session.end()
        stage.session.rematch()
        assert stage.game.number == 3
        assert [g.number for g in stage.again().session.past.games()] == [1, 2, 3]


class TestLeavingAfterTheEnd:
    def test_a_game_ended_without_a_roll_stays_ended(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben")
        stage.session.end()
        stage.seat("Cleo")
        assert (stage.state.phase, stage.game.names) == (Phase.OVER, ("Ada", "Ben"))

    def test_the_next_on_their_seat_is_somebody_else(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben")
        a_turn(stage, "R7", "Y7")
        stage.session.end()
        assert stage.session.leave(1) is None
        stage.seat("Zoe")
        game = stage.game
        assert (game.names, game.seats[0]) == (("Ada", "Ben"), 0)
        assert stage.session.view().table.seat(game.seats[1]) is None
        rejected = stage.session.undo()
        assert rejected is not None
        assert rejected.code == "SEAT_EMPTY"
        stage = stage.again()
        assert stage.game.seats == game.seats
        assert stage.session.rematch() is None
        assert (stage.game.names, stage.state.first) == (("Ada", "Zoe"), 1)

    def test_players_who_left_earlier_do_not_block_an_undo(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben", "Cleo")
        stage.session.let_go(2)
        stage.roll(3, 4)
        stage.session.end()
        assert stage.session.undo() is None
        assert stage.state.phase is Phase.ACTION1


class TestLatecomers:
    def test_before_the_first_roll_they_play_at_once(self, stage: Stage) -> None:
        stage.seat("Ada", "Ben")
        stage.session.start("big_points", 0, ["finish_turn"], practice=True)
        asked = (stage.state.plan, stage.state.setup.house, stage.game.practice)
        stage.seat("Cleo")
        assert (stage.state.plan, stage.state.setup.house, stage.game.practice) == asked
        assert (stage.game.number, stage.game.seats) == (1, (0, 1, 2))
        assert stage.game.seats[stage.state.first] == 0
        stage.session.end()
        assert [game.number for game in stage.session.past.games()] == [1]
        stage = stage.again()
        assert stage.session.past.games()[0].names == ("Ada", "Ben", "Cleo")

    def test_after_it_they_play_the_next_one(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben")
        stage.roll(3, 4)
        stage.seat("Cleo")
        assert stage.game.seats == (0, 1)
        stage.session.end()
        stage.session.rematch()
        assert stage.game.seats == (0, 1, 2)
        assert stage.game.seats[stage.state.first] == 1

    def test_they_play_at_once_when_the_first_roll_is_undone(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben")
        stage.roll(3, 4)
        stage.seat("Cleo")
        token = stage.session.precondition(HostStep.UNDO)
        assert not isinstance(stage.session.preview(HostStep.UNDO), Rejected)
        assert stage.session.undo(token) is None
        assert (stage.game.number, stage.game.names) == (1, ("Ada", "Ben", "Cleo"))
        assert stage.game.seats[stage.state.active] == 0
        assert stage.told[-1].text == "Ada throws next."
        assert isinstance(stage.session.undo(), Rejected)
        assert stage.again().game.names == ("Ada", "Ben", "Cleo")

    def test_an_undone_roll_can_be_previewed_with_fewer_players_than_before(
        self, stage: Stage
    ) -> None:
        begin(stage, "Ada", "Ben", "Cleo", "Dora", "Emil")
        for seat in (3, 4):
            assert stage.session.let_go(seat) is None
        stage.roll(3, 4)
        stage.seat("Fred")
        lines = stage.session.preview(HostStep.UNDO)
        assert not isinstance(lines, Rejected)
        assert stage.session.phrases.tell(*lines).startswith("The roll is taken back (white 7).")
        assert stage.session.undo() is None
        assert stage.game.names == ("Ada", "Ben", "Cleo", "Fred")

    def test_an_undo_of_a_later_roll_brings_nobody_in(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben")
        a_turn(stage, "R7", None)
        stage.roll(3, 4)
        stage.seat("Cleo")
        assert stage.session.undo() is None
        assert stage.game.names == ("Ada", "Ben")


class TestLeaving:
    def test_the_game_goes_on_without_them(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben", "Cleo")
        a_turn(stage, "R7", "Y7", "G7")
        assert stage.session.let_go(1) is None
        assert stage.told[-1].text == (
            "Ben leaves the game and keeps their points. Cleo throws next."
        )
        assert [seat.name for seat in stage.session.view().table.seats] == ["Ada", "Cleo"]
        stage = stage.again()
        stage.roll(4, 4)
        assert stage.answer(2, None) == ""
        assert stage.answer(0, "R8") == ""
        assert stage.state.phase is Phase.ACTION2
        assert stage.session.undo() is None
        stage.session.end()
        (game,) = stage.session.past.games()
        assert game.names == ("Ada", "Ben", "Cleo")
        assert game.state.total(1) == 1

    def test_a_newcomer_does_not_inherit_their_sheet(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben")
        a_turn(stage, "R7", "Y7")
        stage.session.let_go(1)
        stage.seat("Dora")
        assert stage.session.view().table.seat(1) is not None
        assert 1 not in stage.game.seats
        stage.roll(4, 4)
        assert stage.session.answer(1, 2, 1, "R8", done=True) is not None
        assert stage.game.names == ("Ada", "Ben")

    def test_a_saved_game_needs_no_seat_for_them(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben", "Cleo")
        a_turn(stage, "R7", "Y7", "G7")
        stage.session.let_go(1)
        stage.session.pause()
        stage.session.let_go(0)
        assert stage.session.resume(1) is None
        assert [seat.name for seat in stage.session.view().table.seats] == ["Cleo", "Ada"]
        assert stage.state.gone == {1}

    def test_between_games_a_seat_is_just_freed(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben")
        stage.session.end()
        assert stage.session.let_go(1) is None
        assert stage.session.let_go(4) is None
        assert [seat.name for seat in stage.session.view().table.seats] == ["Ada"]
