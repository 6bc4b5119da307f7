"""Pins of gpiozero: its factories (lgpio on a Pi, the mock factory elsewhere), and one contact."""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import logging
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from gpiozero import DigitalInputDevice
from gpiozero.pins.mock import MockFactory, MockPWMPin

LOGGER = logging.getLogger(__name__)


def make_factory(name: str) -> Any:
    """Open the pin factory lgpio or mock; errors of its library are not caught."""
    if name == "mock":
        return MockFactory(pin_class=MockPWMPin)
    if importlib.util.find_spec("lgpio") is None:
        raise ModuleNotFoundError("lgpio is not installed (apt install python3-lgpio)")
    _give_lgpio_a_directory()
    from gpiozero.pins.lgpio import LGPIOFactory

    chip = header_chip()
    factory = LGPIOFactory() if chip is None else LGPIOFactory(chip=chip)
    factory.pin_class = forgiving(factory.pin_class)
    return factory


def close_device(device: Any, factory: Any) -> None:
    """Close a device and its factory, even if their chip is gone; never raises.

    gpiozero's lgpio factory first resets every pin; on a dead chip that raises, and the chip's
    handle would stay open, so that the kernel gives the chip another number when it is back.
    """
    try:
        if device is not None:
            device.close()
    except Exception as error:
        LOGGER.info("closing a pin: %s", one_line(error))
    try:
        factory.close()
    except Exception as error:
        LOGGER.info("closing a chip: %s", one_line(error))
        factory.pins.clear()
        with suppress(Exception):
            factory.close()
        with suppress(Exception):
            device.close()  # without the chip's handle there is no pin to reset


def forgiving(pin_class: type[Any]) -> type[Any]:
    """Return a gpiozero pin class that bears with a chip that is gone.

    lgpio's own class raises when pulses are stopped, so the device could not be closed, and when an
    edge is still due, which would end the thread that reports the edges of all pins.
    """

    class ForgivingPin(pin_class):  # type: ignore[misc]
        def _call_when_changed(self, *args: Any, **kwargs: Any) -> None:
            try:
                super()._call_when_changed(*args, **kwargs)
            except Exception as error:
                LOGGER.info("an edge of a chip that is gone: %s", one_line(error))

        def _set_frequency(self, value: float | None) -> None:
            try:
                super()._set_frequency(value)
            except Exception as error:
                if value is not None:
                    raise
                LOGGER.info("stopping the pulses of a pin: %s", one_line(error))

    return ForgivingPin


def header_chip(dev: Path = Path("/dev")) -> int | None:
    """Find the number of the header's chip; None if there is none.

    Another chip may have the usual number: an expander that was there first, or the kernel
    renumbers a chip that comes back while its old number is still in use.
    """
    lgpio = importlib.import_module("lgpio")
    for path in sorted(dev.glob("gpiochip*")):
        number = path.name.removeprefix("gpiochip")
        if number.isdecimal():
            with suppress(Exception):
                handle = lgpio.gpiochip_open(int(number))
                label = str(lgpio.gpio_get_chip_info(handle)[3])
                lgpio.gpiochip_close(handle)
                if label.startswith("pinctrl-"):
                    return int(number)
    return None


def _give_lgpio_a_directory() -> None:
    """Set a directory for the pipes that lgpio creates on import.

    By default it uses the working directory, and the import fails if that is not writable.
    """
    if os.environ.get("LG_WD"):
        return
    for name in ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"):
        place = os.environ.get(name, "").split(":")[0]
        if place and Path(place).is_dir() and os.access(place, os.W_OK):
            os.environ["LG_WD"] = place
            return
    os.environ["LG_WD"] = tempfile.mkdtemp(prefix="dice-companion-lgpio-")
    atexit.register(shutil.rmtree, os.environ["LG_WD"], ignore_errors=True)


def one_line(error: BaseException) -> str:
    """Return an exception's text in one line, or its class name if it has none."""
    text = " ".join(str(error).split())
    return text or type(error).__name__


class Device:
    """A gpiozero device on a pin factory of its own."""

    def __init__(self, factory: Any, make: Callable[..., Any]) -> None:
        """Open the device; errors of the pin library are not caught."""
        self._factory = factory
        try:
            self.device = make(pin_factory=factory)
        except BaseException:
            close_device(None, factory)
            raise

    def close(self) -> None:
        """Switch it off and close its pins, even if their chip is gone."""
        close_device(self.device, self._factory)


class Wire:
    """A contact to ground; it can be reopened after its chip died."""

    def __init__(
        self, pin: int, make_factory: Callable[[], Any], *, may_be_late: bool = False
    ) -> None:
        """Open the pin; errors of the pin library are not caught.

        Args:
            may_be_late: A chip that is not there yet is no error: `reopen` opens the pin later. A
                pin library that is not installed is one.
        """
        self._pin = pin
        self._make_factory = make_factory
        self._opened: Any = None
        try:
            self._open()
        except ImportError:
            raise
        except Exception as error:
            if not may_be_late:
                raise
            LOGGER.warning("GPIO%d is not there yet: %s", pin, one_line(error))

    @property
    def is_open(self) -> bool:
        """Whether there is a pin."""
        return self._opened is not None

    @property
    def is_closed(self) -> bool:
        """The level of the line now; errors of the pin library are not caught."""
        return bool(self._opened.device.is_active)

    def listen(self, on_edge: Callable[[bool], object]) -> None:
        """Call a function at every edge, on a thread of the pin library."""
        self._opened.device.when_activated = lambda: on_edge(True)
        self._opened.device.when_deactivated = lambda: on_edge(False)

    def push(self) -> None:
        """Push and release a mock pin."""
        self._opened.device.pin.drive_low()
        self._opened.device.pin.drive_high()

    def reopen(self) -> None:
        """Close the pin and open it again."""
        self.close()
        self._open()

    def close(self) -> None:
        """Close the pin, even if its chip is gone; may be called twice."""
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    def _open(self) -> None:
        # No bounce time: `gesture` decides when an edge counts. No Button of gpiozero either: its
        # hold timer is a thread that wakes ten times a second.
        make = partial(DigitalInputDevice, self._pin, pull_up=True, bounce_time=None)
        self._opened = Device(self._make_factory(), make)
