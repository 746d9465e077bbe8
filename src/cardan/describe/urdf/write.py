"""A robot -> URDF text: each link has the file's own frame where the robot knows one, else
Khalil's; the z axis of Khalil's frame is the joint's axis.

Other frames of the robot are fixed links without mass; so is a link's own frame that the axis does
not pass through, as URDF wants it, and the link that moves is then NAME_axis. <end_effector> names
the frame meant by default, where it is not the end of the longest path.

The joint's origin is its placement at q_j = 0, so zeros stay; inertias are moved to the centres of
mass; FV and FS become damping and friction, IA the rotor of a motor without gear in Drake's words.
URDF holds numbers and trees only, so free symbols are refused, and so is what it has no word for:
loops, elastic and passive joints, external wrenches, a base that moves as prescribed. With
drop=True these are left out and listed in a comment at the head of the file.

URDF has no gravity either: its users take it along -z of the root link. When gravity points
elsewhere in frame 0, or when frame 0 is placed in the world by Z, a root link "world" is added on
which the base is fixed so that gravity is along its -z. The size of gravity is not written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import quoteattr

import numpy as np

from ...algebra import so3
from ...arguments import named_arguments
from ...errors import DescriptionError, Fault
from ..bodies import longest_path
from ..frames import (
    Array,
    decimal_value,
    frame,
    inverse,
    matrix_of,
    perpendicular,
    placement_of,
    placement_values,
    roll_pitch_yaw,
    snap_angle,
)
from ..robot import (
    FIXED,
    GEOMETRY,
    INERTIA,
    PRISMATIC,
    REVOLUTE,
    WRENCH,
    Frame,
    Joint,
    Link,
    Robot,
)
from ..values.expression import Value, number, symbols

__all__ = [
    "NO_LIMIT", "as_float", "bad_names", "between", "centred", "direction", "frame_matrix",
    "free_symbols", "own_frames", "seen_from", "write_urdf",
]  # fmt: skip

NO_LIMIT = 1e9  # URDF must give some limits; this size means none, here and in the reader
_DRAKE = "http://drake.mit.edu"  # a name, never fetched
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@named_arguments
def write_urdf(robot: Robot, *, drop: bool = False) -> str:
    """The robot as URDF text; what URDF cannot hold is refused, or dropped and listed."""
    faults = [*free_symbols(robot), *bad_names(robot)]
    lost = _lost(robot)
    if faults or (lost and not drop):
        raise DescriptionError(
            faults + ([] if drop else lost),
            remedy=f"save robot '{robot.name}' as .toml, or leave these out:"
            " write_urdf(robot, drop=True)" if lost else "",
            action="drop" if lost else "",
        )  # fmt: skip
    root = _root(robot)
    links = [robot.base.link, *robot.links]
    own, more = own_frames(robot), _more_frames(robot)
    taken = {link.name for link in links} | {item.name for item in robot.frames}
    names = [_free(f"{x.name}_axis", taken) if x.name in more else x.name for x in links]
    joint_names = [joint.name for joint in robot.joints]
    motors = _motor_lines(robot)
    words = f' xmlns:drake="{_DRAKE}"' if motors else ""
    lines = ['<?xml version="1.0"?>', *_comment(robot, lost)]
    lines += [f"<robot name={_quoted(robot.name)}{words}>", *root]
    for name, link, E in zip(names, links, own, strict=True):
        lines += _link_lines(link, name, E)
    lines += [f"  <link name={_quoted(name)}/>" for name in more]
    for j, (name, joint) in enumerate(zip(names[1:], robot.joints, strict=True), 1):
        ends = own[joint.antecedent], own[j]
        lines += _joint_lines(joint, names[joint.antecedent], name, joint_names, ends)
    for item in more.values():
        lines += _frame_lines(item, names[item.link], own[item.link], joint_names)
    lines += _end_lines(robot, names, more)
    return "\n".join([*lines, *motors, "</robot>", ""])


def as_float(value: Value) -> float:
    """The number a value stands for."""
    found = number(value)
    if found is None:
        raise DescriptionError(f"the value {value} is not a finite number")
    return found


def own_frames(robot: Robot, *, on_axis: bool = True) -> list[Array]:
    """Of the base and each link the frame of the file that bears its name, in Khalil's frame of it;
    the identity where there is none, or, with on_axis, where the joint's axis does not pass it."""
    own = [np.eye(4) for _ in range(len(robot.links) + 1)]
    names = {link.name: j for j, link in enumerate(robot.links, 1)}
    for item in robot.frames:
        T = frame_matrix(item)
        off = robot.joints[item.link - 1].sigma == REVOLUTE and bool(T[:2, 3].any())
        if names.get(item.name) == item.link and not (on_axis and off):
            own[item.link] = T
    return own


