"""Other pips, marks and floors: what they change, and what they must leave readable."""

from __future__ import annotations

import numpy as np
import pytest

from vision.training.surfaces import Floats, chipped, repipped, replanted

MIDDLE, HALF = 31.5, 14.0
CORNERS = np.array(
    [[[MIDDLE + x * HALF, MIDDLE + y * HALF] for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]]
)
PIPS = np.full((1, 6, 2), np.nan)
PIPS[0, :2] = MIDDLE - 7.0, MIDDLE + 7.0
HERE = np.array([0])


def a_die() -> Floats:
    """A light die with two dark pips on a dark floor: (1, 64, 64, 3)."""
    crops = np.full((1, 64, 64, 3), 0.1, np.float32)
    crops[0, 18:46, 18:46] = 0.8
    for x, y in PIPS[0, :2]:
        crops[0, int(y) - 2 : int(y) + 4, int(x) - 2 : int(x) + 4] = 0.05
    return crops


@pytest.mark.parametrize("seed", range(10))
def test_painted_pips_change_the_pips_and_nothing_far_from_them(seed: int) -> None:
    now = repipped(a_die(), CORNERS, PIPS, np.random.default_rng(seed), HERE)
    changed = np.abs(now - a_die()).max(axis=3)[0]
    y, x = np.nonzero(changed > 0.05)
    away = np.hypot(x[:, None] - PIPS[0, :2, 0], y[:, None] - PIPS[0, :2, 1]).min(axis=1)
    assert len(away)
    assert away.max() < 0.25 * 2 * HALF


@pytest.mark.parametrize("seed", range(10))
def test_marks_leave_the_middle_of_each_pip_and_the_floor(seed: int) -> None:
    now = chipped(a_die(), CORNERS, PIPS, np.random.default_rng(seed), HERE)
    for x, y in PIPS[0, :2].astype(int):
        assert np.abs(now - a_die())[0, y, x].max() < 0.05
    assert np.abs(now - a_die())[0, :8].max() < 0.05


@pytest.mark.parametrize("seed", range(10))
def test_a_die_on_another_floor_keeps_its_face(seed: int) -> None:
    crops = np.concatenate([a_die(), np.full((1, 64, 64, 3), 0.6, np.float32)])
    rng = np.random.default_rng(seed)
    now = replanted(crops, CORNERS, np.zeros((1, 2)), rng, HERE, np.array([1]))[0]
    inner = slice(24, 40)
    assert np.abs(now - a_die()[0])[inner, inner].max() < 0.05
    assert now[:4].mean() > 0.2  # the dark floor is gone


def test_without_another_floor_a_die_stays_where_it_is() -> None:
    rng = np.random.default_rng(1)
    now = replanted(a_die(), CORNERS, np.zeros((1, 2)), rng, HERE, np.array([], np.intp))
    assert np.array_equal(now, a_die())
