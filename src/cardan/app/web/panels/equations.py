"""The equations of a model, thousands of lines: the browser fetches them and shows those in sight.

The MathML comes from emit.html, which escapes every name: nothing else is put in the page as
markup."""

from __future__ import annotations

from nicegui.element import Element

__all__ = ["Equations"]


class Equations(Element, component="../parts/equations.js"):
    """The lines with a search; a click on a symbol tells where it is defined and used."""

    def __init__(self, url: str, left_out: int) -> None:
        super().__init__()
        self._props["url"] = url
        self._props["more"] = left_out
        self.classes("w-full")
