"""What MJCF gives joints from outside: inertia, damping and greatest torques of actuators and
tendons, and the springs and dampers that are given by a time constant.

[MJCF: the XML reference of the MuJoCo documentation.] An actuator adds armature gear^2 and damping
gear^2 to its joint or tendon. A tendon of length l = sum c_j q_j adds armature c_j c_k to the
inertia matrix: with one joint that is an inertia of the joint; with several there is no place for
it in a robot. `springdamper` = (T, z) makes the joint an oscillator of that time constant and
damping ratio where the file draws it: its damping is 2 / (T w), its stiffness 1 / (T^2 z^2 w), with
w the joint's diagonal entry of the inverse of the inertia matrix there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

import numpy as np

from ..bodies import Body, moved
from ..frames import Array, decimal_value
from ..robot import FIXED, PRISMATIC, Drive, Joint
from ..values.expression import number
from ..xml.source import shown
from .model import Mjcf

Range = tuple[float, float]
_ANY: Range = (-math.inf, math.inf)
_FOLLOW = ("none", "filter", "filterexact")  # dynamics that end in the control itself


@dataclass(frozen=True)
class Load:
    """Inertia and friction, by the names of `Joint`."""

    IA: float = 0.0
    FV: float = 0.0
    FQ: float = 0.0
    FS: float = 0.0

    def __add__(self, other: Load) -> Load:
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Load(*(x + y for x, y in pairs))

    def times(self, k: float) -> Load:
        return Load(*(k * x for x in astuple(self)))


@dataclass(frozen=True)
class Tendon:
    """A tendon with inertia or friction: its name, its joints with their coefficients."""

    name: str
    joints: tuple[tuple[str, float], ...]
    load: Load


@dataclass
class Drives:
    """What joints get from elsewhere, by name, and the joints that an actuator moves, alone or with
    others by a tendon."""

    armature: dict[str, float] = field(default_factory=dict)
    damping: dict[str, float] = field(default_factory=dict)
    drag: dict[str, float] = field(default_factory=dict)  # damping that grows with the speed
    friction: dict[str, float] = field(default_factory=dict)
    driven: set[str] = field(default_factory=set)
    pulled: set[str] = field(default_factory=set)  # by an actuator on a tendon

    forces: dict[str, Range] = field(default_factory=dict)  # of all actuators together

    tendons: list[Tendon] = field(default_factory=list)  # of several joints

    def add(self, joint: str, load: Load, ratio: float) -> None:
        """What turns at ratio times the speed of a joint, as it is felt there."""
        self.armature[joint] = self.armature.get(joint, 0.0) + load.IA * ratio**2
        self.damping[joint] = self.damping.get(joint, 0.0) + load.FV * ratio**2
        self.drag[joint] = self.drag.get(joint, 0.0) + load.FQ * abs(ratio) ** 3
        self.friction[joint] = self.friction.get(joint, 0.0) + load.FS * abs(ratio)

    def push(self, joint: str, force: Range) -> None:
        low, high = self.forces.get(joint, (0.0, 0.0))
        self.forces[joint] = low + force[0], high + force[1]


def drives_of(mjcf: Mjcf) -> Drives:
    """What actuators and tendons add to the joints; a fault where a robot cannot hold it."""
    drives = Drives()
    tendons: dict[str, Load] = {}  # what actuators add
    pulls: dict[str, list[tuple[float, Range]]] = {}  # gear and force of the actuators of each
    for element in mjcf.root.iterfind("actuator/*"):
        gear = (mjcf.numbers(element, "gear", (1.0,)) or [1.0])[0]
        joint = element.get("joint") or element.get("jointinparent")
        tendon = element.get("tendon")
        load = _load(mjcf, element, joint or tendon or "").times(gear**2)
        _tell_feedback(mjcf, element, joint or tendon or "")
        if joint:
            drives.driven.add(joint)
            drives.add(joint, load, 1.0)
            drives.push(joint, _times(gear, _force(mjcf, element)))
        elif tendon:
            tendons[tendon] = tendons.get(tendon, Load()) + load
            pulls.setdefault(tendon, []).append((gear, _force(mjcf, element)))
        elif load.IA:
            words = "the armature of an actuator that moves no joint or tendon has no place"
            mjcf.fault(words, element)
    for element in mjcf.root.iterfind("tendon/*"):
        name = element.get("name", "")
        joints = tuple(
            (inner.get("joint", ""), mjcf.number(inner, "coef")) for inner in element
            if inner.tag == "joint"
        )  # fmt: skip
        if name in pulls:
            force = _pull(mjcf, element, pulls[name])
            drives.pulled |= {joint for joint, _ in joints}
            for joint, coefficient in joints:
                drives.push(joint, _times(coefficient, force))
        load = _load(mjcf, element, name) + tendons.get(name, Load())
        if element.tag == "spatial":
            _tell_spatial(mjcf, element, load)
        elif len(joints) == 1:
            drives.add(joints[0][0], load, joints[0][1])
        elif load != Load():
            drives.tendons.append(Tendon(name, joints, load))
    _check_names(mjcf)
    return drives


def _load(mjcf: Mjcf, element: Any, name: str) -> Load:
    """Inertia and friction of an actuator or a tendon."""
    damping = mjcf.numbers(element, "damping", ()) or []
    FV, FQ, *higher = (*damping, 0.0, 0.0)
    if any(higher):
        mjcf.remark("damping of higher order than quadratic is left out", name, element)
    FS = mjcf.number(element, "frictionloss")
    if mjcf.off("damper"):
        FV = FQ = 0.0
    return Load(mjcf.number(element, "armature"), FV, FQ, 0.0 if mjcf.off("frictionloss") else FS)


def _tell_spatial(mjcf: Mjcf, element: Any, load: Load) -> None:
    """A tendon over sites has a lever that changes: nothing of it has a place in a robot."""
    name = element.get("name", "")
    if load.IA:
        words = f"the armature of tendon '{shown(name)}', which runs over sites, has no place"
        mjcf.fault(f"{words}: remove it, or give the joints their own", element)
    if load.FV or load.FQ:
        mjcf.remark("damping of tendons over sites is left out", name, element)
    if load.FS:
        mjcf.remark("friction of tendons over sites is left out", name, element)


def shared_drives(mjcf: Mjcf, joints: Sequence[Joint], drives: Drives) -> tuple[Drive, ...]:
    """The tendons of several joints as motors that they turn together."""
    names = {joint.name: j for j, joint in enumerate(joints, 1) if joint.sigma != FIXED}
    bends = any(joint.elastic for joint in joints)
    shared: list[Drive] = []
    for tendon in drives.tendons:
        ends = [(names[joint], ratio) for joint, ratio in tendon.joints if joint in names and ratio]
        if ends and bends and tendon.load.IA:
            words = "has no place beside elastic joints: give the joints their own"
            mjcf.fault(f"the armature of tendon '{shown(tendon.name)}' {words}", mjcf.root)
        elif ends and bends:
            words = "damping and friction of tendons beside elastic joints are left out"
            mjcf.remark(words, tendon.name, mjcf.root)
        elif ends:
            values = {key: decimal_value(x, 0.0) for key, x in vars(tendon.load).items()}
            ratios = tuple((j, decimal_value(ratio, 0.0)) for j, ratio in ends)
            shared.append(Drive(tendon.name or f"tendon{len(shared) + 1}", ratios, **values))
    return tuple(shared)


def _check_names(mjcf: Mjcf) -> None:
    """What actuators and tendons move must be there: a name that is wrong moves nothing."""
    known = {
        "joint": {e.get("name") for e in mjcf.root.iter("joint", "freejoint")},
        "tendon": {e.get("name") for e in mjcf.root.iterfind("tendon/*")},
    }
    known["jointinparent"] = known["joint"]
    for section in ("actuator/*", "tendon/*/joint"):
        for element in mjcf.root.iterfind(section):
            for key, names in known.items():
                if element.get(key) is not None and element.get(key) not in names:
                    what = f"{key.removesuffix('inparent')} '{shown(element.get(key))}'"
                    around = element if section == "actuator/*" else element.getparent()
                    mjcf.fault(f"<{around.tag}> moves {what}, which is not in this file", element)


# greatest torques


def within(mjcf: Mjcf, element: Any, force: Range) -> Range:
    """What comes of a force of actuators through a joint or a tendon."""
    return _both(force, mjcf.bounds(element, "actuatorfrcrange", "actuatorfrclimited") or _ANY)


def _force(mjcf: Mjcf, element: Any) -> Range:
    """What an actuator can exert."""
    force = mjcf.bounds(element, "forcerange", "forcelimited") or _ANY
    dynamics = mjcf.get(element, "dyntype") or "none"
    obeys = element.tag == "motor" or (element.tag == "general" and dynamics in _FOLLOW)
    if not obeys or _feeds_back(mjcf, element) or mjcf.off("clampctrl"):
        return force
    gain = 1.0
    if element.tag == "general":
        if (mjcf.get(element, "gaintype") or "fixed") != "fixed":
            return force
        gain = (mjcf.numbers(element, "gainprm", (1.0,)) or [1.0])[0]
    control = mjcf.bounds(element, "ctrlrange", "ctrllimited") or _ANY
    return _both(force, _times(gain, control))


def _pull(mjcf: Mjcf, element: Any, pulls: Sequence[tuple[float, Range]]) -> Range:
    """What the actuators of a tendon exert by it; its bounds are those of their forces together,
    before the gears."""
    if len({gear for gear, _ in pulls}) == 1:
        whole = sum(force[0] for _, force in pulls), sum(force[1] for _, force in pulls)
        return _times(pulls[0][0], within(mjcf, element, whole))
    if mjcf.get(element, "actuatorfrcrange") is not None:
        words = "torque limits of tendons whose actuators have different gears are left out"
        mjcf.remark(words, element.get("name", ""), element)
    low, high = zip(*(_times(gear, force) for gear, force in pulls), strict=True)
    return sum(low), sum(high)


def _times(k: float, force: Range) -> Range:
    """The range of k times a force; nothing comes of an unbounded one by 0."""
    ends = [k * x if k else 0.0 for x in force]
    return min(ends), max(ends)


def _both(first: Range, second: Range) -> Range:
    """The range of a force of the first one that is clamped to the second."""
    low, high = (min(max(x, second[0]), second[1]) for x in first)
    return low, high


# feedback


def _feeds_back(mjcf: Mjcf, element: Any) -> bool:
    """Does the force of an actuator depend on its position or velocity?"""
    tag = element.tag
    if tag == "general":
        kind = mjcf.get(element, "biastype")
        if kind is None:  # of another shortcut in the class of defaults
            return any(any(mjcf.numbers(element, key, ()) or []) for key in ("kp", "kv"))
        return kind != "none" and any(mjcf.numbers(element, "biasprm", ()) or [kind != "affine"])
    if tag == "cylinder":
        return any(mjcf.numbers(element, "bias", ()) or [])
    return tag not in ("motor", "adhesion", "plugin")


def _tell_feedback(mjcf: Mjcf, element: Any, moved: str) -> None:
    if moved and _feeds_back(mjcf, element):
        words = "feedback and bias of actuators (kp, kv, biasprm) are left out: torques are inputs"
        mjcf.remark(words, element.get("name") or moved, element)


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
