"""The kernel for three revolute and three prismatic joints: the turns from the orientation alone.

The slides do not turn the tool, so the orientation is A0 Rz(qa) A1 Rz(qb) A2 Rz(qc) A3: its third
axis gives qb, at most two values, then qa and qc; the slides follow from a linear system. A0..A3
are the turns of SlidingRobot.
"""

from __future__ import annotations

from ...kernel.language import Array, Part, atan2, cos, empty, sin, sqrt
from ...kernel.linalg import solve_square
from ..approach import Frame
from .family import equations
from .polish import FOUND, add_answer, polish
from .pose import no_answers, relative_pose
from .records import Answer, Answers, SlidingRobot

__all__ = ["SLIDING", "slides_pose"]


def product3(a: Array, i: int, b: Part, j: int, c: Array) -> None:
    """c = a[i:] b[j:], 3x3."""
    for r in range(3):
        for s in range(3):
            total = 0.0
            for k in range(3):
                total += a[i + 3 * r + k] * b[j + 3 * k + s]
            c[3 * r + s] = total


def turns(robot: SlidingRobot, pose: Frame, sign: float, qs: Array) -> bool:
    """qa, qb, qc of one branch; False when the orientation is out of reach."""
    R = empty(9)
    M = empty(9)
    K = empty(9)
    rows = empty(9)
    for k in range(3):
        rows[3 * k] = pose.s[k]
        rows[3 * k + 1] = pose.n[k]
        rows[3 * k + 2] = pose.a[k]
    for r in range(3):
        for s in range(3):
            total = 0.0
            for k in range(3):
                total += robot.turns[3 * k + r] * rows[3 * k + s]
            R[3 * r + s] = total
    for r in range(3):
        for s in range(3):
            total = 0.0
            for k in range(3):
                total += R[3 * r + k] * robot.turns[27 + 3 * s + k]
            M[3 * r + s] = total
    x = robot.turns[15]
    y = robot.turns[16]
    X = robot.turns[20]
    Y = robot.turns[23]
    a = x * X + y * Y
    b = y * X - x * Y
    k1 = M[8] - robot.turns[17] * robot.turns[26]
    square = a * a + b * b - k1 * k1
    if square < -1e-9 or a * a + b * b < 1e-18:
        return False
    qb = atan2(b, a) + sign * atan2(sqrt(max(square, 0.0)), k1)
    c = cos(qb)
    s1 = sin(qb)
    for r in range(3):
        R[3 * r] = c * robot.turns[9 + 3 * r] + s1 * robot.turns[10 + 3 * r]
        R[3 * r + 1] = c * robot.turns[10 + 3 * r] - s1 * robot.turns[9 + 3 * r]
        R[3 * r + 2] = robot.turns[11 + 3 * r]
    product3(R, 0, robot.turns, 18, K)
    qs[0] = atan2(M[5], M[2]) - atan2(K[5], K[2])
    qs[1] = qb
    qs[2] = atan2(K[7], K[6]) - atan2(M[7], M[6])
    if M[2] * M[2] + M[5] * M[5] < 1e-16:  # outer axes in line: only the sum of the turns is known
        qs[0] = 0.0
        qs[2] = atan2(K[1], K[0]) - atan2(M[1], M[0])
        if M[8] * K[8] > 0.0:
            qs[2] = atan2(M[3], M[0]) - atan2(K[3], K[0])
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
