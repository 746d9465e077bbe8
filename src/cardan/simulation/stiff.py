"""Stiff motions, of robots with flexible links: steps of their own, chosen for the whole motion.

    run = simulate(robot, 0.75, motion=law)           q_a, qd_a, qdd_a = law(t)
    run = simulate(robot, 2.0, torque=lambda t: [0.1], q_a=[0])
    run.q, run.velocity(frame), run.energy

`simulate.simulate` comes here for closed loops with flexible links, and for the implicit methods.

Method "rk4": explicit steps of fourth order, many in one call of compiled code, the longest that
the highest natural frequency allows. "generalized-alpha": implicit steps of second order that damp
what is faster than a step, where the highest frequencies would need too many explicit ones. Both
run the motion again with half the step until what that changes is within `rtol`: `run.error` is the
estimate. "auto" takes the cheaper one, by counted operations. With `step` their steps are as given,
and there is no estimate. "radau", "bdf": implicit, each step within rtol; a second, coarser run
gives the estimate. The implicit ones use the exact Jacobian of the rates."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np

from ..arguments import named_arguments
from ..build.common import with_friction
from ..build.flexible.closure import Closing, closing
from ..build.flexible.step import (
    course_program,
    flow_program,
    kinetic_program,
    rates_program,
    step_program,
)
from ..describe.robot import Robot
from ..errors import CardanWarning, InputError, ModelError, UnknownNameError
from ..motion.coordinates import coordinates
from ..motion.derived import compiled
from ..motion.joints import friction_torques, moving, number
from ..run.rollout import Rollout
from .drive import Drive
from .friction import link_damping, rubbing_cuts
from .integrate import (
    SIDE,
    Accuracy,
    Equation,
    Grid,
    Settings,
    generalized_alpha,
    halved,
    integrate,
    require_finite,
)
from .modal import natural_frequencies
from .result import Dynamics, Simulation, balance
from .scene import total_mass
from .singular import rates_matrix

Array = np.ndarray
IMPLICIT = ("generalized-alpha", "radau", "bdf")
METHODS = ("auto", "rk4", *IMPLICIT)
RTOL = 1e-4  # of what moves: the estimated error of a motion by steps that are chosen here
_LOCAL = 1e-6  # of a step of radau and bdf
_MOST_STEPS = 20_000  # explicit ones with a law, each a call of its own
_IMPLICIT_STEPS = 4_000  # with a law
_FIRST_IMPLICIT = 1_000
_HALVINGS = 7
_PHASE = 0.2  # h ω of an explicit step that resolves the highest frequency: 1e-5 of its phase
_LIMIT = 2.2  # h ω of an explicit step that is stable: 2.8 is the limit at rest
_CHUNK = 8192  # steps in one call
_CHEAP = 3e10  # operations of an explicit motion that is not worth a look at implicit ones
_CALL = 3e4  # what a call from outside costs, in operations
_TENTH = 10
_LOOSE = 10.0  # the tolerance of the run that radau and bdf are compared with
_SOLVERS = {"radau": "Radau", "bdf": "BDF"}
NAMES = {"DOP853": "auto", "Radau": "radau", "BDF": "bdf"}  # of `simulate.simulate`
_AGE = 20  # steps that a Jacobian lasts


@named_arguments
def simulate(
    robot: Robot, duration: float, *, motion: Callable[[float], Any] | None = None,
    torque: Callable[[float], Any] | None = None, q_a: Sequence[float] | None = None,
    q_e: Sequence[float] | None = None, qd: Sequence[float] | None = None,
    guess: Sequence[float] | None = None, step: float | None = None, method: str = "auto",
    samples: int = 500, rtol: float | None = None, atol: float = 1e-9, law: Any = None,
) -> Simulation:  # fmt: skip
    """Integrate a robot with flexible links over a time.

    rtol: the error wanted, of the largest displacement and, by kinetic energy, of the largest
    velocity (1e-4); of radau and bdf that of a step (1e-6, with atol).

    motion(t): positions, velocities, accelerations of the driven joints; or torque(t), zero without
    either; or law(t, q, qd): torques, held over each step of rk4 and generalized-alpha, of q of the
    tree and velocities of the independent coordinates. It starts at q_a (that of the motion),
    undeformed or deformed by q_e, with velocities qd of the independent coordinates (driven and
    elastic joints, then elastic coordinates)."""
    if not duration > 0:
        raise InputError(f"duration {duration} is not positive")
    loops = closing(robot)
    drive = Drive(robot, loops.columns(loops.active), motion=motion, torque=torque, law=law)
    start = _start(loops, drive, q_a, q_e, qd, guess)
    return _Run(robot, drive, start, Grid(duration, samples)).solve(method, step, rtol, atol)


def simulate_stiff(
    robot: Robot, drive: Drive, start: tuple[Array, Array], *, t: Array, friction: bool,
    method: str, rtol: float | None, atol: float, step: float | None,
) -> Simulation:  # fmt: skip
    """A run from q of the tree and the independent velocities, with samples at t. A law is sampled
    at every step. There is no energy balance where a law acts or a cut joint rubs."""
    bare = with_friction(robot, friction)
    fast = _stable_step(bare, start[0])
    every = 2 * min(50, max(1, int(np.ceil(float(t[1]) / fast / 2))))  # shows what is fastest
    run = _Run(bare, drive, start, Grid(float(t[-1]), every * (len(t) - 1)), fast)
    result = run.solve(NAMES.get(method, method), step, rtol, atol)
    assert isinstance(result.dynamics, partial)
    solved = result.dynamics(every=every)
    if drive.law is not None or rubbing_cuts(bare)[0]:
        solved = replace(solved, energy=None)
    at = slice(None, None, every)
    return replace(
        result, robot=robot, t=result.t[at], q=result.q[at], qd=result.qd[at], dynamics=solved
    )


def _start(
    loops: Closing, drive: Drive, q_a: Any, q_e: Any, qd: Any, guess: Any
) -> tuple[Array, Array]:
    """q of the tree and qd of the independent coordinates at the beginning."""
    first = drive(0.0)
    if drive.prescribed:
        q_a = first[0]
    q = loops.assemble(q_a, q_e=q_e, guess=guess)
    rate = np.zeros(len(loops.independent)) if qd is None else np.array(qd, float)
    if rate.shape != (len(loops.independent),):
        raise InputError(
            f"qd has shape {rate.shape}; independent velocities: {(len(loops.independent),)}"
        )
    if drive.prescribed:
        rate[[loops.independent.index(key) for key in loops.active]] = first[1]
    return q, rate


def _stable_step(robot: Robot, q: Array) -> float:
    """A step short enough for explicit integration of the highest frequency."""
    loops = closing(robot)
    q_a, guess = (q[loops.columns(keys)].tolist() for keys in (loops.active, loops.undriven))
    highest = max(
        float(np.nanmax(natural_frequencies(robot, q_a, actuators, guess=guess)))
        for actuators in ("locked", "free")
    )
    return _PHASE / (2 * np.pi * highest)


@lru_cache(maxsize=64)
def _compiled(program: Callable[..., Any], *arguments: Any) -> Any:
    return program(*arguments).compile()


@lru_cache(maxsize=16)
def _compiled_course(robot: Robot, prescribed: bool) -> Rollout:
    return Rollout(course_program(robot, prescribed), "rk4", alone=True)


@lru_cache(maxsize=16)
def _compiled_slopes(robot: Robot, prescribed: bool) -> list[Any]:
    program = _compiled(rates_program, robot, prescribed).program
    return [
        program.derivative(output, wrt).compile()
        for output in ("flow", "qdd")
        for wrt in ("q", "qd")
    ]


@dataclass(frozen=True)
class _Run:
    """What is integrated: y = (q of the tree, qd of the independent coordinates)."""

    robot: Robot
    drive: Drive
    start: tuple[Array, Array]
    grid: Grid
    fast: float = 0.0  # the step that resolves the highest frequency, where it is known

    @property
    def prescribed(self) -> bool:
        return self.drive.prescribed

    def solve(self, method: str, step: float | None, rtol: float | None, atol: float) -> Simulation:
        """The motion by a method of METHODS; with rtol None as exact as each is by default."""
        if method not in METHODS:
            raise UnknownNameError.of("method", method, (*METHODS, *NAMES))
        if rtol is not None and not rtol > 0:
            raise InputError(f"rtol = {rtol}; expected a positive one")
        law = self.drive.law is not None
        if method in _SOLVERS:
            if law:
                raise InputError("a sampled law needs steps: method 'rk4' or 'generalized-alpha'")
            return self.adaptive(method, rtol or _LOCAL, atol)
        count, fast = self.grid.count, self.fast or _stable_step(self.robot, self.start[0])
        if step is None and not law:
            return self.controlled(method, count(_LIMIT / _PHASE * fast), rtol or RTOL)
        explicit = count(step or fast)
        if method == "rk4" or (method == "auto" and explicit <= _MOST_STEPS):
            return self.explicit(explicit)
        return self.implicit(explicit if step else count(self.grid.duration / _IMPLICIT_STEPS))

    def explicit(self, count: int) -> Simulation:
        """Runge and Kutta's steps; where a law acts, one by one."""
        if self.drive.law is not None:
            return self.explicit_law(count)
        course = _compiled_course(self.robot, self.prescribed)
        h, every = self.grid.duration / count, count // self.grid.samples
        x = np.append(np.concatenate(self.start), 0.0)
        states = [x[None]]
        together = max(1, _CHUNK // every) * every
        for first in range(0, count, together):
            t = h * np.arange(first, min(count, first + together))
            u0, u1, u2 = (self.drive.table(t + s * h) for s in (SIDE, 0.5, 1 - SIDE))
            slope, bend = (4 * u1 - 3 * u0 - u2) / h, 2 * (u0 - 2 * u1 + u2) / h**2
            curve = {"c0": u0, "c1": slope, "c2": bend, "t0": t[:, None]}
            result = course(x, step=h, steps=len(t), every=every, stepped=curve)
            x = result[-1]
            require_finite(x, float(x[-1]) if np.isfinite(x[-1]) else self.grid.duration)
            states.append(result[1:])
        return self.split(np.concatenate(states)[:, :-1], "rk4", count)

    def explicit_law(self, count: int) -> Simulation:
        """Steps with the torques of a law held over each; what every tenth step adds to the error
        is found by two half steps."""
        advance = _compiled(step_program, self.robot)
        h, every = self.grid.duration / count, count // self.grid.samples
        q, qd = self.start
        qs, rates = [q], [qd]
        width, half = np.array([h]), np.array([h / 2])
        error = np.zeros(2)
        for k in range(count):
            t = k * h
            self.drive.sample(t, q, qd)
            u, before = self.drive.held, (q, qd)
            q, qd = advance(q=q, qd=qd, u=u, h=width)
            if k % _TENTH == 0:
                middle = advance(q=before[0], qd=before[1], u=u, h=half)
                fine = advance(q=middle[0], qd=middle[1], u=u, h=half)
                error += _TENTH * np.array([np.abs(fine[0] - q).max(), np.abs(fine[1] - qd).max()])
            if (k + 1) % every == 0:
                require_finite(q, t + h)
                qs.append(q)
                rates.append(qd)
        result = self.split(np.hstack([qs, rates]), "rk4", count)
        by = "sum of what the steps added, the law's sampling apart"
        return replace(result, error=Accuracy(float(error[0]), float(error[1]), by))

    def controlled(self, method: str, stable: int, rtol: float) -> Simulation:
        """Steps halved until the motion no longer changes by more than rtol; `stable`: the fewest
        explicit ones."""
        first = self.grid.count(self.grid.duration / _FIRST_IMPLICIT)
        if method == "auto":
            method, pilot = "rk4", None
            code = _compiled_course(self.robot, self.prescribed).program
            calls = 0.0 if self.drive.of_time is None or self.drive.many else 3 * _CALL
            cost = (1 + 2) * stable * (4 * code.cost.total + calls)
            if cost > _CHEAP:
                pilot = halved(self.implicit, first, 2, rtol, 2, self.distance)
            if pilot is not None:
                run, _, miss = pilot
                more = 1.5 * run.steps * np.sqrt(max(miss, 1.0))
                if more * self.implicit_cost() < cost:
                    method, first = "generalized-alpha", run.steps
        if method == "rk4":
            best = halved(self.explicit, stable, 4, rtol, _HALVINGS, self.distance)
        else:
            best = halved(self.implicit, first, 2, rtol, _HALVINGS, self.distance)
        if best is None:
            raise ModelError(
                f"the motion of '{self.robot.name}' diverges with every step that was tried: is it"
                " bounded? method='radau' finds steps of its own"
            )
        run, error, miss = best
        if miss > 1:
            warnings.warn(
                f"the motion of '{self.robot.name}' has an estimated error of {error},"
                f" {miss:.1g} times what rtol = {rtol:g} allows: the motion may be unstable; give"
                " a step, a larger rtol, or method='radau'",
                CardanWarning,
                stacklevel=4,
            )
        return replace(run, error=error)

    def distance(self, one: Simulation, two: Simulation) -> tuple[float, Accuracy]:
        """How far two motions are apart, relative to what moves; and in units."""
        energy = _compiled(kinetic_program, self.robot.tree())
        position = float(np.abs(two.q - one.q).max())
        moved = float(np.abs(two.q - two.q[0]).max())
        own, apart = (float(np.max(energy(q=two.q, qd=x))) for x in (two.qd, two.qd - one.qd))
        mass = total_mass(self.robot) + _flexible_mass(self.robot)
        by = "halved steps; velocities as the mean of all masses"
        velocity = float(np.sqrt(2 * max(apart, 0.0) / mass)) if mass > 0 else 0.0
        parts = [(position, moved), (np.sqrt(max(apart, 0.0)), np.sqrt(max(own, 0.0)))]
        size = max((x / whole for x, whole in parts if whole > 0), default=0.0)
        return float(size), Accuracy(position, velocity, by)

    def implicit_cost(self) -> float:
        """Operations of an implicit step, about: three evaluations, and its share of a Jacobian."""
        rates = _compiled(rates_program, self.robot, self.prescribed)
        slopes = _compiled_slopes(self.robot, self.prescribed)
        size = len(self.start[0]) + len(self.start[1])
        fresh = sum(slope.program.cost.total for slope in slopes) + size**3
        return float(3 * (rates.program.cost.total + _CALL) + fresh / _AGE)

    @cached_property
    def equation(self) -> Equation:
        """ẏ = f(t, y) and ∂f/∂y."""
        rates = _compiled(rates_program, self.robot, self.prescribed)
        n = len(self.start[0])

        def f(t: float, y: Array) -> Array:
            return np.concatenate(rates(q=y[:n], qd=y[n:], u=self.drive(t)))

        def jacobian(t: float, y: Array) -> Array:
            u = self.drive(t)
            slopes = _compiled_slopes(self.robot, self.prescribed)
            b = [slope(q=y[:n], qd=y[n:], u=u) for slope in slopes]
            return np.block([[b[0], b[1]], [b[2], b[3]]])

        def sample(t: float, y: Array) -> None:
            self.drive.sample(t, y[:n], y[n:])

        return Equation(f, jacobian=jacobian, before=sample)

    def implicit(self, count: int) -> Simulation:
        y = generalized_alpha(self.equation, np.concatenate(self.start), self.grid, count)
        return self.split(y, "generalized-alpha", count)

    def adaptive(self, name: str, rtol: float, atol: float) -> Simulation:
        """SciPy's implicit solvers."""
        runs = []
        for loose in (_LOOSE, 1.0):
            settings = Settings(_SOLVERS[name], min(0.1, loose * rtol), loose * atol)
            states: list[Array] = []

            def sample(k: int, y: Array, states: list[Array] = states) -> None:
                states.append(y)

            start = np.concatenate(self.start)
            course = integrate(self.equation, start, self.grid.times, settings, sample)
            runs.append(self.split(np.array(states), name, course.steps))
        _, gap = self.distance(*runs)
        by = "against ten times the tolerance; velocities as the mean of all masses"
        return replace(runs[1], error=replace(gap, by=by))

    def split(self, y: Array, name: str, steps: int) -> Simulation:
        """The samples of y, driven joints where their motion puts them."""
        n, t = len(self.start[0]), self.grid.times
        q, rate = y[:, :n].copy(), y[:, n:].copy()
        if self.drive.law is not None:
            self.drive.sample(float(t[-1]), q[-1], rate[-1])
            u = np.array(self.drive.record[:: steps // self.grid.samples])
        else:
            u = self.drive.table(t)
        if self.prescribed:
            loops = closing(self.robot)
            q[:, loops.columns(loops.active)] = u[:, 0]
            rate[:, [loops.independent.index(key) for key in loops.active]] = u[:, 1]
        qd = rate
        if self.robot.constrained:  # passive joints follow
            qd = np.asarray(_compiled(flow_program, self.robot)(q=q, qd=rate))
        later = partial(dynamics, self.robot, t, q, qd, u)
        return Simulation(self.robot, t, q, qd, later, name, steps)


def _flexible_mass(robot: Robot) -> float:
    """Of the flexible bodies, beside their rigid hubs."""
    return sum(float(x.integrals.M) for x in closing(robot).scene.flexible.values())


def dynamics(robot: Robot, t: Array, q: Array, qd: Array, u: Array, every: int = 0) -> Dynamics:
    """Accelerations, torques and energies at samples of a motion driven by u, at every so many of
    them: the work of the drives is then integrated over those between (an even number)."""
    on, loops, prescribed = coordinates(robot), closing(robot), u.ndim == 3
    q, v = np.ascontiguousarray(q), np.ascontiguousarray(qd[:, on.place])
    vd = np.asarray(_compiled(rates_program, robot, prescribed)(q=q, qd=v, u=u).qdd)
    if prescribed:
        wanted = np.ascontiguousarray(vd[:, on.driven])
        tau = np.asarray(compiled(robot, "inverse-dynamics")(q=q, qd=v, qdd=wanted).tau)
    else:
        tau = np.zeros((len(t), on.nu))
        tau[:, np.searchsorted(on.place[on.driven], loops.columns(loops.active))] = u
    works = np.full((len(t), 3), np.nan)
    if every:
        works = np.zeros((1 + (len(t) - 1) // every, 3))
        works[:, 0] = _work(t, (tau * v[:, on.driven]).sum(axis=1), every)
        works[:, 1] = _work(t, _lost(robot, qd), every)
    at = slice(None, None, every or 1)
    q, qd, v, vd = (np.ascontiguousarray(x[at]) for x in (q, qd, v, vd))
    qdd = vd
    if robot.constrained:  # the rate of M(q) v = qd
        M, psi = rates_matrix(on, q, v)
        qdd = np.einsum("tij,tj->ti", M, vd) + psi
    return Dynamics(qdd, tau[at], balance(robot, q, qd, works))


def _work(t: Array, power: Array, every: int) -> Array:
    """The integral of a power by Simpson's rule, at every so many (even) samples."""
    pairs = (power[:-2:2] + 4 * power[1:-1:2] + power[2::2]) * (t[1] - t[0]) / 3
    return np.concatenate([[0.0], np.cumsum(pairs)])[:: every // 2]


def _lost(robot: Robot, qd: Array) -> Array:
    """The power that friction and damping take, (m,) of the velocities of all coordinates."""
    damping = np.array([number(joint.damping) * joint.elastic for joint in moving(robot)])
    joints, bent = qd[:, : robot.n], qd[:, robot.n :]
    lost = joints**2 @ damping + (joints * friction_torques(robot, joints)).sum(axis=1)
    return np.asarray(lost + np.einsum("ti,ij,tj->t", bent, link_damping(robot), bent))
