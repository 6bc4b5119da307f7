"""Trains the eye's two networks and writes them as ONNX.

    python -m vision.training.make_weights DATA_DIR WEIGHTS_DIR finder|reader --epochs 8 --seed 1

Reads what `make_data` wrote (shards that appear later join at the next epoch).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from vision.training.make_data import PATCH, PATCH_EDGES
from vision.training.nets import Finder, Reader

CROP = 48
CROP_EDGES = 1.75
UNKNOWN = 3.0
"""Stands for the floor's lean where the reader is not told it (its first look)."""
PIP_CELLS = 12
Arrays = dict[str, NDArray[Any]]


def main() -> None:
    """Parse the command line and train one network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("net", choices=["finder", "reader"])
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--rate", type=float, default=2.5e-3)
    asked = parser.parse_args()
    torch.manual_seed(asked.seed)
    torch.set_num_threads(asked.threads)
    cv2.setNumThreads(1)
    train(asked)


def train(asked: argparse.Namespace) -> None:
    """Run the epochs; the weights are written after each."""
    rng = np.random.default_rng(asked.seed)
    finder = asked.net == "finder"
    net: nn.Module = Finder() if finder else Reader()
    if asked.resume:
        resume(net, torch.load(asked.resume))
    batch = 16 if finder else 128
    best = torch.optim.AdamW(net.parameters(), lr=asked.rate, weight_decay=1e-3)
    started = time.monotonic()
    shards: dict[Path, Arrays] = {}
    done = 0.0
    for epoch in range(10_000):
        for path in sorted(asked.data.glob("frames_*.npz" if finder else "patches_*.npz")):
            if path not in shards and not path.name.endswith(".part.npz"):
                shards[path] = dict(np.load(path))
                later = path.with_name(f"up_{path.stem}.npy")
                if later.exists():
                    shards[path]["up"] = np.load(later)
        net.train()
        losses: dict[str, float] = {}
        steps = 0
        for rows in _batches(list(shards.values()), batch, rng):
            rate = asked.rate * max(0.02, min(1.0, 0.05 + done * 30) * (1 - done) ** 1.2)
            for group in best.param_groups:
                group["lr"] = rate
            parts = finder_loss(net, rows, rng) if finder else reader_loss(net, rows, rng)
            loss: Tensor = torch.stack(list(parts.values())).sum()
            best.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            best.step()
            steps += 1
            for name, part in parts.items():
                losses[name] = losses.get(name, 0.0) + float(part)
            spent = (time.monotonic() - started) / 60.0
            whole = epoch + steps * batch / sum(len(s["pixels"]) for s in shards.values())
            done = max(done, min(1.0, max(spent / asked.minutes, whole / asked.epochs)))
            if done >= 1.0:
                break
        text = " ".join(f"{k}={v / steps:.4f}" for k, v in losses.items())
        print(f"epoch {epoch} {spent:.1f} min {len(shards)} shards {text}", flush=True)
        save(net, asked.weights, asked.net)
        if done >= 1.0:
            return


def resume(net: nn.Module, state: dict[str, Tensor]) -> None:
    """Take over earlier weights; a head that has grown keeps its first channels."""
    own = net.state_dict()
    for name, value in state.items():
        if own[name].shape == value.shape:
            own[name].copy_(value)
        else:
            own[name][: len(value)].copy_(value)


def save(net: nn.Module, folder: Path, name: str) -> None:
    """Write a network as ONNX (operators of set 11) and its PyTorch state beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.save(net.state_dict(), folder / f"{name}.pt")
    net.eval()
    shape = (1, 3, 288, 384) if name == "finder" else (1, 6, CROP, CROP)
    axes = {0: "n", 2: "h", 3: "w"} if name == "finder" else {0: "n"}
    torch.onnx.export(
        net,
        (torch.zeros(shape),),
        str(folder / f"{name}.onnx"),
        input_names=["pixels"],
        output_names=["scores"],
        dynamic_axes={"pixels": axes, "scores": axes},
        opset_version=11,
        dynamo=False,
    )


def _batches(shards: list[Arrays], size: int, rng: np.random.Generator) -> Iterator[Arrays]:
    counts = [len(s["pixels"]) for s in shards]
    index = np.stack(
        [np.repeat(np.arange(len(counts)), counts), np.concatenate([np.arange(c) for c in counts])],
        1,
    )
    rng.shuffle(index)
    keys = list(shards[0])
    for start in range(0, len(index) - size + 1, size):
        part = index[start : start + size]
        yield {key: np.stack([shards[s][key][i] for s, i in part]) for key in keys}


