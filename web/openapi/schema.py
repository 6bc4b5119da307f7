"""What the schemas are built of: the values the API knows, and how they are put together."""

from __future__ import annotations

from typing import Any

from companion.audio.announcer import AMOUNTS
from companion.audio.espeak import SPEEDS, VOLUMES
from companion.engine import DieColour, HouseRule
from companion.engine.dice import COLOURED

Json = dict[str, Any]

TEXT: Json = {"type": "string"}
FLAG: Json = {"type": "boolean"}
NUMBER: Json = {"type": "number"}
WHOLE: Json = {"type": "integer"}
FACE: Json = {"type": "integer", "minimum": 1, "maximum": 6}
COLOUR: Json = {"type": "string", "enum": [colour.value for colour in COLOURED]}
ANY_COLOUR: Json = {"type": "string", "enum": [colour.value for colour in DieColour]}
TOKEN: Json = {"type": "string", "pattern": "^[A-Z]+[0-9]+$", "examples": ["R7", "GB10"]}
SAY: Json = {"type": "string", "enum": list(AMOUNTS), "description": "How much is said."}
VOLUME: Json = {"type": "integer", "minimum": VOLUMES[0], "maximum": VOLUMES[1]}
SPEED: Json = {"type": "integer", "minimum": SPEEDS[0], "maximum": SPEEDS[1]}
SEAT: Json = {"type": "integer", "minimum": 0}
HOUSE_RULE: Json = {"type": "string", "enum": [rule.value for rule in HouseRule]}
POINT: Json = {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}


def ref(name: str) -> Json:
    """A schema by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def maybe(schema: Json) -> Json:
    """A schema or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def many(schema: Json) -> Json:
    """A list of a schema."""
    return {"type": "array", "items": schema}


def by_key(schema: Json) -> Json:
    """An object whose every value follows a schema."""
    return {"type": "object", "additionalProperties": schema}


def thing(text: str = "", optional: tuple[str, ...] = (), /, **fields: Json) -> Json:
    """An object with these fields and no others."""
    return {
        "type": "object",
        **({"description": text} if text else {}),
        "properties": fields,
        "required": [name for name in fields if name not in optional],
        "additionalProperties": False,
    }
