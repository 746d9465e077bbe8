"""Loops solved in closed form: planar and spherical four-bars, slider-cranks, RSSR and their kin.

[KC97] 3.4 and its reference 4: loops of fewer than five passive joints. One unknown x is found from
what the other unknowns of the loop (`rest`) cannot change:

    a turn about z_b        |O_c - O_b|² = |O_t - O_b|²,  z_b·O_c = z_b·O_t,  z_b·z_c = z_b·z_t
    a shift along z_b       the components of O_c = O_t across z_b
    two turns that meet     |O_c - O|² = |O_t - O|²

(c and t the cut and its twin). In an angle each is X cos x + Y sin x = Z, Paul's type 2, with two
solutions; in a length it is a quadratic. The last unknown follows from all equations at once. An
order of elimination is kept when it finds again a configuration that is known to be closed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np

from ..algebra.scalar import function
from ..describe.expression import evaluate, number
from ..describe.robot import FIXED, GEOMETRY, PRISMATIC, REVOLUTE, Joint, Robot
from ..mechanism.loops import Connection, LoopFrames, opened
from .analysis import Analysis

__all__ = ["Chain", "Step", "limits_of", "meeting", "solved_by", "steps_of"]

Array = np.ndarray
_NEAR = 1e-5  # a root satisfies the other equations to this; Newton does the rest
_LARGEST = 4  # unknowns in one loop, beside its cut joint


@dataclass(frozen=True)
class Step:
    """One loop, and the order in which its unknowns are found (numbers of links)."""

    loop: LoopFrames
    order: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class Chain:
    """The opened robot's frames as numbers."""

    connection: Connection
    antecedent: tuple[int, ...]
    sigma: tuple[int, ...]
    six: Array  # (frames, 6)

    @classmethod
    def of(cls, robot: Robot, values: Mapping[str, float]) -> Chain:
        joints = opened(robot).joints
        connection = Connection.of(robot)
        six = [
            [float(evaluate(getattr(j, key), values.__getitem__, function)) for key in GEOMETRY]
            for j in joints
        ]
        return cls(
            connection, tuple(j.antecedent for j in joints), tuple(j.sigma for j in joints),
            np.array(six),
        )  # fmt: skip

    def frames(self, q: Array) -> list[tuple[Array, Array]]:
        """(R, P) of frame 0 and all others."""
        found = [(np.eye(3), np.zeros(3))]
        k = 0
        for (gamma, b, alpha, d, theta, r), i, s in zip(
            self.six, self.antecedent, self.sigma, strict=True
        ):
            if s != FIXED:
                theta, r = theta + q[k] * (s == REVOLUTE), r + q[k] * (s == PRISMATIC)
                k += 1
            cg, sg, ca, sa = np.cos(gamma), np.sin(gamma), np.cos(alpha), np.sin(alpha)
            ct, st = np.cos(theta), np.sin(theta)
            before = np.array([[cg, -sg * ca, sg * sa], [sg, cg * ca, -cg * sa], [0, sa, ca]])
            R, P = found[i]
            R = R @ before
            P = P + found[i][0] @ np.array([d * cg, d * sg, b])
            R = R @ np.array([[ct, -st, 0], [st, ct, 0], [0, 0, 1]])
            found.append((R, P + r * R[:, 2]))
        return found

    def column(self, j: int) -> int:
        return self.connection.moving.index(j)

    @cached_property
    def still(self) -> dict[str, set[int]]:
        """By loop: turns that do not move the point O_c or O_t behind them, on their axis."""
        frames = self.frames(np.random.default_rng(5).uniform(0.2, 1, len(self.connection.moving)))

        def misses(j: int, point: Array) -> bool:
            R, P = frames[j]
            return bool(np.linalg.norm(np.cross(R[:, 2], point - P)) > 1e-9)

        return {
            loop.name: {
                j for j in loop.links if self.sigma[j - 1] == REVOLUTE
                and not misses(j, frames[loop.cut if j in loop.to_cut else loop.twin][1])
            }
            for loop in self.connection.loops
        }  # fmt: skip


