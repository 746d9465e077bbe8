"""Direct dynamics of a tree: q̈ from torques; inverse dynamics where some accelerations are free.

- recursive: articulated inertias, [K10] 3.3.2 (32)-(44), with the corrections of the errata;
  nothing larger than one link is ever inverted. A 6x6 matrix is three 3x3 blocks
  [[L, B], [B^T, J]] in the order (linear, angular), each turned factor by factor.
- by A and H: A q̈ = Γ - H solved as L^T D L, which keeps the zeros of branches: no fill-in when
  links are eliminated from the tips to the base.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.inertia import congruence, turned
from ..algebra.scalar import sign
from ..algebra.solve import solve_symmetric
from ..algebra.vector import Mat, Vec, cross, hat
from .bodies import Bodies, Body, Frame
from .formulation import PLAIN, Formulation, formulated, trigonometry

__all__ = ["Articulated", "Direct", "articulated_dynamics", "direct_dynamics", "solve_tree"]

Scalar = Any
a = Vec(0, 0, 1)


@dataclass(frozen=True)
class Articulated:
    """A symmetric 6x6 matrix by blocks [[L, B], [B^T, J]], forces over moments."""

    L: Mat
    B: Mat
    J: Mat

    def __add__(self, other: Articulated) -> Articulated:
        return Articulated(self.L + other.L, self.B + other.B, self.J + other.J)

    def __matmul__(self, v: tuple[Vec, Vec]) -> tuple[Vec, Vec]:
        return self.L @ v[0] + self.B @ v[1], self.B.T @ v[0] + self.J @ v[1]

    def column(self, k: int) -> tuple[Vec, Vec]:
        """Column k of 0..5."""
        if k < 3:
            return Vec(*(row[k] for row in self.L.rows)), Vec(*self.B.rows[k])
        return Vec(*(row[k - 3] for row in self.B.rows)), Vec(*(row[k - 3] for row in self.J.rows))

    def without(self, f: Vec, n: Vec, H: Scalar, inverse: Scalar) -> Articulated:
        """This matrix minus the square (f; n)(f; n)^T / H, with 1/H given, (37).

        Without rotor inertia H is itself an entry of (f; n): H / H = 1 leaves a row of zeros."""
        fH, nH = (Vec(*(1 if _same(x, H) else inverse * x for x in v)) for v in (f, n))
        return Articulated(
            self.L - _outer(f, fH, symmetric=True),
            self.B - _outer(f, nH),
            self.J - _outer(n, nH, symmetric=True),
        )

    def solve(self, f: Vec, n: Vec) -> tuple[Vec, Vec]:
        """The motion (u, r) for which this matrix gives (f, n)."""
        rows = [[*self.L.rows[k], *self.B.rows[k]] for k in range(3)]
        rows += [[*self.B.T.rows[k], *self.J.rows[k]] for k in range(3)]
        x = solve_symmetric(rows, [*f, *n])
        return Vec(*x[:3]), Vec(*x[3:])

    def seen_from(self, T: Frame, slide: bool) -> Articulated:
        """jT_i^T (.) jT_i: the same about O_i in the axes of frame i, (40)."""
        x = self.moved(T.r * a) if slide else self
        x = Articulated(congruence(T.iRj, x.L), turned(T.iRj, x.B), congruence(T.iRj, x.J))
        return x.moved(T.P if slide else T.iPj)

    def moved(self, P: Vec) -> Articulated:
        """About an origin from which the present one lies at P: B' = B - L hat(P), J' = J + ..."""
        p = hat(P)
        B = self.B - self.L @ p
        PB = p @ self.B
        PBn = p @ B
        # J' = J + hat(P) B - B^T hat(P) - hat(P) L hat(P) = J + hat(P) B' + (hat(P) B)^T
        J = self.J.rows
        rows = [[J[r][q] + (PBn[r, q] + PB[q, r]) for q in range(3)] for r in range(3)]
        for r in range(3):
            for q in range(r):
                rows[r][q] = rows[q][r]
        return Articulated(self.L, B, Mat(rows))


def _same(x: Scalar, y: Scalar) -> bool:
    """Are two traced expressions one and the same?"""
    return hasattr(x, "ref") and bool(x == y)


def _outer(v: Vec, w: Vec, symmetric: bool = False) -> Mat:
    rows = [[x * y for y in w] for x in v]
    if symmetric:
        for r in range(3):
            for q in range(r):
                rows[r][q] = rows[q][r]
    return Mat(rows)


@dataclass
class Direct:
    """Quantities of the recursion by link; 6-vectors as (linear, angular) pairs."""

    C: dict[str, Scalar] = field(default_factory=dict)
    S: dict[str, Scalar] = field(default_factory=dict)
    w: dict[int, Vec] = field(default_factory=dict)
    gamma: dict[int, tuple[Vec, Vec]] = field(default_factory=dict)
    beta: dict[int, tuple[Vec, Vec]] = field(default_factory=dict)
    H: dict[int, Scalar] = field(default_factory=dict)
    f: dict[int, tuple[Vec, Vec]] = field(default_factory=dict)
    VVd: dict[int, tuple[Vec, Vec]] = field(default_factory=dict)
    qdd: dict[int, Scalar] = field(default_factory=dict)
    tau: dict[int, Scalar] = field(default_factory=dict)
    V0d: tuple[Vec, Vec] | None = None


def spatial_inertia(link: Body) -> Articulated:
    """The 6x6 inertia of a link, (11)."""
    L = Mat([[link.M, 0, 0], [0, link.M, 0], [0, 0, link.M]])
    return Articulated(L, -hat(link.MS), link.J)


def velocity_terms(
    robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar], w0: Vec,
    wrenches: Mapping[int, tuple[Vec, Vec]], form: Formulation,
) -> tuple[Bodies, Direct, dict[int, Frame]]:  # fmt: skip
    """First forward pass: velocities, γ (34) and β (35) of every link, the base included."""
    x = Direct()
    qs, qds = robot.spread(q), robot.spread(qd)
    robot, placed = formulated(robot, qs, form)
    x.C, x.S = trigonometry(robot, qs, placed, form)
    frames = {j: here.T for j, here in placed.items()}
    x.w[0] = w0
    square = {0: hat(w0) @ hat(w0)}
    for link in (robot.base, *robot.links):
        j = link.j
        if j:
            i, T = link.i, frames[j]
            qda = qds[j] * a
            jwi = T.jRi @ x.w[i]                                                      # (18)
            x.w[j] = jwi + link.sbar * qda                                            # (19)
            square[j] = hat(x.w[j]) @ hat(x.w[j])
            drift = cross(jwi, qda)
            if j in form.slide:
                linear = T.jRi @ (square[i] @ T.P) + (hat(jwi) @ hat(jwi)) @ (T.r * a)
            else:
                linear = T.jRi @ (square[i] @ T.iPj)
            x.gamma[j] = (linear + 2 * link.s * drift, link.sbar * drift)             # (34)
        f_e, n_e = link.f_e, link.n_e
        if j in wrenches:
            f, n = (placed[j].own(v) if j else v for v in wrenches[j])
            f_e, n_e = f_e + robot.unit * f, n_e + n
        gyro = cross(x.w[j], link.J @ x.w[j])
        x.beta[j] = (-f_e - square[j] @ link.MS, -n_e - gyro)                         # (35)
    return robot, x, frames


def articulated_dynamics(
    robot: Bodies,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    *,
    tau: Mapping[int, Scalar],
    qdd: Mapping[int, Scalar] | None = None,
    free_base: bool = False,
    wrenches: Mapping[int, tuple[Vec, Vec]] | None = None,
    form: Formulation = PLAIN,
) -> Direct:
    """Accelerations and torques when each joint has one of the two given, by link number.

    All torques given: the direct model (36)-(44). Accelerations of the rigid joints and torques
    of the elastic ones given: the inverse model with elastic joints (72)-(82). A free base adds
    (109)."""
    robot, x, frames = velocity_terms(robot, q, qd, robot.w0, wrenches or {}, form)
    slide = form.slide
    given, qds = dict(qdd or {}), robot.spread(qd)
    x.qdd.update(given)
    Jstar = {link.j: spatial_inertia(link) for link in (robot.base, *robot.links)}
    beta = dict(x.beta)
    U: dict[int, tuple[Vec, Vec]] = {}
    u: dict[int, Scalar] = {}
    inverse: dict[int, Scalar] = {}
    K: dict[int, Articulated] = {}
    alpha: dict[int, tuple[Vec, Vec]] = {}
    for link in reversed(robot.links):
        i, j, T = link.i, link.j, frames[link.j]
        carried = bool(i) or free_base
        K[j] = Jstar[j]                                                               # (75)
        if j in tau:
            U[j] = Jstar[j].column(2 if link.s else 5)                                # J* a
            x.H[j] = (link.s * U[j][0] + link.sbar * U[j][1]) @ a + link.IA           # (36), (72)
            inverse[j] = 1 / x.H[j]
            net = tau[j] - (link.FS * sign(qds[j]) + link.FV * qds[j])                # (44)
            u[j] = net + (link.s * beta[j][0] + link.sbar * beta[j][1]) @ a
            if carried:
                K[j] = Jstar[j].without(*U[j], x.H[j], inverse[j])                    # (37), (73)
        alpha[j] = _minus(K[j] @ x.gamma[j], beta[j])                                 # (38), (74)
        if j in tau:
            alpha[j] = _plus(alpha[j], _times(u[j] * inverse[j], U[j]))
        elif j in given:
            column = Jstar[j].column(2 if link.s else 5)
            alpha[j] = _plus(alpha[j], _times(given[j], column))                      # (76)
        if carried:
            beta[i] = _minus(beta[i], T.wrench(*alpha[j], j in slide))         # (39), (77)
            Jstar[i] = Jstar[i] + K[j].seen_from(T, j in slide)                       # (40), (78)
    x.VVd[0] = (robot.Vd0 - robot.gravity, robot.wd0)
    if free_base:
        x.VVd[0] = Jstar[0].solve(*beta[0])                                           # (109)
        x.V0d = (robot.unit * (x.VVd[0][0] + robot.gravity), x.VVd[0][1])
    for link in robot.links:
        i, j, T = link.i, link.j, frames[link.j]
        moved = T.motion(*x.VVd[i], j in slide)
        Vd, wd = _plus(moved, x.gamma[j])
        if j in tau:
            projected = U[j][0] @ Vd + U[j][1] @ wd
            x.qdd[j] = (u[j] - projected) * inverse[j]                                # (41), (80)
        elif j in given:
            f, n = _plus(K[j] @ moved, alpha[j])                                      # (42), (79)
            friction = link.FS * sign(qds[j]) + link.FV * qds[j]
            x.tau[j] = (link.s * f + link.sbar * n) @ a + link.IA * given[j] + friction  # (82)
        rate = x.qdd.get(j, 0)
        x.VVd[j] = (Vd + link.s * rate * a, wd + link.sbar * rate * a)                # (43), (81)
    return x


def direct_dynamics(
    robot: Bodies,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    *,
    wrenches: Mapping[int, tuple[Vec, Vec]] | None = None,
    form: Formulation = PLAIN,
) -> Direct:
    """q̈ of a robot with a fixed base; qdd[j] for the links that move."""
    torques = dict(zip(robot.tree.moving, tau, strict=True))
    return articulated_dynamics(robot, q, qd, tau=torques, wrenches=wrenches, form=form)


def _plus(x: tuple[Vec, Vec], y: tuple[Vec, Vec]) -> tuple[Vec, Vec]:
    return x[0] + y[0], x[1] + y[1]


def _minus(x: tuple[Vec, Vec], y: tuple[Vec, Vec]) -> tuple[Vec, Vec]:
    return x[0] - y[0], x[1] - y[1]


def _times(s: Scalar, x: tuple[Vec, Vec]) -> tuple[Vec, Vec]:
    return s * x[0], s * x[1]


def solve_tree(
    A: Mapping[tuple[int, int], Scalar], rhs: Mapping[int, Scalar], links: Sequence[int],
    parent: Callable[[int], int],
) -> dict[int, Scalar]:  # fmt: skip
    """x with A x = rhs, A given by its lower triangle on paths to the base: A = L^T D L without
    fill-in.

    `parent(j)` is the nearest moving link before j, 0 when there is none."""
    A = dict(A)
    y = dict(rhs)
    inverse: dict[int, Scalar] = {}
    for k in reversed(links):
        inverse[k] = 1 / A[k, k]
        path = []
        i = parent(k)
        while i:
            path.append(i)
            i = parent(i)
        for n, i in enumerate(path):
            ratio = A[k, i] * inverse[k]
            for j in path[n:]:
                A[i, j] = A[i, j] - ratio * A[k, j]
            y[i] = y[i] - ratio * y[k]
            A[k, i, "L"] = ratio  # type: ignore[index]
    x: dict[int, Scalar] = {}
    for k in links:
        value = y[k] * inverse[k]
        i = parent(k)
        while i:
            value = value - A[k, i, "L"] * x[i]  # type: ignore[index]
            i = parent(i)
        x[k] = value
    return x
