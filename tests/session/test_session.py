"""The writing session on a real store, with time moved by hand: a turn and who hears of it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from companion.engine import DieColour, Phase, Roll
from companion.eventlog.record import Record
from companion.eventlog.store import SqliteStore
from companion.messages.announcements import Announcement
from companion.session.confirm import VERDICT_S
from companion.session.ports import Topic
from companion.session.timers import CLOSING_GRACE_S, GRACE_S
from companion.tray import TrayStatus, TrayView
from tests.session.fakes import Stage, tilted


class TestButton:
    def test_a_settled_roll_is_confirmed_and_announced(self, two: Stage) -> None:
        assert two.roll(4, 3, red=1) is None
        assert two.state.phase is Phase.ACTION1
        assert two.confirmed == 1
        assert two.told[-1].headline == "7"
        assert two.told[-1].text.startswith("White 7. Ada may cross red 4 or 5, yellow 6 or 7")

    def test_an_unreadable_tray_is_refused_with_the_reason(self, two: Stage) -> None:
        two.session.see(tilted("green"))
        rejected = two.session.press()
        assert rejected is not None
        assert two.message(rejected) == "The green die isn’t lying flat. Throw it again."
        assert two.told[-1].text == two.message(rejected)
        assert two.state.phase is Phase.ROLL
        assert two.confirmed == 0

    def test_an_open_action_names_the_players_to_answer(self, two: Stage) -> None:
        two.roll(4, 3)
        two.answer(0, None)
        two.time.pass_s(1.0)
        assert two.roll(1, 1) is not None
        assert two.told[-1].text == "Waiting for Ben."
        assert two.state.answers == (0, None)  # the button never passes for anybody

    def test_without_a_game_and_after_it(self, stage: Stage) -> None:
        assert stage.session.press() is not None
        stage.seat("Ada")
        stage.session.start()
        stage.session.end()
        rejected = stage.session.press()
        assert rejected is not None
        assert rejected.code == "GAME_OVER"

    def test_dice_that_are_not_in_play_are_no_roll(self, two: Stage) -> None:
        assert two.roll(1, 1, red=0) is None
        two.time.pass_s(VERDICT_S)  # for another reading, in vain
        assert "red die" in two.told[-1].text
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

    def test_the_last_answer_of_a_page_may_be_taken_back_for_a_moment(self, two: Stage) -> None:
        two.roll(4, 3)
        two.answer(0, "R7", revocable=True)
        two.answer(1, None, revocable=True)
        assert two.session.view().closes_at_s == two.time.now_s + 3.0
        two.time.pass_s(2.9)
        assert two.session.withdraw(1, 1, 1) is None
        two.time.pass_s(60)
        assert two.state.phase is Phase.ACTION1
        two.answer(1, None, revocable=True)
        two.session.change_settings({"take_back": False})  # the host wants to wait for nobody
        assert two.state.phase is Phase.ACTION2
        two.answer(0, None, revocable=True)
        assert two.state.phase is Phase.ROLL

    def test_a_press_cuts_no_time_to_take_an_answer_back(self, two: Stage) -> None:
        two.roll(4, 3)
        two.answer(0, None)
        two.answer(1, None)
        two.answer(0, None, revocable=True)
        two.time.pass_s(2.0)
        assert two.roll(1, 2) is None  # thrown and pressed while the last answer may change
        assert two.state.phase is Phase.ACTION2
        two.time.pass_s(1.1)
        assert two.state.roll.white_sum == 3
        two.answer(0, None)
        two.answer(1, None)
        two.answer(1, None, revocable=True)
        two.time.pass_s(2.0)
        assert two.session.press() is None
        assert two.session.withdraw(1, 2, 2) is None
        two.answer(1, None, revocable=True)
        two.time.pass_s(3.1)  # the press was meant for the answer before
        assert two.state.phase is Phase.ROLL

    @pytest.mark.parametrize("end", ["done", "host", "held", "other box"])
    def test_a_press_counts_however_action_2_ends(self, two: Stage, end: str) -> None:
        two.roll(4, 3)
        two.answer(0, "R7")
        two.answer(1, None)
        two.answer(0, None, revocable=True)
        two.time.pass_s(2.0)
        two.roll(1, 2)
        assert two.state.phase is Phase.ACTION2
        match end:
            case "done":
                two.answer(0, None)
            case "host":
                two.session.close_action()
            case "held":
                two.session.hold()
            case "other box":
                two.answer(0, "Y6", revocable=True)
                two.time.pass_s(3.1)
        assert two.confirmed == 2
        assert two.state.turn == 2
        assert two.state.roll.white_sum == 3

    @pytest.mark.parametrize("meanwhile", ["setting", "latecomer", "host"])
    def test_what_others_do_delays_no_action_and_forgets_no_press(
        self, two: Stage, meanwhile: str
    ) -> None:
        two.roll(4, 3)
        two.answer(0, None)
        two.answer(1, None)
        two.answer(0, None, revocable=True)
        closes_at_s = two.session.view().closes_at_s
        two.time.pass_s(1.0)
        assert two.roll(1, 2) is None
        if meanwhile == "setting":
            two.session.change_settings({"hints": False})
        elif meanwhile == "latecomer":
            two.seat("Cleo")
        else:
            assert two.session.make_host("tablet") is None
        assert two.session.view().closes_at_s == closes_at_s
        two.time.pass_s(2.1)
        assert two.state.roll.white_sum == 3

    def test_a_closing_leaves_everybody_time_to_change(self, two: Stage) -> None:
        for low, high in [(1, 1), (1, 2), (2, 2), (2, 3), (3, 3)]:
            two.roll(low, high)
            for seat in (0, 1):
                two.answer(seat, f"R{low + high}")
            two.answer(two.state.active, None)
        two.roll(6, 6)
        assert two.answer(0, None) == ""
        assert two.answer(1, "R12") == ""
        assert two.told[-1].headline == "Ben is closing red"
        assert two.state.phase is Phase.ACTION1  # though everybody is done
        two.time.pass_s(CLOSING_GRACE_S - 0.1)
        assert two.answer(0, "R12") == ""
        two.time.pass_s(CLOSING_GRACE_S + 0.1)
        assert two.state.closed[0].players == (0, 1)
        assert "red die out" in two.told[-1].text
        assert DieColour.RED not in two.session.in_play()

    def test_a_setting_cuts_no_time_after_a_closing_was_announced(self, two: Stage) -> None:
        two.close_red()
        two.answer(1, None)
        closes_at_s = two.session.view().closes_at_s
        assert two.session.change_settings({"hints": False}) is None
        assert two.session.view().closes_at_s == closes_at_s
        assert two.state.phase is Phase.ACTION1

    def test_the_table_may_close_an_action_for_missing_players(self, two: Stage) -> None:
        assert two.session.close_action() is not None
        two.roll(4, 3)
        two.answer(1, "Y7")
        assert two.session.close_action() is None
        assert two.state.phase is Phase.ACTION2
        assert two.session.close_action() is None
        assert two.state.misses == (1, 0)

    def test_a_refused_mark_names_its_ruling(self, two: Stage) -> None:
        two.roll(4, 3)
        rejected = two.session.answer(0, 1, 1, "R12", done=False)
        assert rejected is not None
        assert (rejected.code, rejected.ruling) == ("WRONG_SUM", "E2")
        assert two.message(rejected) == "The white dice make 7, not 12."

    def test_late_marks_explain_themselves(self, two: Stage) -> None:
        two.roll(4, 3)
        two.answer(0, None)
        two.answer(1, None)
        rejected = two.session.answer(1, 1, 1, "R7", done=True)
        assert rejected is not None
        assert (rejected.code, rejected.ruling) == ("WRONG_PHASE", "E9")
        two.answer(0, None)
        rejected = two.session.answer(0, 1, 2, "R7", done=True)
        assert rejected is not None
        told = "That turn is over. Answers can no longer change."
        assert two.message(rejected) == told
        taken_back = two.session.withdraw(0, 1, 1)
        assert taken_back is not None
        assert two.message(taken_back) == told, "the cross stands: it was not late itself"

    def test_a_late_mark_for_other_dice_is_told_what_is_true_now(self, two: Stage) -> None:
        def told(turn: int, since: int) -> str:
            rejected = two.session.answer(1, turn, 1, "G7", done=True, dice_since=since)
            assert rejected is not None
            assert rejected.code == "WRONG_PHASE"
            return two.message(rejected)

        two.roll(4, 3)
        since = two.game.dice_since
        two.session.undo()
        assert told(1, since) == "Throw and confirm the dice first."
        two.roll(4, 3)
        assert told(1, since) == "The dice have changed since. Please answer again."
        since = two.game.dice_since
        two.session.close_action()
        two.correct(4, 3, red=5)
        assert told(1, since) == "Action 1 is over. Answers can no longer change."
        two.session.close_action()
        two.roll(4, 3)
        since = two.game.dice_since
        two.session.undo()
        two.session.undo()
        assert two.state.turn == 1
        assert told(2, since) == "Action 1 is over. Answers can no longer change."

    def test_a_retry_of_a_taken_step_is_no_late_mark(self, two: Stage) -> None:
        two.roll(4, 3)
        two.answer(0, None)
        assert two.session.answer(1, 1, 1, "R7", done=True, key="k1") is None
        assert two.state.phase is Phase.ACTION2
        assert two.session.answer(1, 1, 1, "R7", done=True, key="k1") is None
        again = two.again()
        assert again.session.answer(1, 1, 1, "R7", done=True, key="k1") is None
        assert again.session.answer(1, 1, 1, "R7", done=True, key="k2") is not None

    def test_a_miss_and_the_next_turn_are_announced(self, two: Stage) -> None:
        two.roll(4, 3)
        two.answer(0, None)
        two.answer(1, None)
        two.answer(0, None)
        assert two.told[-1].text == "Penalty for Ada (1 of 4). Ben throws next."

    @pytest.mark.parametrize(
        ("names", "told"),
        [(["Ada"], "Ada has −20 points."), (["Ada", "Ben"], "Ben wins with −15 points.")],
    )
    def test_the_end_is_announced_with_reason_and_winner(
        self, stage: Stage, names: list[str], told: str
    ) -> None:
        stage.seat(*names)
        stage.session.start("base", 0)
        while stage.state.phase is not Phase.OVER:
            stage.roll(4, 3)
            for player in range(len(names)):
                stage.answer(player, None)
            stage.answer(stage.state.active, None)
        assert "Fourth penalty" in stage.told[-1].text
        assert told in stage.told[-1].text


class TestTelling:
    def test_waiting_wakes_up_for_news_only(self, stage: Stage) -> None:
        version = stage.session.view().version
        assert stage.session.wait(version, 0.0) == version
        seen: list[int] = []
        waiter = threading.Thread(target=lambda: seen.append(stage.session.wait(version, 10)))
        waiter.start()
        stage.session.see(TrayView(TrayStatus.MOVING))
        waiter.join(10)
        assert seen[0] > version
        version = stage.session.view().version
        stage.session.see(TrayView(TrayStatus.MOVING))
        assert stage.session.view().version == version

    def test_waiters_can_be_woken_without_a_change(self, stage: Stage) -> None:
        version = stage.session.view().version
        seen: list[int] = []
        waiter = threading.Thread(target=lambda: seen.append(stage.session.wait(version, 60)))
        waiter.start()
        waiter.join(0.1)  # in which it begins to wait
        assert seen == []
        stage.session.wake()
        waiter.join(5)
        assert seen == [version]

    def test_a_slow_disk_keeps_nobody_from_ending(self, tmp_path: Path) -> None:
        held, done = threading.Event(), threading.Event()

        class SlowDisk(SqliteStore):
            def append(self, records: tuple[Record, ...]) -> None:
                held.set()
                done.wait(60)
                super().append(records)

        stage = Stage(tmp_path, store=SlowDisk(tmp_path))
        changing = threading.Thread(target=stage.seat, args=["Ada"], daemon=True)
        changing.start()
        assert held.wait(5)
        waking = threading.Thread(target=stage.session.wake, daemon=True)
        waking.start()
        waking.join(5)
        assert not waking.is_alive()
        done.set()
        changing.join(5)
        assert stage.session.view().table.name(0) == "Ada"

    def test_listeners_may_come_back(self, two: Stage) -> None:
        heard: list[str] = []

        def listen(_: object) -> None:
            thread = threading.Thread(target=lambda: heard.append(two.session.view().version))
            thread.start()
            thread.join(5)
            two.session.see(TrayView(TrayStatus.WAITING))

        two.session.subscribe(Topic.ANNOUNCEMENT, listen)
        two.session.subscribe(Topic.CONFIRMED, lambda _: two.session.see(TrayView(TrayStatus.OLD)))
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


def test_announcements_keep_their_order_though_the_first_takes_long(two: Stage) -> None:
    """Such as one whose clips lie on a slow card: the voice would end with what is outdated."""
    told: list[str] = []
    is_telling, go_on = threading.Event(), threading.Event()

    def hear(said: Announcement) -> None:
        if said.kind == "roll":
            is_telling.set()
            assert go_on.wait(9)
        told.append(said.kind)

    two.session.subscribe(Topic.ANNOUNCEMENT, hear)
    rolling = threading.Thread(target=two.roll, args=(3, 4))
    rolling.start()
    assert is_telling.wait(9)
    assert two.session.undo() is None
    go_on.set()
    rolling.join()
    assert told == ["roll", "undone"]
