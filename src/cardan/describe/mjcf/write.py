"""A robot -> MJCF text: each link becomes a body, in the file's own frame where the robot knows
one, else in Khalil's; its joint turns about or slides along the z axis of Khalil's frame.

Other frames of the robot are sites, or bodies without mass; <custom> names the end effector.

Rotor inertia is armature, FV and FS are damping and frictionloss, and active joints get a motor. A
loop is a constraint between two sites: <connect> for a spherical cut joint, two of them along its
axis for a revolute one, <weld> for a rigid one; a coupling is an equality of two joints. MJCF holds
numbers only, so free symbols are refused, and so is what it has no word for: other cut joints,
elastic joints, external wrenches, flexible links, a base that moves as prescribed. MuJoCo gives
links without mass a least one.
"""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

import numpy as np

from ...arguments import named_arguments
from ...errors import DescriptionError, Fault
from ..frames import Array, frame, matrix_of
from ..robot import DRIVE, FIXED, GEOMETRY, PRISMATIC, WRENCH, Joint, Link, Loop, Robot
from ..urdf.write import (
    as_float,
    bad_names,
    between,
    centred,
    direction,
    frame_matrix,
    free_symbols,
    own_frames,
    seen_from,
)

__all__ = ["write_mjcf"]

_APART = 0.1  # m, between the two points that hold the axis of a revolute cut joint


@named_arguments
def write_mjcf(robot: Robot) -> str:
    """The robot as MJCF text."""
    faults = [*free_symbols(robot, "MJCF", loops=True), *bad_names(robot), *_lost(robot)]
    if faults:
        raise DescriptionError(faults)
    floating = robot.base.kind == "floating"
    Z = np.array([as_float(x) for x in robot.base.Z]).reshape(4, 4)
    g = Z[:3, :3] @ np.array([as_float(x) for x in robot.gravity])
    lines = [
        '<?xml version="1.0"?>', f"<mujoco model={quoteattr(robot.name)}>",
        '  <compiler angle="radian" inertiafromgeom="false" balanceinertia="false"'
        f"{_least(robot)}/>",
        f'  <option gravity="{_row(g)}"/>', "  <worldbody>",
    ]  # fmt: skip
    lines += [f"    <body name={quoteattr(_base_name(robot))}{_place(Z)}>"]
    lines += [*(['      <freejoint name="base_free"/>'] if floating else [])]
    own = own_frames(robot, on_axis=False)
    lines += [*_inertial(robot.base.link, own[0], "      "), *_sites(robot, 0, own[0], "      ")]
    for j, joint in enumerate(robot.joints, 1):
        if joint.antecedent == 0:
            lines += _body(robot, j, own, "      ")
    lines += ["    </body>", "  </worldbody>", *_equality(robot), *_actuators(robot)]
    if robot.end_effector:
        end = quoteattr(robot.end_effector)
        lines += ["  <custom>", f'    <text name="end_effector" data={end}/>', "  </custom>"]
    return "\n".join([*lines, "</mujoco>", ""])


def _least(robot: Robot) -> str:
    """MuJoCo's own remedy for links without mass, which it does not take: the least it may have."""
    bare = any(
        link.M == 0 and joint.sigma != FIXED
        for link, joint in zip(robot.links, robot.joints, strict=True)
    )
    return ' boundmass="1e-9" boundinertia="1e-9"' if bare else ""


def _lost(robot: Robot) -> list[Fault]:
    found = [
        ("", f"loop '{loop.name}', whose cut joint is {_kind(loop)}")
        for loop in robot.loops if _kind(loop) not in ("spherical", "revolute", "fixed")
    ]  # fmt: skip
    for loop in robot.loops:
        if any(getattr(loop.cut, key) != 0 for key in DRIVE):
            own = f"{loop.cut.name} of loop {loop.name}"
            found.append((own, "rotor and friction of a cut joint"))
    for link, joint in zip(robot.links, robot.joints, strict=True):
        what = [(joint.elastic, "elastic joint"), (link.flexible is not None, "flexible link")]
        what += [(any(getattr(link, key) != 0 for key in WRENCH), "external wrench FX ... CZ")]
        found += [(link.name, text) for present, text in what if present]
    if robot.base.kind == "mobile":
        found.append((robot.base.link.name, "prescribed motion of the base"))
    return [Fault(f"MJCF cannot hold this: {text}", link=link) for link, text in found]


def _base_name(robot: Robot) -> str:
    """The world has a body of its own in MJCF, which is there already."""
    name, taken = robot.base.link.name, {link.name for link in robot.links}
    taken |= {item.name for item in robot.frames}
    if name == "world":
        name = "base"
        while name in taken:
            name += "_"
    return name


def _kind(loop: Loop) -> str:
    return loop.kind or ("revolute", "prismatic", "fixed")[loop.cut.sigma]


