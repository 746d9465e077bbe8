"""Scalar equations of a chain: the entries of iT0 U0 nTk = iTk and of its inverse, distances, and
the position of the elbow where the arm angle gives it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...algebra.vector import Vec, dot, zero
from .matrices import IDENTITY, Frame, Geometry, after, before, compose, inverse, placements
from .polynomial import (
    LIMIT,
    MANY,
    Polynomial,
    variables,
)  # fmt: skip
from .shadow import Shadow

Scalar = Any


@dataclass(frozen=True)
class Equation:
    """left = right: an entry of iT0 U0 nTk = iTk or of its inverse, or a distance squared."""

    left: Scalar
    right: Scalar
    place: tuple[int, int, str]  # i, k, entry
    degree: int  # in lengths
    zero: Scalar  # left - right, cleaned
    unknowns: frozenset[int]


def equations(geo: Geometry, known: Mapping[int, Any], shadow: Shadow) -> list[Equation]:
    """Every entry of the matrix equations with at most LIMIT unknowns, and every distance."""
    groups = placements(geo, known)
    ends = [0, *(group[-1] + 1 for group in geo.groups)]
    last = len(groups)
    found: list[Equation] = []
    left, back = geo.U0, inverse(geo.U0)  # iT0 U0 and its inverse
    for i in range(last):
        if i:
            left, back = before(groups[i - 1], left), compose(back, groups[i - 1])
        sides = {last: (left, back.P)}
        for k in range(last, i + 1, -1):
            side, seen = sides[k]
            sides[k - 1] = after(side, groups[k - 1]), groups[k - 1].R @ seen + groups[k - 1].P
        right, origin = Frame(IDENTITY, zero), zero
        for k in range(i + 1, last + 1):
            right = compose(right, groups[k - 1])
            origin = groups[k - 1].R.T @ (origin - groups[k - 1].P)
            place = ends[i], ends[k]
            found += _entries(sides[k], (right, origin), place, shadow)
    return [*found, *_of_elbow(geo, groups, shadow)]


def _of_elbow(geo: Geometry, groups: Sequence[Frame], shadow: Shadow) -> Iterator[Equation]:
    """The position of the elbow, when the arm angle gives it, seen from frames 0, 1 and 2."""
    left = Frame(IDENTITY, zero if geo.elbow is None else geo.elbow)
    for i in range(3 if geo.elbow is not None else 0):
        if i:
            left = before(groups[i - 1], left)
        right = groups[i]
        for group in groups[i + 1 : 3]:
            right = compose(right, group)
        for a in range(3):
            x, y = left.P[a], right.P[a]
            if len(variables(x) | variables(y)) <= LIMIT:
                yield from _equation(x, y, (i, 3, f"{'xyz'[a]}E"), 1, shadow)


Side = tuple[Frame, Vec]  # a placement, and where the first origin is seen from the second


def _entries(left: Side, right: Side, place: tuple[int, int], shadow: Shadow) -> Iterator[Equation]:
    """The twelve entries of left = right, the position of the inverse, and |P|²."""
    (L, l), (M, m) = left, right
    pairs = [(L.R[a, b], M.R[a, b], f"{'xyz'[a]}{'sna'[b]}", 0) for a in range(3) for b in range(3)]
    pairs += [(L.P[a], M.P[a], f"{'xyz'[a]}P", 1) for a in range(3)]
    pairs += [(l[a], m[a], f"{'xyz'[a]}Q", 1) for a in range(3)]
    for x, y, name, degree in pairs:
        if len(variables(x) | variables(y)) <= LIMIT:
            yield from _equation(x, y, (*place, name), degree, shadow)
    x = _square(L.P, shadow)
    y = _square(M.P, shadow) if len(variables(x)) <= 2 else MANY
    if len(variables(x) | variables(y)) <= 2:
        yield from _equation(x, y, (*place, "PP"), 2, shadow)


def _square(v: Vec, shadow: Shadow) -> Scalar:
    """|v|², in which the unknown turns about the ends of v are no more."""
    if len(frozenset().union(*map(variables, v))) > LIMIT:
        return MANY
    found = dot(v, v)
    return shadow.cleaned(found, shadow.size**2) if isinstance(found, Polynomial) else found


def _equation(
    x: Scalar, y: Scalar, place: tuple[int, int, str], degree: int, shadow: Shadow
) -> Iterator[Equation]:
    difference = x - y
    scale = shadow.size**degree
    zero = shadow.cleaned(difference, scale) if isinstance(difference, Polynomial) else difference
    if zero is not MANY:
        yield Equation(x, y, place, degree, zero, variables(zero))
