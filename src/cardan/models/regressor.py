"""Identification models, linear in the dynamic parameters K, [KC97] 6.1-6.3.

    Γ = D(q, q̇, q̈) K                                  dynamic model            (39)
    Γ = d/dt [D1(q, q̇) K] + D2(q, q̇) K                filtered model           (41)-(43)
    H = h(q, q̇) K                                     energy model             (48), (52)

K lists, link by link, XX XY XZ YY YZ ZZ MX MY MZ M, then IA FV FS (and an offset) of every joint,
then what else the friction of the joint has (`friction.COEFFICIENTS`), then K and K q0 of a spring
beside its motor; for the energy model, which has no friction, the stiffness of an elastic joint
instead. The torque of its spring is on the left of the other two: it is the torque of that joint.
A column of D is the recursion of 5.1 with one parameter equal to one and all others zero: the
motion is computed once, and the wrench of that parameter is carried from its link to the base.
For the filtered model, with S_i the joint axis, h_i the momentum of the composite link and g its
weight:

    D1 K = S_i·h_i          D2 K = -(𝕍_i × S_i)·h_i - S_i·(weight)

because d/dt (S·h) = S·ḣ + Ṡ·h; the printed -∂E/∂q is the second sum.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..algebra.scalar import vanishes
from ..algebra.vector import Vec, cross, zero
from .bodies import Bodies, Body
from .coriolis import axis, axis_rate
from .energy import gravity_by_link
from .frame import Frame
from .friction import COEFFICIENTS
from .kinematics import velocities
from .newton_euler import NewtonEuler

Scalar = Any
Pair = tuple[Vec, Vec]
a = Vec(0, 0, 1)

INERTIA_COLUMNS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
DRIVE_COLUMNS = ("IA", "FV", "FS", "offset")
FURTHER_COLUMNS = COEFFICIENTS[2:]  # of the joints that have them
SPRING_COLUMN = "stiffness"
PARALLEL_COLUMNS = ("spring", "preload")  # K and K q0 of a spring beside a motor
Columns = list[tuple[str, int]]  # (parameter, link) of each column


def columns(
    robot: Bodies, *, drives: Collection[str] = ("IA", "FV", "FS"), base: bool = False
) -> Columns:
    """The standard column order: link by link, from link 0 if `base`; fixed frames have no
    drive."""
    listed: Columns = [(name, 0) for name in INERTIA_COLUMNS] if base else []
    further = [name for name in FURTHER_COLUMNS if name in drives]
    if "offset" in drives and "FO" in further:
        further.remove("FO")
    for link in robot.links:
        listed += [(name, link.j) for name in INERTIA_COLUMNS]
        if link.s or link.sbar:
            listed += [(name, link.j) for name in DRIVE_COLUMNS if name in drives]
            own = (name for name in further if not vanishes(getattr(link.rubs, name)))
            listed += [(name, link.j) for name in own]
            if not vanishes(link.spring):
                listed += [(name, link.j) for name in PARALLEL_COLUMNS if name in drives]
            if link.elastic and SPRING_COLUMN in drives:
                listed.append((SPRING_COLUMN, link.j))
    return listed


def regressor(
    robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar],
    x: NewtonEuler, wanted: Columns, base: bool = False,
) -> list[list[Scalar]]:  # fmt: skip
    """D by rows (joints) and the wanted columns, (39), of the motion x (w, wd, U, Vd) in the frames
    described.

    `base`: six rows before them, the wrench (force, moment) that link 0 must be given."""
    frames = {link.j: (link, T) for link, T in robot.at(q)}
    qs, qds, qdds = robot.spread(q), robot.spread(qd), robot.spread(qdd)
    D = _Matrix(robot)
    for c, (name, j) in enumerate(wanted):
        if name not in INERTIA_COLUMNS:
            own = qdds[j] if name == "IA" else _drive(robot, name, j, qs[j], qds[j])
            D.put(j, c, own)
        else:
            wrench = _wrench(name, x.w[j], x.wd[j], x.U[j], x.Vd[j], x.sq[j])
            for link, f, n in _to_base(frames, j, wrench):
                if link is None:
                    D.base[c] = [*f, *n]
                else:
                    D.put(link.joint, c, (link.s * f + link.sbar * n) @ a)            # (31)
    top = [[D.base.get(c, [0] * 6)[r] for c in range(len(wanted))] for r in range(6 * base)]
    return [*top, *D.rows(len(wanted))]


def _drive(robot: Bodies, name: str, j: int, q: Scalar, qd: Scalar) -> Scalar:
    """What a joint's parameter other than IA, equal to 1, adds to its torque."""
    fixed = {"offset": 1, "spring": q, "preload": -1}
    return fixed[name] if name in fixed else robot.links[j - 1].rubs.column(name, qd)


