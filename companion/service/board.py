"""Which machine this is, and what its files say."""

from __future__ import annotations

from pathlib import Path

MODEL_FILE = Path("/proc/device-tree/model")
"""The model's name, where the machine's firmware describes it as a device tree."""


def content_of(path: Path) -> str | None:
    """The text of one of its files, other bytes replaced; None where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def model() -> str:
    """The machine's model, such as "Raspberry Pi 5 Model B Rev 1.0"; "" if it is not known."""
    return (content_of(MODEL_FILE) or "").rstrip("\0\n")


def is_raspberry_pi() -> bool:
    """Whether this machine is a Raspberry Pi."""
    return "raspberry pi" in model().lower()
