"""The snapshot and its parts, and the answer to a rejected request."""

from __future__ import annotations

from typing import Annotated

from companion.engine import End, Phase
from companion.history.notices import KINDS as NOTICE_KINDS
from companion.tray import CameraState, TrayStatus
from companion.wire.structs import UNSET, UnsetType, about, one_of
from web.wire.values import (
    AnyColour,
    Colour,
    Face,
    Language,
    Point,
    Reply,
    Rule,
    Say,
    Seat,
    Size,
    Speed,
    Token,
    Variant,
    Volume,
    Whole,
)

Ending = Annotated[str, one_of(end.value for end in End)]


class Door(Reply):
    """Ways for people to join, as the table view shows them."""

    code: str
    pin: Annotated[str | None, about("For hosts, and for the machine's own table view.")]
    wifi: str | None


class Me(Reply):
    """The device that sent the request."""

    seat: Seat | None
    seats: Annotated[list[Seat], about("All its seats: a shared tablet has several.")]
    host: Annotated[bool, about("It may lead the table.")]
    needs_code: Annotated[bool, about("It has to send the table's code to sit down.")]
    confirms: Annotated[bool, about("It may confirm the roll, and throw a simulated one.")]
    door: Annotated[Door | None, about("For paired table views and the host only.")]
    pairing: Annotated[
        str | None, about("A table view that is not paired shows it; a host enters it.")
    ]


class Table(Reply):
    """The table's name, equipment and settings."""

    name: str
    join_url: str
    join_name: Annotated[str, about("The same with the machine's name; empty without mDNS.")]
    language: Annotated[Language, about("The table's own: of its screen and its voice.")]
    camera: Annotated[str, one_of(each.value for each in CameraState)]
    button: Annotated[str, one_of(("ok", "mock", "none", "lost"))]
    on_screen_button: bool
    can_throw: bool
    mishaps: Annotated[list[str], about("For /api/throw; none with real dice.")]
    troubles: Annotated[list[str], about("For /api/trouble; none with a real camera.")]
    keeps_pictures: Annotated[bool, about("Pictures of confirmed rolls are kept here.")]
    can_power: Annotated[bool, about("The host may switch the machine off.")]
    typed_rolls: Annotated[bool, about("Dice are entered by hand: no camera sees them.")]
    hints: Annotated[bool, about("Sheets show the boxes that may be crossed.")]
    sound: Annotated[bool, about("Announcements are spoken.")]
    take_back: Annotated[bool, about("The last answer, too, may be taken back.")]
    take_back_s: Annotated[float, about("For how long; 0 while `take_back` is false.")]
    chances: Annotated[bool, about("The table view shows chances to win.")]
    has_broker: Annotated[bool, about("The table publishes to an MQTT broker.")]
    share_names: Annotated[bool, about("Names go there, too.")]
    share_pictures: Annotated[bool, about("Photos of the rolls go there, too.")]
    say: Say
    volume: Volume
    words_per_minute: Speed
    hosted: Annotated[bool, about("The table has a host.")]


class SeatState(Reply):
    """A seat and its player."""

    seat: Seat
    name: str
    online: Annotated[bool, about("A page of the seat is open, or a bot plays it.")]
    offered: Annotated[bool, about("Another device may claim it.")]
    waits: Annotated[bool, about("No device has taken it yet, as after a game was resumed.")]
    bot: Annotated[str | None, about("A bot's strength; null for a person.")]


class Roll(Reply):
    """The dice of a roll."""

    white: tuple[Face, Face]
    colour: dict[Colour, Face]


class HouseRuleState(Reply):
    """A house rule and the rulings it replaces."""

    rule: Rule
    replaces: list[str]


class Sums(Reply):
    """The sums of a roll."""

    white: int
    colour: dict[Colour, list[int]]


class Box(Reply):
    """One box of a row."""

    token: Token
    number: int
    colour: Colour | None


class Row(Reply):
    """One printed row, its boxes from left to right."""

    key: str
    name: str
    word: Annotated[str, about("Its key among the texts of a page.")]
    bonus: bool
    beside: list[str]
    lock: Colour | None
    boxes: list[Box]


class ClosedRow(Reply):
    """A closed row."""

    row: str
    colour: Colour | None
    by: list[Seat]


class ClosingRow(Reply):
    """An answer that closes a row if it stands."""

    row: str
    seat: Seat


class Points(Reply):
    """The points of a sheet."""

    rows: dict[str, int]
    minus: int
    total: int


class Answered(Reply):
    """The answer in the open action."""

    box: Annotated[Token | None, about("Null for a pass.")]
    done: bool


class DieValue(Reply):
    """A die and its value."""

    colour: AnyColour
    value: Face


class Chance(Reply):
    """A chance to win, in per cent, and twice its standard error."""

    percent: int
    within: int


class Player(Reply):
    """A player of the game and their sheet."""

    seat: Seat
    name: str
    gone: Annotated[bool, about("Left for good; the points are kept.")]
    bot: Annotated[bool, about("A bot plays it.")]
    sheet: Annotated[dict[str, list[Token]], about("Crossed boxes by row.")]
    locks: list[str]
    misses: Whole
    misses_most: Whole
    points: Points
    answer: Annotated[Answered | None, about("Null while there is none.")]
    legal: list[Token]
    made_by: Annotated[dict[str, list[DieValue]], about("The two dice that make each legal box.")]
    lost: Annotated[list[Token], about("Boxes that can never be crossed any more.")]
    chance: Annotated[Chance | None, about("To win; null unless the host wants chances.")]


