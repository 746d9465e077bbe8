"""The mechanism as solids, from its Denavit-Hartenberg table.

Every solid belongs to a frame and stands still in it. The link between frames i and j follows the
six parameters: along z_i by b, along the common normal by d, along z_j by r. Where the table ends
with a link that reaches out, a pendulum, that is drawn as far as its centre of mass; where the file
has a tool, as far as that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..describe.limits import limits_of
from ..describe.robot import FIXED, GEOMETRY, PRISMATIC, REVOLUTE, Joint, Robot, Wheel
from ..describe.values.expression import number, symbols
from ..mechanism.tree import Tree

LENGTHS = ("b", "d", "r")
_CORNERS = 48  # of a wheel that is drawn


@dataclass(frozen=True)
class Solid:
    """A cylinder along z, a ball or a plate in a frame: its middle, its axis, its size."""

    frame: int
    kind: str  # body, ball, revolute, ring, sleeve, slide, plate
    middle: tuple[float, float, float]
    turn: np.ndarray  # (3,3)
    length: float
    joint: int = 0
    radii: tuple[float, float] = (0.0, 0.0)  # at both ends; of a ball the first
    outline: np.ndarray | None = None  # (k,2) of a plate


def stand_ins(robot: Robot) -> dict[str, str]:
    """A value for every symbol of the geometry, so that a symbolic robot can be drawn."""
    numbers: dict[str, str] = {}
    for joint in robot.numbered:
        for key in GEOMETRY:
            for name in symbols(getattr(joint, key)):
                numbers.setdefault(name, "0.4" if key in LENGTHS else "0.5")
    for frame in robot.frames:
        for values, example in ((frame.xyz, "0.1"), (frame.rpy, "0.5")):
            numbers |= {name: example for x in values for name in symbols(x) if name not in numbers}
    for wheel in robot.wheels:
        numbers |= {name: "0.1" for name in symbols(wheel.radius) if name not in numbers}
    for coupling in robot.couplings.values():
        for x in (coupling.offset, *(ratio for _, ratio in coupling.leaders)):
            numbers |= {name: "1" for name in symbols(x) if name not in numbers}
    return numbers


_EXAMPLES = {
    "M": "1", "XX": "0.1", "YY": "0.1", "ZZ": "0.1", "XY": "0", "XZ": "0", "YZ": "0",
    "MX": "0.02", "MY": "0.02", "MZ": "0.02", "IA": "0.05", "FV": "0.1", "FS": "0.1",
}  # fmt: skip


def examples(robot: Robot) -> dict[str, str]:
    """A plausible number for every symbol, to try things with: SI units."""
    numbers = stand_ins(robot)
    for item in (*robot.links, robot.base.link, *robot.joints):
        for key, value in _EXAMPLES.items():
            for name in symbols(getattr(item, key, 0)):
                numbers.setdefault(name, value)
    for component in robot.gravity:  # down, whatever its sign is in the description
        for name in symbols(component):
            numbers.setdefault(name, "9.81" if str(component).startswith("-") else "-9.81")
    return {name: numbers.get(name, "0") for name in robot.parameters}


def drawable(robot: Robot, values: dict[str, Any]) -> Robot:
    """The robot with numbers in its geometry; masses stay as they are.

    A symbol that no one gave a value gets one that can be drawn."""
    known = stand_ins(robot) | {k: v for k, v in values.items() if k in robot.parameters}
    return robot.with_values(known) if known else robot


def _lengths(joint: Any) -> tuple[float, ...]:
    return tuple(float(number(getattr(joint, key)) or 0) for key in GEOMETRY)


def reach(robot: Robot) -> float:
    """About how far the robot reaches: the longest sum of lengths from the base."""
    far = [0.0]
    for joint in robot.joints:
        _, b, _, d, _, r = _lengths(joint)
        far.append(far[joint.antecedent] + abs(b) + abs(d) + abs(r))
    slides = sum(joint.sigma == PRISMATIC for joint in robot.joints)
    return max(*far, 0.2) + 0.15 * slides if len(far) > 1 else 1.0


def thickness(robot: Robot) -> float:
    """The length that joints and tubes are drawn in proportion to: robots of many short links are
    drawn thin."""
    lengths = sorted(
        np.hypot(np.hypot(b, d), r) for _, b, _, d, _, r in map(_lengths, robot.joints)
    )
    real = [length for length in lengths if length > 1e-9]
    return float(min(reach(robot), 6 * real[len(real) // 2])) if real else reach(robot)


def solids(robot: Robot) -> list[Solid]:
    """All solids of a drawable robot: a body along the table's way from joint to joint, thinner
    towards the tip and with less mass, a housing around each axis; platforms and their bases as
    plates. Joints that only place a platform are no bodies."""
    radii, unseen, plates = _radii(robot), _placing(robot), _plates(robot)
    parts = []
    for j, joint in enumerate(robot.joints, 1):
        if j in unseen:
            continue
        i, R = joint.antecedent, radii[j]
        gamma, b, _, d, _, r = _lengths(joint)
        foot = np.array([0.0, 0.0, b])
        corner = np.array([d * np.cos(gamma), d * np.sin(gamma), b])
        if i not in plates:
            parts += _way(i, [np.zeros(3), foot, corner], radii[i], R)
        if joint.sigma == PRISMATIC:
            z, shortest = axis_of(joint), limits_of(joint)[0]
            long = shortest if 0 < shortest < reach(robot) else 3 * R
            start = corner if shortest > 0 else corner - long / 2 * z
            parts += _way(i, [start, start + long * z], 1.3 * R, 1.3 * R, "sleeve", j)
            parts.append(Solid(j, "slide", (0, 0, 0), np.eye(3), 1.0, j, (0.7 * R, 0.7 * R)))
        elif i not in plates:
            parts += _way(j, [np.array([0, 0, -r]), np.zeros(3)], R, R)
        if joint.sigma == REVOLUTE:
            drum = 1.2 * max(R, radii[i] if i else R)
            at = 0.0 if i in plates else -r
            if i == 0:  # it stands on the ground, as far as its link reaches up
                at += np.copysign(min(1.19 * drum, abs(r)), r) if at else 0.0
            parts += _housing(j, at, drum)
    for wheel in robot.wheels:
        parts += _rim(wheel, 0.5 * radii[wheel.link])
    for loop in robot.loops:
        for frame in (loop.cut, loop.twin):
            if frame.antecedent not in plates:
                parts += _branch(frame, radii)
        i, end = loop.twin.antecedent, point(_reached(loop.twin))
        parts.append(Solid(i, "ball", end, np.eye(3), 0.0, 0, (1.3 * radii[i], 0)))
    parts += [_plate(i, points, 0.5 * radii[i]) for i, points in plates.items()]
    for j in ends(robot):
        if j not in unseen:
            R, far = radii[j], bodies(robot).get(j)
            tool = np.zeros(3) if far is None else far
            for named in robot.frames:  # as far as the file's tool is
                xyz = [number(x) for x in named.xyz]
                if named.link == j and None not in xyz and far is None:
                    place = np.array(xyz, float)
                    tool = max(tool, place, key=lambda x: float(np.linalg.norm(x)))
            parts += _way(j, [np.zeros(3), tool], R, 0.7 * R)
            if far is not None:
                parts.append(Solid(j, "ball", point(far), np.eye(3), 0.0, j, (1.8 * R, 0)))
    return parts


def point(x: np.ndarray) -> tuple[float, float, float]:
    return float(x[0]), float(x[1]), float(x[2])


def _radii(robot: Robot) -> list[float]:
    """Of the body of each link, the base first."""
    deep = [0]
    for joint in robot.joints:
        deep.append(deep[joint.antecedent] + (joint.sigma != FIXED))
    masses = [float(number(link.M) or 0) if number(link.M) is not None else 0.0
              for link in (robot.base.link, *robot.links)]  # fmt: skip
    known = [mass for mass in masses if mass > 0]
    usual = float(np.median(known)) if known else 1.0
    thick = thickness(robot) * (0.022 if robot.loops else 0.068)
    return [
        thick * (1 - 0.4 * depth / max(deep)) * float(np.clip((mass / usual) ** (1 / 3), 0.75, 1.2))
        if mass > 0 else 0.9 * thick * (1 - 0.4 * depth / max(*deep, 1))
        for depth, mass in zip(deep, masses, strict=True)
    ]  # fmt: skip


def _placing(robot: Robot) -> set[int]:
    """Joints of a platform's own coordinates, which no body belongs to: those on the way from the
    base to a platform that are all passive."""
    chain: list[int] = []
    j = Tree.of(robot).platform if robot.loops else 0
    while j:
        chain.append(j)
        j = robot.joints[j - 1].antecedent
    passive = not any(robot.joints[j - 1].active for j in chain)
    return set(chain) if passive else set()


def _plates(robot: Robot) -> dict[int, np.ndarray]:
    """Links that hold several legs, and where: the base and the platform of a parallel robot,
    where these places are not on a line."""
    unseen = _placing(robot)
    if not unseen:
        return {}
    legs = [joint for j, joint in enumerate(robot.joints, 1) if j not in unseen]
    shared = [frame for loop in robot.loops for frame in (loop.cut, loop.twin)]
    places = {0: [x for x in legs if x.antecedent == 0],
              Tree.of(robot).platform: [x for x in shared if x.antecedent in unseen]}  # fmt: skip
    plates = {}
    for i, frames in places.items():
        points = np.array([_reached(frame) for frame in frames]).reshape(-1, 3)
        spread = np.linalg.svd(points - points.mean(0))[1] if len(points) > 2 else np.zeros(3)
        if spread[1] > 0.05 * reach(robot) and spread[-1] < 0.2 * spread[1]:
            plates[i] = points
    return plates


def _reached(frame: Joint) -> np.ndarray:
    """Where a joint is on the link that carries it."""
    gamma, b, _, d, _, r = _lengths(frame)
    corner = np.array([d * np.cos(gamma), d * np.sin(gamma), b])
    return corner + (0.0 if frame.sigma == PRISMATIC else r) * axis_of(frame)


def axis_of(frame: Joint) -> np.ndarray:
    """The axis of a joint in the frame that carries it."""
    gamma, _, alpha, *_ = _lengths(frame)
    return np.array([
        np.sin(gamma) * np.sin(alpha), -np.cos(gamma) * np.sin(alpha), np.cos(alpha)
    ])  # fmt: skip


def _plate(i: int, points: np.ndarray, thick: float) -> Solid:
    """The convex hull of places that lie about in a plane, with a rim around them."""
    middle = points.mean(0)
    _, _, axes = np.linalg.svd(points - middle)
    turn = np.column_stack([axes[0], axes[1], np.cross(axes[0], axes[1])])
    flat = (points - middle) @ turn[:, :2]
    outline = np.array(hull(flat * 1e3)) / 1e3  # hull rounds to 4 decimals
    rim = 3 * thick / np.maximum(np.linalg.norm(outline, axis=1, keepdims=True), 1e-9)
    return Solid(i, "plate", point(middle), turn, 2 * thick, 0, (0, 0), outline * (1 + rim))


def _housing(j: int, at: float, R: float) -> list[Solid]:
    """What turns about z: a drum with a ring at either end."""
    drum = Solid(j, "revolute", (0, 0, at), np.eye(3), 2.2 * R, j, (R, R))
    small = (0.8 * R, 0.8 * R)
    rings = [Solid(j, "ring", (0, 0, at + 1.13 * side * R), np.eye(3), 0.12 * R, j, small)
             for side in (1, -1)]  # fmt: skip
    return [drum, *rings]


def bodies(robot: Robot) -> dict[int, np.ndarray]:
    """The centre of mass, in its frame, of each last link whose mass is known and far away."""
    centres = {}
    for j in ends(robot):
        link = robot.links[j - 1]
        M, *MS = (number(getattr(link, key)) for key in ("M", "MX", "MY", "MZ"))
        if M is None or None in MS or not float(M) > 0:
            continue
        centre = np.array(MS, float) / float(M)
        if np.linalg.norm(centre) > 0.25 * reach(robot):
            centres[j] = centre
    return centres


def ends(robot: Robot) -> list[int]:
    """Frames that carry nothing: where tools are."""
    carried = {frame.antecedent for frame in robot.numbered}
    return [j for j in range(1, len(robot.joints) + 1) if j not in carried]


def _rim(wheel: Wheel, thick: float) -> list[Solid]:
    """A wheel as a disc, with a spoke that shows how it turns."""
    angles = np.linspace(0, 2 * np.pi, _CORNERS, endpoint=False)
    radius = float(number(wheel.radius) or 0)
    circle = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    disc = Solid(wheel.link, "plate", (0.0, 0.0, 0.0), np.eye(3), 1.4 * thick, outline=circle)
    spoke = [np.zeros(3), np.array([0.8 * radius, 0, 0])]
    return [disc, *_way(wheel.link, spoke, thick, thick)]


def _branch(frame: Joint, radii: Sequence[float]) -> list[Solid]:
    """The way from a link to a frame that closes a loop, with a housing around that one's axis."""
    gamma, b, _, d, _, _ = _lengths(frame)
    corner = np.array([d * np.cos(gamma), d * np.sin(gamma), b])
    end, R = _reached(frame), radii[frame.antecedent]
    points = [np.zeros(3), np.array([0, 0, b]), corner, end]
    return _way(frame.antecedent, points, R, 0.8 * R)


