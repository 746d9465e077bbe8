"""The general method as self-contained source text: c, cpp, python, matlab.

The function of the user counts configurations row by row, as that of a closed form (code.py) does;
beside it stands one that gives residuals, singularity and multiplicity too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...emit import require_name
from ...emit.header import quoted
from ...errors import ModelError, UnknownNameError
from ...kernel.language import kernels_of
from ...kernel.text import KERNEL_LANGUAGES, Face, kernel_source
from .few import few_pose, few_slides_pose
from .held_kernel import held_pose
from .pose import general_pose
from .slides import slides_pose
from .text import elimination

if TYPE_CHECKING:
    from ..chain.chain import Chain
    from .extended import Extended
    from .held import HeldSolver
    from .method import GeneralSolver

__all__ = ["few_code", "held_code", "six_code"]

Tables = Mapping[str, list[float]]


def six_code(
    solver: GeneralSolver, language: str, function: str, options: Mapping[str, Any]
) -> str:
    """Code for six joints."""
    made = solver.some()
    steps = elimination(solver.chain, (), made, "text")
    entry = slides_pose if made.slides else general_pose
    _require(language, function, options, entry)
    return _code(
        solver.chain, (), steps, entry, {"robot": _numbers(made.table)}, language, function
    )


def held_code(solver: HeldSolver, language: str, function: str, options: Mapping[str, Any]) -> str:
    """Code for six joints and others that are given."""
    made, arm, ways = solver.some()
    given = [solver.chain.names[j] for j in solver.held]
    if made.slides:
        raise ModelError(
            f"'{solver.chain.robot}', {', '.join(given)} given: three of the other joints slide,"
            ' and there is code of the closed form: use method="auto"'
        )
    steps = elimination(solver.chain, solver.held, made, "text")
    _require(language, function, options, held_pose)
    tables = {"arm": _numbers(arm), "ways": _numbers(ways)}
    return _code(solver.chain, given, steps, held_pose, tables, language, function)


def few_code(solver: Extended, language: str, function: str, options: Mapping[str, Any]) -> str:
    """Code for three to five joints."""
    made, arm = solver.some()
    tables = {"robot": _numbers(made.table), "arm": _numbers(arm)}
    entry = few_slides_pose if made.slides else few_pose
    _require(language, function, options, entry)
    return _code(solver.chain, (), solver.equations(), entry, tables, language, function)


def _require(language: str, function: str, options: Mapping[str, Any], entry: Any) -> None:
    if options:
        raise UnknownNameError.of("option of emit", next(iter(options)), ("function",))
    if language not in KERNEL_LANGUAGES:
        raise UnknownNameError.of("language of the general method", language, KERNEL_LANGUAGES)
    require_name(language, function, (kernel.name for kernel in kernels_of(entry)))


def _numbers(table: Any) -> list[float]:
    return [float(x) for x in np.asarray(table)]


def _code(
    chain: Chain, given: Sequence[str], steps: str, entry: Any, tables: Tables, language: str,
    function: str,
) -> str:  # fmt: skip
    inputs = {"T": 16, "free": len(given)} if given else {"T": 16}
    face = Face(
        f"{function}_all", inputs, {"q": 16 * chain.n, "info": 64}, tables,
        _header(chain, given, steps),
    )  # fmt: skip
    text = kernel_source(language, entry, face)
    words: dict[str, Any] = {"f": function, "n": chain.n, "kn": 16 * chain.n}
    words |= dict.fromkeys(("free", "size", "given", "copied"), "")
    if given:
        words |= {"free": ", free", "size": f", const double free[{len(given)}]"}
        words |= {"given": ", const double *given"}
        words |= {"copied": COPIED.replace("<m>", str(len(given)))}
    own = USER[language]
    for key, value in words.items():
        own = own.replace(f"<{key}>", str(value))
    return own.lstrip("\n") + text if language == "matlab" else text + own


COPIED = """    std::array<double, <m>> free;
    std::copy(given, given + <m>, free.begin());
"""
USER = {
    "c": """
/* The configurations of a pose row by row, 16 at most; gives their number. */
int <f>(const double T[16]<size>, double q[<kn>]);

int <f>(const double T[16]<size>, double q[<kn>])
{
    double info[64];
    <f>_all(T<free>, q, info);
    return (int)info[0];
}
""",
    "cpp": """
#include <algorithm>

/* The configurations of a pose row by row, 16 at most; gives their number. */
inline int <f>(const double *pose<given>, double *q)
{
    std::array<double, 16> T;
    std::array<double, <kn>> found;
    std::array<double, 64> info;
    std::copy(pose, pose + 16, T.begin());
<copied>    <f>_all(T<free>, found, info);
    const int count = static_cast<int>(info[0]);
    std::copy(found.begin(), found.begin() + <n>*count, q);
    return count;
}
""",
    "python": '''

def <f>(T<free>):
    """The configurations of a pose T (4, 4): a list of rows of <n>, empty out of reach."""
    q, info = <f>_all(T<free>)
    return [q[<n>*k:<n>*k + <n>] for k in range(int(info[0]))]
''',
    "matlab": """
function q = <f>(T<free>)
% The configurations of a pose T (4x4): rows of q, none when it is out of reach.
  [found, info] = <f>_all(T<free>);
  q = reshape(found, <n>, 16).';
  q = q(1:info(1), :);
end

""",
}


def _header(chain: Chain, given: Sequence[str], steps: str) -> list[str]:
    free = [f"free  values of {', '.join(given)}, rad or m"] if given else []
    return [
        f"{quoted(chain.robot)}: all configurations of a pose of {chain.frame}, by the general"
        " method",
        "",
        "T     pose (4x4, row by row), lengths in m; it must be rigid",
        *free,
        f"q     16 rows of {chain.n}: {', '.join(chain.names)}, rad or m; the first info[0] count",
        "info  number of configurations; then for each of 16: largest error of an entry of the pose"
        " (in units of",
        "      the robot), smallest pivot of the Jacobian over the largest (below 1e-6: singular),"
        " number of roots;",
        "      info[49]: eliminations used; info[50]: 1 when one of them was sound",
        "",
        *steps.splitlines(),
        "",
    ]
