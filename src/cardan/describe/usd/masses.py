"""What rigid bodies of UsdPhysics weigh.

[UsdPhysics, MassAPI: the mass of a body overrides those of its colliders, which have their own, or
a density: their own, that of the nearest prim above, that of their material, else water's. Moments
and the centre of mass are those of the colliders where they are not written.] The inertia of a
shape is mapped with its scale, so that a scaled ball is an ellipsoid: of unit density, with
S = int x x^T about the centre, x' = A x has |det A| V and |det A| A S A^T."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError
from ..bodies import Mass, centre_of, inertia_about
from ..frames import Array
from ..mjcf.meshes import solid
from ..mjcf.shapes import DENSITY, shape_inertia
from ..surfaces import fans
from .stage import array, library, number, rotation, vector

_ALONG = {"X": [2, 0, 1], "Y": [1, 2, 0], "Z": [0, 1, 2]}  # x, y, z of a shape that lies along z
_HULLS = ("convexHull", "convexDecomposition", "boundingCube", "boundingSphere")


@dataclass(frozen=True)
class Masses:
    """How masses are read: the units of the stage in metres and kilograms; placed: gives a prim's
    own matrix (4, 4) to a body's, in units of the stage; fault and remark: what to tell."""

    metre: float
    kilogram: float
    placed: Callable[[Any, Any], Array]
    fault: Callable[[str], None]
    remark: Callable[[str, Any], None]

    def of(self, body: Any, is_body: Callable[[Any], bool]) -> tuple[Mass, ...]:
        """The mass of a body in its frame, without its scale; nothing where none can be said."""
        _, _, _, _, UsdPhysics, _ = library()
        api = UsdPhysics.MassAPI(body)
        mass, inertia, centre = self._written(api)
        scale = self.placed(body, body)[:3, :3]
        centre = None if centre is None else scale @ centre * self.metre
        parts: list[Mass] = []
        if mass is None or inertia is None or centre is None:
            parts = list(self._parts(body, is_body))
        total = sum(part.mass for part in parts)
        if mass is None:
            mass = total
        if not mass:
            return ()
        if centre is None:
            centre = centre_of(parts)
        if inertia is None:
            inertia = inertia_about(parts, centre) * (mass / total if total else 0.0)
        return (Mass(mass, centre, inertia),)

    def _written(self, api: Any) -> tuple[float | None, Array | None, Array | None]:
        """Mass, inertia about the centre of mass, and this; None for what is not written."""
        mass = number(api.GetMassAttr(), self.fault) or None
        if mass is not None:
            mass *= self.kilogram
        if (mass or 0.0) < 0:
            self.fault(f"the mass of '{api.GetPrim().GetName()}' is negative")
        return mass, self._inertia(api), vector(api.GetCenterOfMassAttr(), self.fault)

    def _inertia(self, api: Any) -> Array | None:
        """The moments and their axes, or Newton's six numbers instead of them."""
        unit = self.kilogram * self.metre**2
        six = api.GetPrim().GetAttribute("newton:inertia")
        values = array(six.Get() if six else None, self.fault, six)
        if values.shape == (6,) and np.isfinite(values).all():
            xx, yy, zz, xy, xz, yz = values
            return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) * unit
        moments = vector(api.GetDiagonalInertiaAttr(), self.fault)
        if moments is None or not moments.any():
            return None
        R = rotation(api.GetPrincipalAxesAttr(), self.fault)
        R = np.eye(3) if R is None else R
        return np.asarray(R @ np.diag(moments) @ R.T * unit)

    def _parts(self, body: Any, is_body: Callable[[Any], bool]) -> Iterator[Mass]:
        """The colliders of a body, and what else has a mass below it."""
        _, _, Usd, UsdGeom, UsdPhysics, _ = library()
        prims = iter(Usd.PrimRange(body, Usd.TraverseInstanceProxies()))
        for prim in prims:
            if prim != body and is_body(prim):
                prims.PruneChildren()
                continue
            weighs = prim.HasAPI(UsdPhysics.CollisionAPI) or prim.HasAPI(UsdPhysics.MassAPI)
            if not weighs or not prim.IsA(UsdGeom.Gprim):
                continue
            try:
                shape = _shape(prim, UsdGeom, UsdPhysics)
            except InputError as error:
                self.remark(f"shapes without a volume weigh nothing ({error})", prim)
                continue
            model = prim.GetAttribute("newton:massModel")
            if model and str(model.Get()) == "shell":
                self.remark("hollow shapes (newton:massModel) are taken as solid", prim)
            if shape is not None:
                yield self._part(prim, body, *shape)

    def _part(self, prim: Any, body: Any, volume: float, centre: Array, S: Array) -> Mass:
        _, _, _, _, UsdPhysics, _ = library()
        T = self.placed(prim, body)
        A = T[:3, :3] * self.metre
        volume, S = volume * abs(np.linalg.det(A)), A @ S @ A.T * abs(np.linalg.det(A))
        mass, inertia, own = self._written(UsdPhysics.MassAPI(prim))
        if mass is None:
            mass = volume * self._density(prim, body)
        if own is None:
            own = centre
        place = T[:3, :3] @ own * self.metre + T[:3, 3] * self.metre
        if inertia is None:
            d = T[:3, :3] @ (own - centre) * self.metre
            tensor = (np.trace(S) * np.eye(3) - S) * (mass / volume if volume else 0.0)
            tensor += mass * (float(d @ d) * np.eye(3) - np.outer(d, d))
        else:
            U, _, V = np.linalg.svd(T[:3, :3])
            tensor = (U @ V) @ inertia @ (U @ V).T
        return Mass(mass, place, tensor)

    def _density(self, prim: Any, body: Any) -> float:
        """Of a collider: its own, or that of what it is part of, or of its material, or water's."""
        from pxr import UsdShade

        _, _, _, _, UsdPhysics, _ = library()
        unit = self.kilogram / self.metre**3
        at = prim
        while at:
            density = number(UsdPhysics.MassAPI(at).GetDensityAttr(), self.fault)
            if density:
                return density * unit
            if at == body:
                break
            at = at.GetParent()
        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
        if material:
            api = UsdPhysics.MaterialAPI(material.GetPrim())
            if density := number(api.GetDensityAttr(), self.fault):
                return density * unit
        return DENSITY


