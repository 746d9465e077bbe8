"""The arrows of DESIGN.md: which folder may import which, found by parsing every module."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import cardan

SOURCE = Path(cardan.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

# folder -> what its modules may import from cardan, beside themselves
COMMON = {"errors", "exact"}
LIBRARY = {"describe", "mechanism", "algebra", "models", "ir", "emit", "run", "build", "program"}
ALLOWED = {
    "describe": COMMON,
    "mechanism": COMMON | {"describe"},
    "algebra": COMMON,
    "models": COMMON | {"algebra", "mechanism", "describe"},
    "ir": COMMON,
    "emit": COMMON | {"ir", "version"},
    "run": COMMON | {"ir", "emit", "version"},
    "build": COMMON
    | {"describe", "mechanism", "algebra", "models", "ir", "program", "inverse", "closure"},
    "inverse": COMMON | LIBRARY,
    "closure": COMMON | LIBRARY | {"inverse"},
    "use": COMMON | LIBRARY | {"inverse", "closure", "catalogue", "version"},
    "package": COMMON | {"describe", "ir", "emit", "program", "closure", "catalogue", "version"},
    "errors": set(),
    "exact": set(),
    "version": set(),
}
# glue of the top level, and what stands above the library
GLUE = {"__init__", "bridges", "catalogue", "program", "app", "__main__"}
EXCEPTIONS: set[tuple[str, str]] = set()


def room(path: Path) -> str:
    """The folder of a module, or the module's own name at the top level."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return parts[0]


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """(room of cardan, line) of every import that is executed, also inside functions."""
    package = ("cardan", *path.relative_to(SOURCE).parent.parts)
    for node in executed(ast.parse(path.read_text(encoding="utf-8"))):
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
                yield parts[1] if len(parts) > 1 else "__init__", node.lineno


def executed(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from executed(child)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_one_way(path: Path) -> None:
    here = room(path)
    if here in GLUE:
        return
    assert here in ALLOWED, f"{here} is not a room of DESIGN.md"
    name = path.relative_to(SOURCE).as_posix()
    for target, line in imports(path):
        if target != here and (name, target) not in EXCEPTIONS:
            assert target in ALLOWED[here], f"{name}:{line} imports {target}"


def test_the_parser_of_imports_sees_all_forms() -> None:
    path = SOURCE / "models" / "bodies.py"
    assert {"algebra", "describe", "mechanism", "errors"} <= {room for room, _ in imports(path)}
    lazy = SOURCE / "program.py"
    assert {"run", "emit"} <= {room for room, _ in imports(lazy)}


def test_nothing_imports_the_applications() -> None:
    for path in MODULES:
        if room(path) not in ("app", "__main__"):
            assert "app" not in {target for target, _ in imports(path)}, path


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_nothing_evaluates_text(path: Path) -> None:
    """No eval, exec, sympify, compile of text, nor unpickling anywhere in the source."""
    forbidden = {"eval", "exec", "sympify", "__import__"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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
