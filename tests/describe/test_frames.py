"""Named frames in descriptions: faults, .toml, .par, changes of the robot, loads on them."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from tests.compare import among

import cardan
from cardan.app.web.jobs.inverse import inverse
from cardan.app.web.panels.structure import added, moved_down, removed
from cardan.app.web.scene.continuation import reach_for
from cardan.describe.check import check
from cardan.describe.files import dumps, read_bytes
from cardan.describe.frames import placement_of, roll_pitch_yaw
from cardan.describe.robot import Frame, Robot
from cardan.errors import CardanWarning, DescriptionError
from cardan.mechanism.frames import frame_of
from cardan.motion.frames import frame_poses, link_frames
from cardan.motion.torques import with_payload
from cardan.simulation.simulate import simulate


def arm(**more: object) -> Robot:
    links = [{"name": "a", "mass": 1, "com": [0.2, 0, 0]}, {"name": "b", "d": 0.4, "mass": 1}]
    links[1]["com"] = [0.1, 0, 0]
    frames = [
        {"name": "b", "xyz": [0.1, 0, 0], "rpy": ["pi/2", 0, 0]},
        {"name": "tool", "link": "b", "xyz": [0.3, "20 mm", 0], "rpy": [0, 0, "30 deg"]},
        {"name": "floor", "link": 0, "xyz": [0, 0, -1]},
    ]
    return cardan.load({"link": links, "frame": frames, "gravity": [0, -9.81, 0], **more})


def test_a_description_holds_frames() -> None:
    robot = arm(end_effector="tool")
    assert [frame.link for frame in robot.frames] == [2, 2, 0]
    assert frame_of(robot).name == "tool"
    assert frame_of(robot, "khalil:b") == Frame("khalil:b", 2, kind="link")
    assert read_bytes(dumps(robot, "toml").encode(), "x.toml")[0] == robot
    assert frame_of(replace(robot, end_effector="")).name == "b"


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ({"name": "x", "link": "c"}, "link 'c' is no link"),
        ({"name": "x", "link": 3}, "on link 3, which does not exist: 0 to 2 do"),
        ({"name": "a", "link": 2}, "but link 1 bears that name"),
        ({"name": "x", "xyz": [0, 0]}, "xyz must be a list of 3"),
        ({"name": "x", "rpyy": [0, 0, 0]}, "'rpyy' is not a field here; did you mean rpy"),
        ({"name": ""}, "cannot be the name of a frame"),
        ({"name": "x", "rpy": [0, 0, "1/0"]}, "rpy"),
    ],
)
def test_faults_of_frames(frame: dict[str, object], words: str) -> None:
    with pytest.raises(DescriptionError, match=words):
        cardan.load({"link": [{"name": "a"}, {"name": "b"}], "frame": [frame]})


def test_names_are_given_once_and_the_end_effector_exists() -> None:
    robot = arm()
    twice = replace(robot, frames=(*robot.frames, robot.frames[1]))
    assert any("'tool' is used twice" in x.message for x in check(twice))
    assert any("is no frame" in x.message for x in check(replace(robot, end_effector="hand")))


def test_par_says_what_it_leaves_out() -> None:
    with pytest.warns(CardanWarning, match=r"left out: b, tool, floor\. .*Khalil"):
        dumps(arm(), "par")
    with warnings.catch_warnings():
        warnings.simplefilter("error", CardanWarning)
        dumps(cardan.load("planar2r"), "par")


def test_changes_of_the_structure_carry_frames_along() -> None:
    robot = arm(end_effector="tool")
    assert added(robot).frames == robot.frames
    less = removed(robot, 1)
    assert [frame.name for frame in less.frames] == ["floor"]
    assert less.end_effector == ""
    first = removed(robot, 0)
    assert [(frame.name, frame.link) for frame in first.frames] == [
        ("b", 1), ("tool", 1), ("floor", 0)
    ]  # fmt: skip
    assert [frame.link for frame in moved_down(robot, 0).frames] == [1, 1, 0]
    assert all(x.severity == "warning" for x in check(first))


def test_a_load_and_a_payload_are_in_the_frame_that_is_named() -> None:
    robot = arm()
    T = placement_of([0.3, 0.02, 0], [0, 0, np.pi / 6])
    held = with_payload(robot, 2.0, [0.1, 0.2, 0.3], link="tool")
    point = (T @ [0.1, 0.2, 0.3, 1])[:3]
    assert held.links == with_payload(robot, 2.0, point, link=2).links
    w = np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])
    f = T[:3, :3] @ w[:3]
    same = np.concatenate([f, T[:3, :3] @ w[3:] + np.cross(T[:3, 3], f)])
    runs = [
        simulate(robot, 0.1, 0.2, duration=0.1, loads=lambda links, x=x: x)
        for x in ({"tool": w}, {2: same})
    ]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-12)


def test_the_page_solves_for_the_frame_that_is_chosen() -> None:
    robot, q = arm(end_effector="tool"), [0.4, 0.5]
    for frame in ("", "b", "tool"):
        data = {"q": q, "frame": frame, "method": "auto"}
        rows = np.array(inverse(robot, data, lambda words: None)["configurations"])
        among(rows, q, 1e-9)
    placed = link_frames(robot, np.array(q))
    there = cardan.model(robot, "transform").evaluate(q=q)
    np.testing.assert_allclose(frame_poses(robot, placed), there, atol=1e-15)
    found, reached = reach_for(robot, np.array(q) + 0.1, there[:3, 3])
    assert reached
    moved = frame_poses(robot, link_frames(robot, found))
    np.testing.assert_allclose(moved[:3, 3], there[:3, 3], atol=1e-5)


def test_roll_pitch_yaw_keep_their_digits_beside_the_upright_pitch() -> None:
    for pitch in (1.570796327, np.pi / 2 - 1e-7, -1.5707963, 0.3):
        R = placement_of((0, 0, 0), (0.4, pitch, -1.1))[:3, :3]
        again = placement_of((0, 0, 0), roll_pitch_yaw(R))[:3, :3]
        np.testing.assert_allclose(again, R, atol=1e-15)
