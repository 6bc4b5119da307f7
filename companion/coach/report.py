"""Everything the coach shows of one saved game: pictures and sentences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from companion.coach.advice import RESULT, advice
from companion.coach.charts import Picture, course_of, luck_chart, scores_chart
from companion.coach.review import ROLLOUTS, review
from companion.history.archive import SavedGame
from companion.messages.catalogue import Phrases


@dataclass(frozen=True, slots=True)
class Report:
    """A finished game for people.

    Attributes:
        sentences: Luck, skill and mistakes; none where the game is not over.
        pictures: By name: `scores`, and `luck` for a game that is over.
    """

    sentences: tuple[str, ...]
    pictures: dict[str, Picture]


def report_of(
    game: SavedGame,
    phrases: Phrases,
    *,
    rollouts: int = ROLLOUTS,
    progress: Callable[[float], None] = lambda share: None,
) -> Report:
    """The coach's report; a game that is not over has its scores only."""
    pictures = {"scores": scores_chart(course_of(game.start, game.events), game.names, phrases)}
    found = review(game.start, game.events, rollouts=rollouts, progress=progress)
    if found is None:
        return Report((), pictures)
    lines = advice(found, game.start, game.names)
    shown = [phrases.tell(each) for each in lines if each.key == RESULT]
    pictures["luck"] = luck_chart(found, game.names, shown, phrases)
    return Report(tuple(phrases.tell(each) for each in lines), pictures)
