"""Inverse dynamics against Lagrange's equations, written independently from energies.

    tau = d/dt dL/dqd - dL/dq,   K = 1/2 sum tr(Td_j P_j Td_j'),   U = - sum g'(T_j P_j)_4

with 4x4 transformation matrices T_j, their rates Td_j and pseudo-inertias P_j (Uicker's form). K is
quadratic in qd, so a central difference of step 1 is its exact gradient; derivatives by time and by
q are complex steps, exact to rounding. Motor inertias, friction and wrenches come by virtual work.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.compare import near
from tests.random_robots import random_robot, states

import cardan
from cardan.describe.robot import FIXED, GEOMETRY, PRISMATIC, Joint, Link, Robot
from cardan.describe.values.expression import number

STEP = 1e-30


def values(item: object, *keys: str) -> list[float]:
    found = [number(getattr(item, key)) for key in keys]
    assert None not in found
    return found  # type: ignore[return-value]


def turn(axis: int, angle: complex) -> np.ndarray:
    T = np.eye(4, dtype=complex)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    T[j, j] = T[k, k] = np.cos(angle)
    T[k, j], T[j, k] = np.sin(angle), -np.sin(angle)
    return T


def shift(axis: int, length: complex) -> np.ndarray:
    T = np.eye(4, dtype=complex)
    T[axis, 3] = length
    return T


def frame(joint: Joint, q: complex) -> np.ndarray:
    """iTj, [K10] (1)."""
    gamma, b, alpha, d, theta, r = values(joint, *GEOMETRY)
    turned, slid = (0, q) if joint.sigma == PRISMATIC else (q, 0)
    return (
        turn(2, gamma) @ shift(2, b) @ turn(0, alpha) @ shift(0, d)
        @ turn(2, theta + turned) @ shift(2, r + slid)
    )  # fmt: skip


def rate(joint: Joint) -> np.ndarray:
    """S such that d(iTj)/dq = iTj S."""
    S = np.zeros((4, 4))
    if joint.sigma == PRISMATIC:
        S[2, 3] = 1
    elif joint.sigma != FIXED:
        S[1, 0], S[0, 1] = 1, -1
    return S


def pseudo_inertia(link: Link) -> np.ndarray:
    XX, XY, XZ, YY, YZ, ZZ = values(link, "XX", "XY", "XZ", "YY", "YZ", "ZZ")
    J = np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]])
    P = np.zeros((4, 4))
    P[:3, :3] = np.trace(J) / 2 * np.eye(3) - J
    P[:3, 3] = P[3, :3] = values(link, "MX", "MY", "MZ")
    P[3, 3] = values(link, "M")[0]
    return P


class Energies:
    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.moving = [j for j, joint in enumerate(robot.joints) if joint.sigma != FIXED]
        self.P = [pseudo_inertia(link) for link in robot.links]
        self.g = np.array([*(number(x) for x in robot.gravity), 0])

    def motion(self, q: np.ndarray, qd: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """T_j and Td_j of every link in frame 0."""
        every = np.zeros((2, len(self.robot.joints)), complex)
        every[:, self.moving] = q, qd
        T, Td = [np.eye(4)], [np.zeros((4, 4))]
        for k, joint in enumerate(self.robot.joints):
            A, i = frame(joint, every[0, k]), joint.antecedent
            T.append(T[i] @ A)
            Td.append(Td[i] @ A + T[-1] @ rate(joint) * every[1, k])
        return T[1:], Td[1:]

    def kinetic(self, q: np.ndarray, qd: np.ndarray) -> complex:
        _, Td = self.motion(q, qd)
        return sum(np.sum((D @ P) * D) for D, P in zip(Td, self.P, strict=True)) / 2

    def potential(self, q: np.ndarray) -> complex:
        T, _ = self.motion(q, 0 * q)
        return -sum(self.g @ (A @ P[:, 3]) for A, P in zip(T, self.P, strict=True))

    def momentum(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        units = np.eye(len(q))
        return np.array([(self.kinetic(q, qd + e) - self.kinetic(q, qd - e)) / 2 for e in units])

    def torques(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        h = 1j * STEP
        tau = self.momentum(q + h * qd, qd + h * qdd).imag / STEP
        for k, e in enumerate(np.eye(len(q))):
            along = q + h * e
            tau[k] -= (self.kinetic(along, qd) - self.potential(along)).imag / STEP
            tau[k] += self.virtual_power(q, e)
        drives = [values(self.robot.joints[j], "IA", "FV", "FS") for j in self.moving]
        return tau + [
            IA * a + FV * v + FS * np.sign(v)
            for (IA, FV, FS), v, a in zip(drives, qd, qdd, strict=True)
        ]

    def virtual_power(self, q: np.ndarray, qd: np.ndarray) -> float:
        """Power of the wrenches on the environment for the joint velocities qd."""
        power = 0.0
        for T, Td, link in zip(*self.motion(q, qd), self.robot.links, strict=True):
            B = (np.linalg.inv(T) @ Td).real  # the twist in the link's own frame
            w = np.array([B[2, 1], B[0, 2], B[1, 0]])
            power += np.dot(values(link, "FX", "FY", "FZ"), B[:3, 3])
            power += np.dot(values(link, "CX", "CY", "CZ"), w)
        return power


@pytest.mark.parametrize("seed", range(40))
def test_random_trees(seed: int) -> None:
    robot = random_robot(1000 + seed, 1 + seed % 5, base_motion=False)
    x, energies = states(robot.n, 3, seed), Energies(robot)
    found = cardan.model(robot, "inverse-dynamics").evaluate(**x)
    for k in range(3):
        expected = energies.torques(x["q"][k], x["qd"][k], x["qdd"][k])
        near(found[k], expected, 1e-12)


@pytest.mark.parametrize("name", ["cartpole", "tree", "panda", "puma560-numeric", "tx40"])
def test_bundled_robots(name: str) -> None:
    robot = cardan.load(name)
    x, energies = states(robot.n, 2), Energies(robot)
    found = cardan.model(robot, "inverse-dynamics").evaluate(**x)
    for k in range(2):
        expected = energies.torques(x["q"][k], x["qd"][k], x["qdd"][k])
        near(found[k], expected, 1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_transform_is_the_product_of_textbook_matrices(seed: int) -> None:
    robot = random_robot(seed, 7)
    q = states(robot.n, 4)["q"]
    energies = Energies(robot)
    for link in range(1, 8):
        found = cardan.model(robot, "transform", frame=link).evaluate(q=q)
        for k in range(4):
            expected = energies.motion(q[k], 0 * q[k])[0][link - 1].real
            np.testing.assert_allclose(found[k], expected, atol=1e-13)
    between = cardan.model(robot, "transform", frame=7, reference=3).evaluate(q=q[0])
    T = energies.motion(q[0], 0 * q[0])[0]
    np.testing.assert_allclose(between, np.linalg.inv(T[2].real) @ T[6].real, atol=1e-13)
