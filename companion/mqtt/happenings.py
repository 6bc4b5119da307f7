"""Events of a game between two views of the table (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from companion.engine import End, Phase
from companion.eventlog.state import Game
from companion.messages.announcements import Announcement
from companion.messages.catalogue import Phrases
from companion.mqtt.board import Labels, colour_of, labels_of, roll_of
from companion.mqtt.payloads import EventType, GameEvent, game_id
from companion.session.view import View

_KINDS = {
    EventType.ROLL: "roll",
    EventType.CORRECTED: "corrected",
    EventType.ROW_CLOSED: "closed",
    EventType.PENALTY: "miss",
    EventType.GAME_OVER: "over",
}
"""Kind of the announcement that says what an event is about."""


def happenings(
    before: View,
    after: View,
    said: Sequence[Announcement],
    phrases: Phrases,
    *,
    began: str,
    at: str,
) -> list[GameEvent]:
    """The events between two views; none for a game that was not on the table before.

    States are compared, so nothing is missed when several steps lie between them. What an undo
    takes back happens again when it is played again.

    Args:
        said: The announcements in between.
        phrases: Of the table's language.
        began: When the game began, ISO 8601.
        at: The time, ISO 8601.
    """
    was, game = before.table.game, after.table.game
    if game is None or was is None or (was.number, was.names) != (game.number, game.names):
        return []  # another game, or a latecomer began it anew
    labels = labels_of(after.table, phrases)
    found = list(_differences(was, game))
    texts = [_text(kind, said, labels, phrases) for kind, _, _ in found]
    return [
        GameEvent(
            event_type=kind,
            at=at,
            game=game_id(game.number, began),
            turn=(was if kind in _OF_THE_TURN_BEFORE else game).state.turn,
            language=phrases.language,
            text="" if texts[n] in texts[n + 1 :] else texts[n],
            seat=game.seats[player],
            player=labels.label(game.seats[player], game.names[player]),
            roll=roll_of(game.state) if kind in (EventType.ROLL, EventType.CORRECTED) else None,
            colour=colour,
            winners=_winners(game) if kind is EventType.GAME_OVER else (),
        )
        for n, (kind, player, colour) in enumerate(found)
    ]


_OF_THE_TURN_BEFORE = (EventType.ROW_CLOSED, EventType.PENALTY)
"""Events at the end of an action, with which the turn may end too."""


def _differences(was: Game, game: Game) -> Iterator[tuple[EventType, int, str | None]]:
    """Each event with the player it is about, and the colour of a closed row."""
    old, new = was.state, game.state
    if new.roll is not None and game.rolled > was.rolled:  # lower, or the same: an undo
        yield EventType.ROLL, new.active, None
    elif None not in (old.roll, new.roll) and game.rolled == was.rolled and old.roll != new.roll:
        yield EventType.CORRECTED, new.active, None
    rows = {each.row for each in old.closed}
    for closing in new.closed:
        if closing.row not in rows:
            yield EventType.ROW_CLOSED, closing.players[0], colour_of(new, closing.row)
    for player in range(new.players):
        if new.misses[player] > old.misses[player]:
            yield EventType.PENALTY, player, None
    if new.phase is Phase.OVER and old.phase is not Phase.OVER:
        yield EventType.GAME_OVER, new.active, None


def _text(kind: EventType, said: Sequence[Announcement], labels: Labels, phrases: Phrases) -> str:
    wanted = _KINDS[kind]
    fitting = [each for each in said if wanted in (each.kind, *each.also)]
    return labels.text(fitting[-1], phrases) if fitting else ""


def _winners(game: Game) -> tuple[int, ...]:
    if game.state.end is End.ENDED_EARLY or len(game.seats) == 1:
        return ()
    return tuple(game.seats[player] for rank, player in game.state.ranking if rank == 1)
