"""`write_package`: the kinds of packages and the one way to write them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ..arguments import named_arguments
from ..describe.robot import Robot
from ..errors import InputError, UnknownNameError
from .folder import Files, check_target, write_folder
from .names import checked_name, package_name
from .plan import Plan, Wanted, make_plan

__all__ = ["KINDS", "Kind", "Written", "write_package"]


@dataclass(frozen=True)
class Kind:
    """A kind of package; `module` has `files(plan)`, and `models(robot, wanted)` if it needs
    others than those asked for."""

    name: str
    summary: str
    module: str


KINDS = {
    kind.name: kind
    for kind in (
        Kind("c", "C99 library with header, CMake and a test", "c"),
        Kind("cpp", "C++17 headers for any scalar type, with CMake and a test", "cpp"),
        Kind("matlab", "functions of MATLAB and Octave, MEX and Simulink sources", "matlab"),
        Kind("python", "NumPy package for pip", "python"),
        Kind("ros2", "ament_cmake package: an inverse dynamics plugin", "ros2"),
        Kind("fmu", "FMI 3.0 unit of the direct dynamics", "fmu.write"),
    )
}


@dataclass(frozen=True)
class Written:
    """What was written: the folder, its files, and what the user should know."""

    folder: Path
    name: str
    files: tuple[str, ...]
    models: tuple[str, ...]
    notes: tuple[str, ...] = ()


@named_arguments
def write_package(
    robot: Robot, models: str | Sequence[Wanted], kind: str, folder: str | os.PathLike[str], *,
    name: str = "", force: bool = False, **options: Any,
) -> Written:  # fmt: skip
    """Write a package of models of a robot into a folder, which appears whole or not at all.

    models     names of the menu; (name, options) gives one its own options
    kind       c, cpp, matlab, python, ros2 or fmu
    name       of the package and first part of all functions; default the robot's name
    force      overwrite the package in a folder that is not empty; other files stay
    options    of the models: each goes to every model that knows it
    """
    if kind not in KINDS:
        raise UnknownNameError.of("package kind", kind, KINDS)
    if not os.fspath(folder):
        raise InputError("the package needs the path of a folder; '' is none")
    target = Path(folder)
    check_target(target, force)
    wanted: list[Wanted] = [models] if isinstance(models, str) else list(models)
    module = import_module(f".{KINDS[kind].module}", __package__)
    if hasattr(module, "models"):
        wanted = module.models(robot, wanted)
    called = checked_name(name) if name else package_name(robot.name)
    plan = make_plan(robot, called, wanted, options)
    build: Callable[[Plan], tuple[Files, tuple[str, ...]]] = module.files
    files, notes = build(plan)
    write_folder(target, files, force=force)
    made = tuple(function.model for function in plan.functions)
    return Written(target, called, tuple(files), made, notes)
