"""The C and C++ packages: built without a warning, tested, installed, found by another project."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.package.building import STRICT, built, cmake, robot_called, run, tool
from tests.package.test_package_write import HOSTILE

import cardan

MODELS = ["inverse-dynamics", "direct-dynamics", "energies", "transform"]
USER = """
cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES {language})
find_package({name} 1.0 CONFIG REQUIRED)
add_executable(user main.{extension})
target_link_libraries(user PRIVATE {name}::{name})
"""


def example_of(page: str, language: str) -> str:
    return page.split(f"```{language}\n")[1].split("```")[0]


@pytest.mark.parametrize(
    ("kind", "robot", "language", "extension"),
    [("c", "rx90", "C", "c"), ("cpp", "ur5", "CXX", "cpp")],
)
def test_build_test_install_and_use(
    kind: str, robot: str, language: str, extension: str, tmp_path: Path
) -> None:
    tool({"C": "gcc", "CXX": "g++"}[language])
    folder = built(robot, MODELS, kind, tmp_path, name="arm")
    build, prefix, user = tmp_path / "build", tmp_path / "prefix", tmp_path / "user"
    cmake(folder, build, "-DBUILD_SHARED_LIBS=ON" if kind == "c" else "-DX=1")
    assert "100% tests passed" in run("ctest", "--test-dir", build)
    run("cmake", "--install", build, "--prefix", prefix)
    user.mkdir()
    words = {"name": "arm", "language": language, "extension": extension}
    (user / "CMakeLists.txt").write_text(USER.format(**words))
    page = (folder / "README.md").read_text(encoding="utf-8")
    (user / f"main.{extension}").write_text(example_of(page, kind))
    cmake(user, user / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    printed = [float(line.split()[-1]) for line in run(user / "build" / "user").splitlines()]
    for x in printed:  # the program of the README prints the numbers of the README
        assert f"{x:.12g}" in page.split("## Worked example")[1]


def test_the_test_of_a_package_can_fail(tmp_path: Path) -> None:
    gcc = tool("gcc")
    folder = built(robot_called("planar"), ["gravity"], "c", tmp_path)
    test = folder / "test" / "test_planar.c"
    text = test.read_text()
    test.write_text(text.replace("want_Q[2] = {", "want_Q[2] = {1e9 + ", 1))
    files = [*folder.rglob("*.c")]
    run(gcc, *STRICT, "-I", folder / "include", *files, "-lm", "-o", tmp_path / "t")
    with pytest.raises(AssertionError, match="instead of"):
        run(tmp_path / "t")


@pytest.mark.parametrize(("kind", "compiler"), [("c", "gcc"), ("cpp", "g++")])
def test_hostile_names_and_many_models(kind: str, compiler: str, tmp_path: Path) -> None:
    command = tool(compiler)
    names = [entry.name for entry in cardan.catalogue() if entry.program]
    left_out = ("jacobian-inverse", "loop-kinematics", "platform-inverse-dynamics",
                "platform-direct-dynamics")  # fmt: skip
    models = [name for name in names if name not in left_out]
    folder = built(robot_called(HOSTILE), models, kind, tmp_path, effort="plain")
    flags = [*STRICT, "-std=c99" if kind == "c" else "-std=c++17"]
    sources = [*folder.rglob("*.c"), *folder.rglob("*.cpp")]
    run(command, *flags, "-I", folder / "include", *sources, "-lm", "-o", tmp_path / "t")
    assert "0 numbers differ" in run(tmp_path / "t")


def test_the_header_is_good_for_cpp(tmp_path: Path) -> None:
    gcc, gpp = tool("gcc"), tool("g++")
    folder = built(robot_called("planar"), ["gravity", "energies"], "c", tmp_path)
    main = tmp_path / "main.cpp"
    main.write_text(
        "#include <planar.h>\n#include <planar.h>\n"
        "int main() { double q[2] = {1, 2}, Q[2]; planar_gravity(q, Q); return !(Q[0] < 9); }\n"
    )
    for source in (folder / "src").iterdir():
        run(gcc, *STRICT, "-c", source, "-o", tmp_path / f"{source.stem}.o")
    objects = [*tmp_path.glob("*.o")]
    run(gpp, *STRICT, "-I", folder / "include", main, *objects, "-o", tmp_path / "t")
    run(tmp_path / "t")
