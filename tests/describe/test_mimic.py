"""Couplings of joints in every format: read, checked, written back, refused."""

from __future__ import annotations

from typing import Any

import pytest
from tests.loops.couplings import MADE, coupled_tree

import cardan
from cardan.describe.files import dumps
from cardan.describe.mjcf.read import read_mjcf
from cardan.describe.robot import Coupling, Robot
from cardan.describe.toml.read import read_toml
from cardan.describe.urdf.read import read_urdf

A, B, C = {"name": "a"}, {"name": "b"}, {"name": "c"}


def of(*links: dict[str, Any]) -> dict[str, Any]:
    return {"name": "x", "link": list(links)}


def test_fields() -> None:
    robot = cardan.load(of(A, {**B, "mimic": {"joint": "a", "ratio": "N/2", "offset": "90 deg"}}))
    assert str(robot.joints[1].mimic) == "Coupling(joint=1, ratio=N/2, offset=pi/2)"
    assert not robot.joints[1].active
    assert robot.parameters == ("N",)
    assert robot.with_values({"N": 4}).couplings == {2: Coupling(1, 2, robot.couplings[2].offset)}
    assert robot.constrained
    assert not robot.tree().constrained
    by_number = cardan.load(of(A, {**B, "mimic": {"joint": 1}}))
    by_joint = cardan.load(of({**A, "joint_name": "motor"}, {**B, "mimic": {"joint": "motor"}}))
    assert by_number.couplings == by_joint.couplings == {2: Coupling(1)}


