"""The coach's comments on a finished game, as lines of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence

from companion.coach.review import Answer, Decision, Review
from companion.engine import GameState
from companion.messages.announcements import box_line
from companion.messages.catalogue import Line, Word, line, numeral

RESULT = "coach.parts"
"""Key of the line with the luck and skill of a player."""

NAMED = 3
"""Most mistakes named for each player."""


def advice(review: Review, start: GameState, names: Sequence[str]) -> list[Line]:
    """Return for each player how the result came about, and the costliest mistakes."""
    found = []
    for player, name in enumerate(names):
        found.append(_result(review, player, name))
        mistakes = review.mistakes(player)[:NAMED]
        found += [_mistake(each, start, name) for each in mistakes]
        if not mistakes:
            found.append(line("coach.no_mistake", name=name))
    turns = review.turning_points()
    found.append(line("coach.turning_points", turns=", ".join(map(str, turns))))
    return found


def _result(review: Review, player: int, name: str) -> Line:
    luck, skill = review.luck[player], review.skill[player]
    return line(
        RESULT,
        name=name,
        lead=signed(review.final[player]),
        luck=f"{signed(luck.value)} ± {luck.error * 2:.0f}",
        skill=f"{signed(skill.value)} ± {skill.error * 2:.0f}",
    )


def _mistake(decision: Decision, start: GameState, name: str) -> Line:
    return line(
        "coach.mistake",
        turn=decision.turn,
        name=name,
        given=_answer(decision.given, start),
        best=_answer(decision.best, start),
        count=max(1, round(-decision.skill.value)),
        error=f"{decision.skill.error * 2:.0f}",
    )


def _answer(answer: Answer, start: GameState) -> Word:
    boxes = [box_line(start, token) for token in (answer.white, answer.coloured) if token]
    if not boxes:
        return line("coach.nothing")
    return boxes[0] if len(boxes) == 1 else line("coach.both", first=boxes[0], second=boxes[1])


def signed(number: float) -> str:
    """A whole number with its sign."""
    whole = round(number)
    return f"+{whole}" if whole > 0 else numeral(whole)
