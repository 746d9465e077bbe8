"""Markdown: formulas between dollars, as GitHub, GitLab and notebooks set them."""

from __future__ import annotations

from collections.abc import Iterable

from .spelling import latex
from .structure import Document, Drawing, Fold, Row, Table, Words, Writer


def page(document: Document, stem: str) -> str:
    """The whole text; its drawings are files beside it, `pictures`."""
    text = _Markdown(stem)
    parts = [f"# {text.plain(document.title)}", text.words(document.about)]
    parts += text.parts(document.parts, 2)
    return "\n\n".join([*parts, f"---\n{text.words(document.foot)}"]) + "\n"


def pictures(document: Document, stem: str) -> dict[str, Drawing]:
    """The files of the drawings."""
    text = _Markdown(stem)
    text.parts(document.parts, 2)
    return text.drawings


class _Markdown(Writer):
    mathematics = staticmethod(latex)
    indent = r"\quad "

    def __init__(self, stem: str) -> None:
        self.stem = stem
        self.drawings: dict[str, Drawing] = {}

    def heading(self, title: Words, level: int) -> str:
        return f"{'#' * level} {self.words(title)}"

    def fold(self, fold: Fold, level: int) -> list[str]:
        head = f"<details><summary>{self.words(fold.title)}</summary>"
        return [head, *self.parts(fold.parts, level + 1), "</details>"]

    def drawing(self, drawing: Drawing) -> str:
        number = f"-{len(self.drawings) + 1}" if self.drawings else ""
        name = f"{self.stem}{number}.svg"
        self.drawings[name] = drawing
        return f"![{self.words(drawing.caption)}]({name})"

    def listing(self, text: str) -> str:
        return f"```\n{text}\n```"

    def typed(self, text: str) -> str:
        return f"`{text}`"

    def plain(self, text: str) -> str:
        text = text.replace("&", "&amp;").replace("<", "&lt;")
        return "".join(f"\\{c}" if c in "\\`*_[]|$#" else c for c in text)

    def tables(self, table: Table) -> list[str]:
        return [*([self.words(table.caption)] if table.caption else []), self.table(table)]

    def table(self, table: Table) -> str:
        rows = [" | ".join(map(self.words, row)) for row in (table.head, *table.rows)]
        rows.insert(1, "|".join(["---"] * len(table.head)))
        return "\n".join(f"| {row} |" for row in rows)

    def block(self, rows: Iterable[Row]) -> str:
        body = " \\\\\n".join(self.rows(rows))
        return f"$$\n\\begin{{aligned}}\n{body}\n\\end{{aligned}}\n$$"
