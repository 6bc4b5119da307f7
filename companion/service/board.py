"""Which machine this is."""

from __future__ import annotations

from pathlib import Path

MODEL_FILE = Path("/proc/device-tree/model")
"""The model's name, where the machine's firmware describes it as a device tree."""


def model() -> str:
    """The machine's model, such as "Raspberry Pi 5 Model B Rev 1.0"; "" if it is not known."""
    try:
        return MODEL_FILE.read_text(encoding="utf-8", errors="replace").rstrip("\0\n")
    except OSError:
        return ""


def is_raspberry_pi() -> bool:
    """Whether this machine is a Raspberry Pi."""
    return "raspberry pi" in model().lower()
