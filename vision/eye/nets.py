"""Runs the small networks: arrays in, arrays out."""

from __future__ import annotations

import gzip
import io
import math
import threading
from functools import lru_cache
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]

FINDER_WH = (320, 256)
"""The finder's picture. Its thirty output channels have cells of eight px; the first
28 hold four finer cells each: heat, log size, offset x and y, in tray, thing, smear. The last two
say how the floor leans (x, y)."""
FINDER_CELL = 4
CROP = 64
CROP_EDGES = 2.1
"""A crop of CROP px shows this many die edges (the reader was trained so): the whole body of a die
seen 30 degrees from the side."""
MIDDLE = slice(21, 43)
"""Rows and columns of a crop that show the middle of a top face."""
PIP_CELLS = 16
"""The reader counts pips on a grid of so many cells a side."""
SCORES = 26
NORMAL, SPREAD = slice(23, 25), 25
"""The reader's scores: die, six values, six colours, cocked, moving, visible, seven numbers for the
outline, which way the top face looks (x, y) and how far off that may be (log)."""
FEATURES = 24
"""What the reader tells the jury comes next; the last numbers are the pips, cell by cell."""
FACE, FACE_EDGES = 48, 1.25
"""A straightened top face of FACE px shows this many of its edges."""
LEAN, LEAN_EDGES = 72, 2.3
"""A close-up of LEAN px with the top face upright shows this many of its edges."""
TRAITS = 12
"""What the network for leaning dice tells beside which way the top face looks (x, y), how far off
that may be (log) and its own score."""

_ENGINE = (cv2.dnn.ENGINE_CLASSIC,) if hasattr(cv2.dnn, "ENGINE_CLASSIC") else ()
"""OpenCV 5 has two engines; the older one, the only one before, runs both networks in 0.6 to 0.75
of the newer one's time (5.0.0, x86, one thread). It can be chosen for files only, not for buffers.
"""


class Net(Protocol):
    """One network, which threads may share."""

    def __call__(self, blob: Scores) -> Scores:
        """Scores of an input blob (N, C, H, W) float32."""


class OnnxRuntimeNet:
    """A network run by ONNX Runtime, in as many threads as OpenCV has now.

    Raises:
        ImportError: ONNX Runtime is not there, or was built for another system.
    """

    def __init__(self, model: bytes) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = max(1, cv2.getNumThreads())
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"]
        )
        self._input = self._session.get_inputs()[0].name

    def __call__(self, blob: Scores) -> Scores:
        """Scores of an input blob (N, C, H, W) float32."""
        return np.asarray(self._session.run(None, {self._input: blob})[0], np.float32)


class OpenCvNet:
    """A network run by `cv2.dnn`; a lock lets threads share it, as that keeps state of calls."""

    def __init__(self, model: bytes) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "net.onnx"
            path.write_bytes(model)
            self._net = cv2.dnn.readNetFromONNX(str(path), *_ENGINE)
        self._mutex = threading.Lock()

    def __call__(self, blob: Scores) -> Scores:
        """Scores of an input blob (N, C, H, W) float32."""
        with self._mutex:
            self._net.setInput(np.ascontiguousarray(blob))
            return np.array(self._net.forward(), np.float32)


def model_of(name: str) -> bytes:
    """The ONNX file of a network."""
    packed = resources.files("vision").joinpath("weights", f"{name}.onnx.gz").read_bytes()
    return gzip.decompress(packed)


@lru_cache(maxsize=4)
def shared_net(name: str) -> Net:
    """The network of that name, loaded once per process.

    ONNX Runtime runs it where it is installed (on a PC), else OpenCV, which says the same and takes
    longer there.
    """
    model = model_of(name)
    try:
        return OnnxRuntimeNet(model)
    except ImportError:
        return OpenCvNet(model)


@lru_cache(maxsize=2)
def shared_layers(name: str) -> dict[str, Scores]:
    """The matrices and offsets of the layers that run in NumPy, loaded once per process."""
    data = resources.files("vision").joinpath("weights", f"{name}.npz").read_bytes()
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        return {key: np.asarray(stored[key], np.float32) for key in stored}


def dense(layers: dict[str, Scores], name: str, x: Scores) -> Scores:
    """One of these layers: (N, ins) to (N, outs), raw."""
    return np.asarray(x @ layers[f"{name}.weight"].T + layers[f"{name}.bias"], np.float32)


def relu(x: Scores) -> Scores:
    """What is above zero."""
    return np.maximum(x, np.float32(0.0))


def sigmoid(scores: Scores) -> Scores:
    """Raw scores as probabilities."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(scores, -30.0, 30.0))), np.float32)


def chance(score: float) -> float:
    """One raw score as a probability; for one alone `sigmoid` takes seven times as long."""
    return 1.0 / (1.0 + math.exp(-min(max(score, -30.0), 30.0)))


def softmax(scores: Scores) -> Scores:
    """Raw scores along the last axis as probabilities."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True), np.float32)
