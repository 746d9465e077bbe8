"""Dynamics of trees with flexible links: a recursion of order n, and the mass matrix.

The recursion is [K10] 6.3 and 3.3.2 with more than one variable per link: the elastic coordinates
of link j are eliminated from its model (4) one after the other, then its joint; what is left is
the 6x6 articulated inertia that the antecedent carries at its section. Each joint has its torque
or its acceleration given; elastic coordinates have their force given, K q + D q̇ being in (4).

The matrix is the assembly Σ J^T M J of [BK13] (22), (25), formed by composite links: the wrench of
a unit acceleration is carried inwards and projected on each coordinate it meets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...algebra.inertia import Inertia, congruence, turned
from ...algebra.scalar import sign
from ...algebra.vector import Mat, Vec, dot, hat
from ..bodies import Bodies, Body
from ..direct_dynamics import Articulated, solve_tree
from .tree import Motion, Pair, moved_acceleration

__all__ = ["Key", "MassMatrix", "Solution", "articulated", "joint_torques", "mass_matrix",
           "solve_matrix"]  # fmt: skip

Scalar = Any
Key = tuple[str, int, int]  # ("joint", j, 0), ("elastic", j, k), ("base", 0, axis)
a = Vec(0, 0, 1)


@dataclass
class Solution:
    """What the recursion finds, by link."""

    H: dict[int, Scalar] = field(default_factory=dict)
    VVd: dict[int, Pair] = field(default_factory=dict)
    qdd: dict[int, Scalar] = field(default_factory=dict)
    qedd: dict[int, list[Scalar]] = field(default_factory=dict)
    tau: dict[int, Scalar] = field(default_factory=dict)
    V0d: Pair | None = None


@dataclass
class _Node:
    """The model of link j while its subtree is folded into it."""

    A: Articulated
    C: list[Pair]
    E: list[list[Scalar]]
    f: Vec
    n: Vec
    s: list[Scalar]
    pivots: list[tuple[Pair, Scalar, list[Scalar], Scalar]] = field(default_factory=list)


def joint_torques(robot: Bodies, x: Motion, tau: Mapping[int, Scalar]) -> dict[int, Scalar]:
    """Given torques and those of elastic joints, friction taken off."""
    found = dict(tau)
    for j in robot.elastic:
        found[j] = robot.links[j - 1].elastic_torque(x.q.joint[j], x.qd.joint[j])
    for j in found:
        link, rate = robot.links[j - 1], x.qd.joint[j]
        found[j] = found[j] - (link.FS * sign(rate) + link.FV * rate)
    return found


def articulated(
    robot: Bodies, x: Motion, *, tau: Mapping[int, Scalar],
    qdd: Mapping[int, Scalar] | None = None, free_base: bool = False,
) -> Solution:  # fmt: skip
    """Accelerations and torques when each joint has one of the two given, by link."""
    out = Solution()
    given = dict(qdd or {})
    net = joint_torques(robot, x, tau)
    nodes = {link.j: _node(link, x) for link in (robot.base, *robot.links)}
    folded = {}
    for link in reversed(robot.links):
        node = nodes[link.j]
        _eliminate_elastic(node)
        K, alpha, folded[link.j] = _eliminate_joint(link, x, node, net, given, out)
        if link.i or free_base:
            _carry(nodes[link.i], x, link.j, K, alpha)
    out.VVd[0] = (robot.Vd0 - robot.gravity, robot.wd0)
    if free_base:
        out.VVd[0] = nodes[0].A.solve(-nodes[0].f, -nodes[0].n)
        out.V0d = (out.VVd[0][0] + robot.gravity, out.VVd[0][1])
    for link in robot.links:
        _advance(robot, link, x, nodes[link.j], folded[link.j], given, out)
    return out


def _node(link: Body, x: Motion) -> _Node:
    j, body = link.j, x.body[link.j]
    L = Mat([[link.M, 0, 0], [0, link.M, 0], [0, 0, link.M]])
    E = [list(row) for row in link.flexible.integrals.Mee] if link.flexible else []
    return _Node(
        Articulated(L, -hat(body.MS), body.I), list(zip(body.MSde, body.MSre, strict=True)), E,
        x.f_in[j], x.c_in[j], list(x.s_in[j]),
    )  # fmt: skip


def _eliminate_elastic(node: _Node) -> None:
    """Solve the elastic rows for q̈_N, ..., q̈_1, one after the other."""
    for k in reversed(range(len(node.E))):
        U, row, s = node.C[k], node.E[k], node.s[k]
        inverse = 1 / row[k]
        for m in range(k):
            ratio = row[m] * inverse
            node.C[m] = (node.C[m][0] - ratio * U[0], node.C[m][1] - ratio * U[1])
            for r in range(m + 1):
                node.E[m][r] = node.E[m][r] - ratio * row[r]
            node.s[m] = node.s[m] - ratio * s
        node.A = node.A.without(*U, row[k], inverse)
        pull = s * inverse
        node.f, node.n = node.f - pull * U[0], node.n - pull * U[1]
        node.pivots.append((U, inverse, row[:k], s))
    node.pivots.reverse()


def _eliminate_joint(
    link: Body, x: Motion, node: _Node, net: Mapping[int, Scalar], given: Mapping[int, Scalar],
    out: Solution,
) -> tuple[Articulated, Pair, Any]:  # fmt: skip
    """(K, α) with the wrench on the antecedent K m + α, m the acceleration carried to O_j."""
    j, h = link.j, x.h[link.j]
    own = (link.s * node.f + link.sbar * node.n) @ a
    column = node.A.column(2 if link.s else 5)
    if j in net:
        out.H[j] = (link.s * column[0] + link.sbar * column[1]) @ a + link.IA
        inverse = 1 / out.H[j]
        u = net[j] - own
        K = node.A.without(*column, out.H[j], inverse)
        f, n = K @ h
        push = u * inverse
        alpha = (f + node.f + push * column[0], n + node.n + push * column[1])
        return K, alpha, (column, inverse, u)
    f, n = node.A @ h
    rate = given.get(j, 0)
    alpha = (f + node.f + rate * column[0], n + node.n + rate * column[1])
    return node.A, alpha, (node.A, alpha)


def _carry(node: _Node, x: Motion, j: int, K: Articulated, alpha: Pair) -> None:
    """Add what link j asks of its antecedent: at O_i, and on its elastic coordinates."""
    seat = x.seat[j]
    K = Articulated(congruence(seat.R, K.L), turned(seat.R, K.B), congruence(seat.R, K.J))
    f, n = seat.wrench(*alpha)
    for k, (D, W) in enumerate(zip(seat.D, seat.W, strict=True)):
        pull = K @ (D, W)
        for m in range(k + 1):
            node.E[k][m] = node.E[k][m] + (dot(seat.D[m], pull[0]) + dot(seat.W[m], pull[1]))
        pull = seat.about_origin(*pull)
        node.C[k] = (node.C[k][0] + pull[0], node.C[k][1] + pull[1])
        node.s[k] = node.s[k] + (dot(D, f) + dot(W, n))
    f, n = seat.about_origin(f, n)
    node.f, node.n = node.f + f, node.n + n
    node.A = node.A + K.moved(seat.p)


def _advance(
    robot: Bodies, link: Body, x: Motion, node: _Node, folded: Any, given: Mapping[int, Scalar],
    out: Solution,
) -> None:  # fmt: skip
    """Accelerations of link j, from its antecedent's."""
    i, j, seat = link.i, link.j, x.seat[link.j]
    carried = moved_acceleration(seat, out.VVd[i], out.qedd.get(i, []))
    Vd, wd = carried[0] + x.h[j][0], carried[1] + x.h[j][1]
    if len(folded) == 3:
        column, inverse, u = folded
        out.qdd[j] = (u - (dot(column[0], Vd) + dot(column[1], wd))) * inverse
    elif j in given:
        K, alpha = folded
        f, n = K @ carried
        f, n = f + alpha[0], n + alpha[1]
        friction = link.FS * sign(x.qd.joint[j]) + link.FV * x.qd.joint[j]
        out.qdd[j] = given[j]
        out.tau[j] = (link.s * f + link.sbar * n) @ a + link.IA * given[j] + friction
    rate = out.qdd.get(j, 0)
    Vd, wd = out.VVd[j] = (Vd + link.s * rate * a, wd + link.sbar * rate * a)
    found: list[Scalar] = []
    for U, inverse, row, s in node.pivots:
        pulled = s + (dot(U[0], Vd) + dot(U[1], wd))
        for e, other in zip(row, found, strict=True):
            pulled = pulled + e * other
        found.append(-(pulled * inverse))
    out.qedd[j] = found


