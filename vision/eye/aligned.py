"""Looks at dice with their top faces turned upright and tells how each lies: the witness that is
asked where the reader may be wrong about it.

The reader sees a die turned any way. With the outline that it found the top face is turned upright,
so that the sides that a lean uncovers always show at the same places.
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
"""Rows and columns of an upright close-up that show the top face: what lies round it must not
decide how bright it is seen."""
_FARTHEST = 6.0
_DIAGONALS = np.array([1, -1j, -1, 1j]) / 4.0


def upright_turn(corners: NDArray[np.floating]) -> NDArray[np.float32]:
    """The matrices (..., 2, 3) from px of a picture to those of a close-up in which a top face has
    level sides, its middle in the close-up's.

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
    """Upright close-ups (N, LEAN, LEAN, 3) in 0.0-1.0 as the network gets them."""
    level = levelled(close_ups, _INNER)
    return np.clip(level, -_FARTHEST, _FARTHEST, out=level)


def classify_upright(pixels: Pixels, outlines: NDArray[np.float32]) -> Scores:
    """What the network for leaning dice says of some (N, 4 + TRAITS), each turned upright by the
    first corner of its top face; directions are those of the picture.

    Args:
        pixels: (H, W, 3) uint8, BGR.
        outlines: (N, 4, 2) corners of the top faces.
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
    """Log odds (K,) that the dice asked for do not lie flat, each held against all others.

    Args:
        upright: (K, 4 + TRAITS) see `classify_upright`.
        asked: Which of N dice those are; of the others the reader tells which way they look.
        said: (N, 51) the reader's output.
        places: (N, 2) from the middle of the picture, in long sides of it.
        shares: (N,) edge of each die in long sides of the picture.
        guessed: (N, 2) the finder's guess of how the floor leans there.
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
