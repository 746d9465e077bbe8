"""Ordinary differential equations: SciPy's adaptive solvers step by step, and fixed steps.

For stiff equations whose Jacobian is known: equal implicit steps (`generalized_alpha`), halved
until the motion no longer changes (`halved`).

A state may hold a rotation vector that measures the orientation from a reference (a chart of
SO(3)): after every accepted step `recentre` moves the reference to where the body is, so that the
vector stays small. That is the Runge-Kutta-Munthe-Kaas scheme: the orientation is always a product
of rotations. Events end a phase where a function of the state passes zero.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..errors import (
    CardanError,
    CardanWarning,
    InputError,
    MissingExtraError,
    ModelError,
    UnknownNameError,
)
from ..run.steps import METHODS as FIXED_STEP
from ..run.steps import euler, midpoint, rk4

ADAPTIVE = ("DOP853", "RK45", "RK23", "LSODA", "Radau", "BDF")
ONE_STEP = ("DOP853", "RK45", "RK23", *FIXED_STEP)  # may be recentred between steps

MOST_STEPS = 1_000_000
_WINDOW = 1000  # steps, over which the pace is measured
_HOPELESS = 2  # times the steps allowed: a run that needs as many is not gone on with
_SLOW = 0.1  # of the steps allowed: a run that needs as many is told
_PATIENCE = 3  # windows in a row: a contact or an impact is over before
SIDE = 1e-9  # of a step: drives that jump are looked at from inside
_NEWTON = 8  # iterations before the Jacobian is computed anew
_RADIUS = 0.8  # of what is much faster than a step, per step

Rates = Callable[[float, np.ndarray], np.ndarray]
Run = TypeVar("Run")


@dataclass(frozen=True)
class Accuracy:
    """The estimated error of a simulated motion, at its worst sample.

    position: of joints and elastic coordinates, rad or m; velocity: rad/s or m/s; by: how it was
    estimated, and what its velocity is measured by."""

    position: float
    velocity: float
    by: str

    def __str__(self) -> str:
        return f"{self.position:.1g} in position, {self.velocity:.1g} in velocity ({self.by})"


@dataclass(frozen=True)
class Course:
    """What it took: the number of steps, and by element of the state the sum of the errors that
    the steps made, as the method estimates them; None where it does not."""

    steps: int
    error: np.ndarray | None

    def __add__(self, other: Course) -> Course:
        if self.error is None or other.error is None:
            return Course(self.steps + other.steps, None)
        return Course(self.steps + other.steps, self.error + other.error)


@dataclass
class Equation:
    """y' = rates(t, y), with what may happen between steps.

    recentre(y): change the state's chart in place; events(t, y): values whose change of sign ends
    the phase; react(t, y, which): what then changes."""

    rates: Rates
    recentre: Callable[[np.ndarray], None] | None = None
    events: Callable[[float, np.ndarray], np.ndarray] | None = None
    react: Callable[[float, np.ndarray, np.ndarray], None] | None = None
    split: int = 0  # elements of y before it are positions (for euler)
    fastest: Callable[[float, np.ndarray], str] | None = None  # what the steps are small for
    jacobian: Rates | None = None  # of the rates by y
    stuck: Callable[[float, np.ndarray], None] | None = None  # raises why steps vanish, if it knows
    before: Callable[[float, np.ndarray], None] | None = None  # of a step: laws are sampled


@dataclass(frozen=True)
class Settings:
    """How to integrate."""

    method: str = "DOP853"
    rtol: float = 1e-9
    atol: float = 1e-12
    step: float | None = None  # of the fixed-step methods; the longest of the others
    most_steps: int = MOST_STEPS  # of the adaptive ones

    def __post_init__(self) -> None:
        if self.method not in ADAPTIVE + FIXED_STEP:
            raise UnknownNameError.of("method", self.method, ("auto", *ADAPTIVE, *FIXED_STEP))
        if self.method in FIXED_STEP and not (self.step and self.step > 0):
            raise InputError(f"method '{self.method}' needs a step > 0, in seconds")
        if not (self.rtol > 0 and self.atol > 0):
            raise InputError(f"rtol = {self.rtol}, atol = {self.atol}: expected positive ones")
        if not isinstance(self.most_steps, int) or self.most_steps < 1:
            raise InputError(f"most_steps = {self.most_steps!r}; expected a positive whole number")


def integrate(
    equation: Equation, y0: np.ndarray, t: np.ndarray, settings: Settings,
    sample: Callable[[int, np.ndarray], None], progress: Callable[[float], None] | None = None,
) -> Course:  # fmt: skip
    """Go from t[0] to t[-1]; sample(k, y) is called with the state at every t[k], in order."""
    if equation.recentre is not None and settings.method not in ONE_STEP:
        raise InputError(
            f"method '{settings.method}' cannot turn a floating base or close loops between its"
            f" steps; use {', '.join(ONE_STEP)}"
        )
    sample(0, y0)
    run = _fixed if settings.method in FIXED_STEP else _adaptive
    return run(equation, np.array(y0, float), t, settings, sample, progress or _silent)


def _silent(t: float) -> None:
    """No progress is wanted."""


def _adaptive(
    equation: Equation, y: np.ndarray, t: np.ndarray, settings: Settings,
    sample: Callable[[int, np.ndarray], None], progress: Callable[[float], None],
) -> Course:  # fmt: skip
    k, now, steps, h = 1, float(t[0]), 0, None
    error = np.zeros(len(y))
    pace = _Pace(equation, settings, float(t[0]), float(t[-1]))
    while k < len(t):
        solver = _solver(equation, settings, now, y, float(t[-1]), h)
        before = equation.events(now, y) if equation.events else None
        while True:
            _step(solver, equation)
            steps += 1
            error += _local_error(solver, settings)
            pace.took(steps, solver.t, solver.y)
            dense, end, which = solver.dense_output(), solver.t, None
            if before is not None and equation.events is not None:
                end, which = _crossing(equation.events, dense, solver.t_old, solver.t, before)
            while k < len(t) and t[k] <= end:
                sample(k, dense(t[k]))
                k += 1
            progress(end)
            if which is not None:
                y, now, h = dense(end), end, None
                assert equation.react is not None
                equation.react(now, y, which)
                break
            if solver.status == "finished":
                return Course(steps, error)
            if equation.recentre is not None:
                equation.recentre(solver.y)
                solver.f = equation.rates(solver.t, solver.y)
            if equation.events is not None:
                before = equation.events(solver.t, solver.y)
    return Course(steps, error)


def _local_error(solver: Any, settings: Settings) -> np.ndarray:
    """What the last step added to the error of each element: the embedded estimate of a method of
    Runge and Kutta; of others the tolerance, which they keep."""
    K, h = getattr(solver, "K", None), solver.t - solver.t_old
    if K is not None and hasattr(solver, "E5") and hasattr(solver, "E3"):  # DOP853
        fifth, third = np.abs(K.T @ solver.E5), np.abs(K.T @ solver.E3)
        length = np.hypot(fifth, 0.1 * third)
        share = np.divide(fifth, length, out=np.zeros_like(length), where=length > 0)
        return np.asarray(h * fifth * share)
    if K is not None and hasattr(solver, "E"):
        return np.asarray(np.abs(h * (K.T @ solver.E)))
    return np.asarray(settings.atol + settings.rtol * np.abs(solver.y))


@dataclass
class _Pace:
    """How many steps a run takes: one that crawls is told, and ended when there is no hope."""

    equation: Equation
    settings: Settings
    at: float  # time at the start of the window
    end: float
    slow: int = 0  # windows in a row that leave no hope
    told: bool = False

    def took(self, steps: int, t: float, y: np.ndarray) -> None:
        most = self.settings.most_steps
        if steps >= most and t < self.end:
            raise CardanError(self._said(steps, t, y, (t - self.at) / (steps % _WINDOW or _WINDOW)))
        if steps % _WINDOW:
            return
        h, self.at = (t - self.at) / _WINDOW, t
        needed = (self.end - t) / h if h > 0 else np.inf
        self.slow = self.slow + 1 if needed > _HOPELESS * most else 0
        if self.slow >= _PATIENCE:
            raise CardanError(self._said(steps, t, y, h))
        if needed > _SLOW * most and not self.told and steps >= _PATIENCE * _WINDOW:
            self.told = True
            warnings.warn(self._said(steps, t, y, h), CardanWarning, stacklevel=2)

    def _said(self, steps: int, t: float, y: np.ndarray, h: float) -> str:
        why = self.equation.fastest(t, y) if self.equation.fastest else ""
        needed = f"{(self.end - t) / h:.2g}" if h > 0 else "no end of"
        return (
            f"the simulation crawls: {steps} steps to t = {t:.6g} s of {self.end:.6g} s, now"
            f" {h:.2g} s each: {needed} more steps are needed, {self.settings.most_steps} are"
            f" allowed{'; ' + why if why else ''}. Remedies: softer or better damped values, method"
            " 'Radau', a larger rtol, a shorter duration, or most_steps"
        )


def _solver(
    equation: Equation, settings: Settings, t: float, y: np.ndarray, end: float, h: float | None
) -> Any:
    try:
        import scipy.integrate
    except ImportError:
        raise MissingExtraError.of("SciPy", "sim", "an adaptive simulation") from None
    options: dict[str, Any] = {} if settings.step is None else {"max_step": settings.step}
    if settings.method in ("Radau", "BDF"):
        options["jac"] = equation.jacobian
    make = getattr(scipy.integrate, settings.method)
    return make(equation.rates, t, y, end, rtol=settings.rtol, atol=settings.atol, **options)


def _step(solver: Any, equation: Equation) -> None:
    with np.errstate(all="ignore"):
        message = solver.step()
    if solver.status == "failed" or not np.isfinite(solver.y).all():
        if equation.stuck is not None and np.isfinite(solver.y).all():
            equation.stuck(solver.t, solver.y)
        raise CardanError(
            f"the simulation cannot go on beyond t = {solver.t:.9g} s"
            f" ({message or 'the state is not finite'}): the motion may be unbounded or stiff;"
            " try method 'Radau', smaller gains, or a larger rtol"
        )


def _crossing(
    events: Callable[[float, np.ndarray], np.ndarray], dense: Any, start: float, end: float,
    before: np.ndarray,
) -> tuple[float, np.ndarray | None]:  # fmt: skip
    """The first time in the step at which an event passes from positive to negative."""
    middle = (start + end) / 2
    for at in (middle, end):
        after = events(at, dense(at))
        crossed = (before > 0) & (after <= 0)
        if crossed.any():
            low, high = start, at
            for _ in range(60):
                half = (low + high) / 2
                if half in (low, high):
                    break
                if ((before > 0) & (events(half, dense(half)) <= 0)).any():
                    high = half
                else:
                    low = half
            return high, (before > 0) & (events(high, dense(high)) <= 0)
        start = at
    return end, None


def _fixed(
    equation: Equation, y: np.ndarray, t: np.ndarray, settings: Settings,
    sample: Callable[[int, np.ndarray], None], progress: Callable[[float], None],
) -> Course:  # fmt: skip
    assert settings.step is not None
    advance = _ADVANCE[settings.method]
    steps = 0
    for k in range(1, len(t)):
        count = max(1, int(np.ceil((t[k] - t[k - 1]) / settings.step * (1 - 1e-12))))
        h = (t[k] - t[k - 1]) / count
        for m in range(count):
            now = t[k - 1] + m * h
            before = equation.events(now, y) if equation.events else None
            y = advance(equation, now, y, h)
            if equation.recentre is not None:
                equation.recentre(y)
            if before is not None and equation.events is not None and equation.react is not None:
                crossed = (before > 0) & (equation.events(now + h, y) <= 0)
                if crossed.any():
                    equation.react(now + h, y, crossed)
        if not np.isfinite(y).all():
            raise CardanError(f"the simulation diverged before t = {t[k]:.6g} s: reduce the step")
        steps += count
        sample(k, y)
        progress(float(t[k]))
    return Course(steps, None)


_ADVANCE: dict[str, Callable[[Equation, float, np.ndarray, float], np.ndarray]] = {
    "rk4": lambda e, t, y, h: np.asarray(rk4(e.rates, t, y, h)),
    "euler": lambda e, t, y, h: euler(e.rates, t, y, h, e.split),
    "midpoint": lambda e, t, y, h: midpoint(e.rates, t, y, h),
}


@dataclass(frozen=True)
class Grid:
    """Equal samples of a time, each some steps long: what methods of equal steps run over."""

    duration: float
    samples: int

    @property
    def times(self) -> np.ndarray:
        return np.linspace(0, self.duration, self.samples + 1)

    def count(self, step: float) -> int:
        """Steps of at most this length, a multiple of the samples."""
        return int(np.ceil(self.duration / step / self.samples)) * self.samples


def require_finite(y: np.ndarray, t: float) -> None:
    if not np.isfinite(y).all():
        raise ModelError(
            f"the motion diverges before t = {t:g}: take a shorter step, or an implicit method"
        )


def generalized_alpha(
    equation: Equation, y: np.ndarray, grid: Grid, count: int, radius: float = _RADIUS
) -> np.ndarray:
    """Samples of y by equal implicit steps of first-order equations (Jansen, Whiting & Hulbert
    2000), order 2; radius: what is left, after a step, of a mode much faster than it."""
    f, jacobian = equation.rates, equation.jacobian
    assert jacobian is not None
    alpha_m, alpha_f = (3 - radius) / (2 * (1 + radius)), 1 / (1 + radius)
    gamma = 0.5 + alpha_m - alpha_f
    h, every = grid.duration / count, count // grid.samples
    slope = f(SIDE * h, y)
    states = [y]
    unit, inverse = np.eye(len(y)), None
    for k in range(count):
        t = (k + alpha_f) * h
        if equation.before is not None:
            equation.before(k * h, y)
        change = slope
        for trial in range(2 * _NEWTON):
            inner = y + (alpha_f * h) * ((1 - gamma) * slope + gamma * change)
            R = alpha_m * change + (1 - alpha_m) * slope - f(t, inner)
            if inverse is None or trial == _NEWTON:
                matrix = alpha_m * unit - (alpha_f * gamma * h) * jacobian(t, inner)
                require_finite(matrix, t)
                inverse = np.linalg.inv(matrix)
            step = inverse @ R
            change = change - step
            if np.abs(h * step).max() < 1e-10 * (1 + np.abs(y).max()):
                break
        else:
            require_finite(np.array([np.nan]), t)
        if trial > 2:
            inverse = None  # the Jacobian has aged
        y = y + h * ((1 - gamma) * slope + gamma * change)
        slope = change
        if (k + 1) % every == 0:
            require_finite(y, t)
            states.append(y)
    return np.array(states)


def halved(
    advance: Callable[[int], Run], count: int, order: int, rtol: float, most: int,
    distance: Callable[[Run, Run], tuple[float, Accuracy]],
) -> tuple[Run, Accuracy, float] | None:  # fmt: skip
    """(the run, its estimated error, that error over rtol) after at most so many runs, each with
    half the steps of the one before; distance: of two runs, relative to what moves, and in units.

    Steps of h and h/2 that differ by d leave an error of d / (r - 1), r the factor by which d falls
    when steps are halved: it is seen in a third run, and at most 2^order; with two runs it is taken
    for 2, as if a jump within a step had lowered the order to one."""
    last: Run | None = None
    before: float | None = None
    best: tuple[Run, Accuracy, float] | None = None
    for _ in range(most):
        run: Run | None = None
        try:
            run = advance(count)
        except ModelError:  # it diverges: shorter steps may not
            before = None
        if run is not None and last is not None:
            size, gap = distance(last, run)
            fall = 2.0 if before is None or size == 0 else min(2.0**order, before / size)
            share = 1 / (max(fall, 2.0) - 1)
            error = Accuracy(share * gap.position, share * gap.velocity, gap.by)
            best = run, error, share * size / rtol
            if share * size <= rtol:
                break
            before = size
        last, count = run, 2 * count
    return best
