"""The simulated tray: a camera over a drawn tray, and dice that it throws itself.

It delivers only pictures. They are read like those of a real camera, so a throw can be misread here
as well.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import cv2
import numpy as np

from companion.engine.dice import ALL_DICE, DieColour
from companion.errors import CameraUnavailable
from companion.tray import Note
from vision.cameras.camera import CameraKind
from vision.cameras.pace import Clock, Pace, Sleep
from vision.reading import Frame, Pixels
from vision.simulation.appearance import pick
from vision.simulation.default_tray import default_die, default_tray
from vision.simulation.geometry import turned
from vision.simulation.landing import MISHAPS
from vision.simulation.lens import expose
from vision.simulation.render_dice import draw_dice
from vision.simulation.render_objects import draw_things
from vision.simulation.render_tray import draw_background
from vision.simulation.scene import Background, Camera, Die, Floats, Scene, Thing
from vision.simulation.tumble import Throw, draw_throw

SHUTTER_S = 1.0 / 50.0
"""Seconds the simulated shutter is open: dice in flight are streaked over half their size."""

CAMERA_HEIGHT_MM = 330.0
"""Height of the camera; lower down, dice near the wall show so much of their sides that flat ones
look tilted."""

STILLS = 5
"""Exposures of the same light that are shown in turn at rest; they differ by their noise."""

HAND_S = 3.0
"""Seconds the hand of the mishap "hand" stays in the tray after the dice rest."""

TAKE_UP_S = 0.8
"""Seconds from a hand's first finger over the tray to its last, while it takes the dice out."""

HAND_REACH_MM = 260.0
"""Way of that hand from beside the tray to the dice."""

HAND = "hand"

ALL_MISHAPS = (*MISHAPS, HAND)
"""Ways in which a throw can go wrong."""

TROUBLES = ("light", "nudge", "dark", "block", "freeze", "slow", "unplug")
"""Disturbances of camera and tray: a lamp that is switched and a die that is nudged stay so, the
others pass after TROUBLE_S."""

TROUBLE_S = 8.0

LAMP_GAIN = (1.35, 1.5, 1.65)
"""Gain of the lamp that "light" switches: brighter and warmer."""

SLOW_FPS = 2.0


