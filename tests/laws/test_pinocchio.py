"""Every dynamic model against Pinocchio on every public URDF: 1e-10 of the largest component.

Both libraries read the file with their own reader; a truncated pi is completed for both. Joints are
matched by name. Pinocchio's base acceleration is spatial, ours is that of the origin of the base:
ours = theirs + w x v.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.laws.public import FILES, whole_pi

import cardan
from cardan.catalogue import MENU
from cardan.describe.robot import FIXED, GEOMETRY, Robot
from cardan.describe.urdf.read import read_urdf

pin = pytest.importorskip("pinocchio")

pytestmark = pytest.mark.skipif(not FILES, reason="the public robot files are not here")
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
LIMIT = 1e-10
COUNT = 4
Array = np.ndarray


@dataclass(frozen=True)
class Pair:
    """A robot, Pinocchio's model of the same file, and how their joints correspond."""

    robot: Robot
    model: Any
    data: Any
    order: Array  # order[k]: Pinocchio's velocity index of our joint k

    @property
    def lead(self) -> int:
        return self.model.nv - len(self.order)

    def configuration(self, q: Array) -> Array:
        """Pinocchio's q: continuous joints by cosine and sine, the base left at its origin."""
        found = pin.neutral(self.model)
        for k, i in enumerate(self.order):
            joint = next(j for j in self.model.joints if j.idx_v == i and j.nv == 1)
            values = (q[k],) if joint.nq == 1 else (np.cos(q[k]), np.sin(q[k]))
            found[joint.idx_q : joint.idx_q + joint.nq] = values
        return found

    def vector(self, x: Array, base: Array | None = None) -> Array:
        found = np.zeros(self.model.nv)
        found[self.order] = x
        if base is not None:
            found[:6] = base
        return found

    def back(self, x: Array) -> Array:
        """A matrix or vector of Pinocchio's in our order, base first."""
        order = np.concatenate([np.arange(self.lead), self.order])
        return x[order] if x.ndim == 1 else x[np.ix_(order, order)]


@cache
def pair(path: Path, floating: bool = False) -> Pair:
    text = whole_pi(path.read_text())
    robot, faults = read_urdf(text.encode(), path.name)
    assert robot is not None, faults
    joints = tuple(replace(joint, FV=0, FS=0) for joint in robot.joints)  # not in Pinocchio's rnea
    robot = replace(robot, joints=joints)
    if floating:
        robot = replace(robot, base=replace(robot.base, kind="floating"))
    root = (pin.JointModelFreeFlyer(),) if floating else ()
    model = pin.buildModelFromXML(text, *root)
    model.gravity.linear = np.array([float(g) for g in robot.gravity])
    moving = [joint.name for joint in robot.joints if joint.sigma != FIXED]
    order = np.array([model.joints[model.getJointId(name)].idx_v for name in moving])
    return Pair(robot, model, model.createData(), order)


@cache
def program(path: Path, name: str, floating: bool = False, **options: Any) -> cardan.Program:
    """The search for fewer operations is left to inverse dynamics, by all parameters, where there
    are many links."""
    many = len(pair(path).robot.links) > 8
    searched = name == "inverse-dynamics" and not floating and not options
    if many and not searched and "effort" in MENU[name].options:
        options["effort"] = "plain"
    return cardan.model(pair(path, floating).robot, name, **options)


@cache
def states(n: int) -> dict[str, Array]:
    rng = np.random.default_rng(n)
    return {name: rng.uniform(-2, 2, (COUNT, n)) for name in ("q", "qd", "qdd", "tau")}


def evaluate(path: Path, name: str, **options: Any) -> Any:
    found, x = program(path, name, **options), states(pair(path).robot.n)
    return found.evaluate(**{key: x[key] for key in found.inputs})


def expected(path: Path, function: Any) -> Array:
    """function(pair, q, v, a, tau) of every state."""
    two = pair(path)
    x = states(two.robot.n)
    rows = []
    for k in range(COUNT):
        others = [two.vector(x[name][k]) for name in ("qd", "qdd", "tau")]
        rows.append(function(two, two.configuration(x["q"][k]), *others))
    return np.array(rows)


def mass_matrix(two: Pair, q: Array) -> Array:
    A = pin.crba(two.model, two.data, q)
    return np.triu(A) + np.triu(A, 1).T


@every_file
def test_inverse_dynamics_vs_rnea(path: Path) -> None:
    theirs = expected(
        path, lambda p, q, v, a, tau: p.back(pin.rnea(p.model, p.data, q, v, a).copy())
    )
    near(evaluate(path, "inverse-dynamics"), theirs, LIMIT)
    carried = evaluate(path, "inverse-dynamics", base_parameters=True)
    near(carried, theirs, LIMIT)


