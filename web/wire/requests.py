"""The bodies of requests."""

from __future__ import annotations

from typing import Annotated

from companion.eventlog.state import STRENGTHS
from companion.service.power import PowerStep
from companion.session.session import HostStep
from companion.wire.structs import UNSET, Meta, UnsetType, about, described, field, one_of
from web.wire.values import (
    LONGEST_KEY,
    AnyBox,
    AnyColour,
    AnyMishap,
    AnyName,
    AnyRule,
    AnyTrouble,
    AnyVariant,
    Colour,
    Language,
    Request,
    Say,
    Speed,
    Volume,
)

MOST_CORNERS = 24
_FAR_PX = 1e5

Key = Annotated[
    str,
    Meta(max_length=LONGEST_KEY),
    about(
        "Random; a retry carries the same. One of 24 hexadecimal digits, a hyphen and a number "
        "counts only before those of the same digits and a higher number."
    ),
]
Moment = Annotated[
    str,
    Meta(max_length=LONGEST_KEY),
    about("From the preview: the step fails where the table has gone on."),
]
ChosenBox = Annotated[AnyBox | None, Meta(examples=["R7", None]), about("Null is a pass.")]
Rolled = Annotated[int | None, about("game.rolled: the dice that are answered.")]
Value = Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": 6})]
"""The rules reject others."""

White = Annotated[
    tuple[Value, Value],
    Meta(extra_json_schema={"examples": [[3, 4]]}),
    described("two white dice", kind="dice"),
]
Coloured = Annotated[
    dict[Colour, Value],
    Meta(
        extra_json_schema={
            "minProperties": 3,
            "examples": [{"red": 1, "yellow": 2, "green": 5, "blue": 6}],
        }
    ),
    described("the coloured dice in play", kind="dice"),
]
Coordinate = Annotated[float, Meta(ge=-_FAR_PX, le=_FAR_PX)]
Code = Annotated[str, Meta(max_length=16)]


class Nothing(Request):
    """No fields."""


class OfSeat(Request):
    """A seat."""

    seat: int


class Free(OfSeat):
    """A player's seat to free."""

    name: Annotated[
        str | None,
        about("The player's: fails where another sits there, or another game than `game` runs."),
    ] = None
    game: Annotated[int | None, about("The number of the running game, null for none.")] = None


class Join(Request):
    """A name for a new player."""

    name: AnyName
    code: Annotated[Code, about("The table's code, where `me.needs_code` is true.")] = ""
    another: Annotated[bool, about("One more seat for a device that has one.")] = False


class Leave(Request):
    """A seat to give up."""

    seat: int | None = None
    from_game: Annotated[
        bool, about("In a running game: it goes on without this player, the points are kept.")
    ] = False
    key: Key = ""


class Claim(Request):
    """A seat to take over."""

    seat: int
    code: Code = ""


class Host(Request):
    """The host's PIN."""

    pin: Annotated[Code | None, about("Null while nobody hosts the table.")] = None


class Pair(Request):
    """The code that a new table view shows."""

    code: Code


class AddBot(Request):
    """A bot for a free seat."""

    strength: Annotated[str, one_of(STRENGTHS)]


class Order(Request):
    """Seats in the playing order of the next game."""

    seats: Annotated[list[int], described("a list of seats")]


class Settings(Request):
    """Settings of the table; those left out stay."""

    hints: bool | UnsetType = UNSET
    sound: bool | UnsetType = UNSET
    take_back: bool | UnsetType = UNSET
    chances: bool | UnsetType = UNSET
    share_names: bool | UnsetType = UNSET
    share_pictures: bool | UnsetType = UNSET
    language: Language | UnsetType = UNSET
    say: Say | UnsetType = UNSET
    volume: Volume | UnsetType = UNSET
    words_per_minute: Speed | UnsetType = UNSET


class ChooseLanguage(Request):
    """A language of this browser; null follows the browser's preference."""

    language: Language | None = None


class PreviewOf(Request):
    """A step of the host, with the right dice for `correct`."""

    what: HostStep
    white: White | None = None
    colour: Coloured | None = None


