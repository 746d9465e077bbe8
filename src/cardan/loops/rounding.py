"""The closest geometry whose loops close, where a file has rounded the one it means.

A planar loop in space closes only if its axes are parallel, Bennett's only if its lengths and
angles belong together: written with 1.5708 it stays open by as much as that is rounded. Angles near
multiples of pi/12 are read as these. Where that is not enough the numbers x of the geometry are
changed as little as closes the loops, at many configurations at once:

    N_k^T (r_k + dr_k/dx dx) = 0,    |dx| least

N_k spans what no motion of the joints changes of the equations r_k, to first order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..describe.frames import decimal_value, multiple_of_pi
from ..describe.robot import GEOMETRY, Joint, Robot
from ..describe.values.expression import Value, number, symbol, symbols

if TYPE_CHECKING:
    from .numeric import Equations

Array = np.ndarray
System = Callable[[Robot, Mapping[str, float]], "Equations"]
ROUNDED = 5e-5  # rad, or of the robot's size: a gap that four decimals leave
_RANK = 1e-3  # singular values below it, of the largest, come from rounding
_STARTS = 12
_DRAWS = 6  # of values, where the geometry has symbols
_STEPS = 6


@dataclass(frozen=True)
class _Draw:
    """Configurations (N, n) that nearly close the loops, for one draw of the symbols' values."""

    values: dict[str, float]
    q: Array
    gap: float


def closest(bare: Robot, system: System) -> tuple[Robot, str]:
    """(the geometry to use, what was changed in words): as it is written, and nothing, where its
    loops close or no geometry nearby closes them. `system` makes the equations of a geometry."""
    draw = _nearly_closed(bare, system)
    if draw is None:
        return bare, ""
    read = _mapped(bare, lambda key, x: x if key in "bdr" else multiple_of_pi(x, ROUNDED))
    tried = [read] if read != bare else []
    tried += [x for x in (_nearest(read, draw, system), _nearest(bare, draw, system)) if x]
    for robot in tried:
        _, closed = system(robot, draw.values).close(draw.q, range(draw.q.shape[1]))
        if closed.all():
            return robot, _words(bare, robot, draw.gap)
    return bare, ""


def _nearly_closed(bare: Robot, system: System) -> _Draw | None:
    """Configurations that are open by rounding at most; None where the loops close, or where they
    do not come near."""
    rng = np.random.default_rng(17)
    draw: _Draw | None = None
    for _ in range(_DRAWS if bare.parameters else 2):
        values = {name: float(rng.uniform(0.3, 1.7)) for name in bare.parameters}
        own = system(bare, values)
        q, closed = own.close(own.random(rng, _STARTS), range(own.n), 60)
        near = own.error(q) < ROUNDED
        if near.any() and not closed.any():  # slowly, where assemblies meet
            q, closed = own.close(q[near], range(own.n), 120)
        if closed.any():
            return None
        if near.any() and draw is None:
            draw = _Draw(values, q, float(own.error(q).min()))
    return draw


def _nearest(bare: Robot, draw: _Draw, system: System) -> Robot | None:
    """The numbers changed as little as closes the loops."""
    names: dict[str, float] = {}
    lengths: list[bool] = []

    def named(key: str, x: Value) -> Value:
        value = number(x)
        if not value or "pi" in str(x):
            return x
        name = f"\0{len(names)}"
        names[name] = value
        lengths.append(key in "bdr")
        return symbol(name)

    free = _mapped(bare, named)
    q, x = draw.q, np.array(list(names.values()))
    unit = np.where(lengths, system(bare, draw.values).size, 1.0)
    change = np.zeros(len(x))
    for _ in range(_STEPS):
        numbers = dict(zip(names, (x + unit * change).tolist(), strict=True))
        own = system(free, {**draw.values, **numbers})
        q, _ = own.close(q, range(own.n), 60)
        if own.error(q).max() < 1e-14:
            break
        change = change + _step(own, q, list(names), unit)
        if not np.abs(change).max(initial=0) < 20 * ROUNDED:
            return None
    values = {name: decimal_value(y, 1e-16) for name, y in numbers.items()}
    return _mapped(free, lambda key, x: values.get(str(x), x))


def _step(own: Equations, q: Array, names: Sequence[str], unit: Array) -> Array:
    """The least change of the numbers, in their units, that closes the loops to first order."""
    U, s, _ = np.linalg.svd(own.balanced(own.J(q) * own.unit), full_matrices=True)
    ranks = (s > _RANK * s[:, :1]).sum(axis=-1)
    rank = int(np.bincount(ranks).argmax())
    regular = ranks == rank
    N = U[regular][:, :, rank:]
    r = own.r(q[regular]) * own.weights
    D = own.by_parameters(q[regular], names) * own.weights[:, None] * unit
    A = np.einsum("bmk,bmx->bkx", N, D).reshape(-1, len(names))
    b = np.einsum("bmk,bm->bk", N, r).reshape(-1)
    return np.asarray(np.linalg.lstsq(A, -b, rcond=_RANK)[0])


def _mapped(robot: Robot, value: Callable[[str, Value], Value]) -> Robot:
    """The robot with other values in its frames."""

    def frame(joint: Joint) -> Joint:
        own: dict[str, Any] = {key: value(key, getattr(joint, key)) for key in GEOMETRY}
        return replace(joint, **own)

    loops = tuple(replace(x, cut=frame(x.cut), twin=frame(x.twin)) for x in robot.loops)
    return replace(robot, joints=tuple(map(frame, robot.joints)), loops=loops)


def _words(bare: Robot, robot: Robot, gap: float) -> str:
    changes: dict[bool, list[float]] = {True: [0.0], False: [0.0]}
    before, after = (
        [*x.joints, *(f for loop in x.loops for f in (loop.cut, loop.twin))] for x in (bare, robot)
    )
    for one, other in zip(before, after, strict=True):
        for key in GEOMETRY:
            x, y = getattr(one, key), getattr(other, key)
            if x != y and not symbols(x):
                changes[key in "bdr"].append(abs(number(x) - number(y)))  # type: ignore[operator]
    parts = [f"{max(changes[long]):.1g} {unit}" for long, unit in ((False, "rad"), (True, "m"))
             if max(changes[long])]  # fmt: skip
    count = len(changes[True]) + len(changes[False]) - 2
    return (
        f"the loops of '{bare.name}' stay open by {gap:.1g} (rad, or of the robot's size) as they"
        f" are written: rounded values. Its models are those of the closest geometry that closes,"
        f" {count} values changed by {' and '.join(parts)} at most"
    )
