"""LaTeX: a document of its own, drawings in TikZ."""

from __future__ import annotations

from collections.abc import Iterable

from ..latex import escaped
from .formula import Node, formula
from .spelling import latex
from .structure import (
    Document,
    Drawing,
    Equations,
    Fold,
    Image,
    Label,
    Line,
    Listing,
    Math,
    Part,
    Section,
    Table,
    Typed,
    Words,
    alignment,
    arrow,
    fitting,
    laid,
)

__all__ = ["fragment", "page"]

_INDENT = r"\quad\;\;"

_OPEN = r"""\documentclass[10pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp}
\usepackage{amsmath,amssymb}
\usepackage[margin=20mm,footskip=12mm]{geometry}
\usepackage{tikz}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt plus 1pt}
\emergencystretch=4em
\allowdisplaybreaks
\makeatletter
\renewcommand\section{\@startsection{section}{1}{0pt}{-11pt plus -3pt}{4pt}%
  {\normalfont\large\bfseries}}
\renewcommand\subsection{\@startsection{subsection}{2}{0pt}{-7pt plus -2pt}{2pt}%
  {\normalfont\bfseries}}
\makeatother
\newcommand\tight{\abovedisplayskip=4pt plus 2pt \belowdisplayskip=4pt plus 2pt
  \abovedisplayshortskip=2pt plus 2pt \belowdisplayshortskip=4pt plus 2pt}
\setcounter{MaxMatrixCols}{40}
\newcommand\displayed{\ifvmode\nopagebreak\vspace{-0.7\baselineskip}\fi}
\begin{document}\tight\raggedright
"""


def page(document: Document) -> str:
    """The whole file."""
    head = [rf"{{\LARGE\bfseries {_words(document.title)}}}\par\vspace{{2pt}}"]
    head += [rf"{_words(document.about)}\par\vspace{{2pt}}\hrule"]
    # two lines of the margin, so that they never stand on a page of their own
    foot = [
        r"\par\enlargethispage{2\baselineskip}\vfill\hrule\vspace{3pt}",
        rf"{{\footnotesize {_words(document.foot)}\par}}",
    ]
    body = _parts(document.parts, 0)
    return _OPEN + "\n".join([*head, *body, *foot, r"\end{document}", ""])


def fragment(parts: Iterable[Part]) -> str:
    """The parts alone, for a document that loads amsmath and tikz."""
    return "\n".join(line for line in _parts(parts, 1) if line != r"\displayed").strip()


def _parts(parts: Iterable[Part], depth: int) -> list[str]:
    out: list[str] = []
    for part in parts:
        if isinstance(part, Section | Fold):
            name = ("section", "subsection", "paragraph")[min(depth, 2)]
            out += [rf"\{name}*{{{_words(part.title)}}}", *_parts(part.parts, depth + 1)]
        elif isinstance(part, Image):
            continue
        elif isinstance(part, Table):
            out += ["", *(_table(table) for table in fitting(part)), ""]
        elif isinstance(part, Equations):
            out += [r"\displayed", *(_block(block) for block in laid(part)), ""]
        elif isinstance(part, Listing):
            out += [r"{\footnotesize", r"\begin{verbatim}", part.text, r"\end{verbatim}", "}"]
        elif isinstance(part, Drawing):
            out += ["", _drawing(part), ""]
        else:
            out += ["", _words(part)]
    return out


def _words(text: Words) -> str:
    if isinstance(text, tuple):
        return "".join(map(_words, text))
    if isinstance(text, Math):
        return f"${latex(formula(text.latex))}$"
    if isinstance(text, Typed):  # breaks behind its blanks
        typed = _typed(text.text)
        return rf"\texttt{{{typed}}}"
    return _latin(text)


def _typed(text: str) -> str:
    return _latin(text).replace("-", "{-}").replace(" ", r"\ \linebreak[0]")


def _latin(text: str) -> str:
    """Words of the letters that the fonts have."""
    return escaped("".join(c if ord(c) < 0x180 else _LETTERS.get(c, "?") for c in text))


_LETTERS = {"–": "-", "—": "-", "’": "'", "“": '"', "”": '"', "…": "..."}


def _table(table: Table) -> str:
    rows = [" & ".join(map(_words, row)) + r" \\" for row in (table.head, *table.rows)]
    rows = [r"\hline", rows[0], r"\hline", *rows[1:], r"\hline"]
    body = "\n".join(rows)
    caption = rf"{_words(table.caption)}\\[2pt]" if table.caption else ""
    return (
        rf"\begin{{center}}\footnotesize\setlength{{\tabcolsep}}{{4pt}}\renewcommand{{\arraystretch}}"
        rf"{{1.12}}{caption}\begin{{tabular}}{{{alignment(table)}}}"
        f"\n{body}\n\\end{{tabular}}\\end{{center}}"
    )


def _block(rows: Iterable[tuple[Node, Node, bool]]) -> str:
    lines = [
        f"{latex(left)} & {_INDENT if goes_on else ''}{latex(right)}"
        for left, right, goes_on in rows
    ]
    body = " \\\\\n".join(lines)
    return f"\\begin{{align*}}\n{body}\n\\end{{align*}}"


def _drawing(drawing: Drawing) -> str:
    colours = sorted({shape_colour for shape in drawing.shapes for shape_colour in _colours(shape)})
    lines = [rf"\definecolor{{{_name(c)}}}{{HTML}}{{{c[1:].upper()}}}" for c in colours]
    lines.append(r"\begin{tikzpicture}[x=1pt,y=1pt,line cap=round,line join=round]")
    lines.append(rf"\useasboundingbox (0,0) rectangle ({drawing.width:g},{drawing.height:g});")
    lines += [_shape(shape) for shape in drawing.shapes]
    lines.append(r"\end{tikzpicture}")
    if drawing.caption:
        lines.append(rf"\\ {{\footnotesize {_words(drawing.caption)}}}")
    return "\n".join([r"\begin{center}", *lines, r"\end{center}"])


def _colours(shape: Line | Label) -> list[str]:
    if isinstance(shape, Label):
        return [shape.colour]
    return [c for c in (shape.stroke.colour, shape.stroke.fill) if c]


def _name(colour: str) -> str:
    return "c" + colour[1:].lower()


def _shape(shape: Line | Label) -> str:
    if isinstance(shape, Label):
        x, y = shape.at
        font = rf"\fontsize{{{shape.size:g}}}{{{1.2 * shape.size:g}}}\selectfont"
        style = (
            rf"inner sep=0.6pt,text={_name(shape.colour)},font={font},fill=white,fill opacity=.75"
        )
        text = latex(formula(shape.latex))
        return rf"\node[{style},text opacity=1] at ({x:.1f},{y:.1f}) {{${text}$}};"
    stroke = shape.stroke
    style = f"draw={_name(stroke.colour)},line width={stroke.width:g}pt"
    style += ",dash pattern=on 3pt off 2pt" if stroke.dashed else ""
    style += f",fill={_name(stroke.fill)}" if stroke.fill else ""
    text = rf"\path[{style}] {_path(shape.points)}{' -- cycle' if stroke.fill else ''};"
    if stroke.arrow:
        text += rf"\fill[{_name(stroke.colour)}] {_path(arrow(shape))} -- cycle;"
    return text


def _path(points: Iterable[tuple[float, float]]) -> str:
    return " -- ".join(f"({x:.1f},{y:.1f})" for x, y in points)
