"""A club on disk; a real Mosquitto on 127.0.0.1, and connections that try again at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.mqtt import client
from companion.mqtt.mosquitto import Mosquitto
from tests.mqtt.club.build import ClubOnDisk


@pytest.fixture
def club(tmp_path: Path) -> Iterator[ClubOnDisk]:
    club = ClubOnDisk(tmp_path)
    yield club
    club.store.close()


@pytest.fixture
def mosquitto(mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch) -> Mosquitto:
    monkeypatch.setattr(client, "PAUSES_S", (0.02, 0.1))
    return mosquitto
