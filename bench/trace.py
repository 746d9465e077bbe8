"""How long it takes to trace the inverse dynamic model, and how that grows with the chain; then
how long the search for its cheapest formulation takes."""

from __future__ import annotations

from bench.timing import Figure, best_of

import cardan
from cardan.describe.bundled import snake

__all__ = ["figures"]

ARMS = ("rx90", "puma560", "general6r", "ur5", "iiwa14", "panda", "kuka-lwr")
LENGTHS = (10, 30, 100, 300)


def traced(robot: cardan.Robot) -> cardan.Program:
    return cardan.model(robot, "inverse-dynamics", effort="plain")


def figures() -> list[Figure]:
    found = []
    for name in ARMS:
        robot = cardan.load(name)
        seconds = best_of(10, lambda robot=robot: traced(robot))
        found.append(Figure(f"trace {name}, {robot.n} joints", 1e3 * seconds, "ms", 10))
    per_joint = {}
    for n in LENGTHS:
        robot = snake(n)
        seconds = best_of(3, lambda robot=robot: traced(robot))
        per_joint[n] = seconds / n
        limit = 150 if n == 30 else None
        found.append(Figure(f"trace chain of {n} joints", 1e3 * seconds, "ms", limit))
    growth = per_joint[300] / per_joint[30]
    found.append(Figure("time per joint, 300 joints over 30 (linear: 1)", growth, "", 1.5))
    for model in ("inverse-dynamics", "inertia-matrix", "direct-dynamics"):
        robot = cardan.load("panda")
        seconds = best_of(3, lambda robot=robot, model=model: cardan.model(robot, model))
        found.append(Figure(f"search {model} of panda, 7 joints", 1e3 * seconds, "ms", 1000))
    return found
