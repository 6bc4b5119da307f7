"""Pictures as another camera or lamp would have shown them."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def tinted(pixels: NDArray[Any], rng: np.random.Generator, groups: int = 1) -> Floats:
    """Pictures (N, H, W, 3) uint8 in 0.0-1.0 with brightness, tint, gamma and noise of their own.

    Args:
        pixels: What was drawn.
        rng: Decides.
        groups: Pictures in a row that share a lamp and a camera.
    """
    kinds = -(-len(pixels) // groups)

    def each(values: NDArray[np.float64]) -> Floats:
        return np.repeat(values, groups, axis=0)[: len(pixels)].astype(np.float32)

    x = pixels.astype(np.float32) / 255.0
    tint = rng.normal(0, 0.18, (kinds, 1, 1, 1)) + rng.normal(0, 0.04, (kinds, 1, 1, 3))
    gamma = each(np.exp(rng.normal(0, 0.12, (kinds, 1, 1, 1))))
    x = np.clip(x, 1e-4, 1.0) ** gamma * each(np.exp(tint))
    noise = each(np.abs(rng.normal(0, 0.012, (kinds, 1, 1, 1))))
    x += rng.standard_normal(x.shape, dtype=np.float32) * noise
    return np.clip(x, 0.0, 1.0)


def marbled(crops: Floats, rng: np.random.Generator, share: float) -> Floats:
    """Some crops (N, H, W, 3) with clouds of another shade, as marbled and speckled dice have."""
    for n in np.flatnonzero(rng.random(len(crops)) < share):
        cells = int(rng.integers(3, 10))
        cloud = rng.normal(0, 1, (cells, cells, 3)) * rng.uniform(0, 1, (1, 1, 3))
        cloud = cloud + rng.normal(0, 1, (cells, cells, 1))
        size_wh = (crops.shape[2], crops.shape[1])
        wide = cv2.resize(cloud.astype(np.float32), size_wh, interpolation=cv2.INTER_CUBIC)
        crops[n] = np.clip(crops[n] * np.exp(wide * rng.uniform(0.03, 0.2)), 0.0, 1.0)
    return crops


def repainted(crops: Floats, rng: np.random.Generator) -> Floats:
    """Crops (N, H, W, 3) in two other colours, as other makers have their dice."""
    dark, light = rng.uniform(0.0, 0.5, 3), rng.uniform(0.2, 1.0, 3)
    if rng.random() < 0.5:
        dark, light = light, dark
    shade = crops @ rng.dirichlet((2.0, 2.0, 2.0)).astype(np.float32)
    low, high = np.quantile(shade, (0.02, 0.98))
    shade = np.clip((shade - low) / max(high - low, 0.05), 0.0, 1.0)[..., None]
    kept = rng.uniform(0.0, 0.5)
    mixed = (1.0 - kept) * (dark + shade * (light - dark)) + kept * crops
    return np.clip(mixed, 0.0, 1.0).astype(np.float32)
