"""The small networks in PyTorch: finder (pictures), reader (close-ups), upright (close-ups with the
top face upright), and two heads that compare all dice of a picture.

All but the two heads hold only convolutions, ReLU, nearest upsampling, addition and averaging, so
that `cv2.dnn` of OpenCV 4.6 runs them; the heads are a few matrix products and run in NumPy. The
forms of their inputs and outputs are fixed in `vision.detector.models`.
"""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from vision.detector.models import FEATURES, SCORES, TRAITS, UPRIGHT_OUTPUTS

Arrays = dict[str, NDArray[Any]]
Batch = dict[str, Tensor]

POSE = 3 + 2 + 7
"""Inputs of both heads for a die's place and pose: place and size, slant of the floor, and pose
against the floor and the other dice."""
TOKEN = SCORES + 1 + FEATURES + 3 + POSE
"""Input of the context head for one die: scores, pip count, features, mean colour, place and
pose."""
TILT_INPUTS = 4 + TRAITS + POSE
"""Input of the tilt head for one die: outputs of the network, place and pose."""
CORRECTIONS = 7
"""Outputs of the context head for each die: six colours, cocked."""


def mixed_precision(pictures: Tensor) -> torch.autocast:
    """Convolutions in bfloat16 on a GPU. A CPU without such arithmetic takes 8 to 12 times as long
    for a step with it (measured with AVX2, PyTorch 2.13)."""
    return torch.autocast(pictures.device.type, torch.bfloat16, enabled=pictures.is_cuda)


def _block(ins: int, outs: int, stride: int = 1, size: int = 3) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(ins, outs, size, stride, size // 2, bias=False),
        nn.BatchNorm2d(outs),
        nn.ReLU(inplace=True),
    )


class _Further(nn.Module):
    """A residual layer that starts as the identity, so that it can be added to a trained
    network."""

    def __init__(self, width: int, size: int = 3) -> None:
        super().__init__()
        self.turn = nn.Conv2d(width, width, size, 1, size // 2, bias=False)
        self.norm = nn.BatchNorm2d(width)
        nn.init.zeros_(self.norm.weight)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.norm(self.turn(x)))


class Finder(nn.Module):
    """(N, 3, H, W) in 0.0-1.0 to (N, 30, H/8, W/8); H and W are multiples of 32."""

    def __init__(self) -> None:
        super().__init__()
        self.two = _block(3, 16, 2)
        self.four = _block(16, 32, 2)
        self.eight = nn.Sequential(_block(32, 48, 2), _block(48, 48))
        self.sixteen = nn.Sequential(_block(48, 80, 2), _block(80, 80))
        self.thirty_two = nn.Sequential(_block(80, 96, 2), _block(96, 96), _block(96, 96))
        self.from_32 = nn.Conv2d(96, 80, 1)
        self.mix_16 = _block(80, 80)
        self.from_16 = nn.Conv2d(80, 48, 1)
        self.fine = _block(48, 56)
        self.head = nn.Conv2d(56, 30, 1)
        self.grow = nn.Upsample(scale_factor=2, mode="nearest")
        nn.init.constant_(self.head.bias, 0.0)
        with torch.no_grad():
            self.head.bias[:4] = -4.0

    def forward(self, x: Tensor) -> Tensor:
        """Raw scores: heat, log size, offset x, y, in tray, thing, smear, each for the four
        quarters of a cell; then the slant of the floor, x and y."""
        eight = self.eight(self.four(self.two(x)))
        sixteen = self.sixteen(eight)
        deep = self.thirty_two(sixteen)
        sixteen = self.mix_16(sixteen + self.grow(self.from_32(deep)))
        out: Tensor = self.head(self.fine(eight + self.grow(self.from_16(sixteen))))
        return out


