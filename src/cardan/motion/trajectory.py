"""Trajectories in joint space: sampled q, qd, qdd, and functions of time.

    move(q0, q1, law=...)      point to point: cubic, quintic, septic, bang-bang, trapezoidal,
                               jerk-limited s-curve; all joints start and stop together
    polynomial(q0, q1, ...)    with velocities, accelerations, jerks given at the ends
    through(points, times)     a spline through points
    fourier(a, b, ...)         a periodic series, as used for identification
    sampled(t, q)              from samples; what is missing is differentiated

Lines, circles, splines and pick-and-place cycles in task space are in `paths`, how joints follow
them in `taskspace` and `branches`, the fastest motions in `optimal`; `plan` chooses among all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arguments import Numbers, named_arguments
from ..describe.robot import Robot
from ..document.notebook import notebook_html, notebook_latex
from ..document.structure import Image, Math, Part, Table, Words
from ..errors import InputError
from ..loops.standing import standing
from .joints import array, bounds, driven, names, vector
from .piecewise import LAWS as LAWS  # an old place of it
from .piecewise import Piecewise, hermite, spline, time_law
from .plots import image, plot_trajectory
from .tables import read_table, write_table

State = tuple[np.ndarray, np.ndarray, np.ndarray]
_LARGEST = 10_000_000  # samples
_LOOKED_AT = 4000  # times, for limits


@dataclass(frozen=True)
class Trajectory:
    """A motion at the times t (m): q, qd, qdd (m, n). Calling it gives (q, qd, qdd) at any t.

    Where the motion is known as a function of time, `law` is it; else samples are interpolated
    with their first and second derivatives (quintic pieces). Outside its duration it rests."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    law: Callable[[Any], State] | None = None
    name: str = "trajectory"

    def __repr__(self) -> str:
        return (
            f"Trajectory({self.name}: {self.n} joints, {len(self.t)} samples from"
            f" {self.t[0]:.6g} to {self.t[-1]:.6g} s)"
        )

    def _parts(self) -> tuple[str, list[Part]]:
        """What a notebook shows: where every joint starts and ends, and how fast it gets."""
        columns = (self.q[0], self.q[-1], *(np.abs(x).max(axis=0) for x in (self.qd, self.qdd)))
        rows: list[tuple[Words, ...]] = [
            (Math(f"q_{{{j}}}"), *(f"{x:.6g}" for x in values))
            for j, values in enumerate(zip(*columns, strict=True), 1)
        ]
        head = ("joint", "start", "end", "fastest", "largest acceleration")
        return repr(self), [Table(head, tuple(rows))]

    def _repr_html_(self) -> str:
        title, parts = self._parts()
        return notebook_html(title, [*parts, Image(image(lambda: plot_trajectory(self)), "")])

    def _repr_latex_(self) -> str:
        return notebook_latex(*self._parts())

    @property
    def n(self) -> int:
        return int(self.q.shape[1])

    @property
    def duration(self) -> float:
        return float(self.t[-1] - self.t[0])

    @named_arguments
    def __call__(self, t: Numbers) -> State:
        """q, qd, qdd (..., n) at times t (...)."""
        return self.law(t) if self.law is not None else _interpolated(self, t)

    def resampled(self, dt: float) -> Trajectory:
        """The motion sampled at other times."""
        t = instants(self.duration, dt, float(self.t[0]))
        return Trajectory(t, *self(t), self.law, self.name)

    def columns(self) -> dict[str, np.ndarray]:
        """t, q1, qd1, qdd1, q2, ... as a table."""
        table = {"t": self.t}
        for key in ("q", "qd", "qdd"):
            table |= {f"{key}{j}": column for j, column in enumerate(getattr(self, key).T, 1)}
        return table

    def plot(self, robot: Robot | None = None) -> Any:
        """Positions, velocities and accelerations, as a matplotlib figure; a robot tells units."""
        return plot_trajectory(self, robot)

    def save(self, path: str) -> None:
        """As a table, .csv or .parquet."""
        write_table(path, self.columns())


def instants(duration: float, dt: float, start: float = 0.0) -> np.ndarray:
    """Evenly spaced times from start to start + duration, about dt apart."""
    for what, x in (("duration", duration), ("step dt", dt)):
        if not isinstance(x, int | float | np.number) or not (np.isfinite(x) and x > 0):
            raise InputError(f"a {what} of {x} s; expected a positive one")
    count = round(duration / dt)
    if count > _LARGEST:
        raise InputError(f"{count} samples ({duration} s every {dt} s); at most {_LARGEST}")
    return start + np.linspace(0.0, duration, max(count, 1) + 1)


