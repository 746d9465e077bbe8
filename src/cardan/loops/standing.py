"""The configuration a robot stands in before anything moves it, as in pictures.

Joints with a `home` stand at it. With closed loops the others follow; where no home is said, a
platform is not turned, and the rest as near to zero, or to the middle of its limits, as it can be
without being singular."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..describe.limits import joint_limits
from ..describe.robot import FIXED, Joint, Robot
from ..describe.values.expression import number
from ..errors import InputError, ModelError
from ..mechanism.coordinates import holonomic
from ..mechanism.platform import Modules
from .numeric import Array, Equations, equations

_TRIES = 48
_UNSEEN = 1e-12  # derivatives of loops by the unit of a joint that they do not see
_CERTAIN = 0.05  # smallest singular value of the passive joints in a configuration to start from


def standing(robot: Robot) -> Array:
    """q (n): every joint at its home, the loops closed."""
    homes = [0.0 if x is None else x for x in _homes(robot)]
    q = np.array(homes, float)
    return assembled(robot, q) if holonomic(robot).constrained else q


def assembled(robot: Robot, q: Array) -> Array:
    """A closed configuration near q, within the limits of the joints where there is one, and away
    from singular ones, where an assembly is not certain."""
    system = equations(robot)
    passive = system.coordinates.places(system.coordinates.passive)
    low, high = joint_limits(robot)
    bounded = np.isfinite(low) & np.isfinite(high)
    middle = np.clip(q, low, high)
    middle[bounded] = (low[bounded] + high[bounded]) / 2
    first = np.where((q < low) | (q > high), middle, q)
    best = np.zeros((0, len(q)))
    for held in _held(robot, system, passive):
        free = [k for k in range(len(q)) if k not in held]
        found, closed = system.close(first + _spread(system, first, held), free)
        best = np.concatenate([best, found[closed]])
        kept = best[((best > low - 1e-9) & (best < high + 1e-9)).all(axis=1)]
        kept = kept[_certain(system, kept, passive) > _CERTAIN] if len(kept) else kept
        if len(kept):
            turns = np.linalg.norm((kept - first) / system.unit, axis=1)
            return np.asarray(kept[int(np.argmin(turns))])  # the least twisted one
    if not len(best):
        raise InputError("no configuration was found that closes the loops")
    return np.asarray(best[int(np.argmax(_certain(system, best, passive)))])


def _held(robot: Robot, system: Equations, passive: Sequence[int]) -> Iterator[list[int]]:
    """What stands still while the loops are closed, one way after the other: joints at home, or
    the passive ones of them; a platform's turns; the active joints; nothing."""
    home = [k for k, x in enumerate(_homes(robot)) if x is not None]
    for own in (home, [k for k in home if k in passive]):
        if own:
            yield own
    try:
        parts = Modules.of(system.coordinates, "loop-geometry").parts
        joints = tuple(j for part in parts for j in part.joints)
    except ModelError:
        joints = ()
    columns = [system.coordinates.moving.index(j) for j in joints]
    turns = [k for k in columns if system.turning[k]]
    if turns:
        yield turns
    yield [k for k in range(system.n) if k not in passive]
    yield []


def _spread(system: Equations, first: Array, held: Sequence[int]) -> Array:
    """Starts about one configuration, itself the first; joints that no loop sees stay."""
    spread = np.random.default_rng(1).uniform(-0.9, 0.9, (_TRIES, system.n)) * system.unit
    spread[0] = 0
    seen = system.balanced(system.J(first[None] + spread) * system.unit)
    spread *= np.any(np.abs(seen) > _UNSEEN, axis=(0, 1))
    spread[:, held] = 0
    return np.asarray(spread)


def _homes(robot: Robot) -> list[float | None]:
    found = (None if joint.home is None else number(joint.home) for joint in _moving(robot))
    return list(found)


def _moving(robot: Robot) -> list[Joint]:
    return [joint for joint in robot.joints if joint.sigma != FIXED]


def _certain(system: Equations, q: Array, passive: Sequence[int]) -> Array:
    """How far from singular (N,): the smallest singular value for the passive joints."""
    J = system.balanced(system.J(q) * system.unit)[..., passive]
    found: Array = np.linalg.svd(J, compute_uv=False).min(axis=-1, initial=np.inf)
    return found
