"""Plays throws to the live table, frame by frame, with dice and tables that it has never seen.

    python -m vision.benchmark.live --tables 100 --looks FOLDER
    python -m vision.benchmark.live --tables 40 --mishap touching --looks FOLDER

Each table has six dice of its own. They are thrown, lie there, are confirmed and taken out by a
hand, several times. Prints one JSON object; `single` is what the last frame alone says, without
the tray before the throw and without the frames in between. A throw with a die that leans or lies
outside counts as special: whatever is offered of it is wrong.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import cv2
import numpy as np

from companion.engine.dice import ALL_DICE, Roll
from companion.tray import TrayStatus, TrayView
from vision.benchmark.frames import SHARES, case_of
from vision.benchmark.scoring import score
from vision.benchmark.tables import roll_of
from vision.benchmark.validation import described
from vision.pipeline import DiceReader
from vision.reading import Frame
from vision.simulation.appearance import log_uniform
from vision.simulation.camera import TAKE_UP_S, SimulatedTray
from vision.simulation.landing import MISHAPS
from vision.simulation.looks import SPLITS, Looks, load_looks, redressed
from vision.simulation.random_scenes import Recipe, random_scene
from vision.simulation.scene import Scene
from vision.tracking.tracker import Reader, TrayTracker

FPS = 15.0
SIZE_WH = (640, 480)
IN_TIME_S = 0.4
"""Seconds after the last rest within which a hand has not reached the button yet."""
WATCHED_S = 1.5
CONFIRMED_S = 0.5
"""Seconds that confirmed dice go on lying there."""
EMPTY_S = 0.6
_SEED = 20_261_130
"""Used for no other set."""

Views = list[tuple[float, TrayView]]


def main() -> None:
    """Parse the command line, play and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", choices=list(SPLITS), default="check")
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="number of the first table")
    parser.add_argument("--throws", type=int, default=6, help="at each table")
    parser.add_argument("--mishap", choices=MISHAPS, help="that befalls every throw")
    parser.add_argument("--looks", type=Path, help="a folder of photographs and rooms")
    asked = parser.parse_args()
    cv2.setNumThreads(1)
    looks, reader, tally = load_looks(asked.split, asked.looks), DiceReader(), Tally()
    for number in range(asked.first, asked.first + asked.tables):
        rng = np.random.default_rng((_SEED, number))
        scene = table_scene(rng, looks)
        play_table(reader, scene, asked.throws, number, tally, mishap=asked.mishap)
    print(json.dumps(tally.report()))


@dataclass(slots=True)
class Tally:
    """What became of the throws.

    Attributes:
        counts: By outcome: `in_time` offered right from IN_TIME_S on, `late` at the end, `named`
            and `silent` not; `wrong` if any wrong roll was offered, however shortly.
        single: Verdicts on the last frame of each.
        offered_s: Seconds from the last rest to each first right offer.
        again: Confirmed throws that were offered once more.
        special: Throws that may not be announced, and of how many something was offered.
        left_out: Throws whose dice a person could not read either.
        unread: Names of throws that were not offered right in time.
    """

    counts: Counter[str] = field(default_factory=Counter)
    single: Counter[str] = field(default_factory=Counter)
    offered_s: list[float] = field(default_factory=list)
    again: int = 0
    special: int = 0
    special_offered: int = 0
    left_out: int = 0
    unread: list[str] = field(default_factory=list)

    def add(self, name: str, roll: Roll, views: Views, alone: str) -> None:
        """Count a throw.

        Args:
            views: The table's, with the seconds since the last rest.
            alone: The verdict on the last frame read alone.
        """
        offered = [at_s for at_s, view in views if view.roll == roll]
        last = views[-1][1]
        if any(view.roll not in (None, roll) for _, view in views):
            outcome = "wrong"
        elif all(view.roll == roll for at_s, view in views if at_s >= IN_TIME_S):
            outcome = "in_time"
        elif last.roll == roll:
            outcome = "late"
        else:
            is_named = any(problem.colour is not None for problem in last.problems)
            outcome = "named" if is_named else "silent"
        if offered:
            self.offered_s.append(offered[0])
        self.counts[outcome] += 1
        self.single[alone] += 1
        if outcome != "in_time":
            self.unread.append(f"{name}: {outcome}, {last.status.value}, alone {alone}")

    def report(self) -> dict[str, Any]:
        """The object that is printed."""
        outcomes = ("in_time", "late", "named", "silent", "wrong")
        return {
            "throws": self.counts.total(),
            **{outcome: self.counts[outcome] for outcome in outcomes},
            "offered_again": self.again,
            "median_s": round(median(self.offered_s), 2) if self.offered_s else None,
            "single": dict(sorted(self.single.items())),
            "special": {"throws": self.special, "offered": self.special_offered},
            "left_out": self.left_out,
            "unread": self.unread,
        }


