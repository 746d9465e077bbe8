"""Models of robots on a floating base: against Pinocchio's free flyer, and by differences along
motions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.laws.free_flyer import COUNT, evaluate, floating_robot, flyer, state_of_base

import cardan
from cardan.describe.robot import Robot
from cardan.models.bodies import bodies
from cardan.models.newton_euler import inverse_dynamics

Array = np.ndarray
LIMIT = 1e-10
STEP = 1e-5
seeds = pytest.mark.parametrize("seed", [1, 2, 3])


@pytest.fixture
def pinocchio() -> Any:
    return pytest.importorskip("pinocchio")


@seeds
def test_energies_and_momentum_vs_pinocchio(seed: int, pinocchio: Any) -> None:
    robot, two = flyer(seed)
    found = evaluate(robot, "energies", two.state)
    h = evaluate(robot, "generalized-momentum", two.state)
    for k in range(COUNT):
        q, v, _ = two.at(k)
        E = pinocchio.computeKineticEnergy(two.model, two.data, q, v)
        U = pinocchio.computePotentialEnergy(two.model, two.data, q)
        assert abs(found["E"][k] - E) <= LIMIT * abs(E)
        assert abs(found["U"][k] - U) <= LIMIT * max(abs(U), 1)
        A = pinocchio.crba(two.model, two.data, q)
        A = np.triu(A) + np.triu(A, 1).T
        near(h[k], A @ v, LIMIT)


@seeds
def test_inverse_dynamics_of_a_given_base_vs_pinocchio(seed: int, pinocchio: Any) -> None:
    robot, two = flyer(seed)
    found = evaluate(robot, "inverse-dynamics", two.state, base="given")
    for k in range(COUNT):
        theirs = pinocchio.rnea(two.model, two.data, *two.at(k))
        near(np.r_[found.F0[k], found.tau[k]], theirs, LIMIT)
    free = evaluate(robot, "inverse-dynamics", two.state)
    again = evaluate(robot, "inverse-dynamics", {**two.state, "V0d": free.V0d}, base="given")
    near(again.tau, free.tau, LIMIT)
    assert np.abs(again.F0).max() <= 1e-9 * np.abs(found.F0).max()


def test_a_given_base_floats() -> None:
    with pytest.raises(cardan.CardanError, match="the base of 'PUMA 560' is fixed"):
        cardan.model(cardan.load("puma560"), "inverse-dynamics", base="given")
    with pytest.raises(cardan.CardanError, match="the base of 'Planar five-bar' is fixed"):
        cardan.model(cardan.load("fivebar"), "inverse-dynamics", base="given")
    with pytest.raises(cardan.CardanError, match="flexible links"):
        cardan.model(cardan.load("flexible1r"), "inverse-dynamics", base="given")


@seeds
def test_accelerations_and_jdot_qdot_vs_pinocchio(seed: int, pinocchio: Any) -> None:
    robot, two = flyer(seed)
    Vd = evaluate(robot, "accelerations", two.state)
    last = len(robot.links)
    drift = evaluate(robot, "jdot-qdot", two.state, frame=last, projection=last)
    still = {**two.state, "V0d": 0 * two.state["V0d"], "qdd": 0 * two.state["qdd"]}
    local = pinocchio.ReferenceFrame.LOCAL
    for k in range(COUNT):
        q, v, a = two.at(k)
        pinocchio.forwardKinematics(two.model, two.data, q, v, a)
        theirs = [
            pinocchio.getClassicalAcceleration(two.model, two.data, j + 1, local).vector
            for j in range(1, last + 1)
        ]
        near(Vd[k], np.array(theirs), LIMIT)
        a[6:] = 0
        a[:6] = -np.r_[np.cross(v[3:6], v[:3]), np.zeros(3)]
        pinocchio.forwardKinematics(two.model, two.data, q, v, a)
        theirs = pinocchio.getClassicalAcceleration(two.model, two.data, last + 1, local).vector
        near(drift[k], theirs, LIMIT)
    near(evaluate(robot, "accelerations", still)[:, -1], drift, LIMIT)


@seeds
def test_reactions_vs_pinocchio(seed: int, pinocchio: Any) -> None:
    robot, two = flyer(seed)
    found = evaluate(robot, "reactions", two.state)
    free = evaluate(robot, "inverse-dynamics", two.state)["V0d"]
    for k in range(COUNT):
        q, v, a = two.at(k)
        a[:6] += free[k] - two.state["V0d"][k]
        pinocchio.rnea(two.model, two.data, q, v, a)
        theirs = np.array([two.data.f[j + 1].vector for j in range(1, len(robot.links) + 1)])
        assert np.abs(two.data.f[1].vector).max() <= 1e-9 * np.abs(theirs).max()
        near(found[k], theirs, 1e-9)


@seeds
def test_reactions_vs_newton_euler_with_wrenches(seed: int) -> None:
    """With the base's acceleration given, the forces come from the tips inward."""
    robot = floating_robot(seed)
    rng = np.random.default_rng(seed)
    x = {name: rng.uniform(-2, 2, (COUNT, robot.n)) for name in ("q", "qd", "qdd")}
    x |= state_of_base(seed)
    x["f_e"] = rng.uniform(-5, 5, (COUNT, len(robot.links) + 1, 6))
    found = evaluate(robot, "reactions", x, f_e=True)
    free = evaluate(robot, "inverse-dynamics", x, f_e=True)["V0d"]
    for k in range(COUNT):
        scene = bodies(robot, float).moving_base(x["V0"][k], x["g0"][k], free[k])
        Vec = type(scene.V0)
        loads = {j: (Vec(*f[:3]), Vec(*f[3:])) for j, f in enumerate(x["f_e"][k])}
        ne = inverse_dynamics(scene.loaded(loads), x["q"][k], x["qd"][k], x["qdd"][k])
        theirs = [[*ne.f[link.j], *ne.n[link.j]] for link in scene.links]
        near(found[k], np.array(theirs, dtype=float), 1e-9)


