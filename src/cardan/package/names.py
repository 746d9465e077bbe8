"""The name of a package, made of what a user calls a robot; safe in every language and tool."""

from __future__ import annotations

import keyword
import re

from ..emit.cpp import Cpp
from ..emit.matlab import Matlab
from ..errors import InputError

__all__ = ["checked_name", "package_name"]

_LONGEST = 28  # function names stay below the 63 characters that MATLAB reads
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")  # what ROS 2 allows, which all others allow too
# headers and modules that a file of this name would hide; targets that CMake keeps for itself
_TAKEN = """
all clean depend edit_cache help install list_install_components package package_source
preinstall rebuild_cache test tests docs src numpy scipy math cmath array string vector memory
complex stdlib stddef stdio errno fenv limits locale signal time cardan python pytest
hatchling re os sys json types typing io abc copy enum random statistics code ament ros rclcpp
eigen pluginlib inverse_dynamics_solver mex simulink matlab octave main model models
"""
_RESERVED = frozenset([*_TAKEN.split(), *keyword.kwlist, *keyword.softkwlist])
_RESERVED |= Cpp.reserved | Matlab.reserved


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
