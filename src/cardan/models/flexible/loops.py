"""Flexible parallel robots, [BK13] 4 (27)-(38): loops closed on the models of the tree.

The robot is the tree cut open at one joint per loop, with the two frames of each cut as massless
links. What the cut joint forbids, measured from the loop's root at rest, is

    G q̇_t = 0      G q̈_t + g = 0                                              (31), (35)

Two routes, agreeing: multipliers of independent rows of G, eliminated along the tree (any number
of rows, hyperstatic structures too); or passive joints eliminated, q̇_t = J q̇ (34), and
J^T M_t J q̈ + J^T (c_t + M_t b) = τ (38). Where the rows outnumber the passive joints, the latter
follow in the sense of least squares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...algebra.rotation import Rotation
from ...algebra.scalar import HALF
from ...algebra.solve import solve_symmetric
from ...algebra.vector import Vec, cross, dot, hat, weighted
from ...mechanism.coordinates import Key
from ..bodies import Bodies
from ..composite import paths_to_base
from ..motion import Motion, advance

Scalar = Any
Row = dict[Key, Scalar]
Pair = tuple[Vec, Vec]
a = Vec(0, 0, 1)
zero = Vec(0, 0, 0)

# what each kind of cut joint forbids; upper case: in the axes of the loop's root; "uu": the turn
# about x of the twin cross z of the cut, the one that a universal joint forbids; "qj": joint j of a
# coupling follows joint k, which stand for cut and twin
ROWS = {
    "revolute": ("VX", "VY", "VZ", "wx", "wy"),
    "prismatic": ("vx", "vy", "WX", "WY", "WZ"),
    "fixed": ("VX", "VY", "VZ", "WX", "WY", "WZ"),
    "cylindrical": ("vx", "vy", "wx", "wy"),
    "spherical": ("VX", "VY", "VZ"),
    "universal": ("VX", "VY", "VZ", "uu"),
    "coupling": ("qj",),
}
FREE = {  # what it lets go: the velocity of a cut joint, in the axes of the cut
    "revolute": ("wz",), "prismatic": ("vz",), "cylindrical": ("vz", "wz"),
    "spherical": ("wx", "wy", "wz"), "universal": ("wx", "wy", "wz"),
}  # fmt: skip


@dataclass(frozen=True)
class Cut:
    """A loop: its kind of cut joint, the frames it joins, and the rows that are kept."""

    kind: str
    cut: int
    twin: int
    rows: tuple[str, ...]


def root_of(robot: Bodies, cut: Cut) -> int:
    """The last link that carries both frames."""
    to_cut, to_twin = robot.tree.path(cut.cut), robot.tree.path(cut.twin)
    common = [i for i, j in zip(to_cut, to_twin, strict=False) if i == j]
    return common[-1] if common else 0


def _path(robot: Bodies, root: int, end: int) -> list[int]:
    """Links from below the root to the end."""
    chain = list(robot.tree.path(end))
    return chain[chain.index(root) + 1 :] if root else chain


@dataclass
class Side:
    """A frame seen from the root at rest, in the root's axes."""

    R: Rotation
    P: Vec
    columns: dict[Key, Pair]


def side(robot: Bodies, x: Motion, root: int, end: int) -> Side:
    """Position and Jacobian of a frame: (12)-(15), gathered from the frame inwards."""
    columns: dict[Key, Pair] = {}
    e, R = zero, Rotation([])
    for j in reversed(_path(robot, root, end)):
        link, T = robot.links[j - 1], x.frames[j]
        if link.s or link.sbar:
            columns["joint", j, 0] = (link.s * a + link.sbar * cross(a, e), link.sbar * a)
        columns = {key: (T.iRj @ v, T.iRj @ w) for key, (v, w) in columns.items()}
        beyond = T.iRj @ e
        for k, (D, W) in enumerate(zip(T.D, T.W, strict=True)):
            columns["elastic", link.i, k] = (D + cross(W, beyond), W)
        e = T.iPj + beyond
        R = T.iRj @ R
    return Side(R, e, columns)


def _drift(robot: Bodies, x: Motion, root: int, end: int) -> tuple[Pair, Pair]:
    """(V, ω) and the acceleration at q̈ = 0 of a frame, its root at rest, in the root's axes."""
    y = Motion(x.q, x.qd, x.placed, w={root: zero}, square={root: hat(zero)})
    path = _path(robot, root, end)
    V, Vd, wd = zero, zero, zero
    R = Rotation([])
    for j in path:
        link, T = robot.links[j - 1], x.frames[j]
        i = link.i
        advance(link, T, y)
        Ve = T.bending(y.w[i], x.qd.elastic[i])[0]
        V = T.jRi @ (V + cross(y.w[i], T.iPj) + Ve) + link.s * x.qd.joint[j] * a
        carried, turning = T.motion(Vd, wd)
        Vd, wd = carried + y.gamma[j][0], turning + y.gamma[j][1]
        R = R @ T.iRj
        y.square[j] = hat(y.w[j]) @ hat(y.w[j])
    w = y.w[path[-1]] if path else zero
    return (R @ V, R @ w), (R @ Vd, R @ wd)


