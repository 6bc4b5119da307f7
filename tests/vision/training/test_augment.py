"""The flat marks that training pictures show where no die lies."""

from __future__ import annotations

import numpy as np

from vision.detector.models import MIDDLE
from vision.training.augment import printed


def _grey(count: int) -> np.ndarray:
    return np.full((count, 64, 64, 3), 0.4, np.float32)


def test_only_the_chosen_close_ups_are_printed_on() -> None:
    chosen = np.arange(40) % 2 == 0
    marked = printed(_grey(40), np.random.default_rng(5), 1.0, chosen)
    changed = np.abs(marked - 0.4).max(axis=(1, 2, 3)) > 0.005
    assert not changed[~chosen].any()
    assert changed[chosen].mean() > 0.9  # some marks are all but as dark as what they are on


def test_a_mark_lies_about_where_a_die_would_and_has_one_colour() -> None:
    marked = printed(_grey(60), np.random.default_rng(6), 1.0, np.ones(60, bool))
    assert marked.min() >= 0.0
    assert marked.max() <= 1.0
    off = np.abs(marked - 0.4).max(axis=3)
    seen = off > 0.5 * off.max(axis=(1, 2), keepdims=True)
    assert np.mean([each[MIDDLE, MIDDLE].any() for each in seen]) > 0.9
    assert (
        0.02 < np.median(seen.mean(axis=(1, 2))) < 0.6
    )  # most are neither specks nor all there is
    for picture, where in zip(marked, off > 0.9 * off.max(axis=(1, 2), keepdims=True), strict=True):
        assert np.ptp(picture[where], axis=0).max() < 0.15


def test_the_seed_decides() -> None:
    one, other = (
        printed(_grey(8), np.random.default_rng(7), 0.5, np.ones(8, bool)) for _ in range(2)
    )
    np.testing.assert_array_equal(one, other)
