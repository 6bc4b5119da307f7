"""The table's own lamp falls into the picture: it is no motion, and it hides nothing."""

from __future__ import annotations

import numpy as np

from tests.vision.tracking.live_table import REST, Table
from vision.reading import Pixels


class BlinkingLamp:
    """A lamp whose light falls into the picture: each light in turn, and changing in between."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.lights: dict[str, Pixels] = {"blue": REST.copy(), "green": REST.copy()}
        self.lights["blue"][:60, :90] = (250, 60, 60)
        self.lights["green"][:60, :90] = (60, 250, 60)
        self.changing = REST.copy()
        self.changing[:60, :90] = (150, 150, 60)
        self.now: str | None = "blue"
        table.live.use_lamp_schedule(lambda at_s: self.now)

    def pass_frames(self, count: int) -> None:
        shown = self.changing if self.now is None else self.lights[self.now]
        self.table.camera._script = [shown] * count
        self.table.turns(count)


def test_the_tables_own_lamp_is_no_motion() -> None:
    table = Table([])
    lamp = BlinkingLamp(table)
    lamp.pass_frames(5)
    assert table.said == ["waiting", "ok"]
    for light in ("green", "blue", "blue"):
        lamp.now = None
        lamp.pass_frames(3)
        asked = len(table.reader.asked)
        lamp.now = light
        lamp.pass_frames(4)
        assert table.said == ["waiting", "ok"] or set(table.said[2:]) == {"ok"}
        assert len(table.reader.asked) > asked or light == "blue"
    without = Table([])
    blinking = BlinkingLamp(without)
    without.live.use_lamp_schedule(lambda at_s: "the same")
    blinking.pass_frames(5)
    blinking.now = "green"
    blinking.pass_frames(2)
    assert "moving" in without.said, "else this test could not fail"


def test_dice_moved_behind_a_blinking_lamp_are_seen_all_the_same() -> None:
    table = Table([])
    lamp = BlinkingLamp(table)
    lamp.pass_frames(5)
    assert not table.live.is_skipping_frames
    lamp.now = None
    lamp.pass_frames(2)
    assert table.live.is_skipping_frames, "a press has to wait for the next frame that is judged"
    lamp.now = "blue"
    lamp.lights["blue"] = lamp.lights["blue"].copy()
    lamp.lights["blue"][100:130, 200:230] = 250
    lamp.pass_frames(1)
    assert table.said[-1] == "moving"
    assert not table.live.is_skipping_frames


def test_a_camera_gone_black_is_noticed_in_time_behind_a_blinking_lamp() -> None:
    table = Table([])
    lamp = BlinkingLamp(table)
    lamp.pass_frames(5)
    black = np.zeros_like(REST)
    lamp.lights = {"blue": black}
    lamp.changing = black
    for light, frames in ((None, 8), ("blue", 10), (None, 2)):  # as "marks" blinks, at ten a second
        lamp.now = light
        lamp.pass_frames(frames)
    assert table.reports[-1].fault == "dark"
    assert table.said[-1] == "dark"


def test_a_lamp_that_never_stands_still_is_not_waited_for() -> None:
    table = Table([])
    lamp = BlinkingLamp(table)
    lamp.now = None
    lamp.pass_frames(25)
    assert table.reports[-1].roll is not None


def test_a_camera_that_comes_back_black_is_noticed_behind_the_lamp_too() -> None:
    black = np.zeros_like(REST)
    table = Table([*[REST] * 5], later=[[black] * 15])
    table.live.use_lamp_schedule(lambda at_s: None if at_s > 100.55 else "blue")
    table.turns(6)
    assert table.reports[-1].fault == "lost"
    table.turns(14)  # the lamp changes all the while
    assert table.reports[-1].fault == "dark"