# by differences


def poses(robot: Robot, q: Array) -> Array:
    """The links' poses in frame 0."""
    return np.array(
        [cardan.model(robot, "transform", frame=j).evaluate(q=q)
         for j in range(1, len(robot.links) + 1)]
    )  # fmt: skip


def moved(V0: Array, V0d: Array, t: float) -> Array:
    """Pose of frame 0 at a small time t, to second order; at 0 it is the identity."""
    v, w, vd, wd = V0[:3], V0[3:], V0d[:3], V0d[3:]

    def hat(u: Array) -> Array:
        return np.cross(np.eye(3), u)

    R = np.eye(3) + t * hat(w) + t * t / 2 * (hat(wd) + hat(w) @ hat(w))
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, t * v + t * t / 2 * vd
    return T


@seeds
def test_accelerations_by_second_differences(seed: int) -> None:
    robot = floating_robot(seed)
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-1, 1, (3, robot.n))
    V0, V0d = rng.uniform(-1, 1, (2, 6))
    h = 1e-4

    def origins(t: float) -> Array:
        base = moved(V0, V0d, t)
        return np.array([(base @ T)[:3, 3] for T in poses(robot, q + t * qd + t * t / 2 * qdd)])

    now = poses(robot, q)
    second = (origins(h) - 2 * origins(0) + origins(-h)) / h**2
    inputs = {"q": q, "qd": qd, "qdd": qdd, "V0": V0, "V0d": V0d}
    found = cardan.model(robot, "accelerations").evaluate(**inputs)
    ours = np.array([T[:3, :3] @ a[:3] for T, a in zip(now, found, strict=True)])
    near(ours, second, 1e-6)
    qdd, V0d = 0 * qdd, 0 * V0d
    second = (origins(h) - 2 * origins(0) + origins(-h)) / h**2
    drift = cardan.model(robot, "jdot-qdot", frame=len(now)).evaluate(q=q, qd=qd, V0=V0)
    near(drift[:3], second[-1], absolute=1e-6 * np.abs(second).max())


