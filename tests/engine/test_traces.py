"""Recorded games of an independent referee: every answer must be the same."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from companion.history.replay import Replay
from companion.messages.catalogue import load_phrases

LISTS_AS_SETS = {"legal", "closed", "closed_now", "dice"}
ACTION = "closed_now phase active turn closed dice misses sheets locks scores legal over end"
SAME: dict[str, tuple[str, ...]] = {
    "roll": ("sums", "legal"),
    "action1": tuple(ACTION.split()),
    "action2": (*ACTION.split(), "miss", "player"),
    "end": ("end", "scores", "winners"),
}


def as_set(value: Any) -> Any:
    if isinstance(value, list):
        return (
            sorted((as_set(v) for v in value), key=repr) if _flat(value) else [*map(as_set, value)]
        )
    return value


def _flat(value: list[Any]) -> bool:
    return not any(isinstance(v, (list, dict)) for v in value)


@pytest.mark.parametrize("variant", ["base", "big_points"])
def test_every_answer_of_a_hundred_games_is_the_referees(variant: str, shared: Path) -> None:
    judge = Replay(load_phrases("en"))
    compared = 0
    answers: list[dict[str, Any]] = []
    with gzip.open(shared / "games" / f"{variant}.jsonl.gz", "rt") as lines:
        for number, text in enumerate(lines, 1):
            want = json.loads(text)
            if want["t"] != "end":
                assert not answers, f"line {number}: an answer too many: {answers}"
                answers = list(judge.judge(text))
            got = answers.pop(0)
            assert got["t"] == want["t"], f"line {number}"
            for key in SAME.get(want["t"], ()):
                ours, theirs = got[key], want[key]
                if key in LISTS_AS_SETS:
                    ours, theirs = as_set(ours), as_set(theirs)
                assert ours == theirs, f"line {number}: {key}"
                compared += 1
    assert compared > 50_000