@dataclass
class MassMatrix:
    """The mass matrix by pairs of coordinates, both orders; with the six of a free base."""

    entries: dict[tuple[Key, Key], Scalar]
    keys: tuple[Key, ...]

    def rows(self, keys: Sequence[Key] | None = None) -> list[list[Scalar]]:
        """The matrix over these coordinates."""
        chosen = self.keys if keys is None else keys
        return [[self.entries.get((r, c), 0) for c in chosen] for r in chosen]


def coordinate_keys(robot: Bodies) -> tuple[Key, ...]:
    """Joints in link order, then elastic coordinates."""
    joints: list[Key] = [("joint", j, 0) for j in robot.tree.moving]
    return (*joints, *(("elastic", j, k) for j, e in robot.flexible.items() for k in range(e.N)))


def mass_matrix(robot: Bodies, x: Motion, base: bool = False) -> MassMatrix:
    """The matrix of Σ J^T M J q̈, rotor inertias included; `base`: with six rows of the base."""
    composite, C, E = _composites(robot, x)
    entries: dict[tuple[Key, Key], Scalar] = {}

    def put(row: Key, column: Key, value: Scalar) -> None:
        entries[row, column] = entries[column, row] = value

    for link in robot.links:
        j = link.j
        columns: list[tuple[Key, Pair]] = [
            (("elastic", j, k), pair) for k, pair in enumerate(C[j])
        ]
        for k, row in enumerate(E[j]):
            for m in range(k + 1):
                put(("elastic", j, k), ("elastic", j, m), row[m])
        if link.s or link.sbar:
            key: Key = ("joint", j, 0)
            pair = composite[j] @ (link.s * a, link.sbar * a)
            put(key, key, _on_axis(link, pair) + link.IA)
            for k, elastic in enumerate(C[j]):
                put(("elastic", j, k), key, _on_axis(link, elastic))
            columns.append((key, pair))
        for key, pair in columns:
            _project(robot, x, j, key, pair, put, base)
    keys = coordinate_keys(robot)
    if base:
        six: list[Key] = [("base", 0, k) for k in range(6)]
        unit = [Vec(*(int(k == m) for m in range(3))) for k in range(3)]
        none = Vec(0, 0, 0)
        motions = [*((u, none) for u in unit), *((none, u) for u in unit)]
        for k, pair in enumerate(composite[0] @ u for u in motions):
            for m, value in enumerate([*pair[0], *pair[1]]):
                put(six[m], six[k], value)
        keys = (*six, *keys)
    return MassMatrix(entries, keys)


