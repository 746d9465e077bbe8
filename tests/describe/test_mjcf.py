"""MJCF against MuJoCo itself: the same inertia matrix and torques at the same coordinates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near

import cardan
from cardan.describe.mjcf.read import read_mjcf
from cardan.describe.mjcf.write import write_mjcf
from cardan.describe.robot import FIXED

ARM = """<mujoco model="arm">
  <compiler angle="degree" eulerseq="zyx"/>
  <option gravity="0.3 -0.2 -9.7"/>
  <default>
    <joint damping="0.1"/>
    <geom density="500"/>
    <default class="strong"><joint armature="0.3" axis="0 1 0"/></default>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="base" pos="0.1 0.2 0.3" euler="10 20 30">
      <inertial pos="0 0 0" mass="3" diaginertia="0.1 0.1 0.1"/>
      <body name="a" pos="0 0 0.2" quat="0.9 0.1 -0.3 0.2" childclass="strong">
        <joint name="j1" axis="0.2 -0.3 1" pos="0.05 0 0.1" range="-90 120"/>
        <inertial pos="0.1 0.05 0.2" axisangle="1 1 0 40" mass="2" diaginertia="0.02 0.03 0.04"/>
        <body name="b" pos="0.3 0 0.1" xyaxes="1 0.2 0 0 1 0.3">
          <joint name="j2" type="slide" ref="0.15" frictionloss="0.2"/>
          <joint name="j3" class="main" axis="1 0 0" ref="25"/>
          <inertial pos="0 0.1 0" mass="1.5" fullinertia="0.03 0.04 0.05 0.001 -0.002 0.003"/>
          <body name="c" pos="0 0.4 0" zaxis="0.3 0.1 1">
            <joint name="j4"/>
            <geom type="capsule" fromto="0 0 0 0.1 0.2 0.3" size="0.04"/>
            <geom type="box" size="0.1 0.05 0.02" pos="0 0.1 0.1" euler="15 0 40" mass="0.7"/>
            <body name="fixed" pos="0.1 0 0">
              <geom type="ellipsoid" size="0.1 0.06 0.03" euler="0 30 0"/>
              <geom type="cylinder" size="0.03 0.1" pos="0 0 0.2" density="2000"/>
              <geom type="sphere" size="0.05" pos="0 0.1 0"/>
            </body>
          </body>
        </body>
        <body name="d" pos="-0.2 0 0"><joint name="j5" axis="0 0 1"/>
          <geom type="sphere" size="0.08" pos="0.2 0 0"/></body>
      </body>
    </body>
  </worldbody>
</mujoco>"""

FLOATING = """<mujoco><worldbody><body name="trunk" pos="0 0 1"><freejoint/>
  <geom type="box" size="0.2 0.1 0.05"/>
  <body name="leg" pos="0.2 0 0"><joint name="hip" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03"/></body>
</body></worldbody></mujoco>"""

FOURBAR = """<mujoco><compiler angle="radian"/><worldbody>
  <body name="crank"><joint name="a" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.02"/>
    <body name="coupler" pos="0 0 0.3"><joint name="b" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.02"/></body></body>
  <body name="rocker" pos="0.5 0 0"><joint name="c" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.02"/></body>
