"""The inertia matrix by composite links, [KC97] 5.3.2 (26)-(38), [BK13] (22), (25).

Column j of A is the force of a unit acceleration of coordinate j with no velocity and no gravity;
then all links beyond joint j move as one, the composite (generalized) link, and only its reaction
is carried back to the base, onto each coordinate that it meets. A rigid link has no coordinates of
its own; those of a flexible link are two of its forces away: C_k on its frame, E_kl on one another.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.inertia import Inertia
from ..algebra.rotation import Rotation
from ..algebra.vector import Mat, Vec, dot, zero
from ..mechanism.coordinates import Key
from .bodies import Bodies, Body, Placed, cosines
from .flexible.body import Deformed, deformed_link
from .frame import Frame

Scalar = Any
Pair = tuple[Vec, Vec]
a = Vec(0, 0, 1)


@dataclass
class Composite:
    """Composite links, and A by pairs of coordinates, in both orders.

    C_e, E_e: of a flexible composite link, the wrench and the forces of unit accelerations of its
    elastic coordinates."""

    C: dict[str, Scalar] = field(default_factory=dict)
    S: dict[str, Scalar] = field(default_factory=dict)
    Jplus: dict[int, Mat] = field(default_factory=dict)
    MSplus: dict[int, Vec] = field(default_factory=dict)
    Mplus: dict[int, Scalar] = field(default_factory=dict)
    C_e: dict[int, list[Pair]] = field(default_factory=dict)
    E_e: dict[int, list[list[Scalar]]] = field(default_factory=dict)
    A: dict[tuple[Key, Key], Scalar] = field(default_factory=dict)
    # by (frame, joint): the reaction to a unit acceleration of the joint, as that frame has it
    fA: dict[tuple[int, int], Vec] = field(default_factory=dict)
    nA: dict[tuple[int, int], Vec] = field(default_factory=dict)

    def inertia(self, j: int) -> Inertia:
        return Inertia(self.Jplus[j], self.MSplus[j], self.Mplus[j])

    def put(self, row: Key, column: Key, value: Scalar) -> None:
        self.A[row, column] = self.A[column, row] = value

    def rows(self, keys: Sequence[Key]) -> list[list[Scalar]]:
        """A over these coordinates."""
        return [[self.A.get((r, c), 0) for c in keys] for r in keys]

    def matrix(self, links: Sequence[int]) -> list[list[Scalar]]:
        """A over the joints of these links."""
        return self.rows([("joint", j, 0) for j in links])


def composite_links(robot: Bodies, q: Sequence[Scalar], placed: Placed) -> Composite:
    """Composite links, (27)-(30); link 0 included."""
    x = Composite(*cosines(placed))
    elastic = robot.split(q).elastic
    plus: dict[int, Inertia] = {}
    for link in (robot.base, *(link for link, _ in placed)):
        body: Deformed = deformed_link(link, elastic[link.j])
        plus[link.j] = Inertia(body.I, body.MS, link.M)
        x.C_e[link.j] = list(zip(body.MSde, body.MSre, strict=True))
        x.E_e[link.j] = [list(row) for row in link.flexible.integrals.Mee] if link.flexible else []
    for link, T in reversed(placed):
        i, j = link.i, link.j
        turned = robot.recall(Inertia.rotated, plus[j], T.iRj)
        for k, (D, W) in enumerate(zip(T.D, T.W, strict=True)):
            f, n = turned @ (D, W)
            for m in range(k + 1):
                x.E_e[i][k][m] = x.E_e[i][k][m] + (dot(T.D[m], f) + dot(T.W[m], n))
            f, n = T.about_origin(f, n)
            x.C_e[i][k] = (x.C_e[i][k][0] + f, x.C_e[i][k][1] + n)
        plus[i] = robot.recall(_together, plus[i], turned, T.iPj)                     # (27)-(30)
    for j, own in plus.items():
        x.Jplus[j], x.MSplus[j], x.Mplus[j] = own.J, own.MS, own.M
    return x


def inertia_matrix(robot: Bodies, q: Sequence[Scalar], base: bool = False) -> Composite:
    """A over joints and elastic coordinates; `base`: and the six of a free base, [K10] (84)."""
    placed = robot.at(q)
    x = composite_links(robot, q, placed)
    frames = {link.j: (link, T) for link, T in placed}
    for link, _ in placed:
        j = link.j
        columns: list[tuple[Key, Pair]] = [
            (("elastic", j, k), pair) for k, pair in enumerate(x.C_e[j])
        ]
        for k, row in enumerate(x.E_e[j]):
            for m in range(k + 1):
                x.put(("elastic", j, k), ("elastic", j, m), row[m])
        if link.joint:
            own: Key = ("joint", link.joint, 0)
            f, n = axis_reaction(x, link)                                             # (31)-(34)
            x.put(own, own, _on_axis(link, (f, n)) + link.IA)                         # (35)
            for key, pair in columns:
                x.put(key, own, _on_axis(link, pair))
            columns.append((own, (f, n)))
        for key, (f, n) in columns:
            k = j
            while k:
                up, T = frames[k]
                k = up.i
                f, n = robot.recall(_turned, T.iRj, f, n)                             # (36)
                for m, (D, W) in enumerate(zip(T.D, T.W, strict=True)):
                    x.put(("elastic", k, m), key, dot(D, f) + dot(W, n))
                f, n = robot.recall(Frame.about_origin, T, f, n)                      # (37)
                if key[0] == "joint" and k:
                    x.fA[k, j], x.nA[k, j] = f, n
                if k and frames[k][0].joint:
                    above = frames[k][0]
                    x.put(("joint", above.joint, 0), key, _on_axis(above, (f, n)))    # (38)
            for m, value in enumerate([*f, *n] if base else ()):
                x.put(("base", 0, m), key, value)
    if base:
        _put_base(x)
    return x


def axis_reaction(x: Composite, link: Body) -> Pair:
    """Force and moment, about O_j, of composite link j under a unit acceleration of its joint."""
    (MX, MY, _), M, J = x.MSplus[link.j], x.Mplus[link.j], x.Jplus[link.j]
    f = link.s * Vec(0, 0, M) + link.sbar * Vec(-MY, MX, 0)                           # (31), (33)
    n = link.sbar * Vec(J[0, 2], J[1, 2], J[2, 2]) + link.s * Vec(MY, -MX, 0)         # (32), (34)
    return f, n


def _together(body: Inertia, other: Inertia, P: Vec) -> Inertia:
    """A body and another one, about an origin from which that lies at P."""
    return body + other.moved(P)


def _turned(R: Rotation, f: Vec, n: Vec) -> Pair:
    return R @ f, R @ n


def _on_axis(link: Body, pair: Pair) -> Scalar:
    return (link.s * pair[0] + link.sbar * pair[1]) @ a


def _put_base(x: Composite) -> None:
    """The inertia of all links as one body about the origin of frame 0."""
    whole = x.inertia(0)
    units = [Vec(*(int(k == m) for m in range(3))) for k in range(3)]
    motions = [*((u, zero) for u in units), *((zero, u) for u in units)]
    for k, motion in enumerate(motions):
        f, n = whole @ motion
        for m, value in enumerate([*f, *n]):
            x.put(("base", 0, m), ("base", 0, k), value)


def solve_matrix(
    robot: Bodies, A: Mapping[tuple[Key, Key], Scalar], rhs: Mapping[Key, Scalar],
    free: Collection[Key] | None = None,
) -> dict[Key, Scalar]:  # fmt: skip
    """y with A y = rhs over the coordinates `free`, as L^T D L along the tree: no fill-in when
    coordinates are eliminated from the tips to the base."""
    paths = paths_to_base(robot, free)
    order = list(paths)
    D = {(k, i): A.get((k, i), 0) for k in order for i in (k, *paths[k])}
    L: dict[tuple[Key, Key], Scalar] = {}
    y = {key: rhs[key] for key in order}
    inverse: dict[Key, Scalar] = {}
    for k in reversed(order):
        inverse[k] = 1 / D[k, k]
        for m, i in enumerate(paths[k]):
            L[k, i] = D[k, i] * inverse[k]
            for j in paths[k][m:]:
                D[i, j] = D[i, j] - L[k, i] * D[k, j]
            y[i] = y[i] - L[k, i] * y[k]
    for k in order:
        y[k] = y[k] * inverse[k]
        for i in paths[k]:
            y[k] = y[k] - L[k, i] * y[i]
    return y


def inverse_matrix(robot: Bodies, x: Composite) -> list[list[Scalar]]:
    """A^-1 over the joints, as L^-1 D^-1 L^-T of A = L^T D L along the tree."""
    paths = paths_to_base(robot)
    order = list(paths)
    D = {(k, i): x.A.get((k, i), 0) for k in order for i in (k, *paths[k])}
    L: dict[tuple[Key, Key], Scalar] = {}
    inverse: dict[Key, Scalar] = {}
    for k in reversed(order):
        inverse[k] = 1 / D[k, k]
        for m, i in enumerate(paths[k]):
            L[k, i] = D[k, i] * inverse[k]
            for j in paths[k][m:]:
                D[i, j] = D[i, j] - L[k, i] * D[k, j]
    Y: dict[tuple[Key, Key], Scalar] = {}                                            # L^-1
    for k in order:
        Y[k, k] = 1
        for m, i in enumerate(paths[k]):
            value = -L[k, i]
            for j in paths[k][:m]:
                value = value - L[k, j] * Y[j, i]
            Y[k, i] = value
    scaled = {(k, i): y * inverse[i] for (k, i), y in Y.items()}
    size = range(len(order))
    rows: list[list[Scalar]] = [[0 for _ in size] for _ in size]
    for r in size:
        for c in range(r + 1):
            value = 0
            for i in (order[c], *paths[order[c]]):
                value = value + scaled.get((order[r], i), 0) * Y[order[c], i]
            rows[r][c] = rows[c][r] = value
    return rows


def paths_to_base(robot: Bodies, free: Collection[Key] | None = None) -> dict[Key, list[Key]]:
    """Coordinates from the base outwards, each with those before it, the nearest first; of a link
    its joint comes before its elastic coordinates."""
    paths: dict[Key, list[Key]] = {}
    last: dict[int, list[Key]] = {0: []}
    for link in robot.links:
        here = last[link.i]
        own: list[Key] = [("joint", link.j, 0)] if link.joint else []
        own += [("elastic", link.j, k) for k in range(link.flexible.N if link.flexible else 0)]
        for key in own:
            if free is None or key in free:
                paths[key] = here
                here = [key, *here]
        last[link.j] = here
    return paths
