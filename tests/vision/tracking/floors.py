"""Trays with printed floors, and throws into them played frame by frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import cv2
import numpy as np

from companion.engine.dice import ALL_DICE, Roll
from companion.tray import TrayView
from tests.vision.tray_fakes import FakeClock, step
from vision.benchmark.frames import case_of
from vision.benchmark.tables import roll_of
from vision.simulation.camera import SimulatedTray
from vision.simulation.default_tray import default_tray
from vision.simulation.render_tray import draw_background
from vision.simulation.scene import Background, Camera, Floats, Scene, Surface
from vision.tracking.tracker import Reader, TrayTracker

FPS = 15.0
SIZE_WH = (640, 480)
PALE = (0.34, 0.40, 0.44)


def spotted(print_: Floats) -> None:
    """Dark dots of a pip's size and larger, in rows and alone."""
    rng = np.random.default_rng(5)
    height, width = print_.shape[:2]
    for _ in range(70):
        x, y = int(rng.integers(width)), int(rng.integers(height))
        cv2.circle(print_, (x, y), int(rng.integers(3, 7)), (0.12, 0.12, 0.14), -1, cv2.LINE_AA)


def striped(print_: Floats) -> None:
    """Bands in the colours of the dice."""
    tones = ((0.15, 0.15, 0.55), (0.9, 0.9, 0.9), (0.5, 0.25, 0.1), (0.15, 0.6, 0.7))
    for n, x in enumerate(range(0, print_.shape[1], 46)):
        print_[:, x : x + 18] *= np.array(tones[n % len(tones)], np.float32) / 0.6


def printed(print_: Floats) -> None:
    """Letters, and the picture of a die."""
    letters = np.zeros(print_.shape[:2], np.uint8)
    cv2.putText(letters, "QWIXX", (150, 140), cv2.FONT_HERSHEY_DUPLEX, 2.4, 255, 6)
    cv2.putText(letters, "13 : 7", (330, 400), cv2.FONT_HERSHEY_DUPLEX, 1.6, 255, 5)
    print_[letters > 127] = (0.1, 0.1, 0.3)
    picture_of_die(print_, (190, 330), 42, (2.2, 2.0, 1.9))
    picture_of_die(print_, (430, 210), 42, (0.16, 0.16, 1.0))


def picture_of_die(
    print_: Floats, middle: tuple[int, int], edge: int, face: tuple[float, float, float]
) -> None:
    """A printed square with four dots."""
    x, y, half = *middle, edge // 2
    cv2.rectangle(print_, (x - half, y - half), (x + half, y + half), face, -1)
    for dx in (-1, 1):
        for dy in (-1, 1):
            where = (x + dx * edge // 4, y + dy * edge // 4)
            cv2.circle(print_, where, edge // 10, (0.08, 0.08, 0.08), -1, cv2.LINE_AA)


FLOORS: dict[str, Callable[[Floats], None]] = {
    "spotted": spotted,
    "striped": striped,
    "printed": printed,
}


def printed_tray(draw: Callable[[Floats], None]) -> tuple[Scene, Background]:
    """A tray of pale felt with a print on its floor, seen from high above."""
    scene = default_tray(SIZE_WH)
    camera = Camera.above(SIZE_WH, 1.05 * 640 * 330.0 / 252.0, 330.0, tilt_deg=4.0)
    tray = replace(scene.tray, floor=Surface("felt", PALE, seed=3))
    scene = replace(scene, camera=camera, tray=tray)
    ground = draw_background(scene)
    ink = np.ones((SIZE_WH[1], SIZE_WH[0], 3), np.float32)
    draw(ink)
    outline = np.c_[np.array(scene.tray.outline_mm), np.zeros(len(scene.tray.outline_mm))]
    inside = np.zeros(ink.shape[:2], np.uint8)
    cv2.fillPoly(inside, [np.round(camera.project(outline)).astype(np.int32)], 1)
    share = np.where(cv2.erode(inside, np.ones((5, 5), np.uint8))[..., None] > 0, ink, 1.0)
    return scene, Background(
        np.asarray(ground.ambient * share, np.float32),
        tuple(np.asarray(lamp * share, np.float32) for lamp in ground.lamps),
    )


@dataclass(frozen=True)
class Played:
    """A throw as the table saw it.

    Attributes:
        roll: The values of the dice.
        views: Every view after the throw began, with its time after the last die's rest.
    """

    roll: Roll
    views: list[tuple[float, TrayView]]

    @property
    def at_deadline(self) -> TrayView:
        """The view 0.4 s after the last rest."""
        return [view for at_s, view in self.views if at_s <= 0.4 + 1e-6][-1]

    @property
    def wrong(self) -> list[Roll]:
        """Offered rolls that the dice do not show."""
        return [view.roll for _, view in self.views if view.roll not in (None, self.roll)]


def play_throw(
    reader: Reader, floor: tuple[Scene, Background], seed: int, *, sees_the_throw: bool
) -> Played:
    """Show an empty tray, throw six dice into it and watch until they have lain for a while.

    Args:
        sees_the_throw: Whether the tracker watches from the empty tray on; else it begins when
            the dice already lie there.
    """
    clock = FakeClock()
    tray = SimulatedTray(
        seed=seed, fps=FPS, clock=clock, sleep=clock.sleep, scene=floor[0], ground=floor[1]
    )
    tracker = TrayTracker(reader, lambda: ALL_DICE)
    for _ in range(10):
        frame = tray.read()
        if frame is not None and sees_the_throw:
            step(tracker, frame)
    tray.throw(ALL_DICE)
    views = []
    while (frame := tray.read()) is not None:
        since_rest_s = frame.captured_at_s - tray.rests_at_s
        if since_rest_s > 0.9:
            break
        if sees_the_throw or since_rest_s > -1.0 / FPS:
            step(tracker, frame)
            views.append((since_rest_s, tracker.view()))
    return Played(roll_of(case_of("", tray.at_rest)), views)
