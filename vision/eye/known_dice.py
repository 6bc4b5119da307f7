"""This household's dice: what they look like here, and which colour each of them plays.

A die is known by three things measured when it was shown once: the colour of its top face, that of
its pips, and what the reader took it for. So an odd die, say a purple one that plays blue or a
white one with red pips that plays red, is told by what it is, and the ordinary ones by one more
witness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import DieColour
from vision.evidence import DieEvidence
from vision.eye.nets import Scores
from vision.eye.verdict import PALETTE
from vision.reading import Pixels

Bgr = tuple[float, float, float]

_SPREAD = 14.0
"""Deviation of a face's blue, green and red from what shade and highlight make of it ..."""
_SHADES = np.linspace(0.4, 1.4, 11)
_SHADE = 0.3
"""... a place nearer to a lamp or further from it makes the face so many times as bright ..."""
_HIGHLIGHTS = np.linspace(-0.3, 0.5, 9)
_HIGHLIGHT = 0.25
"""... and its gloss adds so much of white, or had added it where the die was shown. (Own simulated
tray with a glossy die under the lamp, 21.11.2026: 0.3 of white; the deviations leave room for lamps
that are not its lamps.)"""
_MOST_SAID = 6.0
"""A colour's fit says no more than this (in nats) up to _ANOTHER, so that alone it cannot overrule
a reader that is sure: two witnesses that disagree leave a die uncertain."""
_PIPS_SPREAD = 25.0
_PIPS_MIXED = np.linspace(0.0, 0.6, 4)
_MOST_PIPS_SAY = 5.0
"""Pips are small: they are told with a wider deviation, may have so much of their face mixed in,
and say less. Still enough to tell two dice apart that are alike but for them (0.98 to announce:
3.9 nats)."""
_LATTICE = 0.24
"""How far pips lie from the middle of a face, in edges: 0.2 to 0.28 on dice of six makers."""
_STRANGE = 8.0
"""A face whose colours fit no known die better than this (in nats: four deviations) is none ..."""
_LEFT = 0.5
"""... and so much is left of the confidence in it: too little to announce it."""
_ANOTHER = 14.0
_HARDLY = 0.5
"""A die that fits a known one worse than the one, and that the reader takes for another, is not
that one, whatever else is left. Nor where the known one is odd: of such the reader says little."""
_SURELY_WHITE = 0.9
_MOST_GAIN = 2.0
_FLOOR = 0.01
"""Least share of what a die was taken for, so that no later surprise is impossible."""


@dataclass(frozen=True, slots=True)
class CustomDie:
    """One of the household's dice.

    Attributes:
        plays: The colour it has in the game.
        face_bgr: Mean colour of its top face without the pips, 0 to 255.
        taken_for: What the reader took it for: (6,) probabilities in the order of
            `verdict.PALETTE`, the last for none of the five.
        pips_bgr: Colour of its pips; None where they were not measured.
    """

    plays: DieColour
    face_bgr: Bgr
    taken_for: tuple[float, ...]
    pips_bgr: Bgr | None = None

    @property
    def is_odd(self) -> bool:
        """Whether the reader alone would not name it."""
        return self.taken_for[PALETTE.index(self.plays)] < 0.8

    @property
    def is_renamed(self) -> bool:
        """Whether the reader would name it, but by another colour than it plays."""
        likeliest = int(np.argmax(self.taken_for))
        return likeliest < len(PALETTE) and PALETTE[likeliest] is not self.plays


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


def pip_colour(pixels: Pixels, corners: NDArray[np.float32], value: int | None) -> Bgr | None:
    """The colour of the pips of a top face that shows a value; None where none is known.

    Taken where the pips of that value lie, the middle one of all, so that a highlight on one of
    them says nothing.

    Args:
        corners: (4, 2) corners of the face in px of the picture.
    """
    if value is None:
        return None
    square = np.array([[0, 0], [39, 0], [39, 39], [0, 39]], np.float32)
    matrix = cv2.getPerspectiveTransform(np.asarray(corners, np.float32), square)
    face = cv2.warpPerspective(pixels, matrix, (40, 40), borderMode=cv2.BORDER_REPLICATE)
    plain = np.median(face[8:32, 8:32].reshape(-1, 3), axis=0)
    ways = []
    for turned in (False, True):
        spots = np.array(_pip_spots(value))[:, :: -1 if turned else 1] * (1, -1 if turned else 1)
        cells = np.round(19.5 + 39.0 * _LATTICE * spots).astype(int)
        patches = np.array([face[y - 1 : y + 2, x - 1 : x + 2].mean(axis=(0, 1)) for x, y in cells])
        ways.append(np.median(patches, axis=0))
    best = max(ways, key=lambda colour: float(np.abs(colour - plain).sum()))
    return float(best[0]), float(best[1]), float(best[2])


def _pip_spots(value: int) -> list[tuple[int, int]]:
    """Where the pips of a value lie, in steps from the middle of its face."""
    spots = [(0, 0)] if value % 2 else []
    if value > 1:
        spots += [(1, 1), (-1, -1)]
    if value > 3:
        spots += [(1, -1), (-1, 1)]
    if value == 6:
        spots += [(1, 0), (-1, 0)]
    return spots