def from_law(
    law: Callable[[Any], State], duration: float, dt: float, name: str = "trajectory",
    start: float = 0.0,
) -> Trajectory:  # fmt: skip
    """A function of time, sampled."""
    t = instants(duration, dt, start)
    return Trajectory(t, *law(t), law, name)


def from_piecewise(x: Piecewise, dt: float = 1e-3, name: str = "trajectory") -> Trajectory:
    """A piecewise polynomial as a trajectory."""
    return from_law(x.states, x.duration, dt, name, float(x.breaks[0]))


def at_home(robot: Robot) -> np.ndarray:
    """Positions of the joints that a motion moves where it starts if nothing is said: where the
    robot stands, if its description says that, else zero."""
    columns = driven(robot)
    if all(joint.home is None for joint in robot.joints):
        return np.zeros(len(columns))
    return np.asarray(standing(robot)[columns])


@named_arguments
def move(
    q0: Numbers, q1: Numbers, duration: float | None = None, *, law: str = "quintic",
    velocity: Numbers = None, acceleration: Numbers = None, jerk: Numbers = None, dt: float = 1e-3,
) -> Trajectory:  # fmt: skip
    """From rest at q0 to rest at q1, all joints together, by a time law (`LAWS`).

    Limits (one value per joint, or one for all) give the shortest duration that respects them; a
    longer duration may be asked for. Without limits the duration must be given."""
    start, end = _points(q0, q1)
    path = np.abs(end - start)
    limits = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk}
    scaled = {key: _scaled(key, value, path) for key, value in limits.items() if value is not None}
    if duration is None and not scaled:
        raise InputError("give a duration, or limits: velocity=, acceleration=, jerk=")
    s = time_law(law, **scaled)
    if duration is None and not path.any():
        duration = dt  # there already
    if duration is not None:
        instants(duration, dt)
        if scaled and path.any() and duration < s.duration * (1 - 1e-12):
            raise InputError(
                f"{duration} s is too short for the limits: a {law} law needs {s.duration:.6g} s"
            )
        s = s.stretched(duration)
    return from_piecewise(s.mapped(start, end), dt, law)


def _scaled(key: str, limit: Any, path: np.ndarray) -> float:
    """A limit of the joints as a limit of s."""
    values = vector(key, limit, len(path))
    if (values <= 0).any():
        raise InputError(f"{key} = {values.tolist()}: limits must be positive")
    moved = path > 0
    return float((values[moved] / path[moved]).min()) if moved.any() else 1.0


@named_arguments
def polynomial(
    q0: Numbers, q1: Numbers, duration: float, order: int = 5, *, start: Any = (), end: Any = (),
    dt: float = 1e-3,
) -> Trajectory:  # fmt: skip
    """One polynomial of order 3, 5 or 7: values and derivatives are given at both ends.

    start, end: velocities, then accelerations, then jerks (rows of n values); zero if left out."""
    first, last = _points(q0, q1)
    if order not in (3, 5, 7):
        raise InputError(f"a polynomial of order {order}; allowed: 3, 5, 7")
    instants(duration, dt)
    rows = (order + 1) // 2
    ends = [_ends(point, given, rows) for point, given in ((first, start), (last, end))]
    return from_piecewise(hermite(duration, *ends), dt, f"polynomial of order {order}")


def _ends(point: np.ndarray, given: Any, rows: int) -> np.ndarray:
    table = np.zeros((rows, len(point)))
    table[0] = point
    try:
        listed = list(given)
    except TypeError:
        raise InputError(
            f"derivatives at an end: {given!r}; expected a list: velocities, accelerations, jerks"
        ) from None
    if len(listed) > rows - 1:
        raise InputError(f"{len(listed)} derivatives at an end; this order takes {rows - 1}")
    for k, row in enumerate(listed, 1):
        table[k] = vector(f"derivative {k}", row, len(point))
    return table


@named_arguments
def through(points: Numbers, times: Numbers, *, degree: int = 3, dt: float = 1e-3) -> Trajectory:
    """A spline through points (m, n) at times (m), at rest at both ends; degree 3 or 5.

    Before the first of the times and after the last it stands still."""
    points, times = array("points", points), array("times", times)
    if points.ndim != 2 or len(points) < 2 or times.shape != (len(points),):
        raise InputError(
            f"points {points.shape} and times {times.shape}; expected (m, n) and (m), m >= 2"
        )
    late = np.flatnonzero(np.diff(times) <= 0)
    if len(late):
        k = int(late[0]) + 1
        raise InputError(f"times[{k}] = {times[k]} is not after times[{k - 1}] = {times[k - 1]}")
    return from_piecewise(spline(times, points, degree), dt, "spline")


