"""From a robot to checked native code: the inverse dynamic model of the RX90.

python examples/demo.py [STATES]        one million states unless told otherwise
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from rich.console import Console
from rich.table import Table

import cardan
from cardan.app.published import published
from cardan.files import write_atomic
from cardan.models.bodies import bodies
from cardan.models.newton_euler import inverse_dynamics

ROBOT, MODEL = "rx90-base", "inverse-dynamics"
FILE = Path("build") / "demo" / "rx90_inverse_dynamics.c"
BLOCK = 20_000  # states of the float recursion at a time, to spare memory

console = Console(highlight=False)
T = TypeVar("T")


def timed(work: Callable[[], T], times: int) -> tuple[T, float]:
    """The result and the seconds it took, best of some times."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return result, min(seconds)


def print_table(header: tuple[str, ...], *rows: tuple[str, ...]) -> None:
    table = Table(*header)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def print_equations(program: cardan.Program, most: int = 14) -> None:
    """The first equations with a name of the paper: w2_1 is the first component of the angular
    velocity of link 2 in its own frame, U2_13 the element (1, 3) of its matrix U; S2 and C2 are
    sines and cosines, t15 a value that several equations share."""
    lines = [line.strip() for line in program.emit("python", split=False).splitlines()]
    first = next(k for k, line in enumerate(lines) if " = np.cos(" in line)
    shown = [line for line in lines[first:] if " = np." not in line]
    for line in [line for line in shown if not re.match(r"t\d+ =", line)][:most]:
        element = re.sub(r"(q\w*)\[..., (\d)\]", lambda m: f"{m[1]}{int(m[2]) + 1}", line)
        console.print(f"  {element}", markup=False)
    console.print(f"  ... {len(shown) - most} more lines")


def float_recursion(
    robot: cardan.Robot, values: dict[str, float], *states: np.ndarray
) -> np.ndarray:
    """The same torques, without any symbol: the recursion run on plain arrays of numbers."""
    scene = bodies(robot, values.__getitem__)
    blocks = []
    for k in range(0, len(states[0]), BLOCK):
        found = inverse_dynamics(scene, *(list(x[k : k + BLOCK].T) for x in states))
        blocks.append(np.stack([found.tau[j] for j in scene.tree.moving], axis=-1))
    return np.concatenate(blocks)


def main(states: int = 1_000_000) -> None:
    os.environ["CARDAN_CACHE"] = "off"  # what is timed is done here, not read from an earlier run
    console.rule("The robot: Stäubli RX90 in its base inertial parameters")
    robot = cardan.load(ROBOT)
    console.print(f"  {robot.n} joints, {len(robot.parameters)} parameters, all of them symbols")

    console.rule("Its inverse dynamic model: which torques make a motion?")
    program, tracing = timed(lambda: cardan.model(robot, MODEL), times=1)
    print_equations(program)

    console.rule("What it costs, beside what other systems need for the same robot")
    others = published(ROBOT, robot, MODEL, "base")
    print_table(
        ("for one state", "multiplications", "additions"),
        ("Cardan, just now", str(program.cost.mul), str(program.cost.add)),
        *((figure.system, str(figure.mul), str(figure.add)) for figure in others),
    )

    console.rule("As C, and as native code")
    FILE.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(FILE, program.emit("c", function=FILE.stem))
    console.print(f"  C written to {FILE}")
    rng = np.random.default_rng(1)
    values = {name: rng.uniform(0.1, 1.0) for name in program.parameters}
    q, qd, qdd = rng.uniform(-np.pi, np.pi, (3, states, robot.n))
    tau = np.zeros_like(q)
    run, compiling = timed(program.compile, times=1)
    _, loading = timed(lambda: run(q=q[:64], qd=qd[:64], qdd=qdd[:64], p=values), times=1)
    _, running = timed(lambda: run(q=q, qd=qd, qdd=qdd, p=values, out=tau), times=3)
    console.print(f"  compiled by LLVM and run on {states:,} states")

    console.rule("Is it right? The recursion once more, on plain numbers")
    expected = float_recursion(robot, values, q, qd, qdd)
    error = float(np.max(np.abs(tau - expected)) / np.max(np.abs(expected)))
    print_table(
        ("what", "figure", "meaning"),
        ("derivation", f"{tracing:.2f} s", "from the description to the equations, anew"),
        ("operations", f"{program.cost.mul} x, {program.cost.add} +", "for one state"),
        ("compilation", f"{compiling + loading:.2f} s", "to native code, without a C compiler"),
        ("speed", f"{states / running / 1e6:.1f} million/s", "states per second, one core"),
        ("agreement", f"{error:.0e}", "largest relative difference of the two runs"),
    )
    if not error < 1e-12:
        sys.exit("the native code does not agree with the float recursion")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
