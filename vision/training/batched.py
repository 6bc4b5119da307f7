"""The changes made to close-ups, for many at once on a graphics card (see `vision.training.tint`).

What `reader_loss.lesson` does one by one on a processor, which is free so to draw more scenes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from vision.eye.nets import CROP, CROP_EDGES, MIDDLE
from vision.training import reader_loss as taught
from vision.training.looks import kelvin_bgr
from vision.training.make_data import PATCH, PATCH_EDGES
from vision.training.reader_loss import Lesson

_COLUMNS = ("labels", "corners", "pips", "place", "up", "top")
_BLUR = 5
"""A blur reaches so many px."""


class Shelf:
    """Scenes of the training set on a device.

    Args:
        device: Such as "cuda".
        seed: For the changes made to them.
    """

    def __init__(self, device: str, seed: int) -> None:
        self._dice = torch.Generator(device)
        self._dice.manual_seed(seed)
        self._device = device
        self._pixels: list[Tensor] = []
        self._places: list[Tensor] = []
        self._columns: dict[str, list[Tensor]] = {key: [] for key in _COLUMNS}
        self._count = 0
        warmth = np.array([kelvin_bgr(k) for k in np.linspace(2100.0, 3800.0, 64)], np.float32)
        self._warmth = torch.from_numpy(warmth).to(device)

    def __len__(self) -> int:
        return sum(map(len, self._places))

    def add(self, rows: dict[str, NDArray[Any]]) -> None:
        """Take in the scenes of a shard of `make_data`."""
        there = rows["patch_present"]
        place = np.full(there.shape, -1, np.int64)
        place[there] = np.arange(self._count, self._count + there.sum())
        self._count += int(there.sum())
        self._places.append(torch.from_numpy(place).to(self._device))
        self._pixels.append(torch.from_numpy(rows["patch_pixels"][there]).to(self._device))
        for key, column in self._columns.items():
            column.append(torch.from_numpy(rows[f"patch_{key}"][there]).float().to(self._device))

    def lesson(self, scenes: int) -> Lesson:
        """Close-ups of some scenes, cut and lit anew."""
        with torch.no_grad():
            return self._lesson(scenes)

    def _lesson(self, scenes: int) -> Lesson:
        for parts in (self._pixels, self._places, *self._columns.values()):
            if len(parts) > 1:
                parts[:] = [torch.cat(parts)]
        places = self._places[0][self._whole(0, len(self), scenes)]
        at = (places.flatten() >= 0).nonzero().flatten()
        which, whose = places.flatten()[at], at // places.shape[1]
        column = {key: parts[0][which] for key, parts in self._columns.items()}
        angle, mirror = self._even(0, 2 * math.pi, scenes), self._share(scenes, 0.5)
        c, s = angle.cos(), angle.sin()
        sign = 1.0 - 2.0 * mirror.float()
        turn = torch.stack([torch.stack([c * sign, -s], -1), torch.stack([s * sign, c], -1)], -2)
        turn = turn[whose]
        zoom = torch.exp(taught.ZOOM * self._normal(len(at)))
        scale = (CROP / CROP_EDGES) / (PATCH / PATCH_EDGES) * zoom
        shift = (taught.SHIFT * self._normal(len(at), 2)).clamp(-taught.FURTHEST, taught.FURTHEST)
        matrix = turn * scale[:, None, None]
        offset = (CROP - 1) / 2 + shift * (CROP / CROP_EDGES) - matrix.sum(2) * (PATCH - 1) / 2
        image = self._cut(self._pixels[0][which], matrix, offset)
        lean = column["up"] + 0.1 * self._normal(scenes, 2)[whose]
        off, edge = column["place"][:, :2], column["place"][:, 2:]
        light, named = self._lit(image, whose, scenes, column["labels"][:, 0] < 0.5)
        return Lesson(
            image=light,
            labels=column["labels"],
            corners=column["corners"] @ matrix.transpose(1, 2) + offset[:, None],
            pips=column["pips"] @ matrix.transpose(1, 2) + offset[:, None],
            place=torch.cat([_turned(turn, off), torch.log(edge / zoom[:, None])], 1),
            up=_turned(turn, lean),
            normal=_turned(turn, column["top"]),
            named=named,
            at=at,
            shape=(scenes, places.shape[1]),
        )

    def _cut(self, pixels: Tensor, matrix: Tensor, offset: Tensor) -> Tensor:
        """Crops (N, 3, CROP, CROP) in 0 to 255 of close-ups (N, PATCH, PATCH, 3)."""
        x, y = self._grid(CROP)
        there = torch.stack([x, y], -1).reshape(1, -1, 2) - offset[:, None]
        from_there = there @ torch.linalg.inv(matrix).transpose(1, 2)
        grid = (from_there * (2 / (PATCH - 1)) - 1).view(-1, CROP, CROP, 2)
        return F.grid_sample(
            pixels.permute(0, 3, 1, 2).float(), grid, padding_mode="border", align_corners=True
        ).round()

    def _lit(
        self, image: Tensor, whose: Tensor, scenes: int, no_die: Tensor
    ) -> tuple[Tensor, Tensor]:
        light = self._tinted(image, whose, scenes)
        self._marbled(light, self._share(len(light), taught.MARBLED))
        self._swirled(light, self._share(len(light), taught.SWIRLED))
        self._printed(light, self._share(len(light), taught.PRINTED) & no_die)
        other = self._share(scenes, taught.REPAINTED)
        self._repainted(light, other[whose], whose, scenes)
        self._speckled(light, self._share(len(light), taught.SPECKLED))
        self._glared(light, self._share(len(light), taught.GLARED))
        self._half_lit(light, self._share(len(light), taught.HALF_LIT))
        return light, 1.0 - other[whose].float()

    def _tinted(self, image: Tensor, whose: Tensor, scenes: int) -> Tensor:
        tint = 0.18 * self._normal(scenes, 1) + 0.04 * self._normal(scenes, 3)
        gamma = torch.exp(0.12 * self._normal(scenes, 1))
        warm = self._warmth[self._whole(0, len(self._warmth), scenes)]
        warm = warm ** (self._even(0.4, 1.0, scenes, 1) / 2.2)
        cold = warm.amin(1, keepdim=True) / warm
        cast = torch.where(self._share(scenes, 0.2)[:, None], cold, warm)
        cast = cast * self._even(0.9, 1.2, scenes, 1)
        lamp = torch.where(self._share(scenes, 0.12)[:, None], cast, torch.ones_like(cast))
        noise = 0.012 * self._normal(scenes, 1).abs()
        gain, gamma, noise = (_wide(t[whose]) for t in (lamp * torch.exp(tint), gamma, noise))
        light = (image / 255.0).clamp(1e-4, 1.0) ** gamma * gain
        return (light + noise * self._normal(*light.shape)).clamp(0.0, 1.0)

    def _marbled(self, light: Tensor, where: Tensor) -> None:
        for cells, at in self._by_cells(where, 3, 10):
            cloud = self._normal(len(at), 3, cells, cells) * self._even(0, 1, len(at), 3, 1, 1)
            wide = _smooth(cloud + self._normal(len(at), 1, cells, cells))
            light[at] = (
                light[at] * torch.exp(wide * self._even(0.03, 0.2, len(at), 1, 1, 1))
            ).clamp(0, 1)

    def _swirled(self, light: Tensor, where: Tensor) -> None:
        for cells, at in self._by_cells(where, 3, 8):
            count, image = len(at), light[at]
            noise = _smooth(self._normal(count, 1, cells, cells))
            limit, slope = self._even(0.1, 1.2, count, 1, 1, 1), self._even(3, 15, count, 1, 1, 1)
            swirl = torch.sigmoid((noise - limit) * slope)
            apart = torch.log(image + 0.02)
            apart = apart - _wide(apart[:, :, MIDDLE, MIDDLE].flatten(2).median(2)[0])
            lighter = apart.mean(1, keepdim=True)
            dark_pips = (lighter[:, 0, MIDDLE, MIDDLE] < -0.6).float().mean((1, 2)) > 0.02
            off = (apart - lighter).abs().amax(1, keepdim=True) + 0.4 * lighter.abs()
            swirl = swirl * (2.0 - 4.0 * off).clamp(0, 1) * (~dark_pips)[:, None, None, None]
            dark = torch.exp(self._even(-2.5, -0.4, count, 1) + 0.2 * self._normal(count, 3))
            light[at] = (image * (1.0 - swirl * (1.0 - _wide(dark)))).clamp(0, 1)

    def _printed(self, light: Tensor, where: Tensor) -> None:
        at = where.nonzero().flatten()
        count, image = len(at), light[at]
        if not count:
            return
        u, v = self._about(count, 0.06)
        edge = CROP / CROP_EDGES * torch.exp(0.12 * self._normal(count))
        many = self._share(count, 0.3).float() * edge * self._even(2.1, 3.0, count) / 2
        period = torch.where(many > 0, many, 4.0 * CROP)[:, None, None]
        u, v = (w - period * torch.round(w / period).clamp(0, 1) for w in (u, v))
        tall = self._even(0.8, 1.0, count)[:, None, None]
        disc = torch.sqrt(u**2 + (v / tall) ** 2 + 1e-6)
        square = torch.maximum(u.abs(), (v / tall).abs())
        depth = edge[:, None, None] / 2 - torch.where(
            self._share(count, 0.4)[:, None, None], disc, square
        )
        thick = edge * self._even(0.05, 0.25, count)
        thick = torch.where(self._share(count, 0.6), edge, thick.clamp(min=1.0))[:, None, None]
        mark = (depth + 0.5).clamp(0, 1) * (thick - depth + 0.5).clamp(0, 1)
        soft = _blurred(mark[:, None], self._even(0.3, 1.2, count))
        soft = soft * self._even(0.5, 1.0, count, 1, 1, 1)
        ground = image.flatten(2).median(2)[0]
        paint = torch.where(
            self._share(count, 0.5)[:, None],
            self._even(0, 1, count, 3),
            ground * torch.exp(0.9 * self._normal(count, 3)),
        )
        shade = image.mean(1, keepdim=True) / _wide(ground.mean(1, keepdim=True).clamp(min=0.02))
        shade = shade.clamp(min=1e-3) ** self._even(0, 1, count, 1, 1, 1)
        light[at] = image * (1.0 - soft) + soft * (_wide(paint) * shade).clamp(0, 1)

    def _repainted(self, light: Tensor, where: Tensor, whose: Tensor, scenes: int) -> None:
        at = where.nonzero().flatten()
        mine, image = whose[at], light[at]
        dark, bright = self._even(0, 0.5, scenes, 3), self._even(0.2, 1, scenes, 3)
        swap = self._share(scenes, 0.5)[:, None]
        dark, bright = torch.where(swap, bright, dark), torch.where(swap, dark, bright)
        mix = -torch.log(self._even(1e-6, 1, 2, scenes, 3)).sum(0)
        shade = (image * _wide((mix / mix.sum(1, keepdim=True))[mine])).sum(1, keepdim=True)
        ends = torch.tensor([0.02, 0.98], device=self._device)
        reach = torch.quantile(shade.flatten(1), ends, dim=1).T
        one = torch.ones_like(reach[:, :1])
        sums = light.new_zeros(scenes, 3).index_add(0, mine, torch.cat([reach, one], 1))
        low, high = (sums[:, :2] / sums[:, 2:].clamp(min=1))[mine].T[:, :, None, None, None]
        shade = ((shade - low) / (high - low).clamp(min=0.05)).clamp(0, 1)
        kept = self._even(0, 0.5, scenes)[mine][:, None, None, None]
        dark, bright = _wide(dark[mine]), _wide(bright[mine])
        painted = (1.0 - kept) * (dark + shade * (bright - dark)) + kept * image
        light[at] = painted.clamp(0, 1)

    def _speckled(self, light: Tensor, where: Tensor) -> None:
        at = where.nonzero().flatten()
        count, image = len(at), light[at]
        if not count:
            return
        u, v = self._about(count, 0.1, turned=False)
        wide = (self._even(0.06, 0.2, count) * CROP)[:, None, None]
        far = (u / wide) ** 2 + (v / wide / self._even(0.6, 1, count)[:, None, None]) ** 2
        fine = _blurred(self._normal(count, 1, CROP, CROP), self._even(0.5, 1.2, count))[:, 0]
        fine = fine / fine.std((1, 2), keepdim=True)
        limit = self._even(-0.3, 1.2, count)[:, None, None] + 1.5 * (far - 0.6).clamp(min=0)
        specks = ((fine - limit) * self._even(1.5, 5, count)[:, None, None]).clamp(0, 1)[:, None]
        bright = torch.maximum(image, self._even(0.6, 1, count, 1, 1, 1))
        light[at] = image * (1.0 - specks) + specks * bright

    def _glared(self, light: Tensor, where: Tensor) -> None:
        at = where.nonzero().flatten()
        count = len(at)
        if not count:
            return
        spots = light.new_zeros(count, CROP, CROP)
        for number in range(2):
            u, v = self._about(count, 1 / 9)
            tall, wide = (self._even(0.03, 0.17, 2, count) * CROP)[:, :, None, None]
            far = torch.sqrt((u / wide) ** 2 + (v / tall) ** 2 + 1e-9)
            away = (far - 1.0) * torch.sqrt(u**2 + v**2 + 1e-6) / far
            begin, reach = self._even(0, 2 * math.pi, count), self._even(1.05, 4.36, count)
            along = torch.atan2(v / tall, u / wide) - begin[:, None, None]
            drawn = (along % (2 * math.pi) < reach[:, None, None]).float()
            thick = self._whole(1, 4, count)[:, None, None] / 2
            line = (0.5 + thick - away.abs()).clamp(0, 1) * drawn
            spot = torch.where(
                self._share(count, 0.6)[:, None, None], line, (0.5 - away).clamp(0, 1)
            )
            if number:
                spot = spot * self._share(count, 0.5)[:, None, None]
            spots = torch.maximum(spots, spot)
        soft = _blurred(spots[:, None], self._even(0.4, 1.6, count))
        light[at] = 1.0 - (1.0 - light[at]) * (1.0 - soft * self._even(0.3, 1, count, 1, 1, 1))

    def _half_lit(self, light: Tensor, where: Tensor) -> None:
        at = where.nonzero().flatten()
        count = len(at)
        x, y = (each - CROP / 2 for each in self._grid(CROP))
        turn = self._even(0, 2 * math.pi, count)
        depth = self._beyond(x, y, turn)
        other = self._beyond(x, y, turn + self._even(0.9, 2.2, count))
        corner = self._share(count, 0.4)[:, None, None]
        depth = torch.where(corner, torch.minimum(depth, other), depth)
        width = torch.exp(self._even(math.log(0.5), math.log(6.0), count))[:, None, None]
        shade = (depth / width + 0.5).clamp(0, 1)[:, None]
        dark = torch.exp(self._even(math.log(0.12), math.log(0.7), count, 1))
        dark = dark * torch.exp(0.08 * self._normal(count, 3))
        light[at] = light[at] * (1.0 - shade * (1.0 - _wide(dark)))

    def _beyond(self, x: Tensor, y: Tensor, turn: Tensor) -> Tensor:
        """How far points lie beyond lines near the middle, turned so."""
        along = x * turn.cos()[:, None, None] + y * turn.sin()[:, None, None]
        return along - self._normal(len(turn))[:, None, None] * (CROP / 8)

    def _about(self, count: int, spread: float, *, turned: bool = True) -> tuple[Tensor, Tensor]:
        """Where points lie from places near the middle (in px), along axes turned at random."""
        x, y = self._grid(CROP)
        middle = CROP / 2 + spread * CROP * self._normal(2, count)
        x, y = x - middle[0][:, None, None], y - middle[1][:, None, None]
        turn = self._even(0, math.pi if turned else 0.0, count)[:, None, None]
        return x * turn.cos() + y * turn.sin(), y * turn.cos() - x * turn.sin()

    def _by_cells(self, where: Tensor, least: int, most: int) -> list[tuple[int, Tensor]]:
        """What is chosen, shared out among some sizes of clouds."""
        at = where.nonzero().flatten()
        size = self._whole(least, most, len(at))
        parts = [(cells, at[size == cells]) for cells in range(least, most)]
        return [(cells, part) for cells, part in parts if len(part)]

    def _grid(self, size: int) -> tuple[Tensor, Tensor]:
        steps = torch.arange(size, device=self._device, dtype=torch.float32)
        y, x = torch.meshgrid(steps, steps, indexing="ij")
        return x, y

    def _normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, device=self._device, generator=self._dice)

    def _even(self, low: float, high: float, *shape: int) -> Tensor:
        return low + (high - low) * torch.rand(*shape, device=self._device, generator=self._dice)

    def _share(self, count: int, share: float) -> Tensor:
        return self._even(0.0, 1.0, count) < share

    def _whole(self, low: int, high: int, count: int) -> Tensor:
        return torch.randint(low, high, (count,), device=self._device, generator=self._dice)


def _wide(values: Tensor) -> Tensor:
    """(N, C) for pictures (N, C, H, W)."""
    return values[:, :, None, None]


def _turned(turn: Tensor, vectors: Tensor) -> Tensor:
    return (turn @ vectors[:, :, None])[:, :, 0]


def _smooth(cells: Tensor) -> Tensor:
    return F.interpolate(cells, size=(CROP, CROP), mode="bicubic", align_corners=False)


def _blurred(light: Tensor, sigma: Tensor) -> Tensor:
    """Pictures (N, 1, H, W), each blurred by its own sigma (N,) in px."""
    steps = torch.arange(-_BLUR, _BLUR + 1, device=light.device)
    kernel = torch.exp(-(steps**2) / (2.0 * sigma[:, None] ** 2))
    kernel = kernel / kernel.sum(1, keepdim=True)
    rows = F.pad(light.transpose(0, 1), (_BLUR,) * 4, mode="reflect")
    rows = F.conv2d(rows, kernel[:, None, None, :], groups=len(light))
    return F.conv2d(rows, kernel[:, None, :, None], groups=len(light)).transpose(0, 1)
