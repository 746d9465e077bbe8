"""Inverse geometry as self-contained source text: c, cpp, python, matlab, rust.

    c, cpp   int f(T, ..., q): writes the configurations row by row, gives their number
             int f_all(T, ..., q, notes): says more of them
    python   f(T, ...): a list of rows; f_all(T, ...) with residuals, which are singular, how many
             coincide, and whether an equation vanishes at the pose
    matlab   f(T, ...): a matrix, and as many of the others as are asked for

whatever the method: the text is that of the kernels which the library runs, closed_form/driver.py
with the branches in their slot or general/listing.py. Of a closed form it has what a pose needs
that is not beside a family; `complete` adds what tells the answers beside families apart, and the
general method that is asked for three to five joints where an equation vanishes, as `solve` does.
Other languages get the branches with their margins and residuals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..emit import emit, require_name
from ..emit.header import quoted
from ..errors import ModelError, UnknownNameError
from ..kernel.language import Bound, kernels_of
from ..kernel.text import KERNEL_LANGUAGES, Face, kernel_source
from .closed_form.batch import Closed
from .closed_form.branches import arm_program
from .closed_form.driver import inverse, inverse_of_symbols
from .doubt import arm_table
from .general.few import few_pose, few_symbols_pose
from .general.held import HeldSolver
from .general.listing import few_listing, held_listing, six_listing
from .general.records import MOST, Longer, Ways
from .general.slides import SLIDING
from .general.text import elimination

if TYPE_CHECKING:
    from .geometry import InverseGeometry

DOCUMENTS = ("markdown", "html")


@dataclass(frozen=True)
class Text:
    """What is printed: the kernel, what is bound to its names, and its constant tables."""

    entry: Any
    most: int  # configurations
    tables: Mapping[str, Any]
    steps: str
    lacks: Sequence[str] = ()  # what `solve` does at singular poses and this text does not
    names: Mapping[str, Any] = field(default_factory=dict)
    parameters: Sequence[str] = ()  # of the input p

    @cached_property
    def bound(self) -> Bound | None:
        """Its kernels are read once, whatever the languages they are printed in; those to which
        nothing is bound, once for all arms."""
        return Bound(self.names) if self.names else None


def emitted(
    ik: InverseGeometry, language: str, function: str, complete: bool = False, **options: Any
) -> str:
    """The text of the function, with all it calls."""
    closed = isinstance(ik.solver, Closed)
    if closed and language not in KERNEL_LANGUAGES:
        if language in DOCUMENTS:  # they show equations: there is no function to name
            return emit(ik.program, language, **options)
        return emit(ik.program, language, function=function, **options)
    for key in options:
        raise UnknownNameError.of(
            "option of emit for inverse geometry", key, ("function", "complete")
        )
    if language not in KERNEL_LANGUAGES:
        raise UnknownNameError.of("language of the general method", language, KERNEL_LANGUAGES)
    text = chain_text(ik, complete)
    given = ["the arm angle"] if ik.plane else [ik.chain.names[j] for j in ik.free]
    inputs = {"T": 16}
    if given:
        inputs["free"] = len(given)
    if text.parameters:
        inputs["p"] = len(text.parameters)
    n = ik.chain.n
    face = Face(
        function, inputs, {"q": text.most * n, "notes": 2 + 3 * text.most},
        {name: [float(x) for x in np.ravel(table)] for name, table in text.tables.items()},
        _header(ik, given, text), n,
    )  # fmt: skip
    kernels = kernels_of(text.entry, text.bound)
    require_name(language, function, (kernel.name for kernel in kernels))
    return kernel_source(language, text.entry, face, text.bound)


def chain_text(ik: InverseGeometry, complete: bool = False) -> Text:
    """What is printed of an arm, by whatever method."""
    if complete not in ik._texts:
        closed = isinstance(ik.solver, Closed)
        ik._texts[complete] = _closed(ik, complete) if closed else _general(ik)
    text: Text = ik._texts[complete]
    return text


def _closed(ik: InverseGeometry, complete: bool) -> Text:
    solver, n = ik.solver, ik.chain.n
    symbols = bool(ik.program.parameters)
    tables: dict[str, Any] = {"room": [solver.branches, solver.kmax]}
    names: dict[str, Any] = {
        "branches": solver.guided(), "LED": False,
        "FAMILIES": complete and n - len(ik.free) == 6, "BRANCHES": solver.branches,
        "SLIDES": any(joint.sigma for joint in ik.chain.joints),
        "JOINTS": max(n, 6),
    }  # fmt: skip
    if symbols:
        names["geometry"] = arm_program(ik.chain, solver.held)
    else:
        tables["arm"] = arm_table(ik.chain.numeric(), solver.held)
    if complete and solver.general is not None:
        more, tables["robot"] = _further(ik, symbols)
        names |= more
    entry = inverse_of_symbols if symbols else inverse
    steps = f"{ik.method.capitalize()}'s method: {ik.reason}"
    parameters = sorted(ik.chain.parameters, key=ik.chain.order.index) if symbols else ()
    lacks = []
    if not complete and n - len(ik.free) == 6:
        lacks = ["Where notes say so, several rows may be members of one family of configurations"]
    elif not complete and solver.general is not None:
        lacks = ["Where notes say so, configurations may be missing"]
    return Text(entry, solver.kmax, tables, steps, lacks, names, parameters)


def _further(ik: InverseGeometry, symbols: bool) -> tuple[dict[str, Any], Any]:
    """The general method that a closed form asks, and its table."""
    try:
        made, table = ik.solver.general.in_code(ik.defaults if symbols else {})
    except ModelError:  # no elimination is regular
        return {}, []
    if symbols:
        names = {"FURTHER": True, "further": few_symbols_pose, "Known": Longer} if table else {}
        return names, table
    names = {"FURTHER": True, "further": few_pose, **(SLIDING if made.slides else {})}
    return names, table


def _general(ik: InverseGeometry) -> Text:
    solver, chain = ik.solver, ik.chain
    entry: Any = few_listing
    if isinstance(solver, HeldSolver):
        made, arm, ways = solver.some()
        if made.slides:
            given = ", ".join(chain.names[j] for j in solver.held)
            raise ModelError(
                f"'{chain.robot}', {given} given: three of the other joints slide, and there is"
                ' code of the closed form: use method="auto"'
            )
        steps = elimination(chain, solver.held, made, "text")
        return Text(held_listing, MOST, {"arm": arm, "robot": ways}, steps, names={"Known": Ways})
    if chain.n == 6:
        made = solver.some()
        entry, tables = six_listing, {"robot": made.table}
        steps = elimination(chain, (), made, "text")
    else:
        made, arm = solver.some()
        tables, steps = {"robot": made.table, "arm": arm}, solver.equations()
    return Text(entry, MOST, tables, steps, names=SLIDING if made.slides else {})


def _header(ik: InverseGeometry, given: Sequence[str], text: Text) -> list[str]:
    chain = ik.chain
    lines = [
        f"{quoted(chain.robot)}: all configurations of a pose of {chain.frame}",
        "",
        "T     pose (4x4, row by row), lengths in m; it must be rigid",
    ]
    if given:
        lines.append(f"free  values of {', '.join(given)}, rad or m")
    if text.parameters:
        lines.append(f"p     {', '.join(text.parameters)}, SI units")
    return [
        *lines,
        f"q     rows of {chain.n}: {', '.join(chain.names)}, rad in (-pi, pi] or m; {text.most} at"
        " most. Those that",
        "      coincide (singular poses) are given once",
        "notes number of configurations; 1 where an equation vanishes or has a multiple root (a"
        " joint may have",
        "      any value, and a configuration stand for a family); then for each its residual, 1"
        " where it is",
        "      singular, how many coincide",
        *(f"      {words}: emit with complete=True tells them" for words in text.lacks),
        "",
        *(f"{remark}." for remark in ik.remarks),
        *text.steps.splitlines(),
        "",
    ]
