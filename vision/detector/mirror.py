"""The same scene seen in a mirror: places in the picture move as its pixels do.

Mirroring twice gives the scene itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vision.evidence import DieEvidence, SceneEvidence

if TYPE_CHECKING:
    from vision.calibration.calibration import Calibration


def mirrored_scene(scene: SceneEvidence) -> SceneEvidence:
    """The evidence of a picture in places of the mirrored picture."""
    last = scene.size_wh[0] - 1.0
    return replace(scene, dice=tuple(_mirrored(die, last) for die in scene.dice))


def mirrored_calibration(calibration: Calibration | None) -> Calibration | None:
    """The calibration of a tray for mirrored pictures of it."""
    if calibration is None or calibration.tray_px is None:
        return calibration
    last = calibration.size_wh[0] - 1.0
    return replace(calibration, tray_px=tuple((last - x, y) for x, y in calibration.tray_px))


def _mirrored(die: DieEvidence, last: float) -> DieEvidence:
    x, y = die.centre_xy
    if die.corners is None:
        return replace(die, centre_xy=(last - x, y))
    corners = die.corners[::-1].copy()  # the way round is reversed, too
    corners[:, 0] = last - corners[:, 0]
    return replace(die, centre_xy=(last - x, y), corners=corners)
