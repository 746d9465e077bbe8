"""Kernels in Rust: inverse geometry and loops, compiled, beside what the library gives."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.loops.test_inverse import VALUES, solution, states
from tests.loops.test_loop_code import CASES, geometry
from tests.loops.test_loop_code import same as same_loops

import cardan
from cardan.loops.kernels import MOST

_WRAPPED = """
#[no_mangle]
pub unsafe extern "C" fn all({arguments}) -> i64 {{
    ({call}) as i64
}}
"""


def compiled(path: Path, text: str, sizes: list[int], gives: bool) -> Any:
    """The function of arrays of these sizes; gives: it gives a number."""
    compiler = shutil.which("rustc")
    if compiler is None:
        pytest.skip("no Rust compiler")
    arguments = ", ".join(f"x{k}: *mut f64" for k in range(len(sizes)))
    passed = [f"&mut *(x{k} as *mut [f64; {size}])" for k, size in enumerate(sizes)]
    call = f"ik({', '.join(passed)})"
    wrapped = _WRAPPED.format(arguments=arguments, call=call if gives else f"{{ {call}; 0 }}")
    source, library = path / "ik.rs", path / "libik.so"
    source.write_text(f"{text}{wrapped}", encoding="utf-8")
    command = [compiler, "--edition=2021", "--crate-type=cdylib", "-Dwarnings", "-Cpanic=abort"]
    subprocess.run([*command, "-o", str(library), str(source)], check=True)
    function = ctypes.CDLL(str(library)).all
    function.restype = ctypes.c_int64
    return lambda *arrays: function(*(x.ctypes.data_as(ctypes.c_void_p) for x in arrays))


def near(q: np.ndarray, expected: np.ndarray) -> None:
    """The same rows, in whatever order, angles by whole turns."""
    assert q.shape == expected.shape
    apart = np.abs(np.sin((q[:, None] - expected[None]) / 2)).max(-1)
    assert apart.min(0).max() < 1e-8
    assert apart.min(1).max() < 1e-8


@pytest.mark.parametrize(("name", "method"), [("puma560", "auto"), ("ur5", "general")])
def test_inverse_geometry(name: str, method: str, tmp_path: Path) -> None:
    ik = cardan.model(cardan.load(name), "inverse-geometry", method=method)
    p = [np.array([0.4 + 0.1 * k for k in range(len(ik.chain.parameters))])]
    p = p if ik.chain.parameters else []
    values = dict(zip(ik.program.parameters, p[0], strict=True)) if p else None
    numeric = ik.chain.numeric(values or {})
    text = ik.emit("rust", function="ik")
    rows = 8 if method == "auto" else 16
    solve = compiled(tmp_path, text, [16, *map(len, p), rows * 6], True)
    for own in np.random.default_rng(3).uniform(-3, 3, (3, 6)):
        T, q = np.ascontiguousarray(numeric.pose(own)), np.zeros((rows, 6))
        count = solve(T, *p, q)
        near(q[:count], ik.solve(T, p=values))


def test_loops(tmp_path: Path) -> None:
    name = "delta legs"
    solver, given = geometry(name), np.array(CASES[name], float)
    n = len(solver.coordinates.moving)
    solve = compiled(tmp_path, solver.emit("rust", "ik"), [len(given), MOST * n, 2], False)
    q, info = np.zeros((MOST, n)), np.zeros(2)
    solve(given, q, info)
    same_loops(solver, q[: int(info[0])], given)


def test_inverse_geometry_of_closed_loops(tmp_path: Path) -> None:
    ik = cardan.model(cardan.load("sr400"), "inverse-geometry")
    known = VALUES["sr400"]
    p = np.array([known[x] for x in ik.closure.robot.parameters if x in known])
    text = ik.emit("rust", function="ik")
    solve = compiled(tmp_path, text, [16, len(p), 256 * 8], True)
    T, q = np.ascontiguousarray(states("sr400")[1][0]), np.zeros((256, 8))
    count = solve(T, p, q)
    near(q[:count], solution("sr400").solve(T))
