"""The kernel for three revolute and three prismatic joints: the turns from the orientation alone.

The slides do not turn the tool, so the orientation is A0 Rz(qa) A1 Rz(qb) A2 Rz(qc) A3: its third
axis gives qb, at most two values, then qa and qc; the slides follow from a linear system. The table
is that of general_pose.py with A0..A3, 9 numbers each, from HEAD on.
"""

from __future__ import annotations

from ...kernel.language import Array, atan2, cos, empty, sin, sqrt
from ...kernel.linalg import solve_square
from .polish import FOUND, add_answer, direct, polish
from .pose import HEAD, relative_pose

__all__ = ["slides_pose"]


def product3(a: Array, i: int, b: Array, j: int, c: Array) -> None:
    """c = a[i:] b[j:], 3x3."""
    for r in range(3):
        for s in range(3):
            total = 0.0
            for k in range(3):
                total += a[i + 3 * r + k] * b[j + 3 * k + s]
            c[3 * r + s] = total


def turns(robot: Array, pose: Array, sign: float, qs: Array) -> int:
    """qa, qb, qc of one branch; 0 when the orientation is out of reach."""
    R = empty(9)
    M = empty(9)
    K = empty(9)
    for r in range(3):
        for s in range(3):
            total = 0.0
            for k in range(3):
                total += robot[HEAD + 3 * k + r] * pose[4 * k + s]
            R[3 * r + s] = total
    for r in range(3):
        for s in range(3):
            total = 0.0
            for k in range(3):
                total += R[3 * r + k] * robot[HEAD + 27 + 3 * s + k]
            M[3 * r + s] = total
    x = robot[HEAD + 15]
    y = robot[HEAD + 16]
    X = robot[HEAD + 20]
    Y = robot[HEAD + 23]
    a = x * X + y * Y
    b = y * X - x * Y
    k1 = M[8] - robot[HEAD + 17] * robot[HEAD + 26]
    square = a * a + b * b - k1 * k1
    if square < -1e-9 or a * a + b * b < 1e-18:
        return 0
    qb = atan2(b, a) + sign * atan2(sqrt(max(square, 0.0)), k1)
    c = cos(qb)
    s1 = sin(qb)
    for r in range(3):
        R[3 * r] = c * robot[HEAD + 9 + 3 * r] + s1 * robot[HEAD + 10 + 3 * r]
        R[3 * r + 1] = c * robot[HEAD + 10 + 3 * r] - s1 * robot[HEAD + 9 + 3 * r]
        R[3 * r + 2] = robot[HEAD + 11 + 3 * r]
    product3(R, 0, robot, HEAD + 18, K)
    qs[0] = atan2(M[5], M[2]) - atan2(K[5], K[2])
    qs[1] = qb
    qs[2] = atan2(K[7], K[6]) - atan2(M[7], M[6])
    if M[2] * M[2] + M[5] * M[5] < 1e-16:  # outer axes in line: only the sum of the turns is known
        qs[0] = 0.0
        qs[2] = atan2(K[1], K[0]) - atan2(M[1], M[0])
        if M[8] * K[8] > 0.0:
            qs[2] = atan2(M[3], M[0]) - atan2(K[3], K[0])
    return 1


def slides_pose(T: Array, robot: Array, q: Array, info: Array) -> None:
    """All configurations of a pose T (4x4, row by row), as general_pose gives them."""
    pose = empty(12)
    qs = empty(3)
    one = empty(6)
    J = empty(36)
    e = empty(6)
    a = empty(9)
    quality = empty(1)
    relative_pose(T, robot, pose)
    for k in range(64):
        info[k] = 0.0
    info[49] = 1.0
    info[50] = 1.0
    for branch in range(2):
        reached = turns(robot, pose, 1.0 - 2.0 * float(branch), qs)
        if reached == 0:
            continue
        turn = 0
        for j in range(6):
            one[j] = 0.0
            if robot[6 * j + 5] < 0.5:
                one[j] = qs[turn]
                turn += 1
        residual = direct(robot, one, pose, J, e)
        slide = 0
        for j in range(6):
            if robot[6 * j + 5] > 0.5:
                for k in range(3):
                    a[3 * k + slide] = J[6 * k + j]
                slide += 1
        pivots = solve_square(a, e, 3)
        slide = 0
        for j in range(6):
            if robot[6 * j + 5] > 0.5:
                if pivots > 0.0:
                    one[j] = e[slide]
                slide += 1
        residual = polish(robot, pose, one, quality)
        if residual < FOUND:
            place = add_answer(robot, pose, one, residual, quality[0], q, info)
            if place >= 0:
                info[1 + 3 * place + 2] += 1.0
    count = int(info[0])
    for k in range(count):
        for j in range(6):
            if robot[6 * j + 5] > 0.5:
                q[6 * k + j] *= robot[61]
