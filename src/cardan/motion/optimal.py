"""The fastest motion along a path, under limits of velocity, acceleration and torque.

A path q(s) of the joints is run through with s(t): with x = sd² and u = sdd,

    qd = q' sd,   qdd = q' u + q'' x,   tau = a u + b x + c

are linear in u and x, and so is every limit, low <= a u + b x <= high. On a grid of s, u is
constant from a point to the next and x_(i+1) = x_i + 2 (s_(i+1) - s_i) u. Backwards, the x from
which the end can be reached form an interval at each point; forwards, the largest u that stays
inside them is the fastest motion (H. Pham, Q.-C. Pham, "A new approach to time-optimal path
parameterization based on reachability analysis", IEEE Trans. Robotics 34(3), 2018). Limits hold at
both ends of every step.

Both ends of an interval are roots of a concave function of x, the largest u minus the least, made
of straight pieces: Newton's method meets them in a few steps, from outside, without a linear
program.

Friction is not linear in x. It is replaced by its tangent at the profile before, and the whole is
done again until the duration stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ..arguments import Numbers, named_arguments
from ..build.common import with_friction
from ..describe.robot import Robot
from ..errors import InputError, ModelError
from ..kernel.language import Array, record, zeros
from ..run.kernel import KernelFunction
from .coordinates import coordinates
from .derived import compiled
from .joints import bounds, names, require_numbers, vector
from .piecewise import Piecewise, spline
from .torques import rigid_positions
from .trajectory import State, Trajectory, from_law, from_piecewise

FLAT = 1e-12  # of x's share in a limit: below it u does not count
ROUND = 1e-10  # by which the largest u may fall short of the least
ROUNDS = 64  # of Newton's method, which ends by itself
_FRICTION_ROUNDS = 30
_SETTLED = 1e-7  # of the duration
_SLOW = 1e-6  # of the largest sd: where friction is looked at instead of rest
_UNLIMITED = 1e12


@record()
class Edge:
    """u = height + slope x."""

    height: float
    slope: float


@record()
class Range:
    """What u may be, as functions of x, and what x may be where u does not count."""

    upper: Edge
    lower: Edge
    least: float
    most: float


def narrow(range_: Range, x: float, alpha: float, beta: float, low: float, high: float) -> None:
    """The range at x under low <= alpha u + beta x <= high."""
    if abs(alpha) <= FLAT * abs(beta):
        if beta > 0.0:
            range_.most = min(range_.most, high / beta)
            range_.least = max(range_.least, low / beta)
        if beta < 0.0:
            range_.most = min(range_.most, low / beta)
            range_.least = max(range_.least, high / beta)
        return
    slope = -beta / alpha
    top = (high if alpha > 0.0 else low) / alpha
    bottom = (low if alpha > 0.0 else high) / alpha
    if top + slope * x < range_.upper.height + range_.upper.slope * x:
        range_.upper.height = top
        range_.upper.slope = slope
    if bottom + slope * x > range_.lower.height + range_.lower.slope * x:
        range_.lower.height = bottom
        range_.lower.slope = slope


def put_range(
    range_: Range, x: float, i: int, m: int, step: float, a: Array, b: Array,
    low: Array, high: Array, top: Array, least: Array, most: Array,
) -> None:  # fmt: skip
    """All limits on u at x, from point i to the next and at both of them."""
    range_.upper.height = 1e300
    range_.upper.slope = 0.0
    range_.lower.height = -1e300
    range_.lower.slope = 0.0
    range_.least = 0.0
    range_.most = top[i]
    for k in range(m):
        narrow(range_, x, a[i * m + k], b[i * m + k], low[i * m + k], high[i * m + k])
    narrow(range_, x, 2.0 * step, 1.0, least[i + 1], most[i + 1])
    for k in range(m):
        at = (i + 1) * m + k
        narrow(range_, x, a[at] + 2.0 * step * b[at], b[at], low[at], high[at])


def extreme(
    range_: Range, start: float, rising: bool, i: int, m: int, step: float, a: Array,
    b: Array, low: Array, high: Array, top: Array, least: Array, most: Array,
) -> float:  # fmt: skip
    """The first x from a start upwards (rising) or downwards at which there is a u; -1: none."""
    x = start
    for _ in range(ROUNDS):
        put_range(range_, x, i, m, step, a, b, low, high, top, least, most)
        if rising and x < range_.least:
            x = range_.least
            continue
        if not rising and x > range_.most:
            x = range_.most
            continue
        if range_.least > range_.most * (1.0 + ROUND):
            return -1.0
        upper = range_.upper.height + range_.upper.slope * x
        lower = range_.lower.height + range_.lower.slope * x
        if upper - lower >= -ROUND * (abs(upper) + abs(lower)):
            return x
        slope = range_.upper.slope - range_.lower.slope
        if (rising and slope <= 0.0) or (not rising and slope >= 0.0):
            return -1.0
        x = (range_.lower.height - range_.upper.height) / slope
        if x < 0.0 or x > range_.most * (1.0 + ROUND):
            return -1.0
    return x


@record()
class Ends:
    """Steps of the path, limits at a point, and x where the path begins and ends."""

    steps: int
    limits: int
    first: float
    last: float


@record()
class Stuck:
    """The point from which there is no way on; -1: there is none."""

    point: int


def fastest_profile(
    ends: Ends, s: Array, a: Array, b: Array, low: Array, high: Array, top: Array, x: Array,
    least: Array, most: Array, stuck: Stuck,
) -> None:  # fmt: skip
    """The largest x at every point of s."""
    n = ends.steps
    m = ends.limits
    range_ = zeros(Range)
    stuck.point = -1
    least[n] = ends.last
    most[n] = ends.last
    for back in range(n):
        i = n - 1 - back
        step = s[i + 1] - s[i]
        upper = extreme(range_, top[i], False, i, m, step, a, b, low, high, top, least, most)
        lower = extreme(range_, 0.0, True, i, m, step, a, b, low, high, top, least, most)
        if upper < 0.0 or lower < 0.0:
            stuck.point = i
            return
        most[i] = upper
        least[i] = lower
    if ends.first > most[0] * (1.0 + ROUND) or ends.first < least[0] * (1.0 - ROUND):
        stuck.point = 0
        return
    x[0] = ends.first
    for i in range(n):
        step = s[i + 1] - s[i]
        put_range(range_, x[i], i, m, step, a, b, low, high, top, least, most)
        u = range_.upper.height + range_.upper.slope * x[i]
        x[i + 1] = max(least[i + 1], min(most[i + 1], x[i] + 2.0 * step * u))


@cache
def _profile() -> KernelFunction:
    inputs = {"ends": 4, "s": 0, "a": 0, "b": 0, "low": 0, "high": 0, "top": 0}
    outputs = {"x": 0, "least": 0, "most": 0, "stuck": 1}
    return KernelFunction(fastest_profile, inputs, outputs)


@dataclass(frozen=True)
class Rows:
    """Limits low <= a u + b x + c <= high at every point, (N + 1, rows), and what each is of."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    limit: np.ndarray  # (rows)
    of: tuple[str, ...]


