"""Changes of a robot's structure: links added, removed, exchanged; loops closed and opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ....describe.robot import FIXED, Coupling, Joint, Link, Loop, Robot
from ....describe.values.parser import to_value
from ....errors import InputError
from ....mechanism.frames import frame_of


def structure(robot: Robot) -> str:
    """Serial, tree or closed, in words."""
    if robot.loops:
        return f"closed, {len(robot.loops)} loop{'s' * (len(robot.loops) > 1)}"
    if robot.couplings:
        return f"{len(robot.couplings)} coupled joint{'s' * (len(robot.couplings) > 1)}"
    chain = all(joint.antecedent == j for j, joint in enumerate(robot.joints))
    return "serial" if chain else "tree"


def with_link(robot: Robot, name: str, **fields: Any) -> Robot:
    """One link changed; by its name: others may have come or gone since it was chosen."""
    links = [replace(link, **fields) if link.name == name else link for link in robot.links]
    if name not in {link.name for link in links}:
        raise InputError(f"{name} is no longer there: choose another link")
    return replace(robot, links=tuple(links))


def added(robot: Robot) -> Robot:
    """One more link at the end of the chain, named as no other."""
    k = len(robot.links) + 1
    name = _unused(robot, "link", k)
    joint = Joint(name, k - 1, d=to_value("0.3"))
    old = len(robot.joints)
    moved = _renumbered(robot, lambda i: i + (i > old))  # cut frames are numbered after the links
    return replace(moved, joints=(*moved.joints, joint), links=(*robot.links, Link(name)))


def duplicated(robot: Robot, j: int) -> Robot:
    """One more link at the end of the chain, with all that link j+1 has but its name."""
    longer = added(robot)
    last, link = longer.joints[-1], longer.links[-1]
    joint = replace(longer.joints[j], name=last.name, antecedent=last.antecedent, variable="",
                    mimic=None)  # fmt: skip
    return replace(
        longer, joints=(*longer.joints[:-1], joint),
        links=(*longer.links[:-1], replace(longer.links[j], name=link.name)),
    )  # fmt: skip


def inserted(robot: Robot, j: int) -> Robot:
    """A new link before link j+1 of a chain."""
    longer = added(robot)
    for k in range(len(robot.links) - 1, j - 1, -1):
        longer = moved_down(longer, k)
    return longer


def removed(robot: Robot, j: int) -> Robot:
    """Without link j+1: what it carried is carried by its antecedent."""
    if len(robot.links) == 1:
        raise InputError("a robot has at least one link")
    gone, before = j + 1, robot.joints[j].antecedent
    robot = _without_frames(_uncoupled(robot, gone), gone)

    def number(i: int) -> int:
        i = before if i == gone else i
        return i - (i > gone)

    moved = _renumbered(robot, number)
    return replace(
        moved,
        joints=moved.joints[:j] + moved.joints[j + 1 :],
        links=robot.links[:j] + robot.links[j + 1 :],
    )


def swapped(robot: Robot, j: int) -> Robot:
    """Links j+1 and j+2 exchanged; neither carries the other."""
    a, b = j + 1, j + 2
    if robot.joints[b - 1].antecedent == a:
        raise InputError(f"link {b} is carried by link {a}: they cannot be exchanged")
    moved = _renumbered(robot, lambda i: {a: b, b: a}.get(i, i))
    joints, links = list(moved.joints), list(robot.links)
    joints[j], joints[b - 1] = joints[b - 1], joints[j]
    links[j], links[b - 1] = links[b - 1], links[j]
    return replace(moved, joints=tuple(joints), links=tuple(links))


def moved_down(robot: Robot, j: int) -> Robot:
    """Link j+1 one place further. In a chain, where it carries the next one, that comes first."""
    if robot.joints[j + 1].antecedent != j + 1:
        return swapped(robot, j)
    a, b = robot.joints[j], robot.joints[j + 1]
    joints, links = list(robot.joints), list(robot.links)
    joints[j] = replace(b, antecedent=a.antecedent)
    joints[j + 1] = replace(a, antecedent=b.antecedent)
    links[j], links[j + 1] = links[j + 1], links[j]
    exchanged = {j + 1: j + 2, j + 2: j + 1}
    joints = [_led(joint, lambda i: exchanged.get(i, i)) for joint in joints]
    frames = [replace(frame, link=exchanged.get(frame.link, frame.link)) for frame in robot.frames]
    return replace(robot, joints=tuple(joints), links=tuple(links), frames=tuple(frames))


def shifted_to(robot: Robot, a: int, b: int) -> Robot:
    """Link a+1 in the place of link b+1; those between make room."""
    steps = range(a, b) if a < b else range(a - 1, b - 1, -1)
    for j in steps:
        robot = moved_down(robot, j)
    return robot


def looped(robot: Robot) -> Robot:
    """One more loop, from the last link to the base, for the user to place."""
    k = len(robot.loops) + 1
    n, B = len(robot.links), len(robot.loops)
    name = _unused(robot, "loop", k)
    moved = _renumbered(robot, lambda i: i + (i > n + B))
    cut = Joint(f"{name}_cut", n, active=False)
    twin = Joint(f"{name}_twin", 0, FIXED)
    return replace(moved, loops=(*moved.loops, Loop(name, cut, twin)))


def unlooped(robot: Robot, k: int) -> Robot:
    """Without loop k: the structure is open there."""
    return replace(robot, loops=robot.loops[:k] + robot.loops[k + 1 :])


def framed(robot: Robot) -> Robot:
    """One more frame, where the end effector is: a tool there, for the user to place."""
    end = frame_of(robot)
    frame = replace(end, name=_unused(robot, "tool", 1), kind="frame")
    return replace(robot, frames=(*robot.frames, frame))


def without_frame(robot: Robot, k: int) -> Robot:
    frames = robot.frames[:k] + robot.frames[k + 1 :]
    end = "" if robot.end_effector == robot.frames[k].name else robot.end_effector
    return replace(robot, frames=frames, end_effector=end)


def _renumbered(robot: Robot, number: Callable[[int], int]) -> Robot:
    """Every antecedent i, and every joint i that leads another, replaced by number(i)."""

    def joint(frame: Joint) -> Joint:
        return _led(replace(frame, antecedent=number(frame.antecedent)), number)

    loops = tuple(replace(k, cut=joint(k.cut), twin=joint(k.twin)) for k in robot.loops)
    frames = tuple(replace(frame, link=number(frame.link)) for frame in robot.frames)
    return replace(robot, joints=tuple(map(joint, robot.joints)), loops=loops, frames=frames)


def _without_frames(robot: Robot, gone: int) -> Robot:
    """Without the frames on a link, and the end effector if it is one of them."""
    frames = tuple(frame for frame in robot.frames if frame.link != gone)
    lost = {frame.name for frame in robot.frames} - {frame.name for frame in frames}
    lost.add(robot.links[gone - 1].name)
    end = "" if robot.end_effector in lost else robot.end_effector
    return replace(robot, frames=frames, end_effector=end)


def led_by(robot: Robot, j: int, k: int) -> Robot:
    """Joint j+1 follows joint k, and has no motor; 0: it moves by itself."""
    old = robot.joints[j].mimic
    coupling = replace(old, joint=k) if old and k else Coupling(k) if k else None
    joints = list(robot.joints)
    joints[j] = replace(joints[j], mimic=coupling, active=coupling is None)
    return replace(robot, joints=tuple(joints))


def _led(joint: Joint, number: Callable[[int], int]) -> Joint:
    if joint.mimic is None:
        return joint
    others = tuple((number(k), ratio) for k, ratio in joint.mimic.others)
    first = number(joint.mimic.joint)
    return replace(joint, mimic=replace(joint.mimic, joint=first, others=others))


def _uncoupled(robot: Robot, gone: int) -> Robot:
    """The joints that joint `gone` leads move by themselves."""
    led = {j for j, coupling in robot.couplings.items() if gone in dict(coupling.leaders)}
    free = [replace(x, mimic=None, active=True) if j in led else x
            for j, x in enumerate(robot.joints, 1)]  # fmt: skip
    return replace(robot, joints=tuple(free))


def _unused(robot: Robot, stem: str, k: int) -> str:
    frames = [f for loop in robot.loops for f in (loop, loop.cut, loop.twin)]
    names = {item.name for item in (*robot.links, *robot.joints, *robot.frames, *frames)}
    while f"{stem}{k}" in names:
        k += 1
    return f"{stem}{k}"
