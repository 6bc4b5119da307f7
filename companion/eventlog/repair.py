"""Load a whole event log and permanently void the records that do not fit."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Protocol

from companion.eventlog.projection import (
    Projection,
    project,
    spans_of,
    struck_by,
    visible_records,
)
from companion.eventlog.record import BEGINNINGS, MOVES, Change, Record, to_record

LOGGER = logging.getLogger(__name__)

KEPT_GAMES = 20
"""Games whose moves are read although they are over: their last roll and keys are still known."""


class Load(Protocol):
    """Loads records, oldest first."""

    def __call__(self, after: int = 0, *, moves: bool = True) -> Iterable[Record]:
        """Every record after a revision, with or without moves."""


def without_old_moves(load: Load) -> list[Record]:
    """The records of a log without the moves of old games that are over: they change nothing.

    Moves that belong to no game are among them, since a full reading voids those.
    """
    others = list(load(moves=False))
    rows = visible_records(others)
    begun = [
        (row.revision, row.kind == "paused" or (owner is not None and owner.is_alive))
        for row, owner in zip(rows, spans_of(rows), strict=True)
        if row.kind in (*BEGINNINGS, "paused")
    ]
    newest = [(start, True) for start, _ in begun[-KEPT_GAMES:]]
    parts = [(1, True), *begun[:-KEPT_GAMES], *newest, (sys.maxsize, True)]
    found = [
        each
        for (start, counts), (end, _) in pairwise(parts)
        if counts
        for each in _moves(load, start, end)
    ]
    return sorted([*others, *found], key=lambda each: each.revision)


def _moves(load: Load, start: int, end: int) -> Iterator[Record]:
    for record in load(start - 1):
        if record.revision >= end:
            return
        if record.kind in MOVES:
            yield record


def load_valid(
    load: Load,
    append: Callable[[tuple[Record, ...]], None],
    now_text: Callable[[], str],
) -> tuple[list[Record], bool]:
    """The valid records of a log, without old moves, and whether any record was ever voided.

    Args:
        append: Writes new records, all or none.
        now_text: The time of day for new records, ISO 8601.

    Raises:
        StoreError: The log cannot be read or written.
    """
    while True:
        projection = project(records := without_old_moves(load))
        if projection.skipped:  # old moves may be among what does not fit
            projection = project(records := list(load()))
        if not projection.skipped:
            voided = {n for each in records if each.kind == "struck" for n in struck_by(each)}
            valid = [record for record in records if record.revision not in voided]
            return valid, any(each.kind == "struck" for each in valid)
        append((_struck(projection, now_text()),))


def _struck(projection: Projection, at: str) -> Record:
    voided = list(projection.skipped)
    LOGGER.warning("event log: %d invalid records voided: %s", len(voided), projection.fault)
    return to_record(Change("struck", {"revisions": voided}), projection.table.revision + 1, at)
