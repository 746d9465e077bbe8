"""sin and cos: the reduction of the argument and the polynomials, for LLVM and CUDA alike.

    k = round(2x/π),   r = x - k·π/2  (π/2 in parts whose products with k are exact or fused),
    sin r = r + r·z·S(z),   cos r = 1 + z·(z·C(z) - 1/2),   z = r²,   |r| <= π/4

and the quadrant k mod 4 chooses and signs. S and C are minimax polynomials (Remez exchange in 60
digits, weighted for relative error; bench/sincos.py repeats the computation): 3e-18 and 6e-20 in
double."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SinCos:
    """The constants for one floating type."""

    type: str
    integer: str
    bytes: int
    shift: float  # adding it rounds to an integer in the low bits
    limit: float  # |x| at which the fast path ends
    fused: tuple[float, ...]  # π/2 in parts, for machines with fused multiply-add
    split: tuple[float, ...]  # π/2 in short parts with exact products; doubles for both types
    sin: tuple[float, ...]
    cos: tuple[float, ...]


KINDS = {
    "float64": SinCos(
        type="double",
        integer="i64",
        bytes=8,
        shift=6755399441055744.0,  # 1.5 * 2**52
        limit=1e5,
        fused=(1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
        split=(1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21),
        sin=(
            -0.16666666666666632, 0.008333333333322413, -0.00019841269829807813,
            2.755731369191949e-06, -2.5050758115502497e-08, 1.5896795667043387e-10,
        ),
        cos=(
            0.041666666666666595, -0.001388888888887304, 2.4801587288841384e-05,
            -2.755731417623616e-07, 2.087570041560309e-09, -1.135851392838322e-11,
        ),
    ),
    "float32": SinCos(
        type="float",
        integer="i32",
        bytes=4,
        shift=12582912.0,  # 1.5 * 2**23
        limit=1e4,
        fused=(1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
        split=(1.5707963267341256, 6.077100506506192e-11),
        sin=(-0.1666665493669589, 0.008332177686502256, -0.00019517234695301655),
        cos=(0.04166664567015666, -0.0013887315616504645, 2.443308268494139e-05),
    ),
}  # fmt: skip
