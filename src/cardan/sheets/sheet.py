"""`cardan.sheet`: a robot and its models on a few pages, to be handed out.

Sections that would be too long to be read are left out; the sheet then says by which command they
are printed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import named_arguments
from ..build.singularities.listing import singularities
from ..catalogue import model
from ..describe.bundled import bundled, robots
from ..describe.robot import FIXED, INERTIA, REVOLUTE, Robot
from ..document import html, markdown, tex, typst
from ..document.formula import Node, formula, width
from ..document.reading import parts_of
from ..document.structure import (
    ROOM,
    Document,
    Equations,
    Math,
    Part,
    Section,
    Table,
    Words,
    laid,
    size,
    words,
)
from ..emit.latex import elements, symbol_of
from ..emit.reading import reading
from ..errors import CardanError, UnknownNameError
from ..files import write_atomic
from ..program import Program
from ..version import __version__
from .picture import robot_drawing
from .tables import robot_tables, rounded, written

SUFFIXES = (".html", ".pdf", ".tex", ".md")
_LONGEST = 40  # lines of one model
_MOST_ANONYMOUS = 6  # values between that have no name of the field
_MOST_LINES = 6  # of one equation
_MANY = 8  # equations: short ones among more stand beside one another
_GAP = r"\qquad"  # between equations beside one another
_MOST_BESIDE = 8  # equations that fit a line
_REPEATED = 3  # parts one after the other that were said above
_MOST_JOINTS = 9  # whose transforms are written one by one
_GENERAL = (  # [K10] (1)
    r"^{i}T_{j} = \operatorname{Rot}(z, \gamma_{j})\,\operatorname{Trans}(z, b_{j})\,"
    r"\operatorname{Rot}(x, \alpha_{j})\,\operatorname{Trans}(x, d_{j})\,"
    r"\operatorname{Rot}(z, \theta_{j})\,\operatorname{Trans}(z, r_{j})"
)
_SINE = re.compile(r"\\(cos|sin)(\([^()]*\)| \\?\w+(?:\{\w*\})?(?:_\{[^{}]*\})?)")
_ROWS = ("x", "y", "z", "rx", "ry", "rz")
_TITLES = {
    "transform": "transform of the last frame", "jacobian": "Jacobian",
    "inverse-geometry": "derivation", "inertia-matrix": "inertia matrix A",
    "coriolis-matrix": "Coriolis matrix C", "gravity": "vector Q of gravity",
    "base-parameters": "list of what they gather", "jacobian-inverse": "determinant",
    "loop-geometry": "list of the equations",
}  # fmt: skip
_COUNTED = (
    "transform", "jacobian", "inverse-dynamics", "inertia-matrix", "gravity", "direct-dynamics",
)  # fmt: skip


@named_arguments
def sheet(
    robot: Robot, path: str | Path, *, source: str = "", begin: Callable[[str], None] | None = None
) -> None:
    """A robot and its models on a few pages: .html, .pdf, .tex or .md by the extension.

    Its picture with frames and lengths, the geometric table, transforms, the Jacobian and the
    singularities, the inverse geometry, the equations of motion, base parameters and operation
    counts. A PDF is set by TeX where pdflatex is installed, else by Typst, which the extra [sheet]
    brings. What would be too long is left out, with the command that prints it; `source` is what
    the robot is called there: a bundled name or a file. `begin` is told what is derived next.

    >>> from pathlib import Path
    >>> cardan.sheet(cardan.load("planar2r"), "planar2r.html")
    >>> Path("planar2r.html").read_text(encoding="utf-8").count("<svg")
    1"""
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in SUFFIXES:
        raise UnknownNameError.of("form of a sheet", suffix or target.name, SUFFIXES)
    document = sheet_document(robot, source, begin or (lambda text: None))
    if suffix == ".pdf":
        write_atomic(target, _pdf(document))
    elif suffix == ".tex":
        write_atomic(target, tex.page(document))
    elif suffix == ".html":
        write_atomic(target, html.page(document))
    else:
        for name, drawing in markdown.pictures(document, target.stem).items():
            write_atomic(target.with_name(name), html.picture(drawing) + "\n")
        write_atomic(target, markdown.page(document, target.stem))


def _pdf(document: Document) -> bytes:
    """By TeX where it is installed, else by Typst."""
    if shutil.which("pdflatex"):
        pdf = _by_tex(tex.page(document))
        if pdf is not None:
            return pdf
    return typst.pdf(document)


def _by_tex(text: str) -> bytes | None:
    """The PDF of a document, or None where a package of TeX is missing."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sheet.tex").write_text(text, encoding="utf-8")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "sheet.tex"]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        return (Path(folder) / "sheet.pdf").read_bytes() if done.returncode == 0 else None


