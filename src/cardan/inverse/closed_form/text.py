"""A derivation as a tree of branches to read, in text or LaTeX.

Every step says which equation it takes, of which type it is, its solution, how many branches it
opens, and what happens where it degenerates. Types are numbered as by W. Khalil and E. Dombre,
Modeling, Identification and Control of Robots, 2002, table 4.1. Formulas in words stand between
MARKs, which LaTeX sets as mathematics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, product
from typing import TYPE_CHECKING, Any

from ...describe.robot import PRISMATIC
from ...emit.header import wrapped
from .equation import Equation
from .latex import MARK, document, spelled
from .paul import Derivation, Step
from .polynomial import terms
from .spell import Speller

if TYPE_CHECKING:
    from ..geometry import InverseGeometry

_EQUATION = " " * 6  # before an equation on a line of its own
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
TYPES = {"linear": "type 1", "one": "type 2", "two": "type 3"}
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
    speller = Speller(found.geo, _labels(found), latex, found.chain.names, found.shadow)
    speller.foresee((_scalars(step), step.root.value) for step in found.steps)
    lines = _opening(ik, found, speller)
    number = 1
    solved, waiting = set[int](), list[int]()  # sums of angles that are known before their parts
    for k, step in enumerate(found.steps, 1):
        solved.add(step.unknown)
        waiting.append(step.unknown)
        told = sorted(j for j in waiting if _parts(found, j) <= solved)
        waiting = [j for j in waiting if j not in told]
        lines += ["", *_step(found, step, speller, k, number, told)]
        number += len(step.root.signs)
        speller.solved(step.unknown, step.root.value)
    lines += ["", *_closing(found, speller)]
    if latex:
        return document(lines, _tree(found))
    rows = [*(line.replace(MARK, "") for line in lines), "", "Branches:"]
    wide = ([row] if row.startswith(_EQUATION) else wrapped(row) for row in rows)
    return "\n".join([*chain.from_iterable(wide), *_drawn(found)]).replace(MARK, "") + "\n"


def _scalars(step: Step) -> list[Any]:
    """The known scalars that the equations of a step are printed with."""
    sides = [side for e in step.relation.sources for side in (e.left, e.right)]
    return [c for side in sides for c in terms(side).values()]


def _m(formula: str) -> str:
    """A formula in words."""
    return f"{MARK}{formula}{MARK}"


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
        f" {ik.solver.branches} branch{'es' if ik.solver.branches != 1 else ''}",
        f"({ik.reason})",
        *ik.remarks,
        *([f"lengths are in units of {found.geo.unit} m"] if found.geo.unit != 1 else []),
        "",
        f"{_m('T = [s n a P]')}, the pose of the frame; {_m('iTj')} places frame {_m('j')} in frame"
        f" {_m('i')}; {_m('e1')}, {_m('e2')}, ... = +1 or -1 number the branches.",
    ]
    pose = "T" if chain.world is None else "W^-1 T"
    ends = [name for name, word in (("B", chain.base), ("E", chain.tool)) if word]
    if ends:
        spelled = {"B": chain.base, "E": chain.tool}
        start, last = ("B^-1 " if "B" in ends else ""), (" E^-1" if "E" in ends else "")
        lines.append(
            _m(f"U0 = {start}{pose}{last}") + ",  "
            + ",  ".join(_m(f"{end} = {_word(spelled[end])}") for end in ends)
        )  # fmt: skip
    else:
        lines.append(_m(f"U0 = {pose}"))
    if chain.world is not None:
        lines.append(f"{_m('W')} is the placement of the base in the world, where {_m('T')} is seen"
                     " from.")  # fmt: skip
    plain = replace(speller, latex=False)
    sums = [
        _m(f"C{label} = cos({_angle(found, j, plain)})")
        for j, label in speller.labels.items()
        if found.geo.joints[j].sigma != PRISMATIC
    ]
    if sums:
        lines.append(", ".join(sums) + f"; {_m('S')} likewise")
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
        f"{_m('psi')} is the arm angle, {_m('z')} the first axis, {_m('W')} the wrist and {_m('K')}"
        f" the elbow, seen from the shoulder: {_m('W')} is the position of {_m('U0')}, and",
        *(f"      {row.format(upper=upper, lower=lower)}" for row in rows),
        f"(where {_m('W')} is on the first axis, {_m('x')} stands for {_m('z')}).",
    ]


def _word(word: Any) -> str:
    parts = []
    for axis, angle, shift in word:
        if str(angle) != "0":
            parts.append(f"Rot({axis}, {angle})")
        if str(shift) != "0":
            parts.append(f"Tran({axis}, {shift})")
    return " ".join(parts)


def _parts(found: Derivation, j: int) -> set[int]:
    """The joints whose angles the total angle of a joint adds up."""
    joint = found.geo.joints[j]
    if joint.sigma == PRISMATIC or joint.previous is None:
        return {j}
    return {j, *_parts(found, joint.previous)}


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


def _step(
    found: Derivation, step: Step, speller: Speller, k: int, number: int, told: Sequence[int]
) -> list[str]:
    """One unknown: its equations, the form they have, its roots and their exceptions; `told`: the
    joints whose variables are known with it."""
    relation = step.relation
    put, plain = spelled if speller.latex else str, replace(speller, latex=False)
    name = found.chain.names[step.unknown]
    if step.unknown not in told:
        name = _angle(found, step.unknown, plain)
    lines = [f"{k}. {name if step.unknown in told else _m(name)}"]
    shared = speller.shared(_scalars(step))
    if shared:
        lines += ["   with", *(f"      {a} = {b}" for a, b in shared)]
    for e in relation.sources:
        place = _place(e, len(found.geo.joints))
        lines += [f"   {place}:", f"      {_equation(e, speller)}"]
    if relation.eliminated is not None:
        gone = speller.labels[relation.eliminated]
        length = found.geo.joints[relation.eliminated].sigma == PRISMATIC
        what = _m(f"r{gone}")
        if not length:
            what = f"{_m(f'C{gone}')} and {_m(f'S{gone}')} (the squares of the two sum to 1)"
        lines.append(f"   {_pair(found, step)}eliminate {what}:")
    label = speller.labels[step.unknown]
    signs = [f"e{number + i}" for i in range(len(step.root.signs))] + ["", ""]
    words = {"C": f"C{label}", "S": f"S{label}", "r": f"r{label}", "e": signs[0], "f": signs[1]}
    kind = relation.kind
    zero = kind == "one" and isinstance(relation.coefficients[2], int)
    if kind in ("two", "linear") and not step.root.spans:
        lines += [f"   so that ({TYPES[kind]})", *_directly(step, speller, label)]
    else:
        named = f" of {TYPES[kind]}" if kind in TYPES else ""
        lines += [f"   which has the form{named}", "      " + put(FORMS[kind].format(**words))]
        lines.append("   where")
        values = zip(NAMES[kind].split(), relation.coefficients, strict=True)
        lines += [f"      {put(a)} = {speller.text(b)}" for a, b in values]
        lines.append("   so that")
        for line in ROOTS["tan" if zero else kind]:
            lines.append(
                "   " + line[1:] if line[0] == "#" else "      " + put(line.format(**words))
            )
    if step.unknown not in told:
        lines.append("      " + put(f"{name} = atan2(S{label}, C{label})"))
    for j in told:
        value = _value(found, j, speller.labels[j], plain)
        lines.append("      " + put(f"{found.chain.names[j]} = {value}"))
    return lines + [f"   {text}" for text in _cases(found, step, signs, zero)]


def _directly(step: Step, speller: Speller, label: str) -> list[str]:
    """The value of an unknown that its equations give at once."""
    value = step.root.value
    parts = [("r", value)] if step.relation.kind == "linear" else zip("CS", value, strict=True)
    return [f"      {speller.unknown(step.unknown, k)} = {speller.text(x)}" for k, x in parts]


def _pair(found: Derivation, step: Step) -> str:
    """The type of two equations in two unknowns, of which one is eliminated."""
    relation = step.relation
    gone = relation.eliminated
    assert gone is not None
    if relation.kind != "one" or len(relation.sources) != 2:
        return ""
    monomials = [set(terms(side)) for e in relation.sources for side in (e.left, e.right)]
    own = [m for some in monomials for m in some if any(a >> 2 == gone for a in m)]
    joints = found.geo.joints
    if joints[gone].sigma == PRISMATIC:
        return f"type {4 if any(len(m) > 1 for m in own) else 5}; "
    if step.unknown in (joints[gone].previous, gone) or joints[step.unknown].previous == gone:
        return "type 8; "
    each = [len({m for m in some if m in own}) for some in monomials]
    return f"type {6 if max(each) == 1 else 7}; "


def _value(found: Derivation, j: int, label: str, speller: Speller) -> str:
    """The joint variable from the unknown."""
    joint, source = found.geo.joints[j], found.chain.joints[j]
    own = str(source.r if joint.sigma == PRISMATIC else source.theta)
    offset = "" if own == "0" else _less(own)
    if joint.sigma == PRISMATIC:
        return f"r{label}{offset}"
    text = f"atan2(S{label}, C{label})"
    before = _before(found, j, speller)
    if joint.sign > 0:
        return (f"{text}{_less(before)}" if before else text) + offset
    return (f"{before} - {text}" if before else f"-{text}") + offset


def _less(text: str) -> str:
    """What is taken away: " - a", " + a" of -a."""
    if text[0] == "-" and _single(text[1:]) == text[1:]:
        return f" + {text[1:]}"
    return f" - {_single(text)}"


def _single(text: str) -> str:
    """In parentheses where it is a sum."""
    return f"({text})" if re.search("[-+ ]", text) else text


def _cases(found: Derivation, step: Step, signs: list[str], zero: bool) -> list[str]:
    """The branches of a step and where it degenerates."""
    kind, name = step.relation.kind, _m(found.chain.names[step.unknown])
    pose = not all(found.shadow.is_constant(c) for c in step.relation.coefficients[:2])
    first, second = map(_m, signs[:2])
    lines = []
    if kind in ("quartic", "powers"):
        lines.append(f"branches: {first} = +-1, {second} = +-1, where the root is real; roots that"
                     " coincide are singular")  # fmt: skip
    elif kind == "one" and zero:
        lines.append(f"branches: {first} = +1, and -1: half a turn further")
    elif kind in ("one", "square"):
        what = _m(("D - Z^2" if kind == "one" else "b^2 - 4 a c") + " > 0")
        lines.append(f"branches: {first} = +1, -1 if {what}; one (singular) if it is 0; none if it"
                     " is negative")  # fmt: skip
    if kind == "one" and pose:
        lines.append(f"degenerate: {_m('X = Y = 0')}; {_vanishing('' if zero else 'Z', name)}")
    if kind == "two" and step.root.spans:
        lines.append(f"degenerate: {_m('D = 0')}; these two do not give {name} then {_TRIED}")
    if kind == "quartic":
        lines.append(f"degenerate: all coefficients 0; {name} may then be free {_TRIED}")
    if kind == "linear" and step.root.spans:
        lines.append(f"degenerate: {_m('X = 0')}; {_vanishing('Y', name)}")
    return lines


_TRIED = "(the guess, or 0, is taken, and other values and poses nearby are tried)"


def _vanishing(rest: str, name: str) -> str:
    """What an equation says whose coefficients are zero, and whose right side may not be."""
    unless = f"there is no solution unless {_m(f'{rest} = 0')}; then " if rest else ""
    return f"{unless}{name} is free, or other equations give it {_TRIED}"


def _place(e: Equation, n: int) -> str:
    i, k, entry = e.place
    row, column = entry[0], entry[1:]
    left = f"{i}T0 U0" if i else "U0"
    last = f" {n}T{k}" if k < n else ""
    if column == "E":
        return f"elbow, given by the arm angle, seen from frame {i}, component {_m(row)}"
    if entry == "PP":
        return f"square of the distance from {_m(f'O{i}')} to {_m(f'O{k}')}"
    if column == "Q":
        return f"position of {_m(f'O{i}')} seen from frame {k}, component {_m(row)}"
    return f"entry ({_m(row)}, {_m(column)}) of {_m(f'{left}{last} = {i}T{k}')}"


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
    return lines


Node = tuple[tuple[int, ...], str, str]  # signs so far, unknowns that follow, number of the leaf


def _tree(found: Derivation) -> list[Node]:
    """The branches as a tree: one leaf for every combination of signs."""
    levels: list[list[str]] = [[]]
    for step in found.steps:
        levels[-1].append(_m(found.chain.names[step.unknown]))
        levels += [[] for _ in step.root.signs]
    nodes: list[Node] = [((), ", ".join(levels[0]) or "start", "")]
    depth = len(levels) - 1
    for number, signs in enumerate(product((1, -1), repeat=depth), 1):
        for level in range(depth):
            if not any(s < 0 for s in signs[level + 1 :]):
                leaf = str(number) if level == depth - 1 else ""
                nodes.append((signs[: level + 1], ", ".join(levels[level + 1]), leaf))
    return nodes


def _drawn(found: Derivation) -> list[str]:
    """The tree in characters."""
    lines = []
    for signs, names, leaf in _tree(found):
        if not signs:
            lines.append(f"   {names}")
            continue
        bars = "".join("|  " if s > 0 else "   " for s in signs[:-1])
        value = "+1" if signs[-1] > 0 else "-1"
        arrow = f"  -> {leaf}" if leaf else ""
        lines.append(f"   {bars}+- e{len(signs)} = {value}: {names}{arrow}".rstrip())
    return lines
