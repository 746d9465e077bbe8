"""A kernel calls a program of ir/, in every language; slots, constants, what is left out."""

from __future__ import annotations

import ctypes
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.backends.runners import STRICT, checked_run, tool, write
from tests.kernel import programs_for_tests as kernels

from cardan.errors import ProgramError
from cardan.ir.code import Code
from cardan.ir.interpret import interpret
from cardan.ir.trace import Tracer
from cardan.kernel.language import Bound, kernels_of, program_kernel
from cardan.kernel.text import Face, kernel_source
from cardan.run.kernel import KernelFunction

FACE = Face("whole", {"x": 2}, {"w": 6}, {})
X = np.random.default_rng(2).normal(size=(8, 2))


def every_operation() -> Code:
    """x (2) -> y (2), z (1)."""
    tracer = Tracer()
    a, b = tracer.array("x", 2)
    graph = tracer.graph
    size = graph.apply("sqrt", a * a + b * b)
    angle = graph.apply("atan2", b, -a)
    chosen = graph.apply("select", a - b, size / 3, angle * b - 1)
    least = graph.apply("min", graph.apply("sin", a), graph.apply("cos", b))
    most = graph.apply("max", graph.apply("abs", b), least)
    y = ((2,), [chosen, -least])
    return tracer.program({"y": y, "z": ((1,), [most / (chosen * chosen + 1) + angle])})[0]


def expected(code: Code, doubled: bool = True) -> np.ndarray:
    rows = []
    for m in range(2):
        result = interpret(code, {"x": X + 0.5 * m})
        sign = np.where(X[:, :1] > 0, 1.0, -1.0)
        rows += [sign * result["y"], result["z"] * (2 if doubled else 1)]
    return np.hstack(rows)


def test_machine_code_of_a_slot() -> None:
    """The kernel is compiled once; the program comes with the call."""
    code = every_operation()
    outer = KernelFunction(kernels.outer, {"x": 2, "unread": 0}, {"w": 6})
    program = KernelFunction(
        program_kernel(kernels.inner, code), {"x": 0, "unread": 0}, {"y": 0, "z": 0}
    )
    twice = KernelFunction(kernels.twice, {"x": 0, "unread": 0}, {"y": 0, "z": 0})
    arrays = {"x": X, "unread": np.zeros(1)}
    for threads in (None, 2):
        out = outer(arrays, len(X), threads, slots={"inner": program})["w"]
        np.testing.assert_allclose(out, expected(code), rtol=1e-13, atol=1e-14)
    out = outer(arrays, len(X), slots={"inner": twice})["w"]
    np.testing.assert_allclose(out[:, 2], 2 * X.sum(1), rtol=1e-13)


def test_machine_code_with_the_program_inside() -> None:
    code = every_operation()
    bound = Bound({"inner": code, "DOUBLED": False})
    function = KernelFunction(kernels.outer, {"x": 2, "unread": 0}, {"w": 6}, bound)
    out = function({"x": X, "unread": np.zeros(1)}, len(X))["w"]
    np.testing.assert_allclose(out, expected(code, doubled=False), rtol=1e-13, atol=1e-14)


def text(language: str) -> str:
    return kernel_source(language, kernels.outer, FACE, Bound({"inner": every_operation()}))


def test_c(tmp_path: Path) -> None:
    path = write(tmp_path, "k.c", text("c"))
    library = tmp_path / "k.so"
    checked_run([tool("gcc"), "-std=c99", *STRICT, "-O2", "-shared", "-fPIC", path, "-o", library,
                 "-lm"])  # fmt: skip
    function = ctypes.CDLL(str(library)).whole
    out = np.zeros((len(X), 6))
    for x, y in zip(X, out, strict=True):
        function(x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p))
    np.testing.assert_allclose(out, expected(every_operation()), rtol=1e-13, atol=1e-14)


