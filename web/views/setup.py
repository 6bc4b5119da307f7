"""Setting up the tray from a browser: a page for the host, and the calls of its steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import Blueprint, Response, make_response, render_template, request

from companion.engine import DieColour
from companion.messages.catalogue import line
from web import security
from web.context import AppContext
from web.params import bad, body, require
from web.ports import Point, TraySetup
from web.responses import as_json
from web.security import Refused
from web.views.pages import words

MOST_CORNERS = 24
FAR_PX = 100_000.0
"""No picture is so large; what is asked for beyond is no number worth a look."""


def blueprint(context: AppContext, setup: TraySetup | None) -> Blueprint:
    """The page /setup and its calls; without a camera they say so."""
    pages = Blueprint("setup", __name__)

    def steps() -> TraySetup:
        """What takes the steps, for the host alone.

        Raises:
            Refused: Somebody else asks, or there is no camera.
        """
        context.lead()
        if setup is None:
            raise Refused(409, "NO_CAMERA", line("page.setup.no_camera"))
        return setup

    def told(taken: TraySetup) -> Response:
        return as_json(_state(context, taken))

    @pages.get("/setup")
    def page() -> Response:
        shared = words(context, context.phrases) | {"phrases": context.phrases.for_pages("setup.")}
        response = make_response(render_template("setup.html", **shared))
        if security.browser_id(request) is None:
            security.set_browser_id(response, security.new_browser_id())
        return response

    @pages.get("/api/setup")
    def state() -> Response:
        return told(steps())

    @pages.post("/api/setup/propose")
    def propose() -> Response:
        body()
        corners = steps().propose()
        return as_json({"corners": _all_rounded(corners)})

    @pages.post("/api/setup/corners")
    def keep_corners() -> Response:
        corners = _corners(body())
        taken = steps()
        taken.keep_corners(corners)
        return told(taken)

    @pages.post("/api/setup/exposure")
    def hold_exposure() -> Response:
        body()
        taken = steps()
        taken.hold_exposure()
        return told(taken)

    @pages.post("/api/setup/look")
    def look() -> Response:
        body()
        number, dice = steps().look_at_dice()
        return as_json(
            {
                "look": number,
                "dice": [
                    {
                        "centre": _rounded(die.centre_xy),
                        "corners": [_rounded(point) for point in die.corners_xy],
                        "plays": die.plays.value,
                        "odd": die.is_odd,
                    }
                    for die in dice
                ],
            }
        )

    @pages.post("/api/setup/dice")
    def keep_dice() -> Response:
        asked = body()
        plays = _plays(asked)
        number = require(asked, "look", int) if "look" in asked else None
        taken = steps()
        taken.keep_dice(plays, number)
        return told(taken)

    @pages.post("/api/setup/forget")
    def forget() -> Response:
        body()
        taken = steps()
        taken.forget()
        return told(taken)

    return pages


def _state(context: AppContext, setup: TraySetup) -> dict[str, Any]:
    state, phrases = setup.state(), context.phrases
    change = None if state.change is None else str(state.change)
    return {
        "size": list(state.size_wh),
        "faults": [
            {"code": str(fault), "text": phrases.say(f"setup.{fault}")} for fault in state.faults
        ],
        "change": change and {"code": change, "text": phrases.say(f"setup.{change}")},
        "corners": _all_rounded(state.corners),
        "controls": dict(state.controls),
        "held": state.is_held,
        "dice": [{"plays": die.plays.value, "odd": die.is_odd} for die in state.dice],
    }


def _rounded(point: Point) -> list[float]:
    return [round(point[0], 1), round(point[1], 1)]


def _all_rounded(points: Sequence[Point] | None) -> list[list[float]] | None:
    return None if points is None else [_rounded(point) for point in points]


def _corners(asked: dict[str, Any]) -> list[Point]:
    given = require(asked, "corners", list)
    points: list[Point] = []
    for point in given[: MOST_CORNERS + 1]:
        is_pair = isinstance(point, list) and len(point) == 2
        if not is_pair or not all(type(v) in (int, float) and abs(v) < FAR_PX for v in point):
            raise bad("asked.list", field="corners")
        points.append((float(point[0]), float(point[1])))
    if len(points) > MOST_CORNERS:
        raise bad("asked.list", field="corners")
    return points


def _plays(asked: dict[str, Any]) -> list[DieColour]:
    given, known = require(asked, "plays", list), {colour.value: colour for colour in DieColour}
    if not all(isinstance(name, str) and name in known for name in given):
        raise bad("asked.list", field="plays")
    return [known[name] for name in given]
