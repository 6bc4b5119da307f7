"""The rulings in a reader's language, in the order of `docs/rules.md` (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from companion.messages.catalogue import Phrases

PARTS = {
    "sheet": (41, 42, 43, 44, 45),
    "turn": (1, 2, 3, 4, 5, 6, 7, 8, 9),
    "closing": (46, 10, 11, 12, 13, 14, 15, 16, 17),
    "end": (18, 19, 20, 21, 22, 23),
    "big_points": (47, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35),
    "table": (36, 37, 38, 39, 40),
}
"""Numbers of the rulings in each part of the rules, in reading order."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the rules.

    Attributes:
        title: Its heading.
        rulings: The name of each ruling, such as "E10", and its sentence.
    """

    title: str
    rulings: tuple[tuple[str, str], ...]


def rules(phrases: Phrases) -> tuple[Part, ...]:
    """All rulings, part by part."""
    return tuple(
        Part(
            phrases.say(f"rules.part.{name}"),
            tuple((f"E{number}", phrases.say(f"rules.E{number}")) for number in numbers),
        )
        for name, numbers in PARTS.items()
    )
