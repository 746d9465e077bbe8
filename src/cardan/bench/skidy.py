"""skidy: closed-form equations by SymPy, its generated C built by the machine's compiler.

Its expressions grow with every joint; it works in a process of its own, which is given a minute.
It has no direct dynamics."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from ..describe.robot import FIXED, PRISMATIC, Robot
from .c_loop import compiled_loop
from .case import Case, Peer, floats, inputs_of, rows_of
from .plain import gravity, plain_bodies

_JOINTS = 3  # beyond, hours
_SECONDS = 60
_FUNCTIONS = {
    "inverse-dynamics": "inverse_dynamics",
    "inertia-matrix": "generalized_mass_inertia_matrix",
}
_LETTERS = {"q": "q", "dq": "qd", "ddq": "qdd"}


def skidy_peer(robot: Robot) -> Peer | str:
    serial = all(joint.antecedent == j for j, joint in enumerate(robot.joints))
    if floats(robot) or not serial or any(joint.sigma == FIXED for joint in robot.joints):
        return "compared on serial chains on a fixed base only"
    if robot.n > _JOINTS:
        return f"its closed form takes hours for more than {_JOINTS} joints"
    start = time.perf_counter()
    source = _generated(robot)
    if source is None:
        return f"not finished after {_SECONDS} s"
    cases = {}
    for name, function in _FUNCTIONS.items():
        case = _case(robot, name, source, function)
        if case is None:
            return "no C compiler"
        cases[name] = case
    spent = time.perf_counter() - start
    cases = {name: Case(case.call, loop=case.loop, generation=spent, operations=case.operations)
             for name, case in cases.items()}  # fmt: skip
    return Peer("skidy C", version("skidy"), "closed form, generated C, cc -O3", cases)


def _generated(robot: Robot) -> str | None:
    """Its C for the robot's numbers; None when it does not come to an end in time."""
    bodies = [
        {
            "frame": body.frame.tolist(), "slides": body.sigma == PRISMATIC, "mass": body.mass,
            "first": body.first.tolist(), "inertia": body.inertia.tolist(),
        }
        for body in plain_bodies(robot)
    ]  # fmt: skip
    data = json.dumps({"bodies": bodies, "gravity": gravity(robot).tolist()})
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "cardan.bench.skidy_make", folder]
        try:
            subprocess.run(command, input=data, text=True, capture_output=True, check=True,
                           timeout=_SECONDS)  # fmt: skip
        except subprocess.TimeoutExpired:
            return None
        text = Path(folder, "C", "plant.c").read_text(encoding="utf-8")
    return text.replace('#include "plant.h"', "")


def _case(robot: Robot, name: str, source: str, function: str) -> Case | None:
    """Its function takes the variables it needs, by name, and fills vectors or rows."""
    match = re.search(rf"void {function}\((.*?)\) {{(.*?)\n}}", source, re.DOTALL)
    assert match is not None
    names = [part.split()[-1] for part in match[1].split(",")][:-1]
    arguments = []
    for text in names:
        letters, number = re.fullmatch(r"(d*q)(\d+)", text).groups()  # type: ignore[union-attr]
        arguments.append(f"{_LETTERS[letters]}[i*{robot.n} + {int(number) - 1}]")
    n = robot.n
    if name == "inertia-matrix":
        rows = ", ".join(f"out + i*{n * n} + {k * n}" for k in range(n))
        call = f"double *rows[] = {{{rows}}}; {function}({', '.join([*arguments, 'rows'])});"
    else:
        call = f"{function}({', '.join([*arguments, f'out + i*{n}'])});"
    loop = compiled_loop(source, call, inputs_of(robot, name), rows_of(robot, name))
    if loop is None:
        return None
    operations = len(re.findall(r"\*| \+ | - |/|pow\(", match[2]))
    return Case(loop.one, loop=loop, operations=operations)