def steps_of(analysis: Analysis, given: Sequence[int]) -> tuple[Step, ...] | None:
    """An order that solves every loop in closed form from the given joints, or None."""
    link = analysis.connection
    sample = analysis.samples[0]
    chain = Chain.of(link.robot, sample.values)
    solved: set[int] = set(given)
    steps: list[Step] = []
    rest = list(link.loops)
    while rest:
        found = None
        for loop in sorted(rest, key=lambda loop: len(_unknown(link, loop, solved))):
            found = _step(chain, loop, _unknown(link, loop, solved), sample.q)
            if found is not None:
                break
        if found is None:
            return None
        steps.append(found)
        rest.remove(found.loop)
        solved |= set(found.order)
    return tuple(steps)


def _unknown(link: Connection, loop: LoopFrames, solved: set[int]) -> tuple[int, ...]:
    return tuple(j for j in loop.links if j in link.moving and j not in solved)


def _step(chain: Chain, loop: LoopFrames, unknown: tuple[int, ...], samples: Array) -> Step | None:
    """The loop with an order of its unknowns that works, or None."""
    if len(unknown) > _LARGEST:
        return None
    for order in permutations(unknown):
        if all(_finds(chain, loop, order, q) for q in samples[:3]):
            names = ", then ".join(chain.connection.named((j,)) for j in order)
            how = " (Paul's type 2 or a quadratic, then atan2)" if len(order) > 1 else ""
            return Step(loop, order, f"loop {loop.name} in closed form: {names or 'nothing'}{how}")
    return None


def _finds(chain: Chain, loop: LoopFrames, order: tuple[int, ...], q: Array) -> bool:
    start = q.copy()
    start[[chain.column(j) for j in order]] = 0
    for found in _solutions(chain, loop, order, start, limited=False):
        if np.abs(np.sin((found - q) / 2)).max() < 1e-6:
            return True
    return False


def solved_by(steps: Sequence[Step], robot: Robot, values: Mapping[str, float], q: Array) -> Array:
    """Every configuration that the steps give for these active positions, (k, n)."""
    chain = Chain.of(robot, values)
    found = [q]
    for step in steps:
        found = [x for start in found for x in _solutions(chain, step.loop, step.order, start)]
    return np.array(found).reshape(-1, len(q))


def _solutions(
    chain: Chain, loop: LoopFrames, order: tuple[int, ...], q: Array, limited: bool = True
) -> Iterator[Array]:
    """The first unknown from what the others cannot change, then the others."""
    if not order:
        yield q
        return
    x, rest = order[0], order[1:]
    column, turning = chain.column(x), chain.sigma[x - 1] == REVOLUTE

    def at(value: float) -> Array:
        trial = q.copy()
        trial[column] = value
        return _invariants(chain, loop, rest, chain.frames(trial))

    low, high = limits_of(chain.connection.robot.joints[x - 1])
    for value in _angles(at) if turning else _lengths(at):
        if limited and not turning and not low - 1e-6 < value < high + 1e-6:
            continue
        trial = q.copy()
        trial[column] = value
        yield from _solutions(chain, loop, rest, trial, limited)


def limits_of(joint: Joint) -> tuple[float, float]:
    """The limits of a joint as numbers, infinite where there are none."""
    lower, upper = joint.limits.lower, joint.limits.upper
    low = None if lower is None else number(lower)
    high = None if upper is None else number(upper)
    return -np.inf if low is None else low, np.inf if high is None else high


def _angles(at: Any) -> list[float]:
    """Angles at which all of a list of functions a + b cos x + c sin x vanish."""
    zero, quarter, half = at(0.0), at(np.pi / 2), at(np.pi)
    a, b = (zero + half) / 2, (zero - half) / 2
    c = quarter - a
    size = np.hypot(b, c)
    used = size > 1e-9 * max(1.0, float(np.abs(a).max(initial=0)))
    if not used.any():
        return []
    a, b, c, size = a[used], b[used], c[used], size[used]
    both = np.linalg.svd(np.column_stack([b, c]) / size[:, None], compute_uv=False)
    if len(both) == 2 and both[1] > 1e-5:  # cosine and sine apart
        scaled = np.column_stack([b, c]) / size[:, None]
        pair = np.linalg.lstsq(scaled, -a / size, rcond=None)[0]
        good = abs(float(pair @ pair) - 1) < _NEAR
        good = good and float(np.abs(scaled @ pair + a / size).max()) < _NEAR
        return [float(np.arctan2(pair[1], pair[0]))] if good else []
    best = int(size.argmax())
    cosine = -a[best] / size[best]
    if abs(cosine) > 1 + 1e-7:
        return []
    middle, spread = np.arctan2(c[best], b[best]), np.arccos(np.clip(cosine, -1, 1))
    found = [float(middle + spread), float(middle - spread)]
    if spread < 1e-9 or np.pi - spread < 1e-9:
        found = found[:1]
    return [x for x in found if np.abs((a + b * np.cos(x) + c * np.sin(x)) / size).max() < _NEAR]


