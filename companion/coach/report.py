"""Everything the coach shows of one saved game: pictures and sentences."""

from __future__ import annotations

from dataclasses import dataclass

from companion.coach.advice import decision, mistakes, results, turning_points
from companion.coach.charts import Picture, course_of, luck_chart, scores_chart
from companion.coach.review import Review
from companion.history.archive import SavedGame
from companion.history.decided import Decided
from companion.messages.catalogue import Phrases


@dataclass(frozen=True, slots=True)
class Report:
    """A game for people; one that is not over, or not reviewed, has its scores only.

    Attributes:
        luck: Luck and choices of each player.
        turning: One sentence for each turning point.
        mistakes: The costliest of each player.
        decided: What made up more of the winner's lead; None without a review.
    """

    scores: Picture
    luck: Picture | None = None
    turning: tuple[str, ...] = ()
    mistakes: tuple[str, ...] = ()
    decided: Decided | None = None


def told(game: SavedGame, found: Review | None, phrases: Phrases) -> Report:
    """The report of a game with its review, or without one."""
    course, names = course_of(game.start, game.events), game.names
    if found is None:
        return Report(scores_chart(course, names, phrases))
    shares = [*results(found, names), *decision(found)]
    return Report(
        scores_chart(course, names, phrases, found.turning_points()),
        luck_chart(found, names, [phrases.tell(each) for each in shares], phrases),
        tuple(phrases.tell(each) for each in turning_points(found, names)),
        tuple(phrases.tell(each) for each in mistakes(found, game.start, names)),
        found.decided,
    )
