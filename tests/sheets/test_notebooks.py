"""The notebooks of examples/: real files without outputs, whose cells run one after the other; what
objects show in notebooks."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import etree

import cardan

FOLDER = Path(__file__).resolve().parents[2] / "examples"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def run(source: str, names: dict[str, Any]) -> Any:
    """Run a cell; the value of its last expression."""
    tree = ast.parse(source)
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "cell", "exec"), names)  # noqa: S102
        return None
    tree.body.pop()
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307


def shown(value: Any) -> None:
    """Both texts of a value are there and well formed."""
    page = value._repr_html_()
    etree.fromstring(f"<div>{page}</div>", etree.XMLParser(huge_tree=True))
    assert "<math" in page or "<table" in page
    text = value._repr_latex_()
    assert text.count(r"\begin{") == text.count(r"\end{")
    assert r"\begin{" in text or r"\[" in text


def test_there_are_three() -> None:
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    names: dict[str, Any] = {}
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
        value = run("".join(cell["source"]), names)
        if hasattr(value, "_repr_html_"):
            shown(value)
            count += 1
    assert count >= 2


def test_motions_show_their_joints() -> None:
    robot = cardan.load("cartpole")
    shown(cardan.trajectory(robot, [1, 2], duration=1.0))
    shown(cardan.simulate(robot, q0=np.zeros(2), duration=0.01))


def test_long_equations_fold() -> None:
    page = cardan.model(cardan.load("rx90"), "inverse-dynamics")._repr_html_()
    assert "<details>" in page
    assert "<math" in page
