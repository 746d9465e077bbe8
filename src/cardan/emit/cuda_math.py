"""sin and cos for CUDA: a fast path by range, correct everywhere.

The same reduction and polynomials as in llvm_sincos, with fused multiply-adds. The fast form notes
the largest argument; beyond `limit` the caller must take the other form, the CUDA library's, or an
angle that cardan_turned has taken whole turns from.
Infinities and NaN give NaN in both. sin and cos of one argument share the work: the compiler joins
what is equal.
"""

from __future__ import annotations

from .sincos import KINDS

WORDS = ("cardan_sin", "cardan_cos", "cardan_reduced", "cardan_reducedf",
         "cardan_turned", "cardan_turnedf",
         "cardan_sin_kernel", "cardan_cos_kernel", "CARDAN_SINCOS", "CARDAN_SINCOSF")  # fmt: skip


def sincos_text(dtype: str) -> str:
    """The device functions cardan_sin and cardan_cos for a type."""
    kind = KINDS[dtype]
    f = "" if dtype == "float64" else "f"
    real = "double" if dtype == "float64" else "float"
    P1, P2, P3 = (_number(-x, f) for x in kind.fused)
    return f"""#ifndef CARDAN_SINCOS{f.upper()}
#define CARDAN_SINCOS{f.upper()}
static __device__ __forceinline__ {real} cardan_reduced{f}({real} x, int *quadrant)
{{
    const {real} k = rint{f}(x * {_number(0.6366197723675814, f)});
    *quadrant = (int)k;
    return fma{f}(k, {P3}, fma{f}(k, {P2}, fma{f}(k, {P1}, x)));
}}

static __device__ __forceinline__ {real} cardan_sin_kernel{f}({real} r)
{{
    const {real} z = r * r;
    return fma{f}(r * z, {_polynomial(kind.sin, f)}, r);
}}

static __device__ __forceinline__ {real} cardan_cos_kernel{f}({real} r)
{{
    const {real} z = r * r;
    const {real} top = fma{f}(z, {_number(-0.5, f)}, {_number(1.0, f)});
    return fma{f}(z * z, {_polynomial(kind.cos, f)}, top);
}}

static __device__ __noinline__ {real} cardan_turned{f}({real} x)
{{
    return atan2{f}(sin{f}(x), cos{f}(x));
}}

template <bool fast>
static __device__ __forceinline__ {real} cardan_sin({real} x, {real} *largest)
{{
    if (!fast)
        return sin{f}(x);
    *largest = fmax{f}(*largest, fabs{f}(x));
    int quadrant;
    const {real} r = cardan_reduced{f}(x, &quadrant);
    const {real} y = quadrant & 1 ? cardan_cos_kernel{f}(r) : cardan_sin_kernel{f}(r);
    return quadrant & 2 ? -y : y;
}}

template <bool fast>
static __device__ __forceinline__ {real} cardan_cos({real} x, {real} *largest)
{{
    if (!fast)
        return cos{f}(x);
    *largest = fmax{f}(*largest, fabs{f}(x));
    int quadrant;
    const {real} r = cardan_reduced{f}(x, &quadrant);
    const {real} y = quadrant & 1 ? cardan_sin_kernel{f}(r) : cardan_cos_kernel{f}(r);
    return (quadrant + 1) & 2 ? -y : y;
}}
#endif
"""


def limit(dtype: str) -> float:
    """|x| at which the fast form ends."""
    return KINDS[dtype].limit


def _number(x: float, f: str) -> str:
    return f"{x!r}{f}"


def _polynomial(coefficients: tuple[float, ...], f: str) -> str:
    text = _number(coefficients[-1], f)
    for c in reversed(coefficients[:-1]):
        text = f"fma{f}({text}, z, {_number(c, f)})"
    return text
