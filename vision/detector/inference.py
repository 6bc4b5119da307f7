"""Crops of one picture, and the networks' outputs for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.detector.crops import close_up
from vision.detector.faces import values_square_on
from vision.detector.models import (
    CROP,
    CROP_EDGES,
    FEATURES,
    MIDDLE,
    PIP_CELLS,
    SCORES,
    Scores,
    shared_net,
)
from vision.detector.tilt import classify_upright
from vision.detector.values import pip_pattern_errors
from vision.reading import Pixels


@dataclass(frozen=True, slots=True, eq=False)
class CropOutputs:
    """Outputs of the crop classifier for N crops.

    Attributes:
        logits: (N, 51) its logits, the mean pip density, and the features for the context head.
        shades: (N, 3) mean log colour of the middle of each crop.
        density: (N, PIP_CELLS, PIP_CELLS) pip density in each cell.
        cuts: (N, 2, 3) matrices from px of the picture to px of the crop.
    """

    logits: Scores
    shades: Scores
    density: Scores
    cuts: Scores

    def only(self, rows: list[int]) -> CropOutputs:
        """Select some of the crops."""
        return CropOutputs(
            self.logits[rows], self.shades[rows], self.density[rows], self.cuts[rows]
        )

    def replace(self, rows: list[int], other: CropOutputs) -> None:
        """Replace some of the crops, in place."""
        for mine, new in zip(
            (self.logits, self.shades, self.density, self.cuts),
            (other.logits, other.shades, other.density, other.cuts),
            strict=True,
        ):
            mine[rows] = new

    def pip_pattern_errors(self, corners: NDArray[np.float32]) -> Scores:
        """Pattern error (N, 6) of the pips for each value, for top faces (corners (N, 4, 2))."""
        there = corners @ self.cuts[:, :, :2].transpose(0, 2, 1) + self.cuts[:, None, :, 2]
        return pip_pattern_errors(self.density, there)


_NOTHING = CropOutputs(
    np.zeros((0, SCORES + 1 + FEATURES), np.float32),
    np.zeros((0, 3), np.float32),
    np.zeros((0, PIP_CELLS, PIP_CELLS), np.float32),
    np.zeros((0, 2, 3), np.float32),
)


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


class CropCache:
    """Crops of one picture. No network classifies the same crop twice.

    Attributes:
        pixels: (H, W, 3) uint8, BGR.
    """

    def __init__(self, pixels: Pixels) -> None:
        self.pixels = pixels
        self._known: dict[tuple[str, bytes], tuple[Scores, ...]] = {}

    def outputs(self, cuts: Sequence[Scores]) -> CropOutputs:
        """Outputs of the crop classifier for crops cut by matrices (2, 3)."""
        if not cuts:
            return _NOTHING
        selected = np.array(cuts, np.float32)
        logits, shades, density = self._once("reader", selected, _read)
        return CropOutputs(logits, shades, density, selected)

    def upright(self, outlines: Scores) -> Scores:
        """Outputs (N, 4 + TRAITS) of the tilt network for upright views, from corners (N, 4, 2)."""
        (out,) = self._once("tilt", outlines, lambda pixels, new: (classify_upright(pixels, new),))
        return out

    def square_on(self, outlines: Scores) -> Scores:
        """Probability of each value (N, 6) on straightened top faces, from corners (N, 4, 2)."""
        (out,) = self._once("face", outlines, lambda pixels, new: (values_square_on(pixels, new),))
        return out

    def _once(
        self, net: str, selected: Scores, read: Callable[[Pixels, Scores], tuple[Scores, ...]]
    ) -> tuple[Scores, ...]:
        """Outputs of `read` for each row, calling it only for new rows."""
        keys = [(net, row.tobytes()) for row in selected]
        new = {key: row for key, row in zip(keys, selected, strict=True) if key not in self._known}
        if new:
            columns = read(self.pixels, np.stack(list(new.values())))
            self._known.update(zip(new, zip(*columns, strict=True), strict=True))
        rows = (self._known[key] for key in keys)
        return tuple(np.stack(column) for column in zip(*rows, strict=True))


def _read(pixels: Pixels, matrices: Scores) -> tuple[Scores, Scores, Scores]:
    """Classify crops; return the outputs, the mean log colours of the middles and the pips."""
    blob = np.empty((len(matrices), 3, CROP, CROP), np.float32)
    middles = np.empty((len(matrices), 3))
    for number, matrix in enumerate(matrices):
        crop = close_up(pixels, matrix, CROP)
        blob[number] = crop.transpose(2, 0, 1)
        middles[number] = cv2.mean(crop[MIDDLE, MIDDLE])[:3]
    blob /= 255.0
    shades = np.log(middles / 255.0 + 0.02)
    out = shared_net("reader")(blob)
    outputs, cells = np.split(out, [SCORES + FEATURES], axis=1)
    density = cells.reshape(-1, PIP_CELLS, PIP_CELLS)
    pips = cells.mean(axis=1, keepdims=True)
    logits = np.concatenate([outputs[:, :SCORES], pips, outputs[:, SCORES:]], axis=1)
    return logits, np.asarray(shades, np.float32), density
