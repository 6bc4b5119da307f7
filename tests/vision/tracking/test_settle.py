"""The settle step by table: which evidence over time makes which roll."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from companion.engine.dice import DieColour, Roll
from companion.tray import Problem, ProblemCode, TrayStatus
from tests.vision.tray_fakes import bad, die, ok
from vision.reading import Reading
from vision.tracking.settle import (
    Settling,
    are_untouched,
    confirm,
    correct,
    forget_used,
    look_again,
    needs_reading,
    settle,
)

MOVED = "moved"
A, B = ok("34-4225"), ok("34-4226")
THROWN = ok("15-6331")
GONE = replace(
    A, dice=A.dice[:5], roll=Roll.of((3, 4), dict(A.roll.coloured[:3]) if A.roll else {})
)
HIDDEN = replace(bad("empty"), problems=(Problem(ProblemCode.FOREIGN_OBJECT),))
AWAY = replace(bad("empty"), problems=(Problem(ProblemCode.BESIDE_TRAY),))
TURNED = replace(
    A, dice=tuple(replace(d, centre_xy=(d.centre_xy[1] + 70.0, d.centre_xy[0])) for d in A.dice)
)
PUSHED_B = replace(
    TURNED,
    dice=tuple(replace(d, centre_xy=t.centre_xy) for d, t in zip(B.dice, TURNED.dice, strict=True)),
    roll=B.roll,
)
GONE_AND_TURNED = replace(TURNED, dice=TURNED.dice[:5], roll=GONE.roll)
NUDGED = replace(A, dice=(replace(A.dice[0], centre_xy=(400.0, 400.0)), *A.dice[1:]))
EMPTY, COCKED = bad("empty"), bad("cocked", colour="green")
UNSURE = bad("uncertain", colour="blue")


def play(
    steps: Sequence[str | Reading], state: Settling | None = None, *, step_s: float = 0.1
) -> tuple[Settling, list[str]]:
    """Take frames `step_s` apart: motion, or what the reader would see if it is asked."""
    state = state or Settling()
    at_s = max(state.read_s, 0.0) + step_s
    said = []
    for step in steps:
        moved = step == MOVED
        reading = None
        if not isinstance(step, str) and needs_reading(state, at_s, moved=moved):
            reading = replace(step)
        state = settle(state, at_s, moved=moved, reading=reading)
        said.append(state.shown.status.value)
        assert (state.shown.roll is not None) == (state.shown.status is TrayStatus.OK)
        at_s += step_s
    return state, said


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        pytest.param([MOVED, MOVED], "moving moving", id="things move"),
        pytest.param([MOVED, A, A], "moving moving ok", id="two readings agree"),
        pytest.param([MOVED, A, MOVED, A, A], "moving moving moving moving ok", id="a wobble"),
        pytest.param([A, A], "waiting ok", id="dice that lie there from the start"),
        pytest.param(
            [MOVED, A, B, A, B], "moving moving moving moving reading", id="disagreement waits"
        ),
        pytest.param([A, A, MOVED], "waiting ok moving", id="a nudge takes the offer away"),
        pytest.param([A, A, MOVED, A, A], "waiting ok moving moving ok", id="and it comes back"),
        pytest.param([EMPTY, EMPTY], "waiting empty", id="an empty tray is known to be empty"),
        pytest.param([MOVED, COCKED, COCKED], "moving moving cocked", id="a problem, agreed"),
        pytest.param([MOVED, COCKED, A, A], "moving moving moving ok", id="a problem passes"),
    ],
)
def test_frames_at_ten_a_second(steps: list[str | Reading], said: str) -> None:
    assert play(steps)[1] == said.split()


def test_the_roll_offered_is_the_one_read() -> None:
    state, _ = play([MOVED, A, A])
    assert state.shown.roll == Roll.of((3, 4), dict(A.roll.coloured if A.roll else ()))


@pytest.mark.parametrize("fps", [10.0, 12.0, 15.0, 30.0])
def test_an_offer_comes_within_0_4_s_of_rest(fps: float) -> None:
    _, said = play([MOVED, *[A] * 30], step_s=1.0 / fps)
    frames = said.index("ok")  # frames since the last motion, which was before rest
    assert (frames - 1) / fps >= 0.09
    assert (frames + 1) / fps <= 0.4


def test_two_readings_in_a_blink_are_not_enough() -> None:
    _, said = play([MOVED, A, A], step_s=0.01)
    assert said == ["moving", "moving", "moving"]


def test_readings_that_never_agree_become_uncertain_and_rarer() -> None:
    state, asked, said = Settling(), [0.0], []
    for frame in range(60):
        at_s = 0.1 * frame
        if needs_reading(state, at_s, moved=False):
            asked.append(at_s)
            state = settle(state, at_s, moved=False, reading=A if len(asked) % 2 else B)
        said.append(state.shown.status.value)
    assert said.index("uncertain") == 8
    assert set(said[8:]) == {"uncertain"}
    assert len([at_s for at_s in asked if at_s > 1.0]) <= 10


def test_after_a_contradiction_more_readings_must_agree() -> None:
    _, said = play([MOVED, A, B, *[A] * 8])
    assert said.index("ok") == 8
    _, said = play([MOVED, UNSURE, A, A])
    assert said[-1] == "ok"


def test_sure_readings_that_contradict_each_other_name_the_die() -> None:
    state, said = play([MOVED, *[A, B] * 10])
    assert said[-1] == "uncertain"
    assert state.shown.doubted == {DieColour.BLUE}
    state, said = play([MOVED, *[A, ok("35-4225")] * 10])
    assert state.shown.doubted == {DieColour.WHITE}


@pytest.mark.parametrize("between", [[UNSURE], [COCKED, UNSURE]])
def test_an_unsure_reading_in_between_hides_no_contradiction(
    between: list[Reading],
) -> None:
    _, said = play([MOVED, A, *between, *[B] * 8])
    assert said.index("ok") == 2 + len(between) + 5


def test_dice_that_agree_after_a_problem_are_offered() -> None:
    state, said = play([MOVED, *[UNSURE] * 3])
    assert said[-1] == "uncertain"
    assert not needs_reading(state, state.read_s + 0.3, moved=False)
    _, said = play([A] * 9, state)
    assert said[-1] == "ok"


def test_an_offer_is_withdrawn_when_a_later_look_contradicts_it() -> None:
    state, _ = play([MOVED, A, A])
    assert not needs_reading(state, state.read_s + 1.0, moved=False)
    later_s = state.read_s + 2.5
    assert needs_reading(state, later_s, moved=False)
    state = settle(state, later_s, moved=False, reading=B)
    assert state.shown.status is TrayStatus.READING
    for n in range(1, 6):
        state = settle(state, later_s + 0.1 * n, moved=False, reading=B)
    assert state.shown.roll == B.roll


def confirmed_state() -> Settling:
    state, _ = play([MOVED, A, A])
    return confirm(state)


def test_a_confirmed_roll_is_old_at_once() -> None:
    state = confirmed_state()
    assert state.shown.status is TrayStatus.OLD
    assert state.shown.reading is not None
    assert state.shown.reading.dice == A.dice


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        pytest.param([A] * 50, "old", id="left alone"),
        pytest.param([MOVED, A, A, A], "old", id="a hand passed by"),
        pytest.param([MOVED, ok(dx=5.0, dy=-4.0), ok(dx=5.0, dy=-4.0)], "old", id="jitter"),
        pytest.param([MOVED, ok(dx=90.0), ok(dx=90.0)], "old", id="the tray was pushed"),
        pytest.param([MOVED, NUDGED, NUDGED], "old", id="one was pushed aside"),
        pytest.param([MOVED, B, B], "old", id="one was tipped over"),
        pytest.param(
            [MOVED, B, B, MOVED, PUSHED_B, PUSHED_B], "old", id="one was tipped, then all pushed"
        ),
        pytest.param([MOVED, HIDDEN, HIDDEN, MOVED, A, A], "old", id="a hand hid them all"),
        pytest.param([MOVED, TURNED, TURNED], "old", id="the tray was turned"),
        pytest.param(
            [MOVED, GONE_AND_TURNED, GONE_AND_TURNED], "old", id="one left the game, all moved"
        ),
        pytest.param(
            [MOVED, GONE, GONE, MOVED, TURNED, TURNED], "old", id="it came back, and all moved"
        ),
        pytest.param([MOVED, AWAY, AWAY, MOVED, A, A], "old", id="the camera looked away"),
        pytest.param([MOVED, THROWN, THROWN], "ok", id="thrown again"),
        pytest.param([MOVED, THROWN, THROWN, MOVED, A, A], "ok", id="and again, as before"),
        pytest.param([MOVED, EMPTY, EMPTY], "empty", id="taken out"),
        pytest.param([MOVED, EMPTY, EMPTY, MOVED, A, A], "ok", id="taken out and thrown alike"),
        pytest.param(
            [MOVED, bad("missing", *A.dice[:4]), bad("missing", *A.dice[:4])], "old", id="some out"
        ),
        pytest.param(
            [MOVED, bad("cocked", *THROWN.dice), bad("cocked", *THROWN.dice)],
            "cocked",
            id="a bad new throw",
        ),
    ],
)
def test_after_a_confirmed_roll(steps: list[str | Reading], said: str) -> None:
    assert play(steps, confirmed_state())[1][-1] == said


def test_old_dice_never_flash_up_as_an_offer() -> None:
    _, said = play([A, MOVED, MOVED, A, A, A, MOVED, A, B, A, A, *[A] * 40], confirmed_state())
    assert "ok" not in said


def test_old_dice_are_offered_again_on_request() -> None:
    _, said = play([A, A], forget_used(confirmed_state()))
    assert said[-1] == "ok"


def test_other_dice_in_play_are_read_afresh_but_old_ones_stay_old() -> None:
    offered, _ = play([MOVED, A, A])
    again = look_again(offered)
    assert (again.shown.status, again.shown.roll) == (TrayStatus.READING, None)
    assert needs_reading(again, again.read_s + 0.01, moved=False)
    _, said = play([A, A], look_again(confirmed_state()))
    assert said[-1] == "old"


def test_a_roll_typed_while_dice_move_uses_nothing_up() -> None:
    state, _ = play([MOVED])
    _, said = play([A, A], confirm(state))
    assert said[-1] == "ok"


def test_a_roll_typed_over_a_doubtful_reading_uses_its_dice_up() -> None:
    doubtful = bad("uncertain", *A.dice[:5], replace(A.dice[5], value=None))
    state, _ = play([MOVED, doubtful, doubtful])
    _, said = play([MOVED, A, A], confirm(state))
    assert said[-1] == "old"
    _, said = play([MOVED, TURNED, TURNED], confirm(state, A.roll))
    assert said[-1] == "old"


def test_a_roll_typed_while_a_hand_hides_dice_uses_those_up_as_well() -> None:
    hidden = bad("obstructed", *A.dice[:2])
    state, _ = play([MOVED, hidden, hidden])
    _, said = play([MOVED, A, A], confirm(state, A.roll))
    assert said[-1] == "old"
    _, said = play([MOVED, THROWN, THROWN], confirm(state, A.roll))
    assert said[-1] == "ok"


def test_a_roll_typed_over_all_its_dice_waits_for_no_others() -> None:
    state = confirm(play([MOVED, A, A])[0], A.roll)
    assert (state.used, state.used_rolls) == (A.dice, ())


def test_dice_beside_the_tray_belong_to_no_throw() -> None:
    beside = die("red", 3, 10.0, 10.0, in_tray=False)
    state = confirm(play([MOVED, bad("missing", beside), bad("missing", beside)])[0])
    assert state.used == ()


@pytest.mark.parametrize(
    ("dice", "same"),
    [
        pytest.param(A.dice, True, id="the same"),
        pytest.param(A.dice[::-1], True, id="in another order"),
        pytest.param(A.dice[:1], True, id="one of them"),
        pytest.param((), False, id="none"),
        pytest.param(B.dice, True, id="one shows another value"),
        pytest.param(ok("34-6331").dice, False, id="most show another value"),
        pytest.param((*A.dice, die("red", 1, 5.0, 5.0)), True, id="one more"),
        pytest.param((replace(A.dice[0], value=None), *A.dice[1:]), True, id="one not legible"),
        pytest.param((die("white", 3, 300.0, 300.0), *A.dice[1:]), True, id="one moved away"),
        pytest.param(
            (*A.dice[:3], *(die("green", n, 300.0, 90.0 * n) for n in (1, 2, 3))),
            False,
            id="half of them moved away",
        ),
        pytest.param(ok(dx=90.0).dice, True, id="all pushed alike"),
        pytest.param(
            tuple(replace(each, value=None) for each in ok(dx=90.0).dice), True, id="pushed, unread"
        ),
        pytest.param(ok("34-4226", dx=90.0).dice, True, id="pushed, and one shows another value"),
        pytest.param(ok("34-6331", dx=90.0).dice, False, id="pushed, most show another value"),
        pytest.param(ok(dx=90.0).dice[:5], False, id="pushed, and one is gone"),
        pytest.param(
            tuple(replace(each, colour=DieColour.RED) for each in A.dice),
            False,
            id="dice of other colours",
        ),
    ],
)
def test_untouched(dice: tuple[object, ...], same: bool) -> None:
    assert are_untouched(A.dice, dice) is same  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        pytest.param([A, A], "waiting old", id="the dice that were confirmed before"),
        pytest.param([MOVED, A, A], "moving moving old", id="the camera finds its exposure first"),
        pytest.param([THROWN, THROWN], "waiting ok", id="other dice were thrown meanwhile"),
        pytest.param([EMPTY, EMPTY, MOVED, B, B], "waiting empty moving moving ok", id="taken out"),
        pytest.param(
            [EMPTY, EMPTY, MOVED, A, A, MOVED, THROWN, THROWN],
            "waiting empty moving moving old moving moving ok",
            id="the camera looked past the tray",
        ),
        pytest.param(
            [EMPTY, EMPTY, MOVED, GONE, GONE],
            "waiting empty moving moving old",
            id="past the tray, and a die is out",
        ),
        pytest.param(
            [A, A, MOVED, THROWN, THROWN], "waiting old moving moving ok", id="the next throw"
        ),
        pytest.param(
            [A, A, MOVED, TURNED, TURNED], "waiting old moving moving old", id="and are pushed"
        ),
        pytest.param([GONE, GONE], "waiting old", id="its row was closed, its die is out"),
        pytest.param([B, B], "waiting old", id="it was put right, and is misread again"),
        pytest.param(
            [UNSURE, UNSURE, MOVED, A, A],
            "waiting uncertain moving moving old",
            id="it is not read at once",
        ),
    ],
)
def test_after_a_restart_the_confirmed_dice_are_no_new_throw(
    steps: list[str | Reading], said: str
) -> None:
    assert A.roll is not None
    assert play(steps, Settling(used_rolls=(A.roll,)))[1] == said.split()


@pytest.mark.parametrize("before", [[], [EMPTY, EMPTY, MOVED]], ids=["at once", "seemed empty"])
def test_after_a_restart_dice_read_as_before_a_correction_are_old(
    before: list[str | Reading],
) -> None:
    corrected = ok("34-1125").roll  # two dice
    assert A.roll is not None
    assert corrected is not None
    state = Settling(used_rolls=(corrected, A.roll))
    assert play([*before, A, A], state)[1][-1] == "old"
    assert play([*before, A, A], Settling(used_rolls=(corrected,)))[1][-1] == "ok"


def test_a_person_may_declare_old_dice_new() -> None:
    state, _ = play([A, A], Settling(used_rolls=(A.roll,)))
    assert play([A, A], forget_used(state))[1][-1] == "ok"


@pytest.mark.parametrize("is_before", [True, False], ids=["before the press", "after it"])
def test_a_misread_roll_is_no_new_throw_however_it_is_read_later(is_before: bool) -> None:
    state, _ = play([MOVED, A, A])
    assert A.roll is not None
    assert B.roll is not None
    state = confirm(state, B.roll) if is_before else correct(confirm(state, A.roll), B.roll)
    turned_b = replace(
        TURNED,
        dice=tuple(replace(t, value=b.value) for t, b in zip(TURNED.dice, B.dice, strict=True)),
        roll=B.roll,
    )
    for pushed in (TURNED, turned_b):
        state, said = play([MOVED, pushed, pushed], state)
        assert said[-1] == "old"
    _, said = play([MOVED, THROWN, THROWN], state)
    assert said[-1] == "ok"


def test_a_correction_of_dice_that_are_gone_uses_no_others_up() -> None:
    state, _ = play([MOVED, A, A])
    assert B.roll is not None
    state, _ = play([MOVED, bad("empty"), bad("empty")], confirm(state, A.roll))
    _, said = play([MOVED, B, B], correct(state, B.roll))
    assert said[-1] == "ok"


def test_a_typed_roll_that_was_put_right_is_no_new_throw() -> None:
    """The camera looks past the tray as it is typed."""
    typed = ok("34-1125").roll  # two dice
    assert typed is not None
    assert A.roll is not None
    state, _ = play([EMPTY, EMPTY], confirm(Settling(), typed))
    assert play([MOVED, A, A], correct(state, A.roll))[1][-1] == "old"
    assert play([MOVED, A, A], state)[1][-1] == "ok", "else this could not fail"