def _wrench(name: str, w: Vec, wd: Vec, U: Any, Vd: Vec, sq: Vec) -> Pair:
    """(F, N) of a link whose only parameter is this one, equal to 1: (22), (23)."""
    if name == "M":
        return Vd, zero
    if name in ("MX", "MY", "MZ"):
        k = "XYZ".index(name[1])
        unit = Vec(*(int(m == k) for m in range(3)))
        return U @ unit, cross(unit, Vd)
    return zero, {
        "XX": Vec(wd[0], w[0] * w[2], -(w[0] * w[1])),
        "XY": Vec(-U[2, 0], U[2, 1], sq[2]),
        "XZ": Vec(U[1, 0], sq[1], -U[1, 2]),
        "YY": Vec(-(w[1] * w[2]), wd[1], w[0] * w[1]),
        "YZ": Vec(sq[0], -U[0, 1], U[0, 2]),
        "ZZ": Vec(w[1] * w[2], -(w[0] * w[2]), wd[2]),
    }[name]


def _to_base(
    frames: Mapping[int, tuple[Body, Frame]], j: int, wrench: Pair
) -> Iterator[tuple[Body | None, Vec, Vec]]:
    """(link, f, n): the wrench of link j about the origin of each link before it, at last O_0."""
    f, n = wrench
    if j:
        own = frames[j][0].turned
        f, n = own @ f, own @ n
    while j:
        link, T = frames[j]
        yield link, f, n
        f, n = T.wrench(f, n)
        j = link.i
    yield None, f, n


class _Matrix:
    """Rows for the moving joints, filled here and there."""

    def __init__(self, robot: Bodies) -> None:
        self.moving = robot.tree.moving
        self.entries: dict[tuple[int, int], Scalar] = {}
        self.base: dict[int, list[Scalar]] = {}  # by column: the wrench on link 0

    def put(self, j: int, c: int, value: Scalar) -> None:
        if j in self.moving:
            self.entries[j, c] = value

    def rows(self, width: int) -> list[list[Scalar]]:
        return [[self.entries.get((j, c), 0) for c in range(width)] for j in self.moving]


@dataclass
class Filtered:
    """D1 and D2 by rows."""

    D1: list[list[Scalar]] = field(default_factory=list)
    D2: list[list[Scalar]] = field(default_factory=list)


def filtered_regressor(
    robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar], wanted: Columns
) -> Filtered:
    """D1 and D2 without accelerations, (41)-(43)."""
    motion = velocities(robot, q, qd)
    _, g = gravity_by_link(robot, q)
    qs, qds = robot.spread(q), robot.spread(qd)
    frames = {link.j: (link, T) for link, T in robot.at(q)}
    D1, D2 = _Matrix(robot), _Matrix(robot)
    for c, (name, j) in enumerate(wanted):
        if name == "IA":
            D1.put(j, c, qds[j])
            continue
        if name not in INERTIA_COLUMNS:
            D2.put(j, c, _drive(robot, name, j, qs[j], qds[j]))
            continue
        momentum = _unit_inertia(name, motion.V[j], motion.w[j])
        weight = _unit_inertia(name, g[j], zero)
        pairs = zip(_to_base(frames, j, momentum), _to_base(frames, j, weight), strict=True)
        for (link, p, l), (_, f, n) in pairs:
            if link is not None:
                S, Sd = axis(link), axis_rate(link, motion.w[link.j], motion.V[link.j])
                D1.put(link.joint, c, S[0] @ p + S[1] @ l)                            # (42)
                D2.put(link.joint, c, -(Sd[0] @ p + Sd[1] @ l) - (S[0] @ f + S[1] @ n))  # (43)
    return Filtered(D1.rows(len(wanted)), D2.rows(len(wanted)))


def _unit_inertia(name: str, u: Vec, r: Vec) -> Pair:
    """𝕁 (u, r) of a link whose only parameter is this one, equal to 1."""
    if name == "M":
        return u, zero
    if name in ("MX", "MY", "MZ"):
        k = "XYZ".index(name[1])
        unit = Vec(*(int(m == k) for m in range(3)))
        return cross(r, unit), cross(unit, u)
    row, column = ("XYZ".index(letter) for letter in name)
    parts: list[Scalar] = [0, 0, 0]
    parts[row] = r[column]
    if row != column:
        parts[column] = r[row]
    return zero, Vec(*parts)


def energy_regressor(
    robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar], wanted: Columns
) -> list[Scalar]:
    """h: total energy as a row over the parameters, (52), springs of elastic joints included;
    friction has no energy function."""
    motion = velocities(robot, q, qd)
    along, g = gravity_by_link(robot, q)
    qs, qds = robot.spread(q), robot.spread(qd)
    h: list[Scalar] = []
    for name, j in wanted:
        w, V = motion.w[j], motion.V[j]
        if name == "M":
            h.append((V @ V) / 2 - along[j])
        elif name in ("MX", "MY", "MZ"):
            k = "XYZ".index(name[1])
            h.append(cross(V, w)[k] - g[j][k])
        elif name == "IA":
            h.append(qds[j] * qds[j] / 2)
        elif name == SPRING_COLUMN:
            h.append(replace(robot.links[j - 1], stiffness=1).elastic_energy(qs[j]))
        elif name in PARALLEL_COLUMNS:
            h.append(qs[j] * qs[j] / 2 if name == "spring" else -qs[j])
        elif name not in INERTIA_COLUMNS:
            h.append(0)
        else:
            row, column = ("XYZ".index(letter) for letter in name)
            h.append(w[row] * w[column] / (2 if row == column else 1))
    return h


