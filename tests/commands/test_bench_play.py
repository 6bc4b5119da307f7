"""`dice-companion bench play`: every press is announced on every page."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from companion.cli import dice_companion


@pytest.mark.slow
def test_the_delay_of_a_press_is_measured_on_every_page() -> None:
    asked = ["bench", "play", "--presses", "6", "--clients", "2", "--json"]
    ran = CliRunner().invoke(dice_companion, asked)
    assert ran.exit_code == 0, ran.output
    report = json.loads(ran.stdout.splitlines()[-1])
    assert (report["presses"], report["clients"]) == (6, 2)
    took = report["press_to_announcement_ms"]
    assert report["debounce_ms"] <= took["median"] <= took["p99"] < 1000
