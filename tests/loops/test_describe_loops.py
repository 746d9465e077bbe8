"""Platforms, legs by pattern, coinciding links, and what goes wrong with loops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.loops.mechanisms import passive

import cardan
from cardan.describe.toml.read import from_dict
from cardan.loops.analysis import analyse


def four_bar_of(loop: dict[str, Any], *links: dict[str, Any]) -> cardan.Robot:
    return cardan.load({"name": "bar", "link": list(links), "loop": [loop]})


ROD = {"d": 0.3, "name": "rod", "mass": 1, "com": [0.2, 0, 0]}
TIP = {"d": 0.45, "name": "tip", "mass": 0.5, "com": [0.1, 0.2, 0]}
ROCKER = {"antecedent": 0, "d": 0.5, "name": "rocker"}
END = {"antecedent": "rocker", "d": 0.4, "name": "end", "joint": "fixed", "mass": 0.25}


def test_two_coinciding_links_are_one_body() -> None:
    """The passive joint of one is cut, its inertia goes to the other."""
    robot = four_bar_of(
        {"name": "pin", "frames": ["end", "tip"]},
        {"name": "crank"}, passive(**ROD), passive(**TIP), passive(**ROCKER), END,
    )  # fmt: skip
    assert [link.name for link in robot.links] == ["crank", "rod", "rocker", "end"]
    loop = robot.loops[0]
    assert (loop.cut.antecedent, loop.twin.antecedent, loop.cut.sigma) == (2, 4, 0)
    assert float(loop.cut.d) == 0.45
    end = robot.links[3]
    assert (float(end.M), float(end.MX), float(end.MY)) == pytest.approx((0.75, 0.05, 0.1))
    assert analyse(robot).mobility == 1


def test_without_a_passive_end_the_loop_is_rigid() -> None:
    robot = four_bar_of(
        {"name": "weld", "frames": ["coupler", "end"]},
        {"name": "crank"}, passive(**ROD), passive(d=0.45, name="pin"),
        {"name": "coupler", "joint": "fixed"}, passive(**ROCKER), END,
    )  # fmt: skip
    assert robot.loops[0].cut.sigma == 2
    found = analyse(robot)
    assert (found.mobility, found.rank) == (1, 3)


def test_a_file_written_and_read_again_is_the_same_robot(tmp_path: Any) -> None:
    for name in ("stewart", "delta", "planar3rrr", "prrrp-rigid"):
        robot = cardan.load(name)
        robot.save(tmp_path / f"{name}.toml")
        again = cardan.load(str(tmp_path / f"{name}.toml"))
        assert (again.links, again.joints, again.loops) == (robot.links, robot.joints, robot.loops)


def test_a_ball_has_no_word_in_par(tmp_path: Any) -> None:
    with pytest.raises(cardan.CardanError, match=r"spherical.*\.toml"):
        cardan.load("stewart").save(tmp_path / "stewart.par")


def test_each_gives_every_copy_its_values() -> None:
    robot = cardan.load({
        "leg": [{"name": "leg", "angles": [0, "pi/2"], "each": {"len": [0.2, "3*a"]},
                 "link": [{"name": "arm", "variable": "a_", "d": "2*len"}, {"name": "hand"}]}],
    })  # fmt: skip
    assert [link.name for link in robot.links] == ["arm1", "hand1", "arm2", "hand2"]
    assert [str(joint.d) for joint in robot.joints] == ["0.4", "0", "2*(3*a)", "0"]
    assert [joint.antecedent for joint in robot.joints] == [0, 1, 0, 3]
    assert [str(joint.gamma) for joint in robot.joints] == ["0", "0", "pi/2", "0"]
    assert robot.variables[0] == "a_1"


@pytest.mark.parametrize(
    "freedoms", [["x"], ["y", "x"], ["z", "rx"], ["x", "y", "rz"], ["rz", "ry", "rx"]]
)
def test_platform_freedoms_move_along_their_axes(freedoms: list[str]) -> None:
    robot = cardan.load({"platform": {"freedoms": freedoms, "mass": 1}})
    tree = robot.tree()
    J = cardan.model(tree, "jacobian", frame="platform").evaluate(q=np.zeros(robot.n))
    for k, freedom in enumerate(freedoms):
        row = "xyz".index(freedom[-1]) + 3 * freedom.startswith("r")
        near(J[:, k], np.eye(6)[row], 1e-5, 1e-8, each=True)
    T = cardan.model(tree, "transform", frame="platform").evaluate(q=np.zeros(robot.n))
    near(T, np.eye(4), 1e-5, 1e-8, each=True)


FAULTS = [
    ({"platform": {"freedoms": ["x", "w"]}}, "freedoms"),
    ({"platform": {"freedoms": []}}, "freedoms"),
    ({"platform": {"freedoms": ["x", "x"]}}, "once"),
    ({"platform": 3}, "platform must be a table"),
    ({"leg": [{"copies": 0, "link": [{}]}]}, "copies"),
    ({"leg": [{"copies": 3, "angles": [0, 1], "link": [{}]}]}, "lists of 3"),
    ({"leg": [{"copies": 2}]}, "needs links"),
    ({"leg": [{"copies": 2, "link": [{}], "spin": 1}]}, "'spin' is not a field"),
    ({"link": [{}], "loop": [{"frames": ["link1", "nowhere"]}]}, "nowhere"),
    ({"link": [{}], "loop": [{"name": "ring", "cut": {"antecedent": "gone"},
                              "twin": {"antecedent": 0}}]}, "ring"),
    ({"platform": {"freedoms": ["x", "y"]}, "leg": [{"copies": 2, "link": [{"d": 0.3}]}]},
     "platform is not connected"),
]  # fmt: skip


@pytest.mark.parametrize(("table", "words"), FAULTS, ids=[words for _, words in FAULTS])
def test_faults_are_reported(table: dict[str, Any], words: str) -> None:
    with pytest.raises(cardan.CardanError, match=words):
        from_dict(table)


def refused(robot: cardan.Robot, words: str) -> None:
    with pytest.raises(cardan.CardanError, match=words):
        cardan.model(robot, "inverse-dynamics")


def test_loops_that_cannot_close() -> None:
    loop = {"name": "gap", "cut": {"antecedent": 2, "d": 0.1}, "twin": {"antecedent": 0, "d": 3}}
    refused(four_bar_of(loop, {}, passive(d=0.2)), r"loop 'gap' stays open by [\d.]+ m")


def test_wrong_number_of_active_joints() -> None:
    loop = {"name": "k", "cut": {"antecedent": 2, "d": 0.45}, "twin": {"antecedent": 3, "d": 0.4}}
    links = ({}, {"d": 0.3}, passive(antecedent=0, d=0.5))
    refused(four_bar_of(loop, *links), r"2 active joints \(q1, q2\) but mobility 1")


def test_a_platform_that_nothing_holds() -> None:
    robot = cardan.load({
        "platform": {"freedoms": ["x", "y"], "mass": 1},
        "link": [{}, passive(d=0.3, name="rod"), passive(antecedent=0, d=0.5, name="rocker")],
        "loop": [{"name": "k", "cut": {"antecedent": "rod", "d": 0.45},
                  "twin": {"antecedent": "rocker", "d": 0.4}}],
    })  # fmt: skip
    refused(robot, "no loop holds the passive joints platform_x, platform_y")


def test_a_loop_on_one_link_and_an_active_cut() -> None:
    same = {"name": "knot", "cut": {"antecedent": 1}, "twin": {"antecedent": 1}}
    refused(four_bar_of(same, {}, passive(d=0.3)), "'knot' joins a link to itself")
    driven = {"name": "k", "cut": {"antecedent": 2, "active": True}, "twin": {"antecedent": 0}}
    refused(four_bar_of(driven, {}, passive(d=0.3)), "cut at an active joint")


def test_active_joints_that_do_not_drive() -> None:
    """Two drives on one joint's worth of motion, the other freedom without any."""
    robot = cardan.load({
        "link": [{}, {"antecedent": 0, "d": 0.5}, passive(antecedent=0, d=2), passive(d=0.3),
                 passive(d=0.3), passive(antecedent=1, d=0.3)],
        "loop": [{"name": "k", "cut": {"antecedent": 6, "d": 0.45},
                  "twin": {"antecedent": 2, "d": 0.4}}],
    })  # fmt: skip
    refused(robot, "mobility|do not drive")


@pytest.mark.parametrize("ending", ["par", "xml"])
def test_friction_of_a_cut_joint_is_not_lost_in_silence(ending: str, tmp_path: Path) -> None:
    cut = {"antecedent": 2, "d": 0.45, "FV": 0.2}
    loop = {"name": "k", "cut": cut, "twin": {"antecedent": 3, "d": 0.4}}
    robot = four_bar_of(loop, {}, passive(d=0.3), passive(antecedent=0, d=0.5))
    with pytest.raises(cardan.CardanError, match=r"of loop k: .*friction of a cut joint"):
        robot.save(tmp_path / f"robot.{ending}")