@dataclass(frozen=True)
class _Subject:
    """The robot of a sheet, and what commands call it."""

    robot: Robot
    source: str

    def left_out(self, name: str, lines: int | str, *, to: str = "latex") -> Words:
        return words(
            "The {what} is left out for length ({lines} lines):"
            " `cardan generate {source} {name} --to {to}` prints it.",
            what=_TITLES.get(name, name), lines=str(lines), source=self.source, name=name, to=to,
        )  # fmt: skip


def sheet_document(
    robot: Robot, source: str = "", begin: Callable[[str], None] = lambda text: None
) -> Document:
    """The document of a sheet, before it is written in a language."""
    subject = _Subject(robot, source or _bundled_name(robot) or "ROBOT")
    sections = []
    for title, section in _SECTIONS.items():
        begin(f"{robot.name}: {title.lower()}")
        parts = _said(section, subject)
        sections += [Section(title, tuple(parts))] if parts else []
    count = f"{len(robot.links)} links, {robot.n} joint variables"
    count += f", {len(robot.loops)} closed loops" if robot.loops else ""
    about = (f"{count}. ", " ".join(robot.source.split()))
    foot = words("`cardan sheet {source}`, Cardan {version}. Notation of Khalil: modified"
                 " Denavit-Hartenberg parameters, SI units, radians; numbers to six digits.",
                 source=subject.source, version=__version__)  # fmt: skip
    return Document(robot.name, about, tuple(sections), foot)


def _bundled_name(robot: Robot) -> str:
    return next((name for name in robots() if bundled(name) == robot), "")


def _said(section: Callable[[_Subject], list[Part]], subject: _Subject) -> list[Part]:
    """The parts of a section, or why there are none."""
    try:
        return section(subject)
    except CardanError as error:
        known = "not available" in error.what
        return [f"{'' if known else 'Not available: '}{error.what}."]


def _geometry(subject: _Subject) -> list[Part]:
    robot = subject.robot
    tables = robot_tables(robot)
    parts: list[Part] = [robot_drawing(robot), tables.pop("Geometry")]
    for title, table in tables.items():
        if title != "Inertia":
            parts += [title, table]
    g = ", ".join(written(str(x)) for x in robot.gravity)
    parts.append(words(f"Acceleration of gravity in frame 0: $[{g}]$."))
    variables = dict(zip(_moving(robot), robot.variables, strict=True))
    own = {j: f"q{j}" for j in variables}
    line = r"$C_{i} = \cos q_{i}$, $S_{i} = \sin q_{i}$, $C_{ij} = \cos(q_{i} + q_{j})$, ..."
    if any(x in own.values() and x != own[j] for j, x in variables.items()):  # joint 4 is q1
        line = (
            r"$C_{i}$, $S_{i}$: cosine and sine of the variable of joint $i$, $C_{ij}$, $S_{ij}$ of"
            r" the sum of those of joints $i$ and $j$."
        )
    elif named := [f"${symbol_of(own[j])} = {symbol_of(x)}$" for j, x in variables.items()
                   if x != own[j]]:  # fmt: skip
        parts.append(words(f"Joint variables: {', '.join(named)}."))
    if any(joint.sigma == REVOLUTE for joint in robot.joints):
        parts.append(words(line))
    return parts


# ---- equations ----


def _read(latex: str) -> tuple[Part, ...]:
    """Words and equations of a text, its numbers of six digits."""
    return parts_of(re.sub(r"(?<![\d.])\d+\.\d{5,}", lambda x: rounded(x[0]), latex))


