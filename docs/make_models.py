"""Writes docs/models.md from the catalogue:  python docs/make_models.py"""

from __future__ import annotations

from pathlib import Path

from cardan.app.cli.options import flag_of
from cardan.catalogue import Entry, Option, catalogue
from cardan.emit import languages
from cardan.files import write_atomic

FILE = Path(__file__).with_name("models.md")
HEAD = """<!-- written by docs/make_models.py from src/cardan/catalogue.py: do not edit -->
# Models

Every model that Cardan derives, with its options, inputs and outputs.

    program = cardan.model(robot, "transform", frame=3)
    cardan generate ROBOT transform --frame 3 --to c

n joint variables of the tree, in link order; fixed frames carry none; nl links. Twists and
wrenches are (linear, angular). SI units, radians. Gravity is the acceleration of gravity, in frame
0.

`jacobian` has six rows; `rows="x y"` takes some of them, x y z of the velocity of the point and rx ry rz of the angular
velocity, in the axes of `projection`. `jacobian-inverse` takes the rows that the robot moves in where they are no more than its
joints: x y of a planar arm of two joints (whose determinant is L1 L2 sin q2), x y z rz of a SCARA, all six of a 6R arm. Where they
are as many as the joints it gives the inverse and the determinant. With fewer joints Jinv is the generalized inverse
(J^T J)^-1 J^T and det is det(J^T J), which is zero only where the joints no longer move the frame independently; with more they are
J^T (J J^T)^-1 and det(J J^T). The meaning of the output and the head of generated code say which it is, and of which rows.
`factors=True` gives Renaud's three factors of the Jacobian, J = F1 F2 F3 ([KC97] (4)), of which only the third can be singular.
"""


_KINDS = {"flag": "true, false", "frame": "link number or name", "vector": "x,y,z",
          "rows": "names, in quotes: 'x y rz'", "number": "a whole number"}  # fmt: skip


def text() -> str:
    """The whole page."""
    groups = dict.fromkeys(entry.group for entry in catalogue())
    parts = [HEAD, *map(_group, groups), "## Options of every program\n", _options(shared())]
    return "\n".join([*parts, f"Languages: {', '.join(f'`{name}`' for name in languages())}.\n"])


def shared() -> dict[str, Option]:
    """The options that all models with source text have in common."""
    programs = [entry for entry in catalogue() if entry.program]
    first = programs[0].options.items()
    return {
        name: option
        for name, option in first
        if all(e.options.get(name) == option for e in programs)
    }


def _group(group: str) -> str:
    entries = [entry for entry in catalogue() if entry.group == group]
    rows = [f"| `{e.name}` | {e.summary} | {e.inputs} | {e.outputs} |" for e in entries]
    table = ["| model | gives | inputs | outputs |", "|---|---|---|---|", *rows, ""]
    return "\n".join([f"## {group.capitalize()}", "", *table, *filter(None, map(_own, entries))])


def _own(entry: Entry) -> str:
    options = {name: option for name, option in entry.options.items() if name not in shared()}
    return f"### Options of `{entry.name}`\n\n{_options(options)}" if options else ""


def _options(options: dict[str, Option]) -> str:
    rows = [
        f"| `{name}` | `{flag_of(name)}` | {_allowed(o)} | {_default(o)} | {o.summary} |"
        for name, o in options.items()
    ]
    head = ["| option | command line | allowed | default | meaning |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def _allowed(option: Option) -> str:
    if option.choices is not None:
        return ", ".join(f"`{choice}`" for choice in option.choices)
    return _KINDS.get(option.kind, option.kind)


def _default(option: Option) -> str:
    return "" if option.default is None else f"`{option.default}`"


if __name__ == "__main__":
    write_atomic(FILE, text())
