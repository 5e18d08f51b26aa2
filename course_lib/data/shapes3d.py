"""3D Shapes: the rooms of Burgess and Kim (2018), rendered again from their recovered geometry."""

from functools import cache
from math import pi, radians, tan

import torch
from torch import Tensor

from course_lib.data import _raycast, published
from course_lib.factors import FactorSpace

IMAGE = 64  # side of an image in pixels
SAMPLES = 3  # rays per pixel along each axis: the originals were made at 192×192 and reduced
ORIENTATIONS, SCALES, SHAPES = 15, 8, 4
CHUNK = 64  # images per step: small enough for the intermediate integers to stay in a CPU's cache

# The scene. Lengths are in units of half the room's width: its side walls stand at x = ±1, the floor is z = 0, the
# object stands on the origin and the camera circles it. Values that are not round were fitted to 30 authentic images.
FOCAL = IMAGE / 2 / tan(pi / 8)  # in pixels: the view is 45° high
CAMERA_DISTANCE, CAMERA_HEIGHT, CAMERA_PITCH = 0.9005, 0.2694, -0.0292  # from the z axis; pitch in radians, downwards
# The y of the back wall, and where the walls end and the sky begins. The 30 images alone would put that at 0.586, but
# then the mean blue of all images falls short of the published one by 0.0056. Lower walls show more sky: 0.58 leaves
# 0.0038, and costs 0.0008 of mean absolute error on the 30.
BACK, WALL_HEIGHT = 1.016, 0.58
CUBE, CYLINDER = (0.1138, 0.2319), (0.1207, 0.2462)  # half side or radius, and height, at scale 1
SPHERE, CAPSULE = 0.1276, (0.1035, 0.4285)
REACH = 0.21  # no part of an object is farther from the z axis; its shadow ends within twice as much
STRETCH = 0.03  # what a cube and a cylinder gain in height, beyond proportion, per unit of scale

# The light: the same everywhere, plus a lamp on the camera, plus a spotlight that shines straight down and casts
# shadows. The spotlight fades with the tenth power of the cosine, as MuJoCo's does by default.
AMBIENT, HEADLIGHT, SPOTLIGHT, FADING = 0.349, 0.602, 0.990, 10
SPOTLIGHT_AT = (-0.4207, 0.1348, 2.230)
GLOSS = 0.1415  # white that an object reflects wherever the spotlight reaches it
ROOM = 0.9766  # how light the material of floor and walls is, beside the object's
# Two overlapping dark spots, repeated along the walls, stand for a few darker cells of the originals' honeycomb.
PLATES, PLATE_PERIOD, PLATE_RADIUS, PLATE_DARKNESS = ((0.023, 0.325), (0.088, 0.225)), 0.5705, 0.0608, 0.0445
SKY = (153, 226, 249)
# Hue k/10 at full saturation and value, in fifths of the full red, green and blue: the ten hues need no finer steps.
HUES = ((5, 0, 0), (5, 3, 0), (4, 5, 0), (1, 5, 0), (0, 5, 2), (0, 5, 5), (0, 2, 5), (1, 0, 5), (4, 0, 5), (5, 0, 3))

NORMALS = torch.tensor([[0, 0, 1], [0, -1, 0], [1, 0, 0], [-1, 0, 0]], dtype=torch.float64)  # floor, back, left, right
OFFSETS = torch.tensor([0, -BACK, -1, -1], dtype=torch.float64)  # each plane is the points with normal · point = offset


class Shapes3D(published.Redrawn):
    """One object in a room, floor, wall and object each of their own hue: 480,000 images of 64×64 in colour.

    The factors are floor_hue, wall_hue and object_hue (10 each, hue k/10), scale (0.75 to 1.25 in 8 steps), shape
    (cube, cylinder, sphere, capsule) and orientation (the camera circles the object from −30° to 30° in 15 steps; 7
    faces the back wall), in the order of the published file (github.com/google-deepmind/3d-shapes).

    The scene is recovered from 30 authentic images, which it meets with a mean absolute error of 0.008 on [0, 1]. It
    lacks the honeycomb on floor and walls, which is almost too fine for 64 pixels, the facets of the round shapes, and
    the exact edge of the light on them.

    The first image takes some seconds: the 480 geometries are ray-cast once per process (`tables`).

    The arguments are those of `course_lib.data.published.Redrawn`: Shapes3D(source="real") reads the published file.
    Chapter 14.
    """

    space = FactorSpace(
        ("floor_hue", "wall_hue", "object_hue", "scale", "shape", "orientation"),
        (10, 10, 10, SCALES, SHAPES, ORIENTATIONS),
    )
    shape = (3, IMAGE, IMAGE)
    # Over all 480,000 images of this renderer, each image's mean and unbiased std from its integer sums, averaged in
    # float64. The originals' are .502585, .578760, .603450 and .294081, .344398, .366169.
    mean = (0.502481161205815, 0.575747172277114, 0.599622064827314)
    std = (0.294922217940290, 0.343963651717243, 0.365254265288945)
    source = "re-rendered from recovered geometry"
    licence = "MIT (rendered by course_lib; the original 3D Shapes is Apache-2.0)"
    citation = "Burgess and Kim, 3D Shapes dataset, 2018"

    published = staticmethod(published.shapes3d)

    def draw(self, index: Tensor) -> Tensor:
        hues, *layers = tables(index.device)
        images = torch.empty(len(index), *self.shape, dtype=torch.uint8, device=index.device)
        for part, target in zip(index.split(CHUNK), images.split(CHUNK), strict=True):
            floor, wall, thing = (hues[hue] for hue in self.space.factors(part)[:, :3].unbind(1))  # (B, 3) each
            channel = torch.arange(3, device=index.device)
            # All geometries come before the next hue, so the geometry is the remainder.
            geometry = (part % (SCALES * SHAPES * ORIENTATIONS)).unsqueeze(1)
            rows = (6 * (3 * geometry + channel) + wall, 6 * geometry + floor, 6 * geometry + thing)
            levels = layers[0].index_select(0, rows[0].flatten())
            for layer, row in zip(layers[1:], rows[1:], strict=True):
                levels += layer.index_select(0, row.flatten())
            # The filter of `downsample` overshoots at edges; the originals were clipped there as well.
            target.copy_(levels.clamp_(0, 255).view(target.shape))
        return images


