"""Trains the finder, the reader with its jury, the network for faces, or that for leaning dice, and
writes what `vision/weights` holds.

    python -m vision.training.train DATA WEIGHTS finder --epochs 20
    python -m vision.training.train DATA WEIGHTS reader --epochs 20
    python -m vision.training.train DATA WEIGHTS face --epochs 20
    python -m vision.training.train DATA WEIGHTS lean --epochs 60

With `--weigher` only what weighs their words learns: the jury of the reader, or the bench of the
network for leaning dice.
Reads what `make_data` wrote (shards that appear later join at the next epoch).
"""

from __future__ import annotations

import argparse
import gzip
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import onnx
import onnx.numpy_helper
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from vision.training.tasks import LESSONS, Arrays, body_of


def main() -> None:
    """Parse the command line and train one network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("net", choices=list(LESSONS))
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--epochs", type=float, default=float("inf"))
    length.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--rate", type=float, default=2.5e-3)
    parser.add_argument("--weigher", action="store_true", help="train only the jury, or the bench")
    asked = parser.parse_args()
    if asked.epochs == asked.minutes:
        asked.epochs = 20.0
    torch.manual_seed(asked.seed)
    torch.set_num_threads(asked.threads)
    cv2.setNumThreads(1)
    train(asked)


def train(asked: argparse.Namespace) -> None:
    """Run the epochs; the weights are written after each."""
    rng = np.random.default_rng(asked.seed)
    lesson = LESSONS[asked.net]
    net = lesson.net().to(memory_format=torch.channels_last)
    if asked.resume:
        new = net.load_state_dict(torch.load(asked.resume), strict=False).missing_keys
        print(f"not in {asked.resume}, from scratch: {', '.join(new) or 'nothing'}", flush=True)
    body = body_of(asked.net, net)
    if asked.weigher:
        if body is net:
            raise SystemExit(f"{asked.net}: nothing weighs what it says")
        body.requires_grad_(False)
    learners = [each for each in net.parameters() if each.requires_grad]
    best = torch.optim.AdamW(learners, lr=asked.rate, weight_decay=1e-3)
    started = time.monotonic()
    shards: dict[Path, Arrays] = {}
    done = 0.0
    for epoch in range(10_000):
        for path in sorted(asked.data.glob("scenes_*.npz")):
            if path not in shards and not path.name.endswith(".part.npz"):
                with np.load(path) as columns:
                    if set(lesson.keys) <= set(columns):
                        shards[path] = {key: columns[key] for key in lesson.keys}
        net.train()
        body.train(not asked.weigher)  # its scales stay as they are, too
        losses: dict[str, float] = {}
        steps = 0
        for rows in _batches(list(shards.values()), lesson.scenes, rng):
            rate = asked.rate * max(0.01, min(1.0, 0.05 + done * 30) * (1 - done) ** 1.2)
            for group in best.param_groups:
                group["lr"] = rate
            parts = lesson.loss(net, rows, rng)
            loss: Tensor = torch.stack(list(parts.values())).sum()
            best.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learners, 5.0)
            best.step()
            steps += 1
            for name, part in parts.items():
                losses[name] = losses.get(name, 0.0) + float(part)
            spent = (time.monotonic() - started) / 60.0
            scenes = sum(len(next(iter(s.values()))) for s in shards.values())
            whole = epoch + steps * lesson.scenes / scenes
            done = max(done, min(1.0, max(spent / asked.minutes, whole / asked.epochs)))
            if done >= 1.0:
                break
        text = " ".join(f"{k}={v / steps:.4f}" for k, v in losses.items())
        print(f"epoch {epoch} {spent:.1f} min {len(shards)} shards {text}", flush=True)
        save(asked.net, net, asked.weights)
        if done >= 1.0:
            return


def save(name: str, net: nn.Module, folder: Path) -> None:
    """Write a network (ONNX operators of set 11; what weighs its words as .npz) and its PyTorch
    state."""
    folder.mkdir(parents=True, exist_ok=True)
    net.eval()
    torch.save(net.state_dict(), folder / f"{name}.pt")
    lesson = LESSONS[name]
    if lesson.weigher:
        layers = net.get_submodule(lesson.weigher).state_dict()
        stored = {key: layer.numpy().astype(np.float32) for key, layer in layers.items()}
        np.savez(folder / f"{lesson.weigher}.npz", allow_pickle=False, **stored)
    axes = {0: "n", 2: "h", 3: "w"} if name == "finder" else {0: "n"}
    _export(body_of(name, net), folder / f"{name}.onnx", lesson.shape, axes)


def _export(net: nn.Module, path: Path, shape: tuple[int, ...], axes: dict[int, str]) -> None:
    torch.onnx.export(
        net,
        (torch.zeros(shape),),
        str(path),
        input_names=["pixels"],
        output_names=["scores"],
        dynamic_axes={"pixels": axes, "scores": axes},
        opset_version=11,
        dynamo=False,
    )
    model = onnx.load(str(path))
    for tensor in model.graph.initializer:
        numbers = onnx.numpy_helper.to_array(tensor)
        if numbers.dtype == np.float32:
            stored = rounded(numbers)
            tensor.CopyFrom(onnx.numpy_helper.from_array(stored, tensor.name))
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(model.SerializeToString(), mtime=0))
    path.unlink()


_MANTISSA = 8
"""Bits that stored numbers keep after their first, so that they can be packed."""


def rounded(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """The nearest numbers whose mantissas end early."""
    spare = 23 - _MANTISSA
    bits = numbers.view(np.uint32) + np.uint32(1 << (spare - 1))
    return (bits & np.uint32(0xFFFFFFFF << spare & 0xFFFFFFFF)).view(np.float32)


def _batches(shards: list[Arrays], size: int, rng: np.random.Generator) -> Iterator[Arrays]:
    counts = [len(next(iter(s.values()))) for s in shards]
    index = np.stack(
        [np.repeat(np.arange(len(counts)), counts), np.concatenate([np.arange(c) for c in counts])],
        1,
    )
    rng.shuffle(index)
    keys = list(shards[0])
    for start in range(0, len(index) - size + 1, size):
        part = index[start : start + size]
        yield {key: np.stack([shards[s][key][i] for s, i in part]) for key in keys}


if __name__ == "__main__":
    main()
