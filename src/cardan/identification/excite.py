"""Exciting trajectories: periodic motions whose torques show the dynamic parameters best.

    q_j(t) = q0_j + sum over l of a_lj/(w l) sin(w l t) - b_lj/(w l) cos(w l t),  w = 2 pi / period

(J. Swevers et al., IEEE Trans. Robotics and Automation 13, 1997). The motion starts and ends at
rest: sum a_l = 0, sum l b_l = 0. Amplitudes are scaled so that the limits of position, velocity
and acceleration hold by construction; then all are reduced until the torques fit too. What is
left is free of constraints, and is minimised over the observation matrix W of the motion. Motions
of closed loops are drawn towards where the robot stands, as far as its joints ask (see `Reach`);
those with a start, a floor, a box or spheres towards a configuration that is allowed. The motion
chosen is looked at again on times ten times as dense, and drawn in further where it needs to be.

    condition      log of the condition number of W
    determinant    -log det (W' W) / p, the volume of the confidence ellipsoid (D-optimality)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import Numbers, named_arguments
from ..catalogue import model as derive
from ..describe.files import load
from ..describe.robot import PRISMATIC, Robot
from ..errors import InputError, UnknownNameError, translated
from ..motion.collision import Clearance
from ..motion.joints import bounds, driven, moving, names, units, vector
from ..motion.tables import write_table
from ..motion.trajectory import Trajectory, fourier
from .model.columns import Model, parametrised
from .model.equations import full_matrix, model_of
from .model.ties import Ties, ties_of
from .read.signals import Motion, linear_algebra, states
from .recipe import Recipe, read_recipe
from .report.excitation import figure
from .room import Margin, Room

Array = np.ndarray
Series = tuple[Array, Array, Array]  # a, b (harmonics, n), q0 (n)
_STEP = 0.3  # rad, or of the robot's size
_HALVINGS = 5
_FASTER = 5.0  # than at home, rates of the joints that follow
CRITERIA = ("condition", "determinant")
NOISE = 0.01  # of the torque limits (N m or N where there is none): predicted deviations
_SAMPLES = 40  # of a period, for each harmonic: limits
_SPARSE = 16  # ... the criterion
_EVERY = 2  # of the times for the limits: the criterion, with closed loops
_SMOOTH = 0.02  # rad/s: width of the sign, so that samples near a reversal count little
_MARGIN = 0.99  # of the limits: peaks between samples
_DENSE = 400  # of a period, for each harmonic: the check of the motion that is chosen
_ROOM = 3  # of the times for the limits, each: floor, box and spheres
_BISECTIONS = 7
_DRAWN_IN = (1, 0.998, 0.99, 0.97, 0.94, 0.9, 0.8, 0.6, 0.4, 0.2)  # until the dense check passes
_TRIED = 2000  # configurations, for one with much room


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
    margins: tuple[Margin, ...] = field(repr=False, default=())  # on times denser than the search's
    names: tuple[str, ...] = field(repr=False, default=())  # of the parameters
    deviations: Array = field(repr=False, default_factory=lambda: np.zeros(0))  # predicted
    random: Array = field(repr=False, default_factory=lambda: np.zeros((0, 0)))  # ... (motions, p)
    limits: Mapping[str, Array] = field(repr=False, default_factory=dict)  # of all joints
    room: Room | None = field(repr=False, default=None)

    @property
    def gain(self) -> float:
        """Standard deviation of a parameter after a random motion over that after this one: the
        median of the parameters, and for each of the random motions."""
        return float(np.median(np.median(self.random, axis=0) / self.deviations))

    def save(self, path: str | Path) -> None:
        """t, q, qd, qdd of all joints (and tau of the driven ones, where the robot has numbers) to
        .csv or .parquet."""
        table = self.whole.columns()
        if self.torque is not None:
            numbers = driven(self.robot) + 1
            table |= {f"tau{j}": x for j, x in zip(numbers, self.torque.T, strict=True)}
        write_table(path, table)

    def plot(self) -> Any:
        """Positions, velocities, accelerations and, where known, torques of one period with their
        limits; distances, where some are demanded; predicted standard deviations."""
        return figure(self)

    def to_dict(self) -> dict[str, Any]:
        """Coefficients and figures as plain data, for JSON."""
        return {
            "robot": self.robot.name, "period": self.period, "criterion": self.criterion,
            "condition": self.condition, "determinant": self.determinant,
            "a": self.a.tolist(), "b": self.b.tolist(), "q0": self.q0.tolist(),
            "margins": [asdict(margin) for margin in self.margins],
            "deviations": dict(zip(self.names, self.deviations.tolist(), strict=True)),
            "gain": self.gain,
        }  # fmt: skip


@named_arguments
@translated("the design of an exciting trajectory failed", remedy="check its limits and period")
@linear_algebra("the design of exciting trajectories")
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
    start: Numbers = None,
    floor: float | None = None,
    box: Numbers = None,
    frame: str | int | None = None,
    clearance: Clearance | None = None,
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
    times the velocity limit per second; of positions the narrower of the robot's and those given.
    Torques are limited where the robot has numbers.

    start: positions of the driven joints where the motion begins and ends at rest.
    floor: z of frame 0 that no moving frame, no tool and no sphere goes below, m.
    box: low and high corner (2, 3) in frame 0 between which the tool, the origin of `frame`, stays.
    clearance: spheres on the robot that touch nothing (`cardan.motion.collision`).

    >>> link = {"mass": 2, "com": [0.5, 0, 0]}
    >>> robot = cardan.load({"name": "pendulum", "gravity": [0, -9.81, 0], "link": [link]})
    >>> design = cardan.excite(robot, period=2, harmonics=2, starts=2, iterations=0, rate=100)
    >>> design.motion.q.shape
    (201, 1)"""
    robot = robot if isinstance(robot, Robot) else load(robot)
    _sensible(period, harmonics, criterion, rate)
    _whole(seed=(seed, 0), starts=(starts, 0), iterations=(iterations, 0))
    wanted = read_recipe(recipe).changed("friction", smooth=_SMOOTH)
    parametrised(robot)  # says what is missing
    home = ties_of(robot).home(wanted.assembly.q)
    model = model_of(robot, wanted, start=tuple(home.tolist()))
    home = _standing(model.ties, home, start)
    limits = _Limits.of(robot, lower, upper, velocity, acceleration, effort, home)
    room = Room.of(robot, floor, box, frame, clearance)
    demands = _Demands(limits, room, home, start is not None)
    design = _Design(robot, model, demands, period, harmonics, criterion)
    rng = np.random.default_rng(seed)
    progress("trying random motions")
    guesses = [design.random(rng) for _ in range(max(1, starts))]
    costs = [design.cost(x) for x in guesses]
    first = guesses[int(np.argmin(costs))]
    best = _improved(design.cost, first, rng, iterations, progress)
    a, b, q0 = series = design.settled(best)
    motion = fourier(a, b, frequency=1 / period, q0=q0, dt=1 / rate)
    whole, torque = design.completed(motion)
    W = design.observations(*design.sampled(series))
    condition, determinant = _figures(W)
    samples = period * rate
    others = np.array([design.deviations(design.matrix(x), samples) for x in guesses])
    return Excitation(
        robot, motion, whole, a, b, q0, period, criterion, condition, determinant,
        float(min(costs)), design.criterion_of(W), torque, tuple(design.margins(series)),
        model.names, design.deviations(W, samples), others, limits.whole(robot), room,
    )  # fmt: skip


