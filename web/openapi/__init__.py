"""The HTTP API, described (OpenAPI 3.1): what the pages use is what stands here."""

from __future__ import annotations

from web.openapi.games import GAMES
from web.openapi.paths import every_path
from web.openapi.schema import TEXT, Json, thing
from web.openapi.setup import SETTING_UP
from web.openapi.snapshot import SNAPSHOT
from web.openapi.steps import STEPS

SCHEMAS: Json = {
    **SNAPSHOT,
    **GAMES,
    **SETTING_UP,
    "Health": thing("", status=TEXT, version=TEXT, camera=TEXT, button=TEXT),
    **STEPS,
}


def document(version: str) -> Json:
    """The whole description."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Dice Companion",
            "version": version or "0",
            "description": "A table on the home network: who sits there, the dice, the sheets.",
        },
        "paths": every_path(),
        "components": {"schemas": SCHEMAS},
    }
