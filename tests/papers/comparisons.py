"""What the claims about the papers are compared by: each function gives the largest relative error
against an independent route, the oracle of tests/loops (series in time and virtual power), a closed
form, or differences of such."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from tests.loops.oracle import Oracle, times
from tests.random_robots import random_robot, states

import cardan
from cardan.control.transfer import transfer_functions
from cardan.describe.files import dumps
from cardan.describe.robot import DRIVE, FIXED, INERTIA, Robot
from cardan.exact import exact

Array = np.ndarray

# --- robots, states, and the oracle's side ---------------------------------------------------


@cache
def trees() -> tuple[Robot, ...]:
    """Random trees of five links, turning and sliding; every other one is a chain."""
    return tuple(
        random_robot(seed, 5, tree=seed % 2 == 0, wrenches=False, base_motion=False)
        for seed in range(2)
    )


def state(robot: Robot) -> dict[str, Array]:
    return states(robot.n, 3)


def oracle(robot: Robot) -> Oracle:
    return Oracle(robot, {})


def error(ours: Any, theirs: Any) -> float:
    """The largest difference, relative to the largest value or 1."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    return float(np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max()))


def over_trees(one: Callable[[Robot, dict[str, Array]], tuple[Any, Any]]) -> Callable[[], float]:
    """The largest error of a comparison on the random trees."""
    return lambda: max(error(*one(robot, state(robot))) for robot in trees())


def value(robot: Robot, model: str, x: dict[str, Array], **options: Any) -> Any:
    program = cardan.model(robot, model, **options)
    return program.evaluate(**{name: x[name] for name in program.inputs})


# --- [KC97] ----------------------------------------------------------------------------------


