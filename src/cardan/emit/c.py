"""C99: functions on plain arrays or on structures, nothing but math.h."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from .header import one_line
from .printer import Function, Printer
from .structures import Structured

_KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline
int long register restrict return short signed sizeof static struct switch typedef union unsigned
void volatile while asm typeof bool true false complex imaginary and or not main alignas alignof
constexpr nullptr static_assert thread_local typeof_unqual NAN INFINITY HUGE HUGE_VAL HUGE_VALF
HUGE_VALL MAXFLOAT NULL errno math_errhandling MATH_ERRNO MATH_ERREXCEPT DOMAIN SING OVERFLOW
UNDERFLOW PLOSS TLOSS FP_NAN FP_INFINITE FP_ZERO FP_SUBNORMAL FP_NORMAL FP_ILOGB0 FP_ILOGBNAN M_E
M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 linux
unix i386 div abs labs exit CARDAN_NOINLINE CARDAN_SIGN CARDAN_SIGNF
"""
_MATH = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs
fdim floor fma fmax fmin fmod frexp hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10
log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint
round scalbln scalbn signbit sin sinh sqrt tan tanh tgamma trunc y0 y1 yn gamma significand drem
isinf isnan finite isfinite isnormal fpclassify isgreater isless isunordered scalb pow10 signgam
sincos cardan_sign
"""
RESERVED = frozenset(
    [*_KEYWORDS.split(), *(f"{name}{s}" for name in _MATH.split() for s in ("", "f", "l"))]
)
# files may be included in one another: what they share is defined once
_SIGN = """#ifndef CARDAN_SIGN{F}
#define CARDAN_SIGN{F}
static {real} cardan_sign{f}({real} x)
{{
    return x > 0 ? 1 : x < 0 ? -1 : x;
}}
#endif
"""
# parts that are inlined again would undo the cutting
_NOINLINE = """#ifndef CARDAN_NOINLINE
#if defined(__GNUC__)
#define CARDAN_NOINLINE __attribute__((noinline))
#else
#define CARDAN_NOINLINE
#endif
#endif
"""


class C(Structured):
    """The table for C."""

    language = "c"
    composes = True
    reserved = RESERVED
    functions: ClassVar[dict[str, str]] = {
        "sin": "sin{f}({{}})", "cos": "cos{f}({{}})", "sqrt": "sqrt{f}({{}})",
        "abs": "fabs{f}({{}})", "sign": "cardan_sign{f}({{}})", "atan2": "atan2{f}({{}}, {{}})",
        "min": "fmin{f}({{}}, {{}})", "max": "fmax{f}({{}}, {{}})",
        "select": "({{}} > 0 ? {{}} : {{}})", "fma": "fma{f}({{}}, {{}}, {{}})",
    }  # fmt: skip
    assignment = "    {target} = {value};"
    call = "    {function}({arguments});"
    of = "->"
    before, part_before = "void ", "CARDAN_NOINLINE static void "  # what stands before a name

    @classmethod
    def functions_of(cls, dtype: str) -> dict[str, str]:
        f = "" if dtype == "float64" else "f"
        return {op: text.format(f=f) for op, text in cls.functions.items()}

    @property
    def real(self) -> str:
        return "double" if self.options.dtype == "float64" else "float"

    @classmethod
    def opening(cls, header: list[str], printers: Sequence[Printer]) -> list[str]:
        nodes = (node for printer in printers for node in printer.code.nodes)
        signs = any(node[0] == "sign" for node in nodes)
        single = printers[0].options.dtype == "float32"
        kind = {"real": "float" if single else "double", "f": "f" * single, "F": "F" * single}
        return [
            *commented(header),
            "#include <math.h>",
            "",
            *([_NOINLINE] if any(len(printer.parts[0]) > 1 for printer in printers) else []),
            *([_SIGN.format(**kind)] if signs else []),
        ]

    def number(self, x: float) -> str:
        text = super().number(x)
        return text if self.options.dtype == "float64" else f"{text}f"

    def declare(self, name: str, value: str) -> str:
        return f"    const {self.real} {name} = {value};"

    def workspace_storage(self) -> list[str]:
        return [f"    {self.real} {self.workspace}[{self.parts[1]}];"]

    def head(self, function: Function) -> str:
        """void rx90_gravity(const double q[6], double Q[6])"""
        before = self.part_before if function.is_part else self.before
        indent = ",\n" + " " * (len(before) + len(function.name) + 1)
        return f"{before}{function.name}({indent.join(self.parameters(function)) or 'void'})"

    def prototype(self) -> str:
        """The head of the function of the model, as a declaration."""
        return f"{self.head(self.composed(()))};"

    def define(self, function: Function) -> list[str]:
        head = self.head(function)
        prototype = [] if function.is_part else [f"{head};", ""]
        unused = [f"    (void){name};" for name in self.unused(function)]
        return [*prototype, head, "{", *unused, *function.body, "}"]

    def composition(self, setup: Printer, loop: Printer) -> list[str]:
        h = self.names.claim("h")
        arguments = ", ".join([*self.arrays.values(), h, *self.results.values()])
        body = [
            f"    {self.real} {h}[{prod(loop.code.inputs['h'])}];",
            f"    {setup.name}({self.arrays['p']}, {h});",
            f"    {loop.name}({arguments});",
        ]
        return self.define(self.composed(body))

    def parameters(self, function: Function) -> list[str]:
        """The declarations of the arguments of a function."""
        work = [f"{self.real} {self.workspace}[{self.parts[1]}]"] if function.workspace else []
        if self.is_struct:
            inputs = [f"const {self.kinds['inputs']} *{x}" for x in self.read_by(function)]
            outputs = [f"{self.kinds['outputs']} *{x}" for x in self.set_by(function)]
            return [*inputs, *outputs, *work]
        return [
            *(
                f"const {self.real} {_sized(self.arrays[name], prod(self.code.inputs[name]))}"
                for name in function.inputs
            ),
            *(
                f"{self.real} {_sized(self.results[name], len(self.code.outputs[name].refs))}"
                for name in function.outputs
            ),
            *work,
        ]

    def types(self) -> list[str]:
        """The structure of the inputs and that of the outputs."""
        lines: list[str] = []
        for kind, fields in self.fields().items() if self.is_struct else ():
            sizes = {x: prod(shape) for x, shape in fields.items()}
            members = [f"    {self.real} {x}[{size}];" for x, size in sizes.items() if size]
            body = members or ["    char empty;"]  # C has no structures of nothing
            lines += ["typedef struct {", *body, f"}} {kind};", ""]
        return lines


def commented(header: list[str]) -> list[str]:
    """The header as a comment that nothing in it can end."""
    return ["/*", *(f" * {one_line(line)}" for line in header), " */"]


def _sized(name: str, size: int) -> str:
    """A parameter of that many elements; C has no arrays of none."""
    return f"{name}[{size}]" if size else f"*{name}"
