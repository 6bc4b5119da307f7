"""A table without a camera that plays by itself and publishes like a real one.

The session, the publisher and the connection are the real ones; only the players are simulated.
`python -m companion.commands.simulated_table` runs many of them in a process of their own, for
`bench club`.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from companion.engine import Phase, Roll
from companion.engine.dice import COLOURED
from companion.eventlog.derived import Derived, Mark
from companion.eventlog.record import MOVES, Record
from companion.eventlog.state import Game
from companion.eventlog.store import SqliteStore
from companion.messages.catalogue import load_phrases
from companion.mqtt.broker import Broker, Message
from companion.mqtt.client import Link
from companion.mqtt.payloads import Diagnostics, game_id
from companion.mqtt.publisher import Identity, Publisher
from companion.mqtt.results import Ledger
from companion.mqtt.topics import Kind, TableTopics
from companion.session.ports import Store
from companion.session.session import Session

CROSSES = 0.5
"""Share of legal chances that a simulated player takes."""
STEPS = 6
"""Steps of a turn: the roll, four answers to the white sum and one to a coloured die."""
EARLIER_TURNS = 9
"""Turns that a table has played when it finds its broker, up to twice as many: a game has about 20,
so some end while it is measured."""


class MemoryStore:
    """An event log in memory, for tables of which nothing has to stay."""

    lost = 0
    has_copy = True

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._derived: dict[str, Derived] = {}

    def load(self, after: int = 0, *, moves: bool = True) -> Iterable[Record]:
        """Every record after a revision, with or without moves."""
        return [each for each in self._records[after:] if moves or each.kind not in MOVES]

    history = load

    def rewrite(self, change: Callable[[Record], Record], *, erase: bool = False) -> None:
        """Change names in the log."""
        self._records = [change(each) for each in self._records]

    @property
    def mark(self) -> Mark:
        """The end of the log."""
        return Mark(len(self._records), "")

    def derived(self, name: str) -> Derived | None:
        """A value kept beside the log, or None."""
        return self._derived.get(name)

    def keep(self, name: str, derived: Derived) -> None:
        """Keep a value made from the log."""
        self._derived[name] = derived

    def append(self, records: tuple[Record, ...]) -> None:
        """Add records."""
        self._records += records

    def close(self) -> None:
        """Nothing is open."""


class SimulatedTable:
    """A table whose players cross legal boxes by lot.

    Attributes:
        rolls: Rolls that were confirmed.
        published: When each state was handed to the connection, by its revision, in monotonic
            seconds.
    """

    def __init__(
        self,
        directory: Path,
        broker: Broker,
        club: str,
        name: str,
        *,
        seed: int,
        store: Store | None = None,
    ) -> None:
        """Continue from the directory; `start` connects.

        Args:
            store: Holds the log; by default a file in the directory.
        """
        self._draw = random.Random(seed)
        self._store = store or SqliteStore(directory)
        self.rolls = 0
        self.published: dict[int, float] = {}
        self.session = Session(
            self._store,
            load_phrases("en"),
            clock=time.monotonic,
            now_text=_now_text,
            call_later=lambda _, __: lambda: None,
            draw=self._draw.randrange,
        )
        self.session.change_settings({"share_names": True}, {})
        ledger = Ledger(directory)
        self.id = ledger.table
        self._publisher = Publisher(
            self.session,
            TableTopics(club, ledger.table),
            ledger,
            Identity(name, "simulated", str, is_found=False),
            link=partial(_Timed, self.published, broker, client_id=f"table-{ledger.table}"),
            now_text=_now_text,
            diagnostics=lambda: Diagnostics("simulated"),
            picture=lambda _: None,
        )

    def start(self) -> None:
        """Connect, and publish from now on."""
        self._publisher.start()

    def close(self) -> None:
        """End in order."""
        self._publisher.close()
        self._store.close()

    @property
    def link(self) -> Link:
        """The connection to the broker."""
        return self._publisher.link

    @property
    def game(self) -> Game | None:
        """The game on the table."""
        return self.session.view().table.game

    @property
    def is_over(self) -> bool:
        """Whether no game is being played."""
        return self.game is None or self.game.state.phase is Phase.OVER

    def begin(self, names: Sequence[str]) -> None:
        """Let people take the seats, in place of those who sat there, and start a game."""
        for seat in self.session.view().table.seats:
            if seat.name not in names:
                self.session.let_go(seat.number)
        known = [seat.name for seat in self.session.view().table.seats]
        for name in names:
            if name not in known:
                self.session.join(name)
        refused = self.session.start("base")
        assert refused is None, refused.code

    def step(self, crosses: float = CROSSES) -> None:
        """Roll if that is due, else let one player answer."""
        game = self._running()
        state = game.state
        if state.phase is Phase.ROLL:
            faces = [self._draw.randint(1, 6) for _ in range(2 + len(COLOURED))]
            dice = {c: v for c, v in zip(COLOURED, faces[2:], strict=True) if c in state.dice}
            self.session.typed_roll(Roll.of((faces[0], faces[1]), dice))
            self.rolls += 1
            return
        if not state.waiting_for:  # a row would close, and nobody changes an answer
            self.session.close_action()
            return
        player = state.waiting_for[0]
        boxes = state.plan.name_of(state.legal[player])
        box = self._draw.choice(boxes) if boxes and self._draw.random() < crosses else None
        self.session.answer(game.seats[player], state.turn, state.action, box, done=True)

    def play(self, crosses: float = CROSSES, turns: int = 1_000) -> None:
        """Play some turns, or to the end of the game."""
        last = self._running().state.turn + turns
        while not self.is_over and self._running().state.turn < last:
            self.step(crosses)

    def finished(self) -> list[tuple[str, str]]:
        """The table and the id of every game that ended."""
        games = [each for each in self.session.past.games() if each.is_over]
        return [(self.id, game_id(each.number, each.at)) for each in games]

    def _running(self) -> Game:
        game = self.game
        assert game is not None
        return game


class _Timed(Link):
    """The connection of a table, which notes when states were handed to it."""

    def __init__(self, published: dict[int, float], broker: Broker, **more: Any) -> None:
        super().__init__(broker, **more)
        self._published_at = published

    def publish(self, message: Message) -> None:
        """Send a message."""
        if message.topic.endswith(f"/{Kind.STATE}"):
            revision = json.loads(message.payload)["revision"]
            self._published_at.setdefault(revision, time.monotonic())
        super().publish(message)


def _now_text() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")


# -- many tables in one process ---------------------------------------------------------------


@dataclass(slots=True)
class Report:
    """Results of the simulated tables.

    Attributes:
        rolls: Rolls of all tables.
        finished: Table and id of every game that ended.
        published: By table, when each state was handed to the connection.
        last: By table, the revision of its last state.
        cpu_s: Processor time that all tables used while they played.
        seconds: How long they played.
    """

    rolls: int = 0
    finished: list[tuple[str, str]] = field(default_factory=list)
    published: dict[str, dict[int, float]] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)
    cpu_s: float = 0.0
    seconds: float = 0.0


def run_tables(
    broker: Broker, club: str, tables: int, *, rolls_per_s: float, seconds: float, ended: Any
) -> Report:
    """Let tables of four play at an even pace, and wait until `ended` has a line.

    Args:
        ended: A file; the tables stay connected until a line comes.
    """
    with tempfile.TemporaryDirectory(prefix="dice-companion-tables-") as name:
        made = []
        for n in range(tables):
            directory = Path(name) / str(n)
            directory.mkdir()
            table = SimulatedTable(
                directory, broker, club, f"Table {n + 1}", seed=n, store=MemoryStore()
            )
            table.begin(_names(n))
            table.play(turns=EARLIER_TURNS + n % EARLIER_TURNS)
            if table.is_over:  # a table publishes what ends after it joined its club
                table.begin(_names(n))
            table.start()
            made.append(table)
        for table in made:
            _until(lambda table=table: table.published and not table.link.waiting)  # type: ignore[misc]
            table.published.clear()  # the first state waited for the connection
        report = Report()
        _play(made, report, rolls_per_s, seconds)
        for table in made:
            report.last[table.id] = table.session.view().table.revision
            _until(lambda table=table: report.last[table.id] in table.published)  # type: ignore[misc]
            report.published[table.id] = table.published
        print(json.dumps(asdict(report)), flush=True)
        ended.readline()
        for table in made:
            table.close()
    return report


def _play(tables: list[SimulatedTable], report: Report, rolls_per_s: float, seconds: float) -> None:
    """Step the tables in turn; a roll and its answers are `STEPS` steps on average."""
    began_s, used_s = time.monotonic(), time.process_time()
    steps, earlier = 0, sum(table.rolls for table in tables)
    before = [table.finished() for table in tables]
    while (now_s := time.monotonic() - began_s) < seconds:
        wait_s = steps / (rolls_per_s * STEPS) - now_s
        if wait_s > 0:
            time.sleep(wait_s)
        n = steps % len(tables)
        table = tables[n]
        if table.is_over:
            table.begin(_names(n))
        table.step()
        steps += 1
    report.seconds = time.monotonic() - began_s
    report.cpu_s = time.process_time() - used_s
    report.rolls = sum(table.rolls for table in tables) - earlier
    for table, over in zip(tables, before, strict=True):
        report.finished += [each for each in table.finished() if each not in over]


def _names(table: int) -> list[str]:
    return [f"P{table}-{seat}" for seat in range(4)]


def _until(holds: Callable[[], object], within_s: float = 30.0) -> None:
    by_s = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > by_s:
            raise TimeoutError("a table does not reach the broker")
        time.sleep(0.01)


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    run_tables(
        Broker(asked["host"], asked["port"]),
        asked["club"],
        asked["tables"],
        rolls_per_s=asked["rolls_per_s"],
        seconds=asked["seconds"],
        ended=sys.stdin,
    )
