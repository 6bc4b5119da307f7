"""Reflectance of surfaces (felt, wood, leather ... or a picture) and the noise they are made of."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np

from vision.simulation.scene import Floats, Surface, Tile

_TILE = 512


@lru_cache(maxsize=32)
def _tile(seed: int, octave: int) -> Floats:
    """A repeating noise tile (512, 512), mean 0 and deviation 1, smooth over `octave` cells."""
    noise: Floats = np.random.default_rng(seed).standard_normal((_TILE, _TILE)).astype(np.float32)
    if octave > 1:
        wide = np.pad(noise, 64, mode="wrap")
        noise = np.asarray(cv2.GaussianBlur(wide, (0, 0), octave / 2.0)[64:-64, 64:-64], np.float32)
    return np.asarray((noise - noise.mean()) / (noise.std() + 1e-9), np.float32)


def noise_at(seed: int, octave: int, x: Floats, y: Floats) -> Floats:
    """Smooth noise (mean 0, deviation 1) at points, in cells; features are `octave` cells wide."""
    return np.asarray(
        cv2.remap(
            _tile(seed % 7, octave),
            np.mod(x, _TILE).astype(np.float32),
            np.mod(y, _TILE).astype(np.float32),
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_WRAP,
        ),
        np.float32,
    )


def reflectance(surface: Surface, x: Floats, y: Floats, pixel_mm: float) -> Floats:
    """Reflectance (H, W, 3) of a surface at points in mm."""
    rng = np.random.default_rng(surface.seed)
    turn = rng.uniform(0.0, np.pi)
    dx, dy = rng.uniform(0.0, 400.0, 2)
    u = x * np.float32(np.cos(turn)) + y * np.float32(np.sin(turn)) + np.float32(dx)
    v = y * np.float32(np.cos(turn)) - x * np.float32(np.sin(turn)) + np.float32(dy)
    seed = surface.seed
    grain = 1.0 / max(pixel_mm, 0.15)
    base = np.asarray(surface.colour, np.float32)
    if surface.tile is not None:
        return _tiled(surface.tile, u, v, pixel_mm)
    if surface.kind == "felt":
        tone = 0.10 * noise_at(seed, 1, u * grain, v * grain) + 0.07 * noise_at(
            seed, 4, u * 2, v * 2
        )
        tone = tone + 0.04 * noise_at(seed, 12, u, v)
    elif surface.kind == "wood":
        wave = noise_at(seed, 12, u * 0.25, v * 1.6)
        rings = np.sin(v * np.float32(rng.uniform(0.5, 1.3)) + 2.2 * wave)
        tone = 0.13 * rings + 0.08 * noise_at(seed, 4, u * 0.5, v * 5) + 0.06 * wave
    elif surface.kind == "leather":
        cells = noise_at(seed, 4, u * 2.2, v * 2.2)
        tone = 0.09 * np.tanh(cells * 1.5) + 0.05 * noise_at(seed, 12, u * 0.6, v * 0.6)
    elif surface.kind == "card":
        tone = 0.04 * noise_at(seed, 2, u * 1.2, v * 6) + 0.03 * noise_at(
            seed, 12, u * 0.5, v * 0.5
        )
    elif surface.kind == "cloth":
        period = np.float32(max(rng.uniform(0.8, 2.0), 3.0 * pixel_mm))
        weave = np.sin(u * 6.28 / period) * np.sin(v * 6.28 / period)
        tone = 0.07 * weave + 0.06 * noise_at(seed, 2, u * 2, v * 2)
    elif surface.kind == "plastic":
        tone = 0.02 * noise_at(seed, 12, u * 0.4, v * 0.4) + 0.015 * noise_at(seed, 1, u * 2, v * 2)
    else:
        tone = np.zeros_like(u)
    return np.clip(base * (1.0 + np.clip(tone, -0.7, 0.9))[..., None], 0.0, 1.0).astype(np.float32)


def _tiled(tile: Tile, u: Floats, v: Floats, pixel_mm: float) -> Floats:
    """A tile's reflectance (H, W, 3) at points in mm, averaged over a pixel of the picture."""
    pixels, mm_per_px = tile.pixels, tile.mm_per_px
    shrink = pixel_mm / mm_per_px
    if shrink > 1.2:
        height, width = pixels.shape[:2]
        small = (max(2, round(width / shrink)), max(2, round(height / shrink)))
        mm_per_px *= width / small[0]
        pixels = np.asarray(cv2.resize(pixels, small, interpolation=cv2.INTER_AREA), np.float32)
    x, y = (np.clip(c / np.float32(mm_per_px), -2e4, 2e4).astype(np.float32) for c in (u, v))
    how = cv2.INTER_LINEAR
    return np.asarray(cv2.remap(pixels, x, y, how, borderMode=cv2.BORDER_REFLECT), np.float32)
