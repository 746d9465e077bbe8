"""A chain whose rounded angles and lengths are made the exact ones they stand for.

A file that says 1.5708 or 1.570796327 means a right angle, but axes that should meet or be parallel
do so nearly only, and the equations that need it are lost. Between two joints stands a placement

    K = Rot(z, gamma) Tran(z, b)  Rot(x, alpha) Tran(x, d)  Rot(z, theta) Tran(z, r)

written by the common normal of the two axes. It is written anew for axes that are parallel when
they nearly are (their normal may be anywhere: far away, for the rounded ones), with angles that are
multiples of pi/12 and lengths that are zero, or equal to others, when they nearly are. What comes
out is a chain nearby, good for deriving equations; answers are made exact on the chain itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import atan2, cos, hypot, pi, remainder, sin
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...describe.frames import Six, decimal_value, multiple_of_pi, score
from ...describe.robot import PRISMATIC
from ...describe.values.expression import Value
from ...exact import exact
from ..chain.chain import Chain, NumericChain
from ..chain.fold import Screw, shortened
from ..general.kept import sample_values

Array = NDArray[np.float64]
TOLERANCES = (1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)  # rad, and over the robot's size
SAME = 1e-14  # change of a chain that is none
STEP = pi / 12
SAMPLES = 8


@dataclass(frozen=True)
class Snapped:
    """A chain nearby, and how far it places its frame from where it is: rad, and m."""

    chain: Chain
    turn: float
    shift: float


def snapped(chain: Chain) -> list[Snapped]:
    """The chains that the tolerances lead to, the simplest first, and of those that are built alike
    the nearest; none where no value is near an exact one that it is not. Of a geometry with symbols
    only angles are looked at."""
    found: dict[Any, Snapped] = {}
    values = sample_values(chain)
    numeric = chain.numeric(values)
    for tolerance in TOLERANCES:
        if chain.parameters:
            other = _angles_only(chain, tolerance)
        else:
            other = _chain(chain, numeric, tolerance)
        turn, shift = _change(numeric, other.numeric(values))
        if max(turn, shift / numeric.span) > SAME:
            found.setdefault(_build(other), Snapped(other, turn, shift))
    return list(found.values())[::-1]


def _build(chain: Chain) -> Any:
    """What makes two chains built alike: exact angles, and lengths that are zero."""
    angles = [tuple(_exact(x) for x in (j.alpha, j.theta)) for j in chain.joints]
    return tuple(angles), tuple((j.d == 0, j.r == 0) for j in chain.joints)


def _exact(angle: Value) -> Any:
    return str(angle) if "pi" in str(angle) or angle == 0 else None


def _change(one: NumericChain, other: NumericChain) -> tuple[float, float]:
    """How far apart two chains place their frames, at random configurations: rad, m."""
    q = np.random.default_rng(3).uniform(-pi, pi, (SAMPLES, one.n))
    q[:, one.sigma == PRISMATIC] *= one.span / pi
    gap = np.abs(one.pose(q) - other.pose(q)).max(0)
    return float(gap[:3, :3].max()), float(gap[:3, 3].max())


def _angles_only(chain: Chain, tolerance: float) -> Chain:
    joints = tuple(
        replace(
            joint,
            alpha=multiple_of_pi(joint.alpha, tolerance),
            theta=multiple_of_pi(joint.theta, tolerance),
        )
        for joint in chain.joints
    )
    return replace(chain, joints=joints)


def _chain(chain: Chain, numeric: NumericChain, tolerance: float) -> Chain:
    n, sigma, size = numeric.n, numeric.sigma, numeric.span
    first, *between, last = numeric.placements
    steps = [_six(K, size, tolerance) for K in between]
    turn = [0.0] * n
    shift = [0.0] * n
    for j, step in enumerate(steps):
        turn[j] += step[0]
        shift[j] += step[1]
        turn[j + 1] += step[4]
        shift[j + 1] += step[5]
    # the last joint's own turn stays its own: what follows it is the tool's
    turn[-1] += float(numeric.theta[-1])
    ahead = (np.linalg.inv(numeric.base) @ first)[2, 3]
    back = (last @ np.linalg.inv(numeric.tool))[2, 3]
    base: list[Screw] = [*chain.base, ("z", 0, decimal_value(float(ahead), 1e-15 * size))]
    tool: list[Screw] = [("z", 0, decimal_value(float(back), 1e-15 * size)), *chain.tool]
    alpha: list[Value] = [0, *(_angle_value(step[2], tolerance) for step in steps)]
    theta: list[Value] = [_angle_value(x, tolerance) for x in turn]
    equal = _equal([0.0, *(step[3] for step in steps), *shift], size * tolerance)
    lengths = [_length_value(x, size) for x in equal]
    across, along = lengths[:n], _summed(lengths[n:], alpha, size * tolerance)
    for j, word, at in ((0, base, len(base)), (n - 1, tool, 0)):
        # what commutes with the motion of the first and of the last joint is not theirs
        if sigma[j] == PRISMATIC:
            word.insert(at, ("z", theta[j], 0))
            theta[j] = 0
        else:
            word.insert(at, ("z", 0, along[j]))
            along[j] = 0
    joints = tuple(
        replace(joint, alpha=alpha[j], d=across[j], theta=theta[j], r=along[j], beta=0)
        for j, joint in enumerate(chain.joints)
    )
    ends = [tuple(shortened(_tidy(word, tolerance))) for word in (base, tool)]
    return replace(chain, joints=joints, base=ends[0], tool=ends[1], plain=None)


def _tidy(word: Sequence[Screw], tolerance: float) -> list[Screw]:
    return [(axis, multiple_of_pi(angle, tolerance), shift) for axis, angle, shift in word]


def _six(K: Array, size: float, tolerance: float) -> Six:
    """The six parameters of a placement, of the set with most zeros."""
    R, P = K[:3, :3], K[:3, 3]
    if hypot(R[0, 2], R[1, 2]) <= tolerance:
        return min(_parallel(R, P, size, tolerance), key=score)
    senses = (_crossed(R, P, sense, size, tolerance) for sense in (1.0, -1.0))
    return min(senses, key=score)


def _parallel(R: Array, P: Array, size: float, tolerance: float) -> list[Six]:
    up = 1.0 if R[2, 2] > 0 else -1.0
    alpha = 0.0 if up > 0 else pi
    turn, r = atan2(R[1, 0], R[0, 0]), _zero(up * P[2], size * tolerance)
    d = hypot(P[0], P[1])
    if d <= size * tolerance:
        return [(0.0, 0.0, alpha, 0.0, _near(up * turn, tolerance), r)]
    gamma = atan2(P[1], P[0])
    return [
        (_near(g, tolerance), 0.0, alpha, length, _near(up * (turn - g), tolerance), r)
        for g, length in ((gamma, d), (gamma + pi, -d))
    ]


def _crossed(R: Array, P: Array, sense: float, size: float, tolerance: float) -> Six:
    gamma = _near(atan2(sense * R[0, 2], -sense * R[1, 2]), tolerance)
    c, s = cos(gamma), sin(gamma)
    alpha = _near(atan2(s * R[0, 2] - c * R[1, 2], R[2, 2]), tolerance)
    theta = _near(atan2(-c * R[0, 1] - s * R[1, 1], c * R[0, 0] + s * R[1, 0]), tolerance)
    r = (s * P[0] - c * P[1]) / sin(alpha)
    b = P[2] - r * cos(alpha)
    b, d, r = (_zero(x, size * tolerance) for x in (b, c * P[0] + s * P[1], r))
    return gamma, b, alpha, d, theta, r


def _near(x: float, tolerance: float) -> float:
    """The angle in (-π, π], a multiple of π/12 when it is near one."""
    x = remainder(x, 2 * pi)
    k = round(x / STEP)
    if abs(x - k * STEP) > tolerance:
        return x
    return pi if k == -12 else k * STEP


def _zero(x: Any, tolerance: float) -> float:
    return 0.0 if abs(x) <= tolerance else float(x)


def _angle_value(x: float, tolerance: float) -> Value:
    x = remainder(x, 2 * pi)
    k = round(x / STEP)
    if abs(x - k * STEP) <= tolerance:
        return cast(Value, exact(0, Fraction(12 if k == -12 else k, 12)))
    return decimal_value(x, 1e-15)


def _length_value(x: float, size: float) -> Value:
    return 0 if x == 0 else decimal_value(float(x), 1e-15 * size)


def _equal(lengths: Sequence[float], tolerance: float) -> list[float]:
    """Lengths that are nearly equal, up to their signs, as the first of them; tiny ones as zero."""
    taken: list[float] = []
    found = []
    for x in lengths:
        if abs(x) <= tolerance:
            found.append(0.0)
            continue
        near = next((y for y in taken if abs(abs(x) - y) <= tolerance), None)
        if near is None:
            near = abs(x)
            taken.append(near)
        found.append(near if x > 0 else -near)
    return found


def _summed(r: list[Value], alpha: Sequence[Value], tolerance: float) -> list[Value]:
    """Shifts along parallel axes that nearly cancel, made to cancel: only their sum counts."""
    r, sign, first = list(r), 1, 0
    signs = [1]
    for j in range(1, len(r) + 1):
        parallel = j < len(r) and float(cast(Any, alpha[j])) in (0.0, pi)
        if not parallel:
            total = cast(Any, sum((s * x for s, x in zip(signs, r[first:j], strict=True)), 0))
            rest = [k for k in range(first, j) if r[k] != 0]
            if rest and total != 0 and abs(float(total)) <= tolerance:
                r[rest[-1]] = r[rest[-1]] - signs[rest[-1] - first] * total
            first, sign, signs = j, 1, []
        else:
            sign = sign if float(cast(Any, alpha[j])) == 0.0 else -sign
        signs.append(sign)
    return r
