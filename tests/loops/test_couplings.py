"""Coupled joints: models against Lagrange multipliers, Pinocchio's mimic joints and MuJoCo's
equality of joints."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.loops.couplings import (
    NAMES,
    ancestors_lead,
    coupled,
    coupled_tree,
    geared,
    gripper,
    outside,
)  # fmt: skip
from tests.loops.mechanisms import SHARED, derived, loaded, states
from tests.loops.oracle import Oracle

import cardan
from cardan.describe.mjcf.write import write_mjcf
from cardan.describe.robot import FIXED, INERTIA, WRENCH, Coupling, Limits, Robot
from cardan.describe.urdf.write import write_urdf
from cardan.describe.values.parser import to_value
from cardan.inverse.numeric.code import numeric_code
from cardan.loops.analysis import analyse
from cardan.loops.numeric import skeleton
from cardan.loops.standing import standing
from cardan.mechanism.coordinates import Coordinates
from cardan.mechanism.platform import Parallel
from cardan.simulation.simulate import simulate


@cache
def case(name: str) -> tuple[Robot, Oracle, dict[str, Any], dict[str, float]]:
    robot = coupled(name)
    values, x = states(robot, 12)
    return robot, Oracle(robot, values), x, values


def run(name: str, model: str, given: dict[str, Any] | None = None, **options: Any) -> Any:
    robot, _, x, values = case(name)
    program = derived(robot, model, **options)
    known = values | dict(program.defaults)
    arrays = {key: {**x, **(given or {})}[key] for key in program.inputs if key != "p"}
    if program.parameters:
        arrays["p"] = [known[key] for key in program.parameters]
    return program.evaluate(**arrays)


@pytest.mark.parametrize("name", NAMES)
def test_states_are_consistent(name: str) -> None:
    robot, oracle, x, _ = case(name)
    q = x["q"]
    assert np.abs(oracle.tied(q, 0 * q, 0 * q)[:, 0]).max() < 1e-9
    assert analyse(robot).mobility == len(oracle.active)


@pytest.mark.parametrize("name", NAMES)
def test_the_step_that_closes(name: str) -> None:
    robot, oracle, x, _ = case(name)
    passive = [k for k in range(robot.n) if k not in oracle.active]
    q = x["q"].copy()
    q[:, passive] += 1e-4 * np.random.default_rng(3).uniform(-1, 1, (len(q), len(passive)))
    start = np.abs(run(name, "loop-kinematics", {"q": q}, closing=True).r).max()
    for _ in range(4):
        q[:, passive] += run(name, "loop-kinematics", {"q": q}, closing=True).dq_p
    assert np.abs(run(name, "loop-kinematics", {"q": q}, closing=True).r).max() < 1e-9 * start
    near(q, x["q"], absolute=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_kinematics(name: str) -> None:
    robot, oracle, x, _ = case(name)
    found = run(name, "loop-kinematics", details=True)
    qd, qdd = oracle.motion(x["q"], x["qd"], x["qdd"])
    passive = [k for k in range(robot.n) if k not in oracle.active]
    near(np.einsum("bpa,ba->bp", found.W, x["qd"]), qd[:, passive], 1e-9)
    near(np.einsum("bpa,ba->bp", found.W, x["qdd"]) + found.psi, qdd[:, passive], 1e-9)
    near(np.einsum("bna,ba->bn", found.G, x["qd"]), qd, 1e-9)
    both = np.einsum("bma,ba->bm", found.Wa, x["qdd"]) + found.Psi
    assert np.abs(both + np.einsum("bmp,bp->bm", found.Wp, qdd[:, passive])).max() < 1e-9


@pytest.mark.parametrize("options", [{}, {"method": "lagrange"}, {"base_parameters": True},
                                     {"symbolic": True, "effort": "plain"}], ids=str)  # fmt: skip
@pytest.mark.parametrize("name", NAMES)
def test_inverse_dynamics(name: str, options: dict[str, Any]) -> None:
    robot, oracle, x, _ = case(name)
    if options.get("method") and len(robot.joints) > 5:
        options = {"effort": "plain"}
    near(run(name, "inverse-dynamics", **options), oracle.inverse(x["q"], x["qd"], x["qdd"]), 1e-8)


@pytest.mark.parametrize("method", ["inertia-matrix", "constraint-forces"])
@pytest.mark.parametrize("name", NAMES)
def test_direct_dynamics(name: str, method: str) -> None:
    _, oracle, x, _ = case(name)
    tau = np.random.default_rng(2).normal(size=x["qd"].shape)
    found = run(name, "direct-dynamics", {"tau": tau}, method=method, effort="plain")
    near(found, oracle.direct(x["q"], x["qd"], tau)[:, oracle.active], 1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_parts_make_the_whole(name: str) -> None:
    robot, oracle, x, _ = case(name)
    tau = oracle.inverse(x["q"], x["qd"], x["qdd"])
    A, H = run(name, "inertia-matrix"), run(name, "bias")
    near(np.einsum("bij,bj->bi", A, x["qdd"]) + H, tau, 1e-8)
    C, Q = run(name, "coriolis-matrix"), run(name, "gravity")
    bare = replace(robot, joints=tuple(replace(j, FV=0, FS=0) for j in robot.joints),
                   links=tuple(replace(link, FX=0, FY=0, FZ=0, CX=0, CY=0, CZ=0)
                               for link in robot.links))  # fmt: skip
    still = Oracle(bare, oracle.values).inverse(x["q"], x["qd"], 0 * x["qdd"])
    near(np.einsum("bij,bj->bi", C, x["qd"]) + Q, still, 1e-8)
    energy = run(name, "energies")
    near(0.5 * np.einsum("bi,bij,bj->b", x["qd"], A, x["qd"]), energy.E, 1e-8)
    near(run(name, "generalized-momentum"), np.einsum("bij,bj->bi", A, x["qd"]), 1e-8)


@pytest.mark.parametrize(
    "name", ["geared", "gripper", "elbows", "parallelogram", "random 1", "random 4"]
)
def test_regressors(name: str) -> None:
    """D K is the torque; base parameters, with the rotors and friction beside them, are as many as
    D has rank: those of joints that are led are in their leaders'."""
    robot, oracle, x, _ = case(name)
    bare = replace(robot, links=tuple(replace(link, **dict.fromkeys(WRENCH, 0))
                                      for link in robot.links))  # fmt: skip
    program = cardan.model(bare, "regressor", effort="plain")
    D = program.evaluate(**x)
    K = [_value(bare, column) for column in program.columns]
    tau = Oracle(bare, oracle.values).inverse(x["q"], x["qd"], x["qdd"])
    near(np.einsum("bac,c->ba", D, K), tau, 1e-8)
    _, many = states(bare, 60)
    base = cardan.model(bare, "regressor", base_parameters=True, effort="plain")
    assert _rank(base, many) == len(base.columns) == _rank(program, many)
    carried = cardan.model(bare, "base-parameters").robot
    assert not any(carried.joints[j - 1].FV or carried.joints[j - 1].IA for j in bare.couplings)
    K = [_value(carried, column.removesuffix("R")) for column in base.columns]
    near(np.einsum("bac,c->ba", base.evaluate(**x), K), tau, 1e-8)


