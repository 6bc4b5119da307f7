"""Upright views: crops with the top face upright, from which value and pose of a die are read."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vision.detector.crops import close_up
from vision.detector.models import UPRIGHT, UPRIGHT_EDGES, UPRIGHT_OUTPUTS, Scores, shared_net
from vision.reading import Pixels

_INNER = slice(18, UPRIGHT - 18)
"""Rows and columns of an upright crop that show the top face; only they set the brightness."""
_LEAST_CONTRAST = 0.01
"""Added to the contrast of a crop so that levelling never divides by zero."""
_FARTHEST = 6.0
"""Largest absolute value of a levelled pixel."""
_DIAGONALS = np.array([1, -1j, -1, 1j]) / 4.0


def upright_turn(corners: NDArray[np.floating]) -> NDArray[np.float32]:
    """Matrices (..., 2, 3) from picture px to px of a crop with the top face level and centred.

    Args:
        corners: (..., 4, 2) of faces, in order round each.
    """
    z = corners[..., 0] + 1j * corners[..., 1]
    one, other = z @ _DIAGONALS, z @ _DIAGONALS.conj()
    diagonal = np.where(np.abs(one) >= np.abs(other), one, other)
    edge = np.maximum(np.abs(z - np.roll(z, 1, axis=-1)).mean(axis=-1), 1.0)
    scale = UPRIGHT / UPRIGHT_EDGES / edge / np.maximum(np.abs(diagonal), 1e-6)
    turn = scale * np.exp(-0.75j * np.pi) * diagonal.conj()
    moved = (UPRIGHT - 1) / 2 * (1 + 1j) - turn * z.mean(axis=-1)
    x, y = (turn.real, -turn.imag, moved.real), (turn.imag, turn.real, moved.imag)
    return np.stack([np.stack(x, axis=-1), np.stack(y, axis=-1)], axis=-2).astype(np.float32)


def shown(close_ups: Scores) -> Scores:
    """Prepare upright crops (N, UPRIGHT, UPRIGHT, 3) in 0.0-1.0 as input for the network.

    All top faces have a mean of zero and the same contrast then, even in dark pictures.
    """
    level = np.array(close_ups.transpose(0, 3, 1, 2), np.float32, order="C")
    face = level[:, :, _INNER, _INNER]
    mean = face.mean(axis=(2, 3), keepdims=True)
    apart = np.sqrt(((face - mean) ** 2).mean(axis=(1, 2, 3), keepdims=True))
    level -= mean
    level *= 1.0 / (2.0 * apart + _LEAST_CONTRAST)
    return np.clip(level, -_FARTHEST, _FARTHEST, out=level)


def classify_upright(pixels: Pixels, outlines: NDArray[np.float32]) -> Scores:
    """Outputs of the upright network for N dice, each turned upright by its first corner.

    Args:
        pixels: (H, W, 3) uint8, BGR.
        outlines: (N, 4, 2) corners of the top faces.
    Returns:
        (N, UPRIGHT_OUTPUTS); directions are those of the picture.
    """
    if not len(outlines):
        return np.zeros((0, UPRIGHT_OUTPUTS), np.float32)
    turns = upright_turn(outlines)
    cut = np.stack([close_up(pixels, turn, UPRIGHT) for turn in turns])
    out = shared_net("upright")(shown(np.multiply(cut, 1.0 / 255.0, dtype=np.float32)))
    back = turns[:, :, :2] / np.hypot(turns[:, :1, :1], turns[:, 1:, :1])
    out[:, :2] = np.einsum("nji,nj->ni", back, out[:, :2])
    return out
