"""A peer: dynamics written by hand over CasADi's symbols, its C code compiled by gcc, called in C.

The algorithms are the textbook ones (recursive Newton-Euler, composite bodies, articulated bodies,
spatial vectors as (angular, linear)), on input as clean as Cardan's: right angles are exact.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cardan.describe.expression import number
from cardan.describe.robot import GEOMETRY, Robot

__all__ = ["INPUTS", "compiled"]

INPUTS = {
    "inverse-dynamics": ("q", "qd", "qdd"),
    "inertia-matrix": ("q",),
    "direct-dynamics": ("q", "qd", "tau"),
}
_LOOP = """
int peer(const double **arg, double **res, long long *iw, double *w, int mem);
void loop(const double **in, const long long *step, int inputs, double *out, long long size,
          long long count) {
  static double w[200000]; static long long iw[1000];
  for (long long i = 0; i < count; ++i) {
    const double *arg[8]; double *res[8] = {out + i * size};
    for (int k = 0; k < inputs; ++k) arg[k] = in[k] + i * step[k];
    peer(arg, res, iw, w, 0);
  }
}
"""


def _skew(ca: Any, p: Any) -> Any:
    return ca.SX(np.zeros((3, 3))) + ca.vertcat(
        ca.horzcat(0, -p[2], p[1]), ca.horzcat(p[2], 0, -p[0]), ca.horzcat(-p[1], p[0], 0)
    )


def _clean(x: float) -> float:
    return float(round(x)) if abs(x - round(x)) < 1e-12 else x


def _motion(ca: Any, robot: Robot, j: int, q: Any) -> Any:
    """The transformation of twists from the antecedent's frame into frame j."""
    joint = robot.joints[j]
    gamma, b, alpha, d, theta, r = (number(getattr(joint, key)) for key in GEOMETRY)
    turn, place = ca.SX.eye(3), ca.SX(np.zeros((3, 1)))
    angles = (("z", gamma, b), ("x", alpha, d), ("z", theta + q, r))
    for axis, angle, shift in angles:
        numeric = isinstance(angle, float | int)
        c = _clean(np.cos(angle)) if numeric else ca.cos(angle)
        s = _clean(np.sin(angle)) if numeric else ca.sin(angle)
        z = [[c, -s, 0], [s, c, 0], [0, 0, 1]]
        x = [[1, 0, 0], [0, c, -s], [0, s, c]]
        rows = [ca.horzcat(*row) for row in (z if axis == "z" else x)]
        unit = np.eye(3)[2 if axis == "z" else 0]
        place = place + turn @ (unit * shift)
        turn = ca.sparsify(turn @ ca.vertcat(*rows))
    lower = ca.sparsify(-turn.T @ _skew(ca, ca.sparsify(place)))
    return ca.sparsify(ca.vertcat(ca.horzcat(turn.T, ca.SX(3, 3)), ca.horzcat(lower, turn.T)))


