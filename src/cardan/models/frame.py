"""Frame j on its antecedent, and how the elastic coordinates of a flexible antecedent move it.

A rigid antecedent carries frame j at iTj, [K10] (1). On a flexible one it sits on a section that
deformation moves and turns, [BK13] (10)-(21):

    iPj = r0 + Φ_d q_e + ½ q_e^T Ψ q_e + R_B s        R_B = Rot(z, θ_z) Rot(y, θ_y) Rot(x, θ_x)
    D_k = φ_dk + Σ_l Ψ_kl q_l + W_k × R_B s           θ = Φ_r q_e, W_k its rate by unit q̇_k

so that (V_i + ω_i × iPj + Σ D_k q̇_k, ω_i + Σ W_k q̇_k) is the twist at O_j, in frame i. Turns are
exact, so that velocities are true derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..algebra.inertia import Inertia
from ..algebra.rotation import Rotation, X, Y, Z, turn
from ..algebra.scalar import HALF, is_zero
from ..algebra.vector import Vec, cross, total, zero
from .flexible.shapes import Place

Scalar = Any
Pair = tuple[Vec, Vec]
Bending = tuple[Vec, Vec, Vec, Vec]
a = Vec(0, 0, 1)


@dataclass(frozen=True)
class Section:
    """How unit rates of the elastic coordinates of link i move frame j: D (linear), W (angular)."""

    D: tuple[Vec, ...]
    W: tuple[Vec, ...]
    place: Place
    arm: Vec  # from the section to O_j, in frame i
    axes: tuple[Vec, Vec, Vec]  # of θ_x, θ_y, θ_z, in frame i

    def motion(self, w: Vec, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> Bending:
        """What the section adds to the motion that link i, turning at w, gives to O_j."""
        Ve = total([r * v for r, v in zip(qd, self.D, strict=True)])
        we = total([r * v for r, v in zip(qd, self.W, strict=True)])
        # ω̇_e at q̈_e = 0, of turns that turn axes
        x, y, z = total([r * phi for r, phi in zip(qd, self.place.rotation, strict=True)])
        about_y, about_z = y * self.axes[1], z * self.axes[2]
        wde = cross(about_z, about_y) + cross(about_z + about_y, x * self.axes[0])
        Vde = cross(wde, self.arm) + cross(we, cross(we, self.arm))
        for (k, m), psi in self.place.second.items():
            Vde = Vde + ((1 if k == m else 2) * (qd[k] * qd[m])) * psi
        Vde, wde = cross(2 * w, Ve) + Vde, wde + cross(w, we)
        for rate, D, W in zip(qdd, self.D, self.W, strict=False):
            Vde, wde = Vde + rate * D, wde + rate * W
        return Ve, we, Vde, wde


@dataclass(frozen=True, eq=False)
class Frame:
    """iTj at one position of the robot; `section` where link i is flexible.

    trig: (label, cosine, sine) of the angles it turns by."""

    iRj: Rotation
    iPj: Vec
    section: Section | None = None
    trig: tuple[tuple[str, Scalar, Scalar], ...] = ()

    @property
    def jRi(self) -> Rotation:
        return self.iRj.T

    @property
    def D(self) -> tuple[Vec, ...]:
        return self.section.D if self.section else ()

    @property
    def W(self) -> tuple[Vec, ...]:
        return self.section.W if self.section else ()

    def wrench(self, f: Vec, n: Vec) -> Pair:
        """jT_i^T (f; n): a wrench about O_j in frame j, about O_i in frame i, [K10] (25)."""
        f = self.iRj @ f
        return f, self.iRj @ n + cross(self.iPj, f)

    def bending(
        self, w: Vec, qd: Sequence[Scalar], qdd: Sequence[Scalar] = ()
    ) -> Bending:
        """What the deformation of link i adds at O_j, in frame i: (V, w, V̇, ẇ)."""
        if self.section is None:
            return zero, zero, zero, zero
        return self.section.motion(w, qd, qdd)

    def about_origin(self, f: Vec, n: Vec) -> Pair:
        """A wrench about O_j, about O_i; both in the axes of frame i."""
        return f, n + cross(self.iPj, f)

    def motion(self, V: Vec, w: Vec) -> Pair:
        """jT_i (V; w): a twist (or acceleration) of O_i at O_j, in frame j, [K10] (17)."""
        return self.jRi @ (V + cross(w, self.iPj)), self.jRi @ w

    def inertia(self, body: Inertia) -> Inertia:
        """jT_i^T 𝕁 jT_i: a body of frame j about O_i in the axes of frame i, [KC97] (27)-(30)."""
        return body.rotated(self.iRj).moved(self.iPj)


def bent(
    T: Frame, place: Place, qe: Sequence[Scalar], about_z: tuple[Scalar, Scalar] | None = None
) -> Frame:
    """Frame j on a section, T where nothing is deformed.

    about_z: (angle, offset) of iRj where it turns about z alone: two such turns are one."""
    theta = total([q * phi for q, phi in zip(qe, place.rotation, strict=True)])
    by = [turn(Z, theta[2]), turn(Y, theta[1]), turn(X, theta[0])]
    RB = Rotation(by)
    axes = (Rotation(by[:2]) @ Vec(1, 0, 0), Rotation(by[:1]) @ Vec(0, 1, 0), a)
    arm: Vec = RB @ (T.iPj - place.position)
    slope = list(place.displacement)  # φ_dk + Σ_l Ψ_kl q_l
    for (k, m), psi in place.second.items():
        slope[k] = slope[k] + qe[m] * psi
        if m != k:
            slope[m] = slope[m] + qe[k] * psi
    moved = place.position
    for q, first, whole in zip(qe, place.displacement, slope, strict=True):
        moved = moved + q * (whole if whole is first else HALF * (first + whole))
    W = tuple(axes[0] * phi[0] + axes[1] * phi[1] + axes[2] * phi[2] for phi in place.rotation)
    D = tuple(shape + cross(w, arm) for shape, w in zip(slope, W, strict=True))
    iRj = RB @ T.iRj
    if about_z is not None and is_zero(theta[0]) and is_zero(theta[1]):
        iRj = Rotation([turn(Z, theta[2] + about_z[0], about_z[1])])
    return Frame(iRj, moved + arm, Section(D, W, place, arm, axes))
