"""Bodies with any joint axis and origin -> frames in Khalil's notation.

Formats such as URDF place each body's own frame freely. Khalil's frames are not free: z_j lies
along the axis of joint j, and x_j along the common normal of z_j and the axis of one successor, so
that this successor needs four parameters and only the others need gamma and b ([KC97] 2.1). Here:

- the successor with most joints behind it is the one that gets four parameters;
- where the rule leaves frame j free (parallel or no successor axis), theta_j and r_j are made zero;
- the axis of a prismatic joint has a direction but no place: it is put through the next axis;
- a frame that must be kept as it is (the root, a fixed joint kept as a frame) is not moved at all;
- a frame whose origin may be anywhere on its axis is not taken far from its link, where the
  link's own inertia would be lost beside M d^2;
- axes that are almost parallel have their common normal far away, and six numbers would cancel
  catastrophically: a massless fixed frame across them keeps the description exact.

The zero of every joint stays where it was: what the new frame changes goes into theta_j and r_j.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .frames import (
    SNAP_ANGLE,
    SNAP_LENGTH,
    Array,
    Six,
    decimal_value,
    decompose,
    frame,
    inverse,
    khalil_values,
    matrix_of,
    perpendicular,
    placement_values,
    score,
)
from .robot import FIXED, INERTIA, PRISMATIC, Frame, Joint, Link
from .values.expression import Value

_FAR = 100.0  # times the robot's size: a common normal farther than this costs digits
_OFF = 1e3  # times the link's own size: an origin farther than this costs 6 digits of its inertia
_LOST = 1e-9  # of a link's own inertia: round-off that is told


@dataclass(frozen=True, eq=False)
class Mass:
    """A rigid mass: its centre and its inertia about that centre, in the frame of its body."""

    mass: float
    centre: Array
    inertia: Array


@dataclass(frozen=True, eq=False)
class Body:
    """A body with its own frame, its joint to the parent body, and its masses.

    `placement` is the own frame in the parent's own frame when the joint is at zero; the joint
    turns about or slides along `axis`, which passes through `point` (None: anywhere). `kept`: the
    own frame must be the frame of the description.
    """

    name: str
    parent: int  # index in the list of bodies, -1 for the root; parents come before children
    joint: Joint
    placement: Array
    axis: Array
    point: Array | None
    masses: tuple[Mass, ...] = ()
    kept: bool = False


def moved(masses: Sequence[Mass], T: Array) -> tuple[Mass, ...]:
    """Masses in the frame in which T places their present frame."""
    R, P = T[:3, :3], T[:3, 3]
    return tuple(Mass(m.mass, R @ m.centre + P, R @ m.inertia @ R.T) for m in masses)


def size_of(bodies: Sequence[Body]) -> float:
    """The length against which other lengths are nothing: the longest link, or a metre.

    A robot may stand far away in the frame of its base: that distance is no size of its own."""
    lengths = [float(np.linalg.norm(body.placement[:3, 3])) for body in bodies]
    longest = max(lengths, default=0.0)
    own = max((x for x, body in zip(lengths, bodies, strict=True) if body.parent > 0), default=0.0)
    return (own if 0 < own < 1e-3 * longest else longest) or 1.0


def inertial_values(masses: Sequence[Mass], size: float) -> dict[str, Value]:
    """XX ... M of masses given in a frame, about its origin."""
    M = sum(m.mass for m in masses)
    first = sum((m.mass * m.centre for m in masses), np.zeros(3))
    J = inertia_about(masses, np.zeros(3))
    moments = [J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]]
    largest, own = float(np.abs(J).max()), _own_inertia(masses)
    # round-off of M d^2 is nothing, but what the link has of its own is not round-off
    values = [
        *_tidied(moments, min(largest, 1e4 * own) if own else largest),
        *_tidied(first, max(float(np.abs(first).max()), 0.01 * M * size)),
        *_tidied([M], M),
    ]
    return dict(zip(INERTIA, values, strict=True))


def inertia_about(masses: Sequence[Mass], point: Array) -> Array:
    """The inertia matrix of masses about a point of their frame."""
    J = np.zeros((3, 3))
    for m in masses:
        c = m.centre - point
        J += m.inertia + m.mass * (float(c @ c) * np.eye(3) - np.outer(c, c))
    return J


def centre_of(masses: Sequence[Mass]) -> Array:
    """The centre of mass, the origin where nothing weighs."""
    M = sum(m.mass for m in masses)
    if M <= 0:
        return np.zeros(3)
    return np.asarray(sum((m.mass * m.centre for m in masses), np.zeros(3)) / M)


def _own_inertia(masses: Sequence[Mass]) -> float:
    """The largest moment of masses about their common centre."""
    return float(np.abs(inertia_about(masses, centre_of(masses))).max()) if masses else 0.0


def _is_far(masses: Sequence[Mass]) -> bool:
    """Is the origin so far away that doubles cannot hold the inertia about it?"""
    own = _own_inertia(masses)
    around = float(np.abs(inertia_about(masses, np.zeros(3))).max()) if masses else 0.0
    return own > 0 and 2.3e-16 * around > _LOST * own


def far_words(names: Sequence[str]) -> str:
    """What to say of links whose inertia is lost beside their distance from their frame."""
    listed = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    return (
        f"the inertia of {listed} is small beside M d^2 of the distance d to the frame of the link,"
        " and loses digits: place the frame near the link"
    )


def _tidied(numbers: Sequence[float] | Array, scale: float) -> list[Value]:
    """Numbers of a common scale as exact values; round-off is nothing."""
    return [
        0 if abs(x) <= 1e-14 * scale else decimal_value(float(x), 1e-15 * scale) for x in numbers
    ]


def frames_of(
    bodies: Sequence[Body], far: list[str] | None = None
) -> tuple[list[Joint], list[Link]]:
    """Joints and links in Khalil's notation of all bodies but the root, in the order given. far:
    gets the names of links that stand too far from their frames (`far_words`)."""
    size = size_of(bodies)
    joints, links = [], []
    for body, placed, six in _placed(bodies):
        if body.parent >= 0:
            joints.append(replace(body.joint, antecedent=body.parent, **khalil_values(six, size)))
            masses = moved(body.masses, inverse(placed))
            links.append(Link(body.name, **inertial_values(masses, size)))
            if far is not None and _is_far(masses):
                far.append(body.name)
    return joints, links


def named_frames(
    bodies: Sequence[Body], places: Iterable[tuple[str, int, Array, str]]
) -> tuple[Frame, ...]:
    """The frames of the file as frames of the links of `frames_of`: of each its name, the index of
    its body, its placement in the body's own frame, and its kind."""
    size = size_of(bodies)
    placed = {body.name: (j, T) for j, (body, T, _) in enumerate(_placed(bodies))}
    frames = []
    for name, index, T, kind in places:
        j, khalil = placed[bodies[index].name]
        xyz, rpy = placement_values(inverse(khalil) @ T, size)
        frames.append(Frame(name, j, xyz, rpy, kind))
    return tuple(frames)


