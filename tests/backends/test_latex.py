"""LaTeX and Markdown: symbols, balance, and a document that compiles where LaTeX is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.backends.agreement import special_cases
from tests.random_robots import bundled_trees

import cardan
from cardan.emit.latex import symbol_of
from cardan.program import Program

SYMBOLS = {
    "F2_3": "F_{2,3}", "C23": "C_{23}", "t5": "t_{5}", "tau": r"\tau", "tau3": r"\tau_{3}",
    "qdd": r"\ddot{q}", "wd3_1": r"\dot{\omega}_{3,1}", "Jplus2_11": "J^{+}_{2,11}",
    "A(1, 2)": "A_{1,2}", "XX2R": r"\mathit{XX}_{2R}", "alpha1": r"\alpha_{1}", "E": "E",
}  # fmt: skip


@pytest.mark.parametrize(("name", "symbol"), SYMBOLS.items())
def test_symbols(name: str, symbol: str) -> None:
    assert symbol_of(name) == symbol


def programs() -> list[Program]:
    trees = bundled_trees()
    found = [cardan.model(trees["rx90"], m) for m in ("inverse-dynamics", "transform", "regressor")]
    return [*found, cardan.model(trees["tree"], "energies"), *(c.program for c in special_cases())]


@pytest.mark.parametrize("language", ["latex", "markdown"])
def test_balance(language: str) -> None:
    for program in programs():
        for form in ("plain", "cheapest"):
            text = program.equations(form, language)
            lines = [line for line in text.splitlines() if not line.startswith("%")]
            bare = re.sub(r"\\[{}]", "", "\n".join(lines))
            assert bare.count("{") == bare.count("}")
            stack = []
            for kind, name in re.findall(r"\\(begin|end)\{(\w+\*?)\}", bare):
                if name != "document" and kind == "begin":
                    stack.append(name)
                elif name != "document":
                    assert stack.pop() == name
            assert not stack


def test_symbols_are_never_confused() -> None:
    """As many different left sides as there are equations."""
    for program in programs():
        left = re.findall(r"^(.*?) &=", program.emit("latex"), re.MULTILINE)
        assert left
        assert len(set(left)) == len(left)


def test_numbers() -> None:
    program = next(c.program for c in special_cases() if c.name == "random1")
    text = program.emit("latex")
    assert "e-" not in re.sub(r"%.*", "", text)
    jumps = special_cases()[0].program.emit("latex")
    assert r"1.5 \cdot 10^{-9}" in jumps
    assert r"\begin{cases}" in jumps
    assert "1.23457 \\cdot 10^{20}" in jumps
    assert "% 1.23457e20 is 1.2345678901234568e+20" in jumps


def test_it_compiles_alone_and_as_a_fragment(tmp_path: Path) -> None:
    pdflatex = shutil.which("pdflatex")
    if pdflatex is None:
        pytest.skip("no pdflatex on this machine")
    names = []
    for k, program in enumerate(programs()):
        (tmp_path / f"part{k}.tex").write_text(program.emit("latex"), encoding="utf-8")
        names.append(f"part{k}")
    inputs = "\n".join(rf"\input{{{name}}}" for name in names)
    host = (
        rf"\documentclass{{book}}\usepackage{{amsmath}}\begin{{document}}{inputs}\end{{document}}"
    )
    (tmp_path / "host.tex").write_text(host, encoding="utf-8")
    for name in ("part0", "part3", "host"):
        command = [pdflatex, "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120)
        log = done.stdout.decode(errors="replace")
        assert done.returncode == 0, log[-3000:]
        wide = [float(x) for x in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]
        assert name == "host" or not wide, log[-3000:]
