"""Runs the small networks: arrays in, arrays out."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
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
"""Width and height of the finder's input. Its thirty output channels have cells of eight px. The
first 28 hold four finer cells each: heat, log size, offset x and y, tray, thing, smear. The last
two are the tilt of the floor (x, y)."""
FINDER_CELL = 4
"""Width in px of the finder's finer cells."""
CROP = 64
"""Width and height of a crop in px."""
CROP_EDGES = 2.1
"""Die edges that a crop of CROP px shows: the whole body of a die seen 30 degrees from the side."""
MIDDLE = slice(21, 43)
"""Rows and columns of a crop that show the middle of a top face."""
PIP_CELLS = 16
"""Cells a side of the grid on which the crop classifier counts pips."""
SCORES = 26
"""Number of logits of the crop classifier: die, six values, six colours, cocked, moving, visible,
seven numbers for the outline, direction of the top face (x, y) and its standard error (log)."""
NORMAL = slice(23, 25)
"""Columns of the direction of the top face (x, y) in the outputs."""
SPREAD = 25
"""Column of the standard error (log) of that direction in the outputs."""
FEATURES = 24
"""Number of features for the context head, which follow the logits. The pips, cell by cell, come
last."""
UPRIGHT = 72
"""Width and height in px of an upright view."""
UPRIGHT_EDGES = 2.3
"""Edges of the top face that an upright view of UPRIGHT px shows."""
TRAITS = 12
"""Number of features of the upright network for its head."""
UPRIGHT_SPREAD, UPRIGHT_TILTED, UPRIGHT_DIE = 2, 3, 4
"""Columns of the upright network: the first two hold the direction of the top face (x, y), then
come its standard error (log), the logits of a tilted die and of any die, of six values, and the
traits."""
UPRIGHT_VALUES, UPRIGHT_TRAITS = slice(5, 11), slice(11, 11 + TRAITS)
UPRIGHT_OUTPUTS = 11 + TRAITS

FLOAT, INT8, WEIGHTS = "float.onnx", "int8.onnx", "weights.onnx"
"""Parts of a packed network: its layers, the same in eight bits, and the weights of both."""
EIGHT_BITS = ("upright",)
"""Networks that have layers in eight bits (docs/limits.md)."""

_ENGINE = (cv2.dnn.ENGINE_CLASSIC,) if hasattr(cv2.dnn, "ENGINE_CLASSIC") else ()
"""Arguments that select the older, faster of OpenCV 5's two engines (docs/limits.md). OpenCV
accepts them for files only, not for buffers."""


class Net(Protocol):
    """One network, which threads may share.

    Attributes:
        engine: What runs it, with its version.
    """

    engine: str

    def __call__(self, blob: Scores) -> Scores:
        """Scores of an input blob (N, C, H, W) float32."""


class OnnxRuntimeNet:
    """A network run by ONNX Runtime, in as many threads as OpenCV has now.

    Raises:
        ImportError: ONNX Runtime is not installed, or was built for another system.
    """

    def __init__(self, path: Path) -> None:
        import onnxruntime

        bits = " in eight bits" if path.name == INT8 else ""
        self.engine = f"ONNX Runtime {onnxruntime.__version__}{bits}"
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = max(1, cv2.getNumThreads())
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            path, options, providers=["CPUExecutionProvider"]
        )
        self._input = self._session.get_inputs()[0].name

    def __call__(self, blob: Scores) -> Scores:
        """Scores of an input blob (N, C, H, W) float32."""
        return np.asarray(self._session.run(None, {self._input: blob})[0], np.float32)


class OpenCvNet:
    """A network run by `cv2.dnn`. A lock protects the state that `cv2.dnn` keeps during a call."""

    def __init__(self, path: Path) -> None:
        self.engine = f"OpenCV {cv2.__version__}"
        self._net = cv2.dnn.readNetFromONNX(str(path), *_ENGINE)
        self._mutex = threading.Lock()

    def __call__(self, blob: Scores) -> Scores:
        """Scores of an input blob (N, C, H, W) float32."""
        with self._mutex:
            self._net.setInput(np.ascontiguousarray(blob))
            return np.array(self._net.forward(), np.float32)


@contextmanager
def unpacked(name: str, form: str) -> Iterator[Path]:
    """One form of a network as ONNX file, while it is loaded: ONNX Runtime would keep bytes.

    A network is packed in two messages, its layers and its weights, which protobuf reads as one.

    Raises:
        OSError: The directory for temporary files is full.
    """
    packed = resources.files("vision").joinpath("weights", f"{name}.zip").read_bytes()
    with TemporaryDirectory() as folder, zipfile.ZipFile(io.BytesIO(packed)) as parts:
        path = Path(folder) / form
        try:
            path.write_bytes(parts.read(form) + parts.read(WEIGHTS))
        except OSError as error:  # of a write, it names no file
            raise OSError(error.errno, error.strerror, str(path)) from error
        yield path


def shared_net(name: str) -> Net:
    """The network of that name, loaded once per process.

    ONNX Runtime runs it if it is installed (on a PC), in eight bits where that is faster and as
    good. Otherwise OpenCV does, in floating point and more time.
    """
    return _loaded(name, by_opencv=_BY_OPENCV.get())


@contextmanager
def opencv_alone() -> Iterator[None]:
    """Let OpenCV run the networks in this thread meanwhile, as on a Pi."""
    before = _BY_OPENCV.set(True)
    try:
        yield
    finally:
        _BY_OPENCV.reset(before)


_BY_OPENCV = ContextVar("by_opencv", default=False)


@lru_cache(maxsize=8)
def _loaded(name: str, *, by_opencv: bool) -> Net:
    if not by_opencv:
        form = INT8 if name in EIGHT_BITS and is_fast_in_eight_bits() else FLOAT
        with suppress(ImportError), unpacked(name, form) as path:
            return OnnxRuntimeNet(path)
    with unpacked(name, FLOAT) as path:
        return OpenCvNet(path)


def is_fast_in_eight_bits() -> bool:
    """Whether the processor multiplies and adds integers of eight bits without overflow (VNNI).

    Without, ONNX Runtime is wrong, or slower than in floating point.
    """
    processors = Path("/proc/cpuinfo")
    return processors.exists() and "vnni" in processors.read_text(encoding="utf-8")


@lru_cache(maxsize=2)
def shared_layers(name: str) -> dict[str, Scores]:
    """The weights and biases of the layers that run in NumPy, loaded once per process."""
    data = resources.files("vision").joinpath("weights", f"{name}.npz").read_bytes()
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        return {key: np.asarray(stored[key], np.float32) for key in stored}


def dense(layers: dict[str, Scores], name: str, x: Scores) -> Scores:
    """Apply a dense layer without activation: (N, ins) to (N, outs)."""
    return np.asarray(x @ layers[f"{name}.weight"].T + layers[f"{name}.bias"], np.float32)


def relu(x: Scores) -> Scores:
    """Replace negative numbers by zero."""
    return np.maximum(x, np.float32(0.0))


def sigmoid(scores: Scores) -> Scores:
    """Convert logits to probabilities."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(scores, -30.0, 30.0))), np.float32)


def softmax(scores: Scores) -> Scores:
    """Convert logits along the last axis to probabilities."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True), np.float32)
