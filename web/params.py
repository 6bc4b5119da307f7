"""Request bodies and query parameters as typed values; a refusal names the wrong field."""

from __future__ import annotations

from typing import Any, TypeVar

from flask import request

from companion.engine import DieColour, Roll
from companion.messages.catalogue import Word, line
from companion.wire.structs import WireError, convert
from web import security
from web.security import Refused
from web.wire.values import Whole

T = TypeVar("T")

_LONGEST_SHOWN = 20
"""Characters of a wrong value that an error repeats."""

_KEYS = {
    "text": "asked.text",
    "number": "asked.number",
    "flag": "asked.flag",
    "list": "asked.list",
    "object": "asked.object",
}
"""The sentence for each expected type."""


def bad(key: str, /, **data: Word) -> Refused:
    """Make the refusal of a malformed request."""
    return Refused(400, "BAD_REQUEST", line(key, **data))


def body(kind: type[T]) -> T:
    """Read the request's JSON body.

    Raises:
        Refused: It is not JSON, or a field is missing or does not fit.
    """
    try:
        found: T = convert(security.json_body(request), kind)
    except WireError as error:
        raise _refusal(error) from None
    return found


def required(name: str, kind: Any = Whole) -> Any:
    """Read a value from the query, by default a whole number.

    Raises:
        Refused: It is missing or does not fit.
    """
    try:
        return convert(request.args.get(name), kind, is_text=True)
    except WireError as error:
        raise _refusal(error, name) from None


def optional(name: str, kind: Any = Whole) -> Any:
    """Read a value from the query, None where it is missing.

    Raises:
        Refused: It does not fit.
    """
    return required(name, kind) if name in request.args else None


def entered_roll(white: tuple[int, int], colour: dict[str, int]) -> Roll:
    """Make a roll of entered dice; the rules judge them."""
    return Roll.of(white, {DieColour(name): value for name, value in colour.items()})


def _refusal(error: WireError, name: str = "") -> Refused:
    field = error.path or name
    if error.kind == "dice":
        return bad("asked.dice")
    if error.kind == "longest":
        return bad("asked.longest", field=field, longest=error.longest or 0)
    if error.kind in ("choice", "range"):
        return bad("asked.other", field=field, value=str(error.value)[:_LONGEST_SHOWN])
    return bad(_KEYS[error.kind], field=field)
