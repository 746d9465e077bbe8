"""The arrows of docs/design.md: which folder may import which, found by parsing every module.

The page lists the rooms in the order data flows; a module may import from its own room and from
those above it. Imports inside functions count; those for type checkers do not."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import cardan

SOURCE = Path(cardan.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
DESIGN = Path(__file__).parents[1] / "docs" / "design.md"
# rooms that know nothing of robots, and import one another only
ENGINE = ("ir", "emit", "kernel", "run")
COMMON = {"arguments", "cache", "errors", "exact", "files", "latex", "renamed", "version"}
# A robot shows, checks and saves itself: methods of the class, which readers and writers make.
METHODS = {("describe.robot", "describe.check"), ("describe.robot", "describe.show"),
           ("describe.robot", "describe.files")}  # fmt: skip


def rooms() -> list[str]:
    """The rooms in the order of the page: each starts a line of its drawing."""
    drawing = DESIGN.read_text(encoding="utf-8").split("    src/cardan/\n")[1].split("\n\n")[0]
    heads = re.findall(r"^ {6}((?:[a-z]+(?:\.py|/) ?)+)", drawing, re.MULTILINE)
    return [name.removesuffix(".py").removesuffix("/") for head in heads for name in head.split()]


ROOMS = rooms()


def room(path: Path) -> str:
    """The folder of a module, or the module's own name at the top level."""
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def allowed(here: str) -> set[str]:
    """What the modules of a room may import."""
    above = set(ROOMS[: ROOMS.index(here)]) | COMMON | {here}
    return above & {*ENGINE, *COMMON} if here in ENGINE else above


@cache
def imports(path: Path) -> list[tuple[str, int]]:
    """(module of cardan, line) of every import that is executed, also inside functions."""
    return list(_imports(path))


def _imports(path: Path) -> Iterator[tuple[str, int]]:
    package = ("cardan", *path.relative_to(SOURCE).parent.parts)
    for node in executed(parsed(path)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            base += node.module.split(".") if node.module else []
            names = [".".join([*base, alias.name]) for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "cardan":
                yield ".".join(parts[1:]) or "__init__", node.lineno


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def executed(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from executed(child)


def test_the_page_lists_the_rooms_that_there_are() -> None:
    there = {room(path) for path in MODULES} - {"__init__", "__main__"}
    assert there == set(ROOMS)
    assert len(ROOMS) == len(set(ROOMS))


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_one_way(path: Path) -> None:
    here = room(path)
    if here in ("__init__", "__main__"):
        return
    name = path.relative_to(SOURCE).as_posix()
    for target, line in imports(path):
        there = target.split(".")[0]
        if there not in ROOMS and here == "app":
            continue  # a public name of the library
        assert there in allowed(here), f"{name}:{line} imports {target}"


def test_no_cycle_hides_behind_imports_inside_functions() -> None:
    """The modules can be put in an order in which each imports only those before it."""
    names = {
        ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
        for path in MODULES
    }
    needs: dict[str, set[str]] = {}
    for name, path in names.items():
        targets = set()
        for target, _ in imports(path):
            while target and target not in names:
                target = target.rpartition(".")[0]
            targets.add(target)
        allowed = {target for target in targets if (name, target) in METHODS}
        needs[name] = targets - {name, "", "__init__"} - allowed
    while ready := {name for name, targets in needs.items() if not targets & needs.keys()}:
        needs = {name: targets for name, targets in needs.items() if name not in ready}
    circle = {name: sorted(targets & needs.keys()) for name, targets in needs.items()}
    assert not circle


def test_the_parser_of_imports_sees_all_forms() -> None:
    path = SOURCE / "models" / "bodies.py"
    above = {target.split(".")[0] for target, _ in imports(path)}
    assert {"algebra", "describe", "mechanism", "errors"} <= above
    lazy = SOURCE / "program.py"
    assert {"run", "emit"} <= {target.split(".")[0] for target, _ in imports(lazy)}


def test_nothing_imports_the_applications() -> None:
    for path in MODULES:
        if room(path) not in ("app", "__main__"):
            assert "app" not in {target.split(".")[0] for target, _ in imports(path)}, path


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_nothing_evaluates_text(path: Path) -> None:
    """No eval, exec, sympify, compile of text, nor unpickling anywhere in the source."""
    forbidden = {"eval", "exec", "sympify", "__import__"}
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Name):
            assert node.id not in forbidden | {"compile"}, f"{path.name}:{node.lineno}: {node.id}"
        elif isinstance(node, ast.Attribute):
            text = ast.unparse(node)
            assert node.attr != "sympify", f"{path.name}:{node.lineno}: {text}"
            assert text not in ("pickle.load", "pickle.loads", "marshal.loads"), text
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name for alias in node.names} | {getattr(node, "module", None)}
            assert not names & {"pickle", "marshal", "shelve"}, f"{path.name}:{node.lineno}"


def test_importing_cardan_loads_no_heavy_dependency() -> None:
    """llvmlite, lxml, typer and rich are loaded when they are first needed."""
    heavy = (
        "llvmlite",
        "lxml",
        "typer",
        "rich",
        "scipy",
        "sympy",
        "pinocchio",
        "matplotlib",
        "nicegui",
    )
    script = f"import sys, cardan; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_deriving_and_printing_need_no_heavy_dependency() -> None:
    script = """
import sys, cardan
program = cardan.model(cardan.load("rx90"), "inverse-dynamics")
program.emit("c"), program.cost
print([m for m in ("llvmlite", "lxml", "typer", "rich") if m in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
