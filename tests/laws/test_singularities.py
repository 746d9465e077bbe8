"""Singularities: determinants of the books in factors, their meaning, and the numbers behind."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.app.test_cli import printed, refused
from tests.pages import run_page

import cardan
from cardan.algebra.laurent import Laurent, Ring, common_factor, divided, factors
from cardan.algebra.scalar import cos_sin

# W. Khalil, E. Dombre, Modeling, Identification and Control of Robots, 2002, chapter 5 (RX-90);
# J. Craig, Introduction to Robotics, chapter 5 (planar 2R); det J of the others up to sign
BOOKS = {
    "rx90": ("D3 RL4 C3 S5 (D3 C2 - RL4 S23)", "elbow wrist shoulder"),
    "puma560": ("d3 (d4 S3 + r4 C3) S5 (d3 C2 + d4 C23 - r4 S23)", "elbow wrist shoulder"),
    "stanford": ("r3^2 S2 S5", " shoulder wrist"),
    "scara": ("-D2 D3 S2", "elbow"),
    "planar3r": ("L1 L2 S2", "elbow"),
    "ur5": ("0.166706 S3 S5 (0.09465 S234 - 0.39225 C23 - 0.425 C2)", "elbow wrist shoulder"),
}


@pytest.mark.parametrize("name", BOOKS)
def test_determinants_of_the_books(name: str) -> None:
    found = cardan.singularities(cardan.load(name))
    assert (found.determinant, " ".join(x.name for x in found.factors)) == BOOKS[name]


def test_a_planar_arm() -> None:
    """J. Craig, Introduction to Robotics, 5.8: det = l1 l2 s2; stretched or folded."""
    found = cardan.singularities(cardan.load("planar2r"), tool=("L2", 0, 0))
    (factor,) = found.factors
    assert found.determinant == "L1 L2 S2"
    assert (found.rows, factor.name, factor.zero) == (("x", "y"), "elbow", "q2 = 0, pi")
    assert "axes 1 and 2 and the point followed" in factor.meaning


@pytest.mark.parametrize(
    ("name", "zero"),
    [("puma560-numeric", {"q3": -1.52382}), ("ur5", {"q5": np.pi}), ("tx40", {"q3": np.pi / 2}),
     ("tree", {"q3": -0.795603})],
)  # fmt: skip
def test_there_the_jacobian_loses_rank(name: str, zero: dict[str, float]) -> None:
    """By another route: the program of the determinant, and the rank of J."""
    robot = cardan.load(name)
    found = cardan.singularities(robot)
    ((variable, value),) = zero.items()
    q = np.random.default_rng(1).normal(size=robot.n)
    program = cardan.model(robot, "jacobian-inverse")
    assert abs(program.evaluate(q=q).det) > 1e-4
    q[robot.variables.index(variable)] = value
    assert program.evaluate(q=q).det == pytest.approx(0, abs=1e-6)
    shown = [x.zero for x in found.factors if x.zero.startswith(f"{variable} =")]
    assert any(f"{value:.6g}" in x or "pi" in x for x in shown)


ODD: dict[str, Any] = {"name": "odd", "link": [
    {}, {"alpha": 0.7, "d": 0.1}, {"d": 0.4, "theta": 0.3}, {"alpha": "pi/2", "r": 0.5},
    {"alpha": "-pi/2"}, {"alpha": 1.1}]}  # fmt: skip


def test_angles_that_are_no_fractions_of_a_turn() -> None:
    """Symbols until the end: the factors come out as those of right angles do."""
    found = cardan.singularities(cardan.load(ODD))
    assert [x.name for x in found.factors] == ["elbow", "wrist", "shoulder"]
    assert found.factors[1].meaning == "axes 4, 5 and 6 lie in one plane"
    assert found.factors[0].zero == "q3 = -1.8708, 1.2708"  # 0.3 from pi/2 and from -pi/2


def test_what_has_no_short_determinant_says_so() -> None:
    found = cardan.singularities(cardan.load("general6r"))
    assert found.determinant == ""
    assert "too many terms" in str(found)
    assert found.equations("latex").endswith("computes it.\n")


def test_what_has_no_determinant_is_refused() -> None:
    for name, words in (
        ("panda", "7 joints.*jacobian-inverse"), ("planar2r", "rows='x y'"),
        ("flexible2r", "flexible links"), ("fivebar", "closed loops"),
    ):  # fmt: skip
        with pytest.raises(cardan.ModelError, match=words):
            cardan.singularities(cardan.load(name))


def test_the_command() -> None:
    assert "det J = L1 L2 S2" in printed("singularities", "planar2r", "--tool", "L2,0,0")
    data = json.loads(printed("singularities", "scara", "--json", "--rows", "x y z rz"))
    assert data["factors"][0]["name"] == "elbow"
    assert r"\det J" in printed("singularities", "scara", "--to", "latex")
    assert "form" in refused("singularities", "scara", "--to", "c")
    assert "rows = 'x u'" in refused("singularities", "scara", "--rows", "x u")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not here")
def test_the_latex_fits_its_page(tmp_path: Path) -> None:
    robots: list[Any] = [ODD, "puma560", "ur5"]
    texts = [cardan.singularities(cardan.load(x)).equations("latex") for x in robots]
    head = "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n"
    (tmp_path / "all.tex").write_text(head + "\n\n".join(texts) + "\n\\end{document}\n")
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "all.tex"], cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


def test_the_page_runs() -> None:
    run_page("singularities.md")


# the ring


def polynomial(ring: Ring, rng: np.random.Generator, terms: int = 3) -> Laurent:
    """A sum of products of symbols, sines and cosines."""
    a, b, x, y = map(ring.symbol, ring.names)
    atoms = [*cos_sin(a), *cos_sin(b), *cos_sin(a + b), x, y, 1]
    total = 0
    while not isinstance(total, Laurent) or len(total.terms) < 2:
        total = 0
        for _ in range(terms):
            picked = [atoms[k] for k in rng.integers(0, len(atoms), 2)]
            total = total + int(rng.integers(1, 9)) * picked[0] * picked[1]
    return total


@pytest.mark.parametrize("seed", range(6))
def test_common_factors_and_products(seed: int) -> None:
    ring, rng = Ring(("a", "b", "x", "y")), np.random.default_rng(seed)
    f, g, h = (polynomial(ring, rng) for _ in range(3))
    common = common_factor([f * g, f * h])
    assert divided(common, f) is not None
    assert divided(f * g, common) is not None
    assert divided(f * h, common) is not None
    number, parts = factors(f * g, [{"a": 1}, {"b": 1}, {"a": 1, "b": 1}])
    values = dict(zip(ring.names, rng.normal(size=4).tolist(), strict=True))
    product = float(number) * np.prod([part.at(values) for part in parts])
    assert product == pytest.approx((f * g).at(values), rel=1e-10)


def test_sines_and_cosines_are_one_ring() -> None:
    ring = Ring(("a", "b"))
    a, b = map(ring.symbol, ring.names)
    c, s = cos_sin(a)
    c_ab, _ = cos_sin(a + b)
    assert c * c + s * s - 1 == 0
    assert c_ab - (c * cos_sin(b)[0] - s * cos_sin(b)[1]) == 0
    _, parts = factors(c * c * s, [{"a": 1}])
    assert len(parts) == 3
