"""The default tray and its dice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from companion.engine.dice import DieColour
from vision.simulation.scene import (
    Bgr,
    Camera,
    Die,
    Lamp,
    Lens,
    Scene,
    Surface,
    Tray,
)

ALBEDO: dict[DieColour, Bgr] = {
    DieColour.WHITE: (0.74, 0.78, 0.80),
    DieColour.RED: (0.012, 0.012, 0.46),
    DieColour.YELLOW: (0.015, 0.52, 0.74),
    DieColour.GREEN: (0.05, 0.24, 0.012),
    DieColour.BLUE: (0.34, 0.065, 0.012),
}
"""Plastic of the default dice, linear light (chosen to look like the game's)."""

_LIGHT_PIPS: Bgr = (0.80, 0.82, 0.83)
_DARK_PIPS: Bgr = (0.012, 0.012, 0.012)
_EYE = Die((0.0, 0.0, 8.0), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))


def default_die(colour: DieColour) -> Die:
    """Return a default die in the middle of the tray."""
    dark = colour in (DieColour.WHITE, DieColour.YELLOW)
    return replace(
        _EYE,
        colour=colour,
        albedo=ALBEDO[colour],
        pip_albedo=_DARK_PIPS if dark else _LIGHT_PIPS,
        gloss=0.45,
        roughness=0.22,
        edge_radius=0.12,
        ball=0.72,
        pip_radius=0.088,
    )


def default_tray(size_wh: tuple[int, int] = (640, 480)) -> Scene:
    """The empty default tray: green felt in a wooden rim, a warm lamp and a window."""
    width, height = 200.0, 146.0
    outline = _rounded(width, height, 14.0)
    focal_px = 1.05 * size_wh[0]
    return Scene(
        camera=Camera.above(size_wh, focal_px, 252.0, tilt_deg=4.0, look_at_mm=(0.0, -1.0)),
        tray=Tray(
            outline_mm=outline,
            rim_height_mm=20.0,
            rim_width_mm=9.0,
            floor=Surface("felt", (0.045, 0.115, 0.022), seed=3),
            rim=Surface("wood", (0.05, 0.13, 0.30), seed=8, gloss=0.15),
            table=Surface("wood", (0.14, 0.22, 0.33), seed=21, gloss=0.05),
        ),
        lamps=(
            Lamp((-230.0, 260.0, 520.0), 35.0, (0.62, 0.80, 0.92)),
            Lamp((520.0, -260.0, 640.0), 120.0, (0.22, 0.20, 0.18)),
        ),
        ambient=(0.33, 0.33, 0.33),
        lens=Lens(vignette=0.22, blur_px=0.55, noise=0.006, contrast=0.35),
    )


def _rounded(width: float, height: float, radius: float) -> tuple[tuple[float, float], ...]:
    """A rectangle with round corners, counter-clockwise."""
    points = []
    for quarter, (sx, sy) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1))):
        middle = (sx * (width / 2 - radius), sy * (height / 2 - radius))
        for step in np.linspace(0.0, np.pi / 2, 5):
            a = quarter * np.pi / 2 + step
            points.append(
                (middle[0] + radius * float(np.cos(a)), middle[1] + radius * float(np.sin(a)))
            )
    return tuple(points)
