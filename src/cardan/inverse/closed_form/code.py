"""A closed-form solution as source code: the branches, and a function that keeps the solutions.

    c, cpp   int f(T, ..., q): writes the configurations row by row, gives their number
    python   f(T, ...): an array (k, n)
    matlab   f(T, ...): a matrix k x n

and f_all, which says more: residuals, which are singular, how many coincide, and whether an
equation vanishes at the pose. The candidates of the branches are made exact and verified by the
kernels of closely.py, printed in the same language; where an equation vanishes, other values of
the joint in question and poses nearby are tried, as doubt.py does, and for three to five joints
the general method (closely_few.py). Other languages get the branches with their margins and
residuals.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ...emit import emit, require_name
from ...errors import ModelError, UnknownNameError
from ...kernel.language import kernels_of
from ...kernel.text import Face, kernel_source
from ...program import Program
from ..doubt import arm_table
from ..general.method import MOST
from ..settle import CLEAR
from .closely import NEAR, VALUES, closely
from .closely_few import closely_few, closely_slides, closely_symbols
from .code_text import WRITERS
from .roots import TINY

if TYPE_CHECKING:
    from ..geometry import InverseGeometry

__all__ = ["emitted"]

DOCUMENTS = ("markdown", "html")
OPTIONS = ("expanded", "chunk")  # of the branches; the function around them is in doubles
Words = dict[str, Any]


def emitted(ik: InverseGeometry, language: str, function: str, **options: Any) -> str:
    """Self-contained source of the function, with the branches and kernels it calls."""
    writer = WRITERS.get(language)
    if writer is None:
        if language in DOCUMENTS:  # they show equations: there is no function to name
            return emit(ik.program, language, **options)
        return emit(ik.program, language, function=function, **options)
    for key in options:
        if key not in OPTIONS:
            raise UnknownNameError.of("option of emit for inverse geometry", key, OPTIONS)
    held = ik.solver.held
    symbols = bool(ik.program.parameters)
    entry, robot = _looking(ik, symbols)
    require_name(language, function, (kernel.name for kernel in kernels_of(entry)))
    whole = ik.solver.guided(held if symbols else None)
    body = emit(whole, language, function=f"{function}_branches", split=False, **options)
    words = _words(function, whole, ik.solver.kmax, symbols, bool(robot))
    k, c, n = words["k"], words["c"], words["n"]
    inputs = {"T": 16, "q": c * n, "margin": c, "residual": c, "role": c, "shape": words["shape"]}
    tables = {"robot": robot} if robot else {}
    if symbols:
        inputs["arm"] = whole.outputs["arm"][0]
    else:
        tables["arm"] = [float(x) for x in arm_table(ik.chain.numeric(), held)]
    outputs = {"found": k * n, "error": k, "lost": k, "times": k, "state": words["state"],
               "near": 16 * NEAR}  # fmt: skip
    if robot:
        outputs["others"] = MOST * n
    kernels = kernel_source(
        language, entry, Face(f"{function}_closely", inputs, outputs, tables, HEADER)
    )
    return writer(body, kernels, words)


HEADER = ["candidates made exact by Newton's method on the direct model, verified and merged"]


def _looking(ik: InverseGeometry, symbols: bool) -> tuple[Any, list[float]]:
    """The kernel that looks at a pose, and the table of the general method if it asks that."""
    general = ik.solver.general
    if general is None:
        return closely, []
    try:
        made, table = general.in_code(ik.defaults if symbols else {})
    except ModelError:  # no elimination is regular
        return closely, []
    if symbols:
        return (closely_symbols, table) if table else (closely, [])
    return closely_slides if made.slides else closely_few, table


def _words(function: str, whole: Program, k: int, symbols: bool, few: bool) -> Words:
    more = [name for name in whole.inputs if name not in ("T", "guess")]
    sizes = {name: prod(shape) for name, shape in whole.inputs.items()}
    b, n = whole.outputs["q"]
    tries = 1 + VALUES + NEAR
    c = tries * b + (MOST if few else 0)
    order = list(whole.inputs)
    return {
        "f": function, "b": b, "k": k, "n": n, "bn": b * n, "kn": k * n, "c": c, "cn": c * n,
        "guesses": n + 1, "values": VALUES, "near": NEAR, "nears": 16 * NEAR, "tiny": TINY,
        "clear": CLEAR, "notes": 2 + 3 * k, "few": few, "state": 4 if few else 3,
        "shape": 3 if few else 2, "ask": ", 1" if few else "", "more": "".join(
            f", {name}" for name in more
        ), "others": ", others" if few else "", "more_n": MOST * n,
        "inputs": "".join(f", {name}" for name in order if name != "T"),
        "arguments": "".join(f", const double {name}[{sizes[name]}]" for name in more),
        "pointers": "".join(f", const double *{name}" for name in more),
        "arms": f", arm[{whole.outputs['arm'][0]}]" if symbols else "",
        "array": f"    std::array<double, {whole.outputs['arm'][0]}> arm;\n" if symbols else "",
        "arm": ", arm" if symbols else "", "data": ", arm.data()" if symbols else "",
        "pointer": ", double *arm" if symbols else "", "NOTES": NOTES.replace("<k>", str(k)),
        "nonlocal": ", arm" if symbols else "", "none": "    arm = None\n" if symbols else "",
    }  # fmt: skip


NOTES = """All configurations of a pose T (row by row): q holds them row by row, <k> at most; gives
   their number. Configurations that coincide (singular poses) are given once.
   info: number; 1 where an equation vanishes at this pose or has a multiple root (a joint may have
   any value, and a configuration stand for a family); for each configuration its residual, 1 when
   it is singular, how many coincide."""