def longest_path(parents: Iterable[tuple[str, str, bool]]) -> str:
    """The end of the longest path of (child, parent, does a joint move it?), parents before
    children: the first of those that some joint moves, else the first; "" of nothing."""
    depth: dict[str, tuple[bool, int]] = {}
    for child, parent, moves in parents:
        carried, before = depth.get(parent, (False, 0))
        depth[child] = carried or moves, before + 1
    return max(depth, key=depth.__getitem__, default="")


def _placed(bodies: Sequence[Body]) -> list[tuple[Body, Array, Six]]:
    """The bodies, with the frames between that they need; of each Khalil's frame in the body's own
    frame, and its six parameters."""
    size = size_of(bodies)
    bodies = _separated(_with_prismatic_axes(list(bodies), size), size)
    successors = _main_successors(bodies)
    placed: list[tuple[Body, Array, Six]] = []
    for j, body in enumerate(bodies):
        if body.parent < 0:
            placed.append((body, np.eye(4), (0.0,) * 6))
            continue
        k = successors[j]
        to_parent = inverse(placed[body.parent][1]) @ body.placement
        placed.append((body, *_place(body, bodies[k] if k else None, to_parent, size)))
    return placed


def _place(body: Body, successor: Body | None, to_parent: Array, size: float) -> tuple[Array, Six]:
    """The frame on the joint axis with the cheapest six parameters that the successor allows."""
    if body.kept:
        return np.eye(4), decompose(to_parent, size)
    z = body.axis
    point = inverse(to_parent)[:3, 3] if body.point is None else body.point
    best: tuple[Array, Six] | None = None
    for x, origin in _choices(z, point, successor, size):
        M = _axes(z, perpendicular(z) if x is None else x, point if origin is None else origin)
        six = decompose(to_parent @ M, size)
        gamma, b, alpha, d, theta, r = six
        slide, turn = (r if origin is None else 0.0), (theta if x is None else 0.0)
        if abs(slide) > _OFF * _extent(body, point):
            slide = 0.0
        M = M @ inverse(matrix_of((0.0, 0.0, 0.0, 0.0, turn, slide)))
        six = (gamma, b, alpha, d, theta - turn, r - slide)
        if best is None or score(six) < score(best[1]):
            best = M, six
    assert best is not None
    return best


def _extent(body: Body, point: Array) -> float:
    """The size of a link, seen from a point of its joint axis; endless where it weighs nothing."""
    M = sum(m.mass for m in body.masses)
    if M <= 0:
        return math.inf
    reach = float(np.linalg.norm(centre_of(body.masses) - point))
    return reach + math.sqrt(_own_inertia(body.masses) / M)


