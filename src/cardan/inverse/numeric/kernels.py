"""Kernels of numerical inverse kinematics: damped least squares on a tree, with limits, restarted.

    (J^T J + mu) dq = J^T e,   e = weighted differences of origins and rotation vectors

by steps of kernel/newton.py. A joint at a limit that the step would leave is held.
"""

from __future__ import annotations

from ...kernel.language import (
    OPEN,
    Array,
    Booleans,
    Vector,
    atan2,
    booleans,
    cos,
    cross,
    dot,
    empty,
    floor,
    record,
    sin,
    sqrt,
)
from ...kernel.linalg import WIDEST, normal_equations
from ...kernel.newton import Descent, accepts, begin, put_step
from ..approach import Frame

MOST_FRAMES = 160
MOST_VARIABLES = WIDEST
MOST_ROWS = 96
TURN = 6.283185307179586


@record()
class Link:
    """A frame on its antecedent, and the variable that moves it, times the ratio."""

    antecedent: int
    variable: int  # -1: none
    slides: bool
    cg: float
    sg: float
    b: float
    ca: float
    sa: float
    d: float
    theta: float
    r: float
    ratio: float


@record(rows=OPEN)
class Tree:
    """Frames: the first is the base, the others have rows. Several may have one variable."""

    count: int
    rows: list[Link]


@record()
class Bounds:
    """The limits of a variable, and the ends of its random starts."""

    lower: float
    upper: float
    first: float
    last: float


@record(rows=OPEN)
class Variables:
    """The unknowns."""

    count: int
    rows: list[Bounds]


@record()
class Target:
    """A frame that is to come to a pose, or to another frame, with weights."""

    frame: int
    other: int  # -1: the pose
    linear: Vector
    angular: Vector


@record(rows=OPEN)
class Task:
    """What is to be reached."""

    count: int
    iterations: int  # of a start
    starts: int
    tolerance: float
    size: float
    rows: list[Target]


@record(rows=MOST_FRAMES)
class Placed:
    """All frames in frame 0."""

    rows: list[Frame]


@record()
class Report:
    """How a search went."""

    largest: float  # error, m and rad
    iterations: int
    converged: bool
    starts: int


def place_frames(tree: Tree, q: Array, f: Placed) -> None:
    """Every frame in frame 0."""
    for k in range(3):
        f.rows[0].s[k] = 0.0
        f.rows[0].n[k] = 0.0
        f.rows[0].a[k] = 0.0
        f.rows[0].p[k] = 0.0
    f.rows[0].s[0] = 1.0
    f.rows[0].n[1] = 1.0
    f.rows[0].a[2] = 1.0
    for j in range(1, tree.count):
        link = tree.rows[j - 1]
        before = f.rows[link.antecedent]
        here = f.rows[j]
        theta = link.theta
        r = link.r
        if link.variable >= 0:
            if link.slides:
                r += link.ratio * q[link.variable]
            else:
                theta += link.ratio * q[link.variable]
        c = 1.0
        s = 0.0
        if theta != 0.0:
            c = cos(theta)
            s = sin(theta)
        x = link.cg * before.s + link.sg * before.n
        y = link.cg * before.n - link.sg * before.s
        n = link.ca * y + link.sa * before.a
        a = link.ca * before.a - link.sa * y
        here.s = c * x + s * n
        here.n = c * n - s * x
        here.a = a
        here.p = before.p + link.b * before.a + link.d * x + r * a


def add_columns(
    tree: Tree, f: Placed, frame: int, way: float, target: Target, unit: float, row: int, n: int,
    J: Array,
) -> None:  # fmt: skip
    """Add the Jacobian of a frame, 1 or -1 times (way), to six rows of J."""
    j = frame
    while j > 0:
        link = tree.rows[j - 1]
        v = link.variable
        if v >= 0:
            sign = way * link.ratio
            axis = f.rows[j].a
            lever = cross(axis, f.rows[frame].p - f.rows[j].p)
            for k in range(3):
                if link.slides:
                    J[n * (row + k) + v] += sign * unit * target.linear[k] * axis[k]
                else:
                    J[n * (row + k) + v] += sign * unit * target.linear[k] * lever[k]
                    J[n * (row + 3 + k) + v] += sign * target.angular[k] * axis[k]
        j = link.antecedent


