"""Tabulated models: the configuration-space form with its coefficients read from tables.

    tau = A(q) qdd + 2 C1(q) [qd_j qd_k] + C2(q) [qd_j²] + Q(q) + friction         [B23] (3.11)

Every coefficient depends on a few joints only; each distinct one has a table over just those, on a
grid of equal steps, interpolated linearly (degree 1) or by cubic convolution (degree 3). More
points cost memory and buy accuracy: `trade_off` measures how much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from ..arguments import named_arguments
from ..describe.robot import WRENCH, Robot
from ..errors import InputError, ModelError
from ..ir.code import LEAVES, Code, Output
from ..ir.passes import live
from ..mechanism.coordinates import has_springs, is_floating
from ..motion.derived import compiled, derived
from ..motion.joints import (
    array,
    bounds,
    friction_torques,
    number,
    require_numbers,
    units,
)
from ..program import Program

LARGEST = 512 * 2**20  # bytes of all tables


@dataclass(frozen=True)
class Group:
    """Coefficients that depend on the same joints: values on the grid, (points, ..., count)."""

    joints: tuple[int, ...]
    values: np.ndarray


@dataclass(frozen=True)
class Tabulated:
    """tau(q, qd, qdd) from tables. `places`: output name -> (group, column, sign) by element."""

    robot: Robot
    points: int
    degree: int
    start: np.ndarray
    step: np.ndarray
    periodic: np.ndarray
    groups: tuple[Group, ...]
    places: dict[str, list[tuple[int, int, int]]]

    def __repr__(self) -> str:
        kind = "linear" if self.degree == 1 else "cubic"
        return (
            f"Tabulated({self.robot.name}: {self.points} points per joint, {kind},"
            f" {self.memory / 1000:.4g} kB)"
        )

    @property
    def memory(self) -> int:
        """Bytes of the tables."""
        return sum(group.values.nbytes for group in self.groups)

    def coefficients(self, q: Any) -> dict[str, np.ndarray]:
        """A, C1, C2 and Q at q (..., n), interpolated."""
        q = self._joints("q", q)
        self._inside(q)
        values = [self._interpolated(group, q) for group in self.groups]
        shapes = derived(self.robot, "lagrange", form="configuration").outputs
        result = {}
        for name, places in self.places.items():
            flat = np.stack([sign * values[g][..., c] for g, c, sign in places], axis=-1)
            result[name] = flat.reshape(*q.shape[:-1], *shapes[name])
        return result

    def __call__(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        """Torques (..., n)."""
        arrays = {"q": q, "qd": qd, "qdd": qdd}
        q, qd, qdd = (self._joints(name, x) for name, x in arrays.items())
        c = self.coefficients(q)
        n = self.robot.n
        pairs = [(j, k) for j in range(n) for k in range(j + 1, n)]
        tau = np.einsum("...ij,...j->...i", c["A"], qdd) + c["Q"]
        tau = tau + friction_torques(self.robot, qd)
        tau = tau + np.einsum("...ij,...j->...i", c["C2"], qd * qd)
        if pairs:
            products = np.stack([qd[..., j] * qd[..., k] for j, k in pairs], axis=-1)
            tau = tau + 2 * np.einsum("...ij,...j->...i", c["C1"], products)
        return np.asarray(tau)

    def _joints(self, name: str, given: Any) -> np.ndarray:
        """One value per joint, (..., n)."""
        values, n = array(name, given), self.robot.n
        if values.shape[-1:] != (n,):
            raise InputError(f"{name} has shape {values.shape}; expected (..., {n})")
        return values

    def _inside(self, q: np.ndarray) -> None:
        """Beyond its ends a table knows nothing."""
        end = self.start + (self.points - 1) * self.step
        slack = 1e-9 * self.step
        out = ~self.periodic & ((q < self.start - slack) | (q > end + slack))
        if out.any():
            at = tuple(np.argwhere(out)[0])
            j = int(at[-1])
            raise InputError(
                f"{self.robot.variables[j]} = {q[at]:.6g} is outside its table, from"
                f" {self.start[j]:.6g} to {end[j]:.6g} (the limits of the joint)"
            )

    def _interpolated(self, group: Group, q: np.ndarray) -> np.ndarray:
        """(..., count): the weighted corners of the cell that holds q."""
        lead = q.shape[:-1]
        if not group.joints:
            return np.broadcast_to(group.values, (*lead, group.values.shape[-1]))
        weights, indices = [], []
        for j in group.joints:
            w, i = self._cell(q[..., j], j)
            weights.append(w)
            indices.append(i)
        total = np.zeros((*lead, group.values.shape[-1]))
        for corner in product(range(weights[0].shape[-1]), repeat=len(group.joints)):
            w = np.ones(lead)
            for weight, c in zip(weights, corner, strict=True):
                w = w * weight[..., c]
            at = tuple(index[..., c] for index, c in zip(indices, corner, strict=True))
            total += w[..., None] * group.values[at]
        return total

    def _cell(self, q: np.ndarray, j: int) -> tuple[np.ndarray, np.ndarray]:
        """Weights and grid numbers of the 2 or 4 points about q."""
        x = (q - self.start[j]) / self.step[j]
        if not self.periodic[j]:
            x = np.clip(x, 0, self.points - 1)
        cell = np.floor(x)
        if not self.periodic[j]:
            cell = np.minimum(cell, self.points - 2)
        u = x - cell
        around = (0, 1) if self.degree == 1 else (-1, 0, 1, 2)
        index = cell[..., None].astype(int) + np.array(around)
        weight = np.stack([1 - u, u] if self.degree == 1 else _cubic(u), axis=-1)
        if self.periodic[j]:
            return weight, index % self.points
        if self.degree == 3:  # beyond the ends: the parabola through the last three points
            weight, index = _at_ends(weight, index, self.points)
        return weight, index


def _cubic(u: np.ndarray) -> list[np.ndarray]:
    """Weights of cubic convolution (Keys, 1981) of the points -1, 0, 1, 2."""
    return [
        u * (-0.5 + u * (1 - 0.5 * u)), 1 + u * u * (-2.5 + 1.5 * u),
        u * (0.5 + u * (2 - 1.5 * u)), u * u * (-0.5 + 0.5 * u),
    ]  # fmt: skip


def _at_ends(weight: np.ndarray, index: np.ndarray, points: int) -> tuple[np.ndarray, np.ndarray]:
    """The missing point beyond an end is 3 a - 3 b + c of the last three."""
    weight, index = weight.copy(), index.copy()
    low, high = index[..., 0] < 0, index[..., 3] >= points
    w = weight[low]
    weight[low] = np.stack(
        [0 * w[:, 0], w[:, 1] + 3 * w[:, 0], w[:, 2] - 3 * w[:, 0], w[:, 3] + w[:, 0]], axis=-1
    )
    w = weight[high]
    weight[high] = np.stack(
        [w[:, 0] + w[:, 3], w[:, 1] - 3 * w[:, 3], w[:, 2] + 3 * w[:, 3], 0 * w[:, 3]], axis=-1
    )
    return weight, np.clip(index, 0, points - 1)


@named_arguments
def tabulate(robot: Robot, points: int = 32, *, degree: int = 3) -> Tabulated:
    """The tables of a robot: `points` values per joint, over its limits or a full turn."""
    require_numbers(robot, "a tabulated model")
    if is_floating(robot) or has_springs(robot) or robot.base.kind != "fixed":
        raise ModelError(f"tabulated models are for a fixed base and rigid joints: '{robot.name}'")
    if robot.constrained:
        raise ModelError(f"'{robot.name}' has closed loops or couplings: not tabulated")
    for link in robot.links:
        if any(number(getattr(link, key)) for key in WRENCH):
            raise ModelError(
                f"link {link.name} of '{robot.name}' has a wrench (FX .. CZ), which has no place"
                " in the tables: set it to zero, and add its torques yourself"
            )
    if degree not in (1, 3) or not isinstance(points, int) or points < 4:
        raise InputError(f"points = {points}, degree = {degree}: expected >= 4, and 1 or 3")
    start, step, periodic = _grid(robot, points)
    program = derived(robot, "lagrange", form="configuration")
    sets, places = _arranged(program)
    needed = sum(8 * points ** len(joints) * len(refs) for joints, refs in sets.items())
    if needed > LARGEST:
        widest = max(map(len, sets))
        raise InputError(
            f"{points} points need {needed / 2**20:.0f} MiB: coefficients of '{robot.name}' depend"
            f" on up to {widest} joints at once; take fewer points (at most {LARGEST >> 20} MiB)"
        )
    groups = tuple(
        Group(joints, _sampled(robot, program, joints, refs, points, start, step))
        for joints, refs in sets.items()
    )
    return Tabulated(robot, points, degree, start, step, periodic, groups, places)


def _grid(robot: Robot, points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First point, step and whether it is a full turn, by joint."""
    low, high = bounds(robot, "lower"), bounds(robot, "upper")
    turning = np.array([unit.position == "rad" for unit in units(robot)])
    limited = np.isfinite(low) & np.isfinite(high)
    periodic = turning & (~limited | (high - low >= 2 * np.pi))
    open_ = ~periodic & ~limited
    if open_.any():
        name = robot.variables[int(np.argmax(open_))]
        raise InputError(f"joint {name} slides without limits: a table needs them")
    start = np.where(periodic, -np.pi, low)
    step = np.where(periodic, 2 * np.pi / points, (high - low) / (points - 1))
    return start, step, periodic


