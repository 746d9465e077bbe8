"""Typst: the same document for the typesetter of the extra [sheet], which makes a PDF of it."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import MissingExtraError
from .formula import formula
from .spelling import typst
from .structure import Document, Drawing, Label, Line, Row, Table, Words, Writer, alignment, arrow

_OPEN = """#set page(paper: "a4", margin: 20mm, numbering: "1")
#set text(font: "New Computer Modern", size: 10pt)
#set par(leading: 0.6em, spacing: 0.85em)
#show math.equation: set block(breakable: true, above: 0.9em, below: 0.9em)
#show heading.where(level: 1): set text(size: 12pt)
#show heading.where(level: 2): set text(size: 10pt)
#show heading: set block(above: 1.3em, below: 0.7em, sticky: true)
#set math.mat(row-gap: 0.35em, column-gap: 0.9em)
"""


_LIE = {"l": "left", "c": "center", "r": "right"}


def pdf(document: Document) -> bytes:
    """The document as PDF."""
    try:
        import typst as typesetter
    except ImportError:
        raise MissingExtraError.of("Typst (or pdflatex)", "sheet", "a sheet as PDF") from None
    data: bytes = typesetter.compile(page(document).encode("utf-8"), format="pdf")
    return data


def page(document: Document) -> str:
    """The whole text."""
    text = _Typst()
    title, about = text.words(document.title), text.words(document.about)
    head = f'#text(size: 17pt, weight: "bold")[{title}]\n\n{about}'
    foot = text.words(document.foot)
    foot = f"#v(1fr)\n#line(length: 100%, stroke: 0.4pt)\n#text(size: 8pt)[{foot}]"
    rule = "#line(length: 100%, stroke: 0.6pt)"
    return _OPEN + "\n\n".join([head, rule, *text.parts(document.parts, 1), foot]) + "\n"


class _Typst(Writer):
    mathematics = staticmethod(typst)
    indent = "#h(2em) "

    def heading(self, title: Words, level: int) -> str:
        return f"{'=' * min(level, 3)} {self.words(title)}"

    def listing(self, text: str) -> str:
        return f"#text(size: 8pt)[#raw(block: true, {_string(text)})]"

    def formula(self, inside: str) -> str:
        return f"${inside.strip()}$"

    def typed(self, text: str) -> str:
        return f"#raw({_string(text)})"

    def plain(self, text: str) -> str:
        return f"#{_string(text)}" if text else ""

    def table(self, table: Table) -> str:
        cells = [f"[{self.words(cell)}]" for row in (table.head, *table.rows) for cell in row]
        count = len(table.head)
        lie = "".join(f"{_LIE[letter]}, " for letter in alignment(table))
        rules = (
            "table.hline(y: 0, stroke: 0.9pt), table.hline(y: 1, stroke: 0.5pt),"
            f" table.hline(y: {len(table.rows) + 1}, stroke: 0.9pt)"
        )
        body = (
            f"#table(columns: {count}, stroke: none, align: ({lie}), inset: (x: 4pt, y: 2.6pt),"
            f" {rules}, {', '.join(cells)})"
        )
        caption = f"{self.words(table.caption)}#v(-0.5em)\n" if table.caption else ""
        return f"#align(center)[#set text(size: 8.5pt)\n{caption}{body}]"

    def block(self, rows: Iterable[Row]) -> str:
        return "$ " + " \\\n".join(self.rows(rows)) + " $"

    def drawing(self, drawing: Drawing) -> str:
        shapes = "\n".join(_shape(shape, drawing.height) for shape in drawing.shapes)
        box = f"#box(width: {drawing.width:g}pt, height: {drawing.height:g}pt)[{shapes}]"
        caption = self.words(drawing.caption)
        below = f"\n\n#text(size: 8.5pt)[{caption}]" if drawing.caption else ""
        return f"#align(center)[{box}{below}]"


def _string(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{quoted}"'


def _shape(shape: Line | Label, high: float) -> str:
    if isinstance(shape, Label):
        x, y = shape.at
        text = f"${typst(formula(shape.latex)).strip()}$"
        inner = f'#text(size: {shape.size:g}pt, fill: rgb("{shape.colour}"))[{text}]'
        box = f"box(fill: white.transparentize(25%), inset: 0.6pt)[{inner}]"
        place = f"dx: {x - 40:.1f}pt, dy: {high - y - 10:.1f}pt"
        middle = f"box(width: 80pt, height: 20pt, align(center + horizon, {box}))"
        return f"#place(top + left, {place}, {middle})"
    stroke = shape.stroke
    dash = ", dash: (3pt, 2pt)" if stroke.dashed else ""
    style = (
        f'(paint: rgb("{stroke.colour}"), thickness: {stroke.width:g}pt, cap: "round",'
        f' join: "round"{dash})'
    )
    fill = f'rgb("{stroke.fill}")' if stroke.fill else "none"
    text = _curve(shape.points, high, style, fill, closed=bool(stroke.fill))
    if stroke.arrow:
        text += _curve(arrow(shape), high, "none", f'rgb("{stroke.colour}")', closed=True)
    return text


def _curve(
    points: Iterable[tuple[float, float]], high: float, stroke: str, fill: str, closed: bool
) -> str:
    (x, y), *rest = points
    moves = [f"curve.move(({x:.1f}pt, {high - y:.1f}pt))"]
    moves += [f"curve.line(({x:.1f}pt, {high - y:.1f}pt))" for x, y in rest]
    moves += ["curve.close()"] if closed else []
    return f"#place(top + left, curve(stroke: {stroke}, fill: {fill}, {', '.join(moves)}))"
