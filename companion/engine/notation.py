"""A game as text and back: JSON Lines that `replay` judges, and a record people read (pure).

The JSON form is the one outsiders rely on: a `config` line, then `roll`, `action1` and `action2`
lines. `end` closes the record; it is what says that a table ended a game early.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeGuard

from companion.engine.dice import DieColour, Roll
from companion.engine.events import (
    ActionClosed,
    Answered,
    Choice,
    EndedEarly,
    Event,
    Played,
    RollCorrected,
    Rolled,
    SeatClosed,
)
from companion.engine.game import apply
from companion.engine.refusal import Refusal
from companion.engine.state import (
    MISS,
    MOST_PLAYERS,
    End,
    GameState,
    HouseRule,
    Phase,
    new_game,
)
from companion.engine.variants import PLANS
from companion.errors import NotationError

_COLOURS = {colour.value: colour for colour in DieColour if colour is not DieColour.WHITE}


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A recorded game.

    Attributes:
        start: The state before the first event.
        events: Rolls, whole actions, players who left and an early end; then the answers to an
            action still open.
        names: The players' names, where the record has them.
        fault: Why the record stops where it does, naming the line; None when it is whole.
        at: When the game began, as ISO 8601 text; "" if the record has no usable date.
    """

    start: GameState
    events: tuple[Event, ...]
    names: tuple[str, ...] = ()
    fault: str | None = None
    at: str = ""


