"""The symbols of inputs and outputs: of arrays over joints those of the robot's description."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ...program import Program

_DOTS = {"q": 0, "q_a": 0, "qd": 1, "qdd": 2}


class Element(NamedTuple):
    """The symbol of an element; `variable` and `dots` where it is a variable of the user's naming
    or a derivative of one."""

    symbol: str
    variable: str = ""
    dots: int = 0


def elements(program: Program, array: str, shape: tuple[int, ...]) -> list[Element]:
    """The symbols of an array: q3 and qd3 of link 3, or theta and thetad where the user calls the
    variable theta; otherwise the name with indices."""
    joints = program.coordinates.get(array, ())
    if len(joints) != prod(shape):
        return [Element(array + index(shape, k, "_")) for k in range(prod(shape))]
    if array == "x":  # a state: positions, then velocities
        names = [name for name, _ in joints]
        rates = [name in names[:k] for k, name in enumerate(names)]
        return [_variable(*joint, int(rate)) for joint, rate in zip(joints, rates, strict=True)]
    if array in _DOTS:
        return [_variable(*joint, _DOTS[array]) for joint in joints]
    return [Element(f"{array}{link}") for link, _ in joints]


def _variable(link: str, variable: str, dots: int) -> Element:
    if variable == f"q{link}":
        return Element(f"q{'d' * dots}{link}")
    return Element(variable + "d" * dots, variable, dots)


def index(shape: tuple[int, ...], k: int, separator: str = "") -> str:
    """The indices of element k, from 1; apart where one has two digits.

    >>> index((3, 3), 5), index((12, 12), 5), index((), 0)
    ('23', '1_6', '')"""
    indices = []
    for size in reversed(shape):
        k, place = divmod(k, size)
        indices.append(str(place + 1))
    apart = "_" if any(size > 9 for size in shape) else separator
    return apart.join(reversed(indices))
