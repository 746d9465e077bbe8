"""Exciting motions among floor, box, spheres, a start and narrow limits: they hold by forward
kinematics written out here, and what cannot be met is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.identify.synthetic import arm, torques
from typer.testing import CliRunner

import cardan
from cardan.app.cli.main import app
from cardan.errors import InputError
from cardan.identification import Excitation, excite, identify
from cardan.identification.excite import NOISE
from cardan.motion.collision import Clearance, Sphere, Surroundings

QUICK: dict[str, Any] = {"iterations": 8, "starts": 4, "period": 5.0, "harmonics": 3, "rate": 100.0}
START = [0.0, 0.9, 0.4]
# (alpha, d, r) of the arm, as its description has them
TABLE = ((0.0, 0.0, 0.0), (np.pi / 2, 0.1, 0.0), (np.pi / 6, 0.4, 0.1))


def turned(q: np.ndarray) -> list[np.ndarray]:
    """0T1, 0T2, 0T3 of one configuration: Rot(x, alpha) Trans(x, d) Rot(z, q) Trans(z, r)."""
    T, frames = np.eye(4), []
    for (alpha, d, r), x in zip(TABLE, q, strict=True):
        ca, sa, c, s = np.cos(alpha), np.sin(alpha), np.cos(x), np.sin(x)
        about_x = np.array([[1, 0, 0, d], [0, ca, -sa, 0], [0, sa, ca, 0], [0, 0, 0, 1]])
        about_z = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, r], [0, 0, 0, 1]])
        T = T @ about_x @ about_z
        frames.append(T)
    return frames


def dense(design: Excitation, count: int = 7001) -> np.ndarray:
    """q of the series at other times than the program looks at."""
    t = np.linspace(0, design.period, count)[:, None]
    q = np.tile(design.q0, (count, 1))
    for k, (a, b) in enumerate(zip(design.a, design.b, strict=True), 1):
        w = 2 * np.pi * k / design.period
        q = q + a / w * np.sin(w * t) - b / w * np.cos(w * t)
    return q


def least(design: Excitation, kind: str) -> float:
    return next(x.least for x in design.margins if x.limit == kind)


@pytest.mark.parametrize("start", [None, START])
def test_frames_and_tool_stay_above_the_floor(start: Any) -> None:
    design = excite(arm(), floor=-0.05, start=start, **QUICK)
    z = np.array([[T[2, 3] for T in turned(q)[1:]] for q in dense(design)])
    assert z.min() >= -0.05
    near(z.min() + 0.05, least(design, "floor"), 1e-3, 1e-4)


def test_a_frame_that_moves_below_the_floor_is_not_passed_over() -> None:
    with pytest.raises(InputError, match=r"floor is missed by 0\.05 m \(frame 2"):
        excite(arm(), floor=0.05, **QUICK)


@pytest.mark.parametrize("start", [None, START])
def test_the_tool_stays_in_its_box(start: Any) -> None:
    low, high = np.array([0.0, -0.4, 0.1]), np.array([0.6, 0.3, 0.6])
    design = excite(arm(), box=[low, high], start=start, **QUICK)
    P = np.array([turned(q)[2][:3, 3] for q in dense(design)])
    assert (P - low).min() >= 0
    assert (high - P).min() >= 0
    near(min((P - low).min(), (high - P).min()), least(design, "box"), 1e-3, 1e-4)


def test_spheres_stay_apart_and_above_the_floor() -> None:
    spheres = (Sphere(1, (0.0, 0.0, 0.45), 0.1), Sphere(3, (0.25, 0.0, 0.0), 0.08))
    ball = (np.array([0.3, 0.3, 0.3]), 0.05)
    clearance = Clearance(arm(), spheres, Surroundings(floor=-0.3, balls=(ball,)))
    design = excite(arm(), clearance=clearance, start=START, **QUICK)
    distances = []
    for q in dense(design):
        T = turned(q)
        one, two = T[0] @ [0, 0, 0.45, 1], T[2] @ [0.25, 0, 0, 1]
        distances += [
            np.linalg.norm((one - two)[:3]) - 0.18,
            np.linalg.norm(two[:3] - ball[0]) - 0.13, np.linalg.norm(one[:3] - ball[0]) - 0.15,
            one[2] - 0.1 + 0.3, two[2] - 0.08 + 0.3,
        ]  # fmt: skip
    assert min(distances) >= 0
    near(min(distances), least(design, "clearance"), 1e-3, 1e-4)


def test_a_motion_begins_and_ends_at_rest_at_the_start() -> None:
    design = excite(arm(), start=START, lower=-1.2, upper=1.1, **QUICK)
    q = dense(design)
    near(q[0], START, 1e-12, 1e-12)
    near(q[-1], START, 1e-12, 1e-12)
    assert np.abs(design.motion.qd[0]).max() < 1e-12
    assert np.abs(design.motion.qdd[0]).max() < 1e-12
    assert q.min() >= -1.2
    assert q.max() <= 1.1
    assert np.ptp(q, axis=0).min() > 0.05


def test_limits_only_narrow_those_of_the_robot() -> None:
    design = excite("ur10", lower=-1, upper=9, iterations=0, starts=1)
    assert design.motion.q.min() >= -1
    assert design.motion.q.max() <= 2 * np.pi
    assert design.limits["upper"].max() <= 2 * np.pi + 1e-6


def test_margins_are_those_of_the_motion() -> None:
    design = excite(arm(), velocity=2.0, acceleration=6.0, effort=[80, 60, 20], **QUICK)
    assert [x.limit for x in design.margins] == ["position", "velocity", "acceleration", "torque"]
    assert all(x.least >= 0 for x in design.margins)
    fine = np.gradient(dense(design, 50001), design.period / 50000, axis=0)
    near(least(design, "velocity"), 2.0 - np.abs(fine).max(), 1e-3, 1e-3)
    near(least(design, "acceleration"), 6.0 - np.abs(design.motion.qdd).max(), 0.1, 0.01)


def test_closed_loops_have_room_too() -> None:
    robot = cardan.load("fivebar")
    quick = QUICK | {"iterations": 2}
    free = excite(robot, **quick)
    home = free.whole.q[0]
    start = [float(x) for x in np.array(home)[[0, 2]]]
    design = excite(robot, start=start, **quick)
    near(design.motion.q[0], start, 1e-9, 1e-9)
    tool = cardan.model(robot, "transform").compile()
    P = np.asarray(tool(q=design.whole.q))[:, :3, 3]
    box = np.array([P[0] - 0.05, P[0] + 0.05])
    tight = excite(robot, start=start, box=box, **quick)
    P = np.asarray(tool(q=tight.whole.q))[:, :3, 3]
    assert (P - box[0]).min() >= 0
    assert (box[1] - P).min() >= 0


def test_deviations_are_those_that_identification_reports() -> None:
    effort = np.array([80.0, 60.0, 20.0])
    design = excite(arm(), effort=effort, **QUICK)
    motion = design.motion
    log = {"t": motion.t[:-1], "q": motion.q[:-1], "qd": motion.qd[:-1], "qdd": motion.qdd[:-1]}
    noise = NOISE * effort * np.random.default_rng(0).normal(size=log["q"].shape)
    log["tau"] = torques(arm(), log) + noise
    result = identify(arm(), log, consistent=False)
    known = dict(zip(result.names, result.sigma, strict=True))
    shared = [k for k, name in enumerate(design.names) if name in known]
    assert len(shared) > 10
    ratio = [design.deviations[k] / known[design.names[k]] for k in shared]
    assert 0.8 < np.median(ratio) < 1.25
    assert design.random.shape == (4, len(design.names))
    assert design.gain > 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"start": [0, 9, 0], "lower": -1, "upper": 1}, "start: joint 2 at 9 is not between"),
        ({"start": [0, 1]}, "expected 3 values"),
        ({"start": [0, 0.9, 0.4], "effort": 0.1}, "gravity asks for more than the torque limits"),
        ({"start": [0, 0, 0], "floor": 0.3}, "at the start, q = [0.0, 0.0, 0.0]: floor is missed"),
        ({"floor": "low"}, "floor is not an array of real numbers"),
        ({"floor": np.nan}, "floor = nan must be finite"),
        ({"box": [[0, 0, 0], [0, 1, 1]]}, "expected its low and its high corner"),
        ({"box": [[2, 2, 2], [3, 3, 3]]}, "no configuration was found that meets all demands"),
        ({"box": [[0, 0, 0], [1, 1, 1]], "frame": "hand"}, "hand"),
    ],
)
def test_what_cannot_be_met_is_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(cardan.CardanError) as caught:
        excite(arm(), **QUICK | {"iterations": 0} | options)
    assert words in str(caught.value)


def test_command_and_picture(tmp_path: Path) -> None:
    (tmp_path / "cell.toml").write_text(
        "floor = -1.0\nsphere = [{frame = 3, at = [0.2, 0, 0], radius = 0.05}]\n"
    )
    robot = tmp_path / "arm.toml"
    arm().save(robot)
    words = [
        "excite",
        str(robot),
        "--iterations",
        "1",
        "--start",
        "0,0.9,0.4",
        "--floor=-0.5",
        "--box=-1,-1,-0.4,1,1,1",
        "--around",
        str(tmp_path / "cell.toml"),
        "--period",
        "5",
    ]
    done = CliRunner().invoke(app, [*words, "--plot", str(tmp_path / "motion.svg")])
    assert done.exit_code == 0, done.output
    assert "margins" in done.output
    assert "clearance" in done.output
    picture = (tmp_path / "motion.svg").read_text()
    assert "<svg" in picture
    done = CliRunner().invoke(app, [*words, "--json"])
    data = json.loads(done.stdout)
    assert {"floor", "box", "clearance"} <= {x["limit"] for x in data["margins"]}
    assert all(x["least"] >= 0 for x in data["margins"])
    assert data["gain"] > 0


def test_the_picture_shows_limits_and_every_parameter() -> None:
    design = excite(arm(), floor=-0.3, **QUICK | {"iterations": 0})
    axes = design.plot().axes
    assert axes[-2].get_title(loc="left") == "least distances"
    assert [x.get_text() for x in axes[-1].get_xticklabels()] == list(design.names)
    dotted = [line for line in axes[0].lines if line.get_linestyle() == ":"]
    assert {float(line.get_ydata()[0]) for line in dotted} == {-np.pi, np.pi}
