"""Closed loops: the Gough-Stewart platform beside Pinocchio and MuJoCo, in one run.

Peers are asked for the same states, and compared first. Direct dynamics: Pinocchio's constraint
dynamics (proximal, 1e-12), MuJoCo's mj_forward, whose constraints are soft: its answer is that of
its own problem, and only its time is shown. Inverse dynamics has no function in either; the
shortest way is Pinocchio's rnea of the tree and its constraint Jacobian, then a solve for the
constraint forces, as a script writes it. The rnea alone is shown too: no way can be faster.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from bench.native import Measure, interleaved
from bench.timing import Figure, best_of

import cardan
from cardan.bench.one_by_one import one_by_one
from cardan.describe.mjcf.write import write_mjcf
from cardan.describe.robot import Robot
from cardan.program import Program

__all__ = ["figures"]

STATES = 20_000
FEW = 256
AGREED = 1e-8


def figures() -> list[Figure]:
    robot = _bare(cardan.load("stewart"))
    x = _states(robot)
    found = _inverse(robot, x) + _direct(robot, x)
    general = cardan.model(cardan.load("stewart"), "platform-inverse-dynamics")
    found.append(Figure("stewart, leg-wise inverse dynamics", general.cost.total, "operations"))
    return found


def _bare(robot: Robot) -> Robot:
    """Without friction, which the peers model otherwise."""
    return replace(robot, joints=tuple(replace(j, FV=0, FS=0, IA=0) for j in robot.joints))


def _states(robot: Robot) -> dict[str, np.ndarray]:
    """Platform poses about the level one, and rates of the legs; consistent, whole tree too."""
    geometry = cardan.model(robot, "loop-geometry")
    rng = np.random.default_rng(0)
    home = np.array([0, 0, 0.62, 0, 0, 0])
    start = geometry.legs.solve(home)[0]
    poses = home + rng.uniform(-1, 1, (FEW, 6)) * [0.08, 0.08, 0.06, 0.2, 0.2, 0.2]
    q = geometry.legs.solve(poses, start)
    assert np.isfinite(q).all()
    q = np.tile(q, (-(-STATES // FEW), 1))[:STATES]
    qd, qdd, tau = rng.normal(size=(3, STATES, 6))
    G = cardan.model(robot, "loop-kinematics", details=True)
    whole = G.evaluate(q=q[:FEW], qd=qd[:FEW])
    full = {"v": np.einsum("bna,ba->bn", whole.G, qd[:FEW])}
    vd = np.einsum("bna,ba->bn", whole.G, qdd[:FEW])
    passive = [k for k, joint in enumerate(robot.joints) if not joint.active]
    vd[:, passive] += whole.psi
    return {"q": q, "qd": qd, "qdd": qdd, "tau": 200 * tau, **full, "vd": vd}


def _ours(program: Program, x: dict[str, np.ndarray]) -> tuple[list[Measure], np.ndarray]:
    given = {name: np.ascontiguousarray(x[name]) for name in program.inputs}
    function = program.compile()
    found = function(**given)
    few = {name: array[:FEW] for name, array in given.items()}
    one = {name: array[0] for name, array in given.items()}
    run = one_by_one(program)
    return [
        Measure("batch", lambda: best_of(2, lambda: function(**given)) / STATES),
        Measure("native", lambda: best_of(3, lambda: run(few)) / FEW),
        Measure("call", lambda: best_of(500, lambda: function(**one))),
    ], np.asarray(found)


def _figures(
    what: str, ours: list[Measure], peers: list[Measure], lower: tuple[str, ...] = ()
) -> list[Figure]:
    """Times, and the ratio of the fastest peer that agrees to our batch."""
    times = interleaved(*ours, *peers, rounds=7)
    found = [
        Figure(f"stewart {what}, one state in native code", times["native"] * 1e6, "us", 2.0),
        Figure(f"stewart {what}, one state from Python", times["call"] * 1e6, "us", 2.0),
        Figure(f"stewart {what}, batch", times["batch"] * 1e6, "us"),
    ]
    ranked = [peer for peer in peers if peer.agreement <= AGREED and peer.name not in lower]
    for peer in peers:
        note = f", differs by {peer.agreement:.1g}"
        found.append(Figure(f"stewart {what}, {peer.name}{note}", times[peer.name] * 1e6, "us"))
    if ranked:
        best = min(times[peer.name] for peer in ranked)
        ratio = best / times["batch"]
        found.append(Figure(f"stewart {what}, fastest peer by our batch", ratio, "times", 10, True))
    return found


def _inverse(robot: Robot, x: dict[str, np.ndarray]) -> list[Figure]:
    moved = _cartesian(robot, x)
    ours, tau = _ours(cardan.model(robot, "platform-inverse-dynamics"), moved)
    general = cardan.model(robot, "inverse-dynamics").evaluate(
        q=x["q"][:FEW], qd=x["qd"][:FEW], qdd=x["qdd"][:FEW]
    )
    assert np.abs(tau[:FEW] - general).max() < 1e-9 * np.abs(general).max()
    return _figures("inverse", ours, _pinocchio_inverse(robot, x, tau), ("Pinocchio rnea alone",))


def _cartesian(robot: Robot, x: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The platform's motion of the same states."""
    few = {name: x[name][:FEW] for name in ("q", "qd", "qdd")}
    J = cardan.model(robot, "jacobian", frame="platform").evaluate(q=few["q"])
    bias = cardan.model(robot, "jdot-qdot", frame="platform")
    V = np.einsum("bra,ba->br", J, few["qd"])
    Vd = np.einsum("bra,ba->br", J, few["qdd"]) + bias.evaluate(q=few["q"], qd=few["qd"])
    times = -(-STATES // FEW)
    return {
        "q": x["q"],
        "V": np.tile(V, (times, 1))[:STATES],
        "Vd": np.tile(Vd, (times, 1))[:STATES],
    }


def _direct(robot: Robot, x: dict[str, np.ndarray]) -> list[Figure]:
    ours, qdd = _ours(cardan.model(robot, "direct-dynamics"), x)
    peers = [*_pinocchio_direct(robot, x, qdd), *_mujoco_direct(robot, x, qdd)]
    return _figures("direct", ours, peers)


def _pinocchio(robot: Robot) -> Any:
    from bench.pinocchio_loops import Closed, peer

    model, constraints, order = peer(robot)
    active = [order[k] for k, joint in enumerate(_moving(robot)) if joint.active]
    return Closed(model, constraints, 1e-12), np.array(order), np.array(active)


def _moving(robot: Robot) -> list[Any]:
    return [joint for joint in robot.joints if joint.sigma != 2]


def _rows(order: np.ndarray, array: np.ndarray) -> list[np.ndarray]:
    found = np.zeros_like(array)
    found[:, order] = array
    return list(found)


def _timed(call: Callable[[int], Any]) -> Callable[[], float]:
    def seconds() -> float:
        start = time.perf_counter()
        for k in range(FEW):
            call(k)
        return (time.perf_counter() - start) / FEW

    return seconds


def _apart(found: list[np.ndarray], expected: np.ndarray) -> float:
    return float(np.abs(np.array(found) - expected).max() / np.abs(expected).max())


def _pinocchio_direct(robot: Robot, x: dict[str, np.ndarray], qdd: np.ndarray) -> list[Measure]:
    closed, order, active = _pinocchio(robot)
    q, v = (_rows(order, x[name][:FEW]) for name in ("q", "v"))
    push = np.zeros((FEW, closed.model.nv))
    push[:, active] = x["tau"][:FEW]

    def call(k: int) -> Any:
        return closed(q[k], v[k], push[k])

    found = [np.array(call(k))[active] for k in range(FEW)]
    return [Measure("Pinocchio constraintDynamics", _timed(call), _apart(found, qdd[:FEW]))]


def _pinocchio_inverse(robot: Robot, x: dict[str, np.ndarray], tau: np.ndarray) -> list[Measure]:
    import pinocchio as pin

    closed, order, active = _pinocchio(robot)
    model, data = closed.model, closed.data
    q, v, vd = (_rows(order, x[name][:FEW]) for name in ("q", "v", "vd"))
    rest = np.setdiff1d(np.arange(model.nv), active)
    loops = list(zip(closed.models, closed.datas, strict=True))

    def call(k: int) -> Any:
        needed = pin.rnea(model, data, q[k], v[k], vd[k])
        pin.computeJointJacobians(model, data, q[k])
        for constraint, own in loops:
            constraint.calc(model, data, own)
        J = pin.getConstraintsJacobian(model, data, closed.models, closed.datas)
        force = np.linalg.solve(J[:, rest].T, needed[rest])
        return needed[active] - J[:, active].T @ force

    def alone(k: int) -> Any:
        return pin.rnea(model, data, q[k], v[k], vd[k])

    found = [call(k) for k in range(FEW)]
    return [
        Measure("Pinocchio rnea, Jacobian, solve", _timed(call), _apart(found, tau[:FEW])),
        Measure("Pinocchio rnea alone", _timed(alone)),
    ]


def _mujoco_direct(robot: Robot, x: dict[str, np.ndarray], qdd: np.ndarray) -> list[Measure]:
    import mujoco

    model = mujoco.MjModel.from_xml_string(write_mjcf(robot))
    data = mujoco.MjData(model)
    names = [joint.name for joint in _moving(robot)]
    order = np.array([int(model.joint(name).dofadr[0]) for name in names])
    active = np.array([order[k] for k, joint in enumerate(_moving(robot)) if joint.active])
    q, v = (_rows(order, x[name][:FEW]) for name in ("q", "v"))
    push = np.zeros((FEW, model.nv))
    push[:, active] = x["tau"][:FEW]

    def call(k: int) -> Any:
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q[k], v[k], push[k]
        mujoco.mj_forward(model, data)
        return data.qacc

    found = [call(k).copy()[active] for k in range(FEW)]
    return [Measure("MuJoCo mj_forward (soft)", _timed(call), _apart(found, qdd[:FEW]))]
