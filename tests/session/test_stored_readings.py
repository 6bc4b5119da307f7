"""What the log and the pictures keep of a reading, and the accuracy counted from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from companion.cli import dice_companion
from companion.engine import COLOURED, DieColour, Phase, Roll
from companion.eventlog.record import Record
from companion.history.accuracy import Accuracy, accuracy_of, offered_before
from companion.session.ports import RollKept, Topic
from companion.tray import Problem, ProblemCode, TrayStatus, TrayView
from tests.session.corrections import (
    BLUE,
    GREEN,
    doubtful,
    put_right,
    seen,
)
from tests.session.fakes import Stage
from tests.web.browsing import before_the_locks
from tests.web.stand_in import a_roll, dice_in_tray


class TestMisread:
    def misread(self, stage: Stage) -> list[tuple[str, int]]:
        (game,) = stage.session.past.results()
        return list(game.misread)

    def test_a_die_that_was_put_right_before_the_roll_counts(self, two: Stage) -> None:
        two.session.see(seen())
        put_right(two, GREEN, 5)
        two.session.press()
        assert self.misread(two) == [("green", 3)]
        assert two.session.correct_roll(a_roll(3, 4, green=6)) is None  # a slip of the finger
        assert self.misread(two) == [("green", 3)]

    def test_a_die_that_the_reader_asked_about_was_not_misread(self, two: Stage) -> None:
        two.session.see(doubtful(BLUE, "blue", value=2))
        put_right(two, BLUE, 6)
        two.session.press()
        assert two.session.correct_roll(a_roll(3, 4, blue=5)) is None
        assert self.misread(two) == []

    def test_dice_typed_in_place_of_an_offer_count(self, two: Stage) -> None:
        two.session.see(seen())
        assert two.type_roll(3, 3) is None
        assert self.misread(two) == [("white", 4)]

    def test_a_die_of_a_closed_row_in_the_tray_was_not_offered(self, two: Stage) -> None:
        before_the_locks(two, "R", "")
        two.answer(0, "R12")
        while two.state.phase is not Phase.ROLL:
            assert two.session.close_action() is None
        tray = dice_in_tray(a_roll(3, 4))
        assert tray.roll is not None
        offer = replace(tray.roll, coloured=tray.roll.coloured[1:])  # without red
        warning = Problem(ProblemCode.REMOVED_DIE_IN_TRAY, DieColour.RED)
        two.session.see(replace(tray, roll=offer, problems=(warning,)))
        put_right(two, GREEN, 5)
        assert two.session.press() is None
        assert self.misread(two) == [("green", 3)]

    def test_a_value_that_no_die_has_counts_for_nothing(self) -> None:
        faces = dict.fromkeys(("red", "yellow", "green", "blue"), 1)
        for value in (0, 9, None, "4"):
            dice = [["white", value], ["white", 1], *([colour, 1] for colour in faces)]
            reading = {"status": "ok", "dice": dice}
            assert offered_before(reading, Roll.of((3, 4), dict.fromkeys(COLOURED, 1))) is None


class TestLog:
    def kept(self, stage: Stage, kind: str) -> list[Record]:
        return [record for record in stage.store.load() if record.kind == kind]

    def test_the_original_reading_is_stored_beside_the_roll(self, two: Stage) -> None:
        two.session.see(seen())
        put_right(two, GREEN, 5)
        two.session.press()
        (record,) = self.kept(two, "rolled")
        assert record.data["by_hand"] is True
        assert record.data["eye"]["status"] == "ok"
        assert ["green", 3, 0.99] in record.data["eye"]["dice"]
        assert two.session.correct_roll(a_roll(6, 6)) is None
        (corrected,) = self.kept(two, "roll_corrected")
        assert "eye" not in corrected.data, "after an undo it would be that of another roll"
        assert two.again().state.roll == a_roll(6, 6)

    def test_a_roll_typed_over_a_corrected_die_is_not_a_corrected_reading(self, two: Stage) -> None:
        two.session.see(seen())
        put_right(two, GREEN, 5)
        assert two.type_roll(3, 4, green=6) is None
        (record,) = self.kept(two, "rolled")
        assert "by_hand" not in record.data

    def test_a_correction_after_a_pause_counts_for_the_roll_it_corrects(self, two: Stage) -> None:
        two.session.see(seen())
        assert two.session.press() is None
        assert two.session.pause() is None
        assert two.session.start("base", 0) is None
        two.session.see(dice_in_tray(a_roll(1, 2), frame=20))
        assert two.session.press() is None
        assert two.session.pause() is None
        assert two.session.resume(1) is None
        assert two.correct(3, 5) is None
        found = accuracy_of(two.store.load())
        assert found == Accuracy(2, right=1, wrong=1, dice_seen=12, dice_right=11)

    def test_the_accuracy_of_readings_on_this_table(self, two: Stage, tmp_path: Path) -> None:
        def turn(tray: TrayView | None, *, typed: bool = False) -> None:
            if tray is not None:
                two.session.see(tray)
            assert (two.type_roll(3, 4) if typed else two.session.press()) is None

        def finish() -> None:
            while two.state.phase is not Phase.ROLL:
                assert two.session.close_action() is None

        turn(seen())  # right
        finish()
        two.session.see(TrayView(TrayStatus.MOVING))
        turn(seen(20))  # wrong, and corrected
        assert two.session.correct_roll(a_roll(3, 5)) is None
        finish()
        turn(doubtful(BLUE, "blue"), typed=True)  # unsure: five of six dice were read
        finish()
        two.session.see(TrayView(TrayStatus.LOST))
        turn(None, typed=True)  # nothing seen, so nothing to count
        finish()
        turn(
            replace(seen(), status=TrayStatus.OLD, roll=None), typed=True
        )  # the dice of another roll
        finish()
        turn(replace(seen(), status=TrayStatus.READING, roll=None), typed=True)  # no verdict yet
        found = accuracy_of(two.store.load())
        assert found == Accuracy(3, right=1, wrong=1, unsure=1, dice_seen=17, dice_right=16)
        two.store.close()
        result = CliRunner().invoke(
            dice_companion, ["games", "accuracy", "--data-dir", str(tmp_path)]
        )
        assert result.exit_code == 0
        assert result.stdout.splitlines() == [
            "3 rolls: 1 read right, 1 read wrong and corrected, 1 sent back as unsure",
            "17 dice read: 16 right",
            "1 of 2 offered rolls wrong: at most 97.5% with 95 % confidence; "
            "docs/evaluation.md has at most 0.77%",
        ]

    @pytest.mark.parametrize(
        "eye",
        [
            None,
            "x",
            {},
            {"dice": []},
            {"dice": [1]},
            {"dice": [[]]},
            {"status": "ok", "dice": [[["red"], 1, 0.9]]},
        ],
    )
    def test_a_record_that_cannot_be_counted_is_ignored(self, eye: object) -> None:
        data = {
            "white": [1, 2],
            "colour": {"red": 1, "yellow": 1, "green": 1, "blue": 1},
            "eye": eye,
        }
        assert accuracy_of([Record(1, "rolled", data)]) == Accuracy()

    def test_the_correction_of_a_damaged_roll_is_not_that_of_the_roll_before(self) -> None:
        faces = {"red": 1, "yellow": 1, "green": 1, "blue": 1}
        dice = [["white", 1, 0.99], ["white", 2, 0.99], *([c, 1, 0.99] for c in faces)]
        right = {"white": [1, 2], "colour": faces, "eye": {"status": "ok", "dice": dice}}
        damaged, corrected = {"white": [1, 9]}, {"white": [3, 4], "colour": faces}
        records = [
            Record(n, kind, data)
            for n, (kind, data) in enumerate(
                [("rolled", right), ("rolled", damaged), ("roll_corrected", corrected)], 1
            )
        ]
        assert accuracy_of(records) == Accuracy(1, right=1, dice_seen=6, dice_right=6)

    def test_the_picture_keeper_receives_the_confirmed_roll(self, two: Stage) -> None:
        heard: list[RollKept] = []
        two.session.subscribe(Topic.SEEN_ROLL, heard.append)
        two.session.see(seen(frame=12))
        two.session.press()
        assert heard == [
            RollKept(two.game.rolled, game=1, turn=1, frame=12, roll=two.game.state.roll)
        ]
        assert two.again().game.rolled == heard[0].revision

    def test_the_dice_are_used_up_before_their_picture_is_kept(self, two: Stage) -> None:
        """A slow disk would keep the table from seeing that the next throw is another one."""
        order: list[str] = []
        two.session.subscribe(Topic.SEEN_ROLL, lambda _: order.append("kept"))
        two.session.subscribe(Topic.CONFIRMED, lambda _: order.append("used up"))
        two.session.see(seen())
        two.session.press()
        assert order == ["used up", "kept"]

    def test_a_picture_of_other_dice_is_not_kept_as_a_typed_rolls(self, two: Stage) -> None:
        heard: list[RollKept] = []
        two.session.subscribe(Topic.SEEN_ROLL, heard.append)
        two.session.see(replace(seen(), status=TrayStatus.OLD, roll=None))
        assert two.type_roll(3, 4) is None
        assert heard == []
