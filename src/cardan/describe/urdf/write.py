"""A robot -> URDF text: each link has the file's own frame where the robot knows one, else
Khalil's; the z axis of Khalil's frame is the joint's axis.

Other frames of the robot are fixed links without mass; so is a link's own frame that the axis does
not pass through, as URDF wants it, and the link that moves is then NAME_axis. <end_effector> names
the frame meant by default, where it is not the end of the longest path.

The joint's origin is its placement at q_j = 0, so zeros stay; inertias are moved to the centres of
mass; FV and FS become damping and friction, IA the rotor of a motor without gear in Drake's words,
further friction and springs an element <cardan:drive> of the joint, which other readers skip.
URDF holds numbers and trees only, so free symbols are refused, and so is what it has no word for:
loops, elastic and passive joints, external wrenches, a base that moves as prescribed. With
drop=True these are left out and listed in a comment at the head of the file.

URDF has no gravity either: its users take it along -z of the root link. When gravity points
elsewhere in frame 0, or when frame 0 is placed in the world by Z, a root link "world" is added on
which the base is fixed so that gravity is along its -z. The size of gravity is not written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ...algebra import so3
from ...arguments import named_arguments
from ...errors import DescriptionError, Fault
from ..bodies import longest_path
from ..frames import Array, frame, perpendicular, roll_pitch_yaw, snap_angle
from ..robot import FIXED, PRISMATIC, Frame, Joint, Link, Robot
from ..xml.source import NO_LIMIT
from ..xml.write import (
    NOT_XML,
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
from .elements import OWN

_DRAKE = "http://drake.mit.edu"  # names, never fetched
_CARDAN = "https://cardan-robotics.github.io/cardan"


@named_arguments
def write_urdf(robot: Robot, *, drop: bool = False) -> str:
    """The robot as URDF text; what URDF cannot hold is refused, or dropped and listed."""
    faults = faults_of(robot, "URDF")
    lost = unheld(robot, "URDF", [("", f"loop '{loop.name}'") for loop in robot.loops], True)
    if faults or (lost and not drop):
        remedy = f"save robot '{robot.name}' as .toml, or leave these out:"
        raise DescriptionError(
            faults + ([] if drop else lost),
            remedy=f"{remedy} write_urdf(robot, drop=True)" if lost else "",
            action="drop" if lost else "",
        )
    lines = _root(robot)
    links = [robot.base.link, *robot.links]
    own, frames = own_frames(robot), _more_frames(robot)
    taken = names_of(robot)
    names = [free_name(f"{x.name}_axis", taken) if x.name in frames else x.name for x in links]
    joint_names = [joint.name for joint in robot.joints]
    for name, link, E in zip(names, links, own, strict=True):
        lines += _link(link, name, E)
    for name in frames:
        lines += element("link", {"name": name})
    for j, (name, joint) in enumerate(zip(names[1:], robot.joints, strict=True), 1):
        ends = own[joint.antecedent], own[j]
        lines += _joint(joint, names[joint.antecedent], name, joint_names, ends)
    for item in frames.values():
        joint_names.append(free_name(f"{item.name}_fixed", joint_names))
        T = between(own[item.link], frame_matrix(item), np.eye(4))
        lines += _connection(joint_names[-1], "fixed", (names[item.link], item.name), T)
    lines += _end(robot, names, frames)
    motors = [line for joint in robot.joints for line in _motor(joint)]
    spaces = {"drake": _DRAKE, "cardan": _CARDAN}
    parts = "\n".join([*lines, *motors])
    words = {f"xmlns:{key}": x for key, x in spaces.items() if f"<{key}:" in parts}
    words = {"name": robot.name} | words
    head = ['<?xml version="1.0"?>', *_comment(lost)]
    return "\n".join([*head, *element("robot", words, *lines, *motors), ""])


def _more_frames(robot: Robot) -> dict[str, Frame]:
    """The frames that need a link of their own, by name."""
    own = own_frames(robot)
    links = {link.name for link in (robot.base.link, *robot.links)}
    return {
        item.name: item for item in robot.frames
        if item.name not in links or not np.array_equal(own[item.link], frame_matrix(item))
    }  # fmt: skip


def _end(robot: Robot, names: Sequence[str], frames: Mapping[str, Frame]) -> list[str]:
    """The end effector, where a reader would take another for it."""
    pairs = [
        (names[j], names[joint.antecedent], joint.sigma != FIXED)
        for j, joint in enumerate(robot.joints, 1)
    ]
    pairs += [(name, names[item.link], False) for name, item in frames.items()]
    known = robot.end_effector in ("", longest_path(pairs))
    return [] if known else element("end_effector", {"link": robot.end_effector})


def _comment(lost: list[Fault]) -> list[str]:
    if not lost:
        return []
    parts = [f"{fault.link}: {fault.message}" if fault.link else fault.message for fault in lost]
    text = [NOT_XML.sub("?", part).replace("--", "- -") for part in parts]
    return ["<!--", "  Left out of this description:", *(f"  {part} " for part in text), "-->"]


def _root(robot: Robot) -> list[str]:
    """The link "world" and its joint to the base, where they are needed."""
    base = robot.base
    Z, g = world_frame(robot)
    Z = frame(_upright(g), (0, 0, 0)) @ Z
    floating = base.kind == "floating"
    if not floating and np.array_equal(Z, np.eye(4)):
        return []
    if floating and not np.array_equal(Z[:3, :3], np.eye(3)):
        raise DescriptionError(
            "URDF cannot hold a floating base whose frame is turned by Z or by gravity:"
            " give Z without rotation, and gravity along -z"
        )
    world = free_name("world", names_of(robot))
    joint = free_name("world_joint", {joint.name for joint in robot.joints})
    kind = "floating" if floating else "fixed"
    return [
        *element("link", {"name": world}),
        *_connection(joint, kind, (world, base.link.name), Z),
    ]


def _upright(g: Array) -> Array:
    """The smallest rotation that turns g to -z; none when there is no gravity."""
    size = float(np.linalg.norm(g))
    if size == 0 or (g[0] == 0 and g[1] == 0 and g[2] < 0):
        return np.eye(3)
    down = g / size
    v, c = np.cross(down, (0.0, 0.0, -1.0)), -float(down[2])
    if math.hypot(*v) < 1e-12:
        return np.diag([1.0, -1.0, -1.0]) if c < 0 else np.eye(3)
    skew = so3.hat(v)
    if c < -0.9:  # turn half a turn first, then the small rest
        x = perpendicular(down)
        half = 2 * np.outer(x, x) - np.eye(3)
        return _upright(size * half @ down) @ half
    R: Array = np.eye(3) + skew + skew @ skew / (1 + c)
    return R


def _link(link: Link, name: str, own: Array) -> list[str]:
    body = centred(link, own, "URDF")
    if body is None:
        return element("link", {"name": name})
    M, c, J = body
    keys = {
        "ixx": (0, 0),
        "ixy": (0, 1),
        "ixz": (0, 2),
        "iyy": (1, 1),
        "iyz": (1, 2),
        "izz": (2, 2),
    }
    inertial = element(
        "inertial", {},
        *element("origin", {"xyz": c, "rpy": "0 0 0"}),
        *element("mass", {"value": [M]}),
        *element("inertia", {key: [J[at]] for key, at in keys.items()}),
    )  # fmt: skip
    return element("link", {"name": name}, *inertial)


def _joint(
    joint: Joint, parent: str, child: str, names: Sequence[str], own: tuple[Array, Array]
) -> list[str]:
    limits = joint.limits
    free = limits.lower is None and limits.upper is None
    kind = "continuous" if free else "revolute"
    kind = {PRISMATIC: "prismatic", FIXED: "fixed"}.get(joint.sigma, kind)
    lines = []
    if kind != "fixed":
        lines += element("axis", {"xyz": direction(own[1])})
        # URDF demands limits of all but continuous joints, with effort and velocity in them
        rates = {"effort": limits.effort, "velocity": limits.velocity}
        ends = {} if kind == "continuous" else {"lower": limits.lower, "upper": limits.upper}
        if ends or any(x is not None for x in rates.values()):
            none = {"lower": -NO_LIMIT}
            values = {
                key: [none.get(key, NO_LIMIT) if x is None else as_float(x)]
                for key, x in (ends | rates).items()
            }
            lines += element("limit", values)
        drive = {"damping": [as_float(joint.FV)], "friction": [as_float(joint.FS)]}
        lines += element("dynamics", drive) if any(x != [0.0] for x in drive.values()) else []
        rest = {key: [as_float(getattr(joint, key))] for key in OWN if getattr(joint, key) != 0}
        lines += element("cardan:drive", rest) if rest else []
    if joint.mimic is not None:
        ratio, offset = ([as_float(x)] for x in (joint.mimic.ratio, joint.mimic.offset))
        leader = names[joint.mimic.joint - 1]
        lines += element("mimic", {"joint": leader, "multiplier": ratio, "offset": offset})
    T = between(own[0], joint_matrix(joint), own[1])
    return _connection(joint.name, kind, (parent, child), T, *lines)


def _connection(name: str, kind: str, links: tuple[str, str], T: Array, *more: str) -> list[str]:
    """A <joint> that places its child in its parent by T."""
    rpy = [snap_angle(x) for x in roll_pitch_yaw(T[:3, :3])]
    return element(
        "joint", {"name": name, "type": kind},
        *element("parent", {"link": links[0]}),
        *element("child", {"link": links[1]}),
        *element("origin", {"xyz": T[:3, 3], "rpy": rpy}),
        *more,
    )  # fmt: skip


def _motor(joint: Joint) -> list[str]:
    """A <transmission> for a joint with a rotor."""
    if joint.sigma == FIXED or not as_float(joint.IA):
        return []
    name = {"name": joint.name}
    return element(
        "transmission", name,
        "<type>transmission_interface/SimpleTransmission</type>",
        *element("joint", name),
        *element(
            "actuator", name,
            *element("drake:rotor_inertia", {"value": [as_float(joint.IA)]}),
            *element("drake:gear_ratio", {"value": "1"}),
        ),
    )  # fmt: skip
