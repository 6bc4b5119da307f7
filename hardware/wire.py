"""One contact to ground through gpiozero, told edge by edge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpiozero import Button

from hardware.pins import let_go


class Wire:
    """One contact to ground through gpiozero, which can be opened again when its chip died."""

    def __init__(self, pin: int, make_factory: Callable[[], Any], *, owns_factory: bool) -> None:
        """Open the pin; whatever the pin library raises comes through."""
        self._pin = pin
        self._make_factory = make_factory
        self._owns_factory = owns_factory
        self._factory: Any = None
        self._button: Any = None
        self._open()

    @property
    def is_closed(self) -> bool:
        """The level of the line now."""
        return bool(self._button.is_pressed)

    def listen(self, on_edge: Callable[[bool], object]) -> None:
        """Tell of every edge, on a thread of the pin library."""
        self._button.when_pressed = lambda: on_edge(True)
        self._button.when_released = lambda: on_edge(False)

    def push(self) -> None:
        """Push and let go a mock pin."""
        self._button.pin.drive_low()
        self._button.pin.drive_high()

    def reopen(self) -> None:
        """Let the pin go and open it anew."""
        self.close()
        self._open()

    def close(self) -> None:
        """Let the pin go, also where the chip is gone; may be called twice."""
        button, self._button = self._button, None
        factory, self._factory = self._factory, None
        if factory is not None:
            let_go(button, factory if self._owns_factory else None)

    def _open(self) -> None:
        self._factory = self._make_factory()
        try:
            # No bounce time: what an edge means, and when it counts, is for `gesture` to say.
            self._button = Button(
                self._pin, pull_up=True, bounce_time=None, pin_factory=self._factory
            )
        except BaseException:
            self.close()
            raise
