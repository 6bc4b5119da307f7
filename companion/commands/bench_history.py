"""How a start and the steps of a table depend on the games that were played before."""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from companion.commands.bench_play import quantiles
from companion.engine import (
    PLANS,
    ActionClosed,
    Answered,
    Event,
    GameState,
    Phase,
    Refusal,
    Roll,
    Rolled,
    apply,
    new_game,
)
from companion.errors import CompanionError
from companion.eventlog.record import Change, Entry, Move, Record, to_record
from companion.eventlog.store import SqliteStore
from companion.messages.catalogue import load_phrases
from companion.service.trial import trial_table
from companion.session.session import HostStep, Session

NAMES = ("Ada", "Ben", "Cleo")
HISTORY = (10, 100, 1000, 2000)
"""Games before the measurement."""

STEPS = 100
"""Steps of each kind that are timed: the slowest lies above the 99th percentile."""

_AT = datetime(2026, 1, 1, tzinfo=UTC).isoformat()
_KINDS = ("roll", "answer", "close", "preview", "undo")


def measure(games: int, steps: int = STEPS) -> dict[str, Any]:
    """Time starts and steps of a table with a history of random games.

    Returns:
        games, records, megabytes of all files; start_s: seconds from the start of the process until
        it answers requests, in the middle of a game, and start_cpu_s of them on the processor;
        games_page_ms: milliseconds of the games page's first answer after a start; for every kind
        of step the median and 99th percentile in milliseconds, `any` for all of them.
    """
    with tempfile.TemporaryDirectory(prefix="dice-companion-bench-") as name:
        directory = Path(name)
        records = _history(directory, games)
        session, store = _open(directory)
        session.rematch()  # a snapshot is kept when a game begins
        took = _steps(session, steps)
        session.past.results()  # they are kept as a table does at its start
        store.close()
        size = sum(path.stat().st_size for path in directory.glob("games.*"))
        start_s, start_cpu_s = min(_start(directory) for _ in range(3))
        page_ms = min(_games_page_ms(directory) for _ in range(3))
    every = [each for times in took.values() for each in times]
    return {
        "games": games,
        "records": records,
        "megabytes": round(size / 1e6, 1),
        "start_s": round(start_s, 2),
        "start_cpu_s": round(start_cpu_s, 2),
        "games_page_ms": round(page_ms, 1),
        **{kind: quantiles(times) for kind, times in took.items()},
        "any": quantiles(every),
    }


def _open(directory: Path) -> tuple[Session, SqliteStore]:
    store = SqliteStore(directory)
    session = Session(
        store,
        load_phrases("en"),
        clock=time.monotonic,
        now_text=lambda: _AT,
        call_later=lambda _, __: lambda: None,
        draw=lambda n: 0,
    )
    return session, store


def _history(directory: Path, games: int) -> int:
    """Write whole random games of three players; the number of records."""
    source, store = random.Random(1), SqliteStore(directory)
    revision = 0

    def write(entries: list[Entry]) -> None:
        nonlocal revision
        made: list[Record] = []
        for entry in entries:
            revision += 1
            made.append(to_record(entry, revision, _AT))
        store.append(tuple(made))

    write([Change("seated", {"seat": seat, "name": name}) for seat, name in enumerate(NAMES)])
    for number in range(1, games + 1):
        write(_game(number, source))
    store.close()
    return revision


def _game(number: int, source: random.Random) -> list[Entry]:
    first, variant = number % len(NAMES), "base"
    seats = list(range(len(NAMES)))
    data = {"number": number, "variant": variant, "seats": seats, "names": list(NAMES)}
    entries: list[Entry] = [Change("started", {**data, "first": first, "house": []})]
    state = new_game(PLANS[variant], len(NAMES), first)
    while state.phase is not Phase.OVER:
        move = _move(state, source)
        entries.append(move)
        step = apply(state, move.event)
        assert not isinstance(step, Refusal), step
        state = step.state
    return entries


def _move(state: GameState, source: random.Random) -> Move:
    event: Event
    if state.phase is Phase.ROLL:
        roll = _roll(state, source)
        dice = [["white", value, 0.999] for value in roll.white]
        dice += [[colour.value, value, 0.999] for colour, value in roll.coloured]
        return Move(Rolled(roll), {"eye": {"status": "ok", "dice": dice}})
    if not state.waiting_for:
        return Move(ActionClosed(state.action))
    player = state.waiting_for[0]
    boxes = state.plan.name_of(state.legal[player])
    choice = source.choice(boxes) if boxes and source.random() < 0.6 else None
    event = Answered(player, state.action, choice)
    return Move(event, {"done": True, "key": f"{source.getrandbits(128):032x}"})


def _roll(state: GameState, source: random.Random) -> Roll:
    white = (source.randint(1, 6), source.randint(1, 6))
    return Roll.of(white, {colour: source.randint(1, 6) for colour in state.dice})


def _steps(session: Session, count: int) -> dict[str, list[float]]:
    """Play on and time each step; one in five is followed by an undo."""
    took: dict[str, list[float]] = {kind: [] for kind in _KINDS}
    source = random.Random(2)

    def timed(kind: str, call: Callable[[], object]) -> None:
        began = time.perf_counter()
        call()
        took[kind].append((time.perf_counter() - began) * 1000)

    while min(map(len, took.values())) < count:
        game = session.view().table.game
        if game is None or game.state.phase is Phase.OVER:
            session.rematch()
            continue
        state = game.state
        if state.phase is Phase.ROLL:
            roll = _roll(state, source)
            timed("roll", lambda roll=roll: session.typed_roll(roll))  # type: ignore[misc]
        elif waiting := state.waiting_for:
            seat, turn, action = game.seats[waiting[0]], state.turn, state.action
            boxes = state.plan.name_of(state.legal[waiting[0]])
            box = source.choice(boxes) if boxes and source.random() < 0.3 else None
            timed(
                "answer",
                lambda s=seat, t=turn, a=action, b=box: session.answer(s, t, a, b, done=False),  # type: ignore[misc]
            )
        else:
            timed("close", session.close_action)
        if source.random() < 0.3:
            timed("preview", lambda: session.preview(HostStep.UNDO))
        if source.random() < 0.2:
            timed("undo", session.undo)
    return took


def _start(directory: Path) -> tuple[float, float]:
    """Seconds until a new process answers requests, and those on the processor until it ended."""
    settings = directory / "config.toml"
    settings.touch()
    began = time.perf_counter()
    used = _used_s()
    with trial_table((sys.executable, "-m", "companion"), directory, settings) as (table, _):
        took = time.perf_counter() - began
        table.terminate()
        table.wait()
    return took, _used_s() - used


def _games_page_ms(directory: Path) -> float:
    """Milliseconds until a table that has just been started answers with all its games."""
    from web import create_app

    session, store = _open(directory)
    client = create_app(session).test_client()
    began = time.perf_counter()
    answer = client.get("/api/games")
    took_ms = 1000 * (time.perf_counter() - began)
    store.close()
    if answer.status_code != 200:
        raise CompanionError("bench history: the games page did not answer")
    return took_ms


def _used_s() -> float:
    """Processor time of the child processes so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
