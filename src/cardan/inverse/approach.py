"""Kernels that bring a configuration to a pose: Newton's method on the direct model.

An arm is a record: what is common to it, the placements before and after its joints, the joints. At
most seven of them are not held. A pose is a Frame.
"""

from __future__ import annotations

from ..kernel.language import (
    OPEN,
    Array,
    Vector,
    cos,
    cross,
    empty,
    record,
    sin,
)
from ..kernel.linalg import least_squares

WRONG = 1e-2  # residual of a branch that is not a solution at all, relative to the arm's scale
FINEST = 2e-15  # residual that no step makes smaller, in the same way
ROUNDS = 40
JOINTS = 32  # joints of an arm
MOVING = 7  # of them not held


@record()
class Frame:
    """A placement: its axes and its origin, the columns of the matrix."""

    s: Vector
    n: Vector
    a: Vector
    p: Vector


@record()
class Joint:
    """Rx(alpha) Tx(d) Ry(beta) Rz(theta) Tz(r): cosine and sine of alpha, d, theta, r."""

    ca: float
    sa: float
    d: float
    theta: float
    r: float
    slides: bool
    held: bool  # its value is given
    sb: float  # of beta
    cb: float


@record(joints=OPEN)
class Arm:
    """A chain of joints."""

    count: int
    size: float  # the unit of lengths
    scale: float  # of errors
    margin: float  # of what may be a multiple root
    accepted: float  # residual of an answer
    weight: (
        float  # of a length in a residual: 1, unless the robot is far smaller or larger than 1 m
    )
    base: Frame
    tool: Frame
    joints: list[Joint]


@record(joints=6)
class SixArm(Arm):
    """An arm of six joints."""


@record()
class Axis:
    """The axis of a joint that is not held."""

    direction: Vector
    origin: Vector
    slides: bool


@record(rows=MOVING)
class Axes:
    """The axes of the joints that are not held."""

    count: int
    rows: list[Axis]


def frame_of(T: Array, f: Frame) -> None:
    """The columns of a matrix T, row by row."""
    for i in range(3):
        f.s[i] = T[4 * i]
        f.n[i] = T[4 * i + 1]
        f.a[i] = T[4 * i + 2]
        f.p[i] = T[4 * i + 3]


def advance(joint: Joint, q: float, f: Frame) -> None:
    """From the frame before a joint to the one after it."""
    theta = joint.theta if joint.slides else joint.theta + q
    r = joint.r + q if joint.slides else joint.r
    c = cos(theta)
    s = sin(theta)
    n = joint.ca * f.n + joint.sa * f.a
    a = joint.ca * f.a - joint.sa * f.n
    shift = joint.d * f.s
    if joint.sb != 0.0:
        x = joint.cb * f.s - joint.sb * a
        a = joint.sb * f.s + joint.cb * a
        f.s = x
    f.p = f.p + (shift + r * a)
    turned = c * f.s + s * n
    f.n = c * n - s * f.s
    f.s = turned
    f.a = a


def place(arm: Arm, q: Array, axes: Axes, f: Frame) -> None:
    """The frame after the joints for q; the axes of the joints that are not held."""
    f.s = arm.base.s
    f.n = arm.base.n
    f.a = arm.base.a
    f.p = arm.base.p
    moving = 0
    for j in range(arm.count):
        joint = arm.joints[j]
        advance(joint, q[j], f)
        if not joint.held:
            axis = axes.rows[moving]
            axis.direction = f.a
            axis.origin = f.p
            axis.slides = joint.slides
            moving += 1
    axes.count = moving


def composed(f: Frame, g: Frame, out: Frame) -> None:
    """f g."""
    out.s = g.s[0] * f.s + g.s[1] * f.n + g.s[2] * f.a
    out.n = g.n[0] * f.s + g.n[1] * f.n + g.n[2] * f.a
    out.a = g.a[0] * f.s + g.a[1] * f.n + g.a[2] * f.a
    out.p = f.p + g.p[0] * f.s + g.p[1] * f.n + g.p[2] * f.a


def largest(v: Vector, w: Vector, bound: float) -> float:
    """The largest difference of two vectors, at least `bound`."""
    x = max(bound, abs(v[0] - w[0]))
    return max(max(x, abs(v[1] - w[1])), abs(v[2] - w[2]))


def compare(arm: Arm, f: Frame, aim: Frame, hand: Frame, e: Array) -> float:
    """The largest difference of an entry of the pose of the tool, `hand`, to the aim, lengths
    weighed; its error e (linear over the size, angular)."""
    composed(f, arm.tool, hand)
    turn = cross(hand.s, aim.s) + cross(hand.n, aim.n) + cross(hand.a, aim.a)
    for i in range(3):
        e[i] = (aim.p[i] - hand.p[i]) / arm.size
        e[3 + i] = 0.5 * turn[i]
    residual = largest(hand.s, aim.s, arm.weight * largest(hand.p, aim.p, 0.0))
    return largest(hand.a, aim.a, largest(hand.n, aim.n, residual))


def columns_of(arm: Arm, axes: Axes, tip: Vector, J: Array) -> None:
    """Columns of the Jacobian of the joints that are not held, without units."""
    for m in range(axes.count):
        axis = axes.rows[m]
        lever = cross(axis.direction, (tip - axis.origin) / arm.size)
        for k in range(3):
            J[6 * m + k] = axis.direction[k] if axis.slides else lever[k]
            J[6 * m + 3 + k] = 0.0 if axis.slides else axis.direction[k]


def moved(arm: Arm, dq: Array, moving: int, q: Array) -> None:
    """q + dq, a step of 0.3 at most."""
    size = 0.0
    for m in range(moving):
        size = max(size, abs(dq[m]))
    scale = 0.3 / size if size > 0.3 else 1.0
    m = 0
    for j in range(arm.count):
        if not arm.joints[j].held:
            step = scale * dq[m]
            q[j] += step * arm.size if arm.joints[j].slides else step
            m += 1


@record()
class Reached:
    """How regular a configuration is."""

    shortest: float  # column of its Jacobian, made orthogonal


def approach(arm: Arm, aim: Frame, q: Array, reached: Reached) -> float:
    """Newton's method from q, which becomes the best configuration on the way. Its residual."""
    axes = empty(Axes)
    f = empty(Frame)
    hand = empty(Frame)
    e = empty(6)
    J = empty(42)
    dq = empty(7)
    one = empty(JOINTS)
    for j in range(arm.count):
        one[j] = q[j]
    least = 1e300
    stalled = 0
    for rounds in range(ROUNDS):
        place(arm, one, axes, f)
        residual = compare(arm, f, aim, hand, e)
        columns_of(arm, axes, hand.p, J)
        shortest = least_squares(J, e, axes.count, dq)
        if residual < least:
            if residual > 0.9 * least:
                stalled += 1
            least = residual
            reached.shortest = shortest
            for j in range(arm.count):
                q[j] = one[j]
        else:
            stalled += 1
        hopeless = rounds > 9 and least > WRONG * arm.scale
        if hopeless or least <= FINEST * arm.scale or stalled > 1:
            break
        moved(arm, dq, axes.count, one)
    return least
