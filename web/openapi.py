"""The HTTP API, described (OpenAPI 3.1): what the pages use is what stands here."""

from __future__ import annotations

from typing import Any

from companion.engine import DieColour, End, HouseRule, Phase
from companion.engine.dice import COLOURED
from companion.engine.variants import PLANS
from companion.evening import FORMS
from companion.phrases import LANGUAGES
from companion.speech import SPEEDS, VOLUMES
from companion.voice import AMOUNTS

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
FORESEEN = ("undo", "close", "end", "correct")
"""Steps of the host whose changes can be shown before they are taken."""
HOUSE_RULE: Json = {"type": "string", "enum": [rule.value for rule in HouseRule]}


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


POINT: Json = {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}

SCHEMAS: Json = {
    "Snapshot": thing(
        "Everything a page shows, at one moment.",
        me=thing(
            "The device that asks.",
            seat=maybe(SEAT),
            seats={**many(SEAT), "description": "All its seats: a shared tablet has several."},
            host={**FLAG, "description": "It may lead the table."},
            needs_code={**FLAG, "description": "It has to send the table's code to sit down."},
            had={**many(SEAT), "description": "Seats it had under another address of the table."},
            door={
                **maybe(thing("", code=TEXT, pin=TEXT, wifi=maybe(TEXT))),
                "description": "For the table view and the host only.",
            },
        ),
        revision={**WHOLE, "description": "Number of the last kept event."},
        version={**WHOLE, "description": "Rises with every change; counts anew in each epoch."},
        epoch={**TEXT, "description": "Names this run of the program."},
        language={**TEXT, "description": "The language of the texts in this snapshot."},
        table=ref("Table"),
        seats={
            **many(thing(seat=SEAT, name=TEXT, online=FLAG, offered=FLAG)),
            "description": "In playing order; an offered one may be claimed by another device.",
        },
        game=maybe(ref("Game")),
        tray=ref("Tray"),
        faults=many(
            thing(
                "A part of the table that does not work.",
                part={"type": "string", "enum": ["camera", "button"]},
                code={
                    "type": "string",
                    "enum": ["lost", "dark", "blocked", "frozen", "slow"],
                },
                text={**TEXT, "description": "One sentence for people."},
            )
        ),
        announcement=maybe(ref("Announcement")),
    ),
    "Table": thing(
        "",
        name=TEXT,
        join_url=TEXT,
        language={**TEXT, "description": "The table's own: of its screen and its voice."},
        camera={"type": "string", "enum": ["ok", "simulated", "none", "lost"]},
        button={"type": "string", "enum": ["ok", "mock", "none", "lost"]},
        on_screen_button=FLAG,
        can_throw=FLAG,
        mishaps={**many(TEXT), "description": "For /api/throw; none of a real tray."},
        troubles={**many(TEXT), "description": "For /api/trouble; none of a real camera."},
        keeps_pictures={**FLAG, "description": "Confirmed rolls' pictures are kept here."},
        typed_rolls={**FLAG, "description": "Dice are entered by hand: no camera sees them."},
        hints={**FLAG, "description": "Sheets show the boxes that may be crossed."},
        sound={**FLAG, "description": "Announcements are said aloud."},
        say=SAY,
        volume=VOLUME,
        words_per_minute=SPEED,
        hosted={**FLAG, "description": "Somebody leads the table; until then everybody may."},
    ),
    "Roll": thing(
        "",
        white={"type": "array", "items": FACE, "minItems": 2, "maxItems": 2},
        colour=by_key(FACE),
    ),
    "Game": thing(
        "",
        number=WHOLE,
        variant={"type": "string", "enum": list(PLANS)},
        phase={"type": "string", "enum": [phase.value for phase in Phase]},
        turn=WHOLE,
        action={**WHOLE, "description": "The open action, 1 or 2; 0 while none is."},
        active=SEAT,
        first=SEAT,
        roll=maybe(ref("Roll")),
        typed={**FLAG, "description": "The roll was entered by hand."},
        rolled={**maybe(WHOLE), "description": "The roll's revision, for /api/picture.jpg."},
        house=many(thing("", rule=HOUSE_RULE, replaces=many(TEXT))),
        sums=maybe(thing("", white=WHOLE, colour=by_key(many(WHOLE)))),
        rows=many(ref("Row")),
        dice={**many(COLOUR), "description": "Colours still in play."},
        closed=many(thing("", row=TEXT, colour=maybe(COLOUR), by=many(SEAT))),
        waiting_for={**many(SEAT), "description": "Seats that have still to answer."},
        closing={
            **many(thing("", row=TEXT, seat=SEAT)),
            "description": "Answers that close a row if they stand.",
        },
        closes_in_s={**maybe(NUMBER), "description": "When the open action closes by itself."},
        miss_due={**FLAG, "description": "In action 2: a pass is a miss."},
        players=many(ref("Player")),
        over=FLAG,
        end=maybe({"type": "string", "enum": [end.value for end in End]}),
        end_text=TEXT,
        winner_text=TEXT,
        ranking=many(thing("", rank=WHOLE, seat=SEAT, total=WHOLE)),
        winners=many(SEAT),
    ),
    "Row": thing(
        "One printed row, its boxes from left to right.",
        key=TEXT,
        name=TEXT,
        word={**TEXT, "description": "Its key among the words a page is sent."},
        bonus=FLAG,
        beside=many(TEXT),
        lock=maybe(COLOUR),
        boxes=many(thing("", token=TOKEN, number=WHOLE, colour=maybe(COLOUR))),
    ),
    "Player": thing(
        "",
        seat=SEAT,
        name=TEXT,
        sheet={**by_key(many(TOKEN)), "description": "Crossed boxes by row."},
        locks=many(TEXT),
        gone={**FLAG, "description": "Left for good; what they scored is kept."},
        misses=WHOLE,
        misses_most=WHOLE,
        points=thing("", rows=by_key(WHOLE), minus=WHOLE, total=WHOLE),
        answer=maybe(
            thing(
                "The answer in the open action: null for none yet, `box` null for a pass.",
                box=maybe(TOKEN),
                done=FLAG,
            )
        ),
        legal=many(TOKEN),
        made_by={
            **by_key(many(thing("", colour=ANY_COLOUR, value=FACE))),
            "description": "The two dice that make each legal box.",
        },
        lost={**many(TOKEN), "description": "Boxes that can never be crossed any more."},
    ),
    "Tray": thing(
        "",
        status={
            "type": "string",
            "enum": [
                "ok",
                "moving",
                "empty",
                "obstructed",
                "cocked",
                "missing",
                "extra",
                "uncertain",
                "waiting",
                "reading",
                "old",
                "none",
                "lost",
                "dark",
                "blocked",
                "frozen",
            ],
        },
        confirmable=FLAG,
        text={**TEXT, "description": "One sentence on what the tray needs."},
        note=maybe(TEXT),
        frame={**WHOLE, "description": "Number of the picture for /api/frame.jpg."},
        size={"type": "array", "items": WHOLE, "minItems": 2, "maxItems": 2},
        dice=many(
            thing(
                "",
                colour=maybe(ANY_COLOUR),
                value=maybe(FACE),
                confidence=NUMBER,
                centre=POINT,
                corners=many(POINT),
                cocked=FLAG,
                in_tray=FLAG,
                by_hand={**FLAG, "description": "A person put it right; gone when dice move."},
            )
        ),
        problems=many(thing("", code=TEXT, colour=maybe(ANY_COLOUR))),
    ),
    "Announcement": thing(
        "",
        number=WHOLE,
        kind=TEXT,
        headline=TEXT,
        text=TEXT,
        lines={**many(TEXT), "description": "The boxes a coloured die opens, row by row."},
    ),
    "Problem": thing(
        "Why a request was turned away.",
        ("ruling", "state"),
        error={**TEXT, "description": "A code for programs."},
        ruling={**maybe(TEXT), "description": "The ruling it rests on."},
        message={**TEXT, "description": "A sentence for people."},
        state=ref("Snapshot"),
    ),
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
        dice={
            **many(thing("", centre=POINT, corners=many(POINT), plays=ANY_COLOUR, odd=FLAG)),
            "description": "From left to right.",
        },
    ),
    "Plays": thing("", plays={**many(ANY_COLOUR), "description": "From left to right."}),
    "Health": thing("", status=TEXT, version=TEXT, camera=TEXT, button=TEXT),
    "Nothing": {"type": "object"},
    "OfSeat": thing("", seat=SEAT),
    "Join": thing(
        "",
        ("code", "another"),
        name={**TEXT, "description": "At most 20 characters."},
        code={**TEXT, "description": "The table's code, where `me.needs_code` is true."},
        another={**FLAG, "description": "One more seat for a device that has one."},
    ),
    "Leave": thing("", ("seat",), seat=maybe(SEAT)),
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
    "Foreseen": thing("", lines=many(TEXT)),
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
        ("seat", "done", "key"),
        seat={**maybe(SEAT), "description": "The caller's own; taken from the cookie anyway."},
        turn=WHOLE,
        action={"type": "integer", "enum": [1, 2]},
        box={**maybe(TOKEN), "description": "Null is a pass."},
        done={**FLAG, "description": "There is nothing more to change."},
        key={**TEXT, "maxLength": 64, "description": "Random; a retry carries the same."},
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
    "AnswerFor": thing(
        "",
        seat=SEAT,
        turn=WHOLE,
        action={"type": "integer", "enum": [1, 2]},
        box={**maybe(TOKEN), "description": "Null is a pass."},
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
        ("seat", "key"),
        seat=maybe(SEAT),
        turn=WHOLE,
        action={"type": "integer", "enum": [1, 2]},
        key={**TEXT, "maxLength": 64},
    ),
}


