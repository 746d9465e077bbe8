"""What was written is read again, and must be the same robot.

.toml and .par hold the robot's own fields: these are compared. URDF and MJCF place bodies in other
frames: there the inertia matrix A(q) and the gravity torques Q(q) are computed from either robot at
random positions, link by link in plain NumPy, and the screws of the joints by their invariants
z_i·z_j and z_i·m_j + z_j·m_i, which do not depend on the frame they are written in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..algebra import so3
from .frames import matrix_of
from .robot import DRIVE, FIXED, FRICTION, FURTHER, GEOMETRY, INERTIA, PRISMATIC, Robot
from .values.expression import number
from .world import gravity_in_world, placement

Array = Any
_STATES = 3
_SAME = 1e-6  # of the largest: files round their numbers
_LABELS = {"name": "names", "variable": "names of the joint variables", "limits": "limits",
           "motor": "what motors can do",
           "home": "home positions", "symbols": "names of velocities and torques"}  # fmt: skip
_DRIVE = (*DRIVE, "stiffness", "rest", "damping", *FURTHER)


@dataclass(frozen=True)
class Comparison:
    """What came back otherwise: `wrong` makes it another robot, `lost` the format cannot hold,
    `drives` are rotors, friction and springs of joints that URDF may leave out when asked to."""

    wrong: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    drives: tuple[str, ...] = ()


def compared(robot: Robot, again: Robot, form: str) -> Comparison:
    """A robot and what was read from the text written of it, in a format without the dot."""
    if robot == again:
        return Comparison()
    if form in ("urdf", "xml"):
        return _mechanics_compared(robot, again)
    wrong: list[str] = []
    lost: dict[str, None] = {}
    if len(robot.joints) != len(again.joints) or len(robot.loops) != len(again.loops):
        return Comparison((_count(robot, again),))
    pairs: list[tuple[str, Any, Any]] = [
        *((one.name, one, two) for one, two in zip(robot.numbered, again.numbered, strict=True)),
        *((one.name, one, other) for one, other in zip(robot.links, again.links, strict=True)),
        ("base", robot.base, again.base), ("base", robot.base.link, again.base.link),
    ]  # fmt: skip
    for name, one, other in pairs:
        for part in fields(one):
            a, b = getattr(one, part.name), getattr(other, part.name)
            if part.name == "link" or a == b or _equal(a, b):
                continue
            if part.name in _LABELS:
                lost[_LABELS[part.name]] = None
            elif one is robot.base.link and robot.base.kind == "fixed":
                lost["inertia of the fixed base"] = None  # no model feels it
            else:
                wrong.append(f"{part.name} of {name} is {_short(b)} instead of {_short(a)}")
    if not all(_equal(a, b) for a, b in zip(robot.gravity, again.gravity, strict=True)):
        wrong.append("gravity differs")
    if form == "toml" and len(robot.interactions) != len(again.interactions):
        wrong.append("the interactions differ")
    if robot.wheels != again.wheels and not _equal_wheels(robot, again):
        wrong.append("the wheels differ")
    if not _equal_drives(robot, again):
        wrong.append("the drives of several joints differ")
    if form == "toml" and (robot.frames, robot.end_effector) != (again.frames, again.end_effector):
        wrong.append("the named frames differ")
    if robot.name != again.name:
        lost["the robot's name"] = None
    return Comparison(tuple(wrong), tuple(lost))


def _short(x: object) -> str:
    return f"{x!s:.40}"


def _count(robot: Robot, again: Robot) -> str:
    return (
        f"{len(again.joints)} joints and {len(again.loops)} loops instead of"
        f" {len(robot.joints)} and {len(robot.loops)}"
    )


def _equal_wheels(robot: Robot, again: Robot) -> bool:
    def parts(x: Robot) -> tuple[Any, ...]:
        return tuple((w.link, w.radius, *w.normal, w.slip) for w in x.wheels)

    return _equal(parts(robot), parts(again))


def _equal_drives(robot: Robot, again: Robot) -> bool:
    def parts(x: Robot) -> tuple[Any, ...]:
        keys = ("IA", *FRICTION)
        return tuple((d.joints, *(getattr(d, key) for key in keys)) for d in x.drives)

    return _equal(parts(robot), parts(again))


def _equal(a: Any, b: Any) -> bool:
    """Values that are the same, or the same number to rounding."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_equal, a, b))
    try:
        x, y = number(a), number(b)
    except (TypeError, ValueError, OverflowError, AttributeError):
        return bool(a == b)
    if x is None or y is None:
        return bool(a == b)
    return abs(x - y) <= 1e-12 * max(abs(x), abs(y))


# mechanics of a robot of numbers


@dataclass(frozen=True)
class _Mechanics:
    """At one position, by joint name: A, Q, and the invariants of the screws."""

    A: Array
    Q: Array
    turns: Array
    moments: Array


