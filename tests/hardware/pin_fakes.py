"""Who hears gestures, a clock moved by hand, and pins that can fail."""

from __future__ import annotations

import queue
import threading
from typing import Any

import pytest
from gpiozero.pins.mock import MockFactory, MockPin

from hardware.gesture import Gesture

PIN = 17
PATIENCE_S = 10.0
"""For what must come; it comes in milliseconds."""


def use_factory(monkeypatch: pytest.MonkeyPatch, factory: MockFactory) -> MockFactory:
    """Let all parts open their pins on one factory, which none of them closes."""
    monkeypatch.setattr(factory, "close", lambda: None)
    for part in ("button", "lamp", "buzzer"):
        monkeypatch.setattr(f"hardware.{part}.make_factory", lambda _name: factory)
    return factory


class Ear:
    """Takes gestures on the panel's thread and hands them to the test, one at a time."""

    def __init__(self) -> None:
        self._heard: queue.SimpleQueue[Gesture] = queue.SimpleQueue()
        self.let_go_on = threading.Event()
        self.let_go_on.set()
        self.raises: Exception | None = None

    def __call__(self, told: Gesture, _pushed_for_s: float) -> None:
        self._heard.put(told)
        assert self.let_go_on.wait(PATIENCE_S)
        if self.raises is not None:
            raise self.raises

    def next(self) -> Gesture:
        return self._heard.get(timeout=PATIENCE_S)

    @property
    def is_silent(self) -> bool:
        return self._heard.empty()


class Clock:
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def push(pin: Any, clock: Clock, *, kept_s: float = 0.1) -> None:
    pin.drive_low()
    clock.now_s += kept_s
    pin.drive_high()
    clock.now_s += 0.1


class PinWithFaults(MockPin):  # type: ignore[misc]
    """A pin that can fail to be read, and tells how often it was read."""

    is_broken = False

    def __init__(self, factory: MockFactory, info: Any) -> None:
        self.reads: queue.SimpleQueue[bool] = queue.SimpleQueue()
        super().__init__(factory, info)

    def _get_state(self) -> bool:
        self.reads.put(self.is_broken)
        if self.is_broken:
            raise OSError("the chip is gone")
        return bool(super()._get_state())

    def wait_for_reads(self, *, broken: bool) -> None:
        """Two of them: when the second comes, the first has been dealt with."""
        for _ in range(2):
            while self.reads.get(timeout=PATIENCE_S) is not broken:
                pass