def _way(
    frame: int, points: Sequence[np.ndarray], start: float, end: float, kind: str = "body",
    joint: int = 0,
) -> list[Solid]:  # fmt: skip
    """A round body through points, from one radius to another, its bends and ends rounded."""
    steps = [(a, b, float(np.linalg.norm(b - a))) for a, b in pairwise(points)]
    whole, gone, parts = sum(length for *_, length in steps), 0.0, []
    for a, b, length in steps:
        if length < 1e-9:
            continue
        first, gone = start + (end - start) * gone / whole, gone + length
        last = start + (end - start) * gone / whole
        turn = along((b - a) / length)
        parts.append(Solid(frame, kind, point((a + b) / 2), turn, length, joint, (first, last)))
        if kind == "body":
            parts.append(Solid(frame, "ball", point(b), np.eye(3), 0.0, joint, (last, 0)))
    if parts and kind == "body":
        parts.append(Solid(frame, "ball", point(points[0]), np.eye(3), 0.0, joint, (start, 0)))
    return parts


def hull(points: np.ndarray) -> tuple[tuple[float, float], ...]:
    """The convex hull of points of the plane, by Andrew's monotone chain."""
    ordered = sorted({(round(float(x), 4), round(float(y), 4)) for x, y in points})

    def half(listed: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        chain: list[tuple[float, float]] = []
        for p in listed:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return (*half(ordered), *half(ordered[::-1])) or tuple(ordered)


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def along(axis: np.ndarray) -> np.ndarray:
    """A rotation that takes z to the axis."""
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(other, axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])