def _equations(robot: Robot, program: Program, name: str = "") -> list[str]:
    """The equations of a program in LaTeX, its arrays as matrices where they fit a line."""
    joints = _joints(robot)
    rows = [_noted(row, joints) for row in elements(reading(program.textbook))]
    rows = [x for x in rows if len(set(x.split(" = "))) > 1]  # C1 = C1
    return _gathered(rows, program.outputs, name)


def _joints(robot: Robot) -> dict[str, int]:
    """The joints by the symbols of their variables."""
    return {symbol_of(x): j for x, j in zip(robot.variables, _moving(robot), strict=True)}


def _says_sines(line: str, joints: Mapping[str, int]) -> bool:
    """Does it say what C1, C12 ... are, as the sheet has said before?"""
    said = re.findall(r"\$([^$]*) = ([^$]*)\$", line)
    same = all(_noted(value, joints) == name for name, value in said)
    return "$S$ likewise" in line and same


def _moving(robot: Robot) -> list[int]:
    return [j for j, joint in enumerate(robot.joints, 1) if joint.sigma != FIXED]


def _noted(row: str, joints: Mapping[str, int]) -> str:
    """An equation with C12 for the cosine of the sum of the variables of joints 1 and 2, as the
    sheet says once for all. C12 alone is no joint's: that of the twelfth is defined."""

    def name(sine: re.Match[str]) -> str:
        numbers = [joints.get(x, 0) for x in sine[2].strip(" ()").split(" + ")]
        if not all(numbers) or (len(numbers) == 1 and numbers[0] > 9):
            return sine[0]
        comma = "," if max(numbers) > 9 else ""
        return f"{sine[1][0].upper()}_{{{comma.join(map(str, numbers))}}}"

    return _SINE.sub(name, row)


def _gathered(
    rows: Sequence[str], outputs: Mapping[str, tuple[int, ...]], name: str = ""
) -> list[str]:
    """Rows X_{i,j} = value of an output put together as X = [...]; `name`: what it is called."""
    arrays: dict[str, dict[str, str]] = {}
    rest: list[str] = []
    stems = {symbol_of(x): shape for x, shape in outputs.items() if shape}
    for row in rows:
        left, _, right = row.partition("=")
        at = re.fullmatch(r"(.*)_\{([\d,]+)\}", left.strip())
        if at and at[1] in stems:
            arrays.setdefault(at[1], {})[at[2]] = right.strip()
        else:
            rest.append(row)
    for stem, cells in arrays.items():
        shape = stems[stem]
        listed = {key: _resolved(stem, cells, text) for key, text in cells.items()}
        rest += _array(stem, name or stem, shape, listed)
    return rest


def _resolved(stem: str, cells: Mapping[str, str], text: str) -> str:
    """A value in which other elements of its array are written out."""

    def value(element: re.Match[str]) -> str:
        if element[1] not in cells:
            return element[0]
        inner = _resolved(stem, cells, cells[element[1]])
        items = formula(inner).parts
        summed = any(item.kind in ("binary", "sign") and item.text != "⋅" for item in items)
        alone = element[0] == text or (text.endswith(f" + {element[0]}") and inner[0] != "-")
        return f"({inner})" if summed and not alone else inner

    text = re.sub(rf"{re.escape(stem)}_\{{([\d,]+)\}}", value, text)
    turned = re.fullmatch(r"-\(-([^()]*)\)", text)
    return turned[1] if turned and not re.search(" [+-] ", turned[1]) else text