def _standing(ties: Ties, home: Array, start: Any) -> Array:
    """All joints, the driven ones at start."""
    if start is None:
        return home
    q_a = vector("start", start, len(ties.active))
    if not ties.closed:
        return q_a
    q, good = ties.carried(home[None], q_a[None])
    if not good.all():
        raise InputError(
            f"start = {q_a.tolist()}: the loops of '{ties.robot.name}' could not be closed there",
            where="start", remedy="choose positions of the driven joints nearer to its home",
        )  # fmt: skip
    return np.asarray(q[0])


def _figures(W: Array) -> tuple[float, float]:
    """(condition number of W, log det (W' W) / p)."""
    s = np.linalg.svd(W, compute_uv=False)
    return float(s[0] / s[-1]), float(2 * np.log(s).mean())


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
        limits = {"lower": lower, "upper": upper, "velocity": velocity, "effort": effort}
        values = {
            key: bounds(robot, key)[active] if value is None else vector(key, value, n)
            for key, value in limits.items()
        }
        if lower is not None:
            values["lower"] = np.maximum(values["lower"], bounds(robot, "lower")[active])
        if upper is not None:
            values["upper"] = np.minimum(values["upper"], bounds(robot, "upper")[active])
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

    def whole(self, robot: Robot) -> dict[str, Array]:
        """Of all joints; those that follow have the robot's."""
        active = driven(robot)
        limits = {key: bounds(robot, key) for key in ("lower", "upper", "velocity", "effort")}
        limits["acceleration"] = np.full(robot.n, np.inf)
        for key, values in limits.items():
            values[active] = getattr(self, key)
        return limits


