"""Messages that explain why a step breaks a rule, untranslated (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from companion.engine import (
    Phase,
    Reason,
    Refusal,
)
from companion.messages.announcements import die_term, row_term
from companion.messages.catalogue import Line, Word, all_of, line, one_of


def refusal_line(refusal: Refusal, names: Sequence[str]) -> Line:
    """Explain a refusal in one helpful sentence."""
    reason, data = refusal.reason, dict(refusal.data)
    if reason is Reason.WRONG_PHASE:
        return _phase_line(refusal, names)
    words: dict[str, Word] = {
        name: value for name, value in data.items() if isinstance(value, (str, int))
    }
    key = f"refused.{reason.value}"
    if "row" in data:
        words["row"] = row_term(str(data["row"]))
    if "die" in data:
        words["die"] = die_term(str(data["die"]))
    if "made_by" in data:
        words["made_by"] = one_of([die_term(str(c)) for c in _listed(data["made_by"])])
    if "active" in data:
        words["active"] = _name(data["active"], names)
    if "sums" in data:
        words["sums"] = one_of([str(s) for s in _listed(data["sums"])])
    match reason:
        case Reason.BAD_DICE:
            dice = [die_term(str(c)) for c in _listed(data["expected"])]
            words["dice"] = all_of(dice)
            key += "" if dice else ".none"
        case Reason.WRONG_SUM:
            key += (
                ".bonus" if data.get("action") == 2 and "die" not in data else f".{data['action']}"
            )
        case Reason.BONUS_WRONG_DIE if data.get("late"):
            key += ".late"
        case Reason.NOT_TO_THE_RIGHT if refusal.ruling == "E6":
            key += ".E6"
    return line(key, **words)


def _phase_line(refusal: Refusal, names: Sequence[str]) -> Line:
    data = refusal.data
    if refusal.ruling == "E9" and data.get("phase") != Phase.ROLL.value:
        return line("refused.WRONG_PHASE.late")
    phase = str(data.get("phase"))
    if phase == Phase.ROLL.value:
        return line("refused.WRONG_PHASE.roll")
    waiting = [_name(player, names) for player in _listed(data.get("waiting_for"))]
    if not waiting:
        return line("refused.WRONG_PHASE.settling")
    return line(f"refused.WRONG_PHASE.{phase}", names=all_of(waiting), count=len(waiting))


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _name(player: object, names: Sequence[str]) -> str:
    known = isinstance(player, int) and 0 <= player < len(names)
    return names[player] if known else str(player)  # type: ignore[call-overload]
