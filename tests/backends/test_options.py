"""Options of emit: single precision, structures, expanded text, helper functions; and refusals."""

from __future__ import annotations

import ctypes
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from tests.backends.agreement import Case, case_of, cases, check, special_cases, split_cases
from tests.backends.runners import (
    RUNNERS,
    RUST_FUNCTIONS,
    STRICT,
    checked_run,
    foreign,
    library,
    tool,
    write,
)
from tests.random_robots import bundled_trees

import cardan
from cardan.emit import languages
from cardan.errors import CardanError, InputError, ModelError, UnknownNameError
from cardan.ir.trace import Tracer
from cardan.program import Program

LAYOUT = ("text", "latex", "markdown", "html")  # not made to be executed


def transform() -> Program:
    return cardan.model(bundled_trees()["rx90"], "transform")


SINGLE = ["c", "fortran", "matlab", "python", "jax", "torch", "julia", "rust"]


@pytest.mark.parametrize("language", SINGLE)
def test_single_precision(language: str, tmp_path: Path) -> None:
    case = replace(cases()[8], options={"dtype": "float32"})
    text = case.emit(language)
    assert re.search("float32|float|real32|single|f32|f0", text)
    if language in ("c", "fortran"):
        extension, compiler = {"c": ("c", "gcc"), "fortran": ("f90", "gfortran")}[language]
        path, source = library(tmp_path), write(tmp_path, f"single.{extension}", text)
        flags = ["-Wall", "-Wextra", "-Werror", "-Wconversion", "-shared", "-fPIC", "-O1"]
        checked_run([tool(compiler), *flags, source, "-o", path, "-lm"], cwd=tmp_path)
        symbol = case.name if language == "c" else f"__{case.name}_module_MOD_{case.name}"
        function = getattr(ctypes.CDLL(str(path)), symbol)
        check(case, foreign(function, case, dtype="float32"), 1e-3)
    elif language == "rust":
        source = write(tmp_path, "single.rs", f"#![no_std]\n#![deny(warnings)]\n{text}")
        flags = ["--edition", "2021", "--crate-type", "lib", "--emit", "metadata"]
        checked_run([tool("rustc"), *flags, source], cwd=tmp_path)
    else:
        (found,) = RUNNERS[language]([case], tmp_path)
        check(case, found, 1e-3)
        assert language == "matlab" or found["tau"].dtype == np.float32


@pytest.mark.parametrize("cut", [{}, {"chunk": 9}], ids=["whole", "cut"])
@pytest.mark.parametrize("language", ["c", "cpp", "fortran", "rust"])
def test_structures(language: str, cut: dict[str, int], tmp_path: Path) -> None:
    """One structure of all inputs and one of all outputs: no padding between doubles."""
    chosen = [*cases()[20:], *(c for c in special_cases() if c.program.robot == "random")]
    texts = {
        c.name: c.program.emit(language, function=c.name, arguments="struct", **cut) for c in chosen
    }
    extension = {"c": "h", "cpp": "h", "fortran": "f90", "rust": "rs"}[language]
    files = [write(tmp_path, f"{name}.{extension}", text) for name, text in texts.items()]
    loaded = ctypes.CDLL(str(_BUILT[language](files, texts, tmp_path)))
    for case in chosen:
        name = {"c": case.name, "fortran": f"__{case.name}_module_MOD_{case.name}"}.get(language)
        function = getattr(loaded, name or f"call_{case.name}")
        check(case, structured(function, case, "F" if language == "fortran" else "C"))


def built_c(files: list[Path], texts: dict[str, str], folder: Path) -> Path:
    path = library(folder)
    source = write(folder, "all.c", "".join(f'#include "{file.name}"\n' for file in files))
    command = [tool("gcc"), "-std=c99", *STRICT, "-O1", "-fPIC", "-shared", source, "-o", path]
    checked_run([*command, "-lm"])
    return path


def built_cpp(files: list[Path], texts: dict[str, str], folder: Path) -> Path:
    path, lines = library(folder), [f'#include "{file.name}"' for file in files]
    for name in texts:
        head = (f'extern "C" void call_{name}(const {name}_inputs<double> *x, '
                f"{name}_outputs<double> *y)")  # fmt: skip
        lines += [f"{head};", f"{head} {{ {name}(*x, *y); }}"]
    source = write(folder, "all.cpp", "\n".join([*lines, ""]))
    flags = ["-std=c++17", *STRICT, "-O1", "-fPIC", "-shared"]
    checked_run([tool("g++"), *flags, source, "-o", path])
    return path


