"""The tray being set up."""

from __future__ import annotations

from web.openapi.schema import (
    ANY_COLOUR,
    FLAG,
    NUMBER,
    POINT,
    TEXT,
    WHOLE,
    Json,
    by_key,
    many,
    maybe,
    thing,
)

SETTING_UP: Json = {
    "Setup": thing(
        "How far the tray is set up, and how its picture is now.",
        size={"type": "array", "items": WHOLE, "minItems": 2, "maxItems": 2},
        faults=many(thing("", code=TEXT, text=TEXT)),
        change={**maybe(thing("", code=TEXT, text=TEXT)), "description": "Since it was set up."},
        corners={**maybe(many(POINT)), "description": "Of the tray's floor, in px of `size`."},
        controls={**by_key(NUMBER), "description": "What the camera holds now."},
        held={**FLAG, "description": "They are kept."},
        dice=many(thing("", plays=ANY_COLOUR, odd=FLAG)),
    ),
    "Corners": thing("", corners=many(POINT)),
    "Proposed": thing("", corners=maybe(many(POINT))),
    "Looked": thing(
        "",
        look={**WHOLE, "description": "The number of this look, for keeping its dice."},
        dice={
            **many(thing("", centre=POINT, corners=many(POINT), plays=ANY_COLOUR, odd=FLAG)),
            "description": "From left to right.",
        },
    ),
    "Plays": thing(
        "",
        ("look",),
        plays={**many(ANY_COLOUR), "description": "From left to right."},
        look={**WHOLE, "description": "Given, dice that were looked at since are not kept."},
    ),
}
