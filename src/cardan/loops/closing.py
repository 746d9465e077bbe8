"""Kernels of the equations of loops and couplings, their derivatives, and what closes them.

Of a loop with the cut c and its twin t, axes (s, n, a) and d = O_t - O_c, zero when it is closed
([K10] (3); `models.loops.closing_error` writes the same):

    lengths   s_c·d  n_c·d  a_c·d                  two of them where the cut joint slides
    angles    spherical    none
              universal    a_c·s_t
              revolute     s_c·a_t  n_c·a_t  1 - a_c·a_t              and cylindrical
              fixed        a_c·n_t - n_c·a_t  s_c·a_t - a_c·s_t  n_c·s_t - s_c·n_t
                           3 - s_c·s_t - n_c·n_t - a_c·a_t            and prismatic

and of a coupling q_j - ratio q_k - offset, weighted. Lengths are in units of the robot's size. A
joint with the axis z that moves t, or c the other way, changes d by z x (O_t - O_j) and the axes of
t by z x them as c sees it: its column has the same form without the constants.
"""

from __future__ import annotations

from ..describe.couplings import MOST_LEADERS
from ..inverse.approach import Frame
from ..inverse.numeric.kernels import MOST_VARIABLES, Placed, Tree, place_frames
from ..kernel.language import (
    OPEN,
    Array,
    Integers,
    Part,
    booleans,
    cross,
    dot,
    empty,
    record,
)
from ..kernel.linalg import largest_of, normal_equations, normal_step, squares
from ..kernel.newton import Descent, accepts, begin, put_step

MOST_EQUATIONS = 192
CLOSED = 1e-11  # of the robot's size, or rad: a loop this far open is closed
FINEST = 1e-15
LONGEST = 0.7  # step
MOST_DAMPED = 1e12  # a step so short leads nowhere
LENGTHS = {"prismatic": 2, "cylindrical": 2}  # equations, else 3
ANGLES = {"spherical": 0, "universal": 1, "revolute": 3, "cylindrical": 3}  # else 4
UNIVERSAL = 1
AXIS = 3


@record()
class Leader:
    """A variable that leads others, and its ratio."""

    variable: int
    ratio: float


@record(leaders=MOST_LEADERS)
class Closing:
    """A loop: how many equations it has, frames of its cut and its twin, and the last one before
    both; or a coupling, without equations of lengths: the variable that follows (cut) and its frame
    (twin), those that lead it, offset and weight."""

    lengths: int
    angles: int
    cut: int
    twin: int
    root: int
    offset: float
    weight: float
    count: int
    leaders: list[Leader]


@record(rows=OPEN)
class Closings:
    """All of them, over so many variables."""

    variables: int
    count: int
    rows: list[Closing]


@record(columns=MOST_VARIABLES, variables=MOST_VARIABLES, unit=MOST_VARIABLES)
class Free:
    """The variables that may move: the column of each, -1 of those that stand; the variable of a
    column, and what its steps are measured by."""

    rounds: int
    count: int
    columns: Integers
    variables: Integers
    unit: Array


@record()
class Outcome:
    """How far the loops are open in the end, and whether that counts as closed."""

    largest: float
    closed: bool


@record()
class Way:
    """How loops are carried along a path: of the driven variables at most at once, from the tangent
    at most, of the way at least, and how many points the path has."""

    step: float
    far: float
    least: float
    points: int


@record()
class Carried:
    """How many points were reached, and the share of the last way that was gone."""

    points: int
    share: float


def put_rows(loop: Closing, c: Frame, t: Frame, one: float, out: Array, at: int, step: int) -> None:
    """The equations of a loop at `at`, `at` + step ...; t: its axes, and d; one: 1, or 0 where t is
    a change."""
    out[at] = dot(c.s, t.p)
    out[at + step] = dot(c.n, t.p)
    if loop.lengths == 3:
        out[at + 2 * step] = dot(c.a, t.p)
    k = at + loop.lengths * step
    if loop.angles == UNIVERSAL:
        out[k] = dot(c.a, t.s)
    elif loop.angles == AXIS:
        out[k] = dot(c.s, t.a)
        out[k + step] = dot(c.n, t.a)
        out[k + 2 * step] = one - dot(c.a, t.a)
    elif loop.angles > AXIS:
        out[k] = dot(c.a, t.n) - dot(c.n, t.a)
        out[k + step] = dot(c.s, t.a) - dot(c.a, t.s)
        out[k + 2 * step] = dot(c.n, t.s) - dot(c.s, t.n)
        out[k + 3 * step] = 3.0 * one - dot(c.s, t.s) - dot(c.n, t.n) - dot(c.a, t.a)


