"""The page: a program in the plain form of its paper, with the quantities that the paper names.

It is what a person reads. The program that runs is another one, with fewer operations; both give
the same values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from ..errors import ProgramError
from . import code as ir_code
from .code import Code, Shape
from .graph import Graph, Node
from .passes import elements, permuted, replayed


@dataclass(frozen=True)
class Quantity:
    """A quantity of an algorithm: w of link 2 is a vector, U of link 2 a matrix, C of 23 a scalar.

    refs: signed references to its elements, row by row; 0 where an element is not needed.
    title: the heading that it stands under, where that is not its link."""

    stem: str
    key: str
    shape: Shape
    refs: tuple[int, ...]
    title: str = ""

    @property
    def name(self) -> str:
        return f"{self.stem}{self.key}"


@dataclass(frozen=True)
class Page:
    """The plain program, the names of its parameters, and its quantities in the paper's order."""

    code: Code
    parameters: tuple[str, ...]
    quantities: tuple[Quantity, ...] = ()
    elsewhere: tuple[str, ...] = ()  # remarks on the values of the program that runs, not on these

    def ordered(self, parameters: tuple[str, ...]) -> Page:
        """The page with its parameters in this order."""
        moves = [self.parameters.index(name) for name in parameters]
        return replace(self, code=permuted(self.code, "p", moves), parameters=parameters)

    def inlined(
        self, graph: Graph, inputs: Mapping[str, Sequence[Any]]
    ) -> tuple[dict[str, list[Any]], list[tuple[str, str, Shape, list[Any]]]]:
        """(outputs, quantities) of the page run inside another trace."""
        scalars = replayed(graph, self.code, inputs)
        listed = [(x.stem, x.key, x.shape, elements(scalars, x.refs)) for x in self.quantities]
        outputs = {name: elements(scalars, out.refs) for name, out in self.code.outputs.items()}
        return outputs, listed


def sines(nodes: Sequence[Node], links: Mapping[int, str]) -> Iterator[tuple[str, str, int]]:
    """(C or S, its key, node) of the cosines and sines of joint variables and their sums: of q2
    and q3 they are C23 and S23. links: of the nodes that are joint variables."""
    sums: list[tuple[str, ...]] = []  # of each node: the links whose variables it adds
    for id, node in enumerate(nodes):
        own: tuple[str, ...] = ()
        if id in links:
            own = (links[id],)
        elif node[0] == "add" and sums[node[1]] and sums[node[2]]:
            own = (*sums[node[1]], *sums[node[2]])
        sums.append(own)
        if node[0] in ("cos", "sin") and sums[node[1]]:
            own = sums[node[1]]
            key = ("_" if any(len(link) > 1 for link in own) else "").join(own)
            yield "CS"[node[0] == "sin"], key, id


def to_json(page: Page) -> dict[str, Any]:
    """The page as JSON data."""
    return {
        "code": ir_code.to_json(page.code),
        "parameters": list(page.parameters),
        "elsewhere": list(page.elsewhere),
        "quantities": [
            [x.stem, x.key, list(x.shape), list(x.refs), *([x.title] if x.title else [])]
            for x in page.quantities
        ],
    }


def from_json(data: Mapping[str, Any]) -> Page:
    """The page of JSON data, verified."""
    code = ir_code.from_json(data["code"])
    quantities = tuple(
        Quantity(str(stem), str(key), tuple(shape), tuple(refs), *map(str, title))
        for stem, key, shape, refs, *title in data["quantities"]
    )
    for x in quantities:
        fits = len(x.refs) == prod(x.shape)
        if not fits or not all(type(r) is int and abs(r) < len(code.nodes) for r in x.refs):
            raise ProgramError(f"the quantity {x.name} refers to a node that does not exist")
    parameters = tuple(map(str, data["parameters"]))
    if (len(parameters),) != code.inputs.get("p", (0,)):
        raise ProgramError("the number of parameter names is not the size of the input p")
    return Page(code, parameters, quantities, tuple(map(str, data["elsewhere"])))