def frame_matrix(item: Frame) -> Array:
    """jTE of a frame on link j."""
    return placement_of([as_float(x) for x in item.xyz], [as_float(x) for x in item.rpy])


def tidy(T: Array) -> Array:
    """A product of placements without its round-off."""
    size = float(np.linalg.norm(T[:3, 3])) or 1.0
    xyz, rpy = placement_values(T, size)
    return placement_of([as_float(x) for x in xyz], [as_float(x) for x in rpy])


def between(first: Array, T: Array, second: Array) -> Array:
    """The placement T of a frame in another one, of frames fixed on the two."""
    if np.array_equal(first, np.eye(4)) and np.array_equal(second, np.eye(4)):
        return T
    return tidy(inverse(first) @ T @ second)


def direction(E: Array) -> list[float]:
    """z of Khalil's frame in a frame of the same link."""
    return [float(decimal_value(float(x), 1e-15)) + 0.0 for x in E[2, :3]]  # type: ignore[arg-type]


def _more_frames(robot: Robot) -> dict[str, Frame]:
    """The frames that need a link of their own, by name."""
    own = own_frames(robot)
    links = {link.name: j for j, link in enumerate([robot.base.link, *robot.links])}
    return {
        item.name: item for item in robot.frames
        if item.name not in links or not np.array_equal(own[item.link], frame_matrix(item))
    }  # fmt: skip


def _frame_lines(item: Frame, parent: str, own: Array, joints: list[str]) -> list[str]:
    """The fixed joint that places a frame."""
    name = _free(f"{item.name}_fixed", {*joints})
    joints.append(name)
    T = between(own, frame_matrix(item), np.eye(4))
    return [
        f'  <joint name={_quoted(name)} type="fixed">',
        *_connection(parent, item.name, T),
        "  </joint>",
    ]


def _end_lines(robot: Robot, names: Sequence[str], more: Mapping[str, Frame]) -> list[str]:
    """The end effector, where a reader would take another for it."""
    pairs = [
        (names[j], names[joint.antecedent], joint.sigma != FIXED)
        for j, joint in enumerate(robot.joints, 1)
    ]
    pairs += [(name, names[item.link], False) for name, item in more.items()]
    if robot.end_effector in ("", longest_path(pairs)):
        return []
    return [f"  <end_effector link={_quoted(robot.end_effector)}/>"]


def _written(robot: Robot, loops: bool) -> Iterable[tuple[str, Value]]:
    """(link name, value) of everything that a file needs as a number."""
    base = robot.base
    yield from ((base.link.name, getattr(base.link, key)) for key in INERTIA)
    yield from ((base.link.name, value) for value in (*base.Z, *robot.gravity))
    for link, joint in zip(robot.links, robot.joints, strict=True):
        limits = joint.limits
        given = [limits.lower, limits.upper, limits.velocity, limits.effort]
        values = [getattr(joint, key) for key in (*GEOMETRY, "IA", "FV", "FS")]
        values += [getattr(link, key) for key in INERTIA]
        values += [joint.mimic.ratio, joint.mimic.offset] if joint.mimic else []
        yield from ((link.name, value) for value in (*values, *given) if value is not None)
    for item in robot.frames:
        yield from ((item.name, value) for value in (*item.xyz, *item.rpy))
    for end in (end for loop in robot.loops for end in (loop.cut, loop.twin) if loops):
        yield from ((end.name, getattr(end, key)) for key in GEOMETRY)


def free_symbols(robot: Robot, form: str = "URDF", *, loops: bool = False) -> list[Fault]:
    """A fault that lists the symbols without a value, if there are any; those of loops too where
    the format holds them."""
    free = dict.fromkeys(name for _, value in _written(robot, loops) for name in symbols(value))
    if not free:
        return []
    listed = ", ".join(list(free)[:12]) + (", ..." if len(free) > 12 else "")
    example = next(iter(free))
    return [
        Fault(
            f"robot '{robot.name}' has free symbols ({listed}) and {form} holds numbers only",
            remedy=f"give them values first, robot.with_values({{'{example}': 0.5, ...}})",
            action="values",
        )
    ]