@named_arguments
def fourier(
    a: Numbers, b: Numbers, *, frequency: float, q0: Numbers = 0.0, duration: float | None = None,
    dt: float = 1e-3,
) -> Trajectory:  # fmt: skip
    """q = q0 + sum over l of a_l/(w l) sin(w l t) - b_l/(w l) cos(w l t), w = 2 pi frequency.

    a, b: (harmonics, n), so that velocities are a_l cos + b_l sin; one period by default. As a
    function of time it goes on for ever."""
    a, b = np.atleast_2d(array("a", a)), np.atleast_2d(array("b", b))
    if a.shape != b.shape or a.ndim != 2:
        raise InputError(f"a {a.shape} and b {b.shape} must both be (harmonics, n)")
    if not isinstance(frequency, int | float | np.number) or not 0 < frequency < np.inf:
        raise InputError(f"a frequency of {frequency} Hz; expected a positive one")
    middle = vector("q0", q0, a.shape[1])
    w = 2 * np.pi * frequency * np.arange(1, len(a) + 1)

    def law(t: Any) -> State:
        phase = np.asarray(t, float)[..., None] * w
        s, c = np.sin(phase), np.cos(phase)
        q = middle + (s / w) @ a - (c / w) @ b
        return q, c @ a + s @ b, (c * w) @ b - (s * w) @ a

    return from_law(law, 1 / frequency if duration is None else duration, dt, "Fourier series")


@named_arguments
def sampled(
    t: Numbers,
    q: Numbers,
    qd: Numbers = None,
    qdd: Numbers = None,
    name: str = "samples",
) -> Trajectory:
    """A trajectory from samples; velocities or accelerations not given come from a spline."""
    t, q = array("t", t), array("q", q)
    if t.ndim != 1 or q.ndim != 2 or len(t) != len(q) or len(t) < 2:
        raise InputError(f"t {t.shape} and q {q.shape}; expected (m) and (m, n), m >= 2")
    late = np.flatnonzero(np.diff(t) <= 0)
    if len(late):
        raise InputError(f"t[{late[0] + 1}] = {t[late[0] + 1]} is not after t[{late[0]}]")
    given = {"qd": qd, "qdd": qdd}
    rates = {label: None if x is None else array(label, x) for label, x in given.items()}
    for label, x in rates.items():
        if x is not None and x.shape != q.shape:
            raise InputError(f"{label} has shape {x.shape}; expected {q.shape}, as q")
    first, second = rates.values()
    if first is None:
        first = differentiated(t, q)
    if second is None:
        second = differentiated(t, first)
    return Trajectory(t, q, first, second, None, name)


@named_arguments
def read_trajectory(path: str, n: int) -> Trajectory:
    """A trajectory from a table (.csv, .parquet): t, q1 .. qn and, if there, qd1 .., qdd1 .."""
    table = read_table(path)
    arrays: dict[str, Any] = {}
    for key in ("q", "qd", "qdd"):
        wanted = [f"{key}{j}" for j in range(1, n + 1)]
        missing = [name for name in wanted if name not in table]
        if not missing:
            arrays[key] = np.stack([table[name] for name in wanted], axis=1)
        elif key == "q" or len(missing) < n:
            raise InputError(f"{path}: there is no column '{missing[0]}'; expected t, q1 .. q{n}")
    if "t" not in table:
        raise InputError(f"{path}: there is no column 't', the time in seconds")
    return sampled(table["t"], arrays["q"], arrays.get("qd"), arrays.get("qdd"), path)


