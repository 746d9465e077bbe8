"""The inertia of simple shapes: box, cylinder, rod; moved from the centre to the frame's origin."""

from __future__ import annotations

from typing import Any

import numpy as np
from nicegui import ui

from ....describe.values.parser import to_value
from ....errors import CardanError
from ..server.state import Page
from .menus import confirm
from .structure import with_link

_SHAPES = {
    "box": ("along x", "along y", "along z"),
    "cylinder": ("radius", "length along z"),
    "rod": ("length along x",),
    "given about the centre of mass": ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"),
}


def shape_inertia(shape: str, mass: float, sizes: list[float], centre: list[float]) -> Any:
    """(J about the origin (3,3), first moments (3,)) of a homogeneous body."""
    if shape == "box":
        x, y, z = (size**2 for size in sizes)
        about = np.diag([y + z, x + z, x + y]) * mass / 12
    elif shape == "cylinder":
        radius, length = sizes
        side = mass * (3 * radius**2 + length**2) / 12
        about = np.diag([side, side, mass * radius**2 / 2])
    elif shape == "rod":
        about = np.diag([0.0, 1.0, 1.0]) * mass * sizes[0] ** 2 / 12
    else:
        xx, xy, xz, yy, yz, zz = sizes
        about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    c = np.array(centre)
    return about + mass * (c @ c * np.eye(3) - np.outer(c, c)), mass * c


def inertial_dialog(page: Page) -> None:
    """Ask for shape, mass, sizes and centre; write the ten parameters of a link."""
    links = [link.name for link in page.robot.links]
    with ui.dialog() as dialog, ui.card().classes("min-w-96"):
        ui.label("Inertia of a simple shape").classes("text-lg")
        link = ui.select(links, value=links[-1], label="Link").classes("w-full")
        shape = ui.select(list(_SHAPES), value="box", label="Shape").classes("w-full")
        mass = ui.number("Mass, kg", value=1.0).classes("w-full")
        with ui.row().classes("narrow") as sizes_row:
            pass
        sizes: list[ui.number] = []

        def ask() -> None:
            sizes_row.clear()
            sizes.clear()
            with sizes_row:
                whole = len(_SHAPES[shape.value]) == 6
                for words in _SHAPES[shape.value]:
                    unit, value = ("kg m²", 0.0) if whole else ("m", 0.1)
                    field = ui.number(f"{words}, {unit}", value=value).classes("w-32")
                    sizes.append(field)

        shape.on_value_change(ask)
        ask()
        ui.label("Centre of mass in the link's frame, m").classes("hint")
        with ui.row():
            centre = [ui.number(axis, value=0.0).classes("w-32") for axis in "xyz"]

        def apply() -> str:
            numbers = [field.value for field in (mass, *sizes, *centre)]
            return _apply(page, link.value, shape.value, numbers)

        confirm(dialog, "Set inertia", apply)


def _apply(page: Page, link: str, shape: str, numbers: list[float | None]) -> str:
    """Numbers: the mass, the sizes, the centre. A message where they cannot be taken."""
    known = [x for x in numbers if x is not None]
    if len(known) < len(numbers):
        return "Give every number"
    if known[0] < 0 or (shape in ("box", "cylinder", "rod") and min(known[1:-3]) < 0):
        return "The mass and the sizes must not be negative"
    J, MS = shape_inertia(shape, known[0], known[1:-3], known[-3:])
    return _write(page, link, known[0], J, MS)


def _write(page: Page, link: str, mass: float, J: np.ndarray, MS: np.ndarray) -> str:
    names = {"XX": (0, 0), "XY": (0, 1), "XZ": (0, 2), "YY": (1, 1), "YZ": (1, 2), "ZZ": (2, 2)}
    numbers = {key: float(J[at]) for key, at in names.items()} | {"M": mass}
    numbers |= dict(zip(("MX", "MY", "MZ"), map(float, MS), strict=True))
    try:
        fields: dict[str, Any] = {key: to_value(f"{x:.12g}") for key, x in numbers.items()}
    except CardanError as error:
        return str(error)
    return page.change(with_link(page.robot, link, **fields))
