"""A closed-form solution as source code: the branches, and a function that keeps the solutions.

    c, cpp   int f(T, ..., q): writes the configurations row by row, gives their number
    python   f(T, ...): an array (k, n)
    matlab   f(T, ...): a matrix k x n

and f_all, which says more: residuals, which are singular, how many coincide, and whether an
equation vanishes at the pose. The candidates of the branches are made exact and verified by the
kernels of closely.py, printed in the same language; where an equation vanishes, other values of
the joint in question and poses nearby are tried, as doubt.py does. Other languages get the branches
with their margins and residuals.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..emit import emit, require_name
from ..emit.kernel import kernels_of
from ..emit.kernel_text import Face, kernel_source
from ..errors import UnknownNameError
from ..program import Program
from .closely import NEAR, VALUES, closely
from .doubt import arm_table
from .roots import TINY
from .settle import CLEAR

if TYPE_CHECKING:
    from .geometry import InverseGeometry

__all__ = ["emitted"]

DOCUMENTS = ("markdown", "html")
OPTIONS = ("expanded", "chunk")  # of the branches; the function around them is in doubles
Words = dict[str, Any]


def emitted(ik: InverseGeometry, language: str, function: str, **options: Any) -> str:
    """Self-contained source of the function, with the branches and kernels it calls."""
    writer = {"c": _c, "cpp": _cpp, "python": _python, "matlab": _matlab}.get(language)
    if writer is None:
        if language in DOCUMENTS:  # they show equations: there is no function to name
            return emit(ik.program, language, **options)
        return emit(ik.program, language, function=function, **options)
    require_name(language, function, (kernel.name for kernel in kernels_of(closely)))
    for key in options:
        if key not in OPTIONS:
            raise UnknownNameError.of("option of emit for inverse geometry", key, OPTIONS)
    held = ik.solver.held
    symbols = bool(ik.program.parameters)
    whole = ik.solver.guided(held if symbols else None)
    body = emit(whole, language, function=f"{function}_branches", **options)
    b, n = whole.outputs["q"]
    k, c = ik.solver.kmax, (1 + VALUES + NEAR) * b
    inputs = {"T": 16, "q": c * n, "margin": c, "residual": c, "role": c, "shape": 2}
    tables = {}
    if symbols:
        inputs["arm"] = whole.outputs["arm"][0]
    else:
        tables["arm"] = [float(x) for x in arm_table(ik.chain.numeric(), held)]
    outputs = {"found": k * n, "error": k, "lost": k, "times": k, "state": 3, "near": 16 * NEAR}
    kernels = kernel_source(
        language, closely, Face(f"{function}_closely", inputs, outputs, tables, HEADER)
    )
    return writer(body, kernels, _words(function, whole, k, symbols))


HEADER = ["candidates made exact by Newton's method on the direct model, verified and merged"]


def _words(function: str, whole: Program, k: int, symbols: bool) -> Words:
    more = [name for name in whole.inputs if name not in ("T", "guess")]
    sizes = {name: prod(shape) for name, shape in whole.inputs.items()}
    b, n = whole.outputs["q"]
    c = (1 + VALUES + NEAR) * b
    order = list(whole.inputs)
    return {
        "f": function, "b": b, "k": k, "n": n, "bn": b * n, "kn": k * n, "c": c, "cn": c * n,
        "guesses": n + 1, "values": VALUES, "near": NEAR, "nears": 16 * NEAR, "tiny": TINY,
        "clear": CLEAR, "notes": 2 + 3 * k, "all": 1 + VALUES + NEAR,
        "more": "".join(f", {name}" for name in more),
        "inputs": "".join(f", {name}" for name in order if name != "T"),
        "arguments": "".join(f", const double {name}[{sizes[name]}]" for name in more),
        "pointers": "".join(f", const double *{name}" for name in more),
        "arms": f", arm[{whole.outputs['arm'][0]}]" if symbols else "",
        "array": f"    std::array<double, {whole.outputs['arm'][0]}> arm;\n" if symbols else "",
        "arm": ", arm" if symbols else "", "data": ", arm.data()" if symbols else "",
        "pointer": ", double *arm" if symbols else "", "NOTES": NOTES.replace("<k>", str(k)),
        "nonlocal": ", arm" if symbols else "", "none": "    arm = None\n" if symbols else "",
    }  # fmt: skip


def _filled(template: str, words: Words) -> str:
    for key, value in words.items():
        template = template.replace(f"<{key}>", str(value))
    return template


NOTES = """All configurations of a pose T (row by row): q holds them row by row, <k> at most; gives
   their number. Configurations that coincide (singular poses) are given once.
   info: number; 1 where an equation vanishes at this pose or has a multiple root (a joint may have
   any value, and a configuration stand for a family); for each configuration its residual, 1 when
   it is singular, how many coincide."""


def _c(body: str, kernels: str, words: Words) -> str:
    text = """