def rotation_vector(g: Frame, f: Frame, e: Vector) -> None:
    """The turn, in frame 0, from the axes of f to those of g."""
    v = 0.5 * (cross(f.s, g.s) + cross(f.n, g.n) + cross(f.a, g.a))
    c = 0.5 * (dot(f.s, g.s) + dot(f.n, g.n) + dot(f.a, g.a) - 1.0)
    s = sqrt(dot(v, v))
    scale = 1.0
    if s > 1e-9:
        scale = atan2(s, c) / s
    elif c < 0.0:  # half a turn, about any axis that is handy
        v[0] = 1.0
        v[1] = 0.3
        scale = 2.0
    for k in range(3):
        e[k] = scale * v[k]


def errors(task: Task, T: Array, f: Placed, e: Array, report: Report) -> float:
    """Rows e of all targets; the sum of their squares. The largest, in m and rad, in the
    report."""
    g = empty(Frame)
    turn = empty(Vector)
    total = 0.0
    report.largest = 0.0
    for t in range(task.count):
        target = task.rows[t]
        frame = f.rows[target.frame]
        for k in range(3):
            g.s[k] = T[16 * t + 4 * k]
            g.n[k] = T[16 * t + 4 * k + 1]
            g.a[k] = T[16 * t + 4 * k + 2]
            g.p[k] = T[16 * t + 4 * k + 3]
        if target.other >= 0:
            other = f.rows[target.other]
            g.s = other.s
            g.n = other.n
            g.a = other.a
            g.p = other.p
        rotation_vector(g, frame, turn)
        for k in range(3):
            x = target.linear[k] * (g.p[k] - frame.p[k])
            y = target.angular[k] * turn[k]
            report.largest = max(report.largest, max(abs(x), abs(y)))
            x = x / task.size
            e[6 * t + k] = x
            e[6 * t + 3 + k] = y
            total += x * x + y * y
    return total


def jacobian(tree: Tree, n: int, task: Task, f: Placed, J: Array) -> None:
    """dq -> change of all rows."""
    unit = 1.0 / task.size
    for k in range(6 * task.count * n):
        J[k] = 0.0
    for t in range(task.count):
        target = task.rows[t]
        add_columns(tree, f, target.frame, 1.0, target, unit, 6 * t, n, J)
        if target.other >= 0:
            add_columns(tree, f, target.other, -1.0, target, unit, 6 * t, n, J)


def hold_limits(variables: Variables, q: Array, g: Array, bound: bool, held: Booleans) -> float:
    """Hold joints whose descent would leave their limits, if these are binding; the largest free
    component of g."""
    largest = 0.0
    for i in range(variables.count):
        row = variables.rows[i]
        outside = (q[i] <= row.lower and g[i] < 0.0) or (q[i] >= row.upper and g[i] > 0.0)
        held[i] = bound and outside
        if not held[i]:
            largest = max(largest, abs(g[i]))
    return largest


def stepped(variables: Variables, q: Array, dq: Array, bound: bool, trial: Array) -> float:
    """q + dq, at most half a turn, within the limits where they bind; the length of the step."""
    size = 0.0
    for i in range(variables.count):
        size = max(size, abs(dq[i]))
    scale = 1.0
    if size > 1.5:
        scale = 1.5 / size
    size = 0.0
    for i in range(variables.count):
        row = variables.rows[i]
        trial[i] = q[i] + scale * dq[i]
        if bound:
            trial[i] = min(max(trial[i], row.lower), row.upper)
        size = max(size, abs(trial[i] - q[i]))
    return size


