"""Shows a network the training set without teaching it, for what its layers are scaled by."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch
from torch import nn

from vision.training.tasks import Lesson

_SCENES = 20


def show(lesson: Lesson, net: nn.Module, shards: Iterable[Path], seed: int) -> None:
    """Run a network over all scenes of some shards of `make_data`.

    Args:
        lesson: How it is trained.
        net: In whichever mode it is to be; its weights stay as they are.
        shards: Files of the training set.
        seed: For the changes made to the pictures.
    """
    rng = np.random.default_rng(seed)
    for shard in shards:
        with np.load(shard) as columns:
            rows = {key: columns[key] for key in lesson.keys}
        for first in range(0, len(rows[lesson.keys[0]]), _SCENES):
            part = {key: column[first : first + _SCENES] for key, column in rows.items()}
            with torch.no_grad():
                lesson.loss(net, part, rng)
