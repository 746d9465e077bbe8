"""Compile and run generated files: language -> run(cases, folder), outputs of each case in order.

All cases of a call go through one compiler or interpreter process. Every warning is an error."""

from __future__ import annotations

import ctypes
import importlib.util
import itertools
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.backends import mathematica_parser, reading_text
from tests.backends.agreement import Case

__all__ = ["RUNNERS", "STRICT", "checked_run", "foreign", "tool", "write"]

STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion"]
Outputs = list[dict[str, Any]]
_NUMBER = itertools.count()


def tool(name: str) -> str:
    """The path of a compiler or interpreter, or skip."""
    found = shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")
    if found is None:
        pytest.skip(f"no {name} on this machine")
    return found


def checked_run(command: list[Any], **options: Any) -> str:
    """Run a compiler or interpreter; its complaints become the failure's message."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **options)
    assert done.returncode == 0, (done.stderr + done.stdout)[:3000]
    noise = "error: ignoring const execution_exception& while preparing to exit"  # Octave, at exit
    assert not done.stderr.replace(noise, "").strip(), done.stderr[:3000]
    return done.stdout


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def written(cases: Sequence[Case], folder: Path, language: str, extension: str) -> list[Path]:
    """The files of the cases; cases of one file share it."""
    return [
        write(folder, f"{case.file}.{extension}", case.emit(language))
        for case in cases
        if case.name == case.file
    ]


def is_shared(name: str, case: Case) -> bool:
    """Is the input one array for all states?"""
    return case.inputs[name].ndim == len(case.program.inputs[name])


def state(case: Case, name: str, k: int) -> np.ndarray:
    return case.inputs[name] if is_shared(name, case) else case.inputs[name][k]


def foreign(function: Any, case: Case, order: str = "C", dtype: str = "float64") -> dict[str, Any]:
    """Outputs of a compiled function of pointers, state by state."""
    function.restype = None
    found: dict[str, list[Any]] = {name: [] for name in case.expected}
    for k in range(case.states):
        given = [
            np.ascontiguousarray(np.asarray(state(case, name, k), dtype).ravel(order=order))
            for name in case.program.inputs
        ]
        shapes = case.program.outputs
        results = {name: np.full(prod(shape), np.nan, dtype) for name, shape in shapes.items()}
        arrays = [*given, *results.values()]
        function(*(ctypes.c_void_p(array.ctypes.data) for array in arrays))
        for name, shape in shapes.items():
            found[name].append(results[name].reshape(shape, order=order))
    return {name: np.array(rows) for name, rows in found.items()}


def library(folder: Path) -> Path:
    """A new name: a library of the same path would not be loaded again."""
    return folder / f"cases{next(_NUMBER)}.so"


def run_c(cases: Sequence[Case], folder: Path) -> Outputs:
    path = library(folder)
    sources = written(cases, folder, "c", "c")
    flags = ["-std=c99", *STRICT, "-O1", "-fPIC", "-shared"]
    checked_run([tool("gcc"), *flags, *sources, "-o", path, "-lm"])
    loaded = ctypes.CDLL(str(path))
    return [foreign(getattr(loaded, case.name), case) for case in cases]


def run_cpp(cases: Sequence[Case], folder: Path) -> Outputs:
    path = library(folder)
    lines = []
    for source in written(cases, folder, "cpp", "hpp"):
        lines += [f'#include "{source.name}"'] * 2
    for case in cases:
        count, more = len(case.program.inputs), len(case.program.outputs)
        names = [f"x{k}" for k in range(count + more)]
        typed = [f"{'const ' if k < count else ''}double *{name}" for k, name in enumerate(names)]
        head = f'extern "C" void call_{case.name}({", ".join(typed)})'
        lines += [f"{head};", head, f"{{ {case.name}({', '.join(names)}); }}"]
        floats = ", ".join(["const float *"] * count + ["float *"] * more)
        lines.append(f"template void {case.name}<float>({floats});")
    source = write(folder, "all.cpp", "\n".join([*lines, ""]))
    flags = ["-std=c++17", *STRICT, "-O1", "-fPIC", "-shared"]
    checked_run([tool("g++"), *flags, source, "-o", path])
    loaded = ctypes.CDLL(str(path))
    return [foreign(getattr(loaded, f"call_{case.name}"), case) for case in cases]


def run_fortran(cases: Sequence[Case], folder: Path) -> Outputs:
    path = library(folder)
    sources = written(cases, folder, "fortran", "f90")
    assert max(len(line) for s in sources for line in s.read_text().splitlines()) <= 132
    flags = ["-std=f2008", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1", "-fPIC", "-shared"]
    checked_run([tool("gfortran"), *flags, *sources, "-o", path], cwd=folder)
    loaded = ctypes.CDLL(str(path))
    symbols = [f"__{case.file}_module_MOD_{case.name}" for case in cases]
    return [foreign(getattr(loaded, s), c, "F") for s, c in zip(symbols, cases, strict=True)]


def run_octave(cases: Sequence[Case], folder: Path) -> Outputs:
    """Numbers travel in MAT files. A file of two functions is read as a script."""
    io = pytest.importorskip("scipy.io")
    data, script = {}, ["load('in.mat');"]
    for source in written(cases, folder, "matlab", "m"):
        if any(case.file == source.stem != case.name for case in cases):
            source.rename(write(folder, "divided.txt", "1;\n" + source.read_text()))
            write(folder, "divided.txt", "1;\n" + (folder / "divided.txt").read_text())
            script.append("source('divided.txt');")
    for case in cases:
        given, results = [], [f"{case.name}_out_{name}" for name in case.expected]
        for name, shape in case.program.inputs.items():
            data[f"{case.name}_{name}"] = np.array(
                [state(case, name, k).ravel(order="F") for k in range(case.states)]
            ).reshape(case.states, prod(shape))
            size = f"{shape[0]}, {prod(shape[1:])}" if shape else "1, 1"
            given.append(f"reshape({case.name}_{name}(k, :), {size})")
        script.append(f"for k = 1:{case.states}")
        if case.options.get("arguments") == "struct":
            pairs = zip(case.program.inputs, given, strict=True)
            members = ", ".join(f"'{name}', {x}" for name, x in pairs)
            script.append(f"  y = {case.name}(struct({members}));")
            fields = re.findall(r"^  out\.(\w+) = zeros", case.emit("matlab"), re.M)
            script += [f"  y{i} = y.{field};" for i, field in enumerate(fields)]
        else:
            script.append(f"  [{', '.join(f'y{i}' for i in range(len(results)))}] = {case.name}("
                          f"{', '.join(given)});")  # fmt: skip
        script += [f"  {name}(k, :) = y{i}(:)';" for i, name in enumerate(results)] + ["end"]
    io.savemat(folder / "in.mat", data)
    main = write(folder, "main.m", "\n".join([*script, "save -v7 out.mat", ""]))
    checked_run([tool("octave-cli"), "--norc", "--quiet", main.name], cwd=folder)
    found = io.loadmat(folder / "out.mat")
    return [
        {name: from_columns(found[f"{case.name}_out_{name}"], case, name) for name in case.expected}
        for case in cases
    ]


def from_columns(rows: np.ndarray, case: Case, name: str) -> np.ndarray:
    shape = case.program.outputs[name]
    return np.array([row.reshape(shape, order="F") for row in rows.reshape(case.states, -1)])


RUST_FUNCTIONS = {
    "sin": "fn sin(x: f64) -> f64 { x.sin() }",
    "cos": "fn cos(x: f64) -> f64 { x.cos() }",
    "sqrt": "fn sqrt(x: f64) -> f64 { x.sqrt() }",
    "atan2": "fn atan2(y: f64, x: f64) -> f64 { y.atan2(x) }",
}


def run_rust(cases: Sequence[Case], folder: Path) -> Outputs:
    path = library(folder)
    lines = ["#![deny(warnings)]"]
    for source in written(cases, folder, "rust", "rs"):
        lines.append(f"mod {source.stem};")
    for case in cases:
        lines.append(rust_wrapper(case, (folder / f"{case.file}.rs").read_text()))
    source = write(folder, "all.rs", "\n".join([*lines, ""]))
    flags = ["--edition", "2021", "-C", "opt-level=1", "-C", "panic=abort", "--crate-type"]
    checked_run([tool("rustc"), *flags, "cdylib", source, "-o", path], cwd=folder)
    loaded = ctypes.CDLL(str(path))
    return [foreign(getattr(loaded, f"call_{case.name}"), case) for case in cases]


def rust_wrapper(case: Case, text: str) -> str:
    """The functions of std that the file asks for, and an entry point for C."""
    arguments, given = [], []
    for k, shape in enumerate(case.program.inputs.values()):
        arguments.append(f"x{k}: *const f64")
        given.append(f"&*(x{k} as *const [f64; {prod(shape)}])")
    for k, shape in enumerate(case.program.outputs.values()):
        arguments.append(f"y{k}: *mut f64")
        given.append(f"&mut *(y{k} as *mut [f64; {prod(shape)}])")
    functions = [f for key, f in RUST_FUNCTIONS.items() if f"    fn {key}(" in text]
    math = f"struct Std; impl {case.file}::Math for Std {{ {' '.join(functions)} }}"
    generic = "::<Std>" if f"fn {case.name}<M: Math>" in text else ""
    return f"""mod call_{case.name}_ {{
use super::{case.file};
{math if generic else ""}
#[no_mangle]
pub unsafe extern "C" fn call_{case.name}({", ".join(arguments)}) {{
    unsafe {{ {case.file}::{case.name}{generic}({", ".join(given)}) }}
}}
}}"""


def run_module(language: str, convert: Callable[[Any], Any]) -> Callable[..., Outputs]:
    """Python and its relatives: imported, and called once with all states."""

    def run(cases: Sequence[Case], folder: Path) -> Outputs:
        written(cases, folder, language, "py")
        outputs = []
        for case in cases:
            function = getattr(imported(folder / f"{case.file}.py"), case.name)
            given = [case.inputs[name] for name in case.program.inputs]
            found = function(*map(convert, given))
            found = found if isinstance(found, tuple) else (found,)
            outputs.append({
                name: np.broadcast_to(np.asarray(x), case.expected[name].shape)
                for name, x in zip(case.program.outputs, found, strict=True)
            })  # fmt: skip
        return outputs

    return run


def imported(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"{path.stem}{next(_NUMBER)}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_jax(cases: Sequence[Case], folder: Path) -> Outputs:
    jax = pytest.importorskip("jax", reason="jax is not installed")
    jax.config.update("jax_enable_x64", True)
    return run_module("jax", lambda x: x)(cases, folder)


def run_torch(cases: Sequence[Case], folder: Path) -> Outputs:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return run_module("torch", torch.tensor)(cases, folder)


def run_julia(cases: Sequence[Case], folder: Path) -> Outputs:
    """Numbers travel as text, an array per file, elements in Julia's order."""
    julia = tool("julia")
    script = [f'include("{s.name}")' for s in written(cases, folder, "julia", "jl")]
    script.insert(0, "using DelimitedFiles")
    for case in cases:
        given = []
        for name, shape in case.program.inputs.items():
            rows = [state(case, name, k).ravel(order="F") for k in range(case.states)]
            np.savetxt(folder / f"{case.name}_{name}.txt", rows, fmt="%.17g")
            read = f'readdlm("{case.name}_{name}.txt")' if prod(shape) else f"zeros({len(rows)}, 0)"
            script.append(f"{case.name}_{name} = {read}")
            given.append(f"reshape({case.name}_{name}[k, :], {shape})")
        script += [f"open(\"{case.name}_out.txt\", \"w\") do io; for k in 1:{case.states}",
                   f"  found = {case.name}({', '.join(given)})",
                   "  found = found isa Tuple ? found : (found,)",
                   "  println(io, join([string(x) for y in found for x in y], ' '))",
                   "end; end"]  # fmt: skip
    write(folder, "main.jl", "\n".join([*script, ""]))
    checked_run([julia, "--startup-file=no", "-O1", "main.jl"], cwd=folder)
    outputs = []
    for case in cases:
        rows = np.loadtxt(folder / f"{case.name}_out.txt", ndmin=2)
        sizes = [prod(shape) for shape in case.program.outputs.values()]
        parts = np.split(rows, np.cumsum(sizes)[:-1], axis=1)
        names = zip(case.program.outputs, parts, strict=True)
        outputs.append({name: from_columns(part, case, name) for name, part in names})
    return outputs


