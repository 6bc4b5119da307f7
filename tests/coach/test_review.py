"""Luck, skill and the coach's advice for finished games."""

from __future__ import annotations

import numpy as np
import pytest

from companion.coach.advice import decision, results
from companion.coach.bots import advice_of
from companion.coach.policies import GREEDY, SKIP_TWO
from companion.coach.proof import recorded
from companion.coach.review import Measured, Review, review
from companion.coach.tempo import Tempo, tables_of
from companion.engine import (
    BASE,
    BIG_POINTS,
    PLANS,
    ActionClosed,
    Answered,
    DieColour,
    End,
    EndedEarly,
    Event,
    HouseRule,
    Phase,
    Played,
    Roll,
    RollCorrected,
    Rolled,
    SeatClosed,
    fold,
    new_game,
)
from companion.engine.notation import turns_of
from companion.history.decided import Decided
from companion.messages.catalogue import load_phrases

DICE = {DieColour.RED: 4, DieColour.YELLOW: 2, DieColour.GREEN: 2, DieColour.BLUE: 5}
A_ROLL = Roll.of((3, 4), DICE)


def sum_of(found: Review, player: int) -> float:
    luck, skill = found.luck[player].value, found.skill[player].value
    others = sum(turn[player].others for turn in found.parts)
    return found.start[player] + luck + skill + others


@pytest.mark.parametrize("variant", ["base", "big_points"])
@pytest.mark.parametrize("players", [1, 2, 4])
def test_luck_skill_and_others_add_up_to_the_final_lead(variant: str, players: int) -> None:
    seats = [SKIP_TWO, GREEDY, GREEDY, SKIP_TWO][:players]
    for start, events in recorded(variant, seats, 1, seed=3):
        found, last = review(start, events, rollouts=20), fold(start, events)
        assert found is not None
        for player in range(players):
            rivals = [last.total(p) for p in range(players) if p != player] or [0]
            assert found.final[player] == last.total(player) - max(rivals)
            assert sum_of(found, player) == pytest.approx(found.final[player], abs=1e-3)


def test_nobody_is_judged_for_an_action_that_never_came() -> None:
    judged = []
    for start, events in recorded("base", [GREEDY, SKIP_TWO, GREEDY], 25, seed=22):
        turns, last, _ = turns_of(start, events)
        if last.end is not End.LOCKS or turns[-1].action2 is not None:
            continue
        found = review(start, events, rollouts=4)
        assert found is not None
        judged += [each for each in found.decisions if each.turn == turns[-1].number]
    assert judged
    assert [each for each in judged if each.given.coloured or each.best.coloured] == []
    assert [each for each in judged if each.given == each.best] == []


def test_whoever_answers_like_the_coach_makes_no_mistake() -> None:
    coach = Tempo(tables_of("base", 3))
    for start, events in recorded("base", [coach, GREEDY, coach], 1, seed=5):
        found = review(start, events, rollouts=100)
        assert found is not None
        assert {each.player for each in found.decisions} <= {1}
        assert found.skill[0].value == found.skill[2].value == 0
        assert found.mistakes(1)
        assert found.skill[1].value < -5


@pytest.mark.parametrize(("variant", "players"), [("base", 1), ("big_points", 1), ("base", 2)])
def test_whoever_follows_the_coachs_advice_makes_no_mistake(variant: str, players: int) -> None:
    rng = np.random.default_rng(4)
    state = start = new_game(PLANS[variant], players)
    events: list[Event] = []
    while state.phase is not Phase.OVER:
        if state.phase is Phase.ROLL:
            whites, *others = rng.integers(1, 7, (5, 2)).tolist()
            values = dict(zip(state.dice, (first for first, _ in others), strict=False))
            new: list[Event] = [Rolled(Roll.of((whites[0], whites[1]), values))]
        else:
            action, waiting = state.action, state.waiting_for
            new = [Answered(p, action, advice_of(state, p)) for p in waiting]
            new.append(ActionClosed(action))
        state, events = fold(state, new), events + new
    found = review(start, events, rollouts=10)
    assert found is not None
    assert found.decisions == ()
    assert [each.value for each in found.skill] == [0.0] * players


def test_nobody_can_tell_what_decided_a_game_that_somebody_left() -> None:
    coach = Tempo(tables_of("base", 3))
    ((start, events),) = recorded("base", [coach] * 3, 1, seed=5)
    fifth = [n for n, event in enumerate(events) if isinstance(event, Rolled)][4]
    whole = review(start, events, rollouts=20)
    misses = [Played(1, (None, None, None)), Played(2, (None, None, None))]
    played: list[Event] = [*events[:fifth], SeatClosed(0)]
    while fold(start, played).phase is not Phase.OVER:
        played += [Rolled(A_ROLL), *misses]
    found = review(start, played, rollouts=20)
    assert whole is not None
    assert found is not None
    assert (len(decision(whole)), found.departures) == (1, {4})
    assert found.leads[-1] == found.final
    assert found.decided is Decided.CLOSE
    assert decision(found) == []
    assert 4 not in found.turning_points()


def test_a_turn_that_changes_less_than_a_point_is_no_turning_point() -> None:
    leads = ((0.0, 0.0), (0.4, -0.4), (9.0, -9.0))
    none = Measured(0.0, 0.0)
    found = Review((none, none), (none, none), leads, (), (), (9, -9))
    assert found.turning_points() == [2]