@over_trees
def transform(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    zero = np.zeros_like(x["q"])
    """Of every frame in the base and in every other one."""
    every = range(len(robot.links) + 1)
    poses = [T[:, 0] for T in oracle(robot).poses(x["q"], zero, zero)[: len(every)]]
    poses[0] = np.broadcast_to(poses[0], poses[1].shape)
    pairs = [(j, i) for j in every for i in every if i != j]
    ours = [value(robot, "transform", x, frame=j, reference=i) for j, i in pairs]
    return ours, [np.linalg.solve(poses[i], poses[j]) for j, i in pairs]


@over_trees
def jacobian(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    n = len(robot.links)
    zero = np.zeros_like(x["q"])
    P = oracle(robot).poses(x["q"], zero, zero)[n][:, 0, :3, 3]
    twists = oracle(robot).twists(x["q"])[n - 1].transpose(1, 2, 0)  # about O_0
    moved = twists.copy()
    moved[:, :3] += np.cross(twists[:, 3:], P[..., None], axis=1)
    ours = value(robot, "jacobian", x, frame=n, projection=0)
    F1, F2, F3 = value(robot, "jacobian", x, frame=n, projection=0, factors=True)
    return [ours, F1 @ F2 @ F3], [moved, moved]


@over_trees
def velocities(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    bodies = oracle(robot).bodies(oracle(robot).poses(x["q"], x["qd"], x["qdd"]))
    ours = [value(robot, "velocities", x), value(robot, "accelerations", x)]
    V = [np.concatenate([in_link(R, v), in_link(R, w)], -1) for R, _, v, w, _, _ in bodies]
    Vd = [np.concatenate([in_link(R, a), in_link(R, wd)], -1) for R, _, _, _, a, wd in bodies]
    return ours, [np.stack(V, 1), np.stack(Vd, 1)]


def in_link(R: Array, v: Array) -> Array:
    return np.einsum("nji,nj->ni", R, v)


@over_trees
def jdot_qdot(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    n, rest = len(robot.links), np.zeros_like(x["qd"])
    *_, a, wd = oracle(robot).bodies(oracle(robot).poses(x["q"], x["qd"], rest))[n - 1]
    ours = value(robot, "jdot-qdot", x, frame=n, projection=0)
    return ours, np.concatenate([a, wd], -1)


@over_trees
def inverse_dynamics(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    torques = oracle(robot).torques(x["q"], x["qd"], x["qdd"])
    ways = [value(robot, "inverse-dynamics", x, **options)
            for options in ({}, {"method": "lagrange"}, {"base_parameters": True})]  # fmt: skip
    return ways, [torques] * 3


@over_trees
def direct_dynamics(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    y = {**x, "tau": oracle(robot).torques(x["q"], x["qd"], x["qdd"])}
    ways = [value(robot, "direct-dynamics", y, **options)
            for options in ({}, {"method": "inertia-matrix"})]  # fmt: skip
    return ways, [x["qdd"]] * 2


@over_trees
def lagrange(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    """A, the bias H (b and Coriolis terms, gravity, friction) and gravity."""
    zero = np.zeros_like(x["q"])
    side = oracle(robot)
    ours = [value(robot, "inertia-matrix", x).reshape(3, -1), value(robot, "bias", x),
            value(robot, "gravity", x)]  # fmt: skip
    theirs = [side.mass(x["q"]).reshape(3, -1), side.torques(x["q"], x["qd"], zero),
              side.torques(x["q"], zero, zero)]  # fmt: skip
    return np.concatenate(ours, 1), np.concatenate(theirs, 1)


@over_trees
def regressor(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    program = cardan.model(robot, "regressor")
    D = program.evaluate(**{name: x[name] for name in program.inputs})
    return D @ numbers(robot, program.columns), oracle(robot).torques(x["q"], x["qd"], x["qdd"])


def numbers(robot: Robot, columns: tuple[str, ...]) -> Array:
    """K: what the robot has for each column."""
    return np.array([parameter(robot, name) for name in columns])


def parameter(robot: Robot, name: str) -> float:
    key, j = name.rstrip("0123456789"), int(name[len(name.rstrip("0123456789")) :]) - 1
    return float(getattr(robot.joints[j] if key in DRIVE else robot.links[j], key))


def loop_kinematics() -> float:
    """W and psi of the five-bar, the SR400 and the Delta: qd, qdd of the passive joints; those of
    the opened ones where they turn."""
    worst = 0.0
    for robot, q in closed():
        side = oracle(robot)
        rng = np.random.default_rng(1)
        count = len(side.active)
        qd_a, qdd_a = rng.uniform(-1, 1, (2, 1, count))
        qd, qdd = side.motion(q, qd_a, qdd_a)
        passive = [k for k in range(q.shape[1]) if k not in side.active]
        values = cardan.model(robot, "loop-kinematics", details=True).evaluate(q=q, qd=qd_a)
        W, psi = values.W, values.psi
        ours = [np.einsum("nij,nj->ni", W, qd_a), np.einsum("nij,nj->ni", W, qdd_a) + psi]
        worst = max(worst, error(ours, [qd[:, passive], qdd[:, passive]]))
        if not any(loop.kind or loop.cut.sigma for loop in robot.loops):
            Wcut = values.Wcut
            ours = [np.einsum("nij,nj->ni", Wcut, qd_a),
                    np.einsum("nij,nj->ni", Wcut, qdd_a) + values.psi_cut]  # fmt: skip
            worst = max(worst, error(ours, opened(side, q, qd, qdd)))
    return worst


def opened(side: Oracle, q: Array, qd: Array, qdd: Array) -> list[Array]:
    """Rates and accelerations of the opened joints: phi of Rot(z, phi) from one frame of a cut to
    the other."""
    poses, count = side.poses(q, qd, qdd), len(side.robot.loops)
    rates = []
    for k in range(count):
        C, D = poses[len(poses) - 2 * count + k], poses[len(poses) - count + k]
        R = times(C.transpose(0, 1, 3, 2)[..., :3, :3], D[..., :3, :3])
        c, s = R[..., 0, 0], R[..., 1, 0]
        rates.append([c[:, 0] * s[:, m] - s[:, 0] * c[:, m] for m in (1, 2)])
    first, second = np.moveaxis(np.array(rates), 1, 0)
    return [first.T, 2 * second.T]


def closed_dynamics() -> float:
    """Torques of the active joints, and the accelerations that they give."""
    worst = 0.0
    for robot, q in closed():
        side = oracle(robot)
        qd, qdd = np.random.default_rng(2).uniform(-1, 1, (2, 1, len(side.active)))
        tau = cardan.model(robot, "inverse-dynamics").evaluate(q=q, qd=qd, qdd=qdd)
        back = cardan.model(robot, "direct-dynamics").evaluate(q=q, qd=qd, tau=tau)
        worst = max(worst, error(tau, side.inverse(q, qd, qdd)), error(back, qdd))
    return worst


@cache
def closed() -> tuple[tuple[Robot, Array], ...]:
    """Closed-loop robots with numbers, each in an assembly."""
    placed = []
    for name, q_a in (("fivebar", [2.2, 0.9]), ("sr400", [0.1, 0.3, 0.2, 0.4, 0.1, -0.2]),
                      ("delta", [0.3, 0.2, 0.1])):  # fmt: skip
        robot = cardan.load(name)
        rng = np.random.default_rng(3)
        robot = robot.with_values({x: round(rng.uniform(0.5, 1.5), 3) for x in robot.parameters})
        placed.append((robot, cardan.model(robot, "loop-geometry").solve(q_a)[:1]))
    return tuple(placed)


def inverse_geometry() -> float:
    """The joint positions that a pose comes from are among its configurations, by each method, and
    all of these have the pose; an arm with three slides among them."""
    worst = 0.0
    q = np.array([0.3, -0.6, 0.4, 0.5, 0.7, -0.2])
    slides = {
        "name": "PPPRRR",
        "link": [
            *({"joint": "prismatic", "alpha": a, "theta": "0.8"} for a in ("0.3", "pi/2", "-1.1")),
            {"alpha": "0.7", "d": 0.2},
            {"alpha": "pi/2", "d": 0.1},
            {"alpha": "-pi/2", "d": 0.3},
        ],
    }
    for source, method in (("puma560-numeric", "paul"), ("puma560-numeric", "pieper"),
                           ("puma560-numeric", "general"), ("general6r", "general"),
                           (slides, "pieper")):  # fmt: skip
        robot = cardan.load(source)
        rng = np.random.default_rng(4)
        robot = robot.with_values({x: round(rng.uniform(0.2, 1), 2) for x in robot.parameters})
        T = cardan.model(robot, "transform").evaluate(q=q)
        every = cardan.model(robot, "inverse-geometry", method=method).solve(T)
        gap = np.abs(np.angle(np.exp(1j * (every - q)))).max(axis=1).min()
        poses = [oracle(robot).poses(x[None], 0 * x[None], 0 * x[None])[6][0, 0] for x in every]
        worst = max(worst, float(gap), error(poses, [T] * len(every)))
    return worst


def determinant() -> float:
    """L1 L2 sin q2 at the tip of a planar 2R."""
    robot = cardan.load("planar2r").with_values({"L1": 0.7})
    program = cardan.model(robot, "jacobian-inverse", tool=[0.4, 0, 0])
    results = program.evaluate(q=[0.3, 0.9])
    return error(results[list(program.outputs).index("det")], 0.7 * 0.4 * np.sin(0.9))


def inverse_jacobian() -> float:
    """Of the UR5: its product with the twists of unit velocities, and their determinant."""
    robot = cardan.load("ur5")
    q = states(robot.n, 2)["q"]
    P = oracle(robot).poses(q, 0 * q, 0 * q)[6][:, 0, :3, 3]
    J = oracle(robot).twists(q)[5].transpose(1, 2, 0).copy()
    J[:, :3] += np.cross(J[:, 3:], P[..., None], axis=1)
    program = cardan.model(robot, "jacobian-inverse", projection=0)
    inverse, det = program.evaluate(q=q)
    unit = np.broadcast_to(np.eye(6), J.shape)
    return max(error(inverse @ J, unit), error(det, np.linalg.det(J)))


def operations() -> float:
    """Products and sums of a general 6R over the bound 92 n - 127, 81 n - 117."""
    cost = cardan.model(cardan.load("general6r"), "inverse-dynamics").cost
    return max(cost.mul / (92 * 6 - 127), cost.add / (81 * 6 - 117))


def frames() -> float:
    """N_f = N_L + 2 B = 10 frames in the file of the SR400, N_L = 8, B = 1."""
    rows = dumps(cardan.load("sr400"), "par").splitlines()
    counts = dict(row.split(" = ") for row in rows if row.startswith(("NF", "NL", "NJ")))
    return float(counts != {"NL": "8", "NJ": "9", "NF": "10"})


def operations_by_links() -> float:
    """The recursive inverse model grows by as much with each link, [C23] O(N), [KC97] 92, 81: the
    part by which two steps differ, for chains of general geometry."""
    link = {"alpha": "a", "d": "d", "r": "r", **{key: key for key in INERTIA}, "joint": "revolute"}
    costs = []
    for n in (3, 5, 7, 9):
        links = [{k: v if k == "joint" else f"{v}_{j}" for k, v in link.items()} for j in range(n)]
        robot = cardan.load({"name": "chain", "gravity": [0, 0, "g"], "link": links})
        costs.append(cardan.model(robot, "inverse-dynamics", effort="plain").cost.total)
    steps = np.diff(costs)
    return float(np.abs(np.diff(steps)).max() / steps.max())


@over_trees
def wrenches(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    """Inverse and direct dynamics while every link acts on its surroundings."""
    f_e = np.random.default_rng(5).uniform(-5, 5, (3, len(robot.links), 6))
    tau = oracle(robot).torques(x["q"], x["qd"], x["qdd"], f_e)
    y = {**x, "f_e": f_e, "tau": tau}
    ours = [value(robot, "inverse-dynamics", y, f_e=True)]
    ours += [value(robot, "direct-dynamics", y, f_e=True, method=method)
             for method in ("recursive", "inertia-matrix")]  # fmt: skip
    return ours, [tau, x["qdd"], x["qdd"]]


@over_trees
def reactions(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    """Through joint j goes what link j and all that it carries must be given."""
    side = oracle(robot)
    whole = side.demand(x["q"], x["qd"], x["qdd"])
    for j in reversed(range(len(robot.links))):
        i = robot.joints[j].antecedent
        if i:
            whole[i - 1] = whole[i - 1] + whole[j]
    theirs = []
    bodies = side.bodies(side.poses(x["q"], x["qd"], x["qdd"]))
    for (R, P, *_), W in zip(bodies, whole, strict=True):
        F, N = W[:, :3], W[:, 3:] - np.cross(P, W[:, :3])
        theirs.append(np.concatenate([in_link(R, F), in_link(R, N)], -1))
    return value(robot, "reactions", x), np.stack(theirs, 1)


def slope(f: Callable[[float], Array], h: float) -> Array:
    """f'(0), by five points."""
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


@over_trees
def filtered_regressor(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    """D1 K = A qd, and its rate with D2 K is the torque."""
    program = cardan.model(robot, "filtered-regressor")
    K, (q, qd, qdd) = numbers(robot, program.columns), x.values()

    def along(t: float) -> Any:
        return program.evaluate(q=q + t * qd + t * t / 2 * qdd, qd=qd + t * qdd)

    momentum, rest = (D @ K for D in along(0))
    side = oracle(robot)
    theirs = [np.einsum("nij,nj->ni", side.mass(q), qd), side.torques(q, qd, qdd)]
    return [momentum, slope(lambda t: along(t).D1 @ K, 1e-4) + rest], theirs


@over_trees
def energies(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    """E = qd^T A qd / 2, U = - sum g^T (M P + R MS), and h K = E + U."""
    side, (q, qd, _) = oracle(robot), x.values()
    program = cardan.model(robot, "energy-regressor")
    E = np.einsum("ni,nij,nj->n", qd, side.mass(q), qd) / 2
    g, U = np.array([side.number(value) for value in robot.gravity]), np.zeros(len(q))
    for link, (R, P, *_) in zip(robot.links, side.bodies(side.poses(q, qd, qd)), strict=True):
        M, *MS = (side.number(getattr(link, key)) for key in ("M", "MX", "MY", "MZ"))
        U -= (M * P + R @ np.array(MS)) @ g
    ours = [*value(robot, "energies", x), value(robot, "energy-regressor", x)
            @ numbers(robot, program.columns)]  # fmt: skip
    return ours, [E, U, E + U]


@over_trees
def base_parameters(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    """The robot of the base parameters, which has fewer, has the torques of the robot."""
    base = cardan.model(robot, "base-parameters")
    return oracle(base.robot).torques(*x.values()), oracle(robot).torques(*x.values())


@over_trees
def coriolis(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    """sum over j, k of (db_ij/dq_k - db_jk/dq_i / 2) qd_j qd_k, of b = A by differences."""
    side, (q, qd, _) = oracle(robot), x.values()
    n = q.shape[1]
    d = np.stack([slope(lambda t, e=e: side.mass(q + t * e), 1e-3) for e in np.eye(n)], -1)
    theirs = np.einsum("sijk,sj,sk->si", d, qd, qd) - np.einsum("sjki,sj,sk->si", d, qd, qd) / 2
    ours = [np.einsum("sij,sj->si", value(robot, "coriolis-matrix", x), qd)]
    for method in ("christoffel", "renaud"):
        B = value(robot, "lagrange", x, method=method)[1]
        ours.append(np.einsum("sijk,sj,sk->si", B, qd, qd))
    return ours, [theirs] * 3


@over_trees
def configuration_form(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    """C' 2 [qd_i qd_j] + C'' [qd_i^2]: what is even in the velocities, less gravity."""
    side, (q, qd, _) = oracle(robot), x.values()
    zero = np.zeros_like(q)
    H = [side.torques(q, rate, zero) for rate in (qd, -qd, zero)]
    values = cardan.model(robot, "lagrange", form="configuration").evaluate(q=q)
    pairs = [(j, k) for j in range(q.shape[1]) for k in range(j + 1, q.shape[1])]
    products = np.stack([2 * qd[:, j] * qd[:, k] for j, k in pairs], -1)
    ours = np.einsum("sij,sj->si", values.C1, products) + np.einsum("sij,sj->si", values.C2, qd**2)
    return ours, (H[0] + H[1]) / 2 - H[2]


def inertia_by_jacobians() -> float:
    """B(q) of the UR5 by (3.22): Jacobians of the centres of mass, inertias about them."""
    robot = cardan.load("ur5")
    q = states(robot.n, 1)["q"][0]
    B = np.diag([float(joint.IA) for joint in robot.joints])
    for j, link in enumerate(robot.links, 1):
        XX, XY, XZ, YY, YZ, ZZ, *MS, M = (float(getattr(link, key)) for key in INERTIA)
        c = np.array(MS) / M
        about = np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]])
        about -= M * (c @ c * np.eye(3) - np.outer(c, c))
        J = cardan.model(robot, "jacobian", frame=j, projection=j, tool=c.tolist()).evaluate(q=q)
        B[:j, :j] += (M * J[:3].T @ J[:3] + J[3:].T @ about @ J[3:])[:j, :j]
    return error(cardan.model(robot, "inertia-matrix").evaluate(q=q), B)


def one_arm() -> float:
    """Gamma - l F = m l^2 thetadd + m g l cos theta, F at the tip and across the arm."""
    m, l, theta, thetadd, F = 1.3, 0.7, 0.4, 2.0, 5.0
    robot = cardan.load({
        "name": "arm", "gravity": [0, -9.81, 0], "link": [{"mass": m, "com": [l, 0, 0]}],
    })  # fmt: skip
    program = cardan.model(robot, "inverse-dynamics", f_e=True)
    tau = program.evaluate(q=[theta], qd=[1.0], qdd=[thetadd], f_e=[[0, F, 0, 0, 0, l * F]])
    return error(tau, m * l**2 * thetadd + m * 9.81 * l * np.cos(theta) + l * F)


def one_arm_moves() -> float:
    """Place, velocity and acceleration of the tip, and theta from its place."""
    l, theta, rate, change = 0.7, 0.4, 1.5, 2.0
    tip = {"name": "tip", "link": 1, "xyz": [l, 0, 0]}
    robot = cardan.load({"name": "arm", "link": [{"mass": 1}], "frame": [tip]})
    across = np.array([-l * np.sin(theta), l * np.cos(theta)])
    T = cardan.model(robot, "transform", frame="tip").evaluate(q=[theta])
    J = cardan.model(robot, "jacobian", frame="tip", projection=0).evaluate(q=[theta])
    drift = cardan.model(robot, "jdot-qdot", frame="tip", projection=0)
    radius = l * np.array([np.cos(theta), np.sin(theta)])
    ours = [T[:2, 3], J[:2, 0] * rate,
            J[:2, 0] * change + drift.evaluate(q=[theta], qd=[rate])[:2]]  # fmt: skip
    theirs = [radius, across * rate, across * change - radius * rate**2]
    (back,) = cardan.model(robot, "inverse-geometry", frame="tip").solve(T)
    return max(error(ours, theirs), error(back, [theta]))


def pendulum() -> float:
    """I thetadd = Gamma - m g l sin theta - b thetad^2 sign(thetad), both ways, and the transfer
    function about the hanging position at rest, where b has no slope."""
    m, l, b, theta, rate, change = 1.3, 0.7, 0.4, 0.5, -1.2, 2.0
    robot = cardan.load({"name": "pendulum", "gravity": ["9.81", 0, 0], "link": [
        {"mass": m, "com": [l, 0, 0], "FQ": b}]})  # fmt: skip
    gamma = m * l**2 * change + m * 9.81 * l * np.sin(theta) - b * rate**2
    x = {"q": [theta], "qd": [rate]}
    ours = [cardan.model(robot, "inverse-dynamics").evaluate(**x, qdd=[change]),
            cardan.model(robot, "direct-dynamics").evaluate(**x, tau=[gamma])]  # fmt: skip
    num, den = transfer_functions(robot, [0]).evaluate(0, 0)
    theirs = np.array([m * l**2, 0, m * 9.81 * l])
    return max(error(ours, [[gamma], [change]]), error(den / num[-1], theirs))


def parts_of_the_torque() -> float:
    """B qdd + G + C + F + K of a motion, each by itself, with springs beside the motors."""
    robot = trees()[0]
    moves = [joint.sigma != FIXED for joint in robot.joints]
    springs = {"spring": exact("7.5"), "neutral": exact("0.3"), "FS": 0}
    joints = [replace(x, **springs) if m else x for x, m in zip(robot.joints, moves, strict=True)]
    whole = replace(robot, joints=tuple(joints))
    motion = cardan.trajectory(whole, 0.4, duration=1.0, dt=0.25)
    q, qd, qdd = motion.q, motion.qd, motion.qdd
    bare = [replace(joint, spring=0, neutral=0, FV=0) for joint in joints]
    side, zero = oracle(replace(whole, joints=tuple(bare))), np.zeros_like(q)
    FV = np.array([float(x.FV) for x, m in zip(joints, moves, strict=True) if m])
    weight = side.torques(q, zero, zero)
    theirs = {
        "inertial": np.einsum("tij,tj->ti", side.mass(q), qdd), "gravity": weight,
        "centrifugal and Coriolis": side.torques(q, qd, zero) - weight,
        "friction": FV * qd, "springs": 7.5 * (q - 0.3),
    }  # fmt: skip
    ours = cardan.torques(whole, motion)
    parts = [ours.parts[key] for key in theirs]
    return max(error(parts, list(theirs.values())), error(ours.total, sum(theirs.values())))


def cartesian_by_newton() -> float:
    """Gamma_1 = (m1 + m2) xdd, Gamma_2 = m2 (zdd + g), and what the guides carry: the weight of
    both and the moment of the second body about the first."""
    m1, m2, x, z, xdd, zdd, g = 3.0, 2.0, 0.4, 0.7, 1.5, -0.6, 9.81
    robot = cardan.load({"name": "xz", "gravity": [0, 0, -g], "link": [
        {"joint": "prismatic", "gamma": "pi/2", "alpha": "pi/2", "mass": m1},
        {"joint": "prismatic", "alpha": "-pi/2", "mass": m2}]})  # fmt: skip
    T = [cardan.model(robot, "transform", frame=j).evaluate(q=[x, z]) for j in (1, 2)]
    state = {"q": [x, z], "qd": [0.3, -0.2], "qdd": [xdd, zdd]}
    tau = cardan.model(robot, "inverse-dynamics").evaluate(**state)
    through = cardan.model(robot, "reactions").evaluate(**state)
    ours = [(T[j][:3, :3] @ through[j].reshape(2, 3).T).T for j in (0, 1)]  # in frame 0
    second = m2 * np.array([xdd, 0, zdd + g])
    first = second + m1 * np.array([xdd, 0, g])
    theirs = [[first, np.cross([0, 0, z], second)], [second, [0, 0, 0]]]
    return max(error(tau, [(m1 + m2) * xdd, m2 * (zdd + g)]), error(ours, theirs))


def elastic_joints(stiffness: str = "50") -> float:
    """Springs that rest where they push with what the oracle asks of their joints; with stiffness 0
    nothing drives a joint, and its acceleration is what leaves it without a torque."""
    worst = 0.0
    for robot in trees():
        x = {name: rows[:1] for name, rows in state(robot).items()}
        moving = [j for j, joint in enumerate(robot.joints) if joint.sigma != FIXED]
        soft = [1, len(moving) - 1]
        plain = [replace(joint, FV=0, FS=0) if j in [moving[k] for k in soft] else joint
                 for j, joint in enumerate(robot.joints)]  # fmt: skip
        side = oracle(replace(robot, joints=tuple(plain)))
        q, qd, qdd = x.values()
        if stiffness == "0":
            A, tau = side.mass(q)[0], side.torques(q, qd, qdd)[0]
            qdd[0, soft] -= np.linalg.solve(A[np.ix_(soft, soft)], tau[soft])
        tau = side.torques(q, qd, qdd)
        for k in soft:
            rest = float(q[0, k] + tau[0, k] / float(stiffness)) if stiffness != "0" else 0.0
            spring = {"elastic": True, "stiffness": exact(stiffness), "rest": exact(repr(rest))}
            plain[moving[k]] = replace(plain[moving[k]], active=False, **spring)
        soft_robot = replace(robot, joints=tuple(plain))
        rigid = [k for k in range(len(moving)) if k not in soft]
        y = {"q": q, "qd": qd, "qdd": qdd[:, rigid], "tau": tau[:, rigid]}
        torques, elastic = value(soft_robot, "inverse-dynamics", y)
        worst = max(
            worst, error(torques, tau[:, rigid]), error(elastic, qdd[:, soft]),
            error(value(soft_robot, "direct-dynamics", y), qdd),
        )  # fmt: skip
    return worst


def joints_without_motors() -> float:
    return elastic_joints("0")


def base_moved_by_joints() -> float:
    """Momentum about a point of the world while joints follow a motion and the base is free."""
    body = {"mass": 2, "inertia_com": [0.1, 0, 0, 0.2, 0, 0.3]}
    rod = {"mass": 1, "com": [0.3, 0, 0], "inertia_com": [0.01, 0, 0, 0.02, 0, 0.03]}
    robot = cardan.load({
        "name": "free", "gravity": [0, 0, 0], "base": {"kind": "floating", **body},
        "link": [{**rod, "d": 0.2, "alpha": "pi/2"}, {**rod, "d": 0.5, "alpha": "pi/3"}],
    })  # fmt: skip
    motion = cardan.trajectory(robot, [1.5, -2.0], 2, start=[0, 0])
    run = cardan.simulate(robot, duration=2, motion=motion, dt=0.1,
                          base_twist=[0.1, 0.2, 0, 0.3, -0.1, 0.2])  # fmt: skip
    side, zero = oracle(robot), np.zeros_like(run.q)
    moved = side.bodies(side.poses(run.q, run.qd, zero))
    still = np.zeros((len(run.q), 3))
    base = np.tile(np.eye(3), (len(still), 1, 1)), still, still, still
    p, L = np.zeros((2, len(still), 3))
    v0, w0 = run.V0[:, :3], run.V0[:, 3:]
    bodies = zip((robot.base.link, *robot.links), (base, *moved), strict=True)
    for link, (R, P, v, w, *_) in bodies:
        XX, XY, XZ, YY, YZ, ZZ, *MS, M = (side.number(getattr(link, key)) for key in INERTIA)
        J = R @ np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]]) @ R.transpose(0, 2, 1)
        S, V, W = R @ np.array(MS), v0 + np.cross(w0, P) + v, w0 + w
        own = M * V + np.cross(W, S)
        p += own
        L += np.einsum("tij,tj->ti", J, W) + np.cross(S, V) + np.cross(P, own)
    R0, P0 = run.T0[:, :3, :3], run.T0[:, :3, 3]
    p = np.einsum("tij,tj->ti", R0, p)
    whole = np.concatenate([p, np.einsum("tij,tj->ti", R0, L) + np.cross(P0, p)], 1)
    return error(whole, np.broadcast_to(whole[0], whole.shape))


@over_trees
def momentum(robot: Robot, x: dict[str, Array]) -> tuple[Any, Any]:
    """NE_0(q, 0, qd) = M qd."""
    return value(robot, "generalized-momentum", x), np.einsum(
        "nij,nj->ni", oracle(robot).mass(x["q"]), x["qd"]
    )
