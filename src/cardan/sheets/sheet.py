"""`cardan.sheet`: a robot and its models on a few pages, to be handed out.

Sections that would be too long to be read are left out; the sheet then says by which command they
are printed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..arguments import named_arguments
from ..catalogue import model
from ..describe.bundled import bundled, robots
from ..describe.robot import FIXED, Robot
from ..document import html, markdown, tex, typst
from ..document.formula import formula, sides, width
from ..document.reading import parts_of
from ..document.structure import (
    ROOM,
    Document,
    Equations,
    Part,
    Section,
    Table,
    Words,
    laid,
    words,
)
from ..emit.latex import symbol_of
from ..errors import CardanError, MissingExtraError, ModelError, UnknownNameError
from ..files import write_atomic
from ..program import Program
from ..version import __version__
from .picture import robot_drawing
from .tables import robot_tables, written

__all__ = ["SUFFIXES", "sheet", "sheet_document"]

SUFFIXES = (".html", ".pdf", ".tex", ".md")
_LONGEST = 30  # lines of one model
_COUNTED = (
    "transform", "jacobian", "inverse-dynamics", "inertia-matrix", "gravity", "direct-dynamics",
)  # fmt: skip


@named_arguments
def sheet(robot: Robot, path: str | Path, *, source: str = "") -> None:
    """A robot and its models on a few pages: .html, .pdf, .tex or .md by the extension.

    Its picture with frames and lengths, the geometric table, transforms, the Jacobian and the
    singularities, the inverse geometry, the equations of motion, base parameters and operation
    counts. A PDF is set by TeX where pdflatex is installed, else by Typst, which the extra [sheet]
    brings. What would be too long is left out, with the command that prints it; `source` is what
    the robot is called there: a bundled name or a file.

    >>> cardan.sheet(cardan.load("planar2r"), "planar2r.html")
    >>> Path("planar2r.html").read_text(encoding="utf-8").count("<svg")
    1"""
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in SUFFIXES:
        raise UnknownNameError.of("form of a sheet", suffix or target.name, SUFFIXES)
    document = sheet_document(robot, source)
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
        made = _by_tex(tex.page(document))
        if made is not None:
            return made
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

    def left_out(self, name: str, lines: int, *, to: str = "latex") -> Words:
        return words(
            "Left out for length ({lines} lines). `cardan generate {source} {name} --to {to}`"
            " prints it.",
            lines=str(lines), source=self.source, name=name, to=to,
        )  # fmt: skip


def sheet_document(robot: Robot, source: str = "") -> Document:
    """The document of a sheet, before it is written in a language."""
    subject = _Subject(robot, source or _bundled_name(robot) or "ROBOT")
    sections = [Section(title, tuple(parts)) for title, parts in _sections(subject) if parts]
    count = f"{len(robot.links)} links, {robot.n} joint variables"
    count += f", {len(robot.loops)} closed loops" if robot.loops else ""
    about = (f"{count}. ", " ".join(robot.source.split()))
    foot = words("`cardan sheet {source}`, Cardan {version}. Notation of Khalil: modified"
                 " Denavit-Hartenberg parameters, SI units, radians.",
                 source=subject.source, version=__version__)  # fmt: skip
    return Document(robot.name, about, tuple(sections), foot)


def _bundled_name(robot: Robot) -> str:
    return next((name for name in robots() if bundled(name) == robot), "")


def _sections(subject: _Subject) -> Iterator[tuple[str, list[Part]]]:
    yield "Geometry", _geometry(subject)
    yield "Transforms", _said(lambda: _transforms(subject))
    yield "Jacobian and singularities", _said(lambda: _jacobian(subject))
    if subject.robot.loops:
        yield "Loop equations", _said(lambda: _loops(subject))
    yield "Inverse geometry", _said(lambda: _inverse(subject))
    yield "Dynamics", _dynamics(subject)
    yield "Base parameters", _said(lambda: _base(subject))
    yield "Operations", _operations(subject)


def _said(parts: Callable[[], list[Part]]) -> list[Part]:
    """The parts, or why there are none."""
    try:
        return parts()
    except CardanError as error:
        return [f"Not available: {error.what}."]


def _geometry(subject: _Subject) -> list[Part]:
    robot = subject.robot
    tables = robot_tables(robot)
    parts: list[Part] = [robot_drawing(robot), tables.pop("Geometry")]
    for title, table in tables.items():
        if title != "Inertia":
            parts += [title, table]
    g = ", ".join(written(str(x)) for x in robot.gravity)
    parts.append(words(f"Acceleration of gravity in frame 0: $[{g}]$."))
    return parts


# ---- equations ----


def _equations(program: Program, name: str = "") -> list[str]:
    """The equations of a program in LaTeX, its arrays as matrices where they fit a line."""
    parts = parts_of(program.emit("latex"))
    rows = [row for part in parts if isinstance(part, Equations) for row in part.rows]
    return _gathered(rows, program.outputs, name)


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
    """A value that is another element of its array, or its negative, in place of it."""
    same = re.fullmatch(rf"(-?){re.escape(stem)}_\{{([\d,]+)\}}", text)
    if not same or same[2] not in cells:
        return text
    value = _resolved(stem, cells, cells[same[2]])
    if not same[1]:
        return value
    summed = any(item.kind == "binary" for item in formula(value).parts)
    return f"-({value})" if summed else value[1:] if value.startswith("-") else f"-{value}"


def _array(stem: str, name: str, shape: tuple[int, ...], cells: Mapping[str, str]) -> list[str]:
    """One equation where the matrix fits a line, else one for each element that is not zero."""
    rows, columns = (*shape, 1)[:2]
    keys = [[f"{i},{j}" if len(shape) > 1 else f"{i}" for j in range(1, columns + 1)]
            for i in range(1, rows + 1)]  # fmt: skip
    if len(shape) <= 2 and all(key in cells for row in keys for key in row):
        body = r" \\ ".join(" & ".join(cells[key] for key in row) for row in keys)
        whole = rf"{name} = \begin{{bmatrix}}{body}\end{{bmatrix}}"
        if width(formula(whole)) <= ROOM:
            return [whole]
    return [f"{stem}_{{{key}}} = {text}" for key, text in cells.items() if text != "0"]


def _lines(rows: Sequence[str]) -> int:
    return sum(len(block) for block in laid(Equations(tuple(rows))))


def _model(subject: _Subject, name: str, title: str, **options: Any) -> list[Part]:
    """The equations of a model under a title, or the command that prints them."""
    rows = _equations(model(subject.robot, name, **options))
    count = _lines(rows)
    if count > _LONGEST:
        return [subject.left_out(name, count)]
    return [Equations(tuple(rows))]


def _transforms(subject: _Subject) -> list[Part]:
    robot = subject.robot
    rows: list[str] = []
    for j, joint in enumerate(robot.joints, 1):
        i = joint.antecedent
        program = model(robot, "transform", frame=j, reference=i, expanded=True)
        rows += _equations(program, rf"{{}}^{{{i}}}T_{{{j}}}")
    parts: list[Part] = [Equations(tuple(rows))] if _lines(rows) <= _LONGEST else []
    return parts


def _jacobian(subject: _Subject) -> list[Part]:
    return _model(subject, "jacobian", "Jacobian")


def _loops(subject: _Subject) -> list[Part]:
    geometry = model(subject.robot, "loop-geometry")
    return _short(subject, "loop-geometry", parts_of(geometry.equations("latex")))


def _inverse(subject: _Subject) -> list[Part]:
    ik = model(subject.robot, "inverse-geometry")
    return _short(subject, "inverse-geometry", parts_of(ik.equations("latex")))


def _short(subject: _Subject, name: str, parts: Sequence[Part]) -> list[Part]:
    count = sum(
        _lines(part.rows) if isinstance(part, Equations) else 1 for part in parts
    )  # fmt: skip
    return list(parts) if count <= 3 * _LONGEST else [subject.left_out(name, count)]


def _dynamics(subject: _Subject) -> list[Part]:
    parts: list[Part] = []
    tables = robot_tables(subject.robot)
    if "Inertia" in tables:
        parts += [tables["Inertia"]]
    for name in ("inertia-matrix", "coriolis-matrix", "gravity"):
        parts += _said(lambda name=name: _model(subject, name, name))  # type: ignore[misc]
    return parts


def _base(subject: _Subject) -> list[Part]:
    base = model(subject.robot, "base-parameters")
    names = ", ".join(symbol_of(name) for name in base.names)
    parts: list[Part] = [words(f"{len(base.names)} parameters: ${names}$.")]
    rows = [row for part in parts_of(base.equations("latex")) if isinstance(part, Equations)
            for row in part.rows]  # fmt: skip
    if rows:
        count = _lines(rows)
        parts.append(Equations(tuple(rows)) if count <= 2 * _LONGEST
                     else subject.left_out("base-parameters", count))  # fmt: skip
    return parts


def _operations(subject: _Subject) -> list[Part]:
    rows = []
    for name in _COUNTED:
        try:
            cost = model(subject.robot, name).cost
        except (ModelError, MissingExtraError):
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
