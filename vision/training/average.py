"""The mean of two states of one network: what each learnt too well by heart may cancel out. On
fresh scenes the mean of the committed finder and one trained on from it had a lower loss than
either; the mean of the readers had one between theirs.

    python -m vision.training.average reader DATA WEIGHTS a.pt b.pt

Both must come from one run, or one of them have begun at the other (`make_weights --resume`).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import nn

from vision.training.showing import show
from vision.training.tasks import LESSONS, Lesson
from vision.training.train import save

_SHARDS = 20
"""So many of them tell the scales well enough."""


def main() -> None:
    """Parse the command line, average, and write what `make_weights` writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("net", choices=list(LESSONS))
    parser.add_argument("data", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--share", type=float, default=0.5, help="of the second")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    first, second = torch.load(asked.first), torch.load(asked.second)
    lesson = LESSONS[asked.net]
    net = lesson.net().to(memory_format=torch.channels_last)
    mixed = {
        key: torch.lerp(value, second[key], asked.share) if value.is_floating_point() else value
        for key, value in first.items()
    }
    net.load_state_dict(mixed)
    measure_scales(lesson, net, sorted(asked.data.glob("scenes_*[0-9].npz")))
    save(asked.net, net, asked.weights)


def measure_scales(lesson: Lesson, net: nn.Module, shards: list[Path]) -> None:
    """Measure anew what the layers are scaled by: the means of two nets' scales fit neither."""
    for layer in net.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.reset_running_stats()
            layer.momentum = None
    net.train()
    show(lesson, net, shards[:: max(1, len(shards) // _SHARDS)], seed=3)


if __name__ == "__main__":
    main()
