"""Simulation kernels of robots with flexible links: state rates, and a whole Runge-Kutta step.

The state is q of the tree and qd of the independent coordinates. Driven joints either have their
motion prescribed, u = (q_a, qd_a, qdd_a), or their torques given, u = tau. A step of fourth order
is traced as one program, for drives that depend on the state: one call per step, shared work done
once. Where the drives are functions of time, many steps are one call (`course_program`): within a
step u is the parabola through its values at the beginning, the middle and the end."""

from __future__ import annotations

from typing import Any

from ...algebra.vector import Vec
from ...describe.robot import Robot
from ...errors import ModelError
from ...formulate.posture import with_points
from ...mechanism.coordinates import Key, is_floating
from ...mechanism.loops import opened
from ...models.articulated import articulated
from ...models.bodies import Bodies
from ...models.energy import energies
from ...models.flexible.loops import constraint_rows, dependent
from ...models.motion import motion, seats
from ...program import Program
from ...run.steps import rk4
from ..common import Arrays
from ..derivation import Derivation, Form, Result
from .closure import closing
from .equations import Loops

Scalar = Any
State = tuple[list[Scalar], list[Scalar]]  # q of the tree, qd of the independent coordinates


def _rates(robot: Robot, scene: Bodies, state: State, u: Any, prescribed: bool) -> State:
    """(q̇ of the tree, q̈ of the independent coordinates)."""
    loops = closing(robot)
    q, qd = state
    active = loops.active
    known = dict(zip(active, u[2] if prescribed else u, strict=True))
    if robot.constrained:
        here = Loops(robot, scene, {"q": q, "qd": qd})
        plain = not loops.has_multipliers(loops.follow if prescribed else loops.keys)
        accelerations = (
            here.prescribed(known, plain)[0] if prescribed else here.driven(known, plain)
        )
        rates = dict(zip(loops.independent, qd, strict=True)) | here.passive
        flow = [rates[key] for key in loops.keys]
    else:
        scene = with_points(scene)
        moving = motion(scene, q, qd)
        by_link = {key[1]: value for key, value in known.items()}
        idle = {key[1]: 0 for key in loops.loose}
        choice: dict[str, Any] = (
            {"tau": idle, "qdd": by_link} if prescribed else {"tau": {**idle, **by_link}}
        )
        solved = articulated(scene, moving, **choice)
        accelerations = {key: _pick(solved, key) for key in loops.keys}
        flow = list(qd)
    accelerations = {**accelerations, **known} if prescribed else accelerations
    return flow, [accelerations[key] for key in loops.independent]


def _pick(solved: Any, key: Key) -> Scalar:
    kind, j, k = key
    return solved.qdd[j] if kind == "joint" else solved.qedd[j][k]


def _imposed(robot: Robot, state: State, u: Any, prescribed: bool) -> State:
    """The state with the driven joints where their motion puts them."""
    if not prescribed:
        return state
    loops = closing(robot)
    q, qd = list(state[0]), list(state[1])
    for value, speed, key in zip(u[0], u[1], loops.active, strict=True):
        q[loops.keys.index(key)] = value
        qd[loops.independent.index(key)] = speed
    return q, qd


def _sizes(robot: Robot, prescribed: bool) -> tuple[int, int, tuple[int, ...]]:
    if is_floating(robot):
        raise ModelError(
            f"simulation of '{robot.name}': closed loops of flexible links need a fixed base",
            remedy="use cardan.rigid(robot), or open its loops",
        )
    loops = closing(robot)
    na = len(loops.active)
    return robot.n + robot.ne, len(loops.independent), (3, na) if prescribed else (na,)


