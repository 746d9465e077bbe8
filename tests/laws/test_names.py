"""No symbol a user chooses changes a result, and robots of many joints have no name twice."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.backends.generated import GCC, c_function, python_function
from tests.compare import near
from tests.random_robots import random_robot, random_values

import cardan
from cardan.catalogue import MENU
from cardan.describe.robot import Robot
from cardan.ir.code import verify

_NAMES = """
W32 C1 S2 C12 S12 lambda E I double q qd qdd p tau F2_3 U3_12 np lead t12 t1 t2 DV12 QP2 GAM1 N1
J0 h f_e V0 g0 A H Q T X x0 x1 pi_ PI M_PI NAN INFINITY sin_ cosf int float return def class import
yield None True self main if_ for_ static const restrict inline y0 y1 jn exp10 gamma_ out in_ math
numpy errno NULL N_A setup loop robot work array zeros empty sign cardan_sign select
"""
HOSTILE = _NAMES.split()
STEP = 22  # hostile names by which the sets that are tried differ
MODELS = ["inverse-dynamics", "inertia-matrix", "direct-dynamics", "transform", "regressor"]


def renamed(robot: Robot, shift: int) -> tuple[Robot, dict[str, str]]:
    """The robot with its symbols called by hostile names, from the shift-th on."""
    names = HOSTILE[shift:] + HOSTILE[:shift]
    table = dict(zip(robot.parameters, names, strict=False))
    return robot.with_values(table), table


COMPILERS = [python_function, *([c_function] if GCC else [])]


@pytest.mark.parametrize("shift", range(0, len(HOSTILE), STEP))
@pytest.mark.parametrize("model", MODELS)
def test_names_change_nothing(model: str, shift: int, tmp_path: Path) -> None:
    robot = cardan.load("rx90")
    values = random_values(robot)
    other, table = renamed(robot, shift)
    # the search sees names only by their order: some sets of them are enough
    effort = {"effort": "plain"} if shift % 3 and "effort" in MENU[model].options else {}
    plain, program = cardan.model(robot, model, **effort), cardan.model(other, model, **effort)
    rng = np.random.default_rng(shift)
    x = {name: rng.uniform(-2, 2, shape) for name, shape in plain.inputs.items() if name != "p"}
    expected = plain.evaluate(**x, p=[values[name] for name in plain.parameters])
    called = {table.get(name, name): value for name, value in values.items()}
    x["p"] = np.array([called[name] for name in program.parameters])
    near(program.evaluate(**x), expected, 1e-13)
    near(program.compile()(**x), expected, 1e-12)
    for make in COMPILERS:
        (found,) = make(program, tmp_path)(**x).values()
        near(np.asarray(found), expected, 1e-12, what=str(make.__name__))


def test_every_hostile_name_is_used() -> None:
    used = {
        name
        for shift in range(0, len(HOSTILE), STEP)
        for name in renamed(cardan.load("rx90"), shift)[0].parameters
    }
    assert set(HOSTILE) <= used


def long_robots() -> dict[str, Robot]:
    return {
        "chain": random_robot(1, 14, tree=False, fixed=False, base_motion=False),
        "tree": random_robot(2, 23, base_motion=False),
        "symbols": random_robot(3, 12, symbolic=True, base_motion=False),
    }


PROGRAMS = [
    name for name, entry in MENU.items() if entry.program and name not in (
        "jacobian-inverse", "filtered-regressor", "lagrange", "coriolis-matrix", "loop-kinematics",
        "platform-inverse-dynamics", "platform-direct-dynamics", "regressor-derivatives")
]  # fmt: skip


@pytest.mark.parametrize("model", PROGRAMS)
@pytest.mark.parametrize("kind", long_robots())
def test_robots_of_many_joints_have_no_name_twice(kind: str, model: str) -> None:
    effort = {"effort": "plain"} if "effort" in MENU[model].options else {}
    program = cardan.model(long_robots()[kind], model, **effort)
    verify(program.code)
    labels = Counter(program.code.labels.values())
    assert not [label for label, count in labels.items() if count > 1]
    # long programs are cut into functions, each with names of its own
    for text in re.split(r"^\}", program.emit("c"), flags=re.MULTILINE):
        declared = Counter(re.findall(r"^\s*const double (\w+) = ", text, re.MULTILINE))
        assert not [name for name, count in declared.items() if count > 1]
    arrays = {*program.inputs, *program.outputs}  # made, filled and shaped
    for text in re.split(r"^(?=def )", program.emit("python"), flags=re.MULTILINE):
        assigned = Counter(re.findall(r"^    (\w+) = ", text, re.MULTILINE))
        assert {name for name, count in assigned.items() if count > 1} <= arrays
