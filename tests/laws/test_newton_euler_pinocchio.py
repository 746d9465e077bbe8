"""Inverse dynamics against Pinocchio: every URDF of the collection, and 120 random trees.

The second model is built from the six parameters of each frame by plain NumPy matrices, so that
nothing of Cardan but the description takes part. A wrench of ours is exerted by the link on the
environment; Pinocchio's acts on the link.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.random_robots import random_robot, states

import cardan
from cardan.describe.robot import FIXED, PRISMATIC, Joint, Link, Robot
from cardan.describe.values.expression import Value, number

pinocchio = pytest.importorskip("pinocchio")

URDFS = sorted((Path(__file__).resolve().parents[3] / "shared/robots/urdf").glob("*.urdf"))
COUNT = 5  # states


def value(x: Value) -> float:
    found = number(x)
    assert found is not None
    return found


def vector(xs: Any) -> np.ndarray:
    return np.array([value(x) for x in xs])


def placement(joint: Joint) -> Any:
    """iTj at q_j = 0, [K10] (1), as a product of four textbook matrices."""

    def turn(axis: int, angle: Value) -> Any:
        c, s = np.cos(value(angle)), np.sin(value(angle))
        R = np.array([[1, 0, 0], [0, c, -s], [0, s, c]] if axis == 0 else
                     [[c, -s, 0], [s, c, 0], [0, 0, 1]])  # fmt: skip
        return pinocchio.SE3(R, np.zeros(3))

    def shift(axis: int, length: Value) -> Any:
        return pinocchio.SE3(np.eye(3), value(length) * np.eye(3)[axis])

    return (
        turn(2, joint.gamma) * shift(2, joint.b)
        * turn(0, joint.alpha) * shift(0, joint.d)
        * turn(2, joint.theta) * shift(2, joint.r)
    )  # fmt: skip


def inertia(link: Link) -> Any:
    """About the centre of mass, as Pinocchio keeps it."""
    XX, XY, XZ, YY, YZ, ZZ = vector((link.XX, link.XY, link.XZ, link.YY, link.YZ, link.ZZ))
    J = np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]])
    mass, MS = value(link.M), vector((link.MX, link.MY, link.MZ))
    c = MS / mass if mass else np.zeros(3)
    return pinocchio.Inertia(mass, c, J - mass * (c @ c * np.eye(3) - np.outer(c, c)))


class Twin:
    """A robot as a Pinocchio model: joints depth first; a moving base is a free flyer."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.model = pinocchio.Model()
        self.model.gravity.linear = vector(robot.gravity)
        self.base = 0
        if robot.base.kind == "mobile":
            flyer = pinocchio.JointModelFreeFlyer()
            self.base = self.model.addJoint(0, flyer, pinocchio.SE3.Identity(), "base")
        # link -> (Pinocchio's joint it is fixed to, its frame there)
        self.at: dict[int, tuple[int, Any]] = {0: (self.base, pinocchio.SE3.Identity())}
        self.joint: dict[int, int] = {}
        self._add_children(0)
        self.data = self.model.createData()
        self.forces = self._forces()

    def _add_children(self, i: int) -> None:
        for j, joint in enumerate(self.robot.joints, 1):
            if joint.antecedent != i:
                continue
            parent, frame = self.at[i]
            here = frame * placement(joint)
            if joint.sigma == FIXED:
                self.at[j] = (parent, here)
            else:
                kind = "PZ" if joint.sigma == PRISMATIC else "RZ"
                made = getattr(pinocchio, f"JointModel{kind}")()
                self.joint[j] = self.model.addJoint(parent, made, here, f"joint{j}")
                self.at[j] = (self.joint[j], pinocchio.SE3.Identity())
                self.model.armature[self.model.joints[self.joint[j]].idx_v] = value(joint.IA)
            id, frame = self.at[j]
            if id:
                self.model.appendBodyToJoint(id, inertia(self.robot.links[j - 1]), frame)
            self._add_children(j)

    def _forces(self) -> Any:
        forces = [pinocchio.Force.Zero() for _ in range(self.model.njoints)]
        for j, link in enumerate(self.robot.links, 1):
            id, frame = self.at[j]
            ours = pinocchio.Force(
                vector((link.FX, link.FY, link.FZ)), vector((link.CX, link.CY, link.CZ))
            )
            forces[id] = forces[id] - frame.act(ours)
        found = pinocchio.StdVec_Force()
        found.extend(forces)
        return found

    def torques(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """tau in our order, with our friction."""
        at_q = pinocchio.neutral(self.model)
        v, a = np.zeros(self.model.nv), np.zeros(self.model.nv)
        if self.base:
            base = self.robot.base
            V0, W0, VP0, WP0 = map(vector, (base.V0, base.W0, base.VP0, base.WP0))
            v[:6] = *V0, *W0
            a[:6] = *(VP0 - np.cross(W0, V0)), *WP0  # spatial, from the acceleration of the origin
        moving = [j for j, joint in enumerate(self.robot.joints, 1) if joint.sigma != FIXED]
        places = [self.model.joints[self.joint[j]] for j in moving]
        for k, place in enumerate(places):
            at_q[place.idx_q], v[place.idx_v], a[place.idx_v] = q[k], qd[k], qdd[k]
        tau = pinocchio.rnea(self.model, self.data, at_q, v, a, self.forces)
        joints = [self.robot.joints[j - 1] for j in moving]
        friction = [
            value(x.FV) * d + value(x.FS) * np.sign(d) for x, d in zip(joints, qd, strict=True)
        ]
        return np.array([tau[place.idx_v] for place in places]) + friction


@pytest.mark.parametrize("seed", range(120))
def test_random_trees(seed: int) -> None:
    """A fifth of them, of all sizes, by the cheapest program, which the search has compared with
    the plain one."""
    robot = random_robot(seed, 1 + seed % 12)
    twin, x = Twin(robot), states(robot.n, COUNT, seed)
    effort = "plain" if seed // 12 % 5 else "normal"
    found = cardan.model(robot, "inverse-dynamics", effort=effort).evaluate(**x)
    for k in range(COUNT):
        expected = twin.torques(x["q"][k], x["qd"][k], x["qdd"][k])
        near(found[k], expected, 1e-10)


def test_a_long_chain() -> None:
    robot = random_robot(1, 60, tree=False)
    twin, x = Twin(robot), states(robot.n, COUNT)
    found = cardan.model(robot, "inverse-dynamics").evaluate(**x)
    for k in range(COUNT):
        expected = twin.torques(x["q"][k], x["qd"][k], x["qdd"][k])
        near(found[k], expected, 1e-10)


@pytest.mark.skipif(not URDFS, reason="the collection of URDF files is not beside the repository")
@pytest.mark.parametrize("path", URDFS, ids=lambda path: path.stem)
def test_urdf_files(path: Path) -> None:
    """Our reader and our recursion against Pinocchio's reader and its recursion, joint by name."""
    robot = cardan.load(path)
    model = pinocchio.buildModelFromUrdf(str(path))
    data = model.createData()
    model.gravity.linear = vector(robot.gravity)
    moving = [joint for joint in robot.joints if joint.sigma != FIXED]
    places = [model.joints[model.getJointId(joint.name)] for joint in moving]
    assert sum(place.nv for place in places) == model.nv
    x = states(robot.n, COUNT)
    found = cardan.model(robot, "inverse-dynamics", effort="plain").evaluate(**x)
    for row in range(COUNT):
        q, v, a = pinocchio.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        for k, place in enumerate(places):
            angle = x["q"][row, k]
            q[place.idx_q : place.idx_q + place.nq] = (
                angle if place.nq == 1 else (np.cos(angle), np.sin(angle))
            )
            v[place.idx_v], a[place.idx_v] = x["qd"][row, k], x["qdd"][row, k]
        tau = pinocchio.rnea(model, data, q, v, a)
        expected = np.array([tau[place.idx_v] for place in places])
        expected += [value(j.FV) * d + value(j.FS) * np.sign(d)
                     for j, d in zip(moving, x["qd"][row], strict=True)]  # fmt: skip
        near(found[row], expected, 1e-10)