PreviewBody = Annotated[
    PreviewOf,
    Meta(
        extra_json_schema={
            "anyOf": [
                {"properties": {"what": {"enum": [s for s in HostStep if s != HostStep.CORRECT]}}},
                {
                    "required": ["white", "colour"],
                    "properties": {"white": {"type": "array"}, "colour": {"type": "object"}},
                },
            ]
        }
    ),
]
"""The same for the JSON Schema, which says that `correct` needs dice."""


class Step(Request):
    """A step of the host."""

    moment: Moment | None = None


class Undo(Request):
    """The step to take back: two undos need two previews."""

    moment: Moment


class Correction(Request):
    """The right dice of the last roll."""

    white: White
    colour: Coloured
    moment: Moment | None = None


class Start(Request):
    """A new game."""

    variant: AnyVariant = "base"
    first: Annotated[int | None, about("The first player's seat; drawn by lot when null.")] = None
    house: Annotated[list[AnyRule], about("House rules; none by default.")] = field(
        default_factory=list
    )
    practice: Annotated[
        bool, about("The coach suggests answers; the game enters nobody's statistics.")
    ] = False


class RenamePlayer(Request):
    """A player of saved games and the new name; that of another player merges the two."""

    name: str
    to: Annotated[AnyName | None, about("Null deletes the player and the pictures of their games.")]


class Resume(Request):
    """A saved game to resume."""

    number: int


class Answer(Request):
    """An answer in the open action."""

    turn: int
    action: Annotated[int, Meta(examples=[1, 2])]
    box: ChosenBox
    seat: Annotated[int | None, about("One of the sender's own seats.")] = None
    done: Annotated[bool, about("There is nothing more to change.")] = False
    revocable: Annotated[
        bool, about("With the last answer, the action stays open for table.take_back_s.")
    ] = False
    key: Key = ""
    rolled: Rolled = None


class AnswerFor(Request):
    """An answer of the host for somebody else."""

    seat: int
    turn: int
    action: Annotated[int, Meta(examples=[1, 2])]
    box: ChosenBox
    rolled: Rolled = None


class Withdraw(Request):
    """An answer to take back."""

    turn: int
    action: Annotated[int, Meta(examples=[1, 2])]
    seat: int | None = None
    key: Key = ""
    rolled: Rolled = None


class Press(Request):
    """A press of the button on the screen."""

    game: Annotated[
        int | None, about("game.number and game.turn: fails where the table has gone on.")
    ] = None
    turn: int | None = None


class Entered(Request):
    """Dice entered by hand."""

    white: White
    colour: Coloured
    game: Annotated[int | None, about("game.number and game.turn of the roll.")] = None
    turn: int | None = None


class Throw(Request):
    """A throw of the simulated dice."""

    mishap: Annotated[AnyMishap | None, about("One of table.mishaps.")] = None


class Trouble(Request):
    """A fault of the simulated camera."""

    trouble: Annotated[AnyTrouble, about("One of table.troubles.")]


class FixDie(Request):
    """The real value of one die in the tray."""

    frame: Annotated[int, about("The shown tray.frame; nothing may have moved since.")]
    x: Annotated[Coordinate, about("Where it lies, in pixels of that picture.")]
    y: Coordinate
    value: Value
    colour: Annotated[AnyColour | None, about("Where the reader does not know it.")] = None


class Switch(Request):
    """A request to switch the machine off, or to start it again."""

    step: PowerStep


class Picture(Request):
    """A kept picture to delete."""

    revision: Annotated[int | None, about("All of them when null.")] = None


class Corners(Request):
    """Corners of the tray's floor, in px of the picture."""

    corners: Annotated[
        list[tuple[Coordinate, Coordinate]],
        Meta(max_length=MOST_CORNERS),
        described("a list of [x, y]"),
    ]


class Plays(Request):
    """The colours that the dice play, from left to right."""

    plays: Annotated[list[AnyColour], described("a list of colours")]
    look: Annotated[int | None, about("The look of these dice: an older one is not kept.")] = None
