"""Complete printed closed forms of few joints ask the general method where an equation vanishes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardan

from . import test_code
from .arms import ARMS, wrapped

STRETCHED = np.array([np.pi / 2, np.pi, 0, np.pi, np.pi])  # a double root, and q5 vanishes
UPRIGHT = np.array([0.4, -0.5, 0.9, -np.pi / 2 - 0.4, 0.3])  # regular, and q5 vanishes
LENGTHS = {"L1": 0.3, "L2": 0.05, "L3": 0.3, "L4": 0.25, "L5": 0.1}
ROWS = [
    {"r": "L1"},
    {"alpha": "-pi/2", "d": "L2"},
    {"d": "L3"},
    {"d": "L4"},
    {"alpha": "-pi/2", "r": "L5"},
]


def solution(symbols: bool) -> Any:
    robot = cardan.load({"name": "five", "link": ROWS}) if symbols else ARMS["5R"]
    return cardan.model(robot, "inverse-geometry")


@pytest.fixture(scope="module", params=[False, True], ids=["numbers", "symbols"])
def case(request: Any) -> Any:
    """As that of test_code: poses where an equation vanishes, and what solve gives there."""
    ik = solution(request.param)
    p = LENGTHS if request.param else {}
    T = ik.chain.numeric(p).pose(np.array([STRETCHED, UPRIGHT]))
    answers = [ik.solve(x, p=p, report=True) for x in T]
    found = [(x.q[: x.count], np.zeros(x.count, bool)) for x in answers]  # each is to be there
    names = [*ik.program.parameters, *ik.chain.parameters]
    return ik, T, found, [p[name] for name in dict.fromkeys(names)]


@pytest.mark.parametrize("which", range(2))
def test_solve_gives_what_made_the_pose(case: Any, which: int) -> None:
    ik, _, found, _ = case
    q = (STRETCHED, UPRIGHT)[which]
    sigma = np.zeros(ik.chain.n)
    assert np.abs(wrapped(found[which][0] - q, sigma)).max(1).min() < 1e-5


def test_c(case: Any, tmp_path: Path) -> None:
    test_code.test_c(case, tmp_path)


def test_cpp(case: Any, tmp_path: Path) -> None:
    test_code.test_cpp(case, tmp_path)


def test_python(case: Any, tmp_path: Path) -> None:
    test_code.test_python(case, tmp_path)


def test_matlab(case: Any, tmp_path: Path) -> None:
    test_code.test_matlab(case, tmp_path)