@cache
def tables(device: torch.device) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """What `Shapes3D.render` looks up, built once per process: 118 MB, and a copy on each other device that is used.

    - hues: int64 (10, 3), fifths of red, green and blue
    - walls and sky: int16 (480 · 3 · 6, 4096), by geometry, channel and the wall's fifths in that channel
    - floor and object: int16 (480 · 6, 4096) each, by geometry and the surface's fifths

    A geometry is (scale, shape, orientation) in C order. The three layers of an image add up to its grey levels, up to
    the clipping. All floating-point work is here, on the CPU, so every device draws from the same integers.
    """
    if device.type != "cpu":
        return tuple(table.to(device) for table in tables(torch.device("cpu")))
    with torch.device("cpu"):
        walls = torch.empty(SCALES, SHAPES, ORIENTATIONS, 3, 6, IMAGE**2, dtype=torch.int16)
        floors, objects = torch.empty(2, SCALES, SHAPES, ORIENTATIONS, 6, IMAGE**2, dtype=torch.int16)
        sky = torch.tensor(SKY, dtype=torch.float64).view(3, 1, 1)
        for orientation in range(ORIENTATIONS):
            backdrop = Backdrop(orientation)
            for scale in range(SCALES):
                for shape in range(SHAPES):
                    layers = downsample(backdrop.with_object(shape, 0.75 + scale / 14))
                    geometry = scale, shape, orientation
                    walls[geometry] = (255 * layers[:6] + sky * layers[18]).round()
                    floors[geometry], objects[geometry] = (255 * layers[6:18].unflatten(0, (2, 6))).round()
        return torch.tensor(HUES), walls.flatten(0, 4), floors.flatten(0, 3), objects.flatten(0, 3)


class Backdrop:
    """The room from one of the 15 orientations, ray by ray: N = 192² rays from the top left, row by row.

    Attributes
    ----------
    camera : (3,), rays : (N, 3), unit length.
    towards : (3,), the level direction from the object to the camera.
    points : (N, 3), where each ray meets the floor or the plane of a wall.
    near : int64 (M,), the rays that pass the z axis closely enough to meet an object.
    ground : int64 (G,), the rays that meet the floor where an object's shadow can fall.
    shade : (N,), the light there without the spotlight.
    layers : (19, N), see `with_object`.
    """

    def __init__(self, orientation: int):
        self.camera, self.rays = view(orientation)
        self.towards = self.camera * _raycast.LEVEL / CAMERA_DISTANCE
        approach = self.rays @ NORMALS.T
        distance = torch.where(approach < 0, (OFFSETS - NORMALS @ self.camera) / approach, torch.inf)
        distance, plane = distance.min(1)
        self.points = self.camera + distance.unsqueeze(1) * self.rays
        floor = plane == 0
        wall = ~floor & (self.points[:, 2] <= WALL_HEIGHT)
        material = ROOM * (1 - PLATE_DARKNESS * (wall & plates(self.points, NORMALS[plane])).double())
        shade, glow, _ = light(self.points, NORMALS[plane], self.towards)
        self.shade = material * shade
        self.layers = torch.zeros(19, len(self.rays), dtype=torch.float64)
        for start, surface in ((0, wall), (6, floor)):
            self.layers[start : start + 6, surface] = colour_steps((self.shade + material * glow)[surface])
        self.layers[18] = (~floor & ~wall).double()
        level = torch.nn.functional.normalize(self.rays * _raycast.LEVEL, dim=1)
        passing = (self.camera[0] * level[:, 1] - self.camera[1] * level[:, 0]).abs()
        self.near = (passing < REACH).nonzero().squeeze(1)
        self.ground = (floor & (self.points.norm(dim=1) < 2 * REACH)).nonzero().squeeze(1)

    def with_object(self, shape: int, scale: float) -> Tensor:
        """What each ray sees: float64 (19, N), of which only the surface that the ray meets is not 0.

        Layers 0 to 5 are the walls in a colour of 0 to 5 fifths, 6 to 11 the floor, 12 to 17 the object, 18 the sky.
        """
        layers = self.layers.clone()
        hit, distance, normal = meet(shape, scale, self.camera, self.rays[self.near])
        hit = self.near[hit]
        shade, glow, gloss = light(self.camera + distance.unsqueeze(1) * self.rays[hit], normal, self.towards)
        start = self.points[self.ground]
        ray = torch.nn.functional.normalize(torch.tensor(SPOTLIGHT_AT, dtype=torch.float64) - start, dim=1)
        dark = self.ground[meet(shape, scale, start, ray)[0]]
        layers[6:12, dark] = colour_steps(self.shade[dark])
        layers[:, hit] = 0  # after the shadow, which falls behind the object as well
        layers[12:18, hit] = colour_steps(shade + glow, gloss)
        return layers


