"""Files of surfaces as triangles: STL, OBJ, Collada; and the simple shapes of a URDF.

They come from anywhere, so they are read in a job, in memory, and never name another file.
Triangles are arrays (n, 3, 3) of metres; `as_stl` writes them for the browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ...describe.urdf_xml import UrdfFile, parsed_xml
from ...errors import InputError

__all__ = ["as_stl", "cuboid", "cylinder", "read_mesh", "sphere"]

MOST_TRIANGLES = 400_000
Array = Any
_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
_VERTEX = re.compile(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)")


def read_mesh(name: str, data: bytes) -> Array:
    """The triangles of a file, by the ending of its name."""
    suffix = name.rpartition(".")[2].lower()
    if suffix not in _READERS:
        raise InputError(
            f"surfaces are read from {', '.join(sorted(_READERS))}; not from .{suffix}"
        )
    try:
        found = np.asarray(_READERS[suffix](data), np.float32).reshape(-1, 3, 3)
    except (ValueError, IndexError, KeyError, OverflowError, TypeError) as error:
        raise InputError(f"not a sound .{suffix} file: {str(error)[:100]}") from None
    if len(found) > MOST_TRIANGLES:
        raise InputError(f"{len(found)} triangles; at most {MOST_TRIANGLES} are drawn")
    found = found[np.isfinite(found).all(axis=(1, 2))]
    if not len(found):
        raise InputError("there is no triangle in it")
    return found


def as_stl(triangles: Array) -> bytes:
    """A binary STL file."""
    found = np.zeros(len(triangles), _RECORD)
    found["corners"] = triangles
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    found["normal"] = np.divide(normal, length, out=np.zeros_like(normal), where=length > 0)
    return b"\0" * 80 + len(found).to_bytes(4, "little") + found.tobytes()


def _stl(data: bytes) -> Array:
    count = int.from_bytes(data[80:84], "little")
    if len(data) >= 84 + 50 * count and (count or not data.lstrip().startswith(b"solid")):
        return np.frombuffer(data, _RECORD, count, 84)["corners"]
    return np.array([list(map(float, point)) for point in _VERTEX.findall(data)])


def _obj(data: bytes) -> Array:
    """Vertices and faces; faces of more corners are cut into triangles from their first one."""
    points: list[list[float]] = []
    corners: list[tuple[int, int, int]] = []
    for line in data.splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == b"v":
            points.append([float(x) for x in words[1:4]])
        elif words[0] == b"f":
            at = [int(word.split(b"/")[0]) for word in words[1:]]
            face = [i - 1 if i > 0 else len(points) + i for i in at]
            corners += [(face[0], *pair) for pair in pairwise(face[1:])]
            if len(corners) > MOST_TRIANGLES:
                raise InputError(f"more than {MOST_TRIANGLES} triangles")
    return np.array(points, float)[np.array(corners, int).reshape(-1, 3)]


# Collada: geometries placed by the nodes of the scene


def _dae(data: bytes) -> Array:
    found = UrdfFile("mesh.dae", 0.0)
    root = parsed_xml(data.decode("utf-8", "replace").removeprefix("\ufeff"), found)
    if root is None:
        raise InputError(str(found.faults[0]))
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
    geometries = {geometry.get("id", ""): geometry for geometry in root.iter("geometry")}
    unit = root.find("asset/unit")
    meter = float(unit.get("meter", 1)) if unit is not None else 1.0
    top = np.diag([meter, meter, meter, 1.0])  # in the file's own axes, as ROS takes them
    kept: dict[str, Array] = {}
    pieces: list[Array] = []
    stack = [
        (node, top, 0) for scene in root.iter("visual_scene") for node in scene.findall("node")
    ]
    nodes = {node.get("id", ""): node for node in root.iter("node")}
    while stack:
        node, T, depth = stack.pop()
        if depth > 64 or len(pieces) > 20_000:
            raise InputError("its scene is nested too deeply")
        T = T @ _transform(node)
        for instance in node.findall("instance_geometry"):
            name = instance.get("url", "").removeprefix("#")
            if name not in kept:
                kept[name] = _geometry(geometries[name])
            pieces.append(kept[name] @ T[:3, :3].T + T[:3, 3])
        stack += [(child, T, depth + 1) for child in node.findall("node")]
        for instance in node.findall("instance_node"):
            stack.append((nodes[instance.get("url", "").removeprefix("#")], T, depth + 1))
    return np.concatenate(pieces) if pieces else np.zeros((0, 3, 3))


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
    x, y, z = axis / max(float(np.linalg.norm(axis)), 1e-300)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    T = np.eye(4)
    T[:3, :3] += np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    return T


def _geometry(geometry: Any) -> Array:
    """All triangles of a <geometry>, in its own axes."""
    mesh = geometry.find("mesh")
    sources = {source.get("id", ""): source for source in mesh.findall("source")}
    vertices = mesh.find("vertices")
    position = next(x for x in vertices.findall("input") if x.get("semantic") == "POSITION")
    source = sources[position.get("source", "").removeprefix("#")]
    points = np.array(source.findtext("float_array", "").split(), float)
    accessor = source.find("technique_common/accessor")
    stride = int(accessor.get("stride", 3)) if accessor is not None else 3
    points = points.reshape(-1, stride)[:, :3]
    pieces = [points[_corners(item)] for kind in ("triangles", "polylist", "polygons")
              for item in mesh.findall(kind)]  # fmt: skip
    return np.concatenate(pieces) if pieces else np.zeros((0, 3, 3))


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


_READERS: dict[str, Callable[[bytes], Array]] = {"stl": _stl, "obj": _obj, "dae": _dae}


# simple shapes


def cuboid(x: float, y: float, z: float) -> Array:
    corner = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], float)
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    at = [corners for a, b, c, d in faces for corners in ((a, b, c), (a, c, d))]
    return corner[np.array(at)] * np.array([x, y, z]) / 2


def _turned(profile: Array, count: int = 32) -> Array:
    """The surface that a profile of (radius, z) makes about z."""
    angle = 2 * np.pi * np.arange(count + 1) / count
    ring = np.stack([np.cos(angle), np.sin(angle)], 1)
    grid = np.concatenate([profile[:, None, :1] * ring, np.broadcast_to(
        profile[:, None, 1:], (len(profile), count + 1, 1))], 2)  # fmt: skip
    a, b, c, d = grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]
    return np.concatenate([np.stack([a, b, c], 2).reshape(-1, 3, 3),
                           np.stack([a, c, d], 2).reshape(-1, 3, 3)])  # fmt: skip


def cylinder(radius: float, length: float) -> Array:
    half = length / 2
    return _turned(np.array([[0, -half], [radius, -half], [radius, half], [0, half]]))


def sphere(radius: float) -> Array:
    t = np.linspace(-np.pi / 2, np.pi / 2, 17)
    return _turned(radius * np.stack([np.cos(t), np.sin(t)], 1))
