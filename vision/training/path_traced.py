"""The same scenes by a path tracer: light that bounces, mirrors that show the room, hollow pips.

Blender as a Python module (`pip install bpy==4.5.15`, Python 3.11) renders what `vision.scene`
only approximates; the truth beside the picture stays that of `vision.scene`. What a scene leaves
open, such as what the room looks like in a glossy die, is drawn by chance. Blender's unit is
one centimetre here.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import cv2
import mathutils
import numpy as np
from numpy.typing import NDArray

from vision.scene import Bgr, Camera, Die, Floats, Lamp, Scene, Surface, Thing
from vision.scene.tray import reflectance, widened
from vision.training.looks import Rng, random_room, uniform
from vision.training.solids import die_body

_CM = 0.1
_TEXTURE_PX = 640


def traced(rng: Rng, scene: Scene, samples: int = 4, threads: int = 1) -> Floats:
    """Render a scene's dice, tray and table, and the coins and pencils that dice lean on.

    Args:
        rng: Says what the scene leaves open.
        scene: Other things and `motion` are left out, `lens` is applied by `vision.scene.lens`.
        samples: Paths per pixel; what noise they leave is smoothed by Open Image Denoise.
    Returns:
        (H, W, 3) float32, linear light as `vision.scene.dice.draw_dice` gives it.
    """
    bpy.ops.wm.read_factory_settings(use_empty=True)
    world = bpy.context.scene
    _room(rng, world, scene.ambient)
    for lamp in scene.lamps:
        _lamp(rng, lamp)
    _tray(rng, scene)
    finish = _Finish(rng)
    for die in scene.dice:
        _die(finish, die)
    for thing in scene.things:
        if thing.under:
            _prop(rng, thing)
    pinhole, bends = _pinhole(scene.camera)
    _camera(world, pinhole)
    light = _rendered(world, pinhole.size_wh, samples, threads)
    return light if bends is None else _bent(light, *bends)


def _pinhole(camera: Camera) -> tuple[Camera, tuple[Floats, Floats] | None]:
    """A camera without distortion that sees as much, and where in its picture each pixel is."""
    if not camera.k1:
        return camera, None
    width, height = camera.size_wh
    rays = camera.rays(0, 0, width, height)
    m = np.asarray(camera.rotation, np.float32)
    along = [sum(rays[a] * m[row, a] for a in range(3)) for row in range(3)]
    u, v = along[0] / along[2], along[1] / along[2]
    reach = max(float(np.abs(u).max()) / (width - 1), float(np.abs(v).max()) / (height - 1)) * 2.0
    plain = replace(camera, k1=0.0, focal_px=min(camera.focal_px, 1.0 / reach))
    x, y = camera.middle_px
    return plain, (
        np.asarray(u * plain.focal_px + x, np.float32),
        np.asarray(v * plain.focal_px + y, np.float32),
    )


def _bent(light: Floats, x: Floats, y: Floats) -> Floats:
    moved = cv2.remap(light, x, y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(np.maximum(moved, 0.0), np.float32)


def _camera(world: Any, camera: Camera) -> None:
    data = bpy.data.cameras.new("camera")
    width, height = camera.size_wh
    data.sensor_fit, data.sensor_width = "HORIZONTAL", 36.0
    data.lens = 36.0 * camera.focal_px / width
    data.clip_start, data.clip_end = 0.1, 1e4
    right, down, forward = np.asarray(camera.rotation)
    matrix = np.eye(4)
    matrix[:3, 0], matrix[:3, 1], matrix[:3, 2] = right, -down, -forward
    matrix[:3, 3] = np.asarray(camera.position_mm) * _CM
    _placed("camera", data, matrix)
    world.camera = bpy.data.objects["camera"]
    world.render.resolution_x, world.render.resolution_y = width, height
    world.render.resolution_percentage = 100


def _rendered(world: Any, size_wh: tuple[int, int], samples: int, threads: int) -> Floats:
    world.render.engine = "CYCLES"
    cycles = world.cycles
    cycles.device, cycles.samples, cycles.use_adaptive_sampling = "CPU", samples, False
    cycles.max_bounces, cycles.diffuse_bounces, cycles.glossy_bounces = 5, 3, 3
    cycles.transmission_bounces, cycles.caustics_reflective = 5, False
    cycles.caustics_refractive, cycles.sample_clamp_indirect = False, 4.0
    cycles.use_denoising, cycles.denoiser = True, "OPENIMAGEDENOISE"
    cycles.denoising_input_passes, cycles.denoising_prefilter = "RGB_ALBEDO_NORMAL", "FAST"
    world.render.threads_mode, world.render.threads = "FIXED", threads
    world.render.image_settings.file_format = "OPEN_EXR"
    world.render.image_settings.color_depth = "32"
    world.view_settings.view_transform = "Raw"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "light.exr"
        world.render.filepath = str(path)
        bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(str(path))
        pixels = np.empty(size_wh[0] * size_wh[1] * 4, np.float32)
        image.pixels.foreach_get(pixels)
    rgb = pixels.reshape(size_wh[1], size_wh[0], 4)[::-1, :, 2::-1]
    return np.ascontiguousarray(np.maximum(rgb, 0.0), np.float32)


def _placed(name: str, data: Any, matrix: NDArray[np.float64] | None = None) -> Any:
    thing = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(thing)
    if matrix is not None:
        thing.matrix_world = mathutils.Matrix(matrix.tolist())
    return thing


def _room(rng: Rng, world: Any, ambient: Bgr) -> None:
    image = _image("room", random_room(rng, ambient)[::-1])
    world.world = bpy.data.worlds.new("room")
    world.world.use_nodes = True
    world.world.cycles.sampling_method = "MANUAL"
    world.world.cycles.sample_map_resolution = 128
    nodes, links = world.world.node_tree.nodes, world.world.node_tree.links
    texture = nodes.new("ShaderNodeTexEnvironment")
    texture.image = image
    links.new(texture.outputs["Color"], nodes["Background"].inputs["Color"])


def _image(name: str, bgr: Floats) -> Any:
    """Linear blue, green, red (H, W, 3), its first row at the bottom, as Blender keeps it."""
    height, width = bgr.shape[:2]
    image = bpy.data.images.new(name, width, height, alpha=False, float_buffer=True)
    image.colorspace_settings.name = "Linear Rec.709"
    pixels = np.ones((height, width, 4), np.float32)
    pixels[..., :3] = bgr[..., ::-1]
    image.pixels.foreach_set(pixels.ravel())
    image.pack()
    return image


def _lamp(rng: Rng, lamp: Lamp) -> None:
    """A disk or a square of light that looks at the tray, or a ball."""
    where = np.asarray(lamp.position_mm) * _CM
    far = float(np.linalg.norm(where))
    strength = max(lamp.colour)
    ball = rng.random() < 0.35
    data: Any = bpy.data.lights.new("lamp", "POINT" if ball else "AREA")
    if ball:
        data.shadow_soft_size = lamp.radius_mm * _CM
        data.energy = 4.0 * np.pi**2 * far**2 * strength
    else:
        data.shape = "DISK" if rng.random() < 0.7 else "RECTANGLE"
        data.size = 2.0 * lamp.radius_mm * _CM
        if data.shape == "RECTANGLE":
            data.size_y = data.size * uniform(rng, 0.2, 1.0)
        data.energy = np.pi**2 * far**2 * strength
    data.color = [lamp.colour[2] / strength, lamp.colour[1] / strength, lamp.colour[0] / strength]
    back = where / far
    side = np.cross([0.0, 1.0, 0.0] if abs(back[1]) < 0.9 else [1.0, 0.0, 0.0], back)
    side /= np.linalg.norm(side)
    matrix = np.eye(4)
    matrix[:3, 0], matrix[:3, 1], matrix[:3, 2], matrix[:3, 3] = (
        side, np.cross(back, side), back, where,
    )  # fmt: skip
    _placed("lamp", data, matrix)


def _material(name: str) -> tuple[Any, Any, Any, Any]:
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    tree = material.node_tree
    return material, tree.nodes, tree.links, tree.nodes["Principled BSDF"]


def _surface(rng: Rng, name: str, surface: Surface, middle: NDArray[Any], span_mm: float) -> Any:
    """What `vision.scene.tray` paints a surface with, and the relief that goes with it."""
    material, nodes, links, shader = _material(name)
    step = span_mm / _TEXTURE_PX
    along = (np.arange(_TEXTURE_PX, dtype=np.float32) + 0.5) * step - span_mm / 2
    x, y = np.meshgrid(along + np.float32(middle[0]), along + np.float32(middle[1]))
    colour = reflectance(surface, x, y, step)
    texture = nodes.new("ShaderNodeTexImage")
    texture.image = _image(name, colour)
    place = nodes.new("ShaderNodeTexCoord")
    mapping = nodes.new("ShaderNodeMapping")
    scale = 1.0 / (span_mm * _CM)
    mapping.inputs["Scale"].default_value = (scale, scale, scale)
    mapping.inputs["Location"].default_value = (
        0.5 - middle[0] / span_mm, 0.5 - middle[1] / span_mm, 0.0,
    )  # fmt: skip
    links.new(place.outputs["Object"], mapping.inputs["Vector"])
    links.new(mapping.outputs["Vector"], texture.inputs["Vector"])
    links.new(texture.outputs["Color"], shader.inputs["Base Color"])
    soft = surface.kind in ("felt", "cloth", "card")
    shader.inputs["Roughness"].default_value = (
        uniform(rng, 0.7, 1.0) if soft else float(np.clip(0.65 - 0.6 * surface.gloss, 0.08, 1.0))
    )
    shader.inputs["Specular IOR Level"].default_value = 0.1 if soft else uniform(rng, 0.3, 0.6)
    if surface.kind in ("felt", "cloth"):
        shader.inputs["Sheen Weight"].default_value = uniform(rng, 0.0, 0.3)
    bump = nodes.new("ShaderNodeBump")
    bump.inputs["Strength"].default_value = uniform(rng, 0.1, 1.0) if soft else uniform(rng, 0, 0.4)
    bump.inputs["Distance"].default_value = uniform(rng, 0.01, 0.08)
    if rng.random() < 0.5:
        height = nodes.new("ShaderNodeTexNoise")
        height.inputs["Scale"].default_value = float(np.exp(uniform(rng, np.log(3), np.log(40))))
        height.inputs["Detail"].default_value = 3.0
        links.new(place.outputs["Object"], height.inputs["Vector"])
        links.new(height.outputs[0], bump.inputs["Height"])
    else:
        links.new(texture.outputs["Color"], bump.inputs["Height"])
    links.new(bump.outputs["Normal"], shader.inputs["Normal"])
    return material


def _tray(rng: Rng, scene: Scene) -> None:
    tray, camera = scene.tray, scene.camera
    inner = np.asarray(tray.outline_mm, np.float64)
    outer = widened(inner, tray.rim_width_mm)
    spread = float(np.ptp(outer, axis=0).max()) * 1.05
    middle = (outer.min(axis=0) + outer.max(axis=0)) / 2
    view = camera.position_mm[2] / camera.focal_px * max(camera.size_wh) * 2.0
    floor = _surface(rng, "floor", tray.floor, middle, spread)
    rim = _surface(rng, "rim", tray.rim, middle, spread)
    table = _surface(rng, "table", tray.table, middle, max(view, spread))
    _flat("floor", inner, 0.0, floor)
    far = max(view, spread) * 4.0
    _flat("table", np.array([[far, far], [-far, far], [-far, -far], [far, -far]]), -0.4, table)
    count = len(inner)
    height = tray.rim_height_mm
    rings = [(inner, -0.2), (inner, height), (outer, height), (outer, -0.4)]
    points = np.concatenate([np.c_[ring, np.full(count, z)] for ring, z in rings]) * _CM
    ring = np.arange(count)
    follow = np.roll(ring, -1)
    quads = np.concatenate(
        [np.stack([a * count + ring, a * count + follow, (a + 1) * count + follow,
                   (a + 1) * count + ring], 1) for a in range(3)]
    )  # fmt: skip
    wall = _placed("rim", _mesh("rim", points, quads, smooth=False))
    wall.data.materials.append(rim)
    if rng.random() < 0.7:
        bevel = wall.modifiers.new("bevel", "BEVEL")
        bevel.width = uniform(rng, 0.03, 0.45) * min(tray.rim_width_mm, height) * _CM
        bevel.segments = 3


def _flat(name: str, outline: NDArray[np.float64], z_mm: float, material: Any) -> None:
    mesh = bpy.data.meshes.new(name)
    points = np.c_[outline, np.full(len(outline), z_mm)] * _CM
    mesh.from_pydata([tuple(map(float, p)) for p in points], [], [list(range(len(points)))])
    mesh.materials.append(material)
    _placed(name, mesh)


def _mesh(
    name: str, points: NDArray[np.floating], quads: NDArray[np.integer], smooth: bool = True
) -> Any:
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(len(points))
    mesh.vertices.foreach_set("co", np.asarray(points, np.float32).ravel())
    mesh.loops.add(quads.size)
    mesh.loops.foreach_set("vertex_index", np.asarray(quads, np.int32).ravel())
    mesh.polygons.add(len(quads))
    mesh.polygons.foreach_set("loop_start", np.arange(0, quads.size, 4, dtype=np.int32))
    mesh.polygons.foreach_set("use_smooth", np.full(len(quads), smooth))
    mesh.update(calc_edges=True)
    return mesh


def _prop(rng: Rng, thing: Thing) -> None:
    """A coin or a pencil, as a cylinder that lies on the floor."""
    x, y = (v * _CM for v in thing.position_mm)
    tall = thing.height_mm * _CM
    if thing.kind == "coin":
        bpy.ops.mesh.primitive_cylinder_add(
            vertices=48, radius=thing.size_mm * _CM, depth=tall, location=(x, y, tall / 2)
        )
    else:
        lying = (0.0, np.pi / 2, np.radians(thing.angle_deg))
        bpy.ops.mesh.primitive_cylinder_add(
            vertices=6 if rng.random() < 0.7 else 24, radius=tall,
            depth=2.0 * thing.size_mm * _CM, location=(x, y, tall), rotation=lying,
        )  # fmt: skip
    material, _, _, shader = _material(thing.kind)
    b, g, r = thing.colour
    shader.inputs["Base Color"].default_value = (r, g, b, 1.0)
    shader.inputs["Roughness"].default_value = uniform(rng, 0.15, 0.6)
    shader.inputs["Metallic"].default_value = 1.0 if thing.kind == "coin" else 0.0
    bpy.context.object.data.materials.append(material)


class _Finish:
    """How the dice of one set are polished, beyond what `Die` says."""

    def __init__(self, rng: Rng) -> None:
        self.rng = rng
        self.deep = uniform(rng, 0.1, 0.8) if rng.random() < 0.35 else 0.0
        self.coat = uniform(rng, 0.3, 1.0) if rng.random() < 0.25 else 0.0
        self.clear = rng.random() < 0.5
        self.paint_roughness = uniform(rng, 0.15, 0.9)
        self.worn = uniform(rng, 0.0, 0.4) if rng.random() < 0.4 else 0.0


def _die(finish: _Finish, die: Die) -> None:
    points, paint, quads = die_body(die)
    mesh = _mesh("die", points * (die.size_mm / 2 * _CM), quads)
    albedo = np.ones((len(points), 4), np.float32)
    body = np.asarray(die.albedo, np.float32)
    usual, other = (np.asarray(p, np.float32) for p in (die.pip_albedo, die.other_pips[1]))
    colour = body + paint[:, :1] * (usual - body) + paint[:, 1:] * (other - body)
    albedo[:, :3] = colour[:, ::-1]
    mesh.attributes.new("albedo", "FLOAT_COLOR", "POINT").data.foreach_set("color", albedo.ravel())
    is_pip = np.ascontiguousarray(paint.max(axis=1), np.float32)
    mesh.attributes.new("pip", "FLOAT", "POINT").data.foreach_set("value", is_pip)
    mesh.materials.append(_plastic(finish, die))
    matrix = np.eye(4)
    matrix[:3, :3] = np.asarray(die.rotation)
    matrix[:3, 3] = np.asarray(die.position_mm) * _CM
    _placed("die", mesh, matrix)


def _plastic(finish: _Finish, die: Die) -> Any:
    material, nodes, links, shader = _material("plastic")
    albedo = nodes.new("ShaderNodeAttribute")
    albedo.attribute_name = "albedo"
    links.new(albedo.outputs["Color"], shader.inputs["Base Color"])
    pip = nodes.new("ShaderNodeAttribute")
    pip.attribute_name = "pip"
    rough = _between(nodes, links, pip.outputs["Fac"], die.roughness, finish.paint_roughness)
    if finish.worn:
        scratches = nodes.new("ShaderNodeTexNoise")
        scratches.inputs["Scale"].default_value = uniform(finish.rng, 1.0, 8.0)
        place = nodes.new("ShaderNodeTexCoord")
        links.new(place.outputs["Object"], scratches.inputs["Vector"])
        sum_node = nodes.new("ShaderNodeMath")
        sum_node.operation = "MULTIPLY_ADD"
        links.new(scratches.outputs[0], sum_node.inputs[0])
        sum_node.inputs[1].default_value = finish.worn
        links.new(rough, sum_node.inputs[2])
        rough = sum_node.outputs[0]
    links.new(rough, shader.inputs["Roughness"])
    shader.inputs["IOR"].default_value = 1.49
    shader.inputs["Specular IOR Level"].default_value = 0.15 + 0.5 * die.gloss
    shader.inputs["Coat Weight"].default_value = finish.coat
    shader.inputs["Coat Roughness"].default_value = 0.06
    if die.glow:
        weight = "Transmission Weight" if finish.clear else "Subsurface Weight"
        through = _between(nodes, links, pip.outputs["Fac"], min(0.95, die.glow), 0.0)
        links.new(through, shader.inputs[weight])
    elif finish.deep:
        through = _between(nodes, links, pip.outputs["Fac"], finish.deep, 0.0)
        links.new(through, shader.inputs["Subsurface Weight"])
    radius = uniform(finish.rng, 0.03, 0.5)
    shader.inputs["Subsurface Radius"].default_value = (radius, radius, radius)
    shader.inputs["Subsurface Scale"].default_value = 1.0
    return material


def _between(nodes: Any, links: Any, share: Any, low: float, high: float) -> Any:
    """A number from `low` where the share is 0 to `high` where it is 1."""
    node = nodes.new("ShaderNodeMath")
    node.operation = "MULTIPLY_ADD"
    links.new(share, node.inputs[0])
    node.inputs[1].default_value = high - low
    node.inputs[2].default_value = low
    return node.outputs[0]
