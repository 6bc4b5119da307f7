"""Finds the dice of a picture, and searches enlarged parts of it if dice are missing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import ALL_DICE, DieColour
from vision.detector.candidates import SMEARED, Candidate, FeatureMaps, propose_candidates
from vision.detector.classifier import SURELY, AlignedCandidates, Detection, aim, classify
from vision.detector.inference import CropCache
from vision.detector.models import softmax
from vision.reading import Pixels, Point

Box = tuple[int, int, int, int]
"""Left, top, right, bottom in px."""

SMALLEST_PX = 48
"""Least side of a picture that can show a readable die in a tray (chosen, not measured)."""
STILL = 0.4
"""Probability of motion above which a die counts as moving."""
_BLURRED = 0.95
"""Probability of motion above which a blurred candidate counts as a moving die."""
_OUTSIDE = 0.1
"""Probability of lying in the tray up to which a candidate gets one crop only
(docs/evaluation.md, thresholds)."""
_REMOVED = 0.9
"""Probability of a colour out of play above which a die fills no place (chosen, not measured)."""
_SMALL_EDGE = 0.05
"""Share of the picture's longer side up to which dice are small, so that enlarged parts of the
picture are searched for missing dice (docs/evaluation.md, thresholds)."""
_SHARED = 0.08
"""Overlap of neighbouring quarters of the tray, as a share of the tray's width."""
_TRACE = 0.1
"""Heat apart from the dice above which an enlarged part is searched (docs/evaluation.md,
thresholds)."""
_TRAY = 0.3
"""Probability of the tray above which heat can come from a missing die."""
_OVERLAP = 0.8
"""Top faces nearer to each other than this share of an edge are the same die. Faces of dice side by
side are one edge apart, a little less if one is tilted."""
_USUAL = 0.05
"""Edge of a die as a share of the picture's longer side, assumed if no die is found."""
_SMALL = 0.62
"""Least ratio of the edges of two candidates for one die."""


def detect_dice(
    pixels: Pixels,
    in_play: Sequence[DieColour],
    inside: Callable[[FeatureMaps, Point, float], float],
    *,
    is_thorough: bool = True,
) -> tuple[FeatureMaps, list[Detection]]:
    """Find and read the dice of a picture.

    Args:
        pixels: (H, W, 3) uint8, BGR.
        in_play: The dice expected in the tray. The search goes on while these, or dice that left
            the game, are missing.
        inside: Returns the probability that a die at a point of the picture, with an edge in px,
            lies in the tray.
        is_thorough: Whether missing dice are searched for.
    """
    task = _Task(CropCache(pixels), tuple(in_play), inside)
    overview = propose_candidates(pixels)
    dice = task.read(overview, overview.candidates)
    if is_thorough and any(task.missing(overview, dice)) and not _blurred(overview, dice):
        dice = _searched(task, overview, dice)
    return overview, dice


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """The search for dice in one picture."""

    close_ups: CropCache
    in_play: tuple[DieColour, ...]
    inside: Callable[[FeatureMaps, Point, float], float]

    @property
    def wanted(self) -> int:
        """How many dice are in play."""
        return len(self.in_play)

    def lies_inside(self, overview: FeatureMaps, detection: Detection) -> bool:
        """Whether a die lies in the tray."""
        return self.inside(overview, detection.foot_xy, detection.edge_px) > 0.5

    def missing(self, overview: FeatureMaps, found: list[Detection]) -> tuple[int, int]:
        """Number of missing dice: those in play, and those that left the game."""
        here = [
            self._has_left(detection)
            for detection in found
            if self.lies_inside(overview, detection)
        ]
        left = max(0, len(ALL_DICE) - self.wanted)
        return max(0, self.wanted - here.count(False)), max(0, left - here.count(True))

    def _has_left(self, detection: Detection) -> bool:
        removed = [n for n, colour in enumerate(DieColour) if colour not in self.in_play]
        return bool(removed) and bool(softmax(detection.colours)[removed].max() > _REMOVED)

    def read(self, overview: FeatureMaps, candidates: Sequence[Candidate]) -> list[Detection]:
        """Classify the candidates, and keep the dice and blurs."""
        aligned = aim(self.close_ups, candidates)
        worth = self._worth_more(overview, aligned)
        return _distinct(classify(self.close_ups, aligned, worth))

    def _worth_more(self, overview: FeatureMaps, aligned: AlignedCandidates) -> list[int]:
        """Select candidates that get more views: those that may lie in the tray.

        If all dice of the game are found, only likely dice remain.
        """
        chances = aligned.chances[:, 0]
        places = zip(aligned.feet.tolist(), aligned.edges.tolist(), strict=True)
        inside = [self.inside(overview, (x, y), edge) for (x, y), edge in places]
        worth = [n for n, within in enumerate(inside) if within > _OUTSIDE]
        sure = [n for n in _apart(aligned) if inside[n] > 0.5]
        return worth if len(sure) < len(ALL_DICE) else [n for n in worth if chances[n] > SURELY]


