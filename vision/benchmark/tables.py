"""Reads throws of the same dice at the same table: plainly, with the dice learnt there, and set up.

    python -m vision.benchmark.validation TABLES --split check --frames 240 --throws 8
    python -m vision.benchmark.tables TABLES

Prints one JSON object. Each roll is confirmed as it lies, as people at a table would. The set-up
measures the dice and the white balance in the first throw that shows it all six; people say which
colour each die plays. Only throws after the first three count.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import replace
from itertools import groupby
from math import dist
from operator import itemgetter
from pathlib import Path

import cv2

from companion.engine.dice import COLOURED, DieColour, Roll
from companion.errors import CalibrationError
from vision.benchmark.scoring import score
from vision.benchmark.truth import Case, pictures
from vision.calibration.calibration import Calibration
from vision.calibration.learning import FEWEST
from vision.calibration.reader import CalibratedReader
from vision.pipeline import DiceReader
from vision.reading import Frame
from vision.setup.measure import known_dice, measured_dice


def main() -> None:
    """Parse the command line, read and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    cv2.setNumThreads(1)
    print(json.dumps(measure_tables(parser.parse_args().folder)))


def measure_tables(folder: Path) -> dict[str, int]:
    """Count the throws after the first three of each table that are read exactly and wrong."""
    lines = (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()
    tables = [int(json.loads(line)["table"]) for line in lines]
    plain, counts = DiceReader(), Counter(throws=0)
    throws = zip(tables, pictures(folder), strict=True)
    for _, table in groupby(throws, key=itemgetter(0)):
        learning, set_up = CalibratedReader(plain, None), CalibratedReader(plain, None)
        for number, (_, (case, pixels)) in enumerate(table):
            frame = Frame(pixels)
            if number >= FEWEST and not case.faint:
                counts["throws"] += 1
                for name, reading in (
                    ("plain", plain.read(frame, case.in_play)),
                    ("learnt", learning.read(frame, case.in_play)),
                    ("set_up", set_up.read(frame, case.in_play)),
                ):
                    counts[f"{name}_{score(case, reading).verdict}"] += 1
            if set_up.calibration is None:
                set_up.use(_set_up(frame, case))
            for reader in (learning, set_up):
                reader.learn(frame, roll_of(case))
    return dict(sorted(counts.items()))


def _set_up(frame: Frame, case: Case) -> Calibration | None:
    """What the set-up keeps of a picture; None if it does not see six dice there."""
    kept = Calibration((frame.pixels.shape[1], frame.pixels.shape[0]))
    try:
        shown, gains = measured_dice(frame, kept)
    except CalibrationError:
        return None
    plays = [
        DieColour(min(case.dice, key=lambda true: dist(true.centre_xy, die.centre_xy)).colour)
        for die in shown
    ]
    return replace(kept, dice=known_dice(shown, plays), white_balance_bgr=gains)


def roll_of(case: Case) -> Roll:
    """The roll that lies in a picture of the game's six dice."""
    values = {die.colour: die.value or 0 for die in case.dice}
    white = [die.value or 0 for die in case.dice if die.colour == DieColour.WHITE.value]
    return Roll.of((white[0], white[1]), {colour: values[colour.value] for colour in COLOURED})


if __name__ == "__main__":
    main()
