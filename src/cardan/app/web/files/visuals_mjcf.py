"""What an MJCF file looks like: the geoms of its bodies, placed in the frames of the robot.

Shown are the geoms of groups 0 to 2, as MuJoCo's viewer shows them: collision shapes are in others
by custom. [MJCF: the XML reference of the MuJoCo documentation.]"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ....describe.frames import frame, inverse, of_quaternion
from ....describe.mjcf.attach import open_mjcf
from ....describe.mjcf.model import Mjcf
from ....describe.mjcf.read import Scene, sized
from ....describe.robot import Robot
from ....errors import CardanError, InputError
from ....loops.numeric import skeleton
from ....motion.frames import link_frames
from .collada import hexadecimal
from .meshes import (
    Surface,
    capsule,
    cuboid,
    cylinder,
    ellipsoid,
    moved,
    read_surfaces,
    sphere,
)  # fmt: skip
from .uploads import among, uploaded

_SHAPES: dict[str, tuple[int, Callable[..., Any]]] = {  # of half the sizes that MJCF gives
    "sphere": (1, sphere),
    "capsule": (2, lambda r, half: capsule(r, 2 * half)),
    "cylinder": (2, lambda r, half: cylinder(r, 2 * half)),
    "ellipsoid": (3, ellipsoid),
    "box": (3, lambda x, y, z: cuboid(2 * x, 2 * y, 2 * z)),
}


def mjcf_surfaces(
    robot: Robot, content: bytes, files: dict[str, bytes], lacking: list[str]
) -> Iterator[tuple[str, Surface]]:
    """(link of the robot, surface in its frame) of every geom that is shown; what cannot be drawn
    is added to `lacking`."""
    mjcf = open_mjcf(content, "upload.xml", among(files))
    scene = Scene(mjcf)
    scene.read()
    T = link_frames(skeleton(robot), np.zeros(robot.n))
    number = {link.name: j for j, link in enumerate(robot.links, 1)}
    world = scene.placements()
    for name, element in scene.elements.items():
        index, own = scene.place[name]
        link = scene.bodies[index].name
        if index < 0 or (index and link not in number):
            continue
        at = inverse(T[number[link] if index else 0]) @ world[index] @ own
        for geom in mjcf.inside(element, "geom"):
            if mjcf.number(geom, "group") > 2:
                continue
            try:
                surfaces, placement = _surfaces(mjcf, geom, files)
            except CardanError as error:
                lacking.append(str(error))
                continue
            colour = _colour(mjcf, geom)  # which comes before that of the mesh, as in MuJoCo
            for tint, triangles in surfaces:
                yield link if index else "", moved((colour or tint, triangles), at @ placement)


def _surfaces(mjcf: Mjcf, geom: Any, files: dict[str, bytes]) -> tuple[list[Surface], Any]:
    """The surfaces of a geom, and where they are in its body."""
    kind = mjcf.get(geom, "type") or ("mesh" if mjcf.get(geom, "mesh") else "sphere")
    size, placement = sized(mjcf, geom, kind)
    if kind == "mesh":
        return _mesh(mjcf, str(mjcf.get(geom, "mesh")), files), placement
    if kind == "plane":
        return [], placement  # a floor
    if kind not in _SHAPES:
        raise InputError(f"a geom of the type {kind[:20]} is not drawn")
    count, make = _SHAPES[kind]
    if len(size) < count or not all(0 < x < 1e6 for x in size[:count]):
        raise InputError(f"a {kind} has {count} positive sizes")
    return [("", make(*size[:count]))], placement


def _mesh(mjcf: Mjcf, name: str, files: dict[str, bytes]) -> list[Surface]:
    """A mesh of <asset>, in its own axes."""
    for asset in mjcf.root.iterfind("asset/mesh"):
        file = str(asset.get("file", ""))
        stem = file.replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
        if asset.get("name", stem) != name:
            continue
        if not file:
            raise InputError(f"mesh {name[:60]} is given by its points, which are not drawn")
        scale = np.array(mjcf.numbers(asset, "scale", (1, 1, 1), 3))
        R = of_quaternion(np.array(mjcf.numbers(asset, "refquat", (1, 0, 0, 0), 4)))
        back = inverse(frame(R, mjcf.numbers(asset, "refpos", (0, 0, 0), 3) or (0, 0, 0)))
        read = read_surfaces(*uploaded(file, files), files)
        return [moved((colour, x * scale.astype("f4")), back) for colour, x in read]
    raise InputError(f"mesh {name[:60]} is not among the assets")


def _colour(mjcf: Mjcf, geom: Any) -> str:
    """Its own, or that of its material."""
    rgba = mjcf.numbers(geom, "rgba", None, 4)
    material = mjcf.get(geom, "material")
    for item in mjcf.root.iterfind("asset/material") if material and rgba is None else ():
        if item.get("name") == material:
            rgba = mjcf.numbers(item, "rgba", None, 4)
    return hexadecimal(rgba) if rgba else ""
