"""Runs the two small networks by `cv2.dnn`: arrays in, arrays out."""

from __future__ import annotations

import threading
from functools import lru_cache
from importlib import resources

import cv2
import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]

FINDER_WH = (384, 288)
"""The finder's picture; its ten output channels have cells of FINDER_CELL px: heat, log size,
offset x and y, in tray, thing, smear, cocked, and how the floor leans (x, y)."""
FINDER_CELL = 4
CROP = 48
CROP_EDGES = 1.75
"""A crop of CROP px shows this many die edges (the reader was trained so)."""
UNKNOWN_LEAN = 3.0
"""Stands for how the floor leans where the reader is not told it."""


class Net:
    """One network; a lock lets threads share it, as `cv2.dnn` keeps state between calls."""

    def __init__(self, name: str) -> None:
        data = resources.files("vision").joinpath("weights", f"{name}.onnx").read_bytes()
        self._net = cv2.dnn.readNetFromONNX(np.frombuffer(data, np.uint8))
        self._mutex = threading.Lock()

    def __call__(self, blob: Scores) -> Scores:
        """Scores of an input blob (N, C, H, W) float32."""
        with self._mutex:
            self._net.setInput(np.ascontiguousarray(blob))
            return np.array(self._net.forward(), np.float32)


@lru_cache(maxsize=2)
def shared_net(name: str) -> Net:
    """The network of that name, loaded once per process."""
    return Net(name)


def sigmoid(scores: Scores) -> Scores:
    """Raw scores as probabilities."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(scores, -30.0, 30.0))), np.float32)


def softmax(scores: Scores) -> Scores:
    """Raw scores along the last axis as probabilities."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True), np.float32)
