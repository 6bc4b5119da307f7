"""Who hears of a step, and when."""

from __future__ import annotations

import pytest

from companion.messages.announcements import Announcement
from companion.messages.catalogue import line
from companion.session.notifier import Notifier
from companion.session.ports import Topic


def test_a_listener_is_never_called_under_the_lock_of_an_outer_step() -> None:
    """One that failed leaves an announcement to the next step, which may have steps in it."""
    told: list[str] = []

    def hear(said: Announcement) -> None:
        told.append(said.kind)
        if said.kind == "roll":
            raise OSError("no sound")

    notifier = Notifier()
    notifier.subscribe(Topic.ANNOUNCEMENT, hear)

    def publish(*kinds: str) -> None:
        with notifier.transaction():
            for kind in kinds:
                notifier.publish(Announcement(kind, line("end.headline"), ()))

    with pytest.raises(OSError, match="no sound"):
        publish("roll", "turn")
    with notifier.transaction():
        with notifier.transaction():
            pass
        assert told == ["roll"]
    assert told == ["roll", "turn"]
