"""URDF files: links placed by any origin and axis -> `Robot` in Khalil's notation, and back.

Kept: joint names, types, axes, zeros and limits, <dynamics damping> as FV, <dynamics friction> as
FS, the rotors of `urdf.drives` as IA, masses and inertias (moved to the joint frame; the root
link's go to the base). Frame 0 is the frame of the root link, and gravity is along its -z, as
URDF's users take it. Links come depth first, in the order in which the file lists their joints. A
fixed joint is merged into its parent link, or kept as a link of its own (sigma 2). Either way every
link of the file, moving or fixed, is a `Frame` of the robot at its URDF place, and the last of the
longest path is the end effector. A floating joint under the root makes the base floating. A joint
that mimics another is read as a joint of its own, with a warning, as most readers of URDF do; or,
on request, follows it and is passive. Planar joints are refused. Loops are read in the dialects of
`urdf.loops`. Shapes, meshes, materials and plugins are harmless, and what is not known is said:
`urdf.schema` has the list. No other file is opened but those that a xacro file names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import Fault, UnknownNameError
from ..bodies import Body, longest_path, moved, named_frames
from ..check import completed, weightless
from ..closures import Placed, balanced
from ..couplings import coupled
from ..floating import has_inertia
from ..frames import SNAP_ANGLE, Array, decimal_value
from ..robot import (
    FIXED,
    INERTIA,
    PRISMATIC,
    REVOLUTE,
    Base,
    Coupling,
    Joint,
    Limits,
    Link,
    Robot,
)
from ..values.expression import Value
from ..xacro.packages import Among, Packages
from ..xml.source import MOST_JOINTS, Source, shown, summaries
from .drives import with_motors, with_rotors
from .elements import Elements, JointElement, LinkElement, read_elements
from .loops import loops_of, read_loops
from .schema import unknown
from .write import write_urdf as write_urdf  # an old place of it

_SIGMA = {"revolute": REVOLUTE, "continuous": REVOLUTE, "prismatic": PRISMATIC, "fixed": FIXED}
GRAVITY: tuple[Value, ...] = (0, 0, decimal_value(-9.81, 0.0))


def read_urdf(
    data: bytes, file: str = "", *, fixed: str = "merge", mimic: bool = False,
    snap: float = SNAP_ANGLE, files: Packages | Among | None = None,
    arguments: Mapping[str, str] | None = None, order: str = "file",
) -> tuple[Robot | None, list[Fault]]:  # fmt: skip
    """The robot of a URDF file and every fault found; no robot when one of them is an error.

    fixed: what becomes of fixed links, "merge" or "keep". mimic: joints follow those they mimic.
    snap: roll, pitch and yaw this near
    (rad) to a multiple of pi/12 are that multiple; a file that writes 1.5708 for a right angle
    gives far cheaper models with snap=1e-4, and is then no longer taken at its letter.
    files, arguments: what a xacro file may include, and the values of its arguments.
    order: of the joints below each link, as in the file or by name ("pinocchio").
    """
    if fixed not in ("merge", "keep"):
        raise UnknownNameError.of("treatment of fixed joints", fixed, ("merge", "keep"))
    source = Source(file, snap)
    elements = read_elements(data, source, files, arguments)
    if elements is not None and order == "pinocchio":
        elements = replace(elements, joints=sorted(elements.joints, key=lambda joint: joint.name))
    robot = None if elements is None else robot_of(elements, source, fixed == "merge", mimic)
    if robot is None:
        return None, sorted(source.faults, key=lambda fault: fault.line)
    return completed(robot, source.faults, file)


def robot_of(elements: Elements, source: Source, merge: bool, mimic: bool) -> Robot | None:
    """None where the joints form no tree, so that nothing more can be said."""
    before = len(source.errors)
    hung = any(joint.parent == "world" for joint in elements.joints)
    if hung and all(link.name != "world" for link in elements.links):  # which Drake knows
        elements = replace(elements, links=[LinkElement("world", 0), *elements.links])
    order = _ordered(elements, source)
    if len(source.errors) > before or any(not x.parent or not x.child for x in elements.joints):
        return None
    base, order = _split_base(elements, order, source)
    if len(source.errors) > before:
        return None
    links = {link.name: link for link in elements.links}
    bodies, place = _bodies(base, order, links, merge)
    placed = Placed.of(bodies, source.fault)
    joints = with_rotors(placed.joints, elements.root, source)
    loops = loops_of([*read_loops(elements, source), *elements.loops], placed, place, source)
    if loops:
        joints = with_motors(joints, elements.root, source, elements.way)
    joints = coupled(joints, _couplings(elements, order, joints, source, mimic))
    if loops and not source.failed:
        changes: dict[str, list[Fault]] = {}
        joints = balanced(placed, joints, loops, lambda words, name: changes.setdefault(
            words, []
        ).append(Fault("", source.file, 0, "", "warning", (name,))))  # fmt: skip
        source.faults += summaries(changes)
    unknown(elements.root, source)
    moving = {body.name for body in bodies if body.joint.sigma != FIXED}
    frames = named_frames(
        bodies,
        [
            (name, *at, "link" if name in moving else "fixed link")
            for name, at in place.items() if name != base.link.name
        ],
    )  # fmt: skip
    if not moving - {base.link.name} and base.kind == "fixed":
        base = _free_body(base, placed, source)
    end = longest_path((joint.child, joint.parent, joint.type != "fixed") for joint in order)
    for element in elements.root.iterfind("end_effector"):
        end = element.get("link") if element.get("link") in place else end
    robot = Robot(
        elements.name, tuple(placed.links), tuple(joints), tuple(loops),
        base=replace(base, link=placed.root), gravity=elements.gravity or GRAVITY,
        source=source.file, frames=frames, end_effector=end,
    )  # fmt: skip
    _tell_weightless(robot, links, source)
    return robot


def _free_body(base: Base, placed: Placed, source: Source) -> Base:
    """What has mass and no joint, as a drone: a base that floats; of scenery a fixed one."""
    if source.failed or base.link.name == "world" or not has_inertia([placed.root, *placed.links]):
        return base
    words = "no joint of the file moves: it is read as one rigid body that flies freely"
    source.fault(words, severity="warning")
    return replace(base, kind="floating")


def _tell_weightless(robot: Robot, links: Mapping[str, LinkElement], source: Source) -> None:
    """A file for geometry alone has no mass at all, which is one line."""
    names = [] if source.failed else weightless(robot)
    if not names:
        return
    if not any(getattr(link, key) != 0 for link in robot.links for key in INERTIA):
        words = "no link that moves has mass: its frames and velocities are right, forces are zero"
        source.fault(words, severity="warning")
        return
    remark = "links that move have no mass or inertia, so that their accelerations have no value"
    lines = {name: source.place(links[name].line if name in links else 0) for name in names}
    places = [Fault("", *lines[name], name, "warning", (name,)) for name in names]
    source.faults += summaries({f"{remark}: give them an <inertial>": places})


def _ordered(elements: Elements, source: Source) -> list[JointElement]:
    """The joints depth first from the root, in document order; faults where they form no tree."""
    before = len(source.faults)
    _check_names(elements, source)
    children = _children(elements, source)
    if any(fault.severity == "error" for fault in source.faults[before:]):
        return []
    if any(not joint.parent or not joint.child for joint in elements.joints):
        return []  # already a fault, and nothing can be said about the tree
    child_names = {joint.child for joint in elements.joints}
    roots = [link for link in elements.links if link.name not in child_names]
    if len(roots) > 1:
        listed = ", ".join(f"'{link.name}'" for link in roots[:5])
        source.fault(
            f"there are {len(roots)} root links ({listed}): join them by joints", roots[1].line
        )
    order: list[JointElement] = []
    stack = [joint for link in roots for joint in reversed(children.get(link.name, []))]
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack.extend(reversed(children.get(joint.child, [])))
    reached = {joint.child for joint in order}
    lost = [joint for joint in elements.joints if joint.child not in reached]
    if lost:  # every link has one parent, so what cannot be reached turns in a circle
        source.fault(
            f"joint '{lost[0].name}' belongs to a cycle: '{lost[0].child}' is its own ancestor,"
            " or hangs on a link that is", lost[0].line, lost[0].child,
        )  # fmt: skip
    return order


def _check_names(elements: Elements, source: Source) -> None:
    links = [(link.name, link.line, link.name) for link in elements.links]
    joints = [(joint.name, joint.line, joint.child) for joint in elements.joints]
    for kind, named in (("link", links), ("joint", joints)):
        seen: dict[str, int] = {}
        for name, line, link in named:
            if name and name in seen:
                first = source.place(seen[name])[1]
                source.fault(f"{kind} '{name}' is already defined on line {first}", line, link)
            seen.setdefault(name, line)
    if not elements.links:
        source.fault("<robot> has no <link>")
    if len(elements.joints) > MOST_JOINTS:
        source.fault(f"there are {len(elements.joints)} joints; at most {MOST_JOINTS} are read")


def _children(elements: Elements, source: Source) -> dict[str, list[JointElement]]:
    """The joints under each link; faults for unknown links and second parents."""
    known = {link.name for link in elements.links}
    parents: dict[str, JointElement] = {}
    children: dict[str, list[JointElement]] = {}
    for joint in elements.joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name and name not in known:
                source.fault(
                    f"joint '{joint.name}': its {role} link '{name}' is not in the file", joint.line
                )
        if joint.child and joint.child in parents:
            source.fault(
                f"joint '{joint.name}' is a second parent joint, after"
                f" '{parents[joint.child].name}'; URDF holds trees only: cut the loop, and close it"
                " by a <loop_joint>",
                joint.line, joint.child,
            )  # fmt: skip
        elif joint.child and joint.child == joint.parent:
            source.fault(
                f"joint '{joint.name}' is a cycle: it connects the link to itself",
                joint.line,
                joint.child,
            )
        parents.setdefault(joint.child, joint)
        children.setdefault(joint.parent, []).append(joint)
        if joint.type == "planar":
            words = "is planar, which is not supported: write it as two prismatic joints and a"
            words = f"joint '{joint.name}' {words} revolute one"
            source.fault(words, joint.line, joint.child)
    return children


def _split_base(
    elements: Elements, order: list[JointElement], source: Source
) -> tuple[Base, list[JointElement]]:
    """The base, floating under a floating joint that is the first of all; the other joints."""
    children = {joint.child for joint in order}
    root = next(link.name for link in elements.links if link.name not in children)
    floating = [joint for joint in order if joint.type == "floating"]
    if not floating:
        return Base(link=Link(root)), order
    first, only = order[0], sum(joint.parent == root for joint in order) == 1
    for joint in floating:
        turned = not np.array_equal(joint.placement[:3, :3], np.eye(3))
        if joint is not first or not only or turned:
            what = "its origin turns the base" if joint is first and only else "it is not the first"
            source.fault(
                f"joint '{joint.name}' is floating, which is only supported as the only joint of"
                f" the root link, without rotation ({what})", joint.line, joint.child,
            )  # fmt: skip
    Z = tuple(decimal_value(float(x), 0.0) for x in first.placement.ravel())
    return Base(kind="floating", Z=Z, link=Link(first.child)), order[1:]


def _bodies(
    base: Base, order: Sequence[JointElement], links: dict[str, LinkElement], merge: bool
) -> tuple[list[Body], dict[str, tuple[int, Array]]]:
    """The bodies of the tree, root first, and where every link of the file stands in them; with
    merge, fixed links are part of their parent body."""
    z = np.array([0.0, 0.0, 1.0])
    name = base.link.name
    bodies = [
        Body(name, -1, Joint(name, 0), np.eye(4), z, np.zeros(3), links[name].masses, kept=True)
    ]
    place: dict[str, tuple[int, Array]] = {name: (0, np.eye(4))}  # link -> body, frame in it
    for element in order:
        parent, T = place[element.parent]
        T = T @ element.placement
        masses = links[element.child].masses
        if element.type == "fixed" and merge:
            place[element.child] = parent, T
            body = bodies[parent]
            bodies[parent] = replace(body, masses=body.masses + moved(masses, T))
            continue
        place[element.child] = len(bodies), np.eye(4)
        still = element.type == "fixed"
        axis = z if still else element.axis
        bodies.append(
            Body(element.child, parent, _joint(element), T, axis, element.point, masses, kept=still)
        )
    return bodies, place


def _couplings(
    elements: Elements,
    order: Sequence[JointElement],
    joints: Sequence[Joint],
    source: Source,
    wanted: bool,
) -> dict[str, Coupling]:
    """What the joints follow that mimic others; faults where that is not possible."""
    moving = {joint.name: j for j, joint in enumerate(joints, 1) if joint.sigma != FIXED}
    known = {joint.name for joint in elements.joints}
    couplings = {}
    for element in order:
        mimic = element.mimic
        if mimic is None or element.name not in moving:
            continue
        what = f"joint '{element.name}' mimics '{shown(mimic.joint)}'"
        if not (wanted or mimic.rigid):
            source.fault(
                f"{what}: it is read as an independent joint; load(..., mimic=True), or `cardan"
                " convert --mimic`, couples them", element.line, element.child, "warning",
            )  # fmt: skip
        elif mimic.joint not in known or mimic.joint == element.name:
            why = "no joint of this file" if mimic.joint != element.name else "itself"
            source.fault(f"{what}, {why}: name the joint that leads", element.line, element.child)
        elif mimic.joint not in moving:
            source.fault(
                f"{what}, which is fixed: it is read as a joint of its own", element.line,
                element.child, "warning",
            )  # fmt: skip
        else:
            ratio, offset = (decimal_value(x, 0.0) for x in (mimic.multiplier, mimic.offset))
            couplings[element.name] = Coupling(moving[mimic.joint], ratio, offset)
    return couplings


def _joint(element: JointElement) -> Joint:
    """Name, kind, drive and limits of the joint; its frame is found later."""
    if element.type == "fixed":
        return Joint(element.name, 0, sigma=FIXED)
    limits = {key: decimal_value(value, 0.0) for key, value in element.limits.items()}
    drive: dict[str, Any] = {key: decimal_value(x, 0.0) for key, x in element.drive.items()}
    if element.type == "continuous":
        limits = {key: limits[key] for key in limits if key not in ("lower", "upper")}
    return Joint(
        element.name,
        0,
        sigma=_SIGMA[element.type],
        **drive,
        limits=Limits(**limits),
    )