def _arranged(
    program: Program,
) -> tuple[dict[tuple[int, ...], list[int]], dict[str, list[tuple[int, int, int]]]]:
    """(joints -> distinct nodes that depend on just those, output -> where its elements are)."""
    reach = _reach(program.code)
    sets: dict[tuple[int, ...], list[int]] = {}
    for output in program.code.outputs.values():
        for ref in output.refs:
            listed = sets.setdefault(tuple(sorted(reach[abs(ref)])), [])
            if abs(ref) not in listed:
                listed.append(abs(ref))
    order = list(sets)
    places = {
        name: [
            (
                order.index(tuple(sorted(reach[abs(ref)]))),
                sets[tuple(sorted(reach[abs(ref)]))].index(abs(ref)),
                1 if ref > 0 else -1,
            )
            for ref in output.refs
        ]
        for name, output in program.code.outputs.items()
    }
    return sets, places


def _reach(code: Code) -> list[frozenset[int]]:
    """The elements of q each node depends on."""
    sets: list[frozenset[int]] = [frozenset()]
    for node in code.nodes[1:]:
        if node[0] == "input":
            sets.append(frozenset({node[2]}))
        elif node[0] in LEAVES:
            sets.append(frozenset())
        else:
            sets.append(frozenset().union(*(sets[arg] for arg in node[1:])))
    return sets