def _inertia(ca: Any, robot: Robot, j: int) -> Any:
    link = robot.links[j]
    at = {key: number(getattr(link, key)) for key in
          ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")}  # fmt: skip
    J = np.array([[at["XX"], at["XY"], at["XZ"]], [at["XY"], at["YY"], at["YZ"]],
                  [at["XZ"], at["YZ"], at["ZZ"]]])  # fmt: skip
    x, y, z = at["MX"], at["MY"], at["MZ"]
    S = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return ca.sparsify(ca.SX(np.block([[J, S], [S.T, at["M"] * np.eye(3)]])))


def _cross(ca: Any, v: Any) -> Any:
    w, u = _skew(ca, v[:3]), _skew(ca, v[3:])
    return ca.sparsify(ca.vertcat(ca.horzcat(w, ca.SX(3, 3)), ca.horzcat(u, w)))


def expressions(ca: Any, robot: Robot, model: str, x: dict[str, Any]) -> Any:
    n = robot.n
    X = [_motion(ca, robot, j, x["q"][j]) for j in range(n)]
    inertia = [_inertia(ca, robot, j) for j in range(n)]
    axis = ca.sparsify(ca.SX(np.eye(6)[:, [2]]))
    if model == "inertia-matrix":
        return _composite(ca, X, inertia, axis)
    gravity = ca.SX(np.array([0, 0, 0, *(-number(g) for g in robot.gravity)]))
    v, a = ca.SX(6, 1), ca.sparsify(gravity)
    speeds, forces, biases = [], [], []
    for j in range(n):
        spin = axis * x["qd"][j]
        v = X[j] @ v + spin
        speeds.append(v)
        biases.append(_cross(ca, v) @ spin)
        forces.append(-_cross(ca, v).T @ (inertia[j] @ v))
        if model == "inverse-dynamics":
            a = X[j] @ a + axis * x["qdd"][j] + biases[j]
            forces[j] = forces[j] + inertia[j] @ a
    if model == "direct-dynamics":
        return _articulated(ca, X, inertia, axis, biases, forces, gravity, x["tau"])
    tau = [None] * n
    for j in reversed(range(n)):
        tau[j] = axis.T @ forces[j]
        if j:
            forces[j - 1] = forces[j - 1] + X[j].T @ forces[j]
    return ca.vertcat(*tau)


def _composite(ca: Any, X: list[Any], inertia: list[Any], axis: Any) -> Any:
    n, A = len(X), ca.SX(len(X), len(X))
    for j in reversed(range(n)):
        if j:
            inertia[j - 1] = inertia[j - 1] + X[j].T @ inertia[j] @ X[j]
        force = inertia[j] @ axis
        A[j, j] = axis.T @ force
        for i in reversed(range(j)):
            force = X[i + 1].T @ force
            A[i, j] = A[j, i] = axis.T @ force
    return A


def _articulated(
    ca: Any, X: list[Any], inertia: list[Any], axis: Any, biases: list[Any], forces: list[Any],
    gravity: Any, tau: Any,
) -> Any:  # fmt: skip
    n = len(X)
    U, D, u = [None] * n, [None] * n, [None] * n
    for j in reversed(range(n)):
        U[j] = inertia[j] @ axis
        D[j] = axis.T @ U[j]
        u[j] = tau[j] - axis.T @ forces[j]
        if j:
            left = inertia[j] - U[j] @ U[j].T / D[j]
            pushed = forces[j] + left @ biases[j] + U[j] * (u[j] / D[j])
            inertia[j - 1] = inertia[j - 1] + X[j].T @ left @ X[j]
            forces[j - 1] = forces[j - 1] + X[j].T @ pushed
    a, qdd = gravity, []
    for j in range(n):
        a = X[j] @ a + biases[j]
        qdd.append((u[j] - U[j].T @ a) / D[j])
        a = a + axis * qdd[j]
    return ca.vertcat(*qdd)


def compiled(robot: Robot, model: str, folder: Path) -> Callable[[dict[str, Any], Any], None]:
    """A loop in C over states in rows, calling CasADi's code for each."""
    import casadi as ca

    x = {name: ca.SX.sym(name, robot.n) for name in INPUTS[model]}
    result = ca.densify(expressions(ca, robot, model, x))
    function = ca.Function("peer", list(x.values()), [result.T if model[0] == "d" else result])
    generator = ca.CodeGenerator("peer", {"mex": False, "main": False})
    generator.add(function)
    generator.generate(f"{folder}/")
    (folder / "loop.c").write_text(_LOOP)
    command = ["gcc", "-O3", "-march=native", "-shared", "-fPIC", "peer.c", "loop.c", "-lm",
               "-o", "peer.so"]  # fmt: skip
    subprocess.run(command, cwd=folder, check=True)
    loop = ctypes.CDLL(str(folder / "peer.so")).loop
    size = robot.n * (robot.n if model == "inertia-matrix" else 1)

    def run(given: dict[str, np.ndarray], out: np.ndarray) -> None:
        arrays = [given[name] for name in x]
        pointers = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
        steps = (ctypes.c_longlong * len(arrays))(*(robot.n for _ in arrays))
        loop(pointers, steps, len(arrays), ctypes.c_void_p(out.ctypes.data),
             ctypes.c_longlong(size), ctypes.c_longlong(len(out)))  # fmt: skip

    return run
