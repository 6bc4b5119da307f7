"""Loss of the finder: dice, tray, foreign things, motion blur and the slant of the floor."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from vision.training.augment import shone_on, tinted
from vision.training.networks import Arrays, Batch, mixed_precision

KEYS = ("pixels", "dice", "masks", "up")
_BAND = 8
_FARTHER = 0.4
"""Share of the pictures that are shrunk, so that small touching dice are trained too."""
_NEARER = 0.2
"""Share of the pictures of which only a part is shown, enlarged."""
_TOO_SMALL_PX = 5.0
_SHINY = 0.35
"""Share of the pictures with lamps mirrored in the floor."""
_SMEARED = 6.0
"""Weight of a blurred cell; only one cell in 700 is blurred."""


def varied_frames(rows: Arrays, rng: np.random.Generator) -> Arrays:
    """Frames as other cameras in other rooms would show them, with the targets of the finder.

    Args:
        rows: pixels (N, H, W, 3), dice (N, 16, 9), masks (N, 3, H/4, W/4), up (N, 2, H/8, W/8).
        rng: For the changes made to the pictures.
    Returns:
        pixels (N, H, W, 3) uint8, heat and weight (N, h, w), aim (N, 3, h, w), at (N, h, w),
        masks (N, 3, h, w) uint8 and up (N, 2, h/2, w/2).
    """
    pixels, dice, masks = rows["pixels"].copy(), rows["dice"].copy(), rows["masks"].copy()
    up = rows["up"].astype(np.float32)
    height, width = pixels.shape[1:3]
    for n in np.flatnonzero(rng.random(len(pixels)) < _FARTHER):
        _step_back(pixels[n], dice[n], masks[n], up[n], rng)
    for n in np.flatnonzero(rng.random(len(pixels)) < _NEARER):
        _step_closer(pixels[n], dice[n], masks[n], up[n], rng)
    for n in np.flatnonzero(rng.random(len(pixels)) < 0.6):  # as a 4:3 picture fills the canvas
        pixels[n, :_BAND] = pixels[n, _BAND]
        pixels[n, -_BAND:] = pixels[n, -_BAND - 1]
        y = dice[n, :, 1]
        dice[n, (y < _BAND) | (y >= height - _BAND), 4] = 0.0
    if rng.random() < 0.5:
        pixels, masks = pixels[:, :, ::-1], masks[..., ::-1]
        up = up[..., ::-1] * np.array([-1, 1], np.float32)[:, None, None]
        dice[..., 0] = width - 1 - dice[..., 0]
    if rng.random() < 0.5:
        pixels, masks = pixels[:, ::-1], masks[..., ::-1, :]
        up = up[..., ::-1, :] * np.array([1, -1], np.float32)[:, None, None]
        dice[..., 1] = height - 1 - dice[..., 1]
    heat, weight, aim, at = _targets(dice, height // 4, width // 4)
    light = shone_on(tinted(pixels, rng), rng, _SHINY)
    return {
        "pixels": np.rint(light * 255.0).astype(np.uint8),
        "heat": heat,
        "weight": weight,
        "aim": aim,
        "at": at,
        "masks": np.ascontiguousarray(masks),
        "up": np.ascontiguousarray(up),
    }


def finder_loss(net: nn.Module, made: Batch) -> dict[str, Tensor]:
    """Focal loss on the heat, the rest at centres or by mask.

    Args:
        net: The finder.
        made: See `varied_frames`.
    """
    picture = made["pixels"].permute(0, 3, 1, 2).float() / 255.0  # channels last in memory
    with mixed_precision(picture):
        out = net(picture)
    out = out.float()
    fine = F.pixel_shuffle(out[:, :28], 2)
    target, place = made["heat"], made["at"]
    score = torch.sigmoid(fine[:, 0]).clamp(1e-5, 1 - 1e-5)
    hot = (target > 0.999).float()
    gain = -hot * (1 - score) ** 2 * torch.log(score)
    lose = -(1 - hot) * (1 - target) ** 4 * score**2 * torch.log(1 - score) * made["weight"]
    number = hot.sum().clamp(min=1.0)
    spots = place.sum().clamp(min=1.0)
    wanted = made["masks"].float() / 255.0
    size = F.smooth_l1_loss(fine[:, 1], made["aim"][:, 0], reduction="none", beta=0.1)
    offset = F.smooth_l1_loss(fine[:, 2:4], made["aim"][:, 1:3], reduction="none", beta=0.3).sum(1)
    by_mask = F.binary_cross_entropy_with_logits(fine[:, 4:7], wanted, reduction="none")
    return {
        "heat": (gain + lose).sum() / number,
        "size": 1.5 * (size * place).sum() / spots,
        "offset": (offset * place).sum() / spots,
        "up": 4.0 * F.smooth_l1_loss(out[:, 28:30], made["up"], beta=0.1),
        "tray": 1.5 * by_mask[:, 0].mean(),
        "thing": 2.5 * by_mask[:, 1].mean(),
        "smear": 2.0 * (by_mask[:, 2] * (1.0 + (_SMEARED - 1.0) * wanted[:, 2])).mean(),
    }


def _window(pixels: NDArray[Any], rng: np.random.Generator) -> tuple[int, int, int, int]:
    """Draw a part of a picture, in its shape: top, left, height and width in px."""
    eighths = int(rng.integers(4, 8))
    height, width = pixels.shape[:2]
    tall, wide = height * eighths // 8, width * eighths // 8
    top = 8 * int(rng.integers((height - tall) // 8 + 1))
    left = 8 * int(rng.integers((width - wide) // 8 + 1))
    return top, left, tall, wide


def _step_back(
    pixels: NDArray[Any],
    dice: NDArray[np.float32],
    masks: NDArray[Any],
    up: NDArray[np.float32],
    rng: np.random.Generator,
) -> None:
    """Shrink one picture within its frame, and its labels with it, in place."""
    height, width = pixels.shape[:2]
    top, left, tall, wide = _window(pixels, rng)

    def placed(field: NDArray[Any], cell: int, edge: int) -> NDArray[Any]:
        small = cv2.resize(field, (wide // cell, tall // cell), interpolation=cv2.INTER_AREA)
        below, right = (height - tall - top) // cell, (width - wide - left) // cell
        return cv2.copyMakeBorder(small, top // cell, below, left // cell, right, edge)

    pixels[:] = placed(pixels, 1, cv2.BORDER_REPLICATE)
    for mask in masks:
        mask[:] = placed(mask, 4, cv2.BORDER_CONSTANT)
    for part in up:
        part[:] = placed(part, 8, cv2.BORDER_REPLICATE)
    scale = wide / width
    dice[:, :2] = (dice[:, :2] + 0.5) * scale - 0.5 + (left, top)
    dice[:, 2] *= scale
    dice[dice[:, 2] < _TOO_SMALL_PX, 4] = 0.0


def _step_closer(
    pixels: NDArray[Any],
    dice: NDArray[np.float32],
    masks: NDArray[Any],
    up: NDArray[np.float32],
    rng: np.random.Generator,
) -> None:
    """Enlarge a part of one picture to its whole frame, and its labels with it, in place."""
    height, width = pixels.shape[:2]
    top, left, tall, wide = _window(pixels, rng)

    def enlarged(field: NDArray[Any], cell: int) -> NDArray[Any]:
        rows, columns = field.shape[:2]
        part = field[top // cell : (top + tall) // cell, left // cell : (left + wide) // cell]
        return cv2.resize(part, (columns, rows), interpolation=cv2.INTER_LINEAR)

    pixels[:] = enlarged(pixels, 1)
    for mask in masks:
        mask[:] = enlarged(mask, 4)
    for part in up:
        part[:] = enlarged(part, 8)
    scale = width / wide
    dice[:, :2] = (dice[:, :2] + 0.5 - (left, top)) * scale - 0.5
    dice[:, 2] *= scale
    outside = (dice[:, :2] < 0).any(axis=1) | (dice[:, :2] >= (width, height)).any(axis=1)
    dice[outside, 8] = 0.0


def _targets(dice: NDArray[np.float32], rows: int, columns: int) -> tuple[NDArray[np.float32], ...]:
    """Target heat and its weight (N, h, w), target size and offset (N, 3, h, w), and their mask."""
    count = len(dice)
    heat = np.zeros((count, rows, columns), np.float32)
    weight = np.ones_like(heat)
    aim = np.zeros((count, 3, rows, columns), np.float32)
    at = np.zeros_like(heat)
    y, x = np.mgrid[0:rows, 0:columns].astype(np.float32)
    for n in range(count):
        nearest = np.full((rows, columns), np.inf)
        for cx, cy, edge, _in, visible, moving, _cocked, _value, present in dice[n]:
            if not present:
                continue
            u, v = (cx + 0.5) / 4 - 0.5, (cy + 0.5) / 4 - 0.5
            away = (x - u) ** 2 + (y - v) ** 2
            if moving or visible < 0.3:
                weight[n][away < (edge / 4 * (1.6 if moving else 0.8)) ** 2] = 0.0
                continue
            i, j = round(float(u)), round(float(v))
            if not (0 <= i < columns and 0 <= j < rows):
                continue
            sigma = max(0.65, edge / 4 * 0.13)
            heat[n] = np.maximum(heat[n], np.exp(-away / (2 * sigma**2)))
            heat[n, j, i] = 1.0
            for a in range(max(0, j - 1), min(rows, j + 2)):
                for b in range(max(0, i - 1), min(columns, i + 2)):
                    if heat[n, a, b] > 0.3 and away[a, b] < nearest[a, b]:
                        nearest[a, b] = away[a, b]
                        aim[n, :, a, b] = (np.log(edge / 16.0), u - b, v - a)
                        at[n, a, b] = 1.0
            weight[n, j, i] = 1.0
    return heat, weight, aim, at