static void <f>_try(const double *T<pointers>, double value, double tiny, double part, int at,
                    double *branch, double *margin, double *residual, double *role<pointer>)
{
    double guess[<guesses>];
    int j;
    for (j = 0; j < <n>; j++)
        guess[j] = value;
    guess[<n>] = tiny;
    <f>_branches(T<inputs>, branch + <bn>*at, margin + <b>*at, residual + <b>*at<arm>);
    for (j = 0; j < <b>; j++)
        role[<b>*at + j] = part;
}

/* <NOTES> */
int <f>_all(const double T[16]<arguments>, double q[<kn>], double info[<notes>]);
int <f>(const double T[16]<arguments>, double q[<kn>]);

int <f>_all(const double T[16]<arguments>, double q[<kn>], double info[<notes>])
{
    double branch[<cn>], margin[<c>], residual[<c>], role[<c>]<arms>;
    double error[<k>], lost[<k>], times[<k>], state[3], near[<nears>], shape[2] = {<b>, <k>};
    int at = 1, k;
    <f>_try(T<more>, 0, <tiny>, 0, 0, branch, margin, residual, role<arm>);
    <f>_closely(T, branch, margin, residual, role, shape<arm>, q, error, lost, times, state, near);
    info[1] = state[1] + state[2] > 0;
    if (info[1] > 0) {
        if (state[1] > 0) {
            for (k = 0; k < <values>; k++, at++)
                <f>_try(T<more>, -3.141592653589793 + 6.283185307179586/<values>*k, <clear>, k + 1,
                        at, branch, margin, residual, role<arm>);
            shape[0] = <b>*at;
            <f>_closely(T, branch, margin, residual, role, shape<arm>, q, error, lost, times, state,
                        near);
        }
        for (k = 0; k < <near>; k++, at++)
            <f>_try(near + 16*k<more>, 0, <tiny>, -2, at, branch, margin, residual, role<arm>);
        shape[0] = <b>*at;
        <f>_closely(T, branch, margin, residual, role, shape<arm>, q, error, lost, times, state,
                    near);
    }
    info[0] = state[0];
    for (k = 0; k < (int)state[0]; k++) {
        info[2 + 3*k] = error[k];
        info[3 + 3*k] = lost[k];
        info[4 + 3*k] = times[k];
    }
    return (int)state[0];
}

int <f>(const double T[16]<arguments>, double q[<kn>])
{
    double info[<notes>];
    return <f>_all(T<more>, q, info);
}
"""
    declared = kernels.replace(
        f"\nvoid {words['f']}_closely(", f"\nstatic void {words['f']}_closely("
    )
    return f"{body.rstrip()}\n\n{declared}{_filled(text, words)}"


def _cpp(body: str, kernels: str, words: Words) -> str:
    text = """
/* <NOTES> */
inline int <f>_all(const double *pose<pointers>, double *q, double *info)
{
    std::array<double, 16> T;
    std::array<double, <cn>> branch{};
    std::array<double, <c>> margin{}, residual{}, role{};
    std::array<double, <kn>> found;
    std::array<double, <k>> error, lost, times;
    std::array<double, 3> state;
    std::array<double, <nears>> near;
    std::array<double, 2> shape{<b>, <k>};
<array>    std::copy(pose, pose + 16, T.begin());
    int at = 0;
    const auto attempt = [&](const double *aim, double value, double tiny, double part) {
        std::array<double, <guesses>> values;
        values.fill(value);
        values[<n>] = tiny;
        const double *guess = values.data();
        <f>_branches(aim<inputs>, branch.data() + <bn>*at, margin.data() + <b>*at,
                     residual.data() + <b>*at<data>);
        std::fill_n(role.begin() + <b>*at, <b>, part);
        shape[0] = <b>*++at;
    };
    const auto look = [&] {
        <f>_closely(T, branch, margin, residual, role, shape<arm>, found, error, lost, times, state,
                    near);
    };
    attempt(pose, 0, <tiny>, 0);
    look();
    info[1] = state[1] + state[2] > 0 ? 1 : 0;
    if (info[1] > 0) {
        if (state[1] > 0) {
            for (int k = 0; k < <values>; k++)
                attempt(pose, -3.141592653589793 + 6.283185307179586/<values>*k, <clear>, k + 1);
            look();
        }
        for (int k = 0; k < <near>; k++)
            attempt(near.data() + 16*k, 0, <tiny>, -2);
        look();
    }
    const int count = static_cast<int>(state[0]);
    info[0] = count;
    for (int k = 0; k < count; k++) {
        const auto m = static_cast<std::size_t>(k);
        info[2 + 3*k] = error[m];
        info[3 + 3*k] = lost[m];
        info[4 + 3*k] = times[m];
    }
    std::copy(found.begin(), found.begin() + <n>*count, q);
    return count;
}

