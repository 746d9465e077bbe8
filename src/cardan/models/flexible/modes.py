"""Modes of a beam as its shape functions, by finite elements under them; structural damping.

Each motion (axial, torsion, bending in a plane) is condensed on its own lowest modes: clamped at
the root, or pinned at both ends (the frame then follows the chord). A mode is scaled to 1 at the
tip (a pinned one to 1 at its largest)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...algebra.vector import Mat, Vec
from ...describe.flexible import Beam
from ...describe.values.expression import Value
from ...errors import ModelError
from .integrals import Integrals, integrals, numbers
from .shapes import Field, Place, beam_field

Scalar = Any
Array = np.ndarray
_FINE = 12  # elements under the modes, at least
_SMALL = 1e-12  # of the largest entry: round-off


@dataclass(frozen=True)
class Modes:
    """A fine field seen through a few of its modes: q_fine = T q."""

    field: Field
    T: Array
    integrals: Integrals

    def at(self, x: Scalar) -> Place:
        """The modes at a distance x along the beam."""
        place = self.field.at(x)
        n = self.T.shape[0]
        second = _dense(place.second, n, 3, symmetric=True)
        return Place(
            place.position, _vectors(self.T.T @ _rows(place.displacement)),
            _vectors(self.T.T @ _rows(place.rotation)),
            _sparse(np.einsum("ka,klc,lb->abc", self.T, second, self.T), upper=True),
        )  # fmt: skip


def eigen(K: Array, M: Array) -> tuple[Array, Array]:
    """(ω², modes) of K x = ω² M x, M positive definite; modes are columns, M-orthonormal."""
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        raise ModelError(
            "the mass matrix is singular: some coordinate moves nothing; give the links mass"
        ) from None
    inverse = np.linalg.inv(L)
    values, vectors = np.linalg.eigh(inverse @ K @ inverse.T)
    return values, inverse.T @ vectors


def modes_of(beam: Beam, value: Callable[[Value], Scalar]) -> Modes:
    """The lowest modes of every motion of a beam."""
    def as_float(x: Value) -> float:
        number = value(x)
        try:
            return float(number)
        except TypeError:
            raise ModelError(
                "a beam with symbolic properties has no modes",
                remedy="give them values, robot.with_values({...}), or use shapes = 'elements'",
                action="values",
            ) from None

    fine = max(_FINE, beam.elements, 3 * beam.modes)
    field = beam_field(beam, as_float, fine)
    x = integrals(field)
    M, K = np.array(x.Mee, float), np.array(x.Kee, float)
    columns = []
    for component in _components(beam):
        own = sorted({
            k for shapes in field.shapes for k, parts in shapes.items() if component in parts
        })  # fmt: skip
        _, vectors = eigen(K[np.ix_(own, own)], M[np.ix_(own, own)])
        for k in range(beam.modes):
            column = np.zeros(field.size)
            column[own] = vectors[:, k]
            columns.append(column / _scale(field, column, component, beam.shapes == "pinned"))
    T = np.array(columns).T
    return Modes(field, T, _condensed(x, T))


def _components(beam: Beam) -> list[int]:
    table = {"axial": 0, "bending-y": 1, "bending-z": 2, "torsion": 3}
    return [table[motion] for motion in beam.motions]


def _scale(field: Field, column: Array, component: int, pinned: bool) -> float:
    """The mode's value at the tip, or at its largest."""
    count = field.elements
    beam = field.beam
    start, length = field.value(beam.start), field.value(beam.length)
    values = []
    for e in range(count + 1):
        place = field.at(start + length * (e / count))
        rows = place.displacement if component < 3 else place.rotation
        shift = "xyz".index(beam.along)
        values.append(float(column @ _rows(rows)[:, (component % 3 + shift) % 3]))
    if pinned and component in (1, 2):
        return max(values, key=abs)
    return values[-1]


def _condensed(x: Integrals, T: Array) -> Integrals:
    """The integrals over the new coordinates."""
    n = T.shape[0]

    def matrix(rows: Any) -> list[list[Scalar]]:
        a = T.T @ np.array(rows, float) @ T
        scale = float(np.abs(a).max(initial=0))
        return [[_snapped(v, scale) for v in row] for row in a.tolist()]

    I1 = np.array([[list(map(float, row)) for row in m.rows] for m in x.I1])
    I2 = _dense({key: _flat(m) for key, m in x.I2.items()}, n, 9, symmetric=True)
    c2 = _dense(x.c2, n, 3)
    G = _dense(x.G, n, 3, symmetric=True)

    def pairs(a: Array) -> Array:
        reduced: Array = np.einsum("ka,klc,lb->abc", T, a, T)
        return reduced

    inertia1 = _clean(np.einsum("ka,kij->aij", T, I1))
    inertia2 = {
        key: Mat([v[:3], v[3:6], v[6:]]) for key, v in _sparse(pairs(I2), upper=True).items()
    }
    return Integrals(
        x.M, x.MS, x.J, _vectors(T.T @ _rows(x.S)), _vectors(T.T @ _rows(x.c)),
        matrix(x.Mee), matrix(x.Kee), tuple(numbers(Mat(m.tolist())) for m in inertia1),
        inertia2, _sparse(pairs(c2)), _sparse(pairs(G), upper=True),
    )  # fmt: skip


def _snapped(v: float, scale: float) -> Scalar:
    return 0 if abs(v) <= _SMALL * scale else v


def _clean(a: Array) -> Array:
    return np.where(np.abs(a) <= _SMALL * np.abs(a).max(initial=0), 0.0, a)


def _rows(vectors: Any) -> Array:
    return np.array([list(map(float, v)) for v in vectors])


def _vectors(a: Array) -> tuple[Vec, ...]:
    return tuple(numbers(Vec(*row)) for row in _clean(a).tolist())


def _flat(m: Mat) -> list[float]:
    return [float(v) for row in m.rows for v in row]


def _dense(table: Any, n: int, width: int, symmetric: bool = False) -> Array:
    a = np.zeros((n, n, width))
    for (k, m), v in table.items():
        a[k, m] = list(map(float, v))
        if symmetric:
            a[m, k] = a[k, m]
    return a


def _sparse(a: Array, upper: bool = False) -> dict[tuple[int, int], Vec]:
    a = _clean(a)
    n = a.shape[0]
    return {
        (k, m): numbers(Vec(*a[k, m].tolist())) for k in range(n) for m in range(n)
        if a[k, m].any() and (k <= m or not upper)
    }  # fmt: skip


def damping_matrix(
    beam: Beam, value: Callable[[Value], Scalar], x: Integrals
) -> list[list[Scalar]]:
    """D = a M + b K, and the same ratio for every mode of the link clamped at its root."""
    a, b = value(beam.mass_damping), value(beam.stiffness_damping)
    n = len(x.Mee)
    D = [[a * x.Mee[k][m] + b * x.Kee[k][m] for m in range(n)] for k in range(n)]
    ratio = value(beam.damping_ratio)
    if isinstance(ratio, int) and ratio == 0:
        return D
    try:
        M, K = np.array(x.Mee, float), np.array(x.Kee, float)
    except TypeError:
        raise ModelError(
            "a damping ratio of a beam with symbolic properties: use mass_damping and"
            " stiffness_damping"
        ) from None
    squares, V = eigen(K, M)
    modal = M @ V @ np.diag(2 * float(ratio) * np.sqrt(np.abs(squares))) @ V.T @ M
    scale = float(np.abs(modal).max(initial=0))
    return [[D[k][m] + _snapped(float(modal[k, m]), scale) for m in range(n)] for k in range(n)]