def _composites(robot: Bodies, x: Motion) -> tuple[Any, Any, Any]:
    """Composite inertia of every subtree, and the forces of its elastic coordinates."""
    everything = (robot.base, *robot.links)
    composite = {b.j: Inertia(x.body[b.j].I, x.body[b.j].MS, b.M) for b in everything}
    C = {
        b.j: list(zip(x.body[b.j].MSde, x.body[b.j].MSre, strict=True)) for b in everything
    }
    E = {b.j: [list(row) for row in b.flexible.integrals.Mee] if b.flexible else []
         for b in everything}  # fmt: skip
    for link in reversed(robot.links):
        i, seat = link.i, x.seat[link.j]
        turned_inertia = composite[link.j].rotated(seat.R)
        for k, (D, W) in enumerate(zip(seat.D, seat.W, strict=True)):
            f, n = turned_inertia @ (D, W)
            for m in range(k + 1):
                E[i][k][m] = E[i][k][m] + (dot(seat.D[m], f) + dot(seat.W[m], n))
            f, n = seat.about_origin(f, n)
            C[i][k] = (C[i][k][0] + f, C[i][k][1] + n)
        composite[i] = composite[i] + turned_inertia.moved(seat.p)
    return composite, C, E


def _on_axis(link: Body, pair: Pair) -> Scalar:
    return (link.s * pair[0] + link.sbar * pair[1]) @ a


def _project(
    robot: Bodies, x: Motion, j: int, key: Key, pair: Pair, put: Any, base: bool
) -> None:
    """Carry a wrench of link j inwards; every coordinate on the way has a row for it."""
    f, n = pair
    while j:
        link, seat = robot.links[j - 1], x.seat[j]
        i = link.i
        f, n = seat.wrench(f, n)
        for k, (D, W) in enumerate(zip(seat.D, seat.W, strict=True)):
            put(("elastic", i, k), key, dot(D, f) + dot(W, n))
        f, n = seat.about_origin(f, n)
        if i:
            above = robot.links[i - 1]
            if above.s or above.sbar:
                put(("joint", i, 0), key, _on_axis(above, (f, n)))
        j = i
    if base:
        for k, value in enumerate([*f, *n]):
            put(("base", 0, k), key, value)


def elimination_order(robot: Bodies) -> tuple[list[Key], dict[Key, Key | None]]:
    """Coordinates from the base outwards, and the one before each: joint, then elastic ones."""
    order: list[Key] = []
    before: dict[Key, Key | None] = {}
    last: dict[int, Key | None] = {0: None}
    for link in robot.links:
        j = link.j
        here = last[link.i]
        own: list[Key] = [("joint", j, 0)] if link.s or link.sbar else []
        own += [("elastic", j, k) for k in range(link.flexible.N if link.flexible else 0)]
        for key in own:
            before[key], here = here, key
            order.append(key)
        last[j] = here
    return order, before


def solve_matrix(
    robot: Bodies, matrix: MassMatrix, rhs: Mapping[Key, Scalar], free: Sequence[Key] | None = None
) -> dict[Key, Scalar]:
    """x with M x = rhs over the coordinates `free`, as L^T D L along the tree: no fill-in."""
    order, before = elimination_order(robot)
    chosen = set(order if free is None else free)
    kept = [key for key in order if key in chosen]
    number = {key: k for k, key in enumerate(kept, 1)}

    def parent(k: int) -> int:
        key = before[kept[k - 1]]
        while key is not None and key not in chosen:
            key = before[key]
        return number[key] if key is not None else 0

    A: dict[tuple[int, int], Scalar] = {}
    for key in kept:
        above: Key | None = key
        while above is not None:
            if above in chosen:
                A[number[key], number[above]] = matrix.entries.get((key, above), 0)
            above = before[above]
    y = {number[key]: rhs[key] for key in kept}
    found = solve_tree(A, y, list(number.values()), parent)
    return {key: found[number[key]] for key in kept}
