"""C99: one function on plain arrays, nothing but math.h."""

from __future__ import annotations

from math import prod

from .printer import Printer

__all__ = ["C"]

_KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline
int long register restrict return short signed sizeof static struct switch typedef union unsigned
void volatile while asm typeof bool true false complex imaginary and or not main alignas alignof
constexpr nullptr static_assert thread_local typeof_unqual NAN INFINITY HUGE HUGE_VAL HUGE_VALF
HUGE_VALL MAXFLOAT NULL errno math_errhandling MATH_ERRNO MATH_ERREXCEPT DOMAIN SING OVERFLOW
UNDERFLOW PLOSS TLOSS FP_NAN FP_INFINITE FP_ZERO FP_SUBNORMAL FP_NORMAL FP_ILOGB0 FP_ILOGBNAN M_E
M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 linux
unix i386 div abs labs exit
"""
_MATH = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs
fdim floor fma fmax fmin fmod frexp hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10
log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint
round scalbln scalbn signbit sin sinh sqrt tan tanh tgamma trunc y0 y1 yn gamma significand drem
isinf isnan finite isfinite isnormal fpclassify isgreater isless isunordered scalb pow10 signgam
sincos
"""
_SIGN = """static {real} cardan_sign({real} x)
{{
    return x > 0 ? 1 : x < 0 ? -1 : x;
}}
"""


class C(Printer):
    """The table for C."""

    language = "c"
    comment = " * "
    reserved = frozenset(
        [
            *_KEYWORDS.split(),
            *(f"{f}{s}" for f in _MATH.split() for s in ("", "f", "l")),
            "cardan_sign",
        ]
    )

    @property
    def real(self) -> str:
        return "double" if self.dtype == "float64" else "float"

    @property
    def functions(self) -> dict[str, str]:  # type: ignore[override]
        f = "" if self.dtype == "float64" else "f"
        return {
            "sin": f"sin{f}({{}})", "cos": f"cos{f}({{}})", "sqrt": f"sqrt{f}({{}})",
            "abs": f"fabs{f}({{}})", "sign": "cardan_sign({})", "atan2": f"atan2{f}({{}}, {{}})",
            "min": f"fmin{f}({{}}, {{}})", "max": f"fmax{f}({{}}, {{}})",
            "select": "({} > 0 ? {} : {})",
        }  # fmt: skip

    def number(self, x: float) -> str:
        text = super().number(x)
        return text if self.dtype == "float64" else f"{text}f"

    def element(self, array: str, k: int) -> str:
        return f"{self.arrays[array]}[{k}]"

    def declare(self, name: str, value: str) -> str:
        return f"    const {self.real} {name} = {value};"

    def text(self) -> str:
        inputs = [
            f"const {self.real} {_sized(self.arrays[name], prod(shape))}"
            for name, shape in self.code.inputs.items()
        ]
        outputs = [
            f"{self.real} {_sized(self.results[name], len(output.refs))}"
            for name, output in self.code.outputs.items()
        ]
        body = list(self.statements())
        for name, output in self.code.outputs.items():
            body += [
                f"    {self.results[name]}[{k}] = {self.signed(ref)};"
                for k, ref in enumerate(output.refs)
            ]
        unused = [
            f"    (void){self.arrays[name]};"
            for name in self.code.inputs
            if not any(node[0] == "input" and node[1] == name for node in self.code.nodes)
        ]
        unused += [
            f"    (void){self.results[name]};"
            for name, output in self.code.outputs.items()
            if not output.refs
        ]
        signs = any(node[0] == "sign" for node in self.code.nodes)
        arguments = (",\n" + " " * (len(self.function_name) + 6)).join([*inputs, *outputs])
        header = [line.replace("*/", "* /") for line in self.header()]
        return "\n".join(
            [
                "/*",
                *(f"{self.comment}{line}".rstrip() for line in header),
                " */",
                "#include <math.h>",
                "",
                *([_SIGN.format(real=self.real)] if signs else []),
                f"void {self.function_name}({arguments});",
                "",
                f"void {self.function_name}({arguments})",
                "{",
                *unused,
                *body,
                "}",
                "",
            ]
        )


def _sized(name: str, size: int) -> str:
    """A parameter of that many elements; C has no arrays of none."""
    return f"{name}[{size}]" if size else f"*{name}"
