"""The two small networks, in PyTorch: a finder for whole pictures, a reader for close-ups.

Only convolutions, ReLU, nearest upsampling, addition and averaging, so that `cv2.dnn` of OpenCV
4.6 runs them. The forms of their inputs and outputs are fixed in `vision.nets`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def _block(ins: int, outs: int, stride: int = 1, size: int = 3) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(ins, outs, size, stride, size // 2, bias=False),
        nn.BatchNorm2d(outs),
        nn.ReLU(inplace=True),
    )


class Finder(nn.Module):
    """(N, 3, H, W) in 0.0-1.0 to (N, 10, H/4, W/4); H and W are multiples of 32."""

    def __init__(self) -> None:
        super().__init__()
        self.two = _block(3, 12, 2)
        self.four = nn.Sequential(_block(12, 24, 2), _block(24, 24))
        self.eight = nn.Sequential(_block(24, 40, 2), _block(40, 40), _block(40, 40))
        self.sixteen = nn.Sequential(_block(40, 64, 2), _block(64, 64), _block(64, 64))
        self.thirty_two = nn.Sequential(_block(64, 80, 2), _block(80, 80), _block(80, 80))
        self.from_32 = nn.Conv2d(80, 64, 1)
        self.mix_16 = _block(64, 64)
        self.from_16 = nn.Conv2d(64, 40, 1)
        self.mix_8 = _block(40, 40)
        self.from_8 = nn.Conv2d(40, 24, 1)
        self.mix_4 = _block(24, 32)
        self.head = nn.Conv2d(32, 10, 1)
        self.grow = nn.Upsample(scale_factor=2, mode="nearest")
        nn.init.constant_(self.head.bias, 0.0)
        with torch.no_grad():
            self.head.bias[0] = -4.0

    def forward(self, x: Tensor) -> Tensor:
        """Raw scores: heat, log size, offset x, y, in tray, thing, smear, cocked, up x, y."""
        four = self.four(self.two(x))
        eight = self.eight(four)
        sixteen = self.sixteen(eight)
        deep = self.thirty_two(sixteen)
        sixteen = self.mix_16(sixteen + self.grow(self.from_32(deep)))
        eight = self.mix_8(eight + self.grow(self.from_16(sixteen)))
        out: Tensor = self.head(self.mix_4(four + self.grow(self.from_8(eight))))
        return out


class Reader(nn.Module):
    """(N, 6, 48, 48) to (N, 24): see `vision.nets.ReaderOutput` for the order."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(_block(6, 24, 2, 5), _block(24, 32), _block(32, 56, 2))
        self.body = nn.Sequential(_block(56, 56), _block(56, 56))
        self.pips = nn.Sequential(_block(56, 16), nn.Conv2d(16, 1, 1), nn.ReLU())
        self.count = nn.AvgPool2d(12)
        self.deep = nn.Sequential(_block(56, 80, 2), _block(80, 80), _block(80, 32, 1, 1))
        self.mix = nn.Sequential(nn.Conv2d(32, 112, 6), nn.ReLU(inplace=True))
        self.head = nn.Conv2d(112, 23, 1)

    def forward(self, x: Tensor) -> Tensor:
        """The 23 raw scores and the mean pip density."""
        out, _ = self.both(x)
        return out

    def both(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The same, and the pip density (N, 1, 12, 12) that training looks at."""
        body = self.body(self.trunk(x))
        density = self.pips(body)
        scores = self.head(self.mix(self.deep(body)))
        return torch.cat([scores, self.count(density)], dim=1).flatten(1), density
