"""Answers of single calls: health, preview, pictures and the tray's setup."""

from __future__ import annotations

from typing import Annotated

from companion.doctor.health import State
from companion.wire.structs import about, one_of
from web.wire.values import AnyColour, Point, Reply, Size


class Part(Reply):
    """State of a part."""

    state: Annotated[str, one_of(State)]
    reason: Annotated[str, about("Why it is not ok; empty if it is.")]


class Health(Reply):
    """Whether people can play, and the state of each part."""

    status: Annotated[str, one_of(("ok", "failed")), about("failed: nobody can play.")]
    version: str
    camera: str
    button: str
    parts: dict[str, Part]
    reading_age_s: Annotated[float | None, about("Seconds since the camera's last frame.")]


class Preview(Reply):
    """The changes that a step would make."""

    lines: list[str]
    moment: Annotated[str, about("Sent with the step: it fails where the table has gone on.")]


class KeptPicture(Reply):
    """The picture of a confirmed roll."""

    revision: int
    game: int
    turn: int
    at: str
    size: int


class Pictures(Reply):
    """The kept pictures, the newest first."""

    pictures: list[KeptPicture]


class SetupNote(Reply):
    """A remark on the tray's picture."""

    code: str
    text: str


class SetDie(Reply):
    """A die of the dice set."""

    plays: AnyColour
    odd: bool


class Setup(Reply):
    """How far the tray is set up, and the state of its picture."""

    size: Size
    faults: list[SetupNote]
    change: Annotated[SetupNote | None, about("Since it was set up.")]
    corners: Annotated[list[Point] | None, about("Of the tray's floor, in px of `size`.")]
    controls: Annotated[dict[str, float], about("What the camera holds now.")]
    held: Annotated[bool, about("They are kept.")]
    dice: list[SetDie]


class Proposed(Reply):
    """The corners that were found."""

    corners: list[Point] | None


class LookedDie(Reply):
    """A die in the tray, in px of the picture."""

    centre: Point
    corners: list[Point]
    plays: AnyColour
    odd: bool


class Looked(Reply):
    """The dice in the tray, from left to right."""

    look: Annotated[int, about("The number of this look, for keeping its dice.")]
    dice: list[LookedDie]
