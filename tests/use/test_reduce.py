"""Reduced and tabulated models: errors are what is said, and get smaller as they should."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from robots import arm, floating_snake, pendulum
from tests.compare import near

import cardan
from cardan.control.reduced import rank, reduce_model, states_of
from cardan.control.table_code import side_by_side, table_code
from cardan.control.tabulated import tabulate, trade_off
from cardan.describe.robot import Limits, Robot
from cardan.errors import CardanError, InputError
from cardan.motion.trajectory import Trajectory, move


def motions(n: int, count: int, seed: int = 0) -> list[Trajectory]:
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1.5, 1.5, (count + 1, n))
    return [move(a, b, 1.0, dt=0.02) for a, b in pairwise(points)]


@pytest.mark.parametrize("model", ["inverse-dynamics", "inertia-matrix", "gravity"])
def test_a_reduced_model_stays_within_its_tolerance(model: str) -> None:
    program = cardan.model(arm(), model)
    last = program.cost.total
    for tolerance in (1e-3, 1e-2, 1e-1):
        found = reduce_model(program, motions(6, 6), tolerance)
        assert found.error <= tolerance
        assert found.after.total <= last
        last = found.after.total
        states = states_of(program, motions(6, 6))
        exact, reduced = program.evaluate(**states), found.program.evaluate(**states)
        name = next(iter(program.outputs))
        np.testing.assert_allclose(
            np.abs(exact - reduced).max(axis=0), found.errors[name], atol=1e-12
        )
    assert found.saved > 0.05
    assert len(found.dropped) > 0
    assert "reduced" in found.program.emit("c")
    other = reduce_model(program, motions(6, 6), 1e-2, check=motions(6, 3, seed=9))
    assert other.check is not None
    assert other.check < 0.1


def test_nothing_is_dropped_for_nothing() -> None:
    program = cardan.model(arm(), "inverse-dynamics")
    found = reduce_model(program, motions(6, 2), 0.0)
    assert found.error == 0
    assert found.after.total <= found.before.total


def test_a_term_that_vanishes_on_the_motions_goes_first() -> None:
    """Without velocity the centrifugal and Coriolis terms contribute nothing at all."""
    program = cardan.model(arm(), "inverse-dynamics")
    rng = np.random.default_rng(0)
    q, qdd = rng.uniform(-1, 1, (2, 200, 6))
    states = {"q": q, "qd": np.zeros((200, 6)), "qdd": qdd}
    assert rank(program, states)[0].contribution == 0
    found = reduce_model(program, states, 1e-9)
    assert found.error < 1e-9
    assert found.after.total < 0.85 * found.before.total


def test_contributions_are_those_of_leaving_terms_out() -> None:
    """For small terms the estimate, of first order, is the effect itself."""
    from cardan.control.reduced import _error, _without

    program = cardan.model(arm(), "inverse-dynamics")
    states = states_of(program, motions(6, 4))
    exact = {"tau": program.evaluate(**states)}
    for term in rank(program, states)[:12]:
        lost = _error(exact, {"tau": _without(program, [term]).evaluate(**states)})
        assert lost == pytest.approx(term.contribution, rel=0.02)


def planar() -> Robot:
    values = {"L1": 1, "ZZ1": 3, "ZZ2": 2, "MX1": 5, "MY1": 0.1, "M1": 10, "MX2": 2.5, "MY2": 0.1,
              "M2": 5, "FV1": 1, "FV2": 2, "G": 9.81}  # fmt: skip
    return cardan.load("planar2r").with_values(values)


def test_tables_converge_with_their_order() -> None:
    for degree, order in ((1, 2), (3, 3)):
        rows = trade_off(planar(), [16, 64], degree=degree)
        assert rows[1]["error"] < rows[0]["error"] / 4**order * 2.5
        assert rows[1]["bytes"] > 8 * rows[0]["bytes"]
    assert rows[1]["error"] < 1e-4


def test_tables_are_exact_at_their_points_and_periodic() -> None:
    robot = planar()
    table = tabulate(robot, 12, degree=3)
    q = table.start + table.step * np.array([3, 7])
    c = table.coefficients(q)
    exact = cardan.model(robot, "lagrange", form="configuration").evaluate(q=q)
    for name in ("A", "C1", "C2", "Q"):
        np.testing.assert_allclose(c[name], exact[name], atol=1e-12)
    around = table.coefficients(q + 2 * np.pi)
    np.testing.assert_allclose(around["Q"], c["Q"], atol=1e-10)


def test_limits_bound_a_table() -> None:
    limits = cardan.load({
        "name": "rp", "gravity": [0, -9.81, 0],
        "link": [
            {"mass": 2, "com": [0.2, 0, 0], "inertia_com": [0.1, 0, 0, 0.1, 0, 0.1],
             "limits": {"lower": -1, "upper": 1}},
            {"joint": "prismatic", "alpha": "pi/2", "mass": 1, "com": [0, 0, 0.1],
             "inertia_com": [0.1, 0, 0, 0.1, 0, 0.1], "limits": {"lower": 0, "upper": 0.5}},
        ],
    })  # fmt: skip
    rows = trade_off(limits, [8, 32])
    assert rows[1]["error"] < 1e-3
    free = replace(limits, joints=(limits.joints[0], replace(limits.joints[1], limits=Limits())))
    with pytest.raises(InputError, match="slides without limits"):
        tabulate(free, 8)
    table = tabulate(limits, 8)
    assert repr(table).startswith("Tabulated(rp: 8 points per joint, cubic")
    still = np.zeros(2)
    with pytest.raises(InputError, match=r"q2 = 0\.6 is outside its table, from 0 to 0\.5"):
        table([[0, 0.1], [0, 0.6]], still, still)
    with pytest.raises(InputError, match=r"qd has shape \(3,\); expected \(\.\.\., 2\)"):
        table(still, [1, 2, 3], still)


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(InputError, match="depend on up to 5 joints at once; take fewer points"):
        tabulate(arm(), 40)
    with pytest.raises(CardanError, match="fixed base and rigid joints"):
        tabulate(floating_snake(2), 8)
    with pytest.raises(InputError, match="expected >= 4"):
        tabulate(pendulum(), 2)
    with pytest.raises(CardanError, match="link link1 of 'arm' has a wrench"):
        tabulate(pendulum(FY=3), 8)
    with pytest.raises(CardanError, match="'Planar five-bar' has closed loops"):
        tabulate(cardan.load("fivebar"), 8)
    with pytest.raises(InputError, match="a tolerance of -1"):
        reduce_model(cardan.model(pendulum(), "gravity"), motions(1, 1), -1)
    with pytest.raises(InputError, match="does not give the inputs tau"):
        states_of(cardan.model(pendulum(), "direct-dynamics"), motions(1, 1))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
@pytest.mark.parametrize("degree", [1, 3])
def test_tables_in_c_are_those_of_python(degree: int, tmp_path: Path) -> None:
    """A full turn and a joint with limits, at random states and at the ends of the tables."""
    body = {"mass": 2, "com": [0.3, 0.1, 0], "inertia_com": [0.1, 0, 0, 0.1, 0, 0.1]}
    limits = {"lower": -1.5, "upper": 1}
    links = [{**body, "FV": 0.2, "FS": 0.1}, {"d": 1, "limits": limits, **body}]
    robot = cardan.load({"name": "2R */", "gravity": [0, -9.81, 0], "link": links})
    table = tabulate(robot, 9, degree=degree)
    text = table_code(table, "torques")
    assert f"{table.memory} bytes" in text
    source, library = tmp_path / "t.c", tmp_path / "t.so"
    source.write_text(text)
    flags = ["-std=c99", "-Wall", "-pedantic", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, source, "-o", library, "-lm"], check=True)
    function = ctypes.CDLL(str(library)).torques
    rng = np.random.default_rng(0)
    for q2 in (-1.5, 1.0, 0.9999, *rng.uniform(-1.5, 1, 20)):
        q, tau = np.array([rng.uniform(-20, 20), q2]), np.empty(2)
        qd, qdd = rng.normal(size=(2, 2))
        function(*(x.ctypes.data_as(ctypes.c_void_p) for x in (q, qd, qdd, tau)))
        near(tau, table(q, qd, qdd), 1e-12)
    rows = side_by_side(robot, [8, 16], degree=degree)
    assert [row["model"] for row in rows] == ["exact", "reduced, 0.01", "8 points", "16 points"]
    assert rows[1]["error"] <= 0.01
    assert rows[3]["error"] < rows[2]["error"]
