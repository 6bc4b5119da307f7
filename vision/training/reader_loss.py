"""Loss of the reader and the context head, scene by scene: all dice of a picture at once."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from vision.detector.models import CROP, CROP_EDGES, MIDDLE, PIP_CELLS, SCORES
from vision.training.augment import other_lights, other_plastics, repainted, tinted
from vision.training.networks import Arrays, Batch, ReaderWithContext, mixed_precision
from vision.training.patches import PATCH, PATCH_EDGES
from vision.training.surfaces import chipped, repipped, replanted

SLOPES = (0.65, 0.8, 0.95, 1.15, 1.4, 1.7)
SLOPE, LIKELY, LIKELY_SPREAD = 1.05, 1.2, 0.25
GUESS, FLAT, ROUNDS = 0.12, 0.03, 3
SPREADS = (0.015, 0.6)
ODD = 1.5
"""See `vision.detector.tilt`."""
NORMAL, SPREAD = slice(23, 25), 25
_REPAINTED = 0.18
"""Share of scenes in colours of no game: these train values and outlines only."""
_REPIPPED, _CHIPPED, _REPLANTED = 0.12, 0.2, 0.25
"""Shares of dice in full view whose pips are painted, with marks beside the pips, and on the floor
of another picture."""
_FULL_VIEW = 0.97
"""Visible share of a top face above which it may be changed so."""
_ZOOM, _SHIFT, _FURTHEST = 0.09, 0.1, 0.28
"""Errors of size (log) and middle (edges) with which close-ups are cut."""


def quad_numbers(corners: NDArray[Any]) -> NDArray[np.float32]:
    """Corners (N, 4, 2) as (N, 7): centre, cos and sin of four times the angle, log half
    diagonal, and the skew as a complex number; the same for any first corner or direction."""
    z = corners[..., 0] + 1j * corners[..., 1]
    turn = np.array([1, 1j, -1, -1j])
    a, b = (z * turn.conj()).mean(axis=1), (z * turn).mean(axis=1)
    a, b = np.where(np.abs(a) >= np.abs(b), a, b), np.where(np.abs(a) >= np.abs(b), b, a)
    size = np.abs(a) + 1e-6
    four, skew, middle = (a / size) ** 4, a * b / size**2, z.mean(axis=1)
    return np.stack(
        [middle.real, middle.imag, four.real, four.imag, np.log(size), skew.real, skew.imag], axis=1
    ).astype(np.float32)


def crops(rows: Arrays, rng: np.random.Generator) -> Arrays:
    """Turn and mirror scenes, shift and scale their close-ups; labels with them.

    Returns:
        pixels (S, P, CROP, CROP, 3), corners, pips, place (x, y, log size), up (slant of the
        floor, as the finder estimates it), normal (of the top face), labels, present.
    """
    scenes, patches = rows["patch_present"].shape
    pixels = np.zeros((scenes, patches, CROP, CROP, 3), np.uint8)
    corners = np.zeros((scenes, patches, 4, 2), np.float32)
    pips = np.full((scenes, patches, 6, 2), np.nan, np.float32)
    place = np.zeros((scenes, patches, 3), np.float32)
    up = np.zeros((scenes, patches, 2), np.float32)
    normal = np.zeros((scenes, patches, 2), np.float32)
    for s in range(scenes):
        angle = rng.uniform(0, 2 * np.pi)
        mirror = rng.choice([-1.0, 1.0])
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        turn = turn * np.array([mirror, 1.0])
        lean = rows["patch_up"][s] + rng.normal(0, 0.1, 2)
        for p in np.flatnonzero(rows["patch_present"][s]):
            zoom = np.exp(rng.normal(0, _ZOOM))
            scale = (CROP / CROP_EDGES) / (PATCH / PATCH_EDGES) * zoom
            shift = np.clip(rng.normal(0, _SHIFT, 2), -_FURTHEST, _FURTHEST) * CROP / CROP_EDGES
            matrix = np.zeros((2, 3))
            matrix[:, :2] = turn * scale
            matrix[:, 2] = (CROP - 1) / 2 + shift - matrix[:, :2] @ np.full(2, (PATCH - 1) / 2)
            cv2.warpAffine(
                rows["patch_pixels"][s, p], matrix, (CROP, CROP), pixels[s, p],
                flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE,
            )  # fmt: skip
            corners[s, p] = rows["patch_corners"][s, p] @ matrix[:, :2].T + matrix[:, 2]
            pips[s, p] = rows["patch_pips"][s, p] @ matrix[:, :2].T + matrix[:, 2]
            place[s, p, :2] = turn @ rows["patch_place"][s, p, :2]
            place[s, p, 2] = np.log(rows["patch_place"][s, p, 2] / zoom)
            up[s, p] = turn @ lean[p]
            normal[s, p] = turn @ rows["patch_top"][s, p]
    return {
        "pixels": pixels,
        "corners": corners,
        "pips": pips,
        "place": place,
        "up": up,
        "normal": normal,
        "labels": rows["patch_labels"],
        "present": rows["patch_present"],
    }


def _density(pips: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each pip as one unit of mass over the four cells round it: (N, PIP_CELLS, PIP_CELLS)."""
    count = len(pips)
    out = np.zeros((count, PIP_CELLS, PIP_CELLS), np.float32)
    cell = CROP / PIP_CELLS
    for n in range(count):
        for px, py in pips[n]:
            if np.isnan(px):
                continue
            u, v = (px + 0.5) / cell - 0.5, (py + 0.5) / cell - 0.5
            i, j = int(np.floor(u)), int(np.floor(v))
            for di in (0, 1):
                for dj in (0, 1):
                    if 0 <= i + di < PIP_CELLS and 0 <= j + dj < PIP_CELLS:
                        out[n, j + dj, i + di] += abs(1 - di - (u - i)) * abs(1 - dj - (v - j))
    return out