def _sites(robot: Robot, j: int, own: Array, pad: str) -> list[str]:
    """The frames on link j (0: the base): those of the loops, and those of the robot."""
    lines = []
    link = robot.links[j - 1].name if j else robot.base.link.name
    for item in (item for item in robot.frames if item.link == j and item.name != link):
        place = _place(between(own, frame_matrix(item), np.eye(4)))
        tag = "site" if item.kind == "site" else "body"
        name = item.name.removeprefix("site:") if item.kind == "site" else item.name
        lines.append(f"{pad}<{tag} name={quoteattr(name)}{place}/>")
    for loop in robot.loops:
        for side, end in (("cut", loop.cut), ("twin", loop.twin)):
            owner, T = _carried(robot, end)
            if owner != j:
                continue
            T = between(own, T, np.eye(4))
            lines.append(f"{pad}<site name={quoteattr(f'{loop.name}_{side}')}{_place(T)}/>")
            if _kind(loop) == "revolute":
                T = T @ frame(np.eye(3), np.array([0.0, 0.0, _APART]))
                lines.append(f"{pad}<site name={quoteattr(f'{loop.name}_{side}_z')}{_place(T)}/>")
    return lines


def _carried(robot: Robot, end: Joint) -> tuple[int, Array]:
    """The link that carries a frame of a loop, and the frame there: it may sit on another twin."""
    twins = {
        k: loop.twin for k, loop in enumerate(robot.loops, len(robot.joints) + len(robot.loops) + 1)
    }
    T = _matrix(end)
    while end.antecedent in twins:
        end = twins[end.antecedent]
        T = _matrix(end) @ T
    return end.antecedent, T


def _row(values: object) -> str:
    return " ".join(repr(float(x) + 0.0) for x in np.ravel(values))  # type: ignore[call-overload]


def _place(T: Array) -> str:
    """Position and axes, where they are not those of the parent."""
    text = f' pos="{_row(T[:3, 3])}"' if T[:3, 3].any() else ""
    if not np.array_equal(T[:3, :3], np.eye(3)):
        text += f' xyaxes="{_row(T[:3, :2].T)}"'
    return text


def _matrix(joint: Joint) -> Array:
    return matrix_of([as_float(getattr(joint, key)) for key in GEOMETRY])


def _body(robot: Robot, j: int, own: list[Array], pad: str) -> list[str]:
    joint, link, E = robot.joints[j - 1], robot.links[j - 1], own[j]
    place = _place(between(own[joint.antecedent], _matrix(joint), E))
    lines = [f"{pad}<body name={quoteattr(link.name)}{place}>"]
    if joint.sigma != FIXED:
        kind = "slide" if joint.sigma == PRISMATIC else "hinge"
        drive = {"damping": joint.FV, "frictionloss": joint.FS, "armature": joint.IA}
        given = "".join(f' {key}="{as_float(x)!r}"' for key, x in drive.items() if x != 0)
        low, high = joint.limits.lower, joint.limits.upper
        if low is not None and high is not None:
            given += f' range="{as_float(low)!r} {as_float(high)!r}"'
        if not np.array_equal(E, np.eye(4)):
            given += f' axis="{_row(direction(E))}"'
            point = between(E, np.eye(4), np.eye(4))[:3, 3]
            given += f' pos="{_row(point)}"' if kind == "hinge" and point.any() else ""
        lines.append(f'{pad}  <joint name={quoteattr(joint.name)} type="{kind}"{given}/>')
    lines += [*_inertial(link, E, pad + "  "), *_sites(robot, j, E, pad + "  ")]
    for k, other in enumerate(robot.joints, 1):
        if other.antecedent == j:
            lines += _body(robot, k, own, pad + "  ")
    return [*lines, f"{pad}</body>"]


def _inertial(link: Link, own: Array, pad: str) -> list[str]:
    found = centred(link, "MJCF")
    if found is None:
        return []
    mass, c, J = found
    c, J = seen_from(own, c, J)
    moments = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    text = f'pos="{_row(c)}" mass="{mass!r}" fullinertia="{_row(moments)}"'
    return [f"{pad}<inertial {text}/>"]


def _equality(robot: Robot) -> list[str]:
    if not robot.constrained:
        return []
    lines = ["  <equality>"]
    for joint in robot.joints:
        if joint.mimic is not None:
            leader = robot.joints[joint.mimic.joint - 1].name
            line = _row([as_float(joint.mimic.offset), as_float(joint.mimic.ratio), 0, 0, 0])
            ends = f"joint1={quoteattr(joint.name)} joint2={quoteattr(leader)}"
            lines.append(f'    <joint {ends} polycoef="{line}"/>')
    for loop in robot.loops:
        tag = "weld" if _kind(loop) == "fixed" else "connect"
        for end in ("", "_z") if _kind(loop) == "revolute" else ("",):
            names = [quoteattr(f"{loop.name}_{side}{end}") for side in ("cut", "twin")]
            lines.append(
                f"    <{tag} name={quoteattr(loop.name + end)} site1={names[0]} site2={names[1]}/>"
            )
    return [*lines, "  </equality>"]


def _actuators(robot: Robot) -> list[str]:
    driven = [joint for joint in robot.joints if joint.active and joint.sigma != FIXED]
    lines = [
        f"    <motor name={quoteattr(joint.name)} joint={quoteattr(joint.name)}/>"
        for joint in driven
    ]
    return ["  <actuator>", *lines, "  </actuator>"] if lines else []
