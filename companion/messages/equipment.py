"""Lines about the tray, the camera and other equipment (pure, untranslated)."""

from __future__ import annotations

from collections.abc import Sequence

from companion.engine import DieColour
from companion.messages.announcements import Announcement, die_term, row_term
from companion.messages.catalogue import Line, Term, all_of, line
from companion.tray import Note, Problem, ProblemCode, TrayStatus

WHITES = Term("whites")
"""Both white dice."""

CAUSES = {
    ProblemCode.TRAY_MOVED: "tray.moved",
    ProblemCode.TRAY_RELIT: "tray.relit",
    ProblemCode.PICTURE_DARK: "tray.picture_dark",
    ProblemCode.PICTURE_OVEREXPOSED: "tray.picture_overexposed",
    ProblemCode.PICTURE_BLURRED: "tray.picture_blurred",
}
"""Why dice may be hard to read here."""


def tray_lines(status: TrayStatus, problems: Sequence[Problem]) -> tuple[Line, ...]:
    """Describe the tray's status, naming the dice that are meant."""
    meant = [p.colour for p in problems if p.code.value == status.value and p.colour is not None]
    lines = [_status_line(status, meant)]
    codes = {problem.code for problem in problems}
    if status is TrayStatus.MISSING and ProblemCode.BESIDE_TRAY in codes:
        lines.append(line("tray.beside"))
    for problem in problems:
        if problem.code is ProblemCode.REMOVED_DIE_IN_TRAY and problem.colour is not None:
            colour = problem.colour.value
            lines.append(line("tray.removed", row=row_term(colour), die=die_term(colour)))
    lines += [line(key) for code, key in CAUSES.items() if code in codes]
    return tuple(lines)


def _status_line(status: TrayStatus, meant: Sequence[DieColour]) -> Line:
    if not meant or not status.names_a_die:
        return line(f"tray.{status.value}")
    if status is TrayStatus.EXTRA:
        return line("tray.extra.one", die=die_term(meant[0].value))
    dice = [
        WHITES if colour is DieColour.WHITE and meant.count(colour) > 1 else die_term(colour.value)
        for colour in dict.fromkeys(meant)
    ]
    if len(dice) == 1 and dice[0] is not WHITES:
        return line(f"tray.{status.value}.one", die=dice[0])
    return line(f"tray.{status.value}.many", dice=all_of(dice))


def note_line(note: Note) -> Line:
    """Describe a note of the camera."""
    if not note.names:
        return line(f"tray.note.{note.code.value}")
    if note.more == 0:
        return line(f"tray.note.{note.code.value}", names=all_of(note.names))
    return line(f"tray.note.{note.code.value}.more", names=", ".join(note.names), count=note.more)


def fault_line(part: str, fault: str | None) -> Line:
    """Describe the fault of a part of the table, or that it works again."""
    return line(f"fault.{part}.{fault or 'mended'}")


def loss_line(count: int) -> Line:
    """Describe saved steps that could not be read at the start."""
    return line("fault.games.lost", count=count)


def announce_fault(part: str, fault: str | None) -> Announcement:
    """Return the announcement that a part broke, or works again."""
    text = fault_line(part, fault)
    return Announcement("fault" if fault else "mended", text, (text,), about=part)
