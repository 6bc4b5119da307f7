"""What a request asks for, field by field; nonsense is refused by name."""

from __future__ import annotations

from typing import Any, TypeVar

from flask import request

from companion.engine import DieColour, Roll
from companion.messages.catalogue import Word, line
from web import security
from web.security import Refused

T = TypeVar("T")

LONGEST_KEY = 64
LONGEST_MOMENT = 64
LONGEST_TOKEN = 16


def bad(key: str, /, **data: Word) -> Refused:
    """A request that makes no sense."""
    return Refused(400, "BAD_REQUEST", line(key, **data))


def body() -> dict[str, Any]:
    """The JSON object that was sent."""
    return security.json_body(request)


def require(asked: dict[str, Any], name: str, kind: type[T], *, longest: int | None = None) -> T:
    """One field of a request, of its type.

    Raises:
        Refused: It is missing, of another type or too long.
    """
    value = asked.get(name)
    keys = {str: "asked.text", int: "asked.number", bool: "asked.flag", list: "asked.list"}
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise bad(keys.get(kind, "asked.object"), field=name)
    if longest is not None and isinstance(value, str) and len(value) > longest:
        raise bad("asked.longest", field=name, longest=longest)
    return value


def key(asked: dict[str, Any]) -> str:
    """The idempotency key of a request, empty for none."""
    return require(asked, "key", str, longest=LONGEST_KEY) if "key" in asked else ""


def moment(asked: dict[str, Any]) -> str | None:
    """What a host's step was foreseen on, where it was."""
    return require(asked, "moment", str, longest=LONGEST_MOMENT) if "moment" in asked else None


def optional(asked: dict[str, Any], name: str, kind: type[T]) -> T | None:
    """One field of a request that may be missing or null."""
    return require(asked, name, kind) if asked.get(name) is not None else None


def due(asked: dict[str, Any]) -> tuple[int, int] | None:
    """Number and turn of the game that a roll was entered for, where they were sent."""
    game, turn = optional(asked, "game", int), optional(asked, "turn", int)
    return None if game is None or turn is None else (game, turn)


def typed_roll(asked: dict[str, Any]) -> Roll:
    """The dice somebody entered; whether they are the dice in play the judge says."""
    white, coloured = require(asked, "white", list), require(asked, "colour", dict)
    values = [*white, *coloured.values()]
    if not all(isinstance(v, int) and not isinstance(v, bool) for v in values):
        raise bad("asked.dice")
    names = {colour.value: colour for colour in DieColour if colour is not DieColour.WHITE}
    if len(white) != 2 or not set(coloured) <= set(names):
        raise bad("asked.dice")
    return Roll.of((white[0], white[1]), {names[c]: v for c, v in coloured.items()})


def box(asked: dict[str, Any]) -> str | None:
    """The box of an answer; null, and nothing else, is a pass."""
    if "box" not in asked or asked["box"] == "":
        raise bad("asked.text", field="box")
    return None if asked["box"] is None else require(asked, "box", str, longest=LONGEST_TOKEN)
