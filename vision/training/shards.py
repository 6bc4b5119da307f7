"""The files of a training set, read where they lie: one set serves several runs and may be larger
than the memory."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from os import SEEK_CUR
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.lib.format import read_array_header_1_0, read_magic
from numpy.typing import NDArray

from vision.training.tasks import Task


def shards_for(task: Task, data: Path) -> list[Path]:
    """The finished shards of a folder that hold all columns a network is trained on."""
    found = []
    for path in sorted(data.glob("scenes_*[0-9].npz")):
        with np.load(path) as columns:
            if set(task.keys) <= set(columns):
                found.append(path)
    return found


def mapped(path: Path, keys: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Columns of a shard, mapped into memory as `np.savez` stored them.

    Raises:
        KeyError: One of them is not in the shard.
    """
    with ZipFile(path) as shard:
        starts = {key: shard.getinfo(f"{key}.npy").header_offset for key in keys}
    columns: dict[str, NDArray[Any]] = {}
    with path.open("rb") as file:
        for key, start in starts.items():
            file.seek(start + 26)  # two lengths, of the name and the fields that follow them
            file.seek(sum(struct.unpack("<HH", file.read(4))), SEEK_CUR)
            read_magic(file)
            shape, _, dtype = read_array_header_1_0(file)
            columns[key] = np.memmap(path, dtype, "r", file.tell(), shape)
    return columns
