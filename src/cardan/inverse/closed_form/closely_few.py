"""Kernels for printed code: a close look at poses of three to five joints, the general method too.

Poses near those of an arm with few joints are out of its reach, so an equation that vanishes hides
more than it does for six joints; the general method with virtual joints (extended.py) is asked
there, as `solve` does. Where the geometry has symbols, the longer chain is made from the table of
the arm; which eliminations suit it was tried on sample values.
"""

from __future__ import annotations

from ...kernel.language import Array, cos, empty, sin
from ..approach import ROWS, TOOL
from ..general.few import few_pose, few_slides_pose, of_the_arm
from ..general.held_kernel import TAIL, append_screw, held_pose, set_identity
from .closely import closely

__all__ = ["closely_few", "closely_slides", "closely_symbols"]


def hidden(state: Array, shape: Array) -> int:
    """Is the general method to be asked? It is once, where an equation vanishes."""
    if shape[2] > 0.5 and state[1] + state[2] > 0.0:
        return 1
    return 0


def closely_few(
    T: Array, q: Array, margin: Array, residual: Array, role: Array, arm: Array, robot: Array,
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
    T: Array, q: Array, margin: Array, residual: Array, role: Array, arm: Array, robot: Array,
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


def lengthened(arm: Array, robot: Array, longer: Array) -> None:
    """The table of the arm with virtual joints at its end, alpha, d, theta, r in robot[1:]."""
    m = empty(12)
    joints = int(arm[0])
    size = arm[1]
    last = ROWS + 7 * joints
    for k in range(last):
        longer[k] = arm[k]
    for k in range(6):
        longer[ROWS + 42 + 2 * k] = 0.0
        longer[ROWS + 43 + 2 * k] = 1.0
    for k in range(2 * joints):
        longer[ROWS + 42 + k] = arm[last + k]
    longer[0] = 6.0
    set_identity(m)
    for j in range(joints, 6):
        at = 1 + 4 * (j - joints)
        row = ROWS + 7 * j
        longer[row] = cos(robot[at])
        longer[row + 1] = sin(robot[at])
        longer[row + 2] = size * robot[at + 1]
        longer[row + 3] = robot[at + 2]
        longer[row + 4] = size * robot[at + 3]
        longer[row + 5] = 0.0
        longer[row + 6] = 0.0
        append_screw(m, 0, longer[row], longer[row + 1], longer[row + 2])
        append_screw(m, 2, cos(robot[at + 2]), sin(robot[at + 2]), longer[row + 4])
    for i in range(3):
        for k in range(4):
            total = 0.0
            for n in range(3):
                x = arm[TOOL + 4 * n + k]
                if k == 3:
                    x -= m[4 * n + 3]
                total += m[4 * n + i] * x
            longer[TOOL + 4 * i + k] = total


def closely_symbols(
    T: Array, q: Array, margin: Array, residual: Array, role: Array, arm: Array, robot: Array,
    shape: Array, found: Array, error: Array, lost: Array, times: Array, state: Array, near: Array,
    others: Array,
) -> None:  # fmt: skip
    """The same for a geometry with symbols: robot holds the number of formulations, the virtual
    joints (3 x 4), and the last numbers of each formulation."""
    info = empty(64)
    notes = empty(64)
    free = empty(1)
    wide = empty(96)
    longer = empty(181)  # ROWS + 9 * 6 + 1 + MOST_FORMS * TAIL
    closely(T, q, margin, residual, role, arm, shape, found, error, lost, times, state, near)
    state[3] = 0.0
    ask = hidden(state, shape)
    if ask == 1:
        lengthened(arm, robot, longer)
        at = ROWS + 54
        longer[at] = robot[0]
        for k in range(TAIL * int(robot[0])):
            longer[at + 1 + k] = robot[13 + k]
        free[0] = 0.0
        held_pose(T, free, longer, wide, notes)
        of_the_arm(T, arm, wide, notes, others, info)
        state[3] = info[0]
