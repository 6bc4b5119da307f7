"""Groups of two to five for a round: Swiss, or everybody against everybody (pure).

The groups of a round differ in size by one player at most. A group's cost counts, the heaviest
first: players who met before, seats at a smaller table again, and in Swiss the distance between
players' places. Swapping two players of different groups goes on while it lowers the cost, from
several starts; the same players, rounds and seed always give the same groups.

One start for groups of two is the circle method, which meets everybody once before anybody twice.
Source: T. P. Kirkman, "On a problem in combinations", 1847; on groups of more there is no such
construction for all numbers (the social golfer problem), therefore the search.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

SYSTEMS = ("swiss", "round_robin")
SMALLEST, LARGEST = 2, 5
"""Players at a table."""

MET = 10_000
"""Cost of two players who met once before; n meetings cost n squared times as much."""
SMALL_AGAIN = 20_000
"""Cost of a seat at a smaller table after one such seat; after n, n squared times as much.

With 2,000, of nine players at two tables one sat at the smaller one in all of eight rounds and
another in one; with this, each sits there three or four times.
"""

_STARTS = 12
_MOST_TRIALS = 100_000
"""Swaps that are tried for one round at most, which bounds the time for hundreds of players."""
_REACH = 3
"""In Swiss a player is swapped with players up to so many groups away."""

Pair = frozenset[str]


@dataclass(frozen=True, slots=True)
class Past:
    """The earlier rounds, as far as pairing needs them.

    Attributes:
        met: How often two players shared a table.
        small: How often a player sat at a smaller table than others of that round.
        sat_out: How often a player had no seat.
    """

    met: Counter[Pair] = field(default_factory=Counter)
    small: Counter[str] = field(default_factory=Counter)
    sat_out: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Pairing:
    """The groups of one round, the best players' first in Swiss, and those without a seat."""

    groups: tuple[tuple[str, ...], ...]
    sat_out: tuple[str, ...] = ()


def past_of(rounds: Iterable[Pairing]) -> Past:
    """Count meetings, seats at smaller tables and rounds without a seat."""
    past = Past()
    for each in rounds:
        most = max(map(len, each.groups), default=0)
        for group in each.groups:
            past.met.update(frozenset(pair) for pair in combinations(group, 2))
            if len(group) < most:
                past.small.update(group)
        past.sat_out.update(each.sat_out)
    return past


