"""Closed loops with elastic joints and on a floating base, against Lagrange multipliers.

The second route knows neither G nor recursions over a floating base: six joints carry the base, all
loop equations are kept, springs are torques, and the accelerations are those of

    M qdd - J^T lambda = tau - H,   J qdd = -Jdot qd
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.loops.mechanisms import derived
from tests.loops.oracle import Oracle

import cardan
from cardan.errors import ModelError
from cardan.simulation.simulate import simulate

Array = np.ndarray
BODY = {"mass": 1.7, "com": [0.03, -0.02, 0.05], "inertia_com": [0.03, 0.002, 0.001, 0.04, 0, 0.05]}


def link(k: int, name: str, **fields: Any) -> dict[str, Any]:
    return {
        "name": name, "active": False, "mass": 0.6 + 0.2 * k, "com": [0.1, 0.03 * k, 0.02],
        "inertia_com": [0.01, 0.001, 0, 0.02, 0.002, 0.02], "FV": 0.1, **fields,
    }  # fmt: skip


def pinned(a: str, b: str, name: str, **sides: Any) -> dict[str, Any]:
    return {
        "name": name, "cut": {"antecedent": a, "d": sides["one"]},
        "twin": {"antecedent": b, "d": sides["other"]},
    }  # fmt: skip


def four_bar(**rocker: Any) -> dict[str, Any]:
    return {
        "link": [link(1, "crank", active=True, IA=0.01), link(2, "coupler", d=0.2),
                 link(3, "rocker", antecedent=0, d=0.6, **rocker)],
        "loop": [pinned("coupler", "rocker", "bar", one=0.55, other=0.4)],
    }  # fmt: skip


def watt() -> dict[str, Any]:
    found = four_bar()
    found["link"] += [link(4, "fourth", antecedent="coupler", gamma=0.8, d=0.3),
                      link(5, "fifth", antecedent="rocker", gamma=-0.4, d=0.5)]  # fmt: skip
    found["loop"].append(pinned("fourth", "fifth", "second", one=0.45, other=0.5))
    return found


def spatial() -> dict[str, Any]:
    """RSSR, its ball two turns, with an arm on the rocker."""
    return {
        "link": [link(1, "crank", active=True), link(2, "fork", alpha="pi/2", d=0.2),
                 link(3, "rod", alpha="pi/2"),
                 link(4, "rocker", antecedent=0, gamma=0.3, b=0.1, alpha=1.1, d=0.6),
                 link(5, "arm", active=True, alpha="pi/2", d=0.3)],
        "loop": [{"name": "ball", "cut": {"antecedent": "rod", "d": 0.7, "joint": "spherical"},
                  "twin": {"antecedent": "rocker", "d": 0.45}}],
    }  # fmt: skip


def behind_a_motor(table: dict[str, Any]) -> dict[str, Any]:
    """A spring between the motor and the crank."""
    crank = table["link"][0]
    crank |= {"antecedent": "motor", "stiffness": 30, "rest": 0.1, "damping": 0.3}
    return {**table, "link": [{"name": "motor", "IA": 0.02}, *table["link"]]}


def sprung(table: dict[str, Any], name: str) -> dict[str, Any]:
    for own in table["link"]:
        if own["name"] == name:
            own |= {"stiffness": 12, "rest": 0.2, "damping": 0.4}
    return table


def floating(table: dict[str, Any]) -> dict[str, Any]:
    return {**table, "base": {"kind": "floating", **BODY}}


def carried(table: dict[str, Any]) -> cardan.Robot:
    """The base as a body on six joints, in place of the floating one."""
    table = copy.deepcopy(table)
    body = table.pop("base")
    del body["kind"]
    table["link"][0].setdefault("antecedent", 0)
    frames = [own for loop in table.get("loop", []) for own in (loop["cut"], loop["twin"])]
    for own in (*table["link"], *frames):
        if own.get("antecedent") == 0:
            own["antecedent"] = "platform"
    return cardan.load({**table, "platform": body})


def geared(**wheel: Any) -> dict[str, Any]:
    """An arm whose second joint is geared to the first, with a third that is free."""
    led = {"mimic": {"joint": "upper", "ratio": -1.5, "offset": 0.2}}
    return {
        "link": [link(1, "upper", active=True, IA=0.01), link(2, "lower", d=0.4, **led, **wheel),
                 link(3, "hand", active=True, alpha="pi/2", d=0.3)],
    }  # fmt: skip


def wheeled() -> dict[str, Any]:
    """A four-bar whose rocker leads a wheel."""
    found = four_bar()
    led = {"mimic": {"joint": "rocker", "ratio": 2}}
    found["link"].append(link(4, "wheel", antecedent="crank", d=0.1, alpha="pi/3", **led))
    return found


CASES = {
    "geared, a spring on the follower": sprung(geared(), "lower"),
    "geared, a loose hand": sprung(geared(), "hand"),
    "geared behind a spring": behind_a_motor(geared()),
    "floating, geared": floating(geared()),
    "floating, geared, a loose hand": floating(sprung(geared(), "hand")),
    "floating four-bar, a wheel": floating(wheeled()),
    "a spring on the rocker": sprung(four_bar(), "rocker"),
    "a spring behind the motor": behind_a_motor(four_bar()),
    "one spring free, one not": sprung(behind_a_motor(four_bar()), "coupler"),
    "six bars, a spring": sprung(watt(), "fourth"),
    "spatial, a loose arm": sprung(spatial(), "arm"),
    "floating four-bar": floating(four_bar()),
    "floating six-bar": floating(watt()),
    "floating spatial": floating(spatial()),
    "floating, a spring behind the motor": floating(behind_a_motor(four_bar())),
    "floating, a spring on the rocker": floating(sprung(four_bar(), "rocker")),
}


@pytest.mark.parametrize("name", CASES)
def test_against_multipliers(name: str) -> None:
    table = CASES[name]
    robot = cardan.load(table)
    floats = robot.base.kind == "floating"
    geometry = cardan.model(robot, "loop-geometry")
    q = geometry.analysis.samples[0].q
    q = q[geometry.singular(q) > 1e-2][:5]
    link = geometry.coordinates
    free = [link.moving.index(j) for j in link.active]
    springs = [k for k, j in enumerate(link.moving) if robot.joints[j - 1].elastic]
    motors = [k for k in free if k not in springs]
    rng = np.random.default_rng(0)
    qd, tau = rng.normal(size=(len(q), len(free))), rng.normal(size=(len(q), len(motors)))
    base = {"V0": rng.normal(size=(len(q), 6)), "g0": np.broadcast_to([1, -9, 3], (len(q), 3))}
    more = base if floats else {}
    found = derived(robot, "direct-dynamics").evaluate(q=q, qd=qd, tau=tau, **more)
    qdd = found.qdd if floats else found
    expected, V0d = multipliers(table, robot, q, qd, tau, base if floats else None, free, springs)
    assert qdd == pytest.approx(expected[:, free], rel=1e-9, abs=1e-9)
    if floats:
        assert pytest.approx(V0d, rel=1e-9, abs=1e-9) == found.V0d
    wanted = expected[:, motors]
    back = derived(robot, "inverse-dynamics").evaluate(q=q, qd=qd, qdd=wanted, **more)
    torque = back if isinstance(back, np.ndarray) else back.tau
    assert torque == pytest.approx(tau, rel=1e-8, abs=1e-8)
    own = [k for k in free if k in springs]
    if own:
        assert back.qdd_e == pytest.approx(expected[:, own], rel=1e-9, abs=1e-9)
    if floats:
        assert back.V0d == pytest.approx(V0d, rel=1e-9, abs=1e-9)


def multipliers(
    table: dict[str, Any], robot: cardan.Robot, q: Array, qd: Array, tau: Array, base: Any,
    free: list[int], springs: list[int],
) -> tuple[Array, Array]:  # fmt: skip
    """(qdd of the tree, V0d)."""
    from dataclasses import replace

    first = 6 if base else 0
    whole = carried(table) if base else robot
    if base:
        whole = replace(whole, gravity=tuple(map(int, base["g0"][0])))
    oracle = Oracle(whole, {})
    q = np.concatenate([np.zeros((len(q), first)), q], axis=1)
    rates = np.zeros_like(q)
    rest = [first + k for k in range(robot.n) if k not in free]
    at = [first + k for k in free]
    rates[:, at] = qd
    if base:
        rates[:, :6] = base["V0"]
    J, _ = oracle.constraint(q, rates)
    for k, W in enumerate(J):
        rates[k, rest] = np.linalg.lstsq(W[:, rest], -W[:, at] @ qd[k], rcond=None)[0]
    _, bias = oracle.constraint(q, rates)
    push = np.zeros_like(q)
    push[:, [first + k for k in free if k not in springs]] = tau
    joints = [joint for joint in robot.joints if joint.sigma != 2]
    for k in springs:
        own = joints[k]
        stretch = q[:, first + k] - float(own.rest)
        push[:, first + k] -= float(own.stiffness) * stretch
        push[:, first + k] -= float(own.damping) * rates[:, first + k]
    H, M = oracle.torques(q, rates, np.zeros_like(q)), oracle.mass(q)
    qdd = np.zeros_like(q)
    for k, W in enumerate(J):
        none = np.zeros((len(W), len(W)))
        K = np.block([[M[k], W.T], [W, none]])
        qdd[k] = np.linalg.lstsq(K, np.r_[push[k] - H[k], -bias[k]], rcond=1e-12)[0][: q.shape[1]]
    if not base:
        return qdd, np.zeros((len(q), 6))
    body = [x.name for x in whole.links].index("platform")
    *_, acceleration, wd = oracle.bodies(oracle.poses(q, rates, qdd))[body]
    return qdd[:, 6:], np.concatenate([acceleration, wd], axis=1)


@pytest.mark.parametrize(
    "name",
    ["floating four-bar", "floating spatial", "floating, geared", "floating four-bar, a wheel"],
)
def test_models_of_a_floating_base_against_its_tree(name: str) -> None:
    """Those of the tree, projected by G, in which the base moves by itself."""
    robot = cardan.load(CASES[name])
    geometry = cardan.model(robot, "loop-geometry")
    q = geometry.analysis.samples[0].q
    q = q[geometry.singular(q) > 1e-2][:3]
    rng = np.random.default_rng(1)
    na = len(geometry.given)
    qd, qdd = rng.normal(size=(2, len(q), na))
    base = {"V0": rng.normal(size=(len(q), 6)), "V0d": rng.normal(size=(len(q), 6)),
            "g0": np.broadcast_to([1.0, -9, 3], (len(q), 3))}  # fmt: skip
    loops = cardan.model(robot, "loop-kinematics", details=True).evaluate(q=q, qd=qd)
    full = np.einsum("bna,ba->bn", loops.G, qd)
    rest = np.einsum("bna,ba->bn", loops.G, qdd)
    passive = [geometry.coordinates.moving.index(j) for j in geometry.coordinates.passive]
    rest[:, passive] += loops.psi
    drift = np.zeros((len(q), 6 + robot.n))
    drift[:, [6 + k for k in passive]] = loops.psi
    G = np.zeros((len(q), 6 + robot.n, 6 + na))
    G[:, :6, :6], G[:, 6:, 6:] = np.eye(6), loops.G

    def own(model: str, **options: Any) -> Any:
        return evaluated(robot, model, {"q": q, "qd": qd, "qdd": qdd, **base}, **options)

    def of_tree(model: str, **options: Any) -> Any:
        given = {"q": q, "qd": full, "qdd": rest, **base}
        return evaluated(robot.tree(), model, given, **options)

    def back(x: Array) -> Array:
        return np.einsum("bij,bi->bj", G, x)

    A = of_tree("inertia-matrix")
    near(own("inertia-matrix"), np.einsum("bij,bik,bkl->bjl", G, A, G), 1e-9, 1e-9)
    near(own("bias"), back(of_tree("bias") + np.einsum("bij,bj->bi", A, drift)), 1e-9, 1e-9)
    near(own("gravity"), back(of_tree("gravity")), 1e-9, 1e-9)
    near(own("generalized-momentum"), back(of_tree("generalized-momentum")), 1e-9, 1e-9)
    for one, other in zip(own("energies"), of_tree("energies"), strict=True):
        near(one, other, 1e-9, 1e-9)
    near(own("velocities"), of_tree("velocities"), 1e-9, 1e-9)
    near(own("accelerations"), of_tree("accelerations"), 1e-9, 1e-9)
    J = of_tree("jacobian", frame=2)
    near(own("jacobian", frame=2), J @ loops.G, 1e-9, 1e-9)
    expected = of_tree("jdot-qdot", frame=2) + np.einsum("bin,bn->bi", J, drift[:, 6:])
    near(own("jdot-qdot", frame=2), expected, 1e-9, 1e-9)
    D = of_tree("regressor")
    near(own("regressor"), np.einsum("bij,bik->bjk", G, D), 1e-9, 1e-9)
    near(own("energy-regressor"), of_tree("energy-regressor"), 1e-9, 1e-9)
    given = of_tree("inverse-dynamics", base="given")
    held = own("inverse-dynamics", base="given")
    near(held.F0, given.F0, 1e-9, 1e-9)
    near(held.tau, np.einsum("bna,bn->ba", loops.G, given.tau), 1e-9, 1e-9)
    free = own("inverse-dynamics")
    base["V0d"] = free.V0d
    held = own("inverse-dynamics", base="given")
    near(held.F0, np.zeros_like(held.F0), 1e-9, 1e-9)
    near(held.tau, free.tau, 1e-9, 1e-9)


@pytest.mark.parametrize("name", ["floating four-bar", "floating spatial"])
def test_reactions_on_a_floating_base_leave_the_torques_of_inverse_dynamics(name: str) -> None:
    """Along each axis: the torque of a motor, or nothing but friction; and the base accelerates as
    the wrenches of its links on it make it."""
    robot = cardan.load(CASES[name])
    geometry = cardan.model(robot, "loop-geometry")
    q = geometry.analysis.samples[0].q
    q = q[geometry.singular(q) > 1e-2][:3]
    rng = np.random.default_rng(2)
    qd, qdd = rng.normal(size=(2, len(q), len(geometry.given)))
    x = {"q": q, "qd": qd, "qdd": qdd, "V0": rng.normal(size=(len(q), 6)),
         "g0": np.broadcast_to([1.0, -9, 3], (len(q), 3))}  # fmt: skip
    wrench = evaluated(robot, "reactions", x)
    torque = evaluated(robot, "inverse-dynamics", x).tau
    loops = cardan.model(robot, "loop-kinematics", details=True).evaluate(q=q, qd=qd)
    rates = np.einsum("bna,ba->bn", loops.G, qd)
    for k, j in enumerate(geometry.coordinates.moving):
        joint = robot.joints[j - 1]
        expected = -float(joint.FV) * rates[:, k]
        if j in geometry.given:
            a = geometry.given.index(j)
            expected = expected + torque[:, a] - float(joint.IA) * qdd[:, a]
        near(wrench[:, j - 1, 5], expected, 1e-9, 1e-9)


@pytest.mark.parametrize("name", [case for case in CASES if "spring" in case or "loose" in case])
def test_models_of_springs_in_loops_give_the_equations_of_motion(name: str) -> None:
    """A udot + H = torques and springs of the independent joints, at direct dynamics' udot."""
    robot = cardan.load(CASES[name])
    floats = robot.base.kind == "floating"
    geometry = cardan.model(robot, "loop-geometry")
    q = geometry.analysis.samples[0].q
    q = q[geometry.singular(q) > 1e-2][:3]
    link = geometry.coordinates
    motors = [j for j in link.active if not robot.joints[j - 1].elastic]
    rng = np.random.default_rng(3)
    qd, tau = rng.normal(size=(len(q), len(link.active))), rng.normal(size=(len(q), len(motors)))
    x = {"q": q, "qd": qd, "tau": tau, "V0": rng.normal(size=(len(q), 6)),
         "g0": np.broadcast_to([1.0, -9, 3], (len(q), 3))}  # fmt: skip
    found = evaluated(robot, "direct-dynamics", x)
    u = np.concatenate([found.V0d, found.qdd], axis=1) if floats else found
    push = np.zeros_like(u)
    for k, j in enumerate(link.active):
        joint = robot.joints[j - 1]
        stretch = q[:, link.moving.index(j)] - float(joint.rest)
        spring = -float(joint.stiffness) * stretch - float(joint.damping) * qd[:, k]
        push[:, 6 * floats + k] = spring if joint.elastic else tau[:, motors.index(j)]
    A, H = evaluated(robot, "inertia-matrix", x), evaluated(robot, "bias", x)
    near(np.einsum("bij,bj->bi", A, u) + H, push, 1e-8, 1e-8)
    v = np.concatenate([x["V0"], qd], axis=1) if floats else qd
    h = evaluated(robot, "generalized-momentum", x)
    near(h, np.einsum("bij,bj->bi", A, v), 1e-9, 1e-9)


