"""Looks closely at candidates: is it a die, which colour, which value, does it lie flat."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vision.eye.aligned import leanings
from vision.eye.close_ups import CropCache, CropOutputs
from vision.eye.finder import Candidate
from vision.eye.jury import fit_floor_plane, weigh
from vision.eye.lean import FLAT, GUESS
from vision.eye.nets import (
    NORMAL,
    SPREAD,
    Scores,
    chance,
    sigmoid,
    softmax,
)
from vision.eye.outlines import HALF_DIAGONAL, corners_of, crop_matrix, crops_round, edges_of
from vision.eye.pips import margin
from vision.eye.values import fuse_value_scores
from vision.reading import Point

_WORTH = 0.03
"""Least chance of a die at first sight that is worth more thought."""
_OFF = 0.22
_SIZE_OFF = 0.18
"""A die further off the middle of its close-up (in edges), or larger or smaller by more (log), is
looked at once more: the reader was trained to stand 0.08 of each."""
_DOUBT = 0.98
_PIPS_NEAR = -0.3
_MORE_LOOKS = ((float(np.radians(30.0)), 0.95), (float(np.radians(60.0)), 1.0))
"""A die that is less likely than this to be one and to show its value, or whose pips fit another
nearly as well, is seen square on. Where that leaves a doubt it gets more looks, turned and nearer:
they err in part on their own."""
_MAY_LEAN = -7.0
"""A die that may lean by more than this (log odds by reader and jury) is turned upright and looked
at again: of 1,592 leaning own dice 0.1 % lie below, of 8,382 flat ones 40 %."""
_UPRIGHT = 0.65
"""What a look at a die upright counts for beside reader and jury; 0.24 of their log odds and 0.56
of its own fit those dice best. In another renderer's frames, too, it is off by less: by 0.10 in
which way a top face looks where the reader is off by 0.16 (95 % of 987 dice are by less)."""
_TORN, _STILL_TORN = (-2.5, 1.5), (-2.0, 1.0)
"""Who may lean by so much even so is turned round once more, and where that leaves as much as the
second all others at rest are looked at too; who is as much in doubt then is seen from the two
other sides as well. Of 4,800 own frames that announces two with a leaning die fewer than asking
from -4.0 on with half a say each, and reads two more of the `ok` ones."""
_STRANGE, _HARDLY = 0.9, 0.1
"""Where no die seems to lean, one more likely than the first of none of the five colours is not
looked at upright, as it plays for none that lacks (see `vision.eye.verdict`); nor is any where a
colour of the roll has too few dice more likely of it than the second, as no roll is announced then.
Of 1,521 own `ok` frames that reads all as before and of 4,079 others it names seven worse; the
shared photos, in which dice of the game lack, take 0.8 of the time."""
SURELY, _SOME_VALUE = 0.97, 0.45
"""A candidate more likely than the first is surely a die. The value of another that shows none more
likely than the second is not looked at again: with that no more of 6,800 own frames is read, and
photos have four more false dice."""
_ASKEW = -2.0
"""A die whose value is in doubt and that may lean by more than this (log odds) stays in doubt: of
180 such own dice below six leant, of 47 from here to even odds fifteen."""
_NO_DIE = -2.0
"""Score of a die below which no trouble is taken over its outline."""
_DIE_AND_MOVING, _OUTLINE = [0, 14], slice(16, 23)


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """What the closer looks at one candidate said of it.

    Attributes:
        corners: (4, 2) corners of the top face in px of the picture.
        values: (L, 6) probability of each value, one row per look.
        square_on: (6,) probability of each value by the straightened face; None if not asked.
        colours: (6,) log odds of white, red, yellow, green, blue, none of them.
        pips: (L, 6) pattern error of the pips for each value, see `pip_pattern_errors`.
        die, moving: Probabilities. `visible` is the share of the top face in view.
        leaning: Log odds that it does not lie flat.
        centre_xy, edge_px: Middle of the top face, and its mean edge.
        foot_xy: Where it stands on the floor, below its middle.
        grows: How sizes grow across the picture (see `lean.Standing.grows`), by all candidates.
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
    grows: Point = (0.0, 0.0)
    square_on: Scores | None = None


