"""The numbers an FMU is tested with: states, their rates, and a motion, by the other derivation.

The motion is that of fmu.c: steps of the Runge-Kutta method of order 4, after each of which loops
are closed and the orientation of the base has unit length."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...algebra import so3
from ...errors import ModelError
from ...run.steps import rk4
from ..plan import Function
from ..reference import TOLERANCE, arrays_of, difference
from .friction import WIDTH
from .model import Unit

STEP = 0.001  # s, of the integration within co-simulation
SIZE = 2  # steps of integration in a communication step of the test
_STEPS = (20, 5, 2, 1)  # communication steps of the test; closed loops, larger programs, from 2 on
_SHORTER = 4  # steps of integration that are tried
_SPAN = 0.002  # s, over which a step and a fifth of it are compared
_FINE = 1e-5  # their relative difference
_STABLE = 2.5  # step times the fastest rate: below 2.78 the method damps what friction damps
_FAR = 1e6  # what a motion of the test does not reach

Run = Callable[[Mapping[str, Any]], dict[str, np.ndarray]]


@dataclass(frozen=True)
class State:
    """A state with constant inputs, and its rates."""

    x: np.ndarray
    u: Mapping[str, np.ndarray]
    rates: np.ndarray


@dataclass(frozen=True)
class Motion:
    """Where a state is after communication steps of SIZE steps of integration."""

    state: int  # its place among the states
    step: float  # of integration, s
    steps: int  # of communication
    after: np.ndarray


@dataclass(frozen=True)
class _Route:
    """One derivation of the functions of a unit."""

    unit: Unit
    direct: Run
    loops: Run | None

    def slope(self, u: Mapping[str, Any], x: np.ndarray) -> np.ndarray:
        """The rates of the states."""
        unit, n = self.unit, self.unit.nq
        qd = x[unit.velocities : unit.velocities + unit.nv]
        inputs: dict[str, Any] = {**u, "q": x[:n], "qd": qd}
        place = np.zeros(0)
        if unit.floating:
            V0, e = x[unit.velocities + unit.nv :], x[n + 3 : n + 7]
            R = so3.from_quaternion(e / np.linalg.norm(e))
            inputs |= {"V0": V0, "g0": R.T @ unit.gravity}
            turned = 0.5 * np.array([-e[1:] @ V0[3:], *(e[0] * V0[3:] + np.cross(e[1:], V0[3:]))])
            place = np.concatenate([R @ V0[:3], turned + (1 - e @ e) * e])
        rates = self.direct(inputs)
        twist = np.zeros(0)
        if unit.floating:
            twist = rates["V0d"] - np.concatenate([np.cross(V0[3:], V0[:3]), np.zeros(3)])
        speeds = np.zeros(n)
        speeds[list(unit.driving)] = qd
        if self.loops is not None:
            W = self.loops(inputs)["W"]
            speeds[list(unit.following)] = W.reshape(-1, unit.nv) @ qd
        return np.concatenate([speeds, place, rates["qdd"], twist])


def _routes(unit: Unit) -> tuple[_Route, _Route]:
    """(the code of the unit, the reference), both by the interpreter."""
    loops = unit.loops.function if unit.loops else None
    ours = _Route(unit, _code(unit.direct), _code(loops) if loops else None)
    return ours, _Route(unit, unit.direct.reference, loops.reference if loops else None)


def _code(function: Function) -> Run:
    """The code of the unit, with parameters of its own."""
    own = {key: x for key, x in function.examples[0].inputs.items() if key == "p"}
    return lambda state: arrays_of(function.program, {**state, **own})


def _compiled(unit: Unit) -> _Route:
    """The code of the unit, compiled: fast enough for thousands of short steps."""

    def fast(function: Function) -> Run:
        run, names = function.program.compile(), tuple(function.program.outputs)
        own = {key: x for key, x in function.examples[0].inputs.items() if key == "p"}

        def found(state: Mapping[str, Any]) -> dict[str, np.ndarray]:
            inputs = {**state, **own}
            x = run(**{key: inputs[key] for key in function.program.inputs})
            return dict(zip(names, x if len(names) > 1 else (x,), strict=True))

        return found

    loops = unit.loops.function if unit.loops else None
    return _Route(unit, fast(unit.direct), fast(loops) if loops else None)


def states_of(unit: Unit) -> tuple[State, ...]:
    """The states of the examples of the direct dynamics, with rates by the reference."""
    _, reference = _routes(unit)
    states = []
    for k, example in enumerate(unit.direct.examples):
        inputs = example.inputs
        u = {array.name: inputs[array.name].reshape(array.shape) for array in unit.inputs}
        x = np.concatenate([inputs["q"], *_base(unit, k), inputs["qd"], inputs.get("V0", [])])
        states.append(State(x, u, reference.slope(u, x)))
    return tuple(states)


def _base(unit: Unit, k: int) -> list[np.ndarray]:
    """A place of a floating base, and an orientation."""
    if not unit.floating:
        return []
    draw = random.Random(k + 1).random
    P, e = (np.array([round(2 * draw() - 1, 2) for _ in range(n)]) for n in (3, 4))
    return [P, e / np.linalg.norm(e)]


def motion_of(unit: Unit, states: Sequence[State]) -> Motion:
    """A step of the integration, and where the reference is after some steps from a state: a
    shorter step if the robot is stiff, as one whose links bend or whose joints rub, and fewer of
    them if it falls; another state if it falls too fast from the first."""
    routes = _routes(unit)
    with np.errstate(all="ignore"):
        rate = _fastest(unit, states) if unit.rubs else 0.0
        sizes = [STEP / 5**m for m in range(_SHORTER)]
        sizes = [size for size in sizes if size * rate < _STABLE] or sizes[-1:]
        for k, state in enumerate(states):
            for step in sizes:
                if step < STEP and not _is_fine(unit, state, step):
                    continue
                for steps in _STEPS[2 * (unit.loops is not None) :]:
                    after = _agreed(routes, state, SIZE * steps, step)
                    if after is not None:
                        return Motion(k, step, steps, after)
    raise ModelError(
        f"'{unit.robot.name}' cannot be simulated with steps of {step:g} s from the states of"
        " the test: check its inertias and stiffnesses with `cardan check`"
    )


def _fastest(unit: Unit, states: Sequence[State]) -> float:
    """The largest rate at which velocities decay where the robot stands, 1/s: smoothed friction is
    steepest there."""
    route, first, h = _compiled(unit), unit.velocities, 0.01 * WIDTH
    place = slice(first, first + unit.nv)
    rate = 0.0
    for state in states:
        x = state.x.copy()
        x[first:] = 0
        columns = [
            (route.slope(state.u, x + h * e) - route.slope(state.u, x - h * e))[place] / (2 * h)
            for e in np.eye(len(x))[place]
        ]
        if np.isfinite(columns).all():
            rate = max(rate, float(np.abs(np.linalg.eigvals(columns)).max()))
    return rate


def _agreed(
    routes: tuple[_Route, _Route], state: State, count: int, step: float
) -> np.ndarray | None:
    """Where the reference is after these steps, if the code of the unit is there too."""
    ours = _integrated(routes[0], state, count, step)
    if not np.abs(ours).max() < _FAR:
        return None
    expected = _integrated(routes[1], state, count, step)
    return expected if difference(ours, expected) <= TOLERANCE / 10 else None


def _is_fine(unit: Unit, state: State, step: float) -> bool:
    """Does a shorter step give the same motion?"""
    route, count = _compiled(unit), round(_SPAN / step)
    ends = [_integrated(route, state, count * k, step / k) for k in (1, 5)]
    return difference(*ends) < _FINE


def _integrated(route: _Route, state: State, count: int, h: float) -> np.ndarray:
    """x after steps of the method that fmu.c has, with constant inputs."""
    slope = partial(route.slope, state.u)
    x = state.x
    for _ in range(count):
        x = _corrected(route.unit, rk4(lambda t, x: slope(x), 0.0, x, h))
    return x


def _corrected(unit: Unit, x: np.ndarray) -> np.ndarray:
    """Loops closed, by equations of their own; the orientation at unit length."""
    x, n = x.copy(), unit.nq
    if unit.loops is not None and np.isfinite(x).all():
        x[:n] = unit.loops.closed(x[:n])
    if unit.floating:
        x[n + 3 : n + 7] /= np.linalg.norm(x[n + 3 : n + 7])
    return x
