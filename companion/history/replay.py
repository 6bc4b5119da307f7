"""Judge a recorded game line by line: JSON objects in, JSON objects out (pure).

Other programs rely on these forms. A refused line changes nothing and gets an answer; the replay
continues with the next line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from companion.engine import (
    Fact,
    GameState,
    MissTaken,
    Phase,
    Reason,
    Refusal,
    RowClosed,
    apply,
)
from companion.engine.notation import events_of, parse_config, parse_roll
from companion.engine.offers import offer_of
from companion.engine.refusal import refuse
from companion.errors import NotationError
from companion.messages.catalogue import Phrases
from companion.messages.refusals import refusal_line

Line = dict[str, Any]

_NEEDED = {
    "config": ("variant", "players", "first"),
    "roll": ("white", "colour"),
    "action1": (),
    "action2": ("choice",),
    "left": ("player",),
}


class Replay:
    """Judges recorded games line by line."""

    def __init__(self, phrases: Phrases) -> None:
        self._phrases = phrases
        self._state: GameState | None = None

    def judge(self, text: str) -> Iterator[Line]:
        """Answer one line: no object, one, or two if it ends the game."""
        try:
            line = json.loads(text, parse_constant=_no_number)
        except (ValueError, RecursionError):
            yield _bad("BAD_LINE", None, "The line is not JSON.")
            return
        kind = line.get("t") if isinstance(line, dict) else None
        if kind == "end":
            return
        if not isinstance(kind, str) or kind not in _NEEDED:
            known = ", ".join(_NEEDED)
            yield _bad("BAD_LINE", kind, f'The line\'s "t" is none of {known}.')
            return
        missing = [key for key in _NEEDED[kind] if key not in line]
        if kind == "action1" and "choices" not in line:
            missing = [key for key in ("player", "choice") if key not in line]
            if len(missing) == 2:
                missing = ["choices"]
        if missing:
            yield _bad("BAD_LINE", kind, f'"{missing[0]}" is missing in the line.')
        elif kind == "config":
            yield self._configure(line)
        elif self._state is None:
            yield _bad("WRONG_PHASE", kind, "No game is set up.")
        else:
            yield from self._play(self._state, kind, line)

    def _configure(self, line: Line) -> Line:
        self._state = None
        try:
            self._state = parse_config(line)
        except NotationError as error:
            return _bad("BAD_CONFIG", "config", str(error))
        return {"t": "config"}

    def _play(self, state: GameState, kind: str, line: Line) -> Iterator[Line]:
        judged = _judge(state, kind, line)
        if isinstance(judged, Refusal):
            names = [f"player {p}" for p in range(state.players)]
            sentence = self._phrases.tell(refusal_line(judged, names))
            answer: Line = {"t": kind, "refused": judged.reason.value, "message": sentence}
            yield answer | {"ruling": judged.ruling}
            return
        after, facts = judged
        self._state = after
        if kind == "roll":
            yield {"t": kind, "sums": sums_of(after), "legal": legal_of(after)}
            return
        answer = {"t": kind}
        if kind == "action1" and "choices" not in line:
            answer["player"] = line["player"]
            answer["waiting_for"] = list(after.waiting_for) if after.phase is Phase.ACTION1 else []
            if after.phase is Phase.ACTION1:
                yield answer
                return
        if kind == "action2":
            answer["player"] = state.active
            answer["miss"] = any(isinstance(fact, MissTaken) for fact in facts)
        answer["closed_now"] = [fact.die.value for fact in facts if isinstance(fact, RowClosed)]
        yield answer | state_of(after)
        if after.phase is Phase.OVER:
            yield {"t": "end"} | end_of(after)


def replay(lines: Iterable[str], phrases: Phrases) -> Iterator[Line]:
    """Answers to all lines of a record; empty lines are skipped."""
    judge = Replay(phrases)
    for text in lines:
        if text.strip(" \t\r\n"):
            yield from judge.judge(text)


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number in JSON")


def _judge(state: GameState, kind: str, line: Line) -> tuple[GameState, tuple[Fact, ...]] | Refusal:
    if kind == "roll" and parse_roll(line["white"], line["colour"]) is None:
        return refuse(Reason.BAD_DICE, expected=[colour.value for colour in state.dice])
    facts: tuple[Fact, ...] = ()
    for event in events_of(line, state):
        step = apply(state, event)
        if isinstance(step, Refusal):
            return step
        state, facts = step.state, facts + step.facts
    return state, facts


def _bad(code: str, kind: object, message: str) -> Line:
    return {"t": kind if isinstance(kind, str) else None, "refused": code, "message": message}


def sums_of(state: GameState) -> Line:
    """The white sum, and one or two sums per colour."""
    offer = offer_of(state)
    assert offer is not None
    return {"white": offer.white, "colour": {c.value: list(sums) for c, sums in offer.coloured}}


def legal_of(state: GameState) -> list[list[str]]:
    """The boxes that each player may cross in the open action."""
    return [state.plan.name_of(state.legal[player]) for player in range(state.players)]


def state_of(state: GameState) -> Line:
    """The state in the form of the traces."""
    plan, players = state.plan, range(state.players)
    locks = [plan.rows[closing.row].lock for closing in state.closed]
    return {
        "phase": state.phase.value,
        "active": state.active,
        "turn": state.turn,
        "closed": [lock.value for lock in locks if lock],
        "dice": [colour.value for colour in state.dice],
        "misses": list(state.misses),
        "sheets": [plan.marks_of(own) for own in state.crosses],
        "locks": [plan.locks_of(own) for own in state.crosses],
        "scores": [state.total(player) for player in players],
        "legal": legal_of(state),
        "over": state.phase is Phase.OVER,
        "end": state.end.value if state.end else None,
    }


def end_of(state: GameState) -> Line:
    """Why the game ended, each player's points and who won."""
    return {
        "end": state.end.value if state.end else None,
        "scores": [
            {
                "rows": state.points(player),
                "minus": state.plan.miss_points * state.misses[player],
                "total": state.total(player),
            }
            for player in range(state.players)
        ],
        "winners": [player for rank, player in state.ranking if rank == 1],
    }
