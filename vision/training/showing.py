"""Shows a network the training set without teaching it, for what its layers are scaled by."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch
from torch import nn

from vision.training import finder_loss, reader_loss
from vision.training.nets import Finder

_SCENES = 20


def show(net: nn.Module, shards: Iterable[Path], seed: int) -> None:
    """Run a finder, or a reader with its jury, over all scenes of some shards of `make_data`.

    Args:
        net: In whichever mode it is to be; its weights stay as they are.
        shards: Files of the training set.
        seed: For the changes made to the pictures.
    """
    rng = np.random.default_rng(seed)
    is_finder = isinstance(net, Finder)
    keys = finder_loss.KEYS if is_finder else reader_loss.KEYS
    loss_of = finder_loss.finder_loss if is_finder else reader_loss.reader_loss
    for shard in shards:
        with np.load(shard) as columns:
            rows = {key: columns[key] for key in keys}
        for first in range(0, len(rows[keys[0]]), _SCENES):
            part = {key: column[first : first + _SCENES] for key, column in rows.items()}
            with torch.no_grad():
                loss_of(net, part, rng)
