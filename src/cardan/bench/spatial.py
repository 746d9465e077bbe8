"""Featherstone's recursions over CasADi's scalars, as a CasADi user writes them.

Six-dimensional vectors are (linear, angular), in link frames: recursive Newton-Euler, composite
rigid bodies, articulated bodies. With a `Root` the base floats, and its six rows come first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..describe.robot import FIXED, PRISMATIC
from .plain import Body


@dataclass(frozen=True)
class Root:
    """A floating base: its body, its twist, the acceleration of its origin and the angular one
    (where it is given), gravity; the last three are symbols."""

    body: Body
    V0: Any = None
    V0d: Any = None
    g0: Any = None

    def start(self, casadi: Any) -> Any:
        """The derivative of the twist less gravity."""
        drift = casadi.cross(self.V0[3:], self.V0[:3])
        return self.V0d - casadi.vertcat(drift + self.g0, casadi.SX.zeros(3, 1))

    def acceleration(self, casadi: Any, start: Any) -> Any:
        """The acceleration of the origin and the angular one, of the derivative less gravity."""
        drift = casadi.cross(self.V0[3:], self.V0[:3])
        return start + casadi.vertcat(drift + self.g0, casadi.SX.zeros(3, 1))

    def bias(self, casadi: Any) -> Any:
        """The wrench of the velocity alone."""
        inertia = _spatial_inertia(casadi, self.body)
        return -_motion_cross(casadi, self.V0).T @ (inertia @ self.V0)


def _hat(casadi: Any, x: Any) -> Any:
    return casadi.skew(casadi.vertcat(x[0], x[1], x[2]))


def _transform(casadi: Any, body: Body, q: Any) -> Any:
    """jXi: the twist of the antecedent, seen in frame j."""
    turn, place = body.frame[:3, :3], body.frame[:3, 3]
    iRj, iPj = casadi.SX(turn), casadi.SX(place)
    if body.sigma == PRISMATIC:
        iPj = iPj + iRj @ casadi.vertcat(0, 0, q)
    elif body.sigma != FIXED:
        c, s = casadi.cos(q), casadi.sin(q)
        iRj = iRj @ casadi.vertcat(
            casadi.horzcat(c, -s, 0), casadi.horzcat(s, c, 0), casadi.horzcat(0, 0, 1)
        )
    jRi = iRj.T
    zero = casadi.SX.zeros(3, 3)
    upper = casadi.horzcat(jRi, -(jRi @ _hat(casadi, iPj)))
    return casadi.vertcat(upper, casadi.horzcat(zero, jRi))


def _spatial_inertia(casadi: Any, body: Body) -> Any:
    first = _hat(casadi, casadi.SX(body.first))
    upper = casadi.horzcat(body.mass * casadi.SX.eye(3), -first)
    return casadi.vertcat(upper, casadi.horzcat(first, casadi.SX(body.inertia)))


def _axis(casadi: Any, body: Body) -> Any:
    axis = np.zeros(6)
    if body.sigma != FIXED:
        axis[2 if body.sigma == PRISMATIC else 5] = 1
    return casadi.SX(axis)


def _motion_cross(casadi: Any, v: Any) -> Any:
    linear, angular = _hat(casadi, v[:3]), _hat(casadi, v[3:])
    upper = casadi.horzcat(angular, linear)
    return casadi.vertcat(upper, casadi.horzcat(casadi.SX.zeros(3, 3), angular))


def _parts(casadi: Any, bodies: list[Body], q: Any) -> tuple[list[Any], list[Any], list[Any]]:
    transforms = [_transform(casadi, body, q[j]) for j, body in enumerate(bodies)]
    axes = [_axis(casadi, body) for body in bodies]
    return transforms, axes, [_spatial_inertia(casadi, body) for body in bodies]


def inverse(
    casadi: Any, bodies: list[Body], g: np.ndarray, q: Any, qd: Any, qdd: Any, *,
    root: Root | None = None,
) -> Any:  # fmt: skip
    """Torques, by the recursive Newton-Euler algorithm."""
    X, S, I = _parts(casadi, bodies, q)
    v: list[Any] = []
    a: list[Any] = []
    f: list[Any] = []
    rest = root.V0 if root else casadi.SX.zeros(6, 1)
    base = root.start(casadi) if root else casadi.vertcat(casadi.SX(-g), casadi.SX.zeros(3, 1))
    for j, body in enumerate(bodies):
        i = body.parent
        v.append(X[j] @ (v[i] if i >= 0 else rest) + S[j] * qd[j])
        cross = _motion_cross(casadi, v[j])
        a.append(X[j] @ (a[i] if i >= 0 else base) + S[j] * qdd[j] + cross @ (S[j] * qd[j]))
        f.append(I[j] @ a[j] - cross.T @ (I[j] @ v[j]))
    tau = casadi.SX.zeros(len(bodies), 1)
    f0 = _spatial_inertia(casadi, root.body) @ base + root.bias(casadi) if root else rest
    for j in reversed(range(len(bodies))):
        tau[j] = S[j].T @ f[j]
        if bodies[j].parent >= 0:
            f[bodies[j].parent] += X[j].T @ f[j]
        elif root:
            f0 += X[j].T @ f[j]
    return casadi.vertcat(f0, tau) if root else tau


def inertia(casadi: Any, bodies: list[Body], q: Any, *, root: Root | None = None) -> Any:
    """The inertia matrix, by composite rigid bodies."""
    X, S, composite = _parts(casadi, bodies, q)
    matrix = casadi.SX.zeros(len(bodies), len(bodies))
    whole = _spatial_inertia(casadi, root.body) if root else casadi.SX.zeros(6, 6)
    columns: list[Any] = []
    for j in reversed(range(len(bodies))):
        i = bodies[j].parent
        if i >= 0:
            composite[i] += X[j].T @ composite[j] @ X[j]
        elif root:
            whole += X[j].T @ composite[j] @ X[j]
        force = composite[j] @ S[j]
        matrix[j, j] = S[j].T @ force
        k = j
        while bodies[k].parent >= 0:
            force = X[k].T @ force
            k = bodies[k].parent
            matrix[j, k] = matrix[k, j] = S[k].T @ force
        if root:
            columns.insert(0, X[k].T @ force)
    if not root:
        return matrix
    coupled = casadi.horzcat(*columns)
    return casadi.vertcat(casadi.horzcat(whole, coupled), casadi.horzcat(coupled.T, matrix))


def direct(
    casadi: Any, bodies: list[Body], g: np.ndarray, q: Any, qd: Any, tau: Any, *,
    root: Root | None = None,
) -> Any:  # fmt: skip
    """Accelerations, by articulated bodies."""
    X, S, J = _parts(casadi, bodies, q)
    count = len(bodies)
    v: list[Any] = []
    c: list[Any] = []
    p: list[Any] = []
    rest = casadi.SX.zeros(6, 1)
    for j, body in enumerate(bodies):
        before = v[body.parent] if body.parent >= 0 else root.V0 if root else rest
        v.append(X[j] @ before + S[j] * qd[j])
        cross = _motion_cross(casadi, v[j])
        c.append(cross @ (S[j] * qd[j]))
        p.append(-cross.T @ (J[j] @ v[j]))
    U: list[Any] = [0] * count
    D: list[Any] = [0] * count
    u: list[Any] = [0] * count
    whole: Any = _spatial_inertia(casadi, root.body) if root else None
    load: Any = root.bias(casadi) if root else None
    for j in reversed(range(count)):
        i = bodies[j].parent
        U[j] = J[j] @ S[j]
        D[j] = S[j].T @ U[j]
        u[j] = tau[j] - S[j].T @ p[j]
        if i >= 0 or root:
            K = J[j] - (U[j] @ U[j].T) / D[j]
            push = X[j].T @ (p[j] + K @ c[j] + U[j] * (u[j] / D[j]))
            if i >= 0:
                p[i], J[i] = p[i] + push, J[i] + X[j].T @ K @ X[j]
            else:
                load, whole = load + push, whole + X[j].T @ K @ X[j]
    base = casadi.vertcat(casadi.SX(-g), casadi.SX.zeros(3, 1))
    if root:
        base = _solved(casadi, whole, -load)
    qdd = casadi.SX.zeros(count, 1)
    a: list[Any] = []
    for j, body in enumerate(bodies):
        start = X[j] @ (a[body.parent] if body.parent >= 0 else base) + c[j]
        qdd[j] = (u[j] - U[j].T @ start) / D[j]
        a.append(start + S[j] * qdd[j])
    return casadi.vertcat(root.acceleration(casadi, base), qdd) if root else qdd


def _solved(casadi: Any, A: Any, b: Any) -> Any:
    """x of A x = b, A symmetric and positive: elimination without exchanges."""
    n = A.shape[0]
    rows = [[A[i, k] for k in range(n)] for i in range(n)]
    x = [b[i] for i in range(n)]
    for i in range(n):
        for k in range(i + 1, n):
            factor = rows[i][k] / rows[i][i]
            for m in range(k, n):
                rows[k][m] -= factor * rows[i][m]
            x[k] -= factor * x[i]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] -= rows[i][k] * x[k]
        x[i] /= rows[i][i]
    return casadi.vertcat(*x)
