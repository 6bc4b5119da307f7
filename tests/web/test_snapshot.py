"""The snapshot: what pages and programs are told, from a state and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from companion.audio.settings import VoiceSettings
from companion.session.timers import GRACE_S
from companion.tray import CameraState, TrayStatus, TrayView
from companion.wire.structs import encode
from tests.session.fakes import Stage
from tests.web.stand_in import a_roll, dice_in_tray, seat
from web import Equipment
from web.snapshot import SnapshotContext, _chances, snapshot

CONTEXT = SnapshotContext(
    "e",
    "Table",
    "http://10.0.0.2:8000/",
    Equipment(CameraState.SIMULATED, "mock"),
    True,
    VoiceSettings(),
)


def shown(stage: Stage, context: SnapshotContext = CONTEXT) -> dict[str, Any]:
    now_s = stage.time.now_s
    made = snapshot(stage.session.view(), context, stage.session.phrases, now_s=now_s)
    state: dict[str, Any] = json.loads(encode(made))
    return state


@pytest.fixture
def two(stage: Stage) -> Stage:
    seat(stage, "Ada")
    seat(stage, "Ben")
    assert stage.session.start("base", 0) is None
    return stage


def test_before_a_game(stage: Stage) -> None:
    state = shown(stage)
    assert (state["game"], state["seats"], state["announcement"]) == (None, [], None)
    assert state["table"]["typed_rolls"] is False
    assert (state["table"]["hints"], state["table"]["hosted"]) == (True, False)


@pytest.mark.parametrize(
    ("camera", "button", "typed", "on_screen"),
    [
        ("ok", "ok", False, False),
        ("simulated", "mock", False, True),
        ("none", "none", True, True),
        ("lost", "lost", True, True),
    ],
)
def test_the_state_lists_the_steps_to_do_by_hand(
    stage: Stage, camera: str, button: str, typed: bool, on_screen: bool
) -> None:
    table = shown(
        stage,
        SnapshotContext(
            "e", "T", "", Equipment(CameraState(camera), button), False, VoiceSettings()
        ),
    )["table"]
    assert (table["typed_rolls"], table["on_screen_button"]) == (typed, on_screen)


@pytest.mark.parametrize("status", ["lost", "dark", "blocked", "frozen"])
def test_a_blind_camera_leaves_the_dice_to_people(two: Stage, status: str) -> None:
    two.session.see(TrayView(TrayStatus(status)))
    assert shown(two)["table"]["typed_rolls"] is True
    two.session.see(TrayView(TrayStatus.WAITING))
    assert shown(two)["table"]["typed_rolls"] is False


def test_without_a_game_nobody_is_asked_to_throw_or_confirm(stage: Stage) -> None:
    seat(stage, "Ada")
    stage.session.see(dice_in_tray(a_roll(3, 4)))
    assert shown(stage)["tray"]["text"] == ""
    stage.session.start("base", 0)
    assert shown(stage)["tray"]["text"].endswith("Press the button to confirm.")
    stage.session.end()
    assert shown(stage)["tray"]["text"] == ""
    stage.session.see(TrayView(TrayStatus.LOST))
    assert shown(stage)["tray"]["text"] != ""


def test_the_sheet_is_data(two: Stage) -> None:
    rows = shown(two)["game"]["rows"]
    assert [(r["key"], r["name"], r["lock"], r["bonus"]) for r in rows] == [
        ("R", "red", "red", False),
        ("Y", "yellow", "yellow", False),
        ("G", "green", "green", False),
        ("B", "blue", "blue", False),
    ]
    assert [b["number"] for b in rows[2]["boxes"]] == list(range(12, 1, -1))
    assert rows[0]["boxes"][0] == {"token": "R2", "number": 2, "colour": "red"}


def test_bonus_rows_are_data_too(stage: Stage) -> None:
    seat(stage, "Ada")
    stage.session.start("big_points", 0)
    rows = shown(stage)["game"]["rows"]
    assert [r["key"] for r in rows] == ["R", "RY", "Y", "G", "GB", "B"]
    assert (rows[1]["name"], rows[1]["lock"]) == ("bonus red-yellow", None)
    assert rows[1]["beside"] == ["R", "Y"]
    assert rows[1]["boxes"][3] == {"token": "RY5", "number": 5, "colour": None}


def test_an_open_roll(two: Stage) -> None:
    two.session.see(dice_in_tray(a_roll(3, 4, green=5)))
    assert shown(two)["tray"]["confirmable"] is True
    two.session.press()
    state = shown(two)
    game = state["game"]
    assert (game["phase"], game["action"], game["waiting_for"]) == ("action1", 1, [0, 1])
    assert game["sums"] == {
        "white": 7,
        "colour": {"red": [6, 7], "yellow": [6, 7], "green": [8, 9], "blue": [6, 7]},
    }
    assert game["players"][0]["legal"] == ["R7", "Y7", "G7", "B7"]
    assert state["tray"]["confirmable"] is False
    said = state["announcement"]
    assert (said["kind"], said["headline"]) == ("roll", "7")
    assert said["lines"][0] == "red 6 or 7"


def test_in_action_2_nothing_is_offered_that_action_1_took(two: Stage) -> None:
    two.session.see(dice_in_tray(a_roll(3, 4)))
    two.session.press()
    assert "red 6 or 7" in shown(two)["announcement"]["text"]
    two.answer(0, "R7")
    two.answer(1, None)
    said = shown(two)["announcement"]
    assert said["text"].startswith("Ada may cross ")
    assert "red" not in said["text"]
    assert "white" not in said["text"].casefold()
    assert not [text for text in said["lines"] if "red" in text]


def test_a_correction_in_action_2_is_shown_whole(two: Stage) -> None:
    two.roll(3, 4, blue=3)
    for player in (0, 1):
        two.answer(player, None)
    two.answer(0, "B7", done=False)
    assert two.correct(3, 4, blue=1) is None
    text = shown(two)["announcement"]["text"]
    assert text.startswith("Roll corrected: blue 1. Ada’s blue 7 no longer fits.")
    assert "Ada may cross" in text


def test_crosses_lost_boxes_points_and_misses(two: Stage) -> None:
    two.roll(3, 4)
    two.answer(0, "R7")
    two.answer(1, None)
    two.answer(0, None)
    two.roll(1, 1)
    for _ in range(2):
        two.answer(0, None)
        two.answer(1, None)
    ada, ben = shown(two)["game"]["players"]
    assert ada["sheet"] == {"R": ["R7"], "Y": [], "G": [], "B": []}
    assert ada["lost"] == ["R2", "R3", "R4", "R5", "R6"]
    assert ada["points"]["rows"] == {"red": 1, "yellow": 0, "green": 0, "blue": 0}
    assert (ben["misses"], ben["points"]["minus"], ben["points"]["total"]) == (1, 5, -5)


def test_answers_and_the_countdown(two: Stage) -> None:
    two.roll(3, 4)
    two.answer(0, "R7", done=False)
    game = shown(two)["game"]
    assert game["players"][0]["answer"] == {"box": "R7", "done": False}
    assert (game["waiting_for"], game["closes_in_s"]) == ([1], None)
    two.answer(1, None)
    two.time.now_s += 0.5
    game = shown(two)["game"]
    assert game["players"][1]["answer"] == {"box": None, "done": True}
    assert game["closes_in_s"] == pytest.approx(GRACE_S - 0.5)


def test_a_miss_is_due_only_without_a_cross_in_action_1(two: Stage) -> None:
    two.roll(3, 4)
    two.answer(0, "R7")
    two.answer(1, None)
    assert shown(two)["game"]["miss_due"] is False
    two.answer(0, None)
    two.roll(3, 4)
    two.answer(0, "Y7")
    two.answer(1, None)
    assert shown(two)["game"]["miss_due"] is True


@pytest.mark.parametrize(
    "shares", [(0.425, 0.575), (0.145, 0.175, 0.68), (1 / 3, 1 / 3, 1 / 3), (0.0, 1.0)]
)
def test_chances_add_up_to_a_hundred(shares: tuple[float, ...]) -> None:
    shown = [each.percent for each in _chances([(share, 0.01) for share in shares])]
    assert sum(shown) == 100
    assert all(abs(each - 100 * share) < 1 for each, share in zip(shown, shares, strict=True))


def test_only_bots_are_called_bots(stage: Stage) -> None:
    seat(stage, "Ada")
    assert stage.session.add_bot("easy") is None
    assert stage.session.start("base", 0) is None
    assert [each["bot"] for each in shown(stage)["game"]["players"]] == [False, True]


def test_chances_from_before_a_newcomer_sat_down_are_not_shown(two: Stage) -> None:
    context = replace(CONTEXT, chances=((0.5, 0.02), (0.5, 0.02)))
    players = shown(two, context)["game"]["players"]
    assert [each["chance"] for each in players] == [{"percent": 50, "within": 4}] * 2
    seat(two, "Cleo")
    players = shown(two, context)["game"]["players"]
    assert [each["chance"] for each in players] == [None] * 3


def test_a_pending_closing_is_in_the_state(two: Stage) -> None:
    play_red_to_the_lock(two)
    two.answer(0, "R12", done=False)
    game = shown(two)["game"]
    assert game["closing"] == [{"row": "R", "seat": 0}]
    assert game["closed"] == []
    two.answer(1, None)
    two.answer(0, "R12")
    two.time.pass_s(10)
    game = shown(two)["game"]
    assert game["closed"] == [{"row": "R", "colour": "red", "by": [0]}]
    assert game["dice"] == ["yellow", "green", "blue"]
    assert game["players"][0]["locks"] == ["R"]
    assert "R2" in game["players"][1]["lost"]
    assert "red" not in game["sums"]["colour"]


def play_red_to_the_lock(stage: Stage) -> None:
    """Ada crosses red 2 to 6 by the white sums, then twelve is rolled."""
    for low, high in ((1, 1), (1, 2), (2, 2), (2, 3), (3, 3)):
        assert stage.roll(low, high) is None
        assert stage.answer(0, f"R{low + high}") == ""
        stage.answer(1, f"Y{low + high}")
        stage.answer(stage.state.active, None)
    assert stage.roll(6, 6) is None


def test_the_end_has_a_ranking_and_a_reason(two: Stage) -> None:
    two.roll(3, 4)
    two.answer(1, "R7")
    two.answer(0, None)
    two.session.end()
    game = shown(two)["game"]
    assert (game["over"], game["end"], game["winners"]) == (True, "ended_early", [])
    assert game["ranking"] == [
        {"rank": 1, "seat": 1, "total": 1},
        {"rank": 2, "seat": 0, "total": 0},
    ]
    assert game["winner_text"] == "The game was ended early."
    assert game["end_text"] == "It counts for nobody."
    assert game["winner_text"]


def test_the_state_holds_the_reading(two: Stage) -> None:
    two.session.see(dice_in_tray(a_roll(3, 4), frame=9, tilted="green"))
    tray = shown(two)["tray"]
    assert (tray["status"], tray["frame"], tray["size"]) == ("cocked", 9, [640, 480])
    assert tray["text"] == "The green die isn’t lying flat. Throw it again."
    assert tray["problems"] == [{"code": "cocked", "colour": "green"}]
    green = next(die for die in tray["dice"] if die["colour"] == "green")
    assert (green["cocked"], len(green["corners"])) == (True, 4)


def test_without_a_camera(stage: Stage) -> None:
    stage.session.see(TrayView(TrayStatus.LOST))
    tray = shown(stage)["tray"]
    assert (tray["confirmable"], tray["frame"], tray["dice"]) == (False, 0, [])
