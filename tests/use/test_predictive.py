"""Predictive control against dense linear algebra, Crocoddyl's interface, and a simulation."""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardan

EXAMPLES = Path(__file__).parents[2] / "examples"
VALUES = {
    "L1": 1, "M1": 2, "MX1": 0.5, "MX2": 0.4, "M2": 1, "ZZ1": 1, "ZZ2": 0.8, "MY1": 0.1, "MY2": 0,
    "G": 9.81, "FV1": 0, "FV2": 0,
}  # fmt: skip
STEP = 0.03


def example_called(name: str) -> Any:
    """The module of an example."""
    spec = spec_from_file_location(f"{name}_example", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def robot() -> cardan.Robot:
    planar = cardan.load("planar2r")
    return planar.with_values({k: v for k, v in VALUES.items() if k in planar.parameters})


@pytest.fixture(scope="module")
def step(robot: cardan.Robot) -> cardan.Program:
    return cardan.discretise(robot, effort="plain")


@pytest.mark.parametrize("nodes", [1, 9])
def test_an_iteration_solves_the_linear_equations(
    robot: cardan.Robot, step: cardan.Program, nodes: int
) -> None:
    """The step of Gauss and Newton, from the equations of optimality written as one matrix."""
    mpc = cardan.control.predictive(robot, nodes=nodes, step=STEP, tool=3.0, torque=0.02)
    rng = np.random.default_rng(nodes)
    mpc.aim(rng.normal(size=2), point=[0.3, 0.9, 0.0])
    work = mpc._work
    work.x[:], work.u[:] = rng.normal(size=work.x.shape), rng.normal(size=work.u.shape)
    work.start(rng.normal(size=2), rng.normal(size=2))
    x, u, first = work.x.copy(), work.u.copy(), work._first.copy()
    work.iterate()
    N, place = nodes, cardan.model(robot, "transform").derivatives()
    size = 4 * (N + 1) + 2 * N
    H, g = np.zeros((size, size)), np.zeros(size)
    C, c = np.zeros((4 * (N + 1), size)), np.zeros(4 * (N + 1))
    C[:, : 4 * (N + 1)], c[:4] = np.eye(4 * (N + 1)), first - x[0]
    for k in range(N + 1):
        at = slice(4 * k, 4 * k + 4)
        T = place.evaluate(q=x[k, :2])
        J = np.hstack([T.dT_dq[:3, 3], np.zeros((3, 2))])
        w = mpc.weights["w"][k]
        H[at, at] = np.diag(mpc.weights["Wx"][k]) + w * J.T @ J
        g[at] = mpc.weights["Wx"][k] * (x[k] - work.x_r[k]) + w * J.T @ (T.T[:3, 3] - work.point[k])
        if k < N:
            by = slice(4 * (N + 1) + 2 * k, 4 * (N + 1) + 2 * k + 2)
            H[by, by] = np.diag(mpc.weights["Wu"][k])
            g[by] = mpc.weights["Wu"][k] * (u[k] - work.u_r[k])
            end = step.evaluate(q=x[k, :2], qd=x[k, 2:], tau=u[k], h=[STEP])
            new = slice(4 * k + 4, 4 * k + 8)
            C[new, at], C[new, by] = -end.A, -end.B
            c[new] = np.concatenate([end.q_next, end.qd_next]) - x[k + 1]
    matrix = np.block([[H, C.T], [C, np.zeros((len(c), len(c)))]])
    exact = np.linalg.solve(matrix, np.concatenate([-g, c]))
    scale = np.abs(exact[:size]).max()
    dx, du = exact[: 4 * (N + 1)].reshape(-1, 4), exact[4 * (N + 1) : size].reshape(-1, 2)
    np.testing.assert_allclose(work.dx, dx, atol=1e-10 * scale)
    np.testing.assert_allclose(work.du[:N], du, atol=1e-10 * scale)


def test_a_plan_is_a_motion_and_a_minimum(robot: cardan.Robot, step: cardan.Program) -> None:
    """No gaps; no torque that is a little different costs less."""
    mpc = cardan.control.predictive(robot, nodes=12, step=STEP, tool=20.0, torque=1e-3)
    plan = mpc.solve([0.2, 0.3], [0.0, 0.0], q_r=[0.3, 0.2], point=[0.4, 0.8, 0.0])
    assert plan.gap < 1e-9
    assert plan.iterations < 60
    T = cardan.model(robot, "transform").compile()

    def cost(tau: np.ndarray) -> float:
        run = cardan.rollout_gradient(step, plan.q[0], plan.qd[0], tau, STEP)
        total = (mpc.weights["Wx"] * (run.x - mpc._work.x_r) ** 2).sum()
        total += (mpc.weights["Wu"][:-1] * (tau - mpc._work.u_r[:-1]) ** 2).sum()
        miss = T(q=run.q)[:, :3, 3] - mpc._work.point
        return float(total + (mpc.weights["w"] * miss**2).sum()) / 2

    assert cost(plan.tau) == pytest.approx(plan.cost, rel=1e-9)
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert cost(plan.tau + 0.1 * rng.normal(size=plan.tau.shape)) > plan.cost


def test_a_law_of_a_simulation(robot: cardan.Robot) -> None:
    mpc = cardan.control.predictive(robot, nodes=15, step=STEP, torque=1e-5)
    mpc.aim([0.5, -0.4])
    run = cardan.simulate(robot, [0.0, 0.0], duration=1.5, law=mpc, period=STEP, dt=STEP)
    np.testing.assert_allclose(run.q[-1], [0.5, -0.4], atol=0.01)


def test_the_example() -> None:
    """Coarser and with a smaller arm: the tool comes to the circle and stays on it."""
    example = example_called("predictive")
    scara = cardan.load("scara")
    values = {
        name: {"D": 0.4, "M": 1}.get(name.rstrip("0123456789"), 0) for name in scara.parameters
    }
    scara = scara.with_values(values | {f"ZZ{k}": 0.1 for k in (1, 2, 3)})
    start = np.array([0.4, 0.8, 0.3, 0.1])
    run, wanted, tool = example.follow(scara, start, duration=1.6, nodes=10, step=0.04)
    assert np.linalg.norm(tool - wanted, axis=1)[run.t > 1.0].max() < 0.02


def test_errors_say_what_to_do(robot: cardan.Robot) -> None:
    with pytest.raises(cardan.ModelError, match="tree"):
        cardan.control.predictive(cardan.load("fivebar"))
    with pytest.raises(cardan.ModelError, match="numbers"):
        cardan.control.predictive(cardan.load("planar2r"))
    with pytest.raises(cardan.InputError, match="torque"):
        cardan.control.predictive(robot, torque=0.0)
    with pytest.raises(cardan.InputError, match="step"):
        cardan.control.predictive(robot, step=0.0)
    with pytest.raises(cardan.InputError, match="tool"):
        cardan.control.predictive(robot, nodes=2).aim([0, 0], point=[0, 0, 0])
    with pytest.raises(cardan.InputError, match="tool"):
        cardan.control.predictive(robot, nodes=2, frame=1)
    with pytest.raises(cardan.InputError, match=r"\(3, 2\) with a row for each node"):
        cardan.control.predictive(robot, nodes=2).aim([[0, 0], [0, 0]])
    with pytest.warns(cardan.CardanWarning, match="after 1 iterations"):
        cardan.control.predictive(robot, nodes=2).solve([0, 0], [0, 0], q_r=[1, 1], iterations=1)


def test_what_is_not_aimed_at_stays(robot: cardan.Robot) -> None:
    """A point alone leaves the arm where it stands, torques alone are wanted, and a speed too."""
    stands, rest = np.array([0.4, 0.7]), np.zeros(2)
    mpc = cardan.control.predictive(robot, nodes=3, tool=1.0)
    mpc.aim(point=[0.5, 1.0, 0.0])
    mpc.aim(qd_r=[0.1, 0.2])
    mpc(0.0, stands, rest)
    gravity = cardan.model(robot, "gravity").evaluate(q=stands)
    np.testing.assert_array_equal(mpc._work.x_r, np.tile([*stands, 0.1, 0.2], (4, 1)))
    np.testing.assert_allclose(mpc._work.u_r, np.tile(gravity, (4, 1)), rtol=1e-12)
    mpc.aim(tau_r=[3.0, 4.0])
    mpc.solve(stands, rest, point=[0.5, 1.1, 0.0])
    np.testing.assert_array_equal(mpc._work.u_r, np.tile([3.0, 4.0], (4, 1)))
    mpc.aim([0.1, 0.1])
    np.testing.assert_array_equal(mpc._work.x_r, np.tile([0.1, 0.1, 0.0, 0.0], (4, 1)))


@dataclass
class _Data:
    """What an action model of Crocoddyl writes into."""

    cost: float = 0.0
    xnext: Any = None
    Fx: Any = None
    Fu: Any = None
    Lx: Any = None
    Lu: Any = None
    Lxx: Any = None
    Lxu: Any = None
    Luu: Any = None


@dataclass
class _Abstract:
    state: Any
    nu: int
    more: dict[str, Any] = field(default_factory=dict)


def _ddp(running: Any, last: Any, x0: np.ndarray, nodes: int) -> list[np.ndarray]:
    """A small DDP over the interface calc, calcDiff, as Crocoddyl's, for where that is missing."""
    xs, us = [x0], []
    datas = [_Data() for _ in range(nodes + 1)]
    for data in datas[:-1]:
        us.append(np.zeros(2))
        running.calc(data, xs[-1], us[-1])
        xs.append(data.xnext)
    for _ in range(30):
        last.calcDiff(datas[-1], xs[-1])
        v, V, gains = datas[-1].Lx, datas[-1].Lxx, []
        for k in reversed(range(nodes)):
            data = datas[k]
            running.calcDiff(data, xs[k], us[k])
            Qu, Quu = data.Lu + data.Fu.T @ v, data.Luu + data.Fu.T @ V @ data.Fu
            Qux = data.Lxu.T + data.Fu.T @ V @ data.Fx
            K, kff = -np.linalg.solve(Quu, Qux), -np.linalg.solve(Quu, Qu)
            v, V = data.Lx + data.Fx.T @ v + Qux.T @ kff, data.Lxx + data.Fx.T @ V @ data.Fx
            V = V + Qux.T @ K
            gains.append((K, kff))
        new = [x0]
        for k, (K, kff) in enumerate(reversed(gains)):
            us[k] = us[k] + kff + K @ (new[-1] - xs[k])
            running.calc(datas[k], new[-1], us[k])
            new.append(datas[k].xnext)
        xs = new
    return us


def test_action_models_of_crocoddyl(
    robot: cardan.Robot, step: cardan.Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same problem through Crocoddyl's interface gives the same torques: with its solver where
    it is installed, else with one that asks the same of an action model."""
    try:
        import crocoddyl
    except ImportError:
        crocoddyl = None
        stub = types.ModuleType("crocoddyl")
        stub.ActionModelAbstract = _Abstract  # type: ignore[attr-defined]
        stub.StateVector = lambda size: size  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "crocoddyl", stub)
    nodes = 10
    mpc = cardan.control.predictive(robot, nodes=nodes, step=STEP, torque=0.01)
    q_r = np.array([0.3, -0.2])
    plan = mpc.solve([0.1, 0.2], [0.0, 0.0], q_r=q_r)
    x_r, u_r = np.concatenate([q_r, np.zeros(2)]), np.array(mpc._work.u_r[0])
    Wu = mpc.weights["Wu"][0]

    def cost(k: int) -> Any:
        Wx = mpc.weights["Wx"][k]

        def value(x: np.ndarray, u: np.ndarray | None) -> tuple[Any, ...]:
            e, off = x - x_r, np.zeros(2) if u is None else u - u_r
            total = 0.5 * (e @ (Wx * e) + off @ (Wu * off))
            return total, Wx * e, Wu * off, np.diag(Wx), np.zeros((4, 2)), np.diag(Wu)

        return value

    running, last = step.to_crocoddyl(STEP, cost(0)), step.to_crocoddyl(STEP, cost(nodes))
    x0 = np.array([0.1, 0.2, 0.0, 0.0])
    if crocoddyl is None:
        torques = _ddp(running, last, x0, nodes)
    else:
        problem = crocoddyl.ShootingProblem(x0, [running] * nodes, last)
        solver = crocoddyl.SolverDDP(problem)
        solver.th_stop = 1e-16
        solver.solve([x0] * (nodes + 1), [u_r] * nodes, 50)
        torques = list(solver.us)
    np.testing.assert_allclose(torques, plan.tau, rtol=1e-6, atol=1e-6)
    with pytest.raises(cardan.InputError, match="discretise"):
        cardan.model(robot, "gravity").to_crocoddyl(STEP, cost(0))


def test_minimum_time() -> None:
    """A vertical lift: full force up, then full force down, and the duration of that."""
    pytest.importorskip("scipy")
    example = example_called("minimum_time")
    robot, lift, nodes = example.arm(), 0.1, 16
    start = np.array([-0.6, 1.2, 0.0, 0.0])
    step = cardan.discretise(robot, effort="plain")
    limits = np.array([1.0, 1.0, 1.0, 30.0])
    goal = np.array([*start[:3], lift])
    duration, u, run = example.solve(step, start, goal, limits, nodes)
    np.testing.assert_allclose(run.x[-1], [*goal, 0, 0, 0, 0], atol=1e-6)
    moved, weight = example.MASSES[3] + example.ROTORS[3], 9.81 * example.MASSES[3]
    exact = np.sqrt(2 * lift * moved * (1 / (30 - weight) + 1 / (30 + weight)))
    assert exact * 0.98 < duration < exact * 1.1
    assert (np.abs(u[:, 3]) > 0.99).sum() >= nodes // 2


def test_policy_gradient() -> None:
    """Some updates of a few motions: the cost falls."""
    pytest.importorskip("torch", reason="PyTorch is not installed: its example is UNTESTED")
    costs, places = example_called("policy_gradient").learn(16, 12, steps=30)
    assert places.shape == (31, 16, 2)
    assert np.isfinite(costs).all()
    assert min(costs[-3:]) < 0.8 * costs[0]