class Notice(Reply):
    """A change of a player's sheet by somebody else."""

    revision: Annotated[int, about("Number of the event that made it.")]
    seat: Seat
    kind: Annotated[str, one_of(NOTICE_KINDS)]
    lost: Annotated[list[Token], about("Crosses and answers that are gone.")]
    crossed: Annotated[Token | None, about("The box that the host crossed.")]
    misses: Annotated[int, about("Misses gained, or lost if below zero.")]


class Ranked(Reply):
    """A place in the final ranking."""

    rank: int
    seat: Seat
    total: int


class Advice(Reply):
    """The coach's choice in the open action."""

    seat: Seat
    box: Annotated[Token | None, about("Null for a pass.")]


class Game(Reply):
    """The current game."""

    number: int
    variant: Variant
    phase: Annotated[str, one_of(phase.value for phase in Phase)]
    turn: int
    action: Annotated[int, about("The open action, 1 or 2; 0 while none is.")]
    active: Seat
    first: Seat
    roll: Roll | None
    typed: Annotated[bool, about("The roll was entered by hand.")]
    rolled: Annotated[int | None, about("Revision of the roll or its correction, for answers.")]
    house: list[HouseRuleState]
    sums: Sums | None
    rows: list[Row]
    dice: Annotated[list[Colour], about("Colours still in play.")]
    closed: list[ClosedRow]
    waiting_for: Annotated[list[Seat], about("Seats that have still to answer.")]
    closing: list[ClosingRow]
    closes_in_s: Annotated[float | None, about("When the open action closes by itself.")]
    miss_due: Annotated[bool, about("In action 2: a pass is a miss.")]
    practice: Annotated[bool, about("The coach suggests answers.")]
    advice: Annotated[list[Advice], about("In a practice game, for people who may answer.")]
    players: list[Player]
    notices: list[Notice]
    over: bool
    end: Ending | None
    end_ruling: Annotated[str | None, about("The ruling that ended it; none if people did.")]
    end_text: str
    winner_text: str
    ranking: list[Ranked]
    winners: Annotated[list[Seat], about("Nobody if the game was ended early.")]


class Die(Reply):
    """A die in the tray; coordinates are pixels of the picture."""

    colour: AnyColour | None
    value: Face | None
    confidence: float
    centre: Point
    corners: list[Point]
    cocked: bool
    in_tray: bool
    by_hand: Annotated[bool, about("A person corrected it; gone when dice move.")]
    doubtful: Annotated[bool, about("Keeps the reading from being a roll until it is corrected.")]


class TrayProblem(Reply):
    """A reason why a roll is not announced, or a warning."""

    code: str
    colour: AnyColour | None


class Tray(Reply):
    """The tray as the camera sees it."""

    status: Annotated[str, one_of(status.value for status in TrayStatus)]
    confirmable: bool
    roll: Annotated[Roll | None, about("What the button would confirm.")]
    asked: Annotated[
        str | None, about("Colour of the doubtful die that whoever threw can tell next.")
    ]
    text: Annotated[str, about("The tray in one text; without a game no prompt to throw.")]
    note: str | None
    frame: Annotated[int, about("Number of the picture for /api/frame.jpg.")]
    size: Size
    dice: list[Die]
    problems: list[TrayProblem]


class Fault(Reply):
    """A part of the table that does not work."""

    part: str
    code: str
    text: Annotated[str, about("One sentence for people.")]


class Announced(Reply):
    """The last announcement."""

    number: int
    kind: str
    headline: str
    text: str
    lines: Annotated[list[str], about("The boxes a coloured die opens, row by row.")]


class Heard(Reply):
    """An announcement for the ear: also who passed, and what broke or works again."""

    number: int
    kind: str
    spoken: Annotated[str, about("What is read aloud; may be empty.")]


class Shared(Reply):
    """The part of a snapshot that is the same for every device."""

    revision: Annotated[int, about("Number of the last kept event.")]
    version: Annotated[int, about("Rises with every change; counts anew in each epoch.")]
    epoch: Annotated[str, about("Names this run of the program, after the version of its pages.")]
    language: Annotated[Language, about("The language of the texts in this snapshot.")]
    table: Table
    seats: Annotated[
        list[SeatState],
        about("In playing order; an offered one may be claimed by another device."),
    ]
    game: Game | None
    tray: Tray
    faults: list[Fault]
    announcement: Announced | None
    heard: Annotated[list[Heard], about("The latest ones, the newest last.")]


class Snapshot(Shared):
    """Everything a page shows, at one moment."""

    me: Me


class Problem(Reply, omit_defaults=True):
    """Why a request was rejected."""

    error: Annotated[str, about("A code for programs.")]
    ruling: Annotated[str | UnsetType | None, about("The ruling it rests on.")] = UNSET
    message: Annotated[str, about("A sentence for people.")] = ""
    state: Snapshot | UnsetType = UNSET
