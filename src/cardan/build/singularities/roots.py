"""The zeros of a factor, as formulas for one of its joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...algebra.laurent import Laurent
from ...describe.robot import REVOLUTE
from ...emit.latex import visible
from .determinant import Arm
from .trigonometric import Notation

Scalar = Any
_LONG = 40  # signs of a fraction in one line


@dataclass(frozen=True)
class Zero:
    """a cos q + b sin q + c = 0 of a revolute joint, a q + c = 0 of a prismatic one; a, b and c do
    not depend on q."""

    joint: int
    variable: str
    a: Scalar
    b: Scalar
    c: Scalar
    turns: bool

    def roots(self, values: Mapping[str, float]) -> list[float]:
        """Its values where the other variables have these."""
        a, b, c = (x.at(values) if isinstance(x, Laurent) else float(x) for x in self.abc)
        size = float(np.hypot(a, b))
        if not self.turns:
            return [-c / a] if a else []
        if abs(c) >= size:
            return []
        middle, half = np.arctan2(b, a), np.arccos(-c / size)
        return [float(middle + half), float(middle - half)]

    @property
    def never(self) -> bool:
        """Has it no zero at all? Known where a, b and c are numbers."""
        return all(_number(x) is not None for x in self.abc) and not self.roots({})

    @property
    def abc(self) -> tuple[Scalar, Scalar, Scalar]:
        return self.a, self.b, self.c

    def text(self, notation: Notation) -> str:
        """The formulas of its values; k is 0 or 1."""
        return f"{notation.variable(self.variable)} = {self._right(notation)}"

    def _right(self, notation: Notation) -> str:
        pi, sign = (r"\pi", r"\pm ") if notation.latex else ("pi", "+-")
        a, b, c = self.abc
        if not self.turns:
            return _quotient(-c, a, notation)
        if _is_zero(c) and _is_zero(a):
            return f"0, {pi}"
        if _is_zero(c) and _is_zero(b):
            return rf"{sign}\pi/2" if notation.latex else f"{sign}pi/2"
        if all(_number(x) is not None for x in self.abc):
            roots = sorted((r + np.pi) % (2 * np.pi) - np.pi for r in self.roots({}))
            return ", ".join(f"{r:.6g}" for r in roots)
        if _is_zero(c):
            return f"{_atan2(-a, b, notation)} + k {pi}"
        if _is_zero(b):
            return f"{sign}{_function('acos', _quotient(-c, a, notation), notation)}"
        if _is_zero(a):
            text = _function("asin", _quotient(-c, b, notation), notation)
            return f"{text}, {pi} - {text}"
        top, root = notation.text(-c), notation.text(a * a + b * b)
        if not notation.latex:
            over = f"{_tight(top)}/sqrt({root})"
        elif visible(top) + visible(root) > _LONG:  # a fraction has no place to be broken
            over = f"({top})/({root})^{{1/2}}"
        else:
            over = rf"\frac{{{top}}}{{\sqrt{{{root}}}}}"
        return f"{_atan2(b, a, notation)} {sign}{_function('acos', over, notation)}"


def zero(arm: Arm, factor: Laurent) -> Zero | None:
    """The zero of a factor in the joint that gives the simplest formula, or None."""
    ways = []
    for name in factor.variables:
        j = arm.variables.get(name)
        if j is None:
            continue
        parts = _collected(factor, name, arm.robot.joints[j - 1].sigma == REVOLUTE)
        if parts is not None:
            a, b, c = parts
            others = {v for x in parts if isinstance(x, Laurent) for v in x.variables}
            price = (
                len(others & {*arm.variables}), not _is_zero(c), not (_is_zero(a) or _is_zero(b)),
                sum(len(x.terms) for x in parts if isinstance(x, Laurent)), j,
            )  # fmt: skip
            turns = arm.robot.joints[j - 1].sigma == REVOLUTE
            ways.append((price, Zero(j, name, a, b, c, turns)))
    return min(ways, key=lambda way: way[0])[1] if ways else None


def _collected(p: Laurent, name: str, turns: bool) -> tuple[Scalar, Scalar, Scalar] | None:
    """(a, b, c), or None where the variable stands in other powers or multiples of the angle."""
    ring, n = p.ring, len(p.ring.names)
    own = ring.names.index(name)
    place = n + own if turns else own
    rows: dict[int, dict[Any, Any]] = {}
    for m, x in p.terms.items():
        if m[own if turns else n + own]:
            return None
        rows.setdefault(m[place], {})[(*m[:place], 0, *m[place + 1 :])] = x
    if not set(rows) <= ({-1, 0, 1} if turns else {0, 1}):
        return None
    part = {k: Laurent(ring, terms) for k, terms in rows.items()}
    c = part.get(0, 0)
    if not turns:
        return part[1], 0, c
    up, down = part.get(1, 0), part.get(-1, 0)
    i = Laurent(ring, {ring.none: (Fraction(0), Fraction(1))})
    return up + down, i * (up - down), c


def _is_zero(x: Scalar) -> bool:
    return not isinstance(x, Laurent) and x == 0


def _number(x: Scalar) -> float | None:
    if not isinstance(x, Laurent):
        return float(x)
    return x.at({}) if not x.variables else None


def _text(x: Scalar, notation: Notation) -> str:
    return notation.text(x) if isinstance(x, Laurent) else str(x)


def _tight(text: str) -> str:
    return f"({text})" if " " in text else text


def _quotient(x: Scalar, y: Scalar, notation: Notation) -> str:
    top, bottom = _text(x, notation), _text(y, notation)
    if bottom == "1":
        return top
    if notation.latex and visible(top) + visible(bottom) <= _LONG:
        return rf"\frac{{{top}}}{{{bottom}}}"
    return f"{_tight(top)}/{_tight(bottom)}"


def _function(name: str, argument: str, notation: Notation) -> str:
    if not notation.latex:
        return f"{name}({argument})"
    if r"\frac" in argument:
        return rf"\{'arc' + name[1:]}\left({argument}\right)"
    return rf"\{'arc' + name[1:]}({argument})"


def _atan2(y: Scalar, x: Scalar, notation: Notation) -> str:
    first, second = _text(y, notation), _text(x, notation)
    if notation.latex:
        return rf"\operatorname{{atan2}}({first},\; {second})"
    return f"atan2({first}, {second})"
