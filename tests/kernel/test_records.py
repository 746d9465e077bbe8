"""Records, vectors, integers and booleans of kernels: the same numbers in every language."""

from __future__ import annotations

import ctypes
import importlib.util
from pathlib import Path

import numpy as np
import pytest
from tests.backends.runners import STRICT, checked_run, tool, write
from tests.kernel import records_for_tests as kernels
from tests.kernel.records_for_tests import Joint, Robot, Table, any_of, length, move, total

from cardan.errors import ProgramError
from cardan.kernel.language import Array, Vector, cross, kernels_of, read_kernel, record, zeros
from cardan.kernel.records import layout_of, view
from cardan.kernel.text import Face, kernel_source
from cardan.run.kernel import KernelFunction

ROWS = layout_of(Table).size + 2 * layout_of(Joint).size
FACE = Face("whole", {"x": 4}, {"table": ROWS, "y": 20}, {})
X = np.random.default_rng(5).normal(size=(12, 4))
X[0] = [1.3, -0.2, 0.4, 0.9]


def reference() -> np.ndarray:
    rows = []
    for x in X:
        numbers, y = [0.0] * ROWS, [0.0] * 20
        kernels.with_records(list(x), view(Table, numbers), y)
        rows.append(numbers + y)
    return np.array(rows)


def test_the_layout() -> None:
    layout = layout_of(Robot)
    assert {f.name: f.offset for f in layout.fields.values()} == {
        "count": 0, "limits": 1, "first": 3, "joints": 8,
    }  # fmt: skip
    assert layout.size == 23
    numbers = np.arange(23.0).view(layout.dtype)[0]
    assert numbers["first"]["slides"] == 7.0
    assert list(numbers["joints"]["alpha"]) == [8.0, 13.0, 18.0]
    assert layout_of(Table).size == 8


def test_offsets_that_are_zero_are_not_printed() -> None:
    found = {kernel.name: kernel for kernel in kernels_of(kernels.with_records)}
    assert list(found["with_records"].parameters) == ["x", "table", "y"]
    assert list(found["length"].parameters) == ["v", "v_at"]
    assert list(read_kernel(kernels.with_records).parameters) == ["x", "table", "table_at", "y"]
    assert found["move"].mutated == ("joint",)
    assert found["move"].parameters["enough"] == "bool"
    assert found["any_of"].returns == "bool"


def test_python_runs_kernels_as_they_stand() -> None:
    robot = view(Robot, [float(k) for k in range(23)])
    move(robot.joints[1], 2.0, False)
    assert robot.joints[1].alpha == 15.0
    assert [robot.joints[1].shift[k] for k in range(3)] == [14.0, 15.0, 18.0]
    assert length(robot.first.shift) == np.sqrt(4.0**2 + 5.0**2 + 6.0**2)


def test_machine_code() -> None:
    function = KernelFunction(kernels.with_records, {"x": 4}, {"table": ROWS, "y": 20})
    out = function({"x": X}, len(X))
    np.testing.assert_allclose(
        np.hstack([out["table"], out["y"]]), reference(), rtol=1e-13, atol=1e-14
    )


def test_c(tmp_path: Path) -> None:
    path = write(tmp_path, "k.c", kernel_source("c", kernels.with_records, FACE))
    library = tmp_path / "k.so"
    command = [tool("gcc"), "-std=c99", *STRICT, "-O2", "-ffp-contract=off", "-shared", "-fPIC"]
    checked_run([*command, path, "-o", library, "-lm"])
    function = ctypes.CDLL(str(library)).whole
    out = np.zeros((len(X), ROWS + 20))
    for x, row in zip(X, out, strict=True):
        function(*(ctypes.c_void_p(a.ctypes.data) for a in (x, row, row[ROWS:])))
    np.testing.assert_allclose(out, reference(), rtol=1e-13, atol=1e-14)


def test_cpp(tmp_path: Path) -> None:
    text = kernel_source("cpp", kernels.with_records, FACE)
    text += f"""
#include <cstdio>
int main() {{
    std::array<double, 4> x;
    while (std::scanf("%lf %lf %lf %lf", &x[0], &x[1], &x[2], &x[3]) == 4) {{
        std::array<double, {ROWS}> table{{}};
        std::array<double, 20> y{{}};
        whole(x, table, y);
        for (double v : table) std::printf("%.17g ", v);
        for (double v : y) std::printf("%.17g ", v);
        std::printf("\\n");
    }}
}}
"""
    path = write(tmp_path, "k.cpp", text)
    checked_run([tool("g++"), "-std=c++17", *STRICT, path, "-o", tmp_path / "k"])
    given = "\n".join(" ".join(f"{v!r}" for v in map(float, x)) for x in X)
    lines = checked_run([tmp_path / "k"], input=given).splitlines()
    found = np.array([[float(v) for v in line.split()] for line in lines])
    np.testing.assert_allclose(found, reference(), rtol=1e-13, atol=1e-14)


