"""Kernels: the same numbers in Python, machine code, C, C++, Octave; clear faults."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from tests.backends.runners import STRICT, checked_run, tool, write
from tests.inverse import kernels_for_tests as kernels
from tests.inverse.kernels_for_tests import norm as length

from cardan.errors import CardanError, ProgramError
from cardan.kernel.language import Array, kernels_of, read_kernel
from cardan.kernel.text import Face, kernel_source
from cardan.run.kernel import KernelFunction

TABLE = [0.5, -1.0, 2.0, 0.25]
FACE = Face("all_of_it", {"x": 4}, {"y": 12}, {"table": TABLE}, ["A test.", ""])
X = np.random.default_rng(3).normal(size=(20, 4))


def reference() -> np.ndarray:
    found = []
    for x in X:
        y = [0.0] * 12
        kernels.everything(list(x), TABLE, y)
        found.append(y)
    return np.array(found)


def test_kernels_are_read_with_their_types() -> None:
    found = {kernel.name: kernel for kernel in kernels_of(kernels.everything)}
    assert list(found) == ["same", "solve", "norm", "everything"] or set(found) == {
        "same", "solve", "norm", "everything",
    }  # fmt: skip
    assert found["solve"].mutated == ("a", "b")
    assert found["solve"].returns == "int"
    assert found["everything"].arrays == {"a": 16, "b": 4}
    assert found["everything"].variables["steps"] == "int"


@pytest.mark.parametrize("threads", [None, 2])
def test_machine_code(threads: int | None) -> None:
    function = KernelFunction(kernels.everything, {"x": 4, "table": 4}, {"y": 12})
    y = function({"x": X, "table": np.array(TABLE)}, len(X), threads)["y"]
    np.testing.assert_allclose(y, reference(), rtol=1e-12, atol=1e-12)


def call_shared(library: Path) -> np.ndarray:
    function = ctypes.CDLL(str(library)).all_of_it
    out = np.zeros((len(X), 12))
    for x, y in zip(X, out, strict=True):
        function(x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p))
    return out


def test_c(tmp_path: Path) -> None:
    path = write(tmp_path, "k.c", kernel_source("c", kernels.everything, FACE))
    library = tmp_path / "k.so"
    command = [tool("gcc"), "-std=c99", *STRICT, "-O2", "-shared", "-fPIC", path, "-o", library]
    checked_run([*command, "-lm"])
    np.testing.assert_allclose(call_shared(library), reference(), rtol=1e-12, atol=1e-12)


def test_cpp(tmp_path: Path) -> None:
    text = kernel_source("cpp", kernels.everything, FACE)
    text += """
#include <cstdio>
int main() {
    std::array<double, 4> x;
    std::array<double, 12> y{};
    while (std::scanf("%lf %lf %lf %lf", &x[0], &x[1], &x[2], &x[3]) == 4) {
        y.fill(0.0);
        all_of_it(x, y);
        for (double v : y) std::printf("%.17g ", v);
        std::printf("\\n");
    }
}
"""
    path = write(tmp_path, "k.cpp", text)
    program = tmp_path / "k"
    checked_run([tool("g++"), "-std=c++17", *STRICT, path, "-o", program])
    given = "\n".join(" ".join(f"{v!r}" for v in map(float, x)) for x in X)
    lines = checked_run([program], input=given).splitlines()
    found = np.array([[float(v) for v in line.split()] for line in lines])
    np.testing.assert_allclose(found, reference(), rtol=1e-12, atol=1e-12)


def test_octave(tmp_path: Path) -> None:
    write(tmp_path, "all_of_it.m", kernel_source("matlab", kernels.everything, FACE))
    rows = ";".join(" ".join(f"{float(v)!r}" for v in x) for x in X)
    script = f"X = [{rows}]; for k = 1:rows(X) printf('%.17g ', all_of_it(X(k,:))); disp(''); end"
    lines = checked_run(
        [tool("octave-cli"), "--quiet", "--no-init-file", "--eval", script], cwd=tmp_path
    ).splitlines()
    found = np.array([[float(v) for v in line.split()] for line in lines if line.split()])
    np.testing.assert_allclose(found, reference(), rtol=1e-12, atol=1e-12)


def test_python(tmp_path: Path) -> None:
    import importlib.util

    path = write(tmp_path, "k.py", kernel_source("python", kernels.everything, FACE))
    spec = importlib.util.spec_from_file_location("emitted_kernel", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = np.array([module.all_of_it(x) for x in X])
    np.testing.assert_array_equal(found, reference())


def changes_type(x: Array) -> None:
    k = 1
    k = x[0]
    x[0] = k


def unknown_word(x: Array) -> None:
    x[0] = math_is_fun  # noqa: F821


def tuples(x: Array) -> None:
    a, b = x[0], x[1]
    x[0] = a + b


def wrong_annotation(x: str) -> None:
    pass


def float_index(x: Array) -> None:
    x[0] = x[x[1]]


def counter_assigned(x: Array) -> None:
    for i in range(3):
        i = i + 1
        x[i] = 0.0


def counter_twice(x: Array) -> None:
    for i in range(3):
        for i in range(3):
            x[i] = 0.0


@pytest.mark.parametrize(
    "function",
    [
        counter_assigned,
        counter_twice,
        changes_type,
        unknown_word,
        tuples,
        wrong_annotation,
        float_index,
    ],
)
def test_what_is_outside_the_subset_is_refused(function: object) -> None:
    with pytest.raises(ProgramError):
        read_kernel(function)


def test_unknown_language() -> None:
    with pytest.raises(CardanError, match="language"):
        kernel_source("cobol", kernels.everything, FACE)


def norm(x: Array) -> None:
    """A kernel of a name that is taken."""
    x[0] = 1.0


def calls_both(x: Array) -> float:
    norm(x)
    return length(x, 0, 2)


def test_two_kernels_of_one_name_are_refused() -> None:
    with pytest.raises(ProgramError, match="two kernels are called 'norm'"):
        kernels_of(calls_both)
