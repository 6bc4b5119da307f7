"""Looks closely at candidates: is it a die, which colour, which value, does it lie flat."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.eye.finder import Spot
from vision.eye.jury import weigh
from vision.eye.lean import FLAT, GUESS
from vision.eye.nets import (
    CROP,
    CROP_EDGES,
    FEATURES,
    MIDDLE,
    NORMAL,
    PIP_CELLS,
    SCORES,
    SPREAD,
    Scores,
    shared_net,
    sigmoid,
    softmax,
)
from vision.eye.pips import margin, misfits
from vision.eye.shrinking import shrunk_part
from vision.eye.square_on import values_square_on
from vision.eye.values import wavers, weighed
from vision.reading import Pixels, Point

_WORTH = 0.03
"""Least chance of a die at first sight that is worth more thought."""
_OFF = 0.22
_SIZE_OFF = 0.18
"""A die further off the middle of its close-up (in edges), or larger or smaller by more (log), is
looked at once more: the reader was trained to stand 0.08 of each."""
_DOUBT = 0.98
_PIPS_NEAR = -0.3
_MAY_LEAN = (-3.0, 2.0)
_MORE_LOOKS = ((float(np.radians(30.0)), 0.95), (float(np.radians(60.0)), 1.0))
"""A die that is less likely than this to be one and to show its value, or whose pips fit another
nearly as well, is seen square on. Where that leaves a doubt, or it may lean (log odds), it gets
more looks, turned and nearer: they err in part on their own."""
_ASKEW = -2.5
"""A die whose value is in doubt and that may lean by more than this (log odds) stays in doubt: of
twelve such own dice eight leant, of 42 others two."""
_OUTLINE = slice(16, 23)


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What the closer looks at one candidate said of it.

    Attributes:
        corners: (4, 2) corners of the top face in px of the picture.
        values: (L, 6) probability of each value, one row per look.
        square_on: (6,) probability of each value by the straightened face; None if not asked.
        colours: (6,) log odds of white, red, yellow, green, blue, none of them.
        pips: (L, 6) how badly the pips that each look made out fit each value (see `misfits`).
        die, moving: Probabilities. `visible` is the share of the top face in view.
        leaning: Log odds that it does not lie flat.
        centre_xy, edge_px: Middle of the top face, and its mean edge.
        foot_xy: Where it stands on the floor, below its middle.
    """

    corners: NDArray[np.float32]
    values: Scores
    colours: Scores
    pips: Scores
    die: float
    leaning: float
    moving: float
    visible: float
    centre_xy: Point = (0.0, 0.0)
    edge_px: float = 0.0
    foot_xy: Point = (0.0, 0.0)
    square_on: Scores | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What the reader said of N crops.

    Attributes:
        said: (N, 51) its scores, the mean pip density, and what it tells the jury.
        shades: (N, 3) mean log colour of the middle of each crop.
        density: (N, PIP_CELLS, PIP_CELLS) pips in each cell.
        cuts: (N, 2, 3) matrices from px of the picture to px of the crop.
    """

    said: Scores
    shades: Scores
    density: Scores
    cuts: Scores

    def only(self, rows: list[int]) -> Told:
        """Some of the crops."""
        return Told(self.said[rows], self.shades[rows], self.density[rows], self.cuts[rows])

    def replace(self, rows: list[int], other: Told) -> None:
        """Put other crops in place of some, in place."""
        for mine, new in zip(
            (self.said, self.shades, self.density, self.cuts),
            (other.said, other.shades, other.density, other.cuts),
            strict=True,
        ):
            mine[rows] = new

    def misfits(self, corners: NDArray[np.float32]) -> Scores:
        """How badly the pips fit each value (N, 6), of every top face (corners (N, 4, 2))."""
        there = corners @ self.cuts[:, :, :2].transpose(0, 2, 1) + self.cuts[:, None, :, 2]
        return misfits(self.density, there)


class CloseUps:
    """The close-ups of one picture; none is read twice.

    Attributes:
        pixels: (H, W, 3) uint8, BGR.
    """

    def __init__(self, pixels: Pixels) -> None:
        self.pixels = pixels
        self._known: dict[bytes, tuple[Scores, Scores, Scores]] = {}

    def told(self, cuts: Sequence[Scores]) -> Told:
        """What the reader says of the crops of some matrices (2, 3)."""
        keys = [cut.tobytes() for cut in cuts]
        new = {key: cut for key, cut in zip(keys, cuts, strict=True) if key not in self._known}
        if new:
            read = zip(*_read(self.pixels, list(new.values())), strict=True)
            self._known.update(zip(new, read, strict=True))
        said, shades, density = zip(*(self._known[key] for key in keys), strict=True)
        return Told(np.stack(said), np.stack(shades), np.stack(density), np.stack(cuts))


def look_closely(close_ups: CloseUps, spots: Sequence[Spot]) -> list[tuple[Look, Spot]]:
    """Read each candidate, once more where the first look was off its middle or left a doubt.

    What is clearly neither a die nor a blur at first sight is left out.
    """
    if not spots:
        return []
    pixels = close_ups.pixels
    spots, told, corners = _aimed(close_ups, spots)
    if not spots:
        return []
    edges = _edges(corners)
    height, width = pixels.shape[:2]
    long_side = max(height, width)
    centres = corners.mean(axis=1)
    places = (centres - np.array([width - 1, height - 1]) / 2) / long_side
    leans = np.array([s.up for s in spots])
    said = told.said
    added = weigh(said, told.shades, places, edges / long_side, leans)
    values = list(softmax(said[:, 1:7])[:, None])
    pips = [row[None] for row in told.misfits(corners)]
    straight: list[Scores | None] = [None] * len(said)

    def see_square_on(some: list[int]) -> None:
        for n, likely in zip(some, values_square_on(pixels, corners[some]), strict=True):
            straight[n] = likely

    doubts = [n for n in range(len(said)) if _unclear(said[n], values[n], pips[n])]
    see_square_on([n for n in doubts if _is_legible(said[n], added[n])])
    still = [n for n in doubts if _unclear(said[n], values[n], pips[n], straight[n])]
    again = [n for n in range(len(said)) if n in still or _may_lean(said[n], added[n])]
    if again:
        sums = said[again]
        for turn, zoom in _MORE_LOOKS:
            more = close_ups.told(_matrices(pixels, corners[again], edges[again] * zoom, turn))
            sums = sums + _upright(more.said, turn)
            fits = more.misfits(corners[again])
            for n, likely, misfit in zip(again, softmax(more.said[:, 1:7]), fits, strict=True):
                values[n] = np.vstack([values[n], likely])
                pips[n] = np.vstack([pips[n], misfit])
        outlines = said[again, _OUTLINE]
        said[again] = sums / (1 + len(_MORE_LOOKS))
        said[again, _OUTLINE] = outlines
        added = weigh(said, told.shades, places, edges / long_side, leans)
        rest = [n for n in again if straight[n] is None and wavers(values[n], pips[n])]
        see_square_on([n for n in rest if _is_legible(said[n], added[n])])
    chances = sigmoid(said[:, [0, 14, 15]])
    feet = centres - _upwards(said, leans) * edges[:, None]
    looks = [
        Look(
            corners=corners[n],
            values=values[n],
            square_on=straight[n],
            colours=said[n, 7:13] + added[n, :6],
            pips=pips[n],
            die=float(chances[n, 0]),
            leaning=float(said[n, 13] + added[n, 6]),
            moving=float(chances[n, 1]),
            visible=float(chances[n, 2]),
            centre_xy=(float(centres[n, 0]), float(centres[n, 1])),
            edge_px=float(edges[n]),
            foot_xy=(float(feet[n, 0]), float(feet[n, 1])),
        )
        for n in range(len(said))
    ]
    return list(zip(looks, spots, strict=True))


def _aimed(
    close_ups: CloseUps, spots: Sequence[Spot]
) -> tuple[list[Spot], Told, NDArray[np.float32]]:
    """The candidates that may be dice or blurs, what the reader says of each with its top face in
    the middle of a close-up, and the corners (N, 4, 2) of those faces."""
    told = close_ups.told([_crop_matrix(s.centre_xy, s.edge_px, 0.0) for s in spots])
    chances = sigmoid(told.said[:, [0, 14]])
    keep = [n for n, (die, moving) in enumerate(chances) if die > _WORTH or moving > 0.4]
    told, kept = told.only(keep), [spots[n] for n in keep]
    corners = _corners(told)
    off = [n for n, row in enumerate(told.said) if _badly_cut(row)]
    if off:
        likely = np.array([kept[n].edge_px for n in off])
        edges = np.clip(_edges(corners[off]), 0.6 * likely, 1.7 * likely)
        better = close_ups.told(_matrices(close_ups.pixels, corners[off], edges, 0.0))
        told.replace(off, better)
        corners[off] = _corners(better)
    return kept, told, corners


def _upwards(said: Scores, leans: Scores) -> Scores:
    """Which way (N, 2) dice rise from the floor in the picture, in edges: what the reader says of
    each, and the finder of the floor there, each for how surely it is known."""
    own = 1.0 / (np.exp(said[:, [SPREAD]]) ** 2 + FLAT**2)
    known = GUESS**-2
    return np.asarray((own * said[:, NORMAL] + known * leans) / (own + known), np.float32)


def _badly_cut(said: Scores) -> bool:
    """Whether a die lies off the middle of its close-up, or is larger or smaller than meant."""
    x, y, size = float(said[16]), float(said[17]), float(said[20])
    if said[0] < _NO_DIE:
        return False
    return math.hypot(x, y) > _OFF or abs(size - _HALF_DIAGONAL) > _SIZE_OFF


def _is_at_rest(said: Scores) -> bool:
    """Whether a candidate can be a die that neither moves nor is covered."""
    die, moving, visible = said[[0, 14, 15]]
    return bool(die >= _NO_DIE and moving <= 2.0 and visible >= -1.0)


def _unclear(said: Scores, values: Scores, pips: Scores, square_on: Scores | None = None) -> bool:
    """Whether it is left in doubt that a candidate at rest is a die and shows its value."""
    if not _is_at_rest(said):
        return False
    if square_on is not None:
        likely, agree = weighed(values, pips, square_on)
        return bool(not agree or likely.max() * sigmoid(said[0]) < _DOUBT)
    best = int(values[0].argmax())
    sure = values[0, best] * sigmoid(said[0])
    return bool(sure < _DOUBT or margin(pips[0], best + 1) > _PIPS_NEAR)


def _may_lean(said: Scores, added: Scores) -> bool:
    """Whether it is left in doubt how a die at rest lies."""
    return bool(_is_at_rest(said) and _MAY_LEAN[0] < said[13] + added[6] < _MAY_LEAN[1])


def _is_legible(said: Scores, added: Scores) -> bool:
    """Whether a candidate is a die at rest, its top in view and hardly askew: no other's value is
    announced, or settled by another look."""
    die, moving, visible = said[[0, 14, 15]]
    flat = said[13] + added[6] < _ASKEW
    return bool(die > 0.0 and moving < 0.0 and visible > 0.0 and flat)


def _upright(said: Scores, turned_rad: float) -> Scores:
    """What was said of turned crops, with the directions turned back."""
    c, s = np.cos(turned_rad), np.sin(turned_rad)
    upright = said.copy()
    upright[:, NORMAL] = said[:, NORMAL] @ np.array([[c, -s], [s, c]], np.float32)
    return upright


def _matrices(
    pixels: Pixels, corners: NDArray[np.float32], edges: Scores, angle_rad: float
) -> list[Scores]:
    """The matrices of crops round top faces, turned by an angle."""
    height, width = pixels.shape[:2]
    middles = np.clip(corners.mean(axis=1), 0, np.array([width - 1, height - 1]))
    return [
        _crop_matrix((float(x), float(y)), float(edge), angle_rad)
        for (x, y), edge in zip(middles, edges, strict=True)
    ]


_NO_DIE = -2.0
"""Score of a die below which no trouble is taken over its outline."""
_HALF_DIAGONAL = float(np.log(np.sqrt(0.5)))


def _crop_matrix(centre_xy: Point, edge_px: float, angle_rad: float) -> Scores:
    """The 2x3 matrix from px of the picture to px of a crop round a point."""
    scale = CROP / (CROP_EDGES * max(edge_px, 4.0))
    c, s = scale * math.cos(angle_rad), scale * math.sin(angle_rad)
    (x, y), middle = centre_xy, (CROP - 1) / 2
    return np.array([[c, -s, middle - c * x + s * y], [s, c, middle - s * x - c * y]], np.float32)


def _read(pixels: Pixels, matrices: Sequence[Scores]) -> tuple[Scores, Scores, Scores]:
    """What the reader says of crops, the mean log colour of their middles, and their pips."""
    blob = np.empty((len(matrices), 3, CROP, CROP), np.float32)
    for number, matrix in enumerate(matrices):
        blob[number] = _cut(pixels, matrix).transpose(2, 0, 1)
    blob /= 255.0
    shades = np.log(blob[:, :, MIDDLE, MIDDLE].mean(axis=(2, 3)) + 0.02)
    out = shared_net("reader")(blob)
    told, cells = np.split(out, [SCORES + FEATURES], axis=1)
    density = cells.reshape(-1, PIP_CELLS, PIP_CELLS)
    pips = cells.mean(axis=1, keepdims=True)
    said = np.concatenate([told[:, :SCORES], pips, told[:, SCORES:]], axis=1)
    return said, np.asarray(shades, np.float32), density


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
    shrink = max(1e-3, scale / 0.9)
    part, scales, origin = shrunk_part(pixels, middle - reach, middle + reach, shrink)
    moved = np.c_[matrix[:, :2] / scales, matrix[:, :2] @ origin + matrix[:, 2]]
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


def _corners(told: Told) -> NDArray[np.float32]:
    """The corners (N, 4, 2) in px of the picture from the reader's seven numbers for a quad."""
    x, y, cosine, sine, size, skew_x, skew_y = told.said[:, 16:23].T.astype(np.float64)
    angle = np.arctan2(sine, cosine) / 4.0
    a = np.exp(np.clip(size, -2.0, 1.0)) * np.exp(1j * angle)
    b = (np.clip(skew_x, -1, 1) + 1j * np.clip(skew_y, -1, 1)) * np.abs(a) ** 2 / a
    turn = np.array([1, 1j, -1, -1j])
    z = (x + 1j * y)[:, None] + a[:, None] * turn + b[:, None] * turn.conj()
    z = z * (CROP / CROP_EDGES)
    crop = np.stack([z.real, z.imag], axis=2) + (CROP - 1) / 2
    back = np.linalg.inv(told.cuts[:, :, :2].astype(np.float64))
    away = crop - told.cuts[:, None, :, 2]
    return np.asarray(away @ back.transpose(0, 2, 1), np.float32)


def _edges(corners: NDArray[np.float32]) -> NDArray[np.float32]:
    """Mean edge (N,) of quads (N, 4, 2)."""
    sides = corners - corners[:, [3, 0, 1, 2]]
    return np.asarray(np.hypot(sides[..., 0], sides[..., 1]).mean(axis=1), np.float32)