def built_fortran(files: list[Path], texts: dict[str, str], folder: Path) -> Path:
    path = library(folder)
    flags = ["-std=f2008", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1", "-fPIC", "-shared"]
    checked_run([tool("gfortran"), *flags, *files, "-o", path], cwd=folder)
    return path


def built_rust(files: list[Path], texts: dict[str, str], folder: Path) -> Path:
    path, lines = library(folder), ["#![deny(warnings)]"]
    for name, text in texts.items():
        functions = [f for key, f in RUST_FUNCTIONS.items() if f"    fn {key}(" in text]
        math = f"struct Std; impl super::{name}::Math for Std {{ {' '.join(functions)} }}"
        generic = "::<Std>" if f"fn {name}<M: Math>" in text else ""
        lines.append(f"""mod {name};
mod call_{name}_ {{
{math if generic else ""}
#[no_mangle]
pub unsafe extern "C" fn call_{name}(
    x: *const super::{name}::{name}_inputs, y: *mut super::{name}::{name}_outputs,
) {{ unsafe {{ super::{name}::{name}{generic}(&*x, &mut *y) }} }}
}}""")
    source = write(folder, "all.rs", "\n".join([*lines, ""]))
    flags = ["--edition", "2021", "-C", "opt-level=1", "-C", "panic=abort", "--crate-type"]
    checked_run([tool("rustc"), *flags, "cdylib", source, "-o", path], cwd=folder)
    return path


_BUILT = {"c": built_c, "cpp": built_cpp, "fortran": built_fortran, "rust": built_rust}


@pytest.mark.parametrize("cut", [{}, {"chunk": 9}], ids=["whole", "cut"])
def test_structures_of_matlab(cut: dict[str, int], tmp_path: Path) -> None:
    chosen = [replace(c, options={"arguments": "struct", **cut}) for c in cases()[20:]]
    for case, found in zip(chosen, RUNNERS["matlab"](chosen, tmp_path), strict=True):
        check(case, found)


def structured(function: Any, case: Case, order: Literal["C", "F"]) -> dict[str, np.ndarray]:
    """Outputs of a function of two pointers, whose matrices lie in that order."""
    function.restype = None
    rows = []
    for k in range(case.states):
        given = [case.inputs[x] if x == "p" else case.inputs[x][k] for x in case.program.inputs]
        x = np.concatenate([np.ravel(array, order) for array in given] + [np.zeros(1)])
        y = np.zeros(1 + sum(array[0].size for array in case.expected.values()))
        function(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data))
        rows.append(y[:-1])
    sizes = [array[0].size for array in case.expected.values()]
    parts = np.split(np.array(rows), np.cumsum(sizes)[:-1], axis=1)
    shapes = [array[0].shape for array in case.expected.values()]
    ordered = [
        np.array([row.reshape(shape, order=order) for row in part])
        for part, shape in zip(parts, shapes, strict=True)
    ]
    return dict(zip(case.expected, ordered, strict=True))


@pytest.mark.parametrize("language", RUNNERS)
def test_expanded(language: str, tmp_path: Path) -> None:
    """Only sines and cosines have statements of their own; False brings the others back."""
    program = cardan.model(bundled_trees()["puma560-numeric"], "transform", expanded=True)
    if language == "text":
        case = case_of("unfolded", program)
    else:
        case = case_of("unfolded", replace(program, expanded=False), expanded=True)
    (found,) = RUNNERS[language]([case], tmp_path)
    check(case, found)
    temporary = re.compile(r"\bt\d+ ")
    assert not temporary.search(program.emit(language).partition("perations")[2])
    assert temporary.search(program.emit(language, expanded=False).partition("perations")[2])


def test_a_form_that_is_too_long_is_refused() -> None:
    program = cardan.model(bundled_trees()["snake30"], "inverse-dynamics")
    with pytest.raises(ModelError, match="expanded=False"):
        program.emit("c", expanded=True)


SANITIZED = """#include <stdio.h>
#include <stdlib.h>
{includes}
static double *get(FILE *f, size_t n)
{{
    double *x = malloc(n ? n * sizeof *x : 1);
    if (!x || fread(x, sizeof *x, n, f) != n) exit(1);
    return x;
}}
int main(void)
{{
    FILE *in = fopen("in.bin", "rb"), *out = fopen("out.bin", "wb");
    if (!in || !out) return 1;
{calls}    fclose(in);
    return fclose(out);
}}
"""


