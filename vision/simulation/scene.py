"""The values of a scene: cameras, lamps, trays, dice, things and their places.

Millimetres, a right-handed world, linear light; see `vision.simulation.render`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import DieColour
from vision.reading import Point

Floats = NDArray[np.floating[Any]]
Vector = tuple[float, float, float]
Bgr = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]

COCKED_DEG = 8.0
"""A die tilted by more than this against the floor does not lie flat."""

FACES: dict[int, tuple[int, int]] = {
    1: (2, 1),
    6: (2, -1),
    2: (0, 1),
    5: (0, -1),
    3: (1, 1),
    4: (1, -1),
}
"""Axis and sign of the face with each value of a right-handed die; left-handed dice have the first
two axes swapped."""


@dataclass(frozen=True, slots=True)
class Camera:
    """A pinhole camera with one radial distortion term.

    Attributes:
        size_wh: Picture size in pixels.
        focal_px: Focal length in pixels.
        position_mm: Position of the lens.
        rotation: Rows are the camera's right, down and forward axes in the world.
        k1: Radial distortion of the normalised radius (0 for none).
        principal_px: Point of the picture on the optical axis; None for its middle.
    """

    size_wh: tuple[int, int]
    focal_px: float
    position_mm: Vector
    rotation: Matrix
    k1: float = 0.0
    principal_px: Point | None = None

    @property
    def middle_px(self) -> NDArray[np.float64]:
        """Point of the picture on the optical axis."""
        if self.principal_px is not None:
            return np.array(self.principal_px)
        return np.asarray((np.array(self.size_wh) - 1.0) / 2.0)

    @classmethod
    def above(
        cls,
        size_wh: tuple[int, int],
        focal_px: float,
        distance_mm: float,
        *,
        tilt_deg: float = 0.0,
        azimuth_deg: float = 0.0,
        roll_deg: float = 0.0,
        look_at_mm: tuple[float, float] = (0.0, 0.0),
        k1: float = 0.0,
    ) -> Camera:
        """A camera that looks at a point of the floor; `tilt_deg` 0 is straight down."""
        tilt, azimuth, roll = np.radians([tilt_deg, azimuth_deg, roll_deg])
        back = np.array(
            [np.sin(tilt) * np.sin(azimuth), -np.sin(tilt) * np.cos(azimuth), np.cos(tilt)]
        )
        right = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
        down = np.cross(-back, right)
        turned_right = np.cos(roll) * right + np.sin(roll) * down
        turned_down = np.cos(roll) * down - np.sin(roll) * right
        where = np.array([*look_at_mm, 0.0]) + distance_mm * back
        rows = vector(turned_right), vector(turned_down), vector(-back)
        return cls(size_wh, focal_px, vector(where), rows, k1)

    def project(self, points_mm: NDArray[np.floating]) -> NDArray[np.float64]:
        """World points (N, 3) to pixels (N, 2).

        The distortion ends where it would fold the picture over.
        """
        local = (np.asarray(points_mm, float) - self.position_mm) @ np.asarray(self.rotation).T
        flat = local[:, :2] / np.maximum(local[:, 2:], 1.0)
        far2 = (flat**2).sum(axis=1, keepdims=True)
        if self.k1 < 0.0:
            far2 = np.minimum(far2, -1.0 / (3.0 * self.k1))
        bent = flat * (1.0 + self.k1 * far2)
        return np.asarray(bent * self.focal_px + self.middle_px)

    def up_at(self, pixels: NDArray[np.floating]) -> NDArray[np.float64]:
        """Slant of the floor's upward normal in the picture at pixels (N, 2).

        Returns:
            (N, 2): The normal's part across the line of sight, x right and y down. It is 0 straight
            from above; its length is the sine of the slant.
        """
        return self.across(pixels, np.array([0.0, 0.0, 1.0]))

    def across(
        self, pixels: NDArray[np.floating], normal: NDArray[np.floating]
    ) -> NDArray[np.float64]:
        """Part (N, 2) of a world unit vector across the lines of sight at pixels (N, 2), x right
        and y down."""
        flat = bent = (np.asarray(pixels, float) - self.middle_px) / self.focal_px
        for _ in range(4):
            flat = bent / (1.0 + self.k1 * (flat**2).sum(axis=1, keepdims=True))
        sight = np.c_[flat, np.ones(len(flat))]
        sight /= np.linalg.norm(sight, axis=1, keepdims=True)
        turned = np.asarray(self.rotation) @ normal
        across = turned - (sight @ turned)[:, None] * sight
        return np.asarray(across[:, :2])

    def rays(self, left: int, top: int, right: int, bottom: int) -> tuple[Floats, Floats, Floats]:
        """Directions (not unit) through the pixels of a window, each component (h, w)."""
        middle = self.middle_px
        x = (np.arange(left, right, dtype=np.float32) - middle[0]) / self.focal_px
        y = (np.arange(top, bottom, dtype=np.float32) - middle[1]) / self.focal_px
        bent_x, bent_y = np.meshgrid(x.astype(np.float32), y.astype(np.float32))
        u, v = bent_x, bent_y
        if self.k1:
            for _ in range(4):
                scale = 1.0 / (1.0 + np.float32(self.k1) * (u * u + v * v))
                u, v = bent_x * scale, bent_y * scale
        m = np.asarray(self.rotation, np.float32)
        return (
            u * m[0, 0] + v * m[1, 0] + m[2, 0],
            u * m[0, 1] + v * m[1, 1] + m[2, 1],
            u * m[0, 2] + v * m[1, 2] + m[2, 2],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    """A flat stencil between a lamp and the tray: its light passes where `light` is 1.0.

    Attributes:
        light: (H, W) float32, 0.0 to 1.0; the border values continue outside.
        mm_per_px: Scale of `light` at the height of the stencil.
        height_mm: Height of the stencil above the floor.
        angle_deg: Rotation of the stencil about its middle.
        middle_mm: Position of its middle.
    """

    light: Floats
    mm_per_px: float
    height_mm: float
    angle_deg: float = 0.0
    middle_mm: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Lamp:
    """A round lamp; `colour` is its light on a facing surface, `mask` a stencil before it."""

    position_mm: Vector
    radius_mm: float = 20.0
    colour: Bgr = (0.8, 0.9, 1.0)
    mask: Mask | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """A picture that covers a surface, mirrored at its edges: (H, W, 3) float32 reflectance."""

    pixels: Floats
    mm_per_px: float


@dataclass(frozen=True, slots=True)
class Surface:
    """The material of a floor, rim or table.

    `kind` is one of felt, wood, leather, plastic, card, cloth, plain, or tile: the picture `tile`.
    """

    kind: str
    colour: Bgr
    seed: int = 0
    gloss: float = 0.0
    tile: Tile | None = None


@dataclass(frozen=True, slots=True)
class Finish:
    """A second plastic in or on a die; `kind` is one of `vision.simulation.finishes.KINDS`.

    Attributes:
        paint: The second plastic, linear blue, green, red.
        scale_mm: Size of its spots, veins or flakes.
        amount: Its opacity, 0.0 to 1.0.
        share: Its share of the surface, 0.0 to 1.0; veins cover a quarter of that, and wear only
            edges.
        mirror: Share of light that a face reflects towards its normal (0.04: plain plastic).
    """

    kind: str
    paint: Bgr
    seed: int = 0
    scale_mm: float = 2.0
    amount: float = 1.0
    share: float = 0.2
    mirror: float = 0.04


@dataclass(frozen=True, slots=True)
class Wear:
    """Paint that has come off the pips of a die, in patches.

    Attributes:
        amount: Share of the paint that is gone, 0.0 to 1.0; about half of it where all would be.
        scale_mm: Size of the patches.
    """

    amount: float
    seed: int = 0
    scale_mm: float = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """Light from all directions: (H, W, 3) float32, linear; rows from overhead to underfoot."""

    light: Floats


@dataclass(frozen=True, slots=True)
class Tray:
    """A tray with upright walls on a table.

    `outline_mm` is the convex inner outline of the floor, counter-clockwise seen from above.
    """

    outline_mm: tuple[tuple[float, float], ...]
    rim_height_mm: float
    rim_width_mm: float
    floor: Surface
    rim: Surface
    table: Surface


@dataclass(frozen=True, slots=True)
class Motion:
    """Movement of a die while the shutter is open: its shift and its turn about the centre."""

    shift_mm: Vector = (0.0, 0.0, 0.0)
    turn_rad: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Die:
    """One die: its position and its look.

    Attributes:
        rotation: Columns are the die's axes in the world; see FACES for what each shows.
        colour: Its true colour; None for a die that is none of the five.
        albedo: Its plastic, linear blue, green, red.
        other_pips: Values whose faces have pips of another paint, and that paint.
        pip_radius, pip_offset: As shares of the edge; the offset is from the face's middle.
        pip_depth: Depth of the hollows as a share of their radius: 0.0 painted, 1.0 drilled.
        edge_radius: Rounding of the edges as a share of the edge.
        ball: Radius of the ball that cuts the corners off, as a share of the edge (0.87: none).
        pip_shape: round, ring or square.
        wear: How worn the paint of the pips is; None if it is not.
        symbols: Of the faces 1 to 6 instead of pips, as `vision.simulation.symbols` numbers them.
        flips: Whether the pips of the two, three and six are turned by a quarter.
        gloss: Strength of the mirror-like layer, 0.0 to 1.0; `roughness` widens its highlights.
        glow: Share of light that passes through a translucent die, 0.0 to 1.0.
    """

    position_mm: Vector
    rotation: Matrix
    size_mm: float = 16.0
    colour: DieColour | None = None
    albedo: Bgr = (0.8, 0.8, 0.8)
    pip_albedo: Bgr = (0.02, 0.02, 0.02)
    other_pips: tuple[tuple[int, ...], Bgr] = ((), (0.02, 0.02, 0.5))
    pip_radius: float = 0.09
    pip_offset: float = 0.25
    pip_depth: float = 0.375
    one_scale: float = 1.0
    edge_radius: float = 0.1
    ball: float = 0.74
    right_handed: bool = True
    flips: tuple[bool, bool, bool] = (False, False, False)
    gloss: float = 0.5
    roughness: float = 0.25
    glow: float = 0.0
    finish: Finish | None = None
    wear: Wear | None = None
    pip_shape: str = "round"
    symbols: tuple[int, ...] = ()
    motion: Motion | None = None

    def face(self, value: int) -> tuple[int, int]:
        """Axis and sign of the side that shows a value."""
        axis, sign = FACES[value]
        if not self.right_handed and axis < 2:
            axis = 1 - axis
        return axis, sign

    def is_turned(self, value: int) -> bool:
        """Whether the pips of a value are turned by a quarter."""
        return value in (2, 3, 6) and self.flips[(2, 3, 6).index(value)]

    @property
    def top(self) -> tuple[int, float]:
        """The value on top, and the tilt of its face in degrees."""
        up = np.asarray(self.rotation)[2]
        best = max(FACES, key=lambda v: up[self.face(v)[0]] * self.face(v)[1])
        axis, sign = self.face(best)
        return best, float(np.degrees(np.arccos(np.clip(up[axis] * sign, -1.0, 1.0))))


@dataclass(frozen=True, slots=True)
class Thing:
    """Any object but a die.

    Attributes:
        kind: hand, pencil, coin, token, button, cup, card, sheet or lint.
        position_mm: x and y of its middle, or of a hand's fingertips.
        angle_deg: The direction it points in.
        height_mm: Height above the floor.
        under: It lies under the dice and hides none of them.
    """

    kind: str
    position_mm: tuple[float, float]
    angle_deg: float
    size_mm: float
    colour: Bgr
    height_mm: float = 0.0
    seed: int = 0
    under: bool = False


@dataclass(frozen=True, slots=True)
class Lens:
    """Effects of lens and sensor: exposure, colour balance, vignette, defocus, noise."""

    exposure_ev: float = 0.0
    white_balance: Bgr = (1.0, 1.0, 1.0)
    vignette: float = 0.15
    blur_px: float = 0.6
    noise: float = 0.006
    contrast: float = 0.15
    saturation: float = 1.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything in one picture.

    Attributes:
        gloom: Missing light beside and between dice. At 0 the floor reflects light on dice as if it
            were lit everywhere. At 1 none comes from a die's own shadow and hardly any past a
            neighbour (chosen by eye).
        room: Room that glossy dice and floors mirror; None mirrors only `ambient`.
    """

    camera: Camera
    tray: Tray
    lamps: tuple[Lamp, ...]
    ambient: Bgr = (0.3, 0.3, 0.3)
    dice: tuple[Die, ...] = ()
    things: tuple[Thing, ...] = ()
    lens: Lens = field(default_factory=Lens)
    gloom: float = 0.0
    room: Room | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """The empty tray in linear light, by source, so that shadows can remove single sources.

    `ambient` and each of `lamps` is (H, W, 3) float32; the picture is their sum.
    """

    ambient: Floats
    lamps: tuple[Floats, ...]


def vector(values: Iterable[Any]) -> Vector:
    """Three numbers as those of a scene."""
    x, y, z = (float(value) for value in values)
    return x, y, z
