"""atan2 as LLVM text, for one lane or many, the same operations in each.

    t = smaller/larger of |x|, |y|;   beyond tan(π/8) use  atan t = π/4 + atan((t - 1)/(t + 1))
    atan t = t + t·z·P(z),   z = t²,   |t| <= tan(π/8)

then the octant: π/2 - ... when |y| > |x|, π - ... when x is negative, and the sign of y. P is the
polynomial of degree 10 nearest to (atan √z / √z - 1)/z in Chebyshev's sense, to 3e-17. Signed
zeros, infinities and NaN give what C says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...kernel.program import ARCTANGENT

if TYPE_CHECKING:
    from .program import Kernel

_TAN = 0.41421356237309503  # tan(π/8)
_PI, _PI_LOW = 3.141592653589793, 1.2246467991473532e-16


def atan2(kernel: Kernel, y: str, x: str) -> str:
    """The angle of (x, y), in [-π, π]."""
    k, t = kernel, kernel.type
    const = k.const
    ax, ay = k.call("fabs", x), k.call("fabs", y)
    large, small = k.call("maximum", ax, ay), k.call("minimum", ax, ay)
    infinite = k.where("oeq", small, const(float("inf")), const(1.0), large)
    small = k.where("oeq", small, const(float("inf")), const(1.0), small)
    large = k.where("oeq", infinite, const(0.0), const(1.0), infinite)  # 0/1 at the origin
    edge = k.emit(f"fmul {t} {large}, {const(_TAN)}")
    above = (k.emit(f"fsub {t} {small}, {large}"), k.emit(f"fadd {t} {small}, {large}"))
    top = k.where("ogt", small, edge, above[0], small)
    bottom = k.where("ogt", small, edge, above[1], large)
    r = k.emit(f"fdiv {t} {top}, {bottom}")
    z = k.emit(f"fmul {t} {r}, {r}")
    p = const(ARCTANGENT[-1])
    for c in reversed(ARCTANGENT[:-1]):
        p = k.multiply_add(p, z, const(c))
    rz = k.emit(f"fmul {t} {r}, {z}")
    a = k.multiply_add(rz, p, r)
    shifted = k.emit(f"fadd {t} {a}, {const(_PI_LOW / 4)}")
    shifted = k.emit(f"fadd {t} {shifted}, {const(_PI / 4)}")
    a = k.where("ogt", small, edge, shifted, a)
    minus = k.negative(a)
    side = k.call("copysign", const(1.0), x)
    steep = k.where("olt", side, const(0.0), a, minus)  # from π/2
    flat = k.where("olt", side, const(0.0), minus, a)  # from 0 or π
    low = k.where("olt", side, const(0.0), const(_PI_LOW), const(0.0))
    base = k.where("olt", side, const(0.0), const(_PI), const(0.0))
    a = k.where("ogt", ay, ax, steep, flat)
    low = k.where("ogt", ay, ax, const(_PI_LOW / 2), low)
    base = k.where("ogt", ay, ax, const(_PI / 2), base)
    a = k.emit(f"fadd {t} {a}, {low}")
    return k.call("copysign", k.emit(f"fadd {t} {base}, {a}"), y)
