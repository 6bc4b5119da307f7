"""Loss of the tilt network: the pose of a die seen with its top face upright."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from vision.detector.models import UPRIGHT
from vision.detector.tilt import shown, upright_turn
from vision.training.augment import half_lit, marbled, tinted
from vision.training.networks import TiltWithHead
from vision.training.reader_loss import spread_loss, standing

Arrays = dict[str, NDArray[Any]]
KEYS = tuple(
    f"patch_{name}" for name in ("pixels", "labels", "corners", "place", "up", "top", "present")
)
_MARBLED, _HALF_LIT = 0.15, 0.1
"""Shares of marbled and of half-shaded dice."""
_LEAST_SEEN, _WELL_SEEN = 0.35, 0.6
"""Least visible share of a top face to train on, and to train its normal on."""
_OFF = 0.02
"""Standard deviation of the noise on each corner of the outline, in edges."""


def dealt(rows: Arrays, rng: np.random.Generator) -> Arrays:
    """Scenes turned and mirrored, and close-ups of their dice as the eye cuts them.

    Returns:
        Of the N dice learnt from: image (N, 3, UPRIGHT, UPRIGHT), where (N, 2) each is among S
        scenes of P patches, back (N, 2, 2) from the directions of its close-up to the scene's,
        normal (N, 2), cocked, visible (N,). Of all patches: place (S, P, 3), up (S, P, 2).
    """
    labels = rows["patch_labels"]
    used = rows["patch_present"] & (labels[..., 0] > 0.5) & (labels[..., 4] < 0.5)
    used &= labels[..., 5] > _LEAST_SEEN
    where = np.argwhere(used)
    pictures = np.empty((len(where), UPRIGHT, UPRIGHT, 3), np.uint8)
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
        corners = rows["patch_corners"][s, p] @ turns[s].T
        edge = np.hypot(*(corners - np.roll(corners, 1, axis=0)).T).mean()
        corners = corners + rng.normal(0, _OFF, (4, 2)) * edge
        corners = np.roll(corners, int(rng.integers(4)), axis=0)
        matrix = upright_turn(corners)
        whole = np.c_[matrix[:, :2] @ turns[s], matrix[:, 2]]
        cv2.warpAffine(
            rows["patch_pixels"][s, p], whole, (UPRIGHT, UPRIGHT), pictures[n],
            flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE,
        )  # fmt: skip
        back[n] = matrix[:, :2].T / np.hypot(*matrix[:, 0])
    light = half_lit(marbled(tinted(pictures, rng), rng, _MARBLED), rng, _HALF_LIT)
    outputs = labels[used]
    return {
        "image": shown(light),
        "where": where,
        "back": back,
        "place": place.astype(np.float32),
        "up": up.astype(np.float32),
        "normal": normal[used].astype(np.float32),
        "cocked": outputs[:, 3],
        "visible": outputs[:, 5],
    }


def tilt_loss(net: nn.Module, rows: Arrays, rng: np.random.Generator) -> dict[str, Tensor]:
    """Losses of the normals, of their stated errors, and of tilt: by the network alone and together
    with the other dice of the picture."""
    assert isinstance(net, TiltWithHead)
    made = dealt(rows, rng)
    image = torch.from_numpy(made["image"]).contiguous(memory_format=torch.channels_last)
    with torch.autocast("cpu", torch.bfloat16):
        out = net.tilt(image)
    out = out.float()
    back = torch.from_numpy(made["back"])
    own, cocked = out[:, 3], torch.from_numpy(made["cocked"])
    joint = own + net.tilt_head(tilt_inputs(out, made))
    top = torch.from_numpy(made["normal"])
    known = torch.isfinite(top[:, 0]) & (torch.from_numpy(made["visible"]) > _WELL_SEEN)
    shows = known.float() * (1.0 - 0.5 * cocked)
    wanted = torch.einsum("nij,ni->nj", back, top.nan_to_num())
    apart = ((out[:, :2].detach() - wanted) ** 2).sum(1)

    def mean(loss: Tensor) -> Tensor:
        return (loss * shows).sum() / shows.sum().clamp(min=1.0)

    error = F.smooth_l1_loss(out[:, :2], wanted, reduction="none", beta=0.05).sum(1)
    return {
        "normal": 6.0 * mean(error),
        "spread": 0.1 * mean(spread_loss(apart, out[:, 2])),
        "own": 0.5 * F.binary_cross_entropy_with_logits(own, cocked),
        "joint": 2.0 * F.binary_cross_entropy_with_logits(joint, cocked),
    }


def tilt_inputs(out: Tensor, made: Arrays) -> Tensor:
    """Input of the tilt head for dice (N, TILT_INPUTS); `vision.detector.tilt` builds the same.

    Args:
        out: (N, 4 + TRAITS) outputs of the network.
        made: See `dealt`.
    """
    at = tuple(torch.from_numpy(made["where"]).T)
    place, up = torch.from_numpy(made["place"]), torch.from_numpy(made["up"])
    mine = torch.einsum("nij,nj->ni", torch.from_numpy(made["back"]), out[:, :2])
    own = out.new_zeros(*place.shape[:2], 3)
    own = own.index_put(at, torch.cat([mine, out[:, 2:3]], dim=1))
    there = out.new_zeros(place.shape[:2]).index_put(at, out.new_ones(len(out)))
    floor, stood = standing(own[..., :2], own[..., 2].exp(), place[..., :2], up, there)
    sized = torch.cat([2.0 * place[..., :2], place[..., 2:] + 3.0], dim=-1)
    token = torch.cat([own, sized, 2.0 * floor, stood], dim=-1)
    score = 0.25 * out[:, 3:4].clamp(-12.0, 12.0)
    return torch.cat([score, out[:, 4:].clamp(-12.0, 12.0), token[at]], dim=1)