def test_sanitizers(tmp_path: Path) -> None:
    """C under the address and undefined-behaviour sanitizers, every array of its exact size."""
    gcc = tool("gcc")
    chosen = [*cases()[5:10], *special_cases(), *special_cases(cut=True), *split_cases()]
    includes, calls, data = [], [], []
    for case in chosen:
        if case.name == case.file:
            includes.append(f'#include "{write(tmp_path, f"{case.name}.h", case.emit("c")).name}"')
        names, sizes = [], []
        for name, shape in (case.program.inputs | case.program.outputs).items():
            names.append(f"x{len(names)}")
            sizes.append(int(np.prod(shape)))
            given = case.inputs.get(name) if name in case.program.inputs else np.zeros(shape)
            shared = given.ndim == len(shape)
            data.append(np.ravel(given if shared else given[0]))
        if set(case.program.inputs) & set(case.program.outputs):
            del data[-len(names) :]
            continue
        calls.append("    {\n" + "".join(
            f"        double *{x} = get(in, {n});\n" for x, n in zip(names, sizes, strict=True)
        ) + f"        {case.name}({', '.join(names)});\n" + "".join(
            f"        fwrite({x}, sizeof *{x}, {n}, out);\n" * (k >= len(case.program.inputs))
            + f"        free({x});\n"
            for k, (x, n) in enumerate(zip(names, sizes, strict=True))
        ) + "    }\n")  # fmt: skip
    np.concatenate(data).tofile(tmp_path / "in.bin")
    text = SANITIZED.format(includes="\n".join(includes), calls="".join(calls))
    source, program = write(tmp_path, "main.c", text), tmp_path / "main"
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-g", "-O1"]
    sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    checked_run([gcc, *flags, *sanitize, source, "-o", program, "-lm"], cwd=tmp_path)
    checked_run([program], cwd=tmp_path)
    found = np.fromfile(tmp_path / "out.bin")
    expected = [np.ravel(x[0]) for case in chosen for x in case.expected.values()
                if not set(case.program.inputs) & set(case.program.outputs)]  # fmt: skip
    np.testing.assert_allclose(found, np.concatenate(expected), rtol=1e-9, atol=1e-9)


def chain(length: int) -> Program:
    """A program of many statements, each read twice."""
    tracer = Tracer()
    a, b = tracer.array("x", 2)
    for _ in range(length):
        a, b = b + a * b, a - b
    code, _ = tracer.program({"y": ((2,), [a, b])})
    return Program("chain", "long", code)


def test_long_programs_are_cut_by_default() -> None:
    short, long = chain(700), chain(1500)
    assert "part1" not in short.emit("c")
    assert "part2" in long.emit("c")
    assert "part1" not in long.emit("c", chunk=0)
    assert short.emit("c", chunk=100).count("static void") == 14
    for language in ("cpp", "fortran", "matlab", "python", "jax", "torch", "julia", "rust", "cuda"):
        assert "part2" in long.emit(language)


def test_functions_stay_short_however_long_the_program(tmp_path: Path) -> None:
    """The time to compile grows with the longest function: eight times the statements, as long."""
    gcc, longest = tool("gcc"), []
    for length in (2000, 16000):
        text = chain(length).emit("c")
        source = write(tmp_path, "chain.c", text)
        checked_run([gcc, "-std=c99", "-O2", "-c", source, "-o", tmp_path / "chain.o"])
        longest.append(max(body.count("\n") for body in re.split(r"^}$", text, flags=re.MULTILINE)))
    assert longest[1] <= 1.1 * longest[0]


@pytest.mark.parametrize("language", languages())
def test_the_header(language: str) -> None:
    """Robot, model, inputs with units and order, parameters, columns, cost and version."""
    program = cardan.model(bundled_trees()["rx90"], "regressor")
    text = program.emit(language)
    words = ["regressor", "RX90", "rad", cardan.__version__, "mul", "D3", "IA3", "columns"]
    for word in words:
        assert word in text
    assert not re.search(r"20\d\d-\d\d|/home|/tmp|/work", text)
    assert text.endswith("\n")
    assert not re.search(r"[ \t]$", text, re.MULTILINE)


def test_every_language_prints_the_name_it_is_given() -> None:
    for language in languages():
        if language not in LAYOUT:
            assert "torques" in transform().emit(language, function="torques")


REFUSED = [
    ("c", {"colour": "red"}), ("c", {"dtype": "float16"}), ("c", {"arguments": "tuple"}),
    ("c", {"split": "yes"}), ("c", {"chunk": -1}), ("c", {"chunk": "many"}), ("c", {"function": 3}),
    ("julia", {"arguments": "struct"}), ("cpp", {"dtype": "float32"}),
    ("mathematica", {"chunk": 10}), ("latex", {"function": "f"}), ("text", {"dtype": "float32"}),
    ("cobol", {}), ("c", {"expanded": 3}),
]  # fmt: skip


@pytest.mark.parametrize(("language", "options"), REFUSED)
def test_refusals_say_what_is_allowed(language: str, options: dict[str, Any]) -> None:
    with pytest.raises(CardanError) as error:
        transform().emit(language, **options)
    assert isinstance(error.value, UnknownNameError | InputError)
    assert re.search("Allowed: .|give", str(error.value))


