"""One cell of a table: an expression, read as it is typed, taken when it is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from nicegui import ui

from ...describe.parser import to_value
from ...describe.robot import Robot
from ...errors import CardanError
from .state import Page

__all__ = ["cell", "grid", "rows", "say", "setter", "take"]

UNITS = {
    "gamma": "rad", "alpha": "rad", "theta": "rad", "b": "m", "d": "m", "r": "m", "M": "kg",
    **dict.fromkeys(("MX", "MY", "MZ"), "kg m"),
    **dict.fromkeys(("XX", "XY", "XZ", "YY", "YZ", "ZZ", "IA"), "kg m²"),
    **dict.fromkeys(("FX", "FY", "FZ"), "N"), **dict.fromkeys(("CX", "CY", "CZ"), "N m"),
    "FV": "N m s", "FS": "N m", "stiffness": "N m/rad", "damping": "N m s",
    "lower": "rad or m", "upper": "rad or m", "velocity": "per s", "effort": "N m or N",
}  # fmt: skip
_GREEK = {"gamma": "γ", "alpha": "α", "theta": "θ"}


def say(message: str) -> None:
    """Something was refused."""
    if message:
        ui.notify(message, type="negative", multi_line=True, close_button=True, timeout=8000)


def take(page: Page, change: Callable[[], Robot]) -> None:
    """Apply a change of a button or a box; where it is refused, say so and show what holds."""
    try:
        message = page.change(change())
    except CardanError as error:
        message = str(error)
    say(message)
    if message:
        page.redraw = True
        page.refresh()


def cell(
    page: Page, label: str, value: Any, apply: Callable[[Any], Robot], empty: str = "0"
) -> None:
    """An expression; `empty` is what an empty cell stands for, "" for nothing."""

    def fault(text: str | None) -> str | None:
        try:
            to_value((text or "").strip() or "0")
        except CardanError as error:
            return str(error)
        return None

    def leave() -> None:
        text = (field.value or "").strip() or empty
        if text and fault(text):
            return
        try:
            message = page.change(apply(to_value(text) if text else None))
        except CardanError as error:
            message = str(error)
        field.error = message or None

    shown = "" if value is None or value == 0 else str(value)
    field = ui.input(value=shown, validation=fault).props("dense borderless hide-bottom-space")
    field.props["aria-label"] = label
    field.props["placeholder"] = empty or "none"
    field.classes("cell").on("blur", leave).on("keydown.enter", leave)


def setter(page: Page, where: str, j: int, key: str) -> Callable[[Any], Robot]:
    """A change of one field of a joint or a link."""

    def apply(value: Any) -> Robot:
        items = list(getattr(page.robot, where))
        items[j] = replace(items[j], **{key: value})
        return replace(page.robot, **{where: tuple(items)})  # type: ignore[arg-type]

    return apply


@contextmanager
def grid(names: Sequence[str]) -> Any:
    """A table with these heads."""
    with ui.element("div").classes("grid-room"), ui.element("table").classes("grid-table"):
        with ui.element("thead"), ui.element("tr"):
            for name in names:
                with ui.element("th"):
                    ui.label(_GREEK.get(name, name))
                    if name in UNITS:
                        ui.label(UNITS[name]).classes("unit")
        with ui.element("tbody"):
            yield


def rows(page: Page, keys: Sequence[str], where: str) -> None:
    """A table of expressions, one row per joint or link, named after the link."""
    with grid(["", *keys]):
        for j, item in enumerate(getattr(page.robot, where)):
            name = page.robot.links[j].name
            with ui.element("tr"):
                with ui.element("td"):
                    ui.label(name).classes("name")
                for key in keys:
                    with ui.element("td"):
                        cell(page, f"{key} of {name}", getattr(item, key),
                             setter(page, where, j, key))  # fmt: skip