def recognise(
    pixels: Pixels,
    corners: Sequence[NDArray[np.float32]],
    seen: Sequence[DieEvidence],
    known: Sequence[CustomDie],
) -> list[DieEvidence]:
    """The dice seen, their colours weighed against those of the household.

    The white ones among them say how the light has changed since.
    """
    faces = np.array([face_colour(pixels, quad) for quad in corners]).reshape(-1, 3)
    gains = _relit(faces, seen, known)
    told = []
    for die, quad, face in zip(seen, corners, faces, strict=True):
        pips = pip_colour(pixels, quad, die.value)
        lit = None if pips is None else np.clip(gains * pips, 0.0, 255.0)
        colours, is_strange = weigh(die.colours, np.clip(gains * face, 0.0, 255.0), known, lit)
        sure = die.sure * _LEFT if is_strange else die.sure
        told.append(replace(die, colours=colours, sure=sure))
    return told


def weigh(
    colours: Scores,
    face_bgr: NDArray[np.float64],
    known: Sequence[CustomDie],
    pips_bgr: NDArray[np.float64] | None = None,
) -> tuple[Scores, bool]:
    """All witnesses' probabilities (6,) for one die, and whether it looks like none that is known.

    Args:
        colours: (6,) what the reader takes it for.
        face_bgr, pips_bgr: (3,) the colours of its face and its pips, in the light the known dice
            were shown in.
    """
    spent: dict[DieColour, float] = {}
    likest = np.inf
    for die in known:
        said = misfit(face_bgr, die.face_bgr)
        apart = 0.0
        if pips_bgr is not None and die.pips_bgr is not None:
            apart = _pips_misfit(pips_bgr, die.pips_bgr, die.face_bgr)
        taken = np.maximum(np.array(die.taken_for), _FLOOR)
        against = min(said, _MOST_SAID) + min(apart, _MOST_PIPS_SAY)
        alike = float(colours @ taken / taken.sum())
        if alike < _HARDLY or die.is_odd:
            against += max(0.0, said + apart - _ANOTHER)
        fits = alike * float(np.exp(-against))
        spent[die.plays] = max(fits, spent.get(die.plays, 0.0))
        likest = min(likest, said + min(apart, _MOST_PIPS_SAY))
    shares = np.asarray(colours, np.float64) * np.exp(-_MOST_SAID)
    for colour, fits in spent.items():
        shares[PALETTE.index(colour)] = fits
    return np.asarray(shares / shares.sum(), np.float32), bool(likest > _STRANGE)


def _relit(
    faces: NDArray[np.float64], seen: Sequence[DieEvidence], known: Sequence[CustomDie]
) -> NDArray[np.float64]:
    """The gains (3,) that put the faces into the light that the known dice were shown in."""
    white = PALETTE.index(DieColour.WHITE)
    before = [die.face_bgr for die in known if die.plays is DieColour.WHITE and not die.is_odd]
    now = [
        face for face, die in zip(faces, seen, strict=True) if die.colours[white] > _SURELY_WHITE
    ]
    if not before or not now:
        return np.ones(3)
    gains = np.mean(before, axis=0) / np.maximum(np.mean(now, axis=0), 1.0)
    return np.asarray(np.clip(gains, 1 / _MOST_GAIN, _MOST_GAIN))


def misfit(face_bgr: NDArray[np.float64], known_bgr: Bgr) -> float:
    """How badly a face is explained (in nats) by a known one, shaded and with a highlight on it."""
    return _misfit(face_bgr, (known_bgr,), _SPREAD)


def _pips_misfit(pips_bgr: NDArray[np.float64], known_bgr: Bgr, face_bgr: Bgr) -> float:
    """The same for pips, with some of their face mixed in."""
    return _misfit(pips_bgr, (known_bgr, face_bgr), _PIPS_SPREAD)


def _misfit(seen_bgr: NDArray[np.float64], known: tuple[Bgr, ...], spread: float) -> float:
    """The least (in nats) over what a known colour, or pips and their face mixed, can look like."""
    made, odd = _looks_of(known)
    apart = (made - seen_bgr) / spread
    return float((np.einsum("nc,nc->n", apart, apart) + odd).min()) / 2.0


@lru_cache(maxsize=64)
def _looks_of(known: tuple[Bgr, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Colours (N, 3) in shades and highlights, and how odd each of these is (N,)."""
    plain = np.array(known[:1])
    if len(known) > 1:
        mixed = _PIPS_MIXED[:, None]
        plain = (1 - mixed) * plain + mixed * np.array(known[1])
    shade, highlight = np.meshgrid(_SHADES, _HIGHLIGHTS)
    made = shade[..., None] * plain[:, None, None] + highlight[..., None] * 255.0
    odd = ((shade - 1.0) / _SHADE) ** 2 + (highlight / _HIGHLIGHT) ** 2
    odd = np.broadcast_to(odd, made.shape[:-1])
    return np.clip(made, 0.0, 255.0).reshape(-1, 3), odd.reshape(-1)
