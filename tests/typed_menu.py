"""Writes src/cardan/menu.py from the catalogue:  python -m tests.typed_menu

`cardan.model` has a signature for every model of the menu, so that type checkers and editors know
its options and what it gives."""

from __future__ import annotations

from pathlib import Path

import cardan
from cardan.catalogue import Entry, Option, catalogue
from cardan.files import write_atomic

__all__ = ["FILE", "text"]

FILE = Path(cardan.__file__).with_name("menu.py")
RESULTS = {
    "inverse-geometry": "InverseGeometry",
    "loop-geometry": "LoopGeometry",
    "base-parameters": "BaseParameters",
}
KINDS = {"flag": "bool", "frame": "Frame", "vector": "Sequence[Any]",
         "rows": "Sequence[str] | str | None", "number": "int | None"}  # fmt: skip
WIDTH = 100

HEAD = '''\
"""`cardan.model`: a signature for every model of the menu, for type checkers and editors.

Written by tests/typed_menu.py from src/cardan/catalogue.py: do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from .catalogue import model as _model

if TYPE_CHECKING:
    from .build.base import BaseParameters
    from .describe.robot import Robot
    from .inverse.geometry import InverseGeometry
    from .loops.geometry import LoopGeometry
    from .program import Program

Frame = int | str | None  # a link by number, or a frame by name
'''

BODY = '''\
def model(robot: Robot, name: str, **options: Any) -> Any:
    """The model of a robot: a `Program`; an `InverseGeometry`, a `LoopGeometry` or
    `BaseParameters` where the menu says so.

    `cardan.catalogue()` is the menu: names, options, inputs and outputs. Numbers of the robot are
    folded into the program; symbolic=True keeps every inertial and geometric parameter as an
    element of the input `p`, in the order of `Program.parameters`. An unknown name or option is an
    UnknownNameError, a model that a robot has not a ModelError.

    >>> robot = cardan.load("ur5")
    >>> gravity = cardan.model(robot, "gravity")
    >>> gravity.inputs, gravity.outputs
    ({'q': (6,)}, {'Q': (6,)})
    >>> cardan.model(robot, "transform", frame=2).outputs
    {'T': (4, 4)}
    >>> cardan.model(robot, "inverse-geometry").method
    'paul'"""
    return _model(robot, name, **options)
'''


def text() -> str:
    """The whole module. Models with the same options and results share a signature."""
    alike: dict[tuple[str, str], list[str]] = {}
    for entry in catalogue():
        result = RESULTS.get(entry.name, "Program")
        alike.setdefault((_options(entry), result), []).append(entry.name)
    names = _literal([entry.name for entry in catalogue()])
    parts = [HEAD, _statement("ModelName = Literal[", _items(names), "]"), "\n"]
    for (options, result), models in alike.items():
        own = _statement("    name: Literal[", _items(_literal(models)), "],").rstrip()
        lines = [line for line in options.splitlines() if line]
        star = ["    *,"] if lines else []
        arguments = ["    robot: Robot,", own, *star, *lines]
        parts += ["\n@overload\ndef model(\n", "\n".join(arguments), f"\n) -> {result}: ...\n\n"]
    return "".join([*parts, "\n", BODY])


def _options(entry: Entry) -> str:
    return "\n".join(_option(name, option) for name, option in entry.options.items())


def _option(name: str, option: Option) -> str:
    if option.choices is None:
        return f"    {name}: {KINDS[option.kind]} = ...,"
    choices = _items(_literal(list(option.choices)))
    return _statement(f"    {name}: Literal[", choices, "] = ...,").rstrip()


def _literal(names: list[str]) -> list[str]:
    return [f'"{name}"' for name in names]


def _items(names: list[str]) -> str:
    return ", ".join(names)


def _statement(head: str, items: str, tail: str) -> str:
    """One line, or the formatter's way of several."""
    if len(head + items + tail) <= WIDTH:
        return f"{head}{items}{tail}\n"
    indent = " " * (len(head) - len(head.lstrip()))
    inner = f"{indent}    {items}"
    listed = [inner] if len(inner) <= WIDTH else [f"{indent}    {x}," for x in items.split(", ")]
    return "\n".join([head, *listed, f"{indent}{tail}"]) + "\n"


def main() -> None:
    write_atomic(FILE, text())


if __name__ == "__main__":
    main()
