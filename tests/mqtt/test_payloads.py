"""Payloads: written and read again, and what a stranger writes is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.mqtt import payloads
from companion.mqtt.payloads import (
    Board,
    ClosedRow,
    GameBoard,
    PlayerState,
    Result,
    ResultPlayer,
    Roll,
    SeatState,
    decode,
    encoded,
    game_id,
)
from companion.wire.structs import WireError

BOARD = Board(
    at="2026-11-20T20:15:00+01:00",
    revision=41,
    name="Table 1",
    language="en",
    url="http://table1.local:8000",
    text="White 7.",
    seats=(SeatState(0, "Anna", True), SeatState(1, "", False)),
    game=GameBoard(
        game="3-20261120191500",
        number=3,
        variant="base",
        phase="action1",
        turn=5,
        active=1,
        players=(
            PlayerState(0, "Anna", 12, {"red": 3}, {"R": (2, 3)}, 1, answered=True),
            PlayerState(1, "", -5, {}, {}, 1, gone=True),
        ),
        roll=Roll((3, 4), 7, {"red": 6}),
        closed=(ClosedRow("B", "blue", (0, 1)),),
        waiting_for=(1,),
        leaders=(0,),
    ),
    asked=12.5,
    faults=("camera",),
)

RESULT = Result(
    game="3-20261120191500",
    number=3,
    table_name="Table 1",
    began="2026-11-20T20:15:00+01:00",
    ended="2026-11-20T20:40:00+01:00",
    revision=99,
    variant="base",
    end="locks",
    turns=20,
    players=(ResultPlayer(0, "Anna", 1, 60, {"red": 28}, 1),),
)


@pytest.mark.parametrize("payload", [BOARD, RESULT])
def test_what_is_written_is_read_again(payload: Any) -> None:
    assert decode(encoded(payload), type(payload)) == payload


def test_a_reader_ignores_fields_of_later_versions() -> None:
    later = json.loads(encoded(RESULT)) | {"mood": "merry"}
    assert decode(json.dumps(later).encode(), Result) == RESULT


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"[" * 50_000,
        b'"' + b"x" * 70_000 + b'"',
        encoded(RESULT).replace(b'"v":1', b'"v":2'),
        encoded(RESULT).replace(b'"total":60', b'"total":1e999'),
        encoded(RESULT).replace(b'"total":60', b'"total":NaN'),
        encoded(RESULT).replace(b'"turns":20', b'"turns":' + b"9" * 5000),
        encoded(RESULT).replace(b"Anna", b"A" * 41),
        encoded(RESULT).replace(b'"seat":0', b'"seat":10'),
        encoded(RESULT).replace(b"3-20261120191500", b"../../etc/passwd"),
        encoded(RESULT).replace(b"3-20261120191500", b"3-20261120191500\\n"),
    ],
)
def test_what_does_not_fit_is_refused(data: bytes) -> None:
    with pytest.raises(WireError):
        decode(data, Result)


@settings(max_examples=40)
@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    with pytest.raises(WireError):
        decode(data, payloads.Board)


def test_a_games_id_tells_games_of_one_number_apart() -> None:
    assert game_id(3, "2026-11-20T20:15:00+01:00") == "3-20261120191500"
    assert game_id(3, "2026-11-20T20:15:01+01:00") != game_id(3, "2026-11-20T20:15:00+01:00")
    assert game_id(3, "") == "3"
