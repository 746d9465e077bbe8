"""Kernels of numerical inverse kinematics: damped least squares on a tree, with limits, restarted.

    (J^T J + mu) dq = J^T e,   e = weighted differences of origins and rotation vectors

(Levenberg 1944, Marquardt 1963; damping as in Nielsen 1999). A joint at a limit that the step would
leave is held. The table of a robot and its targets:

    0 frames, 1 variables, 2 targets, 3 iterations of a start, 4 starts, 5 tolerance, 6 size
    FRAMES: 12 per frame: antecedent, variable (-1: none), sigma, cos gamma, sin gamma, b, cos
            alpha, sin alpha, d, theta, r, ratio; frame 0 is the base and has no row. Several
            frames may have one variable: the joint moves by ratio times its value
    then 4 per variable: lower and upper limit, lower and upper end of random starts
    then 8 per target: frame, other frame (-1: the pose T), weights of x y z and of rx ry rz
"""

from __future__ import annotations

from ...kernel.language import Array, atan2, cos, empty, floor, sin, sqrt, zeros

__all__ = [
    "FRAMES", "MOST_FRAMES", "MOST_ROWS", "MOST_VARIABLES", "damped_least_squares", "rows_of",
]  # fmt: skip

FRAMES = 8  # where the frames start
MOST_FRAMES = 160
MOST_VARIABLES = 64
MOST_ROWS = 96
TURN = 6.283185307179586


def place_frames(table: Array, q: Array, f: Array) -> None:
    """Columns s n a p of every frame in frame 0, 12 numbers each."""
    for k in range(12):
        f[k] = 0.0
    f[0] = 1.0
    f[4] = 1.0
    f[8] = 1.0
    count = int(table[0])
    for j in range(1, count):
        at = FRAMES + 12 * (j - 1)
        i = 12 * int(table[at])
        theta = table[at + 9]
        r = table[at + 10]
        variable = int(table[at + 1])
        if variable >= 0:
            if table[at + 2] < 0.5:
                theta += table[at + 11] * q[variable]
            else:
                r += table[at + 11] * q[variable]
        cg = table[at + 3]
        sg = table[at + 4]
        b = table[at + 5]
        ca = table[at + 6]
        sa = table[at + 7]
        d = table[at + 8]
        c = cos(theta)
        s = sin(theta)
        for k in range(3):
            x = cg * f[i + k] + sg * f[i + 3 + k]
            y = cg * f[i + 3 + k] - sg * f[i + k]
            z = f[i + 6 + k]
            n = ca * y + sa * z
            a = ca * z - sa * y
            f[12 * j + k] = c * x + s * n
            f[12 * j + 3 + k] = c * n - s * x
            f[12 * j + 6 + k] = a
            f[12 * j + 9 + k] = f[i + 9 + k] + b * z + d * x + r * a


def add_columns(
    table: Array, f: Array, frame: int, way: float, weights: int, row: int, n: int, J: Array
) -> None:
    """Add the Jacobian of a frame, 1 or -1 times (way), to six rows of J."""
    unit = 1.0 / table[6]
    j = frame
    while j > 0:
        at = FRAMES + 12 * (j - 1)
        variable = int(table[at + 1])
        if variable >= 0:
            sign = way * table[at + 11]
            ax = f[12 * j + 6]
            ay = f[12 * j + 7]
            az = f[12 * j + 8]
            if table[at + 2] < 0.5:
                x = f[12 * frame + 9] - f[12 * j + 9]
                y = f[12 * frame + 10] - f[12 * j + 10]
                z = f[12 * frame + 11] - f[12 * j + 11]
                J[n * row + variable] += sign * unit * table[weights] * (ay * z - az * y)
                J[n * (row + 1) + variable] += sign * unit * table[weights + 1] * (az * x - ax * z)
                J[n * (row + 2) + variable] += sign * unit * table[weights + 2] * (ax * y - ay * x)
                J[n * (row + 3) + variable] += sign * table[weights + 3] * ax
                J[n * (row + 4) + variable] += sign * table[weights + 4] * ay
                J[n * (row + 5) + variable] += sign * table[weights + 5] * az
            else:
                J[n * row + variable] += sign * unit * table[weights] * ax
                J[n * (row + 1) + variable] += sign * unit * table[weights + 1] * ay
                J[n * (row + 2) + variable] += sign * unit * table[weights + 2] * az
        j = int(table[at])


