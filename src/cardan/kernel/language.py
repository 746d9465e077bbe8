"""Kernels: small numerical algorithms written once, in a subset of Python, for every language.

A kernel is an ordinary Python function (it runs, and is the reference), for example

    def largest(x: Array, n: int) -> float:
        most = 0.0
        for i in range(n):
            most = max(most, abs(x[i]))
        return most

It is read from its own source by `ast` and spelled in C, C++, MATLAB and Python (text.py) or as
LLVM (run/llvm/kernel.py); nothing is ever evaluated from text. The subset:

    types       float, int, bool, Array (floats, flat, indexed from 0; arguments of a call never
                overlap where one of them is written to)
                Part (an Array that may be a part of another), Integers, Booleans
                records (records.py) and Vector: three floats
    values      numbers, names, a[i], + - *, /, // and % of integers >= 0, - x, int(x), float(i),
                sqrt abs sin cos atan2 min max floor, calls of other kernels,
                module constants (int, float), x if test else y (both are evaluated)
                r.field, r.field[i], r.list[i].field; of vectors a + b, a - b, -a, x * a, a / x,
                cross(a, b), dot(a, b)
    tests       < <= > >= == != of numbers, True, False, and, or, not
    statements  x = v, a[i] = v, r.field = v, x += v, w = zeros(N), w = empty(N) with N constant or
                a record, integers(N), booleans(N), a call, `for i in range(...)` with a constant
                step, while, if, break, continue, return

A module constant that is a boolean says at reading which part of an `if` there is. A function with
the decorator `slot` is a kernel that another one is bound to where it is used, or a program of
ir/ (program.py); so are constants (`Bound`).

Records, vectors and lists of integers or booleans are lowered to arrays of floats at offsets known
here (lower.py); a name given to a part of a record (`joint = arm.joints[j]`) is a view of it.

A kernel may write to its arrays. A call that writes to arrays is a statement `f(a)` or `x = f(a)`,
never a part of a larger expression, because MATLAB passes arrays by value. A variable keeps the
type of its first assignment; a loop does not change its own bounds. There is no recursion.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from math import atan2, cos, floor, sin, sqrt
from typing import Any, TypeVar, overload

from ..errors import ProgramError
from ..ir.code import Code
from .lower import Lowering
from .program import straight_line
from .records import OPEN, Booleans, Integers, Part, Vector, cross, dot, record

__all__ = [
    "BUILTINS", "OPEN", "OPERATIONS", "Array", "Booleans", "Bound", "Integers", "Kernel", "Part",
    "Vector", "atan2", "booleans", "cos", "cross", "dot", "empty", "floor", "integers", "is_logic",
    "kernels_of", "program_kernel", "read_kernel", "read_only_what_counts", "record", "sin", "slot",
    "sqrt", "type_of",
    "zeros",
]  # fmt: skip

Array = list[float]
BUILTINS = {"sqrt": 1, "abs": 1, "sin": 1, "cos": 1, "atan2": 2, "min": 2, "max": 2, "floor": 1}
OPERATIONS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
_CASTS = ("int", "float")
_KINDS = {"float": "float", "int": "int", "bool": "bool", "Array": "array"}
T = TypeVar("T")


@overload
def zeros(n: int) -> Array: ...
@overload
def zeros(n: type[T]) -> T: ...
def zeros(n: Any) -> Any:
    """A local array of zeros, or a record of them."""
    if isinstance(n, int):
        return [0.0] * n
    return Vector([0.0] * 3) if n is Vector else n()


@overload
def empty(n: int) -> Array: ...
@overload
def empty(n: type[T]) -> T: ...
def empty(n: Any) -> Any:
    """A local array or record whose values are not defined before they are assigned."""
    return zeros(n)


def integers(n: int) -> Integers:
    """A local list of integers, all 0."""
    return [0] * n


def booleans(n: int) -> Booleans:
    """A local list of booleans, all False."""
    return [False] * n


def slot(*writes: str) -> Callable[[T], T]:
    """The decorator of a kernel that is bound where it is used; `writes`: the arrays it sets."""

    def decorate(function: T) -> T:
        function.slot = writes  # type: ignore[attr-defined]
        return function

    return decorate


@dataclass(frozen=True, eq=False)
class Bound:
    """What names of kernels stand for where they are used: other kernels, constants, records, and
    programs of ir/ in slots."""

    names: Mapping[str, Any] = field(default_factory=dict)
    read: dict[tuple[Callable[..., Any], str], Kernel] = field(default_factory=dict, repr=False)
    lists: dict[Callable[..., Any], list[Kernel]] = field(default_factory=dict, repr=False)

    @property
    def known(self) -> dict[str, Any]:
        """Names without those of programs: a slot is still a function."""
        return {name: x for name, x in self.names.items() if not isinstance(x, Code)}


@dataclass(frozen=True)
class Kernel:
    """A kernel as read: its parameters and variables with their types, and its statements."""

    name: str
    parameters: dict[str, str]  # name -> float, int, bool, array
    returns: str | None
    body: list[ast.stmt]
    source: str
    doc: str
    constants: dict[str, float | int] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)  # local scalars
    arrays: dict[str, int] = field(default_factory=dict)  # local arrays and their sizes
    callees: dict[str, Kernel] = field(default_factory=dict)
    mutated: tuple[str, ...] = ()  # parameters that are written to, in order
    offsets: tuple[str, ...] = ()  # parameters that say where a record begins in its array
    flat: ast.FunctionDef | None = None  # the function without records, if it has any
    slot: bool = False  # nothing is bound to it: machine code gets its address
    straight: bool = False  # a program

    def fault(self, node: ast.AST, text: str) -> ProgramError:
        line = self.source.splitlines()[getattr(node, "lineno", 1) - 1].strip()
        return ProgramError(f"kernel '{self.name}': {text}: {line}")


def kernels_of(entry: Callable[..., Any], bound: Bound | None = None) -> list[Kernel]:
    """The kernel and all it calls, callees first."""
    bound = bound or _PLAIN
    if entry not in bound.lists:
        bound.lists[entry] = _without_offsets(_called(entry, bound))
    return bound.lists[entry]


def _called(entry: Callable[..., Any], bound: Bound) -> list[Kernel]:
    kernels: dict[str, Kernel] = {}

    def visit(kernel: Kernel) -> None:
        for callee in kernel.callees.values():
            visit(callee)
        if kernels.setdefault(kernel.name, kernel) is not kernel:
            raise ProgramError(f"two kernels are called '{kernel.name}': rename one of them")

    visit(read_kernel(entry, bound))
    return list(kernels.values())


def program_kernel(stub: Callable[..., Any], code: Code) -> list[Kernel]:
    """A program in the place of a slot."""
    return [_of_program(stub.__name__, read_kernel(stub, _PLAIN), code)]


def _without_offsets(kernels: list[Kernel]) -> list[Kernel]:
    """The kernels without the offsets that are 0 wherever they are called."""
    zero = {(kernel.name, offset) for kernel in kernels for offset in kernel.offsets}
    calls = [
        ((callee, offset), (kernel.name, value.id if isinstance(value, ast.Name) else ""))
        for kernel in kernels for callee, offset, value in _offsets_of_calls(kernel)
        if not (isinstance(value, ast.Constant) and value.value == 0)
    ]  # fmt: skip
    changed = True
    while changed:
        moved = {offset for offset, source in calls if source not in zero}
        changed = bool(moved & zero)
        zero -= moved
    return _without(kernels, zero)


def read_only_what_counts(kernels: list[Kernel]) -> list[Kernel]:
    """The kernels without parameters that nothing reads, for texts."""
    idle = {(kernel.name, parameter) for kernel in kernels for parameter in kernel.parameters}
    uses = [((kernel.name, name), ways) for kernel in kernels for name, ways in _uses(kernel)]
    changed = True
    while changed:
        read = {name for name, ways in uses if not idle.intersection(ways)}
        changed = bool(idle & read)
        idle -= read
    return _without(kernels, idle)


def _uses(kernel: Kernel) -> set[tuple[str, tuple[tuple[str, str], ...]]]:
    """The names in a kernel, each with the parameters that it is given to: it is read if all of
    them are."""
    uses = set()
    waiting: list[tuple[ast.AST, tuple[tuple[str, str], ...]]] = [(x, ()) for x in kernel.body]
    while waiting:
        node, ways = waiting.pop()
        callee = _callee(kernel, node)
        if isinstance(node, ast.Name):
            uses.add((node.id, ways))
        elif callee is not None and isinstance(node, ast.Call):
            pairs = zip(callee.parameters, node.args, strict=True)
            waiting += [(arg, (*ways, (callee.name, name))) for name, arg in pairs]
        else:
            waiting += [(child, ways) for child in ast.iter_child_nodes(node)]
    return uses


def _without(kernels: list[Kernel], zero: set[tuple[str, str]]) -> list[Kernel]:
    """The kernels without some of their parameters; their values are 0."""
    if not zero:
        return kernels
    whole: dict[str, Kernel] = {}
    for kernel in kernels:
        shorter = _Shorter(kernel, zero)
        whole[kernel.name] = replace(
            kernel, callees={name: whole[one.name] for name, one in kernel.callees.items()},
            parameters={p: k for p, k in kernel.parameters.items() if p not in shorter.gone},
            body=shorter.every(kernel.body),
            flat=shorter.node(kernel.flat) if kernel.flat else None,
        )  # fmt: skip
    return list(whole.values())


def _offsets_of_calls(kernel: Kernel) -> Iterator[tuple[str, str, ast.expr]]:
    """(kernel called, its offset, the value) of every call."""
    for statement in kernel.body:
        for node in ast.walk(statement):
            callee = _callee(kernel, node)
            if callee is not None and isinstance(node, ast.Call):
                for parameter, value in zip(callee.parameters, node.args, strict=True):
                    if parameter in callee.offsets:
                        yield callee.name, parameter, value


class _Shorter:
    """Takes parameters away: what changes is written anew, the rest is shared."""

    def __init__(self, kernel: Kernel, zero: set[tuple[str, str]]) -> None:
        self.kernel = kernel
        self.zero = zero
        self.gone = {offset for name, offset in zero if name == kernel.name}

    def every(self, nodes: list[Any]) -> list[Any]:
        """The nodes, and the list itself where none changes."""
        new = [self.node(x) if isinstance(x, ast.AST) else x for x in nodes]
        return nodes if all(x is y for x, y in zip(new, nodes, strict=True)) else new

    def node(self, node: Any) -> Any:
        if isinstance(node, ast.Name):
            return ast.copy_location(ast.Constant(0), node) if node.id in self.gone else node
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.left, ast.Name)
            and (node.left.id in self.gone)
        ):
            return self.node(node.right)
        changes: dict[str, Any] = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                new: Any = self.every(value)
            else:
                new = self.node(value) if isinstance(value, ast.AST) else value
            if new is not value:
                changes[name] = new
        if isinstance(node, ast.arguments):
            changes["args"] = [arg for arg in node.args if arg.arg not in self.gone]
        callee = _callee(self.kernel, node)
        if callee is not None:
            pairs = zip(callee.parameters, changes.get("args", node.args), strict=True)
            changes["args"] = [arg for name, arg in pairs if (callee.name, name) not in self.zero]
        if not changes:
            return node
        fields = {name: changes.get(name, value) for name, value in ast.iter_fields(node)}
        return ast.copy_location(type(node)(**fields), node)


def _callee(kernel: Kernel, node: ast.AST) -> Kernel | None:
    """The kernel that a node calls."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return kernel.callees.get(node.func.id) if called else None  # type: ignore[attr-defined]


