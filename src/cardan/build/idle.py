"""Idle joints of closed loops that no torque turns: the spin of a leg between two balls.

No loop equation sees an idle joint, so its row of G is its own unit vector, and its equation of
motion is that of the tree,

    0 = A_ia qdd_tr + A_ii qdd_i + H_i            qdd_i = -A_ii^-1 tau_i(qdd_i = 0)

With it, tau_tr gains A_tr,i qdd_i before it is projected, [K10] (55). Held joints need none of it:
their balls give whatever torque keeps them at rest, which does no work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..algebra.solve import solve_symmetric
from ..algebra.vector import dot
from ..describe.robot import INERTIA, Robot
from ..errors import ModelError
from ..models.friction import COEFFICIENTS

Scalar = Any
Matrix = Sequence[Sequence[Scalar]]


def spun(
    moving: Sequence[int], idle: Sequence[int], A: Matrix, tau: Mapping[int, Scalar]
) -> tuple[dict[int, Scalar], list[Scalar]]:
    """(tau_tr, qdd_i) when the idle joints are free; A and tau of `moving`, tau for qdd_i = 0."""
    at = [moving.index(j) for j in idle]
    spin = solve_symmetric([[A[r][c] for c in at] for r in at], [-tau[j] for j in idle])
    torques = dict(tau)
    for k, j in enumerate(moving):
        for c, x in zip(at, spin, strict=True):
            torques[j] = torques[j] + A[k][c] * x
    return torques, spin


def widened(
    A_c: Matrix, A: Matrix, G: Matrix, moving: Sequence[int], idle: Sequence[int]
) -> list[list[Scalar]]:
    """The inertia matrix of the active and the idle joints: A_c, G^T A_tr,i and A_ii."""
    at = [moving.index(j) for j in idle]
    size = len(A_c)
    rows = [[*row, *([0] * len(at))] for row in A_c]
    for c in at:
        column = [row[c] for row in A]
        coupled = [dot(by_rate, column) for by_rate in zip(*G, strict=True)]
        rows.append([*coupled, *(A[c][k] for k in at)])
    for r in range(size):
        for c in range(len(at)):
            rows[r][size + c] = rows[size + c][r]
    return rows


def refuse_unmoved(robot: Robot, idle: Sequence[int]) -> None:
    """Free spins need their inertia, and cut joints that do not rub."""
    for loop in robot.loops:
        drive = (getattr(loop.cut, key) for key in ("IA", *COEFFICIENTS))
        if any(not (isinstance(x, int) and x == 0) for x in drive):
            raise ModelError(
                f"idle='free' of '{robot.name}': the cut joint of loop '{loop.name}' has a rotor or"
                " friction of its own; use idle='held', or cut the loop elsewhere"
            )
    for j in idle:
        if not _has_inertia(robot, j):
            raise ModelError(
                f"idle='free' of '{robot.name}': nothing that joint '{robot.joints[j - 1].name}'"
                " turns has a mass, so its acceleration is undetermined; use idle='held'"
            )


def _has_inertia(robot: Robot, j: int) -> bool:
    carried = {j}
    for k, joint in enumerate(robot.joints, 1):
        if joint.antecedent in carried:
            carried.add(k)
    own = robot.joints[j - 1].IA
    parts = [getattr(robot.links[k - 1], key) for k in carried for key in INERTIA]
    return any(not (isinstance(x, int) and x == 0) for x in (own, *parts))
