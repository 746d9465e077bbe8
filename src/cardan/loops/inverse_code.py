"""Inverse geometry of robots with closed loops as source text: the kernel of inverse_kernels.py
with the method of the chain in its slot, and the frames and the plan of the loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..emit import require_name
from ..emit.header import quoted
from ..errors import ModelError
from ..inverse.code import chain_text
from ..ir.code import Code, reordered
from ..kernel.language import Bound, kernels_of
from ..kernel.text import Face, kernel_language, kernel_source
from .analytic import plan_of
from .code import frames_code, in_metres, require_numbers, require_steps
from .inverse_kernels import OPEN_BY, ROWS, closed_inverse, closed_inverse_of_symbols

if TYPE_CHECKING:
    from .inverse import Closure


def emitted(ik: Closure, language: str, function: str, complete: bool = False) -> str:
    """Self-contained code, in a language of kernels, of all configurations of a pose."""
    kernel_language(language)
    if ik.arm.plane:
        raise ModelError("code of closed loops takes given joints, not an arm angle")
    geometry, link = ik.loops, ik.loops.coordinates
    symbolic = bool(geometry.parameters)
    text = chain_text(ik.arm, complete)
    used = {*text.parameters, *geometry.parameters}
    symbols = [name for name in ik.robot.parameters if name in used]
    names: dict[str, Any] = {
        name: reordered(x, text.parameters, symbols) if isinstance(x, Code) else x
        for name, x in text.names.items()
    }
    names |= {"configurations": text.entry, "CHAIN": text.most, "CHAINED": ik.chain.n}
    tables = dict(text.tables)
    if symbolic:
        require_numbers(geometry)
        chain = in_metres(geometry)
        names["tree_of"] = frames_code(geometry, symbols)
    else:
        chain = geometry.system(values=ik.defaults).chain
        tables["frames"] = chain.table
    known = geometry._columns[0][: len(geometry.given)]
    tables["plan"] = plan_of(chain, require_steps(geometry), known, limited=False)
    tables["loops"] = chain.closings
    sizes = {"T": 16, "free": len(ik.arm.free), "held": len(ik.held), "p": len(symbols)}
    inputs = {name: size for name, size in sizes.items() if size}
    n = len(link.moving)
    face = Face(
        function, inputs, {"q": ROWS * n, "notes": 2 + 3 * ROWS},
        {name: [float(x) for x in np.ravel(table)] for name, table in tables.items()},
        _header(ik, inputs, symbols, text.lacks), n,
    )  # fmt: skip
    bound = Bound(names)
    entry = closed_inverse_of_symbols if symbolic else closed_inverse
    require_name(language, function, (kernel.name for kernel in kernels_of(entry, bound)))
    return kernel_source(language, entry, face, bound)


def _header(
    ik: Closure, inputs: dict[str, int], symbols: list[str], lacks: Sequence[str]
) -> list[str]:
    link = ik.loops.coordinates
    words = {
        "T": "pose of the frame (4x4, row by row), lengths in m; it must be rigid",
        "free": f"values of {', '.join(ik.chain.names[j] for j in ik.arm.free)}",
        "held": f"values of {link.named(ik.held)}, which neither the pose nor the loops move",
        "p": f"symbols of the geometry: {' '.join(symbols)}",
    }
    return [
        f"{quoted(ik.robot.name)}: all configurations of a pose; frame {ik.chain.frame}",
        f"the chain {', '.join(ik.chain.names)} is solved first, then the loops for the others",
        *(step.text for step in ik.loops.steps or ()),
        "",
        *(f"{name:6} {words[name]}" for name in inputs),
        f"q      configurations, one after the other, {ROWS} at most: {link.named(link.moving)}",
        f"       loops may be open by {OPEN_BY:g} rad or of the robot's size",
        "notes  number of configurations; 1 where an equation of the chain vanishes or has a"
        " multiple root; then for",
        "       each its residual, 1 where it is singular, how many of the chain coincide",
        *(f"       {words}: emit with complete=True tells them" for words in lacks),
        "",
    ]
