"""A pole on a cart swings up: iLQR on the exact derivatives of each step.

python examples/swing_up.py        solves it and draws swing-up.png (needs matplotlib)
"""

from __future__ import annotations

import sys
import time

import numpy as np

import cardan

STEPS, STEP, FORCE = 100, 0.02, 20.0  # 2 s; N
START, GOAL = np.array([0, np.pi, 0, 0]), np.zeros(4)  # cart and pole, then their velocities
COST_X = np.diag([0.1, 0.5, 0.01, 0.01]) * STEP
COST_END = np.diag([100.0, 400.0, 20.0, 20.0])
COST_U = 0.005 * STEP


def cost(x: np.ndarray, u: np.ndarray) -> float:
    e = x - GOAL
    run = np.einsum("ki,ij,kj", e[:-1], COST_X, e[:-1]) + COST_U * float((u**2).sum())
    return float(run + e[-1] @ COST_END @ e[-1]) / 2


def solve(step: cardan.Program) -> tuple[np.ndarray, np.ndarray]:
    """States and forces; the second joint, the pole's, has no motor."""
    advance = step.compile()

    def motion(u: np.ndarray) -> cardan.RolloutGradient:
        tau = np.stack([u, np.zeros_like(u)], -1)
        return cardan.rollout_gradient(step, START[:2], START[2:], tau, STEP)

    u = 0.1 * np.sin(np.arange(STEPS) * STEP * 5)
    run, damping = motion(u), 1.0
    best = cost(run.x, u)
    for _ in range(300):
        k, K = backward(run, u, damping)
        for scale in 0.5 ** np.arange(8):
            new = np.empty_like(u)
            x = START
            for i in range(STEPS):
                new[i] = np.clip(u[i] + scale * k[i] + K[i] @ (x - run.x[i]), -FORCE, FORCE)
                end = advance(q=x[:2], qd=x[2:], tau=[new[i], 0.0], h=[STEP])
                x = np.concatenate([end.q_next, end.qd_next])
            trial = motion(new)
            value = cost(trial.x, new)
            if value < best:
                break
        if value >= best:
            damping *= 4
            if damping > 1e8:
                break
            continue
        gain, best, run, u, damping = best - value, value, trial, new, max(damping / 3, 1e-6)
        if gain < 1e-7 * best:
            break
    return run.x, u


def backward(
    run: cardan.RolloutGradient, u: np.ndarray, damping: float
) -> tuple[np.ndarray, np.ndarray]:
    """Feedforward and feedback of every step, by Riccati's recursion."""
    e = run.x - GOAL
    v, V = COST_END @ e[-1], COST_END
    k, K = np.empty(STEPS), np.empty((STEPS, 4))
    for i in reversed(range(STEPS)):
        A, B = run.A[i], run.B[i][:, 0]
        Qu, Qx = COST_U * u[i] + B @ v, COST_X @ e[i] + A.T @ v
        Quu, Qux = COST_U + B @ V @ B + damping * COST_U, B @ V @ A
        k[i], K[i] = -Qu / Quu, -Qux / Quu
        v = Qx + K[i] * (Quu * k[i] + Qu) + Qux * k[i]
        V = COST_X + A.T @ V @ A + np.outer(K[i], K[i]) * Quu
        V = V + np.outer(K[i], Qux) + np.outer(Qux, K[i])
    return k, K


def draw(x: np.ndarray, u: np.ndarray, path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (scene, plot) = plt.subplots(2, 1, figsize=(8, 6), height_ratios=[3, 2])
    for i in range(0, STEPS + 1, 4):
        cart, angle = x[i, :2]
        shade = plt.cm.viridis(i / STEPS)
        scene.plot([cart, cart - np.sin(angle)], [0, np.cos(angle)], color=shade)
        scene.plot(cart, 0, "s", color=shade)
    scene.set_aspect("equal")
    scene.set(title="from dark to light", xlabel="x, m", ylabel="z, m")
    t = np.arange(STEPS + 1) * STEP
    plot.plot(t, x[:, 0], label="cart, m")
    plot.plot(t, x[:, 1], label="pole from upright, rad")
    plot.step(t[:-1], u / 10, where="post", label="force, 10 N")
    plot.set_xlabel("time, s")
    plot.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    step = cardan.discretise(cardan.load("cartpole"))
    clock = time.perf_counter()
    x, u = solve(step)
    print(f"solved in {time.perf_counter() - clock:.2f} s")
    print("at the end:", (x[-1] - GOAL).round(3), " largest force:", np.abs(u).max().round(1))
    draw(x, u, sys.argv[1] if len(sys.argv) > 1 else "swing-up.png")


if __name__ == "__main__":
    main()