@named_arguments
def time_optimal(
    robot: Robot, path: Trajectory, *, velocity: Numbers = None, acceleration: Numbers = None,
    torque: Numbers = None, q0: Numbers = None, grid: int = 1000, dt: float = 1e-3,
) -> Trajectory:  # fmt: skip
    """The fastest motion along a path, from rest to rest, sampled every dt.

    The path is a Trajectory whose parameter need not be the time: only where it goes counts
    (`along_points`, `taskspace.follow`). Its rates must not vanish together. Limits, one for all or
    one per joint, are those of the description where they are left out; there must be one that
    slows every part of the path. With closed loops the path is that of the active joints, or of all
    joints, and torques are those of the drives, from the assembly nearest to q0. `grid`: steps of
    the path; limits hold at their ends.

    >>> robot = cardan.load("ur5")
    >>> path = along_points([[0, -1, 1, 0, 0, 0], [0.5, -1.2, 1.4, 0.2, 0, 0]])
    >>> motion = time_optimal(robot, path, velocity=2, acceleration=[10] * 6)
    >>> round(motion.duration, 4)
    0.4472"""
    require_numbers(robot, "a time-optimal motion")
    if isinstance(grid, bool) or not isinstance(grid, int | np.integer) or grid < 2:
        raise InputError(f"a grid of {grid} steps; expected a whole number, at least 2")
    s = np.linspace(path.t[0], path.t[-1], grid + 1)
    points = Trajectory(s, *path(s))
    slopes = np.abs(points.qd).max(axis=1)
    if slopes.min() <= 1e-9 * slopes.max():
        points, path = _evenly(path, s)
    columns = _columns(robot, points.n)
    limits = {
        "velocity": _limit("velocity", velocity, bounds(robot, "velocity")[columns]),
        "acceleration": _limit("acceleration", acceleration, np.full(points.n, np.inf)),
    }
    drives = coordinates(robot).place
    effort = _limit("torque", torque, bounds(robot, "effort")[drives])
    rows, rubbing = _rows(robot, points, limits["acceleration"], effort, columns, q0)
    with np.errstate(divide="ignore"):
        top = np.min((limits["velocity"] / np.abs(points.qd)) ** 2, axis=1)
    if not len(rows.of) and np.isinf(top).any():
        raise InputError(
            f"no limit says how fast '{robot.name}' may be along this path",
            remedy="give velocity=, acceleration= or torque=",
        )
    x = _settled(s, rows, np.minimum(top, _UNLIMITED), rubbing)
    t, u = _times(s, x), np.diff(x) / np.diff(s) / 2
    pieces = np.stack([s[:-1], np.sqrt(x[:-1]), u / 2], axis=1)[:, None, :]
    return retimed(path, Piecewise(t, pieces), dt, "time-optimal")


