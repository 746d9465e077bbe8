"""What the meshes of MJCF weigh.

[MJCF: the XML reference of the MuJoCo documentation, on <mesh>.] The vertices, numbers of 32 bits
in every format, are moved by refpos and refquat and scaled. With c the centroid of the surface and
D, E, F the corners of a triangle, a solid is the sum of the pyramids (c, D, E, F): their volumes
have the sign of their orientation ("exact"), or none ("legacy", the default: what a concave mesh
hides is then counted twice); "convex" takes the convex hull, "shell" the surface itself. About the
centre of mass, with x the corners taken from it,

    int x x^T = sum volume / 20 (2 (D D^T + E E^T + F F^T) + D E^T + E D^T + ... )

(12 and the areas for a shell). A primitive can be fitted to a mesh, by its box of equal inertia or
by the bounding box in its principal axes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError
from ..bodies import Mass
from ..frames import Array, frame, of_quaternion
from ..surfaces import read_msh, read_obj, read_stl
from ..xml.source import shown
from .include import Beside, content, path_of
from .model import Mjcf
from .shapes import LEAST

_KINDS = ("convex", "exact", "legacy", "shell")
Faces = np.ndarray  # three numbers of corners each
_NONE = np.zeros((0, 3), int)


@dataclass(frozen=True, eq=False)
class Solid:
    """A mesh of unit density: volume (area of a shell), centre, inertia about it, its corners."""

    volume: float
    centre: Array
    inertia: Array
    corners: Array

    def mass(self, mass: float, T: Array) -> Mass:
        """The mesh with a mass, its own frame placed by T."""
        R = T[:3, :3]
        tensor = self.inertia * (mass / self.volume)
        return Mass(mass, R @ self.centre + T[:3, 3], R @ tensor @ R.T)

    def fitted(self, kind: str, bounds: bool) -> tuple[list[float], Array]:
        """The sizes of a primitive that stands for the mesh, and its frame in the mesh's."""
        moments, axes = np.linalg.eigh(self.inertia)
        moments, axes = moments[::-1], axes[:, ::-1]
        axes = axes * [1, 1, np.sign(np.linalg.det(axes))]
        if bounds:
            if min(-np.diff(moments)) < 1e-6 * moments[0]:
                raise InputError("its principal axes are not unique, so neither is its box")
            x = (self.corners - self.centre) @ axes
            low, high = x.min(axis=0), x.max(axis=0)
            half, centre = (high - low) / 2, self.centre + axes @ (low + high) / 2
            sizes = {
                "sphere": [half.max()], "cylinder": [max(half[:2]), half[2]],
                "capsule": [max(half[:2]), half[2] - max(half[:2])],
            }  # fmt: skip
        else:
            half = 0.5 * np.sqrt(6 * (moments.sum() - 2 * moments) / self.volume)
            centre = self.centre
            radius = (half[0] + half[1]) / 2
            sizes = {
                "sphere": [half.mean()], "cylinder": [radius, half[2]],
                "capsule": [radius, max(0.0, half[2] - radius / 2)],
            }  # fmt: skip
        size = sizes.get(kind, list(half))
        return [float(x) for x in size], frame(axes, centre)


class Meshes:
    """The meshes of a file by name, each read when a body needs it."""

    def __init__(self, mjcf: Mjcf, read: Beside | None) -> None:
        self.mjcf = mjcf
        self.read = read
        self.solids: dict[str, Solid] = {}
        self.elements: dict[str, Any] = {}
        for element in mjcf.root.iterfind("asset/mesh"):
            file = str(element.get("file", "")).replace("\\", "/")
            name = element.get("name") or os.path.splitext(file.rpartition("/")[2])[0]
            self.elements.setdefault(name, element)

    def solid(self, name: str) -> Solid:
        """What a mesh of <asset> is; InputError where that cannot be said."""
        if name not in self.solids:
            if name not in self.elements:
                raise InputError(f"there is no mesh '{shown(name)}' in <asset>")
            self.solids[name] = self._solid(self.elements[name])
        return self.solids[name]

    def _solid(self, element: Any) -> Solid:
        mjcf = self.mjcf
        kind = mjcf.get(element, "inertia") or "legacy"
        if kind not in _KINDS:
            raise InputError(f"inertia '{shown(kind)}' is none of {', '.join(_KINDS)}")
        vertices, faces = self._triangles(element)
        if not np.isfinite(vertices).all():
            raise InputError("a corner is not finite")
        hull = kind == "convex" or not len(faces)
        if hull and mjcf.number(element, "maxhullvert", -1.0) > 0:
            raise InputError("maxhullvert makes its hull another one: take it out")
        if not len(faces):
            faces = _hull(vertices)
        scale = np.array(mjcf.numbers(element, "scale", (1, 1, 1), 3))
        x = vertices - np.array(mjcf.numbers(element, "refpos", (0, 0, 0), 3))
        quaternion = np.array(mjcf.numbers(element, "refquat", (1, 0, 0, 0), 4))
        length = float(np.linalg.norm(quaternion))
        if length < LEAST:
            raise InputError("its refquat is zero")
        x = (x @ of_quaternion(quaternion / length)) * scale
        if np.prod(scale) < 0:
            faces = faces[:, [0, 2, 1]]
        return solid(x, faces, kind)

    def _triangles(self, element: Any) -> tuple[Array, Faces]:
        """Corners and triangles as the file or the attributes give them."""
        name = str(element.get("file") or "")
        if element.get("builtin") or element.find("plugin") is not None:
            raise InputError("it is generated by MuJoCo: save the compiled model first")
        if not name:
            vertices = self._numbers(element, "vertex")
            if len(vertices) < 12 or len(vertices) % 3:
                raise InputError("it has neither a file nor four corners")
            points = vertices.astype("f4").astype(float).reshape(-1, 3)
            faces = self._numbers(element, "face")
            if len(faces) % 3:
                raise InputError("a face has three corners")
            return points, _checked(faces.astype(int).reshape(-1, 3), points)
        settings = self.mjcf.setting(element)
        if settings.bare_names:
            name = name.replace("\\", "/").rpartition("/")[2]
        data = self._data(element, name, settings.mesh_folder)
        media = str(element.get("content_type") or "")
        kind = media.rpartition("/")[2].removeprefix("vnd.mujoco.") if media else ""
        kind = kind or os.path.splitext(name)[1].lower().removeprefix(".")
        if kind == "obj":
            points, triangles, _ = read_obj(data, first=True)
            return points, _checked(np.concatenate([*triangles.values(), _NONE]), points)
        if kind not in ("stl", "msh"):
            raise InputError(f"'{shown(name)}' is no .stl, .obj or .msh file")
        points, faces = read_stl(data) if kind == "stl" else read_msh(data)
        return points, _checked(faces, points)

    def _data(self, element: Any, name: str, folder: str) -> bytes:
        """What the file holds, which lies beside the main file or the including one."""
        wrong: InputError | None = None
        for place in self.mjcf.places_of(element):
            try:
                return content(path_of(path_of(place, folder or "."), name), name, self.read)
            except InputError as error:
                wrong = wrong or error
        assert wrong is not None
        raise wrong

    def _numbers(self, element: Any, key: str) -> Array:
        return np.array(self.mjcf.numbers(element, key, ()) or [], dtype=float)


