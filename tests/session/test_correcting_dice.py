"""Dice corrected by hand before the roll is confirmed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from companion.engine import DieColour, Phase
from companion.session.corrections import asked_colour, doubtful_dice
from companion.tray import Problem, ProblemCode, TrayStatus, TrayView
from tests.session.corrections import (
    BLUE,
    GREEN,
    OTHER_WHITE,
    RED,
    WHITE,
    doubtful,
    put_right,
    seen,
)
from tests.session.fakes import Stage
from tests.web.stand_in import a_roll


def doubts(stage: Stage) -> list[str]:
    """The colours of the dice that are still to be told."""
    return [die.colour.value for die in doubtful_dice(stage.session.view().tray) if die.colour]


class TestBeforeConfirming:
    def test_a_misread_die_is_corrected_and_confirmed(self, two: Stage) -> None:
        two.session.see(seen())
        assert put_right(two, GREEN, 5) == ""
        tray = two.session.view().tray
        assert [die.by_hand for die in tray.dice] == [False] * 4 + [True, False]
        assert tray.roll == a_roll(3, 4, green=5)
        assert two.session.press() is None
        assert two.state.roll == a_roll(3, 4, green=5)
        assert not two.game.typed

    def test_a_die_corrected_twice_shows_the_last_value(self, two: Stage) -> None:
        two.session.see(seen())
        put_right(two, GREEN, 5)
        put_right(two, RED, 1)
        assert put_right(two, GREEN, 6) == ""
        assert two.session.view().tray.roll == a_roll(3, 4, red=1, green=6)

    def test_a_die_beside_the_tray_is_no_part_of_a_corrected_roll(self, two: Stage) -> None:
        tray = seen()
        beside = replace(tray.dice[RED], centre_xy=(900.0, 20.0), value=6, in_tray=False)
        two.session.see(replace(tray, dice=(*tray.dice, beside)))
        put_right(two, GREEN, 5)
        assert two.session.view().tray.roll == a_roll(3, 4, green=5)

    def test_a_correction_holds_until_dice_move(self, two: Stage) -> None:
        two.session.see(seen())
        put_right(two, GREEN, 5)
        again = seen(frame=30)
        moved = tuple(
            replace(die, centre_xy=(die.centre_xy[0] + 3, die.centre_xy[1])) for die in again.dice
        )
        two.session.see(replace(again, dice=moved))
        assert two.session.view().tray.roll == a_roll(3, 4, green=5)
        assert put_right(two, GREEN, 6) == "", "shown since, though a newer picture is there"
        two.session.see(TrayView(TrayStatus.MOVING, frame=31))
        away = replace(again.dice[GREEN], centre_xy=(5.0, 5.0))
        two.session.see(replace(again, dice=(*again.dice[:GREEN], away, again.dice[BLUE])))
        assert two.session.view().tray.roll == a_roll(3, 4)

    @pytest.mark.parametrize("read", [None, DieColour.RED])
    def test_a_correction_holds_whatever_the_reader_takes_the_die_for(
        self, two: Stage, read: DieColour | None
    ) -> None:
        tray = doubtful(BLUE, "blue")
        dice = (*tray.dice[:BLUE], replace(tray.dice[BLUE], colour=read))
        two.session.see(replace(tray, dice=dice))
        assert put_right(two, BLUE, 6, colour=DieColour.BLUE) == ""
        two.session.see(seen(frame=30))  # nothing has moved, and the reader is sure of its blue 4
        assert two.session.view().tray.roll == a_roll(3, 4, blue=6)
        assert two.session.press() is None
        assert two.state.roll == a_roll(3, 4, blue=6)

    def test_a_correction_outlasts_an_arm_over_dice_that_stay(self, two: Stage) -> None:
        two.session.see(seen())
        put_right(two, GREEN, 5)
        hidden = doubtful(RED, "red", status="obstructed")
        for tray in (TrayView(TrayStatus.MOVING), hidden, TrayView(TrayStatus.MOVING), seen(40)):
            two.session.see(tray)
        assert two.session.view().tray.roll == a_roll(3, 4, green=5)
        two.session.see(replace(seen(), status=TrayStatus.READING, roll=None))  # an odd look
        two.session.see(seen(60))
        assert two.session.press() is None
        assert two.state.roll == a_roll(3, 4, green=5)

    @pytest.mark.parametrize("which", [GREEN, RED], ids=["corrected", "other"])
    def test_a_correction_ends_with_a_die_that_was_turned(self, two: Stage, which: int) -> None:
        two.session.see(seen())
        put_right(two, GREEN, 5)
        two.session.see(TrayView(TrayStatus.MOVING))
        turned = seen(40)
        dice = list(turned.dice)
        dice[which] = replace(dice[which], value=6)
        name = "green" if which == GREEN else "red"
        two.session.see(replace(turned, dice=tuple(dice), roll=a_roll(3, 4, **{name: 6})))
        assert two.session.view().tray.roll == a_roll(3, 4, **{name: 6})
        assert not any(die.by_hand for die in two.session.view().tray.dice)

    @pytest.mark.parametrize("status", ["uncertain", "cocked"])
    def test_after_motion_a_die_is_asked_about_that_may_be_turned(
        self, two: Stage, status: str
    ) -> None:
        tray = doubtful(BLUE, "blue", status=status, value=2 if status == "cocked" else None)
        two.session.see(tray)
        put_right(two, BLUE, 6)
        assert two.session.view().tray.roll == a_roll(3, 4, blue=6)
        two.session.see(TrayView(TrayStatus.MOVING))
        two.session.see(replace(tray, frame=40))
        assert two.session.view().tray.roll is None
        assert put_right(two, BLUE, 6, frame=40) == ""
        assert two.session.view().tray.roll == a_roll(3, 4, blue=6)

    def test_a_refusal_ends_with_the_problem_it_named(self, two: Stage) -> None:
        two.session.see(doubtful(BLUE, "blue"))
        two.session.press()
        refused = two.session.view().announcement
        assert refused is not None
        assert refused.kind == "refused"
        two.session.see(doubtful(GREEN, "green"))
        standing = two.session.view().announcement
        assert standing is not None
        assert standing.kind == "turn", "another die is meant by now"
        two.session.press()
        put_right(two, GREEN, 6)
        assert two.session.view().announcement == standing

    def test_a_corrected_doubtful_die_completes_the_roll(self, two: Stage) -> None:
        two.session.see(doubtful(BLUE, "blue"))
        assert two.session.view().tray.roll is None
        assert put_right(two, BLUE, 6) == ""
        tray = two.session.view().tray
        assert (tray.status, tray.roll, tray.problems) == ("ok", a_roll(3, 4, blue=6), ())

    def test_fixing_another_die_does_not_resolve_the_uncertain_one(self, two: Stage) -> None:
        two.session.see(doubtful(BLUE, "blue", value=2))
        put_right(two, RED, 6)
        assert two.session.view().tray.roll is None
        rejected = two.session.press()
        assert rejected is not None
        assert rejected.code == "NOT_READABLE"

    def test_a_die_that_is_told_is_no_longer_named(self, two: Stage) -> None:
        tray = doubtful(BLUE, "blue")
        red = Problem(ProblemCode.UNCERTAIN, DieColour.RED)
        two.session.see(replace(tray, problems=(red, *tray.problems)))
        assert doubts(two) == ["red", "blue"]
        put_right(two, RED, 6)
        assert doubts(two) == ["blue"]
        assert two.session.view().tray.problems == tray.problems
        put_right(two, BLUE, 1)
        assert doubts(two) == []

    @pytest.mark.parametrize("value", [None, 1], ids=["stands out", "has a value"])
    def test_of_two_white_dice_those_that_may_be_meant_are_doubtful(
        self, two: Stage, value: int | None
    ) -> None:
        two.session.see(doubtful(OTHER_WHITE, "white", value=value))
        assert doubts(two) == ["white"] * (1 if value is None else 2)
        put_right(two, OTHER_WHITE, 4)
        assert doubts(two) == [] if value is None else ["white"]

    def test_a_die_is_asked_about_only_if_the_answers_make_a_roll(self) -> None:
        tray = doubtful(BLUE, "blue")
        playing = [die.colour for die in tray.dice if die.colour]
        assert asked_colour(tray, playing) is DieColour.BLUE
        two_doubts = (Problem(ProblemCode.UNCERTAIN, DieColour.RED), *tray.problems)
        for dice in (tray.dice, tray.dice[::-1]):  # the reader sorts them by certainty
            asked = asked_colour(replace(tray, dice=dice, problems=two_doubts), playing)
            assert asked is DieColour.RED
        for colour in (None, DieColour.GREEN):
            dice = (*tray.dice[:-1], replace(tray.dice[-1], colour=colour))
            assert asked_colour(replace(tray, dice=dice), playing) is None
        assert asked_colour(doubtful(RED, "red", status="cocked"), playing) is None

    def test_a_die_that_is_not_missing_itself_is_not_doubtful(self, two: Stage) -> None:
        tray = seen()
        missing = (Problem(ProblemCode.MISSING, DieColour.WHITE),)
        two.session.see(
            replace(tray, status=TrayStatus.MISSING, dice=tray.dice[1:], problems=missing)
        )
        assert doubts(two) == []

    def test_both_uncertain_white_dice_are_named(self, two: Stage) -> None:
        two.session.see(doubtful(WHITE, "white", value=1))
        put_right(two, WHITE, 5)
        assert two.session.view().tray.roll is None
        put_right(two, OTHER_WHITE, 4)
        assert two.session.view().tray.roll == a_roll(5, 4)

    @pytest.mark.parametrize("status", ["uncertain", "cocked"])
    def test_of_two_white_dice_the_one_that_stands_out_is_enough(
        self, two: Stage, status: str
    ) -> None:
        value = 1 if status == "cocked" else None
        two.session.see(doubtful(WHITE, "white", status=status, value=value))
        assert put_right(two, WHITE, 3) == ""
        assert two.session.view().tray.roll == a_roll(3, 4)

    def test_the_other_of_two_white_dice_is_not_enough(self, two: Stage) -> None:
        two.session.see(doubtful(WHITE, "white"))
        assert put_right(two, OTHER_WHITE, 4) == ""
        assert two.session.view().tray.roll is None

    @pytest.mark.parametrize("codes", [("cocked", "uncertain"), ("obstructed", "uncertain")])
    def test_fixing_one_uncertain_die_leaves_the_other(
        self, two: Stage, codes: tuple[str, str]
    ) -> None:
        """The status is the first doubt's; the die of the second is a guess all the same."""
        tray = doubtful(RED, "red", status=codes[0])
        guess = replace(tray.dice[GREEN], value=2, confidence=0.55)
        dice = (*tray.dice[:GREEN], guess, *tray.dice[GREEN + 1 :])
        problems = (
            Problem(ProblemCode(codes[0]), DieColour.RED),
            Problem(ProblemCode(codes[1]), DieColour.RED),
            Problem(ProblemCode(codes[1]), DieColour.GREEN),
        )
        two.session.see(replace(tray, dice=dice, problems=problems))
        put_right(two, RED, 6)
        assert two.session.view().tray.roll is None
        put_right(two, GREEN, 4)
        assert two.session.view().tray.roll == a_roll(3, 4, red=6, green=4)
        assert two.session.view().tray.problems == ()

    def test_two_uncertain_white_dice_both_need_fixing(self, two: Stage) -> None:
        tray = doubtful(WHITE, "white")
        two.session.see(
            replace(tray, problems=(Problem(ProblemCode.UNCERTAIN, DieColour.WHITE),) * 2)
        )
        put_right(two, WHITE, 3)
        assert two.session.view().tray.roll is None
        put_right(two, OTHER_WHITE, 4)
        assert two.session.view().tray.roll == a_roll(3, 4)

    def test_a_die_of_unknown_colour(self, two: Stage) -> None:
        tray = seen()
        dice = list(tray.dice)
        dice[GREEN] = replace(dice[GREEN], colour=None, value=None)
        problems = (Problem(ProblemCode.UNCERTAIN, DieColour.GREEN),)
        two.session.see(
            replace(tray, status=TrayStatus.UNCERTAIN, roll=None, dice=dice, problems=problems)
        )
        assert doubtful_dice(two.session.view().tray) == (dice[GREEN],)
        assert put_right(two, GREEN, 2) == "BAD_DIE"
        assert put_right(two, GREEN, 2, colour=DieColour.GREEN) == ""
        assert two.session.view().tray.roll == a_roll(3, 4, green=2)

    def test_a_missing_die_cannot_be_corrected(self, two: Stage) -> None:
        tray = seen()
        lost = replace(tray, status=TrayStatus.MISSING, roll=None, dice=tray.dice[:-1])
        two.session.see(replace(lost, problems=(Problem(ProblemCode.MISSING, DieColour.BLUE),)))
        assert put_right(two, RED, 2) == "TRAY_CHANGED"
        assert two.session.view().tray.roll is None

    @pytest.mark.parametrize(
        ("frame", "at", "value", "code"),
        [
            (6, None, 3, "TRAY_CHANGED"),
            (7, (5.0, 5.0), 3, "TRAY_CHANGED"),
            (7, None, 7, "BAD_DIE"),
            (7, None, 0, "BAD_DIE"),
        ],
        ids=["an older picture", "no die there", "a seven", "a zero"],
    )
    def test_nonsense_changes_nothing(
        self, two: Stage, frame: int, at: tuple[float, float] | None, value: int, code: str
    ) -> None:
        two.session.see(seen())
        where = at or seen().dice[RED].centre_xy
        rejected = two.session.fix_die(frame, where, value)
        assert rejected is not None
        assert rejected.code == code
        assert two.session.view().tray == seen()

    def test_an_undone_roll_keeps_its_corrections(self, two: Stage) -> None:
        old = replace(seen(frame=20), status=TrayStatus.OLD, roll=None)
        two.session.see(seen())
        put_right(two, GREEN, 5)
        two.session.press()
        two.session.see(TrayView(TrayStatus.MOVING, frame=19))  # a hand above the tray
        two.session.see(old)
        assert two.session.undo() is None
        two.session.see(replace(old, frame=21))
        two.session.see(seen(frame=22))
        assert two.session.view().tray.roll == a_roll(3, 4, green=5)
        assert two.session.press() is None
        assert two.state.roll == a_roll(3, 4, green=5)

    def test_other_dice_do_not_take_the_corrections_of_an_undone_roll(self, two: Stage) -> None:
        two.session.see(seen())
        put_right(two, GREEN, 5)
        two.session.press()
        two.session.see(TrayView(TrayStatus.MOVING, frame=19))
        other = seen(frame=20)
        thrown = replace(other.dice[RED], centre_xy=(5.0, 5.0))
        other = replace(other, dice=(*other.dice[:RED], thrown, *other.dice[RED + 1 :]))
        two.session.see(other)
        assert two.session.undo() is None
        two.session.see(replace(other, frame=21))
        assert two.session.view().tray.roll == a_roll(3, 4)

    def test_only_the_host_corrects_a_confirmed_roll(self, two: Stage) -> None:
        two.session.see(seen())
        assert two.session.press() is None
        assert put_right(two, RED, 2) == "NO_ROLL_DUE"


def test_a_removed_die_left_in_the_tray_is_no_obstacle(two: Stage) -> None:
    reminder = (Problem(ProblemCode.REMOVED_DIE_IN_TRAY, DieColour.RED),)
    two.session.see(replace(seen(), problems=reminder))
    assert two.session.press() is None
    assert two.state.phase is Phase.ACTION1