def _blurred(overview: FeatureMaps, dice: list[Detection]) -> bool:
    """Whether the picture shows a moving die, which an enlarged part would not make readable."""
    for detection in dice:
        if detection.moving > _BLURRED and overview.at(overview.tray, detection.centre_xy) > 0.5:
            return True
    edge = _usual_edge(dice) if dice else _USUAL * max(overview.size_wh)
    smeared = ((overview.smear > SMEARED) & (overview.tray > 0.5)).sum()
    return bool(smeared > (edge * overview.cells_per_px) ** 2)


def _apart(aligned: AlignedCandidates) -> list[int]:
    """Select the candidates that are dice, each die once."""
    chances = aligned.chances[:, 0].tolist()
    order = [
        n for n in sorted(range(len(chances)), key=lambda n: -chances[n]) if chances[n] > SURELY
    ]
    return _each_once(order, aligned.middles.tolist(), aligned.edges.tolist())


def _each_once(order: Iterable[int], middles: Sequence[Point], edges: Sequence[float]) -> list[int]:
    """Keep the first candidate of each die, by their middles and edges in px."""
    kept: list[int] = []
    for n in order:
        if all(
            math.dist(middles[n], middles[k]) > _OVERLAP * min(edges[n], edges[k]) for k in kept
        ):
            kept.append(n)
    return kept


def _searched(task: _Task, overview: FeatureMaps, dice: list[Detection]) -> list[Detection]:
    """Search for missing dice.

    Faint candidates come first. If dice are small, the quarters of the tray follow, enlarged.
    """
    found, missing = list(overview.candidates), task.missing(overview, dice)

    def add(candidates: list[Candidate]) -> None:
        nonlocal dice, missing
        found.extend(candidates)
        if not aim(task.close_ups, candidates).candidates:
            return
        now = task.read(overview, found)
        still = task.missing(overview, now)
        if sum(still) < sum(missing):
            dice, missing = now, still

    add(_faint(overview, dice))
    if not any(missing) or not found or not _are_small(overview, dice):
        return dice
    traces, pixels = _traces(overview, dice), task.close_ups.pixels
    fresh: list[Candidate] = []
    for left, top, right, bottom in _quarters(overview):
        if not ((traces >= (left, top)) & (traces < (right, bottom))).all(axis=1).any():
            continue
        part = np.ascontiguousarray(pixels[top:bottom, left:right])
        for candidate in propose_candidates(part).candidates:
            where = (candidate.centre_xy[0] + left, candidate.centre_xy[1] + top)
            fresh += _if_new([*found, *fresh], candidate, where)
    add(fresh)
    return dice


def _faint(overview: FeatureMaps, dice: list[Detection]) -> list[Candidate]:
    """Select faint candidates that lie in the tray and on none of the dice."""
    return [
        candidate
        for candidate in overview.faint
        if overview.at(overview.tray, candidate.centre_xy) > _TRAY
        and all(
            np.hypot(*np.subtract(candidate.centre_xy, detection.centre_xy))
            > _OVERLAP * detection.edge_px
            for detection in dice
        )
    ]


def _are_small(overview: FeatureMaps, dice: list[Detection]) -> bool:
    """Whether dice are so small that an enlarged part shows more, or none is found."""
    return not dice or _usual_edge(dice) <= _SMALL_EDGE * max(overview.size_wh)


def _traces(overview: FeatureMaps, dice: list[Detection]) -> NDArray[np.float32]:
    """Points of the tray (K, 2: x and y in px) with heat apart from the dice."""
    warm = ((overview.heat > _TRACE) & (overview.tray > _TRAY)).astype(np.uint8)
    for detection in dice:
        x, y = overview.to_grid[:, :2] @ detection.centre_xy + overview.to_grid[:, 2]
        reach = _OVERLAP * detection.edge_px * overview.cells_per_px
        cv2.circle(warm, (round(float(x)), round(float(y))), math.floor(reach), 0, cv2.FILLED)
    rows, columns = np.nonzero(warm)
    back = cv2.invertAffineTransform(overview.to_grid)
    return np.asarray(np.stack([columns, rows], axis=1) @ back[:, :2].T + back[:, 2], np.float32)


def _if_new(found: list[Candidate], candidate: Candidate, where: Point) -> list[Candidate]:
    """Return a candidate from an enlarged part, or nothing if it is already found."""
    gaps = [float(np.hypot(*np.subtract(where, other.centre_xy))) for other in found]
    if all(
        gap > 0.5 * candidate.edge_px
        or not _SMALL < candidate.edge_px / other.edge_px < 1.0 / _SMALL
        for gap, other in zip(gaps, found, strict=True)
    ):
        return [replace(candidate, centre_xy=where, up=found[int(np.argmin(gaps))].up)]
    return []


def _quarters(overview: FeatureMaps) -> list[Box]:
    """The four quarters of the tray, which overlap a little."""
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


def _usual_edge(dice: list[Detection]) -> float:
    return median(detection.edge_px for detection in dice)


def _distinct(detections: list[Detection]) -> list[Detection]:
    """Keep the candidates that are dice or blurs, each once, the likeliest first."""
    dice = [k for k in detections if k.die > SURELY or (k.moving > _BLURRED and k.heat > 0.25)]
    dice.sort(key=lambda die: -die.die * die.heat)
    middles, edges = [k.centre_xy for k in dice], [k.edge_px for k in dice]
    return [dice[n] for n in _each_once(range(len(dice)), middles, edges)]
