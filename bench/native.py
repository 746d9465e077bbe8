"""Native batches against Pinocchio on the same states: one thread, float64, side by side."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from bench.timing import Figure, best_of

import cardan
from cardan.describe.expression import number
from cardan.describe.robot import GEOMETRY, Robot

__all__ = ["batch_figures", "compile_figures"]

ROBOT = "iiwa14"
STATES = 100_000
COMPARED = 20_000  # states given to Pinocchio
ROUNDS = 7


def compile_figures() -> list[Figure]:
    from cardan.run.native import machine

    machine()  # LLVM itself is started once per process
    program = cardan.model(cardan.load(ROBOT), "inverse-dynamics")
    x = {name: np.zeros((64, *shape)) for name, shape in program.inputs.items()}

    def batch() -> None:
        program.compile()(**x)

    def one_state() -> None:
        program.compile()(**{name: array[0] for name, array in x.items()})

    return [
        Figure(f"compile {ROBOT}, vectors", best_of(5, batch), "s", 0.3),
        Figure(f"compile {ROBOT}, one state", best_of(5, one_state), "s", 0.3),
    ]


def batch_figures() -> list[Figure]:
    robot = cardan.load(ROBOT)
    function = cardan.model(robot, "inverse-dynamics").compile()
    rng = np.random.default_rng(0)
    x = {name: rng.uniform(-3, 3, (STATES, robot.n)) for name in ("q", "qd", "qdd")}
    out = np.empty((STATES, robot.n))
    function(**x, out=out)

    def ours() -> float:
        return best_of(3, lambda: function(**x, out=out)) / STATES

    try:
        import pinocchio
    except ImportError:
        return [Figure(f"native batch {ROBOT}", 1e9 * ours(), "ns per state")]
    some = {name: array[:COMPARED] for name, array in x.items()}
    model = pinocchio_model(pinocchio, robot)
    loop, torques = in_a_loop(pinocchio, model, some)
    together = in_one_call(pinocchio, model, some)
    ours_best, loop_best, call_best = (min(times) for times in interleaved(ours, loop, together))
    error = float(np.max(np.abs(out[:COMPARED] - torques)) / np.max(np.abs(torques)))
    one = {name: array[0] for name, array in x.items()}
    return [
        Figure(f"native batch {ROBOT}", 1e9 * ours_best, "ns per state"),
        Figure("Pinocchio, rnea in a loop", 1e9 * loop_best, "ns per state"),
        Figure("Pinocchio, rneaInParallel on one thread", 1e9 * call_best, "ns per state"),
        Figure("times faster than the loop", loop_best / ours_best, "", 30, at_least=True),
        Figure("times faster than rneaInParallel", call_best / ours_best, ""),
        Figure("torques agree, relative", error, "", 1e-10),
        Figure("one call with one state", 1e6 * best_of(2000, lambda: function(**one)), "us"),
        *thread_figures(function, x, out, ours_best),
    ]


def thread_figures(function: Any, x: dict[str, Any], out: np.ndarray, alone: float) -> list[Figure]:
    seconds = best_of(5, lambda: function(**x, out=out, threads=0)) / STATES
    return [Figure("all cores over one thread", alone / seconds, "times")]


def interleaved(*measures: Callable[[], float]) -> list[list[float]]:
    """Turn about, so that a change of the machine's pace meets all alike."""
    rounds = [[measure() for measure in measures] for _ in range(ROUNDS)]
    return [list(times) for times in zip(*rounds, strict=True)]


def in_a_loop(
    pinocchio: Any, model: Any, x: dict[str, Any]
) -> tuple[Callable[[], float], np.ndarray]:
    """Pinocchio's rnea state by state, as a script would write it; and its torques."""
    data, rnea = model.createData(), pinocchio.rnea
    rows = list(zip(x["q"], x["qd"], x["qdd"], strict=True))

    def measure() -> float:
        start = time.perf_counter()
        for q, qd, qdd in rows:
            rnea(model, data, q, qd, qdd)
        return (time.perf_counter() - start) / len(rows)

    return measure, np.array([rnea(model, data, *row).copy() for row in rows])


def in_one_call(pinocchio: Any, model: Any, x: dict[str, Any]) -> Callable[[], float]:
    """Pinocchio's own batch call, on one thread; states are its columns."""
    pool = pinocchio.ModelPool(model, 1)
    columns = [np.asfortranarray(x[name].T) for name in ("q", "qd", "qdd")]

    def measure() -> float:
        start = time.perf_counter()
        pinocchio.rneaInParallel(1, pool, *columns)
        return (time.perf_counter() - start) / len(x["q"])

    return measure


def pinocchio_model(pinocchio: Any, robot: Robot) -> Any:
    """A chain of revolute joints as Pinocchio's model, from the description's numbers."""
    model = pinocchio.Model()
    model.gravity.linear = np.array([number(g) for g in robot.gravity])
    for joint, link in zip(robot.joints, robot.links, strict=True):
        gamma, b, alpha, d, theta, r = (number(getattr(joint, key)) for key in GEOMETRY)
        frame = pinocchio.SE3.Identity()
        for axis, angle, shift in (("z", gamma, b), ("x", alpha, d), ("z", theta, r)):
            unit = np.eye(3)[0 if axis == "x" else 2]
            turn = pinocchio.AngleAxis(angle, unit).toRotationMatrix()
            frame = frame * pinocchio.SE3(turn, shift * unit)
        id = model.addJoint(joint.antecedent, pinocchio.JointModelRZ(), frame, joint.name)
        mass = number(link.M)
        com = np.array([number(x) for x in (link.MX, link.MY, link.MZ)]) / mass
        XX, XY, XZ = (number(x) for x in (link.XX, link.XY, link.XZ))
        YY, YZ, ZZ = (number(x) for x in (link.YY, link.YZ, link.ZZ))
        about_origin = np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]])
        about_com = about_origin - mass * (com @ com * np.eye(3) - np.outer(com, com))
        body = pinocchio.Inertia(mass, com, about_com)
        model.appendBodyToJoint(id, body, pinocchio.SE3.Identity())
    return model
