"""Recognises the dice of a calibrated set by their measured colours.

Calibration measures three things of each die: the colour of its top face, the colour of its pips
and the reader's colour probabilities. They identify an odd die, such as a purple one that plays
blue or a white one with red pips that plays red. For ordinary dice they are a second colour
classifier, which gets sharper with the spread of each die's colour over several rolls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import DieColour
from vision.detector.crops import straightened
from vision.detector.models import Scores
from vision.detector.status import PALETTE
from vision.evidence import DieEvidence
from vision.reading import Pixels

Bgr = tuple[float, float, float]
Chromaticity = tuple[float, float, float]
"""Log brightness of a colour, and the shares of blue and of red in it."""

_SPREAD = 14.0
"""Standard deviation of a face's blue, green and red around its shaded, glossy colour."""
_SHADES = np.linspace(0.4, 1.4, 11)
"""Brightness factors of a face nearer to or further from a lamp."""
_SHADE = 0.3
"""Standard deviation of the brightness factor around 1."""
_HIGHLIGHTS = np.linspace(-0.3, 0.5, 9)
"""Shares of white that gloss adds to a face; negative if it was added during calibration."""
_HIGHLIGHT = 0.25
"""Standard deviation of the share of white (docs/limits.md)."""
_MOST_FACE = 7.5
"""Limit (nats) of a face misfit below `_ANOTHER`: alone it cannot overrule a confident reader
(docs/limits.md)."""
_DARK = 20.0
"""Added to the sum of blue, green and red, so that noise hardly changes shares of dark faces."""
_USUAL = (0.25, 0.02, 0.02)
"""Usual standard deviations of a face's chromaticity (docs/limits.md)."""
LEAST_SPREAD = (0.1, 0.01, 0.01)
"""Least standard deviations of a face's chromaticity (docs/limits.md)."""
_PIPS_SPREAD = 25.0
"""Standard deviation of the pips' blue, green and red; pips are small, so it is wider."""
_PIPS_MIXED = np.linspace(0.0, 0.6, 4)
"""Shares of the face's colour that may be mixed into the pips' colour."""
_MOST_PIPS = 5.0
"""Limit (nats) of a pip misfit. It separates two dice that differ only in their pips: a confidence
of 0.98 needs 3.9 nats."""
_LATTICE = 0.24
"""Distance of pips from the middle lines of a face, in edges (docs/limits.md)."""
_STRANGE = 8.0
"""Misfit (nats) above which a face is none of the known dice; it equals four deviations."""
_LEFT = 0.5
"""Confidence multiplier for a die that is none of the known ones; it prevents an announcement."""
_ANOTHER = 14.0
"""Misfit (nats) above which the cost grows without a limit for a die that the reader takes for
another, and for an odd one, whose colour the reader knows little about."""
_HARDLY = 0.5
"""Agreement with the calibrated probabilities below which the reader takes a die for another."""
_SURELY_WHITE = 0.9
"""Least probability of white for a die that measures the change of light."""
_MOST_GAIN = 2.0
"""Largest gain of a channel for a change of light; the least is its inverse."""
_FLOOR = 0.01
"""Least calibrated probability of each colour, so that none is impossible later."""


@dataclass(frozen=True, slots=True)
class CustomDie:
    """One die of the calibrated set.

    Attributes:
        plays: Its colour in the game.
        face_bgr: Mean colour of its top face without the pips, 0 to 255.
        taken_for: The reader's (6,) probabilities during calibration, in the order of
            `status.PALETTE`; the last is for none of the five.
        pips_bgr: Colour of its pips; None if they were not measured.
        spread: Standard deviations of its face's chromaticity.
    """

    plays: DieColour
    face_bgr: Bgr
    taken_for: tuple[float, ...]
    pips_bgr: Bgr | None = None
    spread: Chromaticity = _USUAL

    @property
    def is_odd(self) -> bool:
        """Whether the reader alone does not recognise the colour it plays."""
        return self.taken_for[PALETTE.index(self.plays)] < 0.8

    @property
    def is_renamed(self) -> bool:
        """Whether the reader alone takes it for another of the five colours."""
        likeliest = int(np.argmax(self.taken_for))
        return likeliest < len(PALETTE) and PALETTE[likeliest] is not self.plays


def face_colour(pixels: Pixels, corners: NDArray[np.float32]) -> Bgr:
    """Colour of a top face: the median over its pixels, which pips do not change.

    Args:
        corners: (4, 2) corners of the face in px of the picture.
    """
    face = straightened(pixels, corners, 24, 0.7)
    blue, green, red = np.median(face.reshape(-1, 3), axis=0)
    return float(blue), float(green), float(red)


def pip_colour(pixels: Pixels, corners: NDArray[np.float32], value: int | None) -> Bgr | None:
    """Colour of the pips of a top face, or None if its value is unknown.

    It is the median over the places of that value's pips, so a highlight on one pip does not
    count.

    Args:
        corners: (4, 2) corners of the face in px of the picture.
    """
    if value is None:
        return None
    face = straightened(pixels, corners, 40)
    plain = np.median(face[8:32, 8:32].reshape(-1, 3), axis=0)
    ways = []
    for turn in (1, -1):
        spots = np.array(_pip_spots(value))[:, ::turn] * (1, turn)
        cells = np.round(19.5 + 39.0 * _LATTICE * spots).astype(int)
        patches = np.array([face[y - 1 : y + 2, x - 1 : x + 2].mean(axis=(0, 1)) for x, y in cells])
        ways.append(np.median(patches, axis=0))
    best = max(ways, key=lambda colour: float(np.abs(colour - plain).sum()))
    return float(best[0]), float(best[1]), float(best[2])


