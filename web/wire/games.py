"""Kept games and the standings."""

from __future__ import annotations

from typing import Annotated

from companion.wire.structs import UNSET, UnsetType, about
from web.wire.coach import Drawn
from web.wire.snapshot import Ending, Roll
from web.wire.values import Colour, Rating, Reply, Rule, Token, Variant, Whole


class Standing(Reply):
    """A player's results over several finished games."""

    name: str
    games: Whole
    wins: Annotated[Whole, about("Shared victories included.")]
    points: int
    best: int
    misses: Whole


class PlayerResult(Reply):
    """A player's result in one game."""

    name: str
    rank: int | None
    total: int
    rows: dict[str, int]
    misses: Whole
    minus: int


class SheetRow(Reply):
    """One row of a sheet, at the end or after a turn."""

    key: str
    name: str
    colour: Colour | None
    beside: list[str]
    numbers: list[int]
    crossed: list[int]
    lock: bool
    points: int | None


class Sheet(Reply):
    """A player's sheet."""

    name: str
    misses: Whole
    total: int
    rows: list[SheetRow]


class ClosedBy(Reply):
    """A closed row and the players who closed it."""

    row: str
    by: list[str]


class MarkMade(Reply):
    """A cross that a player made."""

    name: str
    action: int
    token: Token
    text: Annotated[str, about("The box in words.")]


class PlayedTurn(Reply):
    """A turn: its roll and what became of it."""

    turn: int
    name: str
    roll: Roll
    marks: list[MarkMade]
    miss: Annotated[bool, about("The active player got a penalty.")]
    open: Annotated[bool, about("It is not over: an action is open.")]
    picture: Annotated[
        int | None, about("For /api/picture.jpg, where one is kept and the sender was let in.")
    ]


class GameResult(Reply):
    """One game and its result; sheets and rolls only where one game is requested."""

    number: int
    at: Annotated[str, about("When it began; if its file has no date, when it was imported.")]
    variant: Variant
    house: list[Rule]
    imported: bool
    over: bool
    end: Ending | None
    turns: int
    fault: Annotated[str | None, about("Why it is not whole.")]
    players: Annotated[list[PlayerResult], about("The best first.")]
    paused: Annotated[bool | UnsetType, about("Put aside, to be resumed another time.")] = UNSET
    running: bool | UnsetType = UNSET
    sheets: list[Sheet] | UnsetType = UNSET
    rolls: list[PlayedTurn] | UnsetType = UNSET
    closed: list[ClosedBy] | UnsetType = UNSET
    text: Annotated[str | UnsetType, about("Turn by turn, for people.")] = UNSET


class PlayerStatistics(Reply):
    """A player over the chosen games."""

    name: str
    games: Whole
    wins: Whole
    average: float
    best: int
    best_game: Annotated[int, about("Number of the game with the highest total.")]
    streak: Annotated[Whole, about("Most games in a row that they won.")]
    streak_now: Annotated[Whole, about("Games in a row that they won, up to the latest.")]
    misses: Annotated[float, about("Per game.")]
    closings: Annotated[float, about("Rows closed per game.")]
    rating: Annotated[Rating | None, about("Over all games; null for who only played alone.")]


class Meeting(Reply):
    """Two players who met: in how many games each had more points."""

    one: str
    other: str
    games: Whole
    one_ahead: Whole
    other_ahead: Whole


class BestGame(Reply):
    """One of the highest totals."""

    name: str
    total: int
    game: int
    at: str


class LuckShare(Reply):
    """How often luck decided games with two or more players."""

    games: Annotated[Whole, about("How many there are.")]
    luck: Annotated[Whole, about("Luck made up more of the winner's lead.")]
    choices: Annotated[Whole, about("Everybody's choices made up more of it.")]
    close: Annotated[Whole, about("Too close to tell. The rest was not reviewed.")]


class Statistics(Reply):
    """Players over the chosen games."""

    games: Whole
    players: Annotated[list[PlayerStatistics], about("The highest rating first.")]
    pairs: list[Meeting]
    best: list[BestGame]
    names: Annotated[list[str], about("Everybody, to choose from.")]
    people: Annotated[list[str], about("Everybody in any game, also one that does not count.")]
    ratings: Annotated[Drawn | None, about("The ratings drawn.")]
    decided: LuckShare
    decided_drawn: Annotated[Drawn | None, about("The same drawn; null without a review.")]


class Evening(Reply):
    """The games of one evening."""

    at: str
    games: list[int]
    standings: list[Standing]


class Games(Reply):
    """Every game, the newest first, and the standings of each evening."""

    games: list[GameResult]
    evenings: list[Evening]
