"""Exciting trajectories: periodic motions whose torques show the dynamic parameters best.

    q_j(t) = q0_j + sum over l of a_lj/(w l) sin(w l t) - b_lj/(w l) cos(w l t),  w = 2 pi / period

(J. Swevers et al., IEEE Trans. Robotics and Automation 13, 1997). The motion starts and ends at
rest: sum a_l = 0, sum l b_l = 0. Amplitudes are scaled so that the limits of position, velocity
and acceleration hold by construction; then all are reduced until the torques fit too. What is
left is free of constraints, and is minimised over the observation matrix W of the motion. Motions
of closed loops are drawn towards where the robot stands, as far as its joints ask (see `reach`).

    condition      log of the condition number of W
    determinant    -log det (W' W) / p, the volume of the confidence ellipsoid (D-optimality)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import Numbers, named_arguments
from ..catalogue import model as derive
from ..describe.files import load
from ..describe.robot import PRISMATIC, Robot
from ..errors import InputError, UnknownNameError, translated
from ..motion.joints import bounds, driven, moving, vector
from ..motion.tables import write_table
from ..motion.trajectory import Trajectory, fourier
from .model.columns import Model, parametrised
from .model.equations import full_matrix, model_of
from .model.ties import Ties, ties_of
from .read.signals import Motion, require_scipy, states
from .recipe import Recipe, read_recipe

__all__ = ["CRITERIA", "Excitation", "excite"]

Array = np.ndarray
_STEP = 0.3  # rad, or of the robot's size
_HALVINGS = 5
_FASTER = 5.0  # than at home, rates of the joints that follow
CRITERIA = ("condition", "determinant")
_SAMPLES = 40  # of a period, for each harmonic: limits
_SPARSE = 16  # ... the criterion
_EVERY = 2  # of the times for the limits: the criterion, with closed loops
_SMOOTH = 0.02  # rad/s: width of the sign, so that samples near a reversal count little
_MARGIN = 0.99  # of the limits: peaks between samples


@dataclass(frozen=True)
class Excitation:
    """An exciting trajectory, its coefficients (harmonics, n), and what it reaches."""

    robot: Robot = field(repr=False)
    motion: Trajectory = field(repr=False)  # of the driven joints
    whole: Trajectory = field(repr=False)  # of all joints, where some follow others
    a: Array = field(repr=False)
    b: Array = field(repr=False)
    q0: Array
    period: float
    criterion: str
    condition: float
    determinant: float
    start: float  # the criterion of the first guess
    found: float
    torque: Array | None = field(repr=False, default=None)

    def save(self, path: str | Path) -> None:
        """t, q, qd, qdd of all joints (and tau of the driven ones, where the robot has numbers) to
        .csv or .parquet."""
        table = self.whole.columns()
        if self.torque is not None:
            numbers = driven(self.robot) + 1
            table |= {f"tau{j}": x for j, x in zip(numbers, self.torque.T, strict=True)}
        write_table(path, table)

    def plot(self) -> Any:
        """Positions, velocities, accelerations and, where known, torques of one period."""
        from ..motion.plots import joint_panels, lines

        motion = self.whole
        panels = joint_panels(self.robot, "positions", motion.q, "q")
        panels += joint_panels(self.robot, "velocities", motion.qd, "qd")
        panels += joint_panels(self.robot, "accelerations", motion.qdd, "qdd")
        if self.torque is not None:
            tau = np.full(motion.q.shape, np.nan)
            tau[:, driven(self.robot)] = self.torque
            panels += joint_panels(self.robot, "torques", tau, "tau")
        title = f"{self.robot.name}: exciting motion, condition number {self.condition:.4g}"
        return lines(motion.t, panels, title)

    def to_dict(self) -> dict[str, Any]:
        """Coefficients and figures as plain data, for JSON."""
        return {
            "robot": self.robot.name, "period": self.period, "criterion": self.criterion,
            "condition": self.condition, "determinant": self.determinant,
            "a": self.a.tolist(), "b": self.b.tolist(), "q0": self.q0.tolist(),
        }  # fmt: skip


@named_arguments
@translated("the design of an exciting trajectory failed", remedy="check its limits and period")
def excite(
    robot: Robot | str | os.PathLike[str],
    recipe: str | os.PathLike[str] | Mapping[str, Any] | Recipe | None = None,
    *,
    period: float = 10.0,
    harmonics: int = 5,
    criterion: str = "condition",
    velocity: Numbers = None,
    acceleration: Numbers = None,
    lower: Numbers = None,
    upper: Numbers = None,
    effort: Numbers = None,
    rate: float = 1000.0,
    seed: int = 0,
    starts: int = 20,
    iterations: int = 200,
    progress: Callable[[str], None] = lambda text: None,
) -> Excitation:
    """A trajectory that excites the parameters of the recipe's model, within the limits.

    With closed loops or couplings limits are given for the driven joints; the others keep the
    robot's. The motion is about where the robot stands, or [assembly] q of the recipe.
    Limits not given are the robot's; without any, 1 turn (0.5 m), 2 rad/s (0.5 m/s) and four
    times the velocity limit per second. Torques are limited where the robot has numbers.

    >>> link = {"mass": 2, "com": [0.5, 0, 0]}
    >>> robot = cardan.load({"name": "pendulum", "gravity": [0, -9.81, 0], "link": [link]})
    >>> design = cardan.excite(robot, period=2, harmonics=2, starts=2, iterations=0, rate=100)
    >>> design.motion.q.shape
    (201, 1)"""
    require_scipy("the design of exciting trajectories")
    robot = robot if isinstance(robot, Robot) else load(robot)
    _sensible(period, harmonics, criterion, rate)
    _whole(seed=(seed, 0), starts=(starts, 0), iterations=(iterations, 0))
    wanted = read_recipe(recipe).changed("friction", smooth=_SMOOTH)
    parametrised(robot)  # says what is missing
    home = ties_of(robot).home(wanted.assembly.q)
    limits = _Limits.of(robot, lower, upper, velocity, acceleration, effort, home)
    model = model_of(robot, wanted, start=tuple(home.tolist()))
    design = _Design(robot, model, limits, home, period, harmonics, criterion)
    rng = np.random.default_rng(seed)
    progress("trying random motions")
    guesses = [design.random(rng) for _ in range(max(1, starts))]
    costs = [design.cost(x) for x in guesses]
    first = guesses[int(np.argmin(costs))]
    best = _improved(design.cost, first, rng, iterations, progress)
    a, b, q0 = design.coefficients(best)
    motion = fourier(a, b, frequency=1 / period, q0=q0, dt=1 / rate)
    condition, determinant = design.figures(best)
    whole, torque = design.completed(motion)
    return Excitation(
        robot, motion, whole, a, b, q0, period, criterion, condition, determinant,
        float(min(costs)), float(design.cost(best)), torque,
    )  # fmt: skip


def _sensible(period: float, harmonics: int, criterion: str, rate: float) -> None:
    if criterion not in CRITERIA:
        raise UnknownNameError.of("criterion", criterion, CRITERIA)
    for name, value in (("period", period), ("rate", rate)):
        if not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
            raise InputError(f"{name} = {value!r}; expected a positive number")
    _whole(harmonics=(harmonics, 1))
    if harmonics < 2:
        raise InputError(f"{harmonics} harmonics; at least 2, for a motion that starts at rest")
    if rate * period < 10 * harmonics:
        raise InputError(f"a rate of {rate} Hz is too slow for {harmonics} harmonics in {period} s")


def _whole(**given: tuple[Any, int]) -> None:
    for name, (value, least) in given.items():
        if not isinstance(value, int | np.integer) or value < least:
            raise InputError(f"{name} = {value!r}; expected an integer, at least {least}")


def _improved(
    cost: Callable[[Array], float], x: Array, rng: np.random.Generator, iterations: int,
    progress: Callable[[str], None],
) -> Array:  # fmt: skip
    """A smaller cost by covariance matrix adaptation (N. Hansen, arXiv:1604.00772): the limits
    make kinks, which this search does not mind. Names are those of the tutorial."""
    N = len(x)
    lam = 4 + int(3 * np.log(N))
    mu = lam // 2
    w = np.log(mu + 0.5) - np.log(np.arange(1, mu + 1))
    w /= w.sum()
    mueff = 1 / np.sum(w**2)
    cc, cs = (4 + mueff / N) / (N + 4 + 2 * mueff / N), (mueff + 2) / (N + mueff + 5)
    c1 = 2 / ((N + 1.3) ** 2 + mueff)
    cmu = min(1 - c1, 2 * (mueff - 2 + 1 / mueff) / ((N + 2) ** 2 + mueff))
    damps = 1 + 2 * max(0, np.sqrt((mueff - 1) / (N + 1)) - 1) + cs
    chi = np.sqrt(N) * (1 - 1 / (4 * N) + 1 / (21 * N**2))
    pc, ps, C, sigma = np.zeros(N), np.zeros(N), np.eye(N), 0.3
    B, D = np.eye(N), np.ones(N)
    best, lowest = x, cost(x)
    for g in range(1, iterations + 1):
        y = rng.normal(size=(lam, N)) * D @ B.T
        costs = np.array([cost(x + sigma * step) for step in y])
        order = np.argsort(costs, kind="stable")
        if costs[order[0]] < lowest:
            best, lowest = x + sigma * y[order[0]], float(costs[order[0]])
        chosen = y[order[:mu]]
        mean = w @ chosen
        x = x + sigma * mean
        ps = (1 - cs) * ps + np.sqrt(cs * (2 - cs) * mueff) * (B @ ((B.T @ mean) / D))
        length = np.linalg.norm(ps)
        h = float(length / np.sqrt(1 - (1 - cs) ** (2 * g)) / chi < 1.4 + 2 / (N + 1))
        pc = (1 - cc) * pc + h * np.sqrt(cc * (2 - cc) * mueff) * mean
        C = (1 - c1 - cmu) * C + c1 * np.outer(pc, pc) + cmu * (chosen.T * w) @ chosen
        sigma *= np.exp(min(1.0, (cs / damps) * (length / chi - 1)))
        if g % 10 == 0:
            values, B = np.linalg.eigh((C + C.T) / 2)
            D = np.sqrt(np.maximum(values, 1e-20))
            progress(f"improving the motion: {g} of {iterations}, {lowest:.4g}")
    return best


@dataclass(frozen=True)
class _Limits:
    """Of the driven joints."""

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    effort: Array

    @staticmethod
    def of(robot: Robot, lower: Any, upper: Any, velocity: Any, acceleration: Any, effort: Any,
           home: Array) -> _Limits:  # fmt: skip
        active = driven(robot)
        n = len(active)
        slides = np.array([moving(robot)[k].sigma == PRISMATIC for k in active])
        given = {"lower": lower, "upper": upper, "velocity": velocity, "effort": effort}
        values = {
            key: bounds(robot, key)[active] if value is None else vector(key, value, n)
            for key, value in given.items()
        }
        reach = np.where(slides, 0.25, np.pi)
        about = home[active]
        values["lower"] = np.where(np.isfinite(values["lower"]), values["lower"], about - reach)
        values["upper"] = np.where(np.isfinite(values["upper"]), values["upper"], about + reach)
        known = np.isfinite(values["velocity"])
        speed = np.where(known, values["velocity"], np.where(slides, 0.5, 2.0))
        rate = 4 * speed if acceleration is None else vector("acceleration", acceleration, n)
        wide = values["upper"] - values["lower"]
        positive = {"upper - lower": wide, "velocity": speed, "acceleration": rate}
        for name, x in (positive | {"effort": values["effort"]}).items():
            if (x <= 0).any():
                j = int(np.argmax(x <= 0)) + 1
                raise InputError(f"joint {j}: {name} = {x[j - 1]:.6g} must be positive")
        return _Limits(values["lower"], values["upper"], speed, rate, values["effort"])


class _Design:
    """From free numbers to a motion within the limits, and its criterion."""

    def __init__(self, robot: Robot, model: Model, limits: _Limits, home: Array, period: float,
                 harmonics: int, criterion: str) -> None:  # fmt: skip
        self.robot, self.model, self.limits = robot, model, limits
        self.n, self.H, self.criterion = len(model.ties.active), harmonics, criterion
        self.w = 2 * np.pi / period * np.arange(1, harmonics + 1)
        self.fine = _waves(self.w, np.linspace(0, period, _SAMPLES * harmonics, endpoint=False))
        times = np.linspace(0, period, _SPARSE * harmonics, endpoint=False)
        self.sparse = _waves(self.w, times)
        known = not robot.parameters
        self.dynamics = derive(robot, "inverse-dynamics").compile() if known else None
        scale = np.where(np.isfinite(limits.effort), limits.effort, 1.0)
        self.weights = 1 / np.where(scale > 0, scale, 1.0)
        self.reach = Reach.of(model.ties, home, self.fits) if model.ties.closed else None

    def random(self, rng: np.random.Generator) -> Array:
        x = rng.normal(size=(2 * self.H + 2, self.n))
        x[-2] = 2.0 + rng.normal(size=self.n)  # amplitudes near their limits
        return x.ravel()

    def shape(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """Coefficients of a motion at rest at t = 0, gains in (0, 1), places in (-1, 1)."""
        table = x.reshape(2 * self.H + 2, self.n)
        a, b = table[: self.H].copy(), table[self.H : 2 * self.H].copy()
        order = np.arange(1, self.H + 1)[:, None]
        a -= a.mean(axis=0)
        b -= order * (order * b).sum(axis=0) / (order**2).sum()
        return a, b, 1 / (1 + np.exp(-table[-2])), np.tanh(table[-1])

    def coefficients(self, x: Array) -> tuple[Array, Array, Array]:
        """(a, b, q0) of a motion that respects all limits."""
        return self.drawn(x)[0]

    def drawn(self, x: Array) -> tuple[tuple[Array, Array, Array], Motion | None]:
        """(a, b, q0) within all limits, and with closed loops the motion of all joints at the times
        where the limits are looked at, which has been closed for that."""
        a, b, gain, place = self.shape(x)
        q, qd, qdd = (self.fine[k] @ np.vstack([a, b]) for k in range(3))
        limits = self.limits
        wide = (limits.upper - limits.lower) * _MARGIN
        tiny = 1e-12
        scale = np.minimum.reduce([
            wide / np.maximum(np.ptp(q, axis=0), tiny),
            _MARGIN * limits.velocity / np.maximum(np.abs(qd).max(axis=0), tiny),
            _MARGIN * limits.acceleration / np.maximum(np.abs(qdd).max(axis=0), tiny),
        ])  # fmt: skip
        scale = scale * np.maximum(gain, 0.05)
        if self.reach is not None:
            q0 = self.middle(q * scale, place)
            factor, whole = self.reach.share(q * scale + q0, qd * scale, qdd * scale)
            about = self.reach.home[self.reach.ties.active]
            s = scale * factor
            some = slice(None, None, _EVERY)
            motion = states(whole[some][:, self.reach.ties.active], (qd * s)[some], (qdd * s)[some])
            full = self.reach.ties.moving(whole[some], motion)
            return (a * s, b * s, about + factor * (q0 - about)), full
        s = scale * self.within_torques(q, qd, qdd, scale, place)
        return (a * s, b * s, self.middle(q * s, place)), None

    def middle(self, q: Array, place: Array) -> Array:
        """Where the motion is put inside the range that it leaves free."""
        limits = self.limits
        spare = (limits.upper - limits.lower) * (1 - _MARGIN) / 2
        low, high = limits.lower + spare - q.min(axis=0), limits.upper - spare - q.max(axis=0)
        return np.asarray((low + high) / 2 + place * (high - low) / 2)

    def within_torques(self, q: Array, qd: Array, qdd: Array, scale: Array, place: Array) -> float:
        """The largest common factor on the amplitudes that the torques allow, by bisection."""
        if self.dynamics is None or not np.isfinite(self.limits.effort).any():
            return 1.0
        low, high = 0.0, 1.0
        for step in range(9):
            factor = high if step == 0 else (low + high) / 2
            s = scale * factor
            fits = self.fits(q * s + self.middle(q * s, place), qd * s, qdd * s)
            if fits and step == 0:
                return 1.0
            low, high = (factor, high) if fits else (low, factor)
        if low == 0:
            return 0.02  # gravity alone is too much here: a bad place, but one to leave
        return low

    def fits(self, q: Array, qd: Array, qdd: Array) -> bool:
        """Are the torques of all joints' positions and the driven ones' rates within limits?"""
        if self.dynamics is None or not np.isfinite(self.limits.effort).any():
            return True
        tau = self.dynamics(q=q, qd=qd, qdd=qdd)
        return bool((np.abs(tau) <= _MARGIN * self.limits.effort).all())

    def matrix(self, x: Array) -> Array:
        """The observation matrix of the motion, rows weighted by the torque limits."""
        (a, b, q0), motion = self.drawn(x)
        if motion is None:
            q, qd, qdd = (wave @ np.vstack([a, b]) for wave in self.sparse)
            motion = states(q + q0, qd, qdd)
        D = full_matrix(self.model, motion, self.model.shape)[..., list(self.model.kept)]
        return (D * self.weights[:, None]).reshape(-1, D.shape[-1])

    def cost(self, x: Array) -> float:
        W = self.matrix(x)
        values = np.maximum(np.linalg.eigvalsh(W.T @ W), 1e-300)
        if self.criterion == "determinant":
            return float(-np.log(values).mean())
        return float(np.log(values[-1] / values[0]) / 2)

    def figures(self, x: Array) -> tuple[float, float]:
        """(condition number of W, log det (W' W) / p)."""
        s = np.linalg.svd(self.matrix(x), compute_uv=False)
        return float(s[0] / s[-1]), float(2 * np.log(s).mean())

    def completed(self, motion: Trajectory) -> tuple[Trajectory, Array | None]:
        """(the motion of all joints, its torques)."""
        if self.reach is None:
            return motion, self.torques(motion.q, motion)
        full, n = self.reach.completed(states(motion.q, motion.qd, motion.qdd)), self.robot.n
        whole = Trajectory(motion.t, full.q, full.qd[:, :n], full.qdd[:, :n], None, motion.name)
        return whole, self.torques(full.q, motion)

    def torques(self, q: Array, motion: Trajectory) -> Array | None:
        """The torques of the motion, checked; None where the robot has no numbers."""
        if self.dynamics is None:
            return None
        tau = np.asarray(self.dynamics(q=q, qd=motion.qd, qdd=motion.qdd))
        over = np.abs(tau).max(axis=0) > self.limits.effort
        if over.any():
            j = int(np.argmax(over))
            raise InputError(
                f"joint {j + 1}: no motion was found whose torques stay within "
                f"{self.limits.effort[j]:.6g}; gravity alone may exceed it: give effort="
            )
        return tau


def _waves(w: Array, t: Array) -> tuple[Array, Array, Array]:
    """q - q0, qd, qdd (times, 2 harmonics) of unit coefficients a, b."""
    phase = t[:, None] * w
    s, c = np.sin(phase), np.cos(phase)
    return np.hstack([s / w, -c / w]), np.hstack([c, s]), np.hstack([-s * w, c * w])


@dataclass(frozen=True, eq=False)
class Reach:
    """How far a motion of closed loops may go from where the robot stands.

    A motion q_a(t) of the driven joints is drawn towards home, q_a -> home + s (q_a - home), its
    rates by s: the largest s up to one is taken at which the loops close at all times, the joints
    that follow keep their limits, none of them turns much faster than the driven ones (as near a
    singularity), and the torques are allowed."""

    ties: Ties
    home: Array
    fits: Callable[[Array, Array, Array], bool]  # torques of q, qd_a, qdd_a
    lower: Array  # of the joints that follow, as upper and velocity
    upper: Array
    velocity: Array
    gain: float  # largest entry of G

    @classmethod
    def of(cls, ties: Ties, home: Array, fits: Callable[[Array, Array, Array], bool]) -> Reach:
        robot, rest = ties.robot, ties.passive
        lower, upper, velocity = (
            bounds(robot, key)[rest] for key in ("lower", "upper", "velocity")
        )
        G = ties.matrix(home[None])
        values = cls(
            ties, home, fits, lower, upper, velocity, _FASTER * max(1.0, float(np.abs(G).max()))
        )
        still = np.zeros((1, len(ties.active)))
        if not values.allows(home[None], still, still):
            raise InputError(
                f"'{robot.name}' cannot rest where it stands, q = {np.round(home, 4).tolist()}, "
                "within its limits; set the homes of its joints, or give limits that allow it"
            )
        return values

    def share(self, q: Array, qd: Array, qdd: Array) -> tuple[float, Array]:
        """(s, q of all joints there) of a motion (rows, driven joints)."""
        about = self.home[self.ties.active]
        away = q - about
        here = np.repeat(self.home[None], len(q), axis=0)
        unit = self.ties.unit[self.ties.active]
        size = 1 / max(1.0, np.ceil(np.abs(away / unit).max() / _STEP))
        done = 0.0
        for _ in range(_HALVINGS):
            while done < 1:
                ahead = min(1.0, done + size)
                trial, good = self.ties.carried(here, about + ahead * away, 1.01 * _STEP, 1.0)
                if not (good.all() and self.allows(trial, ahead * qd, ahead * qdd)):
                    break
                here, done = trial, ahead
            size /= 2
        return done, here

    def allows(self, q: Array, qd: Array, qdd: Array) -> bool:
        rest = q[:, self.ties.passive]
        if (rest < self.lower).any() or (rest > self.upper).any():
            return False
        G = self.ties.matrix(q)
        rates = np.einsum("bna,ba->bn", G, qd)[:, self.ties.passive]
        if np.abs(G).max() > self.gain or (np.abs(rates) > self.velocity).any():
            return False
        return self.fits(q, qd, qdd)

    def completed(self, motion: Motion) -> Motion:
        """A motion of the driven joints that is within reach, as one of all joints."""
        q, good = self.ties.carried(np.repeat(self.home[None], len(motion.q), axis=0), motion.q)
        if not good.all():
            k = int(np.argmin(good))
            raise InputError(
                f"the loops of '{self.ties.robot.name}' do not close along this motion, at "
                f"q_a = {np.round(motion.q[k], 4).tolist()}"
            )
        return self.ties.moving(q, motion)