def rotation_vector(g: Array, f: Array, at: int, e: Array) -> None:
    """The turn, in frame 0, from the axes of f to those of g (columns)."""
    x = 0.0
    y = 0.0
    z = 0.0
    trace = 0.0
    for k in range(3):
        a = at + 3 * k
        x += 0.5 * (f[a + 1] * g[3 * k + 2] - f[a + 2] * g[3 * k + 1])
        y += 0.5 * (f[a + 2] * g[3 * k] - f[a] * g[3 * k + 2])
        z += 0.5 * (f[a] * g[3 * k + 1] - f[a + 1] * g[3 * k])
        trace += f[a] * g[3 * k] + f[a + 1] * g[3 * k + 1] + f[a + 2] * g[3 * k + 2]
    s = sqrt(x * x + y * y + z * z)
    c = 0.5 * (trace - 1.0)
    scale = 1.0
    if s > 1e-9:
        scale = atan2(s, c) / s
    elif c < 0.0:  # half a turn, about any axis that is handy
        x = 1.0
        y = 0.3
        scale = 2.0
    e[0] = scale * x
    e[1] = scale * y
    e[2] = scale * z


def errors(table: Array, T: Array, f: Array, e: Array, largest: Array) -> float:
    """Rows e of all targets; half the sum of their squares. largest[0]: in m and rad."""
    g = empty(12)
    turn = empty(3)
    variables = int(table[1])
    targets = int(table[2])
    at = FRAMES + 12 * (int(table[0]) - 1) + 4 * variables
    total = 0.0
    largest[0] = 0.0
    for t in range(targets):
        frame = 12 * int(table[at])
        other = int(table[at + 1])
        for k in range(3):
            for c in range(4):
                g[3 * c + k] = T[16 * t + 4 * k + c]
                if other >= 0:
                    g[3 * c + k] = f[12 * other + 3 * c + k]
        rotation_vector(g, f, frame, turn)
        for k in range(3):
            x = table[at + 2 + k] * (g[9 + k] - f[frame + 9 + k])
            y = table[at + 5 + k] * turn[k]
            largest[0] = max(largest[0], max(abs(x), abs(y)))
            x = x / table[6]
            e[6 * t + k] = x
            e[6 * t + 3 + k] = y
            total += x * x + y * y
        at += 8
    return 0.5 * total


def jacobian(table: Array, f: Array, J: Array) -> None:
    """dq -> change of all rows."""
    n = int(table[1])
    targets = int(table[2])
    at = FRAMES + 12 * (int(table[0]) - 1) + 4 * n
    for k in range(6 * targets * n):
        J[k] = 0.0
    for t in range(targets):
        add_columns(table, f, int(table[at]), 1.0, at + 2, 6 * t, n, J)
        other = int(table[at + 1])
        if other >= 0:
            add_columns(table, f, other, -1.0, at + 2, 6 * t, n, J)
        at += 8


def normal_step(A: Array, g: Array, held: Array, mu: float, n: int, dq: Array) -> int:
    """(A + mu) dq = g for the joints that are not held, by Cholesky. 0 when it fails."""
    L = empty(4096)
    for i in range(n):
        for j in range(i + 1):
            total = A[n * i + j]
            if i == j:
                total += mu
            if held[i] + held[j] > 0.5:
                total = 0.0
                if i == j:
                    total = 1.0
            for k in range(j):
                total -= L[n * i + k] * L[n * j + k]
            if i == j:
                if total <= 0.0:
                    return 0
                L[n * i + i] = sqrt(total)
            else:
                L[n * i + j] = total / L[n * j + j]
    for i in range(n):
        total = g[i]
        if held[i] > 0.5:
            total = 0.0
        for k in range(i):
            total -= L[n * i + k] * dq[k]
        dq[i] = total / L[n * i + i]
    for i in range(n - 1, -1, -1):
        total = dq[i]
        for k in range(i + 1, n):
            total -= L[n * k + i] * dq[k]
        dq[i] = total / L[n * i + i]
    return 1


