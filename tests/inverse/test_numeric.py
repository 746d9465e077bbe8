"""Numerical inverse kinematics: redundant arms, trees, loops, points, limits, constraints."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from tests.backends.runners import STRICT, checked_run, tool, write
from tests.compare import near

import cardan
from cardan import Robot, inverse_kinematics
from cardan.errors import CardanError, InputError, ModelError
from cardan.inverse.chain.chain import Chain
from cardan.inverse.numeric.code import numeric_code


def limits(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    joints = [joint for joint in robot.joints if joint.sigma != 2]
    ends = [(joint.limits.lower, joint.limits.upper) for joint in joints]
    lower = [-np.pi if low is None else float(low) for low, _ in ends]
    upper = [np.pi if up is None else float(up) for _, up in ends]
    return np.array(lower), np.array(upper)


def draw(robot: Robot, count: int, seed: int = 0) -> np.ndarray:
    found: np.ndarray = np.random.default_rng(seed).uniform(*limits(robot), (count, robot.n))
    return found


def transform(robot: Robot, q: np.ndarray, frame: object = None) -> np.ndarray:
    found: np.ndarray = cardan.model(robot, "transform", frame=frame).compile("numpy")(q=q)
    return found


@pytest.mark.parametrize("name", ["iiwa14", "panda", "ur5", "snake30"])
def test_every_reachable_pose_is_reached(name: str) -> None:
    robot = cardan.load(name)
    T = transform(robot, draw(robot, 200))
    found = inverse_kinematics(robot, T, restarts=200)
    assert found.converged.all()
    near(transform(robot, found.q), T, absolute=1e-9)
    lower, upper = limits(robot)
    assert ((found.q >= lower - 1e-12) & (found.q <= upper + 1e-12)).all()
    assert found.residual.max() <= 1e-10
    assert found.iterations.min() >= 1


def test_it_stays_near_the_guess() -> None:
    robot = cardan.load("iiwa14")
    q = draw(robot, 50) * 0.8
    found = inverse_kinematics(robot, transform(robot, q), guess=q + 0.01)
    assert found.converged.all()
    near(found.q, q, absolute=0.1)


def test_points_and_masks() -> None:
    robot = cardan.load("panda")
    T = transform(robot, draw(robot, 20))
    found = inverse_kinematics(robot, T[:, :3, 3])
    assert found.converged.all()
    near(transform(robot, found.q)[:, :3, 3], T[:, :3, 3], absolute=1e-9)
    found = inverse_kinematics(robot, T, mask=(0, 0, 0, 1, 1, 1))
    near(transform(robot, found.q)[:, :3, :3], T[:, :3, :3], absolute=1e-9)
    found = inverse_kinematics(robot, T[0], mask=(0, 0, 1, 0, 0, 0))
    assert found.q.shape == (7,)
    assert abs(transform(robot, found.q)[2, 3] - T[0, 2, 3]) < 1e-9


def two_hands() -> Robot:
    data = {
        "name": "two hands",
        "links": [
            {"antecedent": parent, "alpha": f"{a}", "d": d, "theta": 0, "r": r}
            for parent, a, d, r in [
                (0, "0", 0, 0.5), (1, "pi/2", 0.1, 0), (2, "pi/2", 0.4, 0.1), (3, "pi/2", 0.3, 0),
                (4, "-pi/2", 0.2, 0.1), (1, "-pi/2", 0.2, 0.1), (6, "pi/2", 0.4, 0),
                (7, "pi/3", 0.3, 0.1), (8, "pi/2", 0.2, 0),
            ]
        ],
    }  # fmt: skip
    joints = []
    from cardan.describe.robot import Joint, Link
    from cardan.describe.values.parser import to_value

    for j, row in enumerate(data["links"], 1):
        geometry = {key: to_value(str(row[key])) for key in ("alpha", "d", "theta", "r")}
        joints.append(Joint(f"joint{j}", row["antecedent"], **geometry))
    return Robot("two hands", tuple(Link(f"link{j}") for j in range(1, 10)), tuple(joints))


def test_several_frames_at_once() -> None:
    robot = two_hands()
    q = draw(robot, 30)
    T = {5: transform(robot, q, 5), "link9": transform(robot, q, 9)[:, :3, 3]}
    found = inverse_kinematics(robot, T, restarts=200)
    assert found.converged.all()
    near(transform(robot, found.q, 5), T[5], absolute=1e-9)
    near(transform(robot, found.q, 9)[:, :3, 3], T["link9"], absolute=1e-9)


def test_loops_are_closed() -> None:
    robot = cardan.load("fivebar")
    angle = np.linspace(0.5, 2.0, 7)
    points = np.stack([0.3 * np.cos(angle), 0.3 * np.sin(angle), 0 * angle], 1)
    found = inverse_kinematics(robot, points, frame="left_distal", restarts=50)
    assert found.converged.all()
    q1, q2, q3, q4 = found.q.T
    left = 0.3 * np.exp(1j * q1) + 0.4 * np.exp(1j * (q1 + q2))
    right = 0.25 + 0.3 * np.exp(1j * q3) + 0.4 * np.exp(1j * (q3 + q4))
    near(left, right, absolute=1e-9)
    np.testing.assert_allclose(0.3 * np.exp(1j * q1), points[:, 0] + 1j * points[:, 1], atol=1e-9)


def test_constraints_of_the_user() -> None:
    robot = cardan.load("iiwa14")
    T = transform(robot, draw(robot, 20) * 0.7)

    def elbow(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slope = np.zeros((len(q), 1, 7))
        slope[:, 0, 2] = 1
        return q[:, 2:3] - 0.3, slope

    found = inverse_kinematics(robot, T, constraints=elbow, restarts=60)
    assert found.converged.all()
    near(found.q[:, 2], 0.3, absolute=1e-9)
    near(transform(robot, found.q), T, absolute=1e-9)


def test_the_same_seed_gives_the_same_bits() -> None:
    robot = cardan.load("panda")
    T = transform(robot, draw(robot, 40))
    one = inverse_kinematics(robot, T, seed=3)
    two = inverse_kinematics(robot, T, seed=3, threads=2)
    np.testing.assert_array_equal(one.q, two.q)
    np.testing.assert_array_equal(one.iterations, two.iterations)


def test_out_of_reach_says_so() -> None:
    robot = cardan.load("iiwa14")
    T = transform(robot, draw(robot, 1))[0]
    T[:3, 3] = (5, 0, 0)
    found = inverse_kinematics(robot, T)
    assert not found.converged
    assert found.residual > 1
    lower, upper = limits(robot)
    assert ((found.q >= lower - 1e-12) & (found.q <= upper + 1e-12)).all()


def test_limits_can_be_forgotten() -> None:
    robot = cardan.load("panda")
    q = np.array([0.1, 0.2, 0.3, 1.5, 0.2, 0.4, 0.5])  # joint 4 is beyond its limit
    T = transform(robot, q)
    found = inverse_kinematics(robot, T, limits=False, guess=q + 0.02)
    assert found.converged
    assert found.q[3] > 1


def test_agrees_with_the_chain() -> None:
    robot = cardan.load("ur5")
    numeric = Chain.of(robot).numeric()
    q = draw(robot, 5)
    np.testing.assert_allclose(numeric.pose(q), transform(robot, q), atol=1e-12)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"T": np.full((4, 4), np.nan)}, InputError),
        ({"T": np.eye(3)[:2, :2]}, InputError),
        ({"T": {}}, InputError),
        ({"mask": (1, 2)}, InputError),
        ({"mask": "xyz"}, InputError),
        ({"mask": (0,) * 6}, InputError),
        ({"restarts": -1}, InputError),
        ({"seed": -1}, InputError),
        ({"seed": "a"}, InputError),
        ({"tolerance": "a"}, InputError),
        ({"frame": 0}, ModelError),
        ({"iterations": 0}, InputError),
        ({"tolerance": -1.0}, InputError),
        ({"guess": [0.0, 1.0]}, InputError),
        ({"guess": [np.nan] * 6}, InputError),
        ({"frame": "nowhere"}, CardanError),
        ({"frame": 99}, ModelError),
        ({"robot": cardan.load("general6r")}, InputError),
        ({"robot": "ur5"}, InputError),
        ({"constraints": lambda q: (q, q)}, InputError),
    ],
)
def test_faults_are_said_clearly(change: dict[str, object], error: type[Exception]) -> None:
    options: dict[str, object] = {"robot": cardan.load("ur5"), "T": np.eye(4), **change}
    with pytest.raises(error):
        inverse_kinematics(options.pop("robot"), options.pop("T"), **options)  # type: ignore[arg-type]


def test_emitted_code(tmp_path: Path) -> None:
    robot = cardan.load("iiwa14")
    T = transform(robot, draw(robot, 10))
    path = write(tmp_path, "ik.c", numeric_code(robot, "c", function="iiwa_ik"))
    library = tmp_path / "ik.so"
    checked_run([tool("gcc"), "-std=c99", *STRICT, "-O1", "-shared", "-fPIC", path, "-o", library,
                 "-lm"])  # fmt: skip
    function = ctypes.CDLL(str(library)).iiwa_ik
    for pose in T:
        start, seed, q, info = np.zeros(7), np.array([5.0]), np.zeros(7), np.zeros(4)
        arrays = (np.ascontiguousarray(pose), start, seed, q, info)
        function(*(x.ctypes.data_as(ctypes.c_void_p) for x in arrays))
        assert info[2] == 1
        near(transform(robot, q), pose, absolute=1e-9)
    write(tmp_path, "iiwa_ik.m", numeric_code(robot, "matlab", function="iiwa_ik"))
    rows = ";".join(" ".join(map(repr, row)) for row in T[0].tolist())
    script = f"[q, info] = iiwa_ik([{rows}], zeros(1, 7), 5); printf('%.17g ', q, info(3));"
    octave = [tool("octave-cli"), "--quiet", "--no-init-file", "--eval", script]
    row = np.array(checked_run(octave, cwd=tmp_path).split(), float)
    assert row[7] == 1
    near(transform(robot, row[:7]), T[0], absolute=1e-9)
    for language in ("cpp", "python"):
        assert "damped least squares" in numeric_code(robot, language, [7])


def test_no_poses_have_no_configurations() -> None:
    found = inverse_kinematics(cardan.load("iiwa14"), np.zeros((3, 0, 4, 4)))
    assert found.q.shape == (3, 0, 7)
    assert found.converged.shape == (3, 0)


def test_the_default_restarts_suffice_within_narrow_limits() -> None:
    robot = cardan.load("tx40")
    found = inverse_kinematics(robot, transform(robot, draw(robot, 300, 7)))
    assert found.converged.mean() > 0.99  # one pose is singular: its last digits take long
