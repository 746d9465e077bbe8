"""The LaTeX that Cardan writes as parts of a document: headings, words, displayed equations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .structure import Equations, Listing, Math, Part, Section, Word

_DISPLAY = re.compile(
    r"\\begin\{(align\*?|gather\*?|equation\*?|aligned|verbatim)\}(.*?)\\end\{\1\}|\\\[(.*?)\\\]",
    re.DOTALL,
)
_LIST = re.compile(r"\\begin\{enumerate\}(.*?)\\end\{enumerate\}", re.DOTALL)
_HEADING = re.compile(r"\\(section|subsection|paragraph)\*?\{")
# what says how TeX lays words out, not what they are
_LAYOUT = re.compile(
    r"\\(?:noindent|raggedright|begingroup|endgroup|sloppy|leavevmode|par)\b ?"
    r"|\\(?:begin|end)\{flushleft\}|\\emergencystretch=\w+"
)
_ESCAPES = {
    "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textless": "<",
    "textgreater": ">", "textbar": "|", "textquotedbl": '"',
}  # fmt: skip


def parts_of(latex: str) -> tuple[Part, ...]:
    """The parts of a text; what stands before its first heading of equations in a document of its
    own (inputs, outputs) is left out.

    >>> parts_of(r"Then \\begin{align*} a &= b \\\\ c &= d \\end{align*}")
    ('Then', Equations(rows=('a = b', 'c = d')))"""
    latex = re.sub(r"(?m)^%.*\n?", "", latex)
    if r"\cardanend" in latex:
        latex = latex[max(latex.find(r"\subsection"), 0) :]
    latex = latex.replace(r"\cardanend", "").replace(r"\allowdisplaybreaks", "")
    latex = _LIST.sub(_numbered, latex)
    parts: list[Part] = []
    at = 0
    for display in _DISPLAY.finditer(latex):
        parts += _prose(latex[at : display.start()])
        if display[1] == "verbatim":
            parts.append(Listing(display[2].strip("\n")))
        else:
            rows = tuple(_rows(display[2] or display[3]))
            parts += [Equations(rows)] if rows else []
        at = display.end()
    return (*parts, *_prose(latex[at:]))


def _numbered(found: re.Match[str]) -> str:
    """The items of a list, each a paragraph with its number."""
    items = re.split(r"\\item\s+", found[1])[1:]
    return "\n\n".join(f"{k}. {' '.join(item.split())}" for k, item in enumerate(items, 1)) + "\n\n"


def _rows(body: str) -> Iterator[str]:
    """The equations of a display: rows that begin with & go on with the one before."""
    whole = ""
    for row in _split(body):
        text = row.strip()
        if text.startswith("&") and not text.startswith("&=") and whole:
            whole += " " + re.sub(r"^&\s*(\\q?quad|\\,)?", "", text)
            continue
        if whole:
            yield whole
        whole = text.replace("&", "", 1)
    if whole:
        yield whole


def _split(body: str) -> list[str]:
    """Rows of a display, at \\\\ outside of matrices."""
    rows, depth = [""], 0
    for piece in re.split(r"(\\begin\{\w+\*?\}|\\end\{\w+\*?\}|\\\\)", body):
        depth += piece.startswith(r"\begin") - piece.startswith(r"\end")
        if piece == r"\\" and not depth:
            rows.append("")
        else:
            rows[-1] += piece
    return [row for row in rows if row.strip()]


def _prose(text: str) -> Iterator[Part]:
    for block in re.split(r"\n\s*\n|(?=\\(?:section|subsection|paragraph)\*?\{)", text):
        block = _LAYOUT.sub("", block).strip()
        heading = _HEADING.match(block)
        if heading:
            depth, k = 1, heading.end()
            while depth and k < len(block):
                depth += {"{": 1, "}": -1}.get(block[k], 0)
                k += 1
            yield Section(_line(block[heading.end() : k - 1]), ())
            block = block[k:].strip()
        for line in block.splitlines():
            if line.strip():
                words = _line(line.strip())
                yield words[0] if len(words) == 1 else words


def _line(text: str) -> tuple[Word, ...]:
    out: list[Word] = []
    indent = re.match(r"\\hspace\*?\{(\d+)em\}", text)
    if indent:
        text = text[indent.end() :]
        out += [Math(r"\quad " * int(indent[1]))] if int(indent[1]) else []
    text = text.removesuffix(r"\\").rstrip()
    for piece in re.split(r"((?<!\\)\$[^$]*(?<!\\)\$)", text):
        if piece.startswith("$") and len(piece) > 1:
            out.append(Math(piece[1:-1]))
        elif piece:
            out.append(_plain(piece))
    return tuple(out)


def _plain(text: str) -> str:
    for name, character in _ESCAPES.items():
        text = text.replace(rf"\{name}{{}}", character)
    text = re.sub(r"\\(?:emph|textbf|textit|texttt|text)\{([^{}]*)\}", r"\1", text)
    return re.sub(r"\\([&%$#_{} ])", r"\1", text).replace(r"\\", " ")