def run_algebra(language: str) -> Callable[..., Outputs]:
    """Mathematica and Maple, read by our own parser: every name is local and assigned once."""

    def run(cases: Sequence[Case], folder: Path) -> Outputs:
        functions: dict[str, Any] = {}
        for case in cases:
            if case.name == case.file:
                functions |= getattr(mathematica_parser, language)(case.emit(language))
        outputs = []
        for case in cases:
            wanted = case.name.replace("_", "").lower()
            function = next(f for name, f in functions.items()
                            if name.replace("_", "").lower() == wanted)  # fmt: skip
            assert [name for name, _ in function.assignments] == function.local
            result = function.call(*(case.inputs[name] for name in case.program.inputs))
            parts = [result] if len(case.expected) == 1 else result
            named = zip(case.program.outputs, parts, strict=True)
            outputs.append({name: stacked(x, case.expected[name].shape) for name, x in named})
        return outputs

    return run


def run_text(cases: Sequence[Case], folder: Path) -> Outputs:
    """The equations as people read them."""
    outputs = []
    for case in cases:
        text = case.program.emit("text", form="plain")
        results = reading_text.values(case.program, text, case.inputs)
        outputs.append({name: stacked(x, case.expected[name].shape) for name, x in results.items()})
    return outputs


def stacked(result: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Nested lists of columns or numbers as an array, states first."""
    flat = [np.broadcast_to(x, shape[0]) for x in leaves(result)]
    return np.stack(flat, axis=-1).reshape(shape) if flat else np.zeros(shape)


def leaves(item: Any) -> list[Any]:
    return [x for part in item for x in leaves(part)] if isinstance(item, list) else [item]


RUNNERS: dict[str, Callable[[Sequence[Case], Path], Outputs]] = {
    "c": run_c, "cpp": run_cpp, "fortran": run_fortran, "matlab": run_octave,
    "mathematica": run_algebra("mathematica"), "maple": run_algebra("maple"),
    "python": run_module("python", lambda x: x), "jax": run_jax, "torch": run_torch,
    "julia": run_julia, "rust": run_rust, "text": run_text,
}  # fmt: skip
