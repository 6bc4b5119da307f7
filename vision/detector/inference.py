"""Outputs of the crop classifier for crops of one picture."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.detector.crops import close_up
from vision.detector.models import CROP, CROP_EDGES, FEATURES, MIDDLE, SCORES, Scores, shared_net
from vision.reading import Pixels


@dataclass(frozen=True, slots=True, eq=False)
class CropOutputs:
    """Outputs of the crop classifier for N crops.

    Attributes:
        logits: (N, 51) its logits, the mean pip density, and the features for the context head.
        shades: (N, 3) mean log colour of the middle of each crop.
        cuts: (N, 2, 3) matrices from px of the picture to px of the crop.
    """

    logits: Scores
    shades: Scores
    cuts: Scores

    def only(self, rows: list[int]) -> CropOutputs:
        """Select some of the crops."""
        return CropOutputs(self.logits[rows], self.shades[rows], self.cuts[rows])


def corners_of(outputs: CropOutputs) -> NDArray[np.float32]:
    """Corners (N, 4, 2) in px of the picture, from the seven outputs for an outline."""
    x, y, cosine, sine, size, skew_x, skew_y = outputs.logits[:, 16:23].T.astype(np.float64)
    angle = np.arctan2(sine, cosine) / 4.0
    a = np.exp(np.clip(size, -2.0, 1.0)) * np.exp(1j * angle)
    b = (np.clip(skew_x, -1, 1) + 1j * np.clip(skew_y, -1, 1)) * np.abs(a) ** 2 / a
    turn = np.array([1, 1j, -1, -1j])
    z = (x + 1j * y)[:, None] + a[:, None] * turn + b[:, None] * turn.conj()
    crop = z * (CROP / CROP_EDGES) + (1 + 1j) * (CROP - 1) / 2
    cuts = outputs.cuts.astype(np.float64)  # each matrix turns, scales and moves
    turned, moved = (cuts[:, 0] + 1j * cuts[:, 1])[:, [0, 2]].T
    points = (crop - moved[:, None]) / turned[:, None]
    return np.stack([points.real, points.imag], axis=2).astype(np.float32)


def classify_crops(pixels: Pixels, cuts: Scores) -> CropOutputs:
    """Outputs of the crop classifier for crops cut by matrices (N, 2, 3), at least one.

    Args:
        pixels: (H, W, 3) uint8, BGR.
    """
    blob = np.empty((len(cuts), 3, CROP, CROP), np.float32)
    middles = np.empty((len(cuts), 3))
    for number, matrix in enumerate(cuts):
        crop = close_up(pixels, matrix, CROP)
        blob[number] = crop.transpose(2, 0, 1)
        middles[number] = cv2.mean(crop[MIDDLE, MIDDLE])[:3]
    blob /= 255.0
    outputs, cells = np.split(shared_net("reader")(blob), [SCORES + FEATURES], axis=1)
    pips = cells.mean(axis=1, keepdims=True)
    logits = np.concatenate([outputs[:, :SCORES], pips, outputs[:, SCORES:]], axis=1)
    shades = np.asarray(np.log(middles / 255.0 + 0.02), np.float32)
    return CropOutputs(logits, shades, cuts)
