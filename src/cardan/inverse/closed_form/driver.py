"""Kernels: all configurations of a pose by a closed form, the one driver of inverse geometry.

The branches are a program of ir/, bound to a slot. Away from singularities a branch either
satisfies the pose to rounding or does not exist (collect.py). Else the pose is looked at closely:
candidates are made exact, verified and merged (settle.py). Where an equation vanishes altogether,
its branches may miss configurations, and further candidates are tried: the branches with other
values of the joint that may have many; those of poses nearby, moved back to the pose, some of them
reached near the answers so far, others moved back and forth, and reached nearly when the arm has
fewer than six joints; then those of another method.
"""

from __future__ import annotations

from ...kernel.language import Array, cos, empty, record, slot
from ..approach import JOINTS, Arm, Axes, Frame, composed, frame_of, place
from ..general.records import MOST, Robot, SixteenSolutions
from ..settle import CLEAR, Look, begin, conclude, settle
from ..solutions import Solutions
from .collect import collect
from .roots import TINY

__all__ = ["BRANCHES", "branches", "inverse", "inverse_of_symbols", "look"]

PI = 3.141592653589793
VALUES = 24  # values of a joint that may have many
NEAR = 6  # poses nearby
REACHED = 2  # of them, those that are reached
FAR = 1e-4  # how far they are, rad and units
BRANCHES = 64  # of an arm, at most
LED = True  # a guess may be given
FURTHER = False  # another method is asked where an equation vanishes
Known = Robot  # what that method knows of the arm


@record(joints=JOINTS)
class LongArm(Arm):
    """An arm of any number of joints."""


@slot("q", "margin", "residual")
def branches(
    T: Array, free: Array, p: Array, guess: Array, q: Array, margin: Array, residual: Array
) -> None:
    """The branches of the closed form: joint values, margins (negative: there is no real solution;
    near 0: it is singular) and residuals. guess: joint values taken where any would do; then the
    square below which a vector has no direction."""


@slot("arm")
def geometry(p: Array, arm: Array) -> None:
    """The arm, of its parameters."""


@slot("q", "notes")
def further(T: Array, robot: Known, arm: Arm, q: Array, notes: Solutions) -> None:
    """The configurations of a pose by another method."""


def reached(arm: Arm, q: Array, at: int, near: Array) -> None:
    """near[at:]: the pose (4x4) of a configuration."""
    axes = empty(Axes)
    f = empty(Frame)
    place(arm, q, axes, f)
    hand = empty(Frame)
    composed(f, arm.tool, hand)
    for i in range(3):
        near[at + 4 * i] = hand.s[i]
        near[at + 4 * i + 1] = hand.n[i]
        near[at + 4 * i + 2] = hand.a[i]
        near[at + 4 * i + 3] = hand.p[i]


def moved_aside(T: Array, size: float, step: float, number: float, at: int, near: Array) -> None:
    """near[at:]: T turned and shifted a little, exactly rigid."""
    a = step * cos(1.0 + 2.1 * number)
    b = step * cos(2.3 + 0.7 * number)
    c = step * cos(0.4 + 1.3 * number)
    over = 1.0 / (1.0 + a * a + b * b + c * c)
    for k in range(3):
        x = T[k]
        y = T[4 + k]
        z = T[8 + k]
        # Cayley: (1 - W)^-1 (1 + W), W the cross product with (a, b, c)
        dot = a * x + b * y + c * z
        u = b * z - c * y
        v = c * x - a * z
        w = a * y - b * x
        near[at + k] = x + 2.0 * over * (u + a * dot - (a * a + b * b + c * c) * x)
        near[at + 4 + k] = y + 2.0 * over * (v + b * dot - (a * a + b * b + c * c) * y)
        near[at + 8 + k] = z + 2.0 * over * (w + c * dot - (a * a + b * b + c * c) * z)
    near[at + 3] = T[3] + size * step * cos(0.9 + 1.9 * number)
    near[at + 7] = T[7] + size * step * cos(2.9 + 1.1 * number)
    near[at + 11] = T[11] + size * step * cos(1.7 + 2.7 * number)


