"""Kernel: the general method for arms of which some joints are given, six are not.

The given joints are folded into their neighbours, then it is an arm of six joints. N is found from
the geometry.
"""

from __future__ import annotations

from ...kernel.language import Array, atan2, dot, empty, sqrt
from ..approach import Arm, Frame, Joint, advance, composed
from .polish import FOUND
from .pose import dual_quaternion, general_pose
from .records import Answers, Head, HeldRobot, Ways

PARALLEL = 1e-12  # sine of the angle between parallel axes
FAR_NORMAL = 10.0  # times the size of the arm: a common normal farther than this costs digits


def set_identity(f: Frame) -> None:
    for i in range(3):
        f.s[i] = 0.0
        f.n[i] = 0.0
        f.a[i] = 0.0
        f.p[i] = 0.0
    f.s[0] = 1.0
    f.n[1] = 1.0
    f.a[2] = 1.0


def across(joint: Joint, f: Frame) -> None:
    """From the frame before a joint to its axis: Rx Tx Ry."""
    n = joint.ca * f.n + joint.sa * f.a
    a = joint.ca * f.a - joint.sa * f.n
    f.p = f.p + joint.d * f.s
    x = joint.cb * f.s - joint.sb * a
    f.a = joint.sb * f.s + joint.cb * a
    f.s = x
    f.n = n


def leaning_step(m: Frame, six: Head, j: int) -> None:
    """`split_step` between axes that are nearly parallel: Rz, Rx Tx Ry, Rz Tz (fold.py)."""
    before = six.joints[j - 1]
    joint = six.joints[j]
    r = m.p[2] / m.a[2]
    x = m.p[0] - r * m.a[0]
    y = m.p[1] - r * m.a[1]
    d = sqrt(x * x + y * y)
    c = 1.0
    g = 0.0
    if d > 0.0:
        c = x / d
        g = y / d
    sb = c * m.a[0] + g * m.a[1]
    cb = sqrt(1.0 - sb * sb)
    ca = m.a[2] / cb
    sa = (g * m.a[0] - c * m.a[1]) / cb
    joint.ca = ca
    joint.sa = sa
    joint.d = d
    s = ca * (c * m.s[1] - g * m.s[0]) + sa * m.s[2]
    joint.theta += atan2(s, ca * (c * m.n[1] - g * m.n[0]) + sa * m.n[2])
    joint.r += r
    before.theta += atan2(g, c)
    joint.sb = sb
    joint.cb = cb


def split_step(m: Frame, six: Head, j: int, size: float) -> None:
    """Joints j - 1 and j of a placement m between their axes: Rz Tz, Rx Tx, Rz Tz."""
    before = six.joints[j - 1]
    joint = six.joints[j]
    s = sqrt(m.a[0] * m.a[0] + m.a[1] * m.a[1])
    if s < PARALLEL or abs(m.a[0] * m.p[0] + m.a[1] * m.p[1]) > FAR_NORMAL * size * s * s:
        leaning_step(m, six, j)
        return
    c = -m.a[1] / s
    g = m.a[0] / s
    r = (g * m.p[0] - c * m.p[1]) / s
    joint.ca = m.a[2]
    joint.sa = s
    joint.d = c * m.p[0] + g * m.p[1]
    joint.theta += atan2(m.s[2], m.n[2])
    joint.r += r
    before.theta += atan2(m.a[0], -m.a[1])
    before.r += m.p[2] - r * m.a[2]


def put_inverse(m: Frame, unit: float, out: Frame) -> None:
    """The inverse of a placement, lengths in units."""
    out.s[0] = m.s[0]
    out.s[1] = m.n[0]
    out.s[2] = m.a[0]
    out.n[0] = m.s[1]
    out.n[1] = m.n[1]
    out.n[2] = m.a[1]
    out.a[0] = m.s[2]
    out.a[1] = m.n[2]
    out.a[2] = m.a[2]
    out.p[0] = -dot(m.s, m.p) / unit
    out.p[1] = -dot(m.n, m.p) / unit
    out.p[2] = -dot(m.a, m.p) / unit


def fold_given(arm: Arm, free: Array, six: Head) -> None:
    """The arm of six joints."""
    m = empty(Frame)
    whole = empty(Frame)
    unit = arm.size
    moving = 0
    given = 0
    m.s = arm.base.s
    m.n = arm.base.n
    m.a = arm.base.a
    m.p = arm.base.p
    for j in range(arm.count):
        joint = arm.joints[j]
        if joint.held:
            advance(joint, free[given], m)
            given += 1
            continue
        across(joint, m)
        own = six.joints[moving]
        own.ca = 1.0
        own.sa = 0.0
        own.d = 0.0
        own.theta = joint.theta
        own.r = joint.r
        own.slides = joint.slides
        own.held = False
        own.sb = 0.0
        own.cb = 1.0
        if moving == 0:
            put_inverse(m, unit, six.before)
        else:
            split_step(m, six, moving, unit)
        set_identity(m)
        moving += 1
    composed(m, arm.tool, whole)
    put_inverse(whole, unit, six.after)
    for j in range(6):
        six.joints[j].d /= unit
        six.joints[j].r /= unit
    six.unit = unit
    six.count = 6
    six.size = 1.0
    six.scale = 1.0
    six.margin = 1e-9
    six.accepted = FOUND
    six.weight = 1.0
    set_identity(six.base)
    set_identity(six.tool)


def step_quaternions(six: Head, g: Array) -> None:
    """g_1 ... g_6: Rx Tx Ry Rz Tz of each joint, as dual quaternions."""
    m = empty(Frame)
    tau = empty(8)
    for j in range(6):
        set_identity(m)
        advance(six.joints[j], 0.0, m)
        dual_quaternion(m, tau)
        for k in range(8):
            g[8 * j + k] = tau[k]


def spread(arm: Arm, free: Array, wide: Array, count: int, q: Array) -> None:
    """Rows of all joints from rows of the six that were solved for."""
    for k in range(count):
        moving = 0
        given = 0
        for j in range(arm.count):
            if arm.joints[j].held:
                q[arm.count * k + j] = free[given]
                given += 1
            else:
                q[arm.count * k + j] = wide[6 * k + moving]
                moving += 1


def held_pose(T: Array, free: Array, arm: Arm, ways: Ways, q: Array, info: Answers) -> None:
    """All configurations of a pose T (4x4, row by row) for the given values of the given joints, as
    general_pose gives them: q is 16 rows of all joints."""
    six = empty(HeldRobot)
    g = empty(48)
    wide = empty(96)
    fold_given(arm, free, six)
    step_quaternions(six, g)
    six.ways = ways.count
    for f in range(ways.count):
        form = six.forms[f]
        for k in range(48):
            form.W[k] = g[k]
        form.way = ways.rows[f]
    general_pose(T, six, wide, info)
    spread(arm, free, wide, info.count, q)