def _pip_spots(value: int) -> list[tuple[int, int]]:
    """Places of a value's pips, in steps from the middle of its face."""
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
    """Return the dice with their colours compared with those of the calibrated set.

    The white dice give the change of light since calibration.
    """
    faces = np.array([face_colour(pixels, quad) for quad in corners]).reshape(-1, 3)
    gains = _relit(faces, seen, known)
    told = []
    for die, quad, face in zip(seen, corners, faces, strict=True):
        pips = pip_colour(pixels, quad, die.value)
        lit = None if pips is None else np.clip(gains * pips, 0.0, 255.0)
        colours, is_strange = compare_with_set(
            die.colours, np.clip(gains * face, 0.0, 255.0), known, lit
        )
        sure = die.sure * _LEFT if is_strange else die.sure
        told.append(replace(die, colours=colours, sure=sure))
    return told


def compare_with_set(
    colours: Scores,
    face_bgr: NDArray[np.float64],
    known: Sequence[CustomDie],
    pips_bgr: NDArray[np.float64] | None = None,
) -> tuple[Scores, bool]:
    """Return colour probabilities (6,) of one die, and whether it is none of the known dice.

    Args:
        colours: (6,) the reader's probabilities.
        face_bgr, pips_bgr: (3,) the colours of its face and its pips, in the light of the
            calibration.
    """
    blue, green, red = face_bgr.tolist()
    face = chromaticity((blue, green, red))
    spent: dict[DieColour, float] = {}
    least = np.inf
    for die in known:
        face_misfit = misfit(face_bgr, die.face_bgr)
        pips_misfit = 0.0
        if pips_bgr is not None and die.pips_bgr is not None:
            pips_misfit = _misfit(pips_bgr, (die.pips_bgr, die.face_bgr), _PIPS_SPREAD)
        taken = np.maximum(np.array(die.taken_for), _FLOOR)
        against = min(_deviation(face, die), _MOST_FACE) + min(pips_misfit, _MOST_PIPS)
        alike = float(colours @ taken / taken.sum())
        if alike < _HARDLY or die.is_odd:
            against += max(0.0, face_misfit + pips_misfit - _ANOTHER)
        fits = alike * float(np.exp(-against))
        spent[die.plays] = max(fits, spent.get(die.plays, 0.0))
        least = min(least, face_misfit + min(pips_misfit, _MOST_PIPS))
    shares = np.asarray(colours, np.float64) * np.exp(-_MOST_FACE)
    for colour, fits in spent.items():
        shares[PALETTE.index(colour)] = fits
    return np.asarray(shares / shares.sum(), np.float32), bool(least > _STRANGE)


def _relit(
    faces: NDArray[np.float64], seen: Sequence[DieEvidence], known: Sequence[CustomDie]
) -> NDArray[np.float64]:
    """Gains (3,) that convert the faces to the light of the calibration."""
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
    """Misfit (nats) of a face and a known one, over all shades and highlights."""
    return _misfit(face_bgr, (known_bgr,), _SPREAD)


def _deviation(face: Chromaticity, die: CustomDie) -> float:
    """Misfit (nats) of a face and a known die, in units of the die's spread."""
    each = zip(face, chromaticity(die.face_bgr), die.spread, LEAST_SPREAD, strict=True)
    return sum(((x - y) / s) ** 2 / 2.0 + math.log(s / least) for x, y, s, least in each)


def chromaticity(bgr: Bgr) -> Chromaticity:
    """The chromaticity of a colour, and its brightness."""
    blue, green, red = bgr
    total = blue + green + red + _DARK
    return math.log(total), blue / total, red / total


def _misfit(seen_bgr: NDArray[np.float64], known: tuple[Bgr, ...], spread: float) -> float:
    """Least misfit (nats) over all appearances of a known colour, or of pips and their face."""
    made, odd = _appearances(known)
    apart = (made - seen_bgr) / spread
    return float((np.einsum("nc,nc->n", apart, apart) + odd).min()) / 2.0


@lru_cache(maxsize=64)
def _appearances(known: tuple[Bgr, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Colours (N, 3) over all shades and highlights, and twice the cost (nats) of each (N,)."""
    plain = np.array(known[:1])
    if len(known) > 1:
        mixed = _PIPS_MIXED[:, None]
        plain = (1 - mixed) * plain + mixed * np.array(known[1])
    shade, highlight = np.meshgrid(_SHADES, _HIGHLIGHTS)
    made = shade[..., None] * plain[:, None, None] + highlight[..., None] * 255.0
    odd = ((shade - 1.0) / _SHADE) ** 2 + (highlight / _HIGHLIGHT) ** 2
    odd = np.broadcast_to(odd, made.shape[:-1])
    return np.clip(made, 0.0, 255.0).reshape(-1, 3), odd.reshape(-1)