def normal_equations(J: Array, e: Array, rows: int, n: int, A: Array, g: Array) -> None:
    """A = J^T J, g = J^T e."""
    for i in range(n):
        g[i] = 0.0
        for j in range(i + 1):
            A[n * i + j] = 0.0
    for r in range(rows):
        for i in range(n):
            x = J[n * r + i]
            if x != 0.0:
                g[i] += x * e[r]
                for j in range(i + 1):
                    A[n * i + j] += x * J[n * r + j]


def hold_limits(table: Array, q: Array, g: Array, bound: float, held: Array) -> float:
    """Hold joints whose descent would leave their limits, if these are binding (bound 1); the
    largest free component of g."""
    n = int(table[1])
    at = FRAMES + 12 * (int(table[0]) - 1)
    largest = 0.0
    for i in range(n):
        held[i] = 0.0
        if q[i] <= table[at + 4 * i] and g[i] < 0.0:
            held[i] = bound
        if q[i] >= table[at + 4 * i + 1] and g[i] > 0.0:
            held[i] = bound
        if held[i] < 0.5:
            largest = max(largest, abs(g[i]))
    return largest


def stepped(table: Array, q: Array, dq: Array, bound: float, trial: Array) -> float:
    """q + dq, at most half a turn, within the limits where they bind; the length of the step."""
    n = int(table[1])
    at = FRAMES + 12 * (int(table[0]) - 1)
    size = 0.0
    for i in range(n):
        size = max(size, abs(dq[i]))
    scale = 1.0
    if size > 1.5:
        scale = 1.5 / size
    size = 0.0
    for i in range(n):
        trial[i] = q[i] + scale * dq[i]
        if bound > 0.5:
            trial[i] = min(max(trial[i], table[at + 4 * i]), table[at + 4 * i + 1])
        size = max(size, abs(trial[i] - q[i]))
    return size


def descend(table: Array, T: Array, q: Array, bound: float, info: Array) -> None:
    """From q to a minimum. info: largest error, iterations, 1 when it is below the tolerance."""
    f = empty(1920)
    e = empty(MOST_ROWS)
    J = empty(6144)
    A = empty(4096)
    g = empty(MOST_VARIABLES)
    dq = empty(MOST_VARIABLES)
    trial = empty(MOST_VARIABLES)
    held = empty(MOST_VARIABLES)
    largest = zeros(1)
    n = int(table[1])
    place_frames(table, q, f)
    cost = errors(table, T, f, e, largest)
    mu = 1e-3
    grow = 2.0
    fresh = 1
    for _ in range(int(table[3])):
        info[0] = largest[0]
        if largest[0] <= table[5]:
            info[2] = 1.0
            return
        if fresh == 1:
            jacobian(table, f, J)
            normal_equations(J, e, 6 * int(table[2]), n, A, g)
            slope = hold_limits(table, q, g, bound, held)
            if slope < 1e-9 * sqrt(2.0 * cost) or slope < 1e-16:
                return
        done = normal_step(A, g, held, mu, n, dq)
        if done == 0:
            mu = 10.0 * mu + 1e-12
            fresh = 0
            continue
        size = stepped(table, q, dq, bound, trial)
        info[1] += 1.0
        place_frames(table, trial, f)
        now = errors(table, T, f, e, largest)
        if now < cost:
            if size < 1e-13 and now > 0.999 * cost:
                return
            gain = 0.0
            for i in range(n):
                gain += 0.5 * dq[i] * (mu * dq[i] + g[i])
            quality = (cost - now) / max(gain, 1e-300)
            bend = 2.0 * quality - 1.0
            mu = mu * max(0.2, 1.0 - bend * bend * bend)
            mu = min(mu, 1e-2 * now + 1e-3 * mu + 1e-15)
            grow = 2.0
            cost = now
            fresh = 1
            for i in range(n):
                q[i] = trial[i]
        else:
            mu = (mu + 1e-9) * grow
            grow = 2.0 * grow
            fresh = 0
            largest[0] = info[0]
            if mu > 1e8 or size < 1e-15:
                return


