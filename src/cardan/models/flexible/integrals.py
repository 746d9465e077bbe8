"""The integrals of a body's shape functions over its mass: all that its dynamics needs.

With the field r = r0 + Φ q + ½ q^T Ψ q,

    first moments   MS(q) = ∫r dm                        S, G
    inertia         I(q)  = ∫(r² 1 - r r^T) dm           I1, I2
    coupling        ∫ r × ∂r/∂q_k dm                      c, c2
    elastic mass    M_ee, and the stiffness K_ee

([BK13] (4), with the terms that the errata list.) A section with its rotary inertia is integrated
as the area it is: its points s move by φ_d + φ_r × s. Everything is computed once, over any
scalar: numbers stay exact until the end, symbols stay symbols."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from ...algebra.scalar import vanishes
from ...algebra.vector import Mat, Vec
from ...exact import Exact
from .shapes import (
    Field,
    Poly,
    derivative,
    integral,
    pairs,
    part,
    plus,
    scaled,
    times,
)  # fmt: skip

Scalar = Any
Table = dict[Any, dict[tuple[int, int], Any]]


@dataclass(frozen=True)
class Integrals:
    """Shape integrals of a body about the origin of its frame; sparse tables hold k <= l."""

    M: Scalar
    MS: Vec
    J: Mat
    S: tuple[Vec, ...]
    c: tuple[Vec, ...]
    Mee: list[list[Scalar]]
    Kee: list[list[Scalar]]
    I1: tuple[Mat, ...]
    I2: dict[tuple[int, int], Mat]
    c2: dict[tuple[int, int], Vec]  # [l, k], not symmetric
    G: dict[tuple[int, int], Vec]


def integrals(field: Field) -> Integrals:
    """The shape integrals of a beam, element by element."""
    beam, value = field.beam, field.value
    rho = value(beam.density)
    A = rho * value(beam.area)
    section = [0, rho * value(beam.Iz), rho * value(beam.Iy)]  # ∫ s s^T dm per length
    L, start = field.step, value(beam.start)
    length, end = value(beam.length), value(beam.start) + value(beam.length)
    first = A * (end * end - start * start) * part(1, 2)
    P0 = [[A * (end**3 - start**3) * part(1, 3), 0, 0], [0, section[1] * length, 0],
          [0, 0, section[2] * length]]  # fmt: skip
    n = field.size
    sums = _Sums(n)
    mass = _Mass(A, section, L, beam.rotary)
    for e, shapes in enumerate(field.shapes):
        x: Poly = [start + e * L, L]
        for k, parts in shapes.items():
            sums.single(k, parts, x, mass)
        for k, m in pairs(shapes):
            sums.pair(k, m, shapes[k], shapes[m], mass)
            sums.stiffness(k, m, shapes[k], shapes[m], field)
        if beam.stiffening:
            mass_beyond = scaled(plus([end], scaled(x, -1)), A)
            moment_beyond = scaled(plus([end * end], scaled(times(x, x), -1)), A * part(1, 2))
            for k, m, slopes in field.slopes(e):
                sums.add(sums.G, (k, m), 0, 0, -(L * integral(times(slopes, mass_beyond))))
                sums.add(sums.Q, (k, m), 0, 0, -(L * integral(times(slopes, moment_beyond))))
    return sums.integrals(field, A * length, first, P0)


@dataclass(frozen=True)
class _Mass:
    """Of an element: mass per length, ∫ s s^T dm per length (its diagonal), length."""

    A: Scalar
    section: list[Scalar]
    L: Scalar
    rotary: bool


class _Sums:
    """Moments of the field while they are added up: P1 = ∫r0 φ^T, P2 = ∫φ φ^T, Q = ∫r0 Ψ^T."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.S: Table = {}
        self.P1: Table = {}
        self.P2: Table = {}
        self.Q: Table = {}
        self.G: Table = {}
        self.K: Table = {}

    @staticmethod
    def add(table: Table, key: Any, a: int, b: int, x: Scalar) -> None:
        if not vanishes(x):
            entries = table.setdefault(key, {})
            entries[a, b] = entries.get((a, b), 0) + x

    def single(self, k: int, parts: Any, x: Poly, mass: _Mass) -> None:
        """Coordinate k of an element."""
        A, section, L = mass.A, mass.section, mass.L
        for b in range(3):
            if b in parts:
                self.add(self.S, k, b, 0, A * L * integral(parts[b]))
                self.add(self.P1, k, 0, b, A * L * integral(times(x, parts[b])))
        for (b, a), turn in _hat(parts, mass.rotary).items():
            self.add(self.P1, k, a, b, section[a] * L * integral(turn))

    def pair(self, k: int, m: int, p: Any, q: Any, mass: _Mass) -> None:
        """Coordinates k and m of an element."""
        A, section, L = mass.A, mass.section, mass.L
        for a, b in product(range(3), range(3)):
            if a in p and b in q:
                self.add(self.P2, (k, m), a, b, A * L * integral(times(p[a], q[b])))
        turned = product(_hat(p, mass.rotary).items(), _hat(q, mass.rotary).items())
        for ((a, c), s), ((b, d), t) in turned:
            if c == d:
                self.add(self.P2, (k, m), a, b, section[c] * L * integral(times(s, t)))

    def stiffness(self, k: int, m: int, p: Any, q: Any, field: Field) -> None:
        """Axial, torsional, bending and shear stiffness of coordinates k and m of an element."""
        beam, value, L = field.beam, field.value, field.step
        E = value(beam.young)
        per = 1 / L

        def product_of(a: int, rigidity: Scalar) -> None:
            if a in p and a in q:
                both = times(derivative(p[a]), derivative(q[a]))
                self.add(self.K, (k, m), 0, 0, rigidity * per * integral(both))

        product_of(0, E * value(beam.area))
        product_of(3, value(beam.shear) * value(beam.torsion))
        product_of(4, E * value(beam.Iy))
        product_of(5, E * value(beam.Iz))
        if beam.theory == "timoshenko":
            stiff = value(beam.shear) * value(beam.area)
            for d, r, sign, share in ((1, 5, -1, beam.ky), (2, 4, 1, beam.kz)):
                if d in p and d in q:
                    slopes = [scaled(derivative(s[d]), per) for s in (p, q)]
                    shears = [plus(slopes[i], scaled(s[r], sign)) for i, s in enumerate((p, q))]
                    both = times(*shears)
                    self.add(self.K, (k, m), 0, 0, value(share) * stiff * L * integral(both))

    def integrals(self, field: Field, M: Scalar, first: Scalar, P0: Any) -> Integrals:
        """The moments turned into what the dynamics needs, in the axes of the frame."""
        self.section_turns(field)
        n, vector, matrix = self.n, field.turned, field.turned_matrix
        dense = {
            key: _dense(self.P2.get(key, {})) for key in product(range(n), range(n))
            if key in self.P2 or key[::-1] in self.P2
        }
        for k, m in list(dense):
            if k > m:
                dense[k, m] = [list(row) for row in zip(*dense[m, k], strict=True)]
        Q = {key: _dense(entries) for key, entries in self.Q.items()}
        S = [vector([self.S.get(k, {}).get((a, 0), 0) for a in range(3)]) for k in range(n)]
        P1 = [_dense(self.P1.get(k, {})) for k in range(n)]
        I2, c2 = {}, {}
        for (k, m), P in dense.items():
            q = Q.get((min(k, m), max(k, m)), _dense({}))
            both = [[P[a][b] + q[a][b] for b in range(3)] for a in range(3)]
            c2[k, m] = numbers(vector(_vee(both)))
            if k <= m:
                I2[k, m] = numbers(matrix(_inertia(_symmetric(both))))
        G = {key: numbers(vector([x.get((0, 0), 0), 0, 0])) for key, x in self.G.items()}
        Mee, Kee = ([[0] * n for _ in range(n)] for _ in range(2))
        for k, m in pairs(range(n)):
            P = dense.get((k, m), _dense({}))
            Mee[k][m] = Mee[m][k] = number(P[0][0] + P[1][1] + P[2][2])
            Kee[k][m] = Kee[m][k] = number(self.K.get((k, m), {}).get((0, 0), 0))
        J = _inertia(P0)
        if not field.beam.rotary:  # a line of mass: sections turn with nothing but torsion
            J[1][1] = J[2][2] = P0[0][0]
        return Integrals(
            number(M), numbers(vector([first, 0, 0])), numbers(matrix(J)),
            tuple(map(numbers, S)), tuple(numbers(vector(_vee(P))) for P in P1), Mee, Kee,
            tuple(numbers(matrix(_inertia(_twice(P)))) for P in P1),
            _filled(I2), _filled(c2), _filled(G),
        )  # fmt: skip

    def section_turns(self, field: Field) -> None:
        """∫ s (B s)^T dm with B s the second-order part of turning a section: a section turns, it
        does not stretch, whether or not bent fibres shorten the beam."""
        beam, value, L = field.beam, field.value, field.step
        rho = value(beam.density)
        section = [0, rho * value(beam.Iz), rho * value(beam.Iy)]
        for shapes in field.shapes:
            for k, m in pairs(shapes):
                t, u = ([_turn(shapes[i], a, beam.rotary) for a in range(3)] for i in (k, m))
                norm = plus([0], *(times(t[c], u[c]) for c in range(3)))
                for a, b in product((1, 2), range(3)):
                    B = scaled(plus(times(t[a], u[b]), times(u[a], t[b])), part(1, 2))
                    if a == b:
                        B = plus(B, scaled(norm, -1))
                    self.add(self.Q, (k, m), a, b, section[a] * L * integral(B))


