"""A derivation as a tree of branches to read, in text or LaTeX.

Every step says which equation it takes, what it becomes, its solution, how many branches it opens,
and what happens where it degenerates."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from ...describe.robot import PRISMATIC
from .equation import Equation
from .latex import document, spelled
from .paul import Derivation, Step
from .spell import Speller

if TYPE_CHECKING:
    from ..geometry import InverseGeometry

__all__ = ["derivation_text"]

NAMES = {
    "linear": "X Y", "square": "a b c", "powers": "a4 a3 a2 a1 a0", "one": "X Y Z",
    "two": "X1 Y1 Z1 X2 Y2 Z2", "quartic": "a b X Y Z",
}  # fmt: skip
FORMS = {
    "linear": "X {r} = Y",
    "square": "a {r}^2 + b {r} + c = 0",
    "powers": "a4 {r}^4 + a3 {r}^3 + a2 {r}^2 + a1 {r} + a0 = 0",
    "one": "X {S} + Y {C} = Z",
    "two": "X1 {S} + Y1 {C} = Z1,  X2 {S} + Y2 {C} = Z2",
    "quartic": "a {C}^2 + b {C} {S} + X {S} + Y {C} = Z",
}
ROOTS = {
    "linear": ["{r} = Y/X"],
    "square": ["{r} = (-b + {e} sqrt(b^2 - 4 a c))/(2 a)"],
    "powers": ["#its real roots, up to four, by Ferrari's method; two signs choose"],
    "one": [
        "D = X^2 + Y^2,  w = sqrt(D - Z^2)",
        "{C} = (Y Z - {e} X w)/D,  {S} = (X Z + {e} Y w)/D",
    ],
    "tan": ["{C} = {e} X/sqrt(X^2 + Y^2),  {S} = -{e} Y/sqrt(X^2 + Y^2)"],
    "two": [
        "D = X1 Y2 - X2 Y1",
        "{S} = (Z1 Y2 - Z2 Y1)/D,  {C} = (X1 Z2 - X2 Z1)/D",
    ],
    "quartic": [
        "#with t the tangent of half the angle from phi, the one of 0, 72, 144, 216 and 288 degrees"
        " that keeps all roots finite; c = cos(phi), s = sin(phi)",
        "A = a (c^2 - s^2) + 2 b c s,  B = b (c^2 - s^2) - 2 a c s",
        "G = a s^2 - b c s - Z,  U = X c - Y s,  V = X s + Y c",
        "(A + G - V) t^4 + 2 (U - B) t^3 + 2 (G - A) t^2 + 2 (U + B) t + A + G + V = 0",
        "#its real roots, up to four, by Ferrari's method; two signs choose",
        "{C} = (c (1 - t^2) - 2 s t)/(1 + t^2),  {S} = (s (1 - t^2) + 2 c t)/(1 + t^2)",
    ],
}


def derivation_text(ik: InverseGeometry, form: str) -> str:
    """The derivation of a closed-form solution."""
    found: Derivation = ik.derivation
    latex = form == "latex"
    speller = Speller(found.geo, _labels(found), latex, found.chain.names)
    lines = _opening(ik, found, speller)
    number = 1
    for k, step in enumerate(found.steps, 1):
        lines += ["", *_step(found, step, speller, k, number)]
        number += len(step.root.signs)
        speller.solved(step.unknown, step.root.value)
    lines += ["", *_closing(found, speller)]
    return document(lines) if latex else "\n".join(lines) + "\n"


def _labels(found: Derivation) -> dict[int, str]:
    """The digits of every unknown: 1, or 23 for the sum of joints 2 and 3."""
    labels: dict[int, str] = {}
    for j, joint in enumerate(found.geo.joints):
        own = str(j + 1)
        before = "" if joint.previous is None else labels[joint.previous]
        long = len(found.geo.joints) > 9 and before
        labels[j] = own if joint.sigma == PRISMATIC else f"{before}{'_' if long else ''}{own}"
    return labels


def _opening(ik: InverseGeometry, found: Derivation, speller: Speller) -> list[str]:
    chain = found.chain
    lines = [
        f"Inverse geometry of {chain.robot}, frame {chain.frame}: method {ik.method},"
        f" {ik.solver.branches} branches",
        f"({ik.reason})",
        *ik.remarks,
        *([f"lengths are in units of {found.geo.unit} m"] if found.geo.unit != 1 else []),
        "",
        "T = [s n a P], the pose of the frame; iTj places frame j in frame i; e1, e2, ... = +1 or"
        " -1 number the branches.",
    ]
    pose = "T" if chain.world is None else "W^-1 T"
    ends = [name for name, word in (("B", chain.base), ("E", chain.tool)) if word]
    if ends:
        spelled = {"B": chain.base, "E": chain.tool}
        lines.append(
            "U0 = " + ("B^-1 " if "B" in ends else "") + pose + (" E^-1" if "E" in ends else "")
            + ",  " + ",  ".join(f"{end} = {_word(spelled[end])}" for end in ends)
        )  # fmt: skip
    else:
        lines.append(f"U0 = {pose}")
    if chain.world is not None:
        lines.append("W is the placement of the base in the world, where T is seen from.")
    plain = replace(speller, latex=False)
    sums = [
        f"C{label} = cos({_angle(found, j, plain)})"
        for j, label in speller.labels.items()
        if found.geo.joints[j].sigma != PRISMATIC
    ]
    lines.append(", ".join(sums) + "; S likewise")
    return [*lines, *_elbow(found, speller)]


ELBOW = (
    "n = W/|W|",
    "e1 = (z - (z.n) n)/|z - (z.n) n|,  e2 = n x e1",
    "a = ({upper}^2 - {lower}^2 + |W|^2)/(2 |W|),  h = sqrt({upper}^2 - a^2)",
    "K = a n + h (cos(psi) e1 + sin(psi) e2)",
)
ELBOW_LATEX = (
    r"n = W/\|W\|",
    r"e_1 = (z - (z^T n)\, n)/\|z - (z^T n)\, n\|, \quad e_2 = n \times e_1",
    r"a = ({upper}^2 - {lower}^2 + \|W\|^2)/(2 \|W\|), \quad h = \sqrt{{{upper}^2 - a^2}}",
    r"K = a\, n + h\, (\cos\psi\, e_1 + \sin\psi\, e_2)",
)


def _elbow(found: Derivation, speller: Speller) -> list[str]:
    """How the arm angle gives the elbow, whose coordinates have names from here on."""
    if found.geo.elbow is None:
        return []
    for letter, x in zip("xyz", found.geo.elbow, strict=True):
        speller.name(x, f"K_{letter}" if speller.latex else f"K{letter}")
    joints = found.geo.joints
    upper, lower = (speller.text(joints[j].r, tight=2) for j in (2, 4))
    rows = ELBOW_LATEX if speller.latex else ELBOW
    return [
        "psi is the arm angle, z the first axis, W the wrist and K the elbow, seen from the"
        " shoulder: W is the position of U0, and",
        *(f"      {row.format(upper=upper, lower=lower)}" for row in rows),
        "(where W is on the first axis, x stands for z).",
    ]


def _word(word: Any) -> str:
    parts = []
    for axis, angle, shift in word:
        if str(angle) != "0":
            parts.append(f"Rot({axis}, {angle})")
        if str(shift) != "0":
            parts.append(f"Tran({axis}, {shift})")
    return " ".join(parts)


def _angle(found: Derivation, j: int, speller: Speller) -> str:
    """The total angle of an unknown in terms of joint variables: psi = psi_previous + turn
    ± (q + theta)."""
    source = found.chain.joints[j]
    own = _plus(source.name, str(source.theta))
    start = _before(found, j, speller)
    if found.geo.joints[j].sign > 0:
        return f"{start} + {own}" if start else own
    own = own if own == source.name else f"({own})"
    return f"{start} - {own}" if start else f"-{own}"


def _before(found: Derivation, j: int, speller: Speller) -> str:
    """What the angle of a joint adds to: the total angle of the parallel one before it."""
    joint = found.geo.joints[j]
    start = "" if joint.previous is None else _angle(found, joint.previous, speller)
    return _plus(start, speller.text(joint.turn))


def _plus(start: str, text: str) -> str:
    """A sum of two formulas, either of which may be nothing."""
    if text == "0":
        return start
    if not start:
        return text
    return f"{start} - {text[1:]}" if text.startswith("-") else f"{start} + {text}"


def _step(found: Derivation, step: Step, speller: Speller, k: int, number: int) -> list[str]:
    """One unknown: its equations, the form they have, its roots and their exceptions."""
    relation = step.relation
    name = found.chain.names[step.unknown]
    put = spelled if speller.latex else str
    lines = [f"{k}. {name}"]
    for e in relation.sources:
        place = _place(e, len(found.geo.joints))
        lines += [f"   {place}:", f"      {_equation(e, speller)}"]
    if relation.eliminated is not None:
        gone = speller.labels[relation.eliminated]
        length = found.geo.joints[relation.eliminated].sigma == PRISMATIC
        what = f"r{gone}" if length else f"C{gone} and S{gone} (the squares of the two sum to 1)"
        lines.append(f"   eliminate {what}:")
    label = speller.labels[step.unknown]
    signs = [f"e{number + i}" for i in range(len(step.root.signs))] + ["", ""]
    words = {"C": f"C{label}", "S": f"S{label}", "r": f"r{label}", "e": signs[0], "f": signs[1]}
    kind = relation.kind
    zero = kind == "one" and isinstance(relation.coefficients[2], int)
    if kind in ("two", "linear") and not step.root.spans:
        lines += ["   so that", *_directly(step, speller, label)]
    else:
        lines += ["   which has the form", "      " + put(FORMS[kind].format(**words)), "   where"]
        lines += [f"      {a} = {b}" for a, b in speller.shared(relation.coefficients)]
        values = zip(NAMES[kind].split(), relation.coefficients, strict=True)
        lines += [f"      {put(a)} = {speller.text(b)}" for a, b in values]
        lines.append("   so that")
        for line in ROOTS["tan" if zero else kind]:
            lines.append(
                "   " + line[1:] if line[0] == "#" else "      " + put(line.format(**words))
            )
    plain = replace(speller, latex=False)
    lines.append("      " + put(f"{name} = {_value(found, step.unknown, label, plain)}"))
    return lines + [f"   {text}" for text in _cases(found, step, signs, zero)]


def _directly(step: Step, speller: Speller, label: str) -> list[str]:
    """The value of an unknown that its equations give at once."""
    value = step.root.value
    parts = [("r", value)] if step.relation.kind == "linear" else zip("CS", value, strict=True)
    shared = speller.shared(step.relation.coefficients)
    lines = [f"      {a} = {b}" for a, b in shared]
    return lines + [
        f"      {speller.unknown(step.unknown, k)} = {speller.text(x)}" for k, x in parts
    ]


def _value(found: Derivation, j: int, label: str, speller: Speller) -> str:
    """The joint variable from the unknown."""
    joint, source = found.geo.joints[j], found.chain.joints[j]
    own = str(source.r if joint.sigma == PRISMATIC else source.theta)
    offset = "" if own == "0" else f" - ({own})"
    if joint.sigma == PRISMATIC:
        return f"r{label}{offset}"
    text = f"atan2(S{label}, C{label})"
    before = _before(found, j, speller)
    if joint.sign > 0:
        return (f"{text} - ({before})" if before else text) + offset
    return (f"{before} - {text}" if before else f"-{text}") + offset


def _cases(found: Derivation, step: Step, signs: list[str], zero: bool) -> list[str]:
    """The branches of a step and where it degenerates."""
    kind, name = step.relation.kind, found.chain.names[step.unknown]
    pose = not all(found.shadow.is_constant(c) for c in step.relation.coefficients[:2])
    lines = []
    if kind in ("quartic", "powers"):
        lines.append(f"branches: {signs[0]} = +-1, {signs[1]} = +-1, where the root is real;"
                     " roots that coincide are singular")  # fmt: skip
    elif kind == "one" and zero:
        lines.append(f"branches: {signs[0]} = +1, and -1: half a turn further")
    elif kind in ("one", "square"):
        what = "D - Z^2" if kind == "one" else "b^2 - 4 a c"
        lines.append(f"branches: {signs[0]} = +1, -1 if {what} > 0; one (singular) if it is 0;"
                     " none if it is negative")  # fmt: skip
    if kind == "one" and pose:
        lines.append(f"degenerate: X = Y = 0; {_vanishing('Z', name)}")
    if kind == "two" and step.root.spans:
        lines.append(f"degenerate: D = 0; these two do not give {name} then (the guess, or 0, is"
                     " taken, and other values and poses nearby are tried)")  # fmt: skip
    if kind == "quartic":
        lines.append(f"degenerate: all coefficients 0; {name} may then be free (the guess, or 0, is"
                     " taken, and other values and poses nearby are tried)")  # fmt: skip
    if kind == "linear" and step.root.spans:
        lines.append(f"degenerate: X = 0; {_vanishing('Y', name)}")
    return lines


def _vanishing(rest: str, name: str) -> str:
    """What an equation says whose coefficients are zero."""
    return (
        f"there is no solution unless {rest} = 0; then {name} is free, or other equations give it"
        " (the guess, or 0, is taken, and other values and poses nearby are tried)"
    )


def _place(e: Equation, n: int) -> str:
    i, k, entry = e.place
    row, column = entry[0], entry[1:]
    left = f"{i}T0 U0" if i else "U0"
    last = f" {n}T{k}" if k < n else ""
    if column == "E":
        return f"elbow, given by the arm angle, seen from frame {i}, component {row}"
    if entry == "PP":
        return f"square of the distance from O{i} to O{k}"
    if column == "Q":
        return f"position of O{i} seen from frame {k}, component {row}"
    return f"entry ({row}, {column}) of {left}{last} = {i}T{k}"


def _equation(e: Equation, speller: Speller) -> str:
    return f"{speller.polynomial(e.left)} = {speller.polynomial(e.right)}"


def _closing(found: Derivation, speller: Speller) -> list[str]:
    """Conditions of arms with fewer than six joints, and the tree of branches."""
    lines = []
    if len(found.geo.unknowns) < 6:
        lines.append("Consistency: not every pose can be reached; it must satisfy")
        for e in found.conditions:
            lines.append(f"      {_equation(e, speller)}")
        lines.append("   and the direct model of each solution must give T back (its residual).")
    else:
        lines.append("Every solution is checked against the direct model (its residual).")
    return [*lines, "", "Branches:", *_tree(found)]


def _tree(found: Derivation) -> list[str]:
    """The branches as a tree: one leaf for every combination of signs."""
    levels: list[list[str]] = [[]]
    for step in found.steps:
        levels[-1].append(found.chain.names[step.unknown])
        levels += [[] for _ in step.root.signs]
    lines = [f"   {', '.join(levels[0]) or 'start'}"]
    depth = len(levels) - 1
    for number, signs in enumerate(product((1, -1), repeat=depth), 1):
        for level in range(depth):
            if any(s < 0 for s in signs[level + 1 :]):
                continue
            bars = "".join("|  " if s > 0 else "   " for s in signs[:level])
            names = ", ".join(levels[level + 1])
            leaf = f"  -> {number}" if level == depth - 1 else ""
            value = "+1" if signs[level] > 0 else "-1"
            lines.append(f"   {bars}+- e{level + 1} = {value}: {names}{leaf}".rstrip())
    return lines