def led_to(loop: Closing, q: Array) -> float:
    """Where a coupling puts the variable that follows."""
    value = loop.offset
    for k in range(loop.count):
        value += loop.leaders[k].ratio * q[loop.leaders[k].variable]
    return value


def put_equations(q: Array, f: Placed, loop: Closing, r: Array, m: int) -> None:
    """The equations of a loop or a coupling from row m on, of frames that are placed."""
    t = empty(Frame)
    if loop.lengths == 0:
        r[m] = loop.weight * (q[loop.cut] - led_to(loop, q))
    else:
        twin = f.rows[loop.twin]
        t.s = twin.s
        t.n = twin.n
        t.a = twin.a
        t.p = twin.p - f.rows[loop.cut].p
        put_rows(loop, f.rows[loop.cut], t, 1.0, r, m, 1)


def put_residuals(q: Array, f: Placed, loops: Closings, r: Array) -> int:
    """All equations. How many they are."""
    m = 0
    for k in range(loops.count):
        loop = loops.rows[k]
        put_equations(q, f, loop, r, m)
        m += loop.lengths + loop.angles
    return m


def put_side(
    frames: Tree, f: Placed, loop: Closing, frame: int, way: float, free: Free, J: Array, m: int
) -> None:
    """The columns of the joints that move a frame of a loop; way: 1 of the twin, -1 of the cut."""
    change = empty(Frame)
    t = f.rows[loop.twin]
    j = frame
    while j != loop.root:
        link = frames.rows[j - 1]
        column = -1
        if link.variable >= 0:
            column = free.columns[link.variable]
        if column >= 0:
            scale = way * link.ratio * free.unit[column]
            z = scale * f.rows[j].a
            if link.slides:
                change.p = z
                for k in range(3):
                    change.s[k] = 0.0
                    change.n[k] = 0.0
                    change.a[k] = 0.0
            else:
                change.p = cross(z, t.p - f.rows[j].p)
                change.s = cross(z, t.s)
                change.n = cross(z, t.n)
                change.a = cross(z, t.a)
            put_rows(loop, f.rows[loop.cut], change, 0.0, J, free.count * m + column, free.count)
        j = link.antecedent


def put_slope(frames: Tree, f: Placed, loop: Closing, free: Free, J: Array, m: int) -> None:
    """The derivatives of a loop or a coupling by steps of the free variables in their units, from
    row m on."""
    n = free.count
    for k in range(n * m, n * (m + loop.lengths + loop.angles)):
        J[k] = 0.0
    if loop.lengths == 0:
        follower = free.columns[loop.cut]
        if follower >= 0:
            J[n * m + follower] = loop.weight * free.unit[follower]
        for k in range(loop.count):
            leader = free.columns[loop.leaders[k].variable]
            if leader >= 0:
                J[n * m + leader] = 0.0 - loop.weight * loop.leaders[k].ratio * free.unit[leader]
    else:
        put_side(frames, f, loop, loop.cut, 0.0 - 1.0, free, J, m)
        put_side(frames, f, loop, loop.twin, 1.0, free, J, m)


def put_slopes(frames: Tree, f: Placed, loops: Closings, free: Free, J: Array) -> None:
    """Of all equations."""
    m = 0
    for k in range(loops.count):
        loop = loops.rows[k]
        put_slope(frames, f, loop, free, J, m)
        m += loop.lengths + loop.angles


def open_by(q: Array, frames: Tree, loops: Closings, free: Free, r: Array, J: Array) -> None:
    """r and its derivatives J (rows, free), by steps of the free variables in their units."""
    f = empty(Placed)
    place_frames(frames, q, f)
    put_residuals(q, f, loops, r)
    put_slopes(frames, f, loops, free, J)


