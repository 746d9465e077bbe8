"""Inertial parameters of a body about another point."""

from __future__ import annotations

from collections.abc import Sequence

from .values.expression import Value, add, multiply, power, subtract

__all__ = ["about_origin"]


def about_origin(M: Value, c: Sequence[Value], about: Sequence[Value]) -> dict[str, Value]:
    """Inertia about the frame's origin: J = J_c + M (c² 1 - c cᵀ), Huygens."""
    x, y, z = c
    Ixx, Ixy, Ixz, Iyy, Iyz, Izz = about
    xx, yy, zz = (multiply(M, power(u, 2)) for u in c)
    return {
        "XX": add(Ixx, add(yy, zz)),
        "XY": subtract(Ixy, multiply(multiply(M, x), y)),
        "XZ": subtract(Ixz, multiply(multiply(M, x), z)),
        "YY": add(Iyy, add(xx, zz)),
        "YZ": subtract(Iyz, multiply(multiply(M, y), z)),
        "ZZ": add(Izz, add(xx, yy)),
        "MX": multiply(M, x),
        "MY": multiply(M, y),
        "MZ": multiply(M, z),
        "M": M,
    }
