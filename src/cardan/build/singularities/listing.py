"""`cardan.singularities`: the determinant of a Jacobian in factors, what each means and where it is
zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...algebra.laurent import Laurent
from ...algebra.vector import Vec
from ...arguments import named_arguments
from ...describe.check import require_sound
from ...describe.robot import Robot
from ...document import html
from ...document.reading import parts_of
from ...emit.latex import broken, escaped
from ...errors import ModelError, UnknownNameError
from ...mechanism.frames import with_options
from ...mechanism.tree import Tree
from ..kinematic import ROWS, coordinates_of, task_rows, with_point
from ..mechanism import Mechanism
from .determinant import Arm, Determinant, factorised
from .meaning import Meaning, meaning
from .roots import Zero, zero

_WIDTH = 46  # signs of a line of an article
_SAMPLES = 8  # configurations in which a meaning is tried


@dataclass(frozen=True)
class Factor:
    """A factor of the determinant that joints can make zero.

    text: as it is read; power: how often it occurs; name: elbow, wrist or shoulder, or ""; meaning:
    what is so in space where it is zero, or "" where that is none of the usual relations; zero:
    formulas of a joint variable, or "" where none has a short one (k is 0 or 1)."""

    text: str
    power: int
    name: str
    meaning: str
    zero: str


@dataclass(frozen=True)
class Singularities:
    """Where the Jacobian of an arm is singular.

    robot, frame, rows: whose Jacobian; determinant: its text, in factors ("" where it has too many
    terms to be read); factors: those that joints can make zero.

    >>> found = cardan.singularities(cardan.load("planar2r"), tool=("L2", 0, 0))
    >>> found.determinant, found.factors[0].zero
    ('L1 L2 S2', 'q2 = 0, pi')"""

    robot: str
    frame: str
    rows: tuple[str, ...]
    determinant: str
    factors: tuple[Factor, ...]
    _lines: Mapping[str, str]

    def equations(self, form: str = "text") -> str:
        """The determinant, its factors and the singular configurations, as text or latex.

        >>> print(cardan.singularities(cardan.load("rx90")).equations().rstrip())
        Singular configurations of RX90, frame 6 (link6): J of x y z rx ry rz
        <BLANKLINE>
        det J = D3 RL4 C3 S5 (D3 C2 - RL4 S23)
        <BLANKLINE>
        1. C3 = 0, elbow: axes 2 and 3 and the point where axes 4, 5 and 6 meet lie in one plane
           th3 = +-pi/2
        2. S5 = 0, wrist: axes 4 and 6 are in line
           th5 = 0, pi
        3. D3 C2 - RL4 S23 = 0, shoulder: the point where axes 4, 5 and 6 meet lies on axis 1
           th2 = atan2(-D3 + RL4 S3, -RL4 C3) + k pi
        <BLANKLINE>
        C2 = cos(th2), C3 = cos(th3), C5 = cos(th5), C23 = cos(th2 + th3); S likewise; k = 0 or 1"""
        if form not in self._lines:
            raise UnknownNameError.of("form", form, self._lines)
        return self._lines[form]

    def __repr__(self) -> str:
        return self._lines["text"].rstrip()

    def _repr_html_(self) -> str:
        return html.fragment(parts_of(self._lines["latex"]))

    def _repr_latex_(self) -> str:
        return self._lines["latex"]


@named_arguments
def singularities(
    robot: Robot, *, frame: Any = None, rows: Any = None, tool: Sequence[Any] = (0, 0, 0),
    projection: Any = 0,
) -> Singularities:  # fmt: skip
    """The singular configurations of an arm, from the determinant of the rows of its Jacobian that
    are the task (those that it moves in, unless named): as many as its joints.

    Factors are found exactly, and their product is compared with the Jacobian's numbers; the
    meaning of each is tried in space, at configurations where it is zero.

    >>> found = cardan.singularities(cardan.load("ur5"))
    >>> [(factor.name, factor.zero) for factor in found.factors[:2]]
    [('elbow', 'q3 = 0, pi'), ('wrist', 'q5 = 0, pi')]"""
    require_sound(robot)
    name = robot.name
    if robot.ne or robot.constrained:
        what = "flexible links" if robot.ne else "closed loops or couplings"
        raise ModelError(f"'singularities' of '{name}' is not available for {what}")
    robot, options = with_options(robot, {"frame": frame, "projection": projection})
    robot, end, tool = with_point(robot, options["frame"], tool)
    mechanism = Mechanism.of(robot, "jacobian-inverse")
    chosen = task_rows(mechanism, end, options["projection"], tool, rows)
    arm = Arm.of(robot, end, options["projection"], chosen, Vec(*coordinates_of(tool)))
    named = tuple(ROWS[r] for r in chosen)
    if len(chosen) != len(arm.joints):
        few = len(arm.joints) < len(chosen)
        remedy = (
            "name as many rows as joints (rows='x y'), another frame or the point that is followed"
            " (tool=('L2', 0, 0))"
            if few else "'jacobian-inverse' has det(J J^T), which is zero where they are singular"
        )  # fmt: skip
        raise ModelError(
            f"{len(arm.joints)} joints of '{name}' move frame {Tree.of(robot).label(end)} in the"
            f" rows {' '.join(named)}: there is no determinant of J; {remedy}"
        )
    determinant = factorised(arm)
    listed = _listed(arm, determinant) if determinant else []
    lines = {form: _text(arm, determinant, listed, form == "latex") for form in ("text", "latex")}
    notation = arm.notation()
    factors = tuple(
        Factor(notation.text(p), power, said.name, said.words, root.text(notation) if root else "")
        for p, power, said, root in listed
    )
    text = determinant.text(notation) if determinant else ""
    return Singularities(name, Tree.of(robot).label(end), named, text, factors, lines)


Row = tuple[Laurent, int, Meaning, Zero | None]


def _listed(arm: Arm, found: Determinant) -> list[Row]:
    """Every factor once, with its power, meaning and zero."""
    rng = np.random.default_rng(2)
    others = [arm.sampled(rng) for _ in range(4)]
    rows: list[Row] = []
    for p in found.factors:
        known = next((k for k, row in enumerate(rows) if row[0].terms == p.terms), None)
        if known is not None:
            rows[known] = (p, rows[known][1] + 1, *rows[known][2:])
            continue
        root = zero(arm, p)
        if root is not None and root.never:
            continue
        at: list[dict[str, float]] = []
        for _ in range(10 * _SAMPLES if root else 0):
            values = arm.sampled(rng)
            at += [values | {root.variable: x} for x in root.roots(values)[:1]] if root else []
        rows.append((p, 1, meaning(arm, at[:_SAMPLES], others), root))
    return rows


def _text(arm: Arm, found: Determinant | None, rows: Sequence[Row], latex: bool) -> str:
    """All of it, to be read."""
    notation = arm.notation(latex)
    tree = Tree.of(arm.robot)
    named = " ".join(ROWS[r] for r in arm.rows)
    head = (
        f"Singular configurations of {arm.robot.name}, frame {tree.label(arm.frame)}: J of {named}"
    )

    def shown(formula: str, indent: str = "") -> str:
        if not latex:
            return f"{indent}{formula}"
        left, _, right = formula.partition(" = ")
        rows = " \\\\\n  ".join(broken(f"{left} &= {right}", _WIDTH))
        return f"\\begin{{align*}}\n  {rows}\n\\end{{align*}}"

    def words(text: str) -> str:
        return escaped(text) if latex else text

    if found is None:
        long = "Its determinant has too many terms to be read: 'jacobian-inverse' computes it."
        return f"{words(head)}\n\n{words(long)}\n"
    left = r"\det J = " if latex else "det J = "
    whole = f"{left}{found.text(notation)}"
    lines = [words(head), "", shown(whole), ""]
    for k, (p, _, said, root) in enumerate(rows, 1):
        equation = f"{notation.text(p)} = 0"
        equation = f"${equation}$" if latex else equation
        parts = [x for x in (f", {said.name}" if said.name else "", said.words) if x]
        lines.append(f"{k}. {equation}{words(': '.join(parts) if said.name else _colon(parts))}")
        lines += [shown(root.text(notation), "   ")] if root else []
    if not rows:
        lines.append(words("It is the same in all configurations: none is singular."))
    labels = notation.labels([*found.factors, *_inside(rows)])
    if labels:
        listed = ", ".join(f"${x}$" if latex else x for x in labels)
        mark = ("$S$" if latex else "S") + " likewise"
        several = any(root and "+ k " in root.text(notation) for *_, root in rows)
        last = ("; $k = 0$ or 1" if latex else "; k = 0 or 1") if several else ""
        lines += ["", f"{listed}; {mark}{last}"]
    if latex:
        lines = [r"\begingroup\sloppy", *lines, r"\par\endgroup"]
    return "\n".join(lines) + "\n"


def _colon(parts: Sequence[str]) -> str:
    return f": {parts[0]}" if parts else ""


def _inside(rows: Sequence[Row]) -> list[Laurent]:
    """What the formulas of zeros are made of."""
    return [x for *_, root in rows if root for x in root.abc if isinstance(x, Laurent)]