def test_cpp(tmp_path: Path) -> None:
    path = write(tmp_path, "k.cpp", text("cpp"))
    checked_run([tool("g++"), "-std=c++17", *STRICT, "-c", path, "-o", tmp_path / "k.o"])


def test_python(tmp_path: Path) -> None:
    path = write(tmp_path, "k.py", text("python"))
    spec = importlib.util.spec_from_file_location("k", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    out = np.array([module.whole(x) for x in X]).reshape(len(X), -1)
    np.testing.assert_allclose(out, expected(every_operation()), rtol=1e-13, atol=1e-14)


def test_matlab(tmp_path: Path) -> None:
    write(tmp_path, "whole.m", text("matlab"))
    rows = "; ".join(" ".join(map(repr, row)) for row in X.tolist())
    script = f"X = [{rows}]; for i = 1:size(X, 1) printf('%.17g ', whole(X(i, :))); end"
    octave = [tool("octave-cli"), "--quiet", "--no-init-file", "--eval", script]
    out = np.array(checked_run(octave, cwd=tmp_path).split(), float).reshape(len(X), -1)
    np.testing.assert_allclose(out, expected(every_operation()), rtol=1e-13, atol=1e-14)


def test_a_program_of_signs_is_run_for_all_of_them() -> None:
    tracer = Tracer()
    (a,), signs = tracer.array("x", 1), tracer.array("sign", 2)
    root = signs[0] * tracer.graph.apply("sqrt", a * a + 1) + signs[1] * a
    y = ((2,), [root, root * signs[1]])
    code = tracer.program({"y": y, "z": ((1,), [root * root])})[0]
    function = KernelFunction(
        program_kernel(kernels.inner, code), {"x": 1, "unread": 0}, {"y": 8, "z": 4}
    )
    out = function({"x": X[:, :1], "unread": np.zeros(1)}, len(X))
    for k, (s, t) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)]):
        x = s * np.sqrt(X[:, 0] ** 2 + 1) + t * X[:, 0]
        np.testing.assert_allclose(out["y"][:, 2 * k : 2 * k + 2], np.stack([x, t * x], 1))
        np.testing.assert_allclose(out["z"][:, k], x * x)


def test_what_is_not_reachable_is_not_printed() -> None:
    bound = Bound({"inner": kernels.twice, "DOUBLED": False, "COUNT": 1})
    printed = kernel_source("c", kernels.outer, FACE, bound)
    assert "2.0 * z[0]" not in printed
    assert "unread" not in printed
    assert "m < 1" in printed
    assert [kernel.name for kernel in kernels_of(kernels.outer, bound)] == ["inner", "outer"]


@pytest.mark.parametrize(
    ("names", "message"),
    [({}, "nothing is bound to the slot 'inner'"), ({"inner": None}, "is not a kernel")],
)
def test_slots_without_a_program_are_refused(names: dict[str, Any], message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        kernel_source("c", kernels.outer, FACE, Bound(names))


def test_a_program_with_other_arrays_is_refused() -> None:
    tracer = Tracer()
    (a,) = tracer.array("elsewhere", 1)
    code = tracer.program({"y": ((1,), [a * a])})[0]
    with pytest.raises(ProgramError, match="the program has 'elsewhere', the slot has not"):
        program_kernel(kernels.inner, code)


def test_variables_are_declared_where_they_are_first_set(tmp_path: Path) -> None:
    face = Face("scoped_in_c", {"x": 2}, {"y": 4}, {})
    printed = kernel_source("c", kernels.scoped, face)
    assert "double step = x[k];" in printed
    assert "unused" not in printed
    library = tmp_path / "k.so"
    path = write(tmp_path, "k.c", printed)
    checked_run([tool("gcc"), "-std=c99", *STRICT, "-shared", "-fPIC", path, "-o", library, "-lm"])
    function = ctypes.CDLL(str(library)).scoped_in_c
    for x in X:
        y, mine = np.zeros(4), [0.0] * 4
        function(x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p))
        kernels.scoped(list(x), mine)
        np.testing.assert_allclose(y, mine)
