"""Shape functions of beams: finite elements, and polynomials of the whole length.

A displacement field is r0 + Φ q + ½ q^T Ψ q, [BK13] (3). Along a beam, Φ holds displacements and
section rotations as polynomials of ξ in each element (Hermite's for Euler and Bernoulli, their
shear-corrected kin for Timoshenko); Ψ is the foreshortening -∫v'² dx of bent fibres, without which
tension would soften a beam."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from ...algebra.scalar import is_number, is_same, vanishes
from ...algebra.vector import Mat, Vec
from ...describe.flexible import Beam
from ...describe.values.expression import Value
from ...errors import ModelError
from ...exact import exact

Scalar = Any
Poly = list[Any]


@dataclass(frozen=True)
class Place:
    """Shape functions at a section: its reference position, columns Φ_d, Φ_r and Ψ_kl."""

    position: Vec
    displacement: tuple[Vec, ...]
    rotation: tuple[Vec, ...]
    second: dict[tuple[int, int], Vec]  # k <= l


@dataclass(frozen=True)
class Field:
    """A beam's displacement field: per element, per coordinate, polynomials of the components.

    Components 0..2 are displacements, 3..5 rotations, in the beam's axes (0 along it)."""

    beam: Beam
    value: Callable[[Value], Scalar]
    elements: int
    shapes: tuple[dict[int, dict[int, Poly]], ...]  # [element][coordinate][component]
    size: int

    @property
    def step(self) -> Scalar:
        """Length of an element."""
        return self.value(self.beam.length) * part(1, self.elements)

    def turned(self, v: Sequence[Scalar]) -> Vec:
        """A vector of the beam's axes in the axes of the frame."""
        shift = "xyz".index(self.beam.along)
        return Vec(*(v[(a - shift) % 3] for a in range(3)))

    def turned_matrix(self, rows: Sequence[Sequence[Scalar]]) -> Mat:
        shift = "xyz".index(self.beam.along)
        axes = [(a - shift) % 3 for a in range(3)]
        return Mat([[rows[a][b] for b in axes] for a in axes])

    def at(self, x: Scalar) -> Place:
        """The shape functions at the distance x along the beam's axis from the frame's origin."""
        start, step = self.value(self.beam.start), self.step
        numeric = is_number(x - start) and is_number(step)
        xi = (x - start) / step if numeric else None
        tip = not numeric and is_same(x - start, self.value(self.beam.length))
        if tip:
            e, xi = self.elements - 1, 1
        elif xi is None:
            if self.elements > 1:
                raise ModelError(
                    "a link attaches to a beam of several elements at a symbolic place",
                    remedy="give its length a value, robot.with_values({...})", action="values",
                )  # fmt: skip
            e, xi = 0, (x - start) / step
        else:
            xi = min(max(xi, 0), self.elements)
            e = min(int(float(xi)), self.elements - 1)
            xi = xi - e
        zero = Vec(0, 0, 0)
        displacement, rotation = [zero] * self.size, [zero] * self.size
        for k, parts in self.shapes[e].items():
            values = [value_at(parts[a], xi) if a in parts else 0 for a in range(6)]
            displacement[k] = self.turned(values[:3])
            rotation[k] = self.turned(values[3:])
        second: dict[tuple[int, int], Scalar] = {}
        if self.beam.stiffening:
            for element in range(e + 1):
                end = xi if element == e else 1
                for k, m, slopes in self.slopes(element):
                    gain = -(step * integral(slopes, end))
                    second[k, m] = second.get((k, m), 0) + gain
        at = x if tip else start + (e + xi) * step
        return Place(
            self.turned([at, 0, 0]), tuple(displacement), tuple(rotation),
            {key: self.turned([x, 0, 0]) for key, x in second.items() if not vanishes(x)},
        )  # fmt: skip

    def slopes(self, element: int) -> list[tuple[int, int, Poly]]:
        """(k, l, v_k' v_l' + w_k' w_l') of the coordinates of an element, k <= l."""
        per = 1 / self.step
        shapes = self.shapes[element]
        slope = {
            k: {a: scaled(derivative(parts[a]), per) for a in (1, 2) if a in parts}
            for k, parts in shapes.items()
        }
        columns = []
        for k, m in pairs(slope):
            shared = slope[k].keys() & slope[m].keys()
            common = [times(slope[k][a], slope[m][a]) for a in sorted(shared)]
            if common:
                columns.append((k, m, plus(*common)))
        return columns


def pairs(items: Any) -> list[tuple[int, int]]:
    keys = sorted(items)
    return [(k, m) for k in keys for m in keys if k <= m]


def part(top: int, bottom: int) -> Any:
    """An exact quotient."""
    return exact(Fraction(top, bottom))


def value_at(p: Poly, x: Scalar) -> Scalar:
    total: Scalar = 0
    for coefficient in reversed(p):
        total = total * x + coefficient
    return total


def derivative(p: Poly) -> Poly:
    return [k * c for k, c in enumerate(p)][1:] or [0]


def scaled(p: Poly, s: Scalar) -> Poly:
    return [s * c for c in p]


def plus(*ps: Poly) -> Poly:
    size = max(map(len, ps))
    return [sum((p[k] for p in ps if k < len(p)), start=0) for k in range(size)]


