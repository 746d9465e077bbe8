"""What plots, tables and checks say about the joints of a robot: names, units, limits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..arguments import floats
from ..describe.limits import joint_limits
from ..describe.robot import FIXED, FRICTION, PRISMATIC, Drive, Joint, Robot
from ..describe.values.expression import number as value_of
from ..errors import InputError, ModelError
from ..mechanism.coordinates import Coordinates
from ..models.friction import Friction


@dataclass(frozen=True)
class Units:
    """Units of a joint's position and of its torque or force."""

    position: str
    effort: str


def moving(robot: Robot) -> list[Joint]:
    """The joints that carry a variable, in link order."""
    return [joint for joint in robot.joints if joint.sigma != FIXED]


def names(robot: Robot) -> list[str]:
    """The names of the joint variables."""
    return list(robot.variables)


def units(robot: Robot) -> list[Units]:
    """rad and N m for revolute joints, m and N for prismatic ones."""
    return [
        Units("m", "N") if joint.sigma == PRISMATIC else Units("rad", "N m")
        for joint in moving(robot)
    ]


def driven(robot: Robot) -> np.ndarray:
    """Columns of the independent joint variables: with closed loops or couplings the active ones,
    else all."""
    link = Coordinates.of(robot)
    return np.array(link.places(link.active), int)


def bounds(robot: Robot, key: str) -> np.ndarray:
    """A limit of every joint (lower, upper, velocity, effort), (n); infinite where none is given,
    or a velocity or effort of zero, which says no more."""
    if key in ("lower", "upper"):
        return joint_limits(robot)[key == "upper"]
    rows = []
    for joint in moving(robot):
        value: Any = getattr(joint.limits, key)
        known = None if value is None else value_of(value)
        rows.append(known or np.inf)
    return np.array(rows)


def require_numbers(robot: Robot, what: str) -> None:
    """Say which symbols still need a value."""
    symbols = _symbols(robot)
    if symbols:
        count = "1 symbol has" if len(symbols) == 1 else f"{len(symbols)} symbols have"
        listed = ", ".join(symbols[:8]) + (", ..." if len(symbols) > 8 else "")
        raise ModelError(
            f"{what} of '{robot.name}' needs numbers; {count} none"
            f" ({listed})",
            remedy="robot.with_values({...}) gives them values", action="values",
        )  # fmt: skip


@lru_cache(maxsize=64)
def _symbols(robot: Robot) -> tuple[str, ...]:
    return tuple(robot.parameters)


def array(name: str, value: Any) -> np.ndarray:
    """Real numbers, finite ones, of any shape."""
    numbers = _numbers(name, value)
    if not np.isfinite(numbers).all():
        at = np.argwhere(~np.isfinite(numbers))[0].tolist()
        where = f"[{', '.join(map(str, at))}]" if at else ""
        raise InputError(f"{name}{where} = {numbers[tuple(at)]} must be finite", where=name)
    return numbers


def vector(name: str, value: Any, n: int) -> np.ndarray:
    """One finite value per joint, from n values or from one for all."""
    numbers = _numbers(name, value)
    try:
        values = np.broadcast_to(numbers, (n,)).copy()
    except ValueError:
        raise InputError(
            f"{name} has shape {numbers.shape}", where=name,
            remedy=f"expected {n} values, one per joint, or one for all",
        ) from None  # fmt: skip
    if not np.isfinite(values).all():
        raise InputError(f"{name} = {values.tolist()} must be finite", where=name)
    return values


def _numbers(name: str, value: Any) -> np.ndarray:
    try:
        return floats(value)
    except (ValueError, TypeError):
        raise InputError(f"{name} is not an array of real numbers", where=name) from None


def number(value: Any) -> float:
    """A value of a description as a float."""
    x = value_of(value)
    if x is None:
        raise InputError(f"'{value}' has no value", action="values")
    return x


def friction_law(joint: Joint | Drive) -> Friction:
    """The friction of a joint or a motor of several, in numbers."""
    return Friction(*(number(getattr(joint, key)) for key in FRICTION))


def friction_torques(robot: Robot, qd: np.ndarray) -> np.ndarray:
    """Of every joint at its velocity, (..., n) of (..., n)."""
    laws = map(friction_law, moving(robot))
    return np.stack([law.torque(qd[..., k]) + 0 * qd[..., k] for k, law in enumerate(laws)], -1)
