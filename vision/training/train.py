"""Trains one network and writes the files of `vision/weights`.

    python -m vision.training.train DATA WEIGHTS finder --minutes 60
    python -m vision.training.train DATA WEIGHTS finder --minutes 60 --resume WEIGHTS/finder.pt

The networks are finder, reader (with the context head) and upright (with the tilt head). Shards
that appear in DATA later join at the next epoch.
The weights and the state for `--resume` are written after each epoch and every five minutes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, Dataset

from vision.training.checkpoints import save
from vision.training.networks import Arrays
from vision.training.shards import mapped, shards_for
from vision.training.tasks import TASKS, Task

_SAVE_S = 300.0
"""Longest time between two saved states."""
_MEMORY = 0.999
"""Share of the running mean of the weights that is kept at each step."""


def main() -> None:
    """Parse the command line and train one network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("net", choices=list(TASKS))
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--epochs", type=float, default=float("inf"))
    length.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=0, help="processes that prepare pictures")
    parser.add_argument("--scenes", type=int, help="in one step")
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--rate", type=float, default=2.5e-3)
    asked = parser.parse_args()
    if asked.epochs == asked.minutes:
        asked.epochs = 20.0
    torch.manual_seed(asked.seed)
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    train(asked)


def train(asked: argparse.Namespace) -> None:
    """Run the epochs and write the weights, a running mean over the steps, as they get better."""
    task = TASKS[asked.net]
    net = task.net().to(asked.device, memory_format=torch.channels_last)
    if asked.resume:
        state = torch.load(asked.resume, map_location=asked.device)
        new = net.load_state_dict(state, strict=False).missing_keys
        print(f"not in {asked.resume}, from scratch: {', '.join(new) or 'nothing'}", flush=True)
    mean = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(_MEMORY), use_buffers=True)
    best = torch.optim.AdamW(net.parameters(), lr=asked.rate, weight_decay=1e-3)
    started = saved = time.monotonic()
    shards: dict[Path, Arrays] = {}
    done = 0.0
    for epoch in range(10_000):
        for path in shards_for(task, asked.data):
            if path not in shards:
                shards[path] = mapped(path, task.keys)
        net.train()
        losses: dict[str, Tensor] = {}
        batches = Batches(
            task, list(shards.values()), asked.scenes or task.scenes, (asked.seed, epoch)
        )
        loader = DataLoader(
            batches, batch_size=None, num_workers=asked.workers, worker_init_fn=_one_thread
        )
        if not len(batches):
            raise SystemExit(f"{asked.net}: {asked.data} has not enough scenes for one batch")
        steps = 0
        for made in loader:
            rate = asked.rate * max(0.01, min(1.0, 0.05 + done * 30) * (1 - done) ** 1.2)
            for group in best.param_groups:
                group["lr"] = rate
            parts = task.loss(net, {key: each.to(asked.device) for key, each in made.items()})
            loss: Tensor = torch.stack(list(parts.values())).sum()
            best.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            best.step()
            mean.update_parameters(net)
            steps += 1
            for name, part in parts.items():
                losses[name] = losses.get(name, torch.zeros_like(part)) + part.detach()
            spent = (time.monotonic() - started) / 60.0
            whole = epoch + steps / len(batches)
            done = max(done, min(1.0, max(spent / asked.minutes, whole / asked.epochs)))
            if time.monotonic() - saved > _SAVE_S:
                save(asked.net, mean.module, asked.weights)
                saved = time.monotonic()
            if done >= 1.0:
                break
        text = " ".join(f"{k}={float(v) / steps:.4f}" for k, v in losses.items())
        print(f"epoch {epoch} {spent:.1f} min {len(shards)} shards {steps} {text}", flush=True)
        save(asked.net, mean.module, asked.weights)
        if done >= 1.0:
            return


class Batches(Dataset[Arrays]):
    """Scenes in random order, changed at random, batch by batch. All follows from the seed."""

    def __init__(self, task: Task, shards: list[Arrays], size: int, seed: tuple[int, ...]) -> None:
        self._task, self._shards, self._size, self._seed = task, shards, size, seed
        counts = [len(shard[task.keys[0]]) for shard in shards]
        which = np.repeat(np.arange(len(counts)), counts)
        row = np.concatenate([np.arange(count) for count in counts])
        self._order = np.random.default_rng(seed).permutation(np.stack([which, row], axis=1))

    def __len__(self) -> int:
        return len(self._order) // self._size

    def __getitem__(self, number: int) -> Arrays:
        if number >= len(self):
            raise IndexError(number)
        part = self._order[number * self._size :][: self._size]
        rows = {
            key: np.stack([self._shards[shard][key][row] for shard, row in part])
            for key in self._task.keys
        }
        return self._task.varied(rows, np.random.default_rng((*self._seed, number)))


def _one_thread(_worker: int) -> None:
    cv2.setNumThreads(1)


if __name__ == "__main__":
    main()
