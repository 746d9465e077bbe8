"""Derivatives of dynamics by complex steps: f(x + ih) = f(x) + ih f'(x), no difference is formed.

python -m tests.derivatives --robots 1000 [--seed 0]

Random trees with branches, prismatic joints, fixed frames, friction, rotors and imposed motion of
the base; every fourth on a floating base, also by its displacements X0; a third of those of two and
three links in the cheapest form that the search finds. The plain page of the model runs over
complex numbers, the program of the derivatives over real ones."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from tests.laws.free_flyer import floating_robot
from tests.random_robots import random_robot

import cardan
from cardan.bridges import _replayed

__all__ = ["error_of"]

STEP = 1e-40
MODELS = ("inverse-dynamics", "direct-dynamics")


def complex_values(program: cardan.Program, x: dict[str, Any]) -> dict[str, np.ndarray]:
    """The outputs at complex inputs, each (columns, size); what is not analytic goes by real
    parts."""

    def sign(a: Any) -> Any:
        return np.sign(np.real(a))

    functions = {
        "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "sign": sign, "abs": lambda a: a * sign(a),
        "min": lambda a, b: np.where(np.real(a) < np.real(b), a, b),
        "max": lambda a, b: np.where(np.real(a) > np.real(b), a, b),
        "select": lambda c, a, b: np.where(np.real(c) > 0, a, b),
    }  # fmt: skip
    flat = {name: array.reshape(len(array), -1) for name, array in x.items()}
    outputs = _replayed(
        program.code, functions, float, lambda name, k: flat[name][:, k], lambda id, value: value
    )
    count = len(next(iter(flat.values())))
    return {
        name: np.stack([np.broadcast_to(value, count) for value in values], -1)
        for name, values in outputs.items()
    }


def error_of(robot: cardan.Robot, model: str, seed: int, effort: str) -> float:
    """The largest error of all partial derivatives, relative to the largest entry of each."""
    program = cardan.model(robot, f"{model}-derivatives", effort=effort)
    page = cardan.model(robot, model, effort="plain")
    rng = np.random.default_rng(seed)
    x = {name: rng.uniform(-1, 1, shape) for name, shape in program.inputs.items()}
    results = program.evaluate(**x)._asdict()
    worst = 0.0
    for name in (*page.inputs, "X0"):
        blocks = {y: results.get(f"d{y}_d{name}") for y in page.outputs}
        if all(block is None for block in blocks.values()):
            continue
        moved, ways = name, np.eye(6 if name == "X0" else x[name].size)
        if name == "X0":  # a displaced base sees gravity turned: g0 + g0 x turn
            moved, ways = "g0", np.vstack([np.zeros((3, 3)), np.cross(x["g0"], np.eye(3))])
        columns = {key: np.repeat(value[None], len(ways), 0) for key, value in x.items()}
        columns[moved] = columns[moved].reshape(len(ways), -1) + 1j * STEP * ways
        for y, values in complex_values(page, columns).items():
            exact = values.imag.T / STEP
            error = np.abs(blocks[y].reshape(exact.shape) - exact).max()
            worst = max(worst, float(error) / max(1.0, float(np.abs(exact).max())))
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    worst: dict[str, tuple[float, int]] = dict.fromkeys(MODELS, (0.0, -1))
    bad = refused = 0
    for k in range(options.seed, options.seed + options.robots):
        size = 2 + k % 6
        robot = random_robot(k, size, base_motion=k % 4 == 1)
        if k % 4 == 3:
            robot = floating_robot(k, size)
        effort = "normal" if k % 3 == 0 and size <= 3 else "plain"
        for model in MODELS:
            try:
                error = error_of(robot, model, k, effort)
            except cardan.ModelError:  # a joint that moves no inertia
                refused += 1
                continue
            worst[model] = max(worst[model], (error, k))
            if not error < 1e-9:
                bad += 1
                print(f"robot {k}, {model}: {error:.1e}", flush=True)
        if k % 20 == 19:
            print(k + 1, {model: f"{x:.1e} (robot {at})" for model, (x, at) in worst.items()},
                  flush=True)  # fmt: skip
    print(f"{options.robots} robots, {refused} models refused, {bad} above 1e-9: {worst}")


if __name__ == "__main__":
    main()
