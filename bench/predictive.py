"""Predictive control of an iiwa, 20 nodes: one iteration, beside Pinocchio and Crocoddyl.

python -m bench.predictive [nodes]       one core; agreement of the solutions first

Crocoddyl solves the same problem (same weights, same semi-implicit step) with its feasibility
driven DDP. Its wheels must fit those of Pinocchio: crocoddyl 3.2.1 with pin 4.0.0 does."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import cardan

STEP, POINT = 0.02, np.array([0.4, 0.3, 0.6])
START = np.array([0.1, 0.6, 0.0, -1.2, 0.0, 0.9, 0.0])
WEIGHTS = {"position": 0.01, "velocity": 0.1, "torque": 1e-4, "tool": 10.0, "end": 50.0}


def fastest(run: Callable[[], object], before: Callable[[], object], repeats: int = 500) -> float:
    """Microseconds of the shortest of some runs, each after `before`."""
    best = np.inf
    for _ in range(repeats):
        before()
        clock = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - clock)
    return best * 1e6


def crocoddyl_problem(robot: cardan.Robot, nodes: int, tau_r: np.ndarray) -> Any:
    """The solver of Crocoddyl on the robot written as URDF."""
    import crocoddyl
    import pinocchio

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "robot.urdf")
        cardan.save(robot, path)
        model = pinocchio.buildModelFromUrdf(str(path))
    n, w = robot.n, WEIGHTS
    state = crocoddyl.StateMultibody(model)
    actuation = crocoddyl.ActuationModelFull(state)
    x0 = np.concatenate([START, np.zeros(n)])
    frame = model.getFrameId(next(f.name for f in reversed(model.frames)))

    def action(factor: float, step: float, torque: float) -> Any:
        costs = crocoddyl.CostModelSum(state, n)
        activation = crocoddyl.ActivationModelWeightedQuad(
            np.concatenate([np.full(n, w["position"]), np.full(n, w["velocity"])])
        )
        residuals = {
            "x": (crocoddyl.ResidualModelState(state, x0, n), factor, activation),
            "u": (crocoddyl.ResidualModelControl(state, tau_r), torque, None),
            "p": (
                crocoddyl.ResidualModelFrameTranslation(state, frame, POINT, n),
                factor * w["tool"], None,
            ),
        }  # fmt: skip
        for name, (residual, weight, shape) in residuals.items():
            model = (
                crocoddyl.CostModelResidual(state, residual)
                if shape is None
                else crocoddyl.CostModelResidual(state, shape, residual)
            )
            costs.addCost(name, model, weight)
        dynamics = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
        return crocoddyl.IntegratedActionModelEuler(dynamics, step)

    running = [action(1.0, STEP, w["torque"])] * nodes
    problem = crocoddyl.ShootingProblem(x0, running, action(w["end"] * STEP, 0.0, 0.0))
    problem.nthreads = 1
    return crocoddyl.SolverFDDP(problem)


def main() -> None:
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    robot = cardan.load("iiwa14")
    mpc = cardan.control.predictive(robot, nodes=nodes, step=STEP, **WEIGHTS)
    plan = mpc.solve(START, np.zeros(7), q_r=START, point=POINT, tolerance=1e-10)
    work = mpc._work
    ours = fastest(work.iterate, lambda: None)
    whole = fastest(lambda: mpc(0.0, START, plan.qd[0]), lambda: None)
    print(f"{nodes} nodes; cost {plan.cost:.9f}, {plan.iterations} iterations")
    print(f"Cardan, one iteration                {ours:8.1f} us")
    print(f"Cardan, one sample of the law        {whole:8.1f} us")
    solver = crocoddyl_problem(robot, nodes, np.array(work.u_r[0]))
    x0 = np.concatenate([START, np.zeros(7)])
    tau = [np.array(work.u_r[0])] * nodes
    solver.th_stop = 1e-18
    solver.solve([x0] * (nodes + 1), tau, 100, False)
    error = np.abs(np.array(solver.us) - plan.tau).max() / np.abs(plan.tau).max()
    print(f"torques of both solutions differ by  {error:8.1e} of the largest")
    states, torques = list(solver.xs), list(solver.us)
    parts = {
        "calc": lambda: solver.problem.calc(states, torques),
        "calcDiff": lambda: solver.problem.calcDiff(states, torques),
        "backwardPass": solver.backwardPass,
        "forwardPass": lambda: solver.forwardPass(1.0),
    }
    solver.setCandidate(states, torques, False)
    solver.computeDirection(True)
    times = {name: fastest(run, lambda: None) for name, run in parts.items()}
    theirs = sum(times.values()) - times["calc"]  # the forward pass has it
    for name, x in times.items():
        print(f"Pinocchio + Crocoddyl, {name:13} {x:8.1f} us")
    print(f"Pinocchio + Crocoddyl, one iteration {theirs:8.1f} us (calcDiff and both passes)")
    print(f"ratio                                {theirs / ours:8.1f}")


if __name__ == "__main__":
    main()
