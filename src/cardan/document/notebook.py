"""How objects show themselves: in notebooks as a line of words and parts, of which long ones fold;
their equations on pages of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import UnknownNameError
from ..version import __version__
from . import html, markdown, tex
from .reading import parts_of
from .structure import Document, Equations, Fold, Part, Section, Words, laid

FORMS = ("text", "latex", "markdown", "html")  # of equations, for people

_SHORT = 24  # lines that are shown without being asked for
_LONGEST = 600  # lines: more are not set at all


def notebook_html(title: Words, parts: Iterable[Part]) -> str:
    """HTML of a cell's output."""
    return html.fragment([title, *parts])


def notebook_latex(title: Words, parts: Iterable[Part]) -> str:
    """LaTeX of a cell's output, as a notebook has it when it becomes a document."""
    return tex.fragment([title, *parts])


def equations_shown(latex: str, how: str) -> Sequence[Part]:
    """Words and equations of a text in LaTeX; folded where they are long. `how` prints those that
    are too long to be set."""
    parts = _untitled(latex)
    lines = sum(sum(map(len, laid(part))) if isinstance(part, Equations) else 1 for part in parts)
    if lines > _LONGEST:
        return [f"{lines} lines of equations: {how} has them."]
    return parts if lines <= _SHORT else [Fold(f"{lines} lines", tuple(parts))]


def equations_page(title: str, about: Words, latex: str, form: str) -> str:
    """Words and equations of a text in LaTeX as a page of Markdown or HTML."""
    if form not in FORMS:
        raise UnknownNameError.of("form", form, FORMS)
    document = Document(title, about, _untitled(latex), f"Cardan {__version__}")
    return html.page(document) if form == "html" else markdown.page(document, "")


def _untitled(latex: str) -> tuple[Part, ...]:
    """The parts of a text without a heading before all, which says what the line above has said."""
    parts = parts_of(latex)
    return parts[1:] if parts and isinstance(parts[0], Section) else parts
