"""Inertial parameters of a link moved between the frames of DH conventions, on exact values."""

from __future__ import annotations

from collections.abc import Sequence

from ..frames import decimal_value
from ..robot import INERTIA, Link
from ..values.expression import Expression, Value, add, call, multiply, number, subtract

__all__ = ["about_origin", "from_far_frame"]


def about_origin(M: Value, centre: Sequence[Value]) -> dict[str, Value]:
    """XX ... MZ of a centre of mass (x, y, z) and the inertia about it: I + M (cᵀc 1 - c cᵀ)."""
    x, y, z, *moments = centre
    xx, xy, xz, yy, yz, zz = moments
    first = [multiply(M, c) for c in (x, y, z)]
    hx, hy, hz = first
    values = [
        _sum(xx, multiply(hy, y), multiply(hz, z)),
        subtract(xy, multiply(hx, y)),
        subtract(xz, multiply(hx, z)),
        _sum(yy, multiply(hx, x), multiply(hz, z)),
        subtract(yz, multiply(hy, z)),
        _sum(zz, multiply(hx, x), multiply(hy, y)),
    ]
    return dict(zip(INERTIA, map(_plain, [*values, *first]), strict=False))


def from_far_frame(link: Link, a: Value, alpha: Value) -> Link:
    """The link's parameters in our frame, where its present frame is placed by Tx(a) Rx(alpha).

    With R = Rx(alpha), h = R·MS and P = (a, 0, 0), Steiner's theorem between two points neither of
    which is the centre of mass:  J = R J' Rᵀ + 2 (P·h) 1 - P hᵀ - h Pᵀ + M (PᵀP 1 - P Pᵀ).
    """
    xx, xy, xz, yy, yz, zz, mx, my, mz, M = (getattr(link, key) for key in INERTIA)
    c, s = call("cos", alpha), call("sin", alpha)
    hy, hz = _turned(c, s, my, mz)
    xy, xz = _turned(c, s, xy, xz)
    cc, cs, ss = multiply(c, c), multiply(c, s), multiply(s, s)
    twice = multiply(2, multiply(cs, yz))
    turned_yy = add(subtract(multiply(cc, yy), twice), multiply(ss, zz))
    turned_zz = add(add(multiply(ss, yy), twice), multiply(cc, zz))
    turned_yz = add(multiply(cs, subtract(yy, zz)), multiply(subtract(cc, ss), yz))
    far = multiply(a, add(multiply(2, mx), multiply(M, a)))
    values = [
        xx,
        subtract(xy, multiply(a, hy)),
        subtract(xz, multiply(a, hz)),
        add(turned_yy, far),
        turned_yz,
        add(turned_zz, far),
        add(mx, multiply(M, a)),
        hy,
        hz,
        M,
    ]
    return Link(link.name, **dict(zip(INERTIA, map(_plain, values), strict=True)))


def _turned(c: Value, s: Value, y: Value, z: Value) -> tuple[Value, Value]:
    return subtract(multiply(c, y), multiply(s, z)), add(multiply(s, y), multiply(c, z))


def _sum(*values: Value) -> Value:
    total: Value = 0
    for value in values:
        total = add(total, value)
    return total


def _plain(value: Value) -> Value:
    """A formula without symbols, as cos(0.3)*0.2, is of use only as its number."""
    x = number(value) if isinstance(value, Expression) else None
    return value if x is None else decimal_value(x, 0.0)