def is_whole_number(value: object) -> TypeGuard[int]:
    """Whether a JSON value is an integer; true and false are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def roll_to_json(roll: Roll) -> dict[str, Any]:
    """A roll in the form of recorded games."""
    colours = {colour.value: value for colour, value in roll.coloured}
    return {"white": list(roll.white), "colour": colours}


def parse_roll(white: object, colour: object) -> Roll | None:
    """A roll from its JSON form, or None when it is not two white dice and named colours."""
    if not isinstance(white, list) or len(white) != 2 or not isinstance(colour, dict):
        return None
    if not all(is_whole_number(value) for value in [*white, *colour.values()]):
        return None
    if not all(name in _COLOURS for name in colour):
        return None
    return Roll.of((white[0], white[1]), {_COLOURS[name]: value for name, value in colour.items()})


def parse_config(line: Mapping[str, Any]) -> GameState:
    """The empty game of a `config` line.

    Raises:
        NotationError: The variant, the players, the first or a house rule is none there is.
    """
    variant, players, first = line.get("variant"), line.get("players"), line.get("first")
    if not isinstance(variant, str) or variant not in PLANS:
        raise NotationError(f"The variant must be {' or '.join(PLANS)}, not {variant!r}.")
    if (
        not isinstance(players, int)
        or not is_whole_number(players)
        or not 1 <= players <= MOST_PLAYERS
    ):
        raise NotationError(f"One to {MOST_PLAYERS} can play (E39, E40), not {players!r}.")
    if not is_whole_number(first) or not 0 <= first < players:
        raise NotationError(f"The first player is a number from 0 to {players - 1}, not {first!r}.")
    rules = line.get("house", [])
    known = {rule.value: rule for rule in HouseRule}
    if not isinstance(rules, list) or not all(isinstance(r, str) and r in known for r in rules):
        raise NotationError(f"House rules are {' or '.join(known)}, not {rules!r}.")
    return new_game(PLANS[variant], players, first, house=[known[rule] for rule in rules])


# -- writing --------------------------------------------------------------------------------


@dataclass(slots=True)
class Turn:
    """One turn from its roll on; None for an action that is not closed.

    Attributes:
        before: The state before the roll.
        action1: What each player crossed.
        action2: What the active player crossed, as a list of one.
        left: Who left for good: before the roll (0), in action 1 (1), in action 2 (2), after (3).
    """

    before: GameState
    roll: Roll
    action1: list[Choice] | None = None
    action2: list[Choice] | None = None
    left: tuple[list[int], ...] = field(default_factory=lambda: ([], [], [], []))

    @property
    def player(self) -> int:
        """Whose turn it was."""
        return self.before.active

    @property
    def number(self) -> int:
        """As the table counted it, with turns whose player left before the roll."""
        return self.before.turn


def turns_of(start: GameState, events: Iterable[Event]) -> tuple[list[Turn], GameState, list[int]]:
    """The turns of a game from their rolls on, the state after them, and who left before any roll.

    Raises:
        ValueError: An event is refused.
    """
    turns: list[Turn] = []
    early: list[int] = []
    state = start
    for event in events:
        before, step = state, apply(state, event)
        if isinstance(step, Refusal):
            raise ValueError(f"{event!r} is refused: {step.reason.value}")
        state = step.state
        if isinstance(event, Rolled):
            turns.append(Turn(before, event.roll))
            turns[-1].left[0].extend(early)
            early = []
        elif isinstance(event, SeatClosed):
            left = turns[-1].left[before.action or 3] if turns else early
            left.append(event.player)
        elif isinstance(event, RollCorrected):
            turns[-1].roll = event.roll
            if state.phase is Phase.ACTION1:  # open again for the remaining players
                turn = turns[-1]
                turn.action1 = None
                turn.left = (turn.left[0], turn.left[1] + turn.left[2], [], [])
        elif isinstance(event, (ActionClosed, Played)):
            if isinstance(event, Played):
                crossed = [None if choice == MISS else choice for choice in event.choices]
            else:
                crossed = [_token(before, answer) for answer in before.answers]
            if event.action == 1:
                turns[-1].action1 = crossed
            else:
                turns[-1].action2 = [crossed[before.active]]
    return turns, state, early


def to_lines(
    start: GameState, events: Iterable[Event], names: Sequence[str] = (), at: str = ""
) -> list[str]:
    """The record of a game as JSON Lines, turn by turn.

    Args:
        at: When it began, as ISO 8601 text; left out if empty.
    Raises:
        ValueError: An event is refused.
    """
    config: dict[str, Any] = {
        "t": "config",
        "variant": start.plan.name,
        "players": start.players,
        "first": start.first,
    }
    if start.setup.house:
        config["house"] = sorted(rule.value for rule in start.setup.house)
    if names:
        config["names"] = list(names)
    if at:
        config["at"] = at
    events = list(events)
    turns, state, early = turns_of(start, events)
    if state.action and not state.waiting_for:  # about to close as it is
        events.append(ActionClosed(state.action))
        turns, state, early = turns_of(start, events)
    lines = [config, *({"t": "left", "player": player} for player in early)]
    for turn in turns:
        left = [[{"t": "left", "player": player} for player in part] for part in turn.left]
        lines += [*left[0], {"t": "roll", **roll_to_json(turn.roll)}, *left[1]]
        if turn.action1 is not None:
            lines.append({"t": "action1", "choices": turn.action1})
        lines += left[2]
        if turn.action2 is not None:
            lines.append({"t": "action2", "player": turn.player, "choice": turn.action2[0]})
        lines += left[3]
    if state.phase is Phase.ACTION1:
        for player, answer in enumerate(state.answers):
            if answer is not None:
                choice = _token(state, answer)
                lines.append({"t": "action1", "player": player, "choice": choice})
    if state.end is not None:
        totals = [state.total(player) for player in range(state.players)]
        lines.append({"t": "end", "end": state.end.value, "totals": totals})
    return [json.dumps(line, ensure_ascii=False) for line in lines]


def _token(state: GameState, answer: int | None) -> Choice:
    return state.plan.tokens[answer] if answer else None


def games_in(lines: Iterable[str]) -> list[list[str]]:
    """The lines of each game of a record, split at the config lines."""
    games: list[list[str]] = []
    for line in lines:
        if not line.strip():
            continue
        if not games or _is_config(line):
            games.append([])
        games[-1].append(line)
    return games


def _is_config(line: str) -> bool:
    try:
        return _parsed(line).get("t") == "config"
    except NotationError:
        return False


# -- reading --------------------------------------------------------------------------------


def from_lines(lines: Iterable[str]) -> GameRecord:
    """Read a record up to its end or its first bad line, which `fault` names.

    Raises:
        NotationError: There is no game in it at all.
    """
    start: GameState | None = None
    names: tuple[str, ...] = ()
    at = ""
    state, events = start, list[Event]()
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            line = _parsed(text)
            if state is None or start is None:
                if line.get("t") != "config":
                    raise NotationError("A record begins with its config line.")
                empty = parse_config(line)
                names, at = _names(line, empty.players), _date(line)
                state = start = empty
                continue
            if line.get("t") == "config":
                raise NotationError("A second game begins here.")
            found = events_of(line, state)
            for event in found:
                step = apply(state, event)
                if isinstance(step, Refusal):
                    raise NotationError(f"{step.reason.value} ({step.ruling})")
                state = step.state
            events += found
        except NotationError as error:
            if start is None:
                raise NotationError(f"line {number}: {error}") from error
            return GameRecord(start, tuple(events), names, f"line {number}: {error}", at)
    if start is None:
        raise NotationError("the record is empty")
    return GameRecord(start, tuple(events), names, at=at)


def _parsed(text: str) -> dict[str, Any]:
    try:
        line = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotationError("The line is not JSON.") from error
    if not isinstance(line, dict):
        raise NotationError("The line is not a JSON object.")
    return line


def _names(line: Mapping[str, Any], players: int) -> tuple[str, ...]:
    names = line.get("names", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise NotationError(f"Names are a list of texts, not {names!r}.")
    if names and len(names) != players:
        raise NotationError(f"Expected {players} names, got {len(names)}.")
    return tuple(name.encode("utf-8", "replace").decode() for name in names)


def _date(line: Mapping[str, Any]) -> str:
    try:
        return datetime.fromisoformat(line.get("at", "")).isoformat(timespec="seconds")
    except (TypeError, ValueError):
        return ""


def _leaving(state: GameState, player: int) -> list[Event]:
    """The events of a `left` line; action 1 closes if everybody else has answered."""
    gone = SeatClosed(player)
    step = apply(state, gone)
    if isinstance(step, Refusal) or step.state.phase is not Phase.ACTION1:
        return [gone]
    is_answered = any(answer is not None for answer in step.state.answers)
    return [gone, ActionClosed(1)] if is_answered and not step.state.waiting_for else [gone]


def events_of(line: Mapping[str, Any], state: GameState) -> list[Event]:
    """The events of a line of a record, which may be refused.

    Raises:
        NotationError: It is no such line.
    """
    kind = line.get("t")
    try:
        if kind == "roll":
            roll = parse_roll(line["white"], line["colour"])
            if roll is None:
                raise NotationError(f"BAD_DICE (E45): {line['white']!r}, {line['colour']!r}")
            return [Rolled(roll)]
        if kind == "action1" and "choices" in line:
            choices = line["choices"]
            return [Played(1, tuple(choices) if isinstance(choices, list) else ())]
        if kind == "action1":
            answered = Answered(line["player"], 1, line["choice"])
            step = apply(state, answered)
            is_last = not isinstance(step, Refusal) and not step.state.waiting_for
            return [answered, ActionClosed(1)] if is_last else [answered]
        if kind == "action2":
            player = line.get("player", state.active)
            return [Answered(player, 2, line["choice"]), ActionClosed(2)]
        if kind == "left":
            return _leaving(state, line["player"])
    except KeyError as error:
        raise NotationError(f"{error.args[0]!r} is missing in the line.") from error
    if kind == "end":
        early = line.get("end") == End.ENDED_EARLY.value and state.phase is not Phase.OVER
        return [EndedEarly()] if early else []
    raise NotationError(f"No line of a record has t = {kind!r}.")
