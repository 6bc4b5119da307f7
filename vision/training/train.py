"""Trains one network and writes the files of `vision/weights`.

    python -m vision.training.train DATA WEIGHTS finder --minutes 60
    python -m vision.training.train DATA WEIGHTS finder --minutes 60 --resume WEIGHTS/finder.pt

The networks are finder, reader (with the context head), face and tilt (with the tilt head). With
`--head` only the head is trained. Shards that appear in DATA later join at the next epoch.
The weights and the state for `--resume` are written after each epoch and every five minutes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import Tensor, nn

from vision.training.checkpoints import save, shards_for
from vision.training.tasks import LESSONS, Arrays, body_of

_SAVE_S = 300.0
"""Longest time between two saved states."""


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
    parser.add_argument("--head", action="store_true", help="train only the head")
    asked = parser.parse_args()
    if asked.epochs == asked.minutes:
        asked.epochs = 20.0
    torch.manual_seed(asked.seed)
    torch.set_num_threads(asked.threads)
    cv2.setNumThreads(1)
    train(asked)


def train(asked: argparse.Namespace) -> None:
    """Run the epochs and write the weights as they get better."""
    rng = np.random.default_rng(asked.seed)
    lesson = LESSONS[asked.net]
    net = lesson.net().to(memory_format=torch.channels_last)
    if asked.resume:
        new = net.load_state_dict(torch.load(asked.resume), strict=False).missing_keys
        print(f"not in {asked.resume}, from scratch: {', '.join(new) or 'nothing'}", flush=True)
    body = body_of(asked.net, net)
    if asked.head:
        if body is net:
            raise SystemExit(f"{asked.net}: nothing weighs what it says")
        body.requires_grad_(False)
    learners = [each for each in net.parameters() if each.requires_grad]
    best = torch.optim.AdamW(learners, lr=asked.rate, weight_decay=1e-3)
    started = saved = time.monotonic()
    shards: dict[Path, Arrays] = {}
    done = 0.0
    for epoch in range(10_000):
        for path in shards_for(lesson, asked.data):
            if path not in shards:
                with np.load(path) as columns:
                    shards[path] = {key: columns[key] for key in lesson.keys}
        net.train()
        body.train(not asked.head)  # its scales stay as they are, too
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
                losses[name] = losses.get(name, 0.0) + float(part.detach())
            spent = (time.monotonic() - started) / 60.0
            scenes = sum(len(next(iter(s.values()))) for s in shards.values())
            whole = epoch + steps * lesson.scenes / scenes
            done = max(done, min(1.0, max(spent / asked.minutes, whole / asked.epochs)))
            if time.monotonic() - saved > _SAVE_S:
                save(asked.net, net, asked.weights)
                net.train()
                body.train(not asked.head)
                saved = time.monotonic()
            if done >= 1.0:
                break
        text = " ".join(f"{k}={v / steps:.4f}" for k, v in losses.items())
        print(f"epoch {epoch} {spent:.1f} min {len(shards)} shards {text}", flush=True)
        save(asked.net, net, asked.weights)
        if done >= 1.0:
            return


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
