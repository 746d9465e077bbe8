"""Formulas in LaTeX, read and spelled in three languages; documents in four."""

from __future__ import annotations

import re

import pytest
from lxml import etree
from tests.random_robots import random_robot

import cardan
from cardan.document import html, markdown, tex
from cardan.document.formula import broken, formula, width
from cardan.document.reading import parts_of
from cardan.document.spelling import latex, mathml, typst
from cardan.document.structure import (
    Document,
    Equations,
    Fold,
    Listing,
    Math,
    Section,
    Table,
    Typed,
    fitting,
    laid,
    words,
)

FORMULAS = [
    r"q_{1}", r"{}^{0}T_{6}", r"\ddot{q}_{1}\,\mathit{MX}_{1}^{2} - (-L_1\cdot 2)",
    r"\frac{P_x - D_{2}\, C_{1}}{D_{3}}", r"\sqrt{D - Z^2}", r"\operatorname{atan2}(S_1, C_1)",
    r"J^{+}_{1,22} = \begin{bmatrix}1 & -\sin(q_{1})\\ 0 & x\end{bmatrix}",
    r"\begin{cases}a & x > 0\\ b & \text{otherwise}\end{cases}", r"\left(a + b\right)^{2} = \pm 1",
    r"\lvert x\rvert \le 10^{-3}, \quad \varepsilon_{1} = \pm 1", r"\mathtt{a\_b} + \mathrm{RL4}",
]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_the_same_when_it_is_read_again(text: str) -> None:
    tree = formula(text)
    assert latex(formula(latex(tree))) == latex(tree)
    etree.fromstring(f"<math>{mathml(tree)}</math>")
    spelled = re.sub(r'"[^"]*"|\\.', "", typst(tree))
    assert all(spelled.count(a) == spelled.count(b) for a, b in ("()", "[]", "{}"))


@pytest.mark.parametrize("text", [r"\unknown{x}", "{a", r"\frac{a}", r"a_", r"\left( a", "a}"])
def test_what_is_not_known_is_refused(text: str) -> None:
    with pytest.raises(cardan.InputError, match="cannot be read"):
        formula(text)


def test_lines_fit_and_lose_nothing() -> None:
    long = " + ".join(rf"a_{{{k}}}\,(b_{{{k}}} - \frac{{c}}{{d}})" for k in range(40))
    for room in (15.0, 30.0, 47.0):
        lines = broken(formula(long), room)
        assert len(lines) > 2
        assert all(width(line) <= room for line in lines)
        assert "".join(map(latex, lines)) == latex(formula(long))
    wide = broken(formula(rf"\frac{{{long}}}{{\sqrt{{{long}}}}}"), 30.0)
    assert all(width(line) <= 30.0 for line in wide)


def test_wide_tables_are_cut_beside_their_first_column() -> None:
    table = Table(tuple(f"column {k}" for k in range(20)), (tuple(map(str, range(20))),))
    parts = fitting(table)
    assert len(parts) > 2
    assert all(part.head[0] == "column 0" for part in parts)
    assert [cell for part in parts for cell in part.rows[0][1:]] == [str(k) for k in range(1, 20)]


def test_a_document_takes_any_name_literally() -> None:
    name = r"<b>&\x_1 $5^{ #{}% ~`|*\end{document}"
    parts = (
        Section(name, (name, words("of {name} $q_1$ `{name}`", name=name.replace("`", "")))),
        Table((name,), ((name,),)), Fold(name, (Listing("a <b>"),)), Equations(("a = b",)),
    )  # fmt: skip
    document = Document(name, name, parts, Typed("x"))
    page = html.page(document)
    etree.fromstring(page.split("\n", 1)[1].replace(' content="', ' x="'), etree.HTMLParser())
    assert "<b>" not in page
    assert r"\textbackslash{}end\{document\}" in tex.page(document)
    assert tex.page(document).count(r"\end{document}") == 1
    assert r"\`" in markdown.page(document, "x")


@pytest.mark.parametrize("seed", range(4))
def test_the_equations_of_any_robot_are_read(seed: int) -> None:
    robot = random_robot(seed)
    for name in ("inverse-dynamics", "jacobian"):
        program = cardan.model(robot, name)
        parts = parts_of(program.equations(to="latex"))
        rows = [row for part in parts if isinstance(part, Equations) for row in part.rows]
        assert len(rows) >= 1
        assert sum(map(len, laid(Equations(tuple(rows))))) >= len(rows)


def test_words_take_values_as_they_are() -> None:
    assert words("$q$ of {name}", name="$x$") == (Math("q"), " of ", "$x$")
