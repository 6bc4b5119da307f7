"""Makes of the committed weights a PyTorch state that `make_weights --resume` takes up.

    python -m vision.training.checkpoints reader DATA reader.pt

In the stored networks each convolution holds the scale behind it. Training measures scales anew
with every batch, so the stored ones have to be told apart again: they are measured on DATA.
"""

from __future__ import annotations

import argparse
import gzip
from importlib import resources
from itertools import pairwise
from pathlib import Path

import onnx
import onnx.numpy_helper
import torch
from torch import Tensor, nn

from vision.eye.nets import shared_layers
from vision.training.showing import show
from vision.training.tasks import LESSONS, Lesson, body_of

_WEIGHTS = resources.files("vision").joinpath("weights")


def main() -> None:
    """Parse the command line and unpack one network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("net", choices=list(LESSONS))
    parser.add_argument("data", type=Path)
    parser.add_argument("state", type=Path)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    lesson = LESSONS[asked.net]
    net = lesson.net()
    scaled = _filled(net, asked.net)
    _measured(lesson, net, scaled, sorted(asked.data.glob("scenes_*[0-9].npz"))[:2])
    torch.save(net.state_dict(), asked.state)


def _filled(net: nn.Module, name: str) -> dict[nn.Conv2d, nn.BatchNorm2d]:
    """Put the stored numbers in place; the convolutions that have a scale behind them."""
    packed = _WEIGHTS.joinpath(f"{name}.onnx.gz").read_bytes()
    graph = onnx.load_from_string(gzip.decompress(packed)).graph
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
        order = _in_order(body, LESSONS[name].shape)
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
    weigher = LESSONS[name].weigher
    if weigher:
        layers = {key: torch.tensor(layer) for key, layer in shared_layers(weigher).items()}
        net.get_submodule(weigher).load_state_dict(layers)
    return scaled


def _in_order(net: nn.Module, shape: tuple[int, ...]) -> list[nn.Conv2d]:
    """The convolutions in the order they are run, which is that of the stored ones."""
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
    lesson: Lesson,
    net: nn.Module,
    scaled: dict[nn.Conv2d, nn.BatchNorm2d],
    shards: list[Path],
) -> None:
    """Tell the scales apart: what the convolutions give on some scenes is brought to unit size."""
    seen: dict[nn.Conv2d, list[Tensor]] = {conv: [] for conv in scaled}

    def note(conv: nn.Module, _: object, out: Tensor) -> None:
        assert isinstance(conv, nn.Conv2d)
        wide = out.double()
        seen[conv].append(torch.stack([wide.mean((0, 2, 3)), (wide**2).mean((0, 2, 3))]))

    hooks = [conv.register_forward_hook(note) for conv in scaled]
    show(lesson, net, shards, seed=5)
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
