"""The values of a scene: cameras, lamps, trays, dice, things and their places.

Millimetres, a right-handed world, linear light; see `vision.simulation.render`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
"""Value to (axis, sign) of a right-handed die; a left-handed one has its first two axes swapped."""


@dataclass(frozen=True, slots=True)
class Camera:
    """A pinhole camera with one radial distortion term.

    Attributes:
        size_wh: Picture size in pixels.
        focal_px: Focal length in pixels.
        position_mm: Where the lens is.
        rotation: Rows are the camera's right, down and forward axes in the world.
        k1: Radial distortion of the normalised radius (0 for none).
        principal_px: Where the optical axis meets the picture; None for its middle.
    """

    size_wh: tuple[int, int]
    focal_px: float
    position_mm: Vector
    rotation: Matrix
    k1: float = 0.0
    principal_px: Point | None = None

    @property
    def middle_px(self) -> NDArray[np.float64]:
        """Where the optical axis meets the picture."""
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
        rows = tuple(_vector(v) for v in (turned_right, turned_down, -back))
        return cls(size_wh, focal_px, _vector(where), (rows[0], rows[1], rows[2]), k1)

    def project(self, points_mm: NDArray[np.floating]) -> NDArray[np.float64]:
        """World points (N, 3) to pixels (N, 2)."""
        local = (np.asarray(points_mm, float) - self.position_mm) @ np.asarray(self.rotation).T
        flat = local[:, :2] / np.maximum(local[:, 2:], 1.0)
        bent = flat * (1.0 + self.k1 * (flat**2).sum(axis=1, keepdims=True))
        return np.asarray(bent * self.focal_px + self.middle_px)

    def up_at(self, pixels: NDArray[np.floating]) -> NDArray[np.float64]:
        """Slant of the floor's upward normal in the picture at pixels (N, 2).

        Returns:
            (N, 2): Its part across the line of sight, x right and y down; 0 is seen from above,
            the length is the sine of the slant.
        """
        return self.across(pixels, np.array([0.0, 0.0, 1.0]))

    def across(
        self, pixels: NDArray[np.floating], normal: NDArray[np.floating]
    ) -> NDArray[np.float64]:
        """The part (N, 2) of a unit vector of the world across the lines of sight through pixels
        (N, 2), x right and y down."""
        flat = (np.asarray(pixels, float) - self.middle_px) / self.focal_px
        if self.k1:
            bent = flat.copy()
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
        light: (H, W) float32, 0.0 to 1.0; its border goes on for ever.
        mm_per_px: Scale of `light`, measured at the height of the stencil.
        height_mm: Height of the stencil above the floor.
        angle_deg: Turn of the stencil about its middle.
        middle_mm: Where its middle is.
    """

    light: Floats
    mm_per_px: float
    height_mm: float
    angle_deg: float = 0.0
    middle_mm: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Lamp:
    """A round lamp; `colour` is its light on a surface that faces it. `mask` shades it in part."""

    position_mm: Vector
    radius_mm: float = 20.0
    colour: Bgr = (0.8, 0.9, 1.0)
    mask: Mask | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """A picture that covers a surface, repeated mirrored: (H, W, 3) float32 linear reflectance."""

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
        share: Its share of the surface, 0.0 to 1.0.
        mirror: Share of light that a face mirrors when seen straight on (0.04: plain plastic).
    """

    kind: str
    paint: Bgr
    seed: int = 0
    scale_mm: float = 2.0
    amount: float = 1.0
    share: float = 0.2
    mirror: float = 0.04


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """Light from all round: (H, W, 3) float32, linear; rows from overhead to underfoot."""

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
    """What a die does while the shutter is open: its way and its turn about the centre."""

    shift_mm: Vector = (0.0, 0.0, 0.0)
    turn_rad: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Die:
    """One die: where it is, what it looks like.

    Attributes:
        rotation: Columns are the die's axes in the world; see FACES for what each shows.
        colour: What the truth calls it; None for a die that is none of the five.
        albedo: Its plastic, linear blue, green, red.
        other_pips: Pips of another paint: the values whose faces have it, and the paint.
        pip_radius, pip_offset: As shares of the edge; the offset is from the face's middle.
        pip_depth: Of the hollows, as a share of their radius: 0.0 is painted on, 1.0 drilled.
        edge_radius: Rounding of the edges as a share of the edge.
        ball: Radius of the ball that cuts the corners off, as a share of the edge (0.87: none).
        pip_shape: round, ring or square.
        flips: Whether the two, three and six are turned by a quarter.
        gloss: Strength of the mirror-like layer, 0.0 to 1.0. `roughness` widens its highlights.
        glow: How much light passes through (translucent dice), 0.0 to 1.0.
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
    pip_shape: str = "round"
    motion: Motion | None = None

    def face(self, value: int) -> tuple[int, int]:
        """Axis and sign of the side that shows a value."""
        axis, sign = FACES[value]
        if not self.right_handed and axis < 2:
            axis = 1 - axis
        return axis, sign

    @property
    def top(self) -> tuple[int, float]:
        """The value that shows most upwards, and the tilt of its face in degrees."""
        up = np.asarray(self.rotation)[2]
        best = max(FACES, key=lambda v: up[self.face(v)[0]] * self.face(v)[1])
        axis, sign = self.face(best)
        return best, float(np.degrees(np.arccos(np.clip(up[axis] * sign, -1.0, 1.0))))


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that is no die: `kind` is hand, pencil, coin, token, button, cup, card, sheet or
    lint.

    `position_mm` is where it is (x, y of its middle or finger tips' reach), `angle_deg` which
    way it points, `size_mm` how large it is, `height_mm` how high above the floor. What lies
    `under` the dice hides none of them.
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
    """What lens and sensor add: exposure, colour balance, vignette, defocus, noise."""

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
    """Everything one picture is made of.

    Attributes:
        gloom: How much light is missing beside dice and between them: 0 where a floor throws it
            back as if it were lit all round, 1 where none comes from a die's own shadow, and from
            behind a neighbour hardly any (how much: by eye).
        room: What glossy dice and floors mirror; without one they mirror `ambient` alone.
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
    """The empty tray in linear light, by source, so that shadows can take a source away.

    `ambient` and each of `lamps` is (H, W, 3) float32; the picture is their sum.
    """

    ambient: Floats
    lamps: tuple[Floats, ...]


def pip_centres(die: Die, value: int) -> NDArray[np.float64]:
    """World points (N, 3) in mm of the middles of the pips on the side that shows a value."""
    o = 2.0 * die.pip_offset
    spots: list[tuple[float, float]] = []
    if value in (2, 3):
        spots += [(o, o), (-o, -o)]
    if value in (4, 5, 6):
        spots += [(o, o), (-o, -o), (o, -o), (-o, o)]
    if value == 6:
        spots += [(o, 0.0), (-o, 0.0)]
    if value % 2:
        spots.append((0.0, 0.0))
    if value in (2, 3, 6) and die.flips[(2, 3, 6).index(value)]:
        spots = [(v, -u) for u, v in spots]
    axis, sign = die.face(value)
    local = np.empty((len(spots), 3))
    local[:, axis] = sign
    local[:, (axis + 1) % 3], local[:, (axis + 2) % 3] = np.array(spots).T
    world = (local * die.size_mm / 2) @ np.asarray(die.rotation).T
    return np.asarray(world + np.asarray(die.position_mm))


_CUBE = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float64)


def die_corners(die: Die, share: float = 1.0) -> NDArray[np.float64]:
    """World points (8, 3) in mm of the corners of a die's cube, or of a smaller one within it."""
    cube = _CUBE * (die.size_mm / 2 * share)
    return np.asarray(cube @ np.asarray(die.rotation).T + np.asarray(die.position_mm))


def resting_die(value: int, xy_mm: tuple[float, float], angle_deg: float, like: Die) -> Die:
    """A die like another that lies flat on the floor and shows a value."""
    axis, sign = like.face(value)
    up = np.zeros(3)
    up[axis] = sign
    side = np.roll(np.abs(up), 1)
    third = np.cross(up, side)
    level = np.array([side, third, up])  # rows: the die's axes that point along world x, y, z
    a = np.radians(angle_deg)
    turn = np.array([[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]])
    return replace(
        like,
        position_mm=(xy_mm[0], xy_mm[1], like.size_mm / 2),
        rotation=to_matrix(turn @ level),
        motion=None,
    )


def to_matrix(rotation: NDArray[np.floating]) -> Matrix:
    """A 3x3 array as the nested tuples a scene keeps."""
    rows = [_vector(row) for row in rotation]
    return rows[0], rows[1], rows[2]


def turned(rotation: Matrix, turn_rad: Sequence[float]) -> Matrix:
    """A rotation turned further about a world axis whose length is the angle."""
    import cv2

    step, _ = cv2.Rodrigues(np.asarray(turn_rad, float).reshape(3, 1))
    return to_matrix(step @ np.asarray(rotation))


def inside_tray(tray: Tray, x_mm: float, y_mm: float) -> bool:
    """Whether a point of the floor lies within the inner outline."""
    points = np.array(tray.outline_mm)
    edge = np.roll(points, -1, axis=0) - points
    return bool(
        np.all(edge[:, 0] * (y_mm - points[:, 1]) - edge[:, 1] * (x_mm - points[:, 0]) >= 0.0)
    )


def _vector(values: NDArray[np.floating]) -> Vector:
    return float(values[0]), float(values[1]), float(values[2])
