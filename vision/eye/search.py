"""Finds the dice of a picture: a glance, a close look at each, a nearer one where some lack."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import ALL_DICE, DieColour
from vision.eye.close_ups import CropCache
from vision.eye.finder import SMEARED, Candidate, FeatureMaps, propose_candidates
from vision.eye.nets import softmax
from vision.eye.reader import SURELY, AlignedCandidates, Detection, aim, classify
from vision.eye.values import fuse_value_scores
from vision.reading import Pixels, Point

Found = tuple[Detection, Candidate]
Box = tuple[int, int, int, int]
"""Left, top, right, bottom in px."""

SMALLEST_PX = 48
"""A picture with a shorter side than this cannot show a readable die in a tray (own choice)."""
STILL = 0.4
"""A die more likely moving than this does."""
_DIE = 0.5
_SURE, _NO_DOUBT = 0.9, 4
"""Surer dice than this tell the usual size; so many of one size, and what is of another gets no
more than a first look (own choices)."""
_BLURRED = 0.95
_OUTSIDE = 0.1
"""What is less likely in the tray than this gets no more than a first look: it is no
one's roll, and with more looks no more of 6,800 own frames are read."""
_REMOVED = 0.9
"""A die surer than this of a colour that is out of play fills no place (own choice)."""
_NEAR_ZOOM = 0.4
_NEAR_EDGE = 0.14
"""A second look for dice wider than this share of the picture; the finder was trained up to 0.2."""
_SMALL_EDGE = 0.03
"""Where dice are missed and those found are smaller than this share of the picture, it is looked at
from nearer (with larger dice none of 1,644 own `ok` frames is read better by that, and of 3,656
others seven are named better) ..."""
_AROUND = 3.0
"""... the part round those found (in edges) ..."""
_GAIN = 1.25
"""... if that makes it so many times as large ..."""
_SHARED = 0.08
"""... and then every quarter of the tray, with so much of its width shared with the next ..."""
_TRACE, _TRAY = 0.1, 0.3
"""... where in the tray there is at least so much heat apart from the dice (2,102 own frames are
read as they are with every nearer look, at half its cost)."""
_OVERLAP = 0.8
"""Two top faces nearer than this share of an edge are one die, or one and something between two:
the faces of dice side by side are a whole edge apart, a little less where one leans."""
_ON_IT = 0.4
"""A candidate nearer than this (in edges) to the middle of a die found is that die seen again."""
_USUAL = 0.05
"""A die's edge as a share of the picture's longer side where none was found."""
_SMALL = 0.62
"""Least share of the usual edge that a die can have (25 degrees of tilt, the widest lens: 0.7)."""


def detect_dice(
    pixels: Pixels,
    in_play: Sequence[DieColour],
    inside: Callable[[FeatureMaps, Point, float], float],
    *,
    any_colour: bool = False,
) -> tuple[FeatureMaps, list[Found]]:
    """Find and read the dice of a picture.

    Args:
        pixels: (H, W, 3) uint8, BGR.
        in_play: The dice that are expected in the tray. Where fewer are seen that can be those,
            or no others where a game's dice that left it may still lie, more is looked at.
        inside: How likely what stands at a point of the picture, with an edge of so many px, lies
            in the tray.
        any_colour: Whether dice of other colours than the five may be in play.
    """
    task = _Task(CropCache(pixels), tuple(in_play), inside, any_colour)
    overview, seen, dice = _dice(task, 1.0)
    if not dice:
        overview, seen, dice = _nearby(task, overview, seen)
    if any(task.lacking(overview, dice)) and not _blurred(overview, dice):
        dice = _searched(task, overview, seen, dice)
    return overview, dice


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """What is looked for in one picture."""

    close_ups: CropCache
    in_play: tuple[DieColour, ...]
    inside: Callable[[FeatureMaps, Point, float], float]
    any_colour: bool

    @property
    def wanted(self) -> int:
        """How many dice are in play."""
        return len(self.in_play)

    def lies_inside(self, overview: FeatureMaps, look: Detection) -> bool:
        """Whether a die lies in the tray."""
        return self.inside(overview, look.foot_xy, look.edge_px) > 0.5

    def counts(self, overview: FeatureMaps, look: Detection) -> bool:
        """Whether it can be one of those in play."""
        return not self._has_left(look) and self.lies_inside(overview, look)

    def lacking(self, overview: FeatureMaps, found: list[Found]) -> tuple[int, int]:
        """How many dice in play, and of those that left the game, these leave unseen."""
        here = [self._has_left(look) for look, _ in found if self.lies_inside(overview, look)]
        left = max(0, len(ALL_DICE) - self.wanted)
        return max(0, self.wanted - here.count(False)), max(0, left - here.count(True))

    def _has_left(self, look: Detection) -> bool:
        removed = [n for n, colour in enumerate(DieColour) if colour not in self.in_play]
        return bool(removed) and bool(softmax(look.colours)[removed].max() > _REMOVED)

    def read(self, overview: FeatureMaps, aimed: AlignedCandidates) -> list[Found]:
        """The candidates that can be dice or blurs, read closely."""
        aimed = aimed.only(_of_usual_size(aimed, overview))
        worth = self._worth_more(overview, aimed)
        needed = None if self.any_colour else [self.in_play.count(colour) for colour in DieColour]
        return classify(self.close_ups, aimed, worth, needed)

    def _worth_more(self, overview: FeatureMaps, aimed: AlignedCandidates) -> list[int]:
        """Who may be in the tray, and where all dice of the game surely are, likely a die."""
        chances = aimed.chances[:, 0]
        places = zip(aimed.feet.tolist(), aimed.edges.tolist(), strict=True)
        inside = [self.inside(overview, (x, y), edge) for (x, y), edge in places]
        worth = [n for n, within in enumerate(inside) if within > _OUTSIDE]
        if (chances >= _DIE).all():
            return worth
        sure = [n for n in _apart(aimed, SURELY) if inside[n] > 0.5]
        return worth if len(sure) < len(ALL_DICE) else [n for n in worth if chances[n] >= _DIE]


