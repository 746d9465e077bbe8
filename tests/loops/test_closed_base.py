"""Base parameters and regressors of closed-loop robots."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.loops.mechanisms import MECHANISMS, derived, loaded, states

import cardan
from cardan.build.observe import observe
from cardan.loops.analysis import analyse
from cardan.loops.numeric import equations
from cardan.models.bodies import bodies
from cardan.models.regressor import columns
from cardan.motion.coordinates import coordinates


def test_sr400_has_42() -> None:
    """[KC97] 6.4, refs 30, 33: 55 as a tree, 42 with its parallelogram; found symbolically."""
    robot = cardan.load("sr400")
    base = cardan.model(robot, "base-parameters")
    assert len(base.kept) == 42
    assert len(cardan.model(robot.tree(), "base-parameters").kept) == 55
    assert not any("kept" in remark for remark in base.remarks)


def uncrossed(robot: cardan.Robot, count: int) -> tuple[dict[str, float], np.ndarray]:
    """Configurations of sr400 with its parallelogram uncrossed (notes of the file)."""
    rng = np.random.default_rng(5)
    values = {name: float(rng.uniform(0.3, 1.7)) for name in robot.parameters}
    q = rng.uniform(-np.pi, np.pi, (count, 8))
    q[:, 7] = q[:, 1] - q[:, 6]
    q[:, 2] = np.pi / 2 - q[:, 7]
    geometry = analyse(robot).samples[0].values
    system = equations(robot, {name: values[name] for name in geometry})
    assert system.error(q).max() < 1e-12
    return values, q


def test_base_parameters_of_sr400_give_the_same_torques() -> None:
    robot = cardan.load("sr400")
    values, q = uncrossed(robot, 20)
    rng = np.random.default_rng(6)
    x = {"q": q, "qd": rng.normal(size=(20, 6)), "qdd": rng.normal(size=(20, 6))}
    tau = []
    for flag in (False, True):
        program = cardan.model(robot, "inverse-dynamics", base_parameters=flag, effort="plain")
        tau.append(program.evaluate(**x, p=[values[name] for name in program.parameters]))
    near(tau[1], tau[0], 1e-9)


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "rssr", "spherical_four_bar"])
def test_the_set_is_minimal_and_complete(name: str) -> None:
    """As many as the rank of G^T D, and D_base K_base is the torque."""
    robot = loaded(MECHANISMS[name]())
    base = cardan.model(robot, "base-parameters")
    listed = columns(bodies(robot, lambda name: 1.0), drives=("IA",))
    active = [c for c in listed if c[0] != "IA" or robot.joints[c[1] - 1].active]
    seen = observe(robot, active)
    D = seen.matrix(0, active)
    D = D[:, np.abs(D).max(axis=0) > 1e-11]
    assert len(base.kept) == np.linalg.matrix_rank(D / np.linalg.norm(D, axis=0), tol=1e-8)
    _, x = states(robot, 10)
    full = derived(robot, "inverse-dynamics").evaluate(**x)
    less = derived(robot, "inverse-dynamics", base_parameters=True).evaluate(**x)
    near(less, full, 1e-8)


@pytest.mark.parametrize("name", ["four_bar", "rccc", "planar_3rrr"])
def test_regressor_times_parameters_is_the_torque(name: str) -> None:
    robot = loaded(MECHANISMS[name]())
    _, x = states(robot, 10)
    program = derived(robot, "regressor")
    K = []
    for column in program.columns:
        key, j = column.rstrip("0123456789"), int(column.lstrip("XYZMIAFVS"))
        item = robot.joints[j - 1] if key in ("IA", "FV", "FS") else robot.links[j - 1]
        K.append(float(getattr(item, key)))
    expected = derived(robot, "inverse-dynamics").evaluate(**x)
    near(program.evaluate(**x) @ K, expected, 1e-9)
    energy = cardan.model(robot, "energies").evaluate(q=x["q"], qd=x["qd"])
    row = cardan.model(robot, "energy-regressor")
    K = [K[program.columns.index(column)] for column in row.columns]
    found = row.evaluate(q=x["q"], qd=x["qd"]) @ K
    near(found, energy.E + energy.U, 1e-9, 1e-8, each=True)


def test_orthoglide_has_35_while_its_platform_does_not_turn() -> None:
    """In the assembly of its notes: same torques; near-singular states do not hide parameters."""
    robot = cardan.load("orthoglide")
    base = cardan.model(robot, "base-parameters")
    assert len(base.kept) == 35
    rng = np.random.default_rng(8)
    values = {name: float(rng.uniform(0.3, 1.7)) for name in robot.parameters}
    x = {"qd": rng.normal(size=(6, 3)), "qdd": rng.normal(size=(6, 3))}
    turns = rng.uniform(-0.5, 0.5, (200, 13))
    for a, b in ((4, 5), (8, 9), (11, 12), (3, 6)):
        turns[:, b] = -turns[:, a]
    system = equations(robot, {name: values[name] for name in ("a", "d4")})
    q, closed = system.close(turns, range(13))
    straight = np.abs(np.sin(q[:, [4, 8, 11, 3]] + q[:, [5, 9, 12, 6]])).max(axis=1) < 1e-9
    q = q[closed & straight][:6]
    assert len(q) == 6
    tau = []
    for carried in (robot, base.robot):
        program = cardan.model(carried, "inverse-dynamics", effort="plain")
        tau.append(program.evaluate(q=q, **x, p=[values[name] for name in program.parameters]))
    near(tau[1], tau[0], 1e-8)


def test_base_parameters_of_a_kite_move_every_joint() -> None:
    """Folded onto its crank, a kite turns as one body of few parameters: not that mode."""

    def link(name: str, **fields: Any) -> dict[str, Any]:
        return {"name": name, "mass": 1.3, "com": [0.1, 0.05, 0], "active": False, **fields,
                "inertia_com": [0.01, 0, 0, 0.02, 0, 0.02]}  # fmt: skip

    robot = cardan.load({
        "gravity": [0, -9.81, 0],
        "link": [link("crank", active=True), link("coupler", d=0.3),
                 link("rocker", antecedent=0, d=0.6)],
        "loop": [{"cut": {"antecedent": "coupler", "d": 0.3},
                  "twin": {"antecedent": "rocker", "d": 0.6}}],
    })  # fmt: skip
    geometry = cardan.model(robot, "loop-geometry")
    q = geometry.solve([0.9])
    q = q[np.abs(np.sin(q[:, 1] / 2)) < 0.99]  # unfolded
    assert len(q) == 1
    path = geometry.follow(np.linspace(0.9, 2.4, 25)[:, None], q[0])
    qd, qdd = np.random.default_rng(0).normal(size=(2, 25, 1))
    tau = cardan.model(robot, "inverse-dynamics").evaluate(q=path, qd=qd, qdd=qdd)
    D = cardan.model(robot, "regressor", base_parameters=True).evaluate(q=path, qd=qd, qdd=qdd)
    fitted = np.linalg.lstsq(D[:, 0], tau[:, 0], rcond=None)[0]
    assert D[:, 0] @ fitted == pytest.approx(tau[:, 0], abs=1e-9)


def seven_bar() -> cardan.Robot:
    """One spatial loop of seven turns, mobility 1: its motion is long and curved."""
    axes = [
        (0, 0, 0),
        (1.2, 0.3, 0.1),
        (-0.9, 0.25, 0),
        (1.5, 0.3, -0.1),
        (0.7, 0.2, 0),
        (-1.3, 0.3, 0),
    ]
    link = [
        {"alpha": alpha, "d": d, "r": r, "active": j == 0} for j, (alpha, d, r) in enumerate(axes)
    ]
    return cardan.load({
        "name": "7R", "link": link,
        "loop": [{"name": "seven", "cut": {"antecedent": 6, "alpha": 1.1, "d": 0.25},
                  "twin": {"antecedent": 0, "gamma": 0.5, "b": 0.1, "alpha": 0.4, "d": 0.2}}],
    })  # fmt: skip


def test_a_short_arc_of_a_motion_is_not_taken_for_all_of_it() -> None:
    """A loop of mobility 1 must be followed all around before the rank of G^T D is the robot's."""
    robot = loaded(seven_bar())
    system, rng = equations(robot), np.random.default_rng(3)
    q = system.consistent(rng, 120)
    s = np.linalg.svd(system.J(q)[..., 1:], compute_uv=False)
    q = q[s[:, -1] > 0.03 * s[:, 0]]
    assert len(q) > 60
    x = {"q": q, "qd": rng.normal(size=(len(q), 1)), "qdd": rng.normal(size=(len(q), 1))}
    program = cardan.model(robot, "regressor", effort="plain")
    wanted = [k for k, c in enumerate(program.columns) if c[:2] not in ("FV", "FS", "IA")]
    D = program.evaluate(**x)[:, 0, [*wanted, program.columns.index("IA1")]]
    D = D[:, np.abs(D).max(axis=0) > 1e-11]
    rank = np.linalg.matrix_rank(D / np.linalg.norm(D, axis=0), tol=1e-9)
    assert len(cardan.model(robot, "base-parameters").kept) == rank
    full = cardan.model(robot, "inverse-dynamics", effort="plain").evaluate(**x)
    less = cardan.model(robot, "inverse-dynamics", base_parameters=True, effort="plain")
    near(less.evaluate(**x), full, 1e-9)