def nearby(T: Array, arm: Arm, found: Array, count: int, near: Array) -> None:
    """NEAR poses close to T."""
    q = empty(JOINTS)
    joints = arm.count
    for m in range(NEAR):
        at = 16 * m
        for k in range(3):
            near[at + 12 + k] = 0.0
        near[at + 15] = 1.0
        if m < REACHED:
            first = m if count > m else 0
            for j in range(joints):
                q[j] = 0.0
                if count > 0:
                    q[j] = found[joints * first + j]
                if not arm.joints[j].held:
                    step = FAR * cos(0.3 + 2.0 * float(m) + 1.7 * float(j))
                    q[j] += step * arm.size if arm.joints[j].slides else step
            reached(arm, q, at, near)
        else:
            moved_aside(T, arm.size, -FAR if m % 2 == 1 else FAR, float(m // 2), at, near)


def tried(
    T: Array, free: Array, p: Array, guess: Array, count: int, arm: Arm, aim: Frame, role: float,
    look: Look, found: Array, notes: Solutions,
) -> None:  # fmt: skip
    """The branches of a pose T as candidates for the aim."""
    q = empty(BRANCHES * JOINTS)
    margin = empty(BRANCHES)
    residual = empty(BRANCHES)
    branches(T, free, p, guess, q, margin, residual)
    settle(arm, aim, q, margin, residual, count, role, look, found, notes)


def no_guess(joints: int, guess: Array) -> None:
    """Where any value would do, 0 is taken."""
    for j in range(joints):
        guess[j] = 0.0
    guess[joints] = TINY


def own_branches(
    T: Array, free: Array, p: Array, start: Array, count: int, led: bool, arm: Arm, aim: Frame,
    look: Look, found: Array, notes: Solutions,
) -> None:  # fmt: skip
    """The branches at the pose itself; before them those that a guess leads to, if there is one,
    which is as good as a direction of few digits."""
    guess = empty(JOINTS + 1)
    if LED:
        if led:
            for j in range(arm.count):
                guess[j] = start[j]
            guess[arm.count] = CLEAR
            tried(T, free, p, guess, count, arm, aim, 0.0, look, found, notes)
    no_guess(arm.count, guess)
    tried(T, free, p, guess, count, arm, aim, -1.0 if led else 0.0, look, found, notes)


def other_values(
    T: Array, free: Array, p: Array, count: int, arm: Arm, aim: Frame, look: Look, found: Array,
    notes: Solutions,
) -> None:  # fmt: skip
    """The branches where the joint that may have many values has another one."""
    guess = empty(JOINTS + 1)
    guess[arm.count] = CLEAR
    for k in range(VALUES):
        for j in range(arm.count):
            guess[j] = 2.0 * PI / float(VALUES) * float(k) - PI
        tried(T, free, p, guess, count, arm, aim, float(k + 1), look, found, notes)


def nearby_branches(
    near: Array, free: Array, p: Array, count: int, arm: Arm, aim: Frame, look: Look,
    found: Array, notes: Solutions,
) -> None:  # fmt: skip
    """The branches of poses nearby: what an equation that vanishes just here would hide."""
    guess = empty(JOINTS + 1)
    pose = empty(16)
    no_guess(arm.count, guess)
    for m in range(NEAR):
        for k in range(16):
            pose[k] = near[16 * m + k]
        tried(pose, free, p, guess, count, arm, aim, -2.0, look, found, notes)


def further_answers(
    T: Array, robot: Known, arm: Arm, aim: Frame, look: Look, found: Array, notes: Solutions
) -> None:
    """Those of the other method."""
    q = empty(MOST * JOINTS)
    others = empty(SixteenSolutions)
    margin = empty(MOST)
    further(T, robot, arm, q, others)
    for k in range(MOST):
        margin[k] = 0.0
    settle(arm, aim, q, margin, margin, others.count, -1.0, look, found, notes)


def look(
    T: Array, free: Array, p: Array, start: Array, arm: Arm, robot: Known, shape: Array,
    found: Array, notes: Solutions,
) -> None:  # fmt: skip
    """All configurations of a doubtful pose T (4x4, row by row); shape: number of branches, most
    answers, 1 where `start` is a guess."""
    aim = empty(Frame)
    at = empty(Look)
    near = empty(16 * NEAR)
    count = int(shape[0])
    most = int(shape[1])
    led = shape[2] > 0.5
    frame_of(T, aim)
    begin(most, at, notes)
    own_branches(T, free, p, start, count, led, arm, aim, at, found, notes)
    conclude(arm, aim, False, at, found, notes)
    if not at.opened and not notes.vanishes:
        return
    opened = at.opened
    vanishes = notes.vanishes
    if opened:
        begin(most, at, notes)
        own_branches(T, free, p, start, count, led, arm, aim, at, found, notes)
        other_values(T, free, p, count, arm, aim, at, found, notes)
        conclude(arm, aim, False, at, found, notes)
    nearby(T, arm, found, notes.count, near)
    begin(most, at, notes)
    own_branches(T, free, p, start, count, led, arm, aim, at, found, notes)
    if opened:
        other_values(T, free, p, count, arm, aim, at, found, notes)
    nearby_branches(near, free, p, count, arm, aim, at, found, notes)
    if FURTHER:
        further_answers(T, robot, arm, aim, at, found, notes)
    conclude(arm, aim, True, at, found, notes)
    notes.vanishes = vanishes or opened


def inverse(
    T: Array, free: Array, p: Array, arm: Arm, robot: Known, shape: Array, q: Array,
    notes: Solutions,
) -> None:  # fmt: skip
    """All configurations of a pose T (4x4, row by row)."""
    branch = empty(BRANCHES * JOINTS)
    margin = empty(BRANCHES)
    residual = empty(BRANCHES)
    error = empty(BRANCHES)
    guess = empty(JOINTS + 1)
    state = empty(2)
    no_guess(arm.count, guess)
    branches(T, free, p, guess, branch, margin, residual)
    collect(branch, margin, residual, arm, shape, q, error, state)
    if state[1] > 0.5:
        look(T, free, p, guess, arm, robot, shape, q, notes)
        return
    notes.count = int(state[0])
    notes.vanishes = False
    for k in range(notes.count):
        notes.rows[k].residual = error[k]
        notes.rows[k].singular = False
        notes.rows[k].times = 1.0


def inverse_of_symbols(
    T: Array, free: Array, p: Array, robot: Known, shape: Array, q: Array, notes: Solutions
) -> None:
    """All configurations of a pose of an arm with parameters."""
    arm = empty(LongArm)
    geometry(p, arm)
    inverse(T, free, p, arm, robot, shape, q, notes)
