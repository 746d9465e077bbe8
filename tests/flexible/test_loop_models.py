"""Models of flexible closed loops, [BK13] (31)-(38), on the PRRRP and on its tree in the paper:
Table I has joint 3 in the tree, with a point mass beyond it that the joint does not move."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.compare import near

import cardan
from cardan.build.flexible.step import rates_program
from cardan.describe.robot import Robot
from cardan.describe.values.parser import to_value

Array = np.ndarray
ANGLE = "0.722734247813416"
GRAVITY = (0.3, -2, -5)
DRIVE: dict[str, Any] = {"FV": 0.5, "FS": 0.1, "VS": 0.3, "IA": 0.02}
RATES = np.array([0.3, -0.5, 0.02, -0.4, 0.3, 0.01, 0.5, -0.2])
BENT = np.array([1e-4, 2e-3, -1e-3, 2e-4, 1e-3, 2e-3])


def bundled(**drive: Any) -> Robot:
    """The PRRRP cut at P; `drive` of the cut joint."""
    robot = replace(cardan.load("prrrp"), gravity=GRAVITY)
    (loop,) = robot.loops
    return replace(robot, loops=(replace(loop, cut=replace(loop.cut, **drive)),))


def of_table_1(**drive: Any) -> Robot:
    """The PRRRP with joint 3 in the tree, cut where its point mass is fixed to the other beam."""
    robot = bundled()
    joints, (loop,) = list(robot.joints), robot.loops
    turn = to_value(f"pi - 2*{ANGLE}")
    joints[2] = replace(joints[2], sigma=0, variable="q3", theta=turn, active=False, **drive)
    cut = replace(loop.cut, sigma=2, variable="")
    return replace(robot, joints=tuple(joints), loops=(replace(loop, cut=cut),))


def posture(robot: Robot, q_a: Any = (0.0, 0.1), q_e: Any = BENT) -> Array:
    """The deformed robot in the assembly of the description, by the public way."""
    every = cardan.model(robot, "loop-geometry").solve(q_a, q_e=q_e)
    return every[np.argmin(np.abs(every[:, 1]))]


def test_the_cut_may_be_elsewhere() -> None:
    """All models of both trees, friction and rotor of joint 3 as those of a cut joint."""
    one, other = bundled(**DRIVE), of_table_1(**DRIVE)
    p, q = posture(one), posture(other)
    inputs: dict[str, dict[str, Any]] = {
        "inverse-dynamics": {"qd": RATES, "qdd": [1.0, 2.0]},
        "direct-dynamics": {"qd": RATES, "tau": [3.0, -2.0]},
        "inertia-matrix": {}, "gravity": {}, "bias": {"qd": RATES}, "energies": {"qd": RATES},
        "generalized-momentum": {"qd": RATES},
        "velocities": {"qd": RATES}, "accelerations": {"qd": RATES, "qdd": RATES[::-1]},
        "jacobian": {"frame": 5}, "jdot-qdot": {"frame": 5, "qd": RATES},
        "reactions": {"qd": RATES, "qdd": [1.0, 2.0]},
    }  # fmt: skip
    for name, state in inputs.items():
        option: dict[str, Any] = {key: state.pop(key) for key in ("frame",) if key in state}
        if "effort" in {entry.name: entry.options for entry in cardan.catalogue()}[name]:
            option["effort"] = "plain"
        here = cardan.model(one, name, **option).evaluate(q=p, **state)
        there = cardan.model(other, name, **option).evaluate(q=q, **state)
        pairs = [(here, there)] if isinstance(here, np.ndarray) else zip(here, there, strict=True)
        for a, b in pairs:
            if name in ("velocities", "accelerations", "reactions"):  # frame 3 is turned by joint 3
                a, b = (np.delete(x, 2, axis=0) for x in (a, b))
            near(a, b, 1e-9, 1e-9 * max(1.0, np.abs(np.asarray(a)).max()), what=name)
    q6, q3 = (cardan.model(x, "reactions").evaluate(q=y, qd=RATES, qdd=[1.0, 2.0])
              for x, y in ((one, p), (other, q)))  # fmt: skip
    near(np.linalg.norm(q6[2, :3]), np.linalg.norm(q3[2, :3]), 1e-10)  # through P
    near(q6[5], q3[5], 1e-9, 1e-9 * np.abs(q6).max())


def test_of_table_1_vibrates_and_moves_as_the_bundled_one() -> None:
    one, other = (replace(x, gravity=(0, 0, 0)) for x in (bundled(), of_table_1()))
    f = [cardan.natural_frequencies(x, [0, 0.25]) for x in (one, other)]
    near(*f, 1e-10)
    tau = [3.0, -2.0]
    for robot in (one, other):
        state = {"q": posture(robot), "qd": RATES}
        rates = rates_program(robot, prescribed=False).evaluate(**state, u=tau)
        direct = cardan.model(robot, "direct-dynamics", effort="plain")
        near(rates.qdd, direct.evaluate(**state, tau=tau), 1e-9)


@pytest.mark.parametrize("robot", [bundled(**DRIVE), of_table_1(**DRIVE)], ids=["P", "joint 3"])
def test_equations_of_lagrange(robot: Robot) -> None:
    """d/dt dL/du - dL/dq over the independent coordinates, by differences of the energies, the
    loops closed anew at every step; friction along the joint at P."""
    energies = cardan.model(robot, "energies").compile()
    geometry = cardan.model(robot, "loop-geometry")
    first = posture(robot)
    places = [0, list(first[: robot.n]).index(0.1), *range(robot.n, robot.n + robot.ne)]

    def closed(y: Array) -> Array:
        return np.asarray(geometry.solve(y[:2], first[: robot.n], q_e=y[2:]))

    def lagrangian(y: Array, u: Array) -> float:
        E, U = energies(q=closed(y), qd=u)
        return float(E - U)

    def momentum(y: Array, u: Array) -> Array:  # E is quadratic in u: central differences are exact
        units = np.eye(8)
        return np.array([(lagrangian(y, u + e) - lagrangian(y, u - e)) / 2 for e in units])

    y, h = first[places], 1e-5
    steps = h * np.where(np.arange(8) < 2, 1, 0.1)
    slope = [
        (lagrangian(y + s * e, RATES) - lagrangian(y - s * e, RATES)) / (2 * s)
        for s, e in zip(steps, np.eye(8), strict=True)
    ]
    change = (momentum(y + h * RATES, RATES) - momentum(y - h * RATES, RATES)) / (2 * h)
    smooth = cardan.model(robot, "bias", friction=False).evaluate(q=first, qd=RATES)
    near(smooth, change - slope, 1e-6, 1e-6 * np.abs(smooth).max())
    A = cardan.model(robot, "inertia-matrix").evaluate(q=first)
    near(A @ RATES, momentum(y, RATES), 1e-9)
    rubbed = cardan.model(robot, "bias").evaluate(q=first, qd=RATES)
    details = cardan.model(bundled(), "loop-kinematics", details=True)
    W = details.evaluate(q=posture(bundled()), qd=RATES).Wcut[0]
    rate = W @ RATES
    law = 0.5 * rate + 0.1 * rate / np.sqrt(rate**2 + 0.3**2)
    near(rubbed - smooth, W * law, 1e-8, 1e-8)


def test_loop_kinematics_are_derivatives_of_the_loop_geometry() -> None:
    robot, h = bundled(), 1e-5
    y = np.r_[0.0, 0.1, BENT]
    program = cardan.model(robot, "loop-kinematics", details=True, closing=True)
    q = posture(robot)
    here = program.evaluate(q=q, qd=RATES)
    ahead, back = (posture(robot, (z := y + s * RATES)[:2], z[2:]) for s in (h, -h))
    near(here.G @ RATES, (ahead - back) / (2 * h), 1e-7, 1e-7)
    passive = [1, 3]
    near(here.W, here.G[passive], 1e-12)
    near(here.psi, ((ahead - 2 * q + back) / h**2)[passive], 1e-4, 1e-4)
    near(here.Wa @ RATES + here.Wp @ here.W @ RATES, np.zeros(2), 1e-12, 1e-12)
    assert np.abs(here.r).max() < 1e-12
    opened = q.copy()
    opened[passive] += [1e-4, -2e-4]
    step = program.evaluate(q=opened, qd=RATES).dq_p
    near(opened[passive] + step, q[passive], 1e-6, 1e-7)


def test_one_convention_of_velocities() -> None:
    """V = J u and Vd = J ud + jdot-qdot of the platform, all over the independent velocities."""
    robot, q = bundled(), posture(bundled())
    J = cardan.model(robot, "jacobian", frame="platform", projection="platform").evaluate(q=q)
    assert J.shape == (6, 8)
    V = cardan.model(robot, "velocities").evaluate(q=q, qd=RATES)
    near(V[2], J @ RATES, 1e-11, 1e-11)
    drift = cardan.model(robot, "jdot-qdot", frame="platform", projection="platform")
    Vd = cardan.model(robot, "accelerations").evaluate(q=q, qd=RATES, qdd=RATES[::-1])
    near(Vd[2], J @ RATES[::-1] + drift.evaluate(q=q, qd=RATES), 1e-10, 1e-10)


def test_a_reaction_is_the_force_of_a_joint_that_holds_it() -> None:
    """A slider across, held still under the first one, needs what its joint's reaction says."""
    robot = bundled()
    slider = {"joint": "prismatic", "gamma": "-pi/2", "alpha": "-pi/2", "variable": "x"}
    base = cardan.load({"link": [{"name": "across", **slider}]})  # along x0
    quarter = to_value("pi/2")
    joints = [
        replace(base.joints[0], name="across"),
        replace(robot.joints[0], antecedent=1, alpha=quarter, theta=quarter),
    ]
    joints += [
        replace(x, antecedent=x.antecedent + 1 if x.antecedent else 0) for x in robot.joints[1:]
    ]
    (loop,) = robot.loops
    moved = [replace(x, antecedent=x.antecedent + 1) for x in (loop.cut, loop.twin)]
    longer = replace(
        robot, joints=tuple(joints), links=(base.links[0], *robot.links),
        loops=(replace(loop, cut=moved[0], twin=moved[1]),),
    )  # fmt: skip
    q = posture(robot)
    through = cardan.model(robot, "reactions").evaluate(q=q, qd=RATES, qdd=[1.0, 2.0])
    inverse = cardan.model(longer, "inverse-dynamics")
    tau = inverse.evaluate(q=np.r_[0.0, q], qd=np.r_[0.0, RATES], qdd=[0.0, 1.0, 2.0]).tau
    near(tau[0], through[0, 0], 1e-8)
    near(tau[1], through[0, 2], 1e-8)


