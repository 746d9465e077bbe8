"""Files of surfaces as triangles: STL, OBJ and Collada with their colours; and simple shapes.

They come from anywhere, so they are read in a job, in memory, and name no file but uploaded ones.
Triangles are arrays (n, 3, 3) of metres; `as_stl` writes them for the browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ....describe.surfaces import STL, read_obj
from ....errors import InputError
from .collada import collada, hexadecimal
from .uploads import uploaded

MOST_TRIANGLES = 400_000
Array = Any
Surface = tuple[str, Array]  # a colour, "" where none is said, and triangles
_VERTEX = re.compile(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)")


def read_mesh(name: str, data: bytes) -> Array:
    """The triangles of a file, by the ending of its name."""
    return np.concatenate([triangles for _, triangles in read_surfaces(name, data)])


def read_surfaces(name: str, data: bytes, files: dict[str, bytes] | None = None) -> list[Surface]:
    """The triangles of a file by colour; the colours of OBJ stand in other files."""
    suffix = name.rpartition(".")[2].lower()
    if suffix not in _READERS:
        raise InputError(
            f"surfaces are read from {', '.join(sorted(_READERS))}; not from .{suffix[:12]}"
        )
    try:
        read = _obj(data, files or {}) if suffix == "obj" else _READERS[suffix](data)
        pieces = [(colour, np.asarray(x, np.float32).reshape(-1, 3, 3)) for colour, x in read]
    except (ValueError, IndexError, KeyError, OverflowError, TypeError, AttributeError,
            StopIteration) as error:  # fmt: skip
        raise InputError(f"not a sound .{suffix} file: {str(error)[:100]}") from None
    count = sum(len(x) for _, x in pieces)
    if count > MOST_TRIANGLES:
        raise InputError(f"{count} triangles; at most {MOST_TRIANGLES} are drawn")
    pieces = [(colour, x[np.isfinite(x).all(axis=(1, 2))]) for colour, x in pieces]
    pieces = [(colour, x) for colour, x in pieces if len(x)]
    if not pieces:
        raise InputError("there is no triangle in it")
    return pieces


def moved(surface: Surface, T: Array, colour: str | None = None) -> Surface:
    """In the frame in which T places its own; `colour` where it has none."""
    own, x = surface
    return own or colour or "", x @ T[:3, :3].T.astype("f4") + T[:3, 3].astype("f4")


def as_stl(triangles: Array) -> bytes:
    """A binary STL file."""
    records = np.zeros(len(triangles), STL)
    records["corners"] = triangles
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    records["normal"] = np.divide(normal, length, out=np.zeros_like(normal), where=length > 0)
    return b"\0" * 80 + len(records).to_bytes(4, "little") + records.tobytes()


def _stl(data: bytes) -> list[Surface]:
    """Binary STL, or its text."""
    count = int.from_bytes(data[80:84], "little")
    if len(data) >= 84 + 50 * count and (count or not data.lstrip().startswith(b"solid")):
        return [("", np.frombuffer(data, STL, count, 84)["corners"])]
    return [("", np.array([list(map(float, point)) for point in _VERTEX.findall(data)]))]


def _obj(data: bytes, files: dict[str, bytes]) -> list[Surface]:
    """Triangles by the colour of their material, where its .mtl file is there."""
    corners, triangles, libraries = read_obj(data, MOST_TRIANGLES)
    colours: dict[str, str] = {}
    for name in libraries:
        colours |= _materials(name, files)
    surfaces: dict[str, list[Array]] = {"": []}
    for material, own in triangles.items():
        surfaces.setdefault(colours.get(material, ""), []).append(corners[own])
    return [(colour, np.concatenate(parts)) for colour, parts in surfaces.items() if parts]


def _materials(name: str, files: dict[str, bytes]) -> dict[str, str]:
    """The diffuse colour of each material of a .mtl file; none where the file did not come."""
    try:
        _, data = uploaded(name, files)
    except (InputError, ValueError):
        return {}
    colours: dict[str, str] = {}
    material = ""
    for line in data.decode("utf-8", "replace").splitlines():
        word, rest = [*line.split(None, 1), "", ""][:2]
        if word == "newmtl":
            material = rest.strip()
        elif word == "Kd" and len(rest.split()) >= 3:
            colours[material] = hexadecimal([float(x) for x in rest.split()[:3]])
    return colours


_READERS: dict[str, Callable[[bytes], list[Surface]]] = {
    "stl": _stl, "obj": lambda data: _obj(data, {}), "dae": collada
}  # fmt: skip


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


def capsule(radius: float, length: float) -> Array:
    """A cylinder along z with half a ball at either end."""
    t = np.linspace(0, np.pi / 2, 9)
    cap = radius * np.stack([np.cos(t), np.sin(t)], 1) + [0, length / 2]
    return _turned(np.concatenate([cap[::-1] * [1, -1], cap]))


def ellipsoid(x: float, y: float, z: float) -> Array:
    """By half its axes."""
    return sphere(1.0) * np.array([x, y, z])
