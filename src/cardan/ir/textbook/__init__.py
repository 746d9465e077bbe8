"""A program as a textbook writes it: every output one sum of products of sines and cosines of
joint angles, collected; no value between has a name but these.

    ring      the values in a normal form
    angles    which sines and cosines are written
    collect   common factors
    write     the expressions
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from ...exact import exact
from ..code import Code, Shape, gather
from .angles import parallel
from .ring import (
    Polynomial,
    Quotient,
    Quotients,
    Ring,
    Terms,
    TooLarge,
    largest,
    values,
)
from .write import Writer

__all__ = ["LARGEST", "TooLarge", "matrices", "textbook"]

LARGEST = 3_000  # terms of all values together

Values = Mapping[str, tuple[Shape, Sequence[Quotient]]]


def textbook(code: Code, names: Mapping[Any, str], largest: int = LARGEST) -> Code:
    """The program in textbook form; TooLarge where there are too many terms to be read.

    names: of the inputs ("input", array, k) that may be angles, as they are in C1, S1, C23."""
    ring = Ring(parallel(code), largest)
    outputs = values(code, ring)
    shaped = {name: (output.shape, outputs[name]) for name, output in code.outputs.items()}
    return _written(ring, code, names, shaped)


def matrices(code: Code, names: Mapping[Any, str], largest: int = LARGEST) -> Code | None:
    """A, C, Q and, where there is more, F of the torques that a program of q, qd and qdd gives:

        tau = A(q) qdd + C(q, qd) qd + Q(q) + F

    C_ij = Σ c_ijk qd_k with c symmetric in j and k, which makes them Christoffel's symbols: with
    these Adot - 2C is skew. None where the program has no such torques."""
    (name, output), *others = code.outputs.items()
    n = prod(output.shape)
    if others or not all(code.inputs.get(array) == (n,) for array in ("qd", "qdd")):
        return None
    ring = Ring(parallel(code), largest)
    torques = [Quotients(ring).flat(x) for x in values(code, ring)[name]]
    parts = [_parted(ring, x, n) for x in torques]
    if any(part is None for part in parts):
        return None
    A, C, Q, F = zip(*parts, strict=True)
    shaped: dict[str, Any] = {
        "A": ((n, n), [Quotient(x) for row in A for x in row]),
        "C": ((n, n), [Quotient(x) for row in C for x in row]),
        "Q": ((n,), list(map(Quotient, Q))),
    }
    if any(x.terms for x in F):
        shaped["F"] = (n,), list(map(Quotient, F))
    return _written(ring, code, names, shaped)


def _parted(ring: Ring, torque: Polynomial, n: int) -> tuple[Any, ...] | None:
    """(row of A, row of C, Q, F) of a torque."""
    tables: dict[str, Terms] = {}

    def put(part: str, trig: int, monomial: int, coefficient: int) -> None:
        row = tables.setdefault(part, {}).setdefault(trig, {})
        row[monomial] = row.get(monomial, 0) + coefficient

    for trig, row in torque.terms.items():
        for monomial, c in row.items():
            motions = [x for x, k in ring.exponents(monomial) for _ in range(k) if ring.moves(x)]
            kinds = [ring.symbols[x][1] if ring.is_input(x) else "" for x in motions]
            places = [ring.symbols[x][2] for x in motions]
            rest = monomial - sum(ring.power(x) for x in motions)
            if not motions:
                put("Q", trig, monomial, 2 * c)
            elif kinds == ["qdd"]:
                put(f"A{places[0]}", trig, rest, 2 * c)
            elif kinds == ["qd", "qd"]:
                for j, k in (places, places[::-1]):
                    rate = ring.power(ring.number(("input", "qd", k)))
                    put(f"C{j}", trig, rest + rate, c)
            elif "qdd" in kinds:
                return None
            else:
                put("F", trig, monomial, 2 * c)

    def part(name: str) -> Polynomial:
        return Polynomial(tables.get(name, {}), 2 * torque.denominator, torque.degree)

    rows = ([part(f"{name}{k}") for k in range(n)] for name in "AC")
    return *rows, part("Q"), part("F")


def _written(ring: Ring, code: Code, names: Mapping[Any, str], outputs: Values) -> Code:
    quotients = Quotients(ring)
    pairs = {
        name: [(x.numerator, None if x.whole else quotients.denominator(x)) for x in flat]
        for name, (_, flat) in outputs.items()
    }
    flat = [pair for rows in pairs.values() for pair in rows]
    every = [x for pair in flat for x in pair if x is not None]
    if sum({x.key: x.size for x in every}.values()) > ring.largest:
        raise TooLarge
    if ring.inexact:  # so that numerators are of the size of their quotients
        pairs = {name: [_scaled(ring, *pair) for pair in rows] for name, rows in pairs.items()}
        flat = [pair for rows in pairs.values() for pair in rows]
    above, below = [x for x, _ in flat], [y for _, y in flat if y is not None]
    writer = Writer(ring, code.inputs, names, above, below)
    written = {
        name: (shape, [writer.quotient(*pair) for pair in pairs[name]])
        for name, (shape, _) in outputs.items()
    }
    return gather(writer.graph, code.inputs, written, writer.labels)


def _scaled(
    ring: Ring, x: Polynomial, y: Polynomial | None
) -> tuple[Polynomial, Polynomial | None]:
    """x / y with 1 as the largest number of y."""
    if y is None:
        return x, y
    scale = ring.constant(exact(1 / largest(y)))
    return ring.mul(x, scale), ring.mul(y, scale)
