"""Flexible links in the page: a table of the beams, and a helper that makes one of a section."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from nicegui import ui

from ....describe.flexible import MOTIONS, SHAPES, Beam, usual_section
from ....describe.robot import Robot
from ....describe.values.parser import to_value
from ....errors import InputError
from ..server.state import Page
from .cells import Block, Cell, act, choice, expression, typed, word
from .menus import confirm
from .structure import with_link

_NUMBERS = {
    "length": "m", "young": "Pa", "density": "kg/m³", "area": "m²", "Iy": "m⁴", "Iz": "m⁴",
    "torsion": "m⁴", "shear": "Pa", "damping_ratio": "",
}  # fmt: skip
_SECTIONS = {
    "rectangle": ("width", "height"),
    "circle": ("radius",),
    "tube": ("radius", "thickness"),
}
_MATERIALS = {  # Young's modulus and shear modulus in Pa, density in kg/m³
    "aluminium": (70e9, 26e9, 2700.0), "steel": (210e9, 80e9, 7850.0),
    "titanium": (114e9, 43e9, 4430.0),
}  # fmt: skip


def _beam(page: Page, j: int, **changes: Any) -> Robot:
    links = list(page.robot.links)
    links[j] = replace(links[j], flexible=replace(links[j].flexible, **changes))
    return replace(page.robot, links=tuple(links))


def _field(page: Page, j: int, key: str) -> Callable[[Any], Robot]:
    return lambda value: _beam(page, j, **{key: value})


def flexible_rows(page: Page) -> Sequence[Block]:
    """A row per flexible link; a body given by its shape integrals is only named."""
    table = []
    for j, link in enumerate(page.robot.links):
        if isinstance(link.flexible, Beam):
            table.append(_row(page, j, link.name, link.flexible))
        elif link.flexible is not None:
            words = f"a body of {link.flexible.coordinates} shape functions"
            table.append([word(link.name), word(words, "hint"), _rigid(page, j)])
    heads = [f"{key}, {unit}" if unit else key.replace("_", " ") for key, unit in _NUMBERS.items()]
    return (Block(["", *heads, "motions", "shapes", "number", ""], table),) if table else ()


def _row(page: Page, j: int, name: str, beam: Beam) -> list[Cell]:
    label = f"of beam {name}"
    key = "elements" if beam.shapes == "elements" else "modes"
    return [
        word(name),
        *(expression(page, f"{key} {label}", getattr(beam, key), _field(page, j, key), key,
                     style="mono cell-wide")
          for key in _NUMBERS),
        _motions(page, j, beam, label),
        choice(page, f"shapes {label}", beam.shapes, {x: x for x in SHAPES},
               _field(page, j, "shapes")),
        typed(page, f"number {label}", str(getattr(beam, key)),
              lambda text: _beam(page, j, **{key: _count(text)}), "mono"),
        _rigid(page, j),
    ]  # fmt: skip


def _motions(page: Page, j: int, beam: Beam, label: str) -> Cell:
    def read(text: str) -> tuple[str, ...]:
        names = text.replace(",", " ").split()
        if not names or any(name not in MOTIONS for name in names):
            raise InputError(f"motions are some of: {', '.join(MOTIONS)}")
        return tuple(motion for motion in MOTIONS if motion in names)

    return typed(page, f"motions {label}", ", ".join(beam.motions),
                 lambda text: _beam(page, j, motions=read(text)), "cell-long")  # fmt: skip


def _count(text: str) -> int:
    if not text.strip().isdigit() or not 1 <= int(text) <= 50:
        raise InputError("a whole number from 1 to 50")
    return int(text)


def _rigid(page: Page, j: int) -> Cell:
    def change() -> Robot:
        links = list(page.robot.links)
        links[j] = replace(links[j], flexible=None)
        return replace(page.robot, links=tuple(links))

    return act(page, f"Make {page.robot.links[j].name} rigid", "delete_outline", change)


def flexible_dialog(page: Page) -> None:
    """Ask for a link, a material, a section and the motions; make the link a beam."""
    links = [link.name for link in page.robot.links]
    with ui.dialog() as dialog, ui.card().classes("min-w-96"):
        ui.label("A flexible link").classes("text-lg")
        link = ui.select(links, value=links[-1], label="Link").classes("w-full")
        material = ui.select(list(_MATERIALS), value="aluminium", label="Material")
        section = ui.select(list(_SECTIONS), value="rectangle", label="Section")
        length = ui.number("length along x, m", value=0.5, min=0).classes("w-full")
        with ui.row() as room:
            sizes: dict[str, ui.number] = {}

        def ask() -> None:
            room.clear()
            sizes.clear()
            with room:
                for key in _SECTIONS[section.value]:
                    sizes[key] = ui.number(f"{key}, m", value=0.01, min=0).classes("w-32")

        section.on_value_change(ask)
        ask()
        motions = ui.select(list(MOTIONS), value=["bending-y"], multiple=True, label="Motions")
        for wide in (material, section, motions):
            wide.classes("w-full")

        def apply() -> str:
            numbers = {key: _size(key, field.value) for key, field in sizes.items()}
            return _make(page, link.value, material.value, section.value,
                         _size("length", length.value), numbers, motions.value)  # fmt: skip

        confirm(dialog, "Make flexible", apply)


def _size(key: str, value: float | None) -> Any:
    if value is None or not value > 0:
        raise InputError(f"{key} must be a positive number")
    return to_value(f"{value:.12g}")


def _make(
    page: Page, link: str, material: str, section: str, length: Any, sizes: dict[str, Any],
    motions: Sequence[str],
) -> str:  # fmt: skip
    if not motions:
        raise InputError("choose at least one motion")
    if section == "tube" and float(sizes["thickness"]) > float(sizes["radius"]):
        raise InputError("the wall of a tube is not thicker than its radius")
    young, shear, density = (to_value(f"{x:.12g}") for x in _MATERIALS[material])
    chosen = tuple(motion for motion in MOTIONS if motion in motions)
    about: dict[str, Any] = {**usual_section(section, sizes), "shear": shear, "motions": chosen}
    beam = Beam(length, young, density, **about)
    return page.change(with_link(page.robot, link, flexible=beam))
