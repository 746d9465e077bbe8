"""Fortran 2008: a module with one pure subroutine, free form, lines of at most 132 columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from .header import one_line
from .printer import Function, Printer
from .structures import Structured

_WORDS = """
allocatable allocate assign associate asynchronous backspace bind block call case character class
close codimension common complex concurrent contains contiguous continue critical cycle data
deallocate deferred dimension do double elemental else elseif elsewhere end endif enddo entry enum
enumerator equivalence error exit extends external final flush forall format function generic go
goto if images implicit import impure in include inout inquire integer intent interface intrinsic
is kind len lock logical memory module name namelist none nopass null nullify only open operator
optional out parameter pass pause pointer print private procedure program protected public pure
quit read real recursive result return rewind rewrite save select sequence stop submodule
subroutine sync target then to type unlock use value volatile wait where while write wp real32
real64 iso_fortran_env
abs achar acos acosh adjustl adjustr aimag aint all allocated anint any asin asinh associated atan
atan2 atanh bessel_j0 bessel_j1 bessel_jn bessel_y0 bessel_y1 bessel_yn bge bgt bit_size ble blt
btest ceiling char cmplx command_argument_count conjg cos cosh count cpu_time cshift date_and_time
dble digits dim dot_product dprod dshiftl dshiftr eoshift epsilon erf erfc erfc_scaled exp exponent
floor fraction gamma huge hypot iachar iall iand iany ibclr ibits ibset ichar ieor index int ior
iparity ishft ishftc lbound leadz len_trim lge lgt lle llt log log10 log_gamma maskl maskr matmul
max maxexponent maxloc maxval merge merge_bits min minexponent minloc minval mod modulo move_alloc
mvbits nearest new_line nint norm2 not num_images pack parity popcnt poppar precision present
product radix random_number random_seed range repeat reshape rrspacing scale scan
selected_char_kind selected_int_kind selected_real_kind set_exponent shape shifta shiftl shiftr
sign sin sinh size spacing spread sqrt storage_size sum system_clock tan tanh this_image tiny
trailz transfer transpose trim ubound unpack verify float dsin dcos dsqrt datan2 dabs
"""
_WIDTH = 132


class Fortran(Structured):
    """The table for Fortran."""

    language = "fortran"
    composes = calls_ahead = True
    reserved = frozenset(_WORDS.split())
    case_sensitive = False
    longest_name = 63
    flat = False
    first = 1
    expanded_longest = 1000  # 255 continuation lines are allowed
    functions: ClassVar[dict[str, str]] = {
        "sin": "sin({})", "cos": "cos({})", "sqrt": "sqrt({})", "abs": "abs({})",
        "atan2": "atan2({}, {})", "min": "min({}, {})", "max": "max({}, {})",
        "select": "merge({1}, {2}, {0} > 0.0_wp)",
    }  # fmt: skip
    item = "{array}({k})"
    call = "    call {function}({arguments})"
    of = "%"

    @classmethod
    def opening(cls, header: list[str], printers: Sequence[Printer]) -> list[str]:
        kind = "real64" if printers[0].options.dtype == "float64" else "real32"
        public = ", ".join(printer.name for printer in printers)
        return [
            *(f"! {one_line(line.encode('ascii', 'replace').decode())}" for line in header),
            f"module {cls.module(printers)}",
            f"  use, intrinsic :: iso_fortran_env, only: wp => {kind}",
            "  implicit none",
            "  private",
            *folded(f"  public :: {public}"),
            *(line for printer in printers for line in cls.derived(printer)),
            "contains",
        ]

    @classmethod
    def closing(cls, printers: Sequence[Printer]) -> list[str]:
        return [f"end module {cls.module(printers)}"]

    @staticmethod
    def module(printers: Sequence[Printer]) -> str:
        return f"{printers[-1].name}_module"

    @staticmethod
    def derived(printer: Printer) -> list[str]:
        """The types of the structures, which stand before the functions of a module."""
        lines: list[str] = []
        assert isinstance(printer, Fortran)
        for kind, fields in printer.fields().items() if printer.is_struct else ():
            members = [f"    real(wp) :: {x}{_sized(shape)}" for x, shape in fields.items()]
            lines += [f"  type, public :: {kind}", *members, f"  end type {kind}"]
        return lines

    def reserve(self) -> None:
        super().reserve()
        self.names.claim(f"{self.name}_module")

    def number(self, x: float) -> str:
        return f"{super().number(x)}_wp"

    def at(self, array: str, shape: tuple[int, ...], k: int) -> str:
        return super().at(array, shape, k) if shape else array

    def define(self, function: Function) -> list[str]:
        arguments = [*self.read_by(function), *self.set_by(function)]
        arguments += [self.workspace] if function.workspace else []
        locals = [f"    real(wp) :: {name}" for name in _rows(function.names)]
        if not function.is_part and len(self.parts[0]) > 1 and self.parts[1]:
            locals.append(f"    real(wp) :: {self.workspace}({self.parts[1]})")
        lines = [
            f"  pure subroutine {function.name}({', '.join(arguments)})",
            *self.declared(function), *locals, *self.quieted(function), *function.body,
            f"  end subroutine {function.name}",
        ]  # fmt: skip
        return [part for line in lines for part in folded(line)]

    def composition(self, setup: Printer, loop: Printer) -> list[str]:
        h = self.names.claim("h")
        arguments = ", ".join([*self.arrays.values(), h, *self.results.values()])
        body = [
            f"    call {setup.name}({self.arrays['p']}, {h})",
            f"    call {loop.name}({arguments})",
        ]
        return self.define(self.composed(body, [f"{h}({loop.code.inputs['h'][0]})"]))

    def declared(self, function: Function) -> list[str]:
        """The declarations of the arguments of a function."""
        out = "inout" if function.is_part else "out"
        work = [f"    real(wp), intent(inout) :: {self.workspace}({self.parts[1]})"]
        work = work if function.workspace else []
        if self.is_struct:
            kinds = self.kinds
            given = [
                f"    type({kinds['inputs']}), intent(in) :: {x}" for x in self.read_by(function)
            ]
            found = [
                f"    type({kinds['outputs']}), intent({out}) :: {x}" for x in self.set_by(function)
            ]
            return [*given, *found, *work]
        inputs = ((self.arrays[x], self.code.inputs[x]) for x in function.inputs)
        outputs = ((self.results[x], self.code.outputs[x].shape) for x in function.outputs)
        return [
            *(f"    real(wp), intent(in) :: {x}{_sized(shape)}" for x, shape in inputs),
            *(f"    real(wp), intent({out}) :: {x}{_sized(shape)}" for x, shape in outputs),
            *work,
        ]

    def quieted(self, function: Function) -> list[str]:
        """What an argument that is never read or set needs in order not to be warned about."""
        prefix = f"{self.found}%" if self.is_struct else ""
        empty = [name for name in function.outputs if not self.code.outputs[name].refs]
        unread = [x for x in self.unused(function) if x in self.read_by(function)]
        return [
            *(f"    associate (unused => {x}); end associate" for x in unread),
            *(f"    {prefix}{self.results[name]} = 0.0_wp" for name in empty),
        ]


def _sized(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))})" if shape else ""


def _rows(names: Sequence[str], count: int = 8) -> list[str]:
    return [", ".join(names[i : i + count]) for i in range(0, len(names), count)]


def folded(line: str, width: int = _WIDTH) -> list[str]:
    """A line as continuation lines, broken between tokens."""
    lines = []
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    while len(line) > width:
        places = [m.start() for m in re.finditer(r"(?<=[\w)]) (?=[+-] )|(?<=[,*/] )|(?<=[*/,(])",
                                                 line[: width - 2])]  # fmt: skip
        place = max((p for p in places if p > len(indent)), default=width - 2)
        lines.append(f"{line[:place].rstrip()} &")
        line = indent + line[place:].lstrip()
    return [*lines, line]
