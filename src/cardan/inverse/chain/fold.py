"""Folding fixed frames: a path as a word of screws about x and z, shortened between the joints.

A screw is Rot(a, angle) Tran(a, shift). Neighbours about one axis add; a half turn about z passes
through a screw about x by changing its sign. A fixed word between two joints that is still longer
than z x z is written as one by the common normal of the two axes.

The common normal of axes that are nearly parallel is far away (their distance over their angle: 1e6
m for 1e-6 rad), and what is written by it loses as many digits. Such a word is written from points
near the robot instead, with one tilt more (Hayati and Mirmirani, 1985):

    Rot(z, gamma)  Rot(x, alpha) Tran(x, d) Rot(y, beta)  Rot(z, theta) Tran(z, r)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, cos, hypot, sin
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...algebra.scalar import function, is_zero
from ...algebra.vector import Mat, Vec
from ...describe.frames import (
    SNAP_ANGLE,
    angle_value,
    decimal_value,
    decompose,
    frame,
    length_value,
    multiple_of_pi,
)
from ...describe.robot import FIXED, PRISMATIC, Joint
from ...describe.values.expression import Expression, Value
from ...errors import ModelError
from ...exact import pi

Screw = tuple[str, Value, Value]  # axis "x" or "z", angle, shift
Pair = tuple[Value, Value]  # angle, shift
Across = tuple[Value, Value, Value]  # alpha, d, beta
Step = tuple[Pair, Across, Pair]  # gamma b, alpha d beta, theta r
Five = tuple[Value, Value, Value, Value, Value]  # alpha, d, theta, r, beta
Array = NDArray[np.float64]
ROUND_OFF = 1e-15  # an angle this near to a multiple of pi/12 is its double: math.pi / 2
FAR = 10.0  # times the robot's size: a common normal farther than this costs digits


@dataclass(frozen=True)
class Word:
    """B, (link, (alpha, d, theta, r, beta)) of every joint, E."""

    base: tuple[Screw, ...]
    joints: tuple[tuple[int, Five], ...]
    tool: tuple[Screw, ...]

    @property
    def tilted(self) -> bool:
        """Does a joint have a beta?"""
        return any(beta != 0 for _, (*_, beta) in self.joints)


def folded(name: str, path: Sequence[tuple[int, Joint]], tilts: bool = True) -> Word:
    """The path with its fixed frames folded into the joints, the base and the tool. tilts: a beta
    where a common normal is far away."""
    words: list[list[Screw]] = [[]]
    moving = [(j, joint) for j, joint in path if joint.sigma != FIXED]
    for _, joint in path:
        gamma, alpha, theta = (
            multiple_of_pi(x, ROUND_OFF) for x in (joint.gamma, joint.alpha, joint.theta)
        )
        words[-1] += [("z", gamma, joint.b), ("x", alpha, joint.d)]
        if joint.sigma != FIXED:
            words.append([])
        words[-1].append(("z", theta, joint.r))
    words = [shortened(word) for word in words]
    tilted = _tilted(words) if tilts else {}
    base, tool = words[0], words[-1]
    inner = [tilted.get(k) or _three(name, word) for k, word in enumerate(words[1:-1], 1)]
    before = [_pop(base, -1), *(last for _, _, last in inner)]
    after = [*(first for first, _, _ in inner), _pop(tool, 0)]
    across: list[Across] = [(0, 0, 0), *(x for _, x, _ in inner)]
    own = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(before, after, strict=True)]
    own[0] = _give(own[0], moving[0][1].sigma, base, len(base))
    own[-1] = _give(own[-1], moving[-1][1].sigma, tool, 0)
    joints = tuple(
        (j, (alpha, d, *z, beta))
        for (j, _), (alpha, d, beta), z in zip(moving, across, own, strict=True)
    )
    return Word(tuple(base), joints, tuple(tool))


def _pop(word: list[Screw], k: int) -> Pair:
    """Take the screw about z off one end of a word."""
    if word and word[k][0] == "z":
        _, angle, shift = word.pop(k)
        return angle, shift
    return 0, 0


def _give(own: Pair, sigma: int, word: list[Screw], k: int) -> Pair:
    """The part of a joint's own screw that commutes with its motion goes to the base or tool."""
    angle, shift = own
    given: Screw = ("z", angle, 0) if sigma == PRISMATIC else ("z", 0, shift)
    if not (is_zero(given[1]) and is_zero(given[2])):
        word.insert(k, given)
    return (0, shift) if sigma == PRISMATIC else (angle, 0)


def shortened(word: Sequence[Screw]) -> list[Screw]:
    """The word with neighbours merged, identities dropped and half turns moved to the right."""
    out: list[Screw] = []
    for axis, angle, shift in word:
        if is_zero(angle) and is_zero(shift):
            continue
        if out and out[-1][0] == axis:
            _, a, s = out.pop()
            out += shortened([(axis, a + angle, s + shift)])
            if len(out) > 1 and out[-1][0] == out[-2][0]:
                out = shortened(out)
        elif axis == "x" and len(out) > 1 and out[-1][0] == "z" and _is_half_turn(out[-1]):
            half = out.pop()
            out = shortened([*out, ("x", -angle, -shift), half])
        else:
            out.append((axis, angle, shift))
    return out


def _is_half_turn(screw: Screw) -> bool:
    angle, shift = screw[1:]
    return is_zero(shift) and not isinstance(angle, Expression) and bool(abs(angle) == pi)