def rates_program(robot: Robot, prescribed: bool) -> Program:
    """q, qd, u -> flow (q̇ of the tree), qdd (of the independent coordinates)."""
    n, m, drive = _sizes(robot, prescribed)

    def run(scene: Bodies, x: Arrays) -> Result:
        state = _imposed(robot, (x["q"], x["qd"]), x["u"], prescribed)
        flow, qdd = _rates(robot, scene, state, x["u"], prescribed)
        return Result({"flow": ((n,), flow), "qdd": ((m,), qdd)})

    inputs: dict[str, tuple[int, ...]] = {"q": (n,), "qd": (m,), "u": drive}
    return _traced(robot, "flexible-rates", inputs, run)


def course_program(robot: Robot, prescribed: bool) -> Program:
    """x = (q of the tree, qd of the independent coordinates, t), c0, c1, c2, t0 -> xd: the rates
    with u = c0 + c1 (t - t0) + c2 (t - t0)², for a compiled course of many steps."""
    n, m, drive = _sizes(robot, prescribed)

    def run(scene: Bodies, x: Arrays) -> Result:
        *y, t = x["x"]
        s = t - x["t0"][0]

        def curve(c0: Any, c1: Any, c2: Any) -> Any:
            if isinstance(c0, list):
                return [curve(*parts) for parts in zip(c0, c1, c2, strict=True)]
            return c0 + s * (c1 + s * c2)

        u = curve(x["c0"], x["c1"], x["c2"])
        state = _imposed(robot, (y[:n], y[n:]), u, prescribed)
        flow, qdd = _rates(robot, scene, state, u, prescribed)
        return Result({"xd": ((n + m + 1,), [*flow, *qdd, 1])})

    inputs: dict[str, tuple[int, ...]] = {
        "x": (n + m + 1,), "c0": drive, "c1": drive, "c2": drive, "t0": (1,)
    }  # fmt: skip
    return _traced(robot, "flexible-course", inputs, run)


def flow_program(robot: Robot) -> Program:
    """q, qd of the independent coordinates -> qd_t of the whole tree: passive joints follow."""
    n, m, _ = _sizes(robot, False)
    loops = closing(robot)

    def run(scene: Bodies, x: Arrays) -> Result:
        still = seats(scene, x["q"])
        rows = [row for cut in loops.cuts for row in constraint_rows(scene, still, cut)]
        rates = dict(zip(loops.independent, x["qd"], strict=True))
        rates |= dependent(rows, loops.passive, rates)
        return Result({"qd_t": ((n,), [rates[key] for key in loops.keys])})

    return _traced(robot, "flexible-flow", {"q": (n,), "qd": (m,)}, run)


def kinetic_program(robot: Robot) -> Program:
    """q, qd of the whole tree -> E: the kinetic energy, as a norm of velocities."""
    n = robot.n + robot.ne

    def run(scene: Bodies, x: Arrays) -> Result:
        return Result({"E": ((), [energies(scene, x["q"], x["qd"]).E])})

    return _traced(robot, "flexible-kinetic-energy", {"q": (n,), "qd": (n,)}, run)


def step_program(robot: Robot) -> Program:
    """q, qd, u, h -> q1 and qd1, those after h, with torques u held over it: a step of rk4."""
    n, m, drive = _sizes(robot, False)

    def run(scene: Bodies, x: Arrays) -> Result:
        def rates(_: Scalar, y: Any) -> Any:
            flow, qdd = _rates(robot, scene, (list(y[:n]), list(y[n:])), x["u"], False)
            return Vec(*flow, *qdd)

        y = rk4(rates, 0, Vec(*x["q"], *x["qd"]), x["h"][0])
        return Result({"q1": ((n,), list(y[:n])), "qd1": ((m,), list(y[n:]))})

    inputs: dict[str, tuple[int, ...]] = {"q": (n,), "qd": (m,), "u": drive, "h": (1,)}
    return _traced(robot, "flexible-step", inputs, run)


def _traced(robot: Robot, name: str, inputs: dict[str, tuple[int, ...]], form: Form) -> Program:
    """The program as it is: random states say nothing about a step of random length."""
    source = opened(robot) if robot.loops else robot
    candidate = Derivation(source, name, inputs).trace(form)
    return Program(name, robot.name, candidate.code, candidate.parameters)
