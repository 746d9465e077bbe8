"""Kernels as source text: C99, C++, MATLAB (Octave) and Python, self-contained.

The text holds the kernel, all it calls, the tables bound to some of its arrays, and one function
for the user: arrays in, arrays out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, ClassVar

from ..emit.header import one_line
from ..errors import ProgramError, UnknownNameError
from .language import Bound, Kernel, is_logic, kernels_of, read_only_what_counts, type_of

# language -> module and class, imported when first asked for
KERNEL_LANGUAGES = {
    "c": ("c", "KernelC"), "cpp": ("c", "KernelCpp"),
    "matlab": ("script", "KernelMatlab"), "python": ("script", "KernelPython"),
    "rust": ("rust", "KernelRust"),
}  # fmt: skip


@dataclass(frozen=True)
class Face:
    """The function the user calls: sizes of its input and output arrays, and constant tables.

    Together they name the parameters of the entry kernel, all of them arrays; one that is not named
    is not read. `width`: the first output holds rows of so many numbers, and the second notes: how
    many of the rows there are, a flag, then residual, singular, times of each. The user gets these
    rows, and from a function name_all the notes too."""

    name: str
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    tables: Mapping[str, Sequence[float]]
    header: Sequence[str] = ()
    width: int = 0

    @property
    def rows(self) -> int:
        """The most rows."""
        return next(iter(self.outputs.values())) // self.width if self.width else 0

    def argument(self, parameter: str, table: str, none: str) -> str:
        """What the entry kernel gets for a parameter."""
        if parameter in self.tables:
            return table.format(parameter)
        return parameter if parameter in self.inputs or parameter in self.outputs else none


def kernel_language(language: str) -> str:
    """The language, one that kernels are written in."""
    if language not in KERNEL_LANGUAGES:
        raise UnknownNameError.of("language", language, KERNEL_LANGUAGES)
    return language


def kernel_source(
    language: str, entry: Callable[..., Any], face: Face, bound: Bound | None = None
) -> str:
    """The text of a kernel in a language, with what is bound to its names."""
    module, name = KERNEL_LANGUAGES[kernel_language(language)]
    spelling = getattr(import_module(f".{module}", __package__), name)
    kernels = _kernels(entry, bound)
    text: str = spelling(kernels, face).text(_functions(spelling, entry, bound, face.name))
    return text


@lru_cache(maxsize=16)
def _kernels(entry: Callable[..., Any], bound: Bound | None) -> list[Kernel]:
    """The kernel and all it calls, with the parameters that are read."""
    kernels = kernels_of(entry, bound)
    for kernel in kernels:
        if kernel.slot:
            raise ProgramError(f"nothing is bound to the slot '{kernel.name}'")
    return read_only_what_counts(kernels)


@lru_cache(maxsize=16)
def _functions(
    spelling: type[Spelling], entry: Callable[..., Any], bound: Bound | None, name: str
) -> list[str]:
    """The kernels as text, whatever the tables are; some languages need the function's name."""
    return spelling(_kernels(entry, bound), Face(name, {}, {}, {})).printed()


