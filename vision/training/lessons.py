"""The networks that are trained, and what each is taught with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from vision.eye.nets import CROP, FACE, FINDER_WH
from vision.training import face_loss, finder_loss, reader_loss
from vision.training.nets import Face, Finder

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Lesson:
    """How one network is trained.

    Attributes:
        net: Makes a fresh one.
        keys: The columns of `make_data` that it is taught from.
        loss: Parts of the loss of some scenes.
        scenes: So many of them a step.
        shape: Of one input.
        mantissa: Bits that its stored numbers keep after their first: that packs the files, and
            moves what finder and reader say by about a thousandth.
    """

    net: Callable[[], nn.Module]
    keys: tuple[str, ...]
    loss: Callable[[nn.Module, Arrays, np.random.Generator], dict[str, Tensor]]
    scenes: int
    shape: tuple[int, int, int, int]
    mantissa: int


LESSONS = {
    "finder": Lesson(
        Finder, finder_loss.KEYS, finder_loss.finder_loss, 16, (1, 3, *FINDER_WH[::-1]), 11
    ),
    "reader": Lesson(
        reader_loss.Eyes, reader_loss.KEYS, reader_loss.reader_loss, 20, (1, 3, CROP, CROP), 11
    ),
    "face": Lesson(Face, face_loss.KEYS, face_loss.face_loss, 12, (1, 3, FACE, FACE), 8),
}