@every_file
def test_inertia_matrix_vs_crba(path: Path) -> None:
    theirs = expected(path, lambda p, q, v, a, tau: p.back(mass_matrix(p, q)))
    near(evaluate(path, "inertia-matrix"), theirs, LIMIT)


@every_file
def test_bias_and_gravity_vs_nle(path: Path) -> None:
    nle = expected(
        path, lambda p, q, v, a, tau: p.back(pin.nonLinearEffects(p.model, p.data, q, v).copy())
    )
    near(evaluate(path, "bias"), nle, LIMIT)
    weight = expected(
        path,
        lambda p, q, v, a, tau: p.back(pin.computeGeneralizedGravity(p.model, p.data, q).copy()),
    )
    near(evaluate(path, "gravity"), weight, absolute=LIMIT * max(1, np.max(weight)))


@every_file
@pytest.mark.parametrize("method", ["recursive", "inertia-matrix"])
def test_direct_dynamics_vs_aba(path: Path, method: str) -> None:
    theirs = expected(
        path, lambda p, q, v, a, tau: p.back(pin.aba(p.model, p.data, q, v, tau).copy())
    )
    near(evaluate(path, "direct-dynamics", method=method), theirs, LIMIT)


@every_file
def test_coriolis_matrix(path: Path) -> None:
    """Any two such matrices differ by what qd does not see: C qd and C + C^T = Adot agree."""
    theirs = expected(
        path,
        lambda p, q, v, a, tau: p.back(pin.computeCoriolisMatrix(p.model, p.data, q, v).copy()),
    )
    C, qd = evaluate(path, "coriolis-matrix"), states(pair(path).robot.n)["qd"]
    ours, other = (np.einsum("sij,sj->si", M, qd) for M in (C, theirs))
    near(ours, other, LIMIT)
    near(C + C.swapaxes(1, 2), theirs + theirs.swapaxes(1, 2), LIMIT)


@every_file
def test_energies(path: Path) -> None:
    found = evaluate(path, "energies")
    E = expected(path, lambda p, q, v, a, tau: pin.computeKineticEnergy(p.model, p.data, q, v))
    U = expected(path, lambda p, q, v, a, tau: pin.computePotentialEnergy(p.model, p.data, q))
    near(found["E"], E, LIMIT)
    constant = found["U"] - U  # of the bodies that do not move
    near(constant, constant[0], absolute=LIMIT * max(1, np.max(np.abs(U))))


@every_file
def test_regressor(path: Path) -> None:
    """tau = D K: our columns are theirs, seen from our link frames.

    A body's pseudo-inertia is linear in its ten parameters and moves as T P T^T."""
    two = pair(path)
    x = states(two.robot.n)
    D = evaluate(path, "regressor")
    places = link_placements(two)
    wanted = program(path, "regressor").columns
    for k in range(COUNT):
        q = two.configuration(x["q"][k])
        v, a = two.vector(x["qd"][k]), two.vector(x["qdd"][k])
        theirs = pin.computeJointTorqueRegressor(two.model, two.data, q, v, a)[two.order]
        columns = []
        for j, (i, T) in enumerate(places, 1):
            block = theirs[:, 10 * (i - 1) : 10 * i] if i else np.zeros((two.robot.n, 10))
            columns.append(block @ parameter_map(T))
            if two.robot.joints[j - 1].sigma != FIXED:
                drive = np.zeros((two.robot.n, 3))
                m = sum(joint.sigma != FIXED for joint in two.robot.joints[: j - 1])
                drive[m] = x["qdd"][k, m], x["qd"][k, m], np.sign(x["qd"][k, m])
                columns.append(drive)
        theirs = np.concatenate(columns, 1)
        assert theirs.shape[1] == len(wanted)
        near(D[k], theirs, LIMIT)


def link_placements(two: Pair) -> list[tuple[int, Array]]:
    """Of each of our links: Pinocchio's joint it is fixed to, and our frame in that joint's."""
    q = np.full(two.robot.n, 0.3)
    pin.forwardKinematics(two.model, two.data, two.configuration(q))
    values = iter(q)
    T, owner, found = [np.eye(4)], [0], []
    for joint in two.robot.joints:
        gamma, b, alpha, d, theta, r = (float(getattr(joint, key)) for key in GEOMETRY)
        turned = next(values) if joint.sigma == 0 else 0.0
        slid = next(values) if joint.sigma == 1 else 0.0
        T.append(T[joint.antecedent] @ screw(2, gamma, b) @ screw(0, alpha, d)
                 @ screw(2, theta + turned, r + slid))  # fmt: skip
        fixed = joint.sigma == FIXED
        owner.append(owner[joint.antecedent] if fixed else two.model.getJointId(joint.name))
        found.append((owner[-1], two.data.oMi[owner[-1]].inverse().homogeneous @ T[-1]))
    return found


