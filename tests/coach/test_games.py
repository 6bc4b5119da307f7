"""The batch engine plays the judge's games."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from companion.coach.games import BY_LOCKS, Games, Throw, new_games
from companion.coach.layout import LOCK, Flags
from companion.coach.play import play, play_turn
from companion.coach.policies import GREEDY, SKIP_TWO
from companion.coach.proof import compare
from companion.engine import COLOURED, HouseRule
from companion.engine.notation import games_in

SHEETS = ("base", "big_points")


@pytest.mark.parametrize("variant", SHEETS)
@pytest.mark.parametrize("players", [1, 2, 3, 4, 5])
def test_batch_games_are_the_judges(variant: str, players: int) -> None:
    assert compare(variant, players, 80, seed=players) == []


@pytest.mark.parametrize("variant", SHEETS)
@pytest.mark.parametrize("rule", HouseRule)
def test_house_rules_are_the_judges(variant: str, rule: HouseRule) -> None:
    assert compare(variant, 4, 100, seed=11, house=frozenset({rule})) == []


@pytest.mark.slow
@pytest.mark.parametrize("variant", SHEETS)
def test_twenty_thousand_batch_games_are_the_judges(variant: str) -> None:
    for players in (2, 3, 4, 5):
        assert compare(variant, players, 5000, seed=100 + players) == []


class Script:
    """Plays recorded answers in a batch of one game."""

    def __init__(self) -> None:
        self.choices: list[str | None] = []
        self.choice: str | None = None

    def white(self, games: Games, throw: Throw, legal: Flags, seats: slice) -> Flags:
        chosen = np.zeros_like(legal)
        for seat, token in enumerate(self.choices[seats]):
            if token is not None:
                chosen[row_of(games, token), seat, 0] = True
        assert not (chosen & ~legal).any()
        return chosen

    def coloured(self, games: Games, throw: Throw, legal: Flags, crossed: Flags) -> Flags:
        chosen = np.zeros_like(legal)
        if self.choice is not None:
            row = row_of(games, self.choice)
            bit = games.layout.plan.bits[self.choice] >> (row * games.layout.plan.width)
            own = [
                o
                for o in games.layout.options_of[row]
                if legal[o, 0] and throw.coloured_bits[o, 0] == bit
            ]
            chosen[own[0], 0] = True
        return chosen


def row_of(games: Games, token: str) -> int:
    return games.layout.plan.row_of(games.layout.plan.bits[token])


def recorded_games(path: Path) -> list[list[dict[str, Any]]]:
    with gzip.open(path, "rt") as lines:
        return [[json.loads(line) for line in game] for game in games_in(lines)]


@pytest.mark.parametrize("variant", SHEETS)
def test_recorded_games_end_alike_in_a_batch(variant: str, shared: Path) -> None:
    compared = 0
    for lines in recorded_games(shared / "games" / f"{variant}.jsonl.gz"):
        config, players, first = lines[0], lines[0]["players"], lines[0]["first"]
        games, script = new_games(variant, players, 1), Script()

        def seated(values: list[Any], first: int = first) -> list[Any]:
            return values[first:] + values[:first]

        rolls = [i for i, line in enumerate(lines) if line["t"] == "roll"]
        for i in rolls:
            roll, white, coloured = lines[i], lines[i + 1], lines[i + 2]
            values = [*roll["white"], *(roll["colour"].get(c.value, 1) for c in COLOURED)]
            script.choices = seated(white["choices"])
            script.choice = coloured["choice"] if coloured["t"] == "action2" else None
            play_turn(games, np.array([values], np.int8).T, [script] * players)
            after = coloured if coloured["t"] == "action2" else white
            assert games.misses[:, 0].tolist() == seated(after["misses"]), config
            assert games.totals()[:, 0].tolist() == seated(after["scores"]), config
            assert sheets_of(games) == seated(after["sheets"]), config
            compared += 1
        end = lines[-1]
        assert (games.end[0] == BY_LOCKS) == (end["end"] == "locks")
        closed = [row.name for r, row in enumerate(games.layout.plan.rows) if games.closed_at[r, 0]]
        assert sorted(closed) == sorted(end["closed"])
        assert games.turns[0] == len(rolls)
    assert compared > 2000


def sheets_of(games: Games) -> list[dict[str, list[int]]]:
    plan = games.layout.plan
    found = []
    for seat in range(games.players):
        bits = sum(
            (int(games.sheet[r, seat, 0]) & ~(1 << LOCK)) << (r * plan.width)
            for r in range(games.layout.rows)
        )
        found.append(plan.marks_of(bits))
    return found


def test_the_same_seed_plays_the_same_games() -> None:
    first, second = (
        play(new_games("base", 3, 50), [GREEDY, SKIP_TWO, GREEDY], np.random.default_rng(5))
        for _ in range(2)
    )
    assert (first.sheet == second.sheet).all()
    assert (first.totals() == second.totals()).all()