def times(p: Poly, q: Poly) -> Poly:
    out: Poly = [0] * (len(p) + len(q) - 1)
    for (i, x), (j, y) in product(enumerate(p), enumerate(q)):
        if not (vanishes(x) or vanishes(y)):
            out[i + j] = out[i + j] + x * y
    return out


def integral(p: Poly, end: Scalar = 1) -> Scalar:
    """∫ p from 0 to end."""
    total: Scalar = 0
    power = end
    for k, c in enumerate(p):
        if not vanishes(c):
            total = total + c * part(1, k + 1) * power
        power = power * end
    return total


def beam_field(beam: Beam, value: Callable[[Value], Scalar], fine: int = 0) -> Field:
    """The field of a beam: its elements or polynomials; with `fine`, the elements under modes."""
    if beam.shapes == "polynomials" and not fine:
        return _polynomials(beam, value)
    count = fine or beam.elements
    pinned = beam.shapes == "pinned"
    number = _numbering(beam, count, pinned)
    L = value(beam.length) * part(1, count)
    shear = {
        motion: _shear_ratio(beam, value, motion, L) for motion in ("bending-y", "bending-z")
    }
    shapes = []
    for e in range(count):
        here: dict[int, dict[int, Poly]] = {}
        for motion in beam.motions:
            for end, polys in enumerate(_element(motion, L, shear.get(motion, 0))):
                for kind, parts in polys.items():
                    k = number.get((motion, kind, e + end))
                    if k is not None:
                        here[k] = parts
        shapes.append(here)
    return Field(beam, value, count, tuple(shapes), len(number))


def _numbering(beam: Beam, count: int, pinned: bool) -> dict[tuple[str, str, int], int]:
    """(motion, displacement or rotation, node) -> coordinate; the root is clamped, or a pin."""
    number: dict[tuple[str, str, int], int] = {}
    for node in range(count + 1):
        kinds = [(motion, "u") for motion in beam.motions]
        kinds += [(motion, "r") for motion in beam.motions if motion.startswith("bending")]
        for motion, kind in kinds:
            bends = motion.startswith("bending")
            free = node > 0 or (pinned and bends and kind == "r")
            held = pinned and bends and kind == "u" and node == count
            if free and not held:
                number[motion, kind, node] = len(number)
    return number


def _shear_ratio(beam: Beam, value: Callable[[Value], Scalar], motion: str, L: Scalar) -> Scalar:
    """12 E I / (κ G A L²), 0 for Euler and Bernoulli."""
    if beam.theory == "euler-bernoulli":
        return 0
    moment, share = (beam.Iz, beam.ky) if motion == "bending-y" else (beam.Iy, beam.kz)
    stiff = value(share) * value(beam.shear) * value(beam.area) * L * L
    return 12 * value(beam.young) * value(moment) / stiff


def _element(motion: str, L: Scalar, phi: Scalar) -> list[dict[str, dict[int, Poly]]]:
    """Shape polynomials of an element's two ends: kind -> component -> polynomial of ξ."""
    if motion in ("axial", "torsion"):
        axis = 0 if motion == "axial" else 3
        return [{"u": {axis: [1, -1]}}, {"u": {axis: [0, 1]}}]
    d = 1 / (1 + phi) if not vanishes(phi) else 1
    half = part(1, 2) * phi
    v = [
        scaled([1 + phi, -phi, -3, 2], d), scaled([0, 1 + half, -2 - half, 1], d * L),
        scaled([0, phi, 3, -2], d), scaled([0, -half, half - 1, 1], d * L),
    ]  # fmt: skip
    t = [
        scaled([0, -6, 6], d / L), scaled([1 + phi, -4 - phi, 3], d),
        scaled([0, 6, -6], d / L), scaled([0, phi - 2, 3], d),
    ]  # fmt: skip
    if motion == "bending-y":  # v along y, its rotation +v' about z
        shapes = [{1: v[k], 5: t[k]} for k in range(4)]
    else:  # w along z, its rotation -w' about y
        shapes = [{2: scaled(v[k], s), 4: scaled(t[k], -s)} for k, s in enumerate((1, -1, 1, -1))]
    return [{"u": shapes[0], "r": shapes[1]}, {"u": shapes[2], "r": shapes[3]}]


def _polynomials(beam: Beam, value: Callable[[Value], Scalar]) -> Field:
    """ξ^k along the beam and in torsion, ξ^(k+1) in bending: 1 at the tip, clamped at the root."""
    if beam.theory != "euler-bernoulli":
        raise ModelError("polynomial shapes are those of Euler and Bernoulli: use elements")
    per = 1 / value(beam.length)
    here: dict[int, dict[int, Poly]] = {}
    for motion, k in product(beam.motions, range(1, beam.modes + 1)):
        power: Poly = [*([0] * k), 1]
        if motion == "axial":
            parts = {0: power}
        elif motion == "torsion":
            parts = {3: power}
        else:
            shape: Poly = [0, *power]
            slope = scaled(derivative(shape), per)
            parts = {1: shape, 5: slope} if motion == "bending-y" else {
                2: shape, 4: scaled(slope, -1)}  # fmt: skip
        here[len(here)] = parts
    return Field(beam, value, 1, (here,), len(here))
