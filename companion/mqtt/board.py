"""The table as `payloads.Board`, with or without the players' names (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from companion.engine import MOST_PLAYERS, GameState, Phase
from companion.eventlog.state import Game, Table
from companion.messages.announcements import Announcement
from companion.messages.catalogue import Line, Listed, Phrases, Word
from companion.mqtt import payloads
from companion.mqtt.payloads import game_id
from companion.session.view import View

_HIDDEN = "…"


@dataclass(frozen=True, slots=True)
class Labels:
    """How players are called outside: by name, or by their seat where names stay.

    Attributes:
        shows_names: Whether the host lets names leave the table.
        by_name: Label of each name at the table.
        numbered: Label of each seat without a name.
    """

    shows_names: bool
    by_name: Mapping[str, str]
    numbered: tuple[str, ...]

    def name(self, name: str) -> str:
        """A name where names may leave, else nothing."""
        return name if self.shows_names else ""

    def label(self, seat: int, name: str) -> str:
        """A player's name, or a number where names are not shown."""
        return name if self.shows_names else self.numbered[seat]

    def text(self, said: Announcement | None, phrases: Phrases) -> str:
        """An announcement as it may leave the table."""
        if said is None:
            return ""
        lines = said.lines
        if not self.shows_names:
            lines = tuple(self._hidden(each) for each in lines)
        return phrases.tell(*lines)[:500]

    def _hidden(self, line: Line) -> Line:
        return replace(line, data=tuple((key, self._word(word)) for key, word in line.data))

    def _word(self, word: Word) -> Word:
        match word:
            case Line():
                return self._hidden(word)
            case Listed():
                return replace(word, words=tuple(self._word(each) for each in word.words))
            case str():  # a name; of somebody who has left, too
                return self.by_name.get(word, _HIDDEN)
        return word


def labels_of(table: Table, phrases: Phrases) -> Labels:
    """The labels of everybody at the table."""
    seats = {seat.number: seat.name for seat in table.seats}
    if table.game is not None:
        seats |= dict(zip(table.game.seats, table.game.names, strict=True))
    numbered = tuple(
        phrases.say("house.player", number=_number_of(seat, seats))
        for seat in range(payloads.MOST_SEATS)
    )
    by_name = {name: numbered[seat] for seat, name in seats.items()}
    return Labels(table.settings.share_names, by_name, numbered)


def _number_of(seat: int, taken: Collection[int]) -> int:
    """The number that a player is called by; who has left the game keeps it if it is free."""
    own = seat - MOST_PLAYERS  # that they gave up
    return 1 + (own if own >= 0 and own not in taken else seat)


def board_of(
    view: View,
    phrases: Phrases,
    *,
    name: str,
    url: str,
    began: str,
    asked: float | None,
    at: str,
) -> payloads.Board:
    """Make the board of a table.

    Args:
        phrases: Of the table's language.
        name: Of the table.
        url: Where phones open it.
        began: When the game on the table began, ISO 8601.
        asked: As in the payload.
        at: The time, ISO 8601.
    """
    table, labels = view.table, labels_of(view.table, phrases)
    return payloads.Board(
        at=at,
        revision=table.revision,
        name=name,
        language=phrases.language,
        url=url,
        text=labels.text(view.announcement, phrases),
        seats=tuple(
            payloads.SeatState(each.number, labels.name(each.name), each.number in view.online)
            for each in table.seats
        ),
        game=_game(table.game, labels, began) if table.game is not None else None,
        asked=asked,
        faults=tuple(part for part, _ in view.faults),
    )


def _game(game: Game, labels: Labels, began: str) -> payloads.GameBoard:
    state, seats = game.state, game.seats
    best = max(state.total(player) for player in range(state.players))
    return payloads.GameBoard(
        game=game_id(game.number, began),
        number=game.number,
        variant=state.plan.name,
        phase=state.phase.value,
        turn=state.turn,
        active=seats[state.active],
        players=tuple(_player(game, player, labels) for player in range(state.players)),
        roll=roll_of(state),
        house=tuple(sorted(rule.value for rule in state.setup.house)),
        closed=tuple(
            payloads.ClosedRow(
                state.plan.rows[each.row].key,
                colour_of(state, each.row),
                _seats(game, each.players),
            )
            for each in state.closed
        ),
        waiting_for=_seats(game, state.waiting_for),
        leaders=_seats(game, (p for p in range(state.players) if state.total(p) == best)),
        end=state.end.value if state.end is not None else None,
    )


def _player(game: Game, player: int, labels: Labels) -> payloads.PlayerState:
    state, name, seat = game.state, game.names[player], game.seats[player]
    return payloads.PlayerState(
        seat=seat,
        name=labels.name(name),
        total=state.total(player),
        rows=state.points(player),
        sheet={
            key: tuple(numbers)
            for key, numbers in state.plan.marks_of(state.crosses[player]).items()
        },
        misses=state.misses[player],
        answered=state.phase in (Phase.ACTION1, Phase.ACTION2)
        and state.answers[player] is not None,
        gone=player in state.gone,
        label=labels.label(seat, name),
    )


def roll_of(state: GameState) -> payloads.Roll | None:
    """The confirmed dice of this turn."""
    roll = state.roll
    if roll is None:
        return None
    coloured = {colour.value: value for colour, value in roll.coloured}
    return payloads.Roll(roll.white, roll.white_sum, coloured)


def colour_of(state: GameState, row: int) -> str:
    """The colour of a row that can be closed: that of its die."""
    lock = state.plan.rows[row].lock
    return lock.value if lock is not None else ""


def _seats(game: Game, players: Iterable[int]) -> tuple[int, ...]:
    return tuple(game.seats[player] for player in players)
