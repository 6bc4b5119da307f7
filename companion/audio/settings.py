"""Voice settings of a table: language, amount, volume and speed (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace

from companion.audio.espeak import SPEEDS, VOLUMES
from companion.messages.catalogue import LANGUAGES
from companion.messages.spoken import AMOUNTS


@dataclass(frozen=True, slots=True)
class VoiceSettings:
    """Language and voice of a table.

    Attributes:
        language: Language of the table's screen and voice.
        say: How much is spoken, one of AMOUNTS.
        volume: In the range VOLUMES.
        words_per_minute: In the range SPEEDS.
    """

    language: str = "en"
    say: str = "all"
    volume: int = 100
    words_per_minute: int = 165


@dataclass(frozen=True, slots=True)
class VoiceOverride:
    """A value chosen at the table; it holds until the setting it replaced changes."""

    name: str
    value: str | int
    instead_of: str | int


def is_possible(name: str, value: object) -> bool:
    """Whether a voice setting may have a value."""
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
    """The settings with the table's choices applied."""
    counting = {
        each.name: each.value for each in choices if getattr(settings, each.name) == each.instead_of
    }
    return replace(settings, **counting)  # type: ignore[arg-type]


def to_data(settings: VoiceSettings, wanted: Mapping[str, str | int]) -> dict[str, list[str | int]]:
    """Choices as stored: name to value and the setting it replaces."""
    return {name: [value, getattr(settings, name)] for name, value in wanted.items()}


def from_data(
    data: Mapping[str, object], before: Iterable[VoiceOverride]
) -> tuple[VoiceOverride, ...]:
    """The choices after a record.

    Raises:
        ValueError: The record contains an unknown name or an impossible value.
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