@seeds
def test_energy_is_a_potential_of_momentum_and_gravity(seed: int) -> None:
    """h = dE/d(V0, qd) and Q = dU/dq by central differences; the power of free motion is zero."""
    robot = floating_robot(seed)
    rng = np.random.default_rng(seed)
    n = robot.n
    x = {name: rng.uniform(-1, 1, n) for name in ("q", "qd", "qdd")}
    x |= {"V0": rng.uniform(-1, 1, 6), "g0": 9.81 * np.array([0.6, 0.0, 0.8])}
    energies = cardan.model(robot, "energies")

    def slopes(name: str, output: str) -> Array:
        size = len(x[name])
        steps = STEP * np.eye(size)
        ends = [
            energies.evaluate(**{k: v for k, v in x.items() if k in energies.inputs and k != name},
                              **{name: x[name] + sign * steps})[output]
            for sign in (1, -1)
        ]  # fmt: skip
        return np.asarray((ends[0] - ends[1]) / (2 * STEP))

    h = cardan.model(robot, "generalized-momentum").evaluate(q=x["q"], qd=x["qd"], V0=x["V0"])
    near(np.r_[slopes("V0", "E"), slopes("qd", "E")], h, 1e-7)
    Q = cardan.model(robot, "gravity").evaluate(q=x["q"], g0=x["g0"])
    near(slopes("q", "U"), Q[6:], absolute=1e-7 * np.abs(Q).max())
    # gravity stays in the world: it turns backwards in frame 0, and O_0 itself falls
    free = cardan.model(robot, "inverse-dynamics").evaluate(**x)
    w = x["V0"][3:]
    drift = np.r_[np.cross(w, x["V0"][:3]), np.zeros(3)]
    gains = [
        slopes("q", "E") @ x["qd"], h[6:] @ x["qdd"], h[:6] @ (free["V0d"] - drift),
        slopes("q", "U") @ x["qd"], slopes("g0", "U") @ -np.cross(w, x["g0"]),
        -float(sum(link.M for link in (robot.base.link, *robot.links))) * x["g0"] @ x["V0"][:3],
    ]  # fmt: skip
    power = free["tau"] @ x["qd"]
    assert abs(sum(gains) - power) <= 1e-6 * max(map(abs, [*gains, power]))


def test_models_take_the_part_of_the_base_that_they_read() -> None:
    robot = floating_robot(1)
    wanted = {
        "velocities": {"V0"}, "jdot-qdot": {"V0"}, "accelerations": {"V0", "V0d"},
        "generalized-momentum": {"V0"}, "energies": {"V0", "g0"}, "reactions": {"V0", "g0"},
    }  # fmt: skip
    for name, base in wanted.items():
        assert {"V0", "g0", "V0d"} & set(cardan.model(robot, name).inputs) == base
    zeros = np.zeros(robot.n)
    program = cardan.model(robot, "velocities")
    whole = program.evaluate(q=zeros, qd=zeros, V0=np.ones(6), g0=np.ones(3))
    assert np.array_equal(whole, program.evaluate(q=zeros, qd=zeros, V0=np.ones(6)))
    again = program.compile()(q=zeros, qd=zeros, V0=np.ones(6), g0=[0, 0, 9])
    near(again, whole, 1e-14)


def full_parameters(robot: Robot, names: tuple[str, ...]) -> Array:
    """K in the order of the columns."""
    bodies_of = (robot.base.link, *robot.links)

    def value(name: str) -> float:
        key, j = name.rstrip("0123456789"), int(name.lstrip("IAFVSXYZM"))
        owner: Any = robot.joints[j - 1] if key in ("IA", "FV", "FS") else bodies_of[j]
        return float(getattr(owner, key))

    return np.array([value(name) for name in names])


