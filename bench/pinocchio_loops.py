"""A peer for closed loops: Pinocchio's tree of the same numbers, the loops as its constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from cardan.describe.robot import FIXED, GEOMETRY, INERTIA, PRISMATIC, Robot
from cardan.describe.values.expression import number

__all__ = ["Closed", "peer", "solved"]


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
            if joint.sigma == FIXED:
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
        assert loop.kind == "spherical" or loop.cut.sigma == 0
        constraints.append(
            pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, model,
                index[one.antecedent], at[one.antecedent] * placed(one),
                index[other.antecedent], at[other.antecedent] * placed(other),
                pin.ReferenceFrame.LOCAL,
            )
        )  # fmt: skip
    moving = [j for j, joint in enumerate(robot.joints, 1) if joint.sigma != FIXED]
    return model, constraints, [model.joints[index[j]].idx_v for j in moving]


class Closed:
    """Constraint dynamics with its memory, to be called many times."""

    def __init__(self, model: Any, constraints: list[Any], accuracy: float = 1e-14) -> None:
        self.model, self.data = model, model.createData()
        self.models, self.datas = (
            pin.StdVec_RigidConstraintModel(),
            pin.StdVec_RigidConstraintData(),
        )
        for constraint in constraints:
            self.models.append(constraint)
            self.datas.append(constraint.createData())
        pin.initConstraintDynamics(model, self.data, self.models, self.datas)
        self.settings = pin.ProximalSettings(accuracy, 1e-10, 200)

    def __call__(self, q: Any, v: Any, tau: Any) -> Any:
        return pin.constraintDynamics(
            self.model, self.data, q, v, tau, self.models, self.datas, self.settings
        )


def solved(model: Any, constraints: list[Any], q: Any, v: Any, tau: Any) -> Any:
    """Pinocchio's constraint dynamics; proximal steps because planar loops repeat equations."""
    return np.array(Closed(model, constraints)(q, v, tau))