def differentiated(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The derivative of samples, by a cubic spline through them (not-a-knot ends)."""
    if len(t) < 4:
        return np.asarray(np.gradient(x, t, axis=0))
    try:
        from scipy.interpolate import CubicSpline
    except ImportError:
        return np.asarray(np.gradient(x, t, axis=0, edge_order=2))
    return np.asarray(CubicSpline(t, x, axis=0)(t, 1))


def _interpolated(x: Trajectory, t: Any) -> State:
    """Quintic pieces between samples, matching q, qd and qdd at both ends of each."""
    t = np.asarray(t, float)
    inside = np.clip(t, x.t[0], x.t[-1])
    i = np.clip(np.searchsorted(x.t, inside, side="right") - 1, 0, len(x.t) - 2)
    T = (x.t[i + 1] - x.t[i])[..., None]
    u = (inside - x.t[i])[..., None] / T
    q, qd, qdd = x.q[i], x.qd[i] * T, x.qdd[i] * T * T
    dq = x.q[i + 1] - q - qd - qdd / 2
    dv = x.qd[i + 1] * T - qd - qdd
    da = x.qdd[i + 1] * T * T - qdd
    c = [q, qd, qdd / 2, 10 * dq - 4 * dv + da / 2, 7 * dv - 15 * dq - da, 6 * dq - 3 * dv + da / 2]
    rest = ((t < x.t[0]) | (t > x.t[-1]))[..., None]
    value = c[0] + u * (c[1] + u * (c[2] + u * (c[3] + u * (c[4] + u * c[5]))))
    rate = c[1] + u * (2 * c[2] + u * (3 * c[3] + u * (4 * c[4] + u * 5 * c[5])))
    second = 2 * c[2] + u * (6 * c[3] + u * (12 * c[4] + u * 20 * c[5]))
    return value, np.where(rest, 0, rate / T), np.where(rest, 0, second / (T * T))


def _points(q0: Any, q1: Any) -> tuple[np.ndarray, np.ndarray]:
    sizes = {np.size(q0), np.size(q1)} - {1}
    if len(sizes) > 1:
        raise InputError(f"q0 has {np.size(q0)} values, q1 has {np.size(q1)}: one per joint each")
    n = sizes.pop() if sizes else 1
    if not n:
        raise InputError("q0 and q1 have no values: one per joint each is expected")
    return vector("q0", q0, n), vector("q1", q1, n)


@dataclass(frozen=True)
class Violation:
    """A limit that a trajectory does not respect, where it is exceeded most."""

    joint: str
    quantity: str
    value: float
    limit: float
    time: float

    def __str__(self) -> str:
        below = self.quantity == "position" and self.value < self.limit
        return (
            f"joint {self.joint}: {self.quantity} {self.value:.6g}"
            f" {'is below' if below else 'exceeds'} the limit {self.limit:.6g} at"
            f" t = {self.time:.6g} s"
        )


@named_arguments
def violations(
    motion: Trajectory, robot: Robot, *, acceleration: Numbers = None, tau: Numbers = None,
    tolerance: float = 1e-9,
) -> list[Violation]:  # fmt: skip
    """Every limit of the robot's joints that a motion exceeds: position, velocity and, if given,
    acceleration (limits) and torque (tau (m, n), against the efforts of the description). Motions
    of few samples are looked at between them, too. With closed loops a motion may be that of the
    active joints, and torques are."""
    own = driven(robot)
    columns = own if motion.n == len(own) else np.arange(robot.n)
    if motion.n != len(columns):
        fits(motion, robot)
    t = _dense(motion.t)
    q, qd, qdd = motion(t)
    limits = {key: bounds(robot, key) for key in ("lower", "upper", "velocity", "effort")}
    speed, effort = limits["velocity"][columns], limits["effort"][own]
    quantities = [
        ("position", t, q, limits["lower"][columns], limits["upper"][columns], columns),
        ("velocity", t, qd, -speed, speed, columns),
    ]
    if acceleration is not None:
        limit = vector("acceleration", acceleration, motion.n)
        quantities.append(("acceleration", t, qdd, -limit, limit, columns))
    if tau is not None:
        torque = array("tau", tau)
        if torque.shape != (len(motion.t), len(own)):
            raise InputError(
                f"tau has shape {torque.shape}; expected {(len(motion.t), len(own))}: a row per"
                " sample of the motion, a column per driven joint"
            )
        quantities.append(("torque", motion.t, torque, -effort, effort, own))
    listed = []
    for quantity, t, x, lower, upper, joints in quantities:
        for j, k in enumerate(joints):
            over = np.maximum(x[:, j] - upper[j], lower[j] - x[:, j])
            at = int(np.argmax(over))
            if over[at] > tolerance * (1 + abs(x[at, j])):
                limit_ = float(upper[j] if x[at, j] > upper[j] else lower[j])
                value, time = float(x[at, j]), float(t[at])
                listed.append(Violation(names(robot)[k], quantity, value, limit_, time))
    return listed


def _dense(t: np.ndarray) -> np.ndarray:
    """Times and, where they are few, times between them."""
    parts = -(-_LOOKED_AT // len(t))
    between = t[:-1, None] + np.diff(t)[:, None] * np.arange(parts) / parts
    return np.append(between.ravel(), t[-1])


@named_arguments
def check(motion: Trajectory, robot: Robot, **limits: Any) -> None:
    """Raise an InputError that lists every limit exceeded."""
    listed = violations(motion, robot, **limits)
    if listed:
        raise InputError("\n".join(map(str, listed)))


def fits(motion: Trajectory, robot: Robot) -> None:
    """The trajectory is one of this robot's joints."""
    if motion.n != robot.n:
        raise InputError(
            f"the trajectory has {motion.n} joints, '{robot.name}' has {robot.n} joint variables"
        )
