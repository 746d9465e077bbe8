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

from ...kernel.language import Array, cos, empty, record, slot, zeros
from ..approach import JOINTS, Arm, Axes, Frame, composed, frame_of, place
from ..general.records import MOST, Robot, SixteenSolutions
from ..settle import CLEAR, Look, begin, conclude, settle
from ..solutions import Room, Solutions
from .collect import Collected, collect
from .roots import TINY

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
def geometry(p: Array, arm: LongArm) -> None:
    """The arm, of its parameters."""


@slot("q", "notes")
def further(T: Array, robot: Known, arm: Arm, q: Array, notes: Solutions) -> None:
    """The configurations of a pose by another method."""


def moved_aside(T: Array, size: float, step: float, number: float, pose: Array) -> None:
    """T turned and shifted a little, exactly rigid."""
    a = step * cos(1.0 + 2.1 * number)
    b = step * cos(2.3 + 0.7 * number)
    c = step * cos(0.4 + 1.3 * number)
    square = a * a + b * b + c * c
    twice = 2.0 / (1.0 + square)
    for k in range(3):
        x = T[k]
        y = T[4 + k]
        z = T[8 + k]
        # Cayley: (1 - W)^-1 (1 + W), W the cross product with (a, b, c)
        along = a * x + b * y + c * z
        pose[k] = x + twice * (b * z - c * y + a * along - square * x)
        pose[4 + k] = y + twice * (c * x - a * z + b * along - square * y)
        pose[8 + k] = z + twice * (a * y - b * x + c * along - square * z)
    pose[3] = T[3] + size * step * cos(0.9 + 1.9 * number)
    pose[7] = T[7] + size * step * cos(2.9 + 1.1 * number)
    pose[11] = T[11] + size * step * cos(1.7 + 2.7 * number)


def nearby(T: Array, arm: Arm, around: Array, m: int, pose: Array) -> None:
    """The m-th pose close to T: around the answers so far, or T moved."""
    q = empty(JOINTS)
    axes = empty(Axes)
    f = empty(Frame)
    hand = empty(Frame)
    for k in range(16):
        pose[k] = T[k]
    if m >= REACHED:
        moved_aside(T, arm.size, -FAR if m % 2 == 1 else FAR, float(m // 2), pose)
        return
    for j in range(arm.count):
        q[j] = around[arm.count * m + j]
        if not arm.joints[j].held:
            step = FAR * cos(0.3 + 2.0 * float(m) + 1.7 * float(j))
            q[j] += step * arm.size if arm.joints[j].slides else step
    place(arm, q, axes, f)
    composed(f, arm.tool, hand)
    for i in range(3):
        pose[4 * i] = hand.s[i]
        pose[4 * i + 1] = hand.n[i]
        pose[4 * i + 2] = hand.a[i]
        pose[4 * i + 3] = hand.p[i]


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


def all_at(joints: int, value: float, tiny: float, guess: Array) -> None:
    """The guess of one value for all joints."""
    for j in range(joints):
        guess[j] = value
    guess[joints] = tiny


def own_branches(
    T: Array, free: Array, p: Array, start: Array, values: int, count: int, arm: Arm, aim: Frame,
    look: Look, found: Array, notes: Solutions,
) -> None:  # fmt: skip
    """The branches at the pose itself; before them those that a guess leads to, if there is one,
    which is as good as a direction of few digits; after them those where the joint that may have
    many values has others."""
    guess = empty(JOINTS + 1)
    role = 0.0
    if LED:  # noqa: SIM102 - known at reading
        if start[arm.count] > 0.0:
            tried(T, free, p, start, count, arm, aim, 0.0, look, found, notes)
            role = -1.0
    all_at(arm.count, 0.0, TINY, guess)
    tried(T, free, p, guess, count, arm, aim, role, look, found, notes)
    for k in range(values):
        all_at(arm.count, 2.0 * PI / float(VALUES) * float(k) - PI, CLEAR, guess)
        tried(T, free, p, guess, count, arm, aim, float(k + 1), look, found, notes)


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
    T: Array, free: Array, p: Array, start: Array, arm: Arm, robot: Known, room: Room,
    found: Array, notes: Solutions,
) -> None:  # fmt: skip
    """All configurations of a doubtful pose T (4x4, row by row); start: a guess, then 0 where there
    is none."""
    aim = empty(Frame)
    at = empty(Look)
    pose = empty(16)
    guess = empty(JOINTS + 1)
    around = zeros(REACHED * JOINTS)
    count = room.candidates
    frame_of(T, aim)
    begin(room.most, at, notes)
    own_branches(T, free, p, start, 0, count, arm, aim, at, found, notes)
    conclude(arm, aim, False, at, found, notes)
    if not at.opened and not notes.vanishes:
        return
    values = 0
    if at.opened:
        values = VALUES
        begin(room.most, at, notes)
        own_branches(T, free, p, start, values, count, arm, aim, at, found, notes)
        conclude(arm, aim, False, at, found, notes)
    for m in range(REACHED):
        for j in range(arm.count):
            if notes.count > 0:
                around[arm.count * m + j] = found[arm.count * (m if notes.count > m else 0) + j]
    begin(room.most, at, notes)
    own_branches(T, free, p, start, values, count, arm, aim, at, found, notes)
    all_at(arm.count, 0.0, TINY, guess)
    for m in range(NEAR):
        nearby(T, arm, around, m, pose)
        tried(pose, free, p, guess, count, arm, aim, -2.0, at, found, notes)
    if FURTHER:
        further_answers(T, robot, arm, aim, at, found, notes)
    conclude(arm, aim, True, at, found, notes)
    notes.vanishes = True


def inverse(
    T: Array, free: Array, p: Array, arm: Arm, robot: Known, room: Room, q: Array,
    notes: Solutions,
) -> None:  # fmt: skip
    """All configurations of a pose T (4x4, row by row)."""
    branch = empty(BRANCHES * JOINTS)
    margin = empty(BRANCHES)
    residual = empty(BRANCHES)
    error = empty(BRANCHES)
    guess = empty(JOINTS + 1)
    info = empty(Collected)
    all_at(arm.count, 0.0, TINY, guess)
    branches(T, free, p, guess, branch, margin, residual)
    collect(branch, margin, residual, arm, room, q, error, info)
    if info.doubtful:
        look(T, free, p, guess, arm, robot, room, q, notes)
        return
    notes.count = info.count
    notes.vanishes = False
    for k in range(notes.count):
        notes.rows[k].residual = error[k]
        notes.rows[k].singular = False
        notes.rows[k].times = 1.0


def inverse_of_symbols(
    T: Array, free: Array, p: Array, arm: Arm, robot: Known, room: Room, q: Array,
    notes: Solutions,
) -> None:  # fmt: skip
    """All configurations of a pose of an arm with parameters."""
    own = empty(LongArm)
    geometry(p, own)
    inverse(T, free, p, own, robot, room, q, notes)
