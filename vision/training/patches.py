"""Close-ups of dice, and of places without one, with labels for the reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import DieColour
from vision.simulation.appearance import Rng
from vision.simulation.geometry import pip_centres
from vision.simulation.random_scenes import squeezed
from vision.simulation.render import DieTruth, render, truth
from vision.simulation.scene import Camera, Die, Scene

PATCHES = 10
PATCH = 124
PATCH_EDGES = 3.6
"""Width of a patch of PATCH px in die edges: wide enough to be turned and shifted in training."""
Row = dict[str, NDArray[Any]]
KEYS = tuple(
    f"patch_{name}"
    for name in ("pixels", "labels", "corners", "pips", "place", "up", "top", "present")
)
"""The columns that `close_ups` makes, in each scene's row of a data set."""
COLOURS: tuple[DieColour | None, ...] = (*DieColour, None)


def close_ups(
    rng: Rng,
    scene: Scene,
    share: float,
    *,
    mistaken: Sequence[tuple[float, float, float]] = (),
) -> Row:
    """Close-ups of up to PATCHES candidates of one scene, drawn one by one.

    Dice come first, then `mistaken` places (x, y, edge as shares of the width), then
    other places without a die.
    """
    wide, tall = scene.camera.size_wh
    facts = truth(scene)
    rows: list[Row] = []

    def add(middle: NDArray[np.float64], span: float) -> None:
        if 0 < middle[0] < wide and 0 < middle[1] < tall and len(rows) < PATCHES:
            rows.append(patch_row(rng, scene, middle, span * float(rng.uniform(0.92, 1.08))))

    for index in rng.permutation(len(facts)):
        fact = facts[int(index)]
        add(_aimed_at(rng, fact), fact.edge_px)
    for x, y, span in mistaken:
        add(np.array([x, y]) * wide, span * wide)
    for fact in facts:
        if rng.random() < 0.12:
            a = rng.uniform(0, 2 * np.pi)
            away = rng.uniform(0.6, 1.6) if rng.random() < 0.75 else rng.uniform(1.6, 6.0)
            step = np.array([np.cos(a), np.sin(a)]) * fact.edge_px * away
            add(np.array(fact.centre_px) + step, fact.edge_px)
    for thing in scene.things:
        if rng.random() < 0.6:
            at = np.array([[*thing.position_mm, 0.5]]) + rng.normal(0, 1, (1, 3)) * (6, 6, 0)
            add(scene.camera.project(at)[0], share * wide * float(rng.uniform(0.3, 1.1)))
    place = rng.uniform((0, 0), (wide, tall))
    gaps = [np.hypot(*(place - f.centre_px)) / f.edge_px for f in facts]
    if min(gaps, default=9.0) > 1.0:
        add(place, share * wide * float(rng.uniform(0.5, 1.2)))
    if not rows:
        add(rng.uniform((0, 0), (wide, tall)), share * wide)
    columns = {
        f"patch_{key}": np.stack(
            [row[key] for row in rows] + [np.zeros_like(rows[0][key])] * (PATCHES - len(rows))
        )
        for key in rows[0]
    }
    present = np.arange(PATCHES) < len(rows)
    return columns | {"patch_present": present}


def _aimed_at(rng: Rng, fact: DieTruth) -> NDArray[np.float64]:
    """Where the finder places a die: a tilted one often at the middle of its body."""
    top, body = np.array(fact.centre_px), np.array(fact.body_centre_px)
    if fact.moving:
        return body
    return top + (body - top) * rng.random() if fact.cocked and rng.random() < 0.6 else top