def _content(media: str, schema: Json) -> Json:
    return {"content": {media: {"schema": schema}}}


def _problem(text: str) -> Json:
    return {"description": text, **_content("application/json", ref("Problem"))}


def _get(summary: str, media: str, schema: Json, **more: Json) -> Json:
    answers = {"200": {"description": summary, **_content(media, schema)}, **more}
    return {"get": {"summary": summary, "responses": answers}}


def _post(summary: str, asked: str, **more: Json) -> Json:
    answers: Json = {
        "200": {"description": "Done.", **_content("application/json", ref("Snapshot"))},
        "400": _problem("The request makes no sense."),
        "403": _problem("Another site's page, somebody else's seat, or not the host."),
        "409": _problem("It does not fit how things stand, such as a late mark."),
        "413": _problem("The request is too long."),
        "415": _problem("The request is not JSON."),
        "422": _problem("The rules do not allow it."),
        "429": _problem("Too many wrong codes; wait a minute."),
        "503": _problem("The record of the game cannot be written; nothing was changed."),
        **more,
    }
    body = {"required": True, **_content("application/json", ref(asked))}
    return {"post": {"summary": summary, "requestBody": body, "responses": answers}}


def _one_game(summary: str, media: str, schema: Json, *, is_needed: bool = True) -> Json:
    found = _get(summary, media, schema)
    number = {"name": "number", "in": "query", "required": is_needed, "schema": WHOLE}
    found["get"]["parameters"] = [number]
    found["get"]["responses"]["404"] = _problem("There is no such game.")
    return found