@dataclass(frozen=True, eq=False)
class AlignedCandidates:
    """N candidates that may be dice or blurs, as one look at each shows them.

    Attributes:
        told: What the reader says of each with its top face in the middle of a close-up.
        corners: (N, 4, 2) of those faces in px of the picture.
    """

    spots: tuple[Candidate, ...]
    told: CropOutputs
    corners: NDArray[np.float32]

    @cached_property
    def edges(self) -> NDArray[np.float32]:
        """Mean edge (N,) of the top faces in px."""
        return edges_of(self.corners)

    @cached_property
    def middles(self) -> NDArray[np.float32]:
        """The middles (N, 2) of the top faces in px."""
        return np.asarray(self.corners.mean(axis=1), np.float32)

    @cached_property
    def chances(self) -> Scores:
        """How likely each is a die, and moves (N, 2)."""
        return sigmoid(self.told.said[:, _DIE_AND_MOVING])

    @cached_property
    def feet(self) -> Scores:
        """Where each stands on the floor (N, 2), below the middle of its top face."""
        return self.feet_by(self.told.said)

    @cached_property
    def guessed(self) -> Scores:
        """How the finder sees the floor lean below each (N, 2)."""
        return np.array([spot.up for spot in self.spots], np.float32).reshape(-1, 2)

    def feet_by(self, said: Scores) -> Scores:
        """Where each stands, by what the reader says (N, 51) of them after more looks."""
        rise = _upwards(said, self.guessed) * self.edges[:, None]
        return np.asarray(self.middles - rise, np.float32)

    def only(self, rows: list[int]) -> AlignedCandidates:
        """Some of the candidates."""
        if len(rows) == len(self.spots):
            return self
        return AlignedCandidates(
            tuple(self.spots[n] for n in rows), self.told.only(rows), self.corners[rows]
        )


def aim(close_ups: CropCache, spots: Sequence[Candidate]) -> AlignedCandidates:
    """Look once at each candidate, and once more where its top face was off the middle; what is
    clearly neither a die nor a blur is left out."""
    told = close_ups.told([crop_matrix(s.centre_xy, s.edge_px, 0.0) for s in spots])
    chances = sigmoid(told.said[:, _DIE_AND_MOVING])
    keep = [n for n, (die, moving) in enumerate(chances) if die > _WORTH or moving > 0.4]
    told, kept = told.only(keep), [spots[n] for n in keep]
    corners = corners_of(told)
    off = [n for n, row in enumerate(told.said) if _badly_cut(row)]
    if off:
        likely = np.array([kept[n].edge_px for n in off])
        edges = np.clip(edges_of(corners[off]), 0.6 * likely, 1.7 * likely)
        better = close_ups.told(crops_round(close_ups.pixels, corners[off], edges, 0.0))
        told.replace(off, better)
        corners[off] = corners_of(better)
    return AlignedCandidates(tuple(kept), told, corners)


def look_at_each(
    close_ups: CropCache, spots: Sequence[Candidate]
) -> list[tuple[Detection, Candidate]]:
    """Read some candidates, each as closely as it needs."""
    aimed = aim(close_ups, spots)
    return classify(close_ups, aimed, range(len(aimed.spots)))


