"""The textbook form gives the numbers of the program that runs, and holds no noise."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.random_robots import random_robot

import cardan
from cardan.describe.robot import Robot
from cardan.ir.textbook import TooLarge, textbook
from cardan.program import Program

MODELS = (
    "transform", "jacobian", "inertia-matrix", "coriolis-matrix", "gravity", "lagrange",
    "inverse-dynamics", "energies",
)  # fmt: skip
SMALL = ("planar1r", "planar2r", "planar3r", "cartpole", "scara", "rpr")


def outputs(program: Program, seed: int = 0) -> dict[str, np.ndarray]:
    """What a program gives at random states; parameters have values by their names."""
    rng = np.random.default_rng(seed)
    arrays: dict[str, Any] = {
        name: rng.uniform(-3, 3, (4, *shape))
        for name, shape in program.inputs.items()
        if name != "p"
    }
    if program.parameters:
        size = {name: 0.5 + sum(map(ord, name)) * 0.618 % 1 for name in program.parameters}
        arrays["p"] = np.array([size[name] for name in program.parameters])
    values = program.evaluate(**arrays)
    names = list(program.outputs)
    return dict(zip(names, values if len(names) > 1 else [values], strict=True))


def assert_same(program: Program) -> None:
    expected, found = outputs(program), outputs(program.textbook)
    for name, value in expected.items():
        near(found[name], value, 1e-12, 1e-14, what=f"{program.model} of {program.robot}: {name}")


@pytest.mark.parametrize("name", SMALL)
def test_small_robots(name: str) -> None:
    robot = cardan.load(name)
    for model in MODELS:
        assert_same(cardan.model(robot, model))


@pytest.mark.parametrize(
    ("name", "model"),
    [("ur5", "transform"), ("ur5", "inertia-matrix"), ("puma560", "jacobian"),
     ("puma560", "gravity"), ("puma560-numeric", "inertia-matrix"), ("tree", "gravity"),
     ("rx90-base", "transform"), ("stanford", "gravity"), ("fivebar", "gravity"),
     ("flexible1r", "inertia-matrix")],
)  # fmt: skip
def test_larger_robots(name: str, model: str) -> None:
    options = {} if model in ("transform", "jacobian") else {"effort": "plain"}
    assert_same(cardan.model(cardan.load(name), model, **options))  # type: ignore[call-overload]


@pytest.mark.parametrize("name", [*SMALL, "car"])
def test_quotients(name: str) -> None:
    """Models that divide: what numerators and denominators share is taken out. Those of the car
    have denominators of 1e-13 and less before they are scaled."""
    robot = cardan.load(name)
    inverse = ["jacobian-inverse"] * (name not in ("planar1r", "car"))
    for model in ("direct-dynamics", "state-space", *inverse):
        program = cardan.model(robot, model)  # type: ignore[call-overload]
        expected, read = outputs(program), outputs(program.textbook)
        for output, value in expected.items():
            near(read[output], value, 1e-9, 1e-12, what=f"{model} of {name}: {output}")


def test_inverse_of_two_links() -> None:
    """J^-1 of the tip: Craig, 5.8 and 5.10, determinant l1 l2 s2."""
    robot = cardan.load("planar2r")
    text = cardan.model(robot, "jacobian-inverse", tool=["L2", 0, 0]).equations()
    lines = [line.strip() for line in text.partition("Outputs")[2].splitlines() if line.strip()]
    assert [" ".join(line.split()) for line in lines] == [
        "Jinv = [C12/(L1*S2), S12/(L1*S2) ]",
        "[-(L1*C1 + L2*C12)/(L1*L2*S2), -(L1*S1 + L2*S12)/(L1*L2*S2)]",
        "det = L1*L2*S2",
    ]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("symbolic", [False, True])
def test_random_robots(seed: int, symbolic: bool) -> None:
    robot = random_robot(seed, 2 + seed % 2, symbolic=symbolic, base_motion=not symbolic)
    for model in ("transform", "inertia-matrix", "gravity", "inverse-dynamics"):
        options = {} if model == "transform" else {"effort": "plain"}
        assert_same(cardan.model(robot, model, **options))  # type: ignore[call-overload]


@pytest.mark.parametrize("name", ["planar2r", "planar3r", "scara", "cartpole", "rpr"])
def test_matrices_make_up_the_torques(name: str) -> None:
    torque = cardan.model(cardan.load(name), "inverse-dynamics", effort="plain")
    parts = torque.matrices
    assert parts is not None
    n = torque.outputs["tau"][0]
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-3, 3, (3, 5, n))
    p = {"p": 0.5 + rng.random(len(parts.parameters))} if parts.parameters else {}
    found = parts.evaluate(q=q, qd=qd, qdd=qdd, **p)
    tau = np.einsum("kij,kj->ki", found.A, qdd) + np.einsum("kij,kj->ki", found.C, qd) + found.Q
    tau = tau + getattr(found, "F", 0)
    near(tau, torque.plain.evaluate(q=q, qd=qd, qdd=qdd, **p), 1e-12)
    coriolis = outputs(cardan.model(cardan.load(name), "coriolis-matrix"))["C"]
    near(outputs(parts)["C"], coriolis, 1e-12, 1e-14)


def test_no_such_matrices() -> None:
    gravity = cardan.model(cardan.load("planar2r"), "gravity")
    assert gravity.matrices is None


def inclined(angle: Any) -> Robot:
    """Three revolute joints with axes at an angle to each other."""
    link = {"M": "1.3", "MX": "0.2", "ZZ": "0.4", "XX": "0.4", "YY": "0.4", "d": "0.3"}
    links = [{**link, "alpha": angle, "variable": f"q{j}"} for j in (1, 2, 3)]
    return cardan.load({"cardan": 1, "name": "inclined", "gravity": [0, 0, "-9.81"], "link": links})


@pytest.mark.parametrize("angle", ["0.3", "pi/4", "-1.1"])
def test_floats_leave_no_noise(angle: str) -> None:
    """cos² 0.3 + sin² 0.3 is 1, and what cancels but for round-off is not there."""
    program = cardan.model(inclined(angle), "inertia-matrix", effort="plain")
    assert_same(program)
    numbers = [float(node[1]) for node in program.textbook.code.nodes if node[0] == "const"]
    assert min(numbers) > 1e-6
    assert len(numbers) < 60


def test_angles_of_parallel_axes_are_summed() -> None:
    labels = cardan.model(cardan.load("puma560"), "transform").textbook.code.labels.values()
    assert {"C23", "S23", "C2", "C4"} <= set(labels)
    assert "C34" not in labels


def test_opposed_axes_are_subtracted() -> None:
    links = [{"variable": "q1"}, {"alpha": "pi", "d": "L", "variable": "q2"}]
    robot = cardan.load({"cardan": 1, "name": "opposed", "link": links})
    program = cardan.model(robot, "transform")
    assert_same(program)
    assert set(program.textbook.code.labels.values()) == {"C1", "S1", "C1m2", "S1m2"}


def test_what_is_too_long_is_plain_with_a_remark() -> None:
    program = cardan.model(cardan.load("general6r"), "inertia-matrix", effort="plain")
    assert "textbook" in program.textbook.remarks[-1]
    assert outputs(program.textbook).keys() == outputs(program).keys()
    with pytest.raises(TooLarge):
        textbook(cardan.model(cardan.load("planar2r"), "gravity").plain.code, {}, largest=3)


@pytest.mark.parametrize("name", ["planar2r", "rx90", "sr400"])
def test_states_are_read_without_guards(name: str) -> None:
    program = cardan.model(cardan.load(name), "state-space", effort="plain")
    assert "if(" not in program.equations()
    expected, read = outputs(program), outputs(program.plain)
    near(read["xd"], expected["xd"], 1e-8, 1e-10, what=f"state-space of {name}")


@pytest.mark.parametrize(
    ("name", "model", "short"),
    [("planar3r", "inverse-dynamics", True), ("scara", "lagrange", True),
     ("puma560", "transform", True), ("puma560", "inertia-matrix", False),
     ("rx90", "inverse-dynamics", False), ("planar2r", "direct-dynamics", True),
     ("planar3r", "direct-dynamics", False), ("planar3r", "jacobian-inverse", True),
     ("rpr", "jacobian-inverse", True), ("cartpole", "state-space", True),
     ("fivebar", "gravity", False)],
)  # fmt: skip
def test_short_ones_are_read(name: str, model: str, short: bool) -> None:
    program = cardan.model(cardan.load(name), model)
    expected = program.textbook if short else program.plain
    assert program.readable.code == expected.code


def test_the_text_is_the_same_on_every_run() -> None:
    script = (
        "import cardan; p = cardan.model(cardan.load('ur5'), 'inertia-matrix', effort='plain');"
        "print(p.textbook.to_json())"
    )
    printed = set()
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, env=environment, capture_output=True, check=True)
        printed.add(done.stdout)
    assert len(printed) == 1


@pytest.mark.parametrize("name", ["rx90", "stanford-base", "ur5"])
def test_the_coriolis_matrix_is_read_by_its_recursion(name: str) -> None:
    """Composite links and what they bear have names, cosines one section; of the RX90 44 of 92
    values had none."""
    from cardan.emit.reading import reading

    plain = cardan.model(cardan.load(name), "coriolis-matrix").plain
    page = reading(plain)
    assert [x.title for x in page.sections].count("Cosines and sines") == 1
    names = {x.name for x in page.equations}
    assert {"w3", "pplus5", "Jplus5", "MSplus3", "nC3_5"} <= names
    assert any(x.startswith("Zplus5") for x in names)
    assert len(page.anonymous) <= 0.1 * len(page.equations)


@pytest.mark.parametrize("name", ["puma560", "tree"])
def test_the_coefficients_of_lagrange_are_read_without_derivatives(name: str) -> None:
    """Christoffel symbols by axes and composite links: of the PUMA 115 of 190 values had no name;
    each stands under its link, and nothing of links and joints before what is of links alone."""
    from cardan.emit.reading import reading

    program = cardan.model(cardan.load(name), "lagrange")
    page = reading(program.plain)
    assert len(page.anonymous) <= 0.06 * len(page.equations)
    titles = [(x.part, x.title) for x in page.sections]
    assert all(title for _, title in titles)
    assert any("Fv" in x.name for x in page.equations)
    near_by_programs(program)


@pytest.mark.parametrize(("name", "model"), [("mobile-manipulator", "inertia-matrix"),
                                             ("mobile-manipulator", "coriolis-matrix"),
                                             ("sr400", "inertia-matrix")])  # fmt: skip
def test_robots_that_are_tied_are_read_by_their_tree(name: str, model: str) -> None:
    """Wheels and loops: the matrix of the tree and the rates W of the joints that follow have
    names; 22 of 33, 58 of 73 and 39 of 61 values had none."""
    from cardan.emit.reading import reading

    page = reading(cardan.model(cardan.load(name), model).plain)
    assert len(page.anonymous) <= 0.11 * len(page.equations)
    assert any(x.name.startswith("W") for x in page.equations)
    assert {"Atr"} & {x.name.partition("_")[0] for x in page.equations}


def near_by_programs(program: Program) -> None:
    """The page gives what the cheapest program gives."""
    rng = np.random.default_rng(4)
    q = rng.uniform(-3, 3, (4, *program.inputs["q"]))
    p = dict(zip(program.parameters, rng.uniform(0.5, 1.5, len(program.parameters)), strict=True))
    arrays = [
        {"q": q, **({"p": [p[x] for x in y.parameters]} if y.parameters else {})}
        for y in (program, program.plain)
    ]
    for x, y in zip(
        program.evaluate(**arrays[0]), program.plain.evaluate(**arrays[1]), strict=True
    ):
        near(y, x, 1e-12, 1e-12, what=program.robot)
