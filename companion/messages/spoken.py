"""Selects the lines of an announcement that are spoken (pure)."""

from __future__ import annotations

from companion.messages.announcements import Announcement
from companion.messages.catalogue import Line

AMOUNTS = ("sum", "sums", "all")
"""How much is spoken: only the number; also the active player's boxes, why a press did nothing and
faults of the equipment; or everything."""

_OF_A_ROLL = ("roll.white", "roll.extra", "roll.no_extra", "fact.corrected")
_WITH_ALL = (
    *_OF_A_ROLL,
    "fact.row_open_again",
    "preview.closes",
    "fact.take_out",
    "fact.would_close",
    "fact.would_close.many",
    "fact.may_change",
)
_KINDS_FOR_SUMS = frozenset({"refused", "fault", "mended"})


def spoken_lines(said: Announcement, amount: str) -> tuple[Line, ...]:
    """The lines of an announcement that are spoken; may be empty.

    Args:
        amount: One of AMOUNTS.
    """
    if said.kind not in ("roll", "corrected"):
        if amount == "all" or (amount == "sums" and said.kind in _KINDS_FOR_SUMS):
            return said.lines
        return ()
    # after a correction only the present state is spoken: no returned answers
    keys = _WITH_ALL if amount == "all" else _OF_A_ROLL
    lines = tuple(each for each in said.lines if each.key in keys)
    if amount == "sum":
        return (said.headline,) if any(each.key == "roll.white" for each in lines) else ()
    return lines
