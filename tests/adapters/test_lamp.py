"""What the lamp is told, and how it is kept up to date."""

from __future__ import annotations

import queue

import pytest

from companion.adapters.follower import Follower
from companion.adapters.lamp import lamp_state
from companion.tray import CameraFault, TrayStatus, TrayView
from tests.session.fakes import Stage, dice_seen, tilted

PATIENCE_S = 10.0


def test_the_lamp_follows_a_turn(stage: Stage) -> None:
    def says() -> str:
        return lamp_state(stage.session.view())

    assert says() == "idle"
    stage.seat("Ada", "Ben")
    stage.session.start()
    assert says() == "ready"
    for status, said in (("empty", "ready"), ("moving", "reading"), ("reading", "reading")):
        stage.session.see(TrayView(TrayStatus(status)))
        assert says() == said
    stage.session.see(tilted("green"))
    assert says() == "unreadable"
    stage.session.see(TrayView(TrayStatus.DARK, fault=CameraFault.DARK))
    assert says() == "fault"
    stage.session.see(TrayView(TrayStatus.MOVING, fault=CameraFault.SLOW))
    assert says() == "reading"
    stage.session.see(dice_seen(3, 4))
    assert says() == "readable"
    stage.session.press()
    assert says() == "marks"
    stage.session.part_is("button", "lost")
    assert says() == "fault"
    stage.session.part_is("button", None)
    stage.session.end()
    assert says() == "over"


def test_a_follower_shows_the_newest_and_survives(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    shown: queue.SimpleQueue[str] = queue.SimpleQueue()

    def show(view) -> None:  # type: ignore[no-untyped-def]
        shown.put(lamp_state(view))
        raise RuntimeError("no lamp")

    follower = Follower(stage.session, show, name="lamp-state")
    assert shown.get(timeout=PATIENCE_S) == "idle"
    stage.seat("Ada")
    stage.session.start()
    while shown.get(timeout=PATIENCE_S) != "ready":
        pass
    follower.close()
    assert "lamp-state: the table's state cannot be shown" in caplog.text
    caplog.clear()