def _tinted(pixels: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Pictures (N, H, W, 3) in 0.0-1.0 with brightness, tint and gamma of their own."""
    count = len(pixels)
    x = pixels.astype(np.float32) / 255.0
    gain = np.exp(rng.normal(0, 0.18, (count, 1, 1, 1)) + rng.normal(0, 0.03, (count, 1, 1, 3)))
    gamma = np.exp(rng.normal(0, 0.12, (count, 1, 1, 1)))
    x = np.clip(x, 1e-4, 1.0) ** gamma.astype(np.float32) * gain.astype(np.float32)
    noise = np.abs(rng.normal(0, 0.012, (count, 1, 1, 1))).astype(np.float32)
    x += rng.standard_normal(x.shape, dtype=np.float32) * noise
    return np.clip(x, 0.0, 1.0)


def finder_loss(net: nn.Module, rows: Arrays, rng: np.random.Generator) -> dict[str, Tensor]:
    """Focal loss on the heat, the rest at centres or by mask."""
    pixels, dice, masks = rows["pixels"], rows["dice"].copy(), rows["masks"]
    up = rows["up"].astype(np.float32)
    height, width = pixels.shape[1:3]
    if rng.random() < 0.5:
        pixels, masks = pixels[:, :, ::-1], masks[..., ::-1]
        up = up[..., ::-1] * np.array([-1, 1], np.float32)[:, None, None]
        dice[..., 0] = width - 1 - dice[..., 0]
    if rng.random() < 0.5:
        pixels, masks = pixels[:, ::-1], masks[..., ::-1, :]
        up = up[..., ::-1, :] * np.array([1, -1], np.float32)[:, None, None]
        dice[..., 1] = height - 1 - dice[..., 1]
    count, rows_h, columns = len(pixels), height // 4, width // 4
    heat = np.zeros((count, rows_h, columns), np.float32)
    weight = np.ones_like(heat)
    aim = np.zeros((count, 4, rows_h, columns), np.float32)
    at = np.zeros_like(heat)
    y, x = np.mgrid[0:rows_h, 0:columns].astype(np.float32)
    for n in range(count):
        for cx, cy, edge, _in, visible, moving, cocked, _value, present in dice[n]:
            if not present:
                continue
            u, v = (cx + 0.5) / 4 - 0.5, (cy + 0.5) / 4 - 0.5
            away = (x - u) ** 2 + (y - v) ** 2
            if moving or visible < 0.3:
                weight[n][away < (edge / 4 * (1.6 if moving else 0.8)) ** 2] = 0.0
                continue
            i, j = round(float(u)), round(float(v))
            if not (0 <= i < columns and 0 <= j < rows_h):
                continue
            sigma = max(0.65, edge / 4 * 0.13)
            heat[n] = np.maximum(heat[n], np.exp(-away / (2 * sigma**2)))
            heat[n, j, i] = 1.0
            for a in range(max(0, j - 1), min(rows_h, j + 2)):
                for b in range(max(0, i - 1), min(columns, i + 2)):
                    if heat[n, a, b] > 0.3 and (a - v) ** 2 + (b - u) ** 2 <= away[a, b] + 1e-6:
                        aim[n, :, a, b] = (np.log(edge / 16.0), u - b, v - a, cocked)
                        at[n, a, b] = 1.0
            weight[n, j, i] = 1.0
    inputs = torch.from_numpy(np.ascontiguousarray(_tinted(pixels, rng).transpose(0, 3, 1, 2)))
    out = net(inputs)
    target, mask, place = torch.from_numpy(heat), torch.from_numpy(weight), torch.from_numpy(at)
    goal = torch.from_numpy(aim)
    score = torch.sigmoid(out[:, 0]).clamp(1e-5, 1 - 1e-5)
    hot = (target > 0.999).float()
    gain = -hot * (1 - score) ** 2 * torch.log(score)
    lose = -(1 - hot) * (1 - target) ** 4 * score**2 * torch.log(1 - score) * mask
    number = hot.sum().clamp(min=1.0)
    spots = place.sum().clamp(min=1.0)
    wanted = torch.from_numpy(np.ascontiguousarray(masks).astype(np.float32) / 255.0)
    return {
        "heat": (gain + lose).sum() / number,
        "size": 1.5
        * (F.smooth_l1_loss(out[:, 1], goal[:, 0], reduction="none", beta=0.1) * place).sum()
        / spots,
        "offset": (
            F.smooth_l1_loss(out[:, 2:4], goal[:, 1:3], reduction="none", beta=0.3).sum(1) * place
        ).sum()
        / spots,
        "cocked": 0.5
        * (
            F.binary_cross_entropy_with_logits(out[:, 7], goal[:, 3], reduction="none") * place
        ).sum()
        / spots,
        "up": 4.0 * F.smooth_l1_loss(out[:, 8:10], torch.from_numpy(up.copy()), beta=0.1),
        "masks": F.binary_cross_entropy_with_logits(out[:, 4:7], wanted),
    }


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
    """Turn, mirror, shift and scale patches into the reader's crops, labels with them."""
    count = len(rows["pixels"])
    pixels = np.empty((count, CROP, CROP, 3), np.uint8)
    corners = np.empty((count, 4, 2), np.float32)
    pips = np.full((count, 6, 2), np.nan, np.float32)
    place = np.empty((count, 3), np.float32)
    doubt = np.where(rng.random((count, 1)) < 0.1, 0.15, 0.05)
    unknown = rng.random(count) < 0.45
    up = rows["up"] + rng.normal(0, 1, (count, 2)) * doubt
    for n in range(count):
        angle = rng.uniform(0, 2 * np.pi)
        zoom = np.exp(rng.normal(0, 0.07))
        scale = (CROP / CROP_EDGES) / (PATCH / PATCH_EDGES) * zoom
        mirror = rng.choice([-1.0, 1.0])
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        turn = turn * np.array([mirror, 1.0])
        shift = np.clip(rng.normal(0, 0.07, 2), -0.2, 0.2) * CROP / CROP_EDGES
        matrix = np.zeros((2, 3))
        matrix[:, :2] = turn * scale
        matrix[:, 2] = (CROP - 1) / 2 + shift - matrix[:, :2] @ np.full(2, (PATCH - 1) / 2)
        cv2.warpAffine(
            rows["pixels"][n], matrix, (CROP, CROP), pixels[n],
            flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE,
        )  # fmt: skip
        corners[n] = rows["corners"][n] @ matrix[:, :2].T + matrix[:, 2]
        pips[n] = rows["pips"][n] @ matrix[:, :2].T + matrix[:, 2]
        place[n, :2] = UNKNOWN if unknown[n] else turn @ up[n]
        place[n, 2] = rows["place"][n, 2] / zoom
    return {
        "pixels": pixels,
        "corners": corners,
        "pips": pips,
        "place": place,
        "labels": rows["labels"],
    }


def _density(pips: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each pip as one unit of mass over the four cells round it: (N, 12, 12)."""
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


def planes(place: NDArray[np.float32]) -> NDArray[np.float32]:
    """How the floor leans there and the share of a die (N, 3) as planes (N, 3, 48, 48)."""
    scaled = place * np.array([2.0, 2.0, 10.0], np.float32)
    return np.broadcast_to(scaled[:, :, None, None], (len(place), 3, CROP, CROP))


def reader_loss(net: nn.Module, rows: Arrays, rng: np.random.Generator) -> dict[str, Tensor]:
    """What each label says counts only where the picture can show it."""
    assert isinstance(net, Reader)
    made = crops(rows, rng)
    image = _tinted(made["pixels"], rng).transpose(0, 3, 1, 2)
    inputs = torch.from_numpy(
        np.concatenate([image, planes(made["place"])], axis=1).astype(np.float32)
    )
    out, density = net.both(inputs)
    labels = torch.from_numpy(made["labels"])
    die, value, colour = labels[:, 0], labels[:, 1].long(), labels[:, 2].long()
    cocked, moving, visible = labels[:, 3], labels[:, 4], labels[:, 5]
    shown = die * (visible > 0.35).float()
    still = shown * (1 - moving)
    legible = still * (value > 0).float() * (visible > 0.75).float()

    def mean(loss: Tensor, mask: Tensor) -> Tensor:
        return (loss * mask).sum() / mask.sum().clamp(min=1.0)

    sure = ((die < 0.5) | (visible > 0.35) | (moving > 0.5)).float()
    is_die = die * (1 - moving)
    quad = torch.from_numpy(quad_numbers((made["corners"] - (CROP - 1) / 2) / (CROP / CROP_EDGES)))
    bce = F.binary_cross_entropy_with_logits
    parts = {
        "die": mean(bce(out[:, 0], is_die, reduction="none"), sure * (1 - moving)),
        "value": mean(
            F.cross_entropy(out[:, 1:7], (value - 1).clamp(min=0), reduction="none"), legible
        ),
        "colour": mean(F.cross_entropy(out[:, 7:13], colour, reduction="none"), still),
        "cocked": mean(
            bce(out[:, 13], cocked, reduction="none", pos_weight=torch.tensor(4.0)), still
        ),
        "moving": mean(bce(out[:, 14], moving, reduction="none"), shown),
        "visible": mean(bce(out[:, 15], visible, reduction="none"), die * (1 - moving)),
        "quad": 2.0
        * mean(F.smooth_l1_loss(out[:, 16:23], quad, reduction="none", beta=0.05).sum(1), still),
    }
    wanted = torch.from_numpy(_density(made["pips"]))
    cells = ((density[:, 0] - wanted) ** 2).sum((1, 2))
    count = (density[:, 0].sum((1, 2)) - wanted.sum((1, 2))).abs()
    parts["pips"] = mean(cells + 0.3 * count, legible)
    return parts


if __name__ == "__main__":
    main()
