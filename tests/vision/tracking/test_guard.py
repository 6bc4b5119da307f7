"""What is noticed of the camera while its own thread is busy with a reading that takes long."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from companion.engine.dice import ALL_DICE
from companion.errors import CameraUnavailable
from tests.vision.tracking.live_table import REST, Table
from tests.vision.tray_fakes import FakeClock, ScriptedCamera, ScriptedReader, ok, picture
from vision.simulation.camera import SimulatedTray
from vision.tracking.camera_loop import CameraLoop


def test_a_silent_camera_is_reported_during_a_reading() -> None:
    table = Table([REST] * 4)
    table.turns(1)

    def fall_silent() -> None:
        table.camera.is_silent = True
        table.live.check()
        table.live.check()
        assert table.said == ["waiting", "lost"]
        assert table.reports[-1].camera == "lost"
        assert table.reports[-1].fault == "lost"

    table.reader.meanwhile = fall_silent
    table.turns(1)
    assert table.said == ["waiting", "lost"], "what was read before is not offered any more"


def test_a_late_reading_of_a_silent_camera_offers_nothing() -> None:
    table = Table([REST] * 4)
    table.turns(2)
    assert table.live.is_reading, "one more that agrees, and the roll is offered"

    def fall_silent() -> None:
        table.camera.is_silent = True
        table.live.check()

    table.reader.meanwhile = fall_silent
    table.turns(1)
    assert table.said[-1] == "lost"
    assert not table.live.view.roll is not None


def test_a_camera_that_recovers_is_not_reopened() -> None:
    table = Table([REST] * 9)
    table.turns(3)
    assert table.reports[-1].roll is not None
    table.camera.is_silent = True
    table.live.check()
    assert table.said[-1] == "lost"
    table.camera.is_silent = False
    table.turns(5)
    assert table.reports[-1].camera == "ok"
    assert table.reports[-1].fault is None
    assert table.reports[-1].roll is not None
    assert table.camera.closed == 0


def test_a_camera_failing_after_its_loss_is_reported_once() -> None:
    table = Table([REST, REST, REST, CameraUnavailable("gone")])
    table.turns(3)
    table.camera.is_silent = True
    table.live.check()
    table.turns(1)
    table.live.check()
    assert table.said.count("lost") == 1


def test_a_lost_camera_is_reported_before_it_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table([REST, CameraUnavailable("no picture for 1.5 s")])
    said_by_then: list[list[str]] = []
    monkeypatch.setattr(table.camera, "close", lambda: said_by_then.append(table.said))
    table.turns(2)
    assert said_by_then == [["waiting", "lost"]], "closing one whose driver hangs takes a second"


def test_a_camera_that_comes_back_frozen_is_noticed() -> None:
    rng = np.random.default_rng(1)
    noisy = [REST + rng.integers(0, 4, REST.shape, dtype=np.uint8) for _ in range(10)]
    table = Table([*noisy, *[noisy[-1]] * 30])
    table.turns(9)
    table.camera.is_silent = True
    table.live.check()
    table.camera.is_silent = False
    table.turns(20)
    assert table.reports[-1].fault == "frozen"


def test_old_dice_stay_old_over_a_silence() -> None:
    table = Table([REST] * 9)
    table.turns(3)
    table.live.on_confirmed()
    table.camera.is_silent = True
    table.live.check()
    table.camera.is_silent = False
    table.turns(5)
    assert table.said[-1] == "old"


def test_a_slow_reading_is_reported_as_slow() -> None:
    table = Table([REST, picture(spot=50), *[picture(spot=90)] * 5])
    table.turns(3)
    assert table.said == ["waiting", "moving"]

    def take_long() -> None:
        table.live.check()
        assert table.said[-1] == "moving", "a short one is not worth a word"
        table.live.check()
        assert table.said[-1] == "reading"

    table.reader.meanwhile = take_long
    table.turns(1)
    table.reader.meanwhile = lambda: None
    table.turns(2)
    assert table.said == ["waiting", "moving", "reading", "ok"]


def test_an_offered_roll_is_not_taken_away_by_a_later_look() -> None:
    table = Table([REST] * 60)
    table.turns(3)
    table.reader.meanwhile = lambda: [table.live.check() for _ in range(3)]
    table.turns(40)
    assert table.said == ["waiting", "ok"]


def test_the_unplugged_simulated_tray_is_silent_until_it_is_plugged_in() -> None:
    clock = FakeClock()
    tray = SimulatedTray(seed=1, size_wh=(160, 120), clock=clock, sleep=clock.sleep)
    tray.trouble("unplug")
    assert tray.is_silent
    clock.sleep(60.0)
    assert not tray.is_silent
    assert tray.read() is not None


def test_the_guard_survives_a_camera_that_cannot_be_asked(
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked = threading.Semaphore(0)

    class Odd(ScriptedCamera):
        @property
        def is_silent(self) -> bool:
            asked.release()
            raise OSError("bus fault")

        @is_silent.setter
        def is_silent(self, value: bool) -> None: ...

    camera = Odd(FakeClock(), [None] * 1_000_000)
    live = CameraLoop(
        camera,
        reopen=lambda: camera,
        reader=ScriptedReader(ok()),
        in_play=lambda: ALL_DICE,
        on_view=lambda report: None,
    )
    live.start()
    assert asked.acquire(timeout=10.0)
    assert asked.acquire(timeout=10.0), "it asks again"
    live.close()
    assert "could not be checked" in caplog.text
