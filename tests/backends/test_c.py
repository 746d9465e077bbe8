"""Generated C and Python, compiled and run: the interpreter's numbers, whatever the names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.backends.generated import GCC, c_function, python_function
from tests.compare import near
from tests.random_programs import program_of, random_inputs, random_program
from tests.random_robots import bundled_trees, random_robot, random_values, states

import cardan
from cardan.describe.robot import Joint, Link, Robot
from cardan.describe.values.expression import symbol
from cardan.errors import UnknownNameError
from cardan.ir.trace import Tracer
from cardan.program import Program

c_only = pytest.mark.skipif(GCC is None, reason="no gcc on this machine")
LANGUAGES = [
    pytest.param(c_function, id="c", marks=c_only),
    pytest.param(python_function, id="python"),
]
Compile = Callable[..., Callable[..., dict[str, Any]]]


def one_state(program: Program, robot: Robot | None = None, seed: int = 0) -> dict[str, np.ndarray]:
    """A value for every input of a program."""
    rng = np.random.default_rng(seed)
    x = {name: rng.uniform(-2, 2, shape) for name, shape in program.inputs.items()}
    if program.parameters:
        values = random_values(robot) if robot else program.defaults
        x["p"] = np.array([values[name] for name in program.parameters])
    return x


def agree(program: Program, function: Callable[..., Any], x: dict[str, Any], limit: float) -> None:
    expected = program.evaluate(**x)
    if len(program.outputs) == 1:
        expected = dict.fromkeys(program.outputs, expected)
    for name, found in function(**x).items():
        near(found, expected[name], limit)


@pytest.mark.parametrize("compiled", LANGUAGES)
@pytest.mark.parametrize("model", ["inverse-dynamics", "transform"])
@pytest.mark.parametrize("name", ["rx90", "panda", "tree", "stanford", "planar3r", "general6r"])
def test_bundled_robots(name: str, model: str, compiled: Compile, tmp_path: Path) -> None:
    robot = bundled_trees()[name]
    program = cardan.model(robot, model)
    function = compiled(program, tmp_path)
    for seed in range(3):
        agree(program, function, one_state(program, robot, seed), 1e-12)


@pytest.mark.parametrize("compiled", LANGUAGES)
@pytest.mark.parametrize("seed", range(6))
def test_random_robots_and_their_setup_and_loop(
    seed: int, compiled: Compile, tmp_path: Path
) -> None:
    robot = random_robot(seed, 4, symbolic=seed % 2 == 0)
    program = cardan.model(robot, "inverse-dynamics")
    agree(program, compiled(program, tmp_path), one_state(program, robot), 1e-12)
    setup, loop = program.split()
    x = one_state(program, robot)
    if setup is not None:
        h = compiled(setup, tmp_path)(p=x["p"])["h"]
        near(h, setup.evaluate(p=x["p"]), 1e-12)
        tau = compiled(loop, tmp_path)(**x, h=h)["tau"]
        near(tau, program.evaluate(**x), 1e-12)


@pytest.mark.parametrize("compiled", LANGUAGES)
@pytest.mark.parametrize("seed", range(12))
def test_every_operation_in_random_programs(seed: int, compiled: Compile, tmp_path: Path) -> None:
    program = random_program(seed, 50, jumps=False)
    x = one_state(program)
    agree(program, compiled(program, tmp_path), x, 1e-12)


@pytest.mark.parametrize("compiled", LANGUAGES)
def test_jumps(compiled: Compile, tmp_path: Path) -> None:
    """sign, select and atan2, on either side of zero."""
    tracer = Tracer()
    a, b = tracer.array("x", 2)
    graph = tracer.graph
    values = [
        graph.apply("sign", a), graph.apply("sign", -a * b), graph.apply("select", a, b, 3 - b),
        graph.apply("select", -a, -b, a + b), graph.apply("atan2", a, b),
        graph.apply("atan2", -a, -b),
        graph.apply("min", -a, b), graph.apply("max", a - b, -b), graph.apply("abs", a - b),
        -(a - b) * -(a + b) - (a - (b - 2)) / (3 / (a * a + 1)), -graph.apply("sqrt", a * a),
    ]  # fmt: skip
    code, _ = tracer.program({"y": ((len(values),), values)})
    program = program_of(code)
    function = compiled(program, tmp_path)
    for x in ([0.5, -1.2], [-0.5, 1.2], [0.0, 0.3], [-2.0, -0.7], [1.0, 0.0]):
        np.testing.assert_allclose(
            function(x=np.array(x))["y"], program.evaluate(x=x), rtol=1e-15, atol=1e-16
        )


def test_python_broadcasts(tmp_path: Path) -> None:
    program = cardan.model(bundled_trees()["ur5"], "inverse-dynamics")
    function = python_function(program, tmp_path)
    x = states(6, 12)
    q = x["q"].reshape(3, 4, 6)
    found = function(q=q, qd=x["qd"][:4], qdd=x["qdd"][0])["tau"]
    expected = program.evaluate(q=q, qd=x["qd"][:4], qdd=x["qdd"][0])
    np.testing.assert_array_equal(found, expected)
    grid = random_program(4)
    y = random_inputs(grid, (3, 2))
    y["p"] = np.array([grid.defaults[name] for name in grid.parameters])
    found = python_function(grid, tmp_path)(**y)
    for name, expected in grid.evaluate(**y).items():
        np.testing.assert_array_equal(found[name], expected)


@pytest.mark.parametrize("compiled", LANGUAGES)
def test_single_precision(compiled: Compile, tmp_path: Path) -> None:
    program = cardan.model(bundled_trees()["iiwa14"], "inverse-dynamics")
    function = compiled(program, tmp_path, dtype="float32")
    x = one_state(program)
    assert function(**x)["tau"].dtype == np.float32
    agree(program, function, x, 1e-4)


@pytest.mark.parametrize("compiled", LANGUAGES)
def test_expanded_text(compiled: Compile, tmp_path: Path) -> None:
    robot = bundled_trees()["rx90"]
    program = cardan.model(robot, "transform", expanded=True)
    agree(program, compiled(program, tmp_path), one_state(program, robot), 1e-12)
    assert "t1 " not in program.emit("c")


# C keywords and macros, Python keywords, names the printers use themselves, names of the paper, and
# things that are no identifiers at all
HOSTILE = """
double W32 C1 U3_12 lambda E q tau p h x y int for if return sin cos atan2f M_PI M_E NAN I linux
unix errno complex static inline np lead print list float None True class def and not import q_
tau_ p_ q__ t5 t17 t5_ S1 S2 F2_3 N6_3 Vd3_1 generated main cardan_sign const void auto
"""
NAMES = [
    *HOSTILE.split(), "α", "a b", "*/ int z; /*", "\n    import os", "1st", "_", "__", "", "q[0]",
    "#define X",
]  # fmt: skip


@pytest.mark.parametrize("compiled", LANGUAGES)
def test_no_name_of_a_symbol_changes_a_result(compiled: Compile, tmp_path: Path) -> None:
    program = cardan.model(bundled_trees()["rx90"], "inverse-dynamics", symbolic=True)
    count = len(program.parameters)
    names = tuple(NAMES[k] if k < len(NAMES) else f"t{k}" for k in range(count))
    assert count > len(NAMES)
    hostile = replace(program, parameters=names, robot="a\n*/ evil \\\n'''\"\"\"", model="m\r\nx")
    x = states(6, 1)
    x = {key: array[0] for key, array in x.items()}
    p = np.random.default_rng(3).uniform(0.5, 1.5, count)
    expected = compiled(program, tmp_path)(**x, p=p)["tau"]
    found = compiled(hostile, tmp_path)(**x, p=p)["tau"]
    np.testing.assert_array_equal(found, expected)
    near(found, program.evaluate(**x, p=p), 1e-12)


@pytest.mark.parametrize("compiled", LANGUAGES)
@pytest.mark.parametrize("shift", range(0, 56, 7))
def test_hostile_names_of_a_small_robot(shift: int, compiled: Compile, tmp_path: Path) -> None:
    """Few parameters, so that every value is inlined somewhere else."""
    names = [NAMES[(shift + k) % len(NAMES)] for k in range(4)]
    a, b, c, d = map(symbol, names)
    robot = Robot(
        "small",
        (Link("one", ZZ=a, MX=b, M=1), Link("two", ZZ=c, MY=b, M=d)),
        (Joint("one", 0, d=0, FS=d), Joint("two", 1, d=c, FV=a)),
        gravity=(0, a, 0),
    )
    program = cardan.model(robot, "inverse-dynamics")
    values = dict(zip(names, (1.3, 0.4, 2.1, 0.7), strict=True))
    x = {"q": [0.3, 0.4], "qd": [1, -2], "qdd": [0.5, 3]}
    p = np.array([values[name] for name in program.parameters])
    agree(program, compiled(program, tmp_path), {**x, "p": p}, 1e-12)


@pytest.mark.parametrize("compiled", LANGUAGES)
def test_an_input_and_an_output_of_one_name(compiled: Compile, tmp_path: Path) -> None:
    tracer = Tracer()
    h, k = tracer.array("h", 2)
    code, _ = tracer.program({"h": ((2,), [k, h * k])})
    program = program_of(code)
    np.testing.assert_allclose(compiled(program, tmp_path)(h=np.array([2.0, 3.0]))["h"], [3, 6])


@pytest.mark.parametrize("compiled", LANGUAGES)
def test_arrays_without_elements(compiled: Compile, tmp_path: Path) -> None:
    tracer = Tracer()
    tracer.array("q", 0)
    code, _ = tracer.program({"T": ((2,), [1, -3]), "tau": ((0,), [])})
    found = compiled(program_of(code), tmp_path)(q=np.zeros(0))
    np.testing.assert_array_equal(found["T"], [1, -3])
    assert found["tau"].shape == (0,)


def test_unknown_languages_and_options() -> None:
    program = cardan.model(bundled_trees()["planar1r"], "transform")
    for call in (
        lambda: program.emit("cobol"),
        lambda: program.emit("c", colour="red"),
        lambda: program.emit("c", dtype="float16"),
    ):
        with pytest.raises(UnknownNameError):
            call()


def test_the_header_says_what_goes_in_and_out() -> None:
    text = cardan.model(bundled_trees()["rx90"], "inverse-dynamics").emit("c")
    head = text[: text.index("*/")]
    for word in ("inverse-dynamics of", "inputs", "outputs", "rad", "N m", "parameters", "mul"):
        assert word in head
