"""Inertial parameters of a body about another point or in another frame, on exact values."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.inertia import Inertia
from ..algebra.rotation import Rotation
from ..algebra.vector import Vec, symmetric
from .robot import INERTIA, Link
from .values.expression import Expression, Value, add, bounded, call, multiply, power, subtract


def about_origin(M: Value, c: Sequence[Value], about: Sequence[Value]) -> dict[str, Value]:
    """XX ... M of the inertia about the centre of mass c: J = J_c + M (c² 1 - c cᵀ), Huygens."""
    _, y, z = c
    Ixx, Ixy, Ixz, Iyy, Iyz, Izz = about
    xx, yy, zz = (multiply(M, power(u, 2)) for u in c)
    hx, hy, hz = (multiply(M, u) for u in c)
    values = (
        add(Ixx, add(yy, zz)),
        subtract(Ixy, multiply(hx, y)),
        subtract(Ixz, multiply(hx, z)),
        add(Iyy, add(xx, zz)),
        subtract(Iyz, multiply(hy, z)),
        add(Izz, add(xx, yy)),
    )
    return dict(zip(INERTIA, (*values, hx, hy, hz, M), strict=True))


def from_far_frame(link: Link, a: Value, alpha: Value) -> dict[str, Value]:
    """XX ... M of a link in our frame, where its present frame is placed by Tx(a) Rx(alpha)."""
    *moments, mx, my, mz, M = (getattr(link, key) for key in INERTIA)
    turn = 0, call("cos", alpha), call("sin", alpha)
    far = Inertia(symmetric(*moments), Vec(mx, my, mz), M).rotated(Rotation([turn]))
    own = far.moved(Vec(a, 0, 0))
    J = [own.J[i, j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
    values = (x if isinstance(x, Expression) else bounded(x) for x in (*J, *own.MS, own.M))
    return dict(zip(INERTIA, values, strict=True))
