"""From the finder's cells to places that may be dice."""

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.detector.candidates import hottest

CELL = 4


def grid(
    dice: list[tuple[float, float, float]], heats: list[float], blur: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Heat (20, 30) and aim (3, 20, 30) of dice (x, y, edge, in px of the canvas).

    Every cell points to the die nearest to it, as the finder was taught.
    """
    y, x = np.mgrid[0:20, 0:30].astype(np.float32)
    heat = np.zeros_like(x)
    nearest = np.full_like(x, np.inf)
    aim = np.zeros((3, *x.shape), np.float32)
    for (cx, cy, edge), hot in zip(dice, heats, strict=True):
        u, v = (cx + 0.5) / CELL - 0.5, (cy + 0.5) / CELL - 0.5
        away = (x - u) ** 2 + (y - v) ** 2
        heat = np.maximum(heat, hot * np.exp(-away / (2 * blur**2))).astype(np.float32)
        mine = away < nearest
        nearest = np.where(mine, away, nearest)
        for field, value in zip(aim, (np.log(edge / 16.0), u - x, v - y), strict=True):
            field[mine] = np.broadcast_to(value, x.shape)[mine]
    return heat, aim


@pytest.mark.parametrize("blur", [0.7, 1.3])
def test_each_die_once_with_its_middle_and_size(blur: float) -> None:
    dice = [(20.0, 30.0, 12.0), (70.0, 22.0, 14.0), (100.5, 60.0, 18.0)]
    heat, aim = grid(dice, [0.9, 0.6, 0.8], blur)
    found = hottest(heat, np.zeros_like(heat), aim)
    assert len(found) == 3
    for x, y, edge in dice:
        there = min(found, key=lambda candidate: abs(candidate[2] - x) + abs(candidate[3] - y))
        assert there[2:] == pytest.approx((x, y, edge), abs=0.1)


def test_a_weak_cell_beside_a_die_is_no_candidate() -> None:
    heat, aim = grid([(40.0, 30.0, 10.0)], [0.9], 0.65)
    heat[7, 11:13] = (0.5, 0.25)
    aim[1, 7, 12] = 1.0  # points away from the die, but is hardly warm
    assert len(hottest(heat, np.zeros_like(heat), aim)) == 1


def test_the_strongest_candidates_come_first_up_to_the_limit() -> None:
    dice = [(10.0 + 14 * n, 10.0 + 14 * m, 6.0) for n in range(7) for m in range(5)]
    heats = list(np.linspace(0.3, 0.95, len(dice)))
    heat, aim = grid(dice, heats, 0.7)
    found = hottest(heat, np.zeros_like(heat), aim)
    assert len(found) == 16
    outputs = [heat[row, column] for row, column, *_ in found]
    assert outputs == sorted(outputs, reverse=True)


def test_a_blur_is_a_candidate_after_the_dice() -> None:
    heat, aim = grid([(40.0, 30.0, 10.0)], [0.9], 0.65)
    smear = np.zeros_like(heat)
    smear[12, 20:23] = (0.6, 0.8, 0.7)
    smear[3, 3] = 0.4
    assert [found[:2] for found in hottest(heat, smear, aim)] == [(7, 10), (12, 21)]
