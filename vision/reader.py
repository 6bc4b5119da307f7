"""Looks closely at candidates: is it a die, which colour, which value, does it lie flat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.finder import Spot
from vision.lean import fit_lean
from vision.nets import CROP, CROP_EDGES, UNKNOWN_LEAN, Scores, shared_net, sigmoid, softmax
from vision.reading import Pixels, Point

_PIP_CELLS = 144.0
_WORTH = 0.03
"""Least chance of a die at first sight that is worth a second look."""


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What two closer looks at one candidate agree or disagree on.

    Attributes:
        corners: (4, 2) corners of the top face in px of the picture.
        values: (2, 6) probability of each value, one row per look.
        colours: (2, 6) probability of white, red, yellow, green, blue, none of them.
        pips: The pips counted by each look, as real numbers.
        die, cocked, moving: Probabilities. `visible` is the share of the top face in view.
        misfit: How badly the outline fits the floor that the other dice lie on, in deviations.
    """

    corners: NDArray[np.float32]
    values: Scores
    colours: Scores
    pips: tuple[float, float]
    die: float
    cocked: float
    moving: float
    visible: float
    misfit: float = 0.0

    @property
    def centre_xy(self) -> Point:
        """Middle of the top face."""
        x, y = self.corners.mean(axis=0)
        return float(x), float(y)

    @property
    def edge_px(self) -> float:
        """Mean edge of the top face."""
        sides = np.linalg.norm(self.corners - np.roll(self.corners, 1, axis=0), axis=1)
        return float(sides.mean())


def look_closely(pixels: Pixels, spots: Sequence[Spot]) -> list[tuple[Look, Spot]]:
    """Read each candidate twice: as found, then centred and turned upright by the first look.

    What is clearly neither a die nor a blur at first sight is left out.
    """
    if not spots:
        return []
    height, width = pixels.shape[:2]
    first = [_crop_matrix(s.centre_xy, s.edge_px, 0.0) for s in spots]
    one = _scores(pixels, first, [s.edge_px for s in spots], None)
    chances = sigmoid(one[:, [0, 14]])
    keep = [n for n, (die, moving) in enumerate(chances) if die > _WORTH or moving > 0.4]
    if not keep:
        return []
    one, spots = one[keep], [spots[n] for n in keep]
    corners = [_corners(row, first[n]) for row, n in zip(one, keep, strict=True)]
    second, edges = [], []
    for quad, spot in zip(corners, spots, strict=True):
        half = quad[[1, 2]] - quad[[0, 3]]
        edge = float(np.linalg.norm(quad - np.roll(quad, 1, axis=0), axis=1).mean())
        edge = float(np.clip(edge, 0.6 * spot.edge_px, 1.7 * spot.edge_px))
        x, y = quad.mean(axis=0)
        angle = float(np.arctan2(half[:, 1].sum(), half[:, 0].sum()))
        centre = (float(np.clip(x, 0, width - 1)), float(np.clip(y, 0, height - 1)))
        second.append(_crop_matrix(centre, edge, -angle))
        edges.append(edge)
    leans, misfits = _agreed_leans(one, corners, spots, (width, height))
    two = _scores(pixels, second, edges, leans)
    looks = []
    for a, b, matrix, misfit, spot in zip(one, two, second, misfits, spots, strict=True):
        both = np.stack([a, b])
        chance = sigmoid(both[:, [0, 13, 14, 15]])
        looks.append(
            (
                Look(
                    corners=_corners(b, matrix),
                    values=softmax(both[:, 1:7]),
                    colours=softmax(both[:, 7:13]),
                    pips=(float(a[23]) * _PIP_CELLS, float(b[23]) * _PIP_CELLS),
                    die=float(chance[1, 0]),
                    cocked=float(chance[1, 1]),
                    moving=float(chance[:, 2].max()),
                    visible=float(chance[:, 3].min()),
                    misfit=float(misfit),
                ),
                spot,
            )
        )
    return looks


def _agreed_leans(
    scores: Scores,
    corners: Sequence[NDArray[np.float32]],
    spots: Sequence[Spot],
    size_wh: tuple[int, int],
) -> tuple[list[Point], list[float]]:
    """How the floor leans at each candidate, as most outlines of still dice have it."""
    sure = [
        n
        for n, chance in enumerate(sigmoid(scores[:, [0, 14]]))
        if chance[0] > 0.5 and chance[1] < 0.5 and spots[n].tray > 0.5
    ]
    lean, misfit = fit_lean([corners[n] for n in sure], [spots[n].up for n in sure], size_wh)
    misfits = [0.0] * len(spots)
    for n, value in zip(sure, misfit, strict=True):
        misfits[n] = float(value)
    if not sure:
        return [s.up for s in spots], misfits
    return [lean.up_at(s.centre_xy) for s in spots], misfits


