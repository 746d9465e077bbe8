"""Masses on joint axes in place of first moments of the links before them.

A body symmetric about the revolute axis z_j moves alike with link j and with its antecedent i, so
it may stand on either (see transfer). Regrouping gives all of it to link i; here link j keeps just
so much that products on link i vanish:

    kept on link j                         operations    vanishes on link i        operations
    mass at the foot of axis j or at O_j        6        MX, or MY where d_j = 0       10
    mass at the other of the two                6        MY                            10
    rod along z_j, ∫z² dm                       4        YZ                             6

The foot is where the common normal of the two axes meets axis j: P of Frame, r_j before O_j. V̇ and
f pass through both points, so that a mass there costs a product with V̇ and a sum with f, but no
moment. This is work on parameters alone; it divides by d_j, r_j sin α_j and sin α_j cos α_j.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Any

from ..algebra.inertia import Inertia
from ..algebra.scalar import HALF, cos_sin, guarded, is_number, vanishes
from ..algebra.vector import Vec, symmetric
from ..models.bodies import Bodies, Body
from ..models.transfer import symmetric_body, transfer

Scalar = Any
_NIL = 1e-9  # a symbol below it divides by nothing: no number then, rather than a wrong one
_HEAVY = 20  # times the mass of the robot: a mass above it would cost digits
_SHORT = 0.01  # times the longest length: a length below it may, where masses are symbols
_OBLIQUE = 0.05  # least sin α cos α of a number


def lumped(
    robot: Bodies, balance: frozenset[int], lump: frozenset[int], rod: frozenset[int]
) -> tuple[dict[int, Inertia], dict[int, Scalar], dict[int, Vec]]:
    """(inertia, mass at the foot of the axis, diagonal of ∫ r r^T dm) by link, with masses kept on
    the axes of the joints `lump` and rods on those of `rod`.

    Links in `balance` have the diagonal of ∫ r r^T dm for their moment, the others have YY = 0."""
    inertia = {b.j: Inertia(b.J, b.MS, b.M) for b in (robot.base, *robot.links)}
    feet: dict[int, Scalar] = {}
    E: dict[int, Vec] = {}
    limits = _Limits.of(robot)
    for link in reversed(robot.links):
        i, j = link.i, link.j
        if not link.sbar:
            transfer(inertia, link, moments=False)
            continue
        own = inertia[j]
        (XX, XY, XZ), (_, YY, YZ), (_, _, ZZ) = own.J.rows
        even = j in balance
        z = HALF * (XX + YY - ZZ) if even else YY
        before = inertia[i] + symmetric_body(link, z, own.MS[2], own.M)
        foot, mass, before = _masses(link, before, limits) if j in lump else (0, 0, before)
        transverse, before = _rod(link, before) if even and j in rod else (0, before)
        inertia[i] = before
        J = symmetric(XX - z + transverse, XY, XZ, YY - z + transverse, YZ, ZZ)
        J = J if even else symmetric(XX - z, XY, XZ, 0, YZ, ZZ)
        inertia[j] = Inertia(J, Vec(own.MS[0], own.MS[1], 0), mass)
        feet[j] = foot
        if even:
            E[j] = Vec(HALF * (YY + ZZ - XX), HALF * (XX + ZZ - YY), transverse)
    return inertia, feet, E


def _masses(link: Body, before: Inertia, limits: _Limits) -> tuple[Scalar, Scalar, Inertia]:
    """Masses at the foot of axis j and at O_j that rid the link before of first moments: (foot,
    O_j, what that link then has)."""
    if not vanishes(link.gamma) or not vanishes(link.b):
        return 0, 0, before
    X, Y = before.MS[0], before.MS[1]
    foot: Scalar = 0
    mass = limits.quotient(-Y, link.r * cos_sin(link.alpha)[1])
    if not vanishes(link.d):
        both = limits.quotient(X, link.d)
        if vanishes(both):
            return 0, 0, before  # two masses for one moment do not pay
        foot, X = both - mass, 0
    rest = before + symmetric_body(link, 0, 0, -mass)
    rest = rest + symmetric_body(replace(link, r=0), 0, 0, -foot)
    Y = Y if vanishes(mass) else 0
    return foot, mass, Inertia(rest.J, Vec(X, Y, rest.MS[2]), rest.M)


def _rod(link: Body, before: Inertia) -> tuple[Scalar, Inertia]:
    """The rod along z_j that rids the link before of YZ, and what that link then has."""
    c, s = cos_sin(link.alpha)
    oblique = c * s
    flat = is_number(oblique) and abs(oblique) < _OBLIQUE
    if flat or not vanishes(link.gamma) or not vanishes(link.b):
        return 0, before
    transverse = _Limits(inf, 0).quotient(before.J[1, 2], oblique)
    rest = before + symmetric_body(link, -transverse, 0, 0)
    (XX, XY, XZ), (_, YY, YZ), (_, _, ZZ) = rest.J.rows
    YZ = YZ if vanishes(transverse) else 0
    return transverse, Inertia(symmetric(XX, XY, XZ, YY, YZ, ZZ), rest.MS, rest.M)


@dataclass(frozen=True)
class _Limits:
    """The largest mass to be kept, where masses are numbers, and the least length to divide by."""

    most: float
    least: float

    @staticmethod
    def of(robot: Bodies) -> _Limits:
        links = (robot.base, *robot.links)
        lengths = [abs(float(x)) for b in links for x in (b.d, b.r) if is_number(x)]
        if not all(is_number(x) for b in links for x in (b.M, *b.MS)):
            return _Limits(inf, _SHORT * max(lengths))
        masses = sum(float(b.M) for b in links)
        moments = sum(abs(float(x)) for b in links for x in b.MS)
        return _Limits(_HEAVY * (masses + (moments / sum(lengths) if any(lengths) else 0)), 0.0)

    def quotient(self, x: Scalar, y: Scalar) -> Scalar:
        """x / y, or 0 where that is not to be had."""
        if vanishes(x) or vanishes(y):
            return 0
        if not is_number(y):  # a symbol or an array
            return x / guarded(y, _NIL, 0)
        if abs(y) < self.least or (is_number(x) and abs(x / y) > self.most):
            return 0
        return x / y
