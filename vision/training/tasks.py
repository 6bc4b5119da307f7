"""The networks to train, with the loss and the data of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from vision.detector.models import CROP, FACE, FINDER_WH, UPRIGHT
from vision.training import face_loss, finder_loss, reader_loss, tilt_loss
from vision.training.networks import Face, Finder, ReaderWithContext, TiltWithHead

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Lesson:
    """How one network is trained.

    Attributes:
        net: Makes an untrained one.
        keys: The columns of the data set that its loss reads.
        loss: Named parts of the loss of some scenes.
        scenes: Scenes in one step.
        shape: Of one input.
        head: Name of its head that compares all dice of a picture, where it has one: both
            are then parts of `net`, each under its own name.
    """

    net: Callable[[], nn.Module]
    keys: tuple[str, ...]
    loss: Callable[[nn.Module, Arrays, np.random.Generator], dict[str, Tensor]]
    scenes: int
    shape: tuple[int, int, int, int]
    head: str | None = None


LESSONS = {
    "finder": Lesson(
        Finder, finder_loss.KEYS, finder_loss.finder_loss, 16, (1, 3, *FINDER_WH[::-1])
    ),
    "reader": Lesson(
        ReaderWithContext,
        reader_loss.KEYS,
        reader_loss.reader_loss,
        20,
        (1, 3, CROP, CROP),
        "context",
    ),
    "face": Lesson(Face, face_loss.KEYS, face_loss.face_loss, 12, (1, 3, FACE, FACE)),
    "tilt": Lesson(
        TiltWithHead, tilt_loss.KEYS, tilt_loss.tilt_loss, 12, (1, 3, UPRIGHT, UPRIGHT), "tilt_head"
    ),
}


def body_of(name: str, net: nn.Module) -> nn.Module:
    """The convolutional part of a network, without its head."""
    return net.get_submodule(name) if LESSONS[name].head else net