def _blurred(overview: FeatureMaps, dice: list[Found]) -> bool:
    """Whether what lacks is seen to be on its way: no nearer look would read it."""
    for look, _ in dice:
        if look.moving > _BLURRED and overview.at(overview.tray, look.centre_xy) > 0.5:
            return True
    edge = _usual_edge(dice) if dice else _USUAL * max(overview.size_wh)
    smeared = ((overview.smear > SMEARED) & (overview.tray > 0.5)).sum()
    return bool(smeared > (edge * overview.cells_per_px) ** 2)


def _dice(task: _Task, zoom: float) -> tuple[FeatureMaps, AlignedCandidates, list[Found]]:
    """The picture at a glance, every candidate, and those that are dice."""
    overview = propose_candidates(task.close_ups.pixels, zoom)
    aimed = aim(task.close_ups, overview.spots)
    return overview, aimed, _of_one_size(_distinct(task.read(overview, aimed)), overview)


def _of_usual_size(aimed: AlignedCandidates, overview: FeatureMaps) -> list[int]:
    """Which candidates can be dice as large as so many that there is no doubt about it; and
    blurs."""
    edges = aimed.edges.tolist()
    if not edges or _one_size(min(edges), max(edges)):
        return list(range(len(edges)))
    chances, middles = aimed.chances, aimed.middles.tolist()
    places = {n: (middles[n][0], middles[n][1]) for n in _apart(aimed, _SURE)}
    sure = [edges[n] for n, xy in places.items() if overview.at(overview.tray, xy) > 0.5]
    many, usual = _usual_of(sure)
    return [
        n for n, edge in enumerate(edges)
        if many < _NO_DOUBT or _one_size(edge, usual) or chances[n, 1] > STILL
    ]  # fmt: skip


def _apart(aimed: AlignedCandidates, surer: float) -> list[int]:
    """The candidates more surely dice than this, each die once."""
    chances = aimed.chances[:, 0].tolist()
    order = [
        n for n in sorted(range(len(chances)), key=lambda n: -chances[n]) if chances[n] > surer
    ]
    return _each_once(order, aimed.middles.tolist(), aimed.edges.tolist())


def _each_once(order: Iterable[int], middles: Sequence[Point], edges: Sequence[float]) -> list[int]:
    """Of candidates that are one die the first, by their middles and edges in px."""
    kept: list[int] = []
    for n in order:
        if all(
            math.dist(middles[n], middles[k]) > _OVERLAP * min(edges[n], edges[k]) for k in kept
        ):
            kept.append(n)
    return kept


def _nearby(
    task: _Task, overview: FeatureMaps, seen: AlignedCandidates
) -> tuple[FeatureMaps, AlignedCandidates, list[Found]]:
    """Dice so near that the finder took them for something else; the first overview where none.

    A tray is square and may have specks: only what both witnesses read alike is a die.
    """
    closer, aimed, dice = _dice(task, _NEAR_ZOOM)
    large = _NEAR_EDGE * max(overview.size_wh)
    dice = [
        (look, spot)
        for look, spot in dice
        if look.edge_px > large and fuse_value_scores(look.values, look.pips, look.square_on)[1]
    ]
    return (closer, aimed, dice) if dice else (overview, seen, [])


