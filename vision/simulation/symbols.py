"""Symbols on the faces of other games' dice, instead of pips."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np

from vision.simulation.scene import Floats

_CHARACTERS = "0123456789123456789ABCDEFGHJKLMNPRSTUVWXYZ?!+*%&"
_FONTS = (
    cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_COMPLEX,
    cv2.FONT_HERSHEY_TRIPLEX,
)  # fmt: skip
_THICK = (4, 7, 10)
_SIDE_PX = 96
STYLES = len(_FONTS) * len(_THICK)
"""Symbols are numbered character by character, each in so many styles."""
COUNT = len(_CHARACTERS) * STYLES


def ink_at(symbol: int, u: Floats, v: Floats) -> Floats:
    """Share of ink (h, w) of a symbol at points of a face, from -1 to 1 across it."""
    x, y = (np.asarray((c + 1.0) * (_SIDE_PX - 1) / 2.0, np.float32) for c in (u, v))
    return np.asarray(cv2.remap(_drawn(symbol), x, y, cv2.INTER_LINEAR), np.float32)


@lru_cache(maxsize=64)
def _drawn(symbol: int) -> Floats:
    """A symbol in the middle of a face, seen from outside (96, 96)."""
    text, style = _CHARACTERS[symbol // STYLES], symbol % STYLES
    font, thick = _FONTS[style % len(_FONTS)], _THICK[style // len(_FONTS)]
    (wide, tall), _ = cv2.getTextSize(text, font, 2.2, thick)
    where = ((_SIDE_PX - wide) // 2, (_SIDE_PX + tall) // 2)
    ink = np.zeros((_SIDE_PX, _SIDE_PX), np.uint8)
    cv2.putText(ink, text, where, font, 2.2, 255, thick, cv2.LINE_AA)
    return np.asarray(ink, np.float32) / 255.0
