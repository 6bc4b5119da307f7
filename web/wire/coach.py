"""The coach's replies about one game."""

from __future__ import annotations

from typing import Annotated

from companion.wire.structs import Meta, about
from web.wire.values import Reply


class Drawn(Reply):
    """A picture and what it shows in words."""

    svg: Annotated[str, about("An svg element in the colour of the text around it.")]
    title: str
    lines: list[str]


class DiceDrawn(Drawn):
    """The faces of the dice as a picture."""

    enough: Annotated[bool, about("There are enough throws to judge the dice.")]


class Coached(Reply):
    """The curves of a game; once it is over and reviewed, luck, skill and turning points."""

    number: int
    share: Annotated[
        float, Meta(ge=0, le=1), about("How much of the review is done; ask again below 1.")
    ]
    scores: Drawn
    luck: Drawn | None
    turning: Annotated[list[str], about("The turning points, a sentence each.")]
    mistakes: Annotated[list[str], about("The costliest of each player.")]