def table_scene(rng: np.random.Generator, looks: Looks) -> Scene:
    """A tray with the six dice of a game and nothing else, in looks of the split."""
    while True:
        share = log_uniform(rng, *SHARES)
        scene = random_scene(rng, Recipe(SIZE_WH, share))
        if len(scene.dice) == len(ALL_DICE) and case_of("", scene).expected is TrayStatus.OK:
            return redressed(rng, scene, looks)


def play_table(
    reader: Reader,
    scene: Scene,
    throws: int,
    seed: int,
    tally: Tally,
    *,
    mishap: str | None = None,
) -> None:
    """Throw the dice of a scene into its tray, again and again, and tally what is offered."""
    clock = _Clock()
    tray = SimulatedTray(seed=seed, fps=FPS, clock=clock, sleep=clock.sleep, scene=scene)
    table = _Table(tray, TrayTracker(reader, lambda: ALL_DICE))
    table.watch(EMPTY_S)
    for throw in range(throws):
        tray.throw(ALL_DICE, mishap=mishap)
        truth = case_of(f"{seed}/{throw}", tray.at_rest)
        views = table.watch(WATCHED_S, since_rest=True)
        is_readable = truth.expected is TrayStatus.OK
        if not is_readable:
            tally.special += 1
            tally.special_offered += any(view.roll for _, view in views)
        elif _is_faint(tray.at_rest, table.frame):
            tally.left_out += 1
        else:
            alone = score(truth, reader.read(table.frame, ALL_DICE)).verdict
            tally.add(truth.name, roll_of(truth), views, alone)
        if is_readable:
            table.tracker.on_confirmed(roll_of(truth))
            tally.again += any(view.roll for _, view in table.watch(CONFIRMED_S))
        tray.take_up()
        table.watch(TAKE_UP_S + EMPTY_S)


class _Table:
    """A tray and the tracker that watches it.

    Attributes:
        frame: The last one.
    """

    def __init__(self, tray: SimulatedTray, tracker: TrayTracker) -> None:
        self.tracker = tracker
        self._tray = tray
        self.frame = self._next()

    def _next(self) -> Frame:
        frame = self._tray.read()
        assert frame is not None
        return frame

    def watch(self, lasts_s: float, *, since_rest: bool = False) -> Views:
        """Take frames for a while, or for a while after the last die's rest; what they gave.

        Returns:
            The view after each frame, with its seconds since the last rest.
        """
        began_s, views = self.frame.captured_at_s, []
        while (
            self.frame.captured_at_s < (self._tray.rests_at_s if since_rest else began_s) + lasts_s
        ):
            self.frame = self._next()
            tracker = self.tracker
            tracker.update(tracker.read(tracker.measure_motion(self.frame)))
            views.append((self.frame.captured_at_s - self._tray.rests_at_s, tracker.view()))
        return views


class _Clock:
    """Stands still until somebody sleeps."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def _is_faint(scene: Scene, frame: Frame) -> bool:
    """Whether a pip is so pale that nobody can be sure of it."""
    return bool(described("", scene, frame.pixels)["glare_or_faint"])


if __name__ == "__main__":
    main()
