"""Messages about the tray and broken equipment, untranslated (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from companion.engine import (
    DieColour,
)
from companion.messages.announcements import Announcement, die_term, row_term
from companion.messages.catalogue import Line, line


@dataclass(frozen=True, slots=True)
class Doubt:
    """A problem of a tray reading: its code and the colour of the die, if it concerns one."""

    code: str
    colour: str | None = None


def tray_lines(status: str, doubts: Sequence[Doubt]) -> tuple[Line, ...]:
    """Explain a tray status, naming the die it concerns."""
    meant = [d.colour for d in doubts if d.code == status and d.colour is not None]
    lines = [_one_die_line(status, meant) if meant else line(f"tray.{status}")]
    if status == "missing" and any(d.code == "beside_tray" for d in doubts):
        lines.append(line("tray.beside"))
    removed = [d.colour for d in doubts if d.code == "removed_die_in_tray" and d.colour]
    lines += [line("tray.removed", row=row_term(c), die=die_term(c)) for c in removed]
    codes = [d.code for d in doubts]
    lines += [line(f"tray.{what}") for what in ("moved", "relit") if f"tray_{what}" in codes]
    return tuple(lines)


def fault_line(part: str, fault: str | None) -> Line:
    """Describe an equipment fault, or say that the part works again (None)."""
    return line(f"fault.{part}.{fault or 'mended'}")


def announce_fault(part: str, fault: str | None) -> Announcement:
    """Announce that a part of the equipment broke, or works again (None)."""
    said = fault_line(part, fault)
    return Announcement("fault" if fault else "mended", said, (said,), about=part)


_ONE_DIE = frozenset({"obstructed", "cocked", "missing", "extra", "uncertain"})
"""Statuses whose message names one die by its colour."""


def _one_die_line(status: str, meant: Sequence[str]) -> Line:
    if status not in _ONE_DIE:
        return line(f"tray.{status}")
    white = DieColour.WHITE.value
    if status == "missing" and meant[0] == white:
        return line("tray.missing.whites" if meant.count(white) > 1 else "tray.missing.white")
    return line(f"tray.{status}.one", die=die_term(meant[0]))