def classify(
    close_ups: CropCache,
    aimed: AlignedCandidates,
    worth: Sequence[int],
    needed: Sequence[int] | None = None,
) -> list[tuple[Detection, Candidate]]:
    """Read each candidate.

    Args:
        worth: Which of them get more looks where the first left a doubt.
        needed: How many white, red, yellow, green and blue dice make a roll: of what cannot be a
            part of one less is asked. None where dice of other colours may.
    """
    spots, told, corners = aimed.spots, aimed.told, aimed.corners
    if not spots:
        return []
    edges = aimed.edges
    height, width = close_ups.pixels.shape[:2]
    long_side = max(height, width)
    centres = aimed.middles
    places = (centres - np.array([width - 1, height - 1]) / 2) / long_side
    shares = edges / long_side
    guessed = aimed.guessed
    said = told.said
    stand = fit_floor_plane(said, places, guessed)
    added = weigh(said, stand, told.shades, places, shares)
    rest = [n for n in worth if _is_at_rest(said[n])]
    where = (places, shares, guessed)
    asked = rest if needed is None else _needs_upright_view(said, added, rest, needed)
    upright = _estimate_tilt(close_ups, corners, said, added, where, asked)
    values = list(softmax(said[:, 1:7])[:, None])
    pips = [row[None] for row in told.pip_pattern_errors(corners)]
    straight: list[Scores | None] = [None] * len(said)
    shown = [n for n in rest if _may_show_a_value(said[n], values[n])]
    doubts = [n for n in shown if _unclear(said[n], values[n], pips[n])]
    legible = [n for n in doubts if _is_legible(said[n], added[n], upright[n])]
    if legible:
        for n, likely in zip(legible, close_ups.square_on(corners[legible]), strict=True):
            straight[n] = likely
    again = [n for n in doubts if _unclear(said[n], values[n], pips[n], straight[n])]
    if again:
        said = _classify_again(close_ups, corners, said, again, values, pips)
        stand = fit_floor_plane(said, places, guessed)
        added = weigh(said, stand, told.shades, places, shares)
    chances = sigmoid(said[:, [0, 14, 15]])
    feet = aimed.feet_by(said) if again else aimed.feet
    grows = stand.grows()
    looks = [
        Detection(
            corners=corners[n],
            values=values[n],
            square_on=straight[n],
            colours=said[n, 7:13] + added[n, :6],
            pips=pips[n],
            die=float(chances[n, 0]),
            leaning=_leaning(said[n], added[n], upright[n]),
            moving=float(chances[n, 1]),
            visible=float(chances[n, 2]),
            centre_xy=(float(centres[n, 0]), float(centres[n, 1])),
            edge_px=float(edges[n]),
            foot_xy=(float(feet[n, 0]), float(feet[n, 1])),
            grows=grows,
        )
        for n in range(len(said))
    ]
    return list(zip(looks, spots, strict=True))


def _classify_again(
    close_ups: CropCache,
    corners: NDArray[np.float32],
    said: Scores,
    again: list[int],
    values: list[Scores],
    pips: list[Scores],
) -> Scores:
    """What the reader says of all (N, 51) once some were looked at again: the mean of their looks,
    with the outline of the first. Each look adds a row to their `values` and `pips`, in place."""
    sums = said[again]
    for turn, zoom in _MORE_LOOKS:
        edges = edges_of(corners[again]) * zoom
        more = close_ups.told(crops_round(close_ups.pixels, corners[again], edges, turn))
        sums = sums + _upright(more.said, turn)
        fits = more.pip_pattern_errors(corners[again])
        for n, likely, misfit in zip(again, softmax(more.said[:, 1:7]), fits, strict=True):
            values[n] = np.vstack([values[n], likely])
            pips[n] = np.vstack([pips[n], misfit])
    means = sums / (1 + len(_MORE_LOOKS))
    means[:, _OUTLINE] = said[again, _OUTLINE]
    now = said.copy()
    now[again] = means
    return now


def _estimate_tilt(
    close_ups: CropCache,
    corners: NDArray[np.float32],
    said: Scores,
    added: Scores,
    where: tuple[Scores, Scores, Scores],
    at_rest: list[int],
) -> list[float | None]:
    """Log odds that dice do not lie flat, by looks at them upright: at those that may lean, once
    more at whoever is torn then, at all others where one still is, and from all four sides at whom
    that leaves torn; None for who was not asked.

    Args:
        close_ups: Of the picture.
        corners: (N, 4, 2) of the top faces.
        said, added: (N, 51), (N, 7) what the reader says of each, and the jury.
        where: Place and size in the picture and how the floor leans there (see `leanings`).
        at_rest: Who may be asked.
    """
    looks: dict[int, list[Scores]] = {}
    odds: dict[int, float] = {}

    def look(
        dice: list[int], quarters: tuple[int, ...], limits: tuple[float, float] = _TORN
    ) -> list[int]:
        """See some dice turned by quarters, and tell who is torn of all that were seen."""
        sides = [np.roll(corners[dice], quarter, axis=1) for quarter in quarters]
        seen = close_ups.upright(np.concatenate(sides))
        for n, row in zip(dice * len(quarters), seen, strict=True):
            looks.setdefault(n, []).append(row)
        means = np.stack([np.mean(rows, axis=0) for rows in looks.values()])
        odds.update(zip(looks, leanings(means, list(looks), said, *where).tolist(), strict=True))
        return [n for n in odds if _is_tilt_unclear(said[n], added[n], odds[n], limits)]

    doubts = [n for n in at_rest if _may_be_tilted(said[n], added[n])]
    torn = look(doubts, (0,)) if doubts else []
    others = [n for n in at_rest if n not in doubts]
    torn = look(torn, (2,), _STILL_TORN) if torn else []
    if torn and others:
        torn = look(others, (0,), _STILL_TORN)
    if torn:
        look(torn, (1, 3))
    return [odds.get(n) for n in range(len(said))]


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
    return math.hypot(x, y) > _OFF or abs(size - HALF_DIAGONAL) > _SIZE_OFF


