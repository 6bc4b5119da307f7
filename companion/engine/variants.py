"""The printed sheets, each as one description."""

from __future__ import annotations

from companion.engine.dice import DieColour
from companion.engine.sheet import Plan, bonus_row, colour_row

_UP = range(2, 13)
_DOWN = range(12, 1, -1)

_RED = colour_row("R", DieColour.RED, _UP)
_YELLOW = colour_row("Y", DieColour.YELLOW, _UP)
_GREEN = colour_row("G", DieColour.GREEN, _DOWN)
_BLUE = colour_row("B", DieColour.BLUE, _DOWN)

BASE = Plan("base", (_RED, _YELLOW, _GREEN, _BLUE))
"""The base game: four rows of eleven boxes and a lock (E42)."""

BIG_POINTS = Plan(
    "big_points",
    (
        _RED,
        bonus_row("RY", "bonus red-yellow", _UP, ("R", "Y")),
        _YELLOW,
        _GREEN,
        bonus_row("GB", "bonus green-blue", _DOWN, ("G", "B")),
        _BLUE,
    ),
    most_scored=15,
)
"""Big Points: the base rows and two bonus rows between them (E47)."""

PLANS = {plan.name: plan for plan in (BASE, BIG_POINTS)}
"""Every sheet by the name of its variant."""

BONUS_KEYS = frozenset(row.key for plan in PLANS.values() for row in plan.rows if row.is_bonus)
"""Keys of the bonus rows of any sheet, for a refusal on sheets without them."""
