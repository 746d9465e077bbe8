"""A program as people read it: its quantities in the order of the paper, link by link, vectors and
matrices as such, what comes out at the end. Printers (text, LaTeX, Markdown, HTML) spell it."""

from .structure import Equation, Reading, Section, reading, with_matrices

__all__ = ["Equation", "Reading", "Section", "reading", "with_matrices"]
