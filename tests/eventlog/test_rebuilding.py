"""The log rebuilds the table exactly as it was after every step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.engine import DieColour, Roll
from companion.eventlog.projection import project
from companion.eventlog.state import Table
from companion.session.session import HostStep, Rejected, Session
from companion.wire.structs import convert, plain
from tests.session.fakes import Stage, dice_seen

NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn")
STEPS = (
    "join",
    "leave",
    "let_go",
    "order",
    "offer and claim",
    "settings",
    "start",
    "rematch",
    "pause",
    "resume",
    "roll",
    "typed roll",
    "answer",
    "answer",
    "answer",
    "withdraw",
    "close",
    "correct",
    "undo",
    "end",
    "wait",
)


def take(stage: Stage, step: str, n: int) -> None:
    """Take a step, or have it rejected; `n` chooses its details."""
    session, table = stage.session, stage.session.view().table
    seat = n % 5
    game = table.game
    turn, action = (game.state.turn, game.state.action) if game is not None else (1, 1)
    dice = {
        colour: 1 + (n + i) % 6 for i, colour in enumerate(DieColour) if colour.value != "white"
    }
    if game is not None:
        dice = {colour: value for colour, value in dice.items() if colour in game.state.dice}
    roll = Roll.of((1 + n % 6, 1 + n // 6 % 6), dice)
    match step:
        case "join":
            session.join(NAMES[n % len(NAMES)], f"device {n}")
        case "leave":
            session.leave(seat)
        case "let_go":
            session.let_go(seat)
        case "order":
            session.order([each.number for each in reversed(table.seats)])
        case "offer and claim":
            session.offer(seat)
            session.claim(seat)
        case "settings":
            session.change_settings(
                {"hints": bool(n % 2), "take_back": bool(n % 3)}, {"volume": 10 * (n % 10)}
            )
        case "start":
            session.start(("base", "big_points")[n % 2])
        case "rematch":
            session.rematch()
        case "pause":
            session.pause()
        case "resume":
            session.resume(1 + n % 3)
        case "roll":
            session.see(dice_seen(*roll.white, **{c.value: v for c, v in dice.items()}))
            session.press()
        case "typed roll":
            session.typed_roll(roll)
        case "answer":
            legal = [None]
            if game is not None and seat in game.seats:
                player = game.seats.index(seat)
                legal += game.state.plan.name_of(game.state.legal[player])
            box = legal[n % len(legal)]
            revocable = bool(n % 5)
            key = f"{step} {n}"
            session.answer(seat, turn, action, box, done=bool(n % 3), revocable=revocable, key=key)
        case "withdraw":
            session.withdraw(seat, turn, action)
        case "close":
            session.close_action()
        case "correct":
            session.correct_roll(roll)
        case "undo":
            session.undo()
        case "end":
            session.end()
        case "wait":
            stage.time.pass_s(5.0)


def is_previewed_exactly(session: Session, step: HostStep) -> bool:
    """Whether a preview and the step agree on whether the step is possible."""
    preview = session.preview(step)
    taken = session.undo() if step is HostStep.UNDO else session.close_action()
    return (preview.code if isinstance(preview, Rejected) else None) == (
        taken.code if taken is not None else None
    )


@settings(max_examples=40)
@given(steps=st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 99)), max_size=60))
def test_the_log_rebuilds_the_table_after_every_step(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    stage = Stage(tmp_path_factory.mktemp("table"))
    for step, n in [("join", 0), ("join", 1), ("start", 0), *steps]:
        take(stage, step, n)
        projection = project(stage.store.load())
        assert projection.skipped == (), step
        table = stage.session.view().table
        assert projection.table == table, step
        assert convert(json.loads(json.dumps(plain(table))), Table) == table, step
    before = stage.session.view()
    stage = stage.again()
    assert (stage.session.view().table, stage.session.view().notices) == (
        before.table,
        before.notices,
    )
    for host_step in (HostStep.CLOSE, HostStep.UNDO):
        assert is_previewed_exactly(stage.session, host_step)
    stage.store.close()


def test_a_restart_changes_nothing(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    for n, step in enumerate(STEPS):
        take(stage, step, n)
    before = stage.session.view().table
    assert stage.again().session.view().table == before
