"""A neural network learns to balance a pole on a cart: the gradient of the mean cost of many
simulated motions, exact through the dynamics (`Program.to_torch`), on the GPU if there is one.

python examples/policy_gradient.py [environments]     draws policy-gradient.png (needs torch)
"""

from __future__ import annotations

import sys
import time
from typing import Any

import torch

import cardan

STEP, STEPS, FORCE = 0.02, 100, 30.0  # s; N


def network(device: Any) -> Any:
    """(x, sin, cos of the pole, their velocities) -> force."""
    torch.manual_seed(0)
    layers = [torch.nn.Linear(5, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1), torch.nn.Tanh()]
    return torch.nn.Sequential(*layers).to(device)


def motions(dynamics: Any, policy: Any, q: Any, qd: Any, steps: int) -> tuple[Any, list[Any]]:
    """The mean cost of motions that start at (q, qd), (N, 2) each, and their positions."""
    cost, places = 0.0, [q]
    for _ in range(steps):
        seen = torch.cat([q[:, :1], torch.sin(q[:, 1:]), torch.cos(q[:, 1:]), qd], 1)
        force = policy(seen)
        tau = torch.cat([FORCE * force, torch.zeros_like(force)], 1)  # the pole has no motor
        qd = qd + STEP * dynamics(q, qd, tau)
        q = q + STEP * qd
        places.append(q)
        cost = cost + (1 - torch.cos(q[:, 1])).mean() + 0.1 * (q[:, 0] ** 2).mean()
        cost = cost + 0.001 * (force**2).mean()
    return cost / steps, places


def learn(environments: int, updates: int, steps: int = STEPS) -> tuple[list[float], Any]:
    """The cost at every update, and the positions of the last motions (steps + 1, N, 2)."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dynamics = cardan.model(cardan.load("cartpole"), "direct-dynamics").to_torch()
    policy = network(device)
    optimiser = torch.optim.Adam(policy.parameters(), lr=0.02)
    costs: list[float] = []
    for _ in range(updates):
        q = (torch.rand(environments, 2, device=device) - 0.5) * torch.tensor([1.0, 1.2]).to(device)
        cost, places = motions(dynamics, policy, q, torch.zeros_like(q), steps)
        optimiser.zero_grad()
        cost.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimiser.step()
        costs.append(cost.item())
    return costs, torch.stack(places).detach().cpu()


def draw(costs: list[float], places: Any, path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (curve, poles) = plt.subplots(1, 2, figsize=(10, 4))
    curve.semilogy(costs)
    curve.set_xlabel("update")
    curve.set_ylabel("mean cost")
    t = STEP * torch.arange(len(places))
    poles.plot(t, places[:, :60, 1], color="tab:blue", alpha=0.3)
    poles.set_xlabel("s")
    poles.set_ylabel("pole from upright, rad, 60 motions")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    environments = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    clock = time.perf_counter()
    costs, places = learn(environments, 100)
    print(f"{environments} environments: cost {costs[0]:.3f} -> {costs[-1]:.5f}", end=" ")
    print(f"in {time.perf_counter() - clock:.1f} s; 100 updates of {STEPS} steps")
    print(f"tilt at the end, largest: {float(places[-1, :, 1].abs().max()):.3f} rad")
    try:
        draw(costs, places, "policy-gradient.png")
    except ImportError:
        print("no picture: matplotlib is not installed")


if __name__ == "__main__":
    main()
