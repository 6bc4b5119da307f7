"""The session's state from the log, read again from a snapshot and the records after it.

The snapshot holds the table as it was before the newest game began or was resumed. No undo reaches
further back, so a start reads on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from companion.engine import PLANS, GameState, Roll
from companion.eventlog.derived import SNAPSHOT, Derived, Mark
from companion.eventlog.projection import last_rolls, project
from companion.eventlog.record import BEGINNINGS, Record, kept_by
from companion.eventlog.repair import load_valid
from companion.eventlog.state import Game, Table
from companion.eventlog.trail import Trail
from companion.history.notices import Notice, notices_of, with_step
from companion.session.play import keys_after
from companion.session.ports import Store
from companion.wire.structs import WireError, convert, plain


@dataclass(frozen=True, slots=True)
class Memory:
    """The session's state from the log.

    Attributes:
        keys: Idempotency keys of the newest steps.
        notices: Changes of sheets in the running game by others than their players.
        earlier_rolls: The roll that was confirmed last before the trail, corrections first.
        is_repaired: Records that did not fit were voided once.
    """

    trail: Trail
    keys: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    earlier_rolls: tuple[Roll, ...] = ()
    is_repaired: bool = False

    @property
    def last_rolls(self) -> tuple[Roll, ...]:
        """The roll that was confirmed last, corrections first."""
        return last_rolls((record for record, _ in self.trail.steps), self.earlier_rolls)

    def after(self, records: Iterable[Record]) -> Memory:
        """The memory after steps that were taken now."""
        memory = self
        for record in records:
            rolls = memory.last_rolls if record.kind in BEGINNINGS else memory.earlier_rolls
            before, trail = memory.trail.table.game, memory.trail.after((record,))
            notices = with_step(memory.notices, before, trail.table.game, record)
            keys = keys_after(memory.keys, (record,))
            memory = Memory(trail, keys, notices, rolls, self.is_repaired)
        return memory


def recall(store: Store, now_text: Callable[[], str]) -> Memory:
    """The memory of a log; records that do not fit are voided for good.

    Args:
        now_text: The time of day for new records, ISO 8601.

    Raises:
        StoreError: The log cannot be read or written.
    """
    kept = store.derived(SNAPSHOT)
    base = None if kept is None else _from_json(kept.value)
    if base is not None:
        found = _read_on(base, list(store.load(base.trail.table.revision)))
        if found is not None:
            return found
    records, is_repaired = load_valid(store.load, store.append, now_text)
    whole = _read_on(Memory(Trail(), is_repaired=is_repaired), records)
    assert whole is not None, "every record that does not fit was voided"
    return whole


def _read_on(base: Memory, records: list[Record]) -> Memory | None:
    """The memory after the records that follow; None if they void or contradict what is before."""
    table = base.trail.table
    for record in records if table.revision else ():
        if record.kind in ("kept", "struck"):
            return None
        if record.kind == "undone" and kept_by(record) <= table.revision:
            return None
    projection = project(records, table)
    if projection.skipped:
        return None
    steps = projection.trail.steps
    begun = steps[0][0].revision if steps else table.revision
    earlier = (record for record in records if record.revision < begun)
    return Memory(
        projection.trail,
        keys_after(base.keys, records),
        notices_of(records, table),
        last_rolls(earlier, base.earlier_rolls),
        base.is_repaired,
    )


@dataclass(frozen=True, slots=True)
class _Kept:
    """What a snapshot holds of a memory."""

    table: Table
    keys: tuple[str, ...]
    rolls: tuple[Roll, ...]
    repaired: bool


def keep_before(store: Store, mark: Mark, memory: Memory) -> None:
    """Keep a snapshot of the memory before a game begins or is resumed.

    Args:
        mark: The end of the log at that moment.
    """
    table, rolls = memory.trail.table, memory.last_rolls
    kept = _Kept(table, memory.keys, rolls, memory.is_repaired)
    store.keep(SNAPSHOT, Derived(mark, plain(kept)))


def _from_json(data: object) -> Memory | None:
    try:
        kept: _Kept = convert(data, _Kept)
        table = kept.table
        game = None if table.game is None else _with_own_plan(table.game)
        table = replace(table, game=game, paused=tuple(map(_with_own_plan, table.paused)))
    except (WireError, KeyError):
        return None
    return Memory(Trail(table), kept.keys, (), kept.rolls, kept.repaired)


def _with_own_plan(game: Game) -> Game:
    """The game on the plan of this process, whose lookups are made only once."""
    return replace(game, state=_on_own_plan(game.state))


def _on_own_plan(state: GameState) -> GameState:
    setup = replace(state.setup, plan=PLANS[state.setup.plan.name])
    action1 = None if state.action1 is None else _on_own_plan(state.action1)
    return state._replace(setup=setup, action1=action1)