class Reader(nn.Module):
    """(N, 3, 64, 64) in 0.0-1.0 to (N, 306): scores, features, pip density."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(_block(3, 16, 2, 5), _block(16, 32, 2), _block(32, 48))
        self.body = _block(48, 48)
        self.pips = nn.Sequential(_block(48, 16), nn.Conv2d(16, 1, 1), nn.ReLU())
        self.deep = nn.Sequential(_block(48, 80, 2), _block(80, 80), _block(80, 80))
        self.deeper = _Further(80)
        self.mix = nn.Sequential(_block(80, 64, 2), nn.Conv2d(64, 144, 4), nn.ReLU(inplace=True))
        self.coarse = _Further(64)
        self.last = _Further(144, 1)
        self.head = nn.Conv2d(144, SCORES, 1)
        self.tell = nn.Conv2d(144, FEATURES, 1)

    def forward(self, x: Tensor) -> Tensor:
        """The 26 raw scores, the features, and the pip density row by row."""
        scores, features, density = self._parts(x)
        return torch.cat([scores, features, density.flatten(1)], dim=1)

    def both(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Scores, mean pip density and features (N, 51), and the density (N, 1, 16, 16)."""
        scores, features, density = self._parts(x)
        return torch.cat([scores, density.mean((2, 3)), features], dim=1), density

    def _parts(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        body = self.body(self.trunk(x))
        small = self.coarse(self.mix[0](self.deeper(self.deep(body))))
        mixed = self.last(self.mix[2](self.mix[1](small)))
        return self.head(mixed).flatten(1), self.tell(mixed).flatten(1), self.pips(body)


class _TwoFurther(nn.Module):
    """Two residual layers that start as the identity."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = _block(width, width)
        self.second = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        nn.init.zeros_(self.norm.weight)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.norm(self.second(self.first(x))))


class _Rows(nn.Module):
    """Layers in sequence with one row of raw scores for each picture."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.net = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        """Raw scores."""
        out: Tensor = self.net(x).flatten(1)
        return out


def _whole(ins: int, outs: int, size: int) -> nn.Sequential:
    """One convolution over the whole remaining grid."""
    return nn.Sequential(
        nn.Conv2d(ins, outs, size, bias=False), nn.BatchNorm2d(outs), nn.ReLU(inplace=True)
    )


class Upright(_Rows):
    """Close-ups with the top face upright (N, 3, 72, 72), levelled, to (N, UPRIGHT_OUTPUTS): the
    normal, its stated error (log), the scores of a tilted die, of a die and of six values, and
    traits."""

    def __init__(self) -> None:
        super().__init__(
            _block(3, 24, 2, 5),
            _block(24, 40, 2),
            _TwoFurther(40),
            _block(40, 72, 2),
            _TwoFurther(72),
            _block(72, 64, 2),
            _whole(64, 96, 5),
            nn.Conv2d(96, UPRIGHT_OUTPUTS, 1),
        )


class ContextHead(nn.Module):
    """Compares all dice of a picture: (S, P, TOKEN) to (S, P, CORRECTIONS).

    Colours shift with the lamp, and a tilted die differs from flat ones: both show against the
    other dice of the same picture.
    """

    def __init__(self) -> None:
        super().__init__()
        width = 64
        self.first = nn.Linear(TOKEN, width)
        self.second = nn.Linear(width, width)
        self.third = nn.Linear(3 * width, width)
        self.fourth = nn.Linear(3 * width, width)
        self.fifth = nn.Linear(width, CORRECTIONS)
        nn.init.zeros_(self.fifth.weight)
        nn.init.zeros_(self.fifth.bias)

    def forward(self, tokens: Tensor, weight: Tensor) -> Tensor:
        """`weight` (S, P): how surely each token is a die, 0 where there is none."""
        h = torch.relu(self.second(torch.relu(self.first(tokens))))
        h = h + torch.relu(self.third(torch.cat([h, self._all(h, weight)], dim=-1)))
        h = torch.relu(self.fourth(torch.cat([h, self._all(h, weight)], dim=-1)))
        out: Tensor = self.fifth(h)
        return out

    @staticmethod
    def _all(h: Tensor, weight: Tensor) -> Tensor:
        w = weight[..., None]
        mean = (h * w).sum(1, keepdim=True) / (w.sum(1, keepdim=True) + 1e-3)
        most = (h * w).amax(1, keepdim=True)
        both = torch.cat([mean, most], dim=-1)
        return both.expand(-1, h.shape[1], -1)


class ReaderWithContext(nn.Module):
    """Reader and context head, trained together."""

    def __init__(self) -> None:
        super().__init__()
        self.reader = Reader()
        self.context = ContextHead()


class TiltHead(nn.Module):
    """Scores the pose of a die: (..., TILT_INPUTS) to (...)."""

    def __init__(self) -> None:
        super().__init__()
        width = 48
        self.first = nn.Linear(TILT_INPUTS, width)
        self.second = nn.Linear(width, width)
        self.third = nn.Linear(width, width)
        self.fourth = nn.Linear(width, 1)
        nn.init.zeros_(self.fourth.weight)
        nn.init.zeros_(self.fourth.bias)

    def forward(self, tokens: Tensor) -> Tensor:
        """Log odds to add to the network's own."""
        h = torch.relu(self.second(torch.relu(self.first(tokens))))
        h = h + torch.relu(self.third(h))
        out: Tensor = self.fourth(h)[..., 0]
        return out


class UprightWithHead(nn.Module):
    """The upright network and its tilt head, trained together."""

    def __init__(self) -> None:
        super().__init__()
        self.upright = Upright()
        self.tilt_head = TiltHead()
