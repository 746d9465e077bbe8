"""`write_package`: the kinds of packages, the one way to write them, and names for them that are
safe in every language and tool."""

from __future__ import annotations

import keyword
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ..arguments import named_arguments
from ..describe.robot import Robot
from ..emit.cpp import Cpp
from ..emit.matlab import Matlab
from ..errors import InputError, UnknownNameError
from ..program import Program
from .folder import Files, check_target, write_folder
from .plan import PRINTING, Plan, Wanted, make_plan

_LONGEST = 28  # function names stay below the 63 characters that MATLAB reads
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")  # what ROS 2 allows, which all others allow too
# headers and modules that a file of this name would hide; targets that CMake keeps for itself
_TAKEN = """
all clean depend edit_cache help install list_install_components package package_source
preinstall rebuild_cache test tests docs src numpy scipy math cmath array string vector memory
complex stdlib stddef stdio errno fenv limits locale signal time cardan python pytest
hatchling re os sys json types typing io abc copy enum random statistics code ament ros rclcpp
eigen casadi acados pluginlib inverse_dynamics_solver mex simulink matlab octave main model models
"""
_RESERVED = {*_TAKEN.split(), *keyword.kwlist, *keyword.softkwlist, *Cpp.reserved, *Matlab.reserved}


@dataclass(frozen=True)
class Kind:
    """A kind of package; `module` has `files(plan)`, and `models(robot, wanted)` if it needs
    others than those asked for. `honours`: how its text may be asked to be written."""

    name: str
    summary: str
    module: str
    honours: tuple[str, ...] = tuple(PRINTING)


KINDS = {
    kind.name: kind
    for kind in (
        Kind("c", "C99 library with header, CMake and a test", "c"),
        Kind(
            "cpp",
            "C++17 headers for any scalar type, with CMake and a test",
            "cpp",
            ("arguments", "split", "chunk"),
        ),
        Kind("rust", "crate without dependencies, with tests", "rust"),
        Kind("fortran", "Fortran 2008 modules for fpm, with a test", "fortran"),
        Kind("julia", "Julia package with tests", "julia", ("dtype", "split", "chunk")),
        Kind("arduino", "C library for Arduino and PlatformIO, with a sketch", "arduino"),
        Kind(
            "matlab",
            "functions of MATLAB and Octave, MEX and Simulink sources",
            "matlab",
            ("chunk",),
        ),
        Kind("python", "NumPy package for pip", "python", ("dtype", "split", "chunk")),
        Kind(
            "ros2",
            "ament_cmake package: an inverse dynamics plugin and an effort controller",
            "ros2",
            ("chunk",),
        ),
        Kind(
            "casadi",
            "external functions of CasADi in C, with exact Jacobians",
            "casadi",
            ("chunk",),
        ),
        Kind("fmu", "FMI 3.0 and 2.0 units of the direct dynamics", "fmu.write", ("chunk",)),
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
    robot: Robot, models: str | Program | Sequence[Wanted], kind: str,
    folder: str | os.PathLike[str], *, name: str = "", force: bool = False, **options: Any,
) -> Written:  # fmt: skip
    """Write a package of models of a robot into a folder, which appears whole or not at all.

    models     names of the menu; (name, options) gives one its own options; programs, as a law's
    kind       c, cpp, rust, fortran, julia, arduino, matlab, python, ros2, casadi or fmu
    name       of the package and first part of all functions; default the robot's name
    force      overwrite the package in a folder that is not empty; other files stay
    options    of the models: each goes to every model that knows it; dtype, arguments, split and
               chunk of the text, as `Program.emit` takes them, where the kind has them

    >>> package = cardan.write_package(cardan.load("planar2r"), "transform", "c", "planar2r-c")
    >>> package.name, "CMakeLists.txt" in package.files
    ('planar_2r', True)"""
    if kind not in KINDS:
        raise UnknownNameError.of("package kind", kind, KINDS)
    if not os.fspath(folder):
        raise InputError("the package needs the path of a folder; '' is none")
    printing = _printing(KINDS[kind], options)
    target = Path(folder)
    check_target(target, force)
    wanted: list[Wanted] = [models] if isinstance(models, str | Program) else list(models)
    module = import_module(f".{KINDS[kind].module}", __package__)
    if hasattr(module, "models"):
        wanted = module.models(robot, wanted)
    called = checked_name(name) if name else package_name(robot.name)
    plan = make_plan(robot, called, wanted, options, printing)
    build: Callable[[Plan], tuple[Files, tuple[str, ...]]] = module.files
    files, notes = build(plan)
    write_folder(target, files, force=force)
    written = tuple(function.model for function in plan.functions)
    return Written(target, called, tuple(files), written, notes)


def _printing(kind: Kind, options: dict[str, Any]) -> dict[str, Any]:
    """How the text is written, taken out of the options."""
    printing = {key: options.pop(key) for key in PRINTING if key in options}
    chosen = {key: x for key, x in printing.items() if x != PRINTING[key]}
    for key in chosen:
        if key not in kind.honours:
            what = f"option of the text of a package of kind '{kind.name}'"
            raise UnknownNameError.of(what, key, kind.honours)
    return chosen


def package_name(robot: str) -> str:
    """The name of a robot as a package, a library, a module and a prefix of functions."""
    name = re.sub(r"[^a-z0-9]+", "_", robot.lower()).strip("_")
    if not name or not name[0].isalpha():
        name = f"robot_{name}".strip("_")
    name = name[:_LONGEST].strip("_")
    return f"{name[: _LONGEST - 6].strip('_')}_robot" if _is_reserved(name) else name


def checked_name(name: str) -> str:
    """A name given by the user, which is refused rather than changed."""
    fits = _NAME.fullmatch(name) and len(name) <= _LONGEST and not _is_reserved(name)
    if not fits:
        raise InputError(
            f"'{name}' cannot name a package: lower-case letters, digits and single underscores, "
            f"a letter first, from 2 to {_LONGEST} characters, no reserved word; "
            f"'{package_name(name)}' would do"
        )
    return name


def _is_reserved(name: str) -> bool:
    return name in _RESERVED or len(name) < 2
