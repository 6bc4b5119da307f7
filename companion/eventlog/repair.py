"""Load a whole event log and permanently void the records that do not fit."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from companion.eventlog.projection import Projection, project, struck_by
from companion.eventlog.record import Change, Record, to_record

LOGGER = logging.getLogger(__name__)


def load_valid(
    load: Callable[[], Iterable[Record]],
    append: Callable[[tuple[Record, ...]], None],
    now_text: Callable[[], str],
) -> tuple[list[Record], bool]:
    """The valid records of a log, and whether any record was ever voided.

    Args:
        load: Loads every record, oldest first.
        append: Writes new records, all or none.
        now_text: The time of day for new records, ISO 8601.

    Raises:
        StoreError: The log cannot be read or written.
    """
    while True:
        records = list(load())
        projection = project(records)
        if not projection.skipped:
            voided = {n for each in records if each.kind == "struck" for n in struck_by(each)}
            valid = [record for record in records if record.revision not in voided]
            return valid, any(each.kind == "struck" for each in valid)
        append((_struck(projection, now_text()),))


def _struck(projection: Projection, at: str) -> Record:
    voided = list(projection.skipped)
    LOGGER.warning("event log: %d invalid records voided: %s", len(voided), projection.fault)
    return to_record(Change("struck", {"revisions": voided}), projection.table.revision + 1, at)
