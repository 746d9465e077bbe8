"""Kernels for printed code: a close look at poses of three to five joints, the general method too.

Poses near those of an arm with few joints are out of its reach, so an equation that vanishes hides
more than it does for six joints; the general method with virtual joints (extended.py) is asked
there, as `solve` does. Where the geometry has symbols, the longer chain is made from the table of
the arm; which eliminations suit it was tried on sample values.
"""

from __future__ import annotations

from ...kernel.language import Array, Vector, cos, dot, empty, record, sin, zeros
from ..approach import Arm, Frame, SixArm, advance
from ..general.few import few_pose, few_slides_pose, of_the_arm
from ..general.held_kernel import held_pose
from ..general.records import Answers, Robot, SlidingRobot, Ways
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


def hidden(state: Array, shape: Array) -> bool:
    """Is the general method to be asked? It is once, where an equation vanishes."""
    return shape[2] > 0.5 and state[1] + state[2] > 0.0


def closely_few(
    T: Array, q: Array, margin: Array, residual: Array, role: Array, arm: Arm, robot: Robot,
    shape: Array, found: Array, error: Array, lost: Array, times: Array, state: Array, near: Array,
    others: Array,
) -> None:  # fmt: skip
    """`closely`, and state[3] configurations `others` of the general method, to be made exact."""
    info = empty(Answers)
    closely(T, q, margin, residual, role, arm, shape, found, error, lost, times, state, near)
    state[3] = 0.0
    ask = hidden(state, shape)
    if ask:
        few_pose(T, robot, arm, others, info)
        state[3] = float(info.count)


def closely_slides(
    T: Array, q: Array, margin: Array, residual: Array, role: Array, arm: Arm, robot: SlidingRobot,
    shape: Array, found: Array, error: Array, lost: Array, times: Array, state: Array, near: Array,
    others: Array,
) -> None:  # fmt: skip
    """The same where three joints slide."""
    info = empty(Answers)
    closely(T, q, margin, residual, role, arm, shape, found, error, lost, times, state, near)
    state[3] = 0.0
    ask = hidden(state, shape)
    if ask:
        few_slides_pose(T, robot, arm, others, info)
        state[3] = float(info.count)


def lengthened(arm: Arm, longer: Longer, six: SixArm) -> None:
    """The arm with virtual joints at its end."""
    m = zeros(Frame)
    six.count = 6
    six.size = arm.size
    six.scale = arm.scale
    six.margin = arm.margin
    six.accepted = arm.accepted
    six.weight = arm.weight
    six.base = arm.base
    for j in range(arm.count):
        six.joints[j] = arm.joints[j]
    m.s[0] = 1.0
    m.n[1] = 1.0
    m.a[2] = 1.0
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
        advance(joint, 0.0, m)
    p = arm.tool.p - m.p
    seen_from(m, arm.tool.s, six.tool.s)
    seen_from(m, arm.tool.n, six.tool.n)
    seen_from(m, arm.tool.a, six.tool.a)
    seen_from(m, p, six.tool.p)


def seen_from(f: Frame, v: Vector, out: Vector) -> None:
    """The components of v along the axes of a frame."""
    out[0] = dot(f.s, v)
    out[1] = dot(f.n, v)
    out[2] = dot(f.a, v)


def closely_symbols(
    T: Array, q: Array, margin: Array, residual: Array, role: Array, arm: Arm, robot: Longer,
    shape: Array, found: Array, error: Array, lost: Array, times: Array, state: Array, near: Array,
    others: Array,
) -> None:  # fmt: skip
    """`closely_few` for a geometry with symbols: the longer chain is made here."""
    info = empty(Answers)
    notes = empty(Answers)
    free = empty(1)
    wide = empty(96)
    six = empty(SixArm)
    closely(T, q, margin, residual, role, arm, shape, found, error, lost, times, state, near)
    state[3] = 0.0
    ask = hidden(state, shape)
    if ask:
        lengthened(arm, robot, six)
        free[0] = 0.0
        held_pose(T, free, six, robot.ways, wide, notes)
        of_the_arm(T, arm, wide, notes, others, info)
        state[3] = float(info.count)
