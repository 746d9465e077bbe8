"""Predictive control: the motion of the next N steps that costs least, found again at every step.

    min  Σ_k ½|x_k - x_r|²_Wx + ½|tau_k - tau_r|²_Wu + ½ w |P(q_k) - P_r|²      x = (q, qd)
    x_{k+1} = F(x_k, tau_k)        qd' = qd + h qdd(q, qd, tau),   q' = q + h qd'

Multiple shooting: states and torques of all nodes are unknowns, and each iteration is one step of
Gauss and Newton with the exact derivatives of the dynamics, solved by Riccati's recursion (H. G.
Bock, K. J. Plitt, "A multiple shooting algorithm for direct solution of optimal control problems",
1984; M. Diehl et al., "Real-time optimization and nonlinear model predictive control of processes
governed by differential-algebraic equations", 2002, for one iteration per sample). With
da = F dx + G du and the two integrators dx' = Φ dx + Γ da + d, Γ^T V Φ and Γ^T V Γ are blocks of
T = Φ^T V Φ times h and h², Y = h T_v and W = h² T_vv:

    M = W F + Y        Q = G^T W G + Wu = L D L^T        Z = L^-1 G^T M        K = -L^-T D^-1 Z
    V = T + Wx + F^T M + Y^T F - Z^T D^-1 Z

The columns of these matrices, and the gradient as one more, are the lanes of vectors. The nodes'
dynamics run as a batch; the whole iteration is one call of machine code."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from ..algebra.vector import dot
from ..arguments import Numbers, named_arguments
from ..catalogue import model
from ..describe.robot import Robot
from ..errors import CardanWarning, InputError, ModelError
from ..ir.code import Code, gather
from ..ir.graph import Graph
from ..ir.passes import inline
from ..mechanism.coordinates import is_floating
from ..motion.coordinates import coordinates
from ..motion.derived import compiled
from ..motion.joints import array, require_numbers, vector
from ..motion.trajectory import Trajectory
from ..program import Program
from ..run.native import Kernels
from ..run.sequence import Chain, call, lanes, whole

Array = np.ndarray
Scalar = Any
Rows = list[list[Scalar]]
_HALVINGS, _ROUNDING = 12, 1e-10
_LANES = 16  # columns are filled up to a multiple: whole vectors of every machine


@dataclass(frozen=True)
class Plan:
    """The motion that was found: N + 1 states, N torques, its cost, and how it was reached.

    >>> mpc = cardan.control.predictive(cardan.load("ur5"), nodes=10)
    >>> plan = mpc.solve(np.zeros(6), np.zeros(6), q_r=np.full(6, 0.1))
    >>> plan.q.shape, plan.tau.shape
    ((11, 6), (10, 6))"""

    q: Array  # (N + 1, n)
    qd: Array
    tau: Array  # (N, n)
    cost: float
    gap: float  # the largest jump between the end of a step and the next state
    iterations: int


@named_arguments
def predictive(
    robot: Robot, *, nodes: int = 20, step: float = 0.02, position: Numbers = 1.0,
    velocity: Numbers = 0.1, torque: Numbers = 1e-4, tool: float = 0.0, end: float = 20.0,
    frame: str | int | None = None, **options: Any,
) -> Predictive:  # fmt: skip
    """Predictive control of a robot: a law (t, q, qd) -> tau for `cardan.simulate`, and a solver.

    nodes, step   steps that are looked ahead, and their length, s
    position ...  weights of the squares of the errors of q, qd and tau, one or one per joint
    tool          weight of the squared distance of the frame's origin from a point
    end           factor of the weights of states and tool at the last node
    frame         whose origin that is; the last one by default
    options       of direct-dynamics-derivatives: friction, effort ...

    There are no limits of torques or joints.

    >>> mpc = cardan.control.predictive(cardan.load("ur5"), nodes=10, tool=100.0, position=0.01)
    >>> plan = mpc.solve(np.full(6, 0.5), np.zeros(6), point=[0.2, 0.4, 0.5], tolerance=1e-3)
    >>> plan.tau.shape
    (10, 6)"""
    if is_floating(robot) or robot.constrained:
        raise ModelError(
            f"predictive: '{robot.name}' has closed loops, couplings or a floating base, whose"
            " positions are not a vector that steps add up to; robot.tree() opens loops"
        )
    if robot.interactions:
        raise ModelError(
            f"predictive: '{robot.name}' has interactions (contacts, drag, thrusters), which the"
            " plan does not know; dataclasses.replace(robot, interactions=()) leaves them out"
        )
    require_numbers(robot, "predictive control")
    if nodes < 1 or not (np.isfinite(step) and step > 0):
        raise InputError(f"nodes = {nodes}, step = {step}: at least one node, a step above 0")
    n = robot.n
    named = {"position": position, "velocity": velocity, "torque": torque}
    weights = {name: vector(name, value, n) for name, value in named.items()}
    for name, value in {**weights, "tool": np.array(tool), "end": np.array(end)}.items():
        if not (np.isfinite(value).all() and (value >= 0).all()):
            raise InputError(f"{name} = {value}: a weight is a number that is not below 0")
    if not np.all(weights["torque"] > 0):
        raise InputError("torque: a weight of the torques is above 0; 1e-6 is a small one")
    dynamics: Program = model(robot, "direct-dynamics-derivatives", **options)
    if dynamics.inputs != {"q": (n,), "qd": (n,), "tau": (n,)}:
        raise ModelError(
            f"predictive: the dynamics take {', '.join(dynamics.inputs)}; only those of q, qd and"
            " tau, one of each per joint, can be planned"
        )
    place: Program | None = None
    if frame is not None and not tool:
        raise InputError("frame: the tool has no weight; predictive(..., tool=100.0)")
    if tool:
        place = model(robot, "transform", **({} if frame is None else {"frame": frame}))
        place = place.derivatives()
    running = np.concatenate([weights["position"], weights["velocity"]]) * step
    Wx = np.tile(running, (nodes + 1, 1))
    Wu = np.tile(weights["torque"] * step, (nodes + 1, 1))
    Wu[-1] = 0  # no torque acts after the last node
    w = np.full((nodes + 1, 1), tool * step)
    w[-1] *= end
    Wx[-1] = running * end
    return Predictive(robot, step, dynamics, place, {"Wx": Wx, "Wu": Wu, "w": w})


@dataclass(frozen=True)
class Predictive:
    """Predictive control with its compiled iteration; called, it is a law whose torques are held
    until the next sample: `cardan.simulate(robot, q, law=mpc, period=mpc.step, ...)`.

    >>> robot = cardan.load("ur5")
    >>> mpc = cardan.control.predictive(robot, nodes=10)
    >>> mpc.aim(q_r=np.full(6, 0.3))
    >>> mpc(0.0, np.full(6, 0.2), np.zeros(6)).shape
    (6,)"""

    robot: Robot
    step: float
    dynamics: Program
    place: Program | None
    weights: Mapping[str, Array]  # of every node: Wx (N + 1, 2n), Wu (N + 1, n), w (N + 1, 1)

    @property
    def nodes(self) -> int:
        """Steps that are looked ahead.

        >>> cardan.control.predictive(cardan.load("ur5"), nodes=10).nodes
        10"""
        return len(self.weights["w"]) - 1

    def aim(
        self, q_r: Numbers | None = None, qd_r: Numbers | None = None,
        tau_r: Numbers | None = None, point: Numbers | None = None,
    ) -> None:  # fmt: skip
        """What is wanted, the same for all nodes or (N + 1, ...): positions, velocities, torques,
        the tool's point. With new positions velocities are 0 and torques those that hold gravity
        there, unless they are given; what else is not given stays. At first q_r is where the robot
        stands when it is asked for torques.

        >>> mpc = cardan.control.predictive(cardan.load("ur5"), nodes=10, tool=10.0)
        >>> mpc.aim(np.full(6, 0.3), point=[0.3, 0.3, 0.4])"""
        work, n = self._work, self.robot.n
        count = self.nodes + 1
        if point is not None:
            if self.place is None:
                raise InputError("point: the tool has no weight; predictive(..., tool=100.0)")
            work.point[:] = _rows(point, 3, count, "point")
        if qd_r is not None or q_r is not None:
            work.x_r[:, n:] = 0 if qd_r is None else _rows(qd_r, n, count, "qd_r")
        if tau_r is not None:
            work.u_r[:], work.pushed = _rows(tau_r, n, count, "tau_r"), True
        if q_r is not None:
            work.x_r[:, :n], work.aimed = _rows(q_r, n, count, "q_r"), True
            if tau_r is None:
                work.u_r[:] = self._gravity(q=work.x_r[:, :n])

    def _stand(self, q: Numbers) -> None:
        """Where no positions are wanted yet, they are those of now."""
        work, n = self._work, self.robot.n
        if not work.aimed:
            work.x_r[:, :n], work.aimed = vector("q", q, n), True
            if not work.pushed:
                work.u_r[:] = self._gravity(q=work.x_r[:, :n])

    def __call__(self, t: float, q: Numbers, qd: Numbers) -> Array:
        """The torques of a sample: the plan shifted by a step, and one iteration.

        >>> mpc = cardan.control.predictive(cardan.load("ur5"), nodes=10)
        >>> mpc(0.0, np.full(6, 0.2), np.zeros(6)).shape
        (6,)"""
        work = self._work
        self._stand(q)
        if work.begun:
            work.shift()
        else:
            self.restart(q, qd)
        work.start(q, qd)
        work.iterate()
        return np.array(work.u[0])

    def restart(self, q: Numbers, qd: Numbers) -> None:
        """Forget the plan: every node at (q, qd), torques that hold gravity there.

        >>> mpc = cardan.control.predictive(cardan.load("ur5"), nodes=10)
        >>> mpc.restart(np.zeros(6), np.zeros(6))"""
        work, n = self._work, self.robot.n
        work.x[:, :n], work.x[:, n:] = vector("q", q, n), vector("qd", qd, n)
        work.u[:] = self._gravity(q=work.x[0, :n])
        work.begun = True

    @named_arguments
    def solve(
        self, q: Numbers, qd: Numbers, *, q_r: Numbers | None = None, point: Numbers | None = None,
        iterations: int = 100, tolerance: float = 1e-9,
    ) -> Plan:  # fmt: skip
        """The motion from (q, qd) that costs least, by iterations whose step is halved until cost
        and gaps are less; until a full step changes nothing by more than `tolerance`.

        >>> mpc = cardan.control.predictive(cardan.load("ur5"), nodes=10)
        >>> plan = mpc.solve(np.zeros(6), np.zeros(6), q_r=np.full(6, 0.2))
        >>> plan.gap < 1e-8
        True"""
        if iterations < 1 or not tolerance > 0:
            raise InputError(f"iterations = {iterations}, tolerance = {tolerance}: above 0")
        work, n = self._work, self.robot.n
        self.aim(q_r, point=point)
        self._stand(q)
        self.restart(q, qd)
        work.start(q, qd)
        count = 0
        past: list[tuple[float, float]] = []
        for count in range(1, iterations + 1):  # noqa: B007
            work.iterate()
            if work.settled(tolerance):
                break
            work.search(past)
        else:
            change = np.abs(work.dx).max()
            warnings.warn(
                f"predictive: after {iterations} iterations the states still change by"
                f" {change:.0e}, more than the tolerance {tolerance:.0e}; allow more of either",
                CardanWarning, stacklevel=3,
            )  # fmt: skip
        work.nodes()
        N = self.nodes
        return Plan(
            work.x[: N + 1, :n].copy(), work.x[: N + 1, n:].copy(), work.u[:N].copy(),
            float(work.cost.sum()), float(np.abs(work.d[:N]).max()), count,
        )  # fmt: skip

    @cached_property
    def _gravity(self) -> Any:
        return model(self.robot, "gravity").compile()

    @cached_property
    def _work(self) -> _Work:
        return _Work(self)


@dataclass(frozen=True)
class Following:
    """Predictive control along a motion, a law (t, q, qd) -> tau: at every sample the next steps of
    the motion are what is wanted, with the torques of its inverse model half-way, as each is held.
    """

    solver: Predictive
    motion: Trajectory

    @property
    def period(self) -> float:
        """Seconds between its samples."""
        return self.solver.step

    @cached_property
    def _inverse(self) -> Any:
        return compiled(self.solver.robot, "inverse-dynamics")

    def __call__(self, t: float, q: Numbers, qd: Numbers) -> Array:
        """The torques of a sample."""
        times = t + self.period * np.arange(self.solver.nodes + 1)
        q_r, qd_r, _ = self.motion(times)
        held = dict(zip(("q", "qd", "qdd"), self.motion(times + self.period / 2), strict=True))
        self.solver.aim(q_r, qd_r, self._inverse(**held))
        return self.solver(t, q, qd)


def following(
    robot: Robot, motion: Trajectory, bandwidth: float, q0: Numbers, period: float | None = None
) -> Following:
    """Predictive control of a bandwidth w: the weights with which a double integrator of the
    inertia I that each joint sees at q0 has both poles at -w, (I w²)², 2 (I w)² and 1, looking 4/w
    ahead."""
    require_numbers(robot, "predictive control")
    on = coordinates(robot)
    inertia = np.diag(compiled(robot, "inertia-matrix")(q=on.first("q0", q0)))
    step = 0.1 / bandwidth if period is None else period
    solver = predictive(
        robot, nodes=max(2, round(4 / (bandwidth * step))), step=step, end=1.0,
        position=(inertia * bandwidth**2) ** 2, velocity=2 * (inertia * bandwidth) ** 2, torque=1.0,
    )  # fmt: skip
    return Following(solver, motion)


def _rows(value: Numbers, size: int, count: int, name: str) -> Array:
    """(size,) or (count, size)."""
    rows = array(name, value)
    if rows.ndim < 2:
        return vector(name, rows, size)
    if rows.shape != (count, size):
        shapes = f"expected ({size},), or ({count}, {size}) with a row for each node"
        raise InputError(f"{name} has shape {rows.shape}", where=name, remedy=shapes)
    return rows


class _Work:
    """The arrays of an iteration and its machine code."""

    def __init__(self, law: Predictive) -> None:
        n, N = law.robot.n, law.nodes
        columns = -(-(2 * n + 1) // _LANES) * _LANES
        self.n, self.N = n, N
        self.aimed = self.pushed = self.begun = False
        new = np.zeros
        self.x, self.u = new((N + 2, 2 * n)), new((N + 1, n))
        self.x_r, self.u_r, self.point = new((N + 1, 2 * n)), new((N + 1, n)), new((N + 1, 3))
        self.weights, self.h = law.weights, np.array([law.step])
        self.cost = new((N + 1, 1))
        self.d = new((N + 1, 2 * n))
        self.dx, self.du = new((N + 1, 2 * n)), new((N + 1, n))
        self.x_old, self.u_old = new(self.x.shape), new(self.u.shape)
        F, G, lx = new((N + 1, n, columns)), new((N + 1, n, n)), new((N + 1, 2 * n))
        L, lu = new((N + 1, n, n)), new((N + 1, n, columns))
        V, K = new((N + 1, 2 * n, columns)), new((N, n, columns))
        base, Y = new((2 * n, columns)), new((n, columns))
        m, z, zd = (new((n, columns)) for _ in range(3))
        W, D = new((n, n)), new((n, n))
        codes = _codes(law, columns)
        kernels = {name: Kernels(code, "float64") for name, code in codes.items()}
        nodes = call(
            kernels["node"],
            {"x": self.x[: N + 1], "xn": self.x[1:], "u": self.u, "x_r": self.x_r, "u_r": self.u_r,
             "point": self.point, **law.weights, "h": whole(self.h)},
            {"F": F, "G": G, "d": self.d, "lx": lx, "L": L, "lu": lu, "cost": self.cost},
            N + 1,
        )  # fmt: skip
        calls = [nodes]
        last = {"Wx": law.weights["Wx"][N], "L": L[N], "lx": lx[N]}
        calls.append(call(kernels["end"], last, {"V": V[N]}))
        for k in reversed(range(N)):
            known = {"V": V[k + 1], "d": self.d[k], "G": G[k], "L": L[k], "lx": lx[k]}
            known |= {"Wx": law.weights["Wx"][k], "Wu": law.weights["Wu"][k], "h": self.h}
            calls.append(call(kernels["start"], known, {"base": base, "Y": Y, "W": W, "D": D}))
            side = {"f": lanes(F[k]), "y": lanes(Y), "l": lanes(lu[k])}
            same = {"W": whole(W), "G": whole(G[k]), "D": whole(D)}
            ends = {"m": lanes(m), "z": lanes(z), "zd": lanes(zd), "K": lanes(K[k])}
            calls.append(call(kernels["gain"], {**side, **same}, ends, columns))
            side = {"f": lanes(F[k]), "base": lanes(base), "m": lanes(m), "zd": lanes(zd)}
            same = {"F": whole(F[k]), "Y": whole(Y), "Z": whole(z)}
            calls.append(call(kernels["value"], {**side, **same}, {"V": lanes(V[k])}, columns))
        for k in range(N):
            known = {"K": K[k], "F": F[k], "G": G[k], "d": self.d[k], "h": self.h}
            known |= {"dx": self.dx[k]}
            ends = {"dxn": self.dx[k + 1], "du": self.du[k]}
            calls.append(call(kernels["forward"], known, ends))
        self.nodes, self._direction = Chain([nodes]), Chain(calls)
        self._first = new(2 * n)

    def start(self, q: Numbers, qd: Numbers) -> None:
        """Where the robot is."""
        n = self.n
        self._first[:n], self._first[n:] = vector("q", q, n), vector("qd", qd, n)

    def shift(self) -> None:
        """The plan a sample later; the last step once more."""
        self.x[: self.N] = self.x[1 : self.N + 1]
        self.u[: self.N - 1] = self.u[1 : self.N]

    def iterate(self) -> None:
        """One step of Gauss and Newton, whole."""
        self.dx[0] = self._first - self.x[0]
        self._direction()
        self.x_old[:], self.u_old[:] = self.x, self.u
        self.x[: self.N + 1] += self.dx
        self.u += self.du

    def settled(self, tolerance: float) -> bool:
        scale = 1 + np.abs(self.u).max()
        return bool(np.abs(self.dx).max() < tolerance and np.abs(self.du).max() < tolerance * scale)

    def search(self, past: list[tuple[float, float]]) -> None:
        """The longest step of 1, 1/2, 1/4 ... whose cost or gaps are less than those of every
        iterate so far (a filter: R. Fletcher, S. Leyffer, "Nonlinear programming without a penalty
        function", 2002)."""
        past.append(self._merits())
        if not np.isfinite(past[-1]).all():
            raise InputError("predictive: a state is not finite; is the step too long?")
        for k in range(_HALVINGS):
            self.nodes()
            cost, gap = self._merits()
            if all(cost < c + _ROUNDING * (1 + c) or gap < 0.99 * g for c, g in past):
                return
            scale = 0.5 ** (k + 1)
            self.x[: self.N + 1] = self.x_old[: self.N + 1] + scale * self.dx
            self.u[:] = self.u_old + scale * self.du

    def _merits(self) -> tuple[float, float]:
        return float(self.cost.sum()), float(np.abs(self.d[: self.N]).sum())


def _codes(law: Predictive, columns: int) -> dict[str, Code]:
    """The programs of an iteration."""
    n = law.robot.n
    return {
        "node": _node(law, columns),
        "end": _end(n, columns),
        "start": _start(n, columns),
        "gain": _gain(n),
        "value": _value(n, columns),
        "forward": _forward(n, columns),
    }


Trace = Callable[..., dict[str, Any]]


def _traced(inputs: Mapping[str, tuple[int, ...]], trace: Trace) -> Code:
    """The program of a function of matrices (lists of rows) and vectors of scalars."""
    graph = Graph()
    arrays = {}
    for name, shape in inputs.items():
        flat = [graph.leaf(name, k) for k in range(prod(shape))]
        step = shape[-1]
        rows = [flat[k : k + step] for k in range(0, len(flat), step)]
        arrays[name] = rows if len(shape) == 2 else flat
    outputs = {}
    for name, value in trace(graph, **arrays).items():
        matrix = bool(value) and isinstance(value[0], list)
        shape = (len(value), len(value[0])) if matrix else (len(value),)
        outputs[name] = (shape, [y for row in value for y in row] if matrix else value)
    return gather(graph, inputs, outputs)


def _column(A: Rows, c: int) -> list[Scalar]:
    return [row[c] for row in A]


def _wide(rows: Rows, columns: int) -> Rows:
    return [[*row, *[0] * (columns - len(row))] for row in rows]


def _node(law: Predictive, columns: int) -> Code:
    """Of a node: derivatives of the accelerations, the gap to the next state, and the cost with its
    gradient and the part of its matrix that is not diagonal."""
    n = law.robot.n
    inputs = {
        "x": (2 * n,), "xn": (2 * n,), "u": (n,), "x_r": (2 * n,), "u_r": (n,), "point": (3,),
        "Wx": (2 * n,), "Wu": (n,), "w": (1,), "h": (1,),
    }  # fmt: skip

    def trace(graph: Graph, **a: Any) -> dict[str, Any]:
        x, u, h = a["x"], a["u"], a["h"][0]
        q, qd = x[:n], x[n:]
        values = inline(graph, law.dynamics.code, {"q": q, "qd": qd, "tau": u})
        by = [values[f"dqdd_d{name}"] for name in ("q", "qd", "tau")]
        Fq, Fv, G = ([flat[r * n : (r + 1) * n] for r in range(n)] for flat in by)
        new = [b + h * c for b, c in zip(qd, values["qdd"], strict=True)]
        ends = [*(b + h * c for b, c in zip(q, new, strict=True)), *new]
        error = [b - c for b, c in zip(x, a["x_r"], strict=True)]
        off = [b - c for b, c in zip(u, a["u_r"], strict=True)]
        lx = [w * e for w, e in zip(a["Wx"], error, strict=True)]
        lu = [w * e for w, e in zip(a["Wu"], off, strict=True)]
        cost = dot(lx, error) + dot(lu, off)
        L: Rows = [[0] * n for _ in range(n)]
        if law.place is not None:
            w = a["w"][0]
            tool = inline(graph, law.place.code, {"q": q})
            J = [[tool["dT_dq"][(4 * r + 3) * n + c] for c in range(n)] for r in range(3)]
            miss = [tool["T"][4 * r + 3] - a["point"][r] for r in range(3)]
            pull = [w * e for e in miss]
            cost = cost + dot(pull, miss)
            lx = [lx[c] + dot(_column(J, c), pull) for c in range(n)] + lx[n:]
            heavy = [[w * y for y in row] for row in J]
            for r in range(n):
                for c in range(r, n):
                    L[r][c] = L[c][r] = dot(_column(heavy, r), _column(J, c))
        side = [[*[0] * (2 * n), y] for y in lu]
        return {
            "F": _wide([[*b, *c] for b, c in zip(Fq, Fv, strict=True)], columns),
            "G": G,
            "d": [b - c for b, c in zip(ends, a["xn"], strict=True)],
            "lx": lx,
            "L": L,
            "lu": _wide(side, columns),
            "cost": [cost / 2],
        }

    return _traced(inputs, trace)


def _end(n: int, columns: int) -> Code:
    """The value function at the last node: its matrix, and its gradient in one more column."""

    def trace(graph: Graph, Wx: Any, L: Any, lx: Any) -> dict[str, Any]:
        return {"V": _wide(_matrix(n, Wx, L, lx), columns)}

    return _traced({"Wx": (2 * n,), "L": (n, n), "lx": (2 * n,)}, trace)


def _matrix(n: int, Wx: Any, L: Any, lx: Any) -> Rows:
    """The matrix of the cost and its gradient beside it."""
    rows = [[0] * (2 * n) + [y] for y in lx]
    for r in range(2 * n):
        rows[r][r] = rows[r][r] + Wx[r]
        for c in range(n if r < n else 0):
            rows[r][c] = rows[r][c] + L[r][c]
    return rows


def _start(n: int, columns: int) -> Code:
    """T = Φ^T V Φ and what follows from it: h T_v with Γ^T s beside it, h² T_vv, the factors of the
    matrix of the torques, and T plus the matrix of the cost."""
    inputs = {
        "V": (2 * n, columns), "d": (2 * n,), "G": (n, n), "L": (n, n), "lx": (2 * n,),
        "Wx": (2 * n,), "Wu": (n,), "h": (1,),
    }  # fmt: skip

    def trace(
        graph: Graph, V: Any, d: Any, G: Any, L: Any, lx: Any, Wx: Any, Wu: Any, h: Any
    ) -> dict[str, Any]:
        h, span = h[0], range(n)
        V = [[V[min(r, c)][max(r, c)] for c in range(2 * n)] + [V[r][2 * n]] for r in range(2 * n)]
        slope = [V[r][2 * n] + dot(V[r][: 2 * n], d) for r in range(2 * n)]
        qq = [[V[r][c] for c in span] for r in span]
        qv = [[h * V[r][c] + V[r][n + c] for c in span] for r in span]
        vv: Rows = [[0] * n for _ in span]
        for r in span:
            for c in range(r, n):
                vv[r][c] = vv[c][r] = h * qv[r][c] + (h * V[c][n + r] + V[n + r][n + c])
        T = [[*b, *c] for b, c in zip(qq, qv, strict=True)]
        T += [[*_column(qv, r), *vv[r]] for r in span]
        moved = [*slope[:n], *(h * slope[r] + slope[n + r] for r in span)]
        cost = _matrix(n, Wx, L, lx)
        base = [[b + c for b, c in zip([*T[r], moved[r]], cost[r], strict=True)]
                for r in range(2 * n)]  # fmt: skip
        Y = [[h * b for b in [*T[n + r], moved[n + r]]] for r in span]
        W = [[h * Y[r][n + c] for c in span] for r in span]
        WG = [[dot(W[r], _column(G, c)) for c in span] for r in span]
        Q: Rows = [[0] * n for _ in span]
        for r in span:
            for c in range(r, n):
                Q[r][c] = Q[c][r] = dot(_column(G, r), _column(WG, c))
            Q[r][r] = Q[r][r] + Wu[r]
        return {"base": _wide(base, columns), "Y": _wide(Y, columns), "W": W, "D": _factors(Q)}

    return _traced(inputs, trace)


def _factors(Q: Rows) -> Rows:
    """L below the diagonal and 1/D on it, Q = L D L^T."""
    n = len(Q)
    L: Rows = [[0] * n for _ in range(n)]
    for j in range(n):
        scaled = [L[j][k] for k in range(j)]  # L D of this row, until it is divided
        pivot = Q[j][j]
        for k in range(j):
            L[j][k] = scaled[k] * L[k][k]
            pivot = pivot - scaled[k] * L[j][k]
        L[j][j] = 1 / pivot
        for r in range(j + 1, n):
            L[r][j] = Q[r][j] - dot([L[r][k] for k in range(j)], [L[j][k] for k in range(j)])
    return L


def _gain(n: int) -> Code:
    """Of a column: M, and the gains by the factors of the torques' matrix."""
    inputs = {"f": (n,), "y": (n,), "l": (n,), "W": (n, n), "G": (n, n), "D": (n, n)}

    def trace(graph: Graph, f: Any, y: Any, l: Any, W: Any, G: Any, D: Any) -> dict[str, Any]:
        m = [y[r] + dot(W[r], f) for r in range(n)]
        z = [l[c] + dot(_column(G, c), m) for c in range(n)]
        for r in range(n):
            z[r] = z[r] - dot(D[r][:r], z[:r])
        zd = [D[r][r] * z[r] for r in range(n)]
        k = list(zd)
        for r in reversed(range(n)):
            k[r] = k[r] - dot([D[i][r] for i in range(r + 1, n)], k[r + 1 :])
        return {"m": m, "z": z, "zd": zd, "K": [-x for x in k]}

    return _traced(inputs, trace)


def _value(n: int, columns: int) -> Code:
    """Of a column: the value function a node earlier."""
    inputs = {
        "f": (n,), "base": (2 * n,), "m": (n,), "zd": (n,), "F": (n, columns), "Y": (n, columns),
        "Z": (n, columns),
    }  # fmt: skip

    def trace(graph: Graph, f: Any, base: Any, m: Any, zd: Any, F: Any, Y: Any, Z: Any) -> Any:
        return {
            "V": [
                base[r] + dot(_column(F, r), m) + dot(_column(Y, r), f) - dot(_column(Z, r), zd)
                for r in range(2 * n)
            ]
        }

    return _traced(inputs, trace)


def _forward(n: int, columns: int) -> Code:
    """The change of the torques of a node and of the next state."""
    inputs = {
        "K": (n, columns), "F": (n, columns), "G": (n, n), "d": (2 * n,), "h": (1,), "dx": (2 * n,)
    }  # fmt: skip

    def trace(graph: Graph, K: Any, F: Any, G: Any, d: Any, h: Any, dx: Any) -> dict[str, Any]:
        h, size = h[0], 2 * n
        du = [K[r][size] + dot(K[r][:size], dx) for r in range(n)]
        da = [dot(F[r][:size], dx) + dot(G[r], du) for r in range(n)]
        dv = [dx[n + r] + h * da[r] for r in range(n)]
        ends = [dx[r] + h * dv[r] + d[r] for r in range(n)]
        return {"dxn": [*ends, *(dv[r] + d[n + r] for r in range(n))], "du": du}

    return _traced(inputs, trace)
