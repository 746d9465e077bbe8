"""Writing packages into a folder and running the tools of this machine on them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import cardan
from cardan.package import write_package

__all__ = ["NUMERIC", "STRICT", "STUBS", "built", "cmake", "robot_called", "run", "tool"]

STUBS = Path(__file__).parent / "stubs"
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]
NUMERIC = {
    "L1": "1/2", "ZZ1": "1/10", "ZZ2": "1/12", "MX1": "3/10", "MX2": "1/4", "MY1": 0, "MY2": 0,
    "M1": 2, "M2": 1, "FV1": "1/10", "FV2": "1/20", "G": "9.81",
}  # fmt: skip


def tool(name: str) -> str:
    """The path of a program, or skip."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name} on this machine")
    return found


def run(*command: Any, **options: Any) -> str:
    """What a program prints; its complaints become the failure's message."""
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, timeout=120, **options
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def built(
    robot: str | cardan.Robot, models: list[Any], kind: str, folder: Path, **options: Any
) -> Path:
    """The folder of a package that was just written."""
    found = cardan.load(robot) if isinstance(robot, str) else robot
    return write_package(found, models, kind, folder / kind, **options).folder


def cmake(source: Path, build: Path, *options: str) -> None:
    """Configure and build, every warning an error."""
    flags = " ".join(STRICT[:-1])
    run(
        tool("cmake"), "-S", source, "-B", build, f"-DCMAKE_C_FLAGS={flags}",
        f"-DCMAKE_CXX_FLAGS={flags}", *options,
    )  # fmt: skip
    run("cmake", "--build", build)


def robot_called(name: str) -> cardan.Robot:
    """A planar robot with numbers for all its symbols and a name of one's own."""
    from dataclasses import replace

    robot = cardan.load("planar2r")
    values = {key: x for key, x in NUMERIC.items() if key in robot.parameters}
    return replace(robot.with_values(values), name=name)
