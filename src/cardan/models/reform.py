"""The same robot with other parameters: regrouped, balanced, lumped, aligned, in another unit of
length.

Torques do not change. All of it is work on parameters alone, done once:

- regrouped, balanced: bodies symmetric about a joint axis are exchanged across the joint;
- lumped: some of it stays, as masses on joint axes (see lump);
- aligned: the frame of a last link is turned about its joint axis, by a constant angle that goes
  to the joint, so that MY = 0;
- in a unit: lengths are measured in one of the robot's own, which becomes 1. With unit L,

      P' = P/L    V̇' = V̇/L    g' = g/L    MS' = L MS    M' = L² M    f' = L f    n' = n
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..algebra.inertia import Inertia
from ..algebra.rotation import Rotation, Z, turn
from ..algebra.scalar import HALF, function, sqrt
from ..algebra.vector import Vec, symmetric
from ..exact import Exact
from .bodies import Bodies, Body
from .lump import lumped
from .transfer import symmetric_body, transferred

__all__ = ["LENGTHS", "reparametrised"]

Scalar = Any
Unit = tuple[str, int] | None  # a length of a link: ("d", 3)
LENGTHS = ("d", "r", "b")
_TINY = 2.0**-60  # a length or first moment below it is nothing: it may be taken for this


def reparametrised(
    robot: Bodies, regroup: bool, balance: frozenset[int], lump: frozenset[int],
    rod: frozenset[int], align: frozenset[int], unit: Unit,
) -> Bodies:  # fmt: skip
    """The robot with its parameters exchanged; every step is remembered, as none depends on q."""
    steps: list[tuple[Any, Callable[[Bodies], Bodies]]] = [
        (regroup, regrouped),
        (balance, lambda x: balanced(x, balance)),
        ((balance, lump, rod) if lump or rod else None, lambda x: lumped(x, balance, lump, rod)),
        (align, lambda x: aligned(x, align)),
        (unit, lambda x: in_unit(x, *(unit or ()))),
    ]
    for k, (key, step) in enumerate(steps):
        if key:
            if (k, key) not in robot.reformed:
                robot.reformed[k, key] = step(robot)
            robot = robot.reformed[k, key]
    return robot


def regrouped(robot: Bodies) -> Bodies:
    """The robot with transfers made from the tips to the base (see base_parameters)."""
    inertia = transferred(robot)

    def loaded(link: Body) -> Body:
        own = inertia[link.j]
        return replace(link, J=own.J, MS=own.MS, M=own.M)

    return replace(robot, base=loaded(robot.base), links=tuple(map(loaded, robot.links)))


def balanced(robot: Bodies, chosen: frozenset[int]) -> Bodies:
    """The robot with ∫z² dm = (XX + YY - ZZ)/2 of these revolute links given to the antecedent."""
    inertia = {b.j: Inertia(b.J, b.MS, b.M) for b in (robot.base, *robot.links)}
    E: dict[int, Vec] = {}
    for link in reversed(robot.links):
        own = inertia[link.j]
        if link.j not in chosen or not link.sbar or _is_nothing(own):
            continue
        (XX, XY, XZ), (_, YY, YZ), (_, _, ZZ) = own.J.rows
        x, y, z = HALF * (YY + ZZ - XX), HALF * (XX + ZZ - YY), HALF * (XX + YY - ZZ)
        E[link.j] = Vec(x, y, 0)
        inertia[link.j] = Inertia(symmetric(y, XY, XZ, x, YZ, ZZ), own.MS, own.M)
        inertia[link.i] = inertia[link.i] + symmetric_body(link, z, 0, 0)

    def loaded(link: Body) -> Body:
        own = inertia[link.j]
        return replace(link, J=own.J, MS=own.MS, M=own.M, E=E.get(link.j))

    return replace(robot, base=loaded(robot.base), links=tuple(map(loaded, robot.links)))


def _is_nothing(body: Inertia) -> bool:
    return all(isinstance(x, int) and x == 0 for row in body.J.rows for x in row)


def aligned(robot: Bodies, chosen: frozenset[int]) -> Bodies:
    """The robot with the last ones of these links turned about z_j until MY = 0."""
    chosen -= {link.i for link in robot.links}

    def turned(link: Body) -> Body:
        X, Y, _ = link.MS
        if link.j not in chosen or not link.sbar or _is_zero(X) or _is_zero(Y):
            return link
        phi = function("atan2", Y, _away_from_zero(X))
        seen = link.rotated(Rotation([turn(Z, -phi)]))
        MS = Vec(sqrt(X * X + Y * Y), 0, link.MS[2])
        return replace(seen, MS=MS, theta=link.theta + phi, phi=phi)

    return replace(robot, links=tuple(map(turned, robot.links)))


def in_unit(robot: Bodies, key: str, j: int) -> Bodies:
    """The robot with this length for the unit."""
    L = _away_from_zero(getattr(robot.links[j - 1], key))

    def scaled(link: Body) -> Body:
        lengths = {name: _over(getattr(link, name), L) for name in LENGTHS}
        if link.j == j:
            lengths[key] = 1
        M, foot = L * (L * link.M), L * (L * link.foot)
        return replace(link, **lengths, MS=L * link.MS, M=M, foot=foot, f_e=L * link.f_e)

    def over(v: Vec) -> Vec:
        return Vec(*(_over(x, L) for x in v))

    return replace(
        robot, base=scaled(robot.base), links=tuple(map(scaled, robot.links)),
        gravity=over(robot.gravity), V0=over(robot.V0), Vd0=over(robot.Vd0), unit=L,
    )  # fmt: skip


def _over(x: Scalar, L: Scalar) -> Scalar:
    return x if _is_zero(x) else x / L


def _away_from_zero(x: Scalar) -> Scalar:
    """x, or something smaller than rounding where x vanishes: the setup may divide by it."""
    if not hasattr(x, "apply"):
        return float(x) if isinstance(x, int | Exact) else x
    return x.apply("select", function("abs", x) - _TINY, x, _TINY)


def _is_zero(x: Scalar) -> bool:
    return isinstance(x, int) and x == 0
