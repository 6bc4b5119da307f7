"""The same scene seen mirrored or turned by half: places in the picture flip as its pixels do.

An axis is one of `cv2.flip`: 1 mirrors left and right, 0 top and bottom, -1 both. Flipping twice
gives the scene itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vision.evidence import DieEvidence, SceneEvidence

if TYPE_CHECKING:
    from vision.calibration.calibration import Calibration


def flip_scene(scene: SceneEvidence, axis: int) -> SceneEvidence:
    """The evidence of a picture in places of the flipped picture."""
    return replace(scene, dice=tuple(_die(die, scene.size_wh, axis) for die in scene.dice))


def flip_calibration(calibration: Calibration | None, axis: int) -> Calibration | None:
    """The calibration of a tray for flipped pictures of it."""
    if calibration is None or calibration.tray_px is None:
        return calibration
    tray = _points(np.array(calibration.tray_px), calibration.size_wh, axis)
    return replace(calibration, tray_px=tuple((x, y) for x, y in tray.tolist()))


def _die(die: DieEvidence, size_wh: tuple[int, int], axis: int) -> DieEvidence:
    x, y = _points(np.array(die.centre_xy), size_wh, axis).tolist()
    if die.corners is None:
        return replace(die, centre_xy=(x, y))
    corners = _points(die.corners, size_wh, axis)
    if axis >= 0:  # a mirror reverses the way round
        corners = corners[::-1]
    return replace(die, centre_xy=(x, y), corners=np.ascontiguousarray(corners, np.float32))


def _points(
    points: NDArray[np.floating], size_wh: tuple[int, int], axis: int
) -> NDArray[np.float64]:
    last = np.array(size_wh) - 1.0
    return np.asarray(np.where((axis != 0, axis <= 0), last - points, points))
