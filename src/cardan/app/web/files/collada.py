"""Collada files as triangles by colour: geometries placed by the nodes of the scene."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....algebra import so3
from ....describe.xml.source import Source, parsed
from ....errors import InputError

Array = Any
_MOST_NODES = 20_000
_MOST_TRIANGLES = 5_000_000
_SHADES = ("phong", "lambert", "blinn", "constant")


def collada(data: bytes) -> list[tuple[str, Array]]:
    """(colour, triangles (n, 3, 3) in metres) of each colour of the file."""
    source = Source("mesh.dae")
    root = parsed(data.decode("utf-8", "replace").removeprefix("\ufeff"), source)
    if root is None:
        raise InputError(str(source.faults[0]))
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
    geometries = {geometry.get("id", ""): geometry for geometry in root.iter("geometry")}
    colours = _colours(root)
    parts: dict[str, list[tuple[str, Array]]] = {}
    pieces: dict[str, list[Array]] = {}
    triangles = 0
    for instance, T in _placed(root):
        name = instance.get("url", "").removeprefix("#")
        if name not in parts:
            parts[name] = _geometry(geometries[name])
        bound = {
            item.get("symbol", ""): item.get("target", "").removeprefix("#")
            for item in instance.iter("instance_material")
        }
        for symbol, x in parts[name]:
            triangles += len(x)
            if triangles > _MOST_TRIANGLES:
                raise InputError(f"its scene has more than {_MOST_TRIANGLES} triangles")
            colour = colours.get(bound.get(symbol, symbol), "")
            pieces.setdefault(colour, []).append(x @ T[:3, :3].T + T[:3, 3])
    return [(colour, np.concatenate(x)) for colour, x in pieces.items()]


def _placed(root: Any) -> list[tuple[Any, Array]]:
    """Every <instance_geometry> of the scene, and where it is."""
    unit = root.find("asset/unit")
    meter = float(unit.get("meter", 1)) if unit is not None else 1.0
    top = np.diag([meter, meter, meter, 1.0])  # in the file's own axes, as ROS takes them
    nodes = {node.get("id", ""): node for node in root.iter("node")}
    instances: list[tuple[Any, Array]] = []
    stack = [
        (node, top, 0) for scene in root.iter("visual_scene") for node in scene.findall("node")
    ]
    visited = 0  # a node that is used twice is visited twice: doubled again and again, it is many
    while stack:
        node, T, depth = stack.pop()
        visited += 1
        if depth > 64 or visited + len(stack) > _MOST_NODES:
            raise InputError(
                f"its scene is nested too deeply, or repeats nodes more than {_MOST_NODES} times"
            )
        T = T @ _transform(node)
        instances += [(instance, T) for instance in node.findall("instance_geometry")]
        stack += [(child, T, depth + 1) for child in node.findall("node")]
        for instance in node.findall("instance_node"):
            stack.append((nodes[instance.get("url", "").removeprefix("#")], T, depth + 1))
    return instances


def _colours(root: Any) -> dict[str, str]:
    """The colour of each <material> whose effect says one."""
    effects = {}
    for effect in root.iter("effect"):
        for shade in (item for item in effect.iter() if item.tag in _SHADES):
            for key in ("diffuse", "emission"):
                words = shade.findtext(f"{key}/color", "").split()
                if len(words) >= 3 and effect.get("id") not in effects:
                    effects[effect.get("id")] = hexadecimal([float(x) for x in words])
    colours = {}
    for material in root.iter("material"):
        instance = material.find("instance_effect")
        used = "" if instance is None else instance.get("url", "").removeprefix("#")
        if used in effects:
            colours[material.get("id", "")] = effects[used]
    return colours


def _transform(node: Any) -> Array:
    T = np.eye(4)
    for item in node:
        x = [float(word) for word in (item.text or "").split()]
        if item.tag == "matrix":
            T = T @ np.array(x).reshape(4, 4)
        elif item.tag == "translate":
            step = np.eye(4)
            step[:3, 3] = x
            T = T @ step
        elif item.tag == "scale":
            T = T @ np.diag([*x, 1.0])
        elif item.tag == "rotate":
            T = T @ _turn(np.array(x[:3]), np.radians(x[3]))
    return T


def _turn(axis: Array, angle: float) -> Array:
    T = np.eye(4)
    T[:3, :3] = so3.exp(axis * angle / max(float(np.linalg.norm(axis)), 1e-300))
    return T


def _geometry(geometry: Any) -> list[tuple[str, Array]]:
    """(symbol of its material, triangles) of each part of a <geometry>, in its own axes."""
    mesh = geometry.find("mesh")
    sources = {source.get("id", ""): source for source in mesh.findall("source")}
    vertices = mesh.find("vertices")
    position = next(x for x in vertices.findall("input") if x.get("semantic") == "POSITION")
    source = sources[position.get("source", "").removeprefix("#")]
    points = np.array(source.findtext("float_array", "").split(), float)
    accessor = source.find("technique_common/accessor")
    stride = int(accessor.get("stride", 3)) if accessor is not None else 3
    points = points.reshape(-1, stride)[:, :3]
    return [
        (item.get("material", ""), points[_corners(item)])
        for kind in ("triangles", "polylist", "polygons") for item in mesh.findall(kind)
    ]  # fmt: skip


def _corners(item: Any) -> Array:
    """Indices of points (n, 3) of one list of faces."""
    inputs = item.findall("input")
    width = 1 + max(int(x.get("offset", 0)) for x in inputs)
    at = next(int(x.get("offset", 0)) for x in inputs if x.get("semantic") == "VERTEX")
    lists = [
        np.array((p.text or "").split(), int).reshape(-1, width)[:, at] for p in item.iter("p")
    ]
    if item.tag == "triangles":
        return np.concatenate(lists).reshape(-1, 3) if lists else np.zeros((0, 3), int)
    sizes = [len(x) for x in lists]
    if item.tag == "polylist":
        sizes = [int(x) for x in item.findtext("vcount", "").split()]
    flat = np.concatenate(lists) if lists else np.zeros(0, int)
    start = np.concatenate([[0], np.cumsum(sizes)])
    fans = [(flat[a], flat[a + k], flat[a + k + 1])
            for a, size in zip(start, sizes, strict=False) for k in range(1, size - 1)]  # fmt: skip
    return np.array(fans, int).reshape(-1, 3)


def hexadecimal(rgba: Any) -> str:
    """A colour of numbers from 0 to 1 as browsers write it."""
    red, green, blue = (int(255 * min(max(float(x), 0.0), 1.0)) for x in list(rgba)[:3])
    return f"#{red:02x}{green:02x}{blue:02x}"