def _crop_matrix(centre_xy: Point, edge_px: float, angle_rad: float) -> Scores:
    """The 2x3 matrix from px of the picture to px of a crop round a point."""
    scale = CROP / (CROP_EDGES * max(edge_px, 4.0))
    c, s = scale * np.cos(angle_rad), scale * np.sin(angle_rad)
    linear = np.array([[c, -s], [s, c]])
    shift = (CROP - 1) / 2 - linear @ np.asarray(centre_xy)
    return np.asarray(np.c_[linear, shift], np.float32)


def _scores(
    pixels: Pixels,
    matrices: Sequence[Scores],
    edges: Sequence[float],
    leans: Sequence[Point] | None,
) -> Scores:
    """The reader's raw scores (N, 24) of crops."""
    long_side = max(pixels.shape[:2])
    blob = np.empty((len(matrices), 6, CROP, CROP), np.float32)
    for number, (matrix, edge) in enumerate(zip(matrices, edges, strict=True)):
        crop = _cut(pixels, matrix)
        blob[number, :3] = crop.transpose(2, 0, 1)
        blob[number, :3] /= 255.0
        if leans is None:
            blob[number, 3:5] = 2.0 * UNKNOWN_LEAN
        else:
            turned = matrix[:, :2] @ np.asarray(leans[number])
            blob[number, 3:5] = (2.0 * turned / np.hypot(*matrix[:, 0]))[:, None, None]
        blob[number, 5] = 10.0 * edge / long_side
    return shared_net("reader")(blob)


def _cut(pixels: Pixels, matrix: Scores) -> Pixels:
    """The crop of a matrix; large dice are shrunk by area first so that no pip is skipped."""
    scale = float(np.hypot(*matrix[:, 0]))
    if scale > 0.6:
        return np.asarray(
            cv2.warpAffine(
                pixels,
                matrix,
                (CROP, CROP),
                flags=cv2.INTER_LINEAR,
                borderMode=cv2.BORDER_REPLICATE,
            ),
            np.uint8,
        )
    back = cv2.invertAffineTransform(matrix)
    middle = back[:, :2] @ np.full(2, (CROP - 1) / 2) + back[:, 2]
    reach = 0.72 * CROP / scale + 2
    height, width = pixels.shape[:2]
    left, top = np.clip(np.floor(middle - reach).astype(int), 0, (width - 1, height - 1))
    right, bottom = np.clip(
        np.ceil(middle + reach).astype(int), (left + 1, top + 1), (width, height)
    )
    shrink = max(1e-3, scale / 0.9)
    part = pixels[top:bottom, left:right]
    small = (max(1, round(part.shape[1] * shrink)), max(1, round(part.shape[0] * shrink)))
    part = np.asarray(cv2.resize(part, small, interpolation=cv2.INTER_AREA), np.uint8)
    sx, sy = small[0] / (right - left), small[1] / (bottom - top)
    # picture x = (small x + 0.5) / sx - 0.5 + left
    offset = np.array([0.5 / sx - 0.5 + left, 0.5 / sy - 0.5 + top])
    moved = np.c_[matrix[:, :2] / (sx, sy), matrix[:, :2] @ offset + matrix[:, 2]]
    return np.asarray(
        cv2.warpAffine(
            part,
            moved.astype(np.float32),
            (CROP, CROP),
            flags=cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        ),
        np.uint8,
    )


def _corners(scores: Scores, matrix: Scores) -> NDArray[np.float32]:
    """The corners (4, 2) in px of the picture from the reader's seven numbers for a quad."""
    x, y, cosine, sine, size, skew_x, skew_y = (float(v) for v in scores[16:23])
    angle = np.arctan2(sine, cosine) / 4.0
    a = np.exp(np.clip(size, -2.0, 1.0)) * np.exp(1j * angle)
    b = complex(np.clip(skew_x, -1, 1), np.clip(skew_y, -1, 1)) * abs(a) ** 2 / a
    turn = np.array([1, 1j, -1, -1j])
    z = (complex(x, y) + a * turn + b * turn.conj()) * (CROP / CROP_EDGES)
    crop = np.stack([z.real, z.imag], axis=1) + (CROP - 1) / 2
    back = cv2.invertAffineTransform(matrix)
    return np.asarray(crop @ back[:, :2].T + back[:, 2], np.float32)
