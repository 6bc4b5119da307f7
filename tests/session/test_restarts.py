"""A table after a power cut, on a full disk, and with an invalid log."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.engine import Phase
from companion.errors import StoreError
from companion.eventlog.record import Record
from companion.eventlog.store import SqliteStore
from companion.session.timers import CLOSING_GRACE_S, GRACE_S
from tests.session.fakes import Stage


class TestRestarts:
    def test_a_power_cut_loses_nothing(self, two: Stage) -> None:
        two.roll(4, 3)
        tokens = two.seat("Cleo")
        two.answer(0, "R7", done=False)
        again = two.again()
        assert again.session.view().table == two.session.view().table
        assert again.session.seats_of((tokens[0],)) == (2,)
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
        again.session.say_again()
        assert again.told[-1].text.startswith("White 12. ")
        assert "Ben is closing red. You can all still change" in again.told[-1].text
        again.time.pass_s(CLOSING_GRACE_S - 0.1)
        assert again.answer(0, "R12") == ""
        again.time.pass_s(CLOSING_GRACE_S + 0.1)
        assert again.state.closed[0].players == (0, 1)

    def test_after_a_restart_the_last_state_can_be_announced(self, two: Stage) -> None:
        assert Stage(two.directory / "empty").session.view().announcement is None
        two.session.say_again()
        assert two.told[-1].kind == "turn"
        two.roll(4, 3)
        again = two.again()
        assert again.told == []
        again.session.say_again()
        assert again.told[-1].text.startswith("White 7. Ada may cross ")

    def test_the_dice_of_the_last_roll_are_known_after_a_restart(self, two: Stage) -> None:
        again = two.again()
        assert again.session.last_rolls == ()
        again.roll(4, 3)
        once_more = again.again()
        assert once_more.session.last_rolls == (again.state.roll,)
        once_more.correct(4, 3, red=6, blue=6)
        rolls = (once_more.state.roll, again.state.roll)
        corrected = once_more.again()
        assert corrected.session.last_rolls == rolls
        corrected.session.end()
        corrected.session.rematch()
        assert corrected.again().session.last_rolls == rolls

    def test_a_roll_corrected_after_a_pause_is_known_as_it_was_read(self, two: Stage) -> None:
        two.roll(4, 3)
        before = two.state.roll
        two.session.pause()
        two.session.resume(1)
        two.correct(4, 3, red=6, blue=6)
        assert two.again().session.last_rolls == (two.state.roll, before)

    @pytest.mark.logs_errors
    def test_a_press_on_a_full_disk_is_refused_with_the_reason(self, two: Stage) -> None:
        two.store.close()
        rejected = two.roll(4, 3)
        assert rejected is not None
        assert rejected.code == "NOT_KEPT"
        assert "can’t be saved" in two.told[-1].text
        assert two.state.phase is Phase.ROLL

    def test_a_log_is_valid_up_to_its_first_bad_record(self, two: Stage) -> None:
        two.roll(4, 3)
        revision = two.session.view().table.revision
        two.store.append((Record(revision + 1, "rolled", {"white": [9, 9]}),))
        two.store.append((Record(revision + 2, "answered", {"player": 0}),))
        again = two.again()
        assert again.state.phase is Phase.ACTION1
        assert again.answer(0, "R7") == ""
        once_more = again.again()
        assert once_more.session.view().table == again.session.view().table

    def test_a_step_that_cannot_be_stored_does_not_happen(self, tmp_path: Path) -> None:
        stage = Stage(tmp_path)
        stage.seat("Ada", "Ben")
        stage.session.start()
        stage.roll(4, 3)
        before = stage.session.view().table
        stage.store.close()
        with pytest.raises(StoreError, match="cannot be written"):
            stage.answer(0, "R7")
        assert stage.session.view().table == before

    @pytest.mark.logs_errors
    def test_a_closing_that_cannot_be_stored_is_tried_again(self, tmp_path: Path) -> None:
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
