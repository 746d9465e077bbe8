"""Maple: a procedure of vectors; its values are local."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from .header import one_line
from .mathematica import Mathematica
from .names import Names
from .printer import Function, Printer

_WORDS = """
and assuming break by catch description do done elif else end error evaln export fi finally for from
global if implies import in intersect local minus mod module next not od option options or proc quit
read return save stop subset then to try union use uses while xor
D E I O Pi Zeta Psi Chi Ci Si Ei Li Beta GAMMA gamma Catalan infinity undefined true false FAIL NULL
constants Digits Order Array Matrix Vector list set array table args nargs procname lambda beta
alpha sin cos tan sqrt abs signum arctan min max piecewise exp ln log norm trace int diff sum
product Int Diff Sum Product name string float integer numeric algebraic Normalizer W LambertW
Heaviside Dirac erf hypergeom ifelse evalhf evalf Re Im is type op ops map seq add mul time coeff
degree length max min member nops select remove subs rhs lhs sort unapply unassign value whattype
zip frac round trunc floor ceil sign rand order ithprime igcd ilcm isprime with plots plot linalg
det inverse rank transpose vector matrix row col diag Q Z R N
"""


class Maple(Mathematica):
    """The table for Maple."""

    language = "maple"
    reserved = frozenset(_WORDS.split())
    separator = "_"
    functions: ClassVar[dict[str, str]] = {
        "sin": "sin({})", "cos": "cos({})", "sqrt": "sqrt({})", "abs": "abs({})",
        "sign": "signum({})", "min": "min({}, {})", "max": "max({}, {})",
        "atan2": "arctan({}, {})",
        "select": "`if`({} > 0, {}, {})",
    }  # fmt: skip
    declaration = "  {name} := {value};"
    item = "{array}[{k}]"

    @classmethod
    def scope(cls) -> Names:
        return Names(cls.reserved)

    @classmethod
    def opening(cls, header: list[str], printers: Sequence[Printer]) -> list[str]:
        note = ["", "for numbers of 16 digits: evalhf, or Digits := 16"]
        lines = [*header, *note]
        return [f"# {one_line(line.encode('ascii', 'replace').decode())}" for line in lines]

    def number(self, x: float) -> str:
        return Printer.number(self, x)

    def listed(self, items: list[str]) -> str:
        text = ", ".join(items)
        return "[\n    " + ",\n    ".join(items) + "]" if len(text) > 60 else f"[{text}]"

    def applied(self, function: str, given: str) -> str:
        return f"{function}({given})"

    def define(self, function: Function) -> list[str]:
        arguments = ", ".join(self.arrays[name] for name in function.inputs)
        names = [", ".join(function.names[i : i + 10]) for i in range(0, len(function.names), 10)]
        local = ["  local", *(f"    {row}{',' if k < len(names) else ';'}"
                              for k, row in enumerate(names, 1))]  # fmt: skip
        *body, value = function.body
        return [
            f"{function.name} := proc({arguments})",
            *(local if names else []),
            *body,
            f"  return {value.lstrip()};",
            "end proc:",
        ]
