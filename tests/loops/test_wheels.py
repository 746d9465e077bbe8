"""Wheels that roll without slipping, against Lagrange-d'Alembert systems derived by hand: the
kinetic energy and the velocity constraints are written here anew, in the plane."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.compare import near

import cardan
from cardan.describe.robot import Robot
from cardan.mechanism.coordinates import holonomic
from cardan.motion.coordinates import coordinates

Array = np.ndarray
sympy = pytest.importorskip("sympy")
VEHICLES = ("unicycle", "differential-drive", "car", "mobile-manipulator")


@cache
def _unicycle() -> tuple[Any, list[Any], list[Any], list[Any]]:
    """(T, rows, q, qd) of x, y, the fork's and the wheel's turn."""
    q, qd = sympy.symbols("x y psi phi"), sympy.symbols("xd yd psid phid")
    (_, _, psi, _), (xd, yd, psid, phid) = q, qd
    T = (4 + 2) * (xd**2 + yd**2) / 2 + (0.05 + 0.045) * psid**2 / 2 + 0.09 * phid**2 / 2
    rows = [
        xd * sympy.cos(psi) + yd * sympy.sin(psi) - 0.3 * phid,
        -xd * sympy.sin(psi) + yd * sympy.cos(psi),
    ]
    return T, rows, list(q), list(qd)


def _body(m: float, J: float, at: tuple[float, float], q: Any, qd: Any) -> Any:
    """The kinetic energy of a body on the chassis that moves as x, y, psi say."""
    psi, (xd, yd, psid), (a, b) = q[2], qd[:3], at
    vx = xd - psid * (a * sympy.sin(psi) + b * sympy.cos(psi))
    vy = yd + psid * (a * sympy.cos(psi) - b * sympy.sin(psi))
    return m * (vx**2 + vy**2) / 2 + J * psid**2 / 2


@cache
def _differential_drive() -> tuple[Any, list[Any], list[Any], list[Any]]:
    q, qd = sympy.symbols("x y psi l r"), sympy.symbols("xd yd psid ld rd")
    psi, (xd, yd, psid, ld, rd) = q[2], qd
    T = _body(12, 0.4, (0.04, 0), q, qd)
    T += _body(1, 0.003, (0, 0.2), q, qd) + _body(1, 0.003, (0, -0.2), q, qd)
    T += (0.005 + 0.002) * (ld**2 + rd**2) / 2
    ahead = xd * sympy.cos(psi) + yd * sympy.sin(psi)
    rows = [ahead - 0.2 * psid - 0.1 * ld, ahead + 0.2 * psid - 0.1 * rd,
            -xd * sympy.sin(psi) + yd * sympy.cos(psi)]  # fmt: skip
    return T, rows, list(q), list(qd)


@cache
def _car() -> tuple[Any, list[Any], list[Any], list[Any]]:
    q = sympy.symbols("x y psi shaft right left steer front")
    qd = sympy.symbols("xd yd psid shaftd rightd leftd steerd frontd")
    psi, steer, (xd, yd, psid, sd, rd, ld, std, fd) = q[2], q[6], qd
    T = _body(1000, 1600, (1.2, 0), q, qd) + _body(5, 0.3, (0, 0), q, qd)
    T += _body(20, 0.5, (0, -0.75), q, qd) + _body(20, 0.5, (0, 0.75), q, qd)
    T += _body(50, 0, (2.6, 0), q, qd)  # steering and front wheel, which turn together
    T += (0.2 + 1) * (psid + std) ** 2 / 2 + std**2 / 2  # and the rotor of the steering
    T += (0.5 + 2) * sd**2 / 2 + 0.9 * (rd**2 + ld**2) / 2 + 1.8 * fd**2 / 2
    ahead = xd * sympy.cos(psi) + yd * sympy.sin(psi)
    aside = -xd * sympy.sin(psi) + yd * sympy.cos(psi)
    front = aside + 2.6 * psid
    rows = [
        ahead + 0.75 * psid - 0.3 * rd, ahead - 0.75 * psid - 0.3 * ld, aside,
        ahead * sympy.cos(steer) + front * sympy.sin(steer) - 0.3 * fd,
        -ahead * sympy.sin(steer) + front * sympy.cos(steer), ld - 2 * sd + rd,
    ]  # fmt: skip
    return T, rows, list(q), list(qd)


SYSTEMS = {"unicycle": _unicycle, "differential-drive": _differential_drive, "car": _car}


@cache
def _functions(name: str) -> tuple[Any, Any, Any, Any]:
    """M(q), h(q, qd), W(q), Wdot qd (q, qd): M qdd + h = tau + W^T lambda, W qdd + Wdot qd = 0."""
    T, rows, q, qd = SYSTEMS[name]()
    momentum = [sympy.diff(T, v) for v in qd]
    M = sympy.Matrix([[sympy.diff(p, v) for v in qd] for p in momentum])
    h = [
        sum(sympy.diff(p, x) * v for x, v in zip(q, qd, strict=True)) - sympy.diff(T, own)
        for p, own in zip(momentum, q, strict=True)
    ]
    W = sympy.Matrix([[sympy.diff(row, v) for v in qd] for row in rows])
    drift = [sum(sympy.diff(row, x) * v for x, v in zip(q, qd, strict=True)) for row in rows]
    state = [*q, *qd]
    return tuple(sympy.lambdify(state, x, "numpy") for x in (M, h, W, drift))  # type: ignore[return-value]


@cache
def _vehicle(name: str) -> Robot:
    return cardan.load(name)


def _state(robot: Robot, seed: int = 3) -> tuple[Array, Array, Array, Array]:
    """q, qd_a, qdd_a and all velocities of the tree."""
    on, rng = coordinates(robot), np.random.default_rng(seed)
    q = on.closed_at(rng.uniform(-0.6, 0.6, robot.n))
    u, ud = rng.normal(size=(2, on.nv))
    return q, u, ud, on.matrix(q, u)[0] @ u


def _losses(robot: Robot) -> Array:
    return np.array([float(joint.FV) for joint in robot.joints if joint.sigma != 2])


@pytest.mark.parametrize("name", SYSTEMS)
def test_by_hand(name: str) -> None:
    """Velocities, direct and inverse dynamics, and the forces of the ground."""
    robot = _vehicle(name)
    q, u, ud, qd = _state(robot)
    M, h, W, drift = (np.array(f(*q, *qd), float) for f in _functions(name))
    near(W @ qd, np.zeros(len(W)), absolute=1e-14)
    on = coordinates(robot)
    tau = np.zeros(robot.n)
    tau[on.place] = cardan.model(robot, "inverse-dynamics").compile()(q=q, qd=u, qdd=ud)
    m = len(W)
    K = np.block([[M, -W.T], [W, np.zeros((m, m))]])
    solution = np.linalg.solve(K, np.r_[tau - h - _losses(robot) * qd, -drift])
    qdd, forces = solution[: robot.n], solution[robot.n :]
    near(qdd[on.place], ud, 1e-12)
    for method in ("inertia-matrix", "constraint-forces"):
        program = cardan.model(robot, "direct-dynamics", method=method)
        near(program.compile()(q=q, qd=u, tau=tau[on.place]), ud, 1e-11)
    ground = cardan.model(robot, "reactions").compile()(q=q, qd=u, qdd=ud)[-len(robot.wheels) :]
    expected = {
        "unicycle": [[0, 1]], "differential-drive": [[0, 2], [1]], "car": [[0, 2], [1], [3, 4]],
    }[name]  # fmt: skip
    own = np.zeros((len(robot.wheels), 2))
    for k, rows in enumerate(expected):
        own[k, : len(rows)] = forces[rows]
    near(ground[:, :2], own, 1e-11)


def _rows_of_an_arm_on_wheels(q: Array) -> Array:
    """W of the mobile manipulator: wheels of radius 0.12 at 0.25 beside the middle."""
    c, s, W = np.cos(q[2]), np.sin(q[2]), np.zeros((3, len(q)))
    W[0, :4], W[1, :5] = [c, s, -0.25, -0.12], [c, s, 0.25, 0, -0.12]
    W[2, :2] = [-s, c]
    return W


def test_an_arm_on_wheels() -> None:
    """The models of the tree, which know of no wheels, with the constraints written by hand."""
    robot = _vehicle("mobile-manipulator")
    q, u, ud, qd = _state(robot)
    tree, W = robot.tree(), _rows_of_an_arm_on_wheels(q)
    ahead, aside = W[0, :2] @ qd[:2], W[2, :2] @ qd[:2]
    drift = qd[2] * np.array([aside, aside, -ahead])  # Wdot qd: the axes of the chassis turn
    near(W @ qd, np.zeros(3), absolute=1e-14)
    A = cardan.model(tree, "inertia-matrix", effort="plain").compile()(q=q)
    H = cardan.model(tree, "bias", effort="plain").compile()(q=q, qd=qd)
    on, tau = coordinates(robot), np.zeros(robot.n)
    tau[on.place] = cardan.model(robot, "inverse-dynamics").compile()(q=q, qd=u, qdd=ud)
    K = np.block([[A, -W.T], [W, np.zeros((3, 3))]])
    near(np.linalg.solve(K, np.r_[tau - H, -drift])[: robot.n][on.place], ud, 1e-11)
    direct = cardan.model(robot, "direct-dynamics").compile()
    near(direct(q=q, qd=u, tau=tau[on.place]), ud, 1e-12)
    J = cardan.model(robot, "jacobian").compile()(q=q)
    near(J @ u, cardan.model(tree, "jacobian").compile()(q=q) @ qd, 1e-12)


@pytest.mark.parametrize("slip", ["along", "across"])
def test_one_direction(slip: str) -> None:
    """A sleigh on a blade (Chaplygin's), and a wheel with rollers: one equation of the two."""
    blade = slip == "along"
    holds = {"name": "w", "link": "w", "radius": 0.1, "slip": slip}
    robot = cardan.load({
        "name": "sleigh",
        "platform": {"name": "chassis", "freedoms": ["x", "y", "rz"]},
        "link": [{"name": "w", "antecedent": "chassis", "gamma": "pi", "alpha": "pi/2", "d": -0.3,
                  "b": 0.1, "joint": "fixed" if blade else "revolute", "mass": 2,
                  "com": [0.2, 0.1, 0.3], "inertia_com": [1, 0, 0, 1, 0, 1]}],
        "wheel": [holds],
    })  # fmt: skip
    joints = [replace(x, active=j in (0, 2, 3)) for j, x in enumerate(robot.joints)]
    robot = replace(robot, joints=tuple(joints))  # y follows
    q, u, ud, qd = _state(robot)
    psi, n = q[2], robot.n

    def row(q: Array) -> Array:
        c, s = np.cos(q[2]), np.sin(q[2])
        return np.array([-s, c, 0.3] if blade else [c, s, 0, -0.1])

    drift = (row(q + 1e-6 * qd) - row(q - 1e-6 * qd)) @ qd / 2e-6
    near(row(q) @ qd, 0, absolute=1e-14)
    on, tau, tree = coordinates(robot), np.zeros(n), robot.tree()
    tau[on.place] = cardan.model(robot, "inverse-dynamics").compile()(q=q, qd=u, qdd=ud)
    A = cardan.model(tree, "inertia-matrix", effort="plain").compile()(q=q)
    H = cardan.model(tree, "bias", effort="plain").compile()(q=q, qd=qd)
    K = np.block([[A, -row(q)[:, None]], [row(q), 0]])
    near(np.linalg.solve(K, np.r_[tau - H, -drift])[:n][on.place], ud, 1e-8)
    assert abs(psi) < 1


@pytest.mark.parametrize("name", VEHICLES)
def test_models_agree(name: str) -> None:
    robot = _vehicle(name)
    q, u, ud, qd = _state(robot, 5)
    on = coordinates(robot)

    def value(model: str, **options: Any) -> Any:
        program = cardan.model(robot, model, **options)
        x = {"q": q, "qd": u, "qdd": ud}
        return program.compile()(**{key: x[key] for key in program.inputs})

    near(value("inverse-dynamics", method="lagrange"), value("inverse-dynamics"), 1e-12)
    C, h = value("coriolis-matrix"), value("bias", friction=False) - value("gravity")
    size = float(np.abs(C).max())
    near(C @ u, h, 1e-12, scale=size)
    A = cardan.model(robot, "inertia-matrix").compile()
    ahead, back = (A(q=on.closed_at(q + step * qd)) for step in (1e-6, -1e-6))
    skew = (ahead - back) / 2e-6 - 2 * C
    near(skew, -skew.T, absolute=1e-7 * (1 + size))
    near(value("energies").E, u @ A(q=q) @ u / 2, 1e-12)


@pytest.mark.parametrize("name", VEHICLES)
def test_no_drift(name: str) -> None:
    """Sixty seconds of driving: the ground's points of the wheels stand still to rounding."""
    robot = _vehicle(name)
    gain = {"unicycle": (0.001, 3.0), "car": (60.0, 3.0)}.get(name, (0.2, 0.25))

    def torque(t: float) -> Array:
        driving = np.array(gain) * np.array([1 + np.sin(t), np.cos(0.7 * t)])
        return np.r_[driving, np.zeros(len(coordinates(robot).place) - 2)]

    run = cardan.simulate(robot, duration=60, torque=torque, dt=0.5)

    def W(q: Array) -> Array:
        if name == "mobile-manipulator":
            return _rows_of_an_arm_on_wheels(q)
        return np.array(_functions(name)[2](*q, *q), float)

    slips = [np.abs(W(q) @ qd).max() for q, qd in zip(run.q, run.qd, strict=True)]
    assert max(slips) <= 1e-9
    assert np.abs(run.q[:, :2]).max() > 0.5  # it went somewhere
    assert run.energy is not None
    assert run.energy.drift < 1e-8
    if robot.couplings:
        near(run.q[:, 5], 2 * run.q[:, 3] - run.q[:, 4], absolute=1e-9)


def test_a_circle() -> None:
    """Wheels at constant speeds: the chassis goes round the circle that they give."""
    robot = _vehicle("differential-drive")
    run = cardan.simulate(robot, duration=2, motion=cardan.trajectory(
        robot, [10.0, 20.0], 2, start=[0.0, 0.0], profile="quintic"
    ))  # fmt: skip
    turn = 0.1 * (20 - 10) / 0.4
    radius = 0.1 * (20 + 10) / 2 / turn
    near(run.q[-1, 2], turn, absolute=1e-8)
    near(run.q[-1, :2], radius * np.array([np.sin(turn), 1 - np.cos(turn)]), absolute=1e-8)


def test_torques_of_a_motion() -> None:
    """Positions by integration, as in a simulation; torques as the inverse model has them there."""
    robot = _vehicle("differential-drive")
    motion = cardan.trajectory(robot, [6.0, 9.0], 1.0, start=[0.0, 0.0], dt=1e-2)
    found = cardan.torques(robot, motion)
    run = cardan.simulate(robot, motion=motion, duration=1, dt=1e-2)
    near(found.total, run.tau, absolute=1e-8)
    on = coordinates(robot)
    near(on.rolled_along(motion, np.zeros(5)), run.q, absolute=1e-8)


def test_files(tmp_path: Any) -> None:
    for name in VEHICLES:
        robot = _vehicle(name)
        robot.save(tmp_path / "robot.toml")
        again = cardan.load(tmp_path / "robot.toml")
        assert again.wheels == robot.wheels
        with pytest.raises(cardan.CardanError, match="wheel"):
            robot.save(tmp_path / "robot.par")


def _changed(**wheel: Any) -> dict[str, Any]:
    drive = {"name": "left", "link": "left", "radius": 0.1} | wheel
    return {
        "name": "cart",
        "platform": {"name": "chassis", "freedoms": ["x", "y", "rz"], "mass": 2},
        "link": [
            {"name": name, "antecedent": "chassis", "gamma": "pi", "alpha": "pi/2", "b": 0.1,
             "r": r, "mass": 1, "inertia_com": [1, 0, 0, 1, 0, 1]}
            for name, r in (("left", 0.2), ("right", -0.2))
        ],
        "wheel": [drive, {"name": "right", "link": "right", "radius": 0.1}],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("wheel", "words"),
    [
        ({"radius": 0}, "radius = 0; expected a positive length"),
        ({"slip": "up"}, "slip = 'up'; allowed: along, across"),
        ({"normal": [0, 0, 2]}, "expected three values of length 1"),
        ({"link": "chassis_x"}, "does not turn"),
        ({"link": "middle"}, "'middle' is no link"),
        ({"size": 3}, "'size' is not a field here"),
    ],
)
def test_faults(wheel: dict[str, Any], words: str) -> None:
    with pytest.raises(cardan.DescriptionError, match=words):
        cardan.load(_changed(**wheel))


def test_what_cannot_roll() -> None:
    with pytest.raises(cardan.ModelError, match="leans or leaves the ground"):
        cardan.model(cardan.load(_changed(normal=[1, 0, 0])), "inverse-dynamics")
    loose = cardan.load(_changed(slip="along"))
    with pytest.raises(cardan.ModelError, match=r"has 2 active joints .* but mobility 3"):
        cardan.model(loose, "inverse-dynamics")
    robot = _vehicle("unicycle")
    with pytest.raises(cardan.ModelError, match="wheels that roll"):
        cardan.model(robot, "filtered-regressor")
    with pytest.raises(cardan.ModelError, match="depends on their way"):
        cardan.model(robot, "loop-geometry")


def test_on_the_page() -> None:
    """Sliders put a vehicle anywhere; its motions are simulated."""
    pytest.importorskip("nicegui")
    from cardan.app.web.jobs.motion import motion
    from cardan.app.web.scene.continuation import follow_on

    robot, start = _vehicle("differential-drive"), np.zeros(5)
    wanted = np.array([1.0, 2.0, 0.5, 0.0, 0.3])
    near(follow_on(robot, start, wanted)[0], wanted, 1e-15)
    data = {"from": start.tolist(), "to": [3.0, 3.0], "duration": 1, "law": "quintic"}
    answer = motion(robot, data, lambda *_: None)
    near(answer["q"][-1], [0.3, 0, 0, 3, 3], absolute=1e-6)


@pytest.mark.parametrize("name", ["unicycle", "differential-drive"])
def test_the_linear_system_is_the_derivative(name: str) -> None:
    """x = [q, qd_a]: wheels tie velocities alone, so that every position is free."""
    robot = cardan.load(name)
    on = coordinates(robot)
    rng = np.random.default_rng(8)
    q, u, tau = rng.normal(size=on.nq), rng.normal(size=on.nv), rng.normal(size=on.nv)
    direct = cardan.model(robot, "direct-dynamics", friction=False)
    loops = cardan.model(robot, "loop-kinematics", details=True)

    def rate(x: np.ndarray, push: np.ndarray) -> np.ndarray:
        here, speeds = x[: on.nq], x[on.nq :]
        G = loops.evaluate(q=here, qd=speeds).G
        return np.r_[G @ speeds, direct.evaluate(q=here, qd=speeds, tau=push)]

    x, h = np.r_[q, u], 1e-6
    slopes = [(rate(x + h * e, tau) - rate(x - h * e, tau)) / (2 * h) for e in np.eye(len(x))]
    pushed = [(rate(x, tau + e) - rate(x, tau - e)) / 2 for e in np.eye(on.nv)]
    linear = cardan.linearise(robot, q, u, tau=tau, friction=False)
    near(linear.A, np.transpose(slopes), 1e-7, 1e-7)
    near(linear.B, np.transpose(pushed), 1e-9, 1e-9)


def test_couplings_beside_wheels_hold_positions() -> None:
    """Of the car's eight positions seven are free: both front wheels steer as one."""
    linear = cardan.linearise(cardan.load("car"), 0.0, [0.1, 0.2])
    assert (linear.A.shape, linear.positions) == ((9, 9), 7)
    near(linear.A[1, 2], 0.3 * 0.1, 1e-12)  # a car that turns leaves its line: r qd


@pytest.mark.parametrize("name", ["differential-drive", "car"])
@pytest.mark.parametrize(
    "parent", ["inverse-dynamics", "direct-dynamics", "kinematics", "energies"]
)
def test_partial_derivatives_are_by_the_positions_that_are_free(name: str, parent: str) -> None:
    robot = _vehicle(name)
    q, u, w, _ = _state(robot, 7)
    free = coordinates(holonomic(robot))
    along = free.matrix(q, np.zeros(free.nv))[0] if free.closed else np.eye(robot.n)
    options = {"effort": "plain"} if "dynamics" in parent else {}
    program = cardan.model(robot, f"{parent}-derivatives", **options)
    x = {"q": q, "qd": u, "qdd": w, "tau": w}
    x = {key: x[key] for key in program.inputs}
    output, values = next(iter(program.outputs)), program.evaluate(**x)

    def at(key: str, step: Array) -> Array:
        return np.asarray(getattr(program.evaluate(**{**x, key: x[key] + step}), output))

    for key in x:
        columns = along.T if key == "q" else np.eye(len(x[key]))
        slopes = [(at(key, 1e-6 * e) - at(key, -1e-6 * e)) / 2e-6 for e in columns]
        expected = np.stack(slopes, -1)
        near(getattr(values, f"d{output}_d{key}"), expected, 1e-7, scale=np.abs(expected).max() + 1)


def test_an_arm_swings_on_wheels() -> None:
    """With its motors locked the wheels hold the chassis; free ones leave one way to roll."""
    robot = _sprung("mobile-manipulator")
    fixed = [replace(x, sigma=2) if k < 5 else x for k, x in enumerate(robot.joints)]
    planted = replace(robot, wheels=(), joints=tuple(fixed))
    one, other = (
        cardan.natural_frequencies(x, q) for x, q in ((robot, [0] * 5), (planted, [0] * 3))
    )
    near(one, other, 1e-12)
    assert one.shape == (1,)
    free = cardan.natural_frequencies(robot, actuators="free", modes=True)
    assert (free.frequencies == 0).sum() == 5
    on = coordinates(robot)
    rates = on.matrix(free.q, np.zeros(on.nv))[0] @ free.shapes[list(on.place)]
    near(free.shapes, rates, absolute=1e-12)
    with pytest.raises(cardan.CardanError, match="rolls away"):
        cardan.natural_frequencies(robot, about="equilibrium")


def _sprung(name: str) -> Robot:
    """An elastic forearm."""
    robot = cardan.load(name)
    joints = [replace(x, elastic=True, active=False, stiffness=40) if k == 7 else x
              for k, x in enumerate(robot.joints)]  # fmt: skip
    return replace(robot, joints=tuple(joints))