def _choices(
    z: Array, point: Array, successor: Body | None, size: float
) -> list[tuple[Array | None, Array | None]]:
    """(x axis, origin) of frame j that suit the successor's axis; None where any does."""
    if successor is None:
        return [(None, None)]
    zk, pk = _line_in_parent(successor)
    normal = np.cross(z, zk)
    s = float(np.linalg.norm(normal))
    if s > SNAP_ANGLE:
        x = normal / s
        foot = None if pk is None else point + z * _feet(z, point, zk, pk)[0]
        return [(x, foot), (-x, foot)]
    if pk is None:
        return [(None, None)]
    across = pk - point
    across = across - z * float(z @ across)
    distance = float(np.linalg.norm(across))
    if distance < SNAP_LENGTH * size:
        return [(None, None)]
    return [(across / distance, None), (-across / distance, None)]


def _axes(z: Array, x: Array, origin: Array) -> Array:
    """The frame with that z axis and, as nearly as z allows, that x axis."""
    x = x - z * float(z @ x)  # the normal of almost parallel axes is not very normal to them
    x = x / np.linalg.norm(x)
    return frame(np.column_stack((x, np.cross(z, x), z)), origin)


def _line_in_parent(body: Body) -> tuple[Array, Array | None]:
    """Direction and point of the joint axis, in the own frame of the parent body."""
    R, P = body.placement[:3, :3], body.placement[:3, 3]
    return R @ body.axis, None if body.point is None else R @ body.point + P


def _feet(z: Array, p: Array, zk: Array, pk: Array) -> tuple[float, float]:
    """Where the common normal of two lines stands on each, measured from their points."""
    normal = np.cross(z, zk)
    square = float(normal @ normal)
    across = pk - p
    return (
        float(np.cross(across, zk) @ normal) / square,
        float(np.cross(across, z) @ normal) / square,
    )


def _main_successors(bodies: Sequence[Body]) -> list[int]:
    """For each body the child with most joints behind it, the first of equals; 0 for none."""
    behind = [int(body.joint.sigma != FIXED) for body in bodies]
    chosen = [0] * len(bodies)
    for j in range(len(bodies) - 1, 0, -1):
        i = bodies[j].parent
        behind[i] += behind[j]
        if not chosen[i] or behind[j] >= behind[chosen[i]]:
            chosen[i] = j
    return chosen


def _with_prismatic_axes(bodies: list[Body], size: float) -> list[Body]:
    """Put each prismatic axis through its successor's axis, moving it along their common normal.

    Without a successor that has a place, the axis goes through whatever frame comes before it.
    """
    successors = _main_successors(bodies)
    for j in range(len(bodies) - 1, 0, -1):
        body = bodies[j]
        if body.joint.sigma != PRISMATIC or body.point is None:
            continue
        point: Array | None = None
        if successors[j]:
            zk, pk = _line_in_parent(bodies[successors[j]])
            if pk is not None:
                point = _through(body.axis, body.point, zk, pk, size)
        bodies[j] = replace(body, point=point)
    return bodies


def _through(z: Array, p: Array, zk: Array, pk: Array, size: float) -> Array:
    """A point through which a line along z meets the line (zk, pk), the one nearest to p's line."""
    if np.linalg.norm(np.cross(z, zk)) <= SNAP_ANGLE:
        return pk + z * float(z @ (p - pk))
    t, u = _feet(z, p, zk, pk)
    if max(abs(t), abs(u)) > _FAR * size:
        return pk
    return pk + zk * u


def _separated(bodies: list[Body], size: float) -> list[Body]:
    """Insert a massless fixed frame across two successive axes that are almost parallel."""
    result: list[Body] = []
    number: list[int] = []  # new index of each body
    names = {name for body in bodies for name in (body.name, body.joint.name)}
    for body in bodies:
        parent = number[body.parent] if body.parent >= 0 else -1
        body = replace(body, parent=parent)
        if parent >= 0 and _almost_parallel(result[parent], body, size):
            name = _free_name(f"{body.name}_across", names)
            result.append(_across(result[parent], body, name))
            body = replace(body, parent=len(result) - 1, placement=np.eye(4))
        number.append(len(result))
        result.append(body)
    return result


def _almost_parallel(parent: Body, body: Body, size: float) -> bool:
    zj, pj = _line_in_parent(body)
    z, p = parent.axis, parent.point
    if p is None or pj is None or math.hypot(*np.cross(z, zj)) <= SNAP_ANGLE:
        return False
    return max(map(abs, _feet(z, p, zj, pj))) > _FAR * size


def _across(parent: Body, body: Body, name: str) -> Body:
    """The frame between: its axis is perpendicular to the joint's axis and meets it."""
    z, point = body.axis, body.point
    assert point is not None
    assert parent.point is not None
    back = inverse(body.placement)
    w = point - (back[:3, :3] @ parent.point + back[:3, 3])
    w = w - z * float(z @ w)
    distance = float(np.linalg.norm(w))
    axis = w / distance if distance > 0 else perpendicular(z)
    joint = Joint(name, 0, sigma=FIXED)
    return Body(name, body.parent, joint, body.placement, axis, point)


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
