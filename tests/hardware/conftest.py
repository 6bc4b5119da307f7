"""Mock pins, and somebody who hears the gestures."""

from __future__ import annotations

import pytest
from gpiozero.pins.mock import MockFactory

from hardware.pins import make_factory
from tests.hardware.pin_fakes import Ear, use_factory


@pytest.fixture
def pins(monkeypatch: pytest.MonkeyPatch) -> MockFactory:
    return use_factory(monkeypatch, make_factory("mock"))


@pytest.fixture
def ear() -> Ear:
    return Ear()
