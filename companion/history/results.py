"""The result of a saved game: all that lists and statistics need, without its moves (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from companion.engine import (
    COLOURED,
    DieColour,
    End,
    Event,
    Roll,
    RollCorrected,
    Rolled,
)

Span = tuple[int, int]
"""First and last revision of records that follow one another."""


@dataclass(frozen=True, slots=True)
class Result:
    """How a game stands or ended. By player means: in playing order.

    Attributes:
        number: From 1.
        at: When it began, as ISO 8601 text.
        names: By player.
        end: Why it ended, as in `End`; None while it goes on.
        ranking: Rank and player, the best first.
        totals, misses, crosses, closings: By player.
        rows: By player, points by the name of the colour row.
        has_bots: A bot played, or the coach suggested answers.
        played: Digest of the moves; the names may change.
        rolls: The dice of each turn in the order of `ALL_DICE`; 0 for a die that has left.
        misread: Colour and value of dice that the camera showed first and that were corrected then,
            before or after the roll was confirmed.
        spans: Where its records are in the log, oldest first.
    """

    number: int
    at: str
    names: tuple[str, ...]
    variant: str
    house: tuple[str, ...]
    first: int
    turns: int
    end: str | None
    fault: str | None
    is_imported: bool
    has_bots: bool
    ranking: tuple[tuple[int, int], ...]
    totals: tuple[int, ...]
    misses: tuple[int, ...]
    crosses: tuple[int, ...]
    closings: tuple[int, ...]
    rows: tuple[dict[str, int], ...]
    played: str
    rolls: tuple[str, ...] = ()
    misread: tuple[tuple[str, int], ...] = ()
    spans: tuple[Span, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.end is not None

    @property
    def counts(self) -> bool:
        """Whether it counts for its players: one that was ended early counts for nobody."""
        return self.end is not None and self.end != End.ENDED_EARLY.value

    @property
    def course(self) -> tuple[object, ...]:
        """How it was played, to know a game again whose players have other names by now."""
        rows = tuple(tuple(row.items()) for row in self.rows)
        return (self.variant, self.house, self.first, self.rolls, self.crosses, rows, self.misses)

    @property
    def winners(self) -> tuple[int, ...]:
        """The players who won it; nobody if it does not count, and nobody wins alone."""
        is_won = self.counts and len(self.names) > 1
        return tuple(player for rank, player in self.ranking if rank == 1) if is_won else ()


def rolls_and_misread(
    events: Iterable[Event], offered: Mapping[int, Roll | None]
) -> tuple[tuple[str, ...], tuple[tuple[str, int], ...]]:
    """The `rolls` and `misread` of a result.

    Args:
        events: The moves of the game.
        offered: What the camera had offered, by number of a roll that was entered or corrected by
            hand before it was confirmed, from 1; None for nothing.
    """
    rolls: list[Roll] = []
    shown: list[Roll | None] = []
    for event in events:
        if isinstance(event, Rolled):
            rolls.append(event.roll)
            shown.append(offered.get(len(rolls), event.roll))
        elif isinstance(event, RollCorrected) and rolls:
            rolls[-1] = event.roll
    misread = [
        pair
        for first, last in zip(shown, rolls, strict=True)
        if first is not None
        for pair in _misread(first, last)
    ]
    return tuple(map(_digits, rolls)), tuple(misread)


def _digits(roll: Roll) -> str:
    coloured = dict(roll.coloured)
    values = (*roll.white, *(coloured.get(colour, 0) for colour in COLOURED))
    return "".join(map(str, values))


def _misread(shown: Roll, right: Roll) -> list[tuple[str, int]]:
    coloured, white = dict(right.coloured), list(right.white)
    found = [(colour.value, n) for colour, n in shown.coloured if coloured.get(colour) != n]
    for value in shown.white:
        if value in white:
            white.remove(value)
        else:
            found.append((DieColour.WHITE.value, value))
    return found


def spans_of_revisions(revisions: list[int]) -> tuple[Span, ...]:
    """Ascending revisions as spans."""
    spans: list[Span] = []
    for revision in revisions:
        if spans and revision == spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], revision)
        else:
            spans.append((revision, revision))
    return tuple(spans)
