"""A closed-form solution as source code: the branches, and a function that keeps the solutions.

    c, cpp   int f(T, ..., q): writes the configurations row by row, gives their number
    python   f(T, ...): an array (k, n)
    matlab   f(T, ...): a matrix k x n

The candidates of the branches are made exact and verified by the kernels of settle.py, printed in
the same language. Other languages get the branches with their margins and residuals.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..emit import emit
from ..emit.kernel_text import Face, kernel_source
from ..errors import InputError
from ..program import Program
from .branches import program
from .doubt import arm_table
from .settle import settle

if TYPE_CHECKING:
    from .geometry import InverseGeometry

__all__ = ["emitted"]

DOCUMENTS = ("markdown", "html")
Words = dict[str, Any]


def emitted(ik: InverseGeometry, language: str, function: str, **options: Any) -> str:
    """Self-contained source of the function, with the branches and kernels it calls."""
    writer = {"c": _c, "cpp": _cpp, "python": _python, "matlab": _matlab}.get(language)
    if writer is None:
        if language in DOCUMENTS:  # they show equations: there is no function to name
            return emit(ik.program, language, **options)
        return emit(ik.program, language, function=function, **options)
    if not function.isidentifier():
        raise InputError(f"'{function}' cannot be the name of a function")
    held = ik.solver.held
    symbols = bool(ik.program.parameters)
    whole = program(ik.derivation, "inverse-geometry", held) if symbols else ik.program
    body = emit(whole, language, function=f"{function}_branches", **options)
    b, n = whole.outputs["q"]
    k = ik.solver.kmax
    inputs = {"T": 16, "q": b * n, "margin": b, "residual": b}
    tables = {"role": [0.0] * b, "shape": [float(b), float(k)]}
    if symbols:
        inputs["arm"] = whole.outputs["arm"][0]
    else:
        tables["arm"] = [float(x) for x in arm_table(ik.chain.numeric(), held)]
    outputs = {"found": k * n, "error": k, "lost": k, "times": k, "state": 3}
    kernels = kernel_source(
        language, settle, Face(f"{function}_settle", inputs, outputs, tables, HEADER)
    )
    return writer(body, kernels, _words(function, whole, k, symbols))


HEADER = ["candidates made exact by Newton's method on the direct model, verified and merged"]


def _words(function: str, whole: Program, k: int, symbols: bool) -> Words:
    more = [name for name in whole.inputs if name != "T"]
    sizes = {name: prod(shape) for name, shape in whole.inputs.items()}
    b, n = whole.outputs["q"]
    return {
        "f": function, "b": b, "k": k, "n": n, "bn": b * n, "kn": k * n,
        "more": "".join(f", {name}" for name in more),
        "arguments": "".join(f", const double {name}[{sizes[name]}]" for name in more),
        "pointers": "".join(f", const double *{name}" for name in more),
        "arms": f", arm[{whole.outputs['arm'][0]}]" if symbols else "",
        "array": f"    std::array<double, {whole.outputs['arm'][0]}> arm;\n" if symbols else "",
        "arm": ", arm" if symbols else "", "data": ", arm.data()" if symbols else "",
    }  # fmt: skip


def _filled(template: str, words: Words) -> str:
    for key, value in words.items():
        template = template.replace(f"<{key}>", str(value))
    return template


def _c(body: str, kernels: str, words: Words) -> str:
    text = """
/* All configurations of a pose T (row by row): q holds them row by row, <k> at most; gives their
   number. Configurations that coincide (singular poses) are given once. */
int <f>(const double T[16]<arguments>, double q[<kn>]);

int <f>(const double T[16]<arguments>, double q[<kn>])
{
    double branch[<bn>], margin[<b>], residual[<b>]<arms>;
    double error[<k>], lost[<k>], times[<k>], state[3];
    <f>_branches(T<more>, branch, margin, residual<arm>);
    <f>_settle(T, branch, margin, residual<arm>, q, error, lost, times, state);
    return (int)state[0];
}
"""
    declared = kernels.replace(
        f"\nvoid {words['f']}_settle(", f"\nstatic void {words['f']}_settle("
    )
    return f"{body.rstrip()}\n\n{declared}{_filled(text, words)}"


def _cpp(body: str, kernels: str, words: Words) -> str:
    text = """
/* All configurations of a pose (row by row): q holds them row by row, <k> at most; gives their
   number. Configurations that coincide (singular poses) are given once. */
inline int <f>(const double *pose<pointers>, double *q)
{
    std::array<double, 16> T;
    std::array<double, <bn>> branch;
    std::array<double, <b>> margin, residual;
    std::array<double, <kn>> found;
    std::array<double, <k>> error, lost, times;
    std::array<double, 3> state;
<array>    std::copy(pose, pose + 16, T.begin());
    <f>_branches(pose<more>, branch.data(), margin.data(), residual.data()<data>);
    <f>_settle(T, branch, margin, residual<arm>, found, error, lost, times, state);
    const int count = static_cast<int>(state[0]);
    std::copy(found.begin(), found.begin() + <n>*count, q);
    return count;
}
"""
    start, _, rest = body.rpartition("\n#endif")
    inside = f"#include <algorithm>\n{kernels}{_filled(text, words)}"
    return f"{start.rstrip()}\n\n{inside}\n#endif{rest}"


def _python(body: str, kernels: str, words: Words) -> str:
    text = '''

def <f>(T<more>):
    """All configurations of one pose T (4, 4): an array (k, <n>), k = 0 out of reach.

    Configurations that coincide (singular poses) are given once."""
    T = np.asarray(T, dtype=float)
    branch, margin, residual<arm> = <f>_branches(T<more>)
    found, _, _, _, state = <f>_settle(T, branch, margin, residual<arm>)
    return np.array(found).reshape(<k>, <n>)[:int(state[0])]
'''
    return f"{body.rstrip()}\n\n\n{kernels.rstrip()}\n{_filled(text, words)}"


def _matlab(body: str, kernels: str, words: Words) -> str:
    text = """
function q = <f>(T<more>)
% All configurations of a pose T (4x4): rows of q, none when it is out of reach.
% Configurations that coincide (singular poses) are given once.
  [branch, margin, residual<arm>] = <f>_branches(T<more>);
  [found, ~, ~, ~, state] = <f>_settle(T, branch, margin, residual<arm>);
  q = reshape(found, <n>, <k>).';
  q = q(1:state(1), :);
end

"""
    start = body.index("function ")
    main = _filled(text, words).lstrip("\n")
    return f"{body[:start]}{main}{body[start:].rstrip()}\n\n{kernels}"