def into_limits(table: Array, q: Array) -> None:
    """Move q into the limits: turns by whole turns if that is enough, else to the nearer end."""
    joints = int(table[0]) - 1
    for k in range(joints):
        i = int(table[FRAMES + 12 * k + 1])
        if i >= 0:
            at = FRAMES + 12 * joints + 4 * i
            turn = 0.0
            moved = 0  # joints: whole turns of several mean something
            for m in range(joints):
                if int(table[FRAMES + 12 * m + 1]) == i:
                    moved += 1
            if q[i] < table[at]:
                turn = 0.0 - floor((q[i] - table[at]) / TURN)
            if q[i] > table[at + 1]:
                turn = 0.0 - floor((q[i] - table[at + 1]) / TURN) - 1.0
            if table[FRAMES + 12 * k + 2] < 0.5 and moved == 1:
                q[i] += TURN * turn
            q[i] = min(max(q[i], table[at]), table[at + 1])


def next_random(state: Array) -> float:
    """A number in (0, 1): the minimal standard generator of Park and Miller, exact in floats."""
    x = 16807.0 * state[0]
    state[0] = x - 2147483647.0 * floor(x / 2147483647.0)
    return state[0] / 2147483647.0


def damped_least_squares(
    T: Array, start: Array, seed: Array, table: Array, q: Array, info: Array
) -> None:
    """From the start, then from random ones, until the targets are met; the best is kept.

    T: a pose (4x4, row by row) per target. info: largest error in m and rad, iterations, converged,
    starts used."""
    x = empty(MOST_VARIABLES)
    one = empty(4)
    state = empty(1)
    state[0] = seed[0]
    n = int(table[1])
    at = FRAMES + 12 * (int(table[0]) - 1)
    info[0] = 1e300
    info[1] = 0.0
    info[2] = 0.0
    info[3] = 0.0
    for trial in range(int(table[4])):
        for i in range(n):
            if trial == 0:
                x[i] = min(max(start[i], table[at + 4 * i]), table[at + 4 * i + 1])
            else:
                u = next_random(state)
                x[i] = table[at + 4 * i + 2] + u * (table[at + 4 * i + 3] - table[at + 4 * i + 2])
        one[0] = 0.0
        one[1] = 0.0
        one[2] = 0.0
        if trial % 2 == 1:  # from outside the limits there are more ways in
            descend(table, T, x, 0.0, one)
            into_limits(table, x)
            one[2] = 0.0
        descend(table, T, x, 1.0, one)
        info[1] += one[1]
        info[3] += 1.0
        if one[0] < info[0]:
            info[0] = one[0]
            for i in range(n):
                q[i] = x[i]
        if one[2] > 0.5:
            info[2] = 1.0
            break


def rows_of(T: Array, q: Array, table: Array, e: Array, J: Array, largest: Array) -> None:
    """Errors and Jacobian of all targets at q, for a solver that adds rows of its own."""
    f = empty(1920)
    cost = errors_at(table, T, q, f, e, largest)
    largest[1] = cost
    jacobian(table, f, J)


def errors_at(table: Array, T: Array, q: Array, f: Array, e: Array, largest: Array) -> float:
    """Place the frames, then their errors."""
    place_frames(table, q, f)
    cost = errors(table, T, f, e, largest)
    return cost
