"""Decides status, problems and roll from the detections and the dice in play."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from companion.engine.dice import ALL_DICE, COLOURED, DieColour, Roll
from companion.tray import DieView, Problem, ProblemCode, TrayStatus
from vision.detector.colours import likeness, shared_out, shared_with_a_pair
from vision.detector.models import Scores
from vision.evidence import Clutter, DieEvidence, SceneEvidence
from vision.reading import Reading

PALETTE = tuple(DieColour)
"""The order of the first five columns of `DieEvidence.colours`; the sixth is none of them."""

SURELY_DIE = 0.99
"""Least probability of a die, if all dice in play are found above it (docs/limits.md)."""

ANNOUNCE = 0.95
"""Least probability that all dice in play are right to announce a roll (docs/limits.md)."""
_SURPLUS = 8.0
"""Cost (nats) of leaving a detection unassigned: a missing die gets no detection whose probability
of that colour is below 1 in 3,000."""
_FOREIGN = 5.0
"""Cost (nats) of a die of another game, added to its cost of having none of the five colours: one
tray in 150 is assumed to hold one (docs/limits.md)."""
_LEFT_IN, _MIXED_UP = 2.0, 4.0
"""Cost (nats) of a die whose colour is out of play, added to the cost of that colour. The first
applies to a surplus of dice: one tray in seven is assumed to hold a removed die. The second applies
to the right number: in one tray in 55 the wrong die is assumed to be removed."""
_SEE_ALL = 0.88
"""Least visible share of a readable top face (docs/limits.md)."""

_HIDES = 1.5
"""Area of things (faces of a die) for each missing die above which they can hide them
(docs/limits.md)."""
_MOVES = 0.7
"""Probability of motion above which a missing die moves (docs/limits.md)."""
_SURELY_TILTED = 3.0
"""Threshold in log odds of tilt above which a die has no value."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """The status of a picture, with the problems, colours and confidences behind it.

    Attributes:
        problems: All that apply, then warnings.
        colours: The colour assigned to each die; None if it is unassigned.
        confidences: Probability that value and colour of each die are both right.
        roll: The roll to announce, if any.
        discarded: Indices of false detections: the roll is whole without them.
    """

    status: TrayStatus
    problems: tuple[Problem, ...]
    colours: tuple[DieColour | None, ...]
    confidences: tuple[float, ...]
    roll: Roll | None
    discarded: frozenset[int] = frozenset()


def decide_status(
    seen: Sequence[DieEvidence], in_play: Sequence[DieColour], clutter: Clutter
) -> Assessment:
    """Decide the status: OK, or the first of the others that applies in `TrayStatus` order.

    Args:
        seen: Every die in the picture, in the tray or beside it.
        in_play: The dice the game expects now.
        clutter: Things and smears in the tray.
    """
    inside = [n for n, die in enumerate(seen) if die.in_tray]
    certain = [n for n in inside if seen[n].die > SURELY_DIE]
    given, certainty = _assigned([seen[n] for n in certain], in_play)
    is_whole = Counter(colour for colour in given if colour is not None) == Counter(in_play)
    alike = [likeliest(die.colours) for die in seen]
    unlike = {c for n, c in zip(certain, given, strict=True) if c is not alike[n]}
    discarded = [n for n in inside if n not in certain]
    if discarded and (not is_whole or any(alike[n] in unlike - {None} for n in discarded)):
        certain, discarded = inside, []
        given, certainty = _assigned([seen[n] for n in inside], in_play)
    colours: list[DieColour | None] = [None] * len(seen)
    confidences = [0.0] * len(seen)
    for n, colour, sure in zip(certain, given, certainty, strict=True):
        colours[n], confidences[n] = colour, sure * seen[n].sure

    def name(n: int) -> DieColour | None:
        return colours[n] or likeliest(seen[n].colours)

    removed = [n for n in certain if colours[n] is None and _not_in_play(seen[n], in_play)]
    playing = [n for n in certain if n not in removed]
    extra = [n for n in playing if colours[n] is None]
    least = _share(confidences[n] for n in playing if n not in extra)
    wanted = list((Counter(in_play) - Counter(c for c in given if c is not None)).elements())
    found: dict[ProblemCode, list[DieColour | None]] = {
        ProblemCode.MOVING: [name(n) for n in playing if seen[n].moving],
        ProblemCode.EMPTY: [],
        ProblemCode.OBSTRUCTED: [name(n) for n in playing if not seen[n].visible >= _SEE_ALL],
        ProblemCode.COCKED: [name(n) for n in playing if seen[n].cocked],
        ProblemCode.MISSING: list(wanted),
        ProblemCode.EXTRA: [name(n) for n in extra],
        ProblemCode.UNCERTAIN: [
            name(n)
            for n in playing
            if n not in extra
            and (seen[n].value is None or (not confidences[n] >= least and not extra))
        ],
    }
    if wanted and clutter.smear > _MOVES and not found[ProblemCode.MOVING]:
        found[ProblemCode.MOVING].append(None)
    if not inside:
        found[ProblemCode.EMPTY].append(None)
        found[ProblemCode.MISSING] = []
    elif wanted and clutter.thing > _HIDES * len(wanted) and not found[ProblemCode.OBSTRUCTED]:
        found[ProblemCode.OBSTRUCTED] = list(wanted)
    problems = [Problem(code, colour) for code, named in found.items() for colour in named]
    status = TrayStatus(problems[0].code) if problems else TrayStatus.OK
    if clutter.thing > 0.3 or discarded:
        problems.append(Problem(ProblemCode.FOREIGN_OBJECT))
    problems += [
        Problem(ProblemCode.BESIDE_TRAY, likeliest(die.colours)) for die in seen if not die.in_tray
    ]
    problems += [
        Problem(ProblemCode.REMOVED_DIE_IN_TRAY, likeliest(seen[n].colours)) for n in removed
    ]
    read = [(colours[n], seen[n].value) for n in playing]
    roll = _roll(read) if status is TrayStatus.OK else None
    return Assessment(
        status, tuple(problems), tuple(colours), tuple(confidences), roll, frozenset(discarded)
    )


def _share(confidences: Iterable[float]) -> float:
    """Confidence below which a die is named, if the whole roll is not sure enough; else 0."""
    each = list(confidences)
    return 0.0 if math.prod(each) >= ANNOUNCE else ANNOUNCE ** (1.0 / len(each))


def reading_of(
    scene: SceneEvidence, in_play: Sequence[DieColour], *, is_game: bool = False
) -> Reading:
    """Decide the status of a scene and return it with every die.

    Args:
        is_game: Name each die as the problems do, by what is in play; else what is in play names
            the dice of an announced roll only, and others are judged singly.
    """
    verdict = decide_status(scene.dice, in_play, scene.clutter)
    is_joint = is_game or verdict.status is TrayStatus.OK
    dice = tuple(
        _die_view(die, given if is_joint else None, joint)
        for n, (die, given, joint) in enumerate(
            zip(scene.dice, verdict.colours, verdict.confidences, strict=True)
        )
        if n not in verdict.discarded
    )
    return Reading(verdict.status, dice, verdict.problems, verdict.roll, evidence=scene)


def _die_view(die: DieEvidence, given: DieColour | None, joint: float) -> DieView:
    """One die, judged singly unless it is given a colour."""
    colour, confidence = likeliest(die.colours), float(die.colours.max()) * die.sure
    if given is not None:
        colour, confidence = given, joint
    a, b, c, d = ((float(x), float(y)) for x, y in die.corners)
    return DieView(
        colour=colour,
        value=None if die.moving or die.tilt > _SURELY_TILTED else die.value,
        confidence=min(max(confidence, 0.0), 0.9999),
        centre_xy=die.centre_xy,
        corners_xy=(a, b, c, d),
        cocked=die.cocked,
        in_tray=die.in_tray,
    )


def likeliest(colours: Scores) -> DieColour | None:
    """Likeliest colour of a single die; None if it is none of the five or below one half."""
    best = int(np.argmax(colours))
    return PALETTE[best] if best < len(PALETTE) and colours[best] > 0.5 else None


def _not_in_play(die: DieEvidence, in_play: Sequence[DieColour]) -> bool:
    colour = likeliest(die.colours)
    return colour is not None and colour not in in_play


def _assigned(
    dice: Sequence[DieEvidence], in_play: Sequence[DieColour]
) -> tuple[list[DieColour | None], list[float]]:
    """Assign the colours in play to the detections at the least total cost.

    Returns:
        The colour of each detection (None: unassigned), and its probability against the best
        assignment that gives it another one.
    """
    if not dice:
        return [], []
    kinds = sorted(set(in_play), key=PALETTE.index)
    removed = [kind for kind in PALETTE if kind not in kinds]
    every = [*kinds, *removed]
    room = tuple(in_play.count(kind) or ALL_DICE.count(kind) for kind in every)
    colours = np.array([die.colours for die in dice], np.float64)
    cost = np.full((len(dice), len(every) + 1), _SURPLUS)
    cost[:, :-1] = -np.log(colours[:, [PALETTE.index(kind) for kind in every]] + 1e-6)
    cost[:, -1] = np.minimum(_SURPLUS, _FOREIGN - np.log(colours[:, -1] + 1e-6))
    cost[:, len(kinds) : -1] += _LEFT_IN if len(dice) > len(in_play) else _MIXED_UP
    if in_play.count(DieColour.WHITE) == 2:
        alike = likeness([die.tint for die in dice])
        pick, totals = shared_with_a_pair(cost, room, kinds.index(DieColour.WHITE), alike)
    else:
        pick, totals = shared_out(cost, room)
    sure = [_chance(row, k) for row, k in zip(totals.tolist(), pick, strict=True)]
    given = [kinds[k] if k < len(kinds) else None for k in pick]
    return given, sure


def _chance(totals: list[float], picked: int) -> float:
    """Probability of the picked column, from the least total cost with each column."""
    best = totals.pop(picked)
    return 1.0 / (1.0 + math.exp(-min(max(min(totals) - best, -50.0), 50.0)))


def _roll(dice: Sequence[tuple[DieColour | None, int | None]]) -> Roll | None:
    white = [value for colour, value in dice if colour is DieColour.WHITE and value is not None]
    coloured = {c: v for c, v in dice if c in COLOURED and c is not None and v is not None}
    return Roll.of((white[0], white[1]), coloured) if len(white) == 2 else None
