"""A robot in formats of XML: elements as text, and what these formats cannot hold.

Both place bodies in frames of their own: in the file's frame of a link where the robot knows one,
else in Khalil's. They hold numbers and centres of mass only."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import quoteattr

import numpy as np

from ...errors import DescriptionError, Fault
from ..frames import Array, decimal_value, inverse, matrix_of, placement_of, placement_values
from ..robot import (
    DRIVE,
    FIXED,
    FURTHER,
    GEOMETRY,
    INERTIA,
    REVOLUTE,
    WRENCH,
    Frame,
    Joint,
    Link,
    Robot,
)
from ..values.expression import Value, number, symbols

NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
Attributes = Mapping[str, str | Sequence[float] | Array]


def element(tag: str, attributes: Attributes, *inner: str) -> list[str]:
    """The lines of an element; what stands in it is indented."""
    words = "".join(
        f" {key}={quoteattr(value if isinstance(value, str) else numbers(value))}"
        for key, value in attributes.items()
    )
    if not inner:
        return [f"<{tag}{words}/>"]
    return [f"<{tag}{words}>", *(f"  {line}" for line in inner), f"</{tag}>"]


def numbers(values: Iterable[float]) -> str:
    """Numbers as the shortest text that reads back equal."""
    return " ".join(repr(float(x) + 0.0).removesuffix(".0") for x in values)


def names_of(robot: Robot) -> set[str]:
    """The names of the base, of the links, and of the frames of the file."""
    links = {link.name for link in (robot.base.link, *robot.links)}
    return links | {frame.name for frame in robot.frames}


def free_name(name: str, taken: Iterable[str]) -> str:
    """The name, with an end that makes it none of those taken."""
    while name in taken:
        name += "_"
    return name


def as_float(value: Value) -> float:
    """The number a value stands for."""
    x = number(value)
    if x is None:
        raise DescriptionError(f"the value {value} is not a finite number")
    return x


def as_floats(values: Iterable[Value]) -> Array:
    return np.array([as_float(x) for x in values])


# frames


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
    return placement_of(list(map(as_float, item.xyz)), list(map(as_float, item.rpy)))


def joint_matrix(joint: Joint) -> Array:
    """iTj at q_j = 0."""
    return matrix_of(as_floats(getattr(joint, key) for key in GEOMETRY))  # type: ignore[arg-type]


def world_frame(robot: Robot) -> tuple[Array, Array]:
    """The placement Z of frame 0 in the world, and gravity there."""
    Z = as_floats(robot.base.Z).reshape(4, 4)
    return Z, Z[:3, :3] @ as_floats(robot.gravity)


def between(first: Array, T: Array, second: Array) -> Array:
    """The placement T of a frame in another one, of frames fixed on the two; without round-off."""
    if np.array_equal(first, np.eye(4)) and np.array_equal(second, np.eye(4)):
        return T
    T = inverse(first) @ T @ second
    xyz, rpy = placement_values(T, float(np.linalg.norm(T[:3, 3])) or 1.0)
    return placement_of(list(map(as_float, xyz)), list(map(as_float, rpy)))


def direction(E: Array) -> list[float]:
    """z of Khalil's frame in a frame of the same link."""
    return [_short(x, 1.0) + 0.0 for x in E[2, :3]]


def centred(link: Link, E: Array, form: str) -> tuple[float, Array, Array] | None:
    """Mass, centre of mass and inertia about it in a frame E of the link; None for no body."""
    xx, xy, xz, yy, yz, zz, mx, my, mz, M = (as_float(getattr(link, key)) for key in INERTIA)
    first = np.array([mx, my, mz])
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if M == 0 and not first.any() and not J.any():
        return None
    if M < 0 or (M == 0 and first.any()):
        words = f"mass {M!r} with first moments {mx!r} {my!r} {mz!r} has no centre of mass, which"
        words += f" {form} needs: give physical parameters, not base parameters"
        raise DescriptionError([Fault(words, link=link.name)])
    c = first / M if M else first
    scale = float(np.abs(J).max())
    c = _tidied(c, math.hypot(*c))
    J = _tidied(J - M * (float(c @ c) * np.eye(3) - np.outer(c, c)), scale)
    if np.array_equal(E, np.eye(4)):
        return M, c, J
    R, size = E[:3, :3], math.hypot(*c, *E[:3, 3])
    J = R.T @ J @ R
    J = _tidied(J, float(np.abs(J).max()))
    return M, _tidied(R.T @ (c - E[:3, 3]), size), (J + J.T) / 2


