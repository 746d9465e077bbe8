"""What `det` of a Jacobian's inverse is, said and so: det J, det(J^T J) or det(J J^T)."""

from __future__ import annotations

import numpy as np
import pytest
from tests.compare import near

import cardan


@pytest.mark.parametrize(
    ("name", "frame", "product"),
    [("ur5", None, "square"), ("planar2r", None, "J^T J"), ("scara", None, "J^T J"),
     ("ur5", 4, "J^T J"), ("kuka-lwr", None, "J J^T"), ("fivebar", None, "J^T J")],
)  # fmt: skip
def test_the_meaning_says_which_product_it_is(name: str, frame: int | None, product: str) -> None:
    robot = cardan.load(name)
    robot = robot.with_values(dict.fromkeys(robot.parameters, 1))
    options = {"frame": frame} if frame else {}
    program = cardan.model(robot, "jacobian-inverse", **options)
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
    """The case of the books: its position is singular, det(J^T J) is not."""
    robot = cardan.load("planar2r")
    robot = robot.with_values({**dict.fromkeys(robot.parameters, 1), "L1": 2})
    program = cardan.model(robot, "jacobian-inverse", tool=(3, 0, 0))
    _, det = program.evaluate(q=[0.3, 0.0])
    assert det == pytest.approx(2**2)  # the length of the first link, squared
    assert "not where a task of 2 of the rows is singular" in program.meaning["det"]
