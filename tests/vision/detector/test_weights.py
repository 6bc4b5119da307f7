"""The trained networks that come with the project."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from vision.detector.models import (
    CROP,
    FEATURES,
    FINDER_WH,
    PIP_CELLS,
    SCORES,
    UPRIGHT,
    UPRIGHT_OUTPUTS,
    WEIGHTS,
    shared_net,
)

_WEIGHTS = Path(__file__).parents[3] / "vision" / "weights"
_MOST_BYTES = 3_000_000


def test_all_weights_together_are_small() -> None:
    files = list(_WEIGHTS.iterdir())
    assert {path.name for path in files} >= {
        "finder.zip",
        "reader.zip",
        "upright.zip",
        "context.npz",
        "tilt_head.npz",
    }
    assert sum(len(path.read_bytes()) for path in files if path.is_file()) < _MOST_BYTES


@pytest.mark.parametrize(
    ("name", "shape", "out"),
    [
        ("finder", (1, 3, FINDER_WH[1], FINDER_WH[0]), (1, 30, 32, 40)),
        ("upright", (5, 3, UPRIGHT, UPRIGHT), (5, UPRIGHT_OUTPUTS)),
        ("reader", (5, 3, CROP, CROP), (5, SCORES + FEATURES + PIP_CELLS**2)),
    ],
)
def test_networks_have_the_expected_outputs(
    name: str, shape: tuple[int, ...], out: tuple[int, ...]
) -> None:
    pixels = np.random.default_rng(1).random(shape, np.float32)
    scores = shared_net(name)(pixels)
    assert scores.shape == out
    assert np.isfinite(scores).all()
    assert scores.std() > 0.1


def test_stored_numbers_are_rounded_or_packing_would_not_pay() -> None:
    for name in ("finder", "reader", "upright"):
        with zipfile.ZipFile(_WEIGHTS / f"{name}.zip") as archive:
            numbers = archive.getinfo(WEIGHTS)
        assert numbers.compress_size < 0.7 * numbers.file_size
