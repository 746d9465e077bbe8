"""What all printers share: names, inlining, precedence, the order of statements.

A language is a table of spellings, a statement form and a function form (see c.py and python.py).
A value gets a statement of its own when it has a name in the paper or is used more than once; what
is used once stands where it is used. Parentheses keep the order of evaluation of the program, so
every language computes the same sums in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from ..ir.code import Code, arguments
from ..version import __version__
from .names import Names

if TYPE_CHECKING:
    from ..program import Program

__all__ = ["Printer"]

_SUM, _PRODUCT, _UNARY, _ATOM = 1, 2, 3, 4


class Printer:
    """Base of the languages. Subclasses fill the tables and write `function`."""

    language: ClassVar[str]
    comment: ClassVar[str] = "# "
    reserved: ClassVar[frozenset[str]] = frozenset()
    # operation -> format of its spelled arguments
    functions: ClassVar[dict[str, str]] = {}
    longest: ClassVar[int] = 24  # operations in one statement

    def __init__(self, program: Program, function: str = "", dtype: str = "float64") -> None:
        self.program = program
        self.code: Code = program.code
        self.dtype = dtype
        self.names = Names(self.reserved)
        self.function_name = self.names.claim(
            function or f"{program.robot}_{program.model}".lower()
        )
        self.arrays = {name: self.names.claim(name) for name in self.code.inputs}
        self.results = {name: self.names.claim(name) for name in self.code.outputs}
        self.symbols = {k: self.names.claim(name) for k, name in enumerate(program.parameters)}
        self.spelled: dict[int, tuple[str, int]] = {}  # node -> (text, precedence)
        self.size: dict[int, int] = {}  # operations inlined so far

    def text(self) -> str:
        """The whole file."""
        raise NotImplementedError

    # spelling

    def number(self, x: float) -> str:
        return repr(float(x))

    def element(self, array: str, k: int) -> str:
        """Element k of an input array."""
        raise NotImplementedError

    def declare(self, name: str, value: str) -> str:
        """The statement that gives a value a name."""
        raise NotImplementedError

    def leaf(self, node: tuple[object, ...]) -> tuple[str, int]:
        if node[0] == "const":
            return self.number(float(node[1])), _ATOM  # type: ignore[arg-type]
        array, k = str(node[1]), int(node[2])  # type: ignore[call-overload]
        return (self.symbols[k] if array == "p" else self.element(array, k)), _ATOM

    def operation(self, op: str, args: list[tuple[str, int]]) -> tuple[str, int]:
        """The text of one operation and its precedence."""

        def guarded(arg: tuple[str, int], least: int) -> str:
            return arg[0] if arg[1] >= least else f"({arg[0]})"

        if op in ("add", "sub"):
            sign = "+" if op == "add" else "-"
            return f"{guarded(args[0], _SUM)} {sign} {guarded(args[1], _PRODUCT)}", _SUM
        if op in ("mul", "div"):
            sign = "*" if op == "mul" else "/"
            return f"{guarded(args[0], _PRODUCT)}{sign}{guarded(args[1], _UNARY)}", _PRODUCT
        if op == "neg":
            return f"-{guarded(args[0], _PRODUCT)}", _SUM
        return self.functions[op].format(*(arg[0] for arg in args)), _ATOM

    def signed(self, ref: int) -> str:
        """An output value: a reference with its sign."""
        text, precedence = self.spelled[abs(ref)]
        if ref > 0:
            return text
        return f"-{text}" if precedence >= _PRODUCT else f"-({text})"

    # statements

    def statements(self) -> Iterator[str]:
        """One statement per value that is named or shared; outputs can be spelled afterwards."""
        uses, labels = self.code.uses, self.code.labels
        read = {node[2] for node in self.code.nodes if node[:2] == ("input", "p")}
        for k, symbol in self.symbols.items():
            if k in read:
                yield self.declare(symbol, self.element("p", k))
        for id, node in enumerate(self.code.nodes[1:], 1):
            if node[0] in ("const", "input"):
                self.spelled[id], self.size[id] = self.leaf(node), 0
                continue
            size = 1 + sum(self.size[arg] for arg in arguments(node))
            found = self.operation(node[0], [self.spelled[arg] for arg in node[1:]])
            if self.is_inlined(id, uses[id], size):
                self.spelled[id], self.size[id] = found, size
                continue
            name = self.names.claim(labels.get(id, f"t{id}"))
            yield self.declare(name, found[0])
            self.spelled[id], self.size[id] = (name, _ATOM), 0

    def is_inlined(self, id: int, uses: int, size: int) -> bool:
        if self.program.expanded:
            return self.code.nodes[id][0] not in ("sin", "cos")
        return uses == 1 and id not in self.code.labels and size < self.longest

    # the header

    def header(self) -> list[str]:
        """What it is, what goes in and out, in which order and units, and what it costs.

        Every line is one printable line: a robot's name must not end the comment."""
        program = self.program
        lines = [
            f"{program.model} of {program.robot}, generated by Cardan {__version__}",
            "",
            *self._described("inputs", program.inputs, self.arrays),
            *self._described("outputs", program.outputs, self.results),
        ]
        if program.parameters:
            lines += ["parameters, in the order of p:", *_wrapped(program.parameters)]
        lines.append(f"operations: {program.cost}")
        from ..ir.cost import cost

        once = cost(self.code)[1]
        if once.total or once.trig:
            lines.append(f"  and on the parameters alone: {once}")
        return [_printable(line).rstrip() for line in lines]

    def _described(
        self, title: str, shapes: dict[str, tuple[int, ...]], spelled: dict[str, str]
    ) -> list[str]:
        lines = [f"{title}:"]
        for name, shape in shapes.items():
            size = "x".join(map(str, shape))
            lines.append(f"  {spelled[name]} [{size}]  {self.program.meaning.get(name, '')}")
        return lines


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def _wrapped(names: tuple[str, ...], width: int = 90) -> list[str]:
    lines, line = [], " "
    for name in names:
        if len(line) + len(name) > width:
            lines.append(line)
            line = " "
        line += f" {name}"
    return [*lines, line]