def _array(stem: str, name: str, shape: tuple[int, ...], cells: Mapping[str, str]) -> list[str]:
    """One equation where the matrix fits a line, else one for each element that is not zero; of a
    symmetric matrix those on and above the diagonal."""
    rows, columns = (*shape, 1)[:2]
    keys = [[f"{i},{j}" if len(shape) > 1 else f"{i}" for j in range(1, columns + 1)]
            for i in range(1, rows + 1)]  # fmt: skip
    if set(cells.values()) == {"0"}:
        return [f"{name} = 0"]
    if len(shape) <= 2 and all(key in cells for row in keys for key in row):
        body = r" \\ ".join(" & ".join(cells[key] for key in row) for row in keys)
        whole = rf"{name} = \begin{{bmatrix}}{body}\end{{bmatrix}}"
        if width(formula(whole)) <= ROOM:
            return [whole]
    listed = {key: cells[key] for row in keys for key in row if key in cells} or cells
    mirrored = {key: ",".join(reversed(key.split(","))) for key in listed}
    symmetric = len(shape) == 2 and rows == columns > 1 and all(
        listed[key] == listed.get(other) for key, other in mirrored.items()
    )  # fmt: skip
    if symmetric:
        listed = {key: text for key, text in listed.items() if key <= mirrored[key]}
    marked = re.fullmatch(r"(\w+)_\{(\w+)\}", name)
    prefix = rf"{stem}_{{{marked[2]}\," if marked else f"{stem}_{{"
    out = [f"{prefix}{key}}} = {text}" for key, text in listed.items() if text != "0"]
    if symmetric:
        out.append(rf"{prefix}j,i}} = {prefix}i,j}}, \quad \text{{the others }} 0")
    elif len(out) < len(listed):
        out.append(rf"{prefix}{'i,j' if len(shape) > 1 else 'i'}}} = 0 \quad \text{{else}}")
    return out


def _lines(rows: Sequence[str]) -> int:
    return sum(len(block) for block in laid(Equations(tuple(rows))))


def _shown(subject: _Subject, name: str, rows: Sequence[str]) -> list[Part]:
    """The equations of a model, or the command that prints them."""
    if len(rows) > _LONGEST * _MOST_BESIDE:  # not measured: there may be thousands
        return [subject.left_out(name, f"more than {_LONGEST}")]
    sines = [row for row in rows if re.match(r"[CS]_\{[^=]* = \\(?:cos|sin)\b", row)]
    if len(rows) > _MANY:
        rows = _beside(rows)
    elif sines:
        rows = [*_beside(sines), *(row for row in rows if row not in sines)]
    count = _lines(rows)
    if count > _LONGEST or _is_unreadable(rows):
        return [subject.left_out(name, count)]
    return [Equations(tuple(rows))] if rows else []


def _is_unreadable(rows: Sequence[str]) -> bool:
    """Has it many values without a name of the field (t12), quotients of quotients, or an equation
    that goes over many lines?"""
    if any(_lines([row]) > _MOST_LINES for row in rows):
        return True
    anonymous = sum(len(re.findall(r"(?<![\w}])t_\{\d+\} = ", row)) for row in rows)
    return anonymous > _MOST_ANONYMOUS or any(_quotients(formula(row)) > 1 for row in rows)


def _quotients(node: Node) -> int:
    """How many quotients stand in one another."""
    inner = max(map(_quotients, node.parts), default=0)
    return inner + (node.kind == "frac")


def _beside(rows: Sequence[str]) -> list[str]:
    """Short equations beside one another, as many as fit a line."""
    lines: list[str] = []
    gap, end = width(formula(_GAP)), 0.0
    for row in rows:
        own = width(formula(row))
        if lines and end + gap + own <= ROOM:
            lines[-1] += f" {_GAP} {row}"
            end += gap + own
        else:
            lines.append(row)
            end = own
    return lines


def _transforms(subject: _Subject) -> list[Part]:
    robot = subject.robot
    rows: list[str] = []
    for j, joint in enumerate(robot.joints[:_MOST_JOINTS], 1):
        i = joint.antecedent
        program = model(robot, "transform", frame=j, reference=i)
        rows += _equations(robot, program, f"^{{{i}}}T_{{{j}}}")
    parts: list[Part] = []
    if len(robot.joints) <= _MOST_JOINTS:
        parts.append(Equations(tuple(_beside(rows))))
    else:
        parts.append(words("Every frame in that of its antecedent, from the row $j$ of the table:"))
        parts.append(Equations((_GENERAL,)))
    program = model(robot, "transform")
    return [*parts, *_shown(subject, "transform", _equations(robot, program))]