def constraint_rows(robot: Bodies, x: Motion, cut: Cut) -> list[Row]:
    """The kept rows of G for one loop."""
    if cut.kind == "coupling":
        ((_, ratio),) = robot.links[cut.cut - 1].leaders
        return [{("joint", cut.cut, 0): 1, ("joint", cut.twin, 0): -ratio} for _ in cut.rows]
    root = root_of(robot, cut)
    c, t = side(robot, x, root, cut.cut), side(robot, x, root, cut.twin)
    rows: list[Row] = []
    reach = t.P - c.P
    back = c.R.T
    keys = list(dict.fromkeys([*c.columns, *t.columns]))
    none = (zero, zero)
    normal = cross(t.R @ Vec(1, 0, 0), c.R @ a) if "uu" in cut.rows else zero
    for name in cut.rows:
        row: Row = {}
        for key in keys:
            (vc, wc), (vt, wt) = c.columns.get(key, none), t.columns.get(key, none)
            if name == "uu":
                row[key] = dot(normal, wt - wc)
            elif name[0] in "vV":
                v = vt - vc if name[0] == "V" else back @ (vt - vc - cross(wc, reach))
                row[key] = v[_axis(name)]
            else:
                v = wt - wc if name[0] == "W" else back @ (wt - wc)
                row[key] = v[_axis(name)]
        rows.append(row)
    return rows


def _axis(name: str) -> int:
    return "xyz".index(name[1].lower())


def constraint_drift(robot: Bodies, x: Motion, cut: Cut) -> list[Scalar]:
    """The kept components of g, (35)."""
    if cut.kind == "coupling":
        return [0 for _ in cut.rows]
    root = root_of(robot, cut)
    (Vc, wc), (Ac, ac) = _drift(robot, x, root, cut.cut)
    (Vt, wt), (At, at) = _drift(robot, x, root, cut.twin)
    drift = []
    table = {"V": At - Ac, "W": at - ac}
    if any(name[0].islower() for name in cut.rows):
        c, t = side(robot, x, root, cut.cut), side(robot, x, root, cut.twin)
        reach, back = t.P - c.P, c.R.T
        spin = wt - wc
        relative = Vt - Vc - cross(wc, reach)
        table["w"] = back @ (at - ac - cross(wc, spin))
        sliding = At - Ac - cross(ac, reach) - cross(wc, cross(wc, reach)) - cross(2 * wc, relative)
        table["v"] = back @ sliding
        x_t, z_c = t.R @ Vec(1, 0, 0), c.R @ a
        turn = cross(cross(wt, x_t), z_c) + cross(x_t, cross(wc, z_c))
        universal = dot(cross(x_t, z_c), at - ac) + dot(turn, spin)
    for name in cut.rows:
        drift.append(universal if name == "uu" else table[name[0]][_axis(name)])
    return drift


def closing_error(robot: Bodies, x: Motion, cut: Cut) -> list[Scalar]:
    """How far a loop is open: a component for each row that its joint forbids."""
    if cut.kind == "coupling":
        link, q = robot.links[cut.cut - 1], x.q.joint
        return [q[cut.cut] - link.leaders[0][1] * q[cut.twin] - link.offset]
    root = root_of(robot, cut)
    c, t = side(robot, x, root, cut.cut), side(robot, x, root, cut.twin)
    reach = t.P - c.P
    back = c.R.T
    z = back @ (t.R @ a)
    xx, yy = back @ (t.R @ Vec(1, 0, 0)), back @ (t.R @ Vec(0, 1, 0))
    own = back @ reach
    twist = HALF * (xx[1] - yy[0]) if "WZ" in ROWS[cut.kind] else 0
    turned = Vec(-z[1], z[0], twist)  # a small turn; `is_reversed` tells a large one
    table = {"V": reach, "v": own, "w": turned, "W": c.R @ turned}
    return [
        dot(xx, a) if name == "uu" else table[name[0]][_axis(name)] for name in ROWS[cut.kind]
    ]


def is_reversed(robot: Bodies, x: Motion, cut: Cut) -> bool:
    """Do axes that should agree point against each other? The closing error does not see it."""
    if cut.kind == "coupling":
        return False
    root = root_of(robot, cut)
    relative = side(robot, x, root, cut.cut).R.T @ side(robot, x, root, cut.twin).R
    axes = relative.matrix()
    against = float(axes[2, 2]) < 0 or ("WZ" in ROWS[cut.kind] and float(axes[0, 0]) < 0)
    return cut.kind not in ("spherical", "universal") and against


def dependent(
    rows: Sequence[Row], passive: Sequence[Key], qd: Mapping[Key, Scalar]
) -> dict[Key, Scalar]:
    """Velocities of the passive joints: (33), by least squares where rows outnumber them."""
    if not passive:
        return {}
    right = [-along(row, qd) for row in rows]
    A = [[row.get(key, 0) for key in passive] for row in rows]
    return dict(zip(passive, least_squares(A, right), strict=True))


