"""Files of surfaces as corners and triangles: STL, Wavefront OBJ, MuJoCo's MSH.

They come from anywhere: InputError where one cannot be read. Corners are numbers of 32 bits in
every format; a triangle is three numbers of corners."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import InputError
from .frames import Array

_MOST = 4_000_000  # faces
_MOST_CORNERS = 100  # of a face that MuJoCo does not drop
STL = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])


def read_stl(data: bytes, most: int = _MOST) -> tuple[Array, np.ndarray]:
    """Binary STL, three corners for each triangle."""
    count = int.from_bytes(data[80:84], "little")
    if len(data) < 84 or count < 1 or count > most or len(data) < 84 + 50 * count:
        raise InputError("it is no binary STL file: convert it")
    corners = np.frombuffer(data, STL, count, 84)["corners"].reshape(-1, 3).astype(float)
    return corners, np.arange(3 * count).reshape(-1, 3)


def read_msh(data: bytes) -> tuple[Array, np.ndarray]:
    """MuJoCo's own format: four counts, then corners, normals, texture and faces."""
    if len(data) < 16:
        raise InputError("it is no MSH file")
    corners, normals, texture, faces = (int(n) for n in np.frombuffer(data, "<i4", 4))
    size = 16 + 12 * (corners + normals + faces) + 8 * texture
    if min(corners, normals, texture, faces) < 0 or size != len(data):
        raise InputError("it is no MSH file of the size that it says")
    points = np.frombuffer(data, "<f4", 3 * corners, 16).reshape(-1, 3).astype(float)
    start = 16 + 12 * (corners + normals) + 8 * texture
    return points, np.frombuffer(data, "<i4", 3 * faces, start).reshape(-1, 3).astype(int)


def read_obj(
    data: bytes, most: int = _MOST, *, first: bool = False
) -> tuple[Array, dict[str, np.ndarray], list[str]]:
    """Corners of Wavefront OBJ, triangles by the material named before them, and its .mtl files. A
    quadrangle is cut along its shorter diagonal. first:
    the triangles of the first object or group alone, as MuJoCo weighs them; the corners of all."""
    points: list[list[float]] = []
    faces: dict[str, list[list[int]]] = {}
    libraries, material, count, over = [], "", 0, False
    for line in data.decode("utf-8", "replace").splitlines():
        word, rest = [*line.split(None, 1), "", ""][:2]
        try:
            if word == "v":
                points.append([float(x) for x in rest.split()[:3]])
            elif word in ("o", "g"):
                over = first and bool(faces)
            elif word == "f" and not over:
                corners = [int(x.partition("/")[0]) for x in rest.split()]
                if first and len(corners) > _MOST_CORNERS:
                    continue
                face = [k - 1 if k > 0 else len(points) + k for k in corners]
                faces.setdefault(material, []).append(face)
                count += max(len(face) - 2, 1)
            elif word == "usemtl":
                material = rest.strip()
            elif word == "mtllib":
                libraries.append(rest.strip())
        except ValueError:
            raise InputError("it is no OBJ file that can be read") from None
        if count > most or len(points) > most:
            raise InputError(f"it has more than {most} triangles or corners")
    if not points or any(len(point) != 3 for point in points):
        raise InputError("it is no OBJ file that can be read")
    x = np.array(points, dtype="f4").astype(float)
    triangles = {
        name: np.array([t for face in own for t in _cut(face, x)], dtype=int).reshape(-1, 3)
        for name, own in faces.items()
    }
    return x, triangles, libraries


def fans(counts: np.ndarray, corners: np.ndarray, points: int) -> np.ndarray:
    """The triangles of faces, given by how many corners each has and the corners of all, each cut
    from its first corner."""
    if counts.sum() != len(corners) or (counts < 3).any() or len(corners) > _MOST:
        raise InputError("its faces have no corners of their own")
    if len(corners) and (corners.min() < 0 or corners.max() >= points):
        raise InputError("a face names a corner that is not there")
    first = np.repeat(np.cumsum(counts) - counts, counts - 2)
    at = first + np.concatenate([np.arange(1, n - 1) for n in counts] or [np.zeros(0, int)])
    return np.stack([corners[first], corners[at], corners[at + 1]], axis=1)


def _cut(face: Sequence[int], x: Array) -> list[tuple[int, int, int]]:
    """The triangles of a face. What has more than four corners loses one ear after the other, as
    MuJoCo's reader of OBJ has it: the sign of its area is that of one edge with the origin, so that
    a face it finds no ear of any more loses the rest."""
    if len(face) <= 3 or min(face) < 0 or max(face) >= len(x):
        return [(face[0], face[k], face[k + 1]) for k in range(1, len(face) - 1)]
    if len(face) == 4:
        a, b, c, d = face
        if np.linalg.norm(x[a] - x[c]) < np.linalg.norm(x[b] - x[d]):
            return [(a, b, c), (a, c, d)]
        return [(a, b, d), (b, c, d)]
    flat = x[:, _flat_axes(x[list(face)])].astype("f4")
    left, triangles, at, tries, before = list(face), [], 0, len(face), len(face)
    while len(left) > 3 and tries > 0:
        count = len(left)
        tries, before = tries - 1 if count == before else count, count
        at %= count
        a, b, c = (left[(at + k) % count] for k in range(3))
        u, v, w = flat[a], flat[b], flat[c]
        turn = _cross(v - u, w - v)
        others = [left[(at + k) % count] for k in range(3, count)]
        if turn * _cross(u, v) < 0 or any(_inside((u, v, w), flat[k]) for k in others):
            at += 1
            continue
        triangles.append((a, b, c))
        del left[(at + 1) % count]
    return [*triangles, (left[0], left[1], left[2])] if len(left) == 3 else triangles


def _cross(u: Array, v: Array) -> float:
    return float(u[0] * v[1] - u[1] * v[0])


def _flat_axes(corners: Array) -> list[int]:
    """The plane of two axes in which a face is seen best, by its first corner that is one."""
    count = len(corners)
    for k in range(count):
        u, v, w = (corners[(k + n) % count].astype("f4") for n in range(3))
        x, y, z = np.abs(np.cross(v - u, w - v))
        if max(x, y, z) > np.finfo("f4").eps:
            if x > y and x > z:
                break
            return [0, 1] if z > x and z > y else [0, 2]
    return [1, 2]


def _inside(triangle: Sequence[Array], point: Array) -> bool:
    """Does a ray from the point cross the triangle an odd number of times?"""
    inside, before = False, triangle[-1]
    for corner in triangle:
        if (corner[1] > point[1]) != (before[1] > point[1]):
            rise = (point[1] - corner[1]) / (before[1] - corner[1])
            if point[0] < (before[0] - corner[0]) * rise + corner[0]:
                inside = not inside
        before = corner
    return inside
