"""A SCARA picks in the least time that its motors allow: torques and the length of the step are
unknowns, and every gradient is exact, through all steps.

python examples/minimum_time.py     solves it, draws minimum-time.png (needs scipy, matplotlib)
"""

from __future__ import annotations

import sys
import time

import numpy as np

import cardan

LENGTH, MASSES = 0.3, (6.0, 4.0, 0.6, 0.4)  # m, kg
ROTORS = (0.6, 0.3, 0.05, 1.0)  # kg m² behind the gears; kg of the last joint
LIMITS = np.array([40.0, 20.0, 4.0, 30.0])  # N m; N of the last joint, which lifts
START, GOAL = np.array([-0.6, 1.2, 0.0, 0.0]), np.array([0.7, -0.9, 1.0, 0.1])
NODES, EFFORT = 30, 0.01  # weight of the effort: one solution where a motor has torque to spare


def arm() -> cardan.Robot:
    """The bundled SCARA, a bar of each link, and its motors."""
    scara = cardan.load("scara")
    values = dict.fromkeys(scara.parameters, 0.0) | {"D2": LENGTH, "D3": LENGTH, "G3": -9.81}
    for j, mass in enumerate(MASSES, 1):
        long = LENGTH if j < 3 else 0.05
        values |= {
            f"IA{j}": ROTORS[j - 1],
            f"M{j}": mass,
            f"MX{j}": mass * long / 2,
            f"ZZ{j}": mass * long**2 / 3,
        }
    return scara.with_values(values | {"MX4": 0.0, "ZZ4": 1e-4})


def solve(
    step: cardan.Program, start: np.ndarray, goal: np.ndarray, limits: np.ndarray, nodes: int
) -> tuple[float, np.ndarray, cardan.RolloutGradient]:
    """The duration, the torques (nodes, n) as parts of their limits, and the motion from rest to
    rest."""
    from scipy.optimize import minimize

    n, rest = len(start), np.concatenate([goal, np.zeros(len(goal))])

    def motion(z: np.ndarray) -> cardan.RolloutGradient:
        tau = limits * z[1:].reshape(nodes, n)
        return cardan.rollout_gradient(step, start, np.zeros(n), tau, z[0])

    def miss(z: np.ndarray) -> np.ndarray:
        return np.asarray(motion(z).x[-1] - rest)

    def slopes(z: np.ndarray) -> np.ndarray:
        run, h = motion(z), z[0]
        after, by_h = np.eye(2 * n), np.zeros(2 * n)
        by_tau = np.empty((nodes, 2 * n, n))
        for k in reversed(range(nodes)):
            qdd = (run.qd[k + 1] - run.qd[k]) / h
            by_h += after @ np.concatenate([run.qd[k + 1] + h * qdd, qdd])
            by_tau[k] = after @ run.B[k] * limits
            after = after @ run.A[k]
        return np.column_stack([by_h, by_tau.transpose(1, 0, 2).reshape(2 * n, -1)])

    result = minimize(
        lambda z: nodes * z[0] + EFFORT * np.mean(z[1:] ** 2),
        np.concatenate([[1.0 / nodes], np.zeros(nodes * n)]),
        jac=lambda z: np.concatenate([[nodes], 2 * EFFORT / (nodes * n) * z[1:]]), method="SLSQP",
        constraints={"type": "eq", "fun": miss, "jac": slopes},
        bounds=[(1e-3, 1.0), *[(-1.0, 1.0)] * (nodes * n)], options={"maxiter": 500, "ftol": 1e-8},
    )  # fmt: skip
    if not result.success:
        raise RuntimeError(f"no solution: {result.message}")
    return nodes * result.x[0], result.x[1:].reshape(nodes, n), motion(result.x)


def draw(duration: float, u: np.ndarray, run: cardan.RolloutGradient, path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (scene, joints, torques) = plt.subplots(1, 3, figsize=(13, 4))
    angles = np.cumsum(run.q[:, :2], axis=1)
    places = LENGTH * np.cumsum(np.stack([np.cos(angles), np.sin(angles)], -1), axis=1)
    for k in range(0, len(run.q), 3):
        points = np.vstack([np.zeros(2), places[k]])
        scene.plot(*points.T, "-o", color=plt.cm.viridis(k / len(run.q)), markersize=3)
    scene.set_aspect("equal")
    scene.set(title="from above, dark to light", xlabel="x, m", ylabel="y, m")
    t = np.linspace(0, duration, len(run.q))
    for j in range(u.shape[1]):
        joints.plot(t, run.q[:, j], label=f"joint {j + 1}")
        torques.step(t[:-1], u[:, j], where="post", label=f"joint {j + 1}")
    joints.set(xlabel="time, s", ylabel="position, rad or m")
    torques.set(xlabel="time, s", ylabel="part of the largest torque")
    figure.legend(*joints.get_legend_handles_labels(), ncols=u.shape[1], loc="upper right")
    figure.tight_layout(rect=(0, 0, 1, 0.93))
    figure.savefig(path, dpi=110)


def main() -> None:
    step = cardan.discretise(arm())
    clock = time.perf_counter()
    duration, u, run = solve(step, START, GOAL, LIMITS, NODES)
    print(f"{duration:.3f} s from rest to rest, found in {time.perf_counter() - clock:.1f} s")
    print("part of the time at a limit, joint by joint:", (np.abs(u) > 0.999).mean(0).round(2))
    draw(duration, u, run, sys.argv[1] if len(sys.argv) > 1 else "minimum-time.png")


if __name__ == "__main__":
    main()