def _value(robot: Robot, column: str) -> float:
    key, j = column.rstrip("0123456789"), int(column.lstrip("IAFVSXYZM"))
    return float(getattr(robot.links[j - 1] if key in INERTIA else robot.joints[j - 1], key))


def _rank(program: Any, x: dict[str, Any]) -> int:
    rows = program.evaluate(**x).reshape(-1, len(program.columns))
    size = np.linalg.norm(rows, axis=0)
    used = rows[:, size > 1e-10] / size[size > 1e-10]
    s = np.linalg.svd(used, compute_uv=False)
    return int((s > 1e-9 * s[0]).sum())


def test_reactions_hold_what_the_coupling_pushes() -> None:
    """The axial part of a reaction is the whole torque of the joint, the coupling's with it."""
    robot, _, x, _ = case("geared")
    found = run("geared", "reactions")
    tree = cardan.model(robot.tree(), "reactions")
    G = run("geared", "loop-kinematics", details=True).G
    qd, qdd = (np.einsum("bna,ba->bn", G, x[key]) for key in ("qd", "qdd"))
    near(found, tree.evaluate(q=x["q"], qd=qd, qdd=qdd), 1e-9)


# other libraries


@pytest.mark.parametrize("name", ["panda", 0, 1, 2, 3, 4])
def test_against_pinocchio(name: Any, tmp_path: Path) -> None:
    """A URDF with mimic joints, written and read, against rnea of the same file."""
    pin = pytest.importorskip("pinocchio")
    path = tmp_path / "robot.urdf"
    if name == "panda":
        path = SHARED / "urdf" / "panda.urdf"
        if not path.exists():
            pytest.skip("no shared robots")
    else:
        path.write_text(write_urdf(ancestors_lead(name)))
    robot = cardan.load(str(path), mimic=True)
    joints = tuple(replace(joint, FV=0, FS=0, IA=0) for joint in robot.joints)
    robot = replace(robot, joints=joints)
    theirs = pin.buildModelFromUrdf(str(path), mimic=True)
    data = theirs.createData()
    _, x = states(robot, 6)
    moving = [joint for joint in robot.joints if joint.sigma != FIXED]
    active = [k for k, joint in enumerate(moving) if joint.active]
    ids = [theirs.getJointId(moving[k].name) for k in active]
    place = [theirs.joints[i].idx_v for i in ids]
    tau = cardan.model(robot, "inverse-dynamics", effort="plain").evaluate(**x)
    A = cardan.model(robot, "inertia-matrix", effort="plain").evaluate(q=x["q"])
    for k in range(6):
        q, qd, qdd = pin.neutral(theirs), np.zeros(theirs.nv), np.zeros(theirs.nv)
        for i, own in zip(ids, active, strict=True):
            q[theirs.joints[i].idx_q] = x["q"][k, own]
        qd[place], qdd[place] = x["qd"][k], x["qdd"][k]
        near(tau[k], pin.rnea(theirs, data, q, qd, qdd)[place], 1e-8)
        still, own = np.zeros(theirs.nv), np.eye(theirs.nv)[place]
        g = pin.rnea(theirs, data, q, still, still)
        M = [(pin.rnea(theirs, data, q, still, unit) - g)[place] for unit in own]
        near(A[k], np.array(M), 1e-8)


