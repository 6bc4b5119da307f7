"""The pin factories: lgpio on a Pi, gpiozero's mock elsewhere."""

from __future__ import annotations

import atexit
import importlib.util
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from gpiozero.pins.mock import MockFactory, MockPWMPin

FACTORIES = ("auto", "lgpio", "mock", "none")


def make_factory(name: str) -> Any:
    """Open a pin factory by its name, lgpio or mock; whatever its library raises comes through."""
    if name == "mock":
        return MockFactory(pin_class=MockPWMPin)
    return _lgpio_factory()


def _lgpio_factory() -> Any:
    if importlib.util.find_spec("lgpio") is None:
        raise ModuleNotFoundError("lgpio is not installed (apt install python3-lgpio)")
    _give_lgpio_a_directory()
    from gpiozero.pins.lgpio import LGPIOFactory

    return LGPIOFactory()


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
