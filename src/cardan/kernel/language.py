"""Kernels: small numerical algorithms written once, in a subset of Python, for every language.

A kernel is an ordinary Python function (it runs, and is the reference), for example

    def largest(x: Array, n: int) -> float:
        found = 0.0
        for i in range(n):
            found = max(found, abs(x[i]))
        return found

It is read from its own source by `ast` and spelled in C, C++, MATLAB and Python (kernel_text.py) or
as LLVM (kernel_llvm.py); nothing is ever evaluated from text. The subset:

    types       float, int, Array (floats, flat, indexed from 0; arguments of a call never overlap)
    values      numbers, names, a[i], + - *, /, // and % of integers >= 0, - x, int(x), float(i),
                sqrt abs sin cos atan2 min max floor, calls of other kernels,
                module constants (int, float)
    tests       < <= > >= == !=, and, or, not: in `if` and `while` only
    statements  x = v, a[i] = v, x += v, w = zeros(N), w = empty(N) with N constant, a call, `for i
                in range(...)` with a constant step, while, if, break, continue, return

A kernel may write to its arrays. A call that writes to arrays is a statement `f(a)` or `x = f(a)`,
never a part of a larger expression, because MATLAB passes arrays by value. A variable keeps the
type of its first assignment; a loop does not change its own bounds. There is no recursion.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from math import atan2, cos, floor, sin, sqrt
from typing import Any

from ..errors import ProgramError

__all__ = [
    "BUILTINS",
    "Array",
    "Kernel",
    "atan2",
    "cos",
    "empty",
    "floor",
    "kernels_of",
    "read_kernel",
    "sin",
    "sqrt",
    "type_of",
    "zeros",
]  # fmt: skip

Array = list[float]
BUILTINS = {"sqrt": 1, "abs": 1, "sin": 1, "cos": 1, "atan2": 2, "min": 2, "max": 2, "floor": 1}
_CASTS = ("int", "float")
_KINDS = {"float": "float", "int": "int", "Array": "array"}


def zeros(n: int) -> Array:
    """A local array of zeros."""
    return [0.0] * n


def empty(n: int) -> Array:
    """A local array whose values are not defined before they are assigned."""
    return [0.0] * n


@dataclass(frozen=True)
class Kernel:
    """A kernel as read: its parameters and variables with their types, and its statements."""

    name: str
    parameters: dict[str, str]  # name -> float, int, array
    returns: str | None
    body: list[ast.stmt]
    source: str
    doc: str
    constants: dict[str, float | int] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)  # local scalars
    arrays: dict[str, int] = field(default_factory=dict)  # local arrays and their sizes
    callees: dict[str, Kernel] = field(default_factory=dict)
    mutated: tuple[str, ...] = ()  # parameters that are written to, in order

    def fault(self, node: ast.AST, text: str) -> ProgramError:
        line = self.source.splitlines()[getattr(node, "lineno", 1) - 1].strip()
        return ProgramError(f"kernel '{self.name}': {text}: {line}")


def kernels_of(entry: Callable[..., Any]) -> list[Kernel]:
    """The kernel and all it calls, callees first."""
    found: dict[str, Kernel] = {}

    def visit(kernel: Kernel) -> None:
        for callee in kernel.callees.values():
            visit(callee)
        if found.setdefault(kernel.name, kernel) is not kernel:
            raise ProgramError(f"two kernels are called '{kernel.name}': rename one of them")

    visit(read_kernel(entry))
    return list(found.values())


@cache
def read_kernel(function: Callable[..., Any]) -> Kernel:
    """A function as a kernel, checked against the subset."""
    source = textwrap.dedent(inspect.getsource(function))
    (node,) = ast.parse(source).body
    if not isinstance(node, ast.FunctionDef):
        raise ProgramError("a kernel is a function written with def")
    body = node.body
    doc = ast.get_docstring(node) or ""
    kernel = Kernel(
        node.name, {a.arg: _annotation(node, a.annotation) for a in node.args.args},
        _annotation(node, node.returns) if _returns(node) else None,
        body[1:] if doc else body, source, doc,
    )  # fmt: skip
    return _Reader(kernel, function.__globals__).read()


def _returns(node: ast.FunctionDef) -> bool:
    return not (node.returns is None or ast.unparse(node.returns) == "None")


def _annotation(node: ast.FunctionDef, annotation: ast.expr | None) -> str:
    text = ast.unparse(annotation) if annotation is not None else ""
    if text not in _KINDS:
        raise ProgramError(f"kernel '{node.name}': type {text!r} is not float, int or Array")
    return _KINDS[text]


@dataclass
class _Reader:
    """Walks a kernel once: types of variables, constants, callees, arrays that are written to."""

    kernel: Kernel
    names: dict[str, Any]
    loops: list[str] = field(default_factory=list)  # variables of the loops around a statement

    def read(self) -> Kernel:
        written: set[str] = set()
        for statement in self.kernel.body:
            self._statement(statement, written)
        kernel = self.kernel
        mutated = tuple(name for name in kernel.parameters if name in written)
        return Kernel(**{**kernel.__dict__, "mutated": mutated})

    def _statement(self, node: ast.stmt, written: set[str]) -> None:
        kernel = self.kernel
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if len(targets) != 1:
                raise kernel.fault(node, "one target is assigned at a time")
            self._assign(targets[0], node.value, written, isinstance(node, ast.AugAssign))
        elif isinstance(node, ast.For):
            self._loop(node, written)
        elif isinstance(node, ast.While | ast.If):
            self._test(node.test)
            for part in (*node.body, *node.orelse):
                self._statement(part, written)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            self._call(node.value, written, statement=True)
        elif isinstance(node, ast.Return):
            if node.value is not None:
                self._expression(node.value)
        elif not isinstance(node, ast.Break | ast.Continue | ast.Pass):
            raise kernel.fault(node, "not a statement of the subset")

    def _assign(
        self, target: ast.expr, value: ast.expr, written: set[str], augmented: bool
    ) -> None:
        kernel = self.kernel
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            self._expression(target)
            self._expression(value)
            written.add(target.value.id)
            return
        if not isinstance(target, ast.Name):
            raise kernel.fault(target, "only x and a[i] can be assigned")
        size = self._local_array(value)
        if size is not None:
            if kernel.arrays.setdefault(target.id, size) != size:
                raise kernel.fault(target, "an array has one size")
            return
        if isinstance(value, ast.Call) and self._is_kernel(value):
            self._call(value, written, statement=True)
        else:
            self._expression(value)
        kind = type_of(kernel, value)
        if target.id in kernel.parameters or target.id in self.loops:
            raise kernel.fault(target, "parameters and loop variables are not assigned")
        known = kernel.variables.setdefault(target.id, kind)
        if known == "int" and kind == "float":
            raise kernel.fault(target, f"{target.id} was an integer")

    def _local_array(self, value: ast.expr) -> int | None:
        """N of zeros(N) or empty(N)."""
        if isinstance(value, ast.Call) and ast.unparse(value.func) in ("zeros", "empty"):
            return self._constant(value.args[0])
        return None

    def _constant(self, node: ast.expr) -> int:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name) and isinstance(self.names.get(node.id), int):
            self.kernel.constants[node.id] = self.names[node.id]
            return int(self.names[node.id])
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Add):
            left, right = self._constant(node.left), self._constant(node.right)
            return left * right if isinstance(node.op, ast.Mult) else left + right
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._constant(node.operand)
        raise self.kernel.fault(node, "a constant integer is expected")

    def _loop(self, node: ast.For, written: set[str]) -> None:
        call = node.iter
        simple = isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        if not (simple and call.func.id == "range") or not isinstance(node.target, ast.Name):  # type: ignore[attr-defined]
            raise self.kernel.fault(node, "a loop is `for i in range(...)`")
        assert isinstance(call, ast.Call)
        for bound in call.args[:2]:
            self._expression(bound)
        if len(call.args) == 3:
            self._constant(call.args[2])
        if self.kernel.variables.setdefault(node.target.id, "int") != "int":
            raise self.kernel.fault(node, f"{node.target.id} was not an integer")
        if node.target.id in self.loops:
            raise self.kernel.fault(node, f"{node.target.id} counts an outer loop")
        self.loops.append(node.target.id)
        for part in node.body:
            self._statement(part, written)
        self.loops.pop()

    def _test(self, node: ast.expr) -> None:
        if isinstance(node, ast.BoolOp):
            for value in node.values:
                self._test(value)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self._test(node.operand)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            self._expression(node.left)
            self._expression(node.comparators[0])
        else:
            raise self.kernel.fault(node, "a test is a comparison, or and, or, not of tests")

    def _expression(self, node: ast.expr) -> None:
        kernel = self.kernel
        if isinstance(node, ast.Name):
            self._name(node)
        elif isinstance(node, ast.Call):
            self._call(node, set(), statement=False)
        elif isinstance(node, ast.Subscript):
            self._expression(node.value)
            self._expression(node.slice)
            if type_of(kernel, node.slice) != "int":
                raise kernel.fault(node, "an index is an integer")
        elif isinstance(node, ast.BinOp):
            self._expression(node.left)
            self._expression(node.right)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            self._expression(node.operand)
        elif not (isinstance(node, ast.Constant) and type(node.value) in (int, float)):
            raise kernel.fault(node, "not an expression of the subset")

    def _name(self, node: ast.Name) -> None:
        kernel = self.kernel
        name = node.id
        if name in kernel.parameters or name in kernel.variables or name in kernel.arrays:
            return
        value = self.names.get(name)
        if type(value) not in (int, float):
            raise kernel.fault(node, f"{name} is not known here")
        kernel.constants[name] = value  # type: ignore[assignment]

    def _is_kernel(self, node: ast.Call) -> bool:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        return name not in BUILTINS and name not in _CASTS

    def _call(self, node: ast.Call, written: set[str], statement: bool) -> None:
        kernel = self.kernel
        for argument in node.args:
            self._expression(argument)
        if not self._is_kernel(node):
            return
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        function = self.names.get(name)
        if not inspect.isfunction(function) or node.keywords:
            raise kernel.fault(node, f"{name} is not a kernel")
        callee = kernel.callees.setdefault(name, read_kernel(function))
        if len(node.args) != len(callee.parameters):
            raise kernel.fault(node, f"{name} takes {len(callee.parameters)} arguments")
        arrays = []
        for argument, (parameter, kind) in zip(node.args, callee.parameters.items(), strict=True):
            if kind == "array":
                arrays.append(ast.unparse(argument))
            if (type_of(kernel, argument) == "array") != (kind == "array"):
                raise kernel.fault(node, f"{parameter} of {name} is {kind}")
        if len(set(arrays)) < len(arrays) and callee.mutated:
            raise kernel.fault(node, "an array is given twice")
        for argument, parameter in zip(node.args, callee.parameters, strict=True):
            if parameter in callee.mutated:
                if not statement:
                    raise kernel.fault(node, "a call that writes to arrays stands alone")
                written.add(ast.unparse(argument))


def type_of(kernel: Kernel, node: ast.expr) -> str:
    """float, int or array."""
    if isinstance(node, ast.Constant):
        return "int" if isinstance(node.value, int) else "float"
    if isinstance(node, ast.Name):
        if node.id in kernel.arrays:
            return "array"
        known = kernel.parameters.get(node.id) or kernel.variables.get(node.id)
        return known or ("int" if isinstance(kernel.constants[node.id], int) else "float")
    if isinstance(node, ast.UnaryOp):
        return type_of(kernel, node.operand)
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Div):
        kinds = {type_of(kernel, node.left), type_of(kernel, node.right)}
        return "int" if kinds == {"int"} else "float"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        name = node.func.id
        if name in kernel.callees:
            return kernel.callees[name].returns or "float"
        return "int" if name == "int" else "float"
    return "float"
