"""Context head: corrects the colours and the tilt of each die by all dice of the picture."""

from __future__ import annotations

from functools import partial

import numpy as np

from vision.detector.models import PIP_CELLS, SCORES, Scores, dense, relu, shared_layers, sigmoid
from vision.detector.tilt import FloorFit

_SCALE = np.array([0.25] * 16 + [1.0] * 10, np.float32)
_PIPS = PIP_CELLS**2 / 6.0


def correct_by_context(
    logits: Scores, fit: FloorFit, shades: Scores, places: Scores, shares: Scores
) -> Scores:
    """Return corrections of the reader's outputs for each die, given all dice.

    Args:
        logits: (N, 51) the reader's outputs.
        fit: The plane fit of these outputs (see `vision.detector.tilt`).
        shades: (N, 3) mean log colour of the middle of each crop.
        places: (N, 2) from the middle of the picture, in long sides of it.
        shares: (N,) edge of each die in long sides of the picture.
    Returns:
        (N, 7): terms to add to the logits of the six colours and to that of a tilted die.
    """
    weight = sigmoid(logits[:, :1])
    tokens = np.concatenate(
        [
            np.clip(logits[:, :SCORES], -12.0, 12.0) * _SCALE,
            logits[:, SCORES : SCORES + 1] * _PIPS,
            np.clip(logits[:, SCORES + 1 :], -12.0, 12.0),
            shades,
            fit.inputs(places, shares),
        ],
        axis=1,
    ).astype(np.float32)
    layer = partial(dense, shared_layers("context"))
    h = relu(layer("second", relu(layer("first", tokens))))
    h = h + relu(layer("third", _beside_all(h, weight)))
    h = relu(layer("fourth", _beside_all(h, weight)))
    return layer("fifth", h)


def _beside_all(h: Scores, weight: Scores) -> Scores:
    """Append the mean and the maximum over all dice to the features of each die."""
    mean = (h * weight).sum(axis=0) / (weight.sum() + 1e-3)
    most = (h * weight).max(axis=0)
    both = np.broadcast_to(np.concatenate([mean, most]), (len(h), 2 * h.shape[1]))
    return np.concatenate([h, both], axis=1)