def _mechanics_compared(robot: Robot, again: Robot) -> Comparison:
    names, others = _moving(robot), _moving(again)
    if len(names) != len(others):
        return Comparison((f"{len(others)} joints that move instead of {len(names)}",))
    by_name = set(names) == set(others)
    lost: dict[str, None] = {} if by_name else {"names of joints": None}
    keys = names if by_name else list(range(len(names)))
    listed = others if by_name else list(range(len(names)))
    order = [listed.index(key) for key in keys]
    wrong = []
    rng = np.random.default_rng(0)
    for _ in range(_STATES):
        q = rng.uniform(-1, 1, len(names))
        q_again = np.empty(len(names))
        q_again[order] = q
        one, other = _mechanics(robot, q), _mechanics(again, q_again)
        for what, said in (("A", "the inertia matrix"), ("Q", "the gravity torques"),
                           ("turns", "the directions of the axes"),
                           ("moments", "the places of the axes")):  # fmt: skip
            a, b = getattr(one, what), getattr(other, what)
            b = b[order] if what == "Q" else b[np.ix_(order, order)]
            scale = max(float(np.abs(a).max(initial=0)), 1e-12)
            away = float(np.abs(a - b).max(initial=0)) / scale
            if not away <= _SAME and said not in wrong:
                wrong.append(f"{said} differs by {away:.1g} of its largest element")
        if wrong:
            break
    drives: list[str] = []
    joints = [joint for joint in again.joints if joint.sigma != FIXED]
    for k, joint in enumerate(x for x in robot.joints if x.sigma != FIXED):
        back = joints[order[k]]
        drives += [
            f"{key} of joint {joint.name} is {_short(getattr(back, key))} instead of"
            f" {_short(getattr(joint, key))}"
            for key in _DRIVE if not _near(getattr(joint, key), getattr(back, key))
        ]  # fmt: skip
        if joint.motor is not None:
            lost[_LABELS["motor"]] = None
    return Comparison(tuple(wrong), tuple(lost), tuple(drives))


def _near(a: Any, b: Any) -> bool:
    x, y = number(a), number(b)
    return x is None or y is None or abs(x - y) <= _SAME * max(abs(x), abs(y), 1e-9)


def _moving(robot: Robot) -> list[Any]:
    return [joint.name for joint in robot.joints if joint.sigma != FIXED]


def _mechanics(robot: Robot, q: Array) -> _Mechanics:
    """A = sum J' I J and Q = - sum J' w over the links, with their screws in the world."""
    values = iter(q)
    n = len(q)
    T, J = [placement(robot)], [np.zeros((6, n))]
    screws = np.zeros((n, 6))
    slides = np.zeros(n, bool)
    k = 0
    for joint in robot.joints:
        six = [_number(getattr(joint, key)) for key in GEOMETRY]
        at = GEOMETRY.index("r" if joint.sigma == PRISMATIC else "theta")
        if joint.sigma != FIXED:
            six[at] += next(values)
        T.append(T[joint.antecedent] @ matrix_of(six))
        own = J[joint.antecedent].copy()
        if joint.sigma != FIXED:
            z, p = T[-1][:3, 2], T[-1][:3, 3]
            slides[k] = joint.sigma == PRISMATIC
            screws[k] = [*(z if slides[k] else np.cross(p, z)), *(0 * z if slides[k] else z)]
            own[:, k] = screws[k]
            k += 1
        J.append(own)
    g = gravity_in_world(robot)
    A, Q = np.zeros((n, n)), np.zeros(n)
    for link, place, own in zip(robot.links, T[1:], J[1:], strict=True):
        inertia = _spatial({key: _number(getattr(link, key)) for key in INERTIA}, place)
        A += own.T @ inertia @ own
        Q -= own.T @ inertia @ np.concatenate([g, np.zeros(3)])
    axis = np.where(slides[:, None], screws[:, :3], screws[:, 3:])
    moment = np.where(slides[:, None], 0, screws[:, :3])
    turns = axis @ axis.T
    moments = axis @ moment.T
    return _Mechanics(A, Q, turns, moments + moments.T)


def _spatial(values: Mapping[str, float], T: Array) -> Array:
    """The inertia (6, 6) of a link about the origin of the world, for (linear, angular)."""
    R, P = T[:3, :3], T[:3, 3]
    keys = ("XX", "XY", "XZ", "XY", "YY", "YZ", "XZ", "YZ", "ZZ")
    own = R @ np.array([values[key] for key in keys]).reshape(3, 3) @ R.T
    M, h = values["M"], R @ np.array([values["MX"], values["MY"], values["MZ"]])
    cross = np.outer(P, h) + np.outer(h, P)
    whole = own + (2 * (P @ h) + M * (P @ P)) * np.eye(3) - cross - M * np.outer(P, P)
    hat = so3.hat(h + M * P)
    return np.block([[M * np.eye(3), -hat], [hat, whole]])


def _number(value: Any) -> float:
    return number(value) or 0.0
