"""The equations as printed, read again and evaluated, are those of the derivation."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.describe.values.parser import to_value
from cardan.inverse.closed_form.spell import Speller
from cardan.inverse.closed_form.text import ROOTS, _angle, _elbow, _labels, _scalars, _value

from .arms import ARMS, H, arm, pi

TOKEN = re.compile(r"\s*([0-9.]+(?:e[-+]?\d+)?|[A-Za-z]\w*|.)")
FUNCTIONS: dict[str, Any] = {
    "sqrt": np.sqrt, "max": np.maximum, "abs": np.abs, "cos": np.cos, "sin": np.sin,
    "atan2": np.arctan2,
}  # fmt: skip
CASES: dict[str, dict[str, Any]] = {
    **{name: {} for name in ["ortho offset arm", "middle", "5R", "RPRRPR", "base and tool"]},
    "rx90": {},
    "ur5": {},
    "iiwa14": {"free": "arm-angle"},
    "panda": {"free": "q7"},
}


class Reader:
    """Formulas as the derivations print them: a b is a product, ^2 a square."""

    def __init__(self, text: str, values: dict[str, np.ndarray]) -> None:
        self.tokens = [token for token in TOKEN.findall(text) if token.strip()]
        self.values = values

    def next(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def take(self) -> str:
        return self.tokens.pop(0)

    def sum(self) -> Any:
        total = 0.0
        sign = 1.0
        while True:
            while self.next() in ("+", "-"):
                sign = -sign if self.take() == "-" else sign
            total = total + sign * self.product()
            sign = 1.0
            if self.next() not in ("+", "-"):
                return total

    def product(self) -> Any:
        value = self.factor()
        while self.next() and self.next() not in ("+", "-", ")", ","):
            if self.next() == "/":
                self.take()
                value = value / self.factor()
                continue
            if self.next() == "*":
                self.take()
            value = value * self.factor()
        return value

    def factor(self) -> Any:
        token = self.take()
        if token == "(":
            value = self.sum()
            assert self.take() == ")"
        elif token[0].isdigit() or token[0] == ".":
            value = float(token)
        elif self.next() == "(" and token in FUNCTIONS:
            self.take()
            given = [self.sum()]
            while self.take() == ",":
                given.append(self.sum())
            value = FUNCTIONS[token](*given)
        else:
            value = self.values[token]
        if self.next() == "^":
            self.take()
            value = value ** int(self.take())
        return value


@pytest.mark.parametrize("name", CASES)
def test_the_formulas_read_as_what_they_are(name: str) -> None:
    robot = ARMS.get(name) or cardan.load(name)
    found = cardan.model(robot, "inverse-geometry", **CASES[name]).derivation
    shadow = found.shadow
    speller = Speller(found.geo, _labels(found), False, found.chain.names, shadow)
    _elbow(found, speller)
    speller.foresee((_scalars(step), step.root.value) for step in found.steps)
    seen = 0
    for step in found.steps:
        coefficients = step.relation.coefficients
        shared = speller.shared(_scalars(step))
        value = step.root.value
        parts = value if isinstance(value, tuple) else (value,)
        direct = step.relation.kind in ("two", "linear") and not step.root.spans
        sides = [side for e in step.relation.sources for side in (e.left, e.right)]
        for text, expected in [
            *((speller.polynomial(x), shadow.at(x, shadow.atoms)) for x in sides),
            *((value, _named(speller, shadow, key)) for key, value in shared),
            *((speller.text(x), shadow.of(x)) for x in coefficients),
            *((speller.text(x), shadow.of(x)) for x in parts if direct),
        ]:
            got = Reader(text, _values(speller, shadow)).sum()
            np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-9)
            seen += 1
        speller.solved(step.unknown, step.root.value)
    assert seen > 10


def test_equations_are_those_of_the_book() -> None:
    """W. Khalil, E. Dombre, Modeling, Identification and Control of Robots, 2002, 4.3, table 4.1:
    RX-90. B1 is named once, and what the first equation made zero is left out."""
    text = cardan.model(cardan.load("rx90"), "inverse-geometry").equations()
    assert text.count("Px C1 + Py S1") == 1
    assert "Px S1 - Py C1)" not in text
    assert "      Z = RL4^2 - (Pz^2 + D3^2 + B1^2)\n" in text
    assert "      Y = -2 D3 B1\n" in text
    assert text.count("of type 2") == 3
    assert text.count("so that (type 3)") == 3
    assert "no solution unless" not in text.split("2. th2")[0]  # Z = 0 stands there


def test_two_equations_in_two_unknowns_have_their_type() -> None:
    ur5 = cardan.model(cardan.load("ur5"), "inverse-geometry").equations()
    assert "type 8; eliminate C23 and S23" in ur5


@pytest.mark.parametrize("decimals", [9, 10])
def test_no_equation_has_noise(decimals: int) -> None:
    """Angles of a vendor's file, rounded: what rounding leaves of a product is left out."""
    ur5 = cardan.load("ur5")
    rounded = [replace(j, alpha=to_value(round(float(j.alpha), decimals))) for j in ur5.joints]
    text = cardan.model(replace(ur5, joints=tuple(rounded)), "inverse-geometry").equations()
    equations = [line for line in text.splitlines() if line.startswith("      ")]
    assert not [x for x in equations if re.search(r"\de-1\d|(?<![\w.])1 [(A-Za-z]", x)]