def _searched(
    task: _Task, overview: FeatureMaps, seen: AlignedCandidates, dice: list[Found]
) -> list[Found]:
    """The dice, after looks beside those found, where one that touches them may have been taken for
    a part of them (`seen`: all candidates), and at what is hardly warm; and of small dice after
    nearer looks: round those found, then, for dice in play, at each quarter of the tray."""
    found, lack = list(overview.spots), task.lacking(overview, dice)

    def add(spots: list[Candidate]) -> None:
        nonlocal dice, lack
        found.extend(spots)
        if not aim(task.close_ups, spots).spots:
            return
        aimed = aim(task.close_ups, found)
        now = _of_one_size(_distinct(task.read(overview, aimed)), overview)
        still = task.lacking(overview, now)
        if sum(still) < sum(lack):
            dice, lack = now, still

    add([*_moved_off(seen, dice), *_faint(overview, dice)])
    if not any(lack) or not found or not _are_small(overview, dice):
        return dice
    traces, pixels = _traces(overview, dice), task.close_ups.pixels
    for boxes in (_round_the_found, _quarters):
        fresh: list[Candidate] = []
        for left, top, right, bottom in boxes(overview, dice):
            if not ((traces >= (left, top)) & (traces < (right, bottom))).all(axis=1).any():
                continue
            part = np.ascontiguousarray(pixels[top:bottom, left:right])
            for spot in propose_candidates(part).spots:
                where = (spot.centre_xy[0] + left, spot.centre_xy[1] + top)
                fresh += _if_new([*found, *fresh], spot, where)
        add(fresh)
        if not lack[0]:
            break
    return dice


def _faint(overview: FeatureMaps, dice: list[Found]) -> list[Candidate]:
    """What is hardly warm in the tray and lies on none of the dice."""
    return [
        spot
        for spot in overview.faint
        if overview.at(overview.tray, spot.centre_xy) > _TRAY
        and all(
            np.hypot(*np.subtract(spot.centre_xy, look.centre_xy)) > _OVERLAP * look.edge_px
            for look, _ in dice
        )
    ]


def _are_small(overview: FeatureMaps, dice: list[Found]) -> bool:
    """Whether dice are so small that a nearer look shows more; where none is found, they may be."""
    return not dice or _usual_edge(dice) <= _SMALL_EDGE * max(overview.size_wh)


def _moved_off(aimed: AlignedCandidates, dice: list[Found]) -> list[Candidate]:
    """Candidates that lie partly on a die found, moved to where one that touches it would lie: by
    where the reader saw their top face, and by where the finder did."""
    moved: list[Candidate] = []
    for spot, middle, chance in zip(aimed.spots, aimed.middles, aimed.chances[:, 0], strict=True):
        for die, _ in dice:
            for seen_at in (middle, spot.centre_xy):
                away = np.subtract(seen_at, die.centre_xy)
                gap = float(np.hypot(*away))
                if _ON_IT < gap / die.edge_px < _OVERLAP and chance > _DIE:
                    x, y = die.centre_xy + away * (die.edge_px / gap)
                    moved.append(replace(spot, centre_xy=(float(x), float(y)), edge_px=die.edge_px))
    return moved


def _traces(overview: FeatureMaps, dice: list[Found]) -> NDArray[np.float32]:
    """Where in the tray (K, 2: x and y in px) something else may be a die."""
    warm = ((overview.heat > _TRACE) & (overview.tray > _TRAY)).astype(np.uint8)
    for look, _ in dice:
        x, y = overview.to_grid[:, :2] @ look.centre_xy + overview.to_grid[:, 2]
        reach = _OVERLAP * look.edge_px * overview.cells_per_px
        cv2.circle(warm, (round(float(x)), round(float(y))), math.floor(reach), 0, cv2.FILLED)
    rows, columns = np.nonzero(warm)
    back = cv2.invertAffineTransform(overview.to_grid)
    return np.asarray(np.stack([columns, rows], axis=1) @ back[:, :2].T + back[:, 2], np.float32)


