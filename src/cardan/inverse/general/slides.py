"""The kernel for three revolute and three prismatic joints: the turns from the orientation alone.

The slides do not turn the tool, so the orientation is A0 Rz(qa) A1 Rz(qb) A2 Rz(qc) A3: its third
axis gives qb, at most two values, then qa and qc; the slides follow from a linear system. The turns
of SlidingRobot are A0ᵀ, A1, A2, A3ᵀ.
"""

from __future__ import annotations

from ...kernel.language import Array, atan2, cos, empty, sin, sqrt
from ...kernel.linalg import solve_square
from ..approach import Frame, composed
from .family import equations
from .polish import FOUND, add_answer, polish
from .pose import no_answers, relative_pose
from .records import Answer, Answers, SlidingRobot


def turns(robot: SlidingRobot, pose: Frame, sign: float, qs: Array) -> bool:
    """qa, qb, qc of one branch; False when the orientation is out of reach."""
    half = empty(Frame)
    M = empty(Frame)
    R = empty(Frame)
    K = empty(Frame)
    composed(robot.turns[0], pose, half)
    composed(half, robot.turns[3], M)
    one = robot.turns[1]
    two = robot.turns[2]
    a = one.s[2] * two.a[0] + one.n[2] * two.a[1]
    b = one.n[2] * two.a[0] - one.s[2] * two.a[1]
    k1 = M.a[2] - one.a[2] * two.a[2]
    square = a * a + b * b - k1 * k1
    if square < -1e-9 or a * a + b * b < 1e-18:
        return False
    qb = atan2(b, a) + sign * atan2(sqrt(max(square, 0.0)), k1)
    c = cos(qb)
    s = sin(qb)
    R.s = c * one.s + s * one.n
    R.n = c * one.n - s * one.s
    R.a = one.a
    R.p = one.p
    composed(R, two, K)
    qs[0] = atan2(M.a[1], M.a[0]) - atan2(K.a[1], K.a[0])
    qs[1] = qb
    qs[2] = atan2(K.n[2], K.s[2]) - atan2(M.n[2], M.s[2])
    if M.a[0] * M.a[0] + M.a[1] * M.a[1] < 1e-16:  # outer axes in line: only the sum is known
        qs[0] = 0.0
        qs[2] = atan2(K.n[0], K.s[0]) - atan2(M.n[0], M.s[0])
        if M.a[2] * K.a[2] > 0.0:
            qs[2] = atan2(M.s[1], M.s[0]) - atan2(K.s[1], K.s[0])
    return True


def slides_pose(T: Array, robot: SlidingRobot, q: Array, info: Answers) -> None:
    """All configurations of a pose T (4x4, row by row), as general_pose gives them."""
    pose = empty(Frame)
    qs = empty(3)
    one = empty(6)
    J = empty(36)
    e = empty(6)
    a = empty(9)
    exact = empty(Answer)
    relative_pose(T, robot, pose)
    no_answers(info)
    info.used = 1
    info.sound = True
    for branch in range(2):
        reached = turns(robot, pose, 1.0 - 2.0 * float(branch), qs)
        if not reached:
            continue
        turn = 0
        for j in range(6):
            one[j] = 0.0
            if not robot.joints[j].slides:
                one[j] = qs[turn]
                turn += 1
        residual = equations(robot, pose, one, J, e)
        slide = 0
        for j in range(6):
            if robot.joints[j].slides:
                for k in range(3):
                    a[3 * k + slide] = J[6 * k + j]
                slide += 1
        pivots = solve_square(a, e, 3)
        slide = 0
        for j in range(6):
            if robot.joints[j].slides:
                if pivots > 0.0:
                    one[j] = e[slide]
                slide += 1
        residual = polish(robot, pose, one, exact)
        if residual < FOUND:
            place = add_answer(robot, pose, one, residual, exact.quality, q, info)
            if place >= 0:
                info.rows[place].roots += 1.0
    for k in range(info.count):
        for j in range(6):
            if robot.joints[j].slides:
                q[6 * k + j] *= robot.unit


# what binds a kernel that calls the general method to this one
SLIDING = {"general_pose": slides_pose, "Robot": SlidingRobot, "Known": SlidingRobot}
