"""A humanoid on a floating base: two legs of 6 joints, a waist of 3, two arms of 7.

It is nobody's product: proportions of a small humanoid, orthogonal axes, and bodies without any
symmetry, so that no system gains from zeros that a real robot does not have."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from ..describe.robot import Base, Joint, Link, Robot
from ..exact import exact, pi

# alpha in right angles, d, theta in right angles, r; the sides of the body mirror r of the first
_LEG = [
    ("hip_pitch", -1, "0", 0, "0.11"), ("hip_roll", 1, "0", 1, "0"),
    ("hip_yaw", 1, "0", 0, "0.3"), ("knee", -1, "0.03", 0, "0"),
    ("ankle_pitch", 0, "0.31", 0, "0"), ("ankle_roll", 1, "0", 0, "0"),
]  # fmt: skip
_WAIST = [
    ("waist_yaw", 0, "0", 0, "0.05"), ("waist_roll", 1, "0", 1, "0"),
    ("waist_pitch", 1, "0", 0, "0"),
]  # fmt: skip
_ARM = [
    ("shoulder_pitch", -1, "0", 0, "0.14"), ("shoulder_roll", 1, "0", 1, "0"),
    ("shoulder_yaw", 1, "0", 0, "0.2"), ("elbow", -1, "0.02", 0, "0"),
    ("wrist_roll", 1, "0", 0, "0.21"), ("wrist_pitch", -1, "0", 0, "0"),
    ("wrist_yaw", 1, "0", 0, "0"),
]  # fmt: skip


def humanoid() -> Robot:
    """29 joints on a floating base."""
    joints: list[Joint] = []
    trunk = _limb(joints, 0, "", _WAIST, "0.04", 1)
    for rows, onto, b in ((_ARM, trunk, "0.25"), (_LEG, 0, "-0.08")):
        for side, sign in (("left_", 1), ("right_", -1)):
            _limb(joints, onto, side, rows, b, sign)
    rng = random.Random(29)
    links = [_body(rng, joint.name, Fraction(2)) for joint in joints]
    base = Base(kind="floating", link=_body(rng, "pelvis", Fraction(6)))
    gravity = (0, 0, _value("-9.81"))
    return Robot("Humanoid", tuple(links), tuple(joints), base=base, gravity=gravity)


def _value(x: Fraction | str) -> Any:
    return exact(x)


def _limb(
    joints: list[Joint], trunk: int, side: str, rows: list[tuple[str, int, str, int, str]],
    b: str, sign: int,
) -> int:  # fmt: skip
    """Appends a chain; the number of its last link."""
    for k, (name, alpha, d, theta, r) in enumerate(rows):
        length = _value(r) * (sign if k == 0 else 1)
        joints.append(
            Joint(
                side + name, len(joints) if k else trunk, 0, b=_value(b) if k == 0 else 0,
                alpha=alpha * pi / 2, d=_value(d), theta=theta * pi / 2, r=length,
            )
        )  # fmt: skip
    return len(joints)


def _body(rng: random.Random, name: str, mass: Fraction) -> Link:
    """A body of three bars across each other: its inertia is that of a real body."""

    def draw(size: int) -> Fraction:
        return Fraction(rng.randint(-size, size), 1000)

    M = mass * (1000 + rng.randint(-400, 400)) / 1000
    c = [draw(60) for _ in range(3)]
    bars = [[draw(150) for _ in range(3)] for _ in range(3)]
    J = [[M * sum(bar[i] * bar[k] for bar in (*bars, c)) for k in range(3)] for i in range(3)]
    trace = J[0][0] + J[1][1] + J[2][2]
    values = {
        "XX": trace - J[0][0], "XY": -J[0][1], "XZ": -J[0][2], "YY": trace - J[1][1],
        "YZ": -J[1][2], "ZZ": trace - J[2][2],
        "MX": M * c[0], "MY": M * c[1], "MZ": M * c[2], "M": M,
    }  # fmt: skip
    return Link(name, **{key: _value(value) for key, value in values.items()})
