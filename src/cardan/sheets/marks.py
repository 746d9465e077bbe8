"""The parameters of the table as dimensions in space: lengths along the way from frame to frame,
angles as arcs about the axes they turn about. theta and r of a joint are drawn in its own frame,
gamma, b, alpha and d in that of its antecedent, so that each stands still in its frame."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..describe.robot import PRISMATIC, REVOLUTE, Joint
from ..describe.values.expression import number
from .solids import axis_of

_ARC = 13  # points


@dataclass(frozen=True)
class Mark:
    """A length from start to end, or an angle about an axis, from one direction to another."""

    frame: int
    words: str
    start: np.ndarray
    end: np.ndarray  # of a length; of an angle, the direction that the arc begins at
    axis: np.ndarray | None = None
    angle: float = 0.0

    def points(self, radius: float) -> np.ndarray:
        """What is drawn (k, 3), in the frame; radius: of arcs."""
        if self.axis is None:
            return np.array([self.start, (self.start + self.end) / 2, self.end])
        other = np.cross(self.axis, self.end)
        turns = np.linspace(0, self.angle, _ARC)[:, None]
        return np.asarray(self.start + radius * (np.cos(turns) * self.end + np.sin(turns) * other))


def marks(j: int, joint: Joint, known: Joint) -> Iterator[Mark]:
    """Those of joint j that are not zero; known: the same joint with numbers for its symbols."""
    x, z = np.eye(3)[0], np.eye(3)[2]
    gamma, b, alpha, d, theta, r = (
        float(number(getattr(known, key)) or 0)
        for key in ("gamma", "b", "alpha", "d", "theta", "r")
    )
    i, normal = joint.antecedent, np.array([np.cos(gamma), np.sin(gamma), 0.0])
    foot, zero = b * z, np.zeros(3)

    def words(letter: str, key: str) -> str:
        value = re.sub(r"\bpi\b", "π", str(getattr(joint, key)))
        return f"{letter}{j} = {value}"

    if abs(gamma) > 1e-9:
        yield Mark(i, words("γ", "gamma"), zero, x, z, gamma)
    if abs(b) > 1e-9:
        yield Mark(i, words("b", "b"), zero, foot)
    if abs(d) > 1e-9:
        yield Mark(i, words("d", "d"), foot, foot + d * normal)
    if abs(alpha) > 1e-9:
        yield Mark(i, words("α", "alpha"), foot + d * normal, z, normal, alpha)
    if abs(r) > 1e-9 and joint.sigma != PRISMATIC:
        corner = foot + d * normal
        yield Mark(i, words("r", "r"), corner, corner + r * axis_of(known))
    if abs(theta) > 1e-9 and joint.sigma != REVOLUTE:
        back = np.array([np.cos(theta), -np.sin(theta), 0.0])  # where x was before it turned
        yield Mark(j, words("θ", "theta"), zero, back, z, theta)
    elif joint.sigma == REVOLUTE:
        yield Mark(j, f"θ{j} = {joint.variable or f'q{j}'}", zero, x, z, 0.6)
    if joint.sigma == PRISMATIC:
        yield Mark(j, f"r{j} = {joint.variable or f'q{j}'}", zero, -0.3 * z)
