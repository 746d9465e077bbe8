"""Kernels: fewer than six joints by the general method, virtual joints added (extended.py).

The answers of the longer chain whose virtual joints are at zero are made exact on the arm itself.
Where the geometry has symbols, the longer chain is made from the table of the arm; which
eliminations suit it was tried on sample values.
"""

from __future__ import annotations

from ...kernel.language import Array, Vector, cos, dot, empty, sin, zeros
from ..approach import Arm, Frame, SixArm, advance, frame_of
from ..settle import Look, begin, conclude, settle
from ..solutions import Solutions
from .held_kernel import held_pose
from .pose import general_pose
from .records import MOST, Answers, Longer, Robot

ZERO = 1e-5  # what a virtual joint may be before polishing; more where answers may miss the pose


def of_the_arm(
    T: Array, arm: Arm, wide: Array, answers: Answers, q: Array, notes: Solutions
) -> None:
    """Answers (16, 6) of the longer chain -> those of the arm, q (16, n)."""
    one = empty(80)
    margin = empty(MOST)
    residual = empty(MOST)
    aim = empty(Frame)
    look = empty(Look)
    joints = arm.count
    some = 0
    for k in range(answers.count):
        off = 0.0
        for j in range(joints, 6):
            off = max(off, abs(wide[6 * k + j]))
        if off < max(ZERO, 1e3 * arm.accepted):
            for j in range(joints):
                one[joints * some + j] = wide[6 * k + j]
            margin[some] = 1.0
            residual[some] = 1e-4 * arm.scale  # to be made exact
            some += 1
    frame_of(T, aim)
    begin(MOST, look, notes)
    settle(arm, aim, one, margin, residual, some, 0.0, look, q, notes)
    conclude(arm, aim, False, look, q, notes)
    notes.vanishes = not answers.sound


def few_pose(T: Array, robot: Robot, arm: Arm, q: Array, notes: Solutions) -> None:
    """All configurations of a pose T (4x4, row by row) of an arm of three to five joints: q is 16
    rows of its joints. robot: the table of the longer chain."""
    wide = empty(96)
    answers = empty(Answers)
    general_pose(T, robot, wide, answers)
    of_the_arm(T, arm, wide, answers, q, notes)


def few_symbols_pose(T: Array, robot: Longer, arm: Arm, q: Array, notes: Solutions) -> None:
    """`few_pose` for a geometry with symbols: the longer chain is made here."""
    wide = empty(96)
    free = zeros(1)
    answers = empty(Answers)
    six = empty(SixArm)
    lengthened(arm, robot, six)
    held_pose(T, free, six, robot.ways, wide, answers)
    of_the_arm(T, arm, wide, answers, q, notes)


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