@pytest.mark.parametrize("name", ["gripper", "geared", "outside", "random 2", "random 5"])
def test_against_mujoco(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An equality of joints, written and read, against MuJoCo's M, bias and constraint Jacobian."""
    pytest.importorskip("mujoco")
    from tests.loops.test_mujoco_loops import compare

    monkeypatch.chdir(tmp_path)
    robot = coupled(name)
    robot = replace(
        robot, joints=tuple(replace(joint, FV=0, FS=0) for joint in robot.joints),
        links=tuple(replace(k, FX=0, FY=0, FZ=0, CX=0, CY=0, CZ=0) for k in robot.links),
    )  # fmt: skip
    text = write_mjcf(robot)
    compare(robot, text)
    Path("robot.xml").write_text(text)
    again = cardan.load("robot.xml")
    assert _named(again) == _named(robot)
    compare(again, text)


def _named(robot: Robot) -> dict[str, str]:
    """Who follows whom; motors say it where a file does not."""
    names = [joint.name for joint in robot.joints]
    return {names[j - 1]: names[c.joint - 1] for j, c in robot.couplings.items()}


# geometry and use


def test_positions_follow_and_are_not_wrapped() -> None:
    geometry = cardan.model(geared(), "loop-geometry")
    q = geometry.solve([3.0, 0.5])
    second = -2.5 * 3 + np.pi / 18
    assert q == pytest.approx(np.array([[3, second, 0.5, 0.1 * second]]))
    assert geometry.solve([3.0, 0.5], np.zeros(4)) == pytest.approx(q[0])
    assert geometry.solve([[3.0, 0.5], [0, 0]]).q[0, 0] == pytest.approx(q[0])
    assert geometry.mobility == geometry.coordinates.gruebler == 2
    assert geometry.residual(q).max() < 1e-12
    assert "q2 = -2.5*q1 + pi/18" in geometry.equations()


@pytest.mark.parametrize(
    "name", ["geared five-bar", "outside", "elbows", "parallelogram", "chained"]
)
def test_assemblies(name: str) -> None:
    """A closed configuration is among the assemblies, and the nearest to itself."""
    robot, _, x, _ = case(name)
    geometry = cardan.model(robot, "loop-geometry")
    active = [geometry.coordinates.moving.index(j) for j in geometry.given]
    assert (geometry.steps is None) == (name == "elbows")
    for q in x["q"][:4]:
        found = geometry.solve(q[active])
        assert geometry.residual(found).max() < 1e-10
        guess = q + 0.01 * np.sin(np.arange(robot.n))
        assert geometry.solve(q[active], guess) == pytest.approx(q, abs=1e-9)
        if name != "elbows" or abs(q[1]) < np.pi:
            away = found - q
            turns = geometry.system().periodic
            away = np.where(turns, (away + np.pi) % (2 * np.pi) - np.pi, away)
            assert np.abs(away).max(axis=1).min() < 1e-9


def test_many_joints() -> None:
    """More than the kernel of the closed forms has room for."""
    robot = coupled_tree(3, 80)
    assert robot.n > 64
    geometry = cardan.model(robot, "loop-geometry")
    q = geometry.solve(np.full(len(geometry.given), 0.1))
    assert q.shape == (1, robot.n)
    assert geometry.residual(q).max() < 1e-12
    assert geometry.solve(np.full(len(geometry.given), 0.1), 0 * q[0]) == pytest.approx(q[0])


def test_simulated_motion_keeps_the_coupling() -> None:
    robot = loaded(geared())
    robot = replace(robot, joints=tuple(replace(joint, FV=0, FS=0) for joint in robot.joints))
    run = simulate(robot, [0.5, 0.2], duration=0.3, dt=0.05, torque=[0, 0])
    assert run.q[:, 1] == pytest.approx(-2.5 * run.q[:, 0] + np.pi / 18, abs=1e-12)
    total = run.energy.kinetic + run.energy.potential
    assert total == pytest.approx(np.full_like(total, total[0]), rel=1e-7)


def test_numerical_inverse_kinematics() -> None:
    robot = geared()
    q = cardan.model(robot, "loop-geometry").solve([0.4, 0.7])[0]
    T = cardan.model(robot, "transform", frame=3).evaluate(q=q)
    found = cardan.inverse_kinematics(robot, T, frame=3, guess=q + 0.1)
    assert found.converged
    assert found.q[:3] == pytest.approx(q[:3], abs=1e-8)
    # with a Python function, by NumPy: the other route to the same configuration
    other = cardan.inverse_kinematics(
        robot, T, frame=3, guess=q + 0.1, threads=2,
        constraints=lambda x: (np.zeros((len(x), 0)), np.zeros((len(x), 0, x.shape[1]))),
    )  # fmt: skip
    assert other.converged
    assert found.q == pytest.approx(other.q, abs=1e-7)
    many = cardan.inverse_kinematics(robot, np.stack([T] * 5), frame=3, guess=q + 0.1, threads=2)
    assert many.q == pytest.approx(np.stack([found.q] * 5), abs=0)
    every = cardan.model(robot, "inverse-geometry", frame=3).solve(T, guess=q)
    assert every[0] == pytest.approx(q, abs=1e-8)
    assert cardan.model(gripper(), "inverse-geometry", frame="right").chain.n == 3


def test_one_link_more_or_less_in_the_editor() -> None:
    pytest.importorskip("nicegui")
    from cardan.app.web.panels.structure import added, moved_down, removed, structure, swapped

    robot = outside()
    assert structure(gripper()) == "1 coupled joint"
    assert added(robot).couplings == robot.couplings
    fewer = removed(robot, 1)
    assert {j: c.joint for j, c in fewer.couplings.items()} == {3: 2, 4: 3}
    assert {j: c.joint for j, c in removed(robot, 2).couplings.items()} == {4: 3}
    assert {j: c.joint for j, c in swapped(gripper(), 2).couplings.items()} == {4: 3}
    assert {j: c.joint for j, c in moved_down(geared(), 0).couplings.items()} == {1: 2, 4: 1}


@pytest.mark.parametrize("name", ["geared", "outside", "elbows", "symbols", "high gears"])
def test_joints_follow_a_slider(name: str) -> None:
    pytest.importorskip("nicegui")
    from cardan.app.web.scene.continuation import follow_on
    from cardan.sheets.picture import sketch
    from cardan.sheets.solids import drawable

    robot = skeleton(drawable(coupled(name), {}))
    q = standing(robot)
    moving = [joint for joint in robot.joints if joint.sigma != FIXED]
    wanted = q + 0.2 * np.array([joint.active for joint in moving])
    found, there = follow_on(robot, q, wanted)
    assert there
    assert cardan.model(robot, "loop-geometry").residual(found) < 1e-12
    assert "<svg" in sketch(robot)


def test_code_of_the_numerical_inverse_kinematics_follows_couplings(tmp_path: Path) -> None:
    robot = geared()
    q = cardan.model(robot, "loop-geometry").solve([0.4, 0.7])[0]
    T = cardan.model(robot, "transform", frame=3).evaluate(q=q)
    text = numeric_code(robot, "python", 3, function="coupled_ik")
    assert " = -2.5 " in text
    (tmp_path / "coupled_ik.py").write_text(text)
    spec = importlib.util.spec_from_file_location("coupled_ik", tmp_path / "coupled_ik.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    own, info = module.coupled_ik(T, [0.5, 0.6], [1])
    assert info[2] == 1
    assert own == pytest.approx([0.4, 0.7], abs=1e-8)


def test_limits_of_a_joint_that_is_led_bind_its_leader() -> None:
    robot = geared()
    joints = list(robot.joints)
    joints[1] = replace(joints[1], limits=Limits(lower=to_value("-0.5"), upper=to_value("0.5")))
    bound = replace(robot, joints=tuple(joints))
    q = cardan.model(robot, "loop-geometry").solve([0.4, 0.7])[0]
    T = cardan.model(robot, "transform", frame=3).evaluate(q=q)
    found = cardan.inverse_kinematics(bound, T, frame=3, restarts=5)
    assert not found.converged
    assert abs(found.q[1]) <= 0.5 + 1e-9
    assert found.q[1] == pytest.approx(-2.5 * found.q[0] + np.pi / 18, abs=1e-12)
    assert cardan.inverse_kinematics(bound, T, frame=3, limits=False).converged


def test_the_tables_of_the_editor_couple_joints() -> None:
    pytest.importorskip("nicegui")
    from cardan.app.web.panels.structure import led_by

    robot = led_by(gripper().tree(), 2, 4)
    assert robot.couplings == {3: Coupling(4)}
    assert not robot.joints[2].active
    assert led_by(robot, 2, 0).joints[2].active


def test_random_states_of_a_sweep_are_consistent() -> None:
    from cardan.sweeps.draws import random_states

    robot = loaded(geared())
    program = cardan.model(robot, "inverse-dynamics", effort="plain")
    _, load = next(iter(random_states(program, robot, 50).chunks(50, [0])))
    q = np.array(load()["q"]).T
    assert cardan.model(robot, "loop-geometry").residual(q).max() < 1e-10


def test_what_is_refused_by_name() -> None:
    robot = loaded(geared())
    with pytest.raises(cardan.CardanError, match="this robot has no closed loop"):
        cardan.model(robot, "platform-inverse-dynamics")
    bound = replace(cardan.load("stewart").joints[7], active=False, mimic=Coupling(2))
    joints = list(cardan.load("stewart").joints)
    joints[7] = bound
    legs = Coordinates.of(replace(cardan.load("stewart"), joints=tuple(joints)))
    with pytest.raises(cardan.CardanError, match="not available for coupled joints"):
        Parallel.of(legs, "loop-geometry")
    ring = replace(robot.joints[0], active=False, mimic=Coupling(2))
    with pytest.raises(cardan.CardanError, match="a circle"):
        cardan.model(replace(robot, joints=(ring, *robot.joints[1:])), "gravity")


def test_the_tree_is_without_couplings() -> None:
    tree = coupled_tree(1).tree()
    assert not tree.constrained
    assert cardan.model(tree, "inverse-dynamics", effort="plain").inputs["qd"] == (tree.n,)
