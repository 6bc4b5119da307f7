"""Tilt classifier: scores the tilt of dice in crops with the top face turned upright.

It runs on dice whose tilt the reader may have wrong. A die in the reader's crop can have any
rotation. The reader's outline gives the rotation that makes the sides of the top face level. The
side faces that a tilt uncovers then always appear at the same places.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from vision.eye.cutting import close_up, levelled
from vision.eye.lean import off_the_floor
from vision.eye.nets import (
    LEAN,
    LEAN_EDGES,
    NORMAL,
    SPREAD,
    Scores,
    dense,
    relu,
    shared_layers,
    shared_net,
)
from vision.reading import Pixels

_INNER = slice(18, LEAN - 18)
"""Rows and columns of an upright crop that show the top face; only they set the brightness."""
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
    scale = LEAN / LEAN_EDGES / edge / np.maximum(np.abs(diagonal), 1e-6)
    turn = scale * np.exp(-0.75j * np.pi) * diagonal.conj()
    moved = (LEAN - 1) / 2 * (1 + 1j) - turn * z.mean(axis=-1)
    x, y = (turn.real, -turn.imag, moved.real), (turn.imag, turn.real, moved.imag)
    return np.stack([np.stack(x, axis=-1), np.stack(y, axis=-1)], axis=-2).astype(np.float32)


def shown(close_ups: Scores) -> Scores:
    """Prepare upright crops (N, LEAN, LEAN, 3) in 0.0-1.0 as input for the network."""
    level = levelled(close_ups, _INNER)
    return np.clip(level, -_FARTHEST, _FARTHEST, out=level)


def classify_upright(pixels: Pixels, outlines: NDArray[np.float32]) -> Scores:
    """Outputs of the tilt classifier for N dice, each turned upright by its first corner.

    Args:
        pixels: (H, W, 3) uint8, BGR.
        outlines: (N, 4, 2) corners of the top faces.
    Returns:
        (N, 4 + TRAITS); directions are those of the picture.
    """
    turns = upright_turn(outlines)
    cut = np.stack([close_up(pixels, turn, LEAN) for turn in turns])
    out = shared_net("lean")(shown(np.multiply(cut, 1.0 / 255.0, dtype=np.float32)))
    back = turns[:, :, :2] / np.hypot(turns[:, :1, :1], turns[:, 1:, :1])
    out[:, :2] = np.einsum("nji,nj->ni", back, out[:, :2])
    return out


def leanings(
    upright: Scores,
    asked: list[int],
    said: Scores,
    places: Scores,
    shares: Scores,
    guessed: Scores,
) -> Scores:
    """Log odds (K,) that the selected dice are tilted, each compared with all others.

    Args:
        upright: (K, 4 + TRAITS) see `classify_upright`.
        asked: Indices of the selected dice among N; the others keep the reader's normals.
        said: (N, 51) the reader's outputs.
        places: (N, 2) from the middle of the picture, in long sides of it.
        shares: (N,) edge of each die in long sides of the picture.
        guessed: (N, 2) the finder's estimate of the floor's normal there.
    """
    across, log_spread = said[:, NORMAL].copy(), said[:, SPREAD].copy()
    across[asked], log_spread[asked] = upright[:, :2], upright[:, 2]
    surely = (said[:, 0] > 0.0).astype(np.float32)
    stand = off_the_floor(across, np.exp(log_spread), places, guessed, surely)
    same = np.ones((len(asked), 1), np.float32)
    tokens = np.concatenate(
        [
            0.25 * np.clip(upright[:, 3:4], -12.0, 12.0),
            np.clip(upright[:, 4:], -12.0, 12.0),
            across[asked],
            log_spread[asked, None],
            2.0 * places[asked],
            np.log(shares[asked])[:, None] + 3.0,
            2.0 * same * stand.floor,
            stand.told()[asked],
        ],
        axis=1,
    ).astype(np.float32)
    layer = partial(dense, shared_layers("bench"))
    h = relu(layer("second", relu(layer("first", tokens))))
    h = h + relu(layer("third", h))
    return np.asarray(upright[:, 3] + layer("fourth", h)[:, 0], np.float32)
