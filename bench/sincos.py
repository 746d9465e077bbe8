"""Where the constants of run/llvm/sincos.py come from; recomputes them and compares.

    python -m bench.sincos

On |r| <= pi/4, with z = r^2:  sin r = r + r z S(z)  and  cos r = 1 - z/2 + z^2 C(z). S and C are
the polynomials of least largest relative error of sine and cosine (Remez exchange), 60 digits.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
from mpmath import mp, mpf

from cardan.emit.sincos import KINDS

__all__ = ["coefficients", "half_pi_parts", "main", "remez"]

Function = Callable[[Any], Any]
DEGREE = {"float64": 5, "float32": 2}
ROUNDS = 12
GRID = 400  # points per extremum when the largest errors are looked for


def remez(f: Function, weight: Function, degree: int, low: Any, high: Any) -> tuple[list[Any], Any]:
    """Coefficients of the polynomial that minimises max |weight (f - P)|, and that maximum."""
    count = degree + 2
    middle, half = (low + high) / 2, (high - low) / 2
    points = [middle - half * mpmath.cos(mp.pi * k / (count - 1)) for k in range(count)]
    found, level = [], mpf(0)
    for _ in range(ROUNDS):
        found, level = levelled(f, weight, points)
        grid = [low + (high - low) * k / (GRID * count) for k in range(GRID * count + 1)]
        errors = [weight(x) * (f(x) - mpmath.polyval(found[::-1], x)) for x in grid]
        places = alternating(errors, count)
        if len(places) < count:
            break
        points = [grid[k] for k in places]
    return found, abs(level)


def levelled(f: Function, weight: Function, points: Sequence[Any]) -> tuple[list[Any], Any]:
    """The polynomial whose weighted error is +-E in turn at these points, and E."""
    count = len(points)
    A, b = mpmath.matrix(count, count), mpmath.matrix(count, 1)
    for i, x in enumerate(points):
        for k in range(count - 1):
            A[i, k] = x**k
        A[i, count - 1] = (-1) ** i / weight(x)
        b[i] = f(x)
    solution = list(mpmath.lu_solve(A, b))
    return solution[:-1], solution[-1]


def alternating(errors: Sequence[Any], count: int) -> list[int]:
    """Places of the largest error of each run of one sign, the `count` largest in a row."""
    places: list[int] = []
    for k, error in enumerate(errors):
        if places and (errors[places[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[places[-1]]):
                places[-1] = k
        else:
            places.append(k)
    while len(places) > count:
        places.pop(0 if abs(errors[places[0]]) < abs(errors[places[-1]]) else -1)
    return places


def coefficients(dtype: str) -> dict[str, tuple[list[float], float]]:
    """(coefficients, relative error) of S and C for a floating type."""
    high = (mp.pi / 4 * mpf("1.0001")) ** 2
    degree = DEGREE[dtype]
    sine = remez(_sine, lambda z: z, degree, mpf(10) ** -5, high)
    cosine = remez(
        _cosine, lambda z: z**2 / mpmath.cos(mpmath.sqrt(z)), degree, mpf(10) ** -4, high
    )
    return {
        name: ([float(x) for x in found], float(error))
        for name, (found, error) in (("sin", sine), ("cos", cosine))
    }


def _sine(z: Any) -> Any:
    r = mpmath.sqrt(z)
    return (mpmath.sin(r) / r - 1) / z


def _cosine(z: Any) -> Any:
    return (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2


def half_pi_parts(dtype: str) -> dict[str, tuple[float, ...]]:
    """pi/2 as a sum: `fused`, whole numbers of the type; `split`, leading parts of 33 bits."""
    half = mp.pi / 2
    fused: list[float] = []
    for _ in range(3):
        fused.append(rounded(half - sum(map(mpf, fused)), dtype))
    split: list[float] = []
    for _ in range(2 if dtype == "float64" else 1):
        split.append(leading(half - sum(map(mpf, split)), 33))
    split.append(float(half - sum(map(mpf, split))))
    return {"fused": tuple(fused), "split": tuple(split)}


def rounded(x: Any, dtype: str) -> float:
    code = "<d" if dtype == "float64" else "<f"
    return float(struct.unpack(code, struct.pack(code, float(x)))[0])


def leading(x: Any, bits: int) -> float:
    """x cut off after that many significant bits."""
    scale = mpf(2) ** (bits - 1 - int(mpmath.floor(mpmath.log(x, 2))))
    return float(mpmath.floor(x * scale) / scale)


def main() -> int:
    mp.dps = 60
    same = True
    for dtype, kind in KINDS.items():
        for name, (found, error) in coefficients(dtype).items():
            used = getattr(kind, name)
            apart = max(abs(a - b) / abs(b) for a, b in zip(found, used, strict=True))
            print(f"{dtype} {name}: relative error {error:.1e}, coefficients differ by {apart:.1e}")
            same &= apart < 1e-9
        for name, parts in half_pi_parts(dtype).items():
            equal = parts == getattr(kind, name)
            print(f"{dtype} pi/2 {name}: {'equal' if equal else parts}")
            same &= equal
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
