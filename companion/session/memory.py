"""The session's state from the log, read again from a snapshot and the records after it.

The snapshot holds the table as it was before the newest game began or was resumed. No undo reaches
further back, so a start reads on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from companion.engine import Roll
from companion.engine.notation import parse_roll, roll_to_json
from companion.eventlog.derived import SNAPSHOT, Derived, Mark
from companion.eventlog.projection import last_rolls, project
from companion.eventlog.record import BEGINNINGS, Record, kept_by
from companion.eventlog.repair import load_valid
from companion.eventlog.table_json import table_from_json, table_to_json
from companion.eventlog.trail import Trail
from companion.history.notices import Notice, notices_of, with_step
from companion.session.play import keys_after
from companion.session.ports import Store


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


def keep_before(store: Store, mark: Mark, memory: Memory) -> None:
    """Keep a snapshot of the memory before a game begins or is resumed.

    Args:
        mark: The end of the log at that moment.
    """
    store.keep(SNAPSHOT, Derived(mark, _to_json(memory)))


def _to_json(memory: Memory) -> dict[str, Any]:
    return {
        "table": table_to_json(memory.trail.table),
        "keys": list(memory.keys),
        "rolls": [roll_to_json(roll) for roll in memory.last_rolls],
        "repaired": memory.is_repaired,
    }


def _from_json(data: Any) -> Memory | None:
    try:
        table = table_from_json(data["table"])
        rolls = [parse_roll(roll["white"], roll["colour"]) for roll in data["rolls"]]
        return Memory(
            Trail(table),
            tuple(data["keys"]),
            (),
            tuple(roll for roll in rolls if roll is not None),
            data["repaired"],
        )
    except (LookupError, TypeError, ValueError):
        return None
