"""What jobs are asked, read and checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....describe.robot import Robot
from ....errors import InputError
from ....mechanism.coordinates import Coordinates

Data = dict[str, Any]
_CLOSED = 1e-4  # m, rad
Say = Callable[[str], None]


def vector(data: Data, key: str, n: int, default: float | None = None) -> np.ndarray:
    """n finite numbers; the default for each where nothing is given."""
    if default is not None and not data.get(key):
        return np.full(n, default)
    x = np.array(data[key], float)
    if x.shape != (n,) or not np.isfinite(x).all():
        raise InputError(f"{key}: {x.size} numbers were given, {n} finite ones are needed")
    return x


def driven(robot: Robot) -> list[int]:
    """Columns of q that drives move: all of a tree, the active ones of closed loops; never a
    spring."""
    link = Coordinates.of(robot)
    return link.places(link.driven)


def rates(robot: Robot) -> list[int]:
    """Columns of q whose velocities can be chosen: all of a tree; of closed loops those of the
    active joints, springs among them unless links bend too."""
    link = Coordinates.of(robot)
    return link.places(link.driven if robot.ne and robot.constrained else link.active)


def require_closed(bare: Robot, q: np.ndarray) -> None:
    """Positions q close the loops of a robot, given by its geometry."""
    from ....loops.numeric import equations

    if equations(bare).error(q[None]).max() > _CLOSED:
        raise InputError(
            f"the loops of '{bare.name}' are open where the joints are: move a slider, or correct "
            "the frames of the loops, until they close"
        )