def _columns(robot: Robot, n: int) -> np.ndarray:
    """The joint variables that a path of n columns moves: all, or those that are driven."""
    place = coordinates(robot).place
    if n not in (robot.n, len(place)):
        raise InputError(
            f"the path has {n} joints, '{robot.name}' has {robot.n} joint variables",
            remedy=f"expected {robot.n} columns" + (
                f", or {len(place)} of the drives" if len(place) != robot.n else ""),
        )  # fmt: skip
    return np.arange(robot.n) if n == robot.n else place


def _limit(name: str, values: Any, own: np.ndarray) -> np.ndarray:
    if values is None:
        return own
    limit = vector(name, values, len(own))
    if (limit <= 0).any():
        raise InputError(f"{name} = {limit.tolist()}: limits must be positive", where=name)
    return limit


def _evenly(path: Trajectory, s: np.ndarray) -> tuple[Trajectory, Trajectory]:
    """A path that rests somewhere, as a spline through its points that does not."""
    q = path(s)[0]
    moved = np.append(True, np.linalg.norm(np.diff(q, axis=0), axis=1) > 0)
    if moved.sum() < 2:
        raise InputError("the path goes nowhere: its points are all the same")
    other = along_points(q[moved])
    s[:] = np.linspace(other.t[0], other.t[-1], len(s))
    return Trajectory(s, *other(s)), other


@named_arguments
def along_points(points: Numbers, *, degree: int = 3) -> Trajectory:
    """A smooth path through points (m, n) of the joints, which does not rest on its way: a natural
    spline over the length of the chords. Two points are joined by a straight line.

    >>> along_points([[0, 0], [1, 1], [2, 0]]).q[-1].tolist()
    [2.0, 0.0]"""
    rows = np.asarray(points, float)
    if rows.ndim != 2 or len(rows) < 2 or not np.isfinite(rows).all():
        raise InputError(f"points have shape {rows.shape}; expected (m, n), m >= 2, finite")
    chords = np.linalg.norm(np.diff(rows, axis=0), axis=1)
    if not chords.all():
        k = int(np.argmin(chords))
        raise InputError(f"points {k} and {k + 1} (from 0) are the same: leave one out")
    x = spline(np.concatenate([[0.0], chords.cumsum()]), rows, degree, "natural")
    return from_piecewise(x, x.duration / 50, "path")


def _rows(
    robot: Robot, points: Trajectory, acceleration: np.ndarray, effort: np.ndarray,
    columns: np.ndarray, q0: Any,
) -> tuple[Rows, Callable[[np.ndarray], np.ndarray] | None]:  # fmt: skip
    """Accelerations and torques as functions of u and x; the friction of given rates (N + 1) of s,
    as a part of c, where there is some."""
    bound = np.isfinite(acceleration)
    called = names(robot)
    of = [f"acceleration of {called[k]}" for k in columns[bound]]
    a, b = [points.qd.compress(bound, 1)], [points.qdd.compress(bound, 1)]
    c = [0 * a[0]]
    limit = [acceleration[bound]]
    driven = np.isfinite(effort)
    if driven.any():
        q, own = rigid_positions(robot, points, q0)
        still = 0 * own.qd
        bare = compiled(robot, "inverse-dynamics", friction=False)
        weight = bare(q=q, qd=still, qdd=still)
        a.append((bare(q=q, qd=still, qdd=own.qd) - weight).compress(driven, 1))
        b.append((bare(q=q, qd=own.qd, qdd=own.qdd) - weight).compress(driven, 1))
        c.append(weight.compress(driven, 1))
        limit.append(effort[driven])
        place = coordinates(robot).place
        of += [f"torque of {called[k]}" for k in place[driven]]

    def friction(sd: np.ndarray) -> np.ndarray:
        qd = own.qd * sd[:, None]
        whole = compiled(robot, "inverse-dynamics")
        torques = whole(q=q, qd=qd, qdd=still) - bare(q=q, qd=qd, qdd=still)
        return np.concatenate([0 * a[0], torques[:, driven]], axis=1)

    rubs = driven.any() and with_friction(robot, False) != robot
    whole_a, whole_b, whole_c = (np.concatenate(x, axis=1) for x in (a, b, c))
    rows = Rows(whole_a, whole_b, whole_c, np.concatenate(limit), tuple(of))
    return rows, friction if rubs else None


