"""The same places seen in a mirror. Mirroring twice gives the places themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vision.evidence import DieEvidence


def mirrored(points: NDArray[np.floating], width: int) -> NDArray[np.float32]:
    """An outline (N, 2) in a picture of that width; it goes round in the same way as before."""
    return np.asarray(points[::-1] * (-1.0, 1.0) + (width - 1.0, 0.0), np.float32)


def mirrored_die(die: DieEvidence, width: int) -> DieEvidence:
    """A die in a picture of that width."""
    x, y = die.centre_xy
    return replace(die, centre_xy=(width - 1.0 - x, y), corners=mirrored(die.corners, width))
