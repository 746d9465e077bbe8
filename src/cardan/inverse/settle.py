"""Kernels that settle doubtful candidates: made exact (approach.py), verified and merged."""

from __future__ import annotations

from ..kernel.language import Array, cos, empty, floor
from .approach import JOINTS, WRONG, Arm, Frame, approach, frame_of
from .general.family import families

__all__ = ["ACCEPT", "CLEAN", "CLEAR", "FARTHEST", "SAFE", "impossible", "settle"]

PI = 3.141592653589793
CLEAR = 1e-10  # a margin (square of a sine) below may be that of an equation that vanishes
SAFE = 1e-8  # beyond it two singularities together make no pivot of the Jacobian less than this
NEVER = -1e-2  # a margin below is no solution, whatever rounding did
UNREAL = -1e-6  # the same where the residual is more than BESIDE, relative to the arm's scale
BESIDE = 1e-3
CLEAN = 1e-11  # residual, relative to the scale of the arm, that needs no polishing
ACCEPT = 1e-10  # residual of an answer, in the same way
BARELY = 9e-10  # residual of one beside a family, where there is no other, m and rad
SAME = 1e-6  # angles and relative lengths closer than this are one configuration
LOST = 1e-6  # smallest pivot of a Jacobian that has lost rank
ASIDE = 1e-3  # how far a family is looked for
FAR_OFF = 1e-2  # how far a candidate may be moved before it is no longer the same
FARTHEST = 1e5  # of a slide over the size of the arm: beyond, a pose has too few digits


def impossible(margin: float, residual: float, scale: float) -> bool:
    """Is a branch surely no solution? Few digits of a multiple root are right, and as few of the
    margins of later joints: a small one below zero says nothing if the pose is nearly reached."""
    if margin < NEVER or (margin > CLEAR and residual > WRONG * scale):
        return True
    return margin < UNREAL and residual > BESIDE * scale


def verified(arm: Arm, aim: Frame, q: Array, margin: float, residual: float, rank: Array) -> float:
    """The residual of a candidate, made exact where its margin or its digits leave a doubt."""
    rank[0] = 1.0
    if margin > SAFE and residual <= CLEAN * arm.scale:
        return residual
    hopeless = impossible(margin, residual, arm.scale)
    if hopeless:
        return 1e300
    found = approach(arm, aim, q, rank)
    return found


def nearest(arm: Arm, q: Array, found: Array, count: int, same: float) -> int:
    """The first of the configurations found that is closer than `same` to q, or -1."""
    joints = arm.count
    for c in range(count):
        gap = 0.0
        for j in range(joints):
            x = q[j] - found[joints * c + j]
            if not arm.joints[j].slides:
                x = x - 2.0 * PI * floor(x / (2.0 * PI) + 0.5)
            else:
                x = x / arm.size
            gap = max(gap, abs(x))
        if gap < same:
            return c
    return -1


def beyond(arm: Arm, q: Array) -> bool:
    """Is a slide so far out that the pose cannot be verified?"""
    far = False
    for j in range(arm.count):
        far = far or (arm.joints[j].slides and abs(q[j]) > FARTHEST * arm.size)
    return far


def isolated(arm: Arm, aim: Frame, q: Array) -> bool:
    """Is a singular configuration a multiple root, not one of a family? Newton's method from a
    little aside comes back to a root, and finds others of a family."""
    one = empty(JOINTS)
    rank = empty(1)
    joints = arm.count
    for k in range(2):
        for j in range(joints):
            step = 0.0
            if not arm.joints[j].held:
                step = ASIDE * cos(1.0 + 2.1 * float(j) + 1.7 * float(k))
            if arm.joints[j].slides:
                step = step * arm.size
            one[j] = q[j] + step
        off = approach(arm, aim, one, rank)
        if off <= arm.accepted:
            back = nearest(arm, one, q, 1, 0.1 * ASIDE)
            beside = nearest(arm, one, q, 1, 10.0 * ASIDE)
            if back < 0 and beside == 0:
                return False
    return True


def wanted(arm: Arm, aim: Frame, q: Array, role: float, found: Array, count: int) -> bool:
    """Is a singular configuration of another pose or method new, and a root of its own?"""
    if role >= 0.0:
        return False
    known = nearest(arm, q, found, count, 0.1 * ASIDE)
    if known >= 0:
        return False
    alone = isolated(arm, aim, q)
    return alone