inline int <f>(const double *pose<pointers>, double *q)
{
    std::array<double, <notes>> info;
    return <f>_all(pose<more>, q, info.data());
}
"""
    start, _, rest = body.rpartition("\n#endif")
    inside = f"#include <algorithm>\n#include <cstddef>\n{kernels}{_filled(text, words)}"
    return f"{start.rstrip()}\n\n{inside}\n#endif{rest}"


def _python(body: str, kernels: str, words: Words) -> str:
    text = '''

def <f>_all(T<more>):
    """All configurations of one pose T (4, 4): q (k, <n>), then for each its residual, whether it
    is singular, how many coincide; then whether an equation vanishes at this pose or has a multiple
    root (a joint may have any value, and a configuration stand for a family)."""
    T = np.asarray(T, dtype=float)
    branch = np.zeros((<all>, <b>, <n>))
    margin, residual, role = np.zeros((3, <all>, <b>))
    at = 0

    def attempt(T, value, tiny, part):
        nonlocal at<nonlocal>
        guess = np.array([value] * <n> + [tiny])
        branch[at], margin[at], residual[at]<arm> = <f>_branches(T<inputs>)
        role[at] = part
        at += 1

    def look():
        shape = [<b>*at, <k>]
        return <f>_closely(T, branch, margin, residual, role, shape<arm>)

<none>    with np.errstate(all="ignore"):
        attempt(T, 0.0, <tiny>, 0)
        found, error, lost, times, state, near = look()
        vanishes = state[1] + state[2] > 0
        if state[1] > 0:
            for k in range(<values>):
                attempt(T, -np.pi + 2*np.pi/<values>*k, <clear>, k + 1)
            found, error, lost, times, state, near = look()
        if vanishes:
            for pose in np.reshape(near, (<near>, 4, 4)):
                attempt(pose, 0.0, <tiny>, -2)
            found, error, lost, times, state, near = look()
    count = int(state[0])
    q = np.reshape(found, (<k>, <n>))[:count]
    singular = [x > 0.5 for x in lost[:count]]
    return q, error[:count], singular, [int(x) for x in times[:count]], vanishes


def <f>(T<more>):
    """All configurations of one pose T (4, 4): an array (k, <n>), k = 0 out of reach.

    Configurations that coincide (singular poses) are given once."""
    return <f>_all(T<more>)[0]
'''
    return f"{body.rstrip()}\n\n\n{kernels.rstrip()}\n{_filled(text, words)}"


def _matlab(body: str, kernels: str, words: Words) -> str:
    text = """
function [q, residual, singular, multiplicity, vanishes] = <f>(T<more>)
% All configurations of a pose T (4x4): rows of q, none when it is out of reach.
% Configurations that coincide (singular poses) are given once.
% For each its residual, 1 when it is singular, how many coincide; vanishes: 1 where an equation
% vanishes at this pose or has a multiple root (a joint may have any value, and a configuration
% stand for a family).
  branch = zeros(<c>, <n>); margin = zeros(<all>, <b>); off = margin; role = margin;
  aims = {T}; values = 0; roles = 0; at = 0; vanishes = 0; stage = 1;
  while stage > 0
    for k = 1:numel(aims)
      aim = aims{k};
      guess = [repmat(values(k), 1, <n>), <tiny>];
      if roles(k) > 0
        guess(end) = <clear>;
      end
      rows = <b>*at + (1:<b>);
      at = at + 1;
      [branch(rows, :), m, e<arm>] = <f>_branches(aim<inputs>);
      margin(at, :) = m; off(at, :) = e; role(at, :) = roles(k);
    end
    [found, error, lost, times, state, near] = ...
      <f>_closely(T, branch, margin, off, role, [<b>*at, <k>]<arm>);
    if stage == 1
      vanishes = double(state(2) + state(3) > 0);
    end
    if stage == 1 && state(2) > 0
      aims = repmat({T}, 1, <values>); roles = 1:<values>;
      values = -pi + 2*pi/<values>*(roles - 1); stage = 2;
    elseif stage < 3 && vanishes
      aims = cell(1, <near>);
      for k = 1:<near>
        aims{k} = reshape(near(16*k - 15:16*k), 4, 4).';
      end
      values = zeros(1, <near>); roles = values - 2; stage = 3;
    else
      stage = 0;
    end
  end
  q = reshape(found, <n>, <k>).';
  q = q(1:state(1), :);
  residual = error(1:state(1)).'; singular = lost(1:state(1)).';
  multiplicity = times(1:state(1)).';
end

"""
    start = body.index("function ")
    main = _filled(text, words).lstrip("\n")
    return f"{body[:start]}{main}{body[start:].rstrip()}\n\n{kernels}"
