"""LaTeX: a document of its own, drawings in TikZ."""

from __future__ import annotations

from collections.abc import Iterable

from ..latex import escaped
from .formula import formula
from .spelling import latex
from .structure import (
    Document,
    Drawing,
    Equations,
    Label,
    Line,
    Part,
    Row,
    Table,
    Words,
    Writer,
    alignment,
    arrow,
)

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
\@beginparpenalty=10000  % a table stays with what stands above it
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
_BLANK = r"\ \linebreak[0]"
_LETTERS = {"–": "-", "—": "-", "’": "'", "“": '"', "”": '"', "…": "..."}


def page(document: Document) -> str:
    """The whole file."""
    tex = _Tex()
    head = [rf"{{\LARGE\bfseries {tex.words(document.title)}}}\par\vspace{{2pt}}"]
    head += [rf"{tex.words(document.about)}\par\vspace{{2pt}}\hrule"]
    # two lines of the margin, so that they never stand on a page of their own
    foot = [
        r"\par\enlargethispage{2\baselineskip}\vfill\hrule\vspace{3pt}",
        rf"{{\footnotesize {tex.words(document.foot)}\par}}",
    ]
    body = tex.parts(document.parts, 0)
    return _OPEN + "\n".join([*head, *body, *foot, r"\end{document}", ""])


def fragment(parts: Iterable[Part]) -> str:
    """The parts alone, for a document that loads amsmath and tikz."""
    lines = _Tex().parts(parts, 1)
    return "\n".join(line for line in lines if line != r"\displayed").strip()


class _Tex(Writer):
    mathematics = staticmethod(latex)
    indent = r"\quad\;\;"

    def heading(self, title: Words, level: int) -> str:
        name = ("section", "subsection", "paragraph")[min(level, 2)]
        return rf"\{name}*{{{self.words(title)}}}"

    def tables(self, table: Table) -> list[str]:
        return ["", *super().tables(table), ""]

    def equations(self, equations: Equations) -> list[str]:
        return [r"\displayed", *super().equations(equations), ""]

    def paragraph(self, text: Words) -> list[str]:
        return ["", self.words(text)]

    def listing(self, text: str) -> str:
        return "\n".join([r"{\footnotesize", r"\begin{verbatim}", text, r"\end{verbatim}", "}"])

    def typed(self, text: str) -> str:
        """Breaks behind its blanks."""
        return rf"\texttt{{{self.plain(text).replace('-', '{-}').replace(' ', _BLANK)}}}"

    def plain(self, text: str) -> str:
        """Words of the letters that the fonts have."""
        return escaped("".join(c if ord(c) < 0x180 else _LETTERS.get(c, "?") for c in text))

    def table(self, table: Table) -> str:
        rows = [" & ".join(map(self.words, row)) + r" \\" for row in (table.head, *table.rows)]
        rows = [r"\hline", rows[0], r"\hline", *rows[1:], r"\hline"]
        body = "\n".join(rows)
        caption = rf"{self.words(table.caption)}\\[2pt]" if table.caption else ""
        return (
            r"\begin{center}\footnotesize\setlength{\tabcolsep}{4pt}\renewcommand{\arraystretch}"
            rf"{{1.12}}{caption}\begin{{tabular}}{{{alignment(table)}}}"
            f"\n{body}\n\\end{{tabular}}\\end{{center}}"
        )

    def block(self, rows: Iterable[Row]) -> str:
        body = " \\\\\n".join(self.rows(rows))
        return f"\\begin{{align*}}\n{body}\n\\end{{align*}}"

    def drawing(self, drawing: Drawing) -> str:
        colours = sorted({colour for shape in drawing.shapes for colour in _colours(shape)})
        lines = [rf"\definecolor{{{_name(c)}}}{{HTML}}{{{c[1:].upper()}}}" for c in colours]
        lines.append(r"\begin{tikzpicture}[x=1pt,y=1pt,line cap=round,line join=round]")
        lines.append(rf"\useasboundingbox (0,0) rectangle ({drawing.width:g},{drawing.height:g});")
        lines += [_shape(shape) for shape in drawing.shapes]
        lines.append(r"\end{tikzpicture}")
        if drawing.caption:
            lines.append(rf"\\ {{\footnotesize {self.words(drawing.caption)}}}")
        return "\n".join(["", r"\begin{center}", *lines, r"\end{center}", ""])


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
