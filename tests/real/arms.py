"""Arms as vendors write them: public dimensions, and the ways in which files round them.

An `Arm` is a table of rows (sigma, alpha, d, theta, r), modified Denavit-Hartenberg, exact. What a
file makes of it is a `Writing`: angles to so many decimals, degrees, noise, millimetres, axes
mirrored. `urdf_text` writes the arm as a URDF (so that readers, too, are part of what is tested),
`table` as a Robot with these values in its parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import atan2, cos, degrees, hypot, pi, radians, sin
from typing import Any
from xml.etree import ElementTree

import numpy as np

from cardan.describe.robot import Joint, Link, Robot
from cardan.exact import exact

__all__ = [
    "ARMS", "Arm", "Writing", "direct", "direct_of_urdf", "table", "urdf_text", "writings",
    "written_rows",
]  # fmt: skip

H = pi / 2
Row = tuple[int, float, float, float, float]


@dataclass(frozen=True)
class Arm:
    """Rows of joints, and the place of the last frame after them (xyz, rpy)."""

    name: str
    rows: tuple[Row, ...]
    tool: tuple[float, ...] = (0.0,) * 6
    held: int | None = None  # the joint (from 1) that is given, of seven


@dataclass(frozen=True)
class Writing:
    """How a file writes the numbers of an arm."""

    name: str
    decimals: int | None = None  # of angles
    degrees: int | None = None  # angles are degrees of so many decimals, turned to radians
    lengths: int | None = None  # decimals of lengths
    angle_noise: float = 0.0
    length_noise: float = 0.0
    mirrored: bool = False  # every second axis points the other way
    scale: float = 1.0  # of lengths
    seed: int = 0
    rng: Any = field(default=None, compare=False)

    def drawing(self) -> Writing:
        """The same with its generator of noise at the start."""
        return Writing(
            **{**vars(self), "rng": np.random.default_rng(self.seed)},
        )

    def angle(self, x: float) -> float:
        """An angle as the file has it."""
        if self.degrees is not None:
            x = radians(round(degrees(x), self.degrees))
        if self.angle_noise:
            x += self.angle_noise * self.rng.uniform(-1, 1)
        return x if self.decimals is None else round(x, self.decimals)

    def length(self, x: float) -> float:
        """A length as the file has it."""
        if self.length_noise:
            x += self.length_noise * self.rng.uniform(-1, 1)
        x = x if self.lengths is None else round(x, self.lengths)
        return x * self.scale


def _universal(name: str, d1: float, a2: float, a3: float, d4: float, d5: float, d6: float) -> Arm:
    """A Universal Robots arm of its published table."""
    return Arm(name, (
        (0, 0.0, 0.0, 0.0, d1), (0, H, 0.0, 0.0, 0.0), (0, 0.0, a2, 0.0, 0.0),
        (0, 0.0, a3, 0.0, d4), (0, H, 0.0, 0.0, d5), (0, -H, 0.0, 0.0, d6),
    ))  # fmt: skip


def _jointed(
    name: str, r1: float, d2: float, d3: float, d4: float, r4: float, r6: float, r3: float = 0.0
) -> Arm:
    """A jointed arm with a spherical wrist."""
    return Arm(name, (
        (0, 0.0, 0.0, 0.0, r1), (0, -H, d2, -H, 0.0), (0, 0.0, d3, 0.0, r3),
        (0, -H, d4, 0.0, r4), (0, H, 0.0, 0.0, 0.0), (0, -H, 0.0, 0.0, r6),
    ))  # fmt: skip


PANDA = (
    (0, 0.0, 0.0, 0.0, 0.333), (0, -H, 0.0, 0.0, 0.0), (0, H, 0.0, 0.0, 0.316),
    (0, H, 0.0825, 0.0, 0.0), (0, -H, -0.0825, 0.0, 0.384), (0, H, 0.0, 0.0, 0.0),
    (0, H, 0.088, 0.0, 0.107),
)  # fmt: skip
IIWA = (
    (0, 0.0, 0.0, 0.0, 0.36), (0, -H, 0.0, 0.0, 0.0), (0, H, 0.0, 0.0, 0.42),
    (0, H, 0.0, 0.0, 0.0), (0, -H, 0.0, 0.0, 0.4), (0, -H, 0.0, 0.0, 0.0),
    (0, H, 0.0, 0.0, 0.126),
)  # fmt: skip

ARMS: dict[str, Arm] = {
    arm.name: arm
    for arm in [
        _universal("UR3", 0.1519, -0.24365, -0.21325, 0.11235, 0.08535, 0.0819),
        _universal("UR5", 0.089159, -0.425, -0.39225, 0.10915, 0.09465, 0.0823),
        _universal("UR10", 0.1273, -0.612, -0.5723, 0.163941, 0.1157, 0.0922),
        _universal("UR3e", 0.15185, -0.24355, -0.2132, 0.13105, 0.08535, 0.0921),
        _universal("UR5e", 0.1625, -0.425, -0.3922, 0.1333, 0.0997, 0.0996),
        _universal("UR10e", 0.1807, -0.6127, -0.57155, 0.17415, 0.11985, 0.11655),
        _universal("UR15", 0.2186, -0.6475, -0.5164, 0.1824, 0.1361, 0.1434),
        _universal("UR16e", 0.1807, -0.4784, -0.36, 0.17415, 0.11985, 0.11655),
        _universal("UR20", 0.2363, -0.862, -0.7287, 0.201, 0.1593, 0.1543),
        _universal("UR30", 0.2363, -0.637, -0.5037, 0.201, 0.1593, 0.1543),
        Arm("PUMA 560", (
            (0, 0.0, 0.0, 0.0, 0.6718), (0, -H, 0.0, 0.0, 0.2435), (0, 0.0, 0.4318, 0.0, -0.0934),
            (0, H, -0.0203, 0.0, 0.4331), (0, -H, 0.0, 0.0, 0.0), (0, H, 0.0, 0.0, 0.0),
        )),
        _jointed("RX90", 0.35, 0.0, 0.45, 0.0, 0.45, 0.085),
        _jointed("KR6 R700", 0.4, 0.025, 0.315, 0.035, 0.365, 0.08),
        _jointed("IRB 6640", 0.78, 0.32, 1.075, 0.2, 1.1425, 0.2),
        _jointed("IRB 120", 0.29, 0.0, 0.27, 0.07, 0.302, 0.072),
        _jointed("TX40", 0.32, 0.0, 0.225, 0.0, 0.225, 0.065, 0.035),
        Arm("Panda, q7 held", PANDA, held=7),
        Arm("Panda, q5 held", PANDA, held=5),
        Arm("iiwa 14, q3 held", IIWA, held=3),
        Arm("SCARA", (
            (0, 0.0, 0.0, 0.0, 0.4), (0, 0.0, 0.325, 0.0, 0.0), (0, pi, 0.275, 0.0, 0.0),
            (1, 0.0, 0.0, 0.0, 0.1),
        )),
        Arm("Stanford", (
            (0, 0.0, 0.0, 0.0, 0.412), (0, -H, 0.0, 0.0, 0.154), (1, H, 0.0, 0.0, 0.0),
            (0, 0.0, 0.0, 0.0, 0.0), (0, -H, 0.0, 0.0, 0.0), (0, H, 0.0, 0.0, 0.263),
        )),
        Arm("gantry", (
            (1, 0.0, 0.0, 0.0, 0.0), (1, H, 0.0, H, 0.0), (1, H, 0.0, 0.0, 0.2),
            (0, 0.0, 0.0, 0.0, 0.1), (0, -H, 0.0, 0.0, 0.0), (0, H, 0.0, 0.0, 0.12),
        )),
        Arm("youBot", (
            (0, 0.0, 0.0, 0.0, 0.147), (0, -H, 0.033, -H, 0.0), (0, 0.0, 0.155, 0.0, 0.0),
            (0, 0.0, 0.135, -H, 0.0), (0, -H, 0.0, 0.0, 0.2175),
        )),
        Arm("five joints of a desk arm", (
            (0, 0.0, 0.0, 0.0, 0.0624), (0, -H, 0.0304, -1.3, 0.0), (0, 0.0, 0.1161, 1.2, 0.0),
            (0, 0.0, 0.135, 0.1, 0.0), (0, H, 0.0, 0.0, 0.0611),
        ), (0.0, 0.01, 0.098, 0.0, 0.0, 0.3)),
    ]
}  # fmt: skip


def writings() -> Iterator[Writing]:
    """Roundings and noise of files."""
    for k in (4, 5, 6, 7, 8, 9, 10, 12):
        yield Writing(f"{k} decimals", decimals=k)
    yield Writing("degrees of 3 decimals", degrees=3)
    for power in range(4, 13):
        yield Writing(f"angles 1e-{power}", angle_noise=10.0**-power, seed=power)
        yield Writing(f"lengths 1e-{power}", length_noise=10.0**-power, seed=power)


def _matrix(row: Row) -> np.ndarray:
    """Rot(x, alpha) Tran(x, d) Rot(z, theta) Tran(z, r)."""
    _, alpha, d, theta, r = row
    ca, sa, ct, st = cos(alpha), sin(alpha), cos(theta), sin(theta)
    return np.array([
        [ct, -st, 0, d], [st * ca, ct * ca, -sa, -sa * r], [st * sa, ct * sa, ca, ca * r],
        [0, 0, 0, 1],
    ])  # fmt: skip


def _rpy(R: np.ndarray) -> tuple[float, float, float]:
    across = hypot(R[0, 0], R[1, 0])
    if across > 1e-12:
        return atan2(R[2, 1], R[2, 2]), atan2(-R[2, 0], across), atan2(R[1, 0], R[0, 0])
    return 0.0, atan2(-R[2, 0], across), atan2(-R[0, 1], R[1, 1])


def urdf_text(arm: Arm, writing: Writing) -> str:
    """The arm as a URDF file: a chain of links link0 to linkN, and the frame `tip`."""
    writing = writing.drawing()
    lines = [f'<robot name="{arm.name} {writing.name}">', '  <link name="link0"/>']
    turn = np.eye(4)
    for j, row in enumerate(arm.rows, 1):
        T = turn @ _matrix(row)
        sign = -1 if writing.mirrored and j % 2 == 0 else 1
        kind = "prismatic" if row[0] else "continuous"
        bounds = '<limit lower="-9" upper="9" effort="1" velocity="1"/>' if row[0] else ""
        lines += [
            f'  <link name="link{j}"/>', f'  <joint name="q{j}" type="{kind}">',
            f'    <parent link="link{j - 1}"/><child link="link{j}"/>{bounds}',
            f"    {_origin(T, writing)}", f'    <axis xyz="0 0 {sign}"/>', "  </joint>",
        ]  # fmt: skip
    x, y, z, *rpy = arm.tool
    place = " ".join(repr(writing.length(value)) for value in (x, y, z))
    lines += [
        '  <link name="tip"/>', '  <joint name="fixed" type="fixed">',
        f'    <parent link="link{len(arm.rows)}"/><child link="tip"/>',
        f'    <origin xyz="{place}" rpy="{" ".join(repr(writing.angle(a)) for a in rpy)}"/>',
        "  </joint>", "</robot>",
    ]  # fmt: skip
    return "\n".join(lines)


def _origin(T: np.ndarray, writing: Writing) -> str:
    xyz = " ".join(repr(writing.length(float(x))) for x in np.round(T[:3, 3], 12))
    rpy = " ".join(repr(writing.angle(x)) for x in _rpy(np.round(T[:3, :3], 14)))
    return f'<origin xyz="{xyz}" rpy="{rpy}"/>'


def table(arm: Arm, writing: Writing) -> Robot:
    """The arm as a Robot whose parameters are what the file would say."""
    joints, links = [], []
    for j, (sigma, *row) in enumerate(written_rows(arm, writing), 1):
        alpha, d, theta, r = map(_value, row)
        joints.append(Joint(f"joint{j}", j - 1, sigma, alpha=alpha, d=d, theta=theta, r=r))
        links.append(Link(f"link{j}"))
    return Robot(f"{arm.name} {writing.name}", tuple(links), tuple(joints))


def _value(x: float) -> Any:
    return 0 if x == 0 else exact(Fraction(repr(float(x))))


def written_rows(arm: Arm, writing: Writing) -> list[Row]:
    """The rows of `table` as floats."""
    writing = writing.drawing()
    rows: list[Row] = []
    for sigma, alpha, d, theta, r in arm.rows:
        angles = [writing.angle(x) for x in (alpha, theta)]
        lengths = [writing.length(x) for x in (d, r)]
        rows.append((sigma, angles[0], lengths[0], angles[1], lengths[1]))
    return rows


def direct(rows: Sequence[Row], q: np.ndarray) -> np.ndarray:
    """The pose (4, 4) of joint values q, by products of matrices."""
    T = np.eye(4)
    for (sigma, alpha, d, theta, r), x in zip(rows, q, strict=True):
        own = (alpha, d, theta, r + x) if sigma else (alpha, d, theta + x, r)
        T = T @ _matrix((sigma, *own))
    return T


def direct_of_urdf(text: str, q: np.ndarray) -> np.ndarray:
    """The pose (4, 4) of the last link of a chain written as a URDF, of the numbers as they are."""
    T = np.eye(4)
    values = iter(q)
    for joint in ElementTree.fromstring(text).iterfind("joint"):
        origin = joint.find("origin")
        assert origin is not None
        x, y, z, roll, pitch, yaw = (
            float(word) for key in ("xyz", "rpy") for word in origin.get(key, "0 0 0").split()
        )
        R = _turn(2, yaw) @ _turn(1, pitch) @ _turn(0, roll)
        T = T @ np.block([[R, np.array([[x], [y], [z]])], [np.zeros(3), 1.0]])
        if joint.get("type") == "fixed":
            continue
        axis = joint.find("axis")
        assert axis is not None
        sign = float(axis.get("xyz", "").split()[2])
        move = np.eye(4)
        if joint.get("type") == "prismatic":
            move[2, 3] = sign * next(values)
        else:
            move[:3, :3] = _turn(2, sign * next(values))
        T = T @ move
    return T


def _turn(axis: int, angle: float) -> np.ndarray:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = cos(angle)
    R[j, i], R[i, j] = sin(angle), -sin(angle)
    return R
