"""The networks to train, with the loss and the data of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch import Tensor, nn

from vision.detector.models import CROP, FINDER_WH, UPRIGHT
from vision.training import finder_loss, patches, reader_loss, upright_loss
from vision.training.networks import Arrays, Batch, Finder, ReaderWithContext, UprightWithHead


@dataclass(frozen=True)
class Task:
    """How one network is trained.

    Attributes:
        net: Makes an untrained one.
        keys: The columns of the data set that it is trained on.
        varied: Inputs and targets of some scenes, changed at random.
        loss: Named parts of the loss of what `varied` made.
        scenes: Scenes in one step.
        shape: Of one input.
        head: File of its head that compares all dice of a picture, where it has one: `net` holds
            both then, the network under its own name.
    """

    net: Callable[[], nn.Module]
    keys: tuple[str, ...]
    varied: Callable[[Arrays, np.random.Generator], Arrays]
    loss: Callable[[nn.Module, Batch], dict[str, Tensor]]
    scenes: int
    shape: tuple[int, int, int, int]
    head: str | None = None


TASKS = {
    "finder": Task(
        Finder,
        finder_loss.KEYS,
        finder_loss.varied_frames,
        finder_loss.finder_loss,
        16,
        (1, 3, *FINDER_WH[::-1]),
    ),
    "reader": Task(
        ReaderWithContext,
        patches.KEYS,
        reader_loss.varied_close_ups,
        reader_loss.reader_loss,
        20,
        (1, 3, CROP, CROP),
        "context",
    ),
    "upright": Task(
        UprightWithHead,
        patches.KEYS,
        upright_loss.dealt,
        upright_loss.upright_loss,
        12,
        (1, 3, UPRIGHT, UPRIGHT),
        "tilt_head",
    ),
}


def body_of(name: str, net: nn.Module) -> nn.Module:
    """The convolutional part of a network, without its head."""
    return net.get_submodule(name) if TASKS[name].head else net