@pytest.mark.parametrize(
    ("links", "words"),
    [
        ([A, {**B, "mimic": {"joint": "aa"}}], "mimics 'aa', which is no joint; did you mean 'a'"),
        ([A, {**B, "mimic": {"joint": 7}}], "mimics joint 7, which does not exist"),
        ([A, {**B, "mimic": {"joint": True}}], "the name or the number"),
        ([A, {**B, "mimic": "a"}], "mimic must be a table"),
        ([A, {**B, "mimic": {"ratio": 2}}], "mimic must be a table"),
        ([A, {**B, "mimic": {"joint": 1, "gear": 2}}], "'gear' is not a field"),
        ([A, {**B, "mimic": {"joint": "b"}}], "mimics itself"),
        ([A, {**B, "mimic": {"joint": "a"}, "active": True}], "has no motor"),
        ([A, {**B, "mimic": {"joint": "a"}, "joint": "fixed"}], "a fixed joint cannot mimic"),
        ([{**A, "joint": "fixed"}, {**B, "mimic": {"joint": "a"}}], "'joint1', which is fixed"),
        ([A, {**B, "mimic": {"joint": "c"}}, {**C, "mimic": {"joint": "b"}}],
         "'joint2' mimics 'joint3' mimics 'joint2': a circle"),
    ],
)  # fmt: skip
def test_faults(links: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(cardan.CardanError, match=words) as error:
        cardan.load(of(*links))
    assert "link b" in str(error.value)


def test_a_fault_has_its_line() -> None:
    text = 'cardan = 1\n[[link]]\n[[link]]\nd = 1\nmimic = { joint = "no" }\n'
    robot, faults = read_toml(text.encode(), "x.toml")
    assert robot is None
    assert [fault.line for fault in faults] == [5]


@pytest.mark.parametrize("name", MADE)
def test_toml_writes_back(name: str) -> None:
    robot = MADE[name]()
    assert read_toml(dumps(robot, "toml").encode(), "x.toml") == (robot, [])


def named(robot: Robot | None) -> dict[str, tuple[str, float, float]]:
    assert robot is not None
    names = [joint.name for joint in robot.joints]
    return {
        names[j - 1]: (names[c.joint - 1], float(c.ratio), float(c.offset))
        for j, c in robot.couplings.items()
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_urdf_writes_back(seed: int) -> None:
    from dataclasses import replace

    robot = coupled_tree(seed)
    links = tuple(replace(k, FX=0, FY=0, FZ=0, CX=0, CY=0, CZ=0) for k in robot.links)
    robot = replace(robot, links=links)
    again, faults = read_urdf(dumps(robot, "urdf").encode(), "x.urdf", mimic=True)
    assert not faults
    assert named(again) == named(robot)


def test_what_cannot_be_written() -> None:
    with pytest.raises(cardan.CardanError, match=r"\.par file has no coupled joints"):
        dumps(MADE["geared"](), "par")
    with pytest.raises(cardan.CardanError, match=r"free symbols \(.*N"):
        dumps(MADE["symbols"](), "urdf")


MJCF = """<mujoco><compiler angle="radian"/><worldbody><body name="hand"><joint name="turn"/>
<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
<body name="l"><joint name="left" type="slide" ref="0.25"/>
<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
<body name="r"><joint name="right" type="slide" ref="0.5"/>
<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
</body></worldbody><equality>{}</equality><actuator>{}</actuator></mujoco>"""
BOTH = '<joint joint1="right" joint2="left" polycoef="0.125 2 0 0 0"/>'


@pytest.mark.parametrize(
    ("equality", "motors", "couplings", "words"),
    [
        (BOTH, "", {"right": ("left", 2, 0.125)}, ""),
        (BOTH.replace(" 2 0 0 0", ""), "", {"right": ("left", 1, 0.375)}, ""),  # 0 1 0 0 0 else
        (BOTH, "right", {"left": ("right", 0.5, -0.0625)}, ""),
        (BOTH, "right left", {"left": ("right", 0.5, -0.0625)}, "actuator of joint 'left'"),
        (BOTH.replace("0 0 0", "0 1 0"), "", {}, "higher order"),
        (BOTH.replace(" 2 ", " 0 "), "", {}, ""),  # held
        (BOTH.replace("<joint", '<joint active="false"'), "", {}, ""),
        (BOTH + BOTH, "", {"right": ("left", 2, 0.125)}, "tied already"),
        (BOTH.replace('"left"', '"wrong"'), "", None, "another joint of this file"),
        (BOTH.replace('"right"', '"wrong"'), "", None, "no joint of this file"),
    ],
)
def test_mjcf(equality: str, motors: str, couplings: Any, words: str) -> None:
    driven = "".join(f'<motor joint="{name}"/>' for name in motors.split())
    robot, faults = read_mjcf(MJCF.format(equality, driven).encode(), "x.xml")
    assert words in "\n".join(map(str, faults))
    assert bool(faults) == bool(words)
    if couplings is None:
        assert robot is None
    else:
        assert named(robot) == couplings


def test_floats_and_a_ratio_of_zero() -> None:
    """Given in Python: a joint that is held at its offset."""
    from dataclasses import replace

    robot = cardan.load("planar2r")
    held = replace(robot.joints[1], active=False, mimic=Coupling(1, 0, 0.2))
    robot = replace(robot, joints=(robot.joints[0], held))
    assert "0.2" in repr(robot)
    robot = robot.with_values(dict.fromkeys(robot.parameters, 0.5))
    assert cardan.model(robot, "loop-geometry").solve([1.0]).tolist() == [[1.0, 0.2]]
    program = cardan.model(robot, "direct-dynamics")
    assert program.outputs == {"qdd": (1,)}
    assert "q2 = 0.2" in program.emit("c")


def test_tables_show_it() -> None:
    text = repr(MADE["geared"]())
    assert "2 couplings" in text
    assert "-2.5*q1 + pi/18" in text


def test_legs_have_their_own() -> None:
    """A joint of a leg mimics one of the same copy, or one outside."""
    robot = cardan.load({
        "name": "hand", "link": [{"name": "palm"}],
        "leg": [{"name": "finger", "copies": 2, "link": [
            {"name": "near", "antecedent": "palm", "joint_name": "knuckle"},
            {"name": "far", "d": 0.1, "mimic": {"joint": "near", "ratio": 0.5}},
            {"name": "tip", "d": 0.1, "mimic": {"joint": "knuckle"}},
            {"name": "nail", "d": 0.1, "mimic": {"joint": "palm"}},
        ]}],
    })  # fmt: skip
    names = {j: c.joint for j, c in robot.couplings.items()}
    assert names == {3: 2, 4: 2, 5: 1, 7: 6, 8: 6, 9: 1}
