"""Loss of the face network: the value of a straightened top face."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from vision.detector.crops import levelled
from vision.detector.faces import INNER, SQUARE, on_straightened
from vision.detector.models import FACE, FACE_EDGES
from vision.training.augment import glared, half_lit, marbled, repainted, speckled, swirled, tinted
from vision.training.patches import STRAIGHT, STRAIGHT_EDGES
from vision.training.surfaces import chipped, repipped

Arrays = dict[str, NDArray[Any]]
KEYS = tuple(f"patch_{name}" for name in ("face", "labels", "corners", "pips", "present"))
_GLARED, _MARBLED, _SWIRLED, _SPECKLED, _HALF_LIT, _REPAINTED = 0.12, 0.15, 0.06, 0.06, 0.1, 0.15
_REPIPPED, _CHIPPED = 0.15, 0.2
"""Shares of faces that look so; see `vision.training.reader_loss`."""
_LEAST_SEEN = 0.8
_OFF, _BENT, _ZOOM, _TURN_RAD = 0.02, 0.035, 0.03, 0.03
"""How far off (standard deviations, in edges) the outline lies, and each of its corners at the
most, how much too small or large it is, and turned."""
_FAR_OFF, _FARTHER = 0.1, 0.03
"""Share of the outlines that are off by so much more."""


def face_loss(net: nn.Module, rows: Arrays, rng: np.random.Generator) -> dict[str, Tensor]:
    """Cross entropy of the values that can be read.

    Args:
        net: The network for faces.
        rows: Of S scenes with P close-ups: patch_face (S, P, STRAIGHT, STRAIGHT, 3), patch_labels
            (S, P, 7), patch_corners (S, P, 4, 2), patch_pips (S, P, 6, 2), patch_present (S, P).
        rng: For the changes made to the pictures.
    """
    labels = rows["patch_labels"]
    die, value, moving, visible = (labels[..., n] for n in (0, 1, 4, 5))
    told = rows["patch_present"] & (die > 0.5) & (value > 0) & (moving < 0.5)
    told &= visible > _LEAST_SEEN
    faces, corners = _cut(rows["patch_face"][told], rng)
    pips = _moved(rows["patch_pips"][told], rows["patch_corners"][told], corners)
    light = tinted(faces, rng)
    light = repipped(light, corners, pips, rng, np.flatnonzero(rng.random(len(pips)) < _REPIPPED))
    light = chipped(light, corners, pips, rng, np.flatnonzero(rng.random(len(pips)) < _CHIPPED))
    light = swirled(marbled(light, rng, _MARBLED), rng, _SWIRLED)
    for n in np.flatnonzero(rng.random(len(light)) < _REPAINTED):
        light[n] = repainted(light[n : n + 1], rng)[0]
    light = half_lit(glared(speckled(light, rng, _SPECKLED), rng, _GLARED), rng, _HALF_LIT)
    picture = torch.from_numpy(levelled(light, INNER)).contiguous(memory_format=torch.channels_last)
    with torch.autocast("cpu", torch.bfloat16):
        out = net(picture)
    wanted = torch.from_numpy(value[told].astype(np.int64) - 1)
    return {"value": F.cross_entropy(out.float(), wanted)}


def _cut(
    faces: NDArray[np.uint8], rng: np.random.Generator
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Faces as the eye straightens them: by an outline that is a little off, from any corner on and
    either way round. With them, where their corners (N, 4, 2) lie in truth, in px."""
    cut = np.empty((len(faces), FACE, FACE, 3), np.uint8)
    corners = np.empty((len(faces), 4, 2), np.float32)
    here = on_straightened(SQUARE, STRAIGHT, STRAIGHT_EDGES)
    for n, face in enumerate(faces):
        off = rng.normal(0, 1, (4, 2)) * rng.uniform(0, _BENT) + rng.normal(0, _OFF, 2)
        if rng.random() < _FAR_OFF:
            off += rng.normal(0, _FARTHER, 2)
        turn = rng.normal(0, _TURN_RAD)
        c, s = np.cos(turn), np.sin(turn)
        zoom = np.exp(rng.normal(0, _ZOOM))
        there = SQUARE @ np.array([[c, -s], [s, c]]) * zoom + off
        there = np.roll(there, int(rng.integers(4)), axis=0)[:: int(rng.choice((-1, 1)))]
        seen = np.ascontiguousarray(on_straightened(there, FACE, FACE_EDGES))
        corners[n] = seen
        matrix = cv2.getPerspectiveTransform(here, seen)
        cv2.warpPerspective(
            face, matrix, (FACE, FACE), cut[n],
            flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE,
        )  # fmt: skip
    return cut, corners


def _moved(
    pips: NDArray[np.float32], corners: NDArray[np.float32], to: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Where pips (N, 6, 2) lie if the corners of their faces (N, 4, 2) come to lie elsewhere."""
    turns = [cv2.getPerspectiveTransform(*pair) for pair in zip(corners, to, strict=True)]
    each = [cv2.perspectiveTransform(*pair) for pair in zip(pips[:, None], turns, strict=True)]
    there = np.asarray(each, np.float32).reshape(-1, 6, 2)
    return np.where(np.isfinite(pips), there, np.float32(np.nan))
