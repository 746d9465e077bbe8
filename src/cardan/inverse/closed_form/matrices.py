"""The matrix equations of a chain: iT0 U0 nTk = iTk for every i <= k, both ends, [KC97] 3.3.1.

Joints about parallel axes (alpha = 0 or pi) form one group. Its unknowns are the total angles from
the start of the group, so that a group's position is a sum and no product of unknowns: for axes 2
and 3 parallel, the equations hold C2, S2, C23, S23. The frames i and k are the ends of groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...algebra.scalar import cos_sin, function
from ...algebra.vector import Mat, Vec
from ...describe.robot import PRISMATIC
from ...describe.values.expression import Value, evaluate
from ...ir.trace import Tracer
from ..chain.arm_angle import elbow
from ..chain.chain import Chain
from ..chain.fold import Screw
from ..settle import ACCEPT
from .polynomial import C, R, S, atom

Scalar = Any
IDENTITY = Mat([[1, 0, 0], [0, 1, 0], [0, 0, 1]])


@dataclass(frozen=True)
class Frame:
    """A placement: rotation and position."""

    R: Mat
    P: Vec


def inverse(T: Frame) -> Frame:
    return Frame(T.R.T, -(T.R.T @ T.P))


def compose(A: Frame, B: Frame) -> Frame:
    return Frame(A.R @ B.R, A.R @ B.P + A.P)


def before(A: Frame, U: Frame) -> Frame:
    """A⁻¹ U."""
    At = A.R.T
    return Frame(At @ U.R, At @ (U.P - A.P))


def after(U: Frame, B: Frame) -> Frame:
    """U B⁻¹."""
    turned = U.R @ B.R.T
    return Frame(turned, U.P - turned @ B.P)


@dataclass(frozen=True)
class Joint:
    """A joint with its constants as scalars, and its place in a group of parallel axes.

    Its unknown is the total angle ψ = ψ_previous + sign·(theta + q) + turn, or r + q."""

    sigma: int
    cos_alpha: Scalar
    sin_alpha: Scalar
    d: Scalar
    theta: Scalar
    r: Scalar
    sign: int  # -1 when an odd number of half turns about x stands before it in its group
    previous: int | None  # the joint whose total angle it adds to
    turn: Scalar = 0  # constant turns between the two


@dataclass(frozen=True)
class Geometry:
    """A chain over traced scalars: the pose U0 of the bare chain, its joints and groups."""

    tracer: Tracer
    T: Frame
    U0: Frame
    joints: tuple[Joint, ...]
    groups: tuple[tuple[int, ...], ...]
    free: Mapping[int, Scalar]  # joints whose q is given, slides in units
    size: Scalar  # a length: the sum of all link lengths
    elbow: Vec | None = None  # position of O3, when the arm angle is given
    unit: float = 1.0  # m of a length

    @property
    def unknowns(self) -> tuple[int, ...]:
        return tuple(j for j in range(len(self.joints)) if j not in self.free)


def geometry(
    chain: Chain, free: Sequence[int] = (), *, plane: bool = False, unit: float = 1.0
) -> Geometry:
    """Trace the constants of a chain; `free`: joints whose value is an input, `plane`: the arm
    angle is. `unit`: of the chain's lengths, those of the inputs being in m."""
    tracer = Tracer()
    entries = tracer.array("T", 4, 4)
    place = Vec(*[row[3] for row in entries[:3]])
    T = Frame(Mat([row[:3] for row in entries[:3]]), place if unit == 1 else place * (1 / unit))
    given = dict(zip(free, tracer.array("free", len(free)) if free else [], strict=True))
    for j in given if unit != 1 else ():
        if chain.joints[j].sigma == PRISMATIC:
            given[j] = given[j] * (1 / unit)

    def value(x: Value) -> Scalar:
        return evaluate(x, tracer.parameter, function)

    U = T
    if chain.world is not None:
        U = before(_placement([value(x) for x in chain.world]), U)
    for screw in chain.base:
        U = before(_screw(screw, value), U)
    for screw in reversed(chain.tool):
        U = after(U, _screw(screw, value))
    joints, groups = _joints(chain, value, given)
    found = Geometry(tracer, T, U, joints, groups, given, _size(chain, value), None, unit)
    if not plane:
        return found
    psi = tracer.array("free", 1)[0]
    return replace(found, elbow=elbow(U.P, joints[2].r, joints[4].r, psi))


def arm_values(chain: Chain, held: Sequence[bool], symbols: Mapping[str, Scalar]) -> list[Scalar]:
    """The Arm of approach.py over traced scalars, with these values of the symbols."""

    def value(x: Value) -> Scalar:
        return evaluate(x, symbols.__getitem__, function)

    ends = []
    for screws in (chain.base, chain.tool):
        end = Frame(IDENTITY, Vec(0, 0, 0))
        for screw in screws:
            end = compose(end, _screw(screw, value))
        ends.append(end)
    if chain.world is not None:
        ends[0] = compose(_placement([value(x) for x in chain.world]), ends[0])
    size = _size(chain, value)
    few = chain.n - sum(map(bool, held)) < 6
    scale = function("max", size, 1)
    table: list[Scalar] = [chain.n, size, scale, 1e-6 if few else 1e-9, ACCEPT * scale, 1]
    for end in ends:
        for k in range(3):
            table += [row[k] for row in end.R.rows]
        table += end.P
    for joint, given in zip(chain.joints, held, strict=True):
        table += [*cos_sin(value(joint.alpha)), value(joint.d), value(joint.theta), value(joint.r)]
        table += [joint.sigma, int(given), *reversed(cos_sin(value(joint.beta)))]
    return table


