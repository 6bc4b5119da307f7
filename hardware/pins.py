"""Pin factories of gpiozero: lgpio on a Pi, the mock factory elsewhere."""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import logging
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from gpiozero.pins.mock import MockFactory, MockPWMPin

LOGGER = logging.getLogger(__name__)

FACTORIES = ("auto", "lgpio", "mock", "none")


def make_factory(name: str) -> Any:
    """Open the pin factory lgpio or mock; errors of its library are not caught."""
    if name == "mock":
        return MockFactory(pin_class=MockPWMPin)
    return _lgpio_factory()


def close_device(device: Any, owned_factory: Any) -> None:
    """Close a device and its own factory, even if their chip is gone; never raises.

    gpiozero's lgpio factory first resets every pin; on a dead chip that raises, and the chip's
    handle would stay open, so that the kernel gives the chip another number when it is back.
    """
    try:
        if device is not None:
            device.close()
    except Exception as error:
        LOGGER.info("closing a pin: %s", one_line(error))
    if owned_factory is None:
        return
    try:
        owned_factory.close()
    except Exception as error:
        LOGGER.info("closing a chip: %s", one_line(error))
        owned_factory.pins.clear()
        with suppress(Exception):
            owned_factory.close()
        with suppress(Exception):
            device.close()  # without the chip's handle there is no pin to reset


def _lgpio_factory() -> Any:
    if importlib.util.find_spec("lgpio") is None:
        raise ModuleNotFoundError("lgpio is not installed (apt install python3-lgpio)")
    _give_lgpio_a_directory()
    from gpiozero.pins.lgpio import LGPIOFactory

    try:
        factory = LGPIOFactory()
    except Exception:
        chip = header_chip()
        if chip is None:
            raise
        factory = LGPIOFactory(chip=chip)
    factory.pin_class = forgiving(factory.pin_class)
    return factory


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
    """Find the header's chip under another number than usual; None if there is none.

    The kernel renumbers a chip that comes back while its old number is still in use.
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
