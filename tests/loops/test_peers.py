"""Closed-loop dynamics against Pinocchio's constraint dynamics: the tree built joint by joint, the
loops as its own constraints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.loops.mechanisms import MECHANISMS, loaded, states

import cardan
from cardan.describe.expression import number
from cardan.describe.robot import GEOMETRY, INERTIA, PRISMATIC, Robot

pin: Any = pytest.importorskip("pinocchio")


def placed(joint: Any) -> Any:
    """iTj without its variable."""
    gamma, b, alpha, d, theta, r = (float(number(getattr(joint, key)) or 0) for key in GEOMETRY)
    turn = pin.utils.rotate
    M = pin.SE3(turn("z", gamma), np.array([0, 0, b]))
    M = M * pin.SE3(turn("x", alpha), np.zeros(3)) * pin.SE3(np.eye(3), np.array([d, 0, 0]))
    return M * pin.SE3(turn("z", theta), np.zeros(3)) * pin.SE3(np.eye(3), np.array([0, 0, r]))


def peer(robot: Robot) -> tuple[Any, list[Any], list[int]]:
    """(model, constraints, rows of its velocity vector in our order); joints added depth first."""
    model = pin.Model()
    model.gravity.linear = np.array([float(number(g) or 0) for g in robot.gravity])
    index, at = {0: 0}, {0: pin.SE3.Identity()}

    def add(i: int) -> None:
        for j, joint in enumerate(robot.joints, 1):
            if joint.antecedent != i:
                continue
            if joint.sigma == 2:
                index[j], at[j] = index[i], at[i] * placed(joint)
            else:
                kind = pin.JointModelPZ() if joint.sigma == PRISMATIC else pin.JointModelRZ()
                index[j] = model.addJoint(index[i], kind, at[i] * placed(joint), f"j{j}")
                at[j] = pin.SE3.Identity()
            XX, XY, XZ, YY, YZ, ZZ, X, Y, Z, M = (
                float(number(getattr(robot.links[j - 1], key)) or 0) for key in INERTIA
            )
            if M:
                c = np.array([X, Y, Z]) / M
                J = np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]])
                J = J - M * (c @ c * np.eye(3) - np.outer(c, c))
                model.appendBodyToJoint(index[j], pin.Inertia(M, c, J), at[j])
            add(j)

    add(0)
    constraints = []
    for loop in robot.loops:
        one, other = loop.cut, loop.twin
        ball = loop.kind == "spherical" or loop.cut.sigma == 0
        assert ball
        constraints.append(
            pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, model,
                index[one.antecedent], at[one.antecedent] * placed(one),
                index[other.antecedent], at[other.antecedent] * placed(other),
                pin.ReferenceFrame.LOCAL,
            )
        )  # fmt: skip
    moving = [j for j, joint in enumerate(robot.joints, 1) if joint.sigma != 2]
    return model, constraints, [model.joints[index[j]].idx_v for j in moving]


PLAIN = ["stewart", "delta", "rssr", "four_bar", "planar_3rrr", "fivebar"]


@pytest.mark.parametrize("name", PLAIN)
def test_direct_dynamics_is_pinocchios(name: str) -> None:
    """Pins of planar loops are points there: the plane holds the rest."""
    robot = loaded(MECHANISMS[name]() if name in MECHANISMS else cardan.load(name))
    joints = tuple(replace(joint, IA=0, FV=0, FS=0) for joint in robot.joints)
    robot = replace(robot, joints=joints)
    _, x = states(robot, 6)
    tau = np.random.default_rng(0).normal(size=x["qd"].shape)
    program = cardan.model(robot, "direct-dynamics", effort="plain")
    found = program.evaluate(q=x["q"], qd=x["qd"], tau=tau)
    G = cardan.model(robot, "loop-kinematics", details=True).evaluate(q=x["q"], qd=x["qd"]).G
    model, constraints, order = peer(robot)
    moving = [joint for joint in robot.joints if joint.sigma != 2]
    active = [k for k, joint in enumerate(moving) if joint.active]
    for k in range(len(tau)):
        q, v, push = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
        q[order], v[order] = x["q"][k], G[k] @ x["qd"][k]
        push[np.array(order)[active]] = tau[k]
        qdd = solved(model, constraints, q, v, push)[order][active]
        assert np.abs(qdd - found[k]).max() < 1e-8 * (np.abs(found[k]).max() + 1)


def solved(model: Any, constraints: list[Any], q: Any, v: Any, tau: Any) -> Any:
    """Pinocchio's constraint dynamics; proximal steps because planar loops repeat equations."""
    data = model.createData()
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for constraint in constraints:
        models.append(constraint)
        datas.append(constraint.createData())
    pin.initConstraintDynamics(model, data, models, datas)
    settings = pin.ProximalSettings(1e-14, 1e-10, 200)
    qdd = pin.constraintDynamics(model, data, q, v, tau, models, datas, settings)
    return np.array(qdd)
