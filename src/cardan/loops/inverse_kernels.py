"""Kernels: inverse geometry of robots with closed loops or couplings.

The configurations of the chain to the frame, then for each of them those of the loops; where loops
or couplings tie joints of the chain to each other, those in which they are not met are left out.
"""

from __future__ import annotations

from ..inverse.approach import JOINTS, Arm
from ..inverse.closed_form.driver import Known
from ..inverse.numeric.kernels import MOST_VARIABLES, Placed, Tree, place_frames
from ..inverse.solutions import Room, Solutions
from ..kernel.language import Array, empty, floor, record, slot
from ..kernel.linalg import largest_of
from .closing import MOST_EQUATIONS, Closings, led_to, put_residuals
from .kernels import MOST, LongTree, Plan, Rated, rated, tree_of

ROWS = 256  # configurations that there is room for
OPEN_BY = 1e-8  # rad, or of the robot's size (with symbols 1 m): how far loops may be open
FLAT = 1e-6  # of the loops' Jacobian: assemblies meet there
WHOLE = 6.283185307179586
CHAINED = 6  # joints of the chain
CHAIN = 64  # configurations of the chain that there is room for


@record(rows=64)
class OfChain(Solutions):
    """The configurations of the chain."""


@slot("q", "notes")
def configurations(
    T: Array, free: Array, p: Array, arm: Arm, robot: Known, room: Room, q: Array,
    notes: Solutions,
) -> None:  # fmt: skip
    """Those of the chain for a pose."""


def put_whole_turns(frames: Tree, loops: Closings, q: Array) -> None:
    """Angles that others lead, moved by whole turns to where these want them."""
    for k in range(loops.count):
        loop = loops.rows[k]
        if loop.lengths == 0 and not frames.rows[loop.twin - 1].slides:
            gap = led_to(loop, q) - q[loop.cut]
            q[loop.cut] += WHOLE * floor(gap / WHOLE + 0.5)


def opened_by(frames: Tree, loops: Closings, q: Array) -> float:
    """The largest of all equations."""
    f = empty(Placed)
    r = empty(MOST_EQUATIONS)
    place_frames(frames, q, f)
    rows = put_residuals(q, f, loops, r)
    return largest_of(r, rows)


def closed_inverse(
    T: Array, free: Array, held: Array, p: Array, arm: Arm, robot: Known, room: Room,
    frames: Tree, plan: Plan, loops: Closings, q: Array, notes: Solutions,
) -> None:  # fmt: skip
    """All configurations of a pose T (4x4, row by row)."""
    chain = empty(CHAIN * JOINTS)
    own = empty(OfChain)
    given = empty(MOST_VARIABLES)
    every = empty(MOST * MOST_VARIABLES)
    residual = empty(MOST)
    flat = empty(MOST)
    info = empty(Rated)
    x = empty(MOST_VARIABLES)
    n = plan.variables
    configurations(T, free, p, arm, robot, room, chain, own)
    notes.count = 0
    notes.vanishes = own.vanishes
    for i in range(own.count):
        for j in range(plan.known):
            if j < CHAINED:
                given[j] = chain[CHAINED * i + j]
            else:
                given[j] = held[j - CHAINED]
        rated(given, frames, plan, every, residual, flat, info)
        for k in range(info.count):
            for j in range(n):
                x[j] = every[n * k + j]
            put_whole_turns(frames, loops, x)
            gap = opened_by(frames, loops, x)
            if gap < OPEN_BY and notes.count < ROWS:
                for j in range(n):
                    q[n * notes.count + j] = x[j]
                row = notes.rows[notes.count]
                row.residual = max(own.rows[i].residual, gap)
                row.singular = own.rows[i].singular or flat[k] < FLAT
                row.times = own.rows[i].times
                notes.count += 1


def closed_inverse_of_symbols(
    T: Array, free: Array, held: Array, p: Array, arm: Arm, robot: Known, room: Room, plan: Plan,
    loops: Closings, q: Array, notes: Solutions,
) -> None:  # fmt: skip
    """All configurations of a pose of a robot whose loops have parameters."""
    frames = empty(LongTree)
    tree_of(p, frames)
    closed_inverse(T, free, held, p, arm, robot, room, frames, plan, loops, q, notes)