def patch_row(rng: Rng, scene: Scene, middle: NDArray[np.float64], edge: float) -> Row:
    """The close-up round a point, labelled with the die nearest to it.

    Labels: is_die, value (0 unknown), colour index, cocked, moving, share visible, in tray; the
    corners (4, 2) and pips (6, 2, NaN where there is none) in patch px; place of the patch in the
    frame; the slant of floor and top face there (see `Camera.up_at`).
    """
    size = int(np.ceil(PATCH_EDGES * edge))
    corner = np.round(middle - size / 2)
    camera = scene.camera
    width, height = camera.size_wh
    beyond = (
        int(max(0, -corner[0])), int(max(0, -corner[1])),
        int(max(0, corner[0] + size - width)), int(max(0, corner[1] + size - height)),
    )  # fmt: skip
    principal = camera.middle_px - corner
    off = 2.0 * (middle - np.array([width, height]) / 2) / np.hypot(width, height)
    dimmed = 1.0 - scene.lens.vignette * float(off @ off)
    b, g, r = (gain * dimmed for gain in scene.lens.white_balance)
    seed = int(rng.integers(1 << 30))  # of the noise: no close-up has that of another
    lens = replace(scene.lens, vignette=0.0, white_balance=(b, g, r), seed=seed)
    scene = replace(scene, lens=lens)
    window = replace(
        camera, size_wh=(size, size), principal_px=(float(principal[0]), float(principal[1]))
    )
    near = [
        d
        for d in scene.dice
        if np.linalg.norm(window.project(np.array([d.position_mm]))[0] - size / 2) < 3.6 * edge
    ]
    local = replace(scene, camera=window, dice=tuple(near))
    facts = truth(local)
    pixels = render(local)
    if any(beyond):
        left, top, right, bottom = beyond
        part = pixels[top : size - bottom, left : size - right]
        pixels = np.asarray(
            cv2.copyMakeBorder(part, top, bottom, left, right, cv2.BORDER_REPLICATE), np.uint8
        )
    pixels = squeezed(rng, pixels)
    scale = PATCH / size
    shrink = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    patch = cv2.resize(pixels, (PATCH, PATCH), interpolation=shrink)
    labels = np.zeros(7, np.float32)
    labels[2] = COLOURS.index(None)
    corners = np.full((4, 2), PATCH / 2, np.float32)
    pips = np.full((6, 2), np.nan, np.float32)
    best = _nearest(facts, size)
    if best is not None:
        fact, die = facts[best], near[best]
        cut = _cut_share(fact, beyond, size)
        labels[:] = (
            1, _value(die, fact), COLOURS.index(fact.colour), fact.cocked, fact.moving,
            fact.top_visible * (1.0 - cut), fact.in_tray,
        )  # fmt: skip
        outline = np.array(fact.corners_px, np.float32)
        corners = (outline + 0.5) * scale - 0.5
        if fact.value is not None:
            spots = (window.project(pip_centres(die, fact.value)) + 0.5) * scale - 0.5
            pips[: len(spots)] = spots
    place = (middle - camera.middle_px) / width
    return {
        "pixels": np.asarray(patch, np.uint8),
        "labels": labels,
        "corners": corners.astype(np.float32),
        "pips": pips,
        "place": np.array([*place, edge / width], np.float32),
        "up": camera.up_at(middle[None])[0].astype(np.float32),
        "top": _top(camera, near[best], middle) if best is not None else np.zeros(2, np.float32),
    }


def _top(camera: Camera, die: Die, where: NDArray[np.float64]) -> NDArray[np.float32]:
    """Normal of a top face across the line of sight (see `Camera.up_at`)."""
    value, _ = die.top
    axis, sign = die.face(value)
    normal = np.asarray(die.rotation)[:, axis] * sign
    return camera.across(where[None], normal)[0].astype(np.float32)


def _value(die: Die, fact: DieTruth) -> int:
    """The value on top; 0 if unknown. Symbols get one by chance, so that all are equally likely."""
    is_flat = die.symbols and not fact.cocked and not fact.moving
    return die.top[0] if is_flat else fact.value or 0


def _nearest(facts: tuple[DieTruth, ...], size: int) -> int | None:
    """The die whose top face the middle of a patch lies on."""
    best, reach = None, 0.5
    for number, fact in enumerate(facts):
        centres = [fact.body_centre_px] if fact.moving else [fact.centre_px]
        if fact.cocked and not fact.moving:
            centres.append(fact.body_centre_px)
        gap = min(float(np.hypot(x - size / 2, y - size / 2)) for x, y in centres) / fact.edge_px
        if gap < reach:
            best, reach = number, gap
    return best


def _cut_share(fact: DieTruth, beyond: tuple[int, int, int, int], size: int) -> float:
    """Share of a top face that lies beyond the edge of the whole picture."""
    points = np.array(fact.corners_px)
    steps = np.linspace(0.1, 0.9, 7)
    grid = [
        points[0] + (points[1] - points[0]) * a + (points[3] - points[0]) * b
        for a in steps
        for b in steps
    ]
    left, top, right, bottom = beyond
    out = [not (left <= x < size - right and top <= y < size - bottom) for x, y in grid]
    return float(np.mean(out))
