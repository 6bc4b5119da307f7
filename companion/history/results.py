"""The result of a saved game: all that lists and statistics need, without its moves (pure)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from companion.engine import End, GameState, HouseRule, Phase

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
        played: Digest of what was played, to know a game again that was exported and imported.
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
    ranking: tuple[tuple[int, int], ...]
    totals: tuple[int, ...]
    misses: tuple[int, ...]
    crosses: tuple[int, ...]
    closings: tuple[int, ...]
    rows: tuple[dict[str, int], ...]
    played: str
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
    def winners(self) -> tuple[int, ...]:
        """The players who won it; nobody if it does not count."""
        return tuple(player for rank, player in self.ranking if rank == 1) if self.counts else ()


def result_of_state(
    state: GameState, *, number: int, at: str, names: tuple[str, ...], lines: list[str]
) -> Result:
    """The result of a game from its state.

    Args:
        lines: Its record without a date.
    """
    players = range(state.players)
    return Result(
        number=number,
        at=at,
        names=names,
        variant=state.plan.name,
        house=tuple(rule.value for rule in HouseRule if rule in state.setup.house),
        first=state.first,
        turns=state.turn,
        end=state.end.value if state.end and state.phase is Phase.OVER else None,
        fault=None,
        is_imported=False,
        ranking=tuple((rank, player) for rank, player in state.ranking),
        totals=tuple(state.total(p) for p in players),
        misses=state.misses,
        crosses=tuple(state.crosses[p].bit_count() for p in players),
        closings=tuple(sum(p in closing.players for closing in state.closed) for p in players),
        rows=tuple(state.points(p) for p in players),
        played=hashlib.blake2b("\n".join(lines).encode(), digest_size=8).hexdigest(),
    )


def spans_of_revisions(revisions: list[int]) -> tuple[Span, ...]:
    """Ascending revisions as spans."""
    spans: list[Span] = []
    for revision in revisions:
        if spans and revision == spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], revision)
        else:
            spans.append((revision, revision))
    return tuple(spans)
