"""The requests there are, each with its answers."""

from __future__ import annotations

from companion.history.standings import FORMS
from companion.messages.catalogue import LANGUAGES
from web.openapi.schema import WHOLE, Json, ref


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


def every_path() -> Json:
    """Every path and what can be asked of it."""
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
        "/rules": _get("All rulings; a refusal links to its own as #E10.", "text/html", html),
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
        "/api/leave": _post("Give a seat up; in a game only with `from_game`.", "Leave"),
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
        "/api/roll": _post("Confirm a roll entered by hand.", "Entered"),
        "/api/correct": _post("Host: put the right dice in place of misread ones.", "Correction"),
        "/api/close": _post("Host: close the open action; who has not answered passes.", "Step"),
        "/api/undo": _post("Host: take the last settled step back.", "Step"),
        "/api/free": _post(
            "Host: free somebody's seat; a running game goes on without them.", "OfSeat"
        ),
        "/api/end": _post("Host: end the game early.", "Step"),
        "/api/rematch": _post("Host: begin the next game; the next seat begins.", "Nothing"),
        "/api/say": _post("Repeat the last announcement.", "Nothing"),
    }