def _needs_upright_view(
    said: Scores, added: Scores, at_rest: list[int], needed: Sequence[int]
) -> list[int]:
    """Who may be asked how it lies: all where reader and jury see one lean; else who may play, and
    no one where no roll can be made of those."""
    if any(_leaning(said[n], added[n], None) > 0.0 for n in at_rest):
        return at_rest
    colours = softmax(said[:, 7:13] + added[:, :6])
    players = [n for n in at_rest if colours[n, -1] < _STRANGE]
    enough = (colours[players, :-1] > _HARDLY).sum(axis=0) >= needed
    return players if enough.all() else []


def _is_at_rest(said: Scores) -> bool:
    """Whether a candidate can be a die that neither moves nor is covered."""
    die, moving, visible = said[[0, 14, 15]]
    return bool(die >= _NO_DIE and moving <= 2.0 and visible >= -1.0)


def _may_show_a_value(said: Scores, values: Scores) -> bool:
    """Whether a candidate is surely a die, or shows some value at first sight."""
    return bool(chance(float(said[0])) > SURELY or values[0].max() > _SOME_VALUE)


def _unclear(said: Scores, values: Scores, pips: Scores, square_on: Scores | None = None) -> bool:
    """Whether it is left in doubt that a candidate is a die and shows its value."""
    if square_on is not None:
        likely, agree = fuse_value_scores(values, pips, square_on)
        return bool(not agree or likely.max() * chance(float(said[0])) < _DOUBT)
    best = int(values[0].argmax())
    sure = float(values[0, best]) * chance(float(said[0]))
    return bool(sure < _DOUBT or margin(pips[0], best + 1) > _PIPS_NEAR)


def _leaning(said: Scores, added: Scores, upright: float | None) -> float:
    """Log odds that a die does not lie flat: by reader and jury, and by both together where it was
    seen upright."""
    before = float(said[13] + added[6])
    return before if upright is None else (1.0 - _UPRIGHT) * before + _UPRIGHT * upright


def _may_be_tilted(said: Scores, added: Scores) -> bool:
    """Whether a die is worth a look at it upright."""
    return _leaning(said, added, None) > _MAY_LEAN


def _is_tilt_unclear(
    said: Scores, added: Scores, upright: float, limits: tuple[float, float] = _TORN
) -> bool:
    """Whether looks at a die upright leave a doubt how it lies."""
    return limits[0] < _leaning(said, added, upright) < limits[1]


def _is_legible(said: Scores, added: Scores, upright: float | None) -> bool:
    """Whether a candidate is a die at rest, its top in view and hardly askew: no other's value is
    announced, or settled by another look."""
    die, moving, visible = said[[0, 14, 15]]
    flat = _leaning(said, added, upright) < _ASKEW
    return bool(die > 0.0 and moving < 0.0 and visible > 0.0 and flat)


def _upright(said: Scores, turned_rad: float) -> Scores:
    """What was said of turned crops, with the directions turned back."""
    c, s = np.cos(turned_rad), np.sin(turned_rad)
    upright = said.copy()
    upright[:, NORMAL] = said[:, NORMAL] @ np.array([[c, -s], [s, c]], np.float32)
    return upright
