"""Inertia and damping of MJCF that stand outside the joints: those of actuators and tendons, and
the springs and dampers that are given by a time constant.

[MJCF: the XML reference of the MuJoCo documentation.] An actuator adds armature gear^2 and damping
gear^2 to its joint or tendon. A tendon of length l = sum c_j q_j adds armature c_j c_k to the
inertia matrix: with one joint that is an inertia of the joint; with several there is no place for
it in a robot. `springdamper` = (T, z) makes the joint an oscillator of that time constant and
damping ratio where the file draws it: its damping is 2 / (T w), its stiffness 1 / (T^2 z^2 w), with
w the joint's diagonal entry of the inverse of the inertia matrix there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..bodies import Body, moved
from ..frames import Array
from ..robot import PRISMATIC
from ..values.expression import number
from ..xml.source import shown
from .model import Mjcf

__all__ = ["Drives", "drives_of", "weights"]


@dataclass
class Drives:
    """What joints get from elsewhere, by name, and the joints that an actuator moves, alone or with
    others by a tendon."""

    armature: dict[str, float] = field(default_factory=dict)
    damping: dict[str, float] = field(default_factory=dict)
    driven: set[str] = field(default_factory=set)
    pulled: set[str] = field(default_factory=set)  # by an actuator on a tendon

    def add(self, joint: str, armature: float, damping: float) -> None:
        self.armature[joint] = self.armature.get(joint, 0.0) + armature
        self.damping[joint] = self.damping.get(joint, 0.0) + damping


def drives_of(mjcf: Mjcf) -> Drives:
    """What actuators and tendons add to the joints; a fault where a robot cannot hold it."""
    drives = Drives()
    tendons: dict[str, float] = {}  # inertia that actuators add
    for element in mjcf.root.iterfind("actuator/*"):
        gear = (mjcf.numbers(element, "gear", (1.0,)) or [1.0])[0]
        armature = mjcf.number(element, "armature") * gear**2
        damping, *higher = mjcf.numbers(element, "damping", (0.0,)) or [0.0]
        joint = element.get("joint") or element.get("jointinparent")
        tendon = element.get("tendon")
        if joint:
            drives.driven.add(joint)
            drives.add(joint, armature, damping * gear**2)
            if any(higher):
                words = "damping of higher order than linear is left out"
                mjcf.remark(words, joint, element)
        elif tendon:
            tendons[tendon] = tendons.get(tendon, 0.0) + armature
            if damping or any(higher):
                mjcf.remark("damping of tendons is left out", tendon, element)
        elif armature:
            words = "the armature of an actuator that moves no joint or tendon has no place"
            mjcf.fault(words, element)
    for element in mjcf.root.iterfind("tendon/*"):
        name = element.get("name", "")
        if name in tendons:
            drives.pulled |= {x.get("joint", "") for x in element if x.tag == "joint"}
        inertia = mjcf.number(element, "armature") + tendons.get(name, 0.0)
        joints = [inner for inner in element if inner.tag == "joint"]
        if inertia and element.tag == "fixed" and len(joints) == 1:
            coefficient = mjcf.number(joints[0], "coef")
            drives.add(joints[0].get("joint", ""), inertia * coefficient**2, 0.0)
        elif inertia:
            mjcf.fault(
                f"the armature of tendon '{shown(name)}' couples several joints, which a robot"
                " cannot hold: remove it, or give the joints their own", element,
            )  # fmt: skip
    return drives


def weights(bodies: Sequence[Body], drawn: Sequence[Array], floating: bool) -> Mapping[str, float]:
    """1 / (M^-1)_jj of every joint, where the file draws the bodies.

    drawn: their frames in the world. Revolute: w = a, v = a x (c - p) at a centre of mass c;
    prismatic: v = a. A floating base comes first, with six freedoms of its own."""
    base = 6 if floating else 0
    count = base + len(bodies) - 1
    M = np.zeros((count, count))
    rows: list[list[int]] = [[]]  # the freedoms that move each body
    for i, body in enumerate(bodies):
        if i:
            rows.append([*rows[body.parent], base + i - 1])
            M[base + i - 1, base + i - 1] += number(body.joint.IA) or 0.0
        elif floating:
            rows[0] = list(range(6))
        for mass in moved(body.masses, drawn[i]):
            J = np.zeros((6, len(rows[i])))  # of v and w
            for k, row in enumerate(rows[i]):
                J[:, k] = _velocity(bodies, drawn, row, base, mass.centre)
            G = np.zeros((6, 6))
            G[:3, :3], G[3:, 3:] = mass.mass * np.eye(3), mass.inertia
            M[np.ix_(rows[i], rows[i])] += J.T @ G @ J
    try:
        diagonal = np.linalg.inv(M).diagonal()
    except np.linalg.LinAlgError:  # something moves without inertia, which MuJoCo refuses
        diagonal = np.linalg.pinv(M, hermitian=True).diagonal()
    return {
        body.joint.name: 1 / max(float(diagonal[base + i]), 1e-14)
        for i, body in enumerate(bodies[1:])
    }


def _velocity(
    bodies: Sequence[Body], drawn: Sequence[Array], row: int, base: int, at: Array
) -> Array:
    """Velocity of a point and angular velocity that unit speed of one freedom gives it."""
    if row < base:
        unit = np.eye(3)[row % 3]
        if row < 3:
            return np.concatenate((unit, np.zeros(3)))
        axis, point = unit, drawn[0][:3, 3]
    else:
        body, T = bodies[row - base + 1], drawn[row - base + 1]
        axis = T[:3, :3] @ body.axis
        if body.joint.sigma == PRISMATIC:
            return np.concatenate((axis, np.zeros(3)))
        point = T[:3, :3] @ (np.zeros(3) if body.point is None else body.point) + T[:3, 3]
    return np.concatenate((np.cross(axis, at - point), axis))
