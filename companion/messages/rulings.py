"""The rulings in a reader's language, in the order of `docs/rules.md` (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from companion.engine import HouseRule
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
        rulings: The name of each ruling, such as "E10", and its sentences.
    """

    title: str
    rulings: tuple[tuple[str, str], ...]


def rules(phrases: Phrases, house: Iterable[HouseRule] = ()) -> tuple[Part, ...]:
    """All rulings, part by part.

    Args:
        house: The house rules of the running game, which stand beside the rulings they replace.
    """
    instead = {ruling: rule for rule in house for ruling in rule.replaces}

    def told(name: str) -> str:
        text = phrases.say(f"rules.{name}")
        if name not in instead:
            return text
        rule = phrases.say(f"page.house.{instead[name].value}")
        return f"{text} {phrases.say('rules.replaced', rule=rule)}"

    return tuple(
        Part(
            phrases.say(f"rules.part.{part}"),
            tuple((name, told(name)) for name in (f"E{number}" for number in numbers)),
        )
        for part, numbers in PARTS.items()
    )
