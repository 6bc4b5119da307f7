"""Facts, refusals and doubts as sentences: pure, in the words of the catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from companion.engine import (
    AnswerReturned,
    ClosingTakenBack,
    DieColour,
    End,
    Fact,
    GameState,
    HouseRule,
    MissTaken,
    Phase,
    Reason,
    Refusal,
    RowClosed,
    WouldClose,
)
from companion.engine.sums import Group, offer_of
from companion.phrases import Phrases


@dataclass(frozen=True, slots=True)
class Announcement:
    """One thing the table is told: `headline` is shown huge, `text` is shown and said."""

    kind: str
    headline: str
    text: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """A named problem of the tray: its code and the die meant, where one is."""

    code: str
    colour: str | None = None


def capital(text: str) -> str:
    """The text with its first letter large."""
    return text[:1].upper() + text[1:]


def announce_step(
    before: GameState,
    after: GameState,
    facts: Sequence[Fact],
    phrases: Phrases,
    names: Sequence[str],
) -> Announcement | None:
    """What everybody must hear of a step of one game, or None where that is nothing."""
    if after.phase is Phase.ACTION1 and before.phase is Phase.ROLL:
        return announce_roll(after, phrases, names)
    if before.action and after.action and before.roll != after.roll:
        return announce_correction(after, facts, phrases, names)
    return announce_facts(before, after, facts, phrases, names)


def announce_turn(name: str, phrases: Phrases) -> Announcement:
    """Who throws."""
    headline = phrases.say("fact.turn.headline", name=name)
    return Announcement("turn", headline, phrases.say("fact.turn", name=name))


def announce_roll(state: GameState, phrases: Phrases, names: Sequence[str]) -> Announcement:
    """The white sum for all, and the coloured boxes open to the active player."""
    assert state.roll is not None
    total = state.roll.white_sum
    boxes = colour_choices(state, phrases)
    name = names[state.active]
    if boxes:
        extra = phrases.say("roll.extra", name=name, boxes=phrases.one_of(boxes))
    else:
        extra = phrases.say("roll.no_extra", name=name)
    text = f"{phrases.say('roll.white', sum=total)} {extra}"
    return Announcement("roll", phrases.say("roll.headline", sum=total), text)


def announce_correction(
    state: GameState, facts: Iterable[Fact], phrases: Phrases, names: Sequence[str]
) -> Announcement:
    """The right roll, and whose answers it sends back: nothing changes silently."""
    assert state.roll is not None
    total = state.roll.white_sum
    parts = [phrases.say("fact.corrected", sum=total)]
    for fact in facts:
        if isinstance(fact, AnswerReturned):
            what = {"name": names[fact.player], "box": _box_name(state, fact.box, phrases)}
            parts.append(phrases.say("fact.answer_returned", **what))
    return Announcement("corrected", phrases.say("roll.headline", sum=total), " ".join(parts))


def _box_name(state: GameState, token: str, phrases: Phrases) -> str:
    bit = state.plan.bits[token]
    row = state.plan.rows[state.plan.row_of(bit)]
    return f"{phrases.row(row.name)} {state.plan.box_of(bit).number}"


def colour_choices(state: GameState, phrases: Phrases) -> list[str]:
    """What the active player may cross with a coloured die, grouped by row: "red 7 or 8"."""
    offer = offer_of(state)
    return [] if offer is None else said_groups(offer.by_colour, phrases)


def said_groups(groups: Iterable[Group], phrases: Phrases) -> list[str]:
    """Boxes as they are said, a text for each row."""
    return [
        f"{phrases.row(group.row)} {phrases.one_of([str(n) for n in group.numbers])}"
        for group in groups
    ]


def announce_facts(
    before: GameState,
    after: GameState,
    facts: Iterable[Fact],
    phrases: Phrases,
    names: Sequence[str],
) -> Announcement | None:
    """What everybody must hear of a step, or None when nothing happened that they must."""
    parts: list[tuple[str, str, str]] = []
    for fact in facts:
        match fact:
            case WouldClose(player, row):
                what = {"name": names[player], "row": _row_name(after, row, phrases)}
                headline = phrases.say("fact.would_close.headline", **what)
                parts.append(("closing", headline, phrases.say("fact.would_close", **what)))
            case ClosingTakenBack(player, row):
                what = {"name": names[player], "row": _row_name(after, row, phrases)}
                text = phrases.say("fact.closing_taken_back", **what)
                parts.append(("closing", text, text))
            case RowClosed(row, die, players):
                name = capital(_row_name(after, row, phrases))
                by = phrases.all_of([names[p] for p in players])
                headline = phrases.say("fact.row_closed.headline", row=name)
                text = phrases.say(
                    "fact.row_closed", row=name, names=by, die=phrases.colour(die.value)
                )
                parts.append(("closed", headline, text))
            case MissTaken(player, count):
                headline = phrases.say("fact.miss.headline", name=names[player])
                text = phrases.say("fact.miss", name=names[player], count=count)
                parts.append(("miss", headline, text))
    if after.phase is Phase.OVER and before.phase is not Phase.OVER:
        texts = [text for _, _, text in parts] + [end_sentence(after, phrases, names)]
        texts.append(winner_sentence(after, phrases, names))
        return Announcement("over", phrases.say("end.headline"), " ".join(texts))
    if before.turn != after.turn:
        turn = announce_turn(names[after.active], phrases)
        parts.append((turn.kind, turn.headline, turn.text))
    if not parts:
        return None
    kind, headline, _ = parts[0]
    return Announcement(kind, headline, " ".join(text for _, _, text in parts))


def end_sentence(state: GameState, phrases: Phrases, names: Sequence[str]) -> str:
    """Why the game is over."""
    active = names[state.active]
    if state.end is End.MISSES:
        return phrases.say("end.misses", name=active)
    if state.end is End.ENDED_EARLY:
        return phrases.say("end.ended_early")
    in_action1 = bool(state.closed) and state.closed[-1].action == 1
    if in_action1 and not state.marked and HouseRule.FINISH_TURN not in state.setup.house:
        return phrases.say("end.locks.no_miss", name=active)
    return phrases.say("end.locks")


def winner_sentence(state: GameState, phrases: Phrases, names: Sequence[str]) -> str:
    """Who won, shared victory included (E22)."""
    winners = [player for rank, player in state.ranking if rank == 1]
    key = "end.winner" if len(winners) == 1 else "end.winners"
    joined = phrases.all_of([names[p] for p in winners])
    return phrases.say(key, names=joined, total=state.total(winners[0]))


def _row_name(state: GameState, key: str, phrases: Phrases) -> str:
    return phrases.row(state.plan.rows[state.plan.index[key]].name)


def refusal_sentence(refusal: Refusal, phrases: Phrases, names: Sequence[str]) -> str:
    """One sentence that helps: what was declined and why."""
    reason, data = refusal.reason, dict(refusal.data)
    words: dict[str, object] = dict(data)
    key = f"refused.{reason.value}"
    if "row" in data:
        words["row"] = phrases.row(str(data["row"]))
        words["Row"] = capital(str(words["row"]))
    if "die" in data:
        words["die"] = phrases.colour(str(data["die"]))
    for name in ("made_by", "expected"):
        if isinstance(data.get(name), list):
            words[name] = phrases.all_of([phrases.colour(str(c)) for c in _listed(data[name])])
    if "active" in data:
        words["active"] = _name(data["active"], names)
    if "sums" in data:
        words["sums"] = phrases.one_of([str(s) for s in _listed(data["sums"])])
    match reason:
        case Reason.BAD_DICE:
            words["dice"] = words.get("expected", "")
            key += "" if words["dice"] else ".none"
        case Reason.WRONG_PHASE:
            return _phase_sentence(refusal, phrases, names)
        case Reason.WRONG_SUM:
            key += (
                ".bonus" if data.get("action") == 2 and "die" not in data else f".{data['action']}"
            )
        case Reason.NOT_TO_THE_RIGHT if refusal.ruling == "E6":
            key += ".E6"
    return phrases.say(key, **words)


def _phase_sentence(refusal: Refusal, phrases: Phrases, names: Sequence[str]) -> str:
    data = refusal.data
    if refusal.ruling == "E9" and data.get("phase") != Phase.ROLL.value:
        return phrases.say("refused.WRONG_PHASE.late")
    phase = str(data.get("phase"))
    if phase == Phase.ROLL.value:
        return phrases.say("refused.WRONG_PHASE.roll")
    waiting = [_name(player, names) for player in _listed(data.get("waiting_for"))]
    if not waiting:
        return phrases.say("refused.WRONG_PHASE.settling")
    one = ".one" if phase == Phase.ACTION1.value and len(waiting) == 1 else ""
    return phrases.say(f"refused.WRONG_PHASE.{phase}{one}", names=phrases.all_of(waiting))


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _name(player: object, names: Sequence[str]) -> str:
    known = isinstance(player, int) and 0 <= player < len(names)
    return names[player] if known else str(player)  # type: ignore[call-overload]


def tray_sentence(status: str, doubts: Sequence[Doubt], phrases: Phrases) -> str:
    """What the eye says about the tray, naming the die meant."""
    sentence = phrases.say(f"tray.{status}")
    meant = [d for d in doubts if d.code == status and d.colour is not None]
    if meant:
        sentence = _one_die_sentence(status, meant, phrases)
    beside = any(d.code == "beside_tray" for d in doubts)
    if beside and status == "missing":
        sentence = f"{sentence} {phrases.say('tray.beside')}"
    removed = [d.colour for d in doubts if d.code == "removed_die_in_tray" and d.colour]
    reminders = [phrases.say("tray.removed", colour=phrases.colour(c)) for c in removed]
    return " ".join([sentence, *reminders])


def fault_sentence(part: str, fault: str | None, phrases: Phrases) -> str:
    """What is wrong with a part of the table, or that it works again."""
    return phrases.say(f"fault.{part}.{fault or 'mended'}")


def _one_die_sentence(status: str, meant: Sequence[Doubt], phrases: Phrases) -> str:
    key = f"tray.{status}.one"
    if key not in phrases:
        return phrases.say(f"tray.{status}")
    white = DieColour.WHITE.value
    if status == "missing" and meant[0].colour == white:
        both = sum(doubt.colour == white for doubt in meant) > 1
        return phrases.say("tray.missing.whites" if both else "tray.missing.white")
    return phrases.say(key, colour=phrases.colour(str(meant[0].colour)))
