"""An independent formulation of constrained multibody dynamics, for comparison.

Nothing of Cardan's algorithms is used: link poses are Taylor series in time up to t², multiplied as
4x4 matrices in the world frame; velocities and accelerations are read off the series; the equations
of motion are virtual power; loops are all their equations (redundant ones too) with Lagrange
multipliers, solved by least squares. Arrays run over states (N, ...); unit velocities of all joints
are n states more of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan.algebra.scalar import function
from cardan.describe.robot import FIXED, GEOMETRY, INERTIA, PRISMATIC, REVOLUTE, WRENCH, Robot
from cardan.describe.values.expression import evaluate

Array = np.ndarray


def times(A: Array, B: Array) -> Array:
    """Product of two series of matrices (N, 3, r, c), one of which may have one state for all."""
    C = np.zeros((max(len(A), len(B)), 3, A.shape[2], B.shape[3]))
    for i in range(3):
        for j in range(3 - i):
            C[:, i + j] += A[:, i] @ B[:, j]
    return C


def turn(axis: int, x: Array) -> Array:
    """Rot(axis, x(t)) for a series x (N, 3)."""
    c0, s0 = np.cos(x[:, 0]), np.sin(x[:, 0])
    c = np.stack([c0, -s0 * x[:, 1], -s0 * x[:, 2] - c0 * x[:, 1] ** 2 / 2], 1)
    s = np.stack([s0, c0 * x[:, 1], c0 * x[:, 2] - s0 * x[:, 1] ** 2 / 2], 1)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    T = np.zeros((len(x), 3, 4, 4))
    T[:, 0, axis, axis] = T[:, 0, 3, 3] = 1
    T[:, :, j, j], T[:, :, k, k], T[:, :, k, j], T[:, :, j, k] = c, c, s, -s
    return T


def shift(axis: int, x: Array) -> Array:
    T = np.zeros((len(x), 3, 4, 4))
    T[:, 0] = np.eye(4)
    T[:, :, axis, 3] = x
    return T


@dataclass
class Oracle:
    robot: Robot
    values: dict[str, float]

    def number(self, x: Any) -> float:
        return float(evaluate(x, self.values.__getitem__, function))

    def poses(self, q: Array, qd: Array, qdd: Array) -> list[Array]:
        """Series of world poses of frame 0, the links, then cuts and twins of the loops."""
        robot, N = self.robot, len(q)
        series = np.stack([q, qd, qdd / 2], 1)  # (N, 3, n)
        found = [np.zeros((N, 3, 4, 4))]
        found[0][:, 0] = np.eye(4)
        cuts, twins = [k.cut for k in robot.loops], [k.twin for k in robot.loops]
        k = 0
        for index, joint in enumerate((*robot.joints, *cuts, *twins)):
            gamma, b, alpha, d, theta, r = (
                np.array([[self.number(getattr(joint, key)), 0, 0]]) for key in GEOMETRY
            )
            if index < len(robot.joints) and joint.sigma != FIXED:
                variable = series[:, :, k]
                k += 1
                theta = theta + variable * (joint.sigma == REVOLUTE)
                r = r + variable * (joint.sigma == PRISMATIC)
            place = times(times(turn(2, gamma), shift(2, b)), times(turn(0, alpha), shift(0, d)))
            move = times(turn(2, theta), shift(2, r))
            found.append(times(times(found[joint.antecedent], place), move))
        return found

    def loop_values(self, poses: list[Array]) -> Array:
        """Series (N, 3, m) of everything that is zero when the loops are closed."""
        n, B = len(self.robot.joints), len(self.robot.loops)
        found = []
        for k, loop in enumerate(self.robot.loops):
            kind = loop.kind or ("revolute", "prismatic", "fixed")[loop.cut.sigma]
            C, D = poses[n + 1 + k], poses[n + B + 1 + k]
            Rt = C[:, :, :3, :3].transpose(0, 1, 3, 2)
            P = times(Rt, D[:, :, :3, 3:] - C[:, :, :3, 3:])[..., 0]
            R = times(Rt, D[:, :, :3, :3])
            found += [P[..., 0], P[..., 1]]
            if kind not in ("prismatic", "cylindrical"):
                found.append(P[..., 2])
            if kind in ("revolute", "cylindrical"):
                found += [R[..., 0, 2], R[..., 1, 2]]
            if kind in ("prismatic", "fixed"):
                found += [R[..., 0, 1], R[..., 0, 2], R[..., 1, 2]]
            if kind == "universal":
                found.append(R[..., 2, 0])
        return np.stack(found, -1) if found else np.zeros((len(poses[0]), 3, 0))

    def tied(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Series (N, 3, m) of everything that is zero: the loops, then the couplings."""
        moving = [j for j, joint in enumerate(self.robot.joints, 1) if joint.sigma != FIXED]
        series = np.stack([q, qd, qdd / 2], 1)
        found = [self.loop_values(self.poses(q, qd, qdd))]
        for j, joint in enumerate(self.robot.joints, 1):
            if joint.mimic is not None:
                own, other = moving.index(j), moving.index(joint.mimic.joint)
                line = series[..., own] - self.number(joint.mimic.ratio) * series[..., other]
                line[:, 0] -= self.number(joint.mimic.offset)
                found.append(line[..., None])
        return np.concatenate(found, -1)

    def constraint(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """(J (N, m, n), Jdot qd (N, m))."""
        return self.jacobian(q), self.bias(q, qd)

    def jacobian(self, q: Array) -> Array:
        """The derivatives (N, m, n) of all that is zero by the joint variables."""
        every, e = units(q)
        columns = self.tied(every, e, np.zeros_like(e))[:, 1]
        return columns.reshape(q.shape[1], len(q), -1).transpose(1, 2, 0)

    def bias(self, q: Array, qd: Array) -> Array:
        return 2 * self.tied(q, qd, np.zeros_like(q))[:, 2]

    def bodies(self, poses: list[Array]) -> list[tuple[Array, ...]]:
        """(R, p, v, w, acceleration, wd) of every link, in the world."""
        found = []
        for T in poses[1 : len(self.robot.links) + 1]:
            R, P = T[:, :, :3, :3], T[:, :, :3, 3]
            Rt = R[:, 0].transpose(0, 2, 1)
            W1, W2 = R[:, 1] @ Rt, 2 * R[:, 2] @ Rt
            w = vee(W1)
            found.append((R[:, 0], P[:, 0], P[:, 1], w, 2 * P[:, 2], vee(W2 - W1 @ W1)))
        return found

    def demand(self, q: Array, qd: Array, qdd: Array, f_e: Array | None = None) -> list[Array]:
        """By link: the wrench (force, moment about O_0) it must be given, in the world."""
        g = np.array([self.number(x) for x in self.robot.gravity])
        found = []
        now = self.bodies(self.poses(q, qd, qdd))
        for b, link in enumerate(self.robot.links):
            XX, XY, XZ, YY, YZ, ZZ, *MS, M = (self.number(getattr(link, k)) for k in INERTIA)
            R, P, _, w, acc, wd = now[b]
            Jl = np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]])
            J = R @ Jl @ R.transpose(0, 2, 1)
            S = R @ np.array(MS)
            lift = acc - g
            F = M * lift + np.cross(wd, S) + np.cross(w, np.cross(w, S))
            N = np.einsum("bij,bj->bi", J, wd)
            N = N + np.cross(w, np.einsum("bij,bj->bi", J, w)) + np.cross(S, lift)
            out = np.array([self.number(getattr(link, key)) for key in WRENCH])
            out = out if f_e is None else out + f_e[:, b]
            out = np.broadcast_to(out, (len(q), 6))
            F = F + np.einsum("bij,bj->bi", R, out[:, :3])
            N = N + np.einsum("bij,bj->bi", R, out[:, 3:])
            found.append(np.concatenate([F, N + np.cross(P, F)], -1))
        return found

    def torques(self, q: Array, qd: Array, qdd: Array, f_e: Array | None = None) -> Array:
        """Generalized forces of the tree by virtual power, rotors and friction included."""
        tau = power(self.twists(q), self.demand(q, qd, qdd, f_e))
        moving = [joint for joint in self.robot.joints if joint.sigma != FIXED]
        for k, joint in enumerate(moving):
            IA, FV, FS = (self.number(getattr(joint, key)) for key in ("IA", "FV", "FS"))
            tau[:, k] += IA * qdd[:, k] + FV * qd[:, k] + FS * np.sign(qd[:, k])
        return tau

    def twists(self, q: Array) -> list[Array]:
        """By link: the velocities (n, N, 6) about O_0 that every joint alone gives it."""
        every, e = units(q)
        found = []
        for _, P, v, w, _, _ in self.bodies(self.poses(every, e, np.zeros_like(e))):
            twist = np.concatenate([v - np.cross(w, P), w], -1)
            found.append(twist.reshape(q.shape[1], len(q), 6))
        return found

    @property
    def active(self) -> list[int]:
        moving = [joint for joint in self.robot.joints if joint.sigma != FIXED]
        return [k for k, joint in enumerate(moving) if joint.active]

    def motion(self, q: Array, qd_a: Array, qdd_a: Array) -> tuple[Array, Array]:
        """qd and qdd of the tree, from those of the active joints."""
        a = self.active
        p = [k for k in range(q.shape[1]) if k not in a]
        J = self.jacobian(q)
        inverse = np.linalg.pinv(J[..., p], rcond=1e-10)
        qd, qdd = np.zeros_like(q), np.zeros_like(q)
        qd[:, a], qdd[:, a] = qd_a, qdd_a
        qd[:, p] = -np.einsum("bpm,bma,ba->bp", inverse, J[..., a], qd_a)
        rest = np.einsum("bma,ba->bm", J[..., a], qdd_a) + self.bias(q, qd)
        qdd[:, p] = -np.einsum("bpm,bm->bp", inverse, rest)
        return qd, qdd

    def inverse(self, q: Array, qd_a: Array, qdd_a: Array, f_e: Array | None = None) -> Array:
        """Torques of the active joints: tau_tr = S^T tau_a + J^T lambda, by least squares."""
        qd, qdd = self.motion(q, qd_a, qdd_a)
        tau = self.torques(q, qd, qdd, f_e)
        J = self.jacobian(q)
        a = self.active
        found = []
        for t, j in zip(tau, J, strict=True):
            A = np.concatenate([np.eye(q.shape[1])[:, a], j.T], axis=1)
            found.append(np.linalg.lstsq(A, t, rcond=1e-11)[0][: len(a)])
        return np.array(found)

    def mass(self, q: Array) -> Array:
        """What unit accelerations demand at rest, beyond rest itself; rotors on the diagonal."""
        n, zero = q.shape[1], np.zeros_like(q)
        every, e = units(q)
        rest = self.demand(q, zero, zero)
        more = self.demand(every, np.zeros_like(e), e)
        moved = [x.reshape(n, len(q), 6) - y for x, y in zip(more, rest, strict=True)]
        twists = self.twists(q)
        columns = [power(twists, [wrench[k] for wrench in moved]) for k in range(n)]
        moving = [joint for joint in self.robot.joints if joint.sigma != FIXED]
        return np.stack(columns, -1) + np.diag([self.number(joint.IA) for joint in moving])

    def direct(self, q: Array, qd_a: Array, tau_a: Array) -> Array:
        """qdd of the tree from M qdd - J^T lambda = S^T tau - H, J qdd = -Jdot qd."""
        qd, _ = self.motion(q, qd_a, np.zeros_like(qd_a))
        H = self.torques(q, qd, np.zeros_like(q))
        M = self.mass(q)
        J, bias = self.constraint(q, qd)
        n, m = q.shape[1], J.shape[1]
        found = []
        for k in range(len(q)):
            A = np.block([[M[k], -J[k].T], [J[k], np.zeros((m, m))]])
            push = -H[k]
            push[self.active] += tau_a[k]
            found.append(np.linalg.lstsq(A, np.concatenate([push, -bias[k]]), rcond=1e-12)[0][:n])
        return np.array(found)


def units(q: Array) -> tuple[Array, Array]:
    """All states once for every joint, and unit vectors: (n N, n) each."""
    n = q.shape[1]
    return np.tile(q, (n, 1)), np.repeat(np.eye(n), len(q), axis=0)


def power(twists: list[Array], wrenches: list[Array]) -> Array:
    """The power (N, n) of the links' wrenches (N, 6) in the velocities (n, N, 6)."""
    pairs = zip(twists, wrenches, strict=True)
    return sum(np.einsum("nbi,bi->bn", twist, wrench) for twist, wrench in pairs)


def vee(W: Array) -> Array:
    return np.stack(
        [W[:, 2, 1] - W[:, 1, 2], W[:, 0, 2] - W[:, 2, 0], W[:, 1, 0] - W[:, 0, 1]], -1
    ) / 2  # fmt: skip