def _settled(
    s: np.ndarray, rows: Rows, top: np.ndarray, friction: Callable[[np.ndarray], np.ndarray] | None
) -> np.ndarray:
    """x at every point, friction included: by its tangents at the x before, until it stays."""
    x = _solved(s, rows, top)
    if friction is None:
        return x
    before = _times(s, x)[-1]
    for _ in range(_FRICTION_ROUNDS):
        sd = np.sqrt(np.maximum(x, _SLOW**2 * x.max()))
        near = 1 + 1e-5
        rubbed = friction(sd)
        slope = (friction(sd * near) - rubbed) / (sd * sd * (near * near - 1))[:, None]
        tangent = Rows(rows.a, rows.b + slope, rows.c + rubbed - slope * (sd * sd)[:, None],
                       rows.limit, rows.of)  # fmt: skip
        x = _solved(s, tangent, top)
        now = _times(s, x)[-1]
        if abs(now - before) <= _SETTLED * now:
            return x
        before = now
    raise ModelError(
        f"friction changes the fastest motion again and again: its duration has not settled after"
        f" {_FRICTION_ROUNDS} rounds",
        remedy="use a finer grid, or a motion with a smooth profile",
    )


def _solved(s: np.ndarray, rows: Rows, top: np.ndarray) -> np.ndarray:
    """The profile of one problem of linear limits, each in units of itself."""
    unit = 1 / rows.limit
    load = rows.c * unit
    low, high = -1 - load, 1 - load
    stuck = np.abs(load) > 1
    if stuck.any():
        i, k = np.argwhere(stuck)[0]
        name = rows.of[k]
        raise InputError(
            f"{name} exceeds its limit of {rows.limit[k]:.6g} at rest, {rows.c[i, k]:.6g} at"
            f" {100 * _share(s, i):.1f} % of the path",
            remedy="give a larger torque=, or another path",
        )
    ends = np.array([len(s) - 1, len(rows.of), 0.0, 0.0])
    arrays = {
        "ends": ends, "s": s, "a": rows.a * unit, "b": rows.b * unit, "low": low,
        "high": high, "top": top,
    }  # fmt: skip
    arrays = {key: np.ravel(value) for key, value in arrays.items()}
    out = {key: np.zeros((1, len(s))) for key in ("x", "least", "most")} | {
        "stuck": np.zeros((1, 1))
    }
    _profile()(arrays, 1, out=out)
    if (failed := int(out["stuck"][0, 0])) >= 0:
        raise InputError(
            f"no motion respects the limits at {100 * _share(s, failed):.1f} % of the path",
            remedy="give larger limits",
        )
    return np.asarray(out["x"][0])


def _share(s: np.ndarray, i: Any) -> float:
    return float((s[i] - s[0]) / (s[-1] - s[0]))


def _times(s: np.ndarray, x: np.ndarray) -> np.ndarray:
    """When every point is passed: u is constant between them."""
    sd = np.sqrt(x)
    return np.concatenate([[0.0], np.cumsum(2 * np.diff(s) / (sd[1:] + sd[:-1]))])


@named_arguments
def retimed(path: Trajectory, law: Piecewise, dt: float, name: str) -> Trajectory:
    """A path run through by a time law of its parameter, sampled every dt."""

    def states(time: Any) -> State:
        s, sd, sdd = law.states(time)
        q, slope, bend = path(s[..., 0])
        return q, slope * sd, slope * sdd + bend * sd * sd

    return from_law(states, law.duration, dt, name, float(law.breaks[0]))
