"""A document: sections of words, tables, equations, drawings and listings, and the walk over it.

Words are strings, formulas (`Math`, in LaTeX) and what one types (`Typed`), or a sequence of them;
`words` reads them from one line. Lengths of drawings are points, y upwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .formula import Node, broken, formula, sides, width

ROOM = 47.0  # em of 10 pt: a line between margins of 2 cm on A4
_BLOCK = 24  # rows of equations that are aligned with one another


@dataclass(frozen=True)
class Math:
    """A formula in a line of words, in LaTeX."""

    latex: str


@dataclass(frozen=True)
class Typed:
    """What one types, letter for letter."""

    text: str


Word = str | Math | Typed
Words = Word | tuple[Word, ...]


@dataclass(frozen=True)
class Table:
    """A head and rows of cells; a caption above it."""

    head: tuple[Words, ...]
    rows: tuple[tuple[Words, ...], ...]
    caption: Words = ""


@dataclass(frozen=True)
class Equations:
    """Displayed equations in LaTeX, aligned at their first relation."""

    rows: tuple[str, ...]


@dataclass(frozen=True)
class Listing:
    """Lines as they are typed, or drawn with letters."""

    text: str


@dataclass(frozen=True)
class Stroke:
    """How a line is drawn: its colour, its width, dashes, an arrow's head at its end, and the
    colour that fills it."""

    colour: str = "#000000"
    width: float = 0.8
    dashed: bool = False
    arrow: bool = False
    fill: str = ""


@dataclass(frozen=True)
class Line:
    """A line through points; closed where it is filled."""

    points: tuple[tuple[float, float], ...]
    stroke: Stroke


@dataclass(frozen=True)
class Label:
    """A formula with its middle at a point."""

    at: tuple[float, float]
    latex: str
    colour: str = "#000000"
    size: float = 8.0


@dataclass(frozen=True)
class Drawing:
    """Lines and labels in the order they are drawn."""

    width: float
    height: float
    shapes: tuple[Line | Label, ...]
    caption: Words = ""


@dataclass(frozen=True)
class Image:
    """A picture as PNG, for pages alone; nothing where there is none."""

    data: bytes
    caption: Words = ""


@dataclass(frozen=True)
class Fold:
    """Parts under a line of words; a page that can fold them shows them when asked."""

    title: Words
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Section:
    title: Words
    parts: tuple[Part, ...]


Part = (
    str
    | Math
    | Typed
    | tuple[Word, ...]
    | Table
    | Equations
    | Listing
    | Drawing
    | Image
    | Fold
    | Section
)


@dataclass(frozen=True)
class Document:
    """A title, a line below it, and sections."""

    title: str
    about: Words
    parts: tuple[Part, ...]
    foot: Words = ""


def words(line: str, **values: Words) -> tuple[Word, ...]:
    """A line with $formulas$, `what one types` and {values}, which are taken as they are.

    >>> words("$q_1$ of {name}", name="a_b")
    (Math(latex='q_1'), ' of ', 'a_b')"""
    out: list[Word] = []
    for piece in re.split(r"(\$[^$]*\$|`[^`]*`|\{\w+\})", line):
        if piece[:1] == "$":
            out.append(Math(piece[1:-1]))
        elif piece[:1] == "`":
            out.append(Typed(piece[1:-1].format(**values)))
        elif piece[:1] == "{":
            value = values[piece[1:-1]]
            out += value if isinstance(value, tuple) else (value,)
        elif piece:
            out.append(piece)
    return tuple(out)


def size(text: Words) -> float:
    """About how wide words are, in em."""
    if isinstance(text, tuple):
        return sum(map(size, text))
    if isinstance(text, Math):
        return width(formula(text.latex))
    if isinstance(text, Typed):
        return 0.53 * len(text.text)
    return sum(0.72 if c.isupper() or c in "mw" else 0.5 for c in text)


def alignment(table: Table) -> str:
    """How each column stands, as TeX says it: formulas c, words l, numbers r."""

    def letter(column: Sequence[Words]) -> str:
        cells = [cell for cell in column if cell != ""]
        if not cells or not all(isinstance(cell, str) for cell in cells):
            return "c"
        return "r" if all(_is_number(str(cell)) for cell in cells) else "l"

    return "".join(map(letter, zip(*table.rows, strict=True)))


def _is_number(text: str) -> bool:
    return text.lstrip("-")[:1].isdigit() or text in ("inf", "nan", "-")


def fitting(table: Table, room: float = ROOM, scale: float = 0.86) -> list[Table]:
    """The table in parts that are no wider than the room, each led by the first column."""
    columns = [
        scale * max(size(row[k]) for row in (table.head, *table.rows)) + 1.1
        for k in range(len(table.head))
    ]
    blocks: list[list[int]] = [[0]]
    for k in range(1, len(columns)):
        if len(blocks[-1]) > 1 and sum(columns[c] for c in [*blocks[-1], k]) > room:
            blocks.append([0])
        blocks[-1].append(k)

    def part(block: Sequence[int], caption: Words) -> Table:
        def take(row: Sequence[Words]) -> tuple[Words, ...]:
            return tuple(row[k] for k in block)

        return Table(take(table.head), tuple(map(take, table.rows)), caption)

    return [part(block, table.caption if i == 0 else "") for i, block in enumerate(blocks)]


Row = tuple[Node, Node, bool]  # left side, right side with its relation, whether it goes on


def laid(equations: Equations, room: float = ROOM) -> list[list[Row]]:
    """The equations in lines that fit the room, in blocks that are aligned with one another."""
    blocks: list[list[tuple[Node, Node]]] = [[]]
    for row in equations.rows:
        left, right = sides(formula(row))
        if width(left) > 0.4 * room:
            left, right = Node("row"), formula(row)
        wide = max((width(x) for x, _ in blocks[-1]), default=width(left))
        if len(blocks[-1]) >= _BLOCK or (blocks[-1] and abs(wide - width(left)) > 0.25 * room):
            blocks.append([])
        blocks[-1].append((left, right))
    return [_lines(block, room) for block in blocks if block]


def _lines(block: Sequence[tuple[Node, Node]], room: float) -> list[Row]:
    start = max(width(left) for left, _ in block)
    rows: list[Row] = []
    for left, right in block:
        first, *more = broken(right, room - start)
        rows += [(left, first, False), *((Node("row"), line, True) for line in more)]
    return rows


def arrow(line: Line, long: float = 5.0, wide: float = 1.7) -> list[tuple[float, float]]:
    """The head of an arrow at the end of a line."""
    (x0, y0), (x, y) = line.points[-2:]
    far = ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5 or 1.0
    u, v = (x - x0) / far, (y - y0) / far
    back = (x - long * u, y - long * v)
    return [
        (x, y), (back[0] - wide * v, back[1] + wide * u), (back[0] + wide * v, back[1] - wide * u),
    ]  # fmt: skip


class Writer:
    """The walk over a document; a language says how it writes what stands first."""

    plain: Callable[[str], str]
    typed: Callable[[str], str]
    mathematics: Callable[[Node], str]
    heading: Callable[[Words, int], str]
    table: Callable[[Table], str]
    block: Callable[[list[Row]], str]  # equations aligned with one another
    listing: Callable[[str], str]
    drawing: Callable[[Drawing], str]
    indent = ""  # of lines on which an equation goes on

    def parts(self, parts: Iterable[Part], level: int) -> list[str]:
        return [text for part in parts for text in self.part(part, level)]

    def part(self, part: Part, level: int) -> Sequence[str]:
        if isinstance(part, Section):
            return [self.heading(part.title, level), *self.parts(part.parts, level + 1)]
        if isinstance(part, Fold):
            return self.fold(part, level)
        if isinstance(part, Table):
            return self.tables(part)
        if isinstance(part, Equations):
            return self.equations(part)
        if isinstance(part, Listing):
            return [self.listing(part.text)]
        if isinstance(part, Drawing):
            return [self.drawing(part)]
        return self.image(part) if isinstance(part, Image) else self.paragraph(part)

    def fold(self, fold: Fold, level: int) -> Sequence[str]:
        return self.part(Section(fold.title, fold.parts), level)

    def tables(self, table: Table) -> Sequence[str]:
        return [self.table(part) for part in fitting(table)]

    def equations(self, equations: Equations) -> Sequence[str]:
        return [self.block(rows) for rows in laid(equations)]

    def image(self, image: Image) -> Sequence[str]:
        return []

    def paragraph(self, text: Words) -> Sequence[str]:
        return [self.words(text)]

    def words(self, text: Words) -> str:
        if isinstance(text, tuple):
            return "".join(map(self.words, text))
        if isinstance(text, Math):
            return self.formula(self.mathematics(formula(text.latex)))
        return self.typed(text.text) if isinstance(text, Typed) else self.plain(text)

    def formula(self, inside: str) -> str:
        return f"${inside}$"

    def rows(self, rows: Iterable[Row]) -> list[str]:
        """Lines of equations, the mark of alignment between their sides."""
        spell = self.mathematics
        return [f"{spell(a)} & {self.indent if on else ''}{spell(b)}" for a, b, on in rows]
