"""What `det` of a Jacobian's inverse is, said and so: det J, det(J^T J) or det(J J^T), of which
rows; Renaud's factors; the point followed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.compare import near

import cardan

SIX = "x y z rx ry rz"


@pytest.mark.parametrize(
    ("name", "frame", "product"),
    [("ur5", None, "square"), ("planar2r", None, "J^T J"), ("scara", None, "J^T J"),
     ("ur5", 4, "J^T J"), ("kuka-lwr", None, "J J^T"), ("fivebar", None, "J^T J")],
)  # fmt: skip
def test_the_meaning_says_which_product_it_is(name: str, frame: int | None, product: str) -> None:
    robot = cardan.load(name)
    robot = robot.with_values(dict.fromkeys(robot.parameters, 1))
    options = {"frame": frame} if frame else {}
    program = cardan.model(robot, "jacobian-inverse", rows=SIX, **options)
    direct = cardan.model(robot, "jacobian", **options)
    q = np.random.default_rng(2).uniform(0.4, 1.1, robot.n)
    J, (Jinv, det) = direct.evaluate(q=q), program.evaluate(q=q)
    moving = J[:, np.abs(J).max(axis=0) > 0]
    square = {"square": moving, "J^T J": moving.T @ moving, "J J^T": J @ J.T}[product]
    assert np.isclose(det, np.linalg.det(square), rtol=1e-9, atol=1e-12)
    near(Jinv, np.linalg.pinv(J), 1e-5, 1e-7, each=True)
    said = program.meaning["det"]
    if product == "square":
        assert said == "determinant of the Jacobian"
    else:
        assert said.startswith(f"det({product}), J of all six rows")
        assert f"{moving.shape[1]} columns: not a determinant of J" in said
        assert "generalized inverse" in program.meaning["Jinv"]
        head = " ".join(program.emit("c").split("*/")[0].replace("\n *", " ").split())
        assert f"det({product})" in head
        assert "not a determinant of J" in head


def test_a_stretched_planar_arm() -> None:
    """The case of the books: of its position the determinant is L1 L2 sin q2; det(J^T J) of all
    rows is L1^2 where it is stretched."""
    robot = cardan.load("planar2r")
    robot = robot.with_values({**dict.fromkeys(robot.parameters, 1), "L1": 2})
    task = cardan.model(robot, "jacobian-inverse", tool=(3, 0, 0))
    for q in ([0.3, 0.0], [0.7, -1.1], [-2.0, np.pi / 2]):
        assert task.evaluate(q=q).det == pytest.approx(2 * 3 * np.sin(q[1]), abs=1e-15)
    program = cardan.model(robot, "jacobian-inverse", tool=(3, 0, 0), rows=SIX)
    _, det = program.evaluate(q=[0.3, 0.0])
    assert det == pytest.approx(2**2)  # the length of the first link, squared
    assert "not where a task of 2 of the rows is singular" in program.meaning["det"]


FOUR = {"name": "4R", "link": [{"d": 0.3 * (k > 0)} for k in range(4)], "frame": [
    {"name": "tip", "link": 4, "xyz": [0.3, 0, 0]}]}  # fmt: skip
ARM = {"name": "arm", "link": [{}, {"alpha": "pi/2"}, {"d": 0.4}], "frame": [
    {"name": "tip", "link": 3, "xyz": [0.3, 0, 0]}]}  # fmt: skip


@pytest.mark.parametrize(
    ("source", "rows"),
    [("planar3r", "x y rz"), ("scara", "x y z rz"), ("rx90", SIX), (FOUR, "x y rz"),
     (ARM, "x y z"), ("kuka-lwr", SIX), ("planar3rrr", "x y rz"), ("delta", "x y z")],
)  # fmt: skip
def test_rows_that_a_robot_moves_in_are_its_task(source: Any, rows: str) -> None:
    """Jinv of these rows of J, and det of them where they are square."""
    robot = cardan.load(source)
    robot = robot.with_values(dict.fromkeys(robot.parameters, 1))
    options = {"frame": "tip"} if isinstance(source, dict) else {}
    program = cardan.model(robot, "jacobian-inverse", **options)
    direct = cardan.model(robot, "jacobian", rows=rows, **options)
    assert f"rows {rows}" in program.meaning["det"] or rows == SIX
    q = np.random.default_rng(2).uniform(0.4, 1.1, robot.n)
    if robot.loops:
        q = cardan.model(robot, "loop-geometry").analysis.samples[0].q[0]
    J, (Jinv, det) = direct.evaluate(q=q), program.evaluate(q=q)
    assert J.shape[0] == Jinv.shape[1] == len(rows.split())
    near(J @ Jinv, np.eye(len(J)), 1e-8)
    square = J if J.shape[0] == J.shape[1] else J @ J.T
    assert det == pytest.approx(np.linalg.det(square), rel=1e-8)


def test_rows_that_are_none_are_refused() -> None:
    robot = cardan.load("planar3r")
    for rows in ("x w", "x x", ""):
        with pytest.raises(cardan.ModelError, match="rows = "):
            cardan.model(robot, "jacobian-inverse", rows=rows)
    with pytest.raises(cardan.ModelError, match=r"rows x z, has rank 1.*other rows"):
        cardan.model(robot, "jacobian-inverse", rows="x z")


@pytest.mark.parametrize("name", ["rx90", "fivebar", "ur5"])
def test_renauds_factors(name: str) -> None:
    """[KC97] (4): J is their product, and the first two are regular everywhere."""
    robot = cardan.load(name)
    robot = robot.with_values(dict.fromkeys(robot.parameters, 1))
    q = np.random.default_rng(2).uniform(0.4, 1.1, robot.n)
    J = cardan.model(robot, "jacobian", projection=2).evaluate(q=q)
    F = cardan.model(robot, "jacobian", projection=2, factors=True).evaluate(q=q)
    near(F.F1 @ F.F2 @ F.F3, J, 1e-13)
    assert np.linalg.det(F.F1) == pytest.approx(1)
    assert np.linalg.det(F.F2) == pytest.approx(1)
    some = cardan.model(robot, "jacobian", projection=2, factors=True, rows="x rz").evaluate(q=q)
    near(some.F1 @ some.F2 @ some.F3, J[[0, 5]], 1e-13)


def test_the_point_followed_may_be_a_formula() -> None:
    robot = cardan.load("planar2r")
    program = cardan.model(robot, "jacobian", tool=("L2", "h", "2*k"), frame=2, projection=1)
    values = {"L1": 0.7, "L2": 0.4, "h": -0.2, "k": 0.1}
    q = [0.3, 0.8]
    number = cardan.model(robot, "jacobian", tool=(0.4, -0.2, 0.2), frame=2, projection=1)
    near(program.evaluate(q=q, p=[values[x] for x in program.parameters]),
         number.evaluate(q=q, p=[values[x] for x in number.parameters]), 1e-13)  # fmt: skip
