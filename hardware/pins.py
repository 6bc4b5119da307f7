"""The pin factories: lgpio on a Pi, gpiozero's mock elsewhere."""

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
    """Open a pin factory by its name, lgpio or mock; whatever its library raises comes through."""
    if name == "mock":
        return MockFactory(pin_class=MockPWMPin)
    return _lgpio_factory()


def let_go(device: Any, owned_factory: Any) -> None:
    """Close a device and the factory made for it, also where their chip is gone; never raises.

    gpiozero's lgpio factory first resets every pin; on a dead chip that raises, and the chip's
    handle would stay open, so that the kernel gives the chip another number when it is back.
    """
    try:
        if device is not None:
            device.close()
    except Exception as error:
        LOGGER.info("letting a pin go: %s", one_line(error))
    if owned_factory is None:
        return
    try:
        owned_factory.close()
    except Exception as error:
        LOGGER.info("letting a chip go: %s", one_line(error))
        owned_factory.pins.clear()
        with suppress(Exception):
            owned_factory.close()
        with suppress(Exception):
            device.close()  # with the chip's handle gone there is no pin left to reset


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
    """A gpiozero pin class whose pulses can be stopped also where the chip is gone.

    With lgpio's own that raises, so that the device on the pin can never be closed, and Python
    writes a traceback for each when it is thrown away.
    """

    class ForgivingPin(pin_class):  # type: ignore[misc]
        def _set_frequency(self, value: float | None) -> None:
            try:
                super()._set_frequency(value)
            except Exception as error:
                if value is not None:
                    raise
                LOGGER.info("stopping the pulses of a pin: %s", one_line(error))

    return ForgivingPin


def header_chip(dev: Path = Path("/dev")) -> int | None:
    """The chip with the header's pins under another number than usual; None where there is none.

    The kernel numbers a chip anew when it comes back while its old number is still in use.
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
    """Name a directory for the pipes lgpio makes on import; else it takes the working directory.

    Where that is not writable (a service in /) the import itself fails.
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
    """An exception as one line: its text, or its name where it has none."""
    text = " ".join(str(error).split())
    return text or type(error).__name__