def _jacobian(subject: _Subject) -> list[Part]:
    robot = subject.robot
    options, parts = _tip(robot), list[Part]()
    if options:
        parts.append(
            words(rf"Of the point at $x_{{{robot.n}}} = L_{{{robot.n}}}$ of the last link.")
        )
    tree = robot.tree()
    if robot.constrained:
        parts.append(words(r"Of the tree structure, whose joints all move: $V = J_{tr}\,\dot{q}$."))
    program = model(tree, "jacobian", **options)
    moved = _moved(program)
    if 0 < len(moved) < len(_ROWS) and not robot.ne:
        program = model(tree, "jacobian", rows=" ".join(moved), **options)
        rows = ", ".join(moved)
        parts.append(f"Rows {rows} (r: of the angular velocity); the others are zero.")
    parts += _shown(
        subject, "jacobian", _equations(robot, program, "J_{tr}" if robot.constrained else "")
    )
    if robot.constrained:
        return [*parts, _reduced(subject)]
    named = partial(_singularities, {**options, **({"rows": "x y"} if options else {})})
    return [*parts, *_said(named, subject)]


def _reduced(subject: _Subject) -> Words:
    """How the velocities of a tree follow from those that are independent, [KC97] 4.5."""
    robot = subject.robot
    ties = [name for name, tied in (("loops", robot.loops), ("couplings", robot.couplings),
                                    ("wheels", robot.wheels)) if tied]  # fmt: skip
    line = (
        r"The derivatives of the equations of its {ties}, $J_{a}\,\dot{q}_{a} + J_{p}\,\dot{q}_{p}"
        r" = 0$, give $\dot{q}_{p} = W\,\dot{q}_{a}$ with $W = -J_{p}^{-1} J_{a}$, so"
        r" $\dot{q} = G\,\dot{q}_{a}$ with the rows of 1 and of $W$ in $G$, and $J = J_{tr}\,G$"
    )
    line += "; `cardan generate {source} loop-kinematics` prints $W$."
    return words(line, ties=" and ".join(ties), source=subject.source)


def _tip(robot: Robot) -> dict[str, Any]:
    """Two revolute joints in a plane are followed at the end of their last link, which the table
    does not show."""
    flat = all(x.sigma == REVOLUTE and x.alpha == 0 and x.gamma == 0 for x in robot.joints)
    return {"tool": (f"L{robot.n}", 0, 0)} if flat and len(robot.joints) == 2 else {}


def _moved(program: Program) -> list[str]:
    """The rows of a Jacobian that are not zero everywhere: seen at random states."""
    rng = np.random.default_rng(1)
    inputs = {name: rng.uniform(0.5, 2.0, (8, *shape)) for name, shape in program.inputs.items()}
    J = np.abs(program.evaluate(**inputs)).max(axis=(0, 2))
    return [name for name, size_ in zip(_ROWS, J, strict=True) if size_ > 1e-9]


def _singularities(options: Mapping[str, Any], subject: _Subject) -> list[Part]:
    latex = singularities(subject.robot, **options).equations("latex")
    return _derivation(subject, "jacobian-inverse", latex)


def _loops(subject: _Subject) -> list[Part]:
    if not subject.robot.loops:
        return []
    geometry = model(subject.robot, "loop-geometry")
    return _derivation(subject, "loop-geometry", geometry.equations("latex"))


def _inverse(subject: _Subject) -> list[Part]:
    ik = model(subject.robot, "inverse-geometry")
    parts = _derivation(subject, "inverse-geometry", ik.equations("latex"))
    above = SequenceMatcher(a=_loops(subject), b=parts, autojunk=False).get_matching_blocks()
    said = {
        k
        for block in above
        if block.size >= _REPEATED
        for k in range(block.b, block.b + block.size)
    }
    return [part for k, part in enumerate(parts) if k not in said]