def test_reactions_with_elastic_joints() -> None:
    """The elastic joint's acceleration follows; then they are those of the same robot, rigid."""
    rigid = cardan.load("planar2r")
    rigid = rigid.with_values(dict.fromkeys(rigid.parameters, 0.7))
    joints = list(rigid.joints)
    joints[1] = replace(joints[1], elastic=True, active=False, stiffness=40, damping=0.3)
    soft = replace(rigid, joints=tuple(joints))
    n = rigid.n
    q, qd, given = 0.1 * np.arange(n), 0.2 - 0.1 * np.arange(n), np.linspace(0.5, 1, n - 1)
    rates = cardan.model(soft, "inverse-dynamics").evaluate(q=q, qd=qd, qdd=given)
    through = cardan.model(soft, "reactions").evaluate(q=q, qd=qd, qdd=given)
    qdd = np.insert(given, 1, rates.qdd_e)
    near(through, cardan.model(rigid, "reactions").evaluate(q=q, qd=qd, qdd=qdd), 1e-11, 1e-11)


def test_what_cannot_be_is_told() -> None:
    other = of_table_1()
    with pytest.raises(cardan.ModelError, match="moves no inertia of the tree"):
        cardan.model(other, "direct-dynamics", method="recursive")
    geometry = cardan.model(other, "loop-geometry")
    with pytest.raises(cardan.InputError, match="6 elastic"):
        geometry.solve([0, 0.1], q_e=[0, 0])
    with pytest.raises(cardan.InputError, match="one configuration"):
        geometry.solve([[0, 0.1]], q_e=BENT)


def test_a_spring_beside_a_motor_counts_where_the_motor_is_free() -> None:
    robot = cardan.load("flexible2r")
    joints = [replace(x, spring=1e9) for x in robot.joints]
    held = cardan.natural_frequencies(robot, [0.3, 0.5], "locked")
    free = cardan.natural_frequencies(replace(robot, joints=tuple(joints)), [0.3, 0.5], "free")
    near(free[: len(held)], held, 1e-4)
