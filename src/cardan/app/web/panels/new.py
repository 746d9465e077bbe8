"""A new robot: its joints, how they lie, symbols with the names of SYMORO or numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from nicegui import ui

from ....describe.robot import INERTIA, Robot
from ....describe.toml.read import from_dict
from ....errors import InputError
from ..server.state import Page
from .menus import confirm

_MOST = 60  # joints
_BALL = dict.fromkeys(("XX", "YY", "ZZ"), 0.01)  # of a floating base of 1 kg
_SHAPES = {
    "blank": "all lengths and angles zero",
    "planar": "in a plane: d = L1, L2, .., slides within it",
    "arm": "shoulder, elbow, spherical wrist",
}
_STRUCTURES = {
    "chain": "one chain",
    "tree": "branches: RR RRR RRR, the first group carries the others",
    "loop": "a planar loop: RR RR, two chains from the base, joined at their ends",
}
_BASES = {"fixed": "fixed", "floating": "floating"}
_ARM: dict[int, dict[str, Any]] = {
    2: {"alpha": "pi/2"}, 3: {"d": "D3"}, 4: {"alpha": "-pi/2", "r": "RL4"}, 5: {"alpha": "pi/2"},
    6: {"alpha": "-pi/2"},
}  # fmt: skip


def described(
    name: str, kinds: str, shape: str = "planar", symbols: bool = True, structure: str = "chain",
    base: str = "fixed",
) -> Robot:  # fmt: skip
    """Chains of joints by their letters, R or P; links have the parameters XX1 .. FS1 of SYMORO,
    or 1 kg each."""
    groups = kinds.upper().split()
    letters = "".join(groups)
    if not 1 <= len(letters) <= _MOST or set(letters) - set("RP"):
        raise InputError(f"'{kinds[:40]}': expected 1 to {_MOST} letters R or P, such as RRP")
    _require(groups, shape, structure, base)
    links: list[dict[str, Any]] = []
    ends: list[
        tuple[int, np.ndarray]
    ] = []  # of each group: the number of its last link, and how that frame is turned
    for k, group in enumerate(groups):
        i, turned = ends[0] if k and structure == "tree" else (0, np.eye(3))
        for letter in group:
            j = len(links) + 1
            own: dict[str, Any] = {"name": f"link{j}", "antecedent": i}
            if shape == "planar":
                placed, turned = _in_plane(letter, turned, i, aside=k > 0 and structure == "loop")
                own |= placed
            elif shape == "arm":
                own |= _ARM.get(j, {})
            if letter == "P":
                own["joint"] = "prismatic"
            links.append(own)
            i = j
        ends.append((i, turned))
    table: dict[str, Any] = {"name": name.strip() or "New robot", "link": links}
    table["gravity"] = [0, 0, "G3" if symbols else "-9.81"]
    if structure == "loop":
        for i, _ in ends:  # in a plane two joints are left to the loop
            links[i - 1]["active"] = False
        cut, twin = ({**_in_plane("R", turned, i)[0], "antecedent": f"link{i}"}
                     for i, turned in ends)  # fmt: skip
        table["loop"] = [{"name": "loop1", "cut": {**cut, "joint": "revolute"}, "twin": twin}]
    for j, own in enumerate(links, 1):
        own |= {key: f"{key}{j}" for key in (*INERTIA, "IA", "FV", "FS")} if symbols else {"M": 1}
    if base == "floating":
        inertia = {key: f"{key}0" for key in INERTIA} if symbols else {"M": 1, **_BALL}
        table["base"] = {"kind": "floating", **inertia}
    return from_dict(table if symbols else _with_numbers(table))


def _require(groups: list[str], shape: str, structure: str, base: str) -> None:
    """What is asked for can be made."""
    count = len("".join(groups))
    if structure == "chain" and len(groups) > 1:
        raise InputError("a chain has one group of letters, such as RRP; branches have several")
    if structure == "tree" and len(groups) < 2:
        raise InputError("branches: several groups of letters, such as RR RRR RRR")
    if structure == "loop" and (len(groups) != 2 or count < 3 or shape != "planar"):
        raise InputError("a planar loop: two groups of three letters or more, such as RR RR, in a "
                         "plane")  # fmt: skip
    if shape == "arm" and (count < 3 or structure != "chain"):
        raise InputError("an arm with a shoulder and an elbow is a chain of three joints or more")
    if base == "floating" and structure == "loop":
        raise InputError("a loop stands on a fixed base here: choose another structure or base")


def _in_plane(
    letter: str, turned: np.ndarray, i: int, aside: bool = False
) -> tuple[dict[str, Any], np.ndarray]:
    """The fields of a joint that turns about z0 or slides across it, on frame i, which is turned so
    from frame 0; and how its own frame is turned. aside: beside another chain."""
    own: dict[str, Any] = {}
    upright, flat = abs(turned[2, 2]) > 0.5, abs(turned[2, 0]) < 0.5  # its z, its x in the plane
    if not upright and flat == (letter == "P"):  # x the other way, to tilt about
        own["gamma"] = "pi/2"
        turned = turned @ [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    if letter == "P":
        s = -1.0 if upright else 1.0
    else:
        s = 0.0 if upright else -float(turned[2, 1])  # so that z is z0 again
    if s:
        own["alpha"] = "pi/2" if s > 0 else "-pi/2"
        turned = turned @ [[1, 0, 0], [0, 0, -s], [0, s, 0]]
    if upright and letter == "R" and (i or aside):
        own["d"] = f"L{i}"
    elif aside and not i:
        own["d"] = "L0"
    return own, turned


def _with_numbers(x: Any) -> Any:
    """With 0.4 for each length that is a symbol."""
    if isinstance(x, dict):
        return {key: _with_numbers(value) for key, value in x.items()}
    if isinstance(x, list):
        return [_with_numbers(value) for value in x]
    return 0.4 if isinstance(x, str) and re.fullmatch(r"(L|D|RL)[0-9]+", x) else x


def new(page: Page) -> None:
    """Ask what it is, and open it."""
    with ui.dialog() as dialog, ui.card().classes("min-w-96"):
        ui.label("New robot").classes("text-lg").props("role=heading aria-level=2")
        name = ui.input("Name", value="New robot").classes("w-full")
        kinds = ui.input("Joints, a letter for each: R turns, P slides", value="RRR")
        kinds.classes("w-full mono").props("autofocus")
        structure = ui.select(_STRUCTURES, value="chain", label="Structure").classes("w-full")
        shape = ui.select(_SHAPES, value="planar", label="How they lie").classes("w-full")
        base = ui.select(_BASES, value="fixed", label="Base").classes("w-full")
        numbers = {True: "symbols XX1 .. FS1, as SYMORO's", False: "numbers: 0.4 m and 1 kg each"}
        symbols = ui.select(numbers, value=True, label="Parameters").classes("w-full")

        def apply() -> str:
            return page.open(described(
                name.value or "", kinds.value or "", str(shape.value), bool(symbols.value),
                str(structure.value), str(base.value)))  # fmt: skip

        confirm(dialog, "Create", apply)
