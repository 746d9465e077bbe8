"""A robot -> MJCF text: each link becomes a body, in the file's own frame where the robot knows
one, else in Khalil's; its joint turns about or slides along the z axis of Khalil's frame.

Other frames of the robot are sites, or bodies without mass; <custom> names the end effector.

Rotor inertia is armature, FV and FQ are damping, FS is frictionloss, a spring beside the motor is
stiffness and springref, and active joints get a motor. The other coefficients of the friction are
numbers of <custom>, which MuJoCo keeps and does not use. A loop is a constraint between two sites:
<connect> for a spherical cut joint, two of them along its axis for a revolute one, <weld> for a
rigid one; a coupling is an equality of two joints. MJCF holds numbers only, so free symbols are
refused, and so is what it has no word for: other cut joints, elastic joints, external wrenches,
flexible links, a base that moves as prescribed. MuJoCo gives links without mass a least one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arguments import named_arguments
from ...errors import DescriptionError, Fault
from ..frames import Array, frame
from ..robot import DRIVE, FIXED, FURTHER, PRISMATIC, Joint, Link, Loop, Robot
from ..xml.write import (
    as_float,
    between,
    centred,
    direction,
    element,
    faults_of,
    frame_matrix,
    free_name,
    joint_matrix,
    names_of,
    own_frames,
    unheld,
    world_frame,
)
from .read import CUSTOM

_APART = 0.1  # m, between the two points that hold the axis of a revolute cut joint
_LEAST = {"boundmass": "1e-9", "boundinertia": "1e-9"}


@named_arguments
def write_mjcf(robot: Robot) -> str:
    """The robot as MJCF text."""
    faults = [*faults_of(robot, "MJCF", loops=True), *_lost(robot)]
    if faults:
        raise DescriptionError(faults)
    Z, g = world_frame(robot)
    compiler = {"angle": "radian", "inertiafromgeom": "false", "balanceinertia": "false"}
    links = zip(robot.links, robot.joints, strict=True)
    if any(link.M == 0 and joint.sigma != FIXED for link, joint in links):
        compiler |= _LEAST  # MuJoCo's own remedy for links without mass, which it does not take
    name = robot.base.link.name
    if name == "world":  # a body of its own in MJCF, which is there already
        name = free_name("base", names_of(robot))
    own = own_frames(robot, on_axis=False)
    free = element("freejoint", {"name": "base_free"}) if robot.base.kind == "floating" else []
    base = element("body", {"name": name, **_place(Z)}, *free, *_inside(robot, 0, own))
    end = {"name": "end_effector", "data": robot.end_effector}
    custom = element("text", end) if robot.end_effector else []
    for joint in robot.joints:
        for key in CUSTOM:
            data = [as_float(getattr(joint, key))]
            if data != [0.0]:
                name = f"cardan:{joint.name}:{key}"
                custom += element("numeric", {"name": name, "data": data})
    lines = [
        *element("compiler", compiler),
        *element("option", {"gravity": g}),
        *element("worldbody", {}, *base),
        *(element("equality", {}, *_equality(robot)) if robot.constrained else []),
        *_actuators(robot),
        *(element("custom", {}, *custom) if custom else []),
    ]
    head = '<?xml version="1.0"?>'
    return "\n".join([head, *element("mujoco", {"model": robot.name}, *lines), ""])


def _lost(robot: Robot) -> list[Fault]:
    loops = [
        ("", f"loop '{loop.name}', whose cut joint is {_kind(loop)}")
        for loop in robot.loops if _kind(loop) not in ("spherical", "revolute", "fixed")
    ]  # fmt: skip
    loops += [
        (f"{loop.cut.name} of loop {loop.name}", "rotor and friction of a cut joint")
        for loop in robot.loops
        if any(getattr(loop.cut, key) != 0 for key in (*DRIVE, *FURTHER))
    ]  # fmt: skip
    loops += [
        (link.name, "spring of a passive joint")  # which would be read as an elastic joint
        for link, joint in zip(robot.links, robot.joints, strict=True)
        if joint.spring != 0 and not joint.active and joint.mimic is None
    ]
    return unheld(robot, "MJCF", loops, False)


def _kind(loop: Loop) -> str:
    return loop.kind or ("revolute", "prismatic", "fixed")[loop.cut.sigma]


def _place(T: Array) -> dict[str, Array]:
    """Position and axes, where they are not those of the parent."""
    pos = {"pos": T[:3, 3]} if T[:3, 3].any() else {}
    turned = not np.array_equal(T[:3, :3], np.eye(3))
    return pos | ({"xyaxes": T[:3, :2].T.ravel()} if turned else {})


def _inside(robot: Robot, j: int, own: list[Array]) -> list[str]:
    """What stands in the body of link j (0: the base): its mass, its frames, its successors."""
    link = robot.links[j - 1] if j else robot.base.link
    lines = [*_inertial(link, own[j]), *_frames(robot, j, link.name, own[j])]
    for k, joint in enumerate(robot.joints, 1):
        if joint.antecedent == j:
            T = between(own[j], joint_matrix(joint), own[k])
            name = robot.links[k - 1].name
            inner = [*_joint(joint, own[k]), *_inside(robot, k, own)]
            lines += element("body", {"name": name, **_place(T)}, *inner)
    return lines


def _joint(joint: Joint, E: Array) -> list[str]:
    if joint.sigma == FIXED:
        return []
    turns = joint.sigma != PRISMATIC
    words: dict[str, Any] = {"name": joint.name, "type": "hinge" if turns else "slide"}
    drive = {"damping": joint.FV, "frictionloss": joint.FS, "armature": joint.IA,
             "stiffness": joint.spring, "springref": joint.neutral}  # fmt: skip
    words |= {key: [as_float(x)] for key, x in drive.items() if x != 0}
    if joint.FQ != 0:
        words["damping"] = [as_float(joint.FV), as_float(joint.FQ)]
    low, high = joint.limits.lower, joint.limits.upper
    if low is not None and high is not None:
        words["range"] = [as_float(low), as_float(high)]
    if not np.array_equal(E, np.eye(4)):
        point = between(E, np.eye(4), np.eye(4))[:3, 3]
        words["axis"] = direction(E)
        words |= {"pos": point} if turns and point.any() else {}
    return element("joint", words)


def _inertial(link: Link, own: Array) -> list[str]:
    body = centred(link, own, "MJCF")
    if body is None:
        return []
    mass, c, J = body
    moments = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    return element("inertial", {"pos": c, "mass": [mass], "fullinertia": moments})


def _frames(robot: Robot, j: int, link: str, own: Array) -> list[str]:
    """The frames on link j: those of the robot, and those of the loops."""
    lines = []
    for item in (item for item in robot.frames if item.link == j and item.name != link):
        place = _place(between(own, frame_matrix(item), np.eye(4)))
        site = item.kind == "site"
        name = item.name.removeprefix("site:") if site else item.name
        lines += element("site" if site else "body", {"name": name, **place})
    for loop in robot.loops:
        for side, end in (("cut", loop.cut), ("twin", loop.twin)):
            owner, T = _carried(robot, end)
            if owner != j:
                continue
            T = between(own, T, np.eye(4))
            lines += element("site", {"name": f"{loop.name}_{side}", **_place(T)})
            if _kind(loop) == "revolute":
                T = T @ frame(np.eye(3), (0.0, 0.0, _APART))
                lines += element("site", {"name": f"{loop.name}_{side}_z", **_place(T)})
    return lines


def _carried(robot: Robot, end: Joint) -> tuple[int, Array]:
    """The link that carries a frame of a loop, and the frame there: it may sit on another twin."""
    first = len(robot.joints) + len(robot.loops) + 1
    twins = {k: loop.twin for k, loop in enumerate(robot.loops, first)}
    T = joint_matrix(end)
    while end.antecedent in twins:
        end = twins[end.antecedent]
        T = joint_matrix(end) @ T
    return end.antecedent, T


def _equality(robot: Robot) -> list[str]:
    lines = []
    for joint in robot.joints:
        if joint.mimic is not None:
            ends = {"joint1": joint.name, "joint2": robot.joints[joint.mimic.joint - 1].name}
            line = [as_float(joint.mimic.offset), as_float(joint.mimic.ratio), 0, 0, 0]
            lines += element("joint", {**ends, "polycoef": line})
    for loop in robot.loops:
        tag = "weld" if _kind(loop) == "fixed" else "connect"
        for end in ("", "_z") if _kind(loop) == "revolute" else ("",):
            sites = {
                f"site{k}": f"{loop.name}_{side}{end}" for k, side in ((1, "cut"), (2, "twin"))
            }
            lines += element(tag, {"name": loop.name + end, **sites})
    return lines


def _actuators(robot: Robot) -> list[str]:
    names = [joint.name for joint in robot.joints if joint.active and joint.sigma != FIXED]
    lines = [line for x in names for line in element("motor", {"name": x, "joint": x})]
    return element("actuator", {}, *lines) if lines else []