def screw(axis: int, angle: float, shift: float) -> Array:
    T = np.eye(4)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    T[i, i] = T[j, j] = math.cos(angle)
    T[i, j], T[j, i] = -math.sin(angle), math.sin(angle)
    T[axis, 3] = shift
    return T


def parameter_map(T: Array) -> Array:
    """From XX XY XZ YY YZ ZZ MX MY MZ M in our frame to m mx my mz xx xy yy xz yz zz in theirs."""
    columns = []
    for unit in np.eye(10):
        XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = unit
        J = np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]])
        P = np.zeros((4, 4))
        P[:3, :3] = np.trace(J) / 2 * np.eye(3) - J
        P[:3, 3] = P[3, :3] = MX, MY, MZ
        P[3, 3] = M
        P = T @ P @ T.T
        J = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
        columns.append([P[3, 3], *P[:3, 3], J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]])
    return np.array(columns).T


@every_file
def test_derivatives_vs_rnea_derivatives(path: Path) -> None:
    def theirs(p: Pair, q: Array, v: Array, a: Array, tau: Array) -> list[Array]:
        found = pin.computeRNEADerivatives(p.model, p.data, q, v, a)
        dq, dv, da = (p.back(np.array(x)) for x in found)
        return [dq, dv, np.triu(da) + np.triu(da, 1).T if np.allclose(np.tril(da, -1), 0) else da]

    found = expected(path, theirs)
    idm, x = program(path, "inverse-dynamics"), states(pair(path).robot.n)
    for k, wrt in enumerate(("q", "qd", "qdd")):
        ours = idm.derivative("tau", wrt).evaluate(**{key: x[key] for key in idm.inputs})
        near(ours, found[:, k], LIMIT, what=str(wrt))


@every_file
def test_derivatives_vs_aba_derivatives(path: Path) -> None:
    def theirs(p: Pair, q: Array, v: Array, a: Array, tau: Array) -> list[Array]:
        found = pin.computeABADerivatives(p.model, p.data, q, v, tau)
        dq, dv = (p.back(np.array(x)) for x in found[:2])
        return [dq, dv, np.linalg.inv(p.back(mass_matrix(p, q)))]

    found = expected(path, theirs)
    ddm, x = program(path, "direct-dynamics"), states(pair(path).robot.n)
    wanted = ("q", "qd", "tau")[: 3 if pair(path).robot.n <= 8 else 1]  # of many joints they grow
    for k, wrt in enumerate(wanted):
        ours = ddm.derivative("qdd", wrt).evaluate(**{key: x[key] for key in ddm.inputs})
        near(ours, found[:, k], LIMIT, what=str(wrt))


@every_file
def test_floating_base(path: Path) -> None:
    """A (6+n), H, inverse and direct models on a free flyer in any orientation."""
    two = pair(path, floating=True)
    n, rng = two.robot.n, np.random.default_rng(1)
    x = states(n)
    V0 = rng.uniform(-2, 2, (COUNT, 6))
    turns = [pin.Quaternion(*(y := rng.normal(size=4)) / np.linalg.norm(y)) for _ in range(COUNT)]
    g0 = np.array([turn.matrix().T @ two.model.gravity.linear for turn in turns])
    inputs = {**x, "V0": V0, "g0": g0}

    def run(name: str, **options: Any) -> Any:
        found = program(path, name, floating=True, **options)
        return found.evaluate(**{key: inputs[key] for key in found.inputs})

    A, H, inverse = run("inertia-matrix"), run("bias"), run("inverse-dynamics")
    direct = [run("direct-dynamics", method=m) for m in ("recursive", "inertia-matrix")]
    for k, turn in enumerate(turns):
        q = two.configuration(x["q"][k])
        q[3:7] = turn.coeffs()
        v, drift = two.vector(x["qd"][k], V0[k]), np.cross(V0[k, 3:], V0[k, :3])
        near(A[k], two.back(mass_matrix(two, q)), LIMIT)
        bias = pin.rnea(two.model, two.data, q, v, two.vector(np.zeros(n), [*-drift, 0, 0, 0]))
        near(H[k], two.back(bias), LIMIT)
        spatial = inverse["V0d"][k] - [*drift, 0, 0, 0]
        tau = pin.rnea(two.model, two.data, q, v, two.vector(x["qdd"][k], spatial))
        forces = np.concatenate([np.zeros(6), inverse["tau"][k]])
        near(two.back(tau), forces, absolute=LIMIT * np.max(np.abs(H[k])))
        a = two.back(pin.aba(two.model, two.data, q, v, two.vector(x["tau"][k], np.zeros(6))))
        a[:3] += drift
        for found in direct:
            near(np.r_[found["V0d"][k], found["qdd"][k]], a, LIMIT)
