"""Scenarios and refusals of an independent referee."""

from __future__ import annotations

import json
from typing import Any

import pytest

from companion.engine import (
    PLANS,
    ActionClosed,
    Answered,
    DieColour,
    GameState,
    Phase,
    Refusal,
    Roll,
    Rolled,
    apply,
    new_game,
)
from companion.engine.events import Fact, MissTaken
from companion.engine.notation import parse_roll
from tests.conftest import SHARED
from tests.engine.build import facts_of, go, legal, reason, with_sheets

GAMES = SHARED / "games"


def _scenarios() -> list[Any]:
    if not (GAMES / "scenarios.json").is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason="no shared games beside us"))]
    listed = json.loads((GAMES / "scenarios.json").read_text())["scenarios"]
    return [pytest.param(s, id=f"{s['id']}-{s['variant']}") for s in listed]


def _refusals() -> list[Any]:
    if not (GAMES / "refused.jsonl").is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason="no shared games beside us"))]
    lines = [json.loads(line) for line in (GAMES / "refused.jsonl").read_text().splitlines()]
    return [pytest.param(x, id=f"{x['id']}-{x['reason']}") for x in lines]


def _rolled(data: dict[str, Any]) -> Rolled:
    return Rolled(
        Roll.of(tuple(data["white"]), {DieColour(c): v for c, v in data["colour"].items()})
    )


class Table:
    """A scenario's game, players by name."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        self.names: list[str] = scenario["players"]
        plan = PLANS[scenario["variant"]]
        state = new_game(plan, len(self.names), self.names.index(scenario["active"]))
        keys = {row.name: row.key for row in plan.rows}
        self.state: GameState = with_sheets(
            state,
            {self.names.index(n): marks for n, marks in scenario.get("sheets", {}).items()},
            closed=[keys[colour] for colour in scenario.get("closed", [])],
            misses={self.names.index(n): m for n, m in scenario.get("misses", {}).items()},
        )
        self.facts: list[Fact] = []

    def step(self, step: dict[str, Any]) -> None:
        if "roll" in step:
            self.state, self.facts = facts_of(self.state, _rolled(step["roll"]))
        elif "action1" in step:
            answers = [Answered(self.names.index(n), 1, c) for n, c in step["action1"].items()]
            self.state, self.facts = facts_of(self.state, *answers, ActionClosed(1))
        elif "action2" in step:
            answer = Answered(self.state.active, 2, step["action2"])
            self.state, self.facts = facts_of(self.state, answer, ActionClosed(2))
        else:
            tried = step["try"]
            player = self.names.index(tried["player"])
            assert reason(self.state, player, tried["action"], tried["choice"]) == step["reason"]

    def check(self, key: str, want: Any) -> None:
        state, plan = self.state, self.state.plan
        each = range(len(self.names))
        if key in ("legal", "open"):
            for name, boxes in want.items():
                player = self.names.index(name)
                bits = state.legal[player] if key == "legal" else state.open[player]
                assert set(plan.name_of(bits)) == set(boxes), f"{key} of {name}"
        elif key == "open_row":
            for name, rows in want.items():
                for row, boxes in rows.items():
                    bits = state.open[self.names.index(name)] & plan.row_bits[plan.index[row]]
                    assert plan.name_of(bits) == boxes
        elif key == "sheets":
            for name, rows in want.items():
                marks = plan.marks_of(state.crosses[self.names.index(name)])
                assert {row: m for row, m in marks.items() if m} == rows
        elif key == "locks":
            if isinstance(want, dict):
                got: Any = {n: plan.locks_of(state.crosses[self.names.index(n)]) for n in want}
                assert got == want
            else:
                assert [plan.locks_of(own) for own in state.crosses] == want
        else:
            assert state.roll is not None or key not in ("announce", "sums")
            roll = state.roll
            values = {
                "announce": roll and roll.white_sum,
                "sums": roll and {c.value: list(roll.colour_sums(c)) for c, _ in roll.coloured},
                "misses": list(state.misses),
                "scores": [state.total(p) for p in each],
                "phase": state.phase.value,
                "active": self.names[state.active],
                "closed": [plan.rows[c.row].name for c in state.closed],
                "dice": [colour.value for colour in state.dice],
                "over": state.phase is Phase.OVER,
                "end": state.end.value if state.end else None,
                "miss": any(isinstance(f, MissTaken) for f in self.facts),
            }
            assert values[key] == want, key


@pytest.mark.parametrize("scenario", _scenarios())
def test_scenario(scenario: dict[str, Any]) -> None:
    table = Table(scenario)
    checked = 0
    for step in scenario["steps"]:
        table.step(step)
        for key, want in step.get("expect", {}).items():
            table.check(key, want)
            checked += 1
        checked += "try" in step
    for name, rows in scenario.get("expect_rows", {}).items():
        assert table.state.points(table.names.index(name)) == rows
        checked += 1
    if "expect_scores" in scenario:
        table.check("scores", scenario["expect_scores"])
        checked += 1
    assert checked


@pytest.mark.parametrize("case", _refusals())
def test_refusal_gives_the_referees_primary_reason(case: dict[str, Any]) -> None:
    state = new_game(PLANS[case["variant"]], case["players"], case["first"])
    for event in case["setup"]:
        if "roll" in event:
            state = go(state, _rolled(event["roll"]))
        elif "action1" in event:
            answers = [Answered(p, 1, choice) for p, choice in enumerate(event["action1"])]
            state = go(state, *answers, ActionClosed(1))
        else:
            state = go(state, Answered(state.active, 2, event["action2"]), ActionClosed(2))
    tried = case["submit"]
    if tried["kind"] == "mark":
        assert reason(state, tried["player"], tried["action"], tried["choice"]) == case["reason"]
        assert not set(legal(state, tried["player"])) & {str(tried["choice"])}
        return
    roll = parse_roll(tried["white"], tried["colour"])
    if roll is None:  # too few or too many dice to be a roll at all
        assert case["reason"] == "BAD_DICE"
        return
    step = apply(state, Rolled(roll))
    assert isinstance(step, Refusal)
    assert step.reason.value == case["reason"]
