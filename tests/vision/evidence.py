"""What the detector might say of a die."""

from __future__ import annotations

from typing import Any

import numpy as np

from companion.tray import Point
from vision.evidence import DieEvidence, Scores


def seen_die(
    colours: Scores,
    value: int | None,
    sure: float,
    centre_xy: Point = (100.0, 100.0),
    edge_px: float = 40.0,
    **rest: Any,
) -> DieEvidence:
    """A die whose top face is a square, each other value equally likely."""
    values = np.full(6, (1.0 - sure) / 5.0, np.float32)
    values[(value or 1) - 1] = sure
    square = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)], np.float32)
    corners = np.float32(edge_px) * square + np.array(centre_xy, np.float32)
    return DieEvidence(colours, value, sure, centre_xy, edge_px, values, corners, **rest)
