"""A new robot: its joints, how they lie, symbols with the names of SYMORO or numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from ....describe.robot import INERTIA, Robot
from ....describe.toml.read import from_dict
from ....errors import InputError
from ..server.state import Page
from .menus import confirm

__all__ = ["described", "new"]

_MOST = 60  # joints
_SHAPES: dict[str, tuple[str, Callable[[int], dict[str, Any]]]] = {
    "blank": ("all lengths and angles zero", lambda j: {}),
    "planar": ("in a plane: d = L1, L2, ..", lambda j: {"d": f"L{j - 1}"} if j > 1 else {}),
    "arm": ("shoulder, elbow, spherical wrist", lambda j: _ARM.get(j, {})),
}
_ARM: dict[int, dict[str, Any]] = {
    2: {"alpha": "pi/2"}, 3: {"d": "D3"}, 4: {"alpha": "-pi/2", "r": "RL4"}, 5: {"alpha": "pi/2"},
    6: {"alpha": "-pi/2"},
}  # fmt: skip


def described(name: str, kinds: str, shape: str = "planar", symbols: bool = True) -> Robot:
    """A chain of joints by their letters, R or P; links have the parameters XX1 .. FS1 of SYMORO,
    or 1 kg each."""
    letters = kinds.strip().upper()
    if not 1 <= len(letters) <= _MOST or set(letters) - set("RP"):
        raise InputError(f"'{kinds[:40]}': expected 1 to {_MOST} letters R or P, such as RRP")
    if shape == "arm" and len(letters) < 3:
        raise InputError("an arm with a shoulder and an elbow has three joints or more")
    links = []
    for j, letter in enumerate(letters, 1):
        own: dict[str, Any] = {"name": f"link{j}", **_SHAPES[shape][1](j)}
        if letter == "P":
            own["joint"] = "prismatic"
        if symbols:
            own |= {key: f"{key}{j}" for key in (*INERTIA, "IA", "FV", "FS")}
        else:
            own = {key: _number(x) for key, x in own.items()} | {"M": 1}
        links.append(own)
    gravity = [0, 0, "G3" if symbols else "-9.81"]
    return from_dict({"name": name.strip() or "New robot", "gravity": gravity, "link": links})


def _number(x: Any) -> Any:
    """A length that is a symbol, as a number."""
    return 0.4 if isinstance(x, str) and x[:1] in "LDR" and x[-1:].isdigit() else x


def new(page: Page) -> None:
    """Ask what it is, and open it."""
    with ui.dialog() as dialog, ui.card().classes("min-w-96"):
        ui.label("New robot").classes("text-lg").props("role=heading aria-level=2")
        name = ui.input("Name", value="New robot").classes("w-full")
        kinds = ui.input("Joints, a letter for each: R turns, P slides", value="RRR")
        kinds.classes("w-full mono").props("autofocus")
        shapes = {key: words for key, (words, _) in _SHAPES.items()}
        shape = ui.select(shapes, value="planar", label="How they lie").classes("w-full")
        numbers = {True: "symbols XX1 .. FS1, as SYMORO's", False: "numbers: 0.4 m and 1 kg each"}
        symbols = ui.select(numbers, value=True, label="Parameters").classes("w-full")

        def apply() -> str:
            return page.open(described(name.value or "", kinds.value or "", str(shape.value),
                                       bool(symbols.value)))  # fmt: skip

        confirm(dialog, apply)
