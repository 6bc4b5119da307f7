"""Steps of the host: correct a misread roll, undo the last step, undo an ending."""

from __future__ import annotations

from companion.engine import DieColour, Phase, Roll
from companion.session.ports import Topic
from companion.session.session import HostStep, Rejected
from companion.session.timers import CLOSING_GRACE_S
from tests.session.fakes import Stage, dice_seen


class TestCorrections:
    def test_a_corrected_roll_is_announced_with_the_removed_marks(self, two: Stage) -> None:
        two.roll(4, 3)
        two.answer(0, "R7", done=False)
        dice = dict.fromkeys((DieColour.RED, DieColour.YELLOW, DieColour.GREEN, DieColour.BLUE), 2)
        assert two.session.correct_roll(Roll.of((4, 2), dice)) is None
        assert two.told[-1].text == (
            "Roll corrected: white 2 and 4, red 2, yellow 2, green 2 and blue 2. White 6. "
            "Ada’s red 7 no longer fits. Please answer again. "
            "Ada may cross red 4 or 6, yellow 4 or 6, green 4 or 6 or blue 4 or 6."
        )
        assert two.state.waiting_for == (0, 1)
        assert two.again().state == two.state

    def test_undo_takes_back_the_roll_then_nothing(self, two: Stage) -> None:
        two.roll(4, 3)
        two.answer(0, "R7")
        assert two.session.undo() is None
        assert two.state.phase is Phase.ROLL
        rejected = two.session.undo()
        assert rejected is not None
        assert rejected.code == "NOTHING_TO_UNDO"

    def test_undo_goes_back_to_a_persons_answer_since_a_bot_answers_again(
        self, stage: Stage
    ) -> None:
        stage.seat("Ada")
        stage.session.add_bot("easy")
        assert stage.session.start("base", 1) is None
        stage.roll(4, 3)
        stage.answer(0, "R7")
        stage.answer(1, None)
        assert stage.state.phase is Phase.ACTION2
        stage.answer(1, None)
        assert stage.state.phase is Phase.ROLL
        assert stage.session.undo() is None
        assert stage.state.phase is Phase.ACTION1
        assert 0 in stage.state.waiting_for

    def test_undo_opens_a_closed_action_for_its_last_answer(self, two: Stage) -> None:
        two.roll(4, 3)
        two.answer(0, "R7")
        two.answer(1, "Y7")
        assert two.state.phase is Phase.ACTION2
        two.seat("Cleo")
        assert two.session.undo() is None
        assert two.state.phase is Phase.ACTION1
        assert two.state.waiting_for == (1,)
        two.time.pass_s(60)
        assert two.state.phase is Phase.ACTION1
        again = two.again()
        assert again.session.view().table == two.session.view().table
        assert [seat.name for seat in again.session.view().table.seats] == ["Ada", "Ben", "Cleo"]
        assert again.answer(1, "G7") == ""
        assert again.state.plan.marks_of(again.state.crosses[1])["G"] == [7]

    def test_undo_does_not_undo_itself_where_people_tap_and_then_press_done(
        self, two: Stage
    ) -> None:
        two.roll(4, 3)
        for seat, box in ((0, "R7"), (1, "Y7")):
            two.answer(seat, box, done=False)
        two.seat("Cleo")
        for seat, box in ((0, "R7"), (1, "Y7")):
            two.answer(seat, box)
        assert two.state.phase is Phase.ACTION2
        assert two.session.undo() is None
        two.time.pass_s(60)
        assert two.state.phase is Phase.ACTION1
        assert two.state.waiting_for
        assert len(two.session.view().table.seats) == 3

    def test_undo_refuses_a_closing_that_would_happen_again(self, stage: Stage) -> None:
        stage.seat("Ada", "Ben", "Cleo")
        assert stage.session.start("base", 0) is None
        stage.roll(4, 3)
        stage.answer(0, "R7")
        stage.answer(1, None)
        stage.session.let_go(2)
        assert stage.state.phase is Phase.ACTION2
        rejected = stage.session.undo()
        assert rejected is not None
        assert rejected.code == "NOTHING_TO_UNDO"
        foreseen = stage.session.preview(HostStep.UNDO)
        assert isinstance(foreseen, Rejected)

    def test_dice_are_offered_again_only_where_a_roll_is_due(self, two: Stage) -> None:
        offered: list[bool] = []
        two.session.subscribe(Topic.ROLL_DUE_AGAIN, lambda: offered.append(True))
        two.roll(4, 3)
        two.answer(0, "R7")
        two.answer(1, None)
        two.session.undo()
        assert two.state.phase is Phase.ACTION1
        assert offered == []
        two.session.undo()
        assert two.state.phase is Phase.ROLL
        assert offered == [True]

    def test_dice_of_the_last_roll_stay_old_after_an_undone_ending(self, two: Stage) -> None:
        offered: list[bool] = []
        two.session.subscribe(Topic.ROLL_DUE_AGAIN, lambda: offered.append(True))
        two.roll(4, 3)
        while two.state.phase is not Phase.ROLL:
            two.session.close_action()
        two.session.end()
        assert two.session.undo() is None
        assert two.state.phase is Phase.ROLL
        assert offered == []

    def test_a_game_that_a_player_left_is_not_resumed(self, two: Stage) -> None:
        two.session.end()
        two.session.leave(0)
        rejected = two.session.undo()
        assert rejected is not None
        assert rejected.code == "SEAT_EMPTY"
        two.seat("Zoe")
        assert two.session.view().table.names == ("Ada", "Ben")

    def test_the_host_sees_first_that_a_row_closes(self, two: Stage) -> None:
        two.close_red()
        foreseen = two.session.preview(HostStep.CLOSE)
        assert not isinstance(foreseen, Rejected)
        assert "The red row closes." in [two.session.phrases.tell(each) for each in foreseen]
        assert two.state.closed == ()

    def test_the_host_sees_first_which_dice_a_correction_changes(self, two: Stage) -> None:
        two.roll(4, 3)

        def foreseen(low: int, high: int, **colour: int) -> list[str]:
            right = dice_seen(low, high, **colour).roll
            lines = two.session.preview(HostStep.CORRECT, right)
            assert not isinstance(lines, Rejected)
            return [two.session.phrases.tell(each) for each in lines]

        assert foreseen(5, 3) == ["White 7 becomes 8."]
        assert foreseen(5, 2) == ["White dice: 3 and 4 become 2 and 5."]
        assert foreseen(4, 3, green=6) == ["The green die: 3 becomes 6."]

    def test_the_host_sees_first_that_a_miss_is_marked_or_taken_back(self, two: Stage) -> None:
        def foreseen(step: HostStep) -> list[str]:
            lines = two.session.preview(step)
            assert not isinstance(lines, Rejected)
            return [two.session.phrases.tell(each) for each in lines]

        two.roll(4, 3)
        two.session.close_action()
        assert "Ada gets a penalty." in foreseen(HostStep.CLOSE)
        two.session.close_action()
        assert "Ada’s penalty is taken back." in foreseen(HostStep.UNDO)

    def test_a_die_that_comes_back_is_named_when_its_row_opens_again(self, two: Stage) -> None:
        two.close_red()
        two.answer(1, None)
        two.time.pass_s(CLOSING_GRACE_S + 0.1)
        assert DieColour.RED not in two.state.dice
        assert two.session.undo() is None
        assert DieColour.RED in two.state.dice
        undone = next(said for said in two.told if said.kind == "undone")
        assert "red" in undone.text

    def test_undo_brings_back_a_game_that_was_ended(self, two: Stage) -> None:
        two.roll(4, 3)
        two.session.end()
        assert two.session.undo() is None
        assert two.state.phase is Phase.ACTION1

    def test_house_rules_are_kept_for_the_rematch(self, stage: Stage) -> None:
        stage.seat("Ada")
        rejected = stage.session.start(house=["no such"])
        assert rejected is not None
        assert rejected.code == "BAD_HOUSE_RULE"
        assert stage.session.start(house=["finish_turn"]) is None
        stage.session.end()
        assert stage.session.rematch() is None
        again = stage.again()
        assert [rule.value for rule in again.state.setup.house] == ["finish_turn"]
