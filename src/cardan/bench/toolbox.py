"""The Robotics Toolbox for Python: its DHRobot with modified parameters; serial chains only."""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import Any

import numpy as np

from ..describe.robot import PRISMATIC, REVOLUTE, Robot
from ..describe.values.expression import number
from .case import Case, Peer, floats
from .plain import gravity, plain_bodies


def toolbox_peer(robot: Robot) -> Peer | str:
    import roboticstoolbox as rtb

    serial = all(joint.antecedent == j for j, joint in enumerate(robot.joints))
    plain = all(number(joint.gamma) == 0 == number(joint.b) for joint in robot.joints)
    if floats(robot) or not (
        serial and plain and all(joint.sigma in (0, 1) for joint in robot.joints)
    ):
        return "DHRobot holds serial chains of alpha, d, theta, r on a fixed base only"
    start = time.perf_counter()
    links = [
        _link(rtb, joint, body)
        for joint, body in zip(robot.joints, plain_bodies(robot), strict=True)
    ]
    peer = rtb.DHRobot(links, name="peer", gravity=_sign(rtb) * gravity(robot))
    built = time.perf_counter() - start

    def inverse(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Any:
        return peer.rne(q, qd, qdd)

    def inertia(q: np.ndarray) -> Any:
        return peer.inertia(q)

    def direct(q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> Any:
        return peer.accel(q, qd, tau)

    calls: dict[str, Any] = {
        "inverse-dynamics": inverse,
        "inertia-matrix": inertia,
        "direct-dynamics": direct,
    }
    cases = {name: Case(call, generation=built) for name, call in calls.items()}
    return Peer(
        "Robotics Toolbox", version("roboticstoolbox-python"), "DHRobot: rne in C, accel", cases
    )


def _sign(rtb: Any) -> float:
    """Its versions differ on the sign of gravity: ask with a pendulum held out along x.

    Holding it against gravity along -z takes a positive torque."""
    link = rtb.RevoluteMDH(alpha=np.pi / 2, m=1, r=[1, 0, 0], I=np.zeros((3, 3)))
    pendulum = rtb.DHRobot([link], gravity=np.array([0, 0, -1.0]))
    return float(np.sign(pendulum.rne(np.zeros(1), np.zeros(1), np.zeros(1)).item()))


def _link(rtb: Any, joint: Any, body: Any) -> Any:
    mass = body.mass
    com = body.first / mass if mass else np.zeros(3)
    about = body.inertia - mass * (com @ com * np.eye(3) - np.outer(com, com))
    common = {"a": number(joint.d), "alpha": number(joint.alpha), "m": mass, "r": com, "I": about}
    if joint.sigma == PRISMATIC:
        return rtb.PrismaticMDH(theta=number(joint.theta), offset=number(joint.r), **common)
    assert joint.sigma == REVOLUTE
    return rtb.RevoluteMDH(d=number(joint.r), offset=number(joint.theta), **common)
