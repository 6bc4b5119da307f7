"""Messages that explain why a step breaks a rule, untranslated (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from companion.engine import Phase, Reason, Refusal
from companion.messages.announcements import die_term, row_term
from companion.messages.catalogue import Line, Word, all_of, line, one_of


def refusal_line(refusal: Refusal, names: Sequence[str]) -> Line:
    """Explain a refusal in one helpful sentence."""
    reason = refusal.reason
    data: Mapping[str, Any] = refusal.data
    if reason is Reason.WRONG_PHASE:
        return _phase_line(refusal, names)
    words: dict[str, Word] = {
        name: value for name, value in data.items() if isinstance(value, (str, int))
    }
    key = f"refused.{reason.value}"
    if "row" in data:
        words["row"] = row_term(data["row"])
    if "die" in data:
        words["die"] = die_term(data["die"])
    if "made_by" in data:
        words["made_by"] = one_of([die_term(colour) for colour in data["made_by"]])
    if "active" in data:
        words["active"] = names[data["active"]]
    if "sums" in data:
        words["sums"] = one_of(data["sums"])
    match reason:
        case Reason.BAD_DICE:
            words["dice"] = all_of([die_term(colour) for colour in data["expected"]])
            key += "" if data["expected"] else ".none"
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
    data: Mapping[str, Any] = refusal.data
    phase = data["phase"]
    if phase == Phase.ROLL.value:
        return line("refused.WRONG_PHASE.roll")
    if refusal.ruling == "E9":
        return line("refused.WRONG_PHASE.late")
    waiting = [names[player] for player in data["waiting_for"]]
    if not waiting:
        return line("refused.WRONG_PHASE.settling")
    return line(f"refused.WRONG_PHASE.{phase}", names=all_of(waiting), count=len(waiting))