def _turn(parts: Any, a: int, rotary: bool) -> Poly:
    counts = a == 0 or rotary
    polynomial: Poly = parts.get(3 + a, [0]) if counts else [0]
    return polynomial


def _hat(parts: Any, rotary: bool) -> dict[tuple[int, int], Poly]:
    """The cross-product matrix of the section's rotation, where it is not zero."""
    entries: dict[tuple[int, int], Poly] = {}
    for a in range(3):
        if 3 + a in parts and (a == 0 or rotary):
            b, c = (a + 1) % 3, (a + 2) % 3
            entries[c, b], entries[b, c] = parts[3 + a], scaled(parts[3 + a], -1)
    return entries


def _dense(entries: dict[tuple[int, int], Scalar]) -> list[list[Scalar]]:
    return [[entries.get((a, b), 0) for b in range(3)] for a in range(3)]


def _twice(P: list[list[Scalar]]) -> list[list[Scalar]]:
    return [[P[a][b] + P[b][a] for b in range(3)] for a in range(3)]


def _symmetric(P: list[list[Scalar]]) -> list[list[Scalar]]:
    return [[part(1, 2) * (P[a][b] + P[b][a]) for b in range(3)] for a in range(3)]


def _inertia(P: list[list[Scalar]]) -> list[list[Scalar]]:
    """tr(P) 1 - P."""
    trace = P[0][0] + P[1][1] + P[2][2]
    return [[(trace if a == b else 0) - P[a][b] for b in range(3)] for a in range(3)]


def _vee(P: list[list[Scalar]]) -> list[Scalar]:
    """∫ x × y of P = ∫ x y^T."""
    return [P[1][2] - P[2][1], P[2][0] - P[0][2], P[0][1] - P[1][0]]


def number(x: Scalar) -> Scalar:
    """Exact numbers as floats, but integers: from here on they are only multiplied."""
    if isinstance(x, Exact):
        return float(x)
    return 0 if isinstance(x, float) and x == 0 else x


def numbers(x: Any) -> Any:
    if isinstance(x, Mat):
        return Mat([numbers(row) for row in x.rows])
    return Vec(*map(number, x))


def _filled(table: dict[Any, Any]) -> dict[Any, Any]:
    """Without the entries that are zero."""
    return {
        key: x for key, x in table.items()
        if not all(vanishes(v) for row in getattr(x, "rows", [x]) for v in row)
    }
