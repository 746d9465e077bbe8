"""python -m tests.loops [STATES]: every closed-loop robot against the oracle, largest errors."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from tests.loops import test_closed
from tests.loops.test_closed import NAMES, case

import cardan


def main(count: int) -> None:
    test_closed.STATES = count
    print(f"{'robot':34} {'states':>6} passive  torques  direct   (relative)")
    for name in NAMES:
        robot, oracle, x, values = case(name)

        def run(model: str, **given: Any) -> Any:
            options = {} if model == "loop-kinematics" else {"effort": "plain"}
            program = cardan.model(robot, model, **options)  # noqa: B023
            p = {"p": [values[key] for key in program.parameters]} if program.parameters else {}  # noqa: B023
            return program.evaluate(**given, **p)

        q, qd, qdd = x["q"], x["qd"], x["qdd"]
        passive = [k for k in range(robot.n) if k not in oracle.active]
        found = run("loop-kinematics", q=q, qd=qd)
        expected = oracle.motion(q, qd, qdd)[1][:, passive]
        kinematic = worst(np.einsum("bpa,ba->bp", found.W, qdd) + found.psi, expected)
        torque = worst(run("inverse-dynamics", q=q, qd=qd, qdd=qdd), oracle.inverse(q, qd, qdd))
        tau = np.random.default_rng(0).normal(size=qd.shape)
        direct = oracle.direct(q, qd, tau)[:, oracle.active]
        errors = (kinematic, torque, worst(run("direct-dynamics", q=q, qd=qd, tau=tau), direct))
        print(f"{name:34} {len(q):6} " + "  ".join(f"{e:.1e}" for e in errors), flush=True)


def worst(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest error of a state, relative to the largest value of that state."""
    scale = np.abs(expected).max(axis=-1) + 1e-9
    return float((np.abs(found - expected).max(axis=-1) / scale).max())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
