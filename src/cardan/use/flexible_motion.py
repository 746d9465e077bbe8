"""Motion of robots with flexible links: prescribed actuators or given torques in, deformation out.

    run = simulate(robot, 0.75, motion=law)           q_a, qd_a, qdd_a = law(t)
    run = simulate(robot, 2.0, torque=lambda t: [0.1], q_a=[0])
    run.q, run.velocity(frame), run.energy

Method "rk4": explicit steps of fourth order, each one call of compiled code, short enough for the
highest natural frequency. "generalized-alpha": implicit steps of second order that damp what is
faster than a step, for links of many elements whose highest frequencies do not matter. "radau",
"bdf": implicit and error-controlled. The implicit ones use the exact Jacobian of the rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ..build.flexible_closure import Closing, closing
from ..build.flexible_step import flow_program, rates_program, step_program
from ..catalogue import model
from ..describe.robot import Robot
from ..errors import InputError, MissingExtraError, ModelError, UnknownNameError
from .modal import natural_frequencies

__all__ = ["METHODS", "FlexibleMotion", "even_steps", "simulate"]

Array = np.ndarray
METHODS = ("auto", "rk4", "generalized-alpha", "radau", "bdf")
_MOST_STEPS = 20_000
_IMPLICIT_STEPS = 4_000
_NEWTON = 8  # iterations before the Jacobian is computed anew
_RADIUS = 0.8  # of what is much faster than a step, per step
_PHASE = 0.2  # h ω of an explicit step: 1e-5 of a period's phase; the limit of stability is 2.8
_SIDE = 1e-9  # of a step: laws that jump are looked at from inside


@dataclass(frozen=True)
class FlexibleMotion:
    """Samples of a motion: all coordinates of the tree and their velocities, (N, n + ne)."""

    robot: Robot
    t: Array
    q: Array
    qd: Array
    method: str
    steps: int

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
    samples: int = 500, rtol: float = 1e-6, atol: float = 1e-9, law: Any = None,
) -> FlexibleMotion:  # fmt: skip
    """Integrate a robot with flexible links over a time.

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
    run = _Run(robot, drive.prescribed, drive, start, duration, samples)
    if method in ("radau", "bdf"):
        if law is not None:
            raise InputError("a sampled law needs steps: method 'rk4' or 'generalized-alpha'")
        return run.adaptive(method, rtol, atol)
    count = run.count(step or _stable_step(robot, start[0][loops.columns(loops.active)], guess))
    if method == "rk4" or (method == "auto" and count <= _MOST_STEPS):
        return run.explicit(count)
    return run.implicit(count if step else run.count(duration / _IMPLICIT_STEPS))


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
        if self.given is not None:
            self(0.0)

    def __call__(self, t: float) -> Array:
        if self.given is None:
            return self.held
        found = self.given(t)
        return self.fitting(t, [np.atleast_1d(x) for x in found] if self.prescribed else found)

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
def _compiled_step(robot: Robot, prescribed: bool) -> Any:
    return step_program(robot, prescribed).compile()


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
    duration: float
    samples: int

    def count(self, step: float) -> int:
        """Steps of at most this length, a multiple of the samples."""
        return int(np.ceil(self.duration / step / self.samples)) * self.samples

    def explicit(self, count: int) -> FlexibleMotion:
        """Runge and Kutta's steps."""
        advance = _compiled_step(self.robot, self.prescribed)
        h, every = self.duration / count, count // self.samples
        q, qd = self.start
        qs, rates = [q], [qd]
        width = np.array([h])
        for k in range(count):
            t = k * h
            self.drive.sample(t, q, qd)
            u0, u1, u2 = (self.drive(t + s * h) for s in (_SIDE, 0.5, 1 - _SIDE))
            q, qd = advance(q=q, qd=qd, u0=u0, u1=u1, u2=u2, h=width)
            if (k + 1) % every == 0:
                self.require_finite(q, t + h)
                qs.append(q)
                rates.append(qd)
        return self.result(np.array(qs), np.array(rates), "rk4", count)

    def require_finite(self, y: Array, t: float) -> None:
        if not np.isfinite(y).all():
            raise ModelError(
                f"the motion of '{self.robot.name}' diverges before t = {t:g}: take a shorter"
                " step, or an implicit method"
            )

    def equation(self) -> tuple[Any, Any]:
        """ẏ = f(t, y) and ∂f/∂y."""
        rates, slopes = _compiled_rates(self.robot, self.prescribed)
        n = len(self.start[0])

        def f(t: float, y: Array) -> Array:
            return np.concatenate(rates(q=y[:n], qd=y[n:], u=self.drive(t)))

        def jacobian(t: float, y: Array) -> Array:
            u = self.drive(t)
            b = [slope(q=y[:n], qd=y[n:], u=u) for slope in slopes]
            return np.block([[b[0], b[1]], [b[2], b[3]]])

        return f, jacobian

    def implicit(self, count: int) -> FlexibleMotion:
        """Generalized alpha of first-order equations (Jansen, Whiting & Hulbert 2000)."""
        f, jacobian = self.equation()
        alpha_m, alpha_f = (3 - _RADIUS) / (2 * (1 + _RADIUS)), 1 / (1 + _RADIUS)
        gamma = 0.5 + alpha_m - alpha_f
        h, every = self.duration / count, count // self.samples
        y = np.concatenate(self.start)
        slope = f(_SIDE * h, y)
        found = [y]
        unit, inverse = np.eye(len(y)), None
        for k in range(count):
            t = (k + alpha_f) * h
            self.drive.sample(k * h, *np.split(y, [len(self.start[0])]))
            change = slope
            for trial in range(2 * _NEWTON):
                inner = y + (alpha_f * h) * ((1 - gamma) * slope + gamma * change)
                R = alpha_m * change + (1 - alpha_m) * slope - f(t, inner)
                if inverse is None or trial == _NEWTON:
                    matrix = alpha_m * unit - (alpha_f * gamma * h) * jacobian(t, inner)
                    self.require_finite(matrix, t)
                    inverse = np.linalg.inv(matrix)
                step = inverse @ R
                change = change - step
                if np.abs(h * step).max() < 1e-10 * (1 + np.abs(y).max()):
                    break
            else:
                self.require_finite(np.array([np.nan]), t)
            if trial > 2:
                inverse = None  # the Jacobian has aged
            y = y + h * ((1 - gamma) * slope + gamma * change)
            slope = change
            if (k + 1) % every == 0:
                self.require_finite(y, t)
                found.append(y)
        return self.split(np.array(found), "generalized-alpha", count)

    def adaptive(self, name: str, rtol: float, atol: float) -> FlexibleMotion:
        """SciPy's implicit solvers."""
        try:
            from scipy.integrate import solve_ivp
        except ImportError:
            raise MissingExtraError.of("scipy", "sim", "implicit integration") from None
        f, jacobian = self.equation()
        t = np.linspace(0, self.duration, self.samples + 1)
        found = solve_ivp(
            f, (0, self.duration), np.concatenate(self.start),
            {"radau": "Radau", "bdf": "BDF"}[name], t_eval=t, jac=jacobian, rtol=rtol, atol=atol,
        )  # fmt: skip
        if not found.success:
            raise ModelError(
                f"the motion of '{self.robot.name}' cannot be integrated: {found.message}"
            )
        return self.split(found.y.T, name, int(found.nfev))

    def split(self, y: Array, name: str, steps: int) -> FlexibleMotion:
        """The samples of y, driven joints where their motion puts them."""
        n = len(self.start[0])
        q, qd = y[:, :n].copy(), y[:, n:].copy()
        if self.prescribed:
            loops = closing(self.robot)
            for k, t in enumerate(np.linspace(0, self.duration, self.samples + 1)):
                u = self.drive(float(t))
                q[k, loops.columns(loops.active)] = u[0]
                qd[k, [loops.independent.index(key) for key in loops.active]] = u[1]
        return self.result(q, qd, name, steps)

    def result(self, q: Array, qd: Array, name: str, steps: int) -> FlexibleMotion:
        t = np.linspace(0, self.duration, self.samples + 1)
        return FlexibleMotion(self.robot, t, q, _tree_rates(self.robot, q, qd), name, steps)


def _tree_rates(robot: Robot, q: Array, rate: Array) -> Array:
    """Velocities of all coordinates: passive joints follow."""
    return np.asarray(_compiled_flow(robot)(q=q, qd=rate)) if robot.constrained else rate


@lru_cache(maxsize=16)
def _compiled_flow(robot: Robot) -> Any:
    return flow_program(robot).compile()