def tokens(logits: Tensor, place: Tensor, up: Tensor, shade: Tensor, die: Tensor) -> Tensor:
    """Input of the context head for dice (S, P, TOKEN); `vision.detector.context` builds the same.

    Args:
        logits: (S, P, SCORES + 1 + FEATURES).
        place: (S, P, 3) from the middle of the picture, and log size.
        up: (S, P, 2) slant of the floor there.
        shade: (S, P, 3) mean log colour.
        die: (S, P) how surely it is one.
    """
    scores = logits[..., :SCORES].clamp(-12.0, 12.0) * logits.new_tensor([0.25] * 16 + [1.0] * 10)
    pips = logits[..., SCORES : SCORES + 1] * (PIP_CELLS**2 / 6.0)
    features = logits[..., SCORES + 1 :].clamp(-12.0, 12.0)
    pose = pose_inputs(logits[..., NORMAL], logits[..., SPREAD].exp(), place, up, die)
    return torch.cat([scores, pips, features, shade, pose], dim=-1)


def pose_inputs(own: Tensor, spread: Tensor, place: Tensor, up: Tensor, die: Tensor) -> Tensor:
    """Place and pose of each die (S, P, POSE), as both heads get them;
    `vision.detector.tilt.FloorFit.inputs` computes the same."""
    off, floor, slope, fits, odd = off_the_floor(own, spread, place[..., :2], up, die)
    far = off.norm(dim=-1, keepdim=True)
    sized = torch.cat([2.0 * place[..., :2], place[..., 2:] + 3.0], dim=-1)
    pose = torch.cat([off, far, fits[..., None], slope.expand_as(off)], dim=-1)
    return torch.cat([sized, 2.0 * floor.expand_as(off), 5.0 * pose, odd[..., None]], dim=-1)


