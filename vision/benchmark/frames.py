"""Synthetic frames with their truth, for `bench read` without a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from companion.engine.dice import ALL_DICE, DieColour
from companion.tray import TrayStatus
from vision.benchmark.truth import Case, TrueDie
from vision.reading import Pixels
from vision.simulation.appearance import log_uniform
from vision.simulation.random_scenes import Recipe, random_scene, squeezed
from vision.simulation.render import DieTruth, render, truth
from vision.simulation.scene import Scene

SEED = 20_261_121
"""Used for no training set: those seed their generators with three numbers, this one with two."""
SHARES = (0.04, 0.09)
"""Widths of a die as shares of the picture's width."""
_SCENARIOS = ("flat", "flat", "flat", "flat", "cocked", "moving", "hand", "empty")


def own_pictures(
    count: int, size_wh: tuple[int, int] | None = None
) -> Iterator[tuple[Case, Pixels]]:
    """Random frames with the expected reading of each."""
    for number in range(count):
        rng = np.random.default_rng((SEED, number))
        scene = synthetic_scene(rng, number, size_wh or (640, 480))
        pixels = squeezed(rng, render(scene))
        yield case_of(f"own_{number:05}", scene), pixels


def synthetic_scene(rng: np.random.Generator, number: int, size_wh: tuple[int, int]) -> Scene:
    """A scene with dice of any width of SHARES; its scenario goes by its number."""
    share = log_uniform(rng, *SHARES)
    return random_scene(rng, Recipe(size_wh, share, _SCENARIOS[number % len(_SCENARIOS)]))


def case_of(name: str, scene: Scene) -> Case:
    """The expected reading of a scene, as if its dice were the game's."""
    facts = truth(scene)
    expects = dice_in_play(facts)
    conditions = conditions_of(scene, facts, expects)
    special = frozenset(n for n, fact in enumerate(facts) if not fact.in_tray or fact.value is None)
    dice = tuple(
        TrueDie(
            fact.colour.value if fact.colour else None,
            fact.value,
            fact.centre_px,
            fact.edge_px,
            fact.value is not None and fact.top_visible > 0.9,
        )
        for fact in facts
    )
    status = TrayStatus(conditions[0]) if conditions else TrayStatus.OK
    return Case(name, status, expects, not conditions, dice, special_dice=special)


def dice_in_play(facts: Sequence[DieTruth]) -> tuple[DieColour, ...]:
    """The dice in the tray that one game can have, or all six where three or fewer lie there."""
    expects: list[DieColour] = []
    for fact in facts:
        colour = fact.colour
        most = 2 if colour is DieColour.WHITE else 1
        if fact.in_tray and colour is not None and expects.count(colour) < most:
            expects.append(colour)
    return tuple(expects) if len(expects) > 3 else ALL_DICE


def conditions_of(
    scene: Scene, facts: Sequence[DieTruth], in_play: Sequence[DieColour]
) -> list[str]:
    """Special conditions of a scene in a fixed order; objects that are no dice are none."""
    inside = [fact for fact in facts if fact.in_tray]
    missing, extra = list(in_play), 0
    for fact in inside:
        if fact.colour in missing:
            missing.remove(fact.colour)
        elif fact.colour is None or fact.colour in in_play:
            extra += 1
    checks = [
        ("moving", any(fact.moving for fact in inside)),
        ("empty", not inside),
        ("obstructed", any(fact.top_visible < 0.9 for fact in inside)),
        ("cocked", any(fact.cocked for fact in inside)),
        ("missing", bool(missing)),
        ("extra", extra > 0),
        (
            "uncertain",
            any(die.symbols and fact.in_tray for die, fact in zip(scene.dice, facts, strict=True)),
        ),
    ]
    return [name for name, applies in checks if applies]