def solid(x: Array, faces: Faces, kind: str) -> Solid:
    """Volume, centre and inertia of a mesh."""
    centroid, area = _centroid(x, faces)
    if area < LEAST:
        raise InputError("its surface is too small")
    hull = _hull(x) if kind == "convex" else faces
    volume, centre = _pyramids(x, hull, centroid, kind)
    if volume < LEAST:
        raise InputError("its volume is too small or negative: the triangles face inwards")
    D, E, F = ((x - centre)[hull[:, k]] for k in range(3))
    weights = _weights(D, E, F, kind)
    S = D + E + F
    # 2 (D D^T + ...) + D E^T + ... = D D^T + E E^T + F F^T + S S^T
    products = sum(np.einsum("n,ni,nj->ij", weights, y, y) for y in (D, E, F, S))
    products = np.asarray(products) / (12 if kind == "shell" else 20)
    inertia = np.trace(products) * np.eye(3) - products
    return Solid(float(weights.sum()), centre, inertia, x)


def _centroid(x: Array, faces: Faces) -> tuple[Array, float]:
    """Centre of the surface, and its area."""
    D, E, F = (x[faces[:, k]] for k in range(3))
    areas = np.linalg.norm(np.cross(E - D, F - D), axis=1) / 2
    total = float(areas.sum())
    return areas @ (D + E + F) / 3 / max(total, 1e-300), total


def _pyramids(x: Array, faces: Faces, apex: Array, kind: str) -> tuple[float, Array]:
    """Volume and centre of the pyramids over all triangles; area and centre of a shell."""
    D, E, F = (x[faces[:, k]] for k in range(3))
    weights = _weights(D - apex, E - apex, F - apex, kind)
    total = float(weights.sum())
    centre = weights @ ((D + E + F) / 4 + apex / 4) / (total if abs(total) > 1e-300 else 1.0)
    return total, np.asarray(centre)


def _weights(D: Array, E: Array, F: Array, kind: str) -> Array:
    """Volumes of the pyramids from the origin, or the areas of the triangles."""
    across = np.cross(E - D, F - D)
    if kind == "shell":
        return np.asarray(np.linalg.norm(across, axis=1) / 2)
    volumes = np.einsum("ni,ni->n", D, across) / 6
    return np.asarray(np.abs(volumes) if kind == "legacy" else volumes)


def _checked(faces: Faces, points: Array) -> Faces:
    if len(faces) and (faces.min() < 0 or faces.max() >= len(points)):
        raise InputError("a face names a corner that is not there")
    return faces


def _hull(x: Array) -> Faces:
    """The triangles of the convex hull, seen from outside."""
    try:
        from scipy.spatial import ConvexHull, QhullError
    except ImportError:
        words = 'its convex hull needs scipy: type  pip install "cardan[sim]"'
        raise InputError(words) from None
    try:
        hull = ConvexHull(x)
    except (QhullError, ValueError):
        raise InputError("its corners span no volume") from None
    faces = np.array(hull.simplices, dtype=int)
    D, E, F = (x[faces[:, k]] for k in range(3))
    inward = np.einsum("ni,ni->n", np.cross(E - D, F - D), hull.equations[:, :3]) < 0
    faces[inward] = faces[inward][:, [0, 2, 1]]
    return faces
