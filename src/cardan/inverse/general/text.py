"""The general method in words: the elimination of a robot, stated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..closed_form.latex import MARK, prose

if TYPE_CHECKING:
    from ..chain.chain import Chain
    from .method import Prepared

# formulas stand between backticks
_SLIDES = """The three prismatic joints do not turn the tool.
1. Orientation: `A0 Rz({a}) A1 Rz({b}) A2 Rz({c}) A3 = R`, `A0`..`A3` constant. The third axes give
   `p cos {b} + r sin {b} = w`, `w` linear in `R`: two values of `{b}`, or none.
2. The third column and the third row of the same equation give `{a}` and `{c}`.
3. Position: `P` is linear in `{slides}`: three equations.
At most 2 configurations; each is polished by Newton's method on the pose and verified."""

_STEPS = """1. Joints as dual quaternions, each linear in one ratio `u:v`:
   `s_j = u_j + v_j e_j`, `u:v = 1:tan(q/2)`, `e = k` (revolute); `1:q/2`, `e = eps k` (prismatic).
   The chain and the pose `tau` close a loop: `g_1 s_1 g_2 s_2 ... g_6 s_6 tau^-1 = 1`.
2. `H = {H}` against `L = {L}`: with `t = (u v) x (u v) x (u v)` of `H` and `m` the same of `L`,
   `t = N m` (8x8, {linear}).
3. The two halves of `t` are in the ratio of `{h}`: `(u N_1 - v N_0) m = 0`, 4 equations, linear in
   each of `{h}`, `{a}`, `{b}`, `{c}`.
4. Eliminate `{a}`: the 2x2 minors of the columns of its `u` and `v` are 6 equations of degree 2 in
   each of `{b}`, `{c}`, `{h}`.
5. Times 1 and `v` of `{b}`: 12 equations in the 12 monomials `v_b^k v_c^l`, k = 0..3, l = 0..2:
   `(S0 + S1 x + S2 x^2) y = 0`, `x = tan({h}/2)`, 24 roots.
6. {spurious} are `x = i` and `x = -i`, where `s` has no inverse; their null vectors
   are found and divided out: an eigenvalue problem {n}x{n}, {n} roots.{lack}
7. A real root `x` of `{h}` gives `y`{several}, hence `{b}` and `{c}`; 3 gives `{a}`;
   `t` gives {rest}.
8. Newton's method on the whole pose, from every root near the real axis; verified by the direct
   model; equal answers are merged.
When the matrices of a pose are badly conditioned, a real root gives no configuration, or the
number of roots is odd, the next elimination is used: {others}."""


def elimination(chain: Chain, held: Sequence[int], made: Prepared, form: str) -> str:
    """The steps for the robot, with names and sizes."""
    names = [name for j, name in enumerate(chain.names) if j not in held]
    head = f"Inverse geometry of {chain.robot} by the general method (Raghavan and Roth)"
    if held:
        head += f", {', '.join(chain.names[j] for j in held)} given"
    text = _slides(made, names) if made.slides else _steps(made, names)
    if made.chosen and not made.chosen[0].trusted:
        text += (
            "\nEvery elimination of this robot is degenerate: these are of general robots nearby,"
        )
        text += "\nall of them are used, and step 8 is on the robot itself."
    if form == "text":
        return f"{head}.\n{text.replace('`', '')}\n"
    return _latex(f"{head}.\n{text.replace('`', MARK)}")


def _slides(made: Prepared, names: list[str]) -> str:
    a, b, c = (name for name, s in zip(names, made.numeric.sigma, strict=True) if s == 0)
    slides = [name for name, s in zip(names, made.numeric.sigma, strict=True) if s == 1]
    return _SLIDES.format(a=a, b=b, c=c, slides=", ".join(slides))


def _steps(made: Prepared, names: list[str]) -> str:
    way = made.chosen[0]
    h, p, r, a, b, c = (names[j] for j in way.joints)
    lack = (
        f"\n   `S(x)` lacks rank by {way.lack}: a generic `(1 + x^2) U V^T` of that rank is added,"
    )
    lack += " which moves\n   no root of the robot."
    several = f" (in a null space of dimension {way.dimension}: its products of powers)"
    return _STEPS.format(
        H=", ".join(names[j] for j in way.H),
        L=", ".join(names[j] for j in sorted((way.a, way.b, way.c))),
        linear="the pose stands among `H`" if way.wrapped else "linear in `tau`",
        h=h, a=a, b=b, c=c, rest=f"`{p}` and `{r}`",
        spurious=f"{2 * (12 - way.rank)} of them", n=2 * way.rank,
        lack=lack if way.lack else "", several=several if way.dimension > 1 else "",
        others="; ".join(f"root `{names[w.h]}` of `H = {', '.join(names[j] for j in w.H)}`"
                         for w in made.chosen[1:]) or "none for this robot",
    )  # fmt: skip


def _latex(text: str) -> str:
    """The steps as an enumerated list in LaTeX."""
    lines, out, listed = text.splitlines(), [r"\begingroup\sloppy\emergencystretch=3em"], False
    for line in lines:
        number = line.split(".")[0]
        if number.isdigit():
            if not listed:
                out.append(r"\begin{enumerate}")
                listed = True
            out.append(rf"\item {_prose(line.partition('. ')[2])}")
        elif listed and not line.startswith(" "):
            out += [r"\end{enumerate}", _prose(line)]
            listed = False
        else:
            out.append(_prose(line.strip()))
    return "\n".join([*out, *([r"\end{enumerate}"] if listed else []), r"\par\endgroup"]) + "\n"


def _prose(line: str) -> str:
    """A line; the product of ratios is that of tensors."""
    text = re.sub(r"\\,(\\allowbreak)? x\\,(\\allowbreak)? \(", r" \\otimes (", prose(line))
    return text.replace(" ... ", r" \cdots ")
