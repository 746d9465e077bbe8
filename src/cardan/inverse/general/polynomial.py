"""The polynomial of the general method, of degree 16 for six revolute joints: its real roots are
the configurations of a pose.

    p(x) = det(S0 + S1 x + S2 x²)/(1 + x²)^(12 - rank S(i)),   x = tan(q_h/2)

The solver does not form it (its roots are better found as eigenvalues); it is for those who want to
see it, or to count its real roots. It is found from its values on the unit circle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError
from .method import Prepared
from .tables import Formulation, dual_quaternion_of, pencil

Array = NDArray[np.float64]
_POINTS = 64  # on the circle, none of them at i or -i
_NOISE = 1e-7  # of the largest coefficient: powers beyond the degree


@dataclass(frozen=True)
class Eliminant:
    """coefficients[0] + coefficients[1] x + ... = 0 of x = tan(joint/2); the largest is 1."""

    joint: str
    coefficients: Array

    @property
    def degree(self) -> int:
        return len(self.coefficients) - 1

    def __str__(self) -> str:
        """The equation, a power a line."""
        rows = [f"  {c:+.12e} x^{k}" for k, c in enumerate(self.coefficients)]
        return "\n".join([f"0 =   (x = tan({self.joint}/2))", *rows])


def eliminant(made: Prepared, T: Array, names: tuple[str, ...], robot: str) -> Eliminant:
    """The polynomial of a pose (4, 4) in the root joint of the best elimination that has one."""
    numeric = made.numeric
    pose = np.linalg.inv(numeric.base) @ T @ np.linalg.inv(numeric.tool)
    pose[:3, 3] /= numeric.size
    tau = dual_quaternion_of(pose)
    for way in made.chosen:
        coefficients = _coefficients(way, tau) if way.trusted and not way.lack else None
        if coefficients is not None:
            return Eliminant(names[way.h], coefficients)
    raise ModelError(
        f"'{robot}' has no polynomial of the general method at this pose: its eliminations are"
        " degenerate there, as of some arms whose axes meet or are parallel; 'auto' has equations"
        " of less degree for most of these"
    )


def _coefficients(way: Formulation, tau: Array) -> Array | None:
    """None where the values are not those of a polynomial of that degree: of a singular pose."""
    try:
        S = pencil(way.N(tau), 0.0)
    except np.linalg.LinAlgError:
        return None
    n = 2 * way.rank
    half = np.exp(1j * np.pi / _POINTS)
    x = half * np.exp(2j * np.pi * np.arange(_POINTS) / _POINTS)
    values = np.linalg.det(S[0] + x[:, None, None] * (S[1] + x[:, None, None] * S[2]))
    series = np.fft.fft(values / (1 + x * x) ** (12 - way.rank)) / _POINTS
    whole = (series / half ** np.arange(_POINTS)).real
    largest = whole[np.argmax(np.abs(whole))]
    if not np.abs(whole[n + 1 :]).max() <= _NOISE * abs(largest):
        return None
    coefficients: Array = whole[: n + 1] / largest
    return coefficients
