"""Break each ruling in turn in a copy of the engine: the engine's tests must notice.

Every mutant runs the tables of rulings, so all of this is slow.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.slow


class Mutant(NamedTuple):
    """A line of one engine module and its broken replacement."""

    rulings: str
    module: str
    before: str
    after: str


GAME, STATE, CLOSING = "game", "state", "closing"
JUDGING, SHEET, DICE = "judging", "sheet", "dice"

MUTANTS = [
    Mutant("E1", GAME, "if action != ACTION_OF[state.phase] or action == 0:", "if action == 0:"),
    Mutant(
        "E2 white sum",
        STATE,
        "offer = plan.white_bits[roll.white_sum]",
        "offer = -1",
    ),
    Mutant("E2 one white die", STATE, "of_colour[low + value] | ", ""),
    Mutant("E2 other white die", STATE, " | of_colour[high + value]", ""),
    Mutant("E3", JUDGING, "if isinstance(choice, (list, tuple)):", "if False:"),
    Mutant("E4", GAME, "if action == 2 and player != state.active:", "if False:"),
    Mutant("E4 offer", STATE, "legal = [0] * players", "legal = [boxes] * players"),
    Mutant("E5 action 1", CLOSING, "if not state.marked and not answers", "if not answers"),
    Mutant(
        "E5 action 2",
        CLOSING,
        "not state.marked and not answers[active]",
        "not state.marked",
    ),
    Mutant("E6 ruling", JUDGING, "if last & position.marked:", "if False:"),
    Mutant("E7", JUDGING, "if own & bit:", "if False:"),
    Mutant(
        "E8 active",
        GAME,
        "            return refuse(Reason.MISS_NOT_ACTIVE",
        "            pass; refuse(Reason.MISS_NOT_ACTIVE",
    ),
    Mutant("E8 due", GAME, "if action == 1 or state.marked:", "if False:"),
    Mutant(
        "E9 ruling",
        GAME,
        "late = action == 1 and state.phase in",
        "late = False and state.phase in",
    ),
    Mutant("E10 open", SHEET, "crosses.bit_count() < self.crosses_before_lock", "False"),
    Mutant("E10 five", SHEET, "crosses_before_lock: int = 5", "crosses_before_lock: int = 4"),
    Mutant("E10 reason", JUDGING, "own.bit_count() < plan.crosses_before_lock", "False"),
    Mutant(
        "E12 lock",
        SHEET,
        "return bit | self.lock_bits[self.row_of(bit)] if bit & self.last_boxes else bit",
        "return bit",
    ),
    Mutant(
        "E12 alone",
        JUDGING,
        "if text == LOCK_SUFFIX and row is not None and row.lock is not None:",
        "if False:",
    ),
    Mutant(
        "E13", CLOSING, "players, die = tuple(closers[r])", "players, die = tuple(closers[r][:1])"
    ),
    Mutant("E14 shut", CLOSING, "        shut = shut_bits(plan, closed)\n", "        shut = 0\n"),
    Mutant("E14 die", STATE, "        if colour in dice:", "        if True:"),
    Mutant(
        "E14 dice",
        STATE,
        "return tuple(colour for colour in plan.dice if colour not in gone)",
        "return plan.dice",
    ),
    Mutant("E14/E15 ruling", JUDGING, '"E14" if position.closed[r] == 1 else "E15"', '"E14"'),
    Mutant("E14 reason", JUDGING, "    if r in position.closed:", "    if False:"),
    Mutant("E17", CLOSING, "for r in sorted(closers):", "for r in sorted(closers)[:1]:"),
    Mutant(
        "E18", CLOSING, "over = len(state.closed) >= setup.plan.rows_to_end and", "over = False and"
    ),
    Mutant(
        "E20 locks",
        CLOSING,
        "if len(state.closed) >= setup.plan.rows_to_end else None",
        "if False else None",
    ),
    Mutant("E18 two", SHEET, "rows_to_end: int = 2", "rows_to_end: int = 3"),
    Mutant("E20 misses", SHEET, "misses: int = 4", "misses: int = 3"),
    Mutant("E18 ruling", STATE, "rows_to_end - 1].action == 2:", "rows_to_end - 1].action:"),
    Mutant("E20 ruling", STATE, "if self.end is End.MISSES or", "if"),
    Mutant("E20 at once", CLOSING, "        if count >= setup.plan.misses:", "        if False:"),
    Mutant(
        "E21", CLOSING, "if count >= setup.plan.misses:", "if sum(misses) >= setup.plan.misses:"
    ),
    Mutant("E22", STATE, "1 + sum(other > own for", "1 + sum(other >= own for"),
    Mutant("E23", SHEET, "crosses * (crosses + 1) // 2", "crosses * (crosses - 1) // 2"),
    Mutant("E24", SHEET, "return found & opened & ~closed_bits", "return found & ~closed_bits"),
    Mutant(
        "E24 reason",
        JUDGING,
        "if row.is_bonus and not plan.neighbours",
        "if False and not plan.neighbours",
    ),
    Mutant(
        "E25 own",
        STATE,
        "for bit in each_bit(found & opening(setup, crosses, marked))",
        "for bit in each_bit(found)",
    ),
    Mutant(
        "E25 opens",
        STATE,
        "            found |= plan.bonus_bits.get(bit, 0)",
        "            pass",
    ),
    Mutant(
        "E25 reason",
        JUDGING,
        "        if makers:\n            return refuse(\n                Reason.BONUS_WRONG_DIE",
        "        if False:\n            return refuse(\n                Reason.BONUS_WRONG_DIE",
    ),
    Mutant("E28 ruling", JUDGING, '"E28" if row.is_bonus else "E41"', '"E41"'),
    Mutant(
        "E29",
        SHEET,
        "for crosses in range(1 << self.width):\n                open_boxes = ((1",
        "for crosses in range(1 << self.width):\n                open_boxes = 0 + ((1",
    ),
    Mutant("E31", SHEET, "& ~closed_bits\n\n", "& ~(closed_bits << 12 | closed_bits)\n\n"),
    Mutant("E34 both", SHEET, "if row.key in other.beside:", "if other.beside[:1] == (row.key,):"),
    Mutant("E34 most", SHEET, "count = min(count, self.most_scored)", "count = count"),
    Mutant(
        "E35",
        SHEET,
        "tuple(Box(n, None) for n in numbers), beside=beside)",
        "tuple(Box(n, None) for n in numbers), lock=DieColour.RED, beside=beside)",
    ),
    Mutant(
        "E36",
        DICE,
        "tuple(sorted({self.white[0] + value, self.white[1] + value}))",
        "(self.white[0] + value, self.white[1] + value)",
    ),
    Mutant("E40", STATE, "MOST_PLAYERS = 5", "MOST_PLAYERS = 6"),
    Mutant("E41", SHEET, "& ~((1 << crosses.bit_length()) - 1)", "& ~crosses"),
    Mutant("E41 reason", JUDGING, "    if own > bit:", "    if False:"),
    Mutant("E42", "variants", "_DOWN = range(12, 1, -1)", "_DOWN = range(2, 13)"),
    Mutant("E43", SHEET, "miss_points: int = 5", "miss_points: int = 4"),
    Mutant(
        "E44",
        "state",
        "player = (self.active + 1) % self.setup.players",
        "player = (self.active - 1) % self.setup.players",
    ),
    Mutant("E45 pips", JUDGING, " and value in _FACES", ""),
    Mutant(
        "E45 dice",
        JUDGING,
        "is_roll and colour in dice and",
        "is_roll and",
    ),
    Mutant("E46", GAME, "facts.append(WouldClose(", "list().append(WouldClose("),
    Mutant("E46 back", GAME, "facts.append(ClosingTakenBack(", "list().append(ClosingTakenBack("),
]

NO_CHANGE = {"E29"}
"""A mutant without an effect: it proves that a surviving mutant is detected."""


def broken(mutant: Mutant, folder: Path) -> Path:
    """A copy of the companion with one ruling broken."""
    target = folder / "companion"
    shutil.copytree(ROOT / "companion", target, ignore=shutil.ignore_patterns("__pycache__"))
    path = target / "engine" / f"{mutant.module}.py"
    source = path.read_text()
    assert source.count(mutant.before) == 1, (
        f"{mutant.rulings}: found {source.count(mutant.before)}"
    )
    path.write_text(source.replace(mutant.before, mutant.after))
    shutil.copytree(
        ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__", "images")
    )
    return folder


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.rulings.replace(" ", "-"))
def test_a_broken_ruling_is_noticed(mutant: Mutant, tmp_path: Path) -> None:
    folder = broken(mutant, tmp_path)
    options = ["-x", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", "."]
    options += ["--hypothesis-profile", "no shrinking"]
    left_out = ["test_mutants.py", "test_traces.py"]
    ignored = [f"--ignore=tests/engine/{name}" for name in left_out]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *ignored, "tests/engine"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    survived = result.returncode == 0
    assert survived is (mutant.rulings in NO_CHANGE), result.stdout[-2000:]
    assert result.returncode in (0, 1), result.stdout[-2000:] + result.stderr[-2000:]


def test_every_mutant_still_fits_the_source() -> None:
    for mutant in MUTANTS:
        source = (ROOT / "companion" / "engine" / f"{mutant.module}.py").read_text()
        assert source.count(mutant.before) == 1, mutant.rulings
