"""Every call of the HTTP API: its path, types, failures, and the calls that can follow."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from companion.wire.structs import one_of
from web.openapi.operation import (
    BINARY,
    HTML,
    JPEG,
    JSON,
    MANIFEST,
    READ,
    STEP,
    STREAM,
    SVG,
    WRITE,
    Link,
    Operation,
    Parameter,
    get,
    page,
    post,
)
from web.wire import coach, games, replies, requests
from web.wire.snapshot import Snapshot
from web.wire.values import ExportForm, Language, Variant, Whole, Yes

_BODY = "$response.body#"
_ANSWER = {
    "turn": f"{_BODY}/game/turn",
    "action": f"{_BODY}/game/action",
    "rolled": f"{_BODY}/game/rolled",
    "box": None,
}
_VIEW = Parameter(
    "view",
    Annotated[str, one_of(("table",))],
    "`table` for a screen at the table: until it is let in, its snapshots carry the code that the "
    "host enters.",
)
_ANSWERS = (
    Link("answer", _ANSWER),
    Link("answer", {**_ANSWER, "box": f"{_BODY}/game/players/0/legal/0"}),
    Link("withdraw", {key: value for key, value in _ANSWER.items() if key != "box"}),
)
_ROLL = Link(
    "roll",
    {
        "white": [3, 4],
        "colour": {"red": 1, "yellow": 2, "green": 5, "blue": 6},
        "game": f"{_BODY}/game/number",
        "turn": f"{_BODY}/game/turn",
    },
)
_MOMENTS = tuple(Link(step, {"moment": f"{_BODY}/moment"}) for step in ("undo", "close", "end"))
_FRAME = Link("get_frame_jpg", parameters={"n": f"{_BODY}/tray/frame"})
_SEAT = {"seat": f"{_BODY}/seats/0/seat"}
_ONE_GAME = {"number": f"{_BODY}/games/0/number"}

_NUMBER = Parameter("number", Whole, "The number of a game, as /api/games lists it.")
_GAME = replace(_NUMBER, is_required=True)
_CHOSEN = (
    Parameter("variant", Variant, "Only games on this sheet."),
    Parameter("player", str, "A name; may be repeated. Only games in which all of them played."),
    Parameter("bots", Yes, "Also games with bots and practice games."),
)
_SETUP = (*WRITE, 409, 503)

OPERATIONS: tuple[Operation, ...] = (
    page("/", "The page to join and play."),
    page("/table", "The table view, for a TV or a tablet."),
    page("/watch", "The table view for those who only look on."),
    page(
        "/stream",
        "The game on a transparent page, for a stream.",
        Parameter("show", str, "Its parts, parted by commas: roll, news, rows, players."),
        Parameter("width", str, "Its width in pixels; without, that of the window."),
        Parameter("text", str, "The height of its text in pixels; without, 22."),
        Parameter("theme", str, "light or dark; without, as the device prefers."),
    ),
    page("/host", "The host's page."),
    page("/games", "All games, standings and records."),
    Operation(
        "get",
        "/games/{number}",
        "One game, roll by roll.",
        (HTML,),
        failures=(*READ, 404),
        parameters=(Parameter("number", Whole, "Its number.", is_required=True, is_in_path=True),),
    ),
    page("/rules", "The rulings, with the house rules of the game on the table."),
    page("/setup", "The page to set the tray up."),
    Operation(
        "get",
        "/style/{names}.css",
        "Style sheets joined to one.",
        ("text/css",),
        failures=(*READ, 404),
        parameters=(
            Parameter("names", str, "Their names, parted by +.", is_required=True, is_in_path=True),
        ),
    ),
    Operation(
        "get",
        "/manifest.webmanifest",
        "The page as an app for home screens.",
        (MANIFEST,),
        raw={"type": "object"},
    ),
    Operation("get", "/join.svg", "The page's address as a QR code.", (SVG,)),
    Operation(
        "get",
        "/report.svg",
        "The address of a game's report as a QR code.",
        (SVG,),
        failures=READ,
        parameters=(_GAME,),
    ),
    Operation(
        "get",
        "/wifi.svg",
        "The table's Wi-Fi as a QR code, for devices that were let in.",
        (SVG,),
        failures=(*READ, 403, 404),
    ),
    Operation(
        "get",
        "/healthz",
        "Whether people can play, with a reason for each part that is not well. The status is 503 "
        "when nobody can play, and the body is the same.",
        reply=replies.Health,
        alike=(503,),
    ),
    Operation("get", "/api/openapi.json", "This.", raw={"type": "object"}),
    get(
        "/api/state",
        "The current snapshot.",
        Snapshot,
        links=(_FRAME, _ROLL, *_ANSWERS),
        parameters=(_VIEW,),
    ),
    Operation(
        "get",
        "/api/events",
        "Snapshots as Server-Sent Events: event `state`, id = version; a comment every 10 s. A "
        "stream ends after 10 minutes, earlier with event `replaced` when its browser opens more "
        "than four.",
        (STREAM,),
        failures=(*READ, 503),
        parameters=(
            Parameter(
                "language",
                Language,
                "The language of the texts; any call takes it, or the header Page-Language. "
                "Without it the browser's choice or preference counts, then the table's language.",
            ),
            _VIEW,
        ),
    ),
    get(
        "/api/games",
        "Every game and the standings.",
        games.Games,
        links=(
            Link("get_game", parameters=_ONE_GAME),
            Link("get_coach", parameters=_ONE_GAME),
            Link("get_export", parameters=_ONE_GAME),
            Link("resume", _ONE_GAME),
        ),
    ),
    get(
        "/api/game",
        "One game in full.",
        games.GameResult,
        404,
        parameters=(
            _GAME,
            Parameter("turn", Whole, "The sheets as after this turn; the final ones without."),
        ),
    ),
    get(
        "/api/coach",
        "The curves of one game; its luck and skill, computed while the sender asks again.",
        coach.Coached,
        404,
        parameters=(_GAME,),
    ),
    get(
        "/api/statistics",
        "Players over all games that count: averages, records, ratings, who beats whom.",
        games.Statistics,
        parameters=_CHOSEN,
    ),
    Operation(
        "get",
        "/api/players.csv",
        "The same players as a file, a line each.",
        ("text/csv",),
        raw={},
        failures=READ,
        parameters=_CHOSEN,
    ),
    post(
        "/api/player",
        "Host: rename a player of saved games, merge two, or delete one for good.",
        requests.RenamePlayer,
    ),
    get(
        "/api/dice",
        "How often each face came, and whether that is unusual.",
        coach.DiceDrawn,
    ),
    Operation(
        "get",
        "/api/export",
        "A file of one game, or of all.",
        ("text/plain", JSON, "text/csv"),
        raw={},
        failures=(*READ, 404, 503),
        parameters=(
            _NUMBER,
            Parameter("form", ExportForm, "The form of the file."),
            Parameter("language", Language, "The language of a text; else the browser's."),
        ),
    ),
    post("/api/pause", "Host: put the game aside for another time.", requests.Nothing),
    post(
        "/api/resume",
        "Host: resume a saved game.",
        requests.Resume,
        links=(_ROLL, *_ANSWERS),
    ),
    Operation(
        "get",
        "/api/frame.jpg",
        "A picture of the tray, for devices that were let in.",
        (JPEG,),
        raw=BINARY,
        failures=(*READ, 403, 404),
        parameters=(Parameter("n", Whole, "tray.frame of a snapshot; the newest without it."),),
    ),
    post(
        "/api/join",
        "Take a seat; the answer sets the seat's cookie.",
        requests.Join,
        (*STEP, 429),
        links=(
            Link("leave", _SEAT),
            Link("hand", _SEAT),
            Link("free", _SEAT),
            Link("claim", _SEAT),
            Link("start", {"variant": "base", "first": f"{_BODY}/seats/0/seat"}),
        ),
    ),
    post("/api/leave", "Give a seat up; in a game only with `from_game`.", requests.Leave),
    post(
        "/api/claim",
        "Take a seat that was handed on, or that this device had.",
        requests.Claim,
        (*STEP, 429),
    ),
    post(
        "/api/host",
        "Become a host, by the table's PIN; while nobody hosts it, a seat is enough.",
        requests.Host,
        (*WRITE, 429, 503),
    ),
    post(
        "/api/hand",
        "Host: hand a seat on to another device.",
        requests.OfSeat,
        links=(Link("claim", _SEAT),),
    ),
    post("/api/bot", "Host: let a bot play a free seat from the next game on.", requests.AddBot),
    post("/api/pair", "Host: let a table view show the code.", requests.Pair, (*STEP, 429)),
    post("/api/order", "Host: set the playing order of the next game.", requests.Order),
    post("/api/settings", "Host: change the table's settings.", requests.Settings),
    post(
        "/api/preview",
        "Host: what a step would change; nothing is done.",
        requests.PreviewBody,
        STEP,
        replies.Preview,
        _MOMENTS,
    ),
    post("/api/language", "Choose this browser's language.", requests.ChooseLanguage, WRITE),
    post(
        "/api/start",
        "Host: begin a game with everybody seated.",
        requests.Start,
        links=(_ROLL, Link("press", {})),
    ),
    post("/api/answer", "Cross a box in the open action, or pass.", requests.Answer),
    post("/api/answer_for", "Host: answer for somebody who cannot.", requests.AnswerFor),
    post("/api/withdraw", "Take the answer back.", requests.Withdraw),
    get("/api/setup", "Host: how far the tray is set up.", replies.Setup, 403, 409),
    post(
        "/api/setup/propose",
        "Host: find the tray's corners.",
        requests.Nothing,
        _SETUP,
        replies.Proposed,
        (Link("setup_corners", {"corners": f"{_BODY}/corners"}),),
    ),
    post(
        "/api/setup/corners",
        "Host: keep the tray's corners.",
        requests.Corners,
        _SETUP,
        replies.Setup,
    ),
    post(
        "/api/setup/exposure",
        "Host: keep exposure and colours as held.",
        requests.Nothing,
        _SETUP,
        replies.Setup,
    ),
    post(
        "/api/setup/look",
        "Host: look at the six dice in the tray.",
        requests.Nothing,
        _SETUP,
        replies.Looked,
        (Link("setup_dice", {"look": f"{_BODY}/look", "plays": []}),),
    ),
    post(
        "/api/setup/dice",
        "Host: keep the dice looked at.",
        requests.Plays,
        _SETUP,
        replies.Setup,
    ),
    post(
        "/api/setup/forget",
        "Host: forget the calibration.",
        requests.Nothing,
        _SETUP,
        replies.Setup,
    ),
    post(
        "/api/press",
        "The on-screen button: confirm the roll.",
        requests.Press,
        links=_ANSWERS,
    ),
    post("/api/throw", "Throw the dice of the simulated tray.", requests.Throw),
    post("/api/trouble", "Cause a fault of the simulated camera.", requests.Trouble),
    post("/api/die", "Correct one die before the roll is confirmed.", requests.FixDie),
    post("/api/reoffer", "Offer the untouched dice of the last roll again.", requests.Nothing),
    get(
        "/api/pictures",
        "Host: the kept pictures of confirmed rolls.",
        replies.Pictures,
        403,
        links=(Link("get_picture_jpg", parameters={"revision": f"{_BODY}/pictures/0/revision"}),),
    ),
    Operation(
        "get",
        "/api/picture.jpg",
        "A confirmed roll's picture, for devices that were let in.",
        (JPEG,),
        raw=BINARY,
        failures=(*READ, 403, 404),
        parameters=(Parameter("revision", Whole, "The roll's, as in /api/pictures.", True),),
    ),
    post("/api/pictures/delete", "Host: delete kept pictures.", requests.Picture, (*STEP, 404)),
    post("/api/roll", "Confirm a roll entered by hand.", requests.Entered, links=_ANSWERS),
    post("/api/correct", "Host: replace misread dice.", requests.Correction),
    post("/api/close", "Host: close the open action; missing answers pass.", requests.Step),
    post("/api/undo", "Host: take the last settled step back.", requests.Undo),
    post(
        "/api/free",
        "Host: free somebody's seat; a running game goes on without them.",
        requests.Free,
    ),
    post("/api/end", "Host: end the game early.", requests.Step),
    post("/api/rematch", "Host: begin the next game; the next seat begins.", requests.Nothing),
    post(
        "/api/power",
        "Host: switch the machine off, or start it again, where table.can_power is true.",
        requests.Switch,
    ),
    post("/api/say", "Repeat the last announcement.", requests.Nothing),
)
