"""Who sits where: names, tokens, latecomers and who leaves."""

from __future__ import annotations

import pytest

from companion.session.seats import OFFER_S
from companion.session.session import Rejected
from tests.session.fakes import Stage


class TestSeats:
    def test_a_token_proves_its_seat_only(self, stage: Stage) -> None:
        ada, ben = stage.seat("Ada", "Ben")
        assert stage.session.seats_of((ada,)) == (0,)
        assert stage.session.seats_of((ben,)) == (1,)
        assert stage.session.seats_of(("",)) == ()
        assert stage.session.seats_of((ada[:-1] + "\udcff",)) == ()

    @pytest.mark.parametrize(
        ("name", "code"),
        [
            ("", "NAME_EMPTY"),
            (" \n\t ", "NAME_EMPTY"),
            ("x" * 500, "NAME_TOO_LONG"),
            ("ada", "NAME_TAKEN"),
            ("Ada\ufe0f", "NAME_TAKEN"),
            ("A\u034fda", "NAME_TAKEN"),
            ("  ADA ", "NAME_TAKEN"),
            ("Ad\u200da", "NAME_TAKEN"),
            ("Ada\u200b", "NAME_TAKEN"),
            ("Ada\u2065", "NAME_TAKEN"),
            ("Ada\ufffc", "NAME_TAKEN"),
            ("Ada\U000e0002", "NAME_TAKEN"),
            ("\ufffc", "NAME_EMPTY"),
            ("\u200b", "NAME_EMPTY"),
            ("\u200d\u2060\ufeff", "NAME_EMPTY"),
            ("\u3164 \u2800", "NAME_EMPTY"),
            ("\u202e", "NAME_EMPTY"),
        ],
    )
    def test_names_that_are_rejected(self, stage: Stage, name: str, code: str) -> None:
        stage.seat("Ada")
        rejected = stage.session.join(name)
        assert isinstance(rejected, Rejected)
        assert rejected.code == code
        assert stage.message(rejected)

    @pytest.mark.parametrize(
        ("name", "shown"),
        [
            ("  Zoë\n Ann ", "Zoë Ann"),
            ("<script>x</script>", "<script>x</script>"),
            ("Zoe\u0308", "Zoë"),
            ("👩‍🚀", "👩‍🚀"),
            ("a\x00b", "a b"),
            ("Be\uffffn\ufffc", "Ben"),
            ("\u202eevil\u2066", "evil"),
            (
                "\U0001f3f4\U000e0067\U000e0062\U000e007f",
                "\U0001f3f4\U000e0067\U000e0062\U000e007f",
            ),
            ("\u0645\u06cc\u200c\u0631", "\u0645\u06cc\u200c\u0631"),
            ("\u200dAda\u200c Lu\u00adisa", "Ada Luisa"),
        ],
    )
    def test_names_are_text_of_any_script(self, stage: Stage, name: str, shown: str) -> None:
        stage.seat(name)
        assert stage.session.view().table.name(0) == shown

    def test_a_sixth_is_rejected_with_the_ruling(self, stage: Stage) -> None:
        stage.seat("A", "B", "C", "D", "E")
        rejected = stage.session.join("F")
        assert isinstance(rejected, Rejected)
        assert (rejected.code, rejected.ruling) == ("TABLE_FULL", "E40")

    def test_latecomers_play_the_next_game(self, two: Stage) -> None:
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

    def test_an_offer_lasts_from_the_last_time_it_was_made(self, two: Stage) -> None:
        assert two.session.offer(1) is None
        two.time.pass_s(OFFER_S - 1.0)
        assert two.session.offer(1) is None
        two.time.pass_s(OFFER_S - 1.0)
        assert two.session.view().offered == {1}
        version = two.session.view().version
        two.time.pass_s(2.0)
        assert two.session.view().offered == set()
        assert two.session.view().version > version, "the pages are told"

    def test_an_offer_ends_with_its_seat(self, stage: Stage) -> None:
        stage.seat("Ada", "Ben")
        assert stage.session.offer(1) is None
        assert stage.session.leave(1) is None
        assert stage.session.add_bot("easy") is None
        claimed = stage.session.claim(1)
        assert isinstance(claimed, Rejected)
        assert claimed.code == "NOT_OFFERED"

    def test_a_bots_seat_is_not_offered(self, stage: Stage) -> None:
        stage.seat("Ada")
        assert stage.session.add_bot("easy") is None
        refused = stage.session.offer(1)
        assert refused is not None
        assert refused.code == "NO_SUCH_SEAT"

    def test_a_game_that_begins_again_tells_newcomers_nothing_of_before(self, stage: Stage) -> None:
        stage.seat("Ada", "Ben", "Cleo")
        assert stage.session.start("base", 0) is None
        assert stage.roll(3, 4) is None
        assert stage.answer(1, "R7") == ""
        assert stage.session.undo() is None
        assert len(stage.session.view().notices) == 3
        for seat in (1, 2):
            assert stage.session.let_go(seat) is None
        stage.seat("Dan")
        assert [stage.game.names, stage.session.view().notices] == [("Ada", "Dan"), ()]

    @pytest.mark.parametrize("name", ["Adb", "A\u200ddb", "ADB"])
    def test_a_resumed_game_leaves_a_person_of_the_same_name_their_seat(
        self, stage: Stage, name: str
    ) -> None:
        stage.seat("Ben", "A\u200ddb")
        assert stage.session.start("base", 0) is None
        assert stage.session.pause() is None
        assert stage.session.leave(1) is None
        (token,) = stage.seat(name)
        assert stage.session.resume(1) is None
        assert stage.session.seats_of([token]) == (1,)

    def test_start_needs_somebody_and_no_running_game(self, stage: Stage) -> None:
        rejected = stage.session.start()
        assert rejected is not None
        assert rejected.code == "NO_PLAYERS"
        stage.seat("Ada")
        assert stage.session.start(first=3) is not None
        assert stage.session.start("no such sheet") is not None
        assert stage.session.start() is None
        rejected = stage.session.start()
        assert rejected is not None
        assert rejected.code == "GAME_RUNNING"