def descend(
    tree: Tree, variables: Variables, task: Task, T: Array, q: Array, bound: bool, report: Report
) -> None:
    """From q to a minimum."""
    f = empty(Placed)
    e = empty(MOST_ROWS)
    J = empty(MOST_ROWS * MOST_VARIABLES)
    A = empty(MOST_VARIABLES * MOST_VARIABLES)
    g = empty(MOST_VARIABLES)
    dq = empty(MOST_VARIABLES)
    trial = empty(MOST_VARIABLES)
    held = booleans(MOST_VARIABLES)
    descent = empty(Descent)
    n = variables.count
    place_frames(tree, q, f)
    cost = errors(task, T, f, e, report)
    begin(cost, 1e-1, descent)
    least = report.largest
    for _ in range(task.iterations):
        if least <= task.tolerance:
            report.converged = True
            break
        if descent.fresh:
            jacobian(tree, n, task, f, J)
            normal_equations(J, e, 6 * task.count, n, A, g)
            slope = hold_limits(variables, q, g, bound, held)
            if slope < 1e-9 * sqrt(descent.cost) or slope < 1e-16:
                break
        put_step(A, g, held, n, descent, dq)
        size = stepped(variables, q, dq, bound, trial)
        report.iterations += 1
        place_frames(tree, trial, f)
        before = descent.cost
        cost = errors(task, T, f, e, report)
        better = accepts(cost, descent)
        if better:
            if size < 1e-13 and cost > 0.999 * before:
                break
            least = report.largest
            for i in range(n):
                q[i] = trial[i]
        elif descent.damping > 1e8 or size < 1e-15:
            break
    report.largest = least


def into_limits(tree: Tree, variables: Variables, q: Array) -> None:
    """Move q into the limits: turns by whole turns if that is enough, else to the nearer end."""
    for k in range(tree.count - 1):
        i = tree.rows[k].variable
        if i >= 0:
            row = variables.rows[i]
            turn = 0.0
            moved = 0  # joints: whole turns of several mean something
            for m in range(tree.count - 1):
                if tree.rows[m].variable == i:
                    moved += 1
            if q[i] < row.lower:
                turn = 0.0 - floor((q[i] - row.lower) / TURN)
            if q[i] > row.upper:
                turn = 0.0 - floor((q[i] - row.upper) / TURN) - 1.0
            if moved == 1 and not tree.rows[k].slides:
                q[i] += TURN * turn
            q[i] = min(max(q[i], row.lower), row.upper)


@record()
class Draws:
    """Where a sequence of random numbers stands."""

    state: float


def next_random(draws: Draws) -> float:
    """A number in (0, 1): the minimal standard generator of Park and Miller, exact in floats."""
    x = 16807.0 * draws.state
    draws.state = x - 2147483647.0 * floor(x / 2147483647.0)
    return draws.state / 2147483647.0


def damped_least_squares(
    T: Array, start: Array, seed: Draws, tree: Tree, variables: Variables, task: Task, q: Array,
    info: Report,
) -> None:  # fmt: skip
    """From the start, then from random ones, until the targets are met; the best is kept.

    T: a pose (4x4, row by row) per target."""
    x = empty(MOST_VARIABLES)
    one = empty(Report)
    draws = empty(Draws)
    draws.state = seed.state
    info.largest = 1e300
    info.iterations = 0
    info.converged = False
    info.starts = 0
    for trial in range(task.starts):
        for i in range(variables.count):
            row = variables.rows[i]
            if trial == 0:
                x[i] = min(max(start[i], row.lower), row.upper)
            else:
                u = next_random(draws)
                x[i] = row.first + u * (row.last - row.first)
        one.iterations = 0
        one.converged = False
        if trial % 2 == 1:  # from outside the limits there are more ways in
            descend(tree, variables, task, T, x, False, one)
            into_limits(tree, variables, x)
            one.converged = False
        descend(tree, variables, task, T, x, True, one)
        info.iterations += one.iterations
        info.starts += 1
        if one.largest < info.largest:
            info.largest = one.largest
            for i in range(variables.count):
                q[i] = x[i]
        if one.converged:
            info.converged = True
            break


def rows_of(
    T: Array, q: Array, tree: Tree, variables: Variables, task: Task, e: Array, J: Array
) -> None:
    """Errors and Jacobian of all targets at q, for a solver that adds rows of its own."""
    f = empty(Placed)
    report = empty(Report)
    place_frames(tree, q, f)
    errors(task, T, f, e, report)
    jacobian(tree, variables.count, task, f, J)
