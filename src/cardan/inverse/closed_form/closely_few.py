"""Kernels for printed code: a close look at poses of three to five joints, the general method too.

Poses near those of an arm with few joints are out of its reach, so an equation that vanishes hides
more than it does for six joints; the general method with virtual joints (extended.py) is asked
there, as `solve` does. Where the geometry has symbols, the longer chain is made from the table of
the arm; which eliminations suit it was tried on sample values.
"""

from __future__ import annotations

from ...kernel.language import Array, Vector, cos, dot, empty, record, sin
from ..approach import Arm, SixArm
from ..general.few import few_pose, few_slides_pose, of_the_arm
from ..general.held_kernel import Ways, append_screw, held_pose, set_identity
from .closely import closely

__all__ = ["closely_few", "closely_slides", "closely_symbols"]


@record()
class Virtual:
    """A joint that is added: lengths in units of the arm's size."""

    alpha: float
    d: float
    theta: float
    r: float


@record(joints=3)
class Longer:
    """What makes the longer chain of an arm: virtual joints, and the formulations."""

    joints: list[Virtual]
    ways: Ways


def hidden(state: Array, shape: Array) -> int:
    """Is the general method to be asked? It is once, where an equation vanishes."""
    if shape[2] > 0.5 and state[1] + state[2] > 0.0:
        return 1
    return 0


def closely_few(
    T: Array, q: Array, margin: Array, residual: Array, role: Array, arm: Arm, robot: Array,
    shape: Array, found: Array, error: Array, lost: Array, times: Array, state: Array, near: Array,
    others: Array,
) -> None:  # fmt: skip
    """`closely`, and state[3] configurations `others` of the general method, to be made exact."""
    info = empty(64)
    closely(T, q, margin, residual, role, arm, shape, found, error, lost, times, state, near)
    state[3] = 0.0
    ask = hidden(state, shape)
    if ask == 1:
        few_pose(T, robot, arm, others, info)
        state[3] = info[0]


def closely_slides(
    T: Array, q: Array, margin: Array, residual: Array, role: Array, arm: Arm, robot: Array,
    shape: Array, found: Array, error: Array, lost: Array, times: Array, state: Array, near: Array,
    others: Array,
) -> None:  # fmt: skip
    """The same where three joints slide."""
    info = empty(64)
    closely(T, q, margin, residual, role, arm, shape, found, error, lost, times, state, near)
    state[3] = 0.0
    ask = hidden(state, shape)
    if ask == 1:
        few_slides_pose(T, robot, arm, others, info)
        state[3] = info[0]


def lengthened(arm: Arm, longer: Longer, six: SixArm) -> None:
    """The arm with virtual joints at its end."""
    m = empty(12)
    six.count = 6
    six.size = arm.size
    six.scale = arm.scale
    six.margin = arm.margin
    six.accepted = arm.accepted
    six.weight = arm.weight
    six.base = arm.base
    for j in range(arm.count):
        six.joints[j] = arm.joints[j]
    set_identity(m)
    for j in range(arm.count, 6):
        virtual = longer.joints[j - arm.count]
        joint = six.joints[j]
        joint.ca = cos(virtual.alpha)
        joint.sa = sin(virtual.alpha)
        joint.d = arm.size * virtual.d
        joint.theta = virtual.theta
        joint.r = arm.size * virtual.r
        joint.slides = False
        joint.held = False
        joint.sb = 0.0
        joint.cb = 1.0
        append_screw(m, 0, joint.ca, joint.sa, joint.d)
        append_screw(m, 2, cos(virtual.theta), sin(virtual.theta), joint.r)
    x = empty(Vector)
    y = empty(Vector)
    z = empty(Vector)
    p = empty(Vector)
    for i in range(3):
        x[i] = m[4 * i]
        y[i] = m[4 * i + 1]
        z[i] = m[4 * i + 2]
        p[i] = m[4 * i + 3]
    turned_back(x, y, z, arm.tool.s, six.tool.s)
    turned_back(x, y, z, arm.tool.n, six.tool.n)
    turned_back(x, y, z, arm.tool.a, six.tool.a)
    p = arm.tool.p - p
    turned_back(x, y, z, p, six.tool.p)


def turned_back(x: Vector, y: Vector, z: Vector, v: Vector, out: Vector) -> None:
    """The components of v along three axes."""
    out[0] = dot(x, v)
    out[1] = dot(y, v)
    out[2] = dot(z, v)


def closely_symbols(
    T: Array, q: Array, margin: Array, residual: Array, role: Array, arm: Arm, robot: Longer,
    shape: Array, found: Array, error: Array, lost: Array, times: Array, state: Array, near: Array,
    others: Array,
) -> None:  # fmt: skip
    """`closely_few` for a geometry with symbols: the longer chain is made here."""
    info = empty(64)
    notes = empty(64)
    free = empty(1)
    wide = empty(96)
    six = empty(SixArm)
    closely(T, q, margin, residual, role, arm, shape, found, error, lost, times, state, near)
    state[3] = 0.0
    ask = hidden(state, shape)
    if ask == 1:
        lengthened(arm, robot, six)
        free[0] = 0.0
        held_pose(T, free, six, robot.ways, wide, notes)
        of_the_arm(T, arm, wide, notes, others, info)
        state[3] = info[0]