TURNED = arm("turned", [
    (0, 0, 0, 0.3, 0.2), (0, H, 0.1, -H, 0.1), (0, pi, 0.4, H, 0.05), (0, 0, 0.3, -0.4, 0.1),
    (0, H, 0, 0.2, 0.1), (0, -H, 0, 0, 0.08),
])  # fmt: skip
SLIDING = arm("sliding", [
    (0, 0, 0, 0.1, 0.2), (1, 0, 0.3, 0.4, 0.1), (0, pi, 0.2, -0.3, 0), (0, 0, 0.25, 0.2, 0.1),
])  # fmt: skip


@pytest.mark.parametrize("robot", [TURNED, SLIDING, cardan.load("ur5")], ids=lambda r: r.name)
def test_sums_of_parallel_angles(robot: Any) -> None:
    """Axes that point the other way, offsets, a slide that turns between them."""
    found = cardan.model(robot, "inverse-geometry").derivation
    speller = Speller(found.geo, _labels(found), False, found.chain.names)
    values = _values(speller, found.shadow) | {"pi": np.pi}
    for step in found.steps:
        j = step.unknown
        label = speller.labels[j]
        got = Reader(_value(found, j, label, speller), values).sum()
        apart = np.abs(got - found.shadow.q[:, j])
        turns = robot.joints[j].sigma == 0
        assert (
            np.minimum(apart % (2 * np.pi), -apart % (2 * np.pi)) if turns else apart
        ).max() < 1e-9
        if turns:
            total = Reader(_angle(found, j, speller), values).sum()
            np.testing.assert_allclose(np.cos(total), values[f"C{label}"], atol=1e-9)
            np.testing.assert_allclose(np.sin(total), values[f"S{label}"], atol=1e-9)


@pytest.mark.parametrize("phi", [0, 0.4 * np.pi, 1.6 * np.pi])
def test_the_quartic_as_printed(phi: float) -> None:
    """The polynomial in t vanishes where the equation does, and gives the angle back."""
    theta = 0.7
    C, S = np.cos(theta), np.sin(theta)
    values = {"a": 0.8, "b": -0.4, "X": 0.3, "Y": 1.1, "c": np.cos(phi), "s": np.sin(phi),
              "t": np.tan((theta - phi) / 2)}  # fmt: skip
    values["Z"] = 0.8 * C * C - 0.4 * C * S + 0.3 * S + 1.1 * C
    for line in ROOTS["quartic"]:
        for part in line.format(C="C", S="S").split(",  ") if line[0] != "#" else []:
            left, _, right = part.partition(" = ")
            got = Reader(right, values).sum()
            if left in ("C", "S"):
                np.testing.assert_allclose(got, {"C": C, "S": S}[left], atol=1e-12)
            elif right == "0":
                assert abs(Reader(left, values).sum()) < 1e-12
            else:
                values[left] = got


@pytest.mark.parametrize("method", ["auto", "general"])
def test_words_are_taken_literally_by_latex(method: str) -> None:
    robot = replace(cardan.load("ur5"), name="a_b $ \\c ~ ^ 50% #1 {x} & <y>")
    text = cardan.model(robot, "inverse-geometry", method=method).equations("latex")
    spelled = r"a\_b \$ /c \textasciitilde{} \textasciicircum{} 50\% \#1 \{x\} \& $<$y$>$"
    assert f"Inverse geometry of {spelled}" in text
    aside = r"\\begin\{(align\*|verbatim)\}.*?\\end\{\1\}|\$[^$]*\$"
    words = re.sub(aside, "", text.replace(r"\$", ""), flags=re.DOTALL)
    assert not re.search(r"[<>]|(?<!\\)[_^&#~]", words)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not here")
def test_the_equations_are_latex(tmp_path: Path) -> None:
    renamed = [replace(j, variable=f"axis_{k}_of_arm") for k, j in enumerate(TURNED.joints)]
    robots = [replace(TURNED, joints=tuple(renamed)), SLIDING, ARMS["middle"], ARMS["5R"]]
    robots += [ARMS[name] for name in ("base and tool", "shoulder", "RPRPRP")]
    robots += [cardan.load(name) for name in ("puma560", "ur5", "stanford")]
    texts = [cardan.model(robot, "inverse-geometry").equations("latex") for robot in robots]
    texts.append(cardan.model(robots[0], "inverse-geometry", method="general").equations("latex"))
    head = "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n"
    (tmp_path / "all.tex").write_text(head + "\n\n".join(texts) + "\n\\end{document}\n")
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "all.tex"], cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


def _named(speller: Speller, shadow: Any, name: str) -> np.ndarray:
    node, sign = next((k, sign) for k, (label, sign) in speller.names.items() if label == name)
    value: np.ndarray = sign * shadow._node(node)
    return value


def _values(speller: Speller, shadow: Any) -> dict[str, np.ndarray]:
    """The names at the samples, entries of the pose and symbols of the geometry among them."""
    known = {f"{c}{r}": shadow.T[:, 4 * i + k] for i, r in enumerate("xyz")
             for k, c in enumerate("snaP")}  # fmt: skip
    known |= {key: np.full(len(shadow.T), value) for key, value in shadow.p.items()}
    for node, (name, sign) in speller.names.items():
        known[name] = sign * shadow._node(node)
    for a, value in shadow.atoms.items():
        known[speller.unknown(a >> 2, "CSr"[a & 3])] = value
    for j, name in enumerate(speller.joint_names):
        known.setdefault(name, shadow.q[:, j])
    return known
