"""Readings with a die to correct, and the correction."""

from __future__ import annotations

from dataclasses import replace

from companion.engine import DieColour
from companion.tray import Problem, ProblemCode, TrayStatus, TrayView
from tests.session.fakes import Stage
from tests.web.stand_in import a_roll, dice_in_tray

WHITE, OTHER_WHITE, RED, YELLOW, GREEN, BLUE = range(6)


def seen(frame: int = 7) -> TrayView:
    return dice_in_tray(a_roll(3, 4), frame=frame)


def doubtful(which: int, colour: str, *, value: int | None = None, status: str = "uncertain"):  # type: ignore[no-untyped-def]
    """The reader does not commit itself on one die."""
    tray = seen()
    dice = list(tray.dice)
    is_cocked = status == "cocked"
    dice[which] = replace(dice[which], value=value, confidence=0.4, cocked=is_cocked)
    problems = (Problem(ProblemCode(status), DieColour(colour)),)
    return replace(tray, status=TrayStatus(status), roll=None, dice=tuple(dice), problems=problems)


def put_right(stage: Stage, which: int, value: int, frame: int = 7, **more: DieColour) -> str:
    at = stage.session.view().tray.dice[which].centre_xy
    rejected = stage.session.fix_die(frame, at, value, **more)
    return rejected.code if rejected else ""
