"""A peer: Pinocchio's wheel, on the model built from the same numbers."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from cardan.describe.robot import GEOMETRY, Robot
from cardan.describe.values.expression import number

__all__ = ["in_a_loop", "in_one_call", "pinocchio_model"]


def in_a_loop(
    pinocchio: Any, model: Any, x: dict[str, Any]
) -> tuple[Callable[[], float], np.ndarray]:
    """Pinocchio's rnea state by state, as a script would write it; and its torques."""
    data, rnea = model.createData(), pinocchio.rnea
    rows = list(zip(x["q"], x["qd"], x["qdd"], strict=True))

    def measure() -> float:
        start = time.perf_counter()
        for q, qd, qdd in rows:
            rnea(model, data, q, qd, qdd)
        return (time.perf_counter() - start) / len(rows)

    return measure, np.array([rnea(model, data, *row).copy() for row in rows])


def in_one_call(pinocchio: Any, model: Any, x: dict[str, Any]) -> Callable[[], float]:
    """Pinocchio's own batch call, on one thread; states are its columns."""
    pool = pinocchio.ModelPool(model, 1)
    columns = [np.asfortranarray(x[name].T) for name in ("q", "qd", "qdd")]

    def measure() -> float:
        start = time.perf_counter()
        pinocchio.rneaInParallel(1, pool, *columns)
        return (time.perf_counter() - start) / len(x["q"])

    return measure


def pinocchio_model(pinocchio: Any, robot: Robot) -> Any:
    """A chain of revolute joints as Pinocchio's model, from the description's numbers."""
    model = pinocchio.Model()
    model.gravity.linear = np.array([number(g) for g in robot.gravity])
    for joint, link in zip(robot.joints, robot.links, strict=True):
        gamma, b, alpha, d, theta, r = (number(getattr(joint, key)) for key in GEOMETRY)
        frame = pinocchio.SE3.Identity()
        for axis, angle, shift in (("z", gamma, b), ("x", alpha, d), ("z", theta, r)):
            unit = np.eye(3)[0 if axis == "x" else 2]
            turn = pinocchio.AngleAxis(angle, unit).toRotationMatrix()
            frame = frame * pinocchio.SE3(turn, shift * unit)
        id = model.addJoint(joint.antecedent, pinocchio.JointModelRZ(), frame, joint.name)
        mass = number(link.M)
        com = np.array([number(x) for x in (link.MX, link.MY, link.MZ)]) / mass
        XX, XY, XZ = (number(x) for x in (link.XX, link.XY, link.XZ))
        YY, YZ, ZZ = (number(x) for x in (link.YY, link.YZ, link.ZZ))
        about_origin = np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]])
        about_com = about_origin - mass * (com @ com * np.eye(3) - np.outer(com, com))
        body = pinocchio.Inertia(mass, com, about_com)
        model.appendBodyToJoint(id, body, pinocchio.SE3.Identity())
    return model