def _same(one: list[ast.stmt], other: list[ast.stmt]) -> bool:
    return [ast.dump(node) for node in one] == [ast.dump(node) for node in other]


_PLAIN = Bound()


def read_kernel(function: Callable[..., Any], bound: Bound = _PLAIN, name: str = "") -> Kernel:
    """A function as a kernel, checked against the subset; `name`: what it is called as."""
    name = name or function.__name__
    key = (function, name)
    if key not in bound.read:
        bound.read[key] = _read(function, bound, name)
    return bound.read[key]


def _read(function: Callable[..., Any], bound: Bound, name: str) -> Kernel:
    source = _source(function)
    node = _function(source)
    names = {**function.__globals__, **bound.known}
    doc = ast.get_docstring(node) or ""
    kernel = Kernel(name, {}, None, [], source, doc)
    lowering = Lowering(names, kernel.fault, bound.known)
    reachable = _Reachable(names).visit(_function(source))
    flat = lowering.function(reachable, function)
    flat.name = name
    same = name == node.name and _same(flat.body, node.body)
    kernel = replace(
        kernel, parameters={a.arg: _annotation(node, a.annotation) for a in flat.args.args},
        returns=_annotation(node, node.returns) if _returns(node) else None,
        body=flat.body[1:] if doc else flat.body, offsets=lowering.offsets,
        flat=None if same else flat,
    )  # fmt: skip
    writes = getattr(function, "slot", None)
    if writes is not None:
        kernel = replace(kernel, mutated=writes, slot=True, body=[])
        code = bound.names.get(name)
        return _of_program(name, kernel, code) if isinstance(code, Code) else kernel
    return _Reader(kernel, names, bound).read()


