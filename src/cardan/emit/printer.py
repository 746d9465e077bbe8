"""What all printers share: names, inlining, precedence, the order of statements, the functions.

A language is a table of spellings, a statement form and a function form (see c.py and python.py;
docs/adding-a-language.md is a worked example). A value gets a statement of its own when it has a
name in the paper or is used more than once; what is used once stands where it is used. Parentheses
keep the order of evaluation of the program, so every language computes the same sums in the same
order. A printer prints one function; a file holds one, or when it is split setup, loop and the one
that calls both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..errors import ModelError
from ..ir.code import arguments
from ..ir.spell import ATOM, PRODUCT, SUM, infix
from .header import header
from .lower import lower
from .names import Names
from .options import CHUNK, WHOLE, Options
from .statements import Part, Spelling, Statement, cut

if TYPE_CHECKING:
    from ..program import Program


@dataclass(frozen=True)
class Function:
    """A function to be defined: the whole model, or a part of it that shares a workspace."""

    name: str
    inputs: tuple[str, ...]  # names of the program's arrays, not yet spelled
    outputs: tuple[str, ...]
    body: tuple[str, ...]
    names: tuple[str, ...] = ()  # scalars declared in the body
    is_part: bool = False
    workspace: bool = False  # a part reads or writes it
    unread: tuple[str, ...] = ()  # inputs that the body never reads


class Printer:
    """Base of the languages. Subclasses fill the tables and write `define`."""

    language: ClassVar[str]
    honours: ClassVar[frozenset[str]] = frozenset({"function", "dtype", "expanded", "split"})
    reserved: ClassVar[frozenset[str]] = frozenset()
    case_sensitive: ClassVar[bool] = True
    longest_name: ClassVar[int] = 200
    separator: ClassVar[str] = "_"
    flat: ClassVar[bool] = True  # matrices are flat arrays, row by row
    first: ClassVar[int] = 0  # the first index
    # operation -> format of its spelled arguments
    functions: ClassVar[dict[str, str]] = {}
    declaration: ClassVar[str] = "    {name} = {value}"
    assignment: ClassVar[str] = "    {target} = {value}"
    item: ClassVar[str] = "{array}[{k}]"
    call: ClassVar[str] = "    {function}({arguments})"
    longest: ClassVar[int] = 24  # operations in one statement
    expanded_longest: ClassVar[int] = 1_000_000  # the same when intermediate variables are unwanted
    deepest: ClassVar[int] = 60  # operations nested in one statement
    composes: ClassVar[bool] = False  # has a form for a function that calls setup and loop
    calls_ahead: ClassVar[bool] = False  # a function may call those below: that one stands first
    pair: tuple[Printer, Printer] | None = None  # setup and loop, in the function that calls them

    def __init__(self, program: Program, name: str, options: Options, names: Names) -> None:
        self.program = program
        self.options = options
        self.code = lower(program.code, self.functions_of(options.dtype))
        self.table = self.functions_of(options.dtype)
        self.names = names
        self.name = name
        self.arrays = {name: self.names.claim(name) for name in self.code.inputs}
        self.results = {name: self.names.claim(name) for name in self.code.outputs}
        self.symbols = {k: self.names.claim(name) for k, name in enumerate(program.parameters)}
        self.reserve()
        self.spelled: dict[int, Spelling] = {}
        self.size: dict[int, int] = {}  # operations inlined so far
        self.depth: dict[int, int] = {}  # and how deeply

    @classmethod
    def scope(cls) -> Names:
        """The names of a new file."""
        return Names(
            cls.reserved,
            case_sensitive=cls.case_sensitive,
            longest=cls.longest_name,
            separator=cls.separator,
        )

    @classmethod
    def functions_of(cls, dtype: str) -> dict[str, str]:
        """The spellings of the functions for a type of scalar."""
        return cls.functions

    @classmethod
    def file(cls, program: Program, printers: Sequence[Printer]) -> str:
        """The whole file: opening with the header, the functions, closing."""
        lines = [*cls.opening(header(program, printers), printers)]
        whole = [printer for printer in printers if printer.pair and cls.calls_ahead]
        for k, printer in enumerate([*whole, *(x for x in printers if x not in whole)]):
            lines += [*([""] if k else []), *printer.text()]
        return "\n".join(line.rstrip() for line in [*lines, *cls.closing(printers), ""])

    @classmethod
    def opening(cls, header: list[str], printers: Sequence[Printer]) -> list[str]:
        return [f"# {line}" for line in header]

    @classmethod
    def closing(cls, printers: Sequence[Printer]) -> list[str]:
        return []

    def reserve(self) -> None:
        """Claim names the language needs for itself, before labels claim theirs."""

    # functions

    def define(self, function: Function) -> list[str]:
        """The text of a function."""
        raise NotImplementedError

    def types(self) -> list[str]:
        """What is declared before the functions: structures."""
        return []

    def start(self) -> list[str]:
        """Statements before the work of the model's own function: conversions, storage."""
        return []

    def finish(self) -> list[str]:
        """Statements after it: what is returned."""
        return []

    def workspace_storage(self) -> list[str]:
        """The statement that makes the workspace array."""
        return []

    @cached_property
    def parts(self) -> tuple[list[Part], int]:
        """The statements, cut into functions if there are many, and the size of the workspace."""
        if self.pair:
            return [Part(())], 0
        statements = list(self.statements())
        chunk, count = self.options.chunk, len(statements)
        if "chunk" not in self.honours or chunk == 0 or count <= (chunk or WHOLE):
            return [Part(tuple(statements))], 0
        return cut(statements, chunk or CHUNK)

    @cached_property
    def workspace(self) -> str:
        return self.names.claim("w")

    def text(self) -> list[str]:
        """The function of the model, after its parts if it is cut."""
        if self.pair:
            return self.composition(*self.pair)
        parts, size = self.parts
        read = {array for part in parts for array in self.inputs_of(part)}
        lines = self.types()
        names, body = parts[0].names, self.body(parts[0])
        if len(parts) > 1:
            names, body = [], self.workspace_storage() if size else []
            for k, part in enumerate(parts, 1):
                function = self.part(self.names.claim(f"{self.name}_part{k}"), part)
                lines += [*self.define(function), ""]
                body.append(self.called(function))
        whole = Function(
            self.name, tuple(self.code.inputs), tuple(self.code.outputs),
            (*self.start(), *body, *self.finish()), tuple(names),
            unread=tuple(array for array in self.code.inputs if array not in read),
        )  # fmt: skip
        return [*lines, *self.define(whole)]

    def composition(self, setup: Printer, loop: Printer) -> list[str]:
        """The function of the model where it only calls setup and loop."""
        return self.define(self.composed(self.calls(setup.name, loop.name)))

    def composed(self, body: Sequence[str], names: Sequence[str] = ()) -> Function:
        """That function, with these statements and scalars."""
        inputs, outputs = tuple(self.code.inputs), tuple(self.code.outputs)
        return Function(self.name, inputs, outputs, tuple(body), tuple(names))

    def calls(self, setup: str, loop: str) -> list[str]:
        """Its statements: the value of loop, with that of setup as its last argument."""
        arguments = ", ".join([*self.arrays.values(), f"{setup}({self.arrays['p']})"])
        return [f"    return {loop}({arguments})"]

    def part(self, name: str, part: Part) -> Function:
        outputs = {s.output for s in part.statements if s.output}
        return Function(
            name,
            tuple(array for array in self.code.inputs if array in self.inputs_of(part)),
            tuple(array for array in self.code.outputs if array in outputs),
            tuple(self.body(part)),
            tuple(part.names),
            is_part=True,
            workspace=bool(part.loads or part.stores),
        )

    def inputs_of(self, part: Part) -> set[str]:
        """The input arrays a part reads."""
        read = {name for s in part.statements for name in s.reads}
        return {array for array in self.code.inputs if f"@{array}" in read}

    def called(self, function: Function) -> str:
        """The statement that calls a part."""
        work = [self.workspace] if function.workspace else []
        arguments = ", ".join([*self.read_by(function), *self.set_by(function), *work])
        return self.call.format(function=function.name, arguments=arguments)

    def read_by(self, function: Function) -> list[str]:
        """The arguments a function reads."""
        return [self.arrays[name] for name in function.inputs]

    def set_by(self, function: Function) -> list[str]:
        """The arguments it sets."""
        return [self.results[name] for name in function.outputs]

    # spelling

    def number(self, x: float) -> str:
        """The shortest decimal that reads back as the same number of the scalar type."""
        if self.options.dtype == "float64":
            return repr(float(x))
        with np.errstate(over="ignore"):
            single = np.float32(x)
        if not np.isfinite(single):
            raise ModelError(f"the constant {x!r} is too large for float32: use float64")
        return str(single)

    def constant(self, value: object) -> Spelling:
        return Spelling(self.number(float(value)), ATOM)  # type: ignore[arg-type]

    def element(self, array: str, k: int) -> str:
        """Element k of an input array."""
        return self.at(self.arrays[array], self.code.inputs[array], k)

    def result(self, array: str, k: int) -> str:
        """Element k of an output array, to be assigned."""
        return self.at(self.results[array], self.code.outputs[array].shape, k)

    def at(self, array: str, shape: tuple[int, ...], k: int) -> str:
        index = [k + self.first] if self.flat else [i + self.first for i in position(shape, k)]
        return self.item.format(array=array, k=", ".join(map(str, index)))

    def declare(self, name: str, value: str) -> str:
        """The statement that gives a value a name."""
        return self.declaration.format(name=name, value=value)

    def operation(self, op: str, args: list[Spelling]) -> Spelling:
        """The text of one operation and its precedence."""
        reads = frozenset().union(*(arg.reads for arg in args))
        if op in ("add", "sub", "mul", "div"):
            return Spelling(*infix(op, args[0][:2], args[1][:2]), reads)
        if op == "neg":
            return Spelling(self.minus(args[0]), SUM, reads)
        return Spelling(self.table[op].format(*(arg.text for arg in args)), ATOM, reads)

    def minus(self, x: Spelling) -> str:
        return f"-{x.text}" if x.precedence >= PRODUCT else f"-({x.text})"

    # statements

    def statements(self) -> Iterator[Statement]:
        """One statement per value that is named or shared, then one per output element."""
        uses, labels = self.code.uses, self.code.labels
        read = {node[2] for node in self.code.nodes if node[:2] == ("input", "p")}
        for k, symbol in self.symbols.items():  # p[k] gets a statement with the parameter's name
            if k in read:
                reads = frozenset({"@p"})
                yield Statement(symbol, self.element("p", k), reads, free=True)
        for id, node in enumerate(self.code.nodes[1:], 1):
            if node[0] in ("const", "input"):
                self.spelled[id], self.size[id], self.depth[id] = self.leaf(node), 0, 0
                continue
            size = 1 + sum(self.size[arg] for arg in arguments(node))
            depth = 1 + max(self.depth[arg] for arg in arguments(node))
            spelling = self.operation(node[0], [self.spelled[arg] for arg in node[1:]])
            if self.is_inlined(id, uses[id], size, depth):
                self.spelled[id], self.size[id], self.depth[id] = spelling, size, depth
                continue
            name = self.name_of(id, labels.get(id, f"t{id}"))
            yield Statement(name, spelling.text, spelling.reads)
            self.spelled[id] = Spelling(name, ATOM, frozenset({name}))
            self.size[id], self.depth[id] = 0, 0
        yield from self.outputs()

    def leaf(self, node: tuple[object, ...]) -> Spelling:
        if node[0] == "const":
            return self.constant(node[1])
        array, k = str(node[1]), int(node[2])  # type: ignore[call-overload]
        if array == "p":
            symbol = self.symbols[k]
            return Spelling(symbol, ATOM, frozenset({symbol}))
        return Spelling(self.element(array, k), ATOM, frozenset({f"@{array}"}))

    def name_of(self, id: int, wanted: str) -> str:
        return self.names.claim(wanted)

    def outputs(self) -> Iterator[Statement]:
        for name, output in self.code.outputs.items():
            for k, ref in enumerate(output.refs):
                spelling = self.spelled[abs(ref)]
                text = spelling.text if ref > 0 else self.minus(spelling)
                yield Statement("", text, spelling.reads, output=name, k=k)

    def is_inlined(self, id: int, uses: int, size: int, depth: int) -> bool:
        node = self.code.nodes[id]
        if node[0] == "neg" and self.code.nodes[node[1]][0] in ("const", "input"):
            return True
        if depth >= self.deepest:
            return False
        if self.program.expanded:
            return node[0] not in ("sin", "cos") and size < self.expanded_longest
        return uses == 1 and id not in self.code.labels and size < self.longest

    def body(self, part: Part) -> list[str]:
        """The statements of a part as lines."""
        slot = self.first
        lines = [
            self.declare(name, self.item.format(array=self.workspace, k=k + slot))
            for name, k in part.loads
        ]
        for s in part.statements:
            if s.output:
                target = self.result(s.output, s.k)
                lines.append(self.assignment.format(target=target, value=s.value))
            else:
                lines.append(self.declare(s.name, s.value))
        for name, k in part.stores:
            target = self.item.format(array=self.workspace, k=k + slot)
            lines.append(self.assignment.format(target=target, value=name))
        return lines


def position(shape: tuple[int, ...], k: int) -> list[int]:
    """The indices of element k, row by row, of an array."""
    index = []
    for axis in range(len(shape)):
        rest = prod(shape[axis + 1 :])
        index.append(k // rest)
        k %= rest
    return index