def _if_new(found: list[Candidate], spot: Candidate, where: Point) -> list[Candidate]:
    """A candidate that a nearer look showed, unless it is one of those found."""
    gaps = [float(np.hypot(*np.subtract(where, other.centre_xy))) for other in found]
    if all(
        gap > 0.5 * spot.edge_px or not _SMALL < spot.edge_px / other.edge_px < 1.0 / _SMALL
        for gap, other in zip(gaps, found, strict=True)
    ):
        return [replace(spot, centre_xy=where, up=found[int(np.argmin(gaps))].up)]
    return []


def _round_the_found(overview: FeatureMaps, dice: list[Found]) -> list[Box]:
    """The part of the picture round the dice found (left, top, right, bottom), where that is much
    nearer."""
    if not dice:
        return []
    size = np.array(overview.size_wh)
    reach = _AROUND * _usual_edge(dice)
    centres = np.array([look.centre_xy for look, _ in dice])
    low = np.clip(centres.min(axis=0) - reach, 0, None).astype(int)
    high = np.minimum(centres.max(axis=0) + reach, size).astype(int)
    if max(high - low) * _GAIN > size.max() or min(high - low) < SMALLEST_PX:
        return []
    return [(int(low[0]), int(low[1]), int(high[0]), int(high[1]))]


def _quarters(overview: FeatureMaps, _: list[Found]) -> list[Box]:
    """The four quarters of the tray, each sharing a little with the next."""
    size = np.array(overview.size_wh)
    rows, columns = np.nonzero(overview.tray > 0.5)
    if not len(rows):
        return []
    back = cv2.invertAffineTransform(overview.to_grid)
    floor = np.stack([columns, rows], axis=1) @ back[:, :2].T + back[:, 2]
    margin = 0.02 * size.max()
    low = np.clip(floor.min(axis=0) - margin, 0, None)
    high = np.minimum(floor.max(axis=0) + margin, size)
    half, share = (low + high) / 2.0, _SHARED * (high - low)
    if min(high - low) < 2 * SMALLEST_PX:
        return []
    return [
        (int(left), int(top), int(right), int(bottom))
        for left, right in ((low[0], half[0] + share[0]), (half[0] - share[0], high[0]))
        for top, bottom in ((low[1], half[1] + share[1]), (half[1] - share[1], high[1]))
    ]


def _usual_edge(dice: list[Found]) -> float:
    return median(look.edge_px for look, _ in dice)


def _distinct(pairs: list[Found]) -> list[Found]:
    """The candidates that are dice, each once, the likeliest first: what is surely a die before
    what lies half on one and half on the next, however hot."""
    pairs = [(k, s) for k, s in pairs if _is_die(k) or (k.moving > _BLURRED and s.heat > 0.25)]
    pairs.sort(key=lambda pair: (pair[0].die < SURELY, -pair[0].die * pair[1].heat))
    middles, edges = [k.centre_xy for k, _ in pairs], [k.edge_px for k, _ in pairs]
    return [pairs[n] for n in _each_once(range(len(pairs)), middles, edges)]


def is_new(look: Detection, found: Sequence[Found]) -> bool:
    """Whether it lies on none of the dice found."""
    return all(
        math.dist(look.centre_xy, other.centre_xy) > _OVERLAP * min(look.edge_px, other.edge_px)
        for other, _ in found
    )


def _is_die(look: Detection) -> bool:
    """Surely a die, or likely one whose top shows a value: pads, coins and knots show none."""
    return look.die > SURELY or (look.die > _DIE and float(look.values.mean(axis=0).max()) > 0.6)


def _of_one_size(dice: list[Found], overview: FeatureMaps) -> list[Found]:
    """Without what is far smaller or larger than the surest dice: lint, pips, boxes of a sheet.

    A game's dice are of one size, and no camera above a tray sees one twice as large as another.
    What most of them can be counts, and of as many small as large ones the large.
    """
    sure = [
        look.edge_px
        for look, _ in dice
        if look.die > _SURE and overview.at(overview.tray, look.centre_xy) > 0.5
    ]
    if len(sure) < 2:
        return dice
    _, usual = _usual_of(sure)
    return [(k, s) for k, s in dice if _one_size(k.edge_px, usual)]


def _usual_of(edges: list[float]) -> tuple[int, float]:
    """How many of these are of the size that most can be, and that size."""
    alike = [[other for other in edges if _one_size(other, edge)] for edge in edges]
    return max(((len(each), median(each)) for each in alike), default=(0, 0.0))


def _one_size(edge_px: float, other_px: float) -> bool:
    """Whether two dice of one size can show these edges."""
    return _SMALL < edge_px / other_px < 1.0 / _SMALL
