"""How objects show themselves in notebooks: a line of words and parts, of which long ones fold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from . import html, tex
from .reading import parts_of
from .structure import Equations, Fold, Part, Section, Words, laid

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
    parts = parts_of(latex)
    if parts and isinstance(parts[0], Section):  # says what the line above has said
        parts = parts[1:]
    lines = sum(sum(map(len, laid(part))) if isinstance(part, Equations) else 1 for part in parts)
    if lines > _LONGEST:
        return [f"{lines} lines of equations: {how} has them."]
    return parts if lines <= _SHORT else [Fold(f"{lines} lines", tuple(parts))]
