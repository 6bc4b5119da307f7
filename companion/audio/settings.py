"""How a table speaks: its language, and how loud, fast and much its voice says (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace

from companion.audio.announcer import AMOUNTS
from companion.audio.espeak import SPEEDS, VOLUMES
from companion.messages.catalogue import LANGUAGES


@dataclass(frozen=True, slots=True)
class VoiceSettings:
    """How a table speaks.

    Attributes:
        language: Of its screen and its voice.
        say: How much is said, one of AMOUNTS.
        volume: One of VOLUMES.
        words_per_minute: One of SPEEDS.
    """

    language: str = "en"
    say: str = "all"
    volume: int = 100
    words_per_minute: int = 165


@dataclass(frozen=True, slots=True)
class VoiceOverride:
    """Something chosen at the table in place of what the settings had said."""

    name: str
    value: str | int
    instead_of: str | int


def is_possible(name: str, value: object) -> bool:
    """Whether a table can speak so."""
    match name:
        case "language":
            return value in LANGUAGES
        case "say":
            return value in AMOUNTS
        case "volume" | "words_per_minute":
            low, high = VOLUMES if name == "volume" else SPEEDS
            return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    return False


def chosen(settings: VoiceSettings, choices: Iterable[VoiceOverride]) -> VoiceSettings:
    """How the table speaks now: a choice counts until the settings themselves are changed."""
    counting = {
        each.name: each.value for each in choices if getattr(settings, each.name) == each.instead_of
    }
    return replace(settings, **counting)  # type: ignore[arg-type]


def to_data(settings: VoiceSettings, wanted: Mapping[str, str | int]) -> dict[str, list[str | int]]:
    """Choices as a record keeps them: by name, the value and what it stands in for."""
    return {name: [value, getattr(settings, name)] for name, value in wanted.items()}


def from_data(
    data: Mapping[str, object], before: Iterable[VoiceOverride]
) -> tuple[VoiceOverride, ...]:
    """The choices after a record.

    Raises:
        ValueError: The record names something no table can be set to.
    """
    known = {each.name: each for each in before}
    names = {field.name for field in fields(VoiceSettings)}
    for name, pair in data.items():
        if name not in names or not isinstance(pair, list) or len(pair) != 2:
            raise ValueError(f"expected how a table speaks, got {name!r}: {pair!r}")
        if not all(is_possible(name, value) for value in pair):
            raise ValueError(f"expected a possible {name}, got {pair!r}")
        known[name] = VoiceOverride(name, *pair)
    return tuple(known.values())
