"""Pairing: sizes, meetings, fairness, and people who come and go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.mqtt.club.pairing import MET, SYSTEMS, Pairing, Past, group_sizes, pair, past_of


def names(count: int) -> list[str]:
    return [f"P{n:02}" for n in range(count)]


def rounds_of(
    players: Sequence[str],
    count: int,
    *,
    system: str = "round_robin",
    size: int = 4,
    seed: int = 7,
    tables: int | None = None,
) -> list[Pairing]:
    rounds: list[Pairing] = []
    for number in range(1, count + 1):
        rounds.append(
            pair(
                players,
                past_of(rounds),
                system=system,
                size=size,
                seed=seed,
                number=number,
                tables=tables,
            )
        )
    return rounds


@pytest.mark.parametrize(
    ("players", "wanted", "tables", "expected"),
    [
        (24, 4, None, [4] * 6),
        (7, 4, None, [4, 3]),
        (6, 4, None, [3, 3]),
        (5, 4, None, [5]),
        (3, 4, None, [3]),
        (5, 2, None, [3, 2]),
        (2, 5, None, [2]),
        (1, 4, None, []),
        (0, 4, None, []),
        (24, 4, 6, [4] * 6),
        (24, 2, 6, [4] * 6),
        (11, 5, None, [4, 4, 3]),
        (13, 4, 2, [5, 5]),
    ],
)
def test_groups_are_as_even_as_the_numbers_allow(
    players: int, wanted: int, tables: int | None, expected: list[int]
) -> None:
    assert group_sizes(players, wanted, tables) == expected


@given(
    players=st.integers(0, 60),
    wanted=st.integers(2, 5),
    tables=st.one_of(st.none(), st.integers(1, 20)),
)
def test_sizes_are_two_to_five_and_differ_by_one(
    players: int, wanted: int, tables: int | None
) -> None:
    sizes = group_sizes(players, wanted, tables)
    assert all(2 <= size <= 5 for size in sizes)
    assert max(sizes, default=0) - min(sizes, default=0) <= 1
    has_room = players >= 2 and (tables is None or tables * 5 >= players)
    assert sum(sizes) == players if has_room else sum(sizes) <= players
    assert tables is None or len(sizes) <= tables


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("count", [4, 6, 8, 16])
def test_pairs_meet_everybody_once_before_anybody_twice(count: int, seed: int) -> None:
    rounds = rounds_of(names(count), 2 * (count - 1), size=2, seed=seed)
    once = past_of(rounds[: count - 1]).met
    assert set(once.values()) == {1}
    assert len(once) == count * (count - 1) // 2
    assert set(past_of(rounds).met.values()) == {2}


def test_groups_of_four_repeat_few_meetings() -> None:
    rounds = rounds_of(names(24), 5)
    met = Counter(past_of(rounds).met.values())
    assert met[1] >= 0.95 * sum(met.values())
    assert set(met) <= {1, 2}


def test_swiss_brings_equals_together_without_repeats() -> None:
    players = names(24)  # in the order of the standings
    first = pair(players, Past(), system="swiss", size=4, seed=3, number=1)
    second = pair(players, past_of([first]), system="swiss", size=4, seed=3, number=2)
    assert not set(past_of([first]).met) & set(past_of([second]).met)
    places = {name: n for n, name in enumerate(players)}
    spans = [max(map(places.get, g)) - min(map(places.get, g)) for g in second.groups]  # type: ignore[type-var, operator]
    assert max(spans) <= 11
    means = [sum(places[name] for name in group) / 4 for group in second.groups]
    assert means == sorted(means)
    alone = pair(players, Past(), system="swiss", size=4, seed=3, number=2)
    assert alone.groups == tuple(tuple(players[n : n + 4]) for n in range(0, 24, 4))


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_seed_repeats_rounds_whatever_the_order_of_arrival(system: str) -> None:
    players = names(14)
    one = rounds_of(players, 4, system=system)
    assert one == rounds_of(players, 4, system=system)
    assert one != rounds_of(players, 4, system=system, seed=8)
    if system == "round_robin":
        shuffled = rounds_of(players[::-1], 4, system=system)
        assert [set(map(frozenset, each.groups)) for each in one] == [
            set(map(frozenset, each.groups)) for each in shuffled
        ]


@pytest.mark.parametrize("system", SYSTEMS)
def test_sitting_out_and_smaller_tables_go_round(system: str) -> None:
    players = names(13)
    rounds = rounds_of(players, 8, system=system, tables=2)
    assert {len(each.sat_out) for each in rounds} == {3}
    out = Counter(name for each in rounds for name in each.sat_out)
    assert max(out[name] for name in players) - min(out[name] for name in players) <= 1
    uneven = rounds_of(names(11), 6, system=system)  # 4, 4 and 3
    small = past_of(uneven).small
    assert sum(small.values()) == 18
    assert max(small.values()) <= 3
    two_tables = past_of(rounds_of(names(9), 8, system=system)).small  # 5 and 4
    assert max(two_tables.values()) - min(two_tables.values()) <= 1


@given(
    data=st.data(),
    system=st.sampled_from(SYSTEMS),
    size=st.integers(2, 5),
    seed=st.integers(0, 999),
)
def test_everybody_here_has_one_seat_or_sits_out(
    data: st.DataObject, system: str, size: int, seed: int
) -> None:
    """People come late and leave between the rounds."""
    everybody = names(14)
    rounds: list[Pairing] = []
    for number in range(1, 4):
        here = data.draw(st.lists(st.sampled_from(everybody), min_size=2, unique=True))
        found = pair(here, past_of(rounds), system=system, size=size, seed=seed, number=number)
        seated = [name for group in found.groups for name in group]
        assert sorted([*seated, *found.sat_out]) == sorted(here)
        rounds.append(found)


def test_hundreds_of_players_are_paired_in_seconds() -> None:
    players = names(400)
    rounds = rounds_of(players, 3, system="swiss")
    met = past_of(rounds).met
    assert sum(count - 1 for count in met.values()) == 0
    assert len(rounds[-1].groups) == 100


def test_a_repeat_costs_more_than_any_distance() -> None:
    """Eight players in fours cannot avoid repeats in round two: each old pair once, not more."""
    rounds = rounds_of(names(8), 2, system="swiss")
    twice = [two for two, count in past_of(rounds).met.items() if count == 2]
    assert len(twice) == 4
    assert not any(set(a) & set(b) for a, b in combinations(twice, 2))
    assert MET > 8 * 8 * 8
