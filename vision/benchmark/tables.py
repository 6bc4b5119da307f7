"""Reads throws of the same dice at the same table, with and without learning the dice there.

    python -m vision.benchmark.validation TABLES --split check --frames 240 --throws 8
    python -m vision.benchmark.tables TABLES

Prints one JSON object. Each roll is confirmed as it lies, as people at a table would.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

import cv2

from companion.engine.dice import COLOURED, DieColour, Roll
from vision.benchmark.scoring import score
from vision.benchmark.truth import Case, pictures
from vision.calibration.learning import FEWEST
from vision.calibration.reader import CalibratedReader
from vision.pipeline import DiceReader
from vision.reading import Frame


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
    here, reader, throw = -1, CalibratedReader(plain, None), 0
    for table, (case, pixels) in zip(tables, pictures(folder), strict=True):
        if table != here:
            here, reader, throw = table, CalibratedReader(plain, None), 0
        throw += 1
        frame = Frame(pixels)
        if throw > FEWEST and not case.faint:
            counts["throws"] += 1
            for name, reading in (
                ("plain", plain.read(frame, case.in_play)),
                ("learnt", reader.read(frame, case.in_play)),
            ):
                counts[f"{name}_{score(case, reading).verdict}"] += 1
        reader.learn(frame, roll_of(case))
    return dict(sorted(counts.items()))


def roll_of(case: Case) -> Roll:
    """The roll that lies in a picture of the game's six dice."""
    values = {die.colour: die.value or 0 for die in case.dice}
    white = [die.value or 0 for die in case.dice if die.colour == DieColour.WHITE.value]
    return Roll.of((white[0], white[1]), {colour: values[colour.value] for colour in COLOURED})


if __name__ == "__main__":
    main()
