"""Tracing: run an algorithm on expressions and keep what it did as a program.

The algorithm is any function of scalars. It returns its outputs and, if it likes, a record: a
dataclass whose fields are its own quantities (w, wd, F, N ...), by link a scalar, a vector or a
matrix. Names come from there for free: component 3 of F of link 2 is `F2_3`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from math import prod
from typing import Any

from ..exact import Exact
from .code import Code, Shape, gather, reached
from .graph import Expr, Graph
from .identities import identified
from .page import Page, Quantity

_CELLS = "\0cells"
# stem, key, shape and elements of a quantity, and the title it stands under if it has one
Listed = tuple[str, str, Shape, list[Any]] | tuple[str, str, Shape, list[Any], str]
PARAMETERS = "\0p"  # the array of the free symbols of a trace, before they are put in order


class Tracer:
    """Collects the inputs and parameters of one trace, then gathers the program."""

    def __init__(self, graph: Graph | None = None) -> None:
        self.graph = Graph() if graph is None else graph
        self.inputs: dict[str, Shape] = {}
        self.parameters: dict[str, Expr] = {}

    def array(self, name: str, *shape: int) -> list[Any]:
        """A new input array: nested lists of expressions (a flat list for one axis)."""
        self.inputs[name] = shape
        flat: list[Any] = [self.graph.leaf(name, k) for k in range(prod(shape))]
        for size in reversed(shape[1:]):
            flat = [flat[i : i + size] for i in range(0, len(flat), size)]
        return flat

    def parameter(self, name: str) -> Expr:
        """The free symbol of that name; used ones become the input array `p`."""
        if name not in self.parameters:
            self.parameters[name] = self.graph.leaf(PARAMETERS, len(self.parameters))
        return self.parameters[name]

    def program(
        self, outputs: Mapping[str, tuple[Shape, Sequence[Any]]], record: Any = None,
        order: Sequence[str] = (), names: Iterable[tuple[str, int]] = (),
    ) -> tuple[Code, tuple[str, ...]]:  # fmt: skip
        """The program of these outputs and the names of its parameters, used ones only.

        `order` lists parameter names in the order wanted for `p`; others follow as they came.
        `names`: (label, reference) of values that no record holds."""
        code = gather(self.graph, self.inputs, outputs, self._labels((*named(record), *names)))
        return _number_parameters(code, tuple(self.parameters), order)

    def _labels(self, names: Iterable[tuple[str, int]]) -> dict[int, str]:
        """The first name of each node that has one."""
        labels: dict[int, str] = {}
        names_used: set[str] = set()
        for label, ref in names:
            free = ref > 0 and ref not in labels and label not in names_used
            if free and self.graph.nodes[ref][0] not in ("input", "const"):
                labels[ref] = label
                names_used.add(label)
        return labels

    def page(
        self, outputs: Mapping[str, tuple[Shape, Sequence[Any]]], record: Any = None,
        order: Sequence[str] = (), listed: Iterable[Listed] = (),
    ) -> Page:  # fmt: skip
        """The program of these outputs with the quantities of the record and those listed that it
        needs."""
        items: list[Any] = [*quantities(record), *listed]
        labels = self._labels(named(record))
        whole, items = _needed(self.graph, self.inputs, outputs, items, labels)
        whole = identified(whole, {abs(ref) for ref in whole.outputs[_CELLS].refs})
        graph = Graph()
        graph.nodes = list(whole.nodes)
        scalars = {
            name: (out.shape, [Expr(graph, ref) for ref in out.refs])
            for name, out in whole.outputs.items()
        }
        cells = iter(scalars.pop(_CELLS)[1])
        items = [
            (*item[:3], [None if x is None else next(cells) for x in item[3]], *item[4:])
            for item in items
        ]
        whole, items = _needed(graph, whole.inputs, scalars, items, whole.labels)
        whole, parameters = _number_parameters(whole, tuple(self.parameters), order)
        refs = iter(whole.outputs[_CELLS].refs)
        named_ones = tuple(
            Quantity(stem, key, shape, tuple(0 if x is None else next(refs) for x in flat), *title)
            for stem, key, shape, flat, *title in items
        )
        own = {name: output for name, output in whole.outputs.items() if name != _CELLS}
        return Page(replace(whole, outputs=own), parameters, named_ones)


def _needed(
    graph: Graph, inputs: Mapping[str, Shape], outputs: Mapping[str, tuple[Shape, Sequence[Any]]],
    items: Sequence[Any], labels: Mapping[int, str],
) -> tuple[Code, list[Any]]:  # fmt: skip
    """(program, quantities) of these outputs: elements that they do not need are None; the others
    are an output of their own, one after the other."""
    refs = (graph.reference(x) for _, flat in outputs.values() for x in flat)
    live = reached(graph.nodes, refs)

    def needed(x: Any) -> Any:
        return None if type(x) is Expr and abs(x.ref) not in live else x

    items = [(*item[:3], [needed(x) for x in item[3]], *item[4:]) for item in items]
    items = [item for item in items if any(type(x) is Expr for x in item[3])]
    cells = [x for item in items for x in item[3] if x is not None]
    return gather(graph, inputs, {**outputs, _CELLS: ((len(cells),), cells)}, labels), items


def named(record: Any) -> Iterator[tuple[str, int]]:
    """(label, reference) of every traced quantity of a record or records, in field order."""
    for one in _records(record):
        for f in fields(one):
            yield from _named(f.name, getattr(one, f.name), 0)


def _records(record: Any) -> list[Any]:
    """The records of an algorithm that runs others."""
    listed = record if isinstance(record, tuple) else (record,)
    return [one for one in listed if is_dataclass(one) and not isinstance(one, type)]


def _named(label: str, item: Any, depth: int) -> Iterator[tuple[str, int]]:
    if type(item) is Expr:
        yield label, item.ref
    elif isinstance(item, Mapping):  # link number -> quantity
        for key, part in item.items():
            if (text := _key(key)) is not None:
                yield from _named(f"{label}{text}", part, 1)
    elif isinstance(item, list | tuple) or hasattr(item, "rows"):
        parts = getattr(item, "rows", item)
        separator = "_" if depth == 1 else ""
        for k, part in enumerate(parts, 1):
            yield from _named(f"{label}{separator}{k}", part, depth + 1)


def quantities(record: Any) -> Iterator[Listed]:
    """(stem, key, shape, scalars) of every quantity of a record or records, in field order; what
    two records have alike, as the cosines, is that of the first."""
    known: set[tuple[str, str]] = set()
    for one in _records(record):
        for f in fields(one):
            for x in _of_field(f.name, getattr(one, f.name)):
                if x[:2] not in known:
                    known.add(x[:2])
                    yield x


def _of_field(stem: str, item: Any) -> Iterator[tuple[str, str, Shape, list[Any]]]:
    if not isinstance(item, Mapping):
        yield from _quantities(stem, "", item)
        return
    for key, part in item.items():  # link number -> quantity
        if (text := _key(key)) is not None:
            yield from _quantities(stem, text, part)


def _key(key: Any) -> str | None:
    """The indices of a quantity; None of entries of matrices, whose keys are pairs themselves."""
    if isinstance(key, tuple) and any(isinstance(x, tuple) for x in key):
        return None
    return "_".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _quantities(stem: str, key: str, item: Any) -> Iterator[tuple[str, str, Shape, list[Any]]]:
    array = _array(item)
    if array is not None and array[1]:
        yield stem, key, *array


def _array(item: Any) -> tuple[Shape, list[Any]] | None:
    """The shape and the scalars of a scalar, a vector or a matrix; None for anything else."""
    if type(item) is Expr or (isinstance(item, int | float | Exact) and type(item) is not bool):
        return (), [item]
    parts = getattr(item, "rows", item)
    if not isinstance(parts, list | tuple):
        return None
    arrays = [_array(part) for part in parts]
    shapes = {None if array is None else array[0] for array in arrays}
    if len(shapes) != 1 or None in shapes or len(shape := shapes.pop()) > 1:  # type: ignore[arg-type]
        return None
    return (len(arrays), *shape), [x for _, flat in arrays for x in flat]  # type: ignore[misc]


def _number_parameters(
    code: Code, names: tuple[str, ...], order: Sequence[str]
) -> tuple[Code, tuple[str, ...]]:
    """Keep the parameters that are used, in the wanted order, as the input array p."""
    used = {node[2] for node in code.nodes if node[0] == "input" and node[1] == PARAMETERS}
    rank = {name: k for k, name in enumerate(order)}
    listed = sorted(used, key=lambda k: (rank.get(names[k], len(rank)), k))
    if not listed:
        return code, ()
    number = {k: i for i, k in enumerate(listed)}
    nodes = tuple(
        ("input", "p", number[node[2]]) if node[0] == "input" and node[1] == PARAMETERS else node
        for node in code.nodes
    )
    inputs = {**code.inputs, "p": (len(listed),)}
    return Code(inputs, nodes, code.outputs, code.labels), tuple(names[k] for k in listed)