def _derivation(subject: _Subject, name: str, latex: str) -> list[Part]:
    """A text of words and equations, set closely, or the command that prints it."""
    parts: list[Part] = []
    joints = _joints(subject.robot)
    lines = [line for line in latex.splitlines() if not _says_sines(line, joints)]
    for part in _read("\n".join(lines)):
        if isinstance(part, Equations):
            rows = _beside(part.rows)
            if parts and isinstance(parts[-1], str | tuple) and len(rows) == 1:
                before = parts[-1] if isinstance(parts[-1], tuple) else (parts[-1],)
                if size(before) + width(formula(rows[0])) < 0.9 * ROOM:
                    listed = isinstance(before[0], str) and before[0][:1].isdigit()
                    parts[-1] = (*before, ": " if listed else " ", Math(rows[0]))
                    continue
            part = Equations(tuple(rows))
        parts.append(part)
    count = sum(_lines(part.rows) if isinstance(part, Equations) else 1 for part in parts)
    return parts if count <= 2 * _LONGEST else [subject.left_out(name, count)]


def _dynamics(subject: _Subject) -> list[Part]:
    parts: list[Part] = []
    inertia = robot_tables(subject.robot).get("Inertia")
    if inertia is not None and not _is_generic(subject.robot):
        parts.append(inertia)
    robot, words_ = _in_base_parameters(subject.robot)
    line = r"$A(q)\,\ddot{q} + C(q, \dot{q})\,\dot{q} + Q(q) = \tau$ without friction"
    mark = ""
    if robot.constrained:  # the equations of its tree are short, those of the rest are not
        robot, mark = robot.tree(), "tr"
        line = (
            r"Of the tree structure: $A_{tr}(q)\,\ddot{q} + C_{tr}(q, \dot{q})\,\dot{q} + Q_{tr}(q)"
            r" = \tau_{tr}$ without friction; of the robot, with $G$ as above:"
            r" $\tau = G^{T} \tau_{tr}$, $A = G^{T} A_{tr}\,G$, $Q = G^{T} Q_{tr}$"
        )
    parts.append(words(f"{line}{words_}."))
    for name in ("inertia-matrix", "coriolis-matrix", "gravity"):
        parts += _said(partial(_whole, name, mark), _Subject(robot, subject.source))
    return parts


def _is_generic(robot: Robot) -> bool:
    """Has every link all inertial parameters by their usual names? A table would not tell more."""
    return all(
        str(getattr(link, key)) == f"{key}{j}"
        for j, link in enumerate(robot.links, 1)
        for key in INERTIA
    )


def _in_base_parameters(robot: Robot) -> tuple[Robot, str]:
    """A tree with symbols in its base parameters, which have the same torques in fewer terms."""
    if robot.constrained or not robot.parameters:
        return robot, ""
    try:
        return model(robot, "base-parameters").renamed(), ", in the base parameters"
    except CardanError:
        return robot, ""


def _whole(name: str, mark: str, subject: _Subject) -> list[Part]:
    program = model(subject.robot, name)
    (output,) = program.outputs
    title = f"{output}_{{{mark}}}" if mark else ""
    return _shown(subject, name, _equations(subject.robot, program, title))


def _base(subject: _Subject) -> list[Part]:
    base = model(subject.robot, "base-parameters")
    names = ", ".join(f"${symbol_of(name)}$" for name in base.names)
    parts: list[Part] = [words(f"{len(base.names)} parameters: {names}.")]
    rows = [row for part in _read(base.equations("latex")) if isinstance(part, Equations)
            for row in part.rows]  # fmt: skip
    return [*parts, *_shown(subject, "base-parameters", rows)]


def _operations(subject: _Subject) -> list[Part]:
    rows = []
    for name in _COUNTED:
        try:
            cost = model(subject.robot, name).cost
        except CardanError:
            continue
        cells = (cost.mul, cost.add, cost.div, cost.trig)
        rows.append((name, *map(str, cells)))
    head = ("model", "multiplications", "additions", "divisions", "sines, cosines")
    return [
        words("Of the cheapest program found of each model; what depends on parameters alone is"
              " computed once and not counted. `cardan count {source}` counts all models.",
              source=subject.source),
        Table(head, tuple(rows)),
    ]  # fmt: skip


_SECTIONS = {
    "Geometry": _geometry, "Transforms": _transforms, "Jacobian and singularities": _jacobian,
    "Loop equations": _loops, "Inverse geometry": _inverse, "Base parameters": _base,
    "Dynamics": _dynamics, "Operations": _operations,
}  # fmt: skip