def evaluated(robot: cardan.Robot, model: str, given: dict[str, Any], **options: Any) -> Any:
    program = derived(robot, model, **options)
    return program.evaluate(**{key: given[key] for key in program.inputs})


def test_energy_stays_with_springs_and_a_floating_base() -> None:
    table = floating(behind_a_motor(four_bar()))
    for own in table["link"]:
        own |= {"FV": 0}
        own.pop("damping", None)
    robot = cardan.load(table)
    geometry = cardan.model(robot, "loop-geometry")
    run = simulate(robot, geometry.solve([0.5, 0.5])[0], duration=0.2, dt=0.02)
    total = run.energy.kinetic + run.energy.potential + run.energy.elastic
    assert total == pytest.approx(np.full_like(total, total[0]), rel=1e-6)
    assert geometry.residual(run.q[:, : robot.n]).max() < 1e-8


def test_what_is_not_there_is_said() -> None:
    robot = cardan.load(CASES["floating four-bar"])
    with pytest.raises(ModelError, match=r"a floating base: there are regressor"):
        cardan.model(robot, "filtered-regressor")
    with pytest.raises(ModelError, match="method='newton-euler'"):
        cardan.model(robot, "inverse-dynamics", method="lagrange")
    with pytest.raises(ModelError, match="method='inertia-matrix'"):
        cardan.model(robot, "direct-dynamics", method="constraint-forces")
    sprung_robot = cardan.load(CASES["a spring on the rocker"])
    with pytest.raises(ModelError, match="springs of joints that follow"):
        cardan.model(sprung_robot, "regressor")
