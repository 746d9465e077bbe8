"""Markdown: formulas between dollars, as GitHub, GitLab and notebooks set them."""

from __future__ import annotations

from collections.abc import Iterable

from .formula import formula
from .spelling import latex
from .structure import (
    Document,
    Drawing,
    Equations,
    Fold,
    Image,
    Listing,
    Math,
    Part,
    Section,
    Table,
    Typed,
    Words,
    laid,
)

__all__ = ["page", "pictures"]

_INDENT = r"\quad "


def page(document: Document, stem: str) -> str:
    """The whole text; its drawings are files beside it, `pictures`."""
    parts = [f"# {_words(document.title)}", _words(document.about)]
    parts += _parts(document.parts, 2, stem, [0])
    return "\n\n".join([*parts, f"---\n{_words(document.foot)}"]) + "\n"


def pictures(document: Document, stem: str) -> dict[str, Drawing]:
    """The files of the drawings."""
    drawings = [*_drawings(document.parts)]
    return {_name(stem, k): drawing for k, drawing in enumerate(drawings)}


def _drawings(parts: Iterable[Part]) -> Iterable[Drawing]:
    for part in parts:
        if isinstance(part, Drawing):
            yield part
        elif isinstance(part, Section | Fold):
            yield from _drawings(part.parts)


def _name(stem: str, k: int) -> str:
    return f"{stem}.svg" if k == 0 else f"{stem}-{k + 1}.svg"


def _parts(parts: Iterable[Part], level: int, stem: str, count: list[int]) -> list[str]:
    out: list[str] = []
    for part in parts:
        if isinstance(part, Section):
            out.append(f"{'#' * level} {_words(part.title)}")
            out += _parts(part.parts, level + 1, stem, count)
        elif isinstance(part, Fold):
            out += [f"<details><summary>{_words(part.title)}</summary>"]
            out += [*_parts(part.parts, level + 1, stem, count), "</details>"]
        elif isinstance(part, Drawing):
            out.append(f"![{_words(part.caption)}]({_name(stem, count[0])})")
            count[0] += 1
        elif isinstance(part, Image):
            continue
        elif isinstance(part, Table):
            out += ([_words(part.caption)] if part.caption else []) + [_table(part)]
        elif isinstance(part, Equations):
            out += [_block(block) for block in laid(part)]
        elif isinstance(part, Listing):
            out.append(f"```\n{part.text}\n```")
        else:
            out.append(_words(part))
    return out


def _words(text: Words) -> str:
    if isinstance(text, tuple):
        return "".join(map(_words, text))
    if isinstance(text, Math):
        return f"${latex(formula(text.latex))}$"
    if isinstance(text, Typed):
        return f"`{text.text}`"
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{c}" if c in "\\`*_[]|$#" else c for c in text)


def _table(table: Table) -> str:
    rows = [" | ".join(map(_words, row)) for row in (table.head, *table.rows)]
    rows.insert(1, "|".join(["---"] * len(table.head)))
    return "\n".join(f"| {row} |" for row in rows)


def _block(rows: Iterable[tuple[object, object, bool]]) -> str:
    lines = [
        f"{latex(left)} & {_INDENT if goes_on else ''}{latex(right)}"  # type: ignore[arg-type]
        for left, right, goes_on in rows
    ]
    body = " \\\\\n".join(lines)
    return f"$$\n\\begin{{aligned}}\n{body}\n\\end{{aligned}}\n$$"
