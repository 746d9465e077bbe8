"""The generalized Newton-Euler model of a flexible free body, [BK13] (1)-(4).

With (γ, α) the acceleration of frame j and q̈ that of the elastic coordinates,

    [f]   [ M      -hat(MS)   MS_de ] [γ]   [f_in]
    [c] = [ hat(MS)    I      MS_re ] [α] + [c_in]          MS, I, MS_de, MS_re at the deformed q
    [s]   [ MS_de^T  MS_re^T  M_ee  ] [q̈]   [s_in] + K q + D q̇

    f_in = ω×(ω×MS + 2 MS_de q̇) + Σ G_kl q̇_k q̇_l
    c_in = ω×(I ω + MS_re q̇) + İ ω + Σ c2_lk q̇_l q̇_k
    s_in = -½ ω^T (∂I/∂q_k) ω + ω · Σ_l (c2_lk - c2_kl) q̇_l

These are Lagrange's equations of the kinetic energy of the field r0 + Φ q + ½ q^T Ψ q, up to the
second order in (q, q̇): consistent to first order in the deformation, and energy is conserved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...algebra.scalar import HALF
from ...algebra.vector import Mat, Vec, cross, dot, symmetric, total, zero
from ...describe.flexible import Beam, ElasticBody
from ...describe.robot import Link
from ...describe.values.expression import Value
from .integrals import Integrals, integrals, number
from .modes import Modes, damping_matrix, modes_of
from .shapes import Field, Place, beam_field

if TYPE_CHECKING:
    from ..bodies import Body

Scalar = Any


@dataclass(frozen=True)
class Elastic:
    """A flexible link ready for the algorithms: integrals, damping, and shapes anywhere on it."""

    integrals: Integrals
    Dee: list[list[Scalar]]
    at: Callable[[Vec], Place]

    @property
    def N(self) -> int:
        """Number of elastic coordinates."""
        return len(self.integrals.Mee)


@dataclass(frozen=True)
class Deformed:
    """The entries of the mass matrix of (4) that depend on the elastic coordinates."""

    MS: Vec
    I: Mat
    MSde: tuple[Vec, ...]
    MSre: tuple[Vec, ...]
    dI: tuple[Mat, ...]  # ∂I/∂q_k


def elastic_of(item: Beam | ElasticBody, value: Callable[[Value], Scalar]) -> Elastic:
    """The flexible body of a description over the scalars that `value` gives."""
    if isinstance(item, ElasticBody):
        return _given_body(item, value)
    fine = item.shapes in ("clamped", "pinned")
    source: Field | Modes = modes_of(item, value) if fine else beam_field(item, value)
    x = source.integrals if isinstance(source, Modes) else integrals(source)
    axis = "xyz".index(item.along)
    return Elastic(x, damping_matrix(item, value, x), lambda point: source.at(point[axis]))


def _given_body(item: ElasticBody, value: Callable[[Value], Scalar]) -> Elastic:
    def vector(v: Sequence[Value]) -> Vec:
        return Vec(*(number(value(x)) for x in v))

    def inertia(v: Sequence[Value]) -> Mat:
        return symmetric(*vector(v))

    def table(rows: Any, make: Callable[[Any], Any], upper: bool) -> dict[tuple[int, int], Any]:
        return {
            (k, m): make(x) for k, row in enumerate(rows) for m, x in enumerate(row)
            if (k <= m or not upper) and any(v != 0 for v in x)
        }  # fmt: skip

    n = item.coordinates
    none = [[0] * n for _ in range(n)]
    x = Integrals(
        number(value(item.mass)), vector(item.MS), inertia(item.inertia),
        tuple(map(vector, item.MS_de)), tuple(map(vector, item.MS_re)),
        [list(vector(row)) for row in item.M_ee], [list(vector(row)) for row in item.K_ee],
        tuple(map(inertia, item.dI or [[0] * 6] * n)),
        table(item.ddI, inertia, True), table(item.dMS_re, vector, False),
        table(item.ddMS, vector, True),
    )  # fmt: skip
    places = [
        Place(vector(p.position), tuple(map(vector, p.displacement)),
              tuple(map(vector, p.rotation)), {})
        for p in item.points
    ]  # fmt: skip
    root = Place(zero, (zero,) * n, (zero,) * n, {})

    def at(point: Vec) -> Place:
        """The point nearest to a place; the root of the frame counts as one that does not move."""
        def distance(place: Place) -> float:
            return sum(float(a - b) ** 2 for a, b in zip(place.position, point, strict=True))

        return min([*places, root], key=distance)

    return Elastic(x, [list(vector(row)) for row in item.D_ee] or none, at)


def rigid_part(link: Link, value: Callable[[Value], Scalar], elastic: Elastic | None) -> Any:
    """(M, MS, J) of a link: its hub and its undeformed flexible body."""
    keys = ("XX", "XY", "XZ", "YY", "YZ", "ZZ")
    J = symmetric(*(value(getattr(link, key)) for key in keys))
    MS = Vec(*(value(getattr(link, key)) for key in ("MX", "MY", "MZ")))
    M = value(link.M)
    if elastic is None:
        return M, MS, J
    x = elastic.integrals
    return M + x.M, MS + x.MS, J + x.J


def deformed(x: Integrals, MS: Vec, J: Mat, q: Sequence[Scalar]) -> Deformed:
    """The inertia of the deformed body; MS and J are those of the undeformed link."""
    n = len(q)
    MSde = list(x.S)
    for (k, m), G in x.G.items():
        MSde[k] = MSde[k] + q[m] * G
        if m != k:
            MSde[m] = MSde[m] + q[k] * G
    # MS(q) = MS + Σ q_k (S_k + MS_de_k(q)) / 2, the quadratic part halved
    first = MS
    for k in range(n):
        grown = x.S[k] if MSde[k] is x.S[k] else HALF * (x.S[k] + MSde[k])
        first = first + q[k] * grown
    MSre = list(x.c)
    for (m, k), c in x.c2.items():
        MSre[k] = MSre[k] + q[m] * c
    half = list(x.I1)  # I1_k + Σ_l q_l I2_kl
    whole = list(x.I1)  # its derivative, ∂I/∂q_k = I1_k + 2 Σ_l q_l I2_kl
    for (k, m), B in x.I2.items():
        for r, s in {(k, m), (m, k)}:
            half[r] = half[r] + q[s] * B
            whole[r] = whole[r] + (2 * q[s]) * B
    inertia = J
    for k in range(n):
        inertia = inertia + q[k] * half[k]
    return Deformed(first, inertia, tuple(MSde), tuple(MSre), tuple(whole))


def deformed_link(link: Body, q: Sequence[Scalar]) -> Deformed:
    """The inertia of a link at its elastic coordinates: its own where it is rigid."""
    if link.flexible is None:
        return Deformed(link.MS, link.J, (), (), ())
    return deformed(link.flexible.integrals, link.MS, link.J, q)


def elastic_forces(
    link: Body, body: Deformed, motion: tuple[Vec, Vec, Vec], q: Sequence[Scalar],
    qd: Sequence[Scalar], qdd: Sequence[Scalar],
) -> tuple[Vec, Vec, list[Scalar]]:  # fmt: skip
    """What elastic coordinates add to (f, c), and s, of (4); motion: (w, V̇, ẇ) of the frame."""
    w, Vd, wd = motion
    f, c, s = deformation_forces(link, body, w, q, qd)
    rows = link.flexible.integrals.Mee if link.flexible else []
    for k, (de, re, rate, row) in enumerate(zip(body.MSde, body.MSre, qdd, rows, strict=True)):
        f, c = f + rate * de, c + rate * re
        s[k] = s[k] + (dot(de, Vd) + dot(re, wd) + dot(row, qdd))
    return f, c, s


def deformation_forces(
    link: Body, body: Deformed, w: Vec, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> tuple[Vec, Vec, list[Scalar]]:
    """What elastic coordinates add to (f_in, c_in), and s_in + K q + D q̇, of (4)."""
    if link.flexible is None:
        return zero, zero, []
    x, n = link.flexible.integrals, len(qd)
    flow = total([qd[k] * body.MSde[k] for k in range(n)])
    spin = total([qd[k] * body.MSre[k] for k in range(n)])
    f, c = zero, zero
    for (k, m), G in x.G.items():
        f = f + ((1 if k == m else 2) * (qd[k] * qd[m])) * G
    for (m, k), c2 in x.c2.items():
        if (k, m) not in x.c2 or k == m:
            c = c + (qd[m] * qd[k]) * c2
        elif m < k:
            c = c + (qd[m] * qd[k]) * (c2 + x.c2[k, m])
    f = f + cross(2 * w, flow)
    turned = [body.dI[k] @ w for k in range(n)]
    c = c + cross(w, spin) + total([qd[k] * turned[k] for k in range(n)])
    s = [-(HALF * dot(w, turned[k])) for k in range(n)]
    for (m, k), c2 in x.c2.items():
        other = x.c2.get((k, m))
        if m == k or (other is not None and m > k):
            continue
        gyro = dot(w, c2 if other is None else c2 - other)
        s[k] = s[k] + gyro * qd[m]
        s[m] = s[m] - gyro * qd[k]
    force = elastic_force(link.flexible, q, qd)
    return f, c, [u + v for u, v in zip(s, force, strict=True)]


def elastic_force(elastic: Elastic, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
    """K q + D q̇."""
    return [
        dot(k, q) + dot(d, qd) for k, d in zip(elastic.integrals.Kee, elastic.Dee, strict=True)
    ]


def elastic_energy(elastic: Elastic, q: Sequence[Scalar]) -> Scalar:
    """½ q^T K q."""
    return HALF * dot(q, [dot(row, q) for row in elastic.integrals.Kee])


def elastic_rates_energy(
    link: Body, body: Deformed, V: Vec, w: Vec, qd: Sequence[Scalar]
) -> Scalar:
    """What the rates of elastic coordinates add to the kinetic energy."""
    if link.flexible is None:
        return 0
    own: Scalar = 0
    for de, re, rate, row in zip(
        body.MSde, body.MSre, qd, link.flexible.integrals.Mee, strict=True
    ):
        own = own + rate * (V @ de + w @ re + HALF * dot(row, qd))
    return own