def _shape(prim: Any, UsdGeom: Any, UsdPhysics: Any) -> tuple[float, Array, Array] | None:
    """Volume, centre and S of a shape of unit density in its own frame; None of what has none."""
    kind = str(prim.GetTypeName())

    def size(key: str) -> float:
        value = prim.GetAttribute(key).Get()
        if not isinstance(value, int | float) or not 0 <= value < 1e9:
            raise InputError(f"its {key} is none")
        return float(value)

    if kind == "Mesh":
        return _mesh(UsdGeom.Mesh(prim), UsdPhysics.MeshCollisionAPI(prim))
    if kind == "Cube":
        volume, moments = shape_inertia("box", [size("size") / 2] * 3)
    elif kind == "Sphere":
        volume, moments = shape_inertia("sphere", [size("radius")])
    elif kind in ("Capsule", "Cylinder"):
        sizes = [size("radius"), size("height") / 2]
        volume, moments = shape_inertia(kind.lower(), sizes)
    elif kind == "Cone":
        r, h = size("radius"), size("height")
        volume = np.pi * r * r * h / 3
        moments = volume * np.array([0.15 * r * r + 3 / 80 * h * h] * 2 + [0.3 * r * r])
    else:
        if kind == "Plane":
            return None
        raise InputError(f"{kind or 'no type'}")
    axis = prim.GetAttribute("axis")
    order = _ALONG.get(str(axis.Get()) if axis else "Z", _ALONG["Z"])
    second = moments.sum() / 2 - moments
    centre = np.array([0.0, 0.0, -size("height") / 4 if kind == "Cone" else 0.0])
    return volume, centre[order], np.diag(second[order])


def _refuse(words: str) -> None:
    raise InputError(words)


def _mesh(mesh: Any, collision: Any) -> tuple[float, Array, Array]:
    """A mesh is the solid inside it, or its convex hull."""
    attributes = (
        mesh.GetPointsAttr(), mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr()
    )  # fmt: skip
    points, counts, corners = (array(x.Get(), _refuse, x) for x in attributes)
    if points.ndim != 2 or points.shape[1] != 3 or counts.ndim != 1 or corners.ndim != 1:
        raise InputError("a mesh without triangles")
    counts, corners = counts.astype(int), corners.astype(int)
    approximation = str(collision.GetApproximationAttr().Get() or "none")
    faces = fans(counts, corners, len(points))
    if not len(faces) or not np.isfinite(points).all():
        raise InputError("a mesh without triangles")
    if str(mesh.GetOrientationAttr().Get()) == "leftHanded":
        faces = faces[:, ::-1]
    body = solid(points, faces, "convex" if approximation in _HULLS else "exact")
    second = np.trace(body.inertia) / 2 * np.eye(3) - body.inertia
    return body.volume, body.centre, second
