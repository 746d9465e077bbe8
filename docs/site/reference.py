"""The pages of the reference that are made from the program itself: the Python names with their
docstrings, the commands with their options, and the equations of every model.

They are written when the site is built and are not kept, so that they cannot be out of date.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import typer
from docstrings import as_rst
from navigation import DOCS, Page

import cardan
from cardan.app.cli.command import EXAMPLES
from cardan.app.cli.main import GROUPS, app
from cardan.catalogue import Entry

__all__ = ["api", "commands", "equations", "names"]

PAGES = (
    Page("Python", "api/index.md", "every public name, with its docstring and an example"),
    Page("Commands", "commands.md", "every command and option of `cardan`"),
    Page("Equations of the models", "equations.md", "each model of the menu, of a small robot"),
)
# the smallest bundled robot that has the model, where it is not the arm of two joints
_LOOPS = {"loop-geometry": "fivebar", "loop-kinematics": "fivebar"}
_LONG = {"platform-inverse-dynamics": "planar3rrr", "platform-direct-dynamics": "planar3rrr"}


def names() -> list[str]:
    """Every public name, those of `cardan.control` with its own in front."""
    return [
        *(name for name in cardan.__all__ if name != "__version__"),
        *(f"control.{name}" for name in cardan.control.__all__),
    ]


def api() -> Iterator[tuple[str, str]]:
    """(file, text) of the pages of Python names; the first lists them all."""
    yield "api/index.md", _listing()
    for name in names():
        yield f"api/{_file(name)}.md", _object(name)


def _file(name: str) -> str:
    """The file of a name: `workspace` and `Workspace` are one on some systems."""
    twins = [other for other in names() if other.lower() == name.lower()]
    return name if len(twins) == 1 or name.islower() else f"{name.lower()}-class"


def _listing() -> str:
    """The table of docs/first-steps.md, its names linked, and the tree of pages."""
    page = (DOCS / "first-steps.md").read_text(encoding="utf-8")
    table = page.split("## What is there\n")[1].split("\n## ")[0]
    known = {name.rpartition(".")[2]: name for name in names()}

    def link(match: re.Match[str]) -> str:
        name = known.get(match[1])
        return f"[`{match[1]}`]({_file(name)}.md)" if name else match[0]

    rows = [line for line in table.splitlines() if line.startswith("|")]
    rows = [re.sub(r"`(\w+)`", link, row) for row in rows]
    rows = [_from_api(row) for row in rows]
    tree = "\n".join(f"{name} <{_file(name)}.md>" for name in sorted(names(), key=str.lower))
    return (
        "# Python\n\nEvery public name; each is an attribute of `cardan`. The examples are run by"
        " the tests, with\n`import numpy as np` and `import cardan` before them.\n\n"
        + "\n".join(rows)
        + f"\n\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n"
    )


def _from_api(row: str) -> str:
    """A row whose links to pages of docs/ start one folder higher."""
    own = {f"{_file(name)}.md" for name in names()}

    def higher(match: re.Match[str]) -> str:
        return f"]({match[1]})" if match[1] in own else f"](../{match[1]})"

    return re.sub(r"\]\(([^)]+)\)", higher, row)


def _object(name: str) -> str:
    item = cardan
    for part in name.split("."):
        item = getattr(item, part)
    if isinstance(item, ModuleType):
        inside = "\n".join(f"- [`{key}`]({name}.{key}.md)" for key in item.__all__)
        body = f"{{eval-rst}}\n.. automodule:: cardan.{name}\n   :no-members:\n"
        return f"# {name}\n\n```{body}```\n\n{inside}\n"
    if inspect.isclass(item):
        special = "   :special-members: __call__\n" if "__call__" in vars(item) else ""
        body = f".. autoclass:: cardan.{name}\n   :members:\n   :member-order: bysource\n{special}"
    elif name == "model":  # a signature per model would fill pages; the menu has them
        text = "\n".join(f"   {line}" for line in as_rst(inspect.getdoc(item).splitlines()))
        body = f".. py:function:: cardan.model(robot, name, **options)\n\n{text}\n"
    else:
        body = f".. autofunction:: cardan.{name}\n"
    return f"# {name}\n\n```{{eval-rst}}\n{body}```\n"


def commands() -> str:
    """The page of commands, in the groups of `cardan --help`."""
    tree: Any = typer.main.get_command(app)
    parts = [
        f"## {group}\n\n" + "\n".join(_command(verb, tree.commands[verb]) for verb in verbs)
        for group, verbs in GROUPS.items()
    ]
    head = (
        "# Commands\n\nWhat `cardan COMMAND --help` says. `cardan generate ROBOT MODEL --help` has"
        " the options of\nthat model too; see [Models](models.md). What the words mean, and how"
        " values are written, is in\n[Command line](command-line.md).\n"
    )
    return "\n".join([head, *parts])


def _command(verb: str, command: Any) -> str:
    context = typer.Context(command, info_name=f"cardan {verb}")
    usage = " ".join([f"cardan {verb}", *command.collect_usage_pieces(context)])
    records = [p.get_help_record(context) for p in command.params if not p.hidden]
    rows = [f"| `{flag}` | {_cell(text)} |" for flag, text in filter(None, records)]
    table = "\n".join(["| option | meaning |", "|---|---|", *rows])
    text = inspect.cleandoc(command.help or "").split("\f")[0]
    examples = "\n".join(f"    {line}" for line in EXAMPLES[verb])
    return f"### {verb}\n\n{text}\n\n    {usage}\n\n{table}\n\n{examples}\n"


def _cell(text: str) -> str:
    """The words of a table's cell: nothing in them is a mark of Markdown."""
    return re.sub(r"([|*_\[\]<>`$])", r"\\\1", " ".join(text.split()))


def equations() -> str:
    """The page of equations: every model of the menu, derived for a small robot."""
    head = (
        "# Equations of the models\n\nEvery model of the [menu](models.md) as Cardan prints it, for"
        " a planar arm of two joints (`planar2r`) where it\nhas the model. The same for any robot:"
        " `cardan generate ROBOT MODEL --to latex`, or `markdown`, `html`,\n`text`; in a notebook"
        " the value of `cardan.model(robot, name)` shows itself so.\n"
    )
    groups: dict[str, list[str]] = {}
    for entry in cardan.catalogue():
        groups.setdefault(entry.group, []).append(_entry(entry))
    return "\n".join(
        [head, *(f"## {g.capitalize()}\n\n" + "\n".join(texts) for g, texts in groups.items())]
    )


def _entry(entry: Entry) -> str:
    source = _LOOPS.get(entry.name) or _LONG.get(entry.name) or "planar2r"
    robot = cardan.load(source)
    derived = cardan.model(robot, entry.name)
    shown = re.sub(r"<(/?)h[23]>", r"<\1h4>", derived._repr_html_())
    if entry.name in _LONG:
        shown = f"<details><summary>Equations of {robot.name}</summary>\n{shown}\n</details>"
    raw = f'```{{raw}} html\n<div class="model">\n{shown}\n</div>\n```\n'
    return (
        f"### {entry.name}\n\n{entry.summary[0].upper()}{entry.summary[1:]}. Inputs:"
        f" {entry.inputs}; outputs: {entry.outputs}. Robot: `{source}`.\n\n{raw}"
    )
