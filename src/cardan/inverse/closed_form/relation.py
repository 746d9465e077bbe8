"""Relations: equations in one unknown, and how pairs of equations give them.

An equation is a polynomial that vanishes; a `Relation` is an equation in one unknown, given by its
coefficients. The table of [KC97] 3.3.1 (the types of Paul's method) is the list of ways to get one:

    X r = Y                            one length
    X S + Y C = Z                      one angle, one equation                        (type 2)
    X1 S + Y1 C = Z1, X2 S + ...       one angle, two equations                       (type 3)
    two equations in r and an angle    r is eliminated                                (types 4, 5)
    two equations in two angles        one is eliminated by C² + S² = 1             (types 6, 7, 8)

and where elimination leaves a second degree in C and S, the quartic of Pieper's method.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, permutations
from typing import Any

import numpy as np

from ...algebra.scalar import is_zero
from .equation import Equation
from .polynomial import MANY, C, R, S, coefficient, polynomial, quotient, terms, variables
from .shadow import SURE, Shadow

Scalar = Any
QUARTICS = ("quartic", "powers")


@dataclass(frozen=True)
class Relation:
    """An equation in one unknown. kind: what it is solved by.

    linear   X r = Y                              coefficients (X, Y)
    square   a r² + b r + c = 0                   (a, b, c)
    powers   a4 r⁴ + ... + a0 = 0                 (a4, ..., a0)
    two      X1 S + Y1 C = Z1, X2 S + Y2 C = Z2   (X1, Y1, Z1, X2, Y2, Z2)
    one      X S + Y C = Z                        (X, Y, Z)
    quartic  CC C² + CS C S + X S + Y C = Z       (CC, CS, X, Y, Z)
    """

    kind: str
    unknown: int
    coefficients: tuple[Scalar, ...]
    sources: tuple[Equation, ...]
    rank: float  # how good: branches and robustness; smaller is better
    degree: float  # of its coefficients in lengths
    eliminated: int | None = None


GOOD = 2.0  # a rank that needs no comparison with eliminations


def relations(found: Sequence[Equation], shadow: Shadow, quartics: bool) -> list[Relation]:
    """Equations in one unknown that these equations give: those they are, or else those that
    elimination makes of two; quartics only when there is nothing else."""
    by: dict[frozenset[int], list[Equation]] = {}
    for equation in found:
        if equation.unknowns:
            by.setdefault(equation.unknowns, []).append(equation)
    listed = [r for u, es in by.items() if len(u) == 1 for r in _single(min(u), es, shadow)]
    if any(r.rank < GOOD for r in listed):
        return listed
    for u in by:
        if len(u) == 3:
            held = [e for w, es in by.items() if w <= u for e in es]
            listed += islice(_lengths(sorted(u), held, shadow), ENOUGH)
    pairs = {u | w for u in by for w in by if len(u | w) == 2 and max(len(u), len(w)) == 2}
    for degree in (1, 2) if quartics else (1,):
        for pair in sorted(pairs, key=sorted):
            held = [e for u, es in by.items() if u <= pair for e in es]
            for kept, gone in permutations(sorted(pair)):
                listed += islice(_eliminated(kept, gone, held, shadow, degree), ENOUGH)
        if listed:
            break
    return listed


# one unknown


def _single(v: int, listed: Sequence[Equation], shadow: Shadow) -> Iterator[Relation]:
    for e in listed:
        found = _relation(v, e.zero, (e,), e.degree, 0, shadow)
        yield from (r for r in found if r.kind not in QUARTICS)
    rows: dict[Any, tuple[Any, Equation]] = {}
    for e in listed:
        if _is_linear(v, e.zero):
            row = _row(v, e.zero)
            rows.setdefault((row, e.degree), (row, e))

    def merit(item: tuple[Any, Equation]) -> tuple[bool, int]:
        X, Y, _ = item[0]
        fixed = shadow.is_constant(X) and shadow.is_constant(Y)
        return not fixed, shadow.unpaid(list(item[0]))

    for (x, e), (y, f) in combinations(sorted(rows.values(), key=merit)[:14], 2):
        quality = _quality([shadow.of(c) for c in (*x[:2], *y[:2])])
        if quality is not None:
            turning = not all(map(shadow.is_constant, (*x[:2], *y[:2])))
            degree = (e.degree + f.degree) / 2
            yield Relation("two", v, (*x, *y), (e, f), quality + 0.3 * turning, degree)


def _relation(
    v: int, zero: Scalar, sources: tuple[Equation, ...], degree: float, extra: float,
    shadow: Shadow, gone: int | None = None,
) -> Iterator[Relation]:  # fmt: skip
    """The relation that a polynomial in v alone is."""
    powers = set(terms(zero))
    if any(a & 3 == R for m in powers for a in m):
        top = max(map(len, powers))
        c = [coefficient(zero, *[4 * v + R] * k) for k in range(top, -1, -1)]
        if top == 1:
            rank = 0.0 if shadow.is_constant(c[0]) else 2.5
            yield Relation("linear", v, (c[0], -c[1]), sources, rank + extra, degree - 1, gone)
        elif top == 2:
            yield Relation("square", v, tuple(c), sources, 3 + extra, degree, gone)
        elif top <= 4:
            yield Relation("powers", v, (*[0] * (4 - top), *c), sources, 5 + extra, degree, gone)
        return
    X, Y, Z = _row(v, zero)
    if _is_linear(v, zero):
        size = max(map(shadow.largest, (X, Y)))
        if not is_zero(Z) and shadow.is_unclear(Z, size):
            shadow.unclear = True
            return
        rank = 1.0 if is_zero(Z) or shadow.is_zero(Z, size) else 1.5
        Z = 0 if rank == 1.0 else Z
        yield Relation("one", v, (X, Y, Z), sources, rank + extra, degree, gone)
    elif max(map(len, powers)) == 2:
        CC, CS = coefficient(zero, 4 * v, 4 * v), coefficient(zero, 4 * v, 4 * v + S)
        yield Relation("quartic", v, (CC, CS, X, Y, Z), sources, 4 + extra, degree, gone)


def _row(v: int, zero: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """X, Y, Z of X S + Y C = Z."""
    return (
        coefficient(zero, 4 * v + S),
        coefficient(zero, 4 * v + C),
        -coefficient(zero),
    )


def _is_linear(v: int, zero: Scalar) -> bool:
    return all(len(m) < 2 and not (m and m[0] & 3 == R) for m in terms(zero))


def _quality(rows: Sequence[np.ndarray]) -> float | None:
    """How safely two equations determine an angle: 0 when they are one vector turned, 2.5 when
    their determinant may vanish for no good reason, None when it is zero."""
    a, b, c, d = rows
    det = np.abs(a * d - b * c)
    one, two = np.hypot(a, b), np.hypot(c, d)
    if (det <= SURE * one * two).any() or not np.isfinite(det).all():
        return None
    turned = np.abs(a * c + b * d) <= 1e-9 * one * two
    if turned.all() and np.ptp(one / two) <= 1e-9 * (one / two).max():
        return 0.0
    return 2.5


# two unknowns


ENOUGH = 4  # eliminations of one unknown by another that are compared


def _eliminated(
    kept: int, gone: int, listed: Sequence[Equation], shadow: Shadow, degree: int
) -> Iterator[Relation]:
    """Relations of `kept` of that degree in its cosine and sine, simplest pairs first."""
    seen: dict[Any, Equation] = {}
    for e in listed:
        if gone in e.unknowns:
            seen.setdefault(frozenset(terms(e.zero).items()), e)
    ranked = sorted((_effort(e, shadow), k, e) for k, e in enumerate(seen.values()))[:24]
    pairs = [(_total(x[0], y[0]), x[2], y[2]) for x, y in combinations(ranked, 2)]
    for _, e, f in sorted(pairs, key=lambda pair: pair[0])[:60]:
        if kept not in e.unknowns | f.unknowns:
            continue
        power = max(e.degree, f.degree)
        for raw, extra in _without(gone, e, f, shadow):
            left = shadow.cleaned(raw, shadow.size ** (2 * power) * 1e-3)
            if left is not MANY and variables(left) == {kept}:
                found = _relation(kept, left, (e, f), 2 * power, 1 + extra, shadow, gone)
                yield from (r for r in found if (r.kind in QUARTICS) == (degree == 2))


def _effort(e: Equation, shadow: Shadow) -> tuple[int, int]:
    """Simple equations first: coefficients of unknowns that are constant, then cheap ones."""
    turning = sum(bool(m) and not shadow.is_constant(c) for m, c in terms(e.zero).items())
    return turning, shadow.unpaid(list(terms(e.zero).values())) + len(terms(e.zero))


def _total(x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int]:
    return x[0] + y[0], x[1] + y[1]


def _without(gone: int, e: Equation, f: Equation, shadow: Shadow) -> Iterator[tuple[Scalar, float]]:
    if any(a == 4 * gone + R for m in (*terms(e.zero), *terms(f.zero)) for a in m):
        yield from _without_length(gone, e.zero, f.zero, shadow)
    elif e.degree == f.degree or 2 in (e.degree, f.degree):
        yield from _without_angle(gone, e.zero, f.zero, shadow)


def _split(x: Scalar, *atoms: int) -> list[Scalar]:
    """Coefficients (polynomials) of each power product of these atoms that occurs singly, then the
    rest without them."""
    parts: list[dict[Any, Scalar]] = [{} for _ in range(len(atoms) + 1)]
    for m, c in terms(x).items():
        held = [a for a in m if a in atoms]
        if len(held) > 1:
            raise ValueError("not linear")
        k = atoms.index(held[0]) if held else len(atoms)
        parts[k][tuple(a for a in m if a not in atoms)] = c
    return [polynomial(part) for part in parts]


def _without_length(
    gone: int, x: Scalar, y: Scalar, shadow: Shadow
) -> Iterator[tuple[Scalar, float]]:
    """Eliminate r from two equations: both linear in it, or one quadratic with the other linear."""
    r = 4 * gone + R
    for first, second in ((x, y), (y, x)):
        try:
            X, Y = _split(first, r)
        except ValueError:
            continue
        if is_zero(X):
            continue
        squares = {m: c for m, c in terms(second).items() if m.count(r) == 2}
        if not squares:
            A, B = _split(second, r)
            yield X * B - A * Y, 0.0
            return
        if variables(X):
            continue
        A = polynomial({tuple(a for a in m if a != r): c for m, c in squares.items()})
        rest = polynomial({m: c for m, c in terms(second).items() if m.count(r) < 2})
        B, D = _split(rest, r)
        yield A * Y * Y - B * X * Y + D * X * X, 0.5
        return


def _without_angle(
    gone: int, x: Scalar, y: Scalar, shadow: Shadow
) -> Iterator[tuple[Scalar, float]]:
    """Eliminate the angle b from M (C_b, S_b) = -v: |M⁻¹ v| = 1, where M is constant or a vector
    turned (rows orthogonal, lengths in a constant ratio)."""
    atoms = (4 * gone + C, 4 * gone + S)
    try:
        (a, b, u), (c, d, w) = _split(x, *atoms), _split(y, *atoms)
    except ValueError:
        return
    ratios = []
    first, second = shadow.scale(x), shadow.scale(y)
    for trial in shadow.trial:
        p, q, s, t = (shadow.at(z, trial) for z in (a, b, c, d))
        one, two = p * p + q * q, s * s + t * t
        if (one <= (SURE * first) ** 2).any() or (two <= (SURE * second) ** 2).any():
            return
        if (np.abs(p * t - q * s) ** 2 <= SURE**2 * one * two).any():
            return
        ratios.append(one / two)
        if (np.abs(p * s + q * t) > 1e-9 * np.sqrt(one * two)).any():
            ratios.append(np.full(len(one), np.nan))
    constant = not any(variables(z) for z in (a, b, c, d))
    if np.isfinite(ratios).all() and np.allclose(ratios[0], ratios[1], rtol=1e-9):
        one, two = a * a + b * b, c * c + d * d
        ratio = _ratio(one, two, shadow)
        # a ratio that depends on the pose may be 0 or infinite where nothing is singular
        steady = np.ptp(ratios[0]) <= 1e-9 * ratios[0].max()
        yield u * u + ratio * (w * w) - one, 0.0 if steady else 0.7
    elif constant:
        det = a * d - b * c
        extra = 0.2 if shadow.is_constant(det) else 0.8
        first, second = u * d - b * w, a * w - c * u
        yield first * first + second * second - det * det, extra


def _ratio(one: Scalar, two: Scalar, shadow: Shadow) -> Scalar:
    """The constant ratio of two polynomials."""
    best = max(terms(two), key=lambda m: float(np.abs(shadow.of(terms(two)[m])).min()))
    top, bottom = terms(one).get(best, 0), terms(two)[best]
    if np.allclose(shadow.of(top), shadow.of(bottom), rtol=1e-12):
        return 1
    return quotient(top, bottom)


def _lengths(
    three: Sequence[int], listed: Sequence[Equation], shadow: Shadow
) -> Iterator[Relation]:
    """One of three lengths by Cramer's rule from three linear equations."""
    atoms = [4 * v + R for v in three]
    rows = []
    for e in listed:
        if all(len(m) < 2 and (not m or m[0] in atoms) for m in terms(e.zero)):
            rows.append((_split(e.zero, *atoms), e))
    numbers = [np.array([shadow.of(x) for x in row[:3]]) for row, _ in rows]
    for picked in combinations(range(len(rows)), 3):
        sizes = np.prod([np.linalg.norm(numbers[k], axis=0) for k in picked], axis=0)
        values = np.linalg.det(np.stack([numbers[k] for k in picked]).transpose(2, 0, 1))
        if (np.abs(values) > 1e-3 * sizes).all() and (sizes > 1e-9).all():
            (a, b, c), sources = [rows[k][0] for k in picked], tuple(rows[k][1] for k in picked)
            det = _det(a[:3], b[:3], c[:3])
            top = _det([a[3], *a[1:3]], [b[3], *b[1:3]], [c[3], *c[1:3]])
            rank = 0.5 if shadow.is_constant(det) else 2.5
            yield Relation("linear", three[0], (det, -top), sources, rank, 0)


def _det(a: Sequence[Scalar], b: Sequence[Scalar], c: Sequence[Scalar]) -> Scalar:
    return (
        a[0] * (b[1] * c[2] - b[2] * c[1])
        - a[1] * (b[0] * c[2] - b[2] * c[0])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
    )
