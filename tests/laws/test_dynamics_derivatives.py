"""Derivatives of inverse and direct dynamics in one program, against other routes: the plain page
differentiated term by term, differences along closed loops, and Pinocchio."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.laws.draw import draw_elastic
from tests.laws.free_flyer import floating_robot, state_of_base
from tests.laws.public import FILES
from tests.random_robots import bundled_trees, random_robot, random_values

import cardan
from cardan.describe.robot import Robot

Array = np.ndarray
MODELS = ("inverse-dynamics", "direct-dynamics")


def state(program: cardan.Program, seed: int = 0) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    shapes = {name: shape for name, shape in program.inputs.items() if name != "p"}
    return {name: rng.uniform(-1, 1, (3, *shape)) for name, shape in shapes.items()}


def compare(robot: Robot, model: str, limit: float = 1e-9, **options: Any) -> None:
    """Every output by every input, by the derivatives of the plain page."""
    program = cardan.model(robot, f"{model}-derivatives", **options)
    page = cardan.model(robot, model, **{**options, "effort": "plain"})
    x = state(program)
    results = program.evaluate(**x)
    for y in page.outputs:
        for name in page.inputs:
            if name in ("g0", "f_e", "p"):
                continue
            expected = page.derivative(y, name).evaluate(**x)
            near(getattr(results, f"d{y}_d{name}"), expected, limit, what=f"d{y}_d{name}")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["cartpole", "planar2r", "stanford", "tree"])
def test_bundled_trees(name: str, model: str) -> None:
    robot = bundled_trees()[name]
    effort = "normal" if robot.n <= 2 else "plain"
    compare(robot.with_values(random_values(robot)), model, effort=effort)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(4))
def test_random_trees(seed: int, model: str) -> None:
    """Branches, prismatic joints, fixed frames, friction, a base whose motion is imposed."""
    robot = random_robot(seed, 5, base_motion=seed % 2 == 1)
    compare(robot, model, f_e=True, effort="plain")


@pytest.mark.parametrize("model", MODELS)
def test_cheapest_forms(model: str) -> None:
    """Cut frames, balanced links, prismatic joints: what the search chooses."""
    robot = bundled_trees()["stanford"]
    compare(robot.with_values(random_values(robot)), model)
    compare(random_robot(7, 4, base_motion=False), model)


def compared_options() -> list[dict[str, Any]]:
    return [{"base_parameters": True}, {"friction": False}]


@pytest.mark.parametrize("options", compared_options())
def test_options(options: dict[str, Any]) -> None:
    robot = random_robot(11, 3, base_motion=False, special=False)
    compare(robot, "inverse-dynamics", **options)


def test_symbols() -> None:
    """The program of a robot with symbols, at values of them."""
    robot = cardan.load("planar2r")
    values = random_values(robot)
    for model in MODELS:
        program = cardan.model(robot, f"{model}-derivatives")
        x = state(program)
        results = program.evaluate(**x, p=[values[name] for name in program.parameters])
        page = cardan.model(robot.with_values(values), f"{model}-derivatives", effort="plain")
        for name, expected in page.evaluate(**x)._asdict().items():
            near(getattr(results, name), expected, 1e-10, what=name)


@pytest.mark.parametrize("model", MODELS)
def test_elastic_joints_and_flexible_links(model: str) -> None:
    robot = draw_elastic(random_robot(5, 4, base_motion=False), np.random.default_rng(5))
    compare(robot, model, effort="plain")
    compare(cardan.load("flexible1r"), model, 1e-8, effort="plain")


@pytest.mark.parametrize("model", MODELS)
def test_floating_base(model: str) -> None:
    """Displacements of the base turn gravity in its frame: differences, and the plain page."""
    robot = floating_robot(3, 3)
    compare(robot, model, effort="plain")
    program = cardan.model(robot, f"{model}-derivatives", effort="plain")
    page = cardan.model(robot, model, effort="plain")
    x = {**state(program), "g0": state_of_base()["g0"]}
    results, h = program.evaluate(**x), 1e-6
    for y in page.outputs:
        columns = []
        for axis in np.eye(3):
            ends = []
            for step in (h, -h):  # seen from a base turned by the step, gravity turns back
                g0 = x["g0"] - np.cross(step * axis, x["g0"])
                ends.append(getattr(page.evaluate(**{**x, "g0": g0}), y))
            columns.append((ends[0] - ends[1]) / (2 * h))
        block = getattr(results, f"d{y}_dX0")
        near(block[..., :3], np.zeros_like(block[..., :3]), 1e-15)
        near(block[..., 3:], np.stack(columns, -1), 1e-7, scale=1.0, what=y)


@pytest.mark.parametrize("model", MODELS)
def test_closed_loops(model: str) -> None:
    """Along the loops: differences of configurations that are closed again."""
    robot = cardan.load("fivebar")
    robot = robot.with_values(random_values(robot)) if robot.parameters else robot
    geometry = cardan.model(robot, "loop-geometry")
    program = cardan.model(robot, f"{model}-derivatives", effort="plain")
    page = cardan.model(robot, model, effort="plain")
    q_a = np.array([0.9, 2.1])
    q = geometry.solve(q_a)
    q = q[0] if q.ndim == 2 else q
    x = {name: value[0] for name, value in state(program).items()} | {"q": q}
    results, y, h = program.evaluate(**x), next(iter(page.outputs)), 1e-6
    columns = []
    for axis in np.eye(2):
        ends = [
            page.evaluate(**{**x, "q": geometry.solve(q_a + step * axis, guess=q)})
            for step in (h, -h)
        ]
        columns.append((ends[0] - ends[1]) / (2 * h))
    near(getattr(results, f"d{y}_dq"), np.stack(columns, -1), 1e-6)
    for name in ("qd", "qdd", "tau"):
        if name in page.inputs:
            expected = page.derivative(y, name).evaluate(**x)
            near(getattr(results, f"d{y}_d{name}"), expected, 1e-9, what=name)


@pytest.mark.parametrize(
    ("model", "pages"),
    [(x, [x]) for x in (*MODELS, "energies")] + [("kinematics", ["velocities", "accelerations"])],
)
def test_closed_loops_of_flexible_links(model: str, pages: list[str]) -> None:
    """Along the independent joints and the elastic coordinates: differences of configurations
    whose loops are closed again, and the pages by their velocities and torques."""
    robot = cardan.load("prrrp")
    geometry = cardan.model(robot, "loop-geometry")
    effort = {"effort": "plain"} if model in MODELS else {}
    program = cardan.model(robot, f"{model}-derivatives", **effort)
    rng = np.random.default_rng(4)
    x = {name: rng.uniform(-1, 1, shape) for name, shape in program.inputs.items()}
    x["qd"][2:] *= 0.01
    free = np.r_[0.05, -0.05, 0.002 * rng.uniform(-1, 1, robot.ne)]

    def closed(u: Array, guess: Array | None = None) -> Array:
        return geometry.solve(u[:2], q_e=u[2:], guess=guess)

    x["q"] = q = closed(free)[0]
    results, h = program.evaluate(**x), 1e-5
    for page in (cardan.model(robot, name, **effort) for name in pages):
        inputs = {name: x[name] for name in page.inputs}
        for y in page.outputs:
            columns = []
            for way in np.eye(len(free)):
                ends = []
                for step in (h, -h):
                    moved = page.evaluate(**{**inputs, "q": closed(free + step * way, q)})
                    ends.append(moved if len(page.outputs) == 1 else getattr(moved, y))
                columns.append((ends[0] - ends[1]) / (2 * h))
            near(getattr(results, f"d{y}_dq"), np.stack(columns, -1), 1e-6, what=f"d{y}_dq")
            for name in set(inputs) - {"q"}:
                expected = page.derivative(y, name).evaluate(**inputs)
                near(getattr(results, f"d{y}_d{name}"), expected, 1e-9, what=f"d{y}_d{name}")


def test_sparsity() -> None:
    """Joints on other branches have structural zeros."""
    robot = bundled_trees()["tree"]
    program = cardan.model(robot, "inverse-dynamics-derivatives", effort="plain")
    A = cardan.model(robot, "inertia-matrix", effort="plain")
    zeros = ~A.sparsity["A"]
    assert zeros.any()
    for name in ("dtau_dq", "dtau_dqd", "dtau_dqdd"):
        assert not program.sparsity[name][zeros].any(), name


def test_packed() -> None:
    """What is not packed is zero, and what is stands in the order of the places."""
    program = cardan.model(bundled_trees()["tree"], "regressor", effort="plain")
    rng = np.random.default_rng(0)
    x = {name: rng.uniform(-1, 1, (3, *shape)) for name, shape in program.inputs.items()}
    whole, packed = program.compile()(**x), program.packed.compile()(**x)
    places = program.sparsity["D"]
    near(packed, whole[:, places], 1e-15)
    assert not whole[:, ~places].any()


@pytest.mark.skipif(not FILES, reason="the public robot files are not here")
@pytest.mark.parametrize("stem", ["iiwa14", "panda", "ur5"])
def test_pinocchio(stem: str) -> None:
    """computeRNEADerivatives and computeABADerivatives of public files, to 1e-11."""
    pin = pytest.importorskip("pinocchio")
    from tests.laws.test_pinocchio import pair

    path = next((p for p in FILES if stem in Path(p).stem), None)
    if path is None:
        pytest.skip(f"no file of {stem}")
    both = pair(path)
    robot, model, data = both.robot, both.model, both.data
    rng = np.random.default_rng(2)
    q, qd, qdd = rng.uniform(-1, 1, (3, robot.n))
    places = both.configuration(q), both.vector(qd)
    inverse = cardan.model(robot, "inverse-dynamics-derivatives", effort="plain")
    got = inverse.evaluate(q=q, qd=qd, qdd=qdd)
    by_q, by_qd, A = (
        both.back(x) for x in pin.computeRNEADerivatives(model, data, *places, both.vector(qdd))
    )
    A = np.triu(A) + np.triu(A, 1).T
    for value, expected in ((got.dtau_dq, by_q), (got.dtau_dqd, by_qd), (got.dtau_dqdd, A)):
        near(value, expected, 1e-11)
    direct = cardan.model(robot, "direct-dynamics-derivatives", effort="plain")
    back = direct.evaluate(q=q, qd=qd, tau=got.tau)
    pin.computeABADerivatives(model, data, *places, both.vector(got.tau))
    near(back.qdd, qdd, 1e-9)
    near(back.dqdd_dq, both.back(data.ddq_dq), 1e-9)
    near(back.dqdd_dqd, both.back(data.ddq_dv), 1e-9)
    near(back.dqdd_dtau, np.linalg.inv(A), 1e-9)


def test_robots_whose_joints_are_all_elastic() -> None:
    """No joint is driven: tau and qdd are empty, and so are the derivatives of and by them."""
    pendulum = cardan.load("planar2r")
    joints = (replace(pendulum.joints[0], elastic=True, stiffness=3), pendulum.joints[1])
    robot = replace(pendulum, links=pendulum.links[:1], joints=joints[:1])
    robot = robot.with_values(dict.fromkeys(robot.parameters, 0.7))
    x = {"q": np.array([0.3]), "qd": np.array([0.2])}
    inverse = cardan.model(robot, "inverse-dynamics-derivatives").evaluate(**x, qdd=np.empty(0))
    assert inverse.dtau_dq.shape == (0, 1)
    assert inverse.dqdd_e_dqdd.shape == (1, 0)
    direct = cardan.model(robot, "direct-dynamics-derivatives").evaluate(**x, tau=np.empty(0))
    near(inverse.dqdd_e_dq, direct.dqdd_dq, 1e-12)
    ahead, behind = (
        cardan.model(robot, "direct-dynamics").evaluate(q=q, qd=x["qd"], tau=np.empty(0))
        for q in (x["q"] + 1e-6, x["q"] - 1e-6)
    )
    near(direct.dqdd_dq[:, 0], (ahead - behind) / 2e-6, 1e-8)


def test_options_are_the_parents() -> None:
    """base='given' of a floating base, and a robot that has no such thing."""
    robot = floating_robot(4, 2)
    program = cardan.model(robot, "inverse-dynamics-derivatives", base="given", effort="plain")
    assert "dF0_dV0d" in program.outputs
    with pytest.raises(cardan.ModelError, match="floating"):
        cardan.model(cardan.load("planar2r"), "inverse-dynamics-derivatives", base="given")
    flexible = cardan.load("prrrp")
    with pytest.raises(cardan.ModelError, match="rigid"):
        cardan.model(flexible, "inverse-dynamics-derivatives", base_parameters=True)
