"""The equations of a model, thousands of lines: only those in sight are in the page."""

from __future__ import annotations

import html
import re
from typing import Any

from nicegui import ui

__all__ = ["Equations"]

_SYMBOL = """(event) => emit(
    event.target.closest('[data-name]')?.getAttribute('data-name') ?? '')"""
_CELL = """
<q-td :props="props">
  <span class="line-number">{{ props.row.id + 1 }}</span><span v-html="props.row.math"></span>
</q-td>
"""
_MOST = 12  # users of a symbol that are named


class Equations:
    """The lines with a search; a click on a symbol tells where it is defined and used.

    The MathML comes from emit.html, which escapes every name: nothing else reaches `v-html`."""

    def __init__(self, found: dict[str, Any]) -> None:
        lines = found["lines"]
        self.defined = {name: k for k, (name, _, _) in enumerate(lines)}
        self.uses: dict[str, list[str]] = {}
        for name, reads, _ in lines:
            for read in reads:
                self.uses.setdefault(read, []).append(name)
        with ui.row().classes("w-full items-center no-wrap"):
            self.search = ui.input(placeholder="Search: N3_2").props("dense clearable")
            self.search.props["aria-label"] = "Search in the equations"
            self.chosen = ui.label(f"{len(lines)} lines; click a symbol to see its definition")
            self.chosen.classes("hint grow").props("role=status")
        self.table = ui.table(
            rows=[
                {"id": k, "math": mathml, "text": _names(mathml)}
                for k, (_, _, mathml) in enumerate(lines)
            ],
            columns=[{"name": "math", "field": "text", "label": "", "align": "left"}],
            row_key="id",
        )
        self.table.props(
            "virtual-scroll hide-header hide-bottom flat dense :rows-per-page-options=[0] "
            ":virtual-scroll-item-size=36"
        )
        self.table.classes("w-full equations").add_slot("body-cell-math", _CELL)
        self.table.on("click", lambda event: self._clicked(str(event.args)), js_handler=_SYMBOL)
        self.search.on_value_change(lambda event: self.table.set_filter(event.value or ""))
        if found.get("left_out"):
            ui.label(f"{found['left_out']} more lines are in the code.").classes("hint")

    def _clicked(self, name: str) -> None:
        if not name:
            return
        users = self.uses.get(name, [])
        used = ", ".join(users[:_MOST]) + (" ..." if len(users) > _MOST else "")
        where = "an input"
        if name in self.defined:
            self.search.value = ""
            self.table.run_method("scrollTo", self.defined[name])
            where = f"defined in line {self.defined[name] + 1}"
        self.chosen.set_text(f"{name}: {where}; " + (f"used in {used}" if used else "an output"))


def _names(mathml: str) -> str:
    """What a search looks in: the names of a line."""
    return " ".join(html.unescape(name) for name in re.findall(r'data-name="([^"]*)"', mathml))