def _export() -> Json:
    found = _one_game(
        "A file of one game, or of all.", "text/plain", {"type": "string"}, is_needed=False
    )
    form = {"type": "string", "enum": list(FORMS), "default": "text"}
    found["get"]["parameters"].append(
        {"name": "form", "in": "query", "required": False, "schema": form}
    )
    return found


def _step(summary: str, asked: str, answer: str) -> Json:
    step = _post(f"Host: {summary}", asked)
    step["post"]["responses"]["200"] = {
        "description": "Done.",
        **_content("application/json", ref(answer)),
    }
    return step


def _paths() -> Json:
    html = {"type": "string"}
    picture = _get("A picture of the tray.", "image/jpeg", {"type": "string", "format": "binary"})
    picture["get"]["parameters"] = [
        {
            "name": "n",
            "in": "query",
            "required": False,
            "schema": WHOLE,
            "description": "The picture a snapshot names as tray.frame; the newest without it.",
        }
    ]
    picture["get"]["responses"]["404"] = _problem("There is no such picture (any more).")
    kept = _get("A confirmed roll's picture.", "image/jpeg", {"type": "string", "format": "binary"})
    kept["get"]["parameters"] = [
        {
            "name": "revision",
            "in": "query",
            "required": True,
            "schema": WHOLE,
            "description": "The roll's, as game.rolled and /api/pictures name it.",
        }
    ]
    kept["get"]["responses"]["404"] = _problem("It is not kept (any more).")
    events = _get(
        "Snapshots as Server-Sent Events: event `state`, id = version; a comment every 10 s. "
        "A stream ends after 10 minutes, earlier with event `replaced` when its browser opens more "
        "than four.",
        "text/event-stream",
        {"type": "string"},
    )
    events["get"]["responses"]["503"] = _problem("Too many streams; Retry-After says when.")
    language = {"schema": {"type": "string", "enum": list(LANGUAGES)}, "required": False}
    events["get"]["parameters"] = [
        {
            "name": "language",
            "in": "query",
            "description": "The language of the texts; any request may name it so, or in the "
            "header Page-Language. Without it the browser's choice or preference counts, then "
            "the table's language.",
            **language,
        }
    ]
    preview = _post("Host: what a step would change; nothing is done.", "Preview")
    preview["post"]["responses"]["200"] = {
        "description": "What would change, in sentences.",
        **_content("application/json", ref("Foreseen")),
    }
    return {
        "/": _get("The page to join and play.", "text/html", html),
        "/table": _get("The table view, for a TV or a tablet.", "text/html", html),
        "/host": _get("The host's page.", "text/html", html),
        "/games": _get("All games, standings and records.", "text/html", html),
        "/api/games": _get("Every game and the standings.", "application/json", ref("Games")),
        "/api/game": _one_game("One game in full.", "application/json", ref("GameResult")),
        "/api/export": _export(),
        "/api/pause": _post("Host: put the game aside for another time.", "Nothing"),
        "/api/resume": _post("Host: take a saved game up again.", "Resume"),
        "/setup": _get("The page to set the tray up.", "text/html", html),
        "/wifi.svg": _get(
            "The table's own Wi-Fi as a QR code.",
            "image/svg+xml",
            html,
            **{"404": _problem("The table has no Wi-Fi of its own.")},
        ),
        "/join.svg": _get("The page's address as a QR code.", "image/svg+xml", html),
        "/healthz": _get("Whether the table answers.", "application/json", ref("Health")),
        "/api/openapi.json": _get("This.", "application/json", {"type": "object"}),
        "/api/state": _get("The snapshot now.", "application/json", ref("Snapshot")),
        "/api/events": events,
        "/api/frame.jpg": picture,
        "/api/join": _post("Take a seat; the answer sets the seat's cookie.", "Join"),
        "/api/leave": _post("Give a seat up; not in a game.", "Leave"),
        "/api/claim": _post("Take a seat that was handed on, or that this device had.", "Claim"),
        "/api/host": _post("Lead the table: free at first, then by its PIN.", "Host"),
        "/api/hand": _post("Host: hand a seat on to another device.", "OfSeat"),
        "/api/order": _post("Host: set the playing order of the next game.", "Order"),
        "/api/settings": _post("Host: change what the table is set to.", "Settings"),
        "/api/preview": preview,
        "/api/language": _post("Choose this browser's language.", "Language"),
        "/api/start": _post("Host: begin a game with everybody seated.", "Start"),
        "/api/answer": _post("Cross a box in the open action, or pass.", "Answer"),
        "/api/answer_for": _post("Host: answer for somebody who cannot.", "AnswerFor"),
        "/api/withdraw": _post("Take the answer back.", "Withdraw"),
        "/api/setup": _get(
            "Host: how far the tray is set up.",
            "application/json",
            ref("Setup"),
            **{"403": _problem("Not the host."), "409": _problem("There is no camera.")},
        ),
        "/api/setup/propose": _step("the corners the eye would take.", "Nothing", "Proposed"),
        "/api/setup/corners": _step("keep the tray's corners.", "Corners", "Setup"),
        "/api/setup/exposure": _step("keep exposure and colours as held.", "Nothing", "Setup"),
        "/api/setup/look": _step("look at the six dice in the tray.", "Nothing", "Looked"),
        "/api/setup/dice": _step("keep the dice looked at.", "Plays", "Setup"),
        "/api/setup/forget": _step("forget what was measured.", "Nothing", "Setup"),
        "/api/press": _post("The on-screen button: confirm the roll.", "Nothing"),
        "/api/throw": _post("Throw the dice of the simulated tray.", "Throw"),
        "/api/trouble": _post("Let the simulated camera suffer something.", "Trouble"),
        "/api/die": _post("Put one die right before the roll is confirmed.", "Die"),
        "/api/reoffer": _post("Offer the untouched dice of the last roll again.", "Nothing"),
        "/api/pictures": _get(
            "The kept pictures of confirmed rolls.", "application/json", ref("Pictures")
        ),
        "/api/picture.jpg": kept,
        "/api/pictures/delete": _post(
            "Delete kept pictures.", "Picture", **{"404": _problem("It is not kept.")}
        ),
        "/api/roll": _post("Confirm a roll entered by hand.", "Roll"),
        "/api/correct": _post("Host: put the right dice in place of misread ones.", "Roll"),
        "/api/close": _post("Host: close the open action; who has not answered passes.", "Nothing"),
        "/api/undo": _post("Host: take the last settled step back.", "Nothing"),
        "/api/free": _post("Host: free somebody's seat; not in a game.", "OfSeat"),
        "/api/end": _post("Host: end the game early.", "Nothing"),
        "/api/rematch": _post("Host: begin the next game; the next seat begins.", "Nothing"),
        "/api/say": _post("Repeat the last announcement.", "Nothing"),
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
        "paths": _paths(),
        "components": {"schemas": SCHEMAS},
    }