def bad_names(robot: Robot) -> list[Fault]:
    """Names that XML or the format cannot hold."""
    faults = []
    for kind, names in (
        ("link", [robot.base.link.name, *(link.name for link in robot.links)]),
        ("joint", [joint.name for joint in robot.joints]),
        ("frame", [item.name for item in robot.frames]),
    ):
        for k, name in enumerate(names):
            if not name.strip() or _NOT_XML.search(name):
                faults.append(Fault(f"{kind} {k} needs a printable name, not {name!r}"))
            elif name in names[:k]:
                faults.append(Fault(f"two {kind}s are called '{name}': names must be unique"))
    return faults


def _lost(robot: Robot) -> list[Fault]:
    """One fault for each thing of the robot that URDF has no word for."""
    found = [("", f"loop '{loop.name}'") for loop in robot.loops]
    for link, joint in zip(robot.links, robot.joints, strict=True):
        what = [(joint.elastic, "elastic joint")]
        free = not joint.active and joint.sigma != FIXED and joint.mimic is None
        what += [(free, "passive joint")]
        what += [(link.flexible is not None, "flexible link")]
        what += [(any(getattr(link, key) != 0 for key in WRENCH), "external wrench FX ... CZ")]
        found += [(link.name, text) for present, text in what if present]
    base = robot.base
    moves = any(x != 0 for x in (*base.W0, *base.WP0, *base.V0, *base.VP0))
    if base.kind == "mobile" or moves:
        found.append((base.link.name, "prescribed motion of the base"))
    return [Fault(f"URDF cannot hold this: {text}", link=link) for link, text in found]


def _comment(robot: Robot, lost: list[Fault]) -> list[str]:
    if not lost:
        return []
    parts = [f"{fault.link}: {fault.message}" if fault.link else fault.message for fault in lost]
    text = [_NOT_XML.sub("?", part).replace("--", "- -") for part in parts]
    return ["<!--", "  Left out of this description:", *(f"  {part} " for part in text), "-->"]