def test_torques_of_base_parameters_say_in_which_assembly_they_hold() -> None:
    robot = cardan.load("sr400")
    program = cardan.model(robot, "gravity", base_parameters=True, effort="plain")
    assert any("assembly modes" in remark for remark in program.remarks)
    assert "assembly modes" in program.emit("c")
    plain = cardan.model(robot, "gravity", effort="plain")
    assert not any("assembly modes" in remark for remark in plain.remarks)


MOBILE = {"kind": "mobile", "W0": ["wx", 0, "wz"], "WP0": ["ax", 0, 1], "VP0": ["bx", 1, 0]}


@pytest.mark.parametrize("closed", [False, True])
def test_base_parameters_hold_for_any_motion_of_the_base(closed: bool) -> None:
    """Symbols of the base's motion may take any value at any time: no coefficient may hold for one
    draw of them only."""
    body = {"mass": 1, "com": [0.1, 0.2, 0.05], "inertia_com": [0.1, 0.01, 0.02, 0.12, 0.03, 0.15]}
    link = [body, body | {"d": 0.3, "alpha": 0.9 * (not closed), "active": not closed}]
    loops: list[dict[str, Any]] = []
    if closed:
        link.append(body | {"d": 0.5, "antecedent": 0, "active": False})
        loops = [{"name": "k", "cut": {"antecedent": 2, "d": 0.45},
                  "twin": {"antecedent": 3, "d": 0.4}}]  # fmt: skip
    robot = cardan.load({"base": MOBILE, "gravity": [1, 2, -9], "link": link, "loop": loops})
    rng = np.random.default_rng(2)
    q = rng.normal(size=(4, 2))
    if closed:
        q = cardan.model(robot, "loop-geometry").solve([[1.0], [1.5]]).q.reshape(-1, 3)
    na = 1 if closed else 2
    x = {"q": q, "qd": rng.normal(size=(4, na)), "qdd": rng.normal(size=(4, na))}
    tau = []
    for flag in (False, True):
        program = cardan.model(robot, "inverse-dynamics", base_parameters=flag, effort="plain")
        values = {"wx": 0.7, "wz": -1.2, "ax": 2.0, "bx": -0.4}
        tau.append(program.evaluate(**x, p=[values[name] for name in program.parameters]))
    near(tau[1], tau[0], 1e-9)


def test_a_joint_that_several_lead_keeps_its_own_rotor_and_friction() -> None:
    """The differential of a car: the third of its turns moves as none of the others."""
    robot = cardan.load("car")
    rubbing = {"IA": 0.3, "FV": 0.2, "FS": 0.5}
    shared = {j for j, x in robot.couplings.items() if len(x.leaders) > 1}
    assert shared
    joints = enumerate(robot.joints, 1)
    robot = replace(
        robot, joints=tuple(replace(x, **rubbing) if j in shared else x for j, x in joints)
    )
    on, rng = coordinates(robot), np.random.default_rng(2)
    carried = cardan.model(robot, "base-parameters").robot
    every, few = (cardan.model(x, "inverse-dynamics").compile() for x in (robot, carried))
    for _ in range(3):
        q = on.closed_at(rng.uniform(-0.6, 0.6, robot.n))
        u, ud = rng.normal(size=(2, on.nv))
        near(few(q=q, qd=u, qdd=ud), every(q=q, qd=u, qdd=ud), 1e-12)
