"""The page that sets up the tray, and the API calls of its steps; for the host."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Blueprint, Response

from companion.engine import DieColour
from companion.messages.catalogue import line
from companion.tray import Point
from web.context import AppContext
from web.params import body
from web.ports import TraySetup
from web.responses import as_json
from web.security import Refused
from web.views.pages import render_page
from web.wire import replies, requests


def blueprint(context: AppContext, setup: TraySetup | None) -> Blueprint:
    """Make the blueprint of /setup and its calls; without a camera the calls are refused."""
    pages = Blueprint("setup", __name__)

    def steps() -> TraySetup:
        """Return the set-up, for the host alone.

        Raises:
            Refused: Somebody else sent the request, or there is no camera.
        """
        context.lead()
        if setup is None:
            raise Refused(409, "NO_CAMERA", line("page.setup.no_camera"))
        return setup

    def told(taken: TraySetup) -> Response:
        return as_json(_state(context, taken))

    @pages.get("/setup")
    def page() -> Response:
        return render_page(context, "setup.html")

    @pages.get("/api/setup")
    def state() -> Response:
        return told(steps())

    @pages.post("/api/setup/propose")
    def propose() -> Response:
        body(requests.Nothing)
        corners = steps().propose()
        return as_json(replies.Proposed(_all_rounded(corners)))

    @pages.post("/api/setup/corners")
    def keep_corners() -> Response:
        corners = body(requests.Corners).corners
        taken = steps()
        taken.keep_corners(corners)
        return told(taken)

    @pages.post("/api/setup/exposure")
    def hold_exposure() -> Response:
        body(requests.Nothing)
        taken = steps()
        taken.hold_exposure()
        return told(taken)

    @pages.post("/api/setup/look")
    def look() -> Response:
        body(requests.Nothing)
        number, dice = steps().look_at_dice()
        found = [
            replies.LookedDie(
                _rounded(die.centre_xy),
                [_rounded(point) for point in die.corners_xy],
                die.plays.value,
                die.is_odd,
            )
            for die in dice
        ]
        return as_json(replies.Looked(number, found))

    @pages.post("/api/setup/dice")
    def keep_dice() -> Response:
        asked = body(requests.Plays)
        plays = [DieColour(name) for name in asked.plays]
        taken = steps()
        taken.keep_dice(plays, asked.look)
        return told(taken)

    @pages.post("/api/setup/forget")
    def forget() -> Response:
        body(requests.Nothing)
        taken = steps()
        taken.forget()
        return told(taken)

    return pages


def _state(context: AppContext, setup: TraySetup) -> replies.Setup:
    state = setup.state()

    def note(code: str) -> replies.SetupNote:
        return replies.SetupNote(str(code), context.phrases.say(f"setup.{code}"))

    return replies.Setup(
        size=state.size_wh,
        faults=[note(fault) for fault in state.faults],
        change=None if state.change is None else note(state.change),
        corners=_all_rounded(state.corners),
        controls=dict(state.controls),
        held=state.is_held,
        dice=[replies.SetDie(die.plays.value, die.is_odd) for die in state.dice],
    )


def _rounded(point: Point) -> Point:
    return round(point[0], 1), round(point[1], 1)


def _all_rounded(points: Sequence[Point] | None) -> list[Point] | None:
    return None if points is None else [_rounded(point) for point in points]