def _tidied(x: Array, scale: float) -> Array:
    return np.array([_short(value, scale) for value in x.ravel()]).reshape(x.shape)


def _short(x: float, scale: float) -> float:
    """x without the round-off of a difference of numbers of that scale."""
    return float(decimal_value(float(x), 1e-15 * scale))  # type: ignore[arg-type]


# what cannot be written


def faults_of(robot: Robot, form: str, *, loops: bool = False) -> list[Fault]:
    """Symbols without a value, those of loops too where the format holds them; and names that XML
    or the format cannot hold."""
    faults = []
    free = dict.fromkeys(name for value in _written(robot, loops) for name in symbols(value))
    if free:
        listed = ", ".join(list(free)[:12]) + (", ..." if len(free) > 12 else "")
        words = f"robot '{robot.name}' has free symbols ({listed}) and {form} holds numbers only"
        example = f"robot.with_values({{'{next(iter(free))}': 0.5, ...}})"
        remedy = f"give them values first, {example}"
        faults.append(Fault(words, remedy=remedy, action="values"))
    led = [x.name for x in robot.joints if x.mimic is not None and x.mimic.others]
    if led:
        words = f"{', '.join(led)}: led by several joints, and {form} lets one lead"
        faults.append(Fault(words, remedy="save the robot as .toml"))
    for kind, names in (
        ("link", [robot.base.link.name, *(link.name for link in robot.links)]),
        ("joint", [joint.name for joint in robot.joints]),
        ("frame", [item.name for item in robot.frames]),
    ):
        for k, name in enumerate(names):
            if not name.strip() or NOT_XML.search(name):
                faults.append(Fault(f"{kind} {k} needs a printable name, not {name!r}"))
            elif name in names[:k]:
                faults.append(Fault(f"two {kind}s are called '{name}': names must be unique"))
    return faults


def _written(robot: Robot, loops: bool) -> Iterable[Value]:
    """Everything that a file needs as a number."""
    base = robot.base
    yield from (*(getattr(base.link, key) for key in INERTIA), *base.Z, *robot.gravity)
    for link, joint in zip(robot.links, robot.joints, strict=True):
        limits = joint.limits
        yield from (getattr(joint, key) for key in (*GEOMETRY, *DRIVE, *FURTHER))
        yield from (getattr(link, key) for key in INERTIA)
        yield from (joint.mimic.ratio, joint.mimic.offset) if joint.mimic else ()
        ends = (limits.lower, limits.upper, limits.velocity, limits.effort)
        yield from (value for value in ends if value is not None)
    for item in robot.frames:
        yield from (*item.xyz, *item.rpy)
    for end in (end for loop in robot.loops for end in (loop.cut, loop.twin) if loops):
        yield from (getattr(end, key) for key in GEOMETRY)


def unheld(robot: Robot, form: str, loops: Iterable[tuple[str, str]], tree: bool) -> list[Fault]:
    """One fault for each thing of the robot that a format has no word for: those of loops, as (of
    whom, what); elastic joints, flexible links, wrenches, a base that moves as prescribed. tree: a
    format of trees has no passive joints either, and a floating base at rest."""
    things = list(loops)
    for link, joint in zip(robot.links, robot.joints, strict=True):
        free = not joint.active and joint.sigma != FIXED and joint.mimic is None
        wrench = any(getattr(link, key) != 0 for key in WRENCH)
        what = {
            "elastic joint": joint.elastic, "passive joint": tree and free,
            "flexible link": link.flexible is not None, "external wrench FX ... CZ": wrench,
        }  # fmt: skip
        things += [(link.name, text) for text, present in what.items() if present]
    links = (robot.base.link, *robot.links)
    things += [(links[x.link].name, type(x).__name__.lower()) for x in robot.interactions]
    things += [(robot.links[x.link - 1].name, "wheel that rolls") for x in robot.wheels]
    things += [(x.name, "drive of several joints") for x in robot.drives]
    if robot.base.kind == "mobile" or (tree and robot.base.motion):
        things.append((robot.base.link.name, "prescribed motion of the base"))
    return [Fault(f"{form} cannot hold this: {text}", link=link) for link, text in things]
