"""How fast the batch engine is, whether it agrees with the judge, and how well the coach plays."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.coach.chances import Position, chances, position_of
from companion.coach.games import new_games
from companion.coach.play import Policy, play
from companion.coach.policies import GREEDY, SKIP_TWO
from companion.coach.proof import compare, recorded
from companion.coach.review import review
from companion.coach.solitaire import Optimum
from companion.coach.tempo import Tempo, tables_of
from companion.coach.worker import Worker
from companion.engine import PLANS, new_game
from vision.benchmark.frames import own_pictures
from vision.pipeline import DiceReader
from vision.reading import Frame

PLAYERS = 4
BATCH = 10_000
PACE_GAMES = 60_000
JUDGED_GAMES = 20_000
SOLO_GAMES = 100_000
TABLE_GAMES = 20_000
EVENING = 5
"""Games of an evening."""

TURN_S = 5.0
"""Seconds of a very fast turn, in which chances are computed twice."""

EYE_TURNS = 4


@dataclass(frozen=True, slots=True)
class TableResult:
    """The coach's player at one table with three others.

    Attributes:
        wins: Share of games won by each player, ties split.
        beats: By opponent, the share of games in which the coach's player ended ahead of it; equal
            totals count half.
    """

    wins: dict[str, float]
    beats: dict[str, float]


def pace(variant: str) -> float:
    """Whole four-player games in a second of processor time, all seats greedy."""
    rng = np.random.default_rng(1)
    play(new_games(variant, PLAYERS, BATCH), [GREEDY] * PLAYERS, rng)
    began = time.process_time()
    for _ in range(PACE_GAMES // BATCH):
        play(new_games(variant, PLAYERS, BATCH), [GREEDY] * PLAYERS, rng)
    return PACE_GAMES / (time.process_time() - began)


def judged() -> dict[str, int]:
    """Games of both sheets and two to five players, and how many the judge plays differently."""
    tables = [(variant, players) for variant in PLANS for players in range(2, 6)]
    each = JUDGED_GAMES // len(tables)
    found = [compare(variant, players, each, players) for variant, players in tables]
    return {"games": each * len(tables), "differences": sum(map(len, found))}


def solo() -> tuple[float, float]:
    """Mean total of the optimal player alone, and its standard error."""
    rng, player = np.random.default_rng(3), Optimum()
    batches = range(SOLO_GAMES // BATCH)
    totals = [play(new_games("base", 1, BATCH), [player], rng).totals()[0] for _ in batches]
    every = np.concatenate(totals)
    return float(every.mean()), float(every.std() / np.sqrt(every.size))


def at_one_table(games: int = TABLE_GAMES) -> TableResult:
    """Play the coach's player against the optimum for one, "skip at most two" and greedy.

    Everybody sits in each seat equally often.
    """
    rng = np.random.default_rng(5)
    players: dict[str, Policy] = {
        "coach": Tempo(tables_of("base", PLAYERS)),
        "optimum": Optimum(),
        "skip_two": SKIP_TWO,
        "greedy": GREEDY,
    }
    names = list(players)
    wins, ahead = dict.fromkeys(names, 0.0), dict.fromkeys(names[1:], 0.0)
    size = max(1, games // PLAYERS)
    for first in range(PLAYERS):
        seated = names[first:] + names[:first]
        seats: Sequence[Policy] = [players[name] for name in seated]
        results = play(new_games("base", PLAYERS, size), seats, rng)
        shares, totals = results.winners(), results.totals()
        own = totals[seated.index("coach")]
        for seat, name in enumerate(seated):
            wins[name] += float(shares[seat].mean()) / PLAYERS
            if name in ahead:
                better = (own > totals[seat]) + (own == totals[seat]) / 2
                ahead[name] += float(better.mean()) / PLAYERS
    return TableResult(wins, ahead)


def coach_seconds() -> tuple[float, float]:
    """Time to review an evening of four-player games by people who skip at most two.

    Returns:
        Seconds of processor time on one core, which is what it takes on an idle machine, and
        seconds that went by.
    """
    evening = recorded("base", [SKIP_TWO] * PLAYERS, EVENING, 7)
    tables_of("base", PLAYERS)
    began, began_working = time.perf_counter(), time.process_time()
    for start, events in evening:
        review(start, events)
    return time.process_time() - began_working, time.perf_counter() - began


def timed_chances(position: Position) -> float:
    """Compute chances; return the processor time that took, in seconds."""
    began = time.process_time()
    chances(position)
    return time.process_time() - began


def beside_the_reader() -> dict[str, float]:
    """Cost of the chances of a game of four in pictures of the reader, and their time beside it.

    The reader reads one picture again and again, in turn alone and with chances, which are computed
    at the beginning and in the middle of each turn.

    Returns:
        Median seconds from the roll to the chances (`chances_s`), and the reader's rate with
        chances as a share of its rate without (`eye_rate`). Both again by processor time
        (`chances_cpu_s`, `eye_cpu_rate`), which other work on the machine changes little.
    """
    picture = Frame(next(iter(own_pictures(1, (1280, 720))))[1])
    position = position_of(new_game(PLANS["base"], PLAYERS))
    reader, worker = DiceReader(), Worker()
    took: list[float] = []
    used: list[float] = []

    def compute() -> None:
        began = time.perf_counter()
        used.append(worker.call(timed_chances, position))
        took.append(time.perf_counter() - began)

    def rates(*, is_beside: bool) -> NDArray[np.float64]:
        """Pictures read in a second, and in a second of processor time."""
        timers = [threading.Timer(at, compute) for at in (0.0, TURN_S / 2)] if is_beside else []
        for timer in timers:
            timer.start()
        began, began_working, read = time.perf_counter(), time.process_time(), 0
        while time.perf_counter() < began + TURN_S:
            reader.read(picture)
            read += 1
        passed = time.perf_counter() - began, time.process_time() - began_working
        for timer in timers:
            timer.join()
        return read / np.array(passed)

    try:
        compute()
        rates(is_beside=True)
        took.clear()
        used.clear()
        alone, beside = np.zeros((2, 2))
        for _ in range(EYE_TURNS):
            alone += rates(is_beside=False)
            beside += rates(is_beside=True)
    finally:
        worker.close()
    eye_rate, eye_cpu_rate = (float(share) for share in beside / alone)
    return {
        "chances_s": statistics.median(took),
        "chances_cpu_s": statistics.median(used),
        "eye_rate": eye_rate,
        "eye_cpu_rate": eye_cpu_rate,
    }


def measure() -> dict[str, Any]:
    """Everything `bench coach` reports."""
    speeds = {name: round(pace(name)) for name in PLANS}
    agreement = judged()
    mean, error = solo()
    table = at_one_table()
    working, elapsed = coach_seconds()
    beside = beside_the_reader()
    return {
        "games_per_second": speeds,
        "judge": agreement,
        "solo_mean": round(mean, 2),
        "solo_standard_error": round(error, 3),
        "beats": {name: round(share, 3) for name, share in table.beats.items()},
        "coach_s": round(working, 1),
        "coach_elapsed_s": round(elapsed, 1),
        "coach_games": EVENING,
        "chances_s": round(beside["chances_s"], 2),
        "chances_cpu_s": round(beside["chances_cpu_s"], 2),
        "eye_rate_with_chances": round(beside["eye_rate"], 3),
        "eye_cpu_rate_with_chances": round(beside["eye_cpu_rate"], 3),
        "wins": {name: round(share, 3) for name, share in table.wins.items()},
    }