@cache
def _source(function: Callable[..., Any]) -> str:
    return textwrap.dedent(inspect.getsource(function))


def _function(source: str) -> ast.FunctionDef:
    (node,) = ast.parse(source).body
    if not isinstance(node, ast.FunctionDef):
        raise ProgramError("a kernel is a function written with def")
    return node


def _of_program(name: str, stub: Kernel, code: Code) -> Kernel:
    """The kernel of a straight-line program, with the parameters of a slot."""
    read = {node[1] for node in code.nodes if node[0] == "input"} - {"sign"}
    unknown = {*read, *code.outputs} - set(stub.parameters)
    if unknown:
        raise ProgramError(f"slot '{name}': the program has {min(unknown)!r}, the slot has not")
    straight = straight_line(code)
    body = straight.body
    args = [ast.arg(parameter) for parameter in stub.parameters]
    flat = ast.FunctionDef(name, ast.arguments([], args, None, [], [], None, []), body, [], None)
    return replace(
        stub, name=name, slot=False, straight=True, body=body, variables=straight.variables,
        arrays=straight.arrays, flat=ast.fix_missing_locations(flat),
        mutated=tuple(x for x in stub.parameters if x in code.outputs),
    )  # fmt: skip


class _Reachable(ast.NodeTransformer):
    """Takes away what a module constant forbids."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def visit_If(self, node: ast.If) -> Any:
        test = node.test
        value = self.names.get(test.id) if isinstance(test, ast.Name) else None
        self.generic_visit(node)
        if not isinstance(value, bool):
            return node
        return (node.body if value else node.orelse) or ast.Pass()


def _returns(node: ast.FunctionDef) -> bool:
    return not (node.returns is None or ast.unparse(node.returns) == "None")


def _annotation(node: ast.FunctionDef, annotation: ast.expr | None) -> str:
    text = ast.unparse(annotation) if annotation is not None else ""
    if text not in _KINDS:
        raise ProgramError(
            f"kernel '{node.name}': type {text!r} is not float, int, bool, Array, Part, Integers,"
            " Booleans, Vector or a record"
        )
    return _KINDS[text]


@dataclass
class _Reader:
    """Walks a kernel once: types of variables, constants, callees, arrays that are written to."""

    kernel: Kernel
    names: dict[str, Any]
    bound: Bound
    loops: list[str] = field(default_factory=list)  # variables of the loops around a statement

    def read(self) -> Kernel:
        written: set[str] = set()
        for statement in self.kernel.body:
            self._statement(statement, written)
        kernel = self.kernel
        mutated = tuple(name for name in kernel.parameters if name in written)
        return replace(kernel, mutated=mutated)

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
                if (type_of(kernel, node.value) == "bool") != (kernel.returns == "bool"):
                    raise kernel.fault(node, f"{kernel.name} gives {kernel.returns}")
        elif not isinstance(node, ast.Break | ast.Continue | ast.Pass):
            raise kernel.fault(node, "not a statement of the subset")

    def _assign(
        self, target: ast.expr, value: ast.expr, written: set[str], augmented: bool
    ) -> None:
        kernel = self.kernel
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            self._expression(target)
            self._expression(value)
            if type_of(kernel, value) not in ("float", "int"):
                raise kernel.fault(target, "an array holds numbers")
            written.add(target.value.id)
            return
        if not isinstance(target, ast.Name):
            raise kernel.fault(target, "only x and a[i] can be assigned")
        size = self._local_array(value)
        if size is not None:
            if target.id in kernel.variables or target.id in kernel.parameters:
                raise kernel.fault(target, f"{target.id} was something else before")
            if kernel.arrays.setdefault(target.id, size) != size:
                raise kernel.fault(target, "an array has one size")
            return
        if isinstance(value, ast.Call) and self._is_kernel(value):
            self._call(value, written, statement=True)
        else:
            self._expression(value)
        kind = type_of(kernel, value)
        if target.id in kernel.arrays:
            raise kernel.fault(target, f"{target.id} was an array")
        if target.id in kernel.parameters or target.id in self.loops:
            raise kernel.fault(target, "parameters and loop variables are not assigned")
        known = kernel.variables.setdefault(target.id, kind)
        if known != kind and (known, kind) != ("float", "int"):
            raise kernel.fault(target, f"{target.id} was {known}")

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
        self._expression(node)
        if type_of(self.kernel, node) != "bool":
            raise self.kernel.fault(
                node, "a test is a boolean, a comparison, or and, or, not of tests"
            )

    def _logic(self, node: ast.expr) -> None:
        """A comparison of numbers, or and, or, not of tests."""
        if isinstance(node, ast.BoolOp):
            for value in node.values:
                self._test(value)
        elif isinstance(node, ast.UnaryOp):
            self._test(node.operand)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            for side in (node.left, node.comparators[0]):
                self._number(side)
        else:
            raise self.kernel.fault(node, "two values are compared at a time")

    def _number(self, node: ast.expr) -> None:
        self._expression(node)
        if type_of(self.kernel, node) not in ("float", "int"):
            raise self.kernel.fault(node, f"{ast.unparse(node)} is not a number")

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
            if type(node.op) not in OPERATIONS:
                raise kernel.fault(node, "not an operation of the subset")
            self._number(node.left)
            self._number(node.right)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            self._number(node.operand)
        elif is_logic(node):
            self._logic(node)
        elif isinstance(node, ast.IfExp):
            self._test(node.test)
            self._number(node.body)
            self._number(node.orelse)
        elif not (isinstance(node, ast.Constant) and type(node.value) in (int, float, bool)):
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

    def _builtin(self, node: ast.Call) -> None:
        name = ast.unparse(node.func)
        wanted = getattr(node, "wanted", None)  # of a field that is stored
        if len(node.args) != BUILTINS.get(name, 1) or node.keywords:
            raise self.kernel.fault(node, f"{name} takes {BUILTINS.get(name, 1)} numbers")
        for argument in node.args:
            kind = type_of(self.kernel, argument)
            if wanted not in (None, kind) or (name in BUILTINS and kind not in ("float", "int")):
                raise self.kernel.fault(
                    node, f"{ast.unparse(argument)} is {kind}, not {wanted or 'a number'}"
                )

    def _call(self, node: ast.Call, written: set[str], statement: bool) -> None:
        kernel = self.kernel
        for argument in node.args:
            self._expression(argument)
        if not self._is_kernel(node):
            self._builtin(node)
            return
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        function = self.names.get(name)
        if not inspect.isfunction(function) or node.keywords:
            raise kernel.fault(node, f"{name} is not a kernel")
        called = name if name in self.bound.names else ""
        callee = kernel.callees.setdefault(name, read_kernel(function, self.bound, called))
        if len(node.args) != len(callee.parameters):
            raise kernel.fault(node, f"{name} takes {len(callee.parameters)} arguments")
        arrays = []
        for argument, (parameter, kind) in zip(node.args, callee.parameters.items(), strict=True):
            own = type_of(kernel, argument)
            if kind == "array":
                arrays.append(ast.unparse(argument))
            if own != kind and {own, kind} & {"array", "bool"}:
                raise kernel.fault(node, f"{parameter} of {name} is {kind}")
        writing = {
            ast.unparse(argument)
            for argument, parameter in zip(node.args, callee.parameters, strict=True)
            if parameter in callee.mutated
        }
        if any(arrays.count(array) > 1 for array in writing):
            raise kernel.fault(node, "an array is given twice")
        for argument, parameter in zip(node.args, callee.parameters, strict=True):
            if parameter in callee.mutated:
                if not statement:
                    raise kernel.fault(node, "a call that writes to arrays stands alone")
                written.add(ast.unparse(argument))


def is_logic(node: ast.expr) -> bool:
    """A comparison, or and, or, not."""
    negation = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return negation or isinstance(node, ast.Compare | ast.BoolOp)


def type_of(kernel: Kernel, node: ast.expr) -> str:
    """float, int, bool or array."""
    if is_logic(node):
        return "bool"
    if isinstance(node, ast.Constant):
        return type(node.value).__name__
    if isinstance(node, ast.Name):
        if node.id in kernel.arrays:
            return "array"
        known = kernel.parameters.get(node.id) or kernel.variables.get(node.id)
        return known or ("int" if isinstance(kernel.constants[node.id], int) else "float")
    if isinstance(node, ast.UnaryOp):
        return type_of(kernel, node.operand)
    if isinstance(node, ast.IfExp):
        kinds = {type_of(kernel, node.body), type_of(kernel, node.orelse)}
        return "int" if kinds == {"int"} else "float"
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Div):
        kinds = {type_of(kernel, node.left), type_of(kernel, node.right)}
        return "int" if kinds == {"int"} else "float"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        name = node.func.id
        if name in kernel.callees:
            return kernel.callees[name].returns or "float"
        return "int" if name == "int" else "float"
    return "float"
