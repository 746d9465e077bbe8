"""Sheets: complete in themselves, within their margins, in every format."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.sheets.every import typeset
from typer.testing import CliRunner

import cardan
from cardan.app.cli.main import app
from cardan.document import html, markdown, tex, typst
from cardan.document.reading import parts_of
from cardan.document.structure import Drawing, Label, Section
from cardan.sheets.picture import robot_drawing
from cardan.sheets.sheet import (
    _equations,
    _geometry,
    _jacobian,
    _joints,
    _says_sines,
    _Subject,
    sheet_document,
)

HAS_TEX = shutil.which("pdflatex") is not None
SECTIONS = [
    "Geometry", "Transforms", "Jacobian and singularities", "Inverse geometry", "Base parameters",
    "Dynamics", "Operations",
]  # fmt: skip


@pytest.mark.parametrize("name", ["planar2r", "scara", "cartpole"])
def test_a_textbook_robot_has_every_section(name: str, tmp_path: Path) -> None:
    document = sheet_document(cardan.load(name))
    assert [part.title for part in document.parts if isinstance(part, Section)] == SECTIONS
    text = tex.page(document)
    assert "Not available" not in text
    assert "left out for length" not in text
    assert typst.pdf(document).startswith(b"%PDF")
    if HAS_TEX:
        pages, overfull = typeset(document, tmp_path, name)
        assert 1 <= pages <= 4
        assert not overfull


def test_a_page_needs_nothing_else() -> None:
    page = html.page(sheet_document(cardan.load("planar1r")))
    assert "font/woff2;base64," in page
    assert page.replace("http://www.w3.org/2000/svg", "").count("http") == 0
    assert page.count("<svg") == 1


def test_what_is_too_long_is_left_out_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cardan.sheets.sheet._LONGEST", 3)
    text = markdown.page(sheet_document(cardan.load("planar3r")), "x")
    assert "The inertia matrix A is left out for length" in text
    assert "`cardan generate planar3r inertia-matrix --to latex`" in text


def test_every_symbol_of_a_sheet_is_defined_on_it() -> None:
    """What has no name of the field (t12) is an equation before it is read."""
    robot = cardan.load("planar3rrr")
    text = "\n".join(_equations(robot, cardan.model(robot, "jacobian")))
    symbols = set(re.findall(r"(?<![\w}])t_\{\d+\}|\\mathit\{(?:factors|det)\}_\{\d+\}", text))
    assert symbols
    assert all(f"{symbol} = " in text for symbol in symbols)


def test_sines_are_those_of_joints_by_their_numbers() -> None:
    """The variables of joints 4 and 7 of the Delta are q1 and q2: C1 would be that of joint 1."""
    robot = cardan.load("delta").tree()
    (*_, row) = _equations(robot, cardan.model(robot, "gravity"))
    text = row.removeprefix(r"Q = \begin{bmatrix}").removesuffix(r"\end{bmatrix}")
    value = cardan.model(robot, "gravity").textbook
    q = np.random.default_rng(0).uniform(-1, 1, robot.n)
    scope = {f"C_{{{j}}}": np.cos(x) for j, x in enumerate(q, 1)}
    scope |= {f"S_{{{j}}}": np.sin(x) for j, x in enumerate(q, 1)}
    for i, j in ((4, 5), (7, 8), (10, 11)):
        name = f"{i}{j}" if j < 10 else f"{i},{j}"
        scope |= {f"C_{{{name}}}": np.cos(q[i - 1] + q[j - 1])}
        scope |= {f"S_{{{name}}}": np.sin(q[i - 1] + q[j - 1])}

    def term(word: str) -> float:
        return float(np.prod([scope.get(x) or float(x) for x in word.split(r"\,")]))

    found = [
        sum(
            (-1 if sign == "-" else 1) * term(word)
            for sign, word in re.findall(r"([+-]?) ?([^ +-]+)", cell)
        )
        for cell in text.split(r" \\ ")
    ]
    assert found == pytest.approx(value.evaluate(q=q), abs=1e-5)
    said = str(_geometry(_Subject(cardan.load("delta"), "delta")))
    assert "cosine and sine of the variable of joint" in said
    assert "Joint variables" not in said


def test_sines_of_a_derivation_are_defined_where_the_sheet_has_others() -> None:
    """C2 of a branch of the tree is that of its second joint, less a quarter turn."""
    for name, known in (("tree", False), ("rx90", True), ("planar3rrr", True)):
        robot = cardan.load(name)
        lines = cardan.model(robot, "inverse-geometry").equations("latex").splitlines()
        (line,) = [x for x in lines if "likewise" in x]
        assert _says_sines(line, _joints(robot)) == known


def test_what_is_zero_is_one_zero() -> None:
    robot = cardan.load("unicycle").tree()
    assert _equations(robot, cardan.model(robot, "gravity")) == ["Q = 0"]


def test_a_car_says_what_its_matrix_g_is() -> None:
    """Rows of a Jacobian that have no inverse may be read."""
    said = str(_jacobian(_Subject(cardan.load("car"), "car")))
    assert "with the rows of 1 and of " in said
    assert "cardan generate car loop-kinematics" in said
    J = cardan.model(cardan.load("car").tree(), "jacobian", rows="x y rx ry rz")
    assert J.outputs == {"J": (5, 8)}


def test_commands_name_the_robot_as_it_was_typed(tmp_path: Path) -> None:
    path = tmp_path / "arm.md"
    words = ["sheet", "planar1r", "--set", "ZZ1=2", "-o", str(path)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    text = path.read_text(encoding="utf-8")
    assert "`cardan count planar1r --set ZZ1=2`" in text
    assert (tmp_path / "arm.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "](arm.svg)" in text


def test_other_forms_are_refused(tmp_path: Path) -> None:
    with pytest.raises(cardan.UnknownNameError, match=r"\.html, \.pdf, \.tex, \.md"):
        cardan.sheet(cardan.load("planar1r"), tmp_path / "arm.docx")


def test_without_tex_and_typst_the_command_to_type_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(cardan.MissingExtraError, match=r"cardan\[sheet\]"):
        cardan.sheet(cardan.load("planar1r"), tmp_path / "arm.pdf")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["planar1r", "scara", "rx90", "fivebar", "delta", "tree", "ur5"])
def test_pictures_hold_what_they_draw(name: str) -> None:
    robot = cardan.load(name)
    drawing = robot_drawing(robot)
    points = [
        point
        for shape in drawing.shapes
        for point in ([shape.at] if isinstance(shape, Label) else shape.points)
    ]
    assert all(0 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in points)
    labels = " ".join(shape.latex for shape in drawing.shapes if isinstance(shape, Label))
    if len(robot.links) <= 9:
        assert all(f"z_{{{j}}}" in labels for j in range(len(robot.links) + 1))


def test_lengths_are_drawn() -> None:
    def labels(drawing: Drawing) -> set[str]:
        return {shape.latex for shape in drawing.shapes if isinstance(shape, Label)}

    assert {"D_{2}", "D_{3}", "q_{4}"} <= labels(robot_drawing(cardan.load("scara")))
    assert {"L_{1}", "L_{2}", "q_{3}"} <= labels(robot_drawing(cardan.load("planar3r")))


def test_steps_of_the_general_method_are_a_list() -> None:
    latex = cardan.model(cardan.load("general6r"), "inverse-geometry").equations("latex")
    parts = parts_of(latex)
    words = " ".join(str(part) for part in parts)
    assert "begin{" not in words
    assert "item " not in words
    assert sum(str(part).startswith(("('8. ", "8. ")) for part in parts) == 1
    assert r"\theta_{5}" in latex


def test_decimal_lengths_stay_decimal() -> None:
    text = cardan.model(cardan.load("car"), "transform").equations()
    assert "body_x + 2.6*C3" in text
