"""Records, vectors, integers and booleans of a kernel, lowered to flat arrays of floats.

    arm.joints[j].sigma     arm[arm_at + 9 * j + 35] != 0.0       a boolean field
    joint = arm.joints[j]   joint_at = arm_at + 9 * j + 30        a view, as in Python
    f(arm.joints[j])        f(arm, arm_at + 9 * j + 30)           a parameter is an array, an offset
    p = a + cross(b, c)     p = empty(3); p[0] = ...              vectors, component by component
    arm.base = frame        for k in range(12): arm[k + 6] = ...  a copy of a record
    order = integers(7)     order = zeros(7)                      order[k] is int(order[k])

What comes out is the language without records (language.py), so no printer knows of them. Offsets
that are zero wherever a kernel is called are taken away again (`kernels_of`).
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import ProgramError
from .records import ARRAYS, OPEN, Layout

_NEW = ("zeros", "empty")
_LISTS = {"integers": "int", "booleans": "bool"}


@dataclass(frozen=True)
class Place:
    """Numbers of an array: where they begin and what they are."""

    base: str
    terms: tuple[ast.expr, ...]
    constant: int
    kind: str  # float, int, bool, vector or record
    count: int | None = None
    layout: Layout | None = None

    @property
    def scalar(self) -> bool:
        return self.count is None and self.kind not in ("vector", "record")

    @property
    def fixed(self) -> bool:
        """Does it stay where it is? Nothing but the offset of a parameter is in its index."""
        return all(isinstance(term, ast.Name) and term.id == offset_of(self.base)
                   for term in self.terms)  # fmt: skip

    def index(self) -> ast.expr:
        terms: list[ast.expr] = [*self.terms]
        if self.constant or not terms:
            terms.append(ast.Constant(self.constant))
        total = terms[0]
        for term in terms[1:]:
            total = ast.BinOp(total, ast.Add(), term)
        return total

    def number(self, k: int = 0) -> ast.expr:
        """The number k places on."""
        index = replace(self, constant=self.constant + k).index()
        return ast.Subscript(ast.Name(self.base, ast.Load()), index, ast.Load())

    def loaded(self) -> ast.expr:
        number = self.number()
        if self.kind == "int":
            return ast.Call(ast.Name("int", ast.Load()), [number], [])
        if self.kind == "bool":
            return ast.Compare(number, [ast.NotEq()], [ast.Constant(0.0)])
        return number


def offset_of(name: str) -> str:
    """The name of the offset of a parameter or of a view."""
    return f"{name}_at"


def parameter_kinds(
    function: Callable[..., Any], names: dict[str, Any]
) -> list[tuple[str, str, Layout | None]]:
    """(name, annotation, layout of a record) of every parameter; `names` are bound."""
    kinds = []
    for name, parameter in inspect.signature(function).parameters.items():
        text = str(parameter.annotation)
        layout = getattr(names.get(text, function.__globals__.get(text)), "layout", None)
        kinds.append((name, text, layout if isinstance(layout, Layout) else None))
    return kinds


def _place_of(name: str, text: str, layout: Layout | None) -> Place | None:
    """Where a parameter stands that is an array and an offset; None for the others."""
    terms = (ast.Name(offset_of(name), ast.Load()),)
    if layout is not None:
        return Place(name, terms, 0, "record", None, layout)
    if text == "Vector":
        return Place(name, terms, 0, "vector")
    if text == "Part" or ARRAYS.get(text, "float") != "float":
        return Place(name, terms, 0, ARRAYS.get(text, "float"), OPEN)
    return None


@dataclass
class Lowering(ast.NodeTransformer):
    """Lowers one function; `fault` makes the error of a node."""

    names: dict[str, Any]
    fault: Callable[[ast.AST, str], ProgramError]
    bound: dict[str, Any] = field(default_factory=dict)  # names that stand for something else
    places: dict[str, Place] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)  # local records, vectors and lists
    parameters: set[str] = field(default_factory=set)
    offsets: tuple[str, ...] = ()  # parameters that this adds
    assigned: Counter[str] = field(default_factory=Counter)  # how often, in the text

    def function(self, node: ast.FunctionDef, function: Callable[..., Any]) -> ast.FunctionDef:
        """The function on flat arrays; the node itself when it has no records."""
        args: list[ast.arg] = []
        for arg, (name, text, layout) in zip(
            node.args.args, parameter_kinds(function, self.bound), strict=True
        ):
            self.parameters.add(name)
            place = _place_of(name, text, layout)
            if place is None:
                args.append(arg)
                continue
            self.places[name] = place
            args.append(ast.arg(name, ast.Name("Array", ast.Load())))
            args.append(ast.arg(offset_of(name), ast.Name("int", ast.Load())))
            self.offsets += (offset_of(name),)
        stored = [x.id for x in ast.walk(node) if isinstance(x, ast.Name)
                  and isinstance(x.ctx, ast.Store)]  # fmt: skip
        self.assigned.update(stored)
        arguments = ast.arguments([], args, None, [], [], None, [])
        body = self.block(node.body)
        lowered = ast.FunctionDef(node.name, arguments, body, [], node.returns)
        return ast.fix_missing_locations(ast.copy_location(lowered, node))

    # places

    def place(self, node: ast.expr) -> Place | None:
        """The numbers that a name, x.field or x[i] stands for; None for what is not of a record."""
        if isinstance(node, ast.Name):
            return self.places.get(node.id)
        if isinstance(node, ast.Attribute):
            return self.field(node)
        if not isinstance(node, ast.Subscript):
            return None
        whole = self.place(node.value)
        if whole is None:
            return None
        if whole.count is None and whole.kind != "vector":
            raise self.fault(node, f"{ast.unparse(node.value)} is one {whole.kind}, not several")
        stride = whole.layout.size if whole.layout else 1
        kind = "float" if whole.kind == "vector" else whole.kind
        element = replace(whole, kind=kind, count=None)
        index = self.visit(node.slice)
        if isinstance(index, ast.Constant) and isinstance(index.value, int):
            return replace(element, constant=element.constant + stride * index.value)
        if stride > 1:
            index = ast.BinOp(ast.Constant(stride), ast.Mult(), index)
        return replace(element, terms=(*element.terms, index))

    def field(self, node: ast.Attribute) -> Place:
        whole = self.place(node.value)
        text = ast.unparse(node.value)
        if whole is None or whole.layout is None or whole.count is not None:
            raise self.fault(node, f"{text} is not a record")
        member = whole.layout.fields.get(node.attr)
        if member is None:
            known = ", ".join(whole.layout.fields)
            raise self.fault(node, f"{whole.layout.name} has no field {node.attr!r} ({known})")
        return replace(
            whole, constant=whole.constant + member.offset, kind=member.kind, count=member.count,
            layout=member.record.layout if member.record else None,
        )  # fmt: skip

    # values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.places:
            raise self.fault(node, f"{node.id} is not a number")
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self.scalar(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if self.place(node) is None:
            index = self.visit(node.slice)
            return ast.copy_location(ast.Subscript(node.value, index, node.ctx), node)
        return self.scalar(node)

    def scalar(self, node: ast.expr) -> ast.expr:
        place = self.place(node)
        assert place is not None
        if not place.scalar:
            raise self.fault(node, f"{ast.unparse(node)} is not a number")
        return ast.copy_location(place.loaded(), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "dot" and len(node.args) == 2:
            parts = [
                ast.BinOp(self.component(node.args[0], k), ast.Mult(),
                          self.component(node.args[1], k)) for k in range(3)
            ]  # fmt: skip
            total = ast.BinOp(ast.BinOp(parts[0], ast.Add(), parts[1]), ast.Add(), parts[2])
            return ast.copy_location(total, node)
        function = self.names.get(name)
        if not inspect.isfunction(function) or getattr(function, "__module__", "").endswith(
            "kernel.language"
        ):
            return ast.copy_location(
                ast.Call(node.func, [self.visit(x) for x in node.args], node.keywords), node
            )
        args: list[ast.expr] = []
        kinds = parameter_kinds(function, self.bound)
        if len(kinds) != len(node.args):
            raise self.fault(node, f"{name} takes {len(kinds)} arguments")
        for argument, (parameter, text, layout) in zip(node.args, kinds, strict=True):
            wanted = _place_of(parameter, text, layout)
            args += self.argument(node, argument, wanted, f"{parameter} of {name}")
        return ast.copy_location(ast.Call(node.func, args, []), node)

    def argument(
        self, node: ast.Call, argument: ast.expr, wanted: Place | None, name: str
    ) -> list[ast.expr]:
        place = self.place(argument)
        if wanted is None:
            if place is None or place.scalar:
                return [self.visit(argument)]
            if place.base in self.own and not place.terms and not place.constant:
                return [ast.Name(place.base, ast.Load())]  # all of a local record is an array
            raise self.fault(node, f"{name} is a whole array: annotate it as Part")
        if place is None:
            if wanted.kind != "float" or not isinstance(argument, ast.Name):
                raise self.fault(node, f"{name} is not given {ast.unparse(argument)}")
            return [argument, ast.Constant(0)]
        plain = wanted.kind == "float" and (place.kind == "vector" or place.count is not None)
        fits = place.kind == wanted.kind and (
            wanted.layout is None or (place.layout is not None and place.layout.fits(wanted.layout))
        )
        if not (fits and (place.count is None) == (wanted.count is None)) and not plain:
            raise self.fault(node, f"{name} is not given {ast.unparse(argument)}")
        return [ast.Name(place.base, ast.Load()), place.index()]

    # vectors

    def is_vector(self, node: ast.expr) -> bool:
        if isinstance(node, ast.BinOp):
            return self.is_vector(node.left) or self.is_vector(node.right)
        if isinstance(node, ast.UnaryOp):
            return self.is_vector(node.operand)
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Name) and node.func.id == "cross"
        place = self.place(node)
        return place is not None and place.kind == "vector" and place.count is None

    def component(self, node: ast.expr, k: int) -> ast.expr:
        """Component k of a vector."""
        if not self.is_vector(node):
            raise self.fault(node, f"{ast.unparse(node)} is not a vector")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return ast.UnaryOp(node.op, self.component(node.operand, k))
        if isinstance(node, ast.BinOp):
            return self.combined(node, k)
        if isinstance(node, ast.Call):
            i, j = (k + 1) % 3, (k + 2) % 3
            a, b = node.args
            left = ast.BinOp(self.component(a, i), ast.Mult(), self.component(b, j))
            right = ast.BinOp(self.component(a, j), ast.Mult(), self.component(b, i))
            return ast.BinOp(left, ast.Sub(), right)
        place = self.place(node)
        assert place is not None
        return place.number(k)

    def combined(self, node: ast.BinOp, k: int) -> ast.expr:
        both = self.is_vector(node.left) and self.is_vector(node.right)
        if both != isinstance(node.op, ast.Add | ast.Sub) or not isinstance(
            node.op, ast.Add | ast.Sub | ast.Mult | ast.Div
        ):
            raise self.fault(node, "vectors are added, or multiplied by a number")
        sides = [
            self.component(x, k) if self.is_vector(x) else self.visit(copy.deepcopy(x))
            for x in (node.left, node.right)
        ]
        return ast.BinOp(sides[0], node.op, sides[1])

    # statements

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        lowered: list[ast.stmt] = []
        for node in body:
            for new in self.statement(node):
                lowered.append(ast.fix_missing_locations(ast.copy_location(new, node)))
        return lowered

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            return self.assignment(node, node.targets[0], node.value)
        if isinstance(node, ast.AugAssign):
            place = self.place(node.target)
            if place is None:
                target = node.target
                if isinstance(target, ast.Subscript):
                    target = ast.Subscript(target.value, self.visit(target.slice), ast.Store())
                return [ast.AugAssign(target, node.op, self.visit(node.value))]
            load = ast.parse(ast.unparse(node.target), mode="eval").body
            value = ast.copy_location(ast.BinOp(load, node.op, node.value), node)
            return self.assignment(node, node.target, ast.fix_missing_locations(value))
        if isinstance(node, ast.For):
            return [ast.For(node.target, self.visit(node.iter), self.block(node.body), [])]
        if isinstance(node, ast.While):
            return [ast.While(self.visit(node.test), self.block(node.body), [])]
        if isinstance(node, ast.If):
            return [ast.If(self.visit(node.test), self.block(node.body), self.block(node.orelse))]
        if isinstance(node, ast.Return | ast.Expr) and node.value is not None:
            return [type(node)(self.visit(node.value))]
        return [node]

    def assignment(self, node: ast.stmt, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        if isinstance(target, ast.Name):
            return self.named(node, target.id, value)
        place = self.place(target)
        if place is None:
            if isinstance(target, ast.Subscript):
                target = ast.Subscript(target.value, self.visit(target.slice), ast.Store())
            return [ast.Assign([target], self.visit(value))]
        if place.kind == "vector" and place.count is None:
            return self.vector(place, value)
        if place.kind == "record" and place.count is None:
            return [self.copied(node, place, value)]
        if not place.scalar:
            raise self.fault(node, f"{ast.unparse(target)} is not a number")
        number = self.visit(value)
        if place.kind != "float":
            number = ast.Call(ast.Name("float", ast.Load()), [number], [])
            number.wanted = place.kind  # type: ignore[attr-defined]
        return [ast.Assign([_stored(place.number())], number)]

    def copied(self, node: ast.stmt, place: Place, value: ast.expr) -> ast.stmt:
        """A record in the place of another of its kind: number by number."""
        other = self.place(value)
        if other is None or (other.kind, other.count) != ("record", None) or (
            other.layout != place.layout
        ):  # fmt: skip
            raise self.fault(node, f"{ast.unparse(value)} is not such a record")
        k = ast.Name("number_", ast.Load())
        assert place.layout is not None
        to, of = (replace(x, terms=(*x.terms, k)).number() for x in (place, other))
        size = ast.Call(ast.Name("range", ast.Load()), [ast.Constant(place.layout.size)], [])
        return ast.For(ast.Name(k.id, ast.Store()), size, [ast.Assign([_stored(to)], of)], [])

    def named(self, node: ast.stmt, name: str, value: ast.expr) -> list[ast.stmt]:
        """name = value: a new record, vector or list, a view, or a plain variable."""
        new = self.new(value)
        if new is not None:
            size, place = new
            self.define(node, name, replace(place, base=name))
            self.own.add(name)
            function = "empty" if isinstance(value, ast.Call) and _called(value) == "empty" else (
                "zeros")  # fmt: skip
            call = ast.Call(ast.Name(function, ast.Load()), [ast.Constant(size)], [])
            return [ast.Assign([ast.Name(name, ast.Store())], call)]
        place_of = self.place(value) if not isinstance(value, ast.Name) else None
        if place_of is not None and not place_of.scalar:
            return self.view(node, name, place_of)
        if isinstance(value, ast.Name) and value.id in self.places:
            raise self.fault(node, f"{value.id} has a name already")
        if self.is_vector(value):
            begun: list[ast.stmt] = []
            if name not in self.own:
                call = ast.Call(ast.Name("empty", ast.Load()), [ast.Constant(3)], [])
                begun = [ast.Assign([ast.Name(name, ast.Store())], call)]
                parts = self.vector(Place(name, (), 0, "vector"), value)
                self.define(node, name, Place(name, (), 0, "vector"))
                self.own.add(name)
                return begun + parts
            return self.vector(self.places[name], value)
        if name in self.places:
            raise self.fault(node, f"{name} was not a number")
        return [ast.Assign([ast.Name(name, ast.Store())], self.visit(value))]

    def define(self, node: ast.stmt, name: str, place: Place) -> None:
        known = self.places.get(name)
        if name in self.parameters:
            raise self.fault(node, "parameters are not assigned")
        if known is not None and _shape(known) != _shape(place):
            raise self.fault(node, f"{name} was something else before")
        self.places[name] = place

    def new(self, value: ast.expr) -> tuple[int, Place] | None:
        """Size and kind of zeros(Record), empty(Vector), integers(N), booleans(N)."""
        if not isinstance(value, ast.Call) or len(value.args) != 1:
            return None
        name, (argument,) = _called(value), value.args
        if name in _LISTS:
            size = self.names.get(argument.id) if isinstance(argument, ast.Name) else (
                getattr(argument, "value", None))  # fmt: skip
            if not isinstance(size, int):
                raise self.fault(value, "a constant integer is expected")
            return size, Place("", (), 0, _LISTS[name], OPEN)
        if name in _NEW and isinstance(argument, ast.Name):
            if argument.id == "Vector":
                return 3, Place("", (), 0, "vector")
            layout = getattr(self.names.get(argument.id), "layout", None)
            if isinstance(layout, Layout):
                if layout.open:
                    raise self.fault(value, f"{argument.id} has no fixed size")
                return layout.size, Place("", (), 0, "record", None, layout)
        return None

    def view(self, node: ast.stmt, name: str, place: Place) -> list[ast.stmt]:
        """Another name for a part of a record. Its offset is a variable if it can change."""
        if name in self.own:
            raise self.fault(node, f"{name} was something else before")
        if place.fixed and self.assigned[name] == 1:
            self.define(node, name, place)
            return []
        offset = ast.Name(offset_of(name), ast.Load())
        self.define(node, name, replace(place, terms=(offset,), constant=0))
        return [ast.Assign([ast.Name(offset.id, ast.Store())], place.index())]

    def vector(self, place: Place, value: ast.expr) -> list[ast.stmt]:
        """Three assignments; through variables where a component is used after it is assigned."""
        parts = [self.component(value, k) for k in range(3)]
        nodes = list(ast.walk(value))
        known = [self.places.get(x.id) for x in nodes if isinstance(x, ast.Name)]
        uses = any(other is not None and other.base == place.base for other in known)
        crossed = any(isinstance(x, ast.Call) and _called(x) == "cross" for x in nodes)
        if not (uses and crossed):
            return [ast.Assign([_stored(place.number(k))], parts[k]) for k in range(3)]
        names = [f"component_{k}" for k in range(3)]
        before: list[ast.stmt] = [
            ast.Assign([ast.Name(x, ast.Store())], part)
            for x, part in zip(names, parts, strict=True)
        ]
        return before + [
            ast.Assign([_stored(place.number(k))], ast.Name(names[k], ast.Load())) for k in range(3)
        ]


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _stored(node: ast.expr) -> ast.expr:
    assert isinstance(node, ast.Subscript)
    return ast.Subscript(node.value, node.slice, ast.Store())


def _shape(place: Place) -> tuple[Any, ...]:
    return place.base, place.kind, place.count, place.layout
