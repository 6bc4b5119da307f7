"""Exports networks in training, and makes a state for `train --resume` of the committed weights.

    python -m vision.training.checkpoints finder DATA finder.pt

In the stored networks each convolution holds the batch norm behind it, so the norms are measured
on DATA.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from copy import deepcopy
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import onnx.numpy_helper
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from vision.detector.models import FLOAT, shared_layers, unpacked
from vision.training.shards import mapped, shards_for
from vision.training.tasks import TASKS, Task, body_of

_SCENES = 20
"""Scenes shown at once."""


def main() -> None:
    """Parse the command line and unpack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("net", choices=list(TASKS))
    parser.add_argument("data", type=Path)
    parser.add_argument("state", type=Path)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    unpack(asked.net, asked.data, asked.state)


def unpack(name: str, data: Path, state: Path) -> None:
    """Write the committed weights of a network as a PyTorch state."""
    task = TASKS[name]
    net = task.net()
    scaled = _filled(net, name)
    _measured(task, net, scaled, shards_for(task, data)[:2])
    torch.save(net.state_dict(), state)


def show(task: Task, net: nn.Module, shards: Iterable[Path], seed: int) -> None:
    """Run a network over all scenes of some shards; its weights stay as they are."""
    rng = np.random.default_rng(seed)
    for shard in shards:
        rows = mapped(shard, task.keys)
        for first in range(0, len(rows[task.keys[0]]), _SCENES):
            part = {key: column[first : first + _SCENES] for key, column in rows.items()}
            with torch.no_grad():
                made = task.varied(part, rng)
                task.loss(net, {key: torch.from_numpy(each) for key, each in made.items()})


def save(name: str, net: nn.Module, folder: Path) -> None:
    """Write a network as ONNX (operator set 13), its head as .npz, and its PyTorch state."""
    folder.mkdir(parents=True, exist_ok=True)
    net = deepcopy(net).cpu().eval()
    torch.save(net.state_dict(), folder / f"{name}.pt")
    task = TASKS[name]
    if task.head:
        layers = net.get_submodule(task.head).state_dict()
        stored = {key: layer.numpy().astype(np.float32) for key, layer in layers.items()}
        np.savez(folder / f"{task.head}.npz", allow_pickle=False, **stored)
    axes = {0: "n", 2: "h", 3: "w"} if name == "finder" else {0: "n"}
    _export(body_of(name, net), folder / f"{name}.onnx", task.shape, axes)


def _export(net: nn.Module, path: Path, shape: tuple[int, ...], axes: dict[int, str]) -> None:
    torch.onnx.export(
        net,
        (torch.zeros(shape),),
        str(path),
        input_names=["pixels"],
        output_names=["scores"],
        dynamic_axes={"pixels": axes, "scores": axes},
        opset_version=13,
        dynamo=False,
    )
    model = onnx.load(str(path))
    for tensor in model.graph.initializer:
        numbers = onnx.numpy_helper.to_array(tensor)
        if numbers.dtype == np.float32:
            stored = rounded(numbers)
            tensor.CopyFrom(onnx.numpy_helper.from_array(stored, tensor.name))
    onnx.save(model, str(path))


_MANTISSA = 8
"""Bits that stored numbers keep after their first, so that they can be packed."""


def rounded(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """The nearest numbers whose mantissas end early."""
    spare = 23 - _MANTISSA
    bits = numbers.view(np.uint32) + np.uint32(1 << (spare - 1))
    return (bits & np.uint32(0xFFFFFFFF << spare & 0xFFFFFFFF)).view(np.float32)


def _filled(net: nn.Module, name: str) -> dict[nn.Conv2d, nn.BatchNorm2d]:
    """Fill a network with the committed weights; the convolutions with a batch norm behind them."""
    with unpacked(name, FLOAT) as path:
        graph = onnx.load(str(path)).graph
    stored = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    inputs = [node.input for node in graph.node if node.op_type == "Conv"]
    body = body_of(name, net)
    scaled: dict[nn.Conv2d, nn.BatchNorm2d] = {}
    for module in body.modules():
        parts = list(module.children())
        for first, second in pairwise(parts):
            if isinstance(first, nn.Conv2d) and isinstance(second, nn.BatchNorm2d):
                scaled[first] = second
    with torch.no_grad():
        order = _in_order(body, TASKS[name].shape)
        for conv, (_, weight, bias) in zip(order, inputs, strict=True):
            conv.weight.copy_(torch.tensor(stored[weight]))
            scale = scaled.get(conv)
            if scale is None:
                assert conv.bias is not None
                conv.bias.copy_(torch.tensor(stored[bias]))
                continue
            scale.running_mean.zero_()
            scale.running_var.fill_(1.0 - scale.eps)
            scale.weight.fill_(1.0)
            scale.bias.copy_(torch.tensor(stored[bias]))
    head = TASKS[name].head
    if head:
        layers = {key: torch.tensor(layer) for key, layer in shared_layers(head).items()}
        net.get_submodule(head).load_state_dict(layers)
    return scaled


def _in_order(net: nn.Module, shape: tuple[int, ...]) -> list[nn.Conv2d]:
    """The convolutions in the order they run, which is that of the stored ones."""
    order: list[nn.Conv2d] = []
    convs = [each for each in net.modules() if isinstance(each, nn.Conv2d)]
    hooks = [each.register_forward_hook(lambda conv, _, __: order.append(conv)) for each in convs]
    net.eval()
    with torch.no_grad():
        net(torch.zeros(shape))
    for hook in hooks:
        hook.remove()
    return order


def _measured(
    task: Task,
    net: nn.Module,
    scaled: dict[nn.Conv2d, nn.BatchNorm2d],
    shards: list[Path],
) -> None:
    """Split weights and batch norms: outputs on some scenes are brought to unit deviation."""
    seen: dict[nn.Conv2d, list[Tensor]] = {conv: [] for conv in scaled}

    def note(conv: nn.Module, _: object, out: Tensor) -> None:
        assert isinstance(conv, nn.Conv2d)
        wide = out.double()
        seen[conv].append(torch.stack([wide.mean((0, 2, 3)), (wide**2).mean((0, 2, 3))]))

    hooks = [conv.register_forward_hook(note) for conv in scaled]
    show(task, net, shards, seed=5)
    for hook in hooks:
        hook.remove()
    with torch.no_grad():
        for conv, scale in scaled.items():
            mean, square = torch.stack(seen[conv]).mean(0).float()
            spread = (square - mean**2).clamp(min=1e-10).sqrt()
            usual = (3.0 * conv.weight[0].numel()) ** -0.5  # as a fresh layer has it
            factor = usual / (conv.weight.flatten(1).std(1) + 1e-12)
            conv.weight.mul_(factor[:, None, None, None])
            scale.running_mean.copy_(factor * mean)
            scale.running_var.copy_((factor * spread) ** 2 - scale.eps)
            scale.weight.copy_(spread)
            scale.bias.add_(mean)


if __name__ == "__main__":
    main()
