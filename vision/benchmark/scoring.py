"""Scores readings against truth files: how often right, how often unsure, how often a lie."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from companion.engine.dice import DieColour
from companion.tray import DieView, TrayStatus
from vision.benchmark.truth import Case, TrueDie
from vision.reading import Pixels, Reading

_NEAR = 0.6
"""A die seen belongs to a true one within this many die widths (photos/README of the set)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one reading did, and its dice.

    Attributes:
        verdict: exact, unsure, silently_wrong or not_announced; not_counted for a photo of which
            no label is sure.
        named: For a special frame, whether the status says which one it is.
        faint: Whether a person could not be sure either.
        values: (true, read) value of each counted die that was seen; likewise `colours`.
        sure: What was stated of each, and whether it came true.
        misread: The dice read wrong, in words.
        looks: Those of the case.
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
    faint: bool = False
    misread: tuple[str, ...] = ()
    looks: tuple[str, ...] = ()


@dataclass(slots=True)
class Tally:
    """The outcomes of many pictures and the milliseconds they took."""

    outcomes: list[Outcome] = field(default_factory=list)
    elapsed_ms: list[float] = field(default_factory=list)

    def report(self) -> dict[str, Any]:
        """The JSON object of `bench read`.

        A frame with a faint die counts only if it was announced wrong: nobody can be sure of it.
        """
        faint = [o for o in self.outcomes if o.faint and o.verdict in ("exact", "unsure")]
        left_out = {id(o) for o in faint}
        scored = [o for o in self.outcomes if o.verdict != "not_counted" and id(o) not in left_out]
        verdicts = Counter(o.verdict for o in scored)
        special = [o for o in scored if o.expected not in (None, TrayStatus.OK.value)]
        times = np.array(self.elapsed_ms or [0.0])
        ok = [o for o in scored if o.expected == TrayStatus.OK.value]
        return {
            "frames": len(scored),
            "exact": verdicts["exact"],
            "unsure": verdicts["unsure"],
            "silently_wrong": verdicts["silently_wrong"],
            "special": {"frames": len(special), "named": sum(o.named for o in special)},
            "dice": {
                "seen": sum(o.seen for o in scored),
                "right": sum(o.right for o in scored),
                "labelled": sum(o.dice for o in scored),
                "false": sum(o.false for o in scored),
            },
            "ms": {
                "median": round(float(np.median(times)), 2),
                "p95": round(float(np.percentile(times, 95)), 2),
            },
            "announced": sum(
                o.status == TrayStatus.OK.value and o.expected is not None for o in scored
            ),
            "not_announced": verdicts["not_announced"],
            "not_counted": len(self.outcomes) - len(scored) - len(faint),
            "announced_special": sum(o.status == TrayStatus.OK.value for o in special),
            "faint": {"frames": len(faint), "exact": sum(o.verdict == "exact" for o in faint)},
            "ok": {"frames": len(ok), "exact": sum(o.verdict == "exact" for o in ok)},
            "looks": _by_look(ok),
            "statuses": {
                f"{expected or 'photo'} as {status}": count
                for (expected, status), count in sorted(
                    Counter((o.expected, o.status) for o in scored).items(), key=str
                )
            },
            "values": _confusion(o.values for o in scored),
            "colours": _confusion(o.colours for o in scored),
            "reliability": _reliability(pair for o in scored for pair in o.sure),
            "wrong_files": [o.name for o in scored if o.verdict == "silently_wrong"],
            "unsure_files": [f"{o.name}: {o.status}" for o in scored if o.verdict == "unsure"],
            "unnamed_files": [
                f"{o.name}: {o.expected} as {o.status}"
                for o in scored
                if o.verdict == "not_announced" and not o.named
            ],
            "misread_files": [f"{o.name}: {', '.join(o.misread)}" for o in scored if o.misread],
        }


def score(case: Case, reading: Reading) -> Outcome:
    """Judge a reading by what is true."""
    found = _matched(case.dice, reading)
    counted = [n for n, die in enumerate(case.dice) if die.counted]
    values, colours, sure, misread = [], [], [], []
    for n in counted:
        true, number = case.dice[n], found.get(n)
        if number is None:
            misread.append(f"{_words(true)} not seen")
            continue
        die = reading.dice[number]
        good = _is_right(true, die)
        if not good:
            misread.append(f"{_words(true)} as {_words(die)}")
        values.append((true.value or 0, die.value))
        if true.colour is not None and true.colour in _COLOURS:
            colours.append((true.colour, _colour(die)))
            if die.value is not None and die.colour is not None:
                sure.append((die.confidence, good))
    false = len(reading.dice) - len(found)
    if case.expected is not None:
        verdict = _verdict(case, reading)
    elif not counted:
        verdict = "not_counted"
    else:
        verdict = "exact" if not misread else "unsure"
    return Outcome(
        case.name,
        verdict,
        case.expected.value if case.expected else None,
        reading.status.value,
        _named(case, reading),
        len(counted),
        len(values),
        len(counted) - len(misread),
        false,
        tuple(values),
        tuple(colours),
        tuple(sure),
        case.faint,
        tuple(misread),
        case.looks,
    )


_COLOURS = frozenset(colour.value for colour in DieColour)


def _is_right(true: TrueDie, die: DieView) -> bool:
    """Whether value and colour are right; a colour that the game has not is not asked for."""
    return die.value == true.value and (true.colour not in _COLOURS or _colour(die) == true.colour)


def _colour(die: DieView) -> str | None:
    return die.colour.value if die.colour else None


def _words(die: TrueDie | DieView) -> str:
    colour = die.colour.value if isinstance(die.colour, DieColour) else die.colour
    return f"{colour or 'unknown'} {die.value or '?'}"


def _matched(dice: Sequence[TrueDie], reading: Reading) -> dict[int, int]:
    """True die to die seen: each seen die goes to the nearest true one that it lies on."""
    pairs = []
    for m, die in enumerate(reading.dice):
        for n, true in enumerate(dice):
            gap = float(np.hypot(*(np.subtract(die.centre_xy, true.centre_xy))))
            x, y = die.centre_xy
            box = true.box
            on_it = box[0] <= x <= box[2] and box[1] <= y <= box[3] if box else False
            if on_it or gap < _NEAR * (true.edge_px or die.edge_px):
                pairs.append((gap, n, m))
    found: dict[int, int] = {}
    for _, n, m in sorted(pairs):
        if n not in found and m not in found.values():
            found[n] = m
    return found


def _right_roll(case: Case, reading: Reading) -> bool:
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


def _verdict(case: Case, reading: Reading) -> str:
    if reading.status is TrayStatus.OK:
        fine = case.expected is TrayStatus.OK or case.readable
        return "exact" if fine and _right_roll(case, reading) else "silently_wrong"
    return "unsure" if case.expected is TrayStatus.OK else "not_announced"


def _named(case: Case, reading: Reading) -> bool:
    if case.expected is None or case.expected is TrayStatus.OK:
        return False
    if reading.status is TrayStatus.OK:
        return case.readable and _right_roll(case, reading)
    return reading.status is case.expected


def _by_look(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """How many frames have each look, and how many of them are read exactly."""
    frames = Counter(look for o in outcomes for look in o.looks)
    exact = Counter(look for o in outcomes if o.verdict == "exact" for look in o.looks)
    return {look: {"frames": n, "exact": exact[look]} for look, n in sorted(frames.items())}


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
