"""What a joint loses by friction: the one place that knows the law.

    f(q̇) = FV q̇ + FQ q̇ |q̇| + FVA |q̇| + [FS + FB / (1 + (q̇/VB)²)] s(q̇) + FSA |s(q̇)| + FO

    s(q̇) = sign(q̇), or q̇ / √(q̇² + VS²) where the joint has a width VS

FV and FS are those of [KC97] 5.1 and [B23] 3.3; FQ is the drag of fast lubricants. FVA and FSA tell
the directions apart: FV + FVA and FS + FSA forwards, FV - FVA and FS - FSA backwards. FB is what
breaking loose takes above FS (Stribeck), gone at speeds well above VB; the bell is that of D. P.
Hess and A. Soom, J. Tribology 112, 1990, which any processor has. FO does not depend on the motion:
offsets of sensors and currents, and what the other terms leave.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..algebra.scalar import function, sign, sqrt, vanishes

Scalar = Any
COEFFICIENTS = ("FV", "FS", "FQ", "FVA", "FSA", "FB", "FO")  # in which the law is linear


@dataclass(frozen=True)
class Friction:
    """The coefficients of a joint, over any scalar."""

    FV: Scalar = 0
    FS: Scalar = 0
    FQ: Scalar = 0
    FVA: Scalar = 0
    FSA: Scalar = 0
    FB: Scalar = 0
    FO: Scalar = 0
    VB: Scalar = 0
    VS: Scalar = 0

    def torque(self, qd: Scalar) -> Scalar:
        """f(q̇)."""
        law = self.FS * self.direction(qd) if not vanishes(self.FS) else 0
        law = law + self.FV * qd
        for name in COEFFICIENTS[2:]:
            coefficient = getattr(self, name)
            if not vanishes(coefficient):
                law = law + coefficient * self.column(name, qd)
        return law

    def column(self, name: str, qd: Scalar) -> Scalar:
        """What one of `COEFFICIENTS` is multiplied by."""
        if name == "FO":
            return 1
        if name in ("FV", "FQ", "FVA"):
            return qd if name == "FV" else function("abs", qd) * (qd if name == "FQ" else 1)
        if name == "FSA":
            return function("abs", self.direction(qd))
        return self.direction(qd) * (self._bell(qd) if name == "FB" else 1)

    def slope(self, qd: Scalar) -> Scalar:
        """∂f/∂q̇; that of a jump is left out."""
        law, steep = self.FV, self._steepness(qd)
        if not vanishes(self.FQ):
            law = law + 2 * self.FQ * function("abs", qd)
        if not vanishes(self.FVA):
            law = law + self.FVA * sign(qd)
        law = law + self.FS * steep + self.FSA * sign(qd) * steep
        if not vanishes(self.FB):
            bell, s = self._bell(qd), self.direction(qd)
            law = law + self.FB * bell * (steep - 2 * s * qd * bell / (self.VB * self.VB))
        return law

    def direction(self, qd: Scalar) -> Scalar:
        """s(q̇)."""
        return qd / sqrt(qd * qd + self.VS * self.VS) if not vanishes(self.VS) else sign(qd)

    def frictionless(self) -> Friction:
        """The law with all coefficients zero; its columns stay."""
        none: dict[str, Scalar] = dict.fromkeys(COEFFICIENTS, 0)
        return replace(self, **none)

    def _steepness(self, qd: Scalar) -> Scalar:
        """ds/dq̇ = VS² / (q̇² + VS²)^(3/2)."""
        if vanishes(self.VS):
            return 0
        width = self.VS * self.VS
        square = qd * qd + width
        return width / (square * sqrt(square))

    def _bell(self, qd: Scalar) -> Scalar:
        ratio = qd / self.VB
        return 1 / (1 + ratio * ratio)
