"""Scores readings against truth files: how often right, how often unsure, how often a lie."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from companion.engine.dice import ALL_DICE, DieColour
from companion.errors import PictureError
from vision.picture import load_picture
from vision.reading import Pixels, Point, Reading, Status

_NEAR = 0.6
"""A die seen belongs to a true one within this many die widths (photos/README of the set)."""


@dataclass(frozen=True, slots=True)
class TrueDie:
    """One labelled die, in px of the picture as it is scored.

    Attributes:
        counted: False where the label is unsure or the top face cannot be read.
        box: Left, top, right, bottom, where the source has one.
    """

    colour: str | None
    value: int | None
    centre_xy: Point
    edge_px: float
    counted: bool = True
    box: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One picture and what is true of it.

    `expected` is None for photos, where only the dice are scored.
    """

    name: str
    expected: Status | None
    in_play: tuple[DieColour, ...]
    readable: bool
    dice: tuple[TrueDie, ...]
    faint: bool = False
    special_dice: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one reading did: exact, unsure, silently_wrong or not_announced, and its dice.

    Attributes:
        named: For a special frame, whether the status says which one it is.
        pairs: (true, read) value of each counted die that was seen; likewise `colours`.
    """

    name: str
    verdict: str
    expected: str | None
    status: str
    named: bool
    dice: int
    seen: int
    right: int
    false: int
    values: tuple[tuple[int, int | None], ...] = ()
    colours: tuple[tuple[str, str | None], ...] = ()
    sure: tuple[tuple[float, bool], ...] = ()


@dataclass(slots=True)
class Tally:
    """The outcomes of many pictures and the milliseconds they took."""

    outcomes: list[Outcome] = field(default_factory=list)
    elapsed_ms: list[float] = field(default_factory=list)

    def report(self) -> dict[str, Any]:
        """The JSON object of `bench read`; the contract fixes its first keys."""
        verdicts = Counter(o.verdict for o in self.outcomes)
        special = [o for o in self.outcomes if o.expected not in (None, Status.OK.value)]
        times = np.array(self.elapsed_ms or [0.0])
        ok = [o for o in self.outcomes if o.expected == Status.OK.value]
        return {
            "frames": len(self.outcomes),
            "exact": verdicts["exact"],
            "unsure": verdicts["unsure"],
            "silently_wrong": verdicts["silently_wrong"],
            "special": {"frames": len(special), "named": sum(o.named for o in special)},
            "dice": {
                "seen": sum(o.seen for o in self.outcomes),
                "right": sum(o.right for o in self.outcomes),
                "labelled": sum(o.dice for o in self.outcomes),
                "false": sum(o.false for o in self.outcomes),
            },
            "ms": {
                "median": round(float(np.median(times)), 2),
                "p95": round(float(np.percentile(times, 95)), 2),
            },
            "not_announced": verdicts["not_announced"],
            "ok": {"frames": len(ok), "exact": sum(o.verdict == "exact" for o in ok)},
            "statuses": {
                f"{expected or 'photo'} as {status}": count
                for (expected, status), count in sorted(
                    Counter((o.expected, o.status) for o in self.outcomes).items(), key=str
                )
            },
            "values": _confusion(o.values for o in self.outcomes),
            "colours": _confusion(o.colours for o in self.outcomes),
            "reliability": _reliability(pair for o in self.outcomes for pair in o.sure),
            "wrong_files": [o.name for o in self.outcomes if o.verdict == "silently_wrong"],
            "unsure_files": [
                f"{o.name}: {o.status}" for o in self.outcomes if o.verdict == "unsure"
            ],
        }


def load_cases(folder: Path) -> list[Case]:
    """The cases of a folder's `truth.jsonl`, frames or photos.

    Raises:
        PictureError: There is none, or a line of it cannot be used.
    """
    path = folder / "truth.jsonl"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PictureError(f"{path}: expected a truth file, got {error}") from error
    cases = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            cases.append(parse_case(json.loads(line)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise PictureError(
                f"{path}:{number}: expected a truth object, got {error!r}"
            ) from error
    return cases


def parse_case(line: Mapping[str, Any]) -> Case:
    """One object of a truth file; the sets of frames and of photos name some keys differently."""
    if "expected" not in line:
        dice = tuple(_photo_die(die, line["quality"] == "usable") for die in line["dice"])
        return Case(line["file"], None, ALL_DICE, True, dice)
    return Case(
        line["file"],
        Status(line["expected"]),
        tuple(DieColour(c) for c in line["dice_in_play"]),
        bool(line["values_readable"]),
        tuple(_frame_die(die) for die in line["dice"]),
        bool(line.get("glare_or_faint")),
        frozenset(
            n for n, die in enumerate(line["dice"]) if not die["in_tray"] or die["value"] is None
        ),
    )


def _photo_die(die: Mapping[str, Any], usable: bool) -> TrueDie:
    box = die.get("box")
    edge = max(box[2] - box[0], box[3] - box[1]) if box else 40.0
    return TrueDie(
        die["colour"],
        die["value"],
        (float(die["centre"][0]), float(die["centre"][1])),
        float(edge),
        bool(die["certain"]) and usable,
        (float(box[0]), float(box[1]), float(box[2]), float(box[3])) if box else None,
    )


def _frame_die(die: Mapping[str, Any]) -> TrueDie:
    x, y = die["center_px"]
    return TrueDie(
        die["colour"],
        die["value"],
        (float(x), float(y)),
        float(die["edge_px"]),
        die["value"] is not None and die["top_visible"] > 0.9,
    )


def scaled(case: Case, factor: float) -> Case:
    """The case for a picture made larger or smaller."""
    dice = tuple(
        replace(
            die,
            centre_xy=(die.centre_xy[0] * factor, die.centre_xy[1] * factor),
            edge_px=die.edge_px * factor,
            box=None if die.box is None else _times(die.box, factor),
        )
        for die in case.dice
    )
    return replace(case, dice=dice)


def _times(
    box: tuple[float, float, float, float], factor: float
) -> tuple[float, float, float, float]:
    return box[0] * factor, box[1] * factor, box[2] * factor, box[3] * factor


def shrunk(pixels: Pixels, size_wh: tuple[int, int]) -> tuple[Pixels, float]:
    """The picture scaled to fit a size without stretching it, and the factor."""
    import cv2

    height, width = pixels.shape[:2]
    factor = min(size_wh[0] / width, size_wh[1] / height)
    to = (max(1, round(width * factor)), max(1, round(height * factor)))
    how = cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(pixels, to, interpolation=how), np.uint8), factor


def score(case: Case, reading: Reading) -> Outcome:
    """Judge a reading by what is true."""
    found = _matched(case.dice, reading)
    counted = [n for n, die in enumerate(case.dice) if die.counted]
    values, colours, sure = [], [], []
    right = seen = 0
    for n in counted:
        true, number = case.dice[n], found.get(n)
        if number is None:
            continue
        die = reading.dice[number]
        seen += 1
        colour = die.colour.value if die.colour else None
        known = true.colour in {c.value for c in DieColour}
        good = die.value == true.value and (colour == true.colour or not known)
        right += good
        values.append((true.value or 0, die.value))
        if known and true.colour is not None:
            colours.append((true.colour, colour))
            if die.value is not None and colour is not None:
                sure.append((die.confidence, good))
    return Outcome(
        case.name,
        _verdict(case, reading, found),
        case.expected.value if case.expected else None,
        reading.status.value,
        _named(case, reading, found),
        len(counted),
        seen,
        right,
        len(reading.dice) - len(found),
        tuple(values),
        tuple(colours),
        tuple(sure),
    )


def _matched(dice: Sequence[TrueDie], reading: Reading) -> dict[int, int]:
    """True die to die seen: each seen die goes to the nearest true one that it lies on."""
    pairs = []
    for m, die in enumerate(reading.dice):
        for n, true in enumerate(dice):
            gap = float(np.hypot(*(np.subtract(die.centre_xy, true.centre_xy))))
            x, y = die.centre_xy
            box = true.box
            on_it = box[0] <= x <= box[2] and box[1] <= y <= box[3] if box else False
            if on_it or gap < _NEAR * true.edge_px:
                pairs.append((gap, n, m))
    found: dict[int, int] = {}
    for _, n, m in sorted(pairs):
        if n not in found and m not in found.values():
            found[n] = m
    return found


def _right_roll(case: Case, reading: Reading, found: Mapping[int, int]) -> bool:
    """Whether what would be announced is what lies in the tray."""
    true = Counter(
        (die.colour, die.value)
        for n, die in enumerate(case.dice)
        if n not in case.special_dice and die.colour in {c.value for c in case.in_play}
    )
    said = Counter(
        (die.colour.value, die.value)
        for die in reading.dice
        if die.in_tray and die.colour in case.in_play
    )
    return true == said


def _verdict(case: Case, reading: Reading, found: Mapping[int, int]) -> str:
    if case.expected is None:
        good = all(
            n in found and reading.dice[found[n]].value == die.value
            for n, die in enumerate(case.dice)
            if die.counted
        )
        return "exact" if good else "unsure"
    if reading.status is Status.OK:
        fine = case.expected is Status.OK or case.readable
        return "exact" if fine and _right_roll(case, reading, found) else "silently_wrong"
    return "unsure" if case.expected is Status.OK else "not_announced"


def _named(case: Case, reading: Reading, found: Mapping[int, int]) -> bool:
    if case.expected is None or case.expected is Status.OK:
        return False
    if reading.status is Status.OK:
        return case.readable and _right_roll(case, reading, found)
    return reading.status is case.expected


def _confusion(pairs: Iterable[Iterable[tuple[Any, Any]]]) -> dict[str, dict[str, int]]:
    counts = Counter(pair for some in pairs for pair in some)
    table: dict[str, dict[str, int]] = {}
    for (true, read), count in sorted(counts.items(), key=str):
        table.setdefault(str(true), {})[str(read)] = count
    return table


def _reliability(pairs: Iterable[tuple[float, bool]]) -> list[dict[str, float]]:
    """Dice by stated confidence: how many, what was stated on average, what came true."""
    every = list(pairs)
    edges = (0.0, 0.5, 0.8, 0.9, 0.97, 0.99, 1.01)
    table = []
    for low, high in pairwise(edges):
        part = [(sure, good) for sure, good in every if low <= sure < high]
        if part:
            table.append(
                {
                    "from": low,
                    "dice": len(part),
                    "stated": round(float(np.mean([s for s, _ in part])), 4),
                    "right": round(float(np.mean([g for _, g in part])), 4),
                }
            )
    return table


def measure(
    cases: Iterable[tuple[Case, Pixels]],
    read: Callable[[Pixels, tuple[DieColour, ...]], tuple[Reading, float]],
    on_each: Callable[[Case, Pixels, Reading, Outcome], None] | None = None,
) -> Tally:
    """Score many pictures; `read` gives a reading and the milliseconds it took."""
    tally = Tally()
    for case, pixels in cases:
        reading, spent_ms = read(pixels, case.in_play)
        outcome = score(case, reading)
        tally.outcomes.append(outcome)
        tally.elapsed_ms.append(spent_ms)
        if on_each is not None:
            on_each(case, pixels, reading, outcome)
    return tally


def pictures(folder: Path, size_wh: tuple[int, int] | None = None) -> Iterator[tuple[Case, Pixels]]:
    """The cases of a folder with their pixels, scaled to fit a size where one is given."""
    for case in load_cases(folder):
        pixels = load_picture(folder / case.name)
        if size_wh is not None:
            pixels, factor = shrunk(pixels, size_wh)
            case = scaled(case, factor)
        yield case, pixels
