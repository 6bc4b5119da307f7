"""Kept games, who did how well in them, and which one to take up again."""

from __future__ import annotations

from companion.engine import End
from companion.engine.variants import PLANS
from web.openapi.schema import (
    COLOUR,
    FLAG,
    HOUSE_RULE,
    TEXT,
    WHOLE,
    Json,
    by_key,
    many,
    maybe,
    ref,
    thing,
)

GAMES: Json = {
    "Standing": thing(
        "What a player did over several finished games.",
        name=TEXT,
        games=WHOLE,
        wins={**WHOLE, "description": "Shared victories included."},
        points=WHOLE,
        best=WHOLE,
        misses=WHOLE,
    ),
    "GameResult": thing(
        "One game and how it went.",
        ("paused", "running", "sheets", "closed", "text"),
        number=WHOLE,
        at={**TEXT, "description": "When it began, or was taken in."},
        variant={"type": "string", "enum": list(PLANS)},
        house=many(HOUSE_RULE),
        imported=FLAG,
        over=FLAG,
        end=maybe({"type": "string", "enum": [end.value for end in End]}),
        turns=WHOLE,
        fault={**maybe(TEXT), "description": "Why it is not whole."},
        paused={**FLAG, "description": "Put aside, to be taken up another time."},
        running=FLAG,
        players=many(
            thing(
                "The best first.",
                name=TEXT,
                rank=maybe(WHOLE),
                total=WHOLE,
                rows=by_key(WHOLE),
                misses=WHOLE,
                minus=WHOLE,
            )
        ),
        sheets=many(
            thing(
                "",
                name=TEXT,
                misses=WHOLE,
                rows=many(
                    thing(
                        "",
                        key=TEXT,
                        name=TEXT,
                        colour=maybe(COLOUR),
                        beside=many(TEXT),
                        numbers=many(WHOLE),
                        crossed=many(WHOLE),
                        lock=FLAG,
                        points=maybe(WHOLE),
                    )
                ),
            )
        ),
        closed=many(thing("", row=TEXT, by=many(TEXT))),
        text={**TEXT, "description": "Turn by turn, for people."},
    ),
    "Games": thing(
        "Every game, the newest first, and who did how well.",
        games=many(ref("GameResult")),
        evenings=many(thing("", at=TEXT, games=many(WHOLE), standings=many(ref("Standing")))),
        players=many(ref("Standing")),
    ),
    "Resume": thing("", number=WHOLE),
}