@seeds
def test_regressors_give_torques_and_energies(seed: int) -> None:
    """D K is zero for the free base and the torques; h K is E + U."""
    robot = floating_robot(seed)
    rng = np.random.default_rng(seed)
    x = {name: rng.uniform(-2, 2, (COUNT, robot.n)) for name in ("q", "qd", "qdd")}
    x |= state_of_base(seed)
    free = evaluate(robot, "inverse-dynamics", x)
    for options in ({"effort": "plain"}, {}):
        program = cardan.model(robot, "regressor", **options)
        assert program.columns[:3] == ("XX0", "XY0", "XZ0")
        D = program.evaluate(**{**x, "V0d": free["V0d"]})
        found = D @ full_parameters(robot, program.columns)
        scale = np.abs(free["tau"]).max()
        near(found, np.c_[np.zeros((COUNT, 6)), free["tau"]], absolute=1e-9 * scale)
    program = cardan.model(robot, "energy-regressor")
    h = program.evaluate(**{name: x[name] for name in program.inputs})
    energy = evaluate(robot, "energies", x)
    total = energy["E"] + energy["U"]
    near(h @ full_parameters(robot, program.columns), total, 1e-10)


@seeds
def test_regressor_vs_pinocchio(seed: int, pinocchio: Any) -> None:
    robot, two = flyer(seed)
    program = cardan.model(robot, "regressor", effort="plain")
    D = program.evaluate(**{name: two.state[name] for name in program.inputs})
    order = [
        program.columns.index(f"{key}{j}")
        for j in range(len(robot.links) + 1)
        for key in ("M", "MX", "MY", "MZ", "XX", "XY", "YY", "XZ", "YZ", "ZZ")
    ]
    for k in range(COUNT):
        theirs = pinocchio.computeJointTorqueRegressor(two.model, two.data, *two.at(k))
        near(D[k][:, order], theirs, LIMIT)


def test_what_stays_refused_says_so() -> None:
    with pytest.raises(cardan.CardanError, match=r"a floating base: there are regressor and"):
        cardan.model(floating_robot(1), "filtered-regressor")


@pytest.mark.parametrize("seed", [2])
def test_coriolis_and_lagrange_vs_pinocchio(seed: int, pinocchio: Any) -> None:
    """C u and B u u are Pinocchio's velocity torques; Adot - 2C is skew along the motion."""
    robot, two = flyer(seed)
    x = two.state
    C = evaluate(robot, "coriolis-matrix", x)
    coefficients = evaluate(robot, "lagrange", x)
    matrix = cardan.model(robot, "inertia-matrix").compile()
    Adot = (matrix(q=x["q"] + STEP * x["qd"]) - matrix(q=x["q"] - STEP * x["qd"])) / (2 * STEP)
    near(Adot - C, np.swapaxes(C, 1, 2), 1e-7)
    near(coefficients.A, matrix(q=x["q"]), LIMIT)
    for k in range(COUNT):
        q, u, _ = two.at(k)
        weight = pinocchio.computeGeneralizedGravity(two.model, two.data, q)
        h = pinocchio.nonLinearEffects(two.model, two.data, q, u) - weight
        near(C[k] @ u, h, LIMIT)
        near(np.einsum("ijk,j,k", coefficients.B[k], u, u), h, LIMIT)
        near(coefficients.Q[k], weight, LIMIT)