</worldbody>
<equality><connect name="pin" body1="coupler" body2="rocker" anchor="0.5 0 0"/></equality>
<actuator><motor joint="a"/></actuator></mujoco>"""


def robot_of(text: str) -> cardan.Robot:
    robot, faults = read_mjcf(text.encode(), "x.xml")
    assert robot is not None, faults
    return robot


def peer(text: str, robot: cardan.Robot) -> tuple[Any, Any, list[int], list[int]]:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    names = [joint.name for joint in robot.joints if joint.sigma != FIXED]
    place = [int(model.joint(name).qposadr[0]) for name in names]
    speed = [int(model.joint(name).dofadr[0]) for name in names]
    return model, mujoco.MjData(model), place, speed


def test_arm_agrees_with_mujoco(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mujoco = pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log where it is
    robot = robot_of(ARM)
    model, data, place, speed = peer(ARM, robot)
    assert robot.n == 5
    rng = np.random.default_rng(0)
    inverse = cardan.model(robot, "inverse-dynamics")
    inertia = cardan.model(robot, "inertia-matrix")
    for _ in range(5):
        q, qd, qdd = rng.uniform(-1, 1, (3, 5))
        data.qpos[place], data.qvel[speed], data.qacc[speed] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        friction = 0.1 * qd
        signs = np.array([0, 0.2, 0, 0, 0]) * np.sign(qd)
        expected = data.qfrc_inverse[speed]
        found = inverse.evaluate(q=q, qd=qd, qdd=qdd)
        passive = data.qfrc_passive[speed]
        near(passive, -friction, 1e-5, 1e-8, each=True)
        assert found - signs == pytest.approx(expected, rel=1e-9, abs=1e-9)
        full = np.zeros((model.nv, model.nv))
        try:
            mujoco.mj_fullM(model, data, full)
        except TypeError:
            mujoco.mj_fullM(model, full, data.qM)
        assert inertia.evaluate(q=q) == pytest.approx(full[np.ix_(speed, speed)], rel=1e-9)


def test_springs_pull_as_in_mujoco_and_are_written(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    text = ARM.replace('<joint name="j4"/>', '<joint name="j4" stiffness="7" springref="20"/>')
    text = text.replace('ref="0.15"', 'ref="0.15" stiffness="30" springref="0.05"')
    write = tmp_path / "again.xml"
    robot_of(text).save(write)
    for written in (text, write.read_text()):
        robot = robot_of(written)
        model, data, place, speed = peer(written, robot)
        q, still = np.random.default_rng(1).uniform(-1, 1, 5), np.zeros(5)
        data.qpos[place] = q
        mujoco.mj_forward(model, data)
        tau = cardan.model(robot, "inverse-dynamics").evaluate(q=q, qd=still, qdd=still)
        bias, passive = data.qfrc_bias[speed], data.qfrc_passive[speed]
        assert np.abs(passive[[1, 3]]).min() > 0.1
        assert tau == pytest.approx(bias - passive, rel=1e-9, abs=1e-9)


def test_what_is_kept() -> None:
    robot = robot_of(ARM)
    joints = {joint.name: joint for joint in robot.joints}
    assert float(joints["j1"].limits.upper) == pytest.approx(np.radians(120))
    assert float(joints["j1"].IA) == 0.3
    assert joints["j3"].IA == 0
    assert [float(g) for g in robot.gravity] == [0.3, -0.2, -9.7]


def test_floating_base() -> None:
    robot = robot_of(FLOATING)
    assert robot.base.kind == "floating"
    assert robot.n == 1
    assert float(robot.base.link.M) == pytest.approx(1000 * 8 * 0.2 * 0.1 * 0.05)


def test_connect_is_a_loop() -> None:
    robot = robot_of(FOURBAR)
    assert [loop.kind for loop in robot.loops] == ["spherical"]
    assert [joint.active for joint in robot.joints] == [True, False, False]
    W = cardan.model(robot, "loop-kinematics").evaluate(q=np.zeros(3), qd=np.ones(1))[0]
    assert np.asarray(W).ravel() == pytest.approx([-1, 1])  # a parallelogram


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<mujoco><worldbody/></mujoco>", "no body with a joint"),
        ("<robot2/>", "has <mujoco>"),
        ("<mujoco><include file='x'/></mujoco>", "'x' is included: open the main file by its path"),
        (ARM.replace('name="j4"', 'name="j4" type="bell"'), "'bell' is no type of joint"),
        (ARM.replace("0.2 -0.3 1", "0 0 0"), "length 0"),
        (ARM.replace("0.1 0.05 0.2", "0.1 0.05"), "has 2 numbers, not 3"),
        (ARM.replace("0.9 0.1 -0.3 0.2", "0 0 0 0"), "gives no rotation"),
        (ARM.replace('body name="d"', 'body name="c"'), "already defined"),
        (FOURBAR.replace('body2="rocker"', 'body2="nobody"'), "needs body1, body2"),
        ("<mujoco><worldbody>" + "<body>" * 3, "malformed XML"),
    ],
)
def test_faults_are_said(text: str, words: str) -> None:
    robot, faults = read_mjcf(text.encode(), "x.xml")
    assert robot is None
    assert any(words in str(fault) for fault in faults), faults


def test_loaded_by_extension(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    assert cardan.load(str(path)).name == "arm"


@pytest.mark.parametrize("name", ["ur5", "panda", "tree", "cartpole", "iiwa14"])
def test_written_and_read_again(name: str) -> None:
    """The same models, whatever frames the second description has."""
    robot = cardan.load(name)
    again = robot_of(write_mjcf(robot))
    assert [joint.name for joint in again.joints if joint.sigma != FIXED] == [
        joint.name for joint in robot.joints if joint.sigma != FIXED
    ]
    rng = np.random.default_rng(1)
    x = dict(zip(("q", "qd", "qdd"), rng.uniform(-1, 1, (3, robot.n)), strict=True))
    ours, theirs = (cardan.model(r, "inverse-dynamics").evaluate(**x) for r in (robot, again))
    assert theirs == pytest.approx(ours, rel=1e-9, abs=1e-9)


def test_written_for_mujoco(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mujoco = pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    robot = cardan.load("iiwa14")
    model, data, place, speed = peer(write_mjcf(robot), robot)
    q, qd, qdd = np.random.default_rng(2).uniform(-1, 1, (3, 7))
    data.qpos[place], data.qvel[speed], data.qacc[speed] = q, qd, qdd
    mujoco.mj_inverse(model, data)
    bare = cardan.model(robot, "inverse-dynamics", friction=False).evaluate(q=q, qd=qd, qdd=qdd)
    assert data.qfrc_inverse[speed] + data.qfrc_passive[speed] == pytest.approx(bare, rel=1e-8)


def test_loops_are_written() -> None:
    robot = robot_of(FOURBAR)
    again = robot_of(write_mjcf(robot))
    assert [joint.active for joint in again.joints] == [True, False, False]
    assert len(again.loops) == 1


def test_what_mjcf_cannot_hold_is_refused() -> None:
    with pytest.raises(cardan.CardanError, match="MJCF holds numbers only"):
        write_mjcf(cardan.load("rx90"))
    robot = cardan.load("fivebar")
    slide = replace(robot.loops[0], cut=replace(robot.loops[0].cut, sigma=1))
    with pytest.raises(cardan.CardanError, match="cut joint is prismatic"):
        write_mjcf(replace(robot, loops=(slide,)))
