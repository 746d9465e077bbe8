"""Rows of products of matrices for one state, as LLVM text: elements side by side in a vector.

An element of C = A B is a chain of multiply-adds. Elements of a row of C whose chains read the same
factors of A in the same order are the lanes of one chain of vectors,

    row = a_1 B_1 + (a_2 B_2 + (... + a_K B_K))         B_k a row of B with the signs of its chain

Each lane does the operations that it does alone, so the bits are the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from ...ir.code import Code

if TYPE_CHECKING:
    from .program import Kernel

_LANES, _PRODUCTS = 4, 4  # fewer are not worth their packing
_SIGN = {"mul": 1, "fma": 1, "fnma": -1}
Product = tuple[int, int, int, int]  # sign, factors, the node that adds it


@dataclass(frozen=True)
class Row:
    """Elements (nodes) of a row, the nodes of their chains, and of every product, the first one
    first, the common factor, its sign, and the factors of the lanes with theirs."""

    elements: tuple[int, ...]
    nodes: frozenset[int]
    products: tuple[tuple[int, int, tuple[tuple[int, int], ...]], ...]

    @property
    def last(self) -> int:
        """The node after which all factors are known."""
        return max(self.elements)


def product_rows(code: Code, varying: Sequence[int]) -> list[Row]:
    """The rows of the outputs that are matrices, of nodes that vary."""
    rows = []
    for output in code.outputs.values():
        size = output.shape[-1] if len(output.shape) > 1 else 0
        for first in range(0, prod(output.shape), size) if size >= _LANES else ():
            elements = dict.fromkeys(abs(ref) for ref in output.refs[first : first + size])
            chains = {id: chain for id in elements if (chain := _chain(code, id))}
            row = _row(chains)
            if row and all(varying[id] for id in row.nodes):
                rows.append(row)
    return rows


def _chain(code: Code, id: int) -> list[Product]:
    """The products of a sum of which nothing else reads a part, the last one first."""
    chain = []
    while code.uses[id] == 1 and code.nodes[id][0] in _SIGN:
        op, a, b, *rest = code.nodes[id]
        chain.append((_SIGN[op], a, b, id))
        if not rest:
            return chain
        id = rest[0]
    return []


def _row(chains: dict[int, list[Product]]) -> Row | None:
    """Those of the most frequent length with the most frequent common factors."""
    lengths = Counter(map(len, chains.values()))
    length = max(lengths, key=lambda k: lengths[k], default=0)
    if length < _PRODUCTS:
        return None
    alike = [chain for chain in chains.values() if len(chain) == length]
    factors = []
    for parts in zip(*alike, strict=True):
        times = Counter(factor for _, a, b, _ in parts for factor in sorted({a, b}))
        factors.append(max(times, key=lambda id: times[id]))
    lanes = [
        chain for chain in alike
        if all(x in (a, b) for x, (_, a, b, _) in zip(factors, chain, strict=True))
    ]  # fmt: skip
    if len(lanes) < _LANES:
        return None
    products = []
    for x, parts in zip(factors, zip(*lanes, strict=True), strict=True):
        sign = parts[0][0]
        products.append((x, sign, tuple((s * sign, b if a == x else a) for s, a, b, _ in parts)))
    nodes = frozenset(product[3] for chain in lanes for product in chain)
    return Row(tuple(chain[0][3] for chain in lanes), nodes, tuple(reversed(products)))


def _splat(kernel: Kernel, factor: int) -> str:
    """A factor in all lanes."""
    type, scalar = kernel.type, f"{kernel.kind.type} {kernel.value[factor]}"
    one = kernel.emit(f"insertelement {type} poison, {scalar}, i64 0")
    zeros = f"<{kernel.lanes} x i32> zeroinitializer"
    return kernel.emit(f"shufflevector {type} {one}, {type} poison, {zeros}")


def _packed(kernel: Kernel, factors: Sequence[tuple[int, int]]) -> str:
    """Factors of the lanes with their signs."""
    type, bits = kernel.type, 8 * kernel.kind.bytes
    vector = "poison"
    for lane, (_, id) in enumerate(factors):
        scalar = f"{kernel.kind.type} {kernel.value[id]}"
        vector = kernel.emit(f"insertelement {type} {vector}, {scalar}, i64 {lane}")
    if all(sign > 0 for sign, _ in factors):
        return vector
    whole = f"<{kernel.lanes} x i{bits}>"
    mask = ", ".join(f"i{bits} {0 if sign > 0 else 1 << bits - 1}" for sign, _ in factors)
    raw = kernel.emit(f"bitcast {type} {vector} to {whole}")
    flipped = kernel.emit(f"xor {whole} {raw}, <{mask}>")
    return kernel.emit(f"bitcast {whole} {flipped} to {type}")


def compute_row(kernel: Kernel, row: Row, vectors: dict[object, str]) -> None:
    """The elements of a row, whose factors are known; vectors: those of other rows, by factors."""
    kernel.part()
    kernel.lanes = len(row.elements)
    total = ""
    for factor, sign, others in row.products:
        if (kernel.lanes, factor) not in vectors:
            vectors[kernel.lanes, factor] = _splat(kernel, factor)
        if others not in vectors:
            vectors[others] = _packed(kernel, others)
        a, B = vectors[kernel.lanes, factor], vectors[others]
        if total:
            total = kernel.multiply_add(kernel.negative(a) if sign < 0 else a, B, total)
        else:
            total = kernel.emit(f"fmul {kernel.type} {a}, {B}")
    for lane, id in enumerate(row.elements):
        kernel.value[id] = kernel.emit(f"extractelement {kernel.type} {total}, i64 {lane}")
    kernel.lanes = 1