def close(
    start: Array, frames: Tree, loops: Closings, free: Free, q: Array, info: Outcome
) -> None:  # fmt: skip
    """Loops closed from a start by the free variables."""
    f = empty(Placed)
    r = empty(MOST_EQUATIONS)
    ahead = empty(MOST_EQUATIONS)
    J = empty(MOST_EQUATIONS * MOST_VARIABLES)
    A = empty(MOST_VARIABLES * MOST_VARIABLES)
    g = empty(MOST_VARIABLES)
    dx = empty(MOST_VARIABLES)
    trial = empty(MOST_VARIABLES)
    held = booleans(MOST_VARIABLES)
    descent = empty(Descent)
    n = free.count
    for k in range(loops.variables):
        q[k] = start[k]
        trial[k] = start[k]
    place_frames(frames, q, f)
    rows = put_residuals(q, f, loops, r)
    begin(squares(r, rows), 1.0, descent)
    for _ in range(free.rounds):
        if largest_of(r, rows) <= FINEST or descent.damping > MOST_DAMPED:
            break
        if descent.fresh:
            put_slopes(frames, f, loops, free, J)
            normal_equations(J, r, rows, n, A, g)
        put_step(A, g, held, n, descent, dx)
        length = largest_of(dx, n)
        scale = 1.0
        if length > LONGEST:
            scale = LONGEST / length
        for k in range(n):
            v = free.variables[k]
            trial[v] = q[v] - scale * free.unit[k] * dx[k]
        place_frames(frames, trial, f)
        rows = put_residuals(trial, f, loops, ahead)
        better = accepts(squares(ahead, rows), descent)
        if better:
            for k in range(n):
                q[free.variables[k]] = trial[free.variables[k]]
            for k in range(rows):
                r[k] = ahead[k]
        if length <= FINEST:
            break
    info.largest = largest_of(r, rows)
    info.closed = info.largest < CLOSED and descent.cost < 1.0


def put_tangent(
    frames: Tree, loops: Closings, free: Free, driven: Free, q: Array, goal: Part, trial: Array
) -> None:  # fmt: skip
    """q with the driven variables at a goal, the free ones moved along the tangent: the least step
    with J_p dx = -J_a da."""
    f = empty(Placed)
    r = empty(MOST_EQUATIONS)
    J = empty(MOST_EQUATIONS * MOST_VARIABLES)
    A = empty(MOST_VARIABLES * MOST_VARIABLES)
    g = empty(MOST_VARIABLES)
    dx = empty(MOST_VARIABLES)
    held = booleans(MOST_VARIABLES)
    place_frames(frames, q, f)
    rows = put_residuals(q, f, loops, r)
    put_slopes(frames, f, loops, driven, J)
    for k in range(loops.variables):
        trial[k] = q[k]
    for k in range(driven.count):
        trial[driven.variables[k]] = goal[k]
    for m in range(rows):
        r[m] = 0.0
        for k in range(driven.count):
            v = driven.variables[k]
            r[m] += J[driven.count * m + k] * (goal[k] - q[v]) / driven.unit[k]
    put_slopes(frames, f, loops, free, J)
    normal_equations(J, r, rows, free.count, A, g)
    mu = 0.0
    for k in range(free.count):
        mu = max(mu, A[free.count * k + k])
    solved = normal_step(A, g, held, 1e-12 * mu, free.count, dx)
    if solved:
        for k in range(free.count):
            trial[free.variables[k]] -= free.unit[k] * dx[k]


def distance(q: Array, trial: Array, free: Free) -> float:
    """The largest difference of free variables, in their units."""
    far = 0.0
    for k in range(free.count):
        v = free.variables[k]
        far = max(far, abs(q[v] - trial[v]) / free.unit[k])
    return far


def carry(
    start: Array, path: Array, frames: Tree, loops: Closings, free: Free, driven: Free, way: Way,
    q: Array, info: Carried,
) -> None:  # fmt: skip
    """A closed configuration carried along a path of the driven variables, point after point, as
    far as it can be followed: rows of q. Each step goes along the tangent and closes the loops
    there; one that fails, or ends far from where the tangent pointed, is halved."""
    here = empty(MOST_VARIABLES)
    trial = empty(MOST_VARIABLES)
    ahead = empty(MOST_VARIABLES)
    goal = empty(MOST_VARIABLES)
    begin = empty(MOST_VARIABLES)
    one = empty(Outcome)
    n = loops.variables
    for k in range(n):
        here[k] = start[k]
    info.points = 0
    info.share = 0.0
    for p in range(way.points):
        reach = 0.0
        for k in range(driven.count):
            begin[k] = here[driven.variables[k]]
            reach = max(reach, abs(path[driven.count * p + k] - begin[k]) / driven.unit[k])
        longest = min(1.0, way.step / (reach + 1e-12))
        size = longest
        share = 0.0
        while share < 1.0 and size >= way.least:
            to = min(1.0, share + size)
            for k in range(driven.count):
                goal[k] = path[driven.count * p + k]
                if to < 1.0:
                    goal[k] = begin[k] + to * (goal[k] - begin[k])
            put_tangent(frames, loops, free, driven, here, goal, trial)
            close(trial, frames, loops, free, ahead, one)
            if one.closed and distance(ahead, trial, free) < way.far:
                for k in range(n):
                    here[k] = ahead[k]
                share = to
                size = min(1.5 * size, longest)
            else:
                size = 0.5 * size
        for k in range(n):
            q[n * p + k] = here[k]
        info.share = share
        if share < 1.0:
            break
        info.points += 1
