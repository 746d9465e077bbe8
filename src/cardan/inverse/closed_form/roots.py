"""Solving one relation in one unknown, over traced scalars: every root, chosen by signs.

A sign e = ±1 stands for two branches; a quartic has two of them. What may be negative under a root
is cut off at zero, and `margins` say how far a root is from not existing or not being unique: a
margin is relative, negative where there is no real solution and zero at a double root; a span is
zero where the equation vanishes altogether.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, log10, pi, sin
from typing import Any

from ...algebra.scalar import function, is_number, is_zero
from ...exact import exact
from ...ir.graph import Expr, Graph
from .polynomial import quotient
from .relation import Relation

Scalar = Any
TINY = 1e-24  # the digits of a direction are lost


@dataclass(frozen=True)
class Root:
    """The value of an unknown: (C, S) and what its atan2 is taken of, or r."""

    value: Any
    angle: tuple[Scalar, Scalar] | None  # (sine, cosine), up to a positive factor
    margins: tuple[Scalar, ...] = ()  # negative where there is no real root
    spans: tuple[Scalar, ...] = ()  # zero where the equations say nothing
    signs: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class Aid:
    """What solving needs: the trace, new signs, a length of the robot, the direction (or the
    length, and 0) taken where every one is a root, whether a scalar is constant (then it is not
    asked to be zero), and the size that a scalar usually has."""

    graph: Graph
    sign: Callable[[], Expr]
    size: Scalar
    otherwise: tuple[Scalar, Scalar]
    fixed: Callable[[Scalar], bool]
    usual: Callable[[Scalar], float]
    tiny: Scalar = TINY  # of the square of a vector that gives a direction: below, there is none

    def scale(self, x: Scalar, degree: float) -> Scalar:
        """What a scalar of that degree in lengths usually is, in terms of the robot's size."""
        power = self.size ** round(degree) if degree else 1
        return power * 10.0 ** round(log10(self.usual(x) / self.usual(power)))

    def chosen(self, clear: Scalar, pair: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        """The direction, where there is one: where `clear` is positive."""
        return (
            select(self.graph, clear, pair[0], self.otherwise[0]),
            select(self.graph, clear, pair[1], self.otherwise[1]),
        )


def solved(relation: Relation, aid: Aid) -> Root:
    """The roots of a relation."""
    solve = {"linear": _linear, "square": _square, "powers": _powers, "two": _two, "one": _one,
             "quartic": _quartic}[relation.kind]  # fmt: skip
    return solve(relation, aid)


def root_of(x: Scalar) -> Scalar:
    """√max(x, 0)."""
    return function("sqrt", function("max", x, 0))


def select(graph: Graph, condition: Scalar, yes: Scalar, no: Scalar) -> Scalar:
    """yes where condition > 0, else no."""
    if is_number(condition):
        return yes if condition > 0 else no
    return graph.apply("select", condition, yes, no)


def _linear(relation: Relation, aid: Aid) -> Root:
    """X r = Y."""
    X, Y = relation.coefficients
    if aid.fixed(X):
        return Root(quotient(Y, X), None)
    span = X * X / aid.scale(X * X, 2 * relation.degree)
    r = select(aid.graph, span - aid.tiny, quotient(Y, X), aid.otherwise[0])
    return Root(r, None, (), (span,))


def _square(relation: Relation, aid: Aid) -> Root:
    """a r² + b r + c = 0."""
    a, b, c = relation.coefficients
    e = aid.sign()
    half = b * exact("1/2")
    disc = half * half - a * c
    r = quotient(e * root_of(disc) - half, a)
    margin = disc / (half * half + function("abs", a * c) + 1e-300)
    return Root(r, None, (margin,), (), (e,))


def _two(relation: Relation, aid: Aid) -> Root:
    """X1 S + Y1 C = Z1, X2 S + Y2 C = Z2."""
    X1, Y1, Z1, X2, Y2, Z2 = relation.coefficients
    if is_zero(X1) and is_zero(Y2):
        X1, Y1, Z1, X2, Y2, Z2 = X2, Y2, Z2, X1, Y1, Z1
    if is_zero(X2) and is_zero(Y1) and aid.fixed(X1) and aid.fixed(Y2):
        C, S = quotient(Z2, Y2), quotient(Z1, X1)
        return Root((C, S), (S, C))
    D = X1 * Y2 - X2 * Y1
    s, c = Z1 * Y2 - Z2 * Y1, X1 * Z2 - X2 * Z1
    if aid.fixed(D):
        C, S = quotient(c, D), quotient(s, D)
        return Root((C, S), (S, C))
    scale = aid.scale(D, 2 * relation.degree)
    over = 1 / D
    C, S = aid.chosen(D * D - aid.tiny * (scale * scale), (c * over, s * over))
    return Root((C, S), (S, C), (), (D * D / (scale * scale),))


def _one(relation: Relation, aid: Aid) -> Root:
    """X S + Y C = Z."""
    X, Y, Z = relation.coefficients
    e = aid.sign()
    D = X * X + Y * Y
    scale = aid.scale(D, 2 * relation.degree)
    margins: tuple[Scalar, ...] = ()
    spans = () if aid.fixed(D) else (D / scale,)
    if is_zero(Z):
        over = e / function("sqrt", D)
        pair = (X * over, -(Y * over))
    else:
        disc = D - Z * Z
        w = e * root_of(disc)
        over = quotient(1, D)
        pair = ((Y * Z - X * w) * over, (X * Z + Y * w) * over)
        margins = (disc * over,)
    C, S = aid.chosen(D - aid.tiny * scale, pair) if spans else pair
    return Root((C, S), (S, C), margins, spans, (e,))


# quartics

ROUNDS = 5
NOISE = 1e-16  # square of the slope at a double root that rounding leaves: no step is taken there
FEW_DIGITS = 1e-2  # doubt begins where coefficients have so many digits less than others have
LOSS = 1e-2  # digits of a positive margin that Ferrari's method loses: doubt begins so much earlier


def _quartic(relation: Relation, aid: Aid) -> Root:
    """CC C² + CS C S + X S + Y C = Z by t = tan((θ - θ0)/2), θ0 so that no root is at infinity.

    Of five directions evenly spread, one is far from all four roots: the value there is the
    leading coefficient in t. It is zero where all coefficients are."""
    CC, CS, X, Y, Z = relation.coefficients
    graph = aid.graph
    best: Scalar = function("abs", CC - Y - Z)  # the value at θ0 + π
    chosen: tuple[Scalar, Scalar] = (1, 0)
    for k in range(1, 5):
        c, s = cos(2 * pi * k / 5), sin(2 * pi * k / 5)
        size = function("abs", CC * (c * c) + CS * (c * s) - X * s - Y * c - Z)
        better = size - best
        chosen = select(graph, better, c, chosen[0]), select(graph, better, s, chosen[1])
        best = function("max", best, size)
    c, s = chosen
    # coefficients in θ - θ0
    cc, ss, cs = c * c, s * s, c * s
    A = CC * (cc - ss) + 2 * (CS * cs)  # of C'² after S'² = 1 - C'²
    B = CS * (cc - ss) - 2 * (CC * cs)
    G = CC * ss - CS * cs - Z
    U, V = X * c - Y * s, X * s + Y * c
    a4, a3, a2, a1, a0 = A + G - V, 2 * (U - B), 2 * (G - A), 2 * (U + B), A + G + V
    t, margin, signs = _quartic_roots((a4, a3, a2, a1, a0), aid)
    over = 1 / (1 + t * t)
    C, S = (1 - t * t) * over, 2 * t * over
    C, S = C * c - S * s, S * c + C * s
    for _ in range(2):  # Newton on the angle itself
        value = (CC * C + CS * S + Y) * C + X * S - Z
        slope = CS * (C * C - S * S) - 2 * (CC * (C * S)) + X * C - Y * S
        step = -value * slope / (slope * slope + NOISE * (best * best) + 1e-300)
        step = function("max", function("min", step, 0.1), -0.1)
        C, S = C - S * step, S + C * step
        norm = 1 / function("sqrt", C * C + S * S)
        C, S = C * norm, S * norm
    span = FEW_DIGITS * (best / aid.scale(best, relation.degree))
    if not is_number(aid.tiny):  # a guess is better than roots of noise; they are no worse than 0
        C, S = aid.chosen(span - aid.tiny, (C, S))
    return Root((C, S), (S, C), (margin,), (span,), signs)


def _powers(relation: Relation, aid: Aid) -> Root:
    """a4 r⁴ + a3 r³ + a2 r² + a1 r + a0 = 0."""
    r, margin, signs = _quartic_roots(relation.coefficients, aid)
    a4, a3, a2, a1, a0 = relation.coefficients
    for _ in range(2):
        value = (((a4 * r + a3) * r + a2) * r + a1) * r + a0
        slope = ((4 * a4 * r + 3 * a3) * r + 2 * a2) * r + a1
        rr = r * r
        usual = (a4 * rr) ** 2 * rr + (a2 * r) ** 2 + a0 * a0 / (rr + 1e-300)
        r = r - value * slope / (slope * slope + NOISE * usual + 1e-300)
    return Root(r, None, (margin,), (), signs)


def _quartic_roots(
    coefficients: tuple[Scalar, ...], aid: Aid
) -> tuple[Scalar, Scalar, tuple[Expr, Expr]]:
    """The four roots by Ferrari's method, two signs choosing; and the margin of being real."""
    a4, a3, a2, a1, a0 = coefficients
    over = quotient(1, a4)
    b, c, d, f = a3 * over, a2 * over, a1 * over, a0 * over
    h = b * exact("1/4")
    hh = h * h
    p = c - 6 * hh
    q = d - 2 * (c * h) + 8 * (hh * h)
    r = f - d * h + c * hh - 3 * (hh * hh)
    m = _largest_root(2 * p, p * p - 4 * r, -(q * q), aid.graph)
    k = root_of((m + p) * (m + p) - 4 * r)  # |q| / sqrt(m), without the division
    k = select(aid.graph, q, k, -k) if isinstance(q, Expr) else k
    e1, e2 = aid.sign(), aid.sign()
    half, first = exact("1/2"), e1 * root_of(m)
    inner, other = -m - 2 * p - 2 * (e1 * k), -m - 2 * p + 2 * (e1 * k)
    y = half * (first + e2 * root_of(inner))
    scale = function("abs", m) + function("abs", p) + function("abs", k) + hh + 1e-300
    # the distance to the roots of the other e1, real or not
    y1, y2 = half * (root_of(other) - first), -half * (root_of(other) + first)
    apart = function("min", (y - y1) * (y - y1), (y - y2) * (y - y2))
    apart = apart + function("max", -other, 0)
    margin = function("min", inner, LOSS * function("min", inner, apart)) / scale
    return y - h, margin, (e1, e2)


def _largest_root(A: Scalar, B: Scalar, D: Scalar, graph: Graph) -> Scalar:
    """The largest real root of z³ + A z² + B z + D, by z = w - A/3: w³ + P w + Q = 0.

    The root of w³ + P w = |Q| that is largest is found by Halley's method; for Q > 0 its negative
    is the smallest root, and the largest follows from the quadratic that remains."""
    third = exact("1/3")
    h = A * third
    P, Q = B - A * h, D + h * (2 * (h * h) - B)
    size, R = function("abs", P), function("abs", Q)
    quarter = function("sqrt", function("sqrt", R))
    sixteenth = function("sqrt", function("sqrt", quarter))
    cube = quarter * sixteenth * function("sqrt", function("sqrt", sixteenth))  # about R^(1/3)
    near = function("min", R / (size + 1e-300), cube)
    w = select(graph, P, near, function("sqrt", size) + near)
    for _ in range(ROUNDS):
        g = (w * w + P) * w - R
        slope = 3 * (w * w) + P
        w = w - g * slope / (slope * slope - 3 * (w * g) + 1e-300)
    others = -3 * (w * w) - 4 * P
    least = select(graph, others, exact("1/2") * (w + root_of(others)), -w)
    return function("max", select(graph, Q, least, w) - h, 0)
