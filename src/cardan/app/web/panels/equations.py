"""The equations of a model, thousands of lines: the browser fetches them and shows those in sight.

The MathML comes from emit.html, which escapes every name: nothing else is put in the page as
markup."""

from __future__ import annotations

from nicegui.element import Element


class Equations(Element, component="../parts/equations.js"):
    """The lines with a search; sections fold, a symbol under the pointer shows its definition, a
    click tells where it is used, and each equation can be copied."""

    def __init__(self, url: str, left_out: int) -> None:
        """url: of the result; what is put inside stands above the first line."""
        super().__init__()
        self._props["url"] = url
        self._props["more"] = left_out
        self.classes("w-full")
