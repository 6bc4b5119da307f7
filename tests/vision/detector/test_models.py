"""Both engines that can run the networks say the same, and one of them is enough; in eight bits the
outputs are nearly the same."""

from __future__ import annotations

import errno
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.tray import TrayStatus
from vision.detector import models
from vision.detector.candidates import closer
from vision.detector.models import (
    CROP,
    EIGHT_BITS,
    FINDER_WH,
    FLOAT,
    INT8,
    UPRIGHT,
    OnnxRuntimeNet,
    OpenCvNet,
    Scores,
    unpacked,
)
from vision.pipeline import DiceReader
from vision.reading import Frame

IMAGES = Path(__file__).parents[1] / "images"
SHAPES = {
    "finder": (1, 3, FINDER_WH[1], FINDER_WH[0]),
    "finder, closer": (1, 3, *closer(0.05)[::-1]),
    "finder, closest": (1, 3, *closer(0.02)[::-1]),
    "reader": (7, 3, CROP, CROP),
    "upright": (5, 3, UPRIGHT, UPRIGHT),
}


@pytest.fixture
def no_net_loaded() -> Iterator[None]:
    models._loaded.cache_clear()
    yield
    models._loaded.cache_clear()


def a_picture(shape: tuple[int, ...]) -> Scores:
    """Soft blobs of colour, as inputs between 0 and 1."""
    noise = np.random.default_rng(7).random(shape, np.float32)
    for one in noise.reshape(-1, *shape[2:]):
        one[:] = cv2.GaussianBlur(one, (0, 0), 3.0)
    return (noise - noise.min()) / (noise.max() - noise.min())


@pytest.mark.parametrize("name", SHAPES)
def test_both_engines_give_equal_outputs(name: str) -> None:
    pytest.importorskip("onnxruntime", reason="none for this system: OpenCV is the only engine")
    blob = a_picture(SHAPES[name])
    with unpacked(name.split(",")[0], FLOAT) as path:
        one, other = OnnxRuntimeNet(path)(blob), OpenCvNet(path)(blob)
    assert one.shape == other.shape
    assert one.dtype == other.dtype == np.float32
    assert np.abs(one - other).max() < 2e-3 * np.abs(one).max()


def test_a_full_directory_for_temporary_files_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space") as caught, unpacked("upright", FLOAT):
        pass
    assert str(caught.value.filename).startswith(str(tmp_path))


@pytest.mark.parametrize("name", EIGHT_BITS)
def test_in_eight_bits_the_outputs_hardly_differ(name: str) -> None:
    pytest.importorskip("onnxruntime", reason="none for this system")
    if not models.is_fast_in_eight_bits():
        pytest.skip("sums of this processor's eight-bit products overflow, so they are not used")
    blob = a_picture(SHAPES[name])
    with unpacked(name, FLOAT) as plain, unpacked(name, INT8) as small:
        one, other = OnnxRuntimeNet(plain)(blob), OnnxRuntimeNet(small)(blob)
    off = np.sqrt(np.square(other - one).mean())
    assert 0.0 < off < 0.1 * one.std()


@pytest.mark.usefixtures("no_net_loaded")
@pytest.mark.parametrize("name", EIGHT_BITS)
def test_a_processor_without_vnni_computes_in_floating_point(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime", reason="none for this system")
    monkeypatch.setattr(models, "is_fast_in_eight_bits", lambda: False)
    blob = a_picture(SHAPES[name])
    with unpacked(name, FLOAT) as path:
        assert np.array_equal(models.shared_net(name)(blob), OnnxRuntimeNet(path)(blob))


@pytest.mark.usefixtures("no_net_loaded")
def test_without_onnx_runtime_opencv_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    picture = cv2.imread(str(IMAGES / "rendered_01_ok.jpg"))
    assert picture is not None
    read = DiceReader().read(Frame(picture))
    assert isinstance(models.shared_net("finder"), OpenCvNet)
    models._loaded.cache_clear()
    monkeypatch.undo()
    again = DiceReader().read(Frame(picture))
    assert [(d.colour, d.value) for d in read.dice] == [(d.colour, d.value) for d in again.dice]
    assert read.status is again.status is TrayStatus.OK