def view(orientation: int) -> tuple[Tensor, Tensor]:
    """The camera, (3,), and the unit directions of its rays, (192², 3), through the centres of 192×192 small pixels."""
    turn, pitch = torch.tensor([radians(-30 + 60 * orientation / 14), CAMERA_PITCH], dtype=torch.float64)
    offset = (torch.arange(IMAGE * SAMPLES, dtype=torch.float64) + 0.5) / SAMPLES - IMAGE / 2
    down, right = torch.meshgrid(offset, offset, indexing="ij")
    ahead, up = FOCAL * pitch.cos() + down * pitch.sin(), FOCAL * pitch.sin() - down * pitch.cos()
    rays = torch.stack([turn.cos() * right - turn.sin() * ahead, turn.sin() * right + turn.cos() * ahead, up], -1)
    place = CAMERA_DISTANCE * turn.sin(), -CAMERA_DISTANCE * turn.cos(), CAMERA_HEIGHT
    return torch.tensor(place, dtype=torch.float64), torch.nn.functional.normalize(rays.flatten(0, 1), dim=1)


def meet(shape: int, scale: float, origin: Tensor, rays: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Which rays meet the object, (M,), at which distance, (M,), and the unit normals there, (M, 3)."""
    stretch = STRETCH * (scale - 1)
    distance, normal = (
        lambda: _raycast.box(origin, rays, scale * CUBE[0], scale * CUBE[1] + stretch),
        lambda: _raycast.cylinder(origin, rays, scale * CYLINDER[0], scale * CYLINDER[1] + stretch),
        lambda: _raycast.sphere(origin, rays, scale * SPHERE),
        lambda: _raycast.capsule(origin, rays, scale * CAPSULE[0], scale * CAPSULE[1]),
    )[shape]()
    hit = distance.isfinite().nonzero().squeeze(1)
    return hit, distance[hit], normal[hit]


def light(points: Tensor, normals: Tensor, towards: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The light on each point of a surface, (N,) each: without the spotlight, the spotlight's, and the white gloss."""
    spot = torch.nn.functional.normalize(torch.tensor(SPOTLIGHT_AT, dtype=torch.float64) - points, dim=1)
    slant, strength = _raycast.dot(normals, spot), spot[:, 2].clamp(min=0) ** FADING
    shade = AMBIENT + HEADLIGHT * (normals @ towards).clamp(min=0)
    return shade, SPOTLIGHT * slant.clamp(min=0) * strength, GLOSS * strength * (slant > 0)


def plates(points: Tensor, normals: Tensor) -> Tensor:
    """Whether each point, (N, 3), of a wall lies on one of its dark spots: bool (N,)."""
    along = points[:, 1] * normals[:, 0] - points[:, 0] * normals[:, 1]  # to the right, seen from inside
    along = (along + 0.2).remainder(PLATE_PERIOD) - 0.2
    return sum((along - x) ** 2 + (points[:, 2] - z) ** 2 < PLATE_RADIUS**2 for x, z in PLATES).bool()


def colour_steps(light: Tensor, gloss: Tensor | float = 0.0) -> Tensor:
    """The brightness, (6, N), of a surface with 0 to 5 fifths of a colour; what is too bright saturates."""
    return (torch.arange(6, dtype=torch.float64).view(6, 1) / 5 * light + gloss).clamp(max=1)


def downsample(layers: Tensor) -> Tensor:
    """(K, 192²) → (K, 64, 64) → (K, 4096), by the Lanczos filter with three lobes, as an image library resizes.

    It overshoots a little on both sides of an edge; the originals show it.
    """
    fine, coarse = torch.arange(IMAGE * SAMPLES, dtype=torch.float64), torch.arange(IMAGE, dtype=torch.float64)
    offset = (fine + 0.5) / SAMPLES - (coarse.unsqueeze(1) + 0.5)
    weight = torch.where(offset.abs() < 3, torch.sinc(offset) * torch.sinc(offset / 3), 0)
    weight = weight / weight.sum(1, keepdim=True)
    return (weight @ layers.unflatten(1, (IMAGE * SAMPLES, -1)) @ weight.T).flatten(1)