def _sampled(
    robot: Robot, program: Program, joints: tuple[int, ...], refs: Sequence[int], points: int,
    start: np.ndarray, step: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """The values of nodes over the grid of some joints."""
    only = replace(program.code, outputs={"x": Output((len(refs),), tuple(refs))}, labels={})
    axes = [start[j] + step[j] * np.arange(points) for j in joints]
    q = np.zeros((*(points for _ in joints), robot.n))
    for j, values in zip(joints, np.meshgrid(*axes, indexing="ij"), strict=True):
        q[..., j] = values
    return np.asarray(replace(program, code=live(only), page=None).compile()(q=q))


@named_arguments
def trade_off(
    robot: Robot, points: Sequence[int], *, degree: int = 3, states: int = 2000, seed: int = 0
) -> list[dict[str, float]]:
    """Memory and largest relative torque error of tables of several sizes, at random states."""
    rows = []
    for count in points:
        table = tabulate(robot, count, degree=degree)
        x = random_states(table, states, seed)
        exact = compiled(robot, "inverse-dynamics")(**x)
        error = np.abs(table(**x) - exact).max(axis=0) / np.abs(exact).max(axis=0)
        rows.append({"points": count, "bytes": table.memory, "error": float(error.max())})
    return rows


def random_states(table: Tabulated, count: int, seed: int) -> dict[str, Any]:
    """Random positions in the tables, velocities and accelerations."""
    rng = np.random.default_rng(seed)
    span = table.step * np.where(table.periodic, table.points, table.points - 1)
    q = table.start + span * rng.random((count, table.robot.n))
    qd, qdd = rng.uniform(-3, 3, (2, count, table.robot.n))
    return {"q": q, "qd": qd, "qdd": qdd}
