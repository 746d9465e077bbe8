"""How the text of a package is written (dtype, arguments, split, chunk), and the packages of Rust,
Fortran, Julia and Arduino: built by the tools of this machine, their own tests run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.package.building import STRICT, built, run, tool

from cardan.errors import UnknownNameError
from cardan.package import cortex
from cardan.package.write import KINDS

MODELS = ["inverse-dynamics", "energies"]
WAYS: list[dict[str, Any]] = [
    {}, {"dtype": "float32"}, {"split": True}, {"arguments": "struct", "chunk": 7},
    {"dtype": "float32", "split": True, "arguments": "struct"}, {"split": False},
]  # fmt: skip
SKETCH = """
extern "C" {{
#include <{name}.h>
}}
#include <cstdio>
struct Port {{
    void begin(long) {{}}
    void print(const char *x) {{ std::puts(x); }}
    void println(double) {{}}
}} Serial;
unsigned long micros() {{ return 0; }}
void delay(int) {{}}
#include "examples/{name}/{name}.ino"
int main() {{ setup(); loop(); return 0; }}
"""


def honoured(kind: str) -> list[dict[str, Any]]:
    return [way for way in WAYS if set(way) <= set(KINDS[kind].honours)]


def compiled(kind: str, folder: Path, program: Path) -> None:
    """The test of a package, every warning an error."""
    if kind == "fortran":
        sources = [
            *folder.glob("src/planar_2r_*.f90"),
            folder / "src" / "planar_2r.f90",
            *folder.glob("test/*.f90"),
        ]
        flags = ["-std=f2008", "-Wall", "-Wextra", "-Werror", "-O0", "-J", program.parent]
        run(tool("gfortran"), *flags, *sources, "-o", program)
    else:
        language = {"c": "gcc", "arduino": "gcc", "cpp": "g++"}[kind]
        standard = "-std=c++17" if kind == "cpp" else "-std=c99"
        sources = [*folder.glob("src/*.c"), *folder.glob("test/**/*.c*")]
        flags = [*STRICT, standard, "-Wconversion", "-Wdouble-promotion", "-Wshadow"]
        paths = ["-I", folder / "include", "-I", folder / "src"]
        run(tool(language), *flags, *paths, *sources, "-lm", "-o", program)


CASES = [(kind, way) for kind in ("c", "cpp") for way in honoured(kind)]
CASES += [(kind, way) for kind in ("fortran", "arduino") for way in (WAYS[0], WAYS[4])]


@pytest.mark.parametrize(("kind", "way"), CASES)
def test_every_way_to_write_a_package(kind: str, way: dict[str, Any], tmp_path: Path) -> None:
    folder = built("planar2r", MODELS, kind, tmp_path, **way)
    compiled(kind, folder, tmp_path / "test")
    assert "0 numbers differ" in run(tmp_path / "test")


@pytest.mark.parametrize("way", [WAYS[0], WAYS[4]])
def test_a_crate(way: dict[str, Any], tmp_path: Path) -> None:
    folder = built("planar2r", MODELS, "rust", tmp_path, **way)
    example = (folder / "README.md").read_text().split("```rust\n")[1].split("```")[0]
    (folder / "examples").mkdir()
    (folder / "examples" / "readme.rs").write_text(example)
    done = subprocess.run(
        [tool("cargo"), "test", "--offline", "--tests", "--examples"], cwd=folder, text=True,
        capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "2 passed" in done.stdout
    assert "warning" not in done.stderr


def test_python_in_single_precision_and_split(tmp_path: Path) -> None:
    way = {"dtype": "float32", "split": True}
    folder = built("planar2r", MODELS, "python", tmp_path, **way)
    run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder / "tests",
        env={**os.environ, "PYTHONPATH": str(folder / "src")})  # fmt: skip


def test_the_test_of_modules_can_fail(tmp_path: Path) -> None:
    folder = built("planar2r", ["gravity"], "fortran", tmp_path)
    test = folder / "test" / "test_planar_2r.f90"
    test.write_text(test.read_text().replace("want_Q = [", "want_Q = [1e9_dp + ", 1))
    compiled("fortran", folder, tmp_path / "test")
    with pytest.raises(AssertionError, match="1 numbers differ"):
        run(tmp_path / "test")


def test_a_sketch(tmp_path: Path) -> None:
    folder = built("planar2r", ["gravity"], "arduino", tmp_path, dtype="float32")
    sketch = folder / "sketch.cpp"
    sketch.write_text(SKETCH.format(name="planar_2r"))
    for source in folder.glob("src/*.c"):
        run(tool("gcc"), "-c", source, "-o", tmp_path / f"{source.stem}.o")
    run(tool("g++"), "-I", folder / "src", "-I", folder, sketch, *tmp_path.glob("*.o"), "-lm",
        "-o", tmp_path / "sketch")  # fmt: skip
    assert "microseconds" in run(tmp_path / "sketch")
    assert json.loads((folder / "library.json").read_text())["name"] == "planar_2r"


def test_a_julia_package_names_its_parts(tmp_path: Path) -> None:
    folder = built("planar2r", MODELS, "julia", tmp_path, split=True, dtype="float32")
    project = tomllib.loads((folder / "Project.toml").read_text())
    module = (folder / "src" / f"{project['name']}.jl").read_text()
    included = re.findall(r'include\("(.+)"\)', module)
    texts = [(folder / "src" / name).read_text() for name in included]
    public = re.search(r"export (.+)", module)
    assert public is not None
    defined = [name for text in texts for name in re.findall(r"^function (\w+)\(", text, re.M)]
    assert public[1].split(", ") == sorted(defined, key=public[1].index)
    for text in (module, *texts, (folder / "test" / "runtests.jl").read_text()):
        opened = re.findall(r"^\s*(?:function|module|let)\b|\bbegin$", text, re.M)
        assert len(opened) == len(re.findall(r"^\s*end$", text, re.M))


def test_julia_parses(tmp_path: Path) -> None:
    grammar = pytest.importorskip("tree_sitter_julia", reason="no grammar of Julia here")
    import tree_sitter

    folder = built("planar2r", MODELS, "julia", tmp_path, split=True)
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    for path in folder.rglob("*.jl"):
        assert not parser.parse(path.read_bytes()).root_node.has_error, path


@pytest.mark.parametrize(("kind", "option"), [("julia", {"arguments": "struct"}),
                                              ("cpp", {"dtype": "float32"}),
                                              ("fmu", {"split": True})])  # fmt: skip
def test_what_a_kind_cannot_have_is_refused(
    kind: str, option: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(UnknownNameError, match=f"of the text of a package of kind '{kind}'"):
        built("planar2r", ["direct-dynamics"], kind, tmp_path, **option)


@pytest.mark.parametrize("robot", ["ur5", "iiwa14"])
def test_microcontrollers(robot: str, tmp_path: Path) -> None:
    """Built for Cortex-M4F and M7 and run in QEMU: within 1e-6 of the other derivation in double
    precision; no function of double precision, no heap."""
    for name in cortex.TOOLS:
        tool(name)
    models = ["inverse-dynamics", "gravity"]
    folder = built(robot, models, "c", tmp_path, dtype="float32", name="arm")
    page = (folder / "README.md").read_text()
    rows = re.findall(r"^\| (Cortex-M\w+) \| `(\w+)` \| (\d+) \| (\d+) \| (\d+) \|$", page, re.M)
    assert [row[:2] for row in rows] == [
        (core, f"arm_{model.replace('-', '_')}") for core in ("Cortex-M4F", "Cortex-M7")
        for model in models
    ]  # fmt: skip
    assert all(int(figure) > 0 for row in rows for figure in row[2:])
    assert "allows 1e-06 of the largest" in page
    for core in ("-mcpu=cortex-m4", "-mcpu=cortex-m7"):
        for source in folder.glob("src/*.c"):
            run("arm-none-eabi-gcc", core, "-mfloat-abi=softfp", "-mfpu=fpv4-sp-d16", "-O2", "-c",
                source, "-o", tmp_path / "f.o")  # fmt: skip
            needed = set(re.findall(r" U (\w+)", run("arm-none-eabi-nm", tmp_path / "f.o")))
            assert needed <= {"sinf", "cosf", "sqrtf", "fabsf", "atan2f"}
