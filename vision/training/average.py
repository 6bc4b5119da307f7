"""Averages states of a network that `train` wrote, one run going on from the other.

    python -m vision.training.average DATA MEAN upright ONE/upright.pt TWO/upright.pt

The weights of such runs lie so close together that their mean is a network, too, and reads more
than each of them (vision/weights/README.md). Its norms are measured on DATA.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import Tensor, nn

from vision.training.checkpoints import save, show
from vision.training.shards import shards_for
from vision.training.tasks import TASKS

_SHARDS, _SEED = 16, 5
"""Shards drawn to measure the norms on, and what draws them (chosen, not measured)."""


def main() -> None:
    """Parse the command line and average."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("net", choices=list(TASKS))
    parser.add_argument("states", type=Path, nargs="+")
    asked = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    states = [torch.load(path, map_location="cpu") for path in asked.states]
    save(asked.net, averaged(asked.net, states, asked.data), asked.weights)


def averaged(name: str, states: Sequence[dict[str, Tensor]], data: Path) -> nn.Module:
    """Return a network with the mean of some states, its norms measured on random shards."""
    task = TASKS[name]
    net = task.net().to(memory_format=torch.channels_last)
    mean = {key: sum(state[key] / len(states) for state in states) for key in states[0]}
    counters = {key: first for key, first in states[0].items() if not first.is_floating_point()}
    net.load_state_dict(mean | counters)
    norms = [part for part in net.modules() if isinstance(part, nn.BatchNorm2d)]
    usual = [norm.momentum for norm in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the mean of all that is shown
    net.train()
    shards = shards_for(task, data)
    drawn = np.random.default_rng(_SEED).permutation(len(shards))[:_SHARDS]
    show(task, net, [shards[n] for n in drawn], _SEED)
    for norm, momentum in zip(norms, usual, strict=True):
        norm.momentum = momentum
    return net.eval()


if __name__ == "__main__":
    main()