class SimulatedTray:
    """A tray with a camera above; throws dice on request.

    It starts empty. Time is that of the frames, so every throw plays the same under a test's clock.
    """

    kind = CameraKind.SIMULATED
    controls: Mapping[str, float] = MappingProxyType({})
    notes: tuple[Note, ...] = ()

    def __init__(
        self,
        *,
        seed: int | None = None,
        size_wh: tuple[int, int] = (640, 480),
        fps: float = 15.0,
        clock: Clock = time.monotonic,
        sleep: Sleep = time.sleep,
        scene: Scene | None = None,
        ground: Background | None = None,
    ) -> None:
        """Draw the empty tray (under a second on a laptop).

        Args:
            seed: Makes the n-th throw of the same dice the same; unset, no two runs are alike.
            scene: Camera, tray, lamps and the dice to throw; plain dice in a felt tray of
                `size_wh` unless given.
            ground: The empty tray of `scene`, drawn unless given.
        """
        self.source = "simulated"
        self.description = "simulated tray"
        self._seed = (secrets.randbits(64) if seed is None else seed) % (1 << 64)
        self._throws = 0
        self._pace = Pace(fps, clock=clock, sleep=sleep)
        self._slow_pace = Pace(SLOW_FPS, clock=clock, sleep=sleep)
        self._trouble: str | None = None
        self._trouble_until_s = 0.0
        self._clock = clock
        self._is_lamp_on = False
        self._nudges = 0
        self._last: Pixels | None = None
        table = scene or _seen_from_high(default_tray(size_wh))
        self._set = table.dice or tuple(default_die(colour) for colour in ALL_DICE)
        self._empty = replace(table, dice=(), things=())
        self._ground: Background = ground or draw_background(self._empty)
        self._throw: Throw | None = None
        self._is_taken_up = False
        self._hand: Thing | None = None
        self._began_s: float | None = None
        self._noise = np.random.default_rng(0)
        self._still_of: object = None
        self._light: Floats | None = None
        self._stills: list[Pixels] = []
        self._last_still = -1

    @property
    def is_silent(self) -> bool:
        """Whether it is unplugged at present."""
        return self._trouble == "unplug" and self._clock() < self._trouble_until_s

    def read(self) -> Frame | None:
        """Return the next frame.

        Raises:
            CameraUnavailable: It is unplugged; `plugged_in` restores it.
        """
        if self.is_silent:
            raise CameraUnavailable("camera 'simulated': unplugged, as it was told")
        trouble = self._trouble if self._clock() < self._trouble_until_s else None
        at_s = (self._slow_pace if trouble == "slow" else self._pace).wait()
        if trouble != "freeze" or self._last is None:
            self._last = self._spoilt(self._picture(at_s), trouble)
        return Frame(self._last, at_s)

    def trouble(self, name: str) -> None:
        """Cause one of TROUBLES from the next frame on.

        Raises:
            CameraUnavailable: There is no such disturbance.
        """
        if name not in TROUBLES:
            known = ", ".join(TROUBLES)
            raise CameraUnavailable(f"simulated tray: expected one of {known}, got {name!r}")
        if name == "light":
            self._is_lamp_on = not self._is_lamp_on
        elif name == "nudge":
            self._nudge()
        else:
            self._trouble, self._trouble_until_s = name, self._clock() + TROUBLE_S

    def plugged_in(self) -> SimulatedTray:
        """Return the tray with its dice, once it is plugged in.

        Raises:
            CameraUnavailable: It is still unplugged.
        """
        if self.is_silent:
            raise CameraUnavailable("camera 'simulated': is still unplugged")
        return self

    def throw(self, in_play: Sequence[DieColour], *, mishap: str | None = None) -> None:
        """Take up the dice and throw those in play; they roll while frames are read.

        Args:
            mishap: cocked, off, touching or hand makes this throw go wrong in that way.
        Raises:
            CameraUnavailable: There is no such mishap.
        """
        if mishap is not None and mishap not in ALL_MISHAPS:
            known = ", ".join(ALL_MISHAPS)
            raise CameraUnavailable(f"simulated tray: expected a mishap of {known}, got {mishap!r}")
        self._throws += 1
        # The seed and the count make the throw, whatever was drawn in between.
        rng = np.random.default_rng([self._seed, self._throws])
        wrong = None if mishap == HAND else mishap
        thrown = [die for die in self._set if die.colour in in_play]
        self._throw = draw_throw(rng, thrown, self._empty.tray, mishap=wrong)
        self._hand = _hand(rng, self._throw) if mishap == HAND else None
        self._began_s, self._is_taken_up = None, False

    def take_up(self) -> None:
        """Let a hand take the dice out; it reaches in and is gone within TAKE_UP_S."""
        self._began_s, self._is_taken_up = None, True

    @property
    def at_rest(self) -> Scene:
        """The tray as the dice will lie, or lie; empty without a throw."""
        if self._throw is None or self._is_taken_up:
            return self._empty
        return replace(self._empty, dice=self._throw.at_rest)

    @property
    def rests_at_s(self) -> float:
        """Frame time at which the last die comes to rest; infinite without a throw in sight."""
        if self._throw is None or self._began_s is None or self._is_taken_up:
            return math.inf
        return self._began_s + self._throw.rests_s

    def close(self) -> None:
        """Do nothing: no device is open."""

    def _nudge(self) -> None:
        """Turn a die at rest a little."""
        if self._throw is None or not self._throw.ways:
            return
        self._nudges += 1
        which = self._nudges % len(self._throw.ways)
        ways = list(self._throw.ways)
        rest = ways[which].rest
        x, y, z = rest.position_mm
        turned_rest = replace(
            rest,
            rotation=turned(rest.rotation, (0.0, 0.0, 0.35)),
            position_mm=(x + 1.5, y, z),
        )
        ways[which] = replace(ways[which], rest=turned_rest)
        self._throw = replace(self._throw, ways=tuple(ways))

    def _spoilt(self, pixels: Pixels, trouble: str | None) -> Pixels:
        if self._is_lamp_on:
            pixels = np.clip(pixels * np.array(LAMP_GAIN), 0, 255).astype(np.uint8)
        if trouble not in ("dark", "block"):
            return pixels
        height, width = pixels.shape[:2]
        colour = (0.0, 0.0, 0.0) if trouble == "dark" else (12.0, 16.0, 40.0)
        noise = self._noise.normal(0.0, 1.5, (height // 4, width // 4, 3)) + np.array(colour)
        covered = cv2.resize(np.clip(noise, 0, 255).astype(np.uint8), (width, height))
        return np.asarray(covered, np.uint8)

    def _picture(self, at_s: float) -> Pixels:
        if self._throw is None:
            return self._still("empty", self._empty)
        if self._began_s is None:
            self._began_s = at_s
        time_s = at_s - self._began_s
        throw = self._throw
        if self._is_taken_up:
            return self._taking_up(throw, time_s)
        if time_s >= throw.rests_s:
            hand = self._hand if time_s < throw.rests_s + HAND_S else None
            scene = replace(self._empty, dice=throw.at_rest, things=(hand,) if hand else ())
            return self._still((self._throws, self._nudges, hand is None), scene)
        return self._moving(throw, time_s)

    def _taking_up(self, throw: Throw, time_s: float) -> Pixels:
        """Draw the hand on its way in and, with the dice, out again."""
        if time_s >= TAKE_UP_S or not throw.ways:
            return self._still("empty", self._empty)
        hand = _hand(np.random.default_rng([self._seed, self._throws]), throw)
        away_mm = HAND_REACH_MM * abs(2.0 * time_s / TAKE_UP_S - 1.0)
        angle = math.radians(hand.angle_deg)
        x, y = hand.position_mm
        there = (x - away_mm * math.cos(angle), y - away_mm * math.sin(angle))
        dice = throw.at_rest if time_s < TAKE_UP_S / 2 else ()
        scene = replace(self._empty, dice=dice, things=(replace(hand, position_mm=there),))
        return self._still((self._throws, time_s), scene)

    def _moving(self, throw: Throw, time_s: float) -> Pixels:
        """Draw dice in flight: sharp at first, then streaked along their way."""
        now = throw.dice_at(time_s)
        there = tuple(die for die in now if die is not None)
        if not there:
            return self._still("empty", self._empty)
        scene = replace(self._empty, dice=there)
        light = draw_dice(scene, self._ground)
        sooner = throw.dice_at(time_s - SHUTTER_S / 2)
        later = throw.dice_at(time_s + SHUTTER_S / 2)
        for before, die, after in zip(sooner, now, later, strict=True):
            if before is not None and die is not None and after is not None:
                _streak(scene, light, die, before, after)
        return self._expose(light, scene)

    def _still(self, of: object, scene: Scene) -> Pixels:
        """One of a few exposures of the same light, never the same twice in a row."""
        if of != self._still_of:
            light = draw_dice(scene, self._ground)
            self._light = draw_things(scene, light) if scene.things else light
            self._still_of, self._stills, self._last_still = of, [], -1
        if len(self._stills) < STILLS:
            assert self._light is not None
            self._stills.append(self._expose(self._light, scene))
            self._last_still = len(self._stills) - 1
            if len(self._stills) == STILLS:
                self._light = None
        else:
            step = 1 + int(self._noise.integers(STILLS - 1))
            self._last_still = (self._last_still + step) % STILLS
        return self._stills[self._last_still]

    def _expose(self, light: Floats, scene: Scene) -> Pixels:
        seed = int(self._noise.integers(1 << 30))
        return expose(light, replace(scene.lens, seed=seed))


def _seen_from_high(scene: Scene) -> Scene:
    """Return the scene with a higher camera, which sees less of the sides of dice near the wall."""
    width = scene.camera.size_wh[0]
    camera = Camera.above(
        scene.camera.size_wh,
        1.05 * width * CAMERA_HEIGHT_MM / 252.0,
        CAMERA_HEIGHT_MM,
        tilt_deg=4.0,
        look_at_mm=(0.0, -1.0),
    )
    return replace(scene, camera=camera)


def _streak(scene: Scene, light: Floats, die: Die, before: Die, after: Die) -> None:
    """Blur a die in linear light along its way during the exposure, in place."""
    ends = scene.camera.project(np.array([before.position_mm, after.position_mm]))
    way = ends[1] - ends[0]
    middle = scene.camera.project(np.array([die.position_mm]))[0]
    near_mm = scene.camera.position_mm[2] - die.position_mm[2]
    edge_px = scene.camera.focal_px * die.size_mm / near_mm
    spun = _turn_between(before, after) * edge_px / 2.0
    length = float(np.hypot(*way))
    if length < 0.7 and spun < 0.7:
        return
    reach = int(0.95 * edge_px + length / 2) + 4
    height, width = light.shape[:2]
    x, y = round(float(middle[0])), round(float(middle[1]))
    rows = slice(max(0, y - reach), min(height, y + reach + 1))
    columns = slice(max(0, x - reach), min(width, x + reach + 1))
    if rows.stop <= rows.start or columns.stop <= columns.start:
        return
    sharp = light[rows, columns]
    soft = cv2.filter2D(sharp, -1, _line_kernel(way), borderType=cv2.BORDER_REPLICATE)
    if spun > 0.7:
        soft = cv2.GaussianBlur(soft, (0, 0), 0.22 * spun)
    mask = np.zeros(sharp.shape[:2], np.float32)
    offset = np.array([columns.start, rows.start])
    one, two = (tuple(int(v) for v in np.round(end - offset)) for end in ends)
    cv2.line(mask, (one[0], one[1]), (two[0], two[1]), 1.0, max(1, int(1.55 * edge_px)))
    share = cv2.GaussianBlur(mask, (0, 0), max(1.0, 0.08 * edge_px))[..., None]
    light[rows, columns] = sharp + (soft - sharp) * share


def _turn_between(before: Die, after: Die) -> float:
    """The angle in radians between two poses."""
    trace = float(np.sum(np.asarray(before.rotation) * np.asarray(after.rotation)))
    return float(np.arccos(np.clip((trace - 1.0) / 2.0, -1.0, 1.0)))


def _line_kernel(way: Floats) -> Floats:
    """Kernel that spreads a point evenly over a way in pixels."""
    half = int(np.ceil(np.abs(way).max() / 2)) + 1
    kernel = np.zeros((2 * half + 1, 2 * half + 1), np.float32)
    steps = max(2, int(2 * np.hypot(*way)) + 1)
    for share in np.linspace(-0.5, 0.5, steps):
        x, y = half + way[0] * share, half + way[1] * share
        kernel[round(float(y)), round(float(x))] += 1.0
    return np.asarray(cv2.GaussianBlur(kernel, (3, 3), 0) / kernel.sum(), np.float32)


def _hand(rng: np.random.Generator, throw: Throw) -> Thing:
    """A hand that has come to rest over one of the dice."""
    x, y, _ = pick(rng, throw.at_rest).position_mm
    return Thing("hand", (x, y), float(rng.uniform(60.0, 120.0)), 80.0, (0.2, 0.32, 0.55), 30.0, 7)
