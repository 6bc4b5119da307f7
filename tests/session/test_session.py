"""The writing session on a real store, with time moved by hand."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from companion.engine import DieColour, Phase, Roll
from companion.errors import StoreError
from companion.grace import CLOSING_GRACE_S, GRACE_S
from companion.ports import TrayView
from companion.records import Record
from companion.session import Declined
from companion.store import SqliteStore
from tests.session.fakes import Stage, leaning


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


@pytest.fixture
def two(stage: Stage) -> Stage:
    """Ada and Ben in a game, Ada to throw."""
    stage.seat("Ada", "Ben")
    assert stage.session.start() is None
    return stage


class TestSeats:
    def test_a_token_proves_its_seat_only(self, stage: Stage) -> None:
        ada, ben = stage.seat("Ada", "Ben")
        assert stage.session.seat_of(ada) == 0
        assert stage.session.seat_of(ben) == 1
        assert stage.session.seat_of("") is None
        assert stage.session.seat_of(ada[:-1] + "\udcff") is None

    @pytest.mark.parametrize(
        ("name", "code"),
        [
            ("", "NAME_EMPTY"),
            (" \n\t ", "NAME_EMPTY"),
            ("x" * 500, "NAME_TOO_LONG"),
            ("ada", "NAME_TAKEN"),
            ("  ADA ", "NAME_TAKEN"),
        ],
    )
    def test_names_that_are_declined(self, stage: Stage, name: str, code: str) -> None:
        stage.seat("Ada")
        declined = stage.session.join(name)
        assert isinstance(declined, Declined)
        assert declined.code == code
        assert stage.message(declined)

    @pytest.mark.parametrize(
        ("name", "shown"),
        [
            ("  Zoë\n Ann ", "Zoë Ann"),
            ("<script>x</script>", "<script>x</script>"),
            ("Zoe\u0308", "Zoë"),
            ("👩‍🚀", "👩‍🚀"),
            ("a\x00b", "a b"),
        ],
    )
    def test_names_are_text_of_any_script(self, stage: Stage, name: str, shown: str) -> None:
        stage.seat(name)
        assert stage.session.view().table.name(0) == shown

    def test_a_sixth_is_declined_with_the_ruling(self, stage: Stage) -> None:
        stage.seat("A", "B", "C", "D", "E")
        declined = stage.session.join("F")
        assert isinstance(declined, Declined)
        assert (declined.code, declined.ruling) == ("TABLE_FULL", "E40")

    def test_who_comes_late_plays_the_next_game(self, two: Stage) -> None:
        two.roll(4, 3)
        two.seat("Cleo")
        assert two.game.seats == (0, 1)
        two.roll(1, 1)
        assert two.session.answer(2, 1, 1, "R2", done=True) is not None
        assert two.session.end() is None
        assert two.session.rematch() is None
        assert two.game.seats == (0, 1, 2)
        assert two.state.active == 1  # the next seat begins (E44)

    def test_a_seat_is_left_between_games_only(self, two: Stage) -> None:
        assert two.session.leave(0) is not None
        two.session.end()
        assert two.session.leave(0) is None
        assert [seat.name for seat in two.session.view().table.seats] == ["Ben"]

    def test_start_needs_somebody_and_no_running_game(self, stage: Stage) -> None:
        declined = stage.session.start()
        assert declined is not None
        assert declined.code == "NO_PLAYERS"
        stage.seat("Ada")
        assert stage.session.start(first=3) is not None
        assert stage.session.start("no such sheet") is not None
        assert stage.session.start() is None
        declined = stage.session.start()
        assert declined is not None
        assert declined.code == "GAME_RUNNING"


class TestButton:
    def test_a_settled_roll_is_confirmed_and_announced(self, two: Stage) -> None:
        assert two.roll(4, 3, red=1) is None
        assert two.state.phase is Phase.ACTION1
        assert two.confirmed == 1
        assert two.told[-1].headline == "7"
        assert two.told[-1].text.startswith("White 7. Ada may use red 4 or 5, yellow 6 or 7")

    def test_an_unreadable_tray_says_why_and_changes_nothing(self, two: Stage) -> None:
        two.session.see(leaning("green"))
        declined = two.session.press()
        assert declined is not None
        assert two.message(declined) == "The green die is leaning. Throw it again."
        assert two.told[-1].text == two.message(declined)
        assert two.state.phase is Phase.ROLL
        assert two.confirmed == 0

    def test_while_marks_are_open_it_says_who_is_to_answer(self, two: Stage) -> None:
        two.roll(4, 3)
        two.answer(0, None)
        two.time.pass_s(1.0)
        assert two.roll(1, 1) is not None
        assert two.told[-1].text == "Still to answer: Ben."
        assert two.state.answers == (0, None)  # the button never passes for anybody

    def test_without_a_game_and_after_it(self, stage: Stage) -> None:
        assert stage.session.press() is not None
        stage.seat("Ada")
        stage.session.start()
        stage.session.end()
        declined = stage.session.press()
        assert declined is not None
        assert declined.code == "GAME_OVER"

    def test_dice_that_are_not_in_play_are_no_roll(self, two: Stage) -> None:
        assert two.roll(1, 1, red=0) is not None
        assert two.state.phase is Phase.ROLL

    def test_a_roll_can_be_typed(self, two: Stage) -> None:
        dice = dict.fromkeys((DieColour.RED, DieColour.YELLOW, DieColour.GREEN, DieColour.BLUE), 2)
        assert two.session.typed_roll(Roll.of((1, 2), dice)) is None
        assert two.game.typed
        assert two.state.roll.white_sum == 3


class TestAnswers:
    def test_an_action_closes_at_once_when_all_are_done(self, two: Stage) -> None:
        two.roll(4, 3)
        assert two.answer(0, "R7") == ""
        assert two.answer(1, None) == ""
        assert two.state.phase is Phase.ACTION2

    def test_a_tap_may_be_taken_back_for_a_moment(self, two: Stage) -> None:
        two.roll(4, 3)
        two.answer(0, "R7", done=False)
        two.answer(1, None)
        two.time.pass_s(GRACE_S - 0.1)
        assert two.session.withdraw(0, 1, 1) is None
        two.time.pass_s(60)
        assert two.state.phase is Phase.ACTION1
        two.answer(0, "Y7", done=False)
        two.time.pass_s(GRACE_S + 0.1)
        assert two.state.phase is Phase.ACTION2
        assert two.state.plan.marks_of(two.state.crosses[0])["Y"] == [7]

    def test_a_closing_leaves_everybody_time_to_change(self, two: Stage) -> None:
        for low, high in [(1, 1), (1, 2), (2, 2), (2, 3), (3, 3)]:
            two.roll(low, high)
            for seat in (0, 1):
                two.answer(seat, f"R{low + high}")
            two.answer(two.state.active, None)
        two.roll(6, 6)
        assert two.answer(0, None) == ""
        assert two.answer(1, "R12") == ""
        assert two.told[-1].headline == "Ben closes red"
        assert two.state.phase is Phase.ACTION1  # though everybody is done
        two.time.pass_s(CLOSING_GRACE_S - 0.1)
        assert two.answer(0, "R12") == ""
        two.time.pass_s(CLOSING_GRACE_S + 0.1)
        assert two.state.closed[0].players == (0, 1)
        assert "red die out" in two.told[-1].text
        assert DieColour.RED not in two.session.in_play()

    def test_the_table_may_close_an_action_for_who_is_missing(self, two: Stage) -> None:
        assert two.session.close_action() is not None
        two.roll(4, 3)
        two.answer(1, "Y7")
        assert two.session.close_action() is None
        assert two.state.phase is Phase.ACTION2
        assert two.session.close_action() is None
        assert two.state.misses == (1, 0)

    def test_a_refused_mark_says_why_with_its_ruling(self, two: Stage) -> None:
        two.roll(4, 3)
        declined = two.session.answer(0, 1, 1, "R12", done=False)
        assert declined is not None
        assert (declined.code, declined.ruling) == ("WRONG_SUM", "E2")
        assert two.message(declined) == "The white dice make 7, not 12."

    def test_late_marks_explain_themselves(self, two: Stage) -> None:
        two.roll(4, 3)
        two.answer(0, None)
        two.answer(1, None)
        declined = two.session.answer(1, 1, 1, "R7", done=True)
        assert declined is not None
        assert (declined.code, declined.ruling) == ("WRONG_PHASE", "E9")
        two.answer(0, None)
        declined = two.session.answer(0, 1, 2, "R7", done=True)
        assert declined is not None
        assert two.message(declined) == "That turn is over; there are no late marks."

    def test_a_retry_of_a_taken_step_is_no_late_mark(self, two: Stage) -> None:
        two.roll(4, 3)
        two.answer(0, None)
        assert two.session.answer(1, 1, 1, "R7", done=True, key="k1") is None
        assert two.state.phase is Phase.ACTION2
        assert two.session.answer(1, 1, 1, "R7", done=True, key="k1") is None
        again = two.again()
        assert again.session.answer(1, 1, 1, "R7", done=True, key="k1") is None
        assert again.session.answer(1, 1, 1, "R7", done=True, key="k2") is not None

    def test_a_miss_and_the_next_turn_are_told(self, two: Stage) -> None:
        two.roll(4, 3)
        two.answer(0, None)
        two.answer(1, None)
        two.answer(0, None)
        assert two.told[-1].text == "Ada takes a miss, number 1. Ben throws next."

    def test_the_end_is_told_with_reason_and_winner(self, stage: Stage) -> None:
        stage.seat("Ada")
        stage.session.start()
        for _ in range(4):
            stage.roll(4, 3)
            stage.answer(0, None)
            stage.answer(0, None)
        assert stage.state.phase is Phase.OVER
        assert "fourth miss" in stage.told[-1].text
        assert "Ada wins with -20 points" in stage.told[-1].text


class TestSurviving:
    def test_a_pulled_plug_loses_nothing(self, two: Stage) -> None:
        two.roll(4, 3)
        tokens = two.seat("Cleo")
        two.answer(0, "R7", done=False)
        again = two.again()
        assert again.session.view().table == two.session.view().table
        assert again.session.seat_of(tokens[0]) == 2
        assert again.answer(1, "Y7") == ""
        again.time.pass_s(GRACE_S + 0.1)
        assert again.state.phase is Phase.ACTION2

    def test_an_action_that_was_about_to_close_still_closes(self, two: Stage) -> None:
        two.roll(4, 3)
        two.answer(0, "R7", done=False)
        two.answer(1, "R7", done=False)
        again = two.again()
        again.time.pass_s(GRACE_S + 0.1)
        assert again.state.phase is Phase.ACTION2

    @pytest.mark.parametrize(
        ("kind", "data"),
        [
            ("rolled", {"white": [3, 4], "colour": [1]}),
            ("rolled", {"white": ["a", "b"], "colour": {}}),
            ("kept", {"revision": "x"}),
            ("undone", {"revision": None}),
            ("answered", {"player": [], "action": {}, "choice": 5}),
            ("seated", {"seat": 3}),
            ("started", {"seats": 5, "variant": {}, "first": 0}),
            ("dance", {}),
        ],
    )
    def test_no_record_can_keep_a_table_from_starting(
        self, two: Stage, kind: str, data: dict[str, object]
    ) -> None:
        revision = two.session.view().table.revision
        two.store.append((Record(revision + 1, kind, data),))
        again = two.again()
        assert again.state == two.state
        assert again.roll(4, 3) is None
        assert again.again().state.phase is Phase.ACTION1

    def test_a_row_about_to_close_has_its_time_again_after_a_restart(self, two: Stage) -> None:
        for low, high in [(1, 1), (1, 2), (2, 2), (2, 3), (3, 3)]:
            two.roll(low, high)
            for seat in (0, 1):
                two.answer(seat, f"R{low + high}")
            two.answer(two.state.active, None)
        two.roll(6, 6)
        two.answer(0, None)
        two.answer(1, "R12")
        again = two.again()
        again.time.pass_s(CLOSING_GRACE_S - 0.1)
        assert again.answer(0, "R12") == ""
        again.time.pass_s(CLOSING_GRACE_S + 0.1)
        assert again.state.closed[0].players == (0, 1)

    def test_the_dice_of_the_last_roll_are_known_after_a_restart(self, two: Stage) -> None:
        again = two.again()
        assert again.session.last_roll is None
        again.roll(4, 3)
        once_more = again.again()
        assert once_more.session.last_roll == again.state.roll
        once_more.session.end()
        once_more.session.rematch()
        assert once_more.again().session.last_roll == again.state.roll

    def test_a_press_on_a_full_disk_says_so(self, two: Stage) -> None:
        two.store.close()
        declined = two.roll(4, 3)
        assert declined is not None
        assert declined.code == "NOT_KEPT"
        assert "cannot be written" in two.told[-1].text
        assert two.state.phase is Phase.ROLL

    def test_a_log_with_a_bad_record_is_taken_up_to_it(self, two: Stage) -> None:
        two.roll(4, 3)
        revision = two.session.view().table.revision
        two.store.append((Record(revision + 1, "rolled", {"white": [9, 9]}),))
        two.store.append((Record(revision + 2, "answered", {"player": 0}),))
        again = two.again()
        assert again.state.phase is Phase.ACTION1
        assert again.answer(0, "R7") == ""
        once_more = again.again()
        assert once_more.session.view().table == again.session.view().table

    def test_what_cannot_be_kept_does_not_happen(self, tmp_path: Path) -> None:
        stage = Stage(tmp_path)
        stage.seat("Ada", "Ben")
        stage.session.start()
        stage.roll(4, 3)
        before = stage.session.view().table
        stage.store.close()
        with pytest.raises(StoreError, match="cannot be written"):
            stage.answer(0, "R7")
        assert stage.session.view().table == before

    def test_a_closing_that_cannot_be_kept_is_tried_again(self, tmp_path: Path) -> None:
        class FullDisk(SqliteStore):
            full = False

            def append(self, records: tuple[Record, ...]) -> None:
                if self.full and records[0].kind == "action_closed":
                    raise StoreError("disk full")
                super().append(records)

        disk = FullDisk(tmp_path)
        stage = Stage(tmp_path, store=disk)
        stage.seat("Ada")
        stage.session.start()
        stage.roll(4, 3)
        disk.full = True
        assert stage.answer(0, "R7") == ""
        assert stage.state.phase is Phase.ACTION1
        disk.full = False
        stage.time.pass_s(5)
        assert stage.state.phase is Phase.ACTION2


class TestTelling:
    def test_waiting_wakes_up_for_news_only(self, stage: Stage) -> None:
        version = stage.session.view().version
        assert stage.session.wait(version, 0.0) == version
        seen: list[int] = []
        waiter = threading.Thread(target=lambda: seen.append(stage.session.wait(version, 10)))
        waiter.start()
        stage.session.see(TrayView("moving"))
        waiter.join(10)
        assert seen[0] > version
        version = stage.session.view().version
        stage.session.see(TrayView("moving"))
        assert stage.session.view().version == version

    def test_listeners_may_come_back(self, two: Stage) -> None:
        heard: list[str] = []

        def listen(_: object) -> None:
            thread = threading.Thread(target=lambda: heard.append(two.session.view().version))
            thread.start()
            thread.join(5)
            two.session.see(TrayView("waiting"))

        two.session.listeners.append(listen)
        two.session.on_confirmed.append(lambda _: two.session.see(TrayView("old")))
        assert two.roll(4, 3) is None
        assert heard

    def test_presence_counts_open_pages(self, two: Stage) -> None:
        two.session.connected(0)
        two.session.connected(0)
        two.session.disconnected(0)
        assert two.session.view().online == {0}
        two.session.disconnected(0)
        two.session.disconnected(0)
        assert two.session.view().online == frozenset()

    def test_many_phones_at_once_lose_no_answer(self, stage: Stage) -> None:
        stage.seat("A", "B", "C", "D", "E")
        stage.session.start()
        stage.roll(4, 3)
        threads = [
            threading.Thread(
                target=lambda s=seat: stage.session.answer(s, 1, 1, "R7", done=True)  # type: ignore[misc]
            )
            for seat in range(5)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        assert stage.state.phase is Phase.ACTION2
        assert [stage.state.plan.marks_of(own)["R"] for own in stage.state.crosses] == [[7]] * 5


class TestCorrections:
    def test_a_corrected_roll_is_told_with_what_goes_back(self, two: Stage) -> None:
        two.roll(4, 3)
        two.answer(0, "R7", done=False)
        dice = dict.fromkeys((DieColour.RED, DieColour.YELLOW, DieColour.GREEN, DieColour.BLUE), 2)
        assert two.session.correct_roll(Roll.of((4, 2), dice)) is None
        assert two.told[-1].text == (
            "The dice are corrected: white 2 and 4, red 2, yellow 2, green 2 and blue 2. White 6. "
            "Ada's red 7 does not fit it; please answer again. "
            "Ada may use red 4 or 6, yellow 4 or 6, green 4 or 6 or blue 4 or 6."
        )
        assert two.state.waiting_for == (0, 1)
        assert two.again().state == two.state

    def test_undo_takes_back_the_roll_then_nothing(self, two: Stage) -> None:
        two.roll(4, 3)
        two.answer(0, "R7")
        assert two.session.undo() is None
        assert two.state.phase is Phase.ROLL
        declined = two.session.undo()
        assert declined is not None
        assert declined.code == "NOTHING_TO_UNDO"

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

    def test_dice_are_offered_again_only_where_a_roll_is_due(self, two: Stage) -> None:
        offered: list[bool] = []
        two.session.on_undone.append(lambda: offered.append(True))
        two.roll(4, 3)
        two.answer(0, "R7")
        two.answer(1, None)
        two.session.undo()
        assert two.state.phase is Phase.ACTION1
        assert offered == []
        two.session.undo()
        assert two.state.phase is Phase.ROLL
        assert offered == [True]

    def test_a_game_somebody_has_left_is_not_taken_up_again(self, two: Stage) -> None:
        two.session.end()
        two.session.leave(0)
        declined = two.session.undo()
        assert declined is not None
        assert declined.code == "SEAT_EMPTY"
        two.seat("Zoe")
        assert two.session.view().table.names == ("Ada", "Ben")

    def test_undo_brings_back_a_game_that_was_ended(self, two: Stage) -> None:
        two.roll(4, 3)
        two.session.end()
        assert two.session.undo() is None
        assert two.state.phase is Phase.ACTION1

    def test_house_rules_are_kept_for_the_rematch(self, stage: Stage) -> None:
        stage.seat("Ada")
        declined = stage.session.start(house=["no such"])
        assert declined is not None
        assert declined.code == "BAD_HOUSE_RULE"
        assert stage.session.start(house=["finish_turn"]) is None
        stage.session.end()
        assert stage.session.rematch() is None
        again = stage.again()
        assert [rule.value for rule in again.state.setup.house] == ["finish_turn"]