def keep(
    arm: Arm, q: Array, off: float, singular: float, role: float, most: int, found: Array,
    error: Array, lost: Array, times: Array, state: Array,
) -> None:  # fmt: skip
    """Add a configuration to those found, angles in (-pi, pi], or count it with its equal."""
    joints = arm.count
    count = int(state[0])
    same = SAME
    if role < 0.0:
        same = 10.0 * SAME
    at = nearest(arm, q, found, count, same)
    if at >= 0:
        if role >= 0.0 and singular == 1.0:
            times[at] += 1.0
        if role < 0.0 or off >= error[at]:
            return
    else:
        if count == most:
            return
        at = count
        times[at] = 1.0
        state[0] = float(count + 1)
    for j in range(joints):
        x = q[j]
        if not arm.joints[j].slides and not arm.joints[j].held:
            x = x - 2.0 * PI * floor(x / (2.0 * PI) + 0.5)
            if x <= 0.0 - PI:
                x = x + 2.0 * PI
        found[joints * at + j] = x
    error[at] = off
    lost[at] = singular


def thin_out(arm: Arm, found: Array, error: Array, lost: Array, times: Array, state: Array) -> None:
    """Configurations that became one as more exact ones took their places are given once."""
    one = empty(JOINTS)
    joints = arm.count
    count = int(state[0])
    kept = 0
    for k in range(count):
        for j in range(joints):
            one[j] = found[joints * k + j]
        at = nearest(arm, one, found, kept, SAME)
        if at >= 0:
            times[at] += times[k]
            continue
        for j in range(joints):
            found[joints * kept + j] = one[j]
        error[kept] = error[k]
        lost[kept] = lost[k]
        times[kept] = times[k]
        kept += 1
    state[0] = float(kept)


def settle(
    T: Array, q: Array, margin: Array, residual: Array, role: Array, arm: Arm, shape: Array,
    found: Array, error: Array, lost: Array, times: Array, state: Array,
) -> None:  # fmt: skip
    """The configurations of a pose T among candidates q; shape: number of candidates, most answers.

    role of a candidate: 0, a branch at this pose; k > 0, the k-th try to replace one whose equation
    vanishes (singular ones of the first that gives any are enough); -1, another configuration,
    wanted only if it is new, and regular or a multiple root; -2, the same, and a branch of a pose
    nearby. lost: 1 where the Jacobian loses rank; times: how many solutions coincide there. state:
    number of configurations; 1 when a branch whose equation vanishes gave none of its own; 1 when
    an equation vanishes or has a multiple root."""
    aim = empty(Frame)
    frame_of(T, aim)
    rank = empty(1)
    one = empty(JOINTS)
    start = empty(JOINTS)
    best = empty(JOINTS)
    least = BARELY
    candidates = int(shape[0])
    joints = arm.count
    tried = 0.0
    for k in range(3):
        state[k] = 0.0
    for b in range(candidates):
        finite = margin[b] - margin[b]
        for j in range(joints):
            one[j] = q[joints * b + j]
            start[j] = one[j]
            finite += one[j] - one[j]
        if role[b] == 0.0 and (finite != 0.0 or abs(margin[b]) <= arm.margin):
            state[2] = 1.0
        if role[b] > 0.0 and state[2] > 0.0 and state[0] == 0.0:
            state[1] = 1.0
        if finite != 0.0 or (role[b] > 0.0 and state[1] == 0.0):
            continue
        clear = margin[b]
        if role[b] < -1.5:  # to be made exact, whatever its residual at its own pose
            if not (clear > CLEAR and residual[b] < WRONG * arm.scale):
                continue
            clear = 0.0
        off = verified(arm, aim, one, clear, residual[b], rank)
        away = beyond(arm, one)
        if not (off <= arm.accepted) or away:
            if role[b] == 0.0 and margin[b] == 0.0:
                state[1] = 1.0
            if off < least and not away:
                least = off
                for j in range(joints):
                    best[j] = one[j]
            continue
        singular = 0.0
        if rank[0] < LOST:
            singular = 1.0
        elif role[b] == 0.0 and margin[b] == 0.0:  # an answer of another branch?
            strayed = nearest(arm, one, start, 1, FAR_OFF)
            if strayed < 0:
                state[1] = 1.0
        if singular == 1.0:
            if role[b] < 0.0 or (tried > 0.0 and tried != role[b]):
                root = wanted(arm, aim, one, role[b], found, int(state[0]))
                if not root:
                    continue
            tried = max(tried, role[b])
        keep(arm, one, off, singular, role[b], int(shape[1]), found, error, lost, times, state)
    if state[2] > 0.0 and state[0] == 0.0:
        state[1] = 1.0
        if least < BARELY:
            keep(arm, best, least, 1.0, 0.0, int(shape[1]), found, error, lost, times, state)
    thin_out(arm, found, error, lost, times, state)
    again = False  # poses nearby are yet to be tried
    if state[1] + state[2] > 0.0:
        again = True
    for b in range(candidates):
        if role[b] < -1.5:
            again = False
    singular = 0.0
    count = int(state[0])
    for k in range(count):
        singular = max(singular, lost[k])
    if singular > 0.0 and not again:
        families(arm, aim, one, 0, int(shape[1]), found, error, lost, times, state)
