"""What cameras have in common that look at dice which people throw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from companion.engine.dice import DieColour
from companion.errors import CameraUnavailable

_NOTHING_HELD: Mapping[str, float] = MappingProxyType({})


class OverRealDice:
    """The part of a `Camera` that only the simulated tray fills with life."""

    source: str
    can_throw = False
    mishaps: Sequence[str] = ()
    troubles: Sequence[str] = ()

    @property
    def is_silent(self) -> bool:
        """Whether the device has given nothing for too long."""
        return False

    @property
    def controls(self) -> Mapping[str, float]:
        """What exposure, gain and white balance are held at."""
        return _NOTHING_HELD

    def confirmed(self) -> bool:
        """Hear that a roll was confirmed: the dice stay as they are."""
        return False

    def throw(self, in_play: Sequence[DieColour], *, mishap: str | None = None) -> None:
        """Refuse: these dice are thrown by people."""
        raise self._cannot_throw()

    def trouble(self, name: str) -> None:
        """Refuse: only the simulated tray can be told."""
        raise self._cannot_throw()

    def _cannot_throw(self) -> CameraUnavailable:
        return CameraUnavailable(
            f"camera {self.source!r}: cannot throw dice, only the simulated tray can"
        )
