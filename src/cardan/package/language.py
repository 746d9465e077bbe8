"""A language as a table: how the tests and examples of a package spell arrays, calls and
comparisons; and the one way to write them, whatever the arguments of the functions are."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from ..emit.names import Names
from ..emit.printer import Printer
from ..emit.structures import Structured
from .plan import Function, Plan
from .reference import Example
from .text import number, signature, wrapped

_LIST = re.compile(r"[\[{]-?\d[^\]}]*,")  # numbers between brackets
Pair = tuple[str, str]  # a declaration and a statement; all declarations of a block come first
Numbers = Sequence[float] | np.ndarray
Values = Callable[[Numbers, tuple[int, ...], str], str]  # numbers, shape, dtype


@dataclass(frozen=True)
class Record:
    """A structure of arguments: its declaration, the statement that fills it, a field of that."""

    spelled: Pair
    member: str
    join: str = "\n"


@dataclass(frozen=True)
class Language:
    """The table. Places: {x} a name, {real} its type, {size}, {shape}, {values}; {function},
    {arguments}; {what}, {state}, {got}, {want}."""

    name: str
    real: Mapping[str, str]  # dtype -> type
    values: Values
    given: Pair  # an array with its values
    want: Pair  # the same, of double precision
    call: str
    compare: str
    show: str
    blank: Pair = ("", "")  # an array that is filled by a call
    passed: Pair = ("{x}", "{x}")  # as an argument: one that is read, one that is set
    returned: Pair = ("", "")  # the value of the one output, of one of several; '' if filled
    inputs: Record = field(default=Record(("", ""), ""))
    outputs: Record = field(default=Record(("", ""), ""))
    fielded: str = "{x}.{field}"
    referenced: Pair = ("&{x}", "&{x}")  # a structure as an argument
    block: Pair = ("    {", "    }")  # round a state
    test: Pair = ("", "")  # round the states of a function
    indent: str = "        "
    function: Callable[[Plan, Function, Printer], str] = lambda plan, function, printer: (
        printer.name
    )


class _Writer:
    """Lines of one state."""

    def __init__(self, language: Language, dtype: str) -> None:
        self.language, self.dtype = language, dtype
        self.names = Names(frozenset(), case_sensitive=False)
        self.lines: tuple[list[str], list[str]] = ([], [])

    def add(self, pair: Pair, **places: object) -> None:
        for lines, text in zip(self.lines, pair, strict=True):
            if text:
                lines += text.format(real=self.language.real[self.dtype], **places).split("\n")

    def text(self, indent: str) -> list[str]:
        """The lines; lists of numbers on several, where the language goes on by itself."""
        lines = [line for part in self.lines for line in part]
        free = self.language.name != "fortran"  # which is folded by rules of its own
        return [wrapped(x, indent) if free and _LIST.search(x) else f"{indent}{x}" for x in lines]

    def array(self, pair: Pair, x: str, shape: tuple[int, ...], values: Numbers = (),
              dtype: str = "") -> None:  # fmt: skip
        shown = self.language.values(values, shape, dtype or self.dtype) if len(values) else ""
        sizes = f"({', '.join(map(str, shape))})" if shape else ""
        self.add(pair, x=x, size=prod(shape), shape=sizes, rank=len(shape), values=shown)

    def record(
        self, table: Record, printer: Structured, kind: str, known: Mapping[str, str],
        shapes: Mapping[str, tuple[int, ...]], spelled: Mapping[str, str],
    ) -> str:  # fmt: skip
        """The name of a structure whose fields are the arrays that are known."""
        x = self.names.claim(f"{kind}_values")
        members = [
            table.member.format(x=x, field=spelled[name], value=known.get(name, ""),
                                size=prod(shape))
            for name, shape in shapes.items()
        ]  # fmt: skip
        self.add(table.spelled, x=x, kind=printer.kinds[kind], fields=table.join.join(members))
        return x


def _call(plan: Plan, language: Language, function: Function, example: Example,
          writer: _Writer) -> dict[str, str]:  # fmt: skip
    """Expressions of the results of the functions called one after the other."""
    known: dict[str, str] = {}
    for printer in function.calls(language.name):
        inputs = printer.code.inputs
        outputs = {name: out.shape for name, out in printer.code.outputs.items()}
        for name, shape in inputs.items():
            if name not in known:
                known[name] = writer.names.claim(f"in_{name}")
                writer.array(language.given, known[name], shape, example.inputs[name])
        struct = isinstance(printer, Structured) and printer.is_struct
        called = language.function(plan, function, printer)
        if struct:
            assert isinstance(printer, Structured)
            x = writer.record(language.inputs, printer, "inputs", known, inputs, printer.arrays)
            y = writer.record(language.outputs, printer, "outputs", {}, outputs, printer.results)
            arguments = [language.referenced[0].format(x=x), language.referenced[1].format(x=y)]
            results = {name: language.fielded.format(x=y, field=printer.results[name])
                       for name in outputs}  # fmt: skip
        elif language.returned[0]:
            got = writer.names.claim("got")
            arguments = [language.passed[0].format(x=known[name]) for name in inputs]
            several = language.returned[len(outputs) > 1]
            results = {name: several.format(x=got, field=printer.results[name], k=k)
                       for k, name in enumerate(outputs, 1)}  # fmt: skip
            writer.add(("", language.call), x=got, function=called, arguments=", ".join(arguments))
            known |= results
            continue
        else:
            results = {name: writer.names.claim(f"out_{name}") for name in outputs}
            for name, shape in outputs.items():
                writer.array(language.blank, results[name], shape)
            arguments = [language.passed[0].format(x=known[name]) for name in inputs]
            arguments += [language.passed[1].format(x=x) for x in results.values()]
        writer.add(("", language.call), function=called, arguments=", ".join(arguments))
        known |= results
    return {array.name: known[array.name] for array in function.outputs}


def tests(plan: Plan, language: Language) -> str:
    """The states of every function, each called and compared."""
    lines: list[str] = []
    for function in plan.functions:
        opening, closing = (text.format(name=function.name) for text in language.test)
        lines += [opening] if opening else []
        for k, example in enumerate(function.examples):
            writer = _Writer(language, plan.dtype)
            results = _call(plan, language, function, example, writer)
            for array in function.outputs:
                want = writer.names.claim(f"want_{array.name}")
                values = example.outputs[array.name]
                writer.array(language.want, want, array.shape, values, "float64")
                writer.add(
                    ("", language.compare), what=f"{function.name}: {array.spelled}", state=k,
                    got=results[array.name], want=want, size=array.size,
                )  # fmt: skip
            lines += [language.block[0], *writer.text(language.indent), language.block[1]]
        lines += [closing, ""] if closing else []
    return "\n".join(lines)


def called(plan: Plan, language: Language, function: Function) -> list[str]:
    """The call of a function with its first state."""
    writer = _Writer(language, plan.dtype)
    _call(plan, language, function, function.examples[0], writer)
    return writer.text("    ")


def example(plan: Plan, language: Language) -> str:
    """The body of a program with the first function and its first state."""
    function = plan.functions[0]
    writer = _Writer(language, plan.dtype)
    results = _call(plan, language, function, function.examples[0], writer)
    for array in function.outputs:
        shown = {"got": results[array.name], "what": array.spelled, "size": array.size}
        writer.add(("", language.show), **shown)
    return "\n".join(writer.text("    "))


def described(plan: Plan) -> str:
    """inverse_dynamics: q, qd, qdd -> tau"""
    function = plan.functions[0]
    return f"{function.short}: {signature(function)}"


def suffixed(suffix: Mapping[str, str]) -> Values:
    """Numbers between commas, with what follows each in a dtype."""

    def values(numbers: Numbers, shape: tuple[int, ...], dtype: str) -> str:
        return ", ".join(f"{number(x)}{suffix.get(dtype, '')}" for x in numbers)

    return values