def group_sizes(players: int, wanted: int, tables: int | None) -> list[int]:
    """Sizes of the groups, the larger ones first.

    The number of groups is the one whose mean size is nearest to the wanted one, with the larger
    groups where two are as near. All sizes are 2 to 5 and differ by one at most; their sum is
    smaller than the number of players if the tables have no room for all.

    Args:
        wanted: Preferred players at a table.
        tables: Tables there are; None for as many as needed.
    """
    seated = players if tables is None else min(players, tables * LARGEST)
    if seated < SMALLEST:
        return []
    fewest, most = -(-seated // LARGEST), seated // SMALLEST
    if tables is not None:
        most = min(most, tables)
    count = min(range(fewest, most + 1), key=lambda n: (abs(seated / n - wanted), n))
    base, larger = divmod(seated, count)
    return [base + 1] * larger + [base] * (count - larger)


def pair(
    players: Sequence[str],
    past: Past,
    *,
    system: str,
    size: int,
    seed: int,
    number: int,
    tables: int | None = None,
) -> Pairing:
    """Make the groups of a round.

    Args:
        players: Those who are here; for Swiss in the order of the standings.
        system: One of `SYSTEMS`.
        size: Preferred players at a table.
        number: The round's number, from 1.
        tables: Tables there are; None for as many as needed.
    """
    draw = random.Random(f"{seed} {number}")
    sizes = group_sizes(len(players), size, tables)
    is_ranked = system == "swiss" and number > 1
    order = list(players) if is_ranked else draw.sample(sorted(players), len(players))
    # those who sat out least; of them the last in the standings, or by lot
    last_first = order[::-1]
    spare = sorted(last_first, key=past.sat_out.__getitem__)
    out = set(spare[: len(players) - sum(sizes)])
    seated = [name for name in order if name not in out]
    search = _Search(seated, sizes, past, is_ranked=is_ranked)
    starts = [seated]
    if set(sizes) == {2} and system == "round_robin":
        line = random.Random(seed).sample(sorted(seated), len(seated))
        starts = sorted(_circle(line), key=search.cost_of)  # a round that was not played costs 0
    while len(starts) < _STARTS:
        starts.append(draw.sample(seated, len(seated)))
    groups = search.best(starts)
    return Pairing(tuple(groups), tuple(name for name in players if name in out))


def _circle(players: list[str]) -> list[list[str]]:
    """Every round of the circle method for an even number of players."""
    fixed, others = players[0], players[1:]
    rounds = []
    for turn in range(len(others)):
        line = [fixed, *others[turn:], *others[:turn]]
        half = len(line) // 2
        rounds.append(
            [n for two in zip(line[:half], reversed(line[half:]), strict=True) for n in two]
        )
    return rounds


class _Search:
    """Descent by swaps over the groups of one round; players are numbers, by their places."""

    def __init__(
        self, order: Sequence[str], sizes: Sequence[int], past: Past, *, is_ranked: bool
    ) -> None:
        self._order, self._sizes, self._is_ranked = order, sizes, is_ranked
        self._number = {name: n for n, name in enumerate(order)}
        self._small = [SMALL_AGAIN * past.small[name] ** 2 for name in order]
        self._met: list[dict[int, int]] = [{} for _ in order]
        for two, count in past.met.items():
            a, b = (self._number.get(name) for name in two)
            if a is not None and b is not None:
                self._met[a][b] = self._met[b][a] = MET * count**2
        self._reach = _REACH * max(sizes, default=0) if is_ranked else len(order)
        self._trials = 0

    def best(self, starts: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
        """The cheapest groups reached from any start; players in the order of their places."""
        found: list[list[int]] = []
        cheapest: int | None = None
        for start in starts:
            groups = self._descend(self._cut(start))
            cost = sum(map(self._cost, groups))
            if cheapest is None or cost < cheapest:
                found, cheapest = groups, cost
            if cheapest == 0 or self._trials > _MOST_TRIALS:
                break
        found.sort(key=_mean)
        return [tuple(self._order[n] for n in sorted(group)) for group in found]

    def cost_of(self, line: Sequence[str]) -> int:
        """The cost of players cut into groups in their order."""
        return sum(map(self._cost, self._cut(line)))

    def _cut(self, line: Sequence[str]) -> list[list[int]]:
        numbers = iter([self._number[name] for name in line])
        return [[next(numbers) for _ in range(size)] for size in self._sizes]

    def _cost(self, group: Sequence[int]) -> int:
        cost = 0
        for a, b in combinations(group, 2):
            cost += self._met[a].get(b, 0)
            if self._is_ranked:
                cost += abs(a - b)
        if len(group) < self._sizes[0]:
            cost += sum(self._small[n] for n in group)
        return cost

    def _descend(self, groups: list[list[int]]) -> list[list[int]]:
        """Swap players while that lowers the cost."""
        costs = [self._cost(group) for group in groups]
        is_better = True
        while is_better and self._trials <= _MOST_TRIALS:
            is_better = False
            for a, b in combinations(range(len(groups)), 2):
                is_near = abs(_mean(groups[a]) - _mean(groups[b])) <= self._reach
                if is_near and costs[a] + costs[b] > 0:
                    is_better |= self._swap(groups, costs, a, b)
        return groups

    def _swap(self, groups: list[list[int]], costs: list[int], a: int, b: int) -> bool:
        """Make the best swap between two groups; return whether there is one that helps."""
        one, two = groups[a], groups[b]
        best = (costs[a] + costs[b], -1, -1, 0, 0)
        for i in range(len(one)):
            for j in range(len(two)):
                self._trials += 1
                one[i], two[j] = two[j], one[i]
                new_a, new_b = self._cost(one), self._cost(two)
                best = min(best, (new_a + new_b, i, j, new_a, new_b))
                one[i], two[j] = two[j], one[i]
        _, i, j, new_a, new_b = best
        if i < 0:
            return False
        one[i], two[j] = two[j], one[i]
        costs[a], costs[b] = new_a, new_b
        return True


def _mean(group: Sequence[int]) -> float:
    return sum(group) / len(group)
