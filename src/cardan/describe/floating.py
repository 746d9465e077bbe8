"""A robot let go: its base floats, with an inertia of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from ..arguments import named_arguments
from ..errors import InputError, ModelError
from .check import require_sound
from .robot import FIXED, INERTIA, Link, Robot
from .values.expression import Value, add, multiply
from .values.parser import to_value

# the values of a base inertia that is given as a list; one, four, seven or ten of them
BASE_INERTIA = ("M", "XX", "YY", "ZZ", "XY", "XZ", "YZ", "MX", "MY", "MZ")
_COUNTS = (1, 4, 7, 10)
_GYRATION = to_value("1/10")  # XX / M of a base of which the mass alone is known: a ball of 0.5 m


@named_arguments
def floating(robot: Robot, inertia: Any = None) -> Robot:
    """The robot on a base that floats.

    inertia: of the base about the origin of frame 0: its mass M; or M, XX, YY, ZZ(, XY, XZ, YZ
    (, MX, MY, MZ)); or a dict by these names. A mass alone is that of a ball of half a metre. None:
    the base keeps what it has, itself or in links fixed to it; where that is nothing it is taken as
    heavy as all links together, with a third of the sum of their XX, YY and ZZ about each axis.
    Vehicles on wheels, and closed loops of flexible links, stay on a fixed base.

    >>> cardan.floating(cardan.load("ur5"), 20).base.link
    Link(name='base', XX=2, YY=2, ZZ=2, M=20)
    >>> base = cardan.floating(cardan.load("planar2r")).base.link
    >>> print(base.M, base.ZZ)
    M1 + M2 1/3*(ZZ1 + ZZ2)"""
    if robot.ne and robot.constrained:
        raise ModelError(
            f"the base of '{robot.name}' cannot float: closed loops of flexible links have their"
            " models on a fixed base", remedy="use cardan.rigid(robot), or open its loops",
        )  # fmt: skip
    link = robot.base.link
    if inertia is not None:
        link = replace(link, **(dict.fromkeys(INERTIA, 0) | _read(inertia)))
    elif not has_inertia(carriers(robot)):
        link = replace(link, **_alike(robot))
    let_go = replace(robot, base=replace(robot.base, kind="floating", link=link))
    require_sound(let_go)
    return let_go


def carriers(robot: Robot) -> list[Link]:
    """The base and the links fixed to it."""
    group, bodies = {0}, [robot.base.link]
    for j, (joint, link) in enumerate(zip(robot.joints, robot.links, strict=True), 1):
        if joint.sigma == FIXED and joint.antecedent in group:
            group.add(j)
            bodies.append(link)
    return bodies


def has_inertia(bodies: Sequence[Link]) -> bool:
    """Has any of them a mass or moments?"""
    return any(link.flexible or getattr(link, key) != 0 for link in bodies for key in INERTIA)


def _read(inertia: Any) -> dict[str, Any]:
    if isinstance(inertia, Mapping):
        unknown = [key for key in inertia if key not in INERTIA]
        if unknown:
            raise InputError(
                f"base inertia: {unknown[0]!r} is no inertial parameter; allowed:"
                f" {', '.join(INERTIA)}"
            )
        return {key: to_value(x) for key, x in inertia.items()}
    several = hasattr(inertia, "__len__") and not isinstance(inertia, str)
    values = [to_value(x) for x in (inertia if several else [inertia])]
    if len(values) not in _COUNTS:
        raise InputError(
            f"base inertia: {len(values)} values; expected M; or M, XX, YY, ZZ; then XY, XZ, YZ;"
            " then MX, MY, MZ"
        )
    if len(values) == 1:
        values += [multiply(_GYRATION, values[0])] * 3
    return dict(zip(BASE_INERTIA, values, strict=False))


def _alike(robot: Robot) -> dict[str, Any]:
    """A base as heavy as the links; of one kilogram where these have no mass."""
    masses: list[Value] = [link.M for link in robot.links]
    moments = [getattr(link, key) for link in robot.links for key in ("XX", "YY", "ZZ")]
    M = reduce(add, masses)
    third = multiply(to_value("1/3"), reduce(add, moments))
    M = 1 if M == 0 else M
    third = multiply(_GYRATION, M) if third == 0 else third
    return {"M": M, "XX": third, "YY": third, "ZZ": third}
