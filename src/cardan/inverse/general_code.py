"""The general method as self-contained source text: c, cpp, python, matlab."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..emit.kernel_text import KERNEL_LANGUAGES, Face, kernel_source
from ..errors import InputError, ModelError, UnknownNameError
from .general_few import few_pose, few_slides_pose
from .general_held import held_pose
from .general_pose import general_pose
from .general_slides import slides_pose
from .general_text import elimination

if TYPE_CHECKING:
    from .chain import Chain
    from .extended import Extended
    from .general import GeneralSolver
    from .held import HeldSolver

__all__ = ["few_code", "held_code", "six_code"]


def six_code(
    solver: GeneralSolver, language: str, function: str, options: Mapping[str, Any]
) -> str:
    """T (4x4, row by row) -> q (16x6, row by row), info."""
    _require(language, function, options)
    made = solver.prepared()
    steps = elimination(solver.chain, (), made, "text")
    face = Face(
        function, {"T": 16}, {"q": 96, "info": 64}, {"robot": _numbers(made.table)},
        _header(solver.chain, solver.chain.names, (), steps),
    )  # fmt: skip
    return kernel_source(language, slides_pose if made.slides else general_pose, face)


def held_code(solver: HeldSolver, language: str, function: str, options: Mapping[str, Any]) -> str:
    """T (4x4), free (the given joints) -> q (16x6, the others), info."""
    _require(language, function, options)
    made, table = solver.prepared()
    given = [solver.chain.names[j] for j in solver.held]
    if made.slides:
        raise ModelError(
            f"'{solver.chain.robot}', {', '.join(given)} given: three of the other joints slide,"
            ' and there is code of the closed form: use method="auto"'
        )
    steps = elimination(solver.chain, solver.held, made, "text")
    names = [solver.chain.names[j] for j in solver.others]
    face = Face(
        function, {"T": 16, "free": len(given)}, {"q": 96, "info": 64}, {"arm": _numbers(table)},
        _header(solver.chain, names, given, steps),
    )  # fmt: skip
    return kernel_source(language, held_pose, face)


def few_code(solver: Extended, language: str, function: str, options: Mapping[str, Any]) -> str:
    """T (4x4) -> q (16xn), info."""
    _require(language, function, options)
    made, arm = solver.prepared()
    n = solver.chain.n
    tables = {"robot": _numbers(made.table), "arm": _numbers(arm)}
    steps = solver.equations("text").split("\n\n", 1)[1]
    face = Face(
        function, {"T": 16}, {"q": 16 * n, "info": 64}, tables,
        _header(solver.chain, solver.chain.names, (), steps),
    )  # fmt: skip
    return kernel_source(language, few_slides_pose if made.slides else few_pose, face)


def _require(language: str, function: str, options: Mapping[str, Any]) -> None:
    if options:
        raise UnknownNameError.of("option of emit", next(iter(options)), ("function",))
    if language not in KERNEL_LANGUAGES:
        raise UnknownNameError.of("language of the general method", language, KERNEL_LANGUAGES)
    if not function.isidentifier():
        raise InputError(f"'{function}' cannot be the name of a function")


def _numbers(table: Any) -> list[float]:
    return [float(x) for x in np.asarray(table)]


def _header(chain: Chain, names: Sequence[str], given: Sequence[str], steps: str) -> list[str]:
    free = [f"free  values of {', '.join(given)}, rad or m"] if given else []
    return [
        f"{chain.robot}: all configurations of a pose of {chain.frame}, by the general method",
        "",
        "T     pose (4x4, row by row), lengths in m; it must be rigid",
        *free,
        f"q     16 rows of {len(names)}: {', '.join(names)}, rad or m; the first info[0] count",
        "info  number of configurations; then for each of 16: largest error of an entry of the pose"
        " (in units of",
        "      the robot), smallest pivot of the Jacobian over the largest (below 1e-6: singular),"
        " number of roots;",
        "      info[49]: eliminations used; info[50]: 1 when one of them was sound",
        "",
        *steps.splitlines()[1:],
        "",
    ]
