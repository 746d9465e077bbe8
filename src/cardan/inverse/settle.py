"""Kernels that settle doubtful candidates: made exact (approach.py), verified and merged."""

from __future__ import annotations

from ..kernel.language import Array, cos, empty, record
from .approach import JOINTS, WRONG, Arm, Frame, Reached, approach, frame_of
from .general.family import families
from .solutions import Room, Solutions, add_solution, nearest, put_solution

FAMILIES = True  # answers of families are counted once, those beside families told apart
SLIDES = True  # some joints may slide
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


def verified(
    arm: Arm, aim: Frame, q: Array, margin: float, residual: float, reached: Reached
) -> float:
    """The residual of a candidate, made exact where its margin or its digits leave a doubt."""
    reached.shortest = 1.0
    if margin > SAFE and residual <= CLEAN * arm.scale:
        return residual
    if impossible(margin, residual, arm.scale):
        return 1e300
    least = approach(arm, aim, q, reached)
    return least


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
    reached = empty(Reached)
    joints = arm.count
    for k in range(2):
        for j in range(joints):
            step = ASIDE * cos(1.0 + 2.1 * float(j) + 1.7 * float(k))
            step = step * arm.size if arm.joints[j].slides else step
            one[j] = q[j] if arm.joints[j].held else q[j] + step
        off = approach(arm, aim, one, reached)
        if off <= arm.accepted:
            back = nearest(arm, one, q, 1, 0.1 * ASIDE)
            if back < 0 and nearest(arm, one, q, 1, 10.0 * ASIDE) == 0:
                return False
    return True


@record(best=JOINTS)
class Look:
    """What is known of a pose while its candidates are settled."""

    most: int  # answers
    opened: bool  # a branch whose equation vanishes gave none of its own
    tried: float  # the role of the candidates that gave singular answers
    least: float  # residual of the best of those that are none
    best: Array


def begin(most: int, look: Look, notes: Solutions) -> None:
    """Nothing is known."""
    look.most = most
    look.opened = False
    look.tried = 0.0
    look.least = BARELY
    notes.count = 0
    notes.vanishes = False


def keep(
    arm: Arm, q: Array, off: float, singular: bool, role: float, most: int, found: Array,
    notes: Solutions,
) -> None:  # fmt: skip
    """Add a configuration to those found, or count it with its equal."""
    at = nearest(arm, q, found, notes.count, 10.0 * SAME if role < 0.0 else SAME)
    if at < 0:
        add_solution(arm, q, off, singular, 1.0, most, found, notes)
        return
    row = notes.rows[at]
    if role >= 0.0 and singular:
        row.times += 1.0
    if role >= 0.0 and off < row.residual:
        put_solution(arm, q, at, found)
        row.residual = off
        row.singular = singular


def thin_out(arm: Arm, found: Array, notes: Solutions) -> None:
    """Configurations that became one as more exact ones took their places are given once."""
    one = empty(JOINTS)
    joints = arm.count
    kept = 0
    for k in range(notes.count):
        for j in range(joints):
            one[j] = found[joints * k + j]
        at = nearest(arm, one, found, kept, SAME)
        if at >= 0:
            notes.rows[at].times += notes.rows[k].times
            continue
        for j in range(joints):
            found[joints * kept + j] = one[j]
        notes.rows[kept] = notes.rows[k]
        kept += 1
    notes.count = kept


def settle(
    arm: Arm, aim: Frame, q: Array, margin: Array, residual: Array, candidates: int, role: float,
    look: Look, found: Array, notes: Solutions,
) -> None:  # fmt: skip
    """Add the configurations of a pose among candidates q.

    role of the candidates: 0, branches at this pose; k > 0, the k-th try to replace one whose
    equation vanishes (singular ones of the first that gives any are enough); -1, others, wanted
    only if they are new, and regular or multiple roots; -2, the same, and branches of a pose
    nearby."""
    reached = empty(Reached)
    one = empty(JOINTS)
    start = empty(JOINTS)
    joints = arm.count
    for b in range(candidates):
        finite = margin[b] - margin[b]
        for j in range(joints):
            one[j] = q[joints * b + j]
            start[j] = one[j]
            finite += one[j] - one[j]
        if role == 0.0 and (finite != 0.0 or abs(margin[b]) <= arm.margin):
            notes.vanishes = True
        if role > 0.0 and notes.vanishes and notes.count == 0:
            look.opened = True
        if finite != 0.0 or (role > 0.0 and not look.opened):
            continue
        clear = margin[b]
        if role < -1.5:  # to be made exact, whatever its residual at its own pose
            if not (clear > CLEAR and residual[b] < WRONG * arm.scale):
                continue
            clear = 0.0
        off = verified(arm, aim, one, clear, residual[b], reached)
        away = False
        if SLIDES:
            away = beyond(arm, one)
        vanishing = role == 0.0 and margin[b] == 0.0
        if not (off <= arm.accepted) or away:
            if vanishing:
                look.opened = True
            if off < look.least and not away:
                look.least = off
                for j in range(joints):
                    look.best[j] = one[j]
            continue
        singular = reached.shortest < LOST
        if vanishing and not singular and nearest(arm, one, start, 1, FAR_OFF) < 0:
            look.opened = True  # it is an answer of another branch
        if singular:
            if role < 0.0:  # is it new, and a root of its own?
                if nearest(arm, one, found, notes.count, 0.1 * ASIDE) >= 0:
                    continue
                alone = isolated(arm, aim, one)
                if not alone:
                    continue
            elif look.tried > 0.0 and look.tried != role:
                continue
            look.tried = max(look.tried, role)
        keep(arm, one, off, singular, role, look.most, found, notes)


def conclude(arm: Arm, aim: Frame, last: bool, look: Look, found: Array, notes: Solutions) -> None:
    """All candidates were settled; the last ones, or more are to come if an equation vanishes."""
    best = empty(JOINTS)
    for j in range(arm.count):
        best[j] = look.best[j]
    if notes.vanishes and notes.count == 0:
        look.opened = True
        if look.least < BARELY:
            keep(arm, best, look.least, True, 0.0, look.most, found, notes)
    thin_out(arm, found, notes)
    if FAMILIES:
        singular = False
        for k in range(notes.count):
            singular = singular or notes.rows[k].singular
        if singular and (last or not (look.opened or notes.vanishes)):
            families(arm, aim, best, 0, look.most, found, notes)


def settled(
    T: Array, q: Array, margin: Array, arm: Arm, room: Room, found: Array, notes: Solutions
) -> None:
    """The configurations of a pose T that Newton's method finds from others q, whose margins are
    0."""
    aim = empty(Frame)
    look = empty(Look)
    frame_of(T, aim)
    begin(room.most, look, notes)
    settle(arm, aim, q, margin, margin, room.candidates, 0.0, look, found, notes)
    conclude(arm, aim, True, look, found, notes)
