"""MATLAB and Octave: a function file; vectors may be rows or columns, results are columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from .printer import Function, Printer
from .structures import Structured

_WORDS = """
break case catch classdef continue else elseif end for function global if otherwise parfor
persistent return spmd switch try while do until endif endfor endwhile endfunction end_try_catch
unwind_protect unwind_protect_cleanup end_unwind_protect endswitch endclassdef endenumeration
endevents endmethods endproperties enumeration events methods properties arguments import
i j I J e E pi Pi eps Inf inf NaN nan NA ans realmin realmax intmin intmax flintmax nargin nargout
varargin varargout true false zeros ones eye single double sin cos tan asin acos atan atan2 sqrt
abs sign min max exp log reshape size numel length disp error warning gamma beta alpha sum prod
cross dot norm inv det rank trace diag cardan_select
"""
_SELECT = """
function x = cardan_select(condition, a, b)
  if condition > 0
    x = a;
  else
    x = b;
  end
end"""


class Matlab(Structured):
    """The table for MATLAB."""

    language = "matlab"
    composes = True
    reserved = frozenset(_WORDS.split())
    longest_name = 63
    flat = False
    first = 1
    functions: ClassVar[dict[str, str]] = {
        "sin": "sin({})", "cos": "cos({})", "sqrt": "sqrt({})", "abs": "abs({})",
        "sign": "sign({})", "atan2": "atan2({}, {})", "min": "min({}, {})", "max": "max({}, {})",
        "select": "cardan_select({}, {}, {})",
    }  # fmt: skip
    declaration = "  {name} = {value};"
    assignment = "  {target} = {value};"
    item = "{array}({k})"

    @classmethod
    def file(cls, program: object, printers: Sequence[Printer]) -> str:
        # the file is called after its first function, so the work of every state comes first
        return super().file(program, list(reversed(printers)))  # type: ignore[arg-type]

    @classmethod
    def opening(cls, header: list[str], printers: Sequence[Printer]) -> list[str]:
        more = [printer.name for printer in printers[1:]]
        files = "in a file of its own" if len(more) == 1 else "in files of their own"
        them = "it" if len(more) == 1 else "them"
        note = [f"save {' and '.join(more)} {files} to call {them}"] if more else []
        return [f"% {line}" for line in [*header, *note]]

    @classmethod
    def closing(cls, printers: Sequence[Printer]) -> list[str]:
        nodes = (node for printer in printers for node in printer.code.nodes)
        return [_SELECT] if any(node[0] == "select" for node in nodes) else []

    def text(self) -> list[str]:
        """The main function first: a file is called after it."""
        lines = super().text()
        start = max(k for k, line in enumerate(lines) if line.startswith("function "))
        return [*lines[start:], *(["", *lines[: start - 1]] if start else [])]

    def at(self, array: str, shape: tuple[int, ...], k: int) -> str:
        return super().at(array, shape, k) if shape else array

    def start(self) -> list[str]:
        kind = "" if self.options.dtype == "float64" else ", 'single'"
        given, found = (f"{self.given}.", f"{self.found}.") if self.is_struct else ("", "")
        cast = [f"  {given}{x} = single({given}{x});" for x in self.arrays.values()] if kind else []
        lines = []
        for name, output in self.code.outputs.items():
            shape = output.shape if len(output.shape) > 1 else (*output.shape, 1)
            size = ", ".join(map(str, shape if output.shape else (1, 1)))
            lines.append(f"  {found}{self.results[name]} = zeros({size}{kind});")
        return [*cast, *lines]

    def workspace_storage(self) -> list[str]:
        kind = "" if self.options.dtype == "float64" else ", 'single'"
        return [f"  {self.workspace} = zeros({self.parts[1]}, 1{kind});"]

    def changed(self, function: Function) -> list[str]:
        """What a function returns."""
        results = self.set_by(function)
        return [*results, self.workspace] if function.workspace else results

    def define(self, function: Function) -> list[str]:
        arguments = self.read_by(function)
        arguments += self.changed(function) if function.is_part else []
        head = f"{_returned(self.changed(function))}{function.name}({', '.join(arguments)})"
        return [f"function {head}", *function.body, "end"]

    def calls(self, setup: str, loop: str) -> list[str]:
        arguments = ", ".join([*self.arrays.values(), f"{setup}({self.arrays['p']})"])
        return [f"  {_returned(list(self.results.values()))}{loop}({arguments});"]

    def called(self, function: Function) -> str:
        changed = self.changed(function)
        arguments = ", ".join([*self.read_by(function), *changed])
        return f"  {_returned(changed)}{function.name}({arguments});"


def _returned(names: list[str]) -> str:
    text = names[0] if len(names) == 1 else f"[{', '.join(names)}]"
    return f"{text} = " if names else ""