@dataclass(frozen=True)
class _Demands:
    """Limits of the driven joints, room for the links, and where the robot stands: all joints."""

    limits: _Limits
    room: Room
    home: Array
    begins: bool  # where it stands


class _Design:
    """From free numbers to a motion within the limits, and its criterion."""

    def __init__(self, robot: Robot, model: Model, demands: _Demands, period: float,
                 harmonics: int, criterion: str) -> None:  # fmt: skip
        limits = demands.limits
        self.robot, self.model, self.limits, self.room = robot, model, limits, demands.room
        self.n, self.H, self.criterion = len(model.ties.active), harmonics, criterion
        self.w = 2 * np.pi / period * np.arange(1, harmonics + 1)
        self.fine = _waves(self.w, np.linspace(0, period, _SAMPLES * harmonics, endpoint=False))
        times = np.linspace(0, period, _SPARSE * harmonics, endpoint=False)
        self.sparse = _waves(self.w, times)
        self.times = np.linspace(0, period, _DENSE * harmonics, endpoint=False)
        self.dense = _waves(self.w, self.times)
        known = not robot.parameters
        self.dynamics = derive(robot, "inverse-dynamics").compile() if known else None
        scale = np.where(np.isfinite(limits.effort), limits.effort, 1.0)
        self.weights = 1 / np.where(scale > 0, scale, 1.0)
        self.start = self.begun(demands) if demands.begins else None
        if model.ties.closed and not self.room.open:
            self.room.require(demands.home, "where the robot stands", "give another start=")
        self.reach = Reach.of(model.ties, demands.home, self.fits) if model.ties.closed else None
        self.about = self.anchor(demands.home)

    def begun(self, demands: _Demands) -> Array:
        """The start, inside the limits and the room."""
        q = demands.home[self.model.ties.active]
        limits = self.limits
        out = (q <= limits.lower) | (q >= limits.upper)
        if out.any():
            j = int(np.argmax(out))
            raise InputError(
                f"start: joint {j + 1} at {q[j]:.6g} is not between its limits, "
                f"{limits.lower[j]:.6g} and {limits.upper[j]:.6g}",
                where="start", remedy="choose a start inside, or wider limits",
            )  # fmt: skip
        self.room.require(
            demands.home, "at the start", "choose another start, or move the floor, box or spheres"
        )
        if not self.rests(demands.home[None])[0]:
            raise InputError(
                "at the start gravity asks for more than the torque limits",
                where="start", remedy="choose another start, or give effort=",
            )  # fmt: skip
        return np.asarray(q)

    def rests(self, q: Array) -> Array:
        """Do the torques at rest stay within limits? (m) of q (m, n)."""
        if self.dynamics is None or not np.isfinite(self.limits.effort).any():
            return np.ones(len(q), bool)
        still = np.zeros((len(q), self.n))
        tau = np.abs(self.dynamics(q=q, qd=still, qdd=still))
        return np.asarray((tau <= _MARGIN * self.limits.effort).all(axis=1))

    def anchor(self, home: Array) -> Array | None:
        """The driven joints where motions are drawn to: the start, where loops are closed, or a
        configuration with much room; None where nothing is demanded."""
        if self.reach is not None or self.start is not None:
            return np.asarray(home[self.model.ties.active])
        if self.room.open:
            return None
        low, high = self.limits.lower, self.limits.upper
        rng = np.random.default_rng(0)

        def place(x: Array) -> Array:
            return np.asarray(low + (high - low) * np.clip(x, 0.01, 0.99))

        def lack(x: Array) -> Array:
            q = place(x)
            return np.where(self.rests(q), -self.room.least(q), np.inf)

        x = rng.uniform(size=(_TRIED, self.n))
        costs = lack(x)
        best = x[int(np.argmin(costs))]
        if not np.isfinite(costs).any():
            raise InputError(
                f"gravity alone exceeds the torque limits in {_TRIED} random configurations",
                remedy="give effort=",
            )
        if costs.min() >= 0:  # little room: look for it
            best = _improved(lambda x: float(lack(x[None])[0]), best, rng, 60, lambda text: None)
        q = place(best)
        self.room.require(
            q, "no configuration was found that meets all demands; nearest",
            "move the floor, box or spheres, or give a start= that is allowed",
        )  # fmt: skip
        return q

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

    def coefficients(self, x: Array) -> Series:
        """(a, b, q0) of a motion that respects all limits."""
        return self.drawn(x)[0]

    def drawn(self, x: Array) -> tuple[Series, Motion | None]:
        """(a, b, q0) within all limits, and with closed loops the motion of all joints at the times
        where the limits are looked at, which has been closed for that."""
        a, b, gain, place = self.shape(x)
        q, qd, qdd = (self.fine[k] @ np.vstack([a, b]) for k in range(3))
        limits = self.limits
        tiny = 1e-12
        scale = np.minimum.reduce([
            self.widest(q, tiny),
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
        if self.about is not None:
            q0 = self.middle(q * scale, place)
            factor = self.share(q * scale + q0, qd * scale, qdd * scale)
            s = scale * factor
            return (a * s, b * s, self.about + factor * (q0 - self.about)), None
        s = scale * self.within_torques(q, qd, qdd, scale, place)
        return (a * s, b * s, self.middle(q * s, place)), None

    def widest(self, q: Array, tiny: float) -> Array:
        """Factors on the amplitudes of q (m, n) that the limits of position allow."""
        low, high = self.limits.lower, self.limits.upper
        if self.start is None:
            return np.asarray((high - low) * _MARGIN / np.maximum(np.ptp(q, axis=0), tiny))
        up, down = (q - q[0]).max(axis=0), (q[0] - q).max(axis=0)
        return np.asarray(_MARGIN * np.minimum(
            (high - self.start) / np.maximum(up, tiny), (self.start - low) / np.maximum(down, tiny)
        ))  # fmt: skip

    def share(self, q: Array, qd: Array, qdd: Array) -> float:
        """The largest s at which the motion drawn to the anchor, about + s (q - about), is allowed,
        by bisection; 0, the anchor itself, is."""
        assert self.about is not None
        low, high = 0.0, 1.0
        for step in range(_BISECTIONS):
            s = high if step == 0 else (low + high) / 2
            good = self.fits(self.about + s * (q - self.about), s * qd, s * qdd)
            if good and step == 0:
                return 1.0
            low, high = (s, high) if good else (low, s)
        return low

    def middle(self, q: Array, place: Array) -> Array:
        """Where the motion is put inside the range that it leaves free; or so that it begins at the
        start."""
        if self.start is not None:
            return np.asarray(self.start - q[0])
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
        """Are the torques of all joints' positions and the driven ones' rates within limits, and
        the links where they may be?"""
        if not self.room.open and (self.room.least(q[::_ROOM]) < 0).any():
            return False
        if self.dynamics is None or not np.isfinite(self.limits.effort).any():
            return True
        tau = self.dynamics(q=q, qd=qd, qdd=qdd)
        return bool((np.abs(tau) <= _MARGIN * self.limits.effort).all())

    def sampled(self, series: Series) -> tuple[Series, Motion | None]:
        """The series, and with closed loops the motion of all joints at times for the criterion."""
        if self.reach is None:
            return series, None
        q, qd, qdd = (wave[::_EVERY] for wave in _moved(self.fine, series))
        return series, self.reach.completed(states(q, qd, qdd))

    def observations(self, series: Series, motion: Motion | None) -> Array:
        """The observation matrix of the motion, rows weighted by the torque limits."""
        if motion is None:
            motion = states(*_moved(self.sparse, series))
        D = full_matrix(self.model, motion, self.model.shape)[..., list(self.model.kept)]
        return (D * self.weights[:, None]).reshape(-1, D.shape[-1])

    def matrix(self, x: Array) -> Array:
        return self.observations(*self.drawn(x))

    def cost(self, x: Array) -> float:
        return self.criterion_of(self.matrix(x))

    def criterion_of(self, W: Array) -> float:
        if not W.any():
            return float("inf")
        values = np.maximum(np.linalg.eigvalsh(W.T @ W), 1e-300)
        if self.criterion == "determinant":
            return float(-np.log(values).mean())
        return float(np.log(values[-1] / values[0]) / 2)

    def deviations(self, W: Array, samples: float) -> Array:
        """Predicted standard deviations of the parameters: the roots of the diagonal of
        NOISE^2 (W' W)^-1, of as many samples of the same motion with white noise."""
        size = np.linalg.norm(W, axis=0)
        _, s, Vt = np.linalg.svd(W / np.where(size > 0, size, 1.0), full_matrices=False)
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = np.linalg.norm(Vt / s[:, None], axis=0) / size
        spread = np.where(size > 0, spread, np.inf)  # the motion does not show it at all
        return np.asarray(NOISE * spread * np.sqrt(len(W) / self.n / samples))

    def settled(self, x: Array) -> Series:
        """(a, b, q0), drawn in until all demands hold on the dense times."""
        a, b, q0 = self.coefficients(x)
        if self.about is None:
            return a, b, q0
        if not (a.any() or b.any()):
            raise InputError(
                f"no motion away from q = {np.round(self.about, 4).tolist()} was found that meets "
                "all demands",
                remedy="move the floor, box or spheres, or give another start=",
            )
        worst: Any = None
        for s in _DRAWN_IN:
            series = a * s, b * s, self.about + s * (q0 - self.about)
            worst = min(self.margins(series), key=lambda margin: margin.least)
            if worst.least >= 0:
                return series
        raise InputError(
            f"no motion was found that keeps its {worst.limit} limit: {worst.what} exceeds it by "
            f"{-worst.least:.4g} {worst.unit} at {worst.time:.4g} s",
            remedy="more iterations=, another seed=, or wider limits",
        )

    def margins(self, series: Series) -> list[Margin]:
        """Of the motion on the dense times, the least of each kind."""
        q_a, qd_a, qdd_a = _moved(self.dense, series)
        q, qd, n = q_a, qd_a, self.robot.n
        if self.reach is not None:
            full = self.reach.completed(states(q_a, qd_a, qdd_a))
            q, qd = full.q[:, :n], full.qd[:, :n]
        active, limits = self.model.ties.active, self.limits.whole(self.robot)
        qdd = np.zeros_like(q)
        qdd[:, active] = qdd_a
        position, effort = zip(*((x.position, x.effort) for x in units(self.robot)), strict=True)
        kinds = {
            "position": (np.minimum(q - limits["lower"], limits["upper"] - q),
                         limits["upper"] - limits["lower"], position),
            "velocity": (limits["velocity"] - np.abs(qd), limits["velocity"],
                         [f"{unit}/s" for unit in position]),
            "acceleration": (limits["acceleration"] - np.abs(qdd), limits["acceleration"],
                             [f"{unit}/s²" for unit in position]),
        }  # fmt: skip
        if self.dynamics is not None:
            tau = np.zeros_like(q)
            tau[:, active] = self.dynamics(q=q, qd=qd_a, qdd=qdd_a)
            kinds["torque"] = limits["effort"] - np.abs(tau), limits["effort"], effort
        rows = []
        for kind, (x, size, unit) in kinds.items():
            known = np.flatnonzero(np.isfinite(size))
            if len(known):
                share = x[:, known] / size[known]  # joints are compared by shares of their limits
                row, k = np.unravel_index(int(np.argmin(share)), share.shape)
                j = known[k]
                what, at = names(self.robot)[j], float(self.times[row])
                rows.append(Margin(kind, float(x[row, j]), unit[j], what, at))
        return rows + self.room.margins(self.times, q)

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


def _moved(waves: Series, series: Series) -> Series:
    """q, qd, qdd (times, n) of the coefficients."""
    a, b, q0 = series
    q, qd, qdd = (wave @ np.vstack([a, b]) for wave in waves)
    return q + q0, qd, qdd


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
        size = 1.0 if self.ties.rolled else size
        done = 0.0
        for _ in range(_HALVINGS):
            while done < 1:
                ahead = min(1.0, done + size)
                trial, good = self._carried(here, about + ahead * away, 1.01 * _STEP, 1.0)
                if not (good.all() and self.allows(trial, ahead * qd, ahead * qdd)):
                    break
                here, done = trial, ahead
            size /= 2
        return done, here

    def _carried(self, q: Array, q_a: Array, *how: float) -> tuple[Array, Array]:
        """(q, closed): configurations carried to those of a motion; wheels roll along it."""
        if self.ties.rolled:
            return self.ties.rolling(q_a, self.home), np.ones(len(q_a), bool)
        return self.ties.carried(q, q_a, *how)

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
        q, good = self._carried(np.repeat(self.home[None], len(motion.q), axis=0), motion.q)
        if not good.all():
            k = int(np.argmin(good))
            raise InputError(
                f"the loops of '{self.ties.robot.name}' do not close along this motion, at "
                f"q_a = {np.round(motion.q[k], 4).tolist()}"
            )
        return self.ties.moving(q, motion)