def test_defaults_may_always_be_given() -> None:
    plain = {"function": "", "dtype": "float64", "arguments": "array", "split": None}
    for language in languages():
        assert transform().emit(language, **plain) == transform().emit(language)


def test_nothing_to_set_up() -> None:
    program = cardan.model(bundled_trees()["panda"], "transform")
    assert program.emit("c", split=True) == program.emit("c")


def test_work_on_parameters_is_apart_by_default(tmp_path: Path) -> None:
    """setup once and loop in every state give what the function gives, which calls both; and the
    function is called as before."""
    program = cardan.model(cardan.load("planar2r"), "generalized-momentum")  # its output is h, too
    text = program.emit("c", function="f")
    assert f"operations per call: {program.cost}" in text
    assert f"once per parameter set: {program.once}" in text
    path, source = library(tmp_path), write(tmp_path, "f.c", text)
    checked_run([tool("gcc"), "-std=c99", *STRICT, "-fPIC", "-shared", source, "-o", path, "-lm"])
    code = ctypes.CDLL(str(path))
    rng = np.random.default_rng(0)
    q, qd, p = (rng.uniform(0.5, 1, size) for size in (2, 2, len(program.parameters)))
    h, whole, parts = np.empty(program.setup.outputs["h"]), np.empty(2), np.empty(2)

    def called(name: str, *arrays: np.ndarray) -> None:
        getattr(code, name)(*(ctypes.c_void_p(x.ctypes.data) for x in arrays))

    called("f", q, qd, p, whole)
    called("f_setup", p, h)
    called("f_loop", q, qd, p, h, parts)
    np.testing.assert_array_equal(whole, parts)
    np.testing.assert_allclose(whole, program.evaluate(q=q, qd=qd, p=p), rtol=1e-12)
    one = program.emit("c", function="f", split=False)
    assert "f_setup" not in one
    assert "in every" in one


@pytest.mark.parametrize("language", [x for x in languages() if x not in (*LAYOUT, "cuda")])
def test_every_language_sets_up_apart(language: str) -> None:
    program = cardan.model(cardan.load("planar2r"), "gravity")
    text = program.emit(language, function="gravity").lower().replace("_", "")
    for name in ("gravitysetup", "gravityloop"):
        assert text.count(name) >= 3, "described, defined and called"
    assert "setup" not in program.emit(language, split=False).lower()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_cuda_without_an_angle_has_no_function_in_vain(dtype: str, tmp_path: Path) -> None:
    slide = cardan.load({"link": [{"joint": "prismatic", "M": 2}]})
    text = cardan.model(slide, "inertia-matrix").emit("cuda", dtype=dtype)
    assert "cardan_reduced" not in text
    source = write(tmp_path, "slide.cu", text)
    strict = ["-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra,-Werror"]
    checked_run([tool("nvcc"), "-std=c++17", *strict, "-c", source, "-o", tmp_path / "slide.o"])


def test_plain_text_says_which_parameter_was_renamed() -> None:
    robot = cardan.load({"link": [{"ZZ": "tau", "MX": "sin", "alpha": "pi/2", "M": "m"}]})
    text = cardan.model(robot, "inverse-dynamics").emit("text")
    assert "tau_ is the parameter tau" in text
    assert "m is the parameter" not in text


def test_what_is_called_otherwise_or_looks_the_same_can_be_told_apart() -> None:
    long = "a" * 250
    arm = {"d": "L1", "b": "L_1", "alpha": "pi/2", "M": f"{long}1", "MX": "MX2", "ZZ": f"{long}2"}
    robot = cardan.load({"link": [{"ZZ": "_J"}, arm]})
    program = cardan.model(robot, "inverse-dynamics", effort="plain")
    for language in ("text", "html"):
        text = " ".join(program.emit(language).split())
        for name in ("J is the parameter _J", f" {long}2 "):
            assert name in text
        assert "L1 is" not in text
    shown = dict(re.findall(r'data-name="(\w+)">(.*?)</mrow>', text))
    assert len(set(shown.values())) == len(shown)


@pytest.mark.parametrize("name", ["double", "a b", "1st", "_f", "é", "END DO", "f" * 300])
@pytest.mark.parametrize("language", ["c", "cpp", "fortran", "matlab", "rust", "mathematica"])
def test_a_function_is_called_as_asked_or_refused(language: str, name: str) -> None:
    assert "f_2_" in transform().emit("c", function="f_2_")
    if name == "double" and language in ("mathematica", "rust"):
        return
    with pytest.raises(InputError, match="would do"):
        transform().emit(language, function=name)