def jacobian(
    rows: Sequence[Row], independent: Sequence[Key], passive: Sequence[Key]
) -> dict[Key, dict[Key, Scalar]]:
    """J of (34), by coordinate of the tree: its velocity by those of the independent ones."""
    J: dict[Key, dict[Key, Scalar]] = {key: {key: 1} for key in independent}
    for key in independent:
        for p, value in dependent(rows, passive, {key: 1}).items():
            J.setdefault(p, {})[key] = value
    return J


def least_squares(A: Sequence[Sequence[Scalar]], b: Sequence[Scalar]) -> list[Scalar]:
    """x with A x = b; by A^T A where A is not square. Two unknowns go by Cramer's rule."""
    n = len(A[0])
    if len(A) == n == 2:
        return _cramer(A, b)
    columns = [[row[c] for row in A] for c in range(n)]
    square = [[dot(u, v) for v in columns] for u in columns]
    return solve_symmetric(square, [dot(u, b) for u in columns])


def _cramer(A: Sequence[Sequence[Scalar]], b: Sequence[Scalar]) -> list[Scalar]:
    (p, q), (r, s) = A
    inverse = 1 / (p * s - q * r)
    return [(s * b[0] - q * b[1]) * inverse, (p * b[1] - r * b[0]) * inverse]


def along(row: Mapping[Key, Scalar], values: Mapping[Key, Scalar]) -> Scalar:
    """The row times these values."""
    return weighted({key: value for key, value in values.items() if key in row}, row)


def solve_loops(
    robot: Bodies, A: Mapping[tuple[Key, Key], Scalar], rhs: Mapping[Key, Scalar],
    rows: Sequence[Row], g: Sequence[Scalar], free: Sequence[Key],
) -> tuple[dict[Key, Scalar], list[Scalar]]:  # fmt: skip
    """(q̈, λ) of A q̈ + G^T λ = rhs, G q̈ + g = 0 over the coordinates `free`.

    A = L^T D L along the tree; the rows of G are eliminated with the right side, so that only the
    small matrix G A^-1 G^T = Σ y y^T / D remains."""
    paths = paths_to_base(robot, free)
    order = list(paths)
    D = {(k, i): A.get((k, i), 0) for k in order for i in (k, *paths[k])}
    r = len(rows)
    y = {key: [rhs[key], *(row.get(key, 0) for row in rows)] for key in order}
    inverse: dict[Key, Scalar] = {}
    L: dict[tuple[Key, Key], Scalar] = {}
    for key in reversed(order):
        inverse[key] = 1 / D[key, key]
        for n, i in enumerate(paths[key]):
            ratio = L[key, i] = D[key, i] * inverse[key]
            for j in paths[key][n:]:
                D[i, j] = D[i, j] - ratio * D[key, j]
            y[i] = [u - ratio * v for u, v in zip(y[i], y[key], strict=True)]
    S: list[list[Scalar]] = [[0] * r for _ in range(r)]
    v: list[Scalar] = list(g)
    for key in order:
        scaled = [inverse[key] * u for u in y[key][1:]]
        for m in range(r):
            v[m] = v[m] + scaled[m] * y[key][0]
            for k in range(m + 1):
                S[m][k] = S[k][m] = S[m][k] + scaled[m] * y[key][k + 1]
    force = solve_symmetric(S, v)
    solved: dict[Key, Scalar] = {}
    for key in order:
        value = (y[key][0] - dot(force, y[key][1:])) * inverse[key]
        for i in paths[key]:
            value = value - L[key, i] * solved[i]
        solved[key] = value
    return solved, force


def eliminated(
    A: Mapping[tuple[Key, Key], Scalar], c: Mapping[Key, Scalar], rows: Sequence[Row],
    g: Sequence[Scalar], independent: Sequence[Key], passive: Sequence[Key],
) -> tuple[list[list[Scalar]], list[Scalar]]:  # fmt: skip
    """(M, c) of (38): the passive joints eliminated by (34) and (36)."""
    J = jacobian(rows, independent, passive)
    W = [[row.get(p, 0) for p in passive] for row in rows]
    b = dict(zip(passive, least_squares(W, [-x for x in g]), strict=True)) if passive else {}
    everything = [*independent, *passive]
    load = {}
    for k in everything:
        load[k] = c[k]
        for p in passive:
            load[k] = load[k] + A.get((k, p), 0) * b[p]
    MJ = {
        (k, n): along({m: A.get((k, m), 0) for m in everything},
                       {m: J[m].get(n, 0) for m in everything})
        for k in everything for n in independent
    }  # fmt: skip
    M = [
        [along({k: MJ[k, n] for k in everything}, {k: J[k].get(m, 0) for k in everything})
         for n in independent] for m in independent
    ]  # fmt: skip
    force = [along(load, {k: J[k].get(m, 0) for k in everything}) for m in independent]
    return M, force

