"""Motion of robots with flexible links: prescribed actuators or given torques in, deformation out.

    run = simulate(robot, 0.75, motion=law)           q_a, qd_a, qdd_a = law(t)
    run = simulate(robot, 2.0, torque=lambda t: [0.1], q_a=[0])
    run.q, run.velocity(frame), run.energy

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
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ...build.flexible.closure import Closing, closing
from ...build.flexible.step import (
    course_program,
    flow_program,
    kinetic_program,
    rates_program,
    step_program,
)
from ...catalogue import model
from ...describe.robot import Robot
from ...errors import CardanWarning, InputError, ModelError, UnknownNameError
from ...motion.trajectory import Trajectory
from ...run.rollout import Rollout
from ..integrate import (
    SIDE,
    Accuracy,
    Equation,
    Grid,
    Settings,
    generalized_alpha,
    halved,
    implicit,
    require_finite,
)
from ..modal import natural_frequencies
from ..scene import total_mass

__all__ = ["METHODS", "FlexibleMotion", "even_steps", "simulate"]

Array = np.ndarray
METHODS = ("auto", "rk4", "generalized-alpha", "radau", "bdf")
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
_TRIED = 64  # times at which a function of one time is tried with many
_LOOSE = 10.0  # the tolerance of the run that radau and bdf are compared with
_SOLVERS = {"radau": "Radau", "bdf": "BDF"}
_AGE = 20  # steps that a Jacobian lasts


@dataclass(frozen=True)
class FlexibleMotion:
    """Samples of a motion: all coordinates of the tree and their velocities, (N, n + ne)."""

    robot: Robot
    t: Array
    q: Array
    qd: Array
    method: str
    steps: int
    error: Accuracy | None = None  # estimated; None where the steps were given

    def __repr__(self) -> str:
        told = "" if self.error is None else f", estimated error {self.error}"
        return (
            f"FlexibleMotion of '{self.robot.name}': {len(self.t)} samples to {self.t[-1]:.6g} s,"
            f" {self.steps} steps of {self.method}{told}"
        )

    @property
    def elastic(self) -> Array:
        """The elastic coordinates, (N, ne)."""
        return self.q[:, self.robot.n :]

    def position(self, frame: int | str | None = None) -> Array:
        """The origin of a frame in frame 0, (N, 3)."""
        tree = self.robot.tree()
        found = model(tree, "transform", frame=frame).compile()(q=self.q)
        origins: Array = np.asarray(found)[:, :3, 3]
        return origins

    def velocity(self, frame: int | str | None = None) -> Array:
        """The twist (linear, angular) of a frame, in the axes of frame 0, (N, 6)."""
        J = model(self.robot.tree(), "jacobian", frame=frame).compile()(q=self.q)
        found: Array = np.einsum("nij,nj->ni", np.asarray(J), self.qd)
        return found

    @cached_property
    def energy(self) -> Array:
        """Kinetic and potential energy (gravity, springs, deformation), (N,)."""
        E, U = model(self.robot.tree(), "energies").compile()(q=self.q, qd=self.qd)
        total: Array = np.asarray(E) + np.asarray(U)
        return total


def simulate(
    robot: Robot, duration: float, *, motion: Callable[[float], Any] | None = None,
    torque: Callable[[float], Any] | None = None, q_a: Sequence[float] | None = None,
    q_e: Sequence[float] | None = None, qd: Sequence[float] | None = None,
    guess: Sequence[float] | None = None, step: float | None = None, method: str = "auto",
    samples: int = 500, rtol: float | None = None, atol: float = 1e-9, law: Any = None,
) -> FlexibleMotion:  # fmt: skip
    """Integrate a robot with flexible links over a time.

    rtol: the error wanted, of the largest displacement and, by kinetic energy, of the largest
    velocity (1e-4); of radau and bdf that of a step (1e-6, with atol).

    motion(t): positions, velocities, accelerations of the driven joints; or torque(t), zero without
    either; or law(t, q, qd): torques, held over each step of rk4 and generalized-alpha, of q of the
    tree and velocities of the independent coordinates. It starts at q_a (that of the motion),
    undeformed or deformed by q_e, with velocities qd of the independent coordinates (driven and
    elastic joints, then elastic coordinates)."""
    if method not in METHODS:
        raise UnknownNameError.of("method", method, METHODS)
    if not duration > 0:
        raise InputError(f"duration {duration} is not positive")
    loops = closing(robot)
    drive = _Drive(loops, motion, torque, law)
    start = _start(loops, drive, q_a, q_e, qd, guess)
    run = _Run(robot, drive.prescribed, drive, start, Grid(duration, samples))
    if rtol is not None and not rtol > 0:
        raise InputError(f"rtol = {rtol}; expected a positive one")
    if method in ("radau", "bdf"):
        if law is not None:
            raise InputError("a sampled law needs steps: method 'rk4' or 'generalized-alpha'")
        return run.adaptive(method, rtol or _LOCAL, atol)
    fast = _stable_step(robot, start[0][loops.columns(loops.active)], guess)
    if step is not None or law is not None:
        count = run.grid.count(step or fast)
        if method == "rk4" or (method == "auto" and count <= _MOST_STEPS):
            return run.explicit(count)
        return run.implicit(count if step else run.grid.count(duration / _IMPLICIT_STEPS))
    return run.controlled(method, run.grid.count(_LIMIT / _PHASE * fast), rtol or RTOL)


class _Drive:
    """t -> u, checked: a prescribed motion, torques of time, or torques held over a step."""

    def __init__(self, loops: Closing, motion: Any, torque: Any, law: Any) -> None:
        if sum(x is not None for x in (motion, torque, law)) > 1:
            raise InputError("motion, torque, law: a driven joint has one of them")
        na = len(loops.active)
        self.prescribed = motion is not None
        self.given = motion if self.prescribed else torque
        self.law = law
        self.shape = (3, na) if self.prescribed else (na,)
        self.held = np.zeros(na)
        self.many: bool | None = True if isinstance(self.given, Trajectory) else None
        if self.given is not None:
            self(0.0)

    def __call__(self, t: float) -> Array:
        if self.given is None:
            return self.held
        found = self.given(t)
        return self.fitting(t, [np.atleast_1d(x) for x in found] if self.prescribed else found)

    def table(self, t: Array) -> Array:
        """u at many times, (N, ...): in one call where the given function takes arrays, and gives
        for them what it gives for their elements."""
        if self.given is None:
            return np.broadcast_to(self.held, (len(t), *self.shape))
        if self.many is None and len(t) > _TRIED:
            some = np.linspace(0, len(t) - 1, _TRIED).astype(int)
            whole = self._together(t)
            each = np.array([self(float(x)) for x in t[some]])
            self.many = whole is not None and np.array_equal(whole[some], each)
        if self.many:
            whole = self._together(t)
            if whole is not None:
                return whole
        return np.array([self(float(x)) for x in t])

    def _together(self, t: Array) -> Array | None:
        """One call for all times; None where the function is not made for that."""
        assert self.given is not None
        try:
            found = self.given(t)
            if self.prescribed:
                found = np.stack([np.asarray(x, float) for x in found], 1)
            u = np.asarray(found, float)
        except Exception:  # a function of one time may raise anything
            return None
        return u if u.shape == (len(t), *self.shape) else None

    def sample(self, t: float, q: Array, qd: Array) -> None:
        """Ask the law for the torques of the next step."""
        if self.law is not None:
            self.held = self.fitting(t, self.law(t, q, qd))

    def fitting(self, t: float, u: Any) -> Array:
        found = np.array(u, float)
        if found.shape != self.shape:
            what = "q, qd, qdd of the driven joints" if self.prescribed else "driven torques"
            raise InputError(
                f"at t = {t:g} the law gives shape {found.shape}; {what}: {self.shape}"
            )
        return found


def _start(
    loops: Closing, drive: _Drive, q_a: Any, q_e: Any, qd: Any, guess: Any
) -> tuple[Array, Array]:
    """q of the tree and qd of the independent coordinates at the beginning."""
    prescribed = drive.prescribed
    first = drive(0.0)
    if prescribed:
        q_a = first[0]
    elif q_a is None:
        q_a = np.zeros(len(loops.active))
    q = loops.assemble(q_a, q_e=q_e, guess=guess)
    rate = np.zeros(len(loops.independent))
    if qd is not None:
        given = np.asarray(qd, float)
        if given.shape != rate.shape:
            raise InputError(f"qd has shape {given.shape}; independent velocities: {rate.shape}")
        rate = given.copy()
    if prescribed:
        rate[[loops.independent.index(key) for key in loops.active]] = first[1]
    return q, rate


def even_steps(robot: Robot, duration: float, q_a: Array, guess: Any) -> int:
    """An even number of samples in a time that shows the fastest vibration, at most a hundred."""
    return 2 * min(50, max(1, int(np.ceil(duration / _stable_step(robot, q_a, guess) / 2))))


def _stable_step(robot: Robot, q_a: Array, guess: Any) -> float:
    """A step short enough for explicit integration of the highest frequency."""
    highest = max(
        float(np.nanmax(natural_frequencies(robot, q_a, actuators, guess=guess)))
        for actuators in ("locked", "free")
    )
    return _PHASE / (2 * np.pi * highest)


@lru_cache(maxsize=16)
def _compiled_step(robot: Robot) -> Any:
    return step_program(robot).compile()


@lru_cache(maxsize=16)
def _compiled_course(robot: Robot, prescribed: bool) -> Rollout:
    return Rollout(course_program(robot, prescribed), "rk4", alone=True)


@lru_cache(maxsize=16)
def _compiled_energy(robot: Robot) -> Any:
    return kinetic_program(robot.tree()).compile()


@lru_cache(maxsize=16)
def _compiled_rates(robot: Robot, prescribed: bool) -> Any:
    program = rates_program(robot, prescribed)
    slopes = [
        program.derivative(output, wrt).compile()
        for output in ("flow", "qdd")
        for wrt in ("q", "qd")
    ]
    return program.compile(), slopes


@dataclass(frozen=True)
class _Run:
    """What is integrated: y = (q of the tree, qd of the independent coordinates)."""

    robot: Robot
    prescribed: bool
    drive: _Drive
    start: tuple[Array, Array]
    grid: Grid

    def explicit(self, count: int) -> FlexibleMotion:
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
            found = course(x, step=h, steps=len(t), every=every, stepped=curve)
            x = found[-1]
            require_finite(x, float(x[-1]) if np.isfinite(x[-1]) else self.grid.duration)
            states.append(found[1:])
        return self.split(np.concatenate(states)[:, :-1], "rk4", count)

    def explicit_law(self, count: int) -> FlexibleMotion:
        """Steps with the torques of a law held over each; what every tenth step adds to the error
        is found by two half steps."""
        advance = _compiled_step(self.robot)
        h, every = self.grid.duration / count, count // self.grid.samples
        q, qd = self.start
        qs, rates = [q], [qd]
        width, half = np.array([h]), np.array([h / 2])
        error = np.zeros(2)
        for k in range(count):
            t = k * h
            self.drive.sample(t, q, qd)
            u = self.drive(t)
            before = q, qd
            q, qd = advance(q=q, qd=qd, u=u, h=width)
            if k % _TENTH == 0:
                middle = advance(q=before[0], qd=before[1], u=u, h=half)
                fine = advance(q=middle[0], qd=middle[1], u=u, h=half)
                error += _TENTH * np.array([np.abs(fine[0] - q).max(), np.abs(fine[1] - qd).max()])
            if (k + 1) % every == 0:
                require_finite(q, t + h)
                qs.append(q)
                rates.append(qd)
        found = self.result(np.array(qs), np.array(rates), "rk4", count)
        by = "sum of what the steps added, the law's sampling apart"
        return replace(found, error=Accuracy(float(error[0]), float(error[1]), by))

    def controlled(self, method: str, stable: int, rtol: float) -> FlexibleMotion:
        """Steps halved until the motion no longer changes by more than rtol; `stable`: the fewest
        explicit ones."""
        first = self.grid.count(self.grid.duration / _FIRST_IMPLICIT)
        if method == "auto":
            method, pilot = "rk4", None
            code = _compiled_course(self.robot, self.prescribed).program
            calls = 0.0 if self.drive.given is None or self.drive.many else 3 * _CALL
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

    def distance(self, one: FlexibleMotion, two: FlexibleMotion) -> tuple[float, Accuracy]:
        """How far two motions are apart, relative to what moves; and in units."""
        energy = _compiled_energy(self.robot)
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
        rates, slopes = _compiled_rates(self.robot, self.prescribed)
        size = len(self.start[0]) + len(self.start[1])
        fresh = sum(slope.program.cost.total for slope in slopes) + size**3
        return float(3 * (rates.program.cost.total + _CALL) + fresh / _AGE)

    @cached_property
    def equation(self) -> Equation:
        """ẏ = f(t, y) and ∂f/∂y."""
        rates, slopes = _compiled_rates(self.robot, self.prescribed)
        n = len(self.start[0])

        def f(t: float, y: Array) -> Array:
            return np.concatenate(rates(q=y[:n], qd=y[n:], u=self.drive(t)))

        def jacobian(t: float, y: Array) -> Array:
            u = self.drive(t)
            b = [slope(q=y[:n], qd=y[n:], u=u) for slope in slopes]
            return np.block([[b[0], b[1]], [b[2], b[3]]])

        def sample(t: float, y: Array) -> None:
            self.drive.sample(t, y[:n], y[n:])

        return Equation(f, jacobian=jacobian, before=sample)

    def implicit(self, count: int) -> FlexibleMotion:
        y = generalized_alpha(self.equation, np.concatenate(self.start), self.grid, count)
        return self.split(y, "generalized-alpha", count)

    def adaptive(self, name: str, rtol: float, atol: float) -> FlexibleMotion:
        """SciPy's implicit solvers."""
        runs = []
        for loose in (_LOOSE, 1.0):
            settings = Settings(_SOLVERS[name], min(0.1, loose * rtol), loose * atol)
            y, evaluations = implicit(
                self.equation, np.concatenate(self.start), self.grid, settings
            )
            runs.append(self.split(y, name, evaluations))
        _, gap = self.distance(*runs)
        by = "against ten times the tolerance; velocities as the mean of all masses"
        return replace(runs[1], error=replace(gap, by=by))

    def split(self, y: Array, name: str, steps: int) -> FlexibleMotion:
        """The samples of y, driven joints where their motion puts them."""
        n = len(self.start[0])
        q, qd = y[:, :n].copy(), y[:, n:].copy()
        if self.prescribed:
            loops = closing(self.robot)
            for k, t in enumerate(self.grid.times):
                u = self.drive(float(t))
                q[k, loops.columns(loops.active)] = u[0]
                qd[k, [loops.independent.index(key) for key in loops.active]] = u[1]
        return self.result(q, qd, name, steps)

    def result(self, q: Array, qd: Array, name: str, steps: int) -> FlexibleMotion:
        t = self.grid.times
        return FlexibleMotion(self.robot, t, q, _tree_rates(self.robot, q, qd), name, steps)


def _flexible_mass(robot: Robot) -> float:
    """Of the flexible bodies, beside their rigid hubs."""
    return sum(float(x.integrals.M) for x in closing(robot).scene.flexible.values())


def _tree_rates(robot: Robot, q: Array, rate: Array) -> Array:
    """Velocities of all coordinates: passive joints follow."""
    return np.asarray(_compiled_flow(robot)(q=q, qd=rate)) if robot.constrained else rate


@lru_cache(maxsize=16)
def _compiled_flow(robot: Robot) -> Any:
    return flow_program(robot).compile()