def _root(robot: Robot) -> list[str]:
    """The link "world" and its joint to the base, where they are needed."""
    base = robot.base
    Z = np.array([as_float(x) for x in base.Z]).reshape(4, 4)
    Z = frame(_upright(Z[:3, :3] @ np.array([as_float(x) for x in robot.gravity])), (0, 0, 0)) @ Z
    floating = base.kind == "floating"
    if not floating and np.array_equal(Z, np.eye(4)):
        return []
    if floating and not np.array_equal(Z[:3, :3], np.eye(3)):
        raise DescriptionError(
            "URDF cannot hold a floating base whose frame is turned by Z or by gravity:"
            " give Z without rotation, and gravity along -z"
        )
    taken = {link.name for link in (base.link, *robot.links)}
    taken |= {item.name for item in robot.frames}
    joint_names = {joint.name for joint in robot.joints}
    world = _free("world", taken)
    return [
        f"  <link name={_quoted(world)}/>",
        f"  <joint name={_quoted(_free('world_joint', joint_names))}"
        f' type="{"floating" if floating else "fixed"}">',
        *_connection(world, base.link.name, Z),
        "  </joint>",
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


def centred(link: Link, form: str = "URDF") -> tuple[float, Array, Array] | None:
    """Mass, centre of mass and inertia about it, as XML formats want them; None for no body."""
    xx, xy, xz, yy, yz, zz, mx, my, mz, M = (as_float(getattr(link, key)) for key in INERTIA)
    first = np.array([mx, my, mz])
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if M == 0 and not first.any() and not J.any():
        return None
    if M < 0 or (M == 0 and first.any()):
        fault = Fault(
            f"mass {M!r} with first moments {mx!r} {my!r} {mz!r} has no centre of mass, which"
            f" {form} needs: give physical parameters, not base parameters", link=link.name,
        )  # fmt: skip
        raise DescriptionError([fault])
    c = first / M if M else first
    scale = float(np.abs(J).max())
    c = np.array([_short(x, math.hypot(*c)) for x in c])
    J = J - M * (float(c @ c) * np.eye(3) - np.outer(c, c))
    return M, c, np.array([_short(x, scale) for x in J.ravel()]).reshape(3, 3)


def seen_from(E: Array, c: Array, J: Array) -> tuple[Array, Array]:
    """Centre of mass and inertia about it, of Khalil's frame, in a frame E of the same link."""
    if np.array_equal(E, np.eye(4)):
        return c, J
    R, size = E[:3, :3], math.hypot(*c, *E[:3, 3])
    c, J = R.T @ (c - E[:3, 3]), R.T @ J @ R
    scale = float(np.abs(J).max())
    J = np.array([_short(x, scale) for x in J.ravel()]).reshape(3, 3)
    return np.array([_short(x, size) for x in c]), (J + J.T) / 2


def _link_lines(link: Link, name: str, own: Array) -> list[str]:
    found = centred(link)
    if found is None:
        return [f"  <link name={_quoted(name)}/>"]
    M, c, J = found
    c, J = seen_from(own, c, J)
    return [
        f"  <link name={_quoted(name)}>",
        "    <inertial>",
        f'      <origin xyz="{_numbers(c)}" rpy="0 0 0"/>',
        f'      <mass value="{_numbers([M])}"/>',
        f'      <inertia ixx="{_numbers([J[0, 0]])}" ixy="{_numbers([J[0, 1]])}"'
        f' ixz="{_numbers([J[0, 2]])}" iyy="{_numbers([J[1, 1]])}"'
        f' iyz="{_numbers([J[1, 2]])}" izz="{_numbers([J[2, 2]])}"/>',
        "    </inertial>",
        "  </link>",
    ]


def _short(x: float, scale: float) -> float:
    """x without the round-off of a difference of numbers of that scale."""
    return float(decimal_value(float(x), 1e-15 * scale))  # type: ignore[arg-type]


def _joint_lines(
    joint: Joint, parent: str, child: str, names: Sequence[str], own: tuple[Array, Array]
) -> list[str]:
    limits = joint.limits
    free = limits.lower is None and limits.upper is None
    kind = "continuous" if free else "revolute"
    kind = {PRISMATIC: "prismatic", FIXED: "fixed"}.get(joint.sigma, kind)
    T = between(own[0], matrix_of([as_float(getattr(joint, key)) for key in GEOMETRY]), own[1])
    lines = [f'  <joint name={_quoted(joint.name)} type="{kind}">', *_connection(parent, child, T)]
    if kind != "fixed":
        axis = _numbers(direction(own[1]))
        lines += [f'    <axis xyz="{axis}"/>', *_limit_lines(joint, kind), *_dynamics_lines(joint)]
    if joint.mimic is not None:
        ratio, offset = (_numbers([as_float(x)]) for x in (joint.mimic.ratio, joint.mimic.offset))
        leader = _quoted(names[joint.mimic.joint - 1])
        lines += [f'    <mimic joint={leader} multiplier="{ratio}" offset="{offset}"/>']
    return [*lines, "  </joint>"]


def _limit_lines(joint: Joint, kind: str) -> list[str]:
    """<limit>, which URDF demands of all but continuous joints, with effort and velocity in it."""
    limits = joint.limits
    ends = [("lower", limits.lower, -NO_LIMIT), ("upper", limits.upper, NO_LIMIT)]
    rates = [("effort", limits.effort, NO_LIMIT), ("velocity", limits.velocity, NO_LIMIT)]
    given = rates if kind == "continuous" else ends + rates
    if kind == "continuous" and limits.effort is None and limits.velocity is None:
        return []
    text = " ".join(
        f'{key}="{_numbers([none if value is None else as_float(value)])}"'
        for key, value, none in given
    )
    return [f"    <limit {text}/>"]


def _dynamics_lines(joint: Joint) -> list[str]:
    damping, friction = as_float(joint.FV), as_float(joint.FS)
    if not damping and not friction:
        return []
    return [f'    <dynamics damping="{_numbers([damping])}" friction="{_numbers([friction])}"/>']


def _motor_lines(robot: Robot) -> list[str]:
    """A <transmission> for each joint with a rotor."""
    lines = []
    for joint in robot.joints:
        IA = as_float(joint.IA)
        if joint.sigma != FIXED and IA:
            name = _quoted(joint.name)
            lines += [
                f"  <transmission name={name}>",
                "    <type>transmission_interface/SimpleTransmission</type>",
                f"    <joint name={name}/>",
                f"    <actuator name={name}>",
                f'      <drake:rotor_inertia value="{_numbers([IA])}"/>',
                '      <drake:gear_ratio value="1"/>',
                "    </actuator>",
                "  </transmission>",
            ]
    return lines


def _connection(parent: str, child: str, T: Array) -> list[str]:
    rpy = [snap_angle(x) for x in roll_pitch_yaw(T[:3, :3])]
    return [
        f"    <parent link={_quoted(parent)}/>",
        f"    <child link={_quoted(child)}/>",
        f'    <origin xyz="{_numbers(T[:3, 3])}" rpy="{_numbers(rpy)}"/>',
    ]


def _numbers(values: Iterable[float]) -> str:
    """Numbers as the shortest text that reads back equal."""
    return " ".join(repr(float(x) + 0.0).removesuffix(".0") for x in values)


def _quoted(text: str) -> str:
    return quoteattr(text, {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
