"""The same robot with other parameters: regrouped, balanced, lumped, aligned, in another unit of
length.

Torques do not change. All of it is work on parameters alone, done once:

- regrouped, balanced: bodies symmetric about a joint axis are exchanged across the joint;
- rotors: in ZZ of a link that turns about its joint axis by the joint alone, IA adds nothing;
- lumped: some of it stays, as masses on joint axes (see lump);
- aligned: the frame of a last link is turned about its joint axis, by a constant angle that goes
  to the joint, so that MY = 0;
- in a unit: lengths are measured in one of the robot's own, which becomes 1. With unit L,

      P' = P/L    V̇' = V̇/L    g' = g/L    MS' = L MS    M' = L² M    f' = L f    n' = n
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..algebra.inertia import Inertia
from ..algebra.rotation import Rotation, Z, turn
from ..algebra.scalar import HALF, function, guarded, is_zero, sqrt
from ..algebra.vector import Vec, symmetric, zero
from ..models.bodies import Bodies, Body
from ..models.transfer import symmetric_body, transfer, transferred
from .formulation import LENGTHS, Formulation
from .lump import lumped

Scalar = Any
_TINY = 2.0**-60  # a length or first moment below it is nothing: it may be taken for this


@dataclass(frozen=True)
class Reformed:
    """A robot with other parameters, and what a body of it has beside its own fields, by link."""

    robot: Bodies
    E: Mapping[int, Vec] = field(default_factory=dict)  # diagonal of ∫ r r^T dm: gives the moment
    foot: Mapping[int, Scalar] = field(default_factory=dict)  # mass where the common normal ends

    def with_inertia(self, inertia: Mapping[int, Inertia], **more: Any) -> Reformed:
        """The robot with these inertial parameters."""

        def loaded(link: Body) -> Body:
            own = inertia[link.j]
            return replace(link, J=own.J, MS=own.MS, M=own.M)

        robot = self.robot
        robot = replace(robot, base=loaded(robot.base), links=tuple(map(loaded, robot.links)))
        return replace(self, robot=robot, **more)


def reformed(robot: Bodies, form: Formulation) -> Reformed:
    """The robot with its parameters exchanged; every step is remembered, as none depends on q."""
    mass = (form.balance, form.lump, form.rod) if form.lump or form.rod else None
    steps: list[tuple[Any, Callable[[Reformed], Reformed]]] = [
        (form.regroup, lambda x: Reformed(regrouped(x.robot))),
        (form.rotors, lambda x: Reformed(with_rotors(x.robot))),
        (form.balance, lambda x: balanced(x, form.balance)),
        (mass, lambda x: lumped_masses(x, form)),
        (form.align, lambda x: aligned(x, form.align)),
        (form.unit, lambda x: in_unit(x, *(form.unit or ()))),
    ]
    x = Reformed(robot)
    path: tuple[Any, ...] = ()
    for k, (key, step) in enumerate(steps):
        if key:
            path = (*path, (k, key))
            if path not in robot.remembered:
                robot.remembered[path] = step(x)
            x = robot.remembered[path]
    return x


def regrouped(robot: Bodies) -> Bodies:
    """The robot with transfers made from the tips to the base (see base_parameters)."""
    return Reformed(robot).with_inertia(transferred(robot)).robot


def with_rotors(robot: Bodies) -> Bodies:
    """The robot with rotors in ZZ of links that turn about their joint axis by the joint alone."""
    alone = turning_alone(robot)

    def loaded(link: Body) -> Body:
        if link.j not in alone:
            return link
        (XX, XY, XZ), (_, YY, YZ), (_, _, ZZ) = link.J.rows
        return replace(link, J=symmetric(XX, XY, XZ, YY, YZ, ZZ + link.IA), IA=0)

    return replace(robot, links=tuple(map(loaded, robot.links)))


def turning_alone(robot: Bodies) -> frozenset[int]:
    """Revolute links of a base at rest that turn about z_j with q̇_j only, wherever the robot is:
    those before turn about one direction, perpendicular to z_j. ½ (ZZ + IA) q̇_j² is theirs then."""
    if not all(map(is_zero, (*robot.w0, *robot.wd0))):
        return frozenset()
    about: dict[int, Vec | None] = {
        0: zero
    }  # the direction, in frame j; zero: none yet, None: several
    alone = set()
    for link in robot.links:
        u = about[link.i]
        if u is not None and u is not zero:
            u = link.frame(0).jRi @ u
        if u is not None and link.sbar:
            along, across = is_zero(u[0]) and is_zero(u[1]), is_zero(u[2])
            if across:
                alone.add(link.j)
            u = Vec(0, 0, 1) if along else None
        about[link.j] = u
    return frozenset(alone)


def balanced(x: Reformed, chosen: frozenset[int]) -> Reformed:
    """The robot with ∫z² dm = (XX + YY - ZZ)/2 of these revolute links given to the antecedent."""
    inertia = {b.j: Inertia(b.J, b.MS, b.M) for b in (x.robot.base, *x.robot.links)}
    E: dict[int, Vec] = {}
    for link in reversed(x.robot.links):
        if not link.sbar:
            transfer(inertia, link, moments=False)  # with what links beyond gave it
            continue
        own = inertia[link.j]
        if link.j not in chosen or _is_nothing(own):
            continue
        (XX, XY, XZ), (_, YY, YZ), (_, _, ZZ) = own.J.rows
        Exx, Eyy, Ezz = HALF * (YY + ZZ - XX), HALF * (XX + ZZ - YY), HALF * (XX + YY - ZZ)
        E[link.j] = Vec(Exx, Eyy, 0)
        inertia[link.j] = Inertia(symmetric(Eyy, XY, XZ, Exx, YZ, ZZ), own.MS, own.M)
        inertia[link.i] = inertia[link.i] + symmetric_body(link, Ezz, 0, 0)
    return x.with_inertia(inertia, E=E)


def _is_nothing(body: Inertia) -> bool:
    return all(is_zero(x) for row in body.J.rows for x in row)


def lumped_masses(x: Reformed, form: Formulation) -> Reformed:
    """The robot with masses and rods on its joint axes (see lump)."""
    inertia, foot, E = lumped(x.robot, form.balance, form.lump, form.rod)
    return x.with_inertia(inertia, foot=foot, E={**x.E, **E})


def aligned(x: Reformed, chosen: frozenset[int]) -> Reformed:
    """The robot with the last ones of these links turned about z_j until MY = 0."""
    chosen -= {link.i for link in x.robot.links}
    E = dict(x.E)

    def turned(link: Body) -> Body:
        X, Y, _ = link.MS
        j = link.j
        if j not in chosen or not link.sbar or is_zero(X) or is_zero(Y):
            return link
        phi = function("atan2", Y, guarded(X, _TINY, _TINY))
        seen = link.rotated(Rotation([turn(Z, -phi)]))
        if j in E:
            E[j] = diagonal(seen, E[j])
        MS = Vec(sqrt(X * X + Y * Y), 0, link.MS[2])
        return replace(seen, MS=MS, theta=link.theta + phi)

    robot = replace(x.robot, links=tuple(map(turned, x.robot.links)))
    return replace(x, robot=robot, E=E)


def diagonal(link: Body, E: Vec) -> Vec:
    """The diagonal of E = ½ tr J - J of a link turned about z_j: it turns the other way."""
    return Vec(link.J[1, 1] - E[2], link.J[0, 0] - E[2], E[2])


def in_unit(x: Reformed, key: str, j: int) -> Reformed:
    """The robot with this length for the unit; forces of the base are then in this unit too."""
    robot = x.robot
    L = guarded(getattr(robot.links[j - 1], key), _TINY, _TINY)

    def scaled(link: Body) -> Body:
        lengths = {name: _over(getattr(link, name), L) for name in LENGTHS}
        if link.j == j:
            lengths[key] = 1
        return replace(link, **lengths, MS=L * link.MS, M=L * (L * link.M), f_e=L * link.f_e)

    def over(v: Vec) -> Vec:
        return Vec(*(_over(part, L) for part in v))

    robot = replace(
        robot, base=scaled(robot.base), links=tuple(map(scaled, robot.links)),
        gravity=over(robot.gravity), V0=over(robot.V0), Vd0=over(robot.Vd0),
    )  # fmt: skip
    return replace(x, robot=robot, foot={k: L * (L * mass) for k, mass in x.foot.items()})


def _over(x: Scalar, L: Scalar) -> Scalar:
    return x if is_zero(x) else x / L
