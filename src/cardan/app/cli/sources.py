"""Robots as the command line names them: a bundled name, a file, '-', a DH table; then changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import Fault, InputError
from .output import message

if TYPE_CHECKING:
    from ...describe.robot import Robot

Found = tuple["Robot | None", list[Fault]]


def read_robot(
    source: str, *, convention: str = "", fixed: str = "", mimic: bool = False, body: str = "",
    trust_includes: bool = False, arguments: Iterable[str] | None = None, order: str = "file",
) -> Found:  # fmt: skip
    """The robot, or None, and every fault. A DH table needs its convention named. arguments: of a
    xacro file, NAME:=VALUE."""
    from ...describe.files import TABLES, read

    if (fixed or mimic) and Path(source).suffix.lower() not in (".urdf", ".xacro", ".sdf"):
        option = "--fixed" if fixed else "--mimic"
        raise InputError(f"{option} is for URDF files (.urdf); '{source}' is none")
    values = {}
    for argument in arguments or ():
        name, sign, value = argument.partition(":=")
        if not (name.strip() and sign):
            raise InputError(f"--arg {argument}: expected NAME:=VALUE, as in --arg ur_type:=ur5e")
        values[name.strip()] = value.strip()
    if Path(source).suffix.lower() in TABLES and not convention:
        from ...describe.dh.tables import COLUMNS

        raise InputError(
            f"{source} is a DH table, whose convention must be named: "
            f"cardan convert {source} ROBOT.toml --convention NAME ({', '.join(COLUMNS)})"
        )
    return read(
        source, fixed=fixed or "merge", mimic=mimic, body=body, trust_includes=trust_includes,
        convention=convention, arguments=values, order=order,
    )  # fmt: skip


def open_robot(
    source: str, settings: Iterable[str] | None = None, *, tree: bool = False,
    floating: bool = False, base_inertia: str = "", **reading: Any,
) -> Robot:  # fmt: skip
    """The robot with its settings (NAME=VALUE) and, on request, its loops cut open and its base let
    go; reading: the options of `read_robot`."""
    from ...describe.files import accepted

    robot, faults = read_robot(source, **reading)
    robot = with_settings(accepted(robot, faults, source), settings)
    robot = robot.tree() if tree else robot
    return _let_go(robot, base_inertia) if floating or base_inertia else robot


def _let_go(robot: Robot, inertia: str) -> Robot:
    """The robot on a base that floats; the inertia that it took is told."""
    from ...describe.floating import BASE_INERTIA, floating

    values = [part.strip() for part in inertia.split(",")] if inertia else None
    loose = floating(robot, values)
    link = loose.base.link
    parts = [(key, getattr(link, key)) for key in BASE_INERTIA if getattr(link, key) != 0]
    if values is None:
        took = ", ".join(f"{key} = {_short(x)}" for key, x in parts)
        words = "its own" if link == robot.base.link else "like the links'; --base-inertia gives it"
        message(f"the base floats: {took or 'no inertia but that of links fixed to it'} ({words})")
    return loose


def _short(x: Any) -> str:
    """A number of few digits, a formula as it is."""
    from ...describe.values.expression import number

    value = number(x)
    return str(x) if value is None else f"{float(value):.6g}"


def with_settings(robot: Robot, settings: Iterable[str] | None) -> Robot:
    """The robot with symbols replaced, each by NAME=VALUE; the value may be a formula."""
    values = {}
    for setting in settings or ():
        name, equals, value = setting.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise InputError(f"--set {setting}: expected NAME=VALUE, as in --set G3=-9.81")
        values[name.strip()] = value.strip()
    return robot.with_values(values) if values else robot


def is_bare(robot: Robot) -> bool:
    """Has it neither friction nor an external wrench?"""
    return stripped(robot) == robot


def stripped(robot: Robot) -> Robot:
    """The robot without friction and external wrenches, as published operation counts take it."""
    from ...build.common import with_friction
    from ...describe.robot import WRENCH

    free: dict[str, Any] = dict.fromkeys(WRENCH, 0)
    return replace(
        with_friction(robot, False),
        links=tuple(replace(link, **free) for link in robot.links),
    )
