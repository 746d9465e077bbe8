"""Kernel: the general method for arms of which some joints are given, six are not.

The given joints are folded into their neighbours, then it is an arm of six joints. Of each
formulation its last numbers (pose.py) are known; N is found from the geometry.
"""

from __future__ import annotations

from ...kernel.language import OPEN, Array, atan2, cos, empty, record, sin, sqrt
from ..approach import Arm, Frame
from .polish import TILTS
from .pose import FORM, HEAD, dual_quaternion, general_pose

__all__ = ["MOST_FORMS", "TAIL", "Ways", "append_screw", "held_pose", "set_identity"]

TAIL = 12  # numbers of a formulation in the table
MOST_FORMS = 8
PARALLEL = 1e-12  # sine of the angle between parallel axes
FAR_NORMAL = 10.0  # times the size of the arm: a common normal farther than this costs digits


@record(tails=OPEN)
class Ways:
    """Formulations without the geometry: TAIL numbers of each."""

    count: int
    tails: Array


def append_screw(m: Array, axis: int, c: float, s: float, shift: float) -> None:
    """m = m Rot(axis) Tran(axis), m (3, 4); axis 0 x, 1 y, 2 z."""
    u = (axis + 1) % 3
    v = (axis + 2) % 3
    for i in range(3):
        x = m[4 * i + u]
        y = m[4 * i + v]
        m[4 * i + 3] += shift * m[4 * i + axis]
        m[4 * i + u] = c * x + s * y
        m[4 * i + v] = c * y - s * x


def set_identity(m: Array) -> None:
    for k in range(12):
        m[k] = 0.0
    for i in range(3):
        m[5 * i] = 1.0


def set_placement(f: Frame, m: Array) -> None:
    """The matrix (3, 4) of a frame."""
    for i in range(3):
        m[4 * i] = f.s[i]
        m[4 * i + 1] = f.n[i]
        m[4 * i + 2] = f.a[i]
        m[4 * i + 3] = f.p[i]


def leaning_step(m: Array, six: Array, j: int) -> None:
    """The same between axes that are nearly parallel: Rz, Rx Tx Ry, Rz Tz (fold.py)."""
    r = m[11] / m[10]
    x = m[3] - r * m[2]
    y = m[7] - r * m[6]
    d = sqrt(x * x + y * y)
    c = 1.0
    g = 0.0
    if d > 0.0:
        c = x / d
        g = y / d
    sb = c * m[2] + g * m[6]
    cb = sqrt(1.0 - sb * sb)
    ca = m[10] / cb
    sa = (g * m[2] - c * m[6]) / cb
    six[6 * j] = ca
    six[6 * j + 1] = sa
    six[6 * j + 2] = d
    s = ca * (c * m[4] - g * m[0]) + sa * m[8]
    six[6 * j + 3] += atan2(s, ca * (c * m[5] - g * m[1]) + sa * m[9])
    six[6 * j + 4] += r
    six[6 * j - 3] += atan2(g, c)
    six[TILTS + 2 * j] = sb
    six[TILTS + 2 * j + 1] = cb


def split_step(m: Array, six: Array, j: int, size: float) -> None:
    """Rows j - 1 and j of a placement m between their axes: Rz Tz, Rx Tx, Rz Tz."""
    s = sqrt(m[2] * m[2] + m[6] * m[6])
    if s < PARALLEL or abs(m[2] * m[3] + m[6] * m[7]) > FAR_NORMAL * size * s * s:
        leaning_step(m, six, j)
        return
    c = -m[6] / s
    g = m[2] / s
    r = (g * m[3] - c * m[7]) / s
    six[6 * j] = m[10]
    six[6 * j + 1] = s
    six[6 * j + 2] = c * m[3] + g * m[7]
    six[6 * j + 3] += atan2(m[8], m[9])
    six[6 * j + 4] += r
    six[6 * j - 3] += atan2(m[2], -m[6])
    six[6 * j - 2] += m[11] - r * m[10]