def _lengths(at: Any) -> list[float]:
    """Lengths at which all of a list of quadratics vanish."""
    zero, plus, minus = at(0.0), at(1.0), at(-1.0)
    a, b = (plus + minus) / 2 - zero, (plus - minus) / 2
    used = np.maximum(np.abs(a), np.abs(b)) > 1e-9
    if not used.any():
        return []
    a, b, c = a[used], b[used], zero[used]
    best = int(np.maximum(np.abs(a), np.abs(b)).argmax())
    if abs(a[best]) < 1e-10:
        found = [float(-c[best] / b[best])]
    else:
        root = b[best] ** 2 - 4 * a[best] * c[best]
        if root < 0:
            return []
        found = [float((-b[best] + s * np.sqrt(root)) / (2 * a[best])) for s in (1, -1)]
    return [x for x in found if np.abs((a * x + b) * x + c).max() < _NEAR]


def _invariants(
    chain: Chain, loop: LoopFrames, rest: Sequence[int], frames: list[tuple[Array, Array]]
) -> Array:
    """What the joints of `rest` cannot change, zero when the loop is closed."""
    (Rc, Pc), (Rt, Pt) = frames[loop.cut], frames[loop.twin]
    if not rest:
        return _all(loop, Rc, Pc, Rt, Pt)
    found: list[float] = []
    if loop.kind not in ("prismatic", "cylindrical"):
        found += _point_invariants(chain, loop, rest, frames)
    if loop.kind not in ("spherical", "universal"):
        turning = [j for j in rest if chain.sigma[j - 1] == REVOLUTE]
        if not turning:
            found += list((Rc.T @ Rt[:, 2])[:2])
        elif len(turning) == 1:
            found.append(frames[turning[0]][0][:, 2] @ (Rc[:, 2] - Rt[:, 2]))
    return np.array(found or [0.0])


def _point_invariants(
    chain: Chain, loop: LoopFrames, rest: Sequence[int], frames: list[tuple[Array, Array]]
) -> list[float]:
    """Of the points O_c and O_t; a joint whose axis a point lies on does not move it."""
    Pc, Pt = frames[loop.cut][1], frames[loop.twin][1]
    movers = [j for j in rest if j not in chain.still[loop.name]]
    if not movers:
        return list(Pc - Pt)
    R, P = frames[movers[0]]
    z = R[:, 2]
    if len(movers) == 1:
        if chain.sigma[movers[0] - 1] == REVOLUTE:
            return [(Pc - P) @ (Pc - P) - (Pt - P) @ (Pt - P), z @ (Pc - Pt)]
        return list((R.T @ (Pc - Pt))[:2])
    if len(movers) > 2 or any(chain.sigma[j - 1] != REVOLUTE for j in movers):
        return []
    other, Po = frames[movers[1]]
    meet = meeting(P, z, Po, other[:, 2])
    return [0.0 if meet is None else (Pc - meet) @ (Pc - meet) - (Pt - meet) @ (Pt - meet)]


def _all(loop: LoopFrames, Rc: Array, Pc: Array, Rt: Array, Pt: Array) -> Array:
    """Every equation of the loop."""
    P, R = Rc.T @ (Pt - Pc), Rc.T @ Rt
    found = list(P[:2])
    if loop.kind not in ("prismatic", "cylindrical"):
        found.append(P[2])
    if loop.kind in ("revolute", "cylindrical"):
        found += [R[0, 2], R[1, 2]]
    elif loop.kind in ("prismatic", "fixed"):
        found += [R[0, 1] - R[1, 0], R[0, 2] - R[2, 0], R[1, 2] - R[2, 1]]
    elif loop.kind == "universal":
        found.append(R[2, 0])
    return np.array(found)


def meeting(P: Array, z: Array, Q: Array, y: Array) -> Array | None:
    """Where two axes meet, or None."""
    across = np.cross(z, y)
    if np.linalg.norm(across) < 1e-9 or abs((Q - P) @ across) > 1e-9:
        return None
    s, *_ = np.linalg.lstsq(np.column_stack([z, -y]), Q - P, rcond=None)
    return np.asarray(P + s[0] * z)