def off_the_floor(
    own: Tensor, spread: Tensor, place: Tensor, up: Tensor, die: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """How each die stands off the floor of the others; `vision.detector.tilt` does the same.

    Returns:
        (S, P, 2) the difference of the normals, (S, 1, 2) the floor's normal, (S, 1, 1) how the
        slope differs from SLOPE, (S, P) how well each die fits, and (S, P) how far off it
        is for how surely that is known.
    """
    slopes = own.new_tensor(SLOPES)
    sight = torch.cat(
        [
            place[:, None] * slopes[:, None, None],
            torch.ones_like(place[:, None, :, :1]).expand(-1, len(SLOPES), -1, -1),
        ],
        -1,
    )
    sight = sight / sight.norm(dim=-1, keepdim=True)
    mine, guess = normals(own[:, None], sight), normals(up[:, None], sight)
    sure = (die > 0.5).float()[:, None]
    wide = (spread.clamp(*SPREADS) ** 2 + FLAT**2)[:, None]
    known = GUESS**-2
    with torch.no_grad():
        start = (guess * sure[..., None]).sum(2) / (sure.sum(2)[..., None] + 1e-3)
        weight = sure.expand(-1, len(SLOPES), -1)
        for _ in range(ROUNDS):
            heavy = (weight / wide)[..., None]
            floor = ((heavy * mine).sum(2) + start * known) / (heavy.sum(2) + known)
            apart = ((mine - floor[:, :, None]) ** 2).sum(-1) / (ODD**2 * wide)
            weight = sure / (1.0 + apart)
        loss = (sure * torch.log1p(apart)).sum(2) * ODD**2
        loss = loss + ((floor - start) ** 2).sum(-1) * known
        cost = loss + ((slopes - LIKELY) / LIKELY_SPREAD) ** 2
        share = torch.softmax(-cost / 2.0, dim=1)[:, :, None]
        heavy = (weight / wide)[..., None]
        mass = heavy.sum(2, keepdim=True) + known - heavy
    others = (floor[:, :, None] * (mass + heavy) - heavy * mine.detach()) / mass
    off = mine - others
    odd = torch.sqrt((off**2).sum(-1) / (wide + 1.0 / mass[..., 0]) + 1e-6).clamp(max=8.0)
    slope = (share[:, :, 0] * slopes).sum(1)[:, None, None] - SLOPE
    return (
        (share[..., None] * off).sum(1),
        (share * floor).sum(1, keepdim=True),
        slope,
        (share * weight).sum(1),
        (share * odd).sum(1),
    )


def spread_loss(apart: Tensor, log_spread: Tensor) -> Tensor:
    """Negative log likelihood of squared errors: Student's t in two dimensions with 4 degrees of
    freedom, so that a few outliers do not widen all."""
    log_spread = log_spread.clamp(-6.0, 1.0)
    return 2.0 * log_spread + 3.0 * torch.log1p(apart / (4.0 * torch.exp(2.0 * log_spread)))


def normals(across: Tensor, sight: Tensor) -> Tensor:
    """Normals (..., 2: x and y) from their part (..., 2) across the line of sight (..., 3)."""
    depth = -(across * sight[..., :2]).sum(-1, keepdim=True) / sight[..., 2:]
    sine = (across**2).sum(-1, keepdim=True) + depth**2
    return across - torch.sqrt((1.0 - sine).clamp(min=0.05)) * sight[..., :2]


def shades(image: Tensor) -> Tensor:
    """Mean log colour (N, 3) of the middle of crops (N, 3, CROP, CROP)."""
    return torch.log(image[:, :, MIDDLE, MIDDLE].mean((2, 3)) + 0.02)


def _resurfaced(light: NDArray[np.float32], flat: Arrays, rng: np.random.Generator) -> Any:
    """Crops (N, CROP, CROP, 3) with other pips, marks and floors."""
    die, _, _, cocked, moving, visible = flat["labels"].T[:6]
    has_pips = np.isfinite(flat["pips"][:, 0, 0])
    whole = (die > 0.5) & has_pips & (moving < 0.5) & (visible > _FULL_VIEW)

    def some(share: float, among: NDArray[np.bool_]) -> NDArray[np.intp]:
        return np.flatnonzero(among & (rng.random(len(among)) < share))

    corners, pips = flat["corners"], flat["pips"]
    light = repipped(light, corners, pips, rng, some(_REPIPPED, whole))
    light = chipped(light, corners, pips, rng, some(_CHIPPED, whole))
    upright = whole & (cocked < 0.5) & np.isfinite(flat["normal"][:, 0])
    floors = np.flatnonzero(die < 0.5)
    return replanted(light, corners, flat["normal"], rng, some(_REPLANTED, upright), floors)


def varied_close_ups(rows: Arrays, rng: np.random.Generator) -> Arrays:
    """Close-ups as the reader cuts them, of other dice under other lamps, with their labels.

    Args:
        rows: Of S scenes with P close-ups, the columns named in `patches.KEYS`.
        rng: For the changes made to the pictures.
    Returns:
        Of the N close-ups that are present: image (N, 3, CROP, CROP), labels (N, 7), own_colours
        (N,), quad (N, 7), normal (N, 2), density (N, PIP_CELLS, PIP_CELLS). Of all: present
        (S, P), place (S, P, 3), up (S, P, 2).
    """
    made = crops(rows, rng)
    scenes, patches = made["present"].shape
    at = np.flatnonzero(made["present"].reshape(-1))
    flat = {k: v.reshape(scenes * patches, *v.shape[2:])[at] for k, v in made.items()}
    light = tinted(made["pixels"].reshape(-1, CROP, CROP, 3), rng, groups=patches)[at]
    light = _resurfaced(light, flat, rng)
    light = other_plastics(light, rng, flat["labels"][:, 0] > 0.5)
    own_colours = np.ones(len(at), np.float32)
    for scene in np.flatnonzero(rng.random(scenes) < _REPAINTED):
        here = at // patches == scene
        light[here], own_colours[here] = repainted(light[here], rng), 0.0
    light = other_lights(light, rng)
    return {
        "image": np.ascontiguousarray(light.transpose(0, 3, 1, 2)),
        "labels": flat["labels"],
        "own_colours": own_colours,
        "quad": quad_numbers((flat["corners"] - (CROP - 1) / 2) / (CROP / CROP_EDGES)),
        "normal": flat["normal"],
        "density": _density(flat["pips"]),
        "present": made["present"],
        "place": made["place"],
        "up": made["up"],
    }


def reader_loss(net: nn.Module, made: Batch) -> dict[str, Tensor]:
    """Losses of all outputs; a label counts only where the picture can show it.

    Args:
        net: The reader with its context head.
        made: See `varied_close_ups`.
    """
    assert isinstance(net, ReaderWithContext)
    scenes, patches = made["present"].shape
    there = made["present"].flatten().nonzero()[:, 0]
    image = made["image"].contiguous(memory_format=torch.channels_last)
    with mixed_precision(image):
        logits, density = net.reader.both(image)
    logits, density = logits.float(), density.float()
    out = logits[:, :SCORES]
    labels = made["labels"]
    die, value, colour = labels[:, 0], labels[:, 1].long(), labels[:, 2].long()
    cocked, moving, visible = labels[:, 3], labels[:, 4], labels[:, 5]
    shown = die * (visible > 0.35).float()
    still = shown * (1 - moving)
    named = still * made["own_colours"]
    legible = still * (value > 0).float() * (visible > 0.75).float()

    def mean(loss: Tensor, mask: Tensor) -> Tensor:
        return (loss * mask).sum() / mask.sum().clamp(min=1.0)

    def spread(values: Tensor) -> Tensor:
        empty = values.new_zeros(scenes * patches, *values.shape[1:])
        return empty.index_copy(0, there, values).view(scenes, patches, *values.shape[1:])

    weight = spread(torch.sigmoid(out[:, 0]).detach())
    token = tokens(spread(logits), made["place"], made["up"], spread(shades(image)), weight)
    context = net.context(token, weight)
    corrections = context.reshape(scenes * patches, -1)[there]
    sure = ((die < 0.5) | (visible > 0.35) | (moving > 0.5)).float()
    is_die = die * (1 - moving)
    quad, top = made["quad"], made["normal"]
    top_known = torch.isfinite(top[:, 0]).float()
    shows = still * (visible > 0.6).float() * (1.0 - 0.5 * cocked) * top_known
    apart = ((out[:, NORMAL].detach() - top.nan_to_num()) ** 2).sum(1)
    bce = F.binary_cross_entropy_with_logits
    parts = {
        "die": mean(bce(out[:, 0], is_die, reduction="none"), sure * (1 - moving)),
        "value": mean(
            F.cross_entropy(out[:, 1:7], (value - 1).clamp(min=0), reduction="none"), legible
        ),
        "colour": 0.4 * mean(F.cross_entropy(out[:, 7:13], colour, reduction="none"), named),
        "cocked": 0.5 * mean(bce(out[:, 13], cocked, reduction="none"), still),
        "moving": mean(bce(out[:, 14], moving, reduction="none"), torch.maximum(shown, 1 - die)),
        "visible": mean(bce(out[:, 15], visible, reduction="none"), die * (1 - moving)),
        "quad": 2.0
        * mean(F.smooth_l1_loss(out[:, 16:23], quad, reduction="none", beta=0.05).sum(1), still),
        "normal": 6.0
        * mean(
            F.smooth_l1_loss(out[:, NORMAL], top.nan_to_num(), reduction="none", beta=0.05).sum(1),
            shows,
        ),
        "spread": 0.1 * mean(spread_loss(apart, out[:, SPREAD]), shows),
        "context_colour": mean(
            F.cross_entropy(out[:, 7:13] + corrections[:, :6], colour, reduction="none"), named
        ),
        "context_cocked": 2.0
        * mean(bce(out[:, 13] + corrections[:, 6], cocked, reduction="none"), still),
    }
    wanted = made["density"]
    cells = ((density[:, 0] - wanted) ** 2).sum((1, 2))
    count = (density[:, 0].sum((1, 2)) - wanted.sum((1, 2))).abs()
    parts["pips"] = mean(cells + 0.3 * count, legible)
    return parts
