"""Mock pins, and somebody who hears the gestures."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from gpiozero.pins.mock import MockFactory

from tests.hardware.pin_fakes import Ear


@pytest.fixture
def pins() -> Iterator[MockFactory]:
    factory = MockFactory()
    yield factory
    factory.close()


@pytest.fixture
def ear() -> Ear:
    return Ear()
