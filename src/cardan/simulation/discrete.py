"""Discrete time: one step of a robot as a program, and many steps with their gradients.

    x = (q, qd)        x_{k+1} = F(x_k, tau_k, h)        A = ∂F/∂x        B = ∂F/∂tau

A and B are those of the step itself, exact, from the derivatives of direct dynamics: no difference
is formed, and a gradient by them is that of the simulated motion to rounding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from ..arguments import Numbers, named_arguments
from ..catalogue import model
from ..describe.robot import Robot
from ..errors import InputError, ModelError, UnknownNameError
from ..ir.code import gather
from ..ir.factor import improved
from ..ir.graph import Graph
from ..ir.passes import inline
from ..mechanism.coordinates import is_floating
from ..motion.joints import array
from ..program import Program
from ..run.inputs import leading_shape, require_shape

__all__ = ["RolloutGradient", "discretise", "rollout_gradient"]

Scalar = Any
Array = np.ndarray
Row = list[Scalar]
# Motion and its rows of partial derivatives by (q, qd, tau)
Flow = tuple[Row, list[Row]]
Slope = Callable[[Flow, Flow], Flow]  # (q, qd) -> qdd
METHODS = ("euler", "semi-implicit", "rk4")
_MEANING = {
    "h": "length of the step, s",
    "q_next": "joint positions at the end of the step",
    "qd_next": "joint velocities at the end of the step",
    "A": "partial derivatives of (q_next, qd_next) by (q, qd)",
    "B": "partial derivatives of (q_next, qd_next) by tau",
}


@named_arguments
def discretise(robot: Robot, method: str = "semi-implicit", **options: Any) -> Program:
    """One step of a robot under constant torques: q, qd, tau, h -> q_next, qd_next, A, B.

    method   euler; semi-implicit: positions by the new velocities; rk4: Runge and Kutta's
    options  of direct-dynamics-derivatives: friction, f_e, effort ...

    >>> step = cardan.discretise(cardan.load("cartpole"))
    >>> step.inputs
    {'q': (2,), 'qd': (2,), 'tau': (2,), 'h': (1,)}
    >>> step.outputs
    {'q_next': (2,), 'qd_next': (2,), 'A': (4, 4), 'B': (4, 2)}"""
    if method not in METHODS:
        raise UnknownNameError.of("method", method, METHODS)
    if is_floating(robot) or robot.constrained:
        raise ModelError(
            f"discretise: '{robot.name}' has closed loops, couplings or a floating base, whose"
            " positions are not a vector that steps add up to; robot.tree() opens loops"
        )
    program: Program = model(robot, "direct-dynamics-derivatives", **options)
    graph = Graph()
    x = {
        name: [graph.leaf(name, k) for k in range(prod(shape))]
        for name, shape in program.inputs.items()
    }
    h, n, m = graph.leaf("h", 0), len(x["q"]), len(x["tau"])
    unit = [[int(r == c) for c in range(2 * n + m)] for r in range(2 * n + m)]

    def slope(q: Flow, qd: Flow) -> Flow:
        values = inline(graph, program.code, {**x, "q": q[0], "qd": qd[0]})
        blocks = [(values["dqdd_dq"], q[1]), (values["dqdd_dqd"], qd[1])]
        blocks.append((values["dqdd_dtau"], unit[2 * n :]))
        rows = [[0] * (2 * n + m) for _ in range(n)]
        for flat, inner in blocks:
            for r in range(n):
                for k, row in enumerate(inner):
                    entry = flat[r * len(inner) + k]
                    rows[r] = [a + entry * b for a, b in zip(rows[r], row, strict=True)]
        return values["qdd"], rows

    state = (x["q"], unit[:n]), (x["qd"], unit[n : 2 * n])
    ends = _STEPS[method](slope, *state, h)
    whole = [row for _, rows in ends for row in rows]
    outputs = {
        "q_next": ((n,), ends[0][0]),
        "qd_next": ((n,), ends[1][0]),
        "A": ((2 * n, 2 * n), [y for row in whole for y in row[: 2 * n]]),
        "B": ((2 * n, m), [y for row in whole for y in row[2 * n :]]),
    }
    code = improved(gather(graph, {**program.inputs, "h": (1,)}, outputs))
    meaning = {name: words for name, words in program.meaning.items() if name in program.inputs}
    return replace(
        program, model=f"discrete-dynamics ({method})", code=code, meaning=meaning | _MEANING,
        page=None,
    )  # fmt: skip


def _added(x: Flow, step: Scalar, rate: Flow) -> Flow:
    """x + step rate, with its derivatives."""
    values = [a + step * b for a, b in zip(x[0], rate[0], strict=True)]
    rows = [
        [a + step * b for a, b in zip(one, two, strict=True)]
        for one, two in zip(x[1], rate[1], strict=True)
    ]
    return values, rows


def _euler(slope: Slope, q: Flow, qd: Flow, h: Scalar) -> tuple[Flow, Flow]:
    return _added(q, h, qd), _added(qd, h, slope(q, qd))


def _semi_implicit(slope: Slope, q: Flow, qd: Flow, h: Scalar) -> tuple[Flow, Flow]:
    new = _added(qd, h, slope(q, qd))
    return _added(q, h, new), new


def _rk4(slope: Slope, q: Flow, qd: Flow, h: Scalar) -> tuple[Flow, Flow]:
    half, sixth = h / 2, h / 6
    rates = [(qd, slope(q, qd))]
    for step in (half, half, h):
        at = _added(q, step, rates[-1][0]), _added(qd, step, rates[-1][1])
        rates.append((at[1], slope(*at)))
    for weight, (of_q, of_qd) in zip((1, 2, 2, 1), rates, strict=True):
        q, qd = _added(q, weight * sixth, of_q), _added(qd, weight * sixth, of_qd)
    return q, qd


_STEPS = {"euler": _euler, "semi-implicit": _semi_implicit, "rk4": _rk4}


@dataclass(frozen=True)
class RolloutGradient:
    """N steps of a robot and the derivatives of each; leading axes are those of the batch.

    >>> step = cardan.discretise(cardan.load("ur5"))
    >>> run = cardan.rollout_gradient(step, np.zeros(6), np.zeros(6), np.zeros((20, 6)), 0.01)
    >>> run.q.shape, run.A.shape, run.B.shape
    ((21, 6), (20, 12, 12), (20, 12, 6))"""

    q: Array  # (..., N + 1, n)
    qd: Array
    A: Array  # (..., N, 2n, 2n)
    B: Array  # (..., N, 2n, m)

    @property
    def x(self) -> Array:
        """The states (q, qd), (..., N + 1, 2n).

        >>> step = cardan.discretise(cardan.load("ur5"))
        >>> run = cardan.rollout_gradient(step, np.zeros(6), np.zeros(6), np.zeros((5, 6)), 0.01)
        >>> run.x.shape
        (6, 12)"""
        return np.concatenate([self.q, self.qd], -1)

    def sensitivities(self) -> tuple[Array, Array]:
        """∂x_N/∂x_0, (..., 2n, 2n), and ∂x_N/∂tau_k, (..., N, 2n, m).

        >>> step = cardan.discretise(cardan.load("ur5"))
        >>> run = cardan.rollout_gradient(step, np.zeros(6), np.zeros(6), np.zeros((5, 6)), 0.01)
        >>> [block.shape for block in run.sensitivities()]
        [(12, 12), (5, 12, 6)]"""
        size = self.A.shape[-1]
        after = np.broadcast_to(np.eye(size), (*self.A.shape[:-3], size, size))
        by_tau = np.empty_like(self.B)
        for k in reversed(range(self.A.shape[-3])):
            by_tau[..., k, :, :] = after @ self.B[..., k, :, :]
            after = after @ self.A[..., k, :, :]
        return after, by_tau

    def adjoint(self, by_x: Numbers, by_tau: Numbers | None = None) -> tuple[Array, Array]:
        """The gradient of a cost by x_0, (..., 2n), and by the torques, (..., N, m).

        by_x    its partial derivatives by the states, (..., N + 1, 2n)
        by_tau  by the torques themselves, (..., N, m)

        >>> step = cardan.discretise(cardan.load("ur5"))
        >>> run = cardan.rollout_gradient(step, np.zeros(6), np.zeros(6), np.zeros((5, 6)), 0.01)
        >>> by_x0, by_tau = run.adjoint(run.x)  # of half the sum of squares of the states
        >>> by_tau.shape
        (5, 6)"""
        of_torques = (*self.B.shape[:-2], self.B.shape[-1])
        slopes = _batched("by_x", by_x, self.x.shape)
        costate = slopes[..., -1, :]
        gradient = np.zeros((*slopes.shape[:-2], *of_torques[-2:]))
        for k in reversed(range(self.A.shape[-3])):
            gradient[..., k, :] = np.einsum("...ij,...i->...j", self.B[..., k, :, :], costate)
            costate = np.einsum("...ij,...i->...j", self.A[..., k, :, :], costate)
            costate = costate + slopes[..., k, :]
        if by_tau is not None:
            gradient = gradient + _batched("by_tau", by_tau, of_torques)
        return costate, gradient


def _batched(name: str, value: Numbers, shape: tuple[int, ...]) -> Array:
    """Numbers of every step of the motions, whose shape is this; one set may serve a batch, or a
    batch of them one motion."""
    rows = array(name, value)
    fits = rows.shape[-2:] == shape[-2:]
    try:
        lead = np.broadcast_shapes(rows.shape[:-2], shape[:-2])
    except ValueError:
        fits = False
    if not fits:
        expected = ", ".join(map(str, shape[-2:]))
        raise InputError(
            f"{name} has shape {rows.shape}", where=name, remedy=f"expected (..., {expected})"
        )
    return np.broadcast_to(rows, (*lead, *shape[-2:]))


@named_arguments
def rollout_gradient(
    robot: Robot | Program, q: Numbers, qd: Numbers, tau: Numbers, step: float, *,
    method: str | None = None, p: Sequence[float] | None = None,
) -> RolloutGradient:  # fmt: skip
    """N steps from (q, qd) under the torques tau (..., N, m), with the exact A and B of each;
    leading axes are a batch of motions. Every step runs as machine code.

    robot   a robot, or what `discretise` made of it, which is then derived once for many calls
    method  of a robot's steps, as `discretise` takes it: semi-implicit by default
    p       values of the robot's symbols

    >>> step = cardan.discretise(cardan.load("ur5"), method="rk4", effort="plain")
    >>> run = cardan.rollout_gradient(step, np.zeros(6), np.zeros(6), np.zeros((10, 6)), 0.01)
    >>> run.qd.shape
    (11, 6)"""
    if isinstance(robot, Program):
        program = robot
        if method is not None:
            remedy = "it has a method already: give that to discretise"
            raise InputError("method: of a step that is made", where="method", remedy=remedy)
    else:
        program = discretise(robot, method or "semi-implicit")
    if list(program.outputs) != ["q_next", "qd_next", "A", "B"]:
        raise InputError(f"rollout_gradient: '{program.model}' is no step; discretise gives one")
    if not (np.isfinite(step) and step > 0):
        raise InputError(f"step = {step}: a length above 0, in seconds", where="step")
    torques = array("tau", tau)
    if torques.ndim < 2 or torques.shape[-1:] != program.inputs["tau"]:
        raise InputError(
            f"tau: shape {torques.shape}, not (..., steps, {program.inputs['tau'][0]})"
        )
    if not torques.shape[-2]:
        raise InputError("tau: no step; at least one is needed")
    run = _compiled(program)
    known: dict[str, Any] = {"h": [float(step)]} | ({} if p is None else {"p": p})
    first = {"q": array("q", q), "qd": array("qd", qd)}
    for name, values in first.items():
        require_shape(name, values.shape, program.inputs[name])
    batch = leading_shape(
        {**first, "tau": torques[..., 0, :]}, {x: program.inputs[x] for x in (*first, "tau")}
    )
    positions, velocities = (
        [np.broadcast_to(values, (*batch, *program.inputs[name]))] for name, values in first.items()
    )
    A, B = [], []
    for k in range(torques.shape[-2]):
        end = run(q=positions[-1], qd=velocities[-1], tau=torques[..., k, :], **known)
        positions.append(end.q_next)
        velocities.append(end.qd_next)
        A.append(end.A)
        B.append(end.B)
    return RolloutGradient(
        np.stack(positions, -2), np.stack(velocities, -2), np.stack(A, -3), np.stack(B, -3)
    )


def _compiled(program: Program) -> Any:
    """The machine code of a step, compiled when it is first asked for."""
    known = program.__dict__.get("_step")
    if known is None:
        known = program.compile()
        program.__dict__["_step"] = known
    return known
