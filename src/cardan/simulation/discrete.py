"""Discrete time: one step of a robot as a program, and many steps with their gradients.

    x = (q, qd)        x_{k+1} = F(x_k, tau_k, h)        A = ∂F/∂x        B = ∂F/∂tau

A and B are those of the step itself, exact, from the derivatives of direct dynamics: no difference
is formed, and a gradient by them is that of the simulated motion to rounding.

A floating base stands at T0 in the world and moves with the twist V0 in its own axes: a step
displaces it by exp(h V0), and A and B are those of displacements X0 in its own axes, (X0, q, V0,
qd) at both ends: T0 exp(X0)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from ..algebra.displacement import carried_back, displacement
from ..algebra.vector import Mat, Vec, cross, dot, hat
from ..arguments import Numbers, named_arguments
from ..catalogue import model
from ..describe.robot import Robot
from ..describe.world import gravity_in_world
from ..errors import InputError, ModelError, UnknownNameError
from ..ir.code import gather
from ..ir.factor import improved
from ..ir.graph import Graph
from ..ir.passes import inline
from ..mechanism.coordinates import is_floating
from ..motion.joints import array
from ..program import Program
from ..run.inputs import leading_shape, require_shape

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
    """One step of a robot under constant torques: q, qd, tau, h -> q_next, qd_next, A, B; of one on
    a floating base V0 and T0 (4, 4) too, A and B by (X0, q, V0, qd).

    method   euler; semi-implicit: positions by the new velocities; rk4: Runge and Kutta's
    options  of direct-dynamics-derivatives: friction, f_e, effort ...

    >>> step = cardan.discretise(cardan.load("cartpole"))
    >>> step.inputs
    {'q': (2,), 'qd': (2,), 'tau': (2,), 'h': (1,)}
    >>> step.outputs
    {'q_next': (2,), 'qd_next': (2,), 'A': (4, 4), 'B': (4, 2)}"""
    if method not in METHODS:
        raise UnknownNameError.of("method", method, METHODS)
    if robot.constrained:
        raise ModelError(
            f"discretise: '{robot.name}' has closed loops or couplings, whose positions are not a"
            " vector that steps add up to; robot.tree() opens loops"
        )
    if robot.interactions:
        raise ModelError(
            f"discretise: '{robot.name}' has interactions (contacts, drag, thrusters), which a step"
            " does not know; dataclasses.replace(robot, interactions=()) leaves them out"
        )
    if is_floating(robot):
        return _floating_step(robot, method, options)
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


_FLOATING = _MEANING | {
    "T0": "pose of frame 0 in the world",
    "T0_next": "pose of frame 0 in the world at the end of the step",
    "V0_next": "velocity of the base (linear, angular) in frame 0 at the end of the step",
    "A": "partial derivatives of (X0, q, V0, qd) at the end of the step by those at its beginning;"
    " X0 displaces frame 0 (linear, angular) in its own axes",
    "B": "partial derivatives of (X0, q, V0, qd) at the end of the step by tau",
}


def _floating_step(robot: Robot, method: str, options: Mapping[str, Any]) -> Program:
    """The base is displaced by its twist, held for the step."""
    if method == "rk4":
        raise ModelError(
            f"discretise: the base of '{robot.name}' floats, and rk4 adds up poses; euler and"
            " semi-implicit displace it"
        )
    program: Program = model(robot, "direct-dynamics-derivatives", **options)
    inputs = {name: shape for name, shape in program.inputs.items() if name != "g0"}
    inputs |= {"V0": (6,), "T0": (4, 4)}
    graph = Graph()
    x = {name: [graph.leaf(name, k) for k in range(prod(s))] for name, s in inputs.items()}
    h, T0 = graph.leaf("h", 0), x["T0"]
    R0, P0 = Mat([T0[k : k + 3] for k in (0, 4, 8)]), Vec(T0[3], T0[7], T0[11])
    g0 = R0.T @ Vec(*map(float, gravity_in_world(robot)))
    values = inline(graph, program.code, {**x, "g0": list(g0)})
    parts = {"X0": 6, "q": len(x["q"]), "V0": 6, "qd": len(x["qd"]), "tau": len(x["tau"])}
    size = sum(parts.values())
    ends = dict(zip(parts, accumulate(parts.values()), strict=True))
    unit = [[int(r == c) for c in range(size)] for r in range(size)]

    def rate(name: str) -> Flow:
        rows = [[0] * size for _ in values[name]]
        for wrt, width in parts.items():
            block = values.get(f"d{name}_d{wrt}", [0] * (len(rows) * width))
            for r, row in enumerate(rows):
                row[ends[wrt] - width : ends[wrt]] = block[r * width : (r + 1) * width]
        return values[name], rows

    def flow(name: str) -> Flow:
        return x[name], unit[ends[name] - parts[name] : ends[name]]

    twist, (v, w) = flow("V0"), (Vec(*x["V0"][:3]), Vec(*x["V0"][3:]))
    push, rows = rate("V0d")
    slopes = [[*a, *(-y for y in b)] for a, b in zip(hat(w).rows, hat(v).rows, strict=True)]
    for r, slope in enumerate(slopes):  # of w x v: axes turn under the velocity of the origin
        at = range(ends["V0"] - 6, ends["V0"])
        rows[r] = [y - slope[c - at[0]] if c in at else y for c, y in enumerate(rows[r])]
    turning = [*(a - b for a, b in zip(push[:3], cross(w, v), strict=True)), *push[3:]], rows
    new = {"V0": _added(twist, h, turning), "qd": _added(flow("qd"), h, rate("qdd"))}
    speeds = new if method == "semi-implicit" else {name: flow(name) for name in new}
    new["q"] = _added(flow("q"), h, speeds["qd"])
    R, P, J = displacement([h * y for y in speeds["V0"][0]])
    back = carried_back(R, P)
    moved = [
        [dot(row, [h * y for y in column]) for column in zip(*speeds["V0"][1], strict=True)]
        for row in J
    ]
    for r, row in enumerate(back):
        moved[r][:6] = [a + b for a, b in zip(moved[r][:6], row, strict=True)]
    whole = [*moved, *new["q"][1], *new["V0"][1], *new["qd"][1]]
    place = [[*row, y] for row, y in zip((R0 @ R).rows, R0 @ P + P0, strict=True)]
    n, m = parts["q"], parts["tau"]
    half = size - m
    outputs = {
        "q_next": ((n,), new["q"][0]),
        "qd_next": ((n,), new["qd"][0]),
        "V0_next": ((6,), new["V0"][0]),
        "T0_next": ((4, 4), [*(y for row in place for y in row), 0, 0, 0, 1]),
        "A": ((half, half), [y for row in whole for y in row[:half]]),
        "B": ((half, m), [y for row in whole for y in row[half:]]),
    }
    code = improved(gather(graph, {**inputs, "h": (1,)}, outputs))
    meaning = {name: words for name, words in program.meaning.items() if name in inputs}
    return replace(
        program, model=f"discrete-dynamics ({method})", code=code, meaning=meaning | _FLOATING,
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
    T0: Array | None = None  # of a floating base: its pose (..., N + 1, 4, 4); 2n + 12 in A and B
    V0: Array | None = None  # and its twist in its own axes (..., N + 1, 6)

    @property
    def x(self) -> Array:
        """The states (q, qd), (..., N + 1, 2n); of a robot whose base floats there are none, since
        poses are no vectors.

        >>> step = cardan.discretise(cardan.load("ur5"))
        >>> run = cardan.rollout_gradient(step, np.zeros(6), np.zeros(6), np.zeros((5, 6)), 0.01)
        >>> run.x.shape
        (6, 12)"""
        if self.T0 is not None:
            raise ModelError("x: the pose of a floating base is no vector; take T0, q, V0 and qd")
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

        by_x    its partial derivatives by the states, (..., N + 1, 2n); of a floating base by the
                displacements (X0, q, V0, qd), (..., N + 1, 2n + 12)
        by_tau  by the torques themselves, (..., N, m)

        >>> step = cardan.discretise(cardan.load("ur5"))
        >>> run = cardan.rollout_gradient(step, np.zeros(6), np.zeros(6), np.zeros((5, 6)), 0.01)
        >>> by_x0, by_tau = run.adjoint(run.x)  # of half the sum of squares of the states
        >>> by_tau.shape
        (5, 6)"""
        of_torques = (*self.B.shape[:-2], self.B.shape[-1])
        *lead, steps, size, _ = self.A.shape
        slopes = _batched("by_x", by_x, (*lead, steps + 1, size))
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
    base_pose: Numbers | None = None, base_twist: Numbers = 0.0,
) -> RolloutGradient:  # fmt: skip
    """N steps from (q, qd) under the torques tau (..., N, m), with the exact A and B of each;
    leading axes are a batch of motions. Every step runs as machine code.

    robot       a robot, or what `discretise` made of it, which is then derived once for many calls
    method      of a robot's steps, as `discretise` takes it: semi-implicit by default
    p           values of the robot's symbols
    base_pose   of a floating base: where frame 0 stands in the world, (..., 4, 4)
    base_twist  and how it moves, (linear, angular) in its own axes, (..., 6)

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
    floats = list(program.outputs) == ["q_next", "qd_next", "V0_next", "T0_next", "A", "B"]
    if not floats and list(program.outputs) != ["q_next", "qd_next", "A", "B"]:
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
    if floats:
        first |= {"T0": _pose(base_pose), "V0": array("base_twist", base_twist)}
        if not first["V0"].ndim:
            first["V0"] = np.broadcast_to(first["V0"], 6)
    elif base_pose is not None or np.any(base_twist):
        name = "base_twist" if base_pose is None else "base_pose"
        raise InputError(f"{name}: the base of '{program.robot}' does not float", where=name)
    shapes = {name: program.inputs[name] for name in (*first, "tau")}
    for name, values in first.items():
        require_shape(name, values.shape, shapes[name])
    batch = leading_shape({**first, "tau": torques[..., 0, :]}, shapes)
    states = {
        name: [np.broadcast_to(values, (*batch, *shapes[name]))] for name, values in first.items()
    }
    A, B = [], []
    for k in range(torques.shape[-2]):
        now = {name: past[-1] for name, past in states.items()}
        end = run(**now, tau=torques[..., k, :], **known)
        for name, past in states.items():
            past.append(end[f"{name}_next"])
        A.append(end.A)
        B.append(end.B)
    listed = {name: np.stack(values, -1 - len(shapes[name])) for name, values in states.items()}
    return RolloutGradient(A=np.stack(A, -3), B=np.stack(B, -3), **listed)


def _pose(value: Numbers | None) -> Array:
    """Of a floating base, (..., 4, 4)."""
    place, remedy = "base_pose", "give the pose of frame 0 in the world, (..., 4, 4)"
    if value is None:
        raise InputError("base_pose: the base floats", where=place, remedy=remedy)
    T = array(place, value)
    if T.shape[-2:] != (4, 4):
        raise InputError(f"base_pose has shape {T.shape}", where=place, remedy=remedy)
    R = T[..., :3, :3]
    turned = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(initial=0) < 1e-6
    if not turned or (np.linalg.det(R) < 0).any() or (T[..., 3, :] != (0, 0, 0, 1)).any():
        raise InputError(
            "base_pose is no pose: a rotation, a place, a last row 0 0 0 1", where=place
        )
    return T


def _compiled(program: Program) -> Any:
    """The machine code of a step, compiled when it is first asked for."""
    known = program.__dict__.get("_step")
    if known is None:
        known = program.compile()
        program.__dict__["_step"] = known
    return known