def _three(name: str, word: list[Screw]) -> Step:
    """A word between two joints as z x z."""
    if sum(axis == "x" for axis, _, _ in word) > 1:
        word = _normal(name, word)
    first = _pop(word, 0)
    alpha, d = word.pop(0)[1:] if word else (0, 0)
    return first, (alpha, d, 0), _pop(word, 0)


def _tilted(words: Sequence[Sequence[Screw]]) -> dict[int, Step]:
    """The words between joints whose common normal is far away, by number. Every axis is seen from
    the point of it that is nearest to the one before."""
    if any(isinstance(x, Expression) for word in words for _, *pair in word for x in pair):
        return {}
    seen: list[Array] = []
    shifts = []  # from the end of a word along its axis to the point
    before = 0.0
    for word in words:
        R, P = _placed(word)
        turn = np.array([[float(x) for x in row] for row in R.rows])
        place = np.array([_float(x) for x in P]) - [0.0, 0.0, before]
        before = -float(turn[:, 2] @ place)
        seen.append(frame(turn, place + before * turn[:, 2]))
        shifts.append(before)
    size = sum(float(np.linalg.norm(K[:3, 3])) for K in seen) or 1.0
    found = {}
    for k, K in list(enumerate(seen))[1:-1]:
        if is_far(K, size):
            gamma, alpha, d, beta, theta, r = (decimal_value(x, 0.0) for x in leaning(K))
            start, end = (decimal_value(x, 0.0) for x in shifts[k - 1 : k + 1])
            found[k] = ((gamma, start), (alpha, d, beta), (theta, r - end))
    return found


def is_far(K: Array, size: float) -> bool:
    """Is the common normal of the axes before and after a placement far from its ends?"""
    x, y = K[:2, 2]
    s = hypot(x, y)
    return bool(s > SNAP_ANGLE and abs(x * K[0, 3] + y * K[1, 3]) > FAR * size * s * s)


def leaning(K: Array) -> tuple[float, float, float, float, float, float]:
    """gamma, alpha, d, beta, theta, r of a placement between axes that are nearly parallel."""
    R, P = K[:3, :3], K[:3, 3]
    r = P[2] / R[2, 2]
    x, y, _ = P - r * R[:, 2]
    d = hypot(x, y)
    c, s = (x / d, y / d) if d > 0 else (1.0, 0.0)
    turned = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ R
    beta = atan2(turned[0, 2], hypot(turned[1, 2], turned[2, 2]))
    alpha = atan2(-turned[1, 2], turned[2, 2])
    ca, sa = cos(alpha), sin(alpha)
    theta = atan2(ca * turned[1, 0] + sa * turned[2, 0], ca * turned[1, 1] + sa * turned[2, 1])
    return atan2(s, c), alpha, d, beta, theta, float(r)


def _normal(name: str, word: Sequence[Screw]) -> list[Screw]:
    """z x z of any word: its angles are found in numbers, its lengths stay formulas."""
    if any(isinstance(angle, Expression) for _, angle, _ in word):
        raise ModelError(
            f"'{name}' has fixed frames with symbolic angles between two joints",
            remedy="give the angles values with robot.with_values({...})", action="values",
        )  # fmt: skip
    R, P = _placed(word)
    numbers = np.array([[float(x) for x in row] for row in R.rows])
    symbolic = any(isinstance(x, Expression) for x in P)
    size = 1.0 if symbolic else sum([abs(_float(s)) for _, _, s in word]) or 1.0
    point = [0.0] * 3 if symbolic else [_float(x) for x in P]
    gamma, b, alpha, d, theta, r = decompose(frame(numbers, np.array(point)), size)
    angles = [angle_value(x) for x in (gamma, alpha, theta)]
    lengths: list[Value] = [length_value(x, size) for x in (b, d, r)]
    if symbolic:
        lengths = _lengths(P, angles)
    return [("z", angles[0], lengths[0]), ("x", angles[1], lengths[1]),
            ("z", angles[2], lengths[2])]  # fmt: skip


def _float(x: Any) -> float:
    return float(x)


def _lengths(P: Vec, angles: Sequence[Value]) -> list[Value]:
    """b, d, r of the placement of a point when the angles are known."""
    cg, sg = function("cos", angles[0]), function("sin", angles[0])
    ca, sa = function("cos", angles[1]), function("sin", angles[1])
    if is_zero(sa):
        if not is_zero(P[0]) and not is_zero(P[1]):
            raise ModelError(
                "parallel joints are joined by a skew symbolic offset",
                remedy="give lengths values with robot.with_values({...})", action="values",
            )  # fmt: skip
        return [0, cg * P[0] + sg * P[1], ca * P[2]]
    r = (sg * P[0] - cg * P[1]) / sa
    return [P[2] - r * ca, cg * P[0] + sg * P[1], r]


def _placed(word: Sequence[Screw]) -> tuple[Mat, Vec]:
    """Rotation and position of a word of screws."""
    R: Any = Mat([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    P = Vec(0, 0, 0)
    for axis, angle, shift in word:
        c, s = function("cos", angle), function("sin", angle)
        along = Vec(shift, 0, 0) if axis == "x" else Vec(0, 0, shift)
        P = P + R @ along
        turn = [[1, 0, 0], [0, c, -s], [0, s, c]] if axis == "x" else [
            [c, -s, 0], [s, c, 0], [0, 0, 1]]  # fmt: skip
        R = R @ Mat(turn)
    return R, P
