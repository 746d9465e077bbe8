"""From a program to equations in sections.

A quantity of the page is one equation: a scalar, a vector or a matrix. What has no name stands
where it is used, or is t1, t2 ... where it is long and used more than once. The order is the
paper's: recursions from the base to the tips and back, link by link, and in a link as the algorithm
lists its quantities; nothing is read before it is written."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import count as count_from
from itertools import groupby
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from ...ir.code import Code, arguments
from ...ir.page import Quantity, sines
from ...ir.passes import expanded_cost
from ..names import Names
from .symbols import elements, index
from .tree import (
    INPUT,
    MOTION,
    PARAMETER,
    TRIG,
    VALUE,
    Name,
    Number,
    Product,
    Signed,
    Sum,
    names_of,
    tree,
)  # fmt: skip

if TYPE_CHECKING:
    from ...program import Program

Shape = tuple[int, ...]
RESERVED = ("sin", "cos", "sqrt", "abs", "sign", "atan2", "min", "max", "if", "pi")
TRIGONOMETRY = ("C", "S")  # cosines and sines, by the joints whose angles are summed
ZERO: Signed = (1, Number(0))
_SMALL = 24  # operations: a program that has no more is written without intermediate values
_SHORT = 4  # operations of a value without a name that may be written twice
_LONGEST, _DEEPEST = 60, 60  # operations of one equation, and how deeply they are nested
_FRACTION = 10  # operations below a line
_LAST = 1_000_000
_OTHERWISE = {"tau": "H"}  # quantities of the page of another model, whose torques are inputs here
_RECURSIONS = ("Forward recursion", "Backward recursion")


@dataclass(frozen=True)
class Equation:
    """name = value: the elements row by row, None where one is not needed; `elements` are their
    symbols."""

    name: str
    shape: Shape
    cells: tuple[Signed | None, ...]
    elements: tuple[str, ...]

    @property
    def reads(self) -> frozenset[str]:
        """Symbols of other equations and of inputs."""
        names = (names_of(cell[1]) for cell in self.cells if cell is not None)
        return frozenset().union(*names) - {*self.elements}

    @property
    def is_symmetric(self) -> bool:
        """A matrix that is its own transpose, and not diagonal."""
        if len(self.shape) != 2 or self.shape[0] != self.shape[1]:
            return False
        n, cells = self.shape[0], self.cells
        pairs = [(cells[i * n + j], cells[j * n + i]) for i in range(n) for j in range(i)]
        return all(x == y for x, y in pairs) and any(x not in (None, ZERO) for x, _ in pairs)


@dataclass(frozen=True)
class Section:
    """Equations under a heading; `part`: the recursion they belong to."""

    part: str
    title: str
    equations: tuple[Equation, ...]


@dataclass(frozen=True)
class Reading:
    """A program to be read; `inputs`, `parameters`: the symbols of their elements."""

    program: Program
    sections: tuple[Section, ...]
    inputs: Mapping[str, tuple[str, ...]]
    parameters: tuple[str, ...]
    rates: Mapping[str, tuple[str, int]] = field(default_factory=dict)  # symbol: variable, dots

    @property
    def equations(self) -> list[Equation]:
        return [equation for section in self.sections for equation in section.equations]

    @property
    def anonymous(self) -> list[Equation]:
        """Values that the paper has no name for."""
        return [x for x in self.equations if x.name[0] == "t" and x.name[1:].isdigit()]


def reading(program: Program) -> Reading:
    """The program as it is read: with the quantities of its page, if it is that page."""
    page = program.page
    if page is not None and page.code is program.code:
        quantities: Sequence[Quantity] = page.quantities
    else:
        quantities = [_labelled(program.code, *item) for item in program.code.labels.items()]
    whole = _Writer(program, quantities).reading()
    if whole is not None:
        return whole
    # two vectors need elements of each other: element by element nothing does
    scalars = [
        Quantity(f"{x.name}_{index(x.shape, k)}" if x.shape else x.name, "", (), (ref,))
        for x in quantities
        for k, ref in enumerate(x.refs)
    ]
    return _Writer(program, scalars).reading()  # type: ignore[return-value]


def with_matrices(page: Reading, parts: Reading) -> Reading:
    """The torques of a page once more, with their matrices: tau = A qdd + C qd + Q + F."""
    results = parts.sections[-1].equations
    factors = {"A": "qdd", "C": "qd"}
    arrays = zip(parts.program.outputs, results, strict=True)
    terms: list[Signed] = []
    for array, equation in arrays:
        name, factor = Name(equation.name), factors.get(array)
        terms.append((1, Product((name, Name(factor))) if factor else name))
    (array,) = page.program.outputs
    torque = Equation(array, (), ((1, Sum(tuple(terms))),), (array,))
    known = {equation.name for equation in page.equations}
    sines = [x for section in parts.sections[:-1] for x in section.equations if x.name not in known]
    section = Section("", "Equation of motion", (torque, *sines, *results))
    return replace(page, sections=(*page.sections, section))


class _Place(NamedTuple):
    """Where an equation stands: recursion, link (negated on the way back), line; a value without a
    name has a number there and stands before what reads it.

    Before the recursions come, -1, the cosines and sines; and where something stands under titles
    of its own, -2 the last of these, -3 the angles that do not read it, -4 the title before ..."""

    phase: int
    link: int
    line: int
    value: int = _LAST


_NOWHERE = _Place(0, -_LAST, 0)  # of values without a name: before what reads them


def _is_angle(place: _Place) -> bool:
    """Is it that of a cosine or sine?"""
    return place.phase < 0 and place.phase % 2 == 1


class _Alias(NamedTuple):
    """A name of a node, which is sign * symbol, and the quantity it is an element of."""

    place: _Place
    sign: int
    symbol: str
    owner: str


class _Entry(NamedTuple):
    """A quantity with its symbols, in its place."""

    quantity: Quantity
    name: str
    symbols: tuple[str, ...]
    place: _Place


class _Writer:
    def __init__(self, program: Program, quantities: Sequence[Quantity]) -> None:
        self.program, self.code, self.nodes = program, program.code, program.code.nodes
        self.names = Names(RESERVED)
        shaped = {name: output.shape for name, output in program.code.outputs.items()}
        self.arrays = {name: self.names.claim(name) if shaped[name] else name for name in shaped}
        self.parameters = tuple(map(self.names.claim, program.parameters))
        self.rates: dict[str, tuple[str, int]] = {}
        shapes = {name: shape for name, shape in self.code.inputs.items() if name != "p"}
        self.inputs = {name: self._elements(name, shape) for name, shape in shapes.items()}
        outputs = self.code.outputs
        self.outputs = {name: self._elements(name, out.shape) for name, out in outputs.items()}
        cost = expanded_cost(self.code)
        self.whole = program.expanded or cost.total + cost.trig <= _SMALL
        kept = TRIGONOMETRY if program.expanded else ()
        quantities = [*quantities, *_angles(program, quantities)]
        if self.whole:
            quantities = [x for x in quantities if x.stem in kept or x.title]
        self.unknowns = set[str]()  # what the equations under a title give: it has no key
        self.titles = tuple(dict.fromkeys(x.title for x in quantities if x.title))
        self.aliases: dict[int, list[_Alias]] = defaultdict(list)
        self.entries = self._entries(quantities)
        self.defining: dict[int, int] = {}  # of nodes with names: operations of what defines them
        self.rest = self._rest()

    # symbols

    def _elements(self, array: str, shape: Shape) -> tuple[str, ...]:
        """The symbols of an array, no two the same."""
        symbols = []
        for wanted, variable, dots in elements(self.program, array, shape):
            symbols.append(self.names.claim(wanted))
            if dots:
                self.rates[symbols[-1]] = variable, dots
        return tuple(symbols)

    def _entries(self, quantities: Sequence[Quantity]) -> list[_Entry]:
        """The quantities in their places; what is nothing but an output is left to the outputs."""
        out = self._out
        only = {id for id, (_, count) in out.items() if self.code.uses[id] == count}
        quantities = [x for x in quantities if any(abs(ref) not in only for ref in x.refs if ref)]
        phases = _phases(self.code, [x for x in quantities if not x.title])
        titles, follows = list(self.titles), self._follows(quantities)
        lines: dict[str, int] = {}
        labels: dict[str, int] = {}
        entries = []
        for x in quantities:
            line, phase = lines.setdefault(x.stem, len(lines)), phases.get(x.stem, 0)
            place = _Place(phase, _LAST, line)
            if x.title:
                place = _Place(2 * (titles.index(x.title) - len(titles)), 0, line)
            elif x.stem in TRIGONOMETRY:
                phase = 2 * (follows[abs(x.refs[0])] - len(titles)) - 1
                place = _Place(phase, labels.setdefault(x.key, len(labels)), line)
            elif (link := _link(x)) is not None:
                own = int(x.key.partition("_")[2] or _LAST)
                place = _Place(phase, -link if phase % 2 else link, line, own)
            x = replace(x, stem=_OTHERWISE.get(x.stem, x.stem)) if x.stem in self.inputs else x
            name = self.names.claim(x.name)
            if x.title and not x.key:
                self.unknowns.add(name)
            cells = [index(x.shape, k) for k in range(len(x.refs))]
            symbols = tuple(self.names.claim(f"{x.name}_{cell}") for cell in cells if x.shape)
            entries.append(_Entry(x, name, symbols or (name,), place))
            for ref, symbol in zip(x.refs, symbols or (name,), strict=True):
                if arguments(self.nodes[abs(ref)]) and abs(ref) not in only:
                    alias = _Alias(place, 1 if ref > 0 else -1, symbol, name)
                    self.aliases[abs(ref)].append(alias)
        for aliases in self.aliases.values():
            aliases.sort(key=lambda alias: alias.place)
        return entries

    def _follows(self, quantities: Sequence[Quantity]) -> list[int]:
        """Of each node: the number of the last title, from 1, under which stands what it reads."""
        titled = {
            abs(ref): self.titles.index(x.title) + 1
            for x in quantities if x.title and not x.key for ref in x.refs
        }  # fmt: skip
        follows: list[int] = []
        for id, node in enumerate(self.nodes):
            read = max((follows[arg] for arg in arguments(node)), default=0)
            follows.append(max(read, titled.get(id, 0)))
        return follows

    @cached_property
    def _out(self) -> dict[int, tuple[str, int]]:
        """Nodes that come out: the symbol, if not negated, and how often."""
        results: dict[int, tuple[str, int]] = {}
        for name, output in self.code.outputs.items():
            for ref, symbol in zip(output.refs, self.outputs[name], strict=True):
                first, count = results.get(abs(ref), ("", 0))
                results[abs(ref)] = first or (symbol if ref > 0 else ""), count + 1
        return results

    def _rest(self) -> dict[int, str]:
        """Values without a name in the paper that need one: outputs that are read again, what is
        long and used more than once, and parts of what would be too long."""
        size, depth = [0] * len(self.nodes), [0] * len(self.nodes)
        most = (100 if self.whole else 1) * _LONGEST
        rest: dict[int, str] = {}
        for id, node in enumerate(self.nodes):
            args = arguments(node)
            if args and id in self.aliases:
                self.defining[id] = 1 + sum(size[arg] or self.defining.get(arg, 0) for arg in args)
            if not args or id in self.aliases:
                continue
            if node[0] == "div" and size[args[1]] > _FRACTION and not self.whole:
                rest[args[1]] = rest.get(args[1], "")  # what is below a line is not broken
                size[args[1]] = depth[args[1]] = 0
            size[id] = 1 + sum(size[arg] for arg in args)
            depth[id] = 1 + max(depth[arg] for arg in args)
            symbol, count = self._out.get(id, ("", 0))
            readers = self.code.uses[id] - count
            often = readers > 1 and size[id] > _SHORT and not self.whole
            again = readers > 0 and symbol and size[id] > _SHORT and not self.whole
            if often or again or (readers and (size[id] > most or depth[id] > _DEEPEST)):
                rest[id] = symbol
                size[id] = depth[id] = 0
        numbers = count_from(1)
        named = sorted(rest.items())
        return {id: symbol or self.names.claim(f"t{next(numbers)}") for id, symbol in named}

    # expressions

    def _leaf(self, id: int, place: _Place) -> Signed | None:
        """The name of a node, as an equation at this place calls it: in the terms of its link."""
        node = self.nodes[id]
        if node[0] == "input":
            if node[1] == "p":
                return 1, Name(self.parameters[node[2]], PARAMETER)
            return 1, Name(self.inputs[node[1]][node[2]], INPUT if node[1] == "q" else MOTION)
        if id in self.rest:
            return 1, Name(self.rest[id], VALUE)
        aliases = self.aliases.get(id)
        if not aliases or place.phase < 0 <= aliases[0].place.phase:
            return None
        if _is_angle(aliases[0].place):
            return aliases[0].sign, Name(aliases[0].symbol, TRIG)
        if aliases[0].owner in self.unknowns:
            return aliases[0].sign, Name(aliases[0].symbol, INPUT)
        if place is _NOWHERE:
            known = [alias for alias in aliases if alias.place.value == _LAST][:1]
        else:
            known = [alias for alias in aliases if alias.place < place]
        if not known and self.defining[id] <= _LONGEST:
            return None  # written out: what comes later is not read here
        known = known or aliases[:1]
        own = [alias for alias in known if abs(alias.place.link) == abs(place.link)]
        # f6 where it is F6, too; of -Vd5_3 = Vd4_2 the nearer
        alias = max(own or known, key=lambda alias: alias.place[:2])
        return alias.sign, Name(alias.symbol, VALUE)

    def _value(self, ref: int, place: _Place, defined: bool = False) -> Signed:
        """The value of a reference: its name, or what defines it."""
        named = None if defined else self._leaf(abs(ref), place)
        if named is not None:
            return (1 if ref > 0 else -1) * named[0], named[1]
        return tree(self.nodes, ref, lambda id: self._leaf(id, place))

    def _equation(self, entry: _Entry) -> Equation:
        x, name, symbols, place = entry
        cells = []
        for ref in x.refs:
            aliases = self.aliases.get(abs(ref))
            defined = bool(aliases) and aliases[0].owner == name  # type: ignore[index]
            cells.append(self._value(ref, place, defined) if ref else None)
        return Equation(name, x.shape, tuple(cells), symbols)

    def _is_told(self, entry: _Entry) -> bool:
        """Is it worth a line though nothing reads it? w1 = [0, 0, qd1] is."""
        leaves = [self.nodes[abs(ref)][0] for ref in entry.quantity.refs]
        return "input" in leaves and set(leaves) <= {"input", "const"}

    def _results(self) -> Iterator[Equation]:
        """What comes out; of three axes a matrix for each of the first."""
        for name, output in self.code.outputs.items():
            symbols, joints = self.outputs[name], self.program.coordinates.get(name, ())
            links = [int(link) if link.isdigit() else _LAST for link, _ in joints]
            links = links if len(links) == len(symbols) else [_LAST] * len(symbols)
            cells = tuple(
                self._value(ref, _Place(_LAST, link, 0))
                for ref, link in zip(output.refs, links, strict=True)
            )
            if len(cells) == 1:
                yield Equation(symbols[0], (), cells, symbols)
                continue
            size = prod(output.shape[-2:]) if len(output.shape) > 2 else len(cells)
            for k in range(0, len(cells), size or 1):
                part = f"{self.arrays[name]}{index(output.shape[:-2], k // size, '_')}"
                shape = output.shape[-2:]
                yield Equation(part, shape, cells[k : k + size], symbols[k : k + size])

    # order

    def reading(self) -> Reading | None:
        """The equations in order; None where quantities need elements of each other."""
        places = {entry.name: entry.place for entry in self.entries}
        listed = {entry.name: self._equation(entry) for entry in self.entries}
        for id, symbol in self.rest.items():
            listed[symbol] = Equation(symbol, (), (self._value(id, _NOWHERE, True),), (symbol,))
        results = list(self._results())
        owners = {cell: x.name for x in listed.values() for cell in x.elements}
        reads = {
            name: {owners[symbol] for symbol in x.reads if symbol in owners} - {name}
            for name, x in listed.items()
        }
        final = {owners[symbol] for x in results for symbol in x.reads if symbol in owners}
        final |= {owners[cell] for x in results for cell in x.elements if cell in owners}
        for k, symbol in enumerate(reversed(self.rest.values())):
            users = [places[name] for name in listed if symbol in reads[name] and name in places]
            first = min(users, default=_Place(_LAST - 1, _LAST, 0))
            places[symbol] = first._replace(value=_LAST - 1 - k)
        told = {entry.name for entry in self.entries if self._is_told(entry)}
        ordered = _ordered(reads, places, final | told)
        if ordered is None:
            return None
        sections = _sections([(places[name], listed[name]) for name in ordered], self.titles)
        outputs = Section("", "Outputs", tuple(results))
        return Reading(self.program, (*sections, outputs), self.inputs, self.parameters, self.rates)


def _labelled(code: Code, id: int, label: str) -> Quantity:
    """The quantity of a label: C23 is the cosine of 23."""
    trigonometric = code.nodes[id][0] in ("cos", "sin") and label[0] in TRIGONOMETRY
    stem, key = (label[0], label[1:]) if trigonometric else (label, "")
    return Quantity(stem, key, (), (id,))


def _angles(program: Program, quantities: Sequence[Quantity]) -> Iterator[Quantity]:
    """The cosines and sines of joint variables and their sums that the page does not name."""
    nodes, joints = program.code.nodes, program.positions
    known = {abs(ref) for x in quantities if x.stem in TRIGONOMETRY for ref in x.refs}
    names = {x.name for x in quantities}
    links = {id: joints[node] for id, node in enumerate(nodes) if node in joints}
    for stem, key, id in sines(nodes, links):
        if id not in known and stem + key not in names:
            yield Quantity(stem, key, (), (id,))


def _link(x: Quantity) -> int | None:
    """The link of a quantity of a link, 0 the base, or of a link and a joint; None of others."""
    return int(x.key.partition("_")[0]) if re.fullmatch(r"\d+(_\d+)?", x.key) else None


def _ordered(
    reads: Mapping[str, set[str]], places: Mapping[str, _Place], final: set[str]
) -> list[str] | None:
    """The names that are needed, each after what it reads, otherwise in their places; None where
    they go round."""
    needed, waiting = set(final), list(final)
    while waiting:
        for name in reads[waiting.pop()] - needed:
            needed.add(name)
            waiting.append(name)
    missing = {name: len(reads[name] & needed) for name in needed}
    readers = defaultdict[str, list[str]](list)
    for name in needed:
        for read in reads[name] & needed:
            readers[read].append(name)
    ready = [(places[name], name) for name, count in missing.items() if not count]
    heapify(ready)
    ordered = []
    while ready:
        _, name = heappop(ready)
        ordered.append(name)
        for reader in readers[name]:
            missing[reader] -= 1
            if not missing[reader]:
                heappush(ready, (places[reader], reader))
    return ordered if len(ordered) == len(needed) else None


def _sections(
    listed: Sequence[tuple[_Place, Equation]], titles: Sequence[str]
) -> Iterator[Section]:
    """Consecutive equations of one link in one recursion; before them what has a title of its own,
    and the cosines and sines."""
    turns = max((place.phase for place, _ in listed if abs(place.link) < _LAST), default=0)
    for (phase, link), group in groupby(
        listed, lambda item: (-1, 0) if _is_angle(item[0]) else item[0][:2]
    ):
        part = _RECURSIONS[phase % 2] if turns and 0 <= phase < _LAST - 1 else ""
        title = f"Link {abs(link)}" if link else "Base"
        if phase < 0:
            title = "Cosines and sines" if phase % 2 else titles[phase // 2]
        elif abs(link) == _LAST:
            part, title = "", ""
        yield Section(part, title, tuple(equation for _, equation in group))


def _phases(code: Code, quantities: Sequence[Quantity]) -> dict[str, int]:
    """In which recursion the quantities of each stem are computed: 0 from the base to the tips, 1
    back, 2 again to the tips. Those that read the links beyond them belong to a way back."""
    owners = defaultdict[int, list[Quantity]](list)
    for x in quantities:
        for ref in x.refs:
            if arguments(code.nodes[abs(ref)]):
                owners[abs(ref)].append(x)
    below: list[frozenset[int]] = []  # of each node: the nearest that belong to quantities
    for node in code.nodes:
        args = arguments(node)
        parts = [frozenset((arg,)) if arg in owners else below[arg] for arg in args]
        below.append(frozenset().union(*parts))
    read = {x.stem: set[int]() for x in quantities}
    ways = {x.stem: set[int]() for x in quantities}
    for x in quantities:
        for ref in x.refs:
            for id in below[abs(ref)]:
                read[x.stem].add(id)
                theirs = [y for y in owners[id] if y.stem not in TRIGONOMETRY]
                links = {link for link in map(_link, theirs) if link is not None}
                own = _link(x)
                if own is not None and links and own not in links:
                    if min(links) > own:
                        ways[x.stem].add(1)
                    elif max(links) < own:
                        ways[x.stem].add(0)
    phases = dict.fromkeys(read, 0)
    for _ in range(len(phases) + 3):
        for stem, ids in read.items():
            others = [[phases[y.stem] for y in owners[id] if y.stem != stem] for id in ids]
            phase = max((min(found) for found in others if found), default=0)
            way = 1 if 1 in ways[stem] else 0 if 0 in ways[stem] else phase % 2
            phases[stem] = min(phase + (phase % 2 != way), 3)
    # of a link and a joint: many; those of a way back after all that belong to a link alone
    many = {x.stem for x in quantities if "_" in x.key and _link(x) is not None}
    late = {stem: 3 if 1 in ways[stem] else 2 for stem in many if phases[stem] == 1}
    return phases | late
