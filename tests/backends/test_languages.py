"""Every language against the reference: 100 states of 5 models of 5 robots, and programs made to
break printers. A language whose compiler or interpreter is not on the machine is skipped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.backends.agreement import cases, check, special_cases, split_cases
from tests.backends.runners import RUNNERS, checked_run, imported, tool, write, written

CUT = [language for language in RUNNERS if language not in ("mathematica", "maple", "text")]


@pytest.mark.parametrize("language", RUNNERS)
def test_agreement(language: str, tmp_path: Path) -> None:
    run_and_check(language, cases(), tmp_path)


@pytest.mark.parametrize("language", [x for x in RUNNERS if x != "text"])
def test_special_programs(language: str, tmp_path: Path) -> None:
    """All operations, empty arrays, hostile names; cut into functions of 7 statements; and split
    into setup and loop."""
    more = special_cases(cut=True) if language in CUT else ()
    run_and_check(language, [*special_cases(), *more, *split_cases()], tmp_path)


def run_and_check(language: str, chosen: Any, folder: Path) -> None:
    found = RUNNERS[language](chosen, folder)
    for case, outputs in zip(chosen, found, strict=True):
        check(case, outputs)


def test_plain_text_of_special_programs(tmp_path: Path) -> None:
    names = ("jumps", "energies", "stanford", "random1")
    run_and_check("text", [c for c in special_cases() if c.name in names], tmp_path)


def test_rust_needs_core_only(tmp_path: Path) -> None:
    rustc = tool("rustc")
    chosen = [*cases()[:5], *special_cases()[:3], *special_cases(cut=True)[:3]]
    text = "".join(f"pub mod {case.name} {{\n{case.emit('rust')}}}\n" for case in chosen)
    source = write(tmp_path, "core.rs", f"#![no_std]\n#![deny(warnings)]\n{text}")
    flags = ["--edition", "2021", "--crate-type", "lib", "--emit", "metadata"]
    checked_run([rustc, *flags, source], cwd=tmp_path)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_cuda_compiles(dtype: str, tmp_path: Path) -> None:
    """No device is needed to compile."""
    nvcc = tool("nvcc")
    chosen = [*cases()[5:9], split_cases()[1], *special_cases()[:5], *special_cases(cut=True)[:3]]
    names = []
    for case in chosen:
        if dtype == "float32" and case.name.startswith("jumps"):  # it has the constant 1e300
            continue
        program = case.source or case.program
        text = program.emit("cuda", function=case.name, dtype=dtype, **case.options)
        names.append(write(tmp_path, f"{case.name}.cu", text).name)
    lines = [f'#include "{name}"' for name in names]
    source = write(tmp_path, "all.cu", "\n".join([*lines, ""]))
    flags = ["-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra,-Werror", "-O1", "-ptx"]
    checked_run([nvcc, *flags, source, "-o", tmp_path / "all.ptx"], cwd=tmp_path)


def test_jax_jits_and_differentiates(tmp_path: Path) -> None:
    jax = pytest.importorskip("jax", reason="jax is not installed")
    jax.config.update("jax_enable_x64", True)
    case = cases()[2]  # the inertia matrix is the derivative of the torques by the accelerations
    torques = cases()[3]
    (path,) = written([torques], tmp_path, "jax", "py")
    function = jax.jit(getattr(imported(path), torques.name))
    check(torques, {"tau": function(*torques.inputs.values())})
    q = case.inputs["q"][0]
    found = jax.jacfwd(function, argnums=2)(q, 0 * q, 0 * q)
    assert abs(found - case.expected["A"][0]).max() <= 1e-12


def test_torch_differentiates(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    case, torques = cases()[2], cases()[3]
    (path,) = written([torques], tmp_path, "torch", "py")
    function = getattr(imported(path), torques.name)
    q = torch.tensor(case.inputs["q"][0])
    found = torch.autograd.functional.jacobian(lambda qdd: function(q, 0 * q, qdd), 0 * q)
    assert abs(found.numpy() - case.expected["A"][0]).max() <= 1e-12