def placed_frame(chain: Chain, q: Sequence[Scalar], tracer: Tracer) -> Frame:
    """The direct model of a chain: the pose of its frame for joint values q."""

    def value(x: Value) -> Scalar:
        return evaluate(x, tracer.parameter, function)

    placed = Frame(IDENTITY, Vec(0, 0, 0))
    if chain.world is not None:
        placed = _placement([value(x) for x in chain.world])
    for screw in chain.base:
        placed = compose(placed, _screw(screw, value))
    for joint, x in zip(chain.joints, q, strict=True):
        turn, shift = value(joint.theta), value(joint.r)
        if joint.sigma == PRISMATIC:
            shift = shift + x
        else:
            turn = turn + x
        placed = compose(placed, _screw(("x", joint.alpha, joint.d), value))
        if joint.beta != 0:
            c, s = cos_sin(value(joint.beta))
            placed = compose(placed, Frame(Mat([[c, 0, s], [0, 1, 0], [-s, 0, c]]), Vec(0, 0, 0)))
        placed = compose(placed, _turned_screw(cos_sin(turn), shift))
    for screw in chain.tool:
        placed = compose(placed, _screw(screw, value))
    return placed


def _turned_screw(pair: tuple[Scalar, Scalar], shift: Scalar) -> Frame:
    c, s = pair
    return Frame(Mat([[c, -s, 0], [s, c, 0], [0, 0, 1]]), Vec(0, 0, shift))


def _placement(z: Sequence[Scalar]) -> Frame:
    return Frame(Mat([z[0:3], z[4:7], z[8:11]]), Vec(z[3], z[7], z[11]))


def _screw(screw: Screw, value: Callable[[Value], Scalar]) -> Frame:
    axis, angle, shift = screw
    c, s = cos_sin(value(angle))
    if axis == "x":
        return Frame(Mat([[1, 0, 0], [0, c, -s], [0, s, c]]), Vec(value(shift), 0, 0))
    return _turned_screw((c, s), value(shift))


def _size(chain: Chain, value: Callable[[Value], Scalar]) -> Scalar:
    total: Scalar = 0
    shifts = [s for _, _, s in (*chain.base, *chain.tool)]
    for length in [*(x for j in chain.joints for x in (j.d, j.r)), *shifts]:
        total = total + function("abs", value(length))
    return 1 if isinstance(total, int) and total == 0 else total


def _joints(
    chain: Chain, value: Callable[[Value], Scalar], free: Mapping[int, Scalar]
) -> tuple[tuple[Joint, ...], tuple[tuple[int, ...], ...]]:
    joints: list[Joint] = []
    groups: list[list[int]] = []
    sign, previous, turn = 1, None, 0
    for j, joint in enumerate(chain.joints):
        ca, sa = cos_sin(value(joint.alpha))
        if joints and isinstance(sa, int) and sa == 0:
            sign = sign if ca == 1 else -sign
            groups[-1].append(j)
        else:
            groups.append([j])
            sign, previous, turn = 1, None, 0
        theta, r = value(joint.theta), value(joint.r)
        joints.append(Joint(joint.sigma, ca, sa, value(joint.d), theta, r, sign, previous, turn))
        if joint.sigma == PRISMATIC or j in free:
            angle = theta if joint.sigma == PRISMATIC else theta + free[j]
            turn = turn + sign * angle
        else:
            previous, turn = j, 0
    return tuple(joints), tuple(map(tuple, groups))


def placements(geo: Geometry, known: Mapping[int, Any]) -> list[Frame]:
    """The transformation of every group; known: (cos ψ, sin ψ) or r + q of solved joints."""
    return [_group(geo, group, known) for group in geo.groups]


def _group(geo: Geometry, group: Sequence[int], known: Mapping[int, Any]) -> Frame:
    first = geo.joints[group[0]]
    c, s = 1, 0
    x, y, z = 0, 0, 0
    for j in group:
        joint = geo.joints[j]
        if j != group[0]:
            x, y = x + joint.d * c, y + joint.d * s
        shift = joint.r
        if joint.sigma == PRISMATIC:
            c, s = _turned(c, s, joint.sign * joint.theta)
            shift = joint.r + geo.free[j] if j in geo.free else known.get(j, atom(j, R))
        elif j in geo.free:
            c, s = _turned(c, s, joint.sign * (joint.theta + geo.free[j]))
        else:
            c, s = known.get(j, (atom(j, C), atom(j, S)))
        z = z + joint.sign * shift
    e, ca, sa = geo.joints[group[-1]].sign, first.cos_alpha, first.sin_alpha
    turn = Mat([[c, -s * e, 0], [s, c * e, 0], [0, 0, e]])
    tilt = Mat([[1, 0, 0], [0, ca, -sa], [0, sa, ca]])
    return Frame(tilt @ turn, tilt @ Vec(x, y, z) + Vec(first.d, 0, 0))


def _turned(c: Scalar, s: Scalar, angle: Scalar) -> tuple[Scalar, Scalar]:
    """The direction (c, s) turned by an angle."""
    a, b = cos_sin(angle)
    return c * a - s * b, s * a + c * b
