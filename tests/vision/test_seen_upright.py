"""Who is turned upright and looked at: no one where no roll can be made, no die of another game."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import cv2
import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, DieColour
from tests.vision.trays import SIX, tray
from vision.eye import reader, search
from vision.simulation.render import default_scene, render, to_matrix


def everywhere(*_: object) -> float:
    """All dice lie in the tray."""
    return 1.0


@pytest.fixture
def asked(given: Counter[str], monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts what the networks are given; each die may lean, and is torn."""
    monkeypatch.setattr(reader, "_may_be_tilted", lambda *_: True)
    monkeypatch.setattr(reader, "_is_tilt_unclear", lambda *_: True)
    return given


@pytest.mark.parametrize(
    ("dice", "in_play", "any_colour", "upright"),
    [
        (SIX, ALL_DICE, False, 24),
        (SIX[:5], ALL_DICE[:5], False, 20),
        (SIX[:5], ALL_DICE, False, 0),
        (SIX[1:], ALL_DICE, False, 0),
        (SIX[:5], ALL_DICE, True, 20),
    ],
)
def test_without_a_possible_roll_flat_dice_get_no_upright_view(
    dice: tuple[tuple[DieColour, int], ...],
    in_play: tuple[DieColour, ...],
    any_colour: bool,
    upright: int,
    asked: Counter[str],
) -> None:
    found = search.detect_dice(tray(dice), in_play, everywhere, any_colour=any_colour)[1]
    assert len(found) == len(dice)
    assert asked["lean"] == upright


def test_one_apparent_tilt_gives_all_dice_an_upright_view(asked: Counter[str]) -> None:
    scene = default_scene(SIX[:5], seed=3)
    first = scene.dice[0]
    tipped, _ = cv2.Rodrigues(np.array([0.6, 0.8, 0.0]) * np.radians(22.0))
    x, y, z = first.position_mm
    lift = first.size_mm * math.sin(math.radians(22.0)) / 2
    leaning = replace(
        first,
        rotation=to_matrix(tipped @ np.asarray(first.rotation)),
        position_mm=(x, y, z + lift),
    )
    found = search.detect_dice(
        render(replace(scene, dice=(leaning, *scene.dice[1:]))), ALL_DICE, everywhere
    )[1]
    assert asked["lean"] == 20
    assert sum(look.leaning > 0.0 for look, _ in found) == 1


@pytest.mark.parametrize(("any_colour", "upright"), [(False, 20), (True, 24)])
def test_a_foreign_die_gets_no_upright_view(
    any_colour: bool, upright: int, asked: Counter[str]
) -> None:
    scene = default_scene(SIX, seed=3)
    purple = replace(scene.dice[-1], albedo=(0.4, 0.08, 0.35))
    pixels = render(replace(scene, dice=(*scene.dice[:-1], purple)))
    found = search.detect_dice(pixels, ALL_DICE[:-1], everywhere, any_colour=any_colour)[1]
    assert sum(look.colours.argmax() == len(DieColour) for look, _ in found) == 1
    assert asked["lean"] == upright
