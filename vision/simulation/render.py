"""Draws dice in a tray as a camera above sees them, with the exact truth beside the picture.

A scene is a plain value and drawing it is a pure function: the simulated tray, the tests and the
training generator use the same code. Lengths are millimetres in a right-handed world: the tray's
floor is the plane z = 0, x runs right and y up in the default picture, z towards the camera.
Colours are linear light (reflectance 0.0 to 1.0), channels blue, green, red like the pixels.

    scene = replace(default_tray(), dice=(...))   # a beautiful tray, dice at rest
    ground = draw_background(scene)              # the empty tray, drawn once per tray and light
    pixels = render(scene, ground)               # (H, W, 3) uint8 BGR; dice, shadows, lens
    facts = truth(scene)                         # per die: value, corners, centre, cocked ...
    later = replace(scene, dice=(...))           # other dice over the same `ground`

`draw_background` reads camera, tray and light only; `things`, `dice` and `lens` may change freely
between calls that share one. A die with a `motion` is blurred over its way. Poses at rest come
from `resting_die`, throws from `vision.simulation.tumble`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import DieColour
from vision.reading import Pixels, Point
from vision.simulation.geometry import inside_tray, on_face
from vision.simulation.lens import expose
from vision.simulation.render_dice import draw_dice, hits_box
from vision.simulation.render_objects import cover_mask, draw_things, lay_things
from vision.simulation.render_tray import draw_background
from vision.simulation.scene import (
    COCKED_DEG,
    Background,
    Die,
    Floats,
    Scene,
)


@dataclass(frozen=True, slots=True)
class DieTruth:
    """The true state of a die in a scene, in pixels of the picture.

    Attributes:
        value: None if cocked or moving, or if the die has no pips.
        top_visible: Share of the top face that the camera sees (0.0 to 1.0).
    """

    colour: DieColour | None
    value: int | None
    corners_px: tuple[Point, Point, Point, Point]
    centre_px: Point
    body_centre_px: Point
    edge_px: float
    tilt_deg: float
    cocked: bool
    moving: bool
    in_tray: bool
    top_visible: float


def render(scene: Scene, ground: Background | None = None) -> Pixels:
    """Draw a scene.

    Args:
        scene: What to draw.
        ground: The empty tray from `draw_background`, where the caller kept one.
    Returns:
        (H, W, 3) uint8, BGR.
    """
    ground = ground or draw_background(scene)
    if scene.things:
        ground = lay_things(scene, ground)
    light = draw_dice(scene, ground)
    if scene.things:
        light = draw_things(scene, light)
    return expose(light, scene.lens)


def truth(scene: Scene) -> tuple[DieTruth, ...]:
    """The exact state of every die of a scene, in the order of `scene.dice`."""
    cover = cover_mask(scene) if scene.things else None
    return tuple(_die_truth(scene, die, cover) for die in scene.dice)


def _die_truth(scene: Scene, die: Die, cover: Floats | None) -> DieTruth:
    value, tilt = die.top
    signs = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]], float)
    corners = scene.camera.project(on_face(die, value, signs))
    centre = scene.camera.project(on_face(die, value, np.zeros((1, 2))))[0]
    body_centre = scene.camera.project(np.array([die.position_mm]))[0]
    steps = np.linspace(-0.8, 0.8, 7)
    grid = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    samples = on_face(die, value, grid)
    moving = die.motion is not None
    cocked = tilt > COCKED_DEG
    lengths = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
    points = [(float(x), float(y)) for x, y in corners]
    return DieTruth(
        colour=die.colour,
        value=None if cocked or moving or die.symbols else value,
        corners_px=(points[0], points[1], points[2], points[3]),
        centre_px=(float(centre[0]), float(centre[1])),
        body_centre_px=(float(body_centre[0]), float(body_centre[1])),
        edge_px=float(lengths.mean()),
        tilt_deg=tilt,
        cocked=cocked,
        moving=moving,
        in_tray=inside_tray(scene.tray, die.position_mm[0], die.position_mm[1]),
        top_visible=_visible_share(scene, die, samples, cover),
    )


def _visible_share(
    scene: Scene, die: Die, samples: NDArray[np.float64], cover: Floats | None
) -> float:
    pixels = scene.camera.project(samples)
    width, height = scene.camera.size_wh
    inside = (pixels >= -0.5).all(axis=1) & (pixels < (width - 0.5, height - 0.5)).all(axis=1)
    seen = inside.copy()
    if cover is not None:
        x = np.clip(pixels[:, 0].round().astype(int), 0, width - 1)
        y = np.clip(pixels[:, 1].round().astype(int), 0, height - 1)
        seen &= cover[y, x] < 0.5
    eye = np.asarray(scene.camera.position_mm)
    for other in scene.dice:
        gap = np.linalg.norm(np.asarray(other.position_mm) - die.position_mm)
        if other is not die and gap < 2.5 * (die.size_mm + other.size_mm):
            seen &= ~hits_box(other, samples, eye - samples)
    return float(seen.mean())
