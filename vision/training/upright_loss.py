"""Loss of the upright network: pose and value of a die seen with its top face upright."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from vision.detector.models import (
    UPRIGHT,
    UPRIGHT_DIE,
    UPRIGHT_TILTED,
    UPRIGHT_TRAITS,
    UPRIGHT_VALUES,
)
from vision.detector.upright import shown, upright_turn
from vision.training.augment import other_lights, other_plastics, repainted, tinted
from vision.training.networks import Arrays, Batch, UprightWithHead, mixed_precision
from vision.training.patches import PATCH, PATCH_EDGES
from vision.training.reader_loss import pose_inputs, spread_loss
from vision.training.surfaces import chipped, repipped

_REPAINTED, _REPIPPED, _CHIPPED = 0.15, 0.15, 0.2
"""Shares of dice that look so; see `vision.training.reader_loss`."""
_LEAST_SEEN, _WELL_SEEN, _LEGIBLE = 0.35, 0.6, 0.8
"""Least visible share of a top face to train on, to train its normal on, and its value."""
_CORNER_OFF, _OFF, _ZOOM = 0.02, 0.02, 0.03
"""Standard deviations of the errors of an outline: of each corner and of all (edges), of its size
(log)."""
_FAR_OFF, _FARTHER = 0.2, 3.0
"""Share of the outlines whose errors are so many times as large."""
_NO_DIE_ZOOM = 0.2
"""Standard deviation of the size (log) at which a place without a die is cut."""


def dealt(rows: Arrays, rng: np.random.Generator) -> Arrays:
    """Scenes turned and mirrored, and upright close-ups of candidates as the reader cuts them.

    Args:
        rows: Of S scenes with P close-ups, the columns named in `patches.KEYS`.
        rng: For the changes made to the pictures.
    Returns:
        Of the N candidates learnt from: image (N, 3, UPRIGHT, UPRIGHT), where (N, 2) each is among
        S scenes of P patches, back (N, 2, 2) from the directions of its close-up to the scene's,
        normal (N, 2), labels (N, 7). Of all patches: place (S, P, 3), up (S, P, 2).
    """
    labels = rows["patch_labels"]
    used = rows["patch_present"] & (labels[..., 4] < 0.5)
    used &= (labels[..., 0] < 0.5) | (labels[..., 5] > _LEAST_SEEN)
    where = np.argwhere(used)
    is_die = labels[used][:, 0] > 0.5
    pictures = np.empty((len(where), UPRIGHT, UPRIGHT, 3), np.uint8)
    corners = np.empty((len(where), 4, 2), np.float32)
    pips = np.empty((len(where), 6, 2), np.float32)
    back = np.empty((len(where), 2, 2), np.float32)
    place, up = rows["patch_place"].copy(), rows["patch_up"].copy()
    normal = rows["patch_top"].copy()
    turns = []
    for s in range(len(labels)):
        a = rng.uniform(0, 2 * np.pi)
        mirror = rng.choice([-1.0, 1.0])
        turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) * (mirror, 1.0)
        place[s, :, :2] = place[s, :, :2] @ turn.T
        place[s, :, 2] = np.log(np.maximum(place[s, :, 2], 1e-6))
        up[s] = (up[s] + rng.normal(0, 0.1, 2)) @ turn.T
        normal[s] = normal[s] @ turn.T
        turns.append(turn)
    for n, (s, p) in enumerate(where):
        outline = rows["patch_corners"][s, p] if is_die[n] else _anywhere(rng)
        there = outline @ turns[s].T
        matrix = upright_turn(np.roll(_mistaken(there, rng), int(rng.integers(4)), axis=0))
        whole = np.c_[matrix[:, :2] @ turns[s], matrix[:, 2]]
        cv2.warpAffine(
            rows["patch_pixels"][s, p], whole, (UPRIGHT, UPRIGHT), pictures[n],
            flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE,
        )  # fmt: skip
        corners[n] = outline @ whole[:, :2].T + whole[:, 2]
        pips[n] = rows["patch_pips"][s, p] @ whole[:, :2].T + whole[:, 2]
        back[n] = matrix[:, :2].T / np.hypot(*matrix[:, 0])
    return {
        "image": shown(_varied(tinted(pictures, rng), corners, pips, is_die, rng)),
        "where": where,
        "back": back,
        "place": place.astype(np.float32),
        "up": up.astype(np.float32),
        "normal": normal[used].astype(np.float32),
        "labels": labels[used],
    }


def _anywhere(rng: np.random.Generator) -> NDArray[np.float64]:
    """Corners (4, 2) of a square in the middle of a patch, as a false candidate may have them."""
    half = PATCH / PATCH_EDGES / np.sqrt(2.0) * np.exp(rng.normal(0, _NO_DIE_ZOOM))
    angles = rng.uniform(0, 2 * np.pi) + np.pi / 2 * np.arange(4)
    middle = (PATCH - 1) / 2 + rng.normal(0, 0.1, 2) * half
    return np.asarray(middle + half * np.stack([np.cos(angles), np.sin(angles)], axis=1))


def _mistaken(corners: NDArray[Any], rng: np.random.Generator) -> NDArray[np.float64]:
    """Corners (4, 2) as the reader finds them: a little off."""
    edge = np.hypot(*(corners - np.roll(corners, 1, axis=0)).T).mean()
    more = _FARTHER if rng.random() < _FAR_OFF else 1.0
    middle = corners.mean(axis=0)
    moved = middle + (corners - middle) * np.exp(rng.normal(0, more * _ZOOM))
    moved = moved + rng.normal(0, _CORNER_OFF, (4, 2)) * edge
    return np.asarray(moved + rng.normal(0, more * _OFF, 2) * edge)


def _varied(
    light: NDArray[np.float32],
    corners: NDArray[np.float32],
    pips: NDArray[np.float32],
    is_die: NDArray[np.bool_],
    rng: np.random.Generator,
) -> NDArray[np.float32]:
    """Close-ups with other pips, marks, plastics and lights."""
    known = np.isfinite(pips[:, 0, 0])
    painted, marked = rng.random((2, len(light)))
    light = repipped(light, corners, pips, rng, np.flatnonzero(known & (painted < _REPIPPED)))
    light = chipped(light, corners, pips, rng, np.flatnonzero(known & (marked < _CHIPPED)))
    light = other_plastics(light, rng, is_die)
    for n in np.flatnonzero(rng.random(len(light)) < _REPAINTED):
        light[n] = repainted(light[n : n + 1], rng)[0]
    return other_lights(light, rng)


def upright_loss(net: nn.Module, made: Batch) -> dict[str, Tensor]:
    """Losses of the normals, of their stated errors, of value and presence of a die, and of tilt:
    by the network alone and together with the other dice of the picture.

    Args:
        net: The network with its head.
        made: See `dealt`.
    """
    assert isinstance(net, UprightWithHead)
    image = made["image"].contiguous(memory_format=torch.channels_last)
    with mixed_precision(image):
        out = net.upright(image)
    out = out.float()
    back, labels, top = made["back"], made["labels"], made["normal"]
    die, value, cocked, visible = (labels[:, n] for n in (0, 1, 3, 5))
    own = out[:, UPRIGHT_TILTED]
    joint = own + net.tilt_head(upright_inputs(out, made))
    known = torch.isfinite(top[:, 0]) & (visible > _WELL_SEEN)
    shows = die * known.float() * (1.0 - 0.5 * cocked)
    wanted = torch.einsum("nij,ni->nj", back, top.nan_to_num())
    apart = ((out[:, :2].detach() - wanted) ** 2).sum(1)
    legible = die * (value > 0).float() * (visible > _LEGIBLE).float()

    def mean(loss: Tensor, mask: Tensor) -> Tensor:
        return (loss * mask).sum() / mask.sum().clamp(min=1.0)

    bce = F.binary_cross_entropy_with_logits
    error = F.smooth_l1_loss(out[:, :2], wanted, reduction="none", beta=0.05).sum(1)
    values = F.cross_entropy(
        out[:, UPRIGHT_VALUES], (value.long() - 1).clamp(min=0), reduction="none"
    )
    return {
        "normal": 6.0 * mean(error, shows),
        "spread": 0.1 * mean(spread_loss(apart, out[:, 2]), shows),
        "own": 0.5 * mean(bce(own, cocked, reduction="none"), die),
        "joint": 2.0 * mean(bce(joint, cocked, reduction="none"), die),
        "die": bce(out[:, UPRIGHT_DIE], die),
        "value": mean(values, legible),
    }


def upright_inputs(out: Tensor, made: Batch) -> Tensor:
    """Input of the tilt head for dice (N, TILT_INPUTS); `vision.detector.upright` builds the same.

    Args:
        out: (N, UPRIGHT_OUTPUTS) of the network.
        made: See `dealt`.
    """
    at = tuple(made["where"].T)
    place = made["place"]
    mine = torch.einsum("nij,nj->ni", made["back"], out[:, :2])
    own = out.new_zeros(*place.shape[:2], 3)
    own = own.index_put(at, torch.cat([mine, out[:, 2:3]], dim=1))
    there = out.new_zeros(place.shape[:2]).index_put(at, made["labels"][:, 0])
    pose = pose_inputs(own[..., :2], own[..., 2].exp(), place, made["up"], there)
    token = torch.cat([own, pose], dim=-1)
    score = 0.25 * out[:, UPRIGHT_TILTED, None].clamp(-12.0, 12.0)
    return torch.cat([score, out[:, UPRIGHT_TRAITS].clamp(-12.0, 12.0), token[at]], dim=1)