class Spelling:
    """A language: operators, statements and functions. Subclasses change what differs."""

    functions: ClassVar[dict[str, str]] = {
        "sqrt": "sqrt", "abs": "fabs", "sin": "sin", "cos": "cos", "atan2": "atan2", "min": "fmin",
        "max": "fmax", "floor": "floor",
    }  # fmt: skip
    comment = "//"
    logic: ClassVar[dict[str, str]] = {"and": " && ", "or": " || ", "not": "!"}
    unequal = "!="
    truth: ClassVar[dict[bool, str]] = {True: "1", False: "0"}

    def __init__(self, kernels: list[Kernel], face: Face) -> None:
        self.kernels = kernels
        self.face = face

    def printed(self) -> list[str]:
        """The kernels."""
        return [self.function(kernel) for kernel in self.kernels]

    def text(self, functions: Sequence[str]) -> str:
        """All of it, with the kernels as they are printed."""
        parts = [self.head(), self.opening()]
        parts += [self.table(name, values) for name, values in self.face.tables.items()]
        parts += [*functions, self.user(), self.closing()]
        return "\n\n".join(part for part in parts if part) + "\n"

    def head(self) -> str:
        """What the function does, as lines of comment."""
        lines = (one_line(line) for line in self.face.header)
        return "\n".join(f"{self.comment} {line}".rstrip() for line in lines)

    def opening(self) -> str:
        return ""

    def closing(self) -> str:
        return ""

    def table(self, name: str, values: Sequence[float]) -> str:
        raise NotImplementedError

    def function(self, kernel: Kernel) -> str:
        raise NotImplementedError

    def user(self) -> str:
        raise NotImplementedError

    # expressions

    def expression(self, kernel: Kernel, node: ast.expr, level: int = 0) -> str:
        """Spelled with the parentheses that the level (1 sum, 2 product, 3 unary) needs."""
        if isinstance(node, ast.Constant):
            value = node.value
            return self.truth[value] if isinstance(value, bool) else self.number(value)
        if is_logic(node):
            return self.test(kernel, node, level > 0)
        if isinstance(node, ast.Name):
            if node.id in kernel.constants and type_of(kernel, node) != "array":
                known = node.id in kernel.variables or node.id in kernel.parameters
                return node.id if known else self.number(kernel.constants[node.id])
            return self.variable(node.id)
        if isinstance(node, ast.Subscript):
            return self.item(kernel, node)
        if isinstance(node, ast.UnaryOp):
            text = f"-{self.expression(kernel, node.operand, 3)}"
            return f"({text})" if level > 1 else text
        if isinstance(node, ast.BinOp):
            return self.binary(kernel, node, level)
        if isinstance(node, ast.IfExp):
            return self.choice(kernel, node)
        assert isinstance(node, ast.Call)
        return self.call(kernel, node)

    def choice(self, kernel: Kernel, node: ast.IfExp) -> str:
        yes, no = (self.expression(kernel, x, 1) for x in (node.body, node.orelse))
        return f"({self.test(kernel, node.test)} ? {yes} : {no})"

    @staticmethod
    def rows(values: Sequence[float], wide: int = 94) -> list[str]:
        """Numbers of a table, in lines."""
        lines: list[str] = []
        for x in values:
            text = f"{float(x)!r}"
            if lines and len(lines[-1]) + len(text) + 2 <= wide:
                lines[-1] += f", {text}"
            else:
                lines.append(text)
        return lines

    def number(self, value: Any) -> str:
        text = repr(value)
        return f"({text})" if text.startswith("-") else text

    def variable(self, name: str) -> str:
        return name

    def item(self, kernel: Kernel, node: ast.Subscript) -> str:
        return f"{ast.unparse(node.value)}[{self.expression(kernel, node.slice)}]"

    def binary(self, kernel: Kernel, node: ast.BinOp, level: int) -> str:
        op = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//",
              ast.Mod: "%"}[type(node.op)]  # fmt: skip
        own = 1 if op in "+-" else 2
        left = self.expression(kernel, node.left, own)
        # a * (b // c) is not a * b // c, and sums keep their order
        right = self.expression(kernel, node.right, own + 1)
        text = self.operation(kernel, node, op, left, right)
        return f"({text})" if own < level else text

    def operation(self, kernel: Kernel, node: ast.BinOp, op: str, left: str, right: str) -> str:
        return f"{left} {op} {right}"

    def call(self, kernel: Kernel, node: ast.Call) -> str:
        assert isinstance(node.func, ast.Name)
        args = ", ".join(self.expression(kernel, argument) for argument in node.args)
        name = node.func.id
        if name in ("int", "float"):
            return self.cast(name, args)
        return f"{self.functions.get(name) or self.callee(name)}({args})"

    def cast(self, kind: str, text: str) -> str:
        return f"({'int' if kind == 'int' else 'double'})({text})"

    def callee(self, name: str) -> str:
        return name

    def test(self, kernel: Kernel, node: ast.expr, inside: bool = False) -> str:
        if isinstance(node, ast.BoolOp):
            word = self.logic["and" if isinstance(node.op, ast.And) else "or"]
            text = word.join(self.test(kernel, value, True) for value in node.values)
            return f"({text})" if inside else text
        if isinstance(node, ast.UnaryOp):
            return f"{self.logic['not']}({self.test(kernel, node.operand)})"
        if not isinstance(node, ast.Compare):
            return self.expression(kernel, node)
        op = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==",
              ast.NotEq: self.unequal}[type(node.ops[0])]  # fmt: skip
        left = self.expression(kernel, node.left)
        return f"{left} {op} {self.expression(kernel, node.comparators[0])}"


def bounds(node: ast.For) -> tuple[ast.expr, ast.expr, int]:
    """(first, end, step) of `for i in range(...)`."""
    assert isinstance(node.iter, ast.Call)
    args = node.iter.args
    if len(args) == 1:
        return ast.Constant(0), args[0], 1
    return args[0], args[1], int(ast.literal_eval(args[2])) if len(args) == 3 else 1


def assigned(node: ast.stmt) -> tuple[ast.expr, ast.expr]:
    """(value, target) of an assignment; x += v is x = x + v."""
    if isinstance(node, ast.AugAssign):
        return ast.BinOp(_load(node.target), node.op, node.value), node.target
    assert isinstance(node, ast.Assign)
    return node.value, node.targets[0]


def _load(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Subscript):
        return ast.Subscript(target.value, target.slice, ast.Load())
    assert isinstance(target, ast.Name)
    return ast.Name(target.id, ast.Load())
