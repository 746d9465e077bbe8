"""A closed-form solution as source code: the branches, and a function that keeps the solutions.

    c, cpp   int f(T, ..., q): writes the configurations row by row, gives their number
    python   f(T, ...): an array (k, n)
    matlab   f(T, ...): a matrix k x n

Other languages get the branches with their margins and residuals.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..emit import emit
from ..errors import InputError

if TYPE_CHECKING:
    from .geometry import InverseGeometry

__all__ = ["emitted"]

REAL = -1e-10  # a margin below is no solution
SAME = 1e-6  # configurations closer than this are one
DOCUMENTS = ("markdown", "html")


def emitted(ik: InverseGeometry, language: str, function: str, **options: Any) -> str:
    """Self-contained source of the function, with the branches it calls."""
    program = ik.program
    writer = {"c": _c, "cpp": _cpp, "python": _python, "matlab": _matlab}.get(language)
    if writer is None:
        if language in DOCUMENTS:  # they show equations: there is no function to name
            return emit(program, language, **options)
        return emit(program, language, function=function, **options)
    if not function.isidentifier():
        raise InputError(f"'{function}' cannot be the name of a function")
    body = emit(program, language, function=f"{function}_branches", **options)
    more = [name for name in program.inputs if name != "T"]
    sizes = {name: prod(shape) for name, shape in program.inputs.items()}
    k, n = program.outputs["q"]
    angles = [int(joint.sigma == 0) for joint in ik.chain.joints]
    words = {
        "f": function, "k": k, "n": n, "kn": k * n, "real": repr(REAL), "same": repr(SAME),
        "angles": ", ".join(map(str, angles)), "more": "".join(f", {name}" for name in more),
        "arguments": "".join(f", const double {name}[{sizes[name]}]" for name in more),
        "typed": "".join(f", const T *{name}" for name in more),
    }  # fmt: skip
    return writer(body, words)


def _filled(template: str, words: dict[str, Any]) -> str:
    for key, value in words.items():
        template = template.replace(f"<{key}>", str(value))
    return template


C_BODY = """
    static const int angle[<n>] = {<angles>};
    <real_> found[<kn>], margin[<k>], residual[<k>];
    int count = 0;
    <f>_branches(<T><more>, found, margin, residual);
    for (int b = 0; b < <k>; b++) {
        const <real_> *x = found + b*<n>;
        int is_new = margin[b] >= <real> && residual[b] <= <accept>;
        for (int c = 0; c < count && is_new; c++) {
            int same = 1;
            for (int j = 0; j < <n>; j++) {
                <real_> d = <abs>(x[j] - q[c*<n> + j]);
                if (angle[j] && d > <pi>)
                    d = <abs>(2*<pi> - d);
                same = same && d < <same>;
            }
            is_new = !same;
        }
        if (!is_new)
            continue;
        for (int j = 0; j < <n>; j++)
            q[count*<n> + j] = angle[j] && x[j] <= -<pi> ? x[j] + 2*<pi> : x[j];
        count++;
    }
    return count;
}
"""
PI = "3.14159265358979324"


def _accept(T: str, abs_: str) -> str:
    """The residual allowed: 1e-9 of the pose's size."""
    return f"1e-9*(1 + {abs_}({T}[3]) + {abs_}({T}[7]) + {abs_}({T}[11]))"


def _c(body: str, words: dict[str, Any]) -> str:
    head = """
/* All configurations of a pose T (row by row): q holds them row by row, <k> at most; gives their
   number. Configurations that coincide (singular poses) are given once. */
int <f>(const double T[16]<arguments>, double q[<kn>]);

int <f>(const double T[16]<arguments>, double q[<kn>])
{"""
    special = {"real_": "double", "T": "T", "abs": "fabs", "pi": PI, "accept": _accept("T", "fabs")}
    return body + _filled(head + C_BODY, {**special, **words})


def _cpp(body: str, words: dict[str, Any]) -> str:
    head = """
/* All configurations of a pose (row by row): q holds them row by row, <k> at most; gives their
   number. Configurations that coincide (singular poses) are given once. */
template <typename T>
inline int <f>(const T *pose<typed>, T *q)
{
    using std::abs;"""
    special = {"real_": "T", "T": "pose", "abs": "abs", "pi": f"T({PI})"}
    special["accept"] = _accept("pose", "abs")
    start, _, rest = body.rpartition("\n#endif")
    return start + _filled(head + C_BODY, {**special, **words}) + "\n#endif" + rest


def _python(body: str, words: dict[str, Any]) -> str:
    text = '''

def <f>(T<more>):
    """All configurations of one pose T (4, 4): an array (k, <n>), k = 0 out of reach.

    Configurations that coincide (singular poses) are given once."""
    T = np.asarray(T, dtype=float)
    angle = np.array([<angles>], dtype=bool)
    found, margin, residual = <f>_branches(T<more>)
    kept = []
    for x, m, e in zip(found, margin, residual):
        if not (m >= <real> and e <= 1e-9*(1 + np.abs(T[:3, 3]).sum())):
            continue
        x = np.where(angle & (x <= -np.pi), x + 2*np.pi, x)
        apart = [np.where(angle, (x - y + np.pi) % (2*np.pi) - np.pi, x - y) for y in kept]
        if all(np.abs(d).max() >= <same> for d in apart):
            kept.append(x)
    return np.array(kept).reshape(len(kept), <n>)
'''
    return body.rstrip("\n") + "\n" + _filled(text, words)


def _matlab(body: str, words: dict[str, Any]) -> str:
    text = """
function q = <f>(T<more>)
% All configurations of a pose T (4x4): rows of q, none when it is out of reach.
% Configurations that coincide (singular poses) are given once.
  angle = logical([<angles>]);
  [found, margin, residual] = <f>_branches(T<more>);
  q = zeros(0, <n>);
  for b = 1:<k>
    if ~(margin(b) >= <real> && residual(b) <= 1e-9*(1 + sum(abs(T(1:3, 4)))))
      continue
    end
    x = found(b, :);
    turn = angle & x <= -pi;
    x(turn) = x(turn) + 2*pi;
    is_new = true;
    for c = 1:size(q, 1)
      d = x - q(c, :);
      d(angle) = mod(d(angle) + pi, 2*pi) - pi;
      is_new = is_new && max(abs(d)) >= <same>;
    end
    if is_new
      q(end + 1, :) = x;
    end
  end
end

"""
    start = body.index("function ")
    return body[:start] + _filled(text, words).lstrip("\n") + body[start:]
