"""Many simulations at once against MuJoCo's own batch stepper, one core, the same model and steps.

python -m bench.rollout            100,000 rollouts of 100 RK4 steps; MuJoCo does fewer of the same
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from bench.timing import Figure

import cardan
from cardan.describe.robot import Robot
from cardan.describe.values.expression import number
from cardan.motion.frames import link_frames
from cardan.run.rollout import Rollout
from cardan.simulation.statespace import state_space

__all__ = ["figures"]

ROBOT, ROLLOUTS, STEPS, STEP = "iiwa14", 100_000, 100, 1e-3
COMPARED = 500  # rollouts given to MuJoCo
ROUND = 20_000  # of ours in one measurement
ROUNDS = 5


def figures() -> list[Figure]:
    import mujoco
    import mujoco.rollout

    robot = cardan.load(ROBOT)
    n = robot.n
    model = mujoco.MjModel.from_xml_string(mjcf(robot))
    flags = mujoco.mjtDisableBit
    model.opt.disableflags |= flags.mjDSBL_CONSTRAINT | flags.mjDSBL_CONTACT | flags.mjDSBL_SENSOR
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    x0 = rng.uniform(-1, 1, (ROLLOUTS, 2 * n))
    tau = rng.uniform(-5, 5, (ROLLOUTS, n))
    rollout = Rollout(state_space(robot).program, "rk4")
    start = np.zeros((COMPARED, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1 : 1 + 2 * n] = x0[:COMPARED]
    control = np.repeat(tau[:COMPARED, None], STEPS, axis=1)

    def theirs() -> np.ndarray:
        found, _ = mujoco.rollout.rollout(model, data, start, control)
        return np.asarray(found[:, -1, 1 : 1 + 2 * n])

    def ours(count: int = ROUND) -> np.ndarray:
        return rollout(x0[:count], step=STEP, steps=STEPS, tau=tau[:count])

    expected, found = theirs(), ours(COMPARED)
    error = float(np.abs(found - expected).max() / np.abs(expected).max())
    measures = (timed(ours, ROUND), timed(theirs, COMPARED))
    rounds = [[measure() for measure in measures] for _ in range(ROUNDS)]  # turn about
    mine, other = zip(*rounds, strict=True)
    begin = time.perf_counter()
    ours(ROLLOUTS)
    whole = time.perf_counter() - begin
    return [
        Figure(f"{ROLLOUTS} rollouts x {STEPS} RK4 steps of {ROBOT}, one core", whole, "s"),
        Figure("one step", 1e9 * min(mine), "ns"),
        Figure("one step of MuJoCo's rollout", 1e9 * min(other), "ns"),
        Figure("times faster than MuJoCo", min(other) / min(mine), "", 10, at_least=True),
        Figure("states agree, relative", error, "", 1e-9),
    ]


def timed(work: Callable[[], Any], count: int) -> Callable[[], float]:
    """Seconds per step."""

    def measure() -> float:
        start = time.perf_counter()
        work()
        return (time.perf_counter() - start) / (count * STEPS)

    return measure


def mjcf(robot: Robot) -> str:
    """A chain of revolute joints as MJCF: body j is link j with its frame, motors on all joints."""
    frames = link_frames(robot, np.zeros(robot.n))
    opening, closing = [], ""
    for j, (joint, link) in enumerate(zip(robot.joints, robot.links, strict=True), 1):
        local = np.linalg.inv(frames[joint.antecedent]) @ frames[j]
        mass = number(link.M) or 0.0
        com = np.array([number(x) for x in (link.MX, link.MY, link.MZ)], float) / mass
        XX, XY, XZ, YY, YZ, ZZ = (
            float(number(getattr(link, k)) or 0) for k in ("XX", "XY", "XZ", "YY", "YZ", "ZZ")
        )
        J = np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]])
        J = J - mass * (com @ com * np.eye(3) - np.outer(com, com))
        six = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
        axes = [*local[:3, 0], *local[:3, 1]]
        opening.append(
            f'<body pos="{words(local[:3, 3])}" xyaxes="{words(axes)}">'
            f'<inertial pos="{words(com)}" mass="{mass!r}" fullinertia="{words(six)}"/>'
            f'<joint name="j{j}" type="hinge" axis="0 0 1" armature="{number(joint.IA)!r}"'
            f' damping="{number(joint.FV)!r}"/>'
        )
        closing += "</body>"
    motors = "".join(f'<motor joint="j{j}" gear="1"/>' for j in range(1, robot.n + 1))
    gravity = words([number(g) for g in robot.gravity])
    return (
        f'<mujoco><compiler angle="radian" balanceinertia="false"/><option integrator="RK4"'
        f' timestep="{STEP}" gravity="{gravity}"/><worldbody>{"".join(opening)}{closing}'
        f"</worldbody><actuator>{motors}</actuator></mujoco>"
    )


def words(values: Any) -> str:
    return " ".join(repr(float(x)) for x in values)


def main() -> None:
    for figure in figures():
        print(f"{figure.what:60s} {figure.shown:>18s} {figure.shown_limit}")


if __name__ == "__main__":
    main()
