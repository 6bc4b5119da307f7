"""The table's state: seats, settings and the current game (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from companion.audio.settings import VoiceOverride
from companion.engine import (
    MOST_PLAYERS,
    GameState,
    Phase,
)

SWITCHES = ("hints", "sound", "take_back", "chances", "share_names", "share_pictures")
"""Fields of `Settings` that are on or off."""

STRENGTHS = ("easy", "medium", "strong")
"""How well a bot plays."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A player's seat, with the hashes of the tokens that prove it, one for each device.

    Attributes:
        bot: One of `STRENGTHS` if a bot plays it, else empty.
    """

    number: int
    name: str
    tokens: tuple[str, ...] = ()
    bot: str = ""

    @property
    def waits(self) -> bool:
        """Whether no device has taken a person's seat yet, as after a game was resumed."""
        return not self.tokens and not self.bot


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings chosen at the table.

    Attributes:
        hints: Sheets highlight the boxes that may be crossed now.
        sound: Announcements are spoken.
        take_back: The last answer, too, may be taken back for a moment.
        chances: The table view shows everybody's chance to win.
        share_names: Players' names may leave the table through the broker.
        share_pictures: Pictures of rolls may, too.
        speaking: Voice settings that were changed at the table.
    """

    hints: bool = True
    sound: bool = True
    take_back: bool = True
    chances: bool = False
    share_names: bool = False
    share_pictures: bool = False
    speaking: tuple[VoiceOverride, ...] = ()


@dataclass(frozen=True, slots=True)
class Game:
    """One game of the evening.

    Attributes:
        number: From 1.
        seats: Seat numbers in playing order; a player of `state` is an index into it.
        names: The players' names when the game began.
        bots: By player, the bot's strength, or empty for a person.
        done: Players who finished the open action.
        revocable: Players whose answer may still be taken back once everybody has answered.
        typed: The roll of this turn was entered by hand.
        rolled: Revision of the record that confirmed this turn's roll.
        corrected: Revision of the record that corrected it last, or 0.
        practice: The coach suggests answers while the game is played.
    """

    number: int
    seats: tuple[int, ...]
    state: GameState
    names: tuple[str, ...]
    bots: tuple[str, ...]
    done: frozenset[int] = frozenset()
    revocable: frozenset[int] = frozenset()
    typed: bool = False
    rolled: int = 0
    practice: bool = False
    corrected: int = 0

    @property
    def dice_since(self) -> int:
        """Revision of the record that gave this turn's dice: the roll's, or its correction's."""
        return self.corrected or self.rolled


@dataclass(frozen=True, slots=True)
class Table:
    """Everything that must survive a power cut.

    Attributes:
        seats: In playing order, clockwise.
        hosts: Hashes of the devices that may host the table.
        paused: Games put aside, to be resumed later.
    """

    revision: int = 0
    seats: tuple[Seat, ...] = ()
    game: Game | None = None
    games: int = 0
    settings: Settings = Settings()
    hosts: tuple[str, ...] = ()
    paused: tuple[Game, ...] = ()

    @property
    def running(self) -> Game | None:
        """The current game, or None once it is over."""
        is_running = self.game is not None and self.game.state.phase is not Phase.OVER
        return self.game if is_running else None

    def seat(self, number: int) -> Seat | None:
        """A seat by its number."""
        return next((seat for seat in self.seats if seat.number == number), None)

    def name(self, number: int) -> str:
        """The name at a seat, or the name in the current game if the seat is free."""
        seat = self.seat(number)
        if seat is not None:
            return seat.name
        if self.game is not None and number in self.game.seats:
            return self.game.names[self.game.seats.index(number)]
        return f"#{number + 1}"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the current game's players in playing order."""
        return self.game.names if self.game else ()


def free_seat(table: Table) -> int | None:
    """The lowest free seat number, or None if all are taken (E40)."""
    taken = {seat.number for seat in table.seats}
    return next((number for number in range(MOST_PLAYERS) if number not in taken), None)
