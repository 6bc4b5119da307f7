"""What the steps ask for, and the answers only they have."""

from __future__ import annotations

from companion.engine.variants import PLANS
from companion.messages.catalogue import LANGUAGES
from web.openapi.schema import (
    ANY_COLOUR,
    FACE,
    FLAG,
    HOUSE_RULE,
    NUMBER,
    SAY,
    SEAT,
    SPEED,
    TEXT,
    TOKEN,
    VOLUME,
    WHOLE,
    Json,
    by_key,
    many,
    maybe,
    thing,
)

FORESEEN = ("undo", "close", "end", "correct")
"""Steps of the host whose changes can be shown before they are taken."""

MOMENT: Json = {
    **TEXT,
    "description": "What the step is taken on: given, it is not taken where the table has gone on.",
}

STEPS: Json = {
    "Nothing": {"type": "object"},
    "OfSeat": thing("", seat=SEAT),
    "Join": thing(
        "",
        ("code", "another"),
        name={**TEXT, "description": "At most 20 characters."},
        code={**TEXT, "description": "The table's code, where `me.needs_code` is true."},
        another={**FLAG, "description": "One more seat for a device that has one."},
    ),
    "Leave": thing(
        "",
        ("seat", "from_game"),
        seat=maybe(SEAT),
        from_game={
            **FLAG,
            "description": "Also in the middle of a game: the points so far are kept, and the "
            "game goes on without this player.",
        },
    ),
    "Claim": thing("", ("code",), seat=SEAT, code=TEXT),
    "Host": thing("", ("pin",), pin={**TEXT, "description": "Shown on the table view."}),
    "Order": thing("", seats=many(SEAT)),
    "Settings": thing(
        "",
        ("hints", "sound", "language", "say", "volume", "words_per_minute"),
        hints=FLAG,
        sound=FLAG,
        language={"type": "string", "enum": list(LANGUAGES)},
        say=SAY,
        volume=VOLUME,
        words_per_minute=SPEED,
    ),
    "Preview": thing(
        "",
        ("white", "colour"),
        what={"type": "string", "enum": list(FORESEEN)},
        white={**many(FACE), "description": "With `colour`, for `correct`: the right dice."},
        colour=by_key(FACE),
    ),
    "Foreseen": thing("", lines=many(TEXT), moment=MOMENT),
    "Step": thing("", ("moment",), moment=MOMENT),
    "Correction": thing("", ("moment",), white=many(FACE), colour=by_key(FACE), moment=MOMENT),
    "Start": thing(
        "",
        ("variant", "first", "house"),
        variant={"type": "string", "enum": list(PLANS), "default": "base"},
        first={**maybe(SEAT), "description": "Who begins; drawn by lot when null."},
        house={
            "type": "array",
            "items": HOUSE_RULE,
            "description": "House rules; none by default.",
        },
    ),
    "Answer": thing(
        "",
        ("seat", "done", "key", "rolled"),
        seat={**maybe(SEAT), "description": "The client's own; taken from the cookie anyway."},
        turn=WHOLE,
        action={"type": "integer", "enum": [1, 2]},
        box={**maybe(TOKEN), "description": "Null is a pass."},
        done={**FLAG, "description": "There is nothing more to change."},
        key={**TEXT, "maxLength": 64, "description": "Random; a retry carries the same."},
        rolled={**maybe(WHOLE), "description": "game.rolled: the roll that is answered."},
    ),
    "Throw": thing(
        "",
        ("mishap",),
        mishap={**maybe(TEXT), "description": "One of table.mishaps: how it goes wrong."},
    ),
    "Trouble": thing("", trouble={**TEXT, "description": "One of table.troubles."}),
    "Die": thing(
        "One die of the shown tray, as it really is.",
        ("colour",),
        frame={**WHOLE, "description": "The shown tray.frame; nothing may have moved since."},
        x={**NUMBER, "description": "Where it lies, in pixels of that picture."},
        y=NUMBER,
        value=FACE,
        colour={**maybe(ANY_COLOUR), "description": "Where the eye did not know it."},
    ),
    "Pictures": thing(
        "The newest first.",
        pictures=many(thing("", revision=WHOLE, game=WHOLE, turn=WHOLE, at=TEXT, size=WHOLE)),
    ),
    "Picture": thing(
        "", ("revision",), revision={**maybe(WHOLE), "description": "All of them when null."}
    ),
    "Entered": thing(
        "",
        ("game", "turn"),
        white=many(FACE),
        colour=by_key(FACE),
        game={**maybe(WHOLE), "description": "game.number and game.turn it was entered for."},
        turn=maybe(WHOLE),
    ),
    "AnswerFor": thing(
        "",
        ("rolled",),
        seat=SEAT,
        turn=WHOLE,
        action={"type": "integer", "enum": [1, 2]},
        box={**maybe(TOKEN), "description": "Null is a pass."},
        rolled=maybe(WHOLE),
    ),
    "Language": thing(
        "",
        language={
            **maybe({"type": "string", "enum": list(LANGUAGES)}),
            "description": "Null: as the browser prefers.",
        },
    ),
    "Withdraw": thing(
        "",
        ("seat", "key", "rolled"),
        seat=maybe(SEAT),
        turn=WHOLE,
        action={"type": "integer", "enum": [1, 2]},
        key={**TEXT, "maxLength": 64},
        rolled=maybe(WHOLE),
    ),
}