def test_octave(tmp_path: Path) -> None:
    write(tmp_path, "whole.m", kernel_source("matlab", kernels.with_records, FACE))
    rows = ";".join(" ".join(f"{float(v)!r}" for v in x) for x in X)
    script = (
        f"X = [{rows}]; for k = 1:rows(X) [t, y] = whole(X(k,:)); printf('%.17g ', t, y);"
        " disp(''); end"
    )
    command = [tool("octave-cli"), "--quiet", "--no-init-file", "--eval", script]
    lines = checked_run(command, cwd=tmp_path).splitlines()
    found = np.array([[float(v) for v in line.split()] for line in lines if line.split()])
    np.testing.assert_allclose(found, reference(), rtol=1e-12, atol=1e-13)


def test_python_text(tmp_path: Path) -> None:
    path = write(tmp_path, "k.py", kernel_source("python", kernels.with_records, FACE))
    spec = importlib.util.spec_from_file_location("emitted_records", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = np.array([[v for part in module.whole(x) for v in part] for x in X])
    np.testing.assert_array_equal(found, reference())


def no_field(robot: Robot) -> float:
    return robot.mass  # type: ignore[attr-defined, no-any-return]


def not_indexed(robot: Robot) -> float:
    return robot.count[0]  # type: ignore[index, no-any-return]


def record_as_number(robot: Robot) -> float:
    return robot.first + 1.0  # type: ignore[operator, no-any-return]


def float_in_integer(robot: Robot) -> None:
    robot.count = robot.first.alpha  # type: ignore[assignment]


def number_in_boolean(robot: Robot) -> None:
    robot.first.slides = 1.0  # type: ignore[assignment]


def number_as_test(robot: Robot) -> float:
    if robot.count:
        return 1.0
    return 0.0


def boolean_in_sum(robot: Robot) -> float:
    return 1.0 + robot.first.slides


def wrong_record(robot: Robot) -> None:
    move(robot, 1.0, True)  # type: ignore[arg-type]


def number_for_boolean(robot: Robot) -> None:
    move(robot.first, 1.0, 1)  # type: ignore[arg-type]


def part_of_whole_array(robot: Robot) -> None:
    takes_all(robot.limits)


def takes_all(x: Array) -> None:
    x[0] = 0.0


def written_twice(robot: Robot) -> None:
    shifted(robot.joints[0].shift, robot.joints[1].shift)


def shifted(a: Vector, b: Vector) -> None:
    a[0] = b[0]


def product_of_vectors(robot: Robot) -> None:
    robot.first.shift = robot.first.shift * robot.first.shift  # type: ignore[operator]


def view_of_another(robot: Robot, other: Joint) -> float:
    joint = other.shift
    joint = robot.joints[0].shift
    return joint[0]


def vector_was_number(robot: Robot) -> None:
    x = 1.0
    robot.first.alpha = x
    x = cross(robot.first.shift, robot.first.shift)  # type: ignore[assignment]


def open_record(x: Array) -> None:
    table = zeros(Table)
    x[0] = table.rows[0].alpha


def other_record(robot: Robot, table: Table) -> None:
    robot.first = table  # type: ignore[assignment]


def two_comparisons(x: Array) -> bool:
    return 0.0 < x[0] < 1.0


def power(x: Array) -> None:
    x[0] = x[1] ** 2


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (no_field, "Robot has no field 'mass'"),
        (not_indexed, "robot.count is one int"),
        (record_as_number, "robot.first is not a number"),
        (float_in_integer, "is float, not int"),
        (number_in_boolean, "is float, not bool"),
        (number_as_test, "a test is a boolean"),
        (boolean_in_sum, "is not a number"),
        (wrong_record, "joint of move is not given robot"),
        (number_for_boolean, "enough of move is bool"),
        (part_of_whole_array, "annotate it as Part"),
        (written_twice, "an array is given twice"),
        (product_of_vectors, "vectors are added"),
        (view_of_another, "joint was something else"),
        (vector_was_number, "x was"),
        (open_record, "Table has no fixed size"),
        (other_record, "table is not such a record"),
        (two_comparisons, "two values are compared"),
        (power, "not an operation"),
    ],
)
def test_what_is_outside_the_subset_is_refused_by_line(function: object, text: str) -> None:
    with pytest.raises(ProgramError, match=text):
        read_kernel(function)  # type: ignore[arg-type]


def test_faults_of_records() -> None:
    with pytest.raises(ProgramError, match="its own numbers are called 'at'"):

        @record()
        class WithOwnName:
            at: int

    with pytest.raises(ProgramError, match="x needs length"):

        @record()
        class WithoutLength:
            x: Array

    with pytest.raises(ProgramError, match="only the last field"):

        @record(x=0)
        class OpenInside:
            x: Array
            y: float

    with pytest.raises(ProgramError, match="no field is called 'z'"):

        @record(z=3)
        class Unknown:
            y: float

    with pytest.raises(ProgramError, match="is 'str'"):

        @record()
        class Text:
            y: str

    with pytest.raises(ProgramError, match="'int' is not a record"):
        layout_of(int)


def test_helpers_of_the_tests_are_kernels() -> None:
    assert total([1.0, 2.0, 4.0], 2) == 3.0
    assert any_of([False, True], 2)
