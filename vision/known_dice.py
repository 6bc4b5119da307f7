"""This household's dice: what they look like here, and which colour each of them plays.

A die is known by two things measured when it was shown once: the mean colour of its top face, and
what the reader took it for. So an odd die, say a purple one that plays blue, is told by what it
is, and the ordinary ones by one more witness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import DieColour
from vision.nets import Scores
from vision.reading import Pixels
from vision.verdict import PALETTE, Seen

Bgr = tuple[float, float, float]

_SPREAD = 14.0
"""Deviation of a face's blue, green and red from what shade and highlight make of it ..."""
_SHADES = np.linspace(0.4, 1.4, 11)
_SHADE = 0.3
"""... a place nearer to a lamp or further from it makes the face so many times as bright ..."""
_HIGHLIGHTS = np.linspace(0.0, 0.5, 6)
_HIGHLIGHT = 0.25
"""... and its gloss adds so much of white. (Own simulated tray with a glossy die under the lamp,
21.11.2026: 0.3 of white; the deviations leave room for lamps that are not its lamps.)"""
_MOST_SAID = 6.0
"""A colour's fit never says more than this (in nats), so that alone it cannot overrule a reader
that is sure: two witnesses that disagree leave a die uncertain."""
_STRANGE = 8.0
"""A face that fits no known die better than this (in nats: four deviations) is none of them ..."""
_LEFT = 0.5
"""... and so much is left of the confidence in it: too little to announce it."""
_SURELY_WHITE = 0.9
_MOST_GAIN = 2.0
_FLOOR = 0.01
"""Least share of what a die was taken for, so that no later surprise is impossible."""


@dataclass(frozen=True, slots=True)
class KnownDie:
    """One of the household's dice.

    Attributes:
        plays: The colour it has in the game.
        face_bgr: Mean colour of its top face without the pips, 0 to 255.
        taken_for: What the reader took it for: (6,) probabilities in the order of
            `verdict.PALETTE`, the last for none of the five.
    """

    plays: DieColour
    face_bgr: Bgr
    taken_for: tuple[float, ...]

    @property
    def is_odd(self) -> bool:
        """Whether the reader alone would not name it."""
        return self.taken_for[PALETTE.index(self.plays)] < 0.8


def face_colour(pixels: Pixels, corners: NDArray[np.float32]) -> Bgr:
    """The colour of a top face: the median, which pips are too few to reach.

    Args:
        corners: (4, 2) corners of the face in px of the picture.
    """
    middle = corners.mean(axis=0)
    inner = (middle + 0.7 * (corners - middle)).astype(np.float32)
    square = np.array([[0, 0], [23, 0], [23, 23], [0, 23]], np.float32)
    matrix = cv2.getPerspectiveTransform(inner, square)
    face = cv2.warpPerspective(pixels, matrix, (24, 24), borderMode=cv2.BORDER_REPLICATE)
    blue, green, red = np.median(face.reshape(-1, 3), axis=0)
    return float(blue), float(green), float(red)


def recognise(
    pixels: Pixels,
    corners: Sequence[NDArray[np.float32]],
    seen: Sequence[Seen],
    known: Sequence[KnownDie],
) -> list[Seen]:
    """The dice seen, their colours weighed against those of the household.

    The white ones among them say how the light has changed since.
    """
    faces = np.array([face_colour(pixels, quad) for quad in corners]).reshape(-1, 3)
    faces = _relit(faces, seen, known)
    told = []
    for die, face in zip(seen, faces, strict=True):
        colours, is_strange = weigh(die.colours, face, known)
        sure = die.sure * _LEFT if is_strange else die.sure
        told.append(replace(die, colours=colours, sure=sure))
    return told


def weigh(
    colours: Scores, face_bgr: NDArray[np.float64], known: Sequence[KnownDie]
) -> tuple[Scores, bool]:
    """Both witnesses' probabilities (6,) for one die, and whether it looks like none that is known.

    Args:
        colours: (6,) what the reader takes it for.
        face_bgr: (3,) the colour of its face, in the light the known dice were shown in.
    """
    spent: dict[DieColour, tuple[float, float]] = {}
    for die in known:
        said = misfit(face_bgr, die.face_bgr)
        taken = np.maximum(np.array(die.taken_for), _FLOOR)
        fits = float(colours @ taken / taken.sum()) * float(np.exp(-min(said, _MOST_SAID)))
        best = spent.get(die.plays, (np.inf, 0.0))
        spent[die.plays] = (min(said, best[0]), max(fits, best[1]))
    weighed = np.asarray(colours, np.float64) * np.exp(-_MOST_SAID)
    for colour, (_, fits) in spent.items():
        weighed[PALETTE.index(colour)] = fits
    is_strange = min(said for said, _ in spent.values()) > _STRANGE
    return np.asarray(weighed / weighed.sum(), np.float32), is_strange


def _relit(
    faces: NDArray[np.float64], seen: Sequence[Seen], known: Sequence[KnownDie]
) -> NDArray[np.float64]:
    """The faces as they would be in the light that the known dice were shown in."""
    white = PALETTE.index(DieColour.WHITE)
    before = [die.face_bgr for die in known if die.plays is DieColour.WHITE and not die.is_odd]
    now = [
        face for face, die in zip(faces, seen, strict=True) if die.colours[white] > _SURELY_WHITE
    ]
    if not before or not now:
        return faces
    gains = np.mean(before, axis=0) / np.maximum(np.mean(now, axis=0), 1.0)
    return np.asarray(np.clip(faces * np.clip(gains, 1 / _MOST_GAIN, _MOST_GAIN), 0.0, 255.0))


def misfit(face_bgr: NDArray[np.float64], known_bgr: Bgr) -> float:
    """How badly a face is explained (in nats) by a known one, shaded and with a highlight on it."""
    shade, highlight = np.meshgrid(_SHADES, _HIGHLIGHTS)
    made = shade[..., None] * np.array(known_bgr) + highlight[..., None] * 255.0
    apart = (np.minimum(made, 255.0) - face_bgr) / _SPREAD
    odd = ((shade - 1.0) / _SHADE) ** 2 + (highlight / _HIGHLIGHT) ** 2
    return float(((apart**2).sum(axis=-1) + odd).min()) / 2.0
