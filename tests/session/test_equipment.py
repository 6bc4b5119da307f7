"""What the table says when a part of it breaks and when it works again."""

from __future__ import annotations

import pytest

from companion.engine import Phase
from companion.tray import CameraFault, TrayStatus, TrayView
from tests.session.fakes import Stage


@pytest.mark.parametrize("fault", ["lost", "dark", "blocked", "frozen", "slow"])
def test_a_camera_fault_and_its_end_are_announced_once_each(two: Stage, fault: str) -> None:
    status = "moving" if fault == "slow" else fault
    for frame in range(3):
        two.session.see(TrayView(TrayStatus(status), frame=frame, fault=CameraFault(fault)))
    assert [said.kind for said in two.told] == ["fault"]
    assert two.session.view().faults == (("camera", fault),)
    two.session.see(TrayView(TrayStatus.WAITING))
    two.session.see(TrayView(TrayStatus.MOVING))
    assert [said.kind for said in two.told] == ["fault", "mended"]
    assert two.told[-1].text == "The camera is working again."
    assert two.session.view().faults == ()


def test_the_headline_stays_during_a_fault(two: Stage) -> None:
    two.roll(4, 3)
    two.session.see(TrayView(TrayStatus.LOST, fault=CameraFault.LOST))
    announcement = two.session.view().announcement
    assert announcement is not None
    assert two.session.phrases.tell(announcement.headline) == "7"


def test_the_game_goes_on_by_hand_while_the_camera_is_away(two: Stage) -> None:
    two.session.see(TrayView(TrayStatus.BLOCKED, fault=CameraFault.BLOCKED))
    rejected = two.session.press()
    assert rejected is not None
    assert two.message(rejected).startswith("Something is covering the camera.")
    two.type_roll(4, 3)
    assert two.state.phase is Phase.ACTION1
    assert two.game.typed


def test_a_lost_button_is_shown_at_once(two: Stage) -> None:
    version = two.session.view().version
    two.session.part_is("button", "lost")
    assert two.session.wait(version, 0.0) > version
    two.session.part_is("button", "lost")
    two.session.part_is("button", None)
    assert [said.text for said in two.told] == [
        "The button isn’t responding. Use the one on a phone instead.",
        "The button is working again.",
    ]


def test_pages_are_notified_of_changes_around_the_game(two: Stage) -> None:
    version = two.session.view().version
    two.session.show_anew()
    assert two.session.wait(version, 0.0) > version
    assert two.told == []
