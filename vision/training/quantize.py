"""Packs exported networks for `vision/weights`, some with their layers in eight bits besides.

    python -m vision.training.quantize DATA NEW finder reader upright

The ranges of eight bits come from pictures of DATA, varied as in training. The first and last
convolutions stay in floating point.
"""

from __future__ import annotations

import argparse
import zipfile
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnxruntime import quantization

from vision.detector.models import EIGHT_BITS, FLOAT, INT8, WEIGHTS
from vision.training.shards import mapped, shards_for
from vision.training.tasks import TASKS

_SCENES = 84
"""Scenes whose pictures give the ranges; a scene has about nine close-ups."""
_FIRST = 2
"""Number of convolutions that stay in floating point at the start. Their activations have the
widest ranges, and with so few channels eight bits gain no time (docs/limits.md)."""
_AT_ONCE = 8
"""Pictures shown at once."""
_INSIDE = 99.999
"""Percentage of an activation's values inside its range (docs/limits.md)."""
_PACKED_AT = (1980, 1, 1, 0, 0, 0)
"""Date of the packed files, so that equal networks give equal files."""


def main() -> None:
    """Parse the command line and pack networks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("nets", nargs="+", choices=list(TASKS))
    asked = parser.parse_args()
    for name in asked.nets:
        pack(name, asked.data, asked.weights)


def pack(name: str, data: Path, folder: Path) -> None:
    """Write NAME.zip beside NAME.onnx."""
    source = folder / f"{name}.onnx"
    model = onnx.load(str(source))
    weights = {tensor.name for tensor in model.graph.initializer}
    with zipfile.ZipFile(folder / f"{name}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as to:
        _write(to, WEIGHTS, _part(model, weights))
        _write(to, FLOAT, _part(model, weights, layers=True))
        if name in EIGHT_BITS:
            small = _in_eight_bits(source, _kept(model.graph), Pictures(name, data))
            _write(to, INT8, _part(small, weights, layers=True))


def _in_eight_bits(source: Path, kept: list[str], pictures: Pictures) -> onnx.ModelProto:
    """The network with its layers in eight bits, but for the nodes `kept`."""
    target = source.with_suffix(".int8.onnx")
    quantization.quantize_static(
        source,
        target,
        pictures,
        quant_format=quantization.QuantFormat.QDQ,
        per_channel=True,
        activation_type=quantization.QuantType.QUInt8,
        weight_type=quantization.QuantType.QInt8,
        calibrate_method=quantization.CalibrationMethod.Percentile,
        nodes_to_exclude=kept,
        extra_options={
            "AddQDQPairToWeight": True,  # so that both forms share the weights
            "QuantizeBias": False,
            "CalibPercentile": _INSIDE,
        },
    )
    model = onnx.load(str(target))
    target.unlink()
    return model


def _kept(graph: onnx.GraphProto) -> list[str]:
    """Names of the nodes that stay in floating point."""
    after: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.node:
        for each in node.input:
            after.setdefault(each, []).append(node)

    def is_last(node: onnx.NodeProto) -> bool:
        users = after.get(node.output[0], [])
        return all(user.op_type != "Conv" and is_last(user) for user in users)

    first = [node for node in graph.node if node.op_type == "Conv"][:_FIRST]
    return [node.name for node in graph.node if node in first or is_last(node)]


def _part(model: onnx.ModelProto, weights: set[str], *, layers: bool = False) -> bytes:
    """Either the layers of a network with what is not in `weights`, or these weights alone."""
    part = onnx.ModelProto()
    if layers:
        part.CopyFrom(model)
        del part.graph.initializer[:], part.graph.value_info[:]
    kept = [each for each in model.graph.initializer if (each.name in weights) != layers]
    part.graph.initializer.extend(kept)
    return part.SerializeToString()


def _write(archive: zipfile.ZipFile, name: str, part: bytes) -> None:
    info = zipfile.ZipInfo(name, _PACKED_AT)
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, part)


class Pictures(quantization.CalibrationDataReader):
    """Inputs of a network from the first scenes of a data set, some at a time."""

    def __init__(self, name: str, data: Path) -> None:
        task = TASKS[name]
        columns = mapped(shards_for(task, data)[0], task.keys)
        rows = {key: column[:_SCENES] for key, column in columns.items()}
        made = task.varied(rows, np.random.default_rng(5))
        pictures = made["image"]
        size = min(len(pictures), _AT_ONCE)
        whole = len(pictures) // size * size
        self._rest = iter(np.split(np.ascontiguousarray(pictures[:whole]), whole // size))

    def get_next(self) -> dict[str, NDArray[np.float32]] | None:
        """The next inputs; None at the end."""
        batch = next(self._rest, None)
        return None if batch is None else {"pixels": batch}


if __name__ == "__main__":
    main()
