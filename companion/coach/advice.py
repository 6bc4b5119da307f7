"""The coach's comments on a finished game, as lines of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence

from companion.coach.review import Answer, Decision, Measured, Review
from companion.engine import GameState
from companion.messages.announcements import box_line
from companion.messages.catalogue import Line, Word, line, numeral

NAMED = 3
"""Most mistakes named for each player."""


def results(review: Review, names: Sequence[str]) -> list[Line]:
    """Return for each player what the result is made of.

    The part of the others is what their answers changed. What could be expected before the first
    roll is told beside it: a lead over the best of several is worth less than nothing there.
    """
    key = "coach.parts" if len(names) > 1 else "coach.parts_alone"
    return [
        line(
            key,
            name=name,
            count=abs(review.final[player]),
            lead=signed(review.final[player]),
            start=signed(review.start[player]),
            luck=_wide(review.luck[player]),
            skill=_wide(review.skill[player]),
            others=signed(sum(turn[player].others for turn in review.parts)),
        )
        for player, name in enumerate(names)
    ]


def decision(review: Review) -> list[Line]:
    """Return what decided the game, or that it was ended early; nothing for one player alone, or
    if nobody can tell."""
    if review.leads[-1] != review.final:
        return [line("coach.early")]
    is_told = len(review.final) > 1 and review.is_whole
    return [line(f"coach.decided.{review.decided}")] if is_told else []


def mistakes(review: Review, start: GameState, names: Sequence[str]) -> list[Line]:
    """Return each player's costliest mistakes."""
    found = []
    for player, name in enumerate(names):
        named = review.mistakes(player)[:NAMED]
        found += [_mistake(each, start, name) for each in named]
        if not named:
            found.append(line("coach.no_mistake", name=name))
    return found


def turning_points(review: Review, names: Sequence[str]) -> list[Line]:
    """Return for each turning point whose prospects changed most, and by what."""
    found = []
    shares = "coach.shares" if len(names) > 1 else "coach.shares_alone"
    for turn in review.turning_points():
        before, after = review.leads[turn - 1 : turn + 1]
        player = max(range(len(names)), key=lambda p: abs(after[p] - before[p]))
        change, part = after[player] - before[player], review.parts[turn - 1][player]
        found.append(
            line(
                "coach.more" if change > 0 else "coach.less",
                turn=turn,
                name=names[player],
                count=abs(round(change)),
                shares=line(
                    shares,
                    luck=_wide(part.luck),
                    skill=_wide(part.skill),
                    others=signed(part.others),
                ),
            )
        )
    return found


def _wide(part: Measured) -> str:
    """A value and two standard errors."""
    return f"{signed(part.value)}\u00a0±\u00a0{part.error * 2:.0f}"


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
