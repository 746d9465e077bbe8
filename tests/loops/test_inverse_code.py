"""Inverse geometry of closed loops as C, C++, Python and MATLAB, beside `solve`."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.loops.test_inverse import VALUES, robot_of, solution, states

import cardan
from cardan.loops.inverse_kernels import ROWS
from cardan.loops.numeric import difference

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
FEW = 5


def with_symbols(name: str) -> tuple[Any, list[np.ndarray]]:
    """The solution with the symbols of the robot, and the vector p of its code."""
    if name not in VALUES:
        return solution(name), []
    ik = cardan.model(cardan.load(name), "inverse-geometry")
    known = VALUES[name]
    return ik, [np.array([known[x] for x in ik.closure.robot.parameters if x in known])]


def same(name: str, found: np.ndarray, expected: np.ndarray) -> None:
    """The same configurations, in whatever order."""
    assert found.shape == expected.shape
    apart = difference(
        found[:, None], expected[None], solution(name).closure.loops.system().periodic
    )
    assert np.abs(apart).max(-1).min(1).max() < 1e-7
    assert np.abs(apart).max(-1).min(0).max() < 1e-7


def pointers(*arrays: np.ndarray) -> list[Any]:
    return [x.ctypes.data_as(ctypes.c_void_p) for x in arrays]


def in_c(name: str, folder: Path) -> tuple[Any, list[np.ndarray]]:
    """The library that a compiler makes of the C code, and its argument p."""
    ik, p = with_symbols(name)
    source, library = folder / "ik.c", folder / "ik.so"
    source.write_text(ik.emit("c", function="closed", complete=True), encoding="utf-8")
    compiler = shutil.which("cc") or "cc"
    command = [compiler, "-std=c99", *STRICT, "-O2", "-shared", "-fPIC", str(source)]
    subprocess.run([*command, "-o", str(library), "-lm"], check=True)
    return ctypes.CDLL(str(library)), p


@pytest.mark.parametrize("name", ["sr400", "akr3000", "fivebar", "palletiser"])
def test_c(name: str, tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    library, p = in_c(name, tmp_path)
    n = robot_of(name).n
    for T in states(name)[1][:FEW]:
        q = np.zeros((ROWS, n))
        count = library.closed(*pointers(np.ascontiguousarray(T), *p, q))
        same(name, q[:count], solution(name).solve(T))
        notes = np.zeros(2 + 3 * ROWS)
        everything = library.closed_all
        assert everything(*pointers(np.ascontiguousarray(T), *p, q, notes)) == count == notes[0]
        residual, singular, times = notes[2 : 2 + 3 * count].reshape(-1, 3).T
        assert residual.max() < 1e-8
        assert not singular.any()
        assert (times == 1).all()


def test_an_arm_all_but_stretched_in_c(tmp_path: Path) -> None:
    """Both configurations beside the edge of its reach: the general method finds them."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    name = "level palletiser"
    library, _ = in_c(name, tmp_path)
    q = np.array([0.947776, -1.704711, -0.009312, 1.714023, 1.944378])
    T = np.ascontiguousarray(cardan.model(robot_of(name), "transform").evaluate(q=q))
    rows = np.zeros((ROWS, robot_of(name).n))
    count = library.closed(*pointers(T, rows))
    assert count == 2
    same(name, rows[:count], solution(name).solve(T))


def test_cpp(tmp_path: Path) -> None:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    ik, p = with_symbols("sr400")
    text = ik.emit("cpp", function="closed")
    face = 'extern "C" int all(const double *T, const double *p, double *q);\n'
    face += "int all(const double *T, const double *p, double *q) { return closed(T, p, q); }\n"
    source, library = tmp_path / "ik.cpp", tmp_path / "ik.so"
    source.write_text(text + face, encoding="utf-8")
    command = [compiler, "-std=c++17", *STRICT, "-shared", "-fPIC", str(source)]
    subprocess.run([*command, "-o", str(library)], check=True)
    T = np.ascontiguousarray(states("sr400")[1][0])
    q = np.zeros((ROWS, 8))
    count = ctypes.CDLL(str(library)).all(*pointers(T, *p, q))
    same("sr400", q[:count], solution("sr400").solve(T))


@pytest.mark.parametrize("name", ["sr400", "palletiser"])
def test_python(name: str, tmp_path: Path) -> None:
    ik, p = with_symbols(name)
    path = tmp_path / "closed_ik.py"
    path.write_text(ik.emit("python", function="closed"), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("closed_ik", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    T = states(name)[1][0]
    same(name, np.array(module.closed(T, *p)), solution(name).solve(T))


@pytest.mark.parametrize("name", ["fivebar", "sr400"])
def test_matlab(name: str, tmp_path: Path) -> None:
    octave = shutil.which("octave")
    if octave is None:
        pytest.skip("no Octave")
    ik, p = with_symbols(name)
    (tmp_path / "closed.m").write_text(ik.emit("matlab", function="closed"), encoding="utf-8")
    T = states(name)[1][0]
    rows = "; ".join(" ".join(f"{x:.17g}" for x in row) for row in T)
    more = "".join(f", [{' '.join(f'{x:.17g}' for x in own)}]" for own in p)
    script = f"q = closed([{rows}]{more}); printf('%.17g ', q.');"
    run = subprocess.run(
        [octave, "--no-gui", "--quiet", "--eval", script], cwd=tmp_path, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    q = np.array(run.stdout.split(), float).reshape(-1, robot_of(name).n)
    same(name, q, solution(name).solve(T))


def test_what_has_no_code() -> None:
    with pytest.raises(cardan.CardanError, match="fortran"):
        solution("fivebar").emit("fortran")
    with pytest.raises(cardan.CardanError, match="option"):
        solution("fivebar").emit("c", dtype="float32")
