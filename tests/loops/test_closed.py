"""Models of closed-loop robots against a formulation with Lagrange multipliers (`oracle`)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.loops.mechanisms import FILES, MECHANISMS, derived, loaded, states
from tests.loops.oracle import Oracle

import cardan
from cardan.describe.robot import WRENCH, Robot
from cardan.loops.analysis import analyse
from cardan.mechanism.tree import Tree

BUNDLED = ["akr3000", "delta", "fivebar", "orthoglide", "orthoglide-platform", "planar3rrr",
           "prrrp-rigid", "sr400", "stewart"]  # fmt: skip
READ = {f"{path.parent.name}/{path.name}": path for path in FILES}
AGAIN = ("akr3000", "sr400", "twoloops")  # files of robots that are here already
NAMES = [*BUNDLED, *MECHANISMS, *(x for x in READ if Path(x.lower()).stem not in AGAIN)]
STATES = 16


@cache
def case(name: str) -> tuple[Robot, Oracle, dict[str, Any], dict[str, float]]:
    if name in MECHANISMS:
        robot = loaded(MECHANISMS[name]())
    else:
        robot = loaded(cardan.load(str(READ.get(name, name))))
    few = robot.n > 20 and STATES < 100  # the oracle takes its time there
    values, x = states(robot, 5 if few else STATES)
    return robot, Oracle(robot, values), x, values


def run(name: str, model: str, *outputs: str, **options: Any) -> Any:
    robot, _, x, values = case(name)
    program = derived(robot, model, **options)
    given = {key: x[key] for key in program.inputs if key in x}
    if program.parameters:
        given["p"] = [values[key] for key in program.parameters]
    return program, given


@pytest.mark.parametrize("name", sorted({*NAMES, *READ}))
def test_passive_joints(name: str) -> None:
    robot, oracle, x, _ = case(name)
    program, given = run(name, "loop-kinematics", details=True)
    found = program.evaluate(**given)
    qd, qdd = oracle.motion(x["q"], x["qd"], x["qdd"])
    passive = [k for k in range(robot.n) if k not in oracle.active]
    near(np.einsum("bpa,ba->bp", found.W, x["qd"]), qd[:, passive], 1e-9)
    near(np.einsum("bpa,ba->bp", found.W, x["qdd"]) + found.psi, qdd[:, passive], 1e-9)
    near(np.einsum("bna,ba->bn", found.G, x["qd"]), qd, 1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_the_step_that_closes(name: str) -> None:
    """Newton's method by r and dq_p goes back to the configurations that were left, every time
    with the square of the distance."""
    robot, oracle, x, _ = case(name)
    program, given = run(name, "loop-kinematics", closing=True)
    at = program.evaluate(**given)
    assert np.abs(at.r).max() < 1e-11
    assert np.abs(at.dq_p).max() < 1e-7
    passive = [k for k in range(robot.n) if k not in oracle.active]
    q = x["q"].copy()
    q[:, passive] += 1e-4 * np.random.default_rng(3).uniform(-1, 1, (len(q), len(passive)))
    start = np.abs(program.evaluate(**{**given, "q": q}).r).max()
    for _ in range(4):
        q[:, passive] += program.evaluate(**{**given, "q": q}).dq_p
    assert np.abs(program.evaluate(**{**given, "q": q}).r).max() < 1e-9 * start
    near(q, x["q"], absolute=1e-7)


@pytest.mark.parametrize("name", sorted({*NAMES, *READ}))
def test_inverse_dynamics(name: str) -> None:
    _, oracle, x, _ = case(name)
    program, given = run(name, "inverse-dynamics")
    near(program.evaluate(**given), oracle.inverse(x["q"], x["qd"], x["qdd"]), 1e-9)


@pytest.mark.parametrize("method", ["auto", "constraint-forces"])
@pytest.mark.parametrize("name", NAMES)
def test_direct_dynamics(name: str, method: str) -> None:
    _, oracle, x, _ = case(name)
    tau = np.random.default_rng(2).normal(size=x["qd"].shape)
    if method == "constraint-forces" and analyse(case(name)[0]).least_squares:
        with pytest.raises(cardan.CardanError, match="not unique"):
            run(name, "direct-dynamics", method=method)
        return
    program, given = run(name, "direct-dynamics", method=method)
    expected = oracle.direct(x["q"], x["qd"], tau)[:, oracle.active]
    near(program.evaluate(**given, tau=tau), expected, 1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_velocities_and_accelerations(name: str) -> None:
    robot, oracle, x, _ = case(name)
    qd, qdd = oracle.motion(x["q"], x["qd"], x["qdd"])
    bodies = oracle.bodies(oracle.poses(x["q"], qd, qdd))
    for model, linear, angular in (("velocities", 2, 3), ("accelerations", 4, 5)):
        program, given = run(name, model)
        expected = [
            np.concatenate([np.einsum("bji,bj->bi", b[0], b[k]) for k in (linear, angular)], -1)
            for b in bodies
        ]
        near(program.evaluate(**given), np.stack(expected, 1), 1e-9)
    end = Tree.of(robot).last
    J = run(name, "jacobian", frame=end)
    moved = np.einsum("bra,ba->br", J[0].evaluate(**J[1]), x["qd"])
    near(moved, np.concatenate([bodies[end - 1][2], bodies[end - 1][3]], -1), 1e-9)
    bias, given = run(name, "jdot-qdot", frame=end)
    Jdqd = bias.evaluate(**given) + np.einsum("bra,ba->br", J[0].evaluate(**J[1]), x["qdd"])
    near(Jdqd, np.concatenate([bodies[end - 1][4], bodies[end - 1][5]], -1), 1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_matrix_bias_gravity_energy(name: str) -> None:
    _, oracle, x, _ = case(name)
    values = {}
    for model in ("inertia-matrix", "bias", "gravity", "energies", "generalized-momentum"):
        program, given = run(name, model)
        values[model] = program.evaluate(**given)
    zero = np.zeros_like(x["qd"])
    A, H = values["inertia-matrix"], values["bias"]
    near(
        np.einsum("bij,bj->bi", A, x["qdd"]) + H,
        oracle.inverse(x["q"], x["qd"], x["qdd"]),
        1e-9,
        1e-21,
    )
    near(values["generalized-momentum"], np.einsum("bij,bj->bi", A, x["qd"]), 1e-9)
    near(values["energies"].E, np.einsum("bi,bij,bj->b", x["qd"], A, x["qd"]) / 2, 1e-9)
    assert np.linalg.eigvalsh(A).min() > 0
    robot = case(name)[0]
    bare = replace(robot, links=tuple(replace(k, **dict.fromkeys(WRENCH, 0)) for k in robot.links))
    near(values["gravity"], Oracle(bare, case(name)[3]).inverse(x["q"], zero, zero), 1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_reactions_balance_every_link(name: str) -> None:
    """Newton and Euler of each link, with the wrenches of its joint, its children and its cuts."""
    robot, oracle, x, _ = case(name)
    program, given = run(name, "reactions")
    wrench = program.evaluate(**given)
    qd, qdd = oracle.motion(x["q"], x["qd"], x["qdd"])
    poses = oracle.poses(x["q"], qd, qdd)
    frames = [(T[:, 0, :3, :3], T[:, 0, :3, 3]) for T in poses]
    need = oracle.demand(x["q"], qd, qdd)
    n, B = len(robot.links), len(robot.loops)
    owners = {j: j for j in range(n + 1)}
    for j, frame in enumerate((*(k.cut for k in robot.loops), *(k.twin for k in robot.loops)), 1):
        owners[n + j] = owners[frame.antecedent]
    given_by: dict[int, np.ndarray] = {j: np.zeros((len(qd), 6)) for j in range(n + 1)}

    def add(body: int, frame: int, sign: float, row: np.ndarray) -> None:
        R, P = frames[frame]
        f = np.einsum("bij,bj->bi", R, row[:, :3])
        m = np.einsum("bij,bj->bi", R, row[:, 3:]) + np.cross(P, f)
        given_by[body] = given_by[body] + sign * np.concatenate([f, m], -1)

    for j, joint in enumerate(robot.joints, 1):
        add(j, j, 1, wrench[:, j - 1])
        add(joint.antecedent, j, -1, wrench[:, j - 1])
    for k in range(B):
        add(owners[n + B + 1 + k], n + B + 1 + k, 1, wrench[:, n + k])
        add(owners[n + 1 + k], n + B + 1 + k, -1, wrench[:, n + k])
    scale = max(np.abs(v).max() for v in given_by.values())
    for j in range(1, n + 1):
        near(given_by[j], need[j - 1], absolute=1e-8 * scale)
    for k, joint in enumerate(joint for joint in robot.joints if joint.sigma != 2):
        if joint.active:
            continue
        j = robot.joints.index(joint) + 1
        IA, FV, FS = (oracle.number(getattr(joint, key)) for key in ("IA", "FV", "FS"))
        along = wrench[:, j - 1, 2 if joint.sigma == 1 else 5]
        drive = IA * qdd[:, k] + FV * qd[:, k] + FS * np.sign(qd[:, k])
        assert np.abs(along + drive).max() < 1e-8 * scale  # no motor: the joint carries no torque


@pytest.mark.parametrize("name", ["four_bar", "prismatic_cut"])
def test_friction_of_a_cut_joint_pulls_at_both_of_its_links(name: str) -> None:
    """It is in the reactions: the passive joints carry none but their own; and in both methods."""
    robot = loaded(MECHANISMS[name]())
    _, x = states(robot, 8)
    loop = robot.loops[0]
    robot = replace(robot, loops=(replace(loop, cut=replace(loop.cut, FV=2, FS=3)),))
    detail = cardan.model(robot, "loop-kinematics", details=True).evaluate(q=x["q"], qd=x["qd"])
    qd, rate = (np.einsum("bij,bj->bi", M, x["qd"]) for M in (detail.G, detail.Wcut))
    qdd = np.einsum("bij,bj->bi", detail.G, x["qdd"])
    qdd[:, 1:] += detail.psi
    wrench = cardan.model(robot, "reactions").evaluate(**x)
    scale = np.abs(wrench).max()
    for k in (1, 2):
        joint = robot.joints[k]
        own = float(joint.IA) * qdd[:, k] + float(joint.FV) * qd[:, k]
        own += float(joint.FS) * np.sign(qd[:, k])
        assert np.abs(wrench[:, k, 5 if joint.sigma == 0 else 2] + own).max() < 1e-10 * scale
    drag = 2 * rate[:, 0] + 3 * np.sign(rate[:, 0])
    axis = 2 if name == "prismatic_cut" else 5
    assert np.abs(wrench[:, 3, axis] + drag).max() < 1e-10 * scale
    tau = x["qdd"]
    found = [
        cardan.model(robot, "direct-dynamics", method=method).evaluate(
            q=x["q"], qd=x["qd"], tau=tau
        )
        for method in ("inertia-matrix", "constraint-forces")
    ]
    near(found[0], found[1], 1e-9)
