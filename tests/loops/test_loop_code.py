"""Loops in closed form: the kernel in machine code, as Python, C, C++ and MATLAB."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.loops.couplings import MADE
from tests.loops.mechanisms import MECHANISMS

import cardan
from cardan.loops.kernels import MOST

CASES: dict[str, Any] = {
    "fivebar": [2.2, 0.9], "prrrp-rigid": [0.3, 0.35], "four_bar": [0.8], "rssr": [0.7],
    "slider_crank": [0.6], "bennett": [0.5], "spherical_four_bar": [0.4], "rccc": [0.3],
    "delta legs": [0.02, 0.03, -0.4], "stewart legs": [0.02, 0.01, 0.62, 0.1, 0.05, 0.2],
    "stewart-sps legs": [0.02, 0.01, 0.62, 0.1, 0.05, 0.2],
    "planar3rrr legs": [0.02, 0.01, 0.3], "orthoglide-platform legs": [0.02, 0.03, 0.01],
    "delta": [0.2, 0.3, 0.1], "planar3rrr": [2.1, 2.0, 2.2],
    "orthoglide-platform": [-0.3, -0.29, -0.32], "point": [0.35, 0.3],
    "geared": [3.0, 0.4], "outside": [0.9], "geared_five_bar": [2.4], "chained": [0.8],
    "parallelogram": [0.7],
}  # fmt: skip


def point() -> cardan.Robot:
    """A point of a plane on two rods, each on a slide."""
    leg = {
        "copies": 2, "angles": [0, 0], "each": {"at": [-0.4, 0.5]},
        "link": [{"name": "slide", "joint": "prismatic", "variable": "s", "gamma": "pi/2",
                  "alpha": "pi/2", "b": 0, "d": 0, "theta": 0, "r": "at"},
                 {"name": "rod", "active": False, "alpha": "-pi/2"}],
        "loop": [{"name": "pin", "cut": {"antecedent": "rod", "d": 0.6},
                  "twin": {"antecedent": "platform"}}],
    }  # fmt: skip
    return cardan.load({"platform": {"freedoms": ["x", "y"], "mass": 1}, "leg": [leg]})


def geometry(name: str) -> Any:
    robot, _, legs = name.partition(" ")
    made = {**MECHANISMS, "point": point, **{own.__name__: own for own in MADE.values()}}
    found = cardan.model(made[robot]() if robot in made else cardan.load(robot), "loop-geometry")
    return found.legs if legs else found


STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


def wrapped(q: np.ndarray, turning: np.ndarray) -> np.ndarray:
    return np.where(turning, np.angle(np.exp(1j * q)), q)


@pytest.mark.parametrize("name", CASES)
def test_c(name: str, tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    solver = geometry(name)
    if solver.steps is None and solver.platform is None:
        with pytest.raises(cardan.CardanError, match="no closed form"):
            solver.emit("c")
        return
    source, library = tmp_path / "loop.c", tmp_path / "loop.so"
    source.write_text(solver.emit("c", "closed"), encoding="utf-8")
    command = [compiler, "-std=c99", *STRICT, "-shared", "-fPIC", str(source)]
    subprocess.run([*command, "-o", str(library), "-lm"], check=True)
    n = len(solver.coordinates.moving)
    given = np.array(CASES[name], float)
    q, info = np.zeros(MOST * n), np.zeros(2)
    arrays = [x.ctypes.data_as(ctypes.c_void_p) for x in (given, q, info)]
    ctypes.CDLL(str(library)).closed(*arrays)
    same(solver, q.reshape(-1, n)[: int(info[0])], given)


def same(solver: Any, found: np.ndarray, given: np.ndarray) -> None:
    expected = solver.solve(given)
    turning = solver.system().periodic
    assert len(found) == len(expected) > 0
    found = wrapped(found, turning)
    order = np.lexsort(np.round(found, 6).T[::-1])
    assert np.abs(wrapped(found[order] - expected, turning)).max() < 1e-7
    assert np.max(solver.residual(found)) < 1e-8


@pytest.mark.parametrize("name", ["fivebar", "rssr", "delta", "planar3rrr", "point"])
def test_python(name: str, tmp_path: Path) -> None:
    import runpy

    solver = geometry(name)
    path = tmp_path / "loop.py"
    path.write_text(solver.emit("python"), encoding="utf-8")
    q, info = runpy.run_path(str(path))["loop_geometry"](CASES[name])
    n = len(solver.coordinates.moving)
    same(solver, np.array(q).reshape(-1, n)[: int(info[0])], np.array(CASES[name]))


@pytest.mark.parametrize("name", ["fivebar", "delta", "planar3rrr", "orthoglide-platform"])
def test_octave(name: str, tmp_path: Path) -> None:
    octave = shutil.which("octave")
    if octave is None:
        pytest.skip("no Octave")
    solver, given = geometry(name), np.array(CASES[name])
    (tmp_path / "loop_geometry.m").write_text(solver.emit("matlab"), encoding="utf-8")
    script = f"[q, info] = loop_geometry({given.tolist()}); printf('%.15g ', info(1), q);"
    command = [octave, "--no-gui", "--quiet", "--eval", script]
    out = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    count, *q = map(float, out.split())
    n = len(solver.coordinates.moving)
    same(solver, np.array(q).reshape(-1, n)[: int(count)], given)


def test_every_language_and_bad_names() -> None:
    solver = geometry("fivebar")
    for language in ("c", "cpp", "python", "matlab", "rust"):
        assert "in closed form" in solver.emit(language)
        assert "three spheres" in geometry("delta").emit(language)
    with pytest.raises(cardan.CardanError, match="cannot be the name"):
        solver.emit("c", "no name")
    with pytest.raises(cardan.CardanError, match="no closed form"):
        geometry("stewart").emit("c")


def test_batches_are_single_ones() -> None:
    solver = geometry("fivebar")
    given = np.random.default_rng(0).uniform([1.5, 0.3], [2.6, 1.5], (50, 2))
    found = solver.solve(given)
    for k, x in enumerate(given):
        alone = solver.solve(x, report=True)
        assert found.count[k] == alone.count
        assert np.array_equal(found.q[k, : alone.count], alone.q[: alone.count])