@pytest.mark.parametrize("name", ["planar2r"])
def test_two_methods_of_lagrange(name: str) -> None:
    """Hamel's equations of A and the Coriolis matrix at unit velocities; and the torques."""
    robot = cardan.floating(cardan.load(name), [12, 1, 1.2, 1.4, 0.1, 0.05, -0.1, 0.3, 0.2, -0.4])
    rng = np.random.default_rng(4)
    robot = robot.with_values({p: rng.uniform(0.5, 1.5) for p in robot.parameters})
    q, qd, qdd = rng.normal(size=(3, robot.n))
    V0, g0 = rng.normal(size=6), rng.normal(size=3)
    one, two = (
        cardan.model(robot, "lagrange", method=method).compile()(q=q, g0=g0)
        for method in ("christoffel", "renaud")
    )
    near(one.B, two.B, LIMIT)
    third = cardan.model(robot, "lagrange", form="configuration").compile()(q=q, g0=g0)
    u, size = np.r_[V0, qd], robot.n + 6
    pairs = [2 * u[j] * u[k] for j in range(size) for k in range(j + 1, size)]
    near(third.C1 @ pairs + third.C2 @ (u * u), np.einsum("ijk,j,k", one.B, u, u), LIMIT)
    x = {"q": q, "qd": qd, "qdd": qdd, "V0": V0, "g0": g0, "f_e": rng.normal(size=(robot.n + 1, 6))}
    torques, other = (
        cardan.model(robot, "inverse-dynamics", method=method, f_e=True).compile()(**x)
        for method in ("lagrange", "newton-euler")
    )
    near(torques.tau, other.tau, LIMIT)
    near(torques.V0d, other.V0d, LIMIT)


@pytest.mark.parametrize("name", ["planar2r", "tree"])
def test_base_parameters(name: str) -> None:
    """As many as the rank of the regressor; D K is the wrench and the torques; the robot that
    carries them moves alike."""
    robot = cardan.floating(cardan.load(name), [12, 1, 1.2, 1.4, 0.1, 0.05, -0.1, 0.3, 0.2, -0.4])
    rng = np.random.default_rng(6)
    robot = robot.with_values({p: rng.uniform(0.5, 1.5) for p in robot.parameters})
    base = cardan.model(robot, "base-parameters")
    n, count = robot.n, 150
    sizes = {"q": n, "qd": n, "qdd": n, "V0": 6, "V0d": 6, "g0": 3}
    x = {key: rng.normal(size=(count, size)) for key, size in sizes.items()}
    regressor = cardan.model(robot, "regressor", effort="plain")
    inertial = [k for k, c in enumerate(regressor.columns) if c[:2] not in ("FV", "FS")]
    D = regressor.compile()(**x)[..., inertial].reshape(-1, len(inertial))
    assert np.linalg.matrix_rank(D / np.linalg.norm(D, 2), tol=1e-9) == len(base.kept)
    links = (robot.base.link, *robot.links)
    full = [getattr(robot.joints[j - 1] if k == "IA" else links[j], k) for k, j in base.full]
    K = base.map @ [float(value) for value in full]
    near(K, [float(value) for value in base.values.values()], 1e-12)
    state = {key: value[0] for key, value in x.items()}
    own, carried = (
        cardan.model(r, "inverse-dynamics", base="given", friction=False, effort="plain").compile()(
            **state
        )
        for r in (robot, base.robot)
    )
    near(carried.tau, own.tau, LIMIT)
    near(carried.F0, own.F0, LIMIT)


def test_loops_on_a_floating_base_are_refused_by_name() -> None:
    robot = cardan.floating(cardan.load("fivebar"), 10)
    for name in ("coriolis-matrix", "lagrange", "base-parameters"):
        with pytest.raises(cardan.ModelError, match="loops and couplings on a floating base"):
            cardan.model(robot, name)


def test_a_robot_let_go() -> None:
    ur5 = cardan.load("ur5")
    let_go = cardan.floating(ur5)
    assert sum(link.M for link in ur5.links) == let_go.base.link.M
    own = cardan.floating(cardan.floating(ur5, {"M": 3, "ZZ": "1/2"}))
    assert (own.base.link.M, own.base.link.ZZ, own.base.link.XX) == (3, 0.5, 0)
    for wrong, words in (([1, 2], "2 values; expected M; or"), ({"mass": 2}, "'mass' is no")):
        with pytest.raises(cardan.InputError, match=words):
            cardan.floating(ur5, wrong)
