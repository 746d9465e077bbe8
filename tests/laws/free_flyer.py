"""A random robot on a floating base, and Pinocchio's model of it with the very same link frames."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from tests.laws.draw import draw_floating, without_loads
from tests.random_robots import random_robot

import cardan
from cardan.describe.robot import REVOLUTE, Robot
from cardan.models.bodies import bodies

__all__ = ["COUNT", "Flyer", "floating_robot", "flyer", "state_of_base"]

COUNT = 3
Array = np.ndarray


@cache
def floating_robot(seed: int, n: int = 5, rotors: bool = True) -> Robot:
    """Without friction and external wrenches."""
    robot = random_robot(seed, n, fixed=False, base_motion=False)
    robot = without_loads(draw_floating(robot, np.random.default_rng(seed)))
    if rotors:
        return robot
    return replace(robot, joints=tuple(replace(joint, IA=0) for joint in robot.joints))


def state_of_base(seed: int = 0) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    g0 = rng.normal(size=(COUNT, 3))
    return {
        "V0": rng.uniform(-2, 2, (COUNT, 6)),
        "V0d": rng.uniform(-2, 2, (COUNT, 6)),
        "g0": 9.81 * g0 / np.linalg.norm(g0, axis=1, keepdims=True),
    }


@dataclass(frozen=True)
class Flyer:
    """Pinocchio's side; its universe has the axes of frame 0, so gravity is g0."""

    pin: Any
    model: Any
    data: Any
    state: dict[str, Array]

    def at(self, k: int) -> tuple[Array, Array, Array]:
        """q, v, a of state k with the base's spatial acceleration: theirs = ours - w x v."""
        x, q = self.state, self.pin.neutral(self.model)
        q[7:] = x["q"][k]
        self.model.gravity.linear = x["g0"][k]
        drift = np.cross(x["V0"][k, 3:], x["V0"][k, :3])
        base = x["V0d"][k] - np.r_[drift, np.zeros(3)]
        return q, np.r_[x["V0"][k], x["qd"][k]], np.r_[base, x["qdd"][k]]


@cache
def flyer(seed: int, n: int = 5) -> tuple[Robot, Flyer]:
    """A robot without rotors (Pinocchio's armatures are another matter), and its twin."""
    import pinocchio as pin

    robot = floating_robot(seed, n, rotors=False)
    scene = bodies(robot, float)
    model = pin.Model()
    ids = {0: model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")}
    for link, joint in zip(scene.links, robot.joints, strict=True):
        T = link.frame(0.0)
        R = np.column_stack([list(T.iRj @ e) for e in _axes()]).astype(float)
        kind = pin.JointModelRZ() if joint.sigma == REVOLUTE else pin.JointModelPZ()
        P = np.array([float(x) for x in T.iPj])
        ids[link.j] = model.addJoint(ids[link.i], kind, pin.SE3(R, P), joint.name)
    for body in (scene.base, *scene.links):
        M = float(body.M)
        if M:
            c = np.array([float(x) for x in body.MS]) / M
            J = np.array([[float(x) for x in row] for row in body.J.rows])
            central = J - M * (c @ c * np.eye(3) - np.outer(c, c))
            own = pin.Inertia(M, c, central)
            model.appendBodyToJoint(ids[body.j], own, pin.SE3.Identity())
    rng = np.random.default_rng(seed)
    joints = {name: rng.uniform(-2, 2, (COUNT, robot.n)) for name in ("q", "qd", "qdd")}
    return robot, Flyer(pin, model, model.createData(), {**joints, **state_of_base(seed)})


def _axes() -> list[Any]:
    from cardan.algebra.vector import Vec

    return [Vec(1, 0, 0), Vec(0, 1, 0), Vec(0, 0, 1)]


def evaluate(robot: Robot, name: str, state: dict[str, Array], **options: Any) -> Any:
    """A model at the states; each takes what it reads."""
    program = cardan.model(robot, name, **options)
    return program.evaluate(**{key: state[key] for key in program.inputs})
