"""Training pictures and their labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vision.simulation.looks import TRAINED
from vision.training import dataset
from vision.training.dataset import frame_row, scene_row
from vision.training.patches import PATCHES

pytestmark = pytest.mark.slow


def test_close_ups_show_dice_first_and_then_places_without_one() -> None:
    decoys = 0
    for seed in range(2):
        row = scene_row(np.random.default_rng([seed, 3]), TRAINED)
        is_die = row["patch_labels"][row["patch_present"], 0]
        assert row["patch_present"].shape == (PATCHES,)
        assert set(is_die.tolist()) <= {0.0, 1.0}
        decoys += int((is_die == 0).sum())
    assert decoys


def test_frames_alone_have_what_the_finder_learns_from() -> None:
    row = frame_row(np.random.default_rng(4), TRAINED)
    assert set(row) == {"pixels", "dice", "masks", "up"}
    assert row["pixels"].shape == (256, 320, 3)
    assert row["masks"].shape == (3, 64, 80)


def test_a_kind_of_scene_is_drawn_if_it_is_asked_for() -> None:
    kinds = {"empty": 1.0}
    rows = [frame_row(np.random.default_rng([seed, 6]), TRAINED, kinds) for seed in range(4)]
    in_tray = np.concatenate([row["dice"] for row in rows])[:, 3]
    assert not in_tray.any()


def test_dice_without_pips_get_a_value_by_chance_and_no_pips(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dataset, "_PLAIN", 0.0)  # no set keeps its plain looks, with pips
    looks = replace(TRAINED, symbols=1.0)
    rows = [scene_row(np.random.default_rng([seed, 5]), looks) for seed in range(3)]
    labels = np.concatenate([row["patch_labels"][row["patch_present"]] for row in rows])
    pips = np.concatenate([row["patch_pips"][row["patch_present"]] for row in rows])
    flat = (labels[:, 0] > 0) & (labels[:, 3] == 0) & (labels[:, 4] == 0)
    assert flat.any()
    assert (labels[flat, 1] > 0).all()
    assert np.isnan(pips[flat]).all()