def put_inverse(m: Array, unit: float, six: Array, at: int) -> None:
    """The inverse of a placement, lengths in units."""
    for i in range(3):
        total = 0.0
        for k in range(3):
            six[at + 4 * i + k] = m[4 * k + i]
            total += m[4 * k + i] * m[4 * k + 3]
        six[at + 4 * i + 3] = -total / unit


def fold_given(arm: Arm, free: Array, six: Array) -> None:
    """The head of the table of six joints."""
    m = empty(12)
    set_placement(arm.base, m)
    unit = arm.size
    moving = 0
    given = 0
    for j in range(arm.count):
        joint = arm.joints[j]
        append_screw(m, 0, joint.ca, joint.sa, joint.d)
        append_screw(m, 1, joint.cb, joint.sb, 0.0)
        theta = joint.theta
        r = joint.r
        if joint.held:
            if joint.slides:
                r += free[given]
            else:
                theta += free[given]
            given += 1
            append_screw(m, 2, cos(theta), sin(theta), r)
            continue
        six[6 * moving] = 1.0
        six[6 * moving + 1] = 0.0
        six[6 * moving + 2] = 0.0
        six[6 * moving + 3] = theta
        six[6 * moving + 4] = r
        six[6 * moving + 5] = float(joint.slides)
        six[TILTS + 2 * moving] = 0.0
        six[TILTS + 2 * moving + 1] = 1.0
        if moving == 0:
            put_inverse(m, unit, six, 36)
        else:
            split_step(m, six, moving, unit)
        set_identity(m)
        moving += 1
    tool = empty(12)
    set_placement(arm.tool, tool)
    for i in range(3):
        x = m[4 * i]
        y = m[4 * i + 1]
        z = m[4 * i + 2]
        for k in range(4):
            total = x * tool[k] + y * tool[4 + k] + z * tool[8 + k]
            if k == 3:
                total += m[4 * i + 3]
            m[4 * i + k] = total
    put_inverse(m, unit, six, 48)
    for j in range(6):
        six[6 * j + 2] /= unit
        six[6 * j + 4] /= unit
    six[61] = unit


def step_quaternions(six: Array, g: Array) -> None:
    """g_1 ... g_6: Rx Tx Ry Rz Tz of each row, as dual quaternions."""
    m = empty(12)
    tau = empty(8)
    for j in range(6):
        set_identity(m)
        append_screw(m, 0, six[6 * j], six[6 * j + 1], six[6 * j + 2])
        append_screw(m, 1, six[TILTS + 2 * j + 1], six[TILTS + 2 * j], 0.0)
        append_screw(m, 2, cos(six[6 * j + 3]), sin(six[6 * j + 3]), six[6 * j + 4])
        dual_quaternion(m, tau)
        for k in range(8):
            g[8 * j + k] = tau[k]


def spread(arm: Arm, free: Array, wide: Array, count: int, q: Array) -> None:
    """Rows of all joints from rows of the six that were solved for."""
    joints = arm.count
    for k in range(count):
        moving = 0
        given = 0
        for j in range(joints):
            if arm.joints[j].held:
                q[joints * k + j] = free[given]
                given += 1
            else:
                q[joints * k + j] = wide[6 * k + moving]
                moving += 1


def held_pose(T: Array, free: Array, arm: Arm, ways: Ways, q: Array, info: Array) -> None:
    """All configurations of a pose T (4x4, row by row) for the given values of the given joints, as
    general_pose gives them: q is 16 rows of all joints."""
    six = empty(4778)  # HEAD + MOST_FORMS * FORM
    g = empty(48)
    wide = empty(96)
    fold_given(arm, free, six)
    step_quaternions(six, g)
    six[60] = float(ways.count)
    for f in range(ways.count):
        first = HEAD + FORM * f
        for k in range(48):
            six[first + k] = g[k]
        for k in range(TAIL):
            six[first + 576 + k] = ways.tails[TAIL * f + k]
    general_pose(T, six, wide, info)
    count = int(info[0])
    spread(arm, free, wide, count, q)
