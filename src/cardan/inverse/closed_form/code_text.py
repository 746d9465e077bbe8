"""The function around the branches of a closed form in C, C++, Python and MATLAB.

Each writer gets the text of the branches, that of the kernels, and the words of the function:
names, sizes, arguments (code.py). Parts between "<few>" and "</few>" are for arms of three to five
joints, of which the general method gives further candidates.
"""

from __future__ import annotations

import re
from typing import Any

from ...emit.header import CODING

__all__ = ["WRITERS"]

Words = dict[str, Any]


def _filled(template: str, words: Words) -> str:
    kept = r"\1" if words["few"] else ""
    template = re.sub(r"<few>(.*?)</few>", kept, template, flags=re.DOTALL)
    for key, value in words.items():
        template = template.replace(f"<{key}>", str(value))
    return template


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
    double error[<k>], lost[<k>], times[<k>], state[<state>], near[<nears>];
    double shape[<shape>] = {<b>, <k><ask>}<few>, others[<more_n>]</few>;
    int at = 1, k<few>, further</few>;
    <f>_try(T<more>, 0, <tiny>, 0, 0, branch, margin, residual, role<arm>);
    <f>_closely(T, branch, margin, residual, role, shape<arm>, q, error, lost, times, state,
                near<others>);
    info[1] = state[1] + state[2] > 0;
<few>    shape[2] = 0;
    further = (int)state[3];
</few>    if (info[1] > 0) {
        if (state[1] > 0) {
            for (k = 0; k < <values>; k++, at++)
                <f>_try(T<more>, -3.141592653589793 + 6.283185307179586/<values>*k, <clear>, k + 1,
                        at, branch, margin, residual, role<arm>);
            shape[0] = <b>*at;
            <f>_closely(T, branch, margin, residual, role, shape<arm>, q, error, lost, times, state,
                        near<others>);
        }
        for (k = 0; k < <near>; k++, at++)
            <f>_try(near + 16*k<more>, 0, <tiny>, -2, at, branch, margin, residual, role<arm>);
        shape[0] = <b>*at;
<few>        for (k = 0; k < further; k++, shape[0]++) {
            memcpy(branch + <bn>*at + <n>*k, others + <n>*k, <n>*sizeof *branch);
            margin[<b>*at + k] = residual[<b>*at + k] = 0;
            role[<b>*at + k] = -1;
        }
</few>        <f>_closely(T, branch, margin, residual, role, shape<arm>, q, error, lost, times,
                    state, near<others>);
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
    std::array<double, <state>> state;
    std::array<double, <nears>> near;
    std::array<double, <shape>> shape{<b>, <k><ask>};
<few>    std::array<double, <more_n>> others;
</few><array>    std::copy(pose, pose + 16, T.begin());
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
                    near<others>);
    };
    attempt(pose, 0, <tiny>, 0);
    look();
    info[1] = state[1] + state[2] > 0 ? 1 : 0;
<few>    shape[2] = 0;
    const auto further = static_cast<std::size_t>(state[3]);
</few>    if (info[1] > 0) {
        if (state[1] > 0) {
            for (int k = 0; k < <values>; k++)
                attempt(pose, -3.141592653589793 + 6.283185307179586/<values>*k, <clear>, k + 1);
            look();
        }
        for (int k = 0; k < <near>; k++)
            attempt(near.data() + 16*k, 0, <tiny>, -2);
<few>        const auto last = static_cast<std::size_t>(<b>*at);
        std::copy_n(others.begin(), <n>*further, branch.begin() + <bn>*at);
        std::fill_n(margin.begin() + <b>*at, further, 0);
        std::fill_n(residual.begin() + <b>*at, further, 0);
        std::fill_n(role.begin() + <b>*at, further, -1);
        shape[0] = static_cast<double>(last + further);
</few>        look();
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
    if T.shape != (4, 4):
        raise ValueError(f"T: shape (4, 4) is expected, not {T.shape}")
    branch = np.zeros((<c>, <n>))
    margin, residual, role = np.zeros((3, <c>))
    at = 0

    def attempt(T, value, tiny, part):
        nonlocal at<nonlocal>
        guess = np.array([value] * <n> + [tiny])
        rows = slice(at, at + <b>)
        branch[rows], margin[rows], residual[rows]<arm> = <f>_branches(T<inputs>)
        role[rows] = part
        at += <b>

    def look():
        shape = [at, <k><few>, at == <b></few>]
        return <f>_closely(T, branch, margin, residual, role, shape<arm>)

<none>    with np.errstate(all="ignore"):
        attempt(T, 0.0, <tiny>, 0)
        found, error, lost, times, state, near<others> = look()
        vanishes = state[1] + state[2] > 0
<few>        further = np.reshape(others, (-1, <n>))[:int(state[3])]
</few>        if state[1] > 0:
            for k in range(<values>):
                attempt(T, -np.pi + 2*np.pi/<values>*k, <clear>, k + 1)
            found, error, lost, times, state, near<others> = look()
        if vanishes:
            for pose in np.reshape(near, (<near>, 4, 4)):
                attempt(pose, 0.0, <tiny>, -2)
<few>            branch[at:at + len(further)] = further
            role[at:at + len(further)] = -1
            at += len(further)
</few>            found, error, lost, times, state, near<others> = look()
    count = int(state[0])
    q = np.reshape(found, (<k>, <n>))[:count]
    singular = [x > 0.5 for x in lost[:count]]
    return q, error[:count], singular, [int(x) for x in times[:count]], vanishes


def <f>(T<more>):
    """All configurations of one pose T (4, 4): an array (k, <n>), k = 0 out of reach.

    Configurations that coincide (singular poses) are given once."""
    return <f>_all(T<more>)[0]
'''
    own = kernels.removeprefix(CODING).strip("\n")  # said once, on the first line of the file
    return f"{body.rstrip()}\n\n\n{own}\n{_filled(text, words)}"


def _matlab(body: str, kernels: str, words: Words) -> str:
    text = """
function [q, residual, singular, multiplicity, vanishes] = <f>(T<more>)
% All configurations of a pose T (4x4): rows of q, none when it is out of reach.
% Configurations that coincide (singular poses) are given once.
% For each its residual, 1 when it is singular, how many coincide; vanishes: 1 where an equation
% vanishes at this pose or has a multiple root (a joint may have any value, and a configuration
% stand for a family).
  branch = zeros(<c>, <n>); margin = zeros(1, <c>); off = margin; role = margin;
  aims = {T}; values = 0; roles = 0; at = 0; vanishes = 0; stage = 1;
  while stage > 0
    for k = 1:numel(aims)
      aim = aims{k};
      guess = [repmat(values(k), 1, <n>), <tiny>];
      if roles(k) > 0
        guess(end) = <clear>;
      end
      rows = at + (1:<b>);
      at = at + <b>;
      [branch(rows, :), margin(rows), off(rows)<arm>] = <f>_branches(aim<inputs>);
      role(rows) = roles(k);
    end
<few>    if stage == 3
      rows = at + (1:size(further, 1));
      branch(rows, :) = further; role(rows) = -1;
      at = at + numel(rows);
    end
</few>    [found, error, lost, times, state, near<others>] = ...
      <f>_closely(T, branch, margin, off, role, [at, <k><few>, stage == 1</few>]<arm>);
    if stage == 1
      vanishes = double(state(2) + state(3) > 0);
<few>      further = reshape(others, <n>, []).';
      further = further(1:state(4), :);
</few>    end
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


WRITERS = {"c": _c, "cpp": _cpp, "python": _python, "matlab": _matlab}