def test_a_blunder_is_named_with_its_cost() -> None:
    roll = Roll.of((6, 6), dict.fromkeys(DICE, 6))
    start = new_game(BASE, 2)
    events = [Rolled(roll), Played(1, ("G12", "G12")), Played(2, (None, None))]
    blunder = [Rolled(Roll.of((5, 6), DICE)), Played(1, ("Y11", "R11")), Played(2, (None, None))]
    found = review(start, [*events, *blunder, EndedEarly()], rollouts=300)
    assert found is not None
    worst = found.mistakes(1)[0]
    assert (worst.turn, worst.given.white) == (2, "R11")
    assert worst.skill.value < -3 * worst.skill.error


@pytest.mark.parametrize(
    ("leads", "luck", "error", "decided"),
    [
        ((30, -30), 40.0, 2.0, Decided.LUCK),  # choices cost 10
        ((30, -30), 5.0, 2.0, Decided.CHOICES),
        ((30, -30), -5.0, 2.0, Decided.CHOICES),
        ((30, -30), 18.0, 2.0, Decided.CLOSE),  # 18 of 30, with three standard errors of 2
        ((0, 0), 40.0, 2.0, Decided.CLOSE),  # a shared victory
    ],
)
def test_luck_decided_where_it_is_surely_more_than_choices(
    leads: tuple[int, int], luck: float, error: float, decided: Decided
) -> None:
    parts = (Measured(luck, error), Measured(-luck, error))
    found = Review(parts, parts, ((0.0, 0.0), leads), (), (), leads)
    assert found.decided is decided
    other_way = Review(parts[::-1], parts, ((0.0, 0.0), leads[::-1]), (), (), leads[::-1])
    assert other_way.decided is decided


def test_nothing_decided_a_game_that_was_ended_early() -> None:
    parts = (Measured(40.0, 2.0), Measured(-40.0, 2.0))
    found = Review(parts, parts, ((0.0, 0.0), (12.0, -12.0)), (), (), (30, -30))
    assert found.decided is Decided.CLOSE


def test_noise_is_no_mistake() -> None:
    for start, events in recorded("base", [SKIP_TWO, SKIP_TWO], 2, seed=8):
        found = review(start, events, rollouts=30)
        assert found is not None
        for player in (0, 1):
            for each in found.mistakes(player):
                assert each.skill.value < -3 * each.skill.error


def test_a_corrected_roll_counts_as_corrected() -> None:
    wrong, right = Roll.of((1, 1), DICE), A_ROLL
    start = new_game(BASE, 2)
    tail = [Answered(0, 1, "R7"), ActionClosed(1), Played(2, ("B9", None)), EndedEarly()]
    corrected = review(start, [Rolled(wrong), RollCorrected(right), *tail], rollouts=50)
    plain = review(start, [Rolled(right), *tail], rollouts=50)
    assert corrected == plain


def test_players_who_leave_and_house_rules_are_reviewed() -> None:
    start = new_game(BIG_POINTS, 3, first=1, house=list(HouseRule))
    events = [
        Rolled(A_ROLL),
        Played(1, (None, "R7", "Y7")),
        Played(2, (None, "B9", None)),
        SeatClosed(0),
        Rolled(A_ROLL),
        Played(1, (None, None, None)),
        Played(2, (None, None, None)),
        EndedEarly(),
    ]
    fold(start, events)  # refuses nothing
    found = review(start, events, rollouts=20)
    assert found is not None
    for player, lead in enumerate(found.leads[-1]):
        assert sum_of(found, player) == pytest.approx(lead, abs=1e-3)


def test_ending_a_game_early_costs_nobody_points() -> None:
    coach = Tempo(tables_of("base", 1))
    ((start, events),) = recorded("base", [coach], 1, seed=5)
    ninth = [n for n, event in enumerate(events) if isinstance(event, Rolled)][8]
    found = review(start, [*events[: ninth + 1], EndedEarly()], rollouts=100)
    assert found is not None
    assert len(found.parts) == 8
    assert found.leads[-1][0] > found.final[0] + 30  # what this sheet could still expect
    assert found.decided is Decided.CLOSE
    assert max(abs(turn[0].others) for turn in found.parts) < 1e-3


@pytest.mark.parametrize("answered", [0, 1])
def test_nobody_is_blamed_for_an_answer_that_the_end_cut_off(answered: int) -> None:
    coach = Tempo(tables_of("base", 3))
    ((start, events),) = recorded("base", [coach, coach, coach], 1, seed=5)
    ninth = [n for n, event in enumerate(events) if isinstance(event, Rolled)][8]
    found = review(start, [*events[: ninth + 1 + answered], EndedEarly()], rollouts=50)
    assert found is not None
    assert found.decisions == ()


def test_nobody_is_blamed_for_leaving() -> None:
    coach = Tempo(tables_of("base", 3))
    ((start, events),) = recorded("base", [coach, coach, coach], 1, seed=5)
    ninth = [n for n, event in enumerate(events) if isinstance(event, Rolled)][8]
    leaves = [SeatClosed(0), SeatClosed(1)]
    found = review(start, [*events[: ninth + 1], *leaves, EndedEarly()], rollouts=50)
    assert found is not None
    assert found.decisions == ()


def test_a_lead_of_one_point_is_a_point() -> None:
    turn = [Rolled(A_ROLL), Played(1, ("R7", None)), Played(2, (None, None))]
    found = review(new_game(BASE, 2), [*turn, EndedEarly()])
    assert found is not None
    assert found.final == (1, -1)
    said = [load_phrases("en").tell(each) for each in results(found, ["Ada", "Ben"])]
    assert said[0].startswith("Ada: +1 point against")


def test_a_game_that_goes_on_has_no_review() -> None:
    assert review(new_game(BASE, 2), [Rolled(A_ROLL)]) is None
    assert review(new_game(BASE, 2), [EndedEarly()]) is None
