"""Scenes of MJCF: one robot of several, props, bodies that fly, ball joints, files elsewhere."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.describe.mujoco_peer import difference, full_matrix
from typer.testing import CliRunner

import cardan
from cardan.app.cli.main import app
from cardan.describe.files import read, read_bytes
from cardan.describe.mjcf.read import read_mjcf
from cardan.errors import DescriptionError

mujoco = pytest.importorskip("mujoco")

ARM = """<body name="arm" pos="0 0 1"><joint name="a" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/>
<body name="hand" pos=".4 0 0"><joint name="b" axis="1 1 0"/><geom size=".05" pos="0 .1 0"/></body>
</body>"""
BOX = """<body name="{0}" pos="1 0 0"><freejoint/><geom type="box" size=".1 .2 .3"/>
<site name="{0}_site"/></body>"""
DOG = """<body name="dog"><freejoint/><geom type="box" size=".3 .2 .1" pos=".1 0 0"/><body
name="leg" pos=".2 .1 0"><joint name="hip" axis="0 1 0"/><geom
size=".05" pos="0 0 -.3"/></body></body>"""
ROD = """<mujoco><worldbody><body name="crank"><joint name="crank" axis="0 1 0"/><geom size=".05"
pos=".2 0 0"/><body name="rod" pos=".3 0 0"><joint name="ball" type="ball" pos=".02 0 .01"/>
<geom type="capsule" size=".02" fromto="0 0 0 .1 .3 .4"/></body></body></worldbody>{0}</mujoco>"""


def scene(*parts: str, outside: str = "") -> bytes:
    text = f"<mujoco><worldbody>{''.join(parts)}</worldbody>{outside}</mujoco>"
    return text.encode()


def robot_of(data: bytes, **options: str) -> cardan.Robot:
    robot, faults = read_mjcf(data, "scene.xml", **options)
    assert robot is not None, faults
    return robot


def model_of(data: bytes):
    return mujoco.MjModel.from_xml_string(data.decode())


@pytest.mark.parametrize("order", [(ARM, BOX.format("box")), (BOX.format("box"), ARM)])
def test_props_are_left_out_with_a_line(order):
    weld = '<equality><weld name="grip" body1="hand" body2="box"/></equality>'
    data = scene(*order, outside=weld)
    robot, faults = read_mjcf(data, "scene.xml")
    assert robot is not None
    assert robot.base.kind == "fixed"
    assert [joint.name for joint in robot.joints] == ["a", "b"]
    assert not robot.loops
    said = " ".join(fault.message for fault in faults)
    assert "free bodies beside the robot are left out" in said
    assert "box" in said
    assert "grip" in said
    assert difference(robot, model_of(scene(*order)), states=2) <= 1e-12


def test_of_several_robots_one_is_named():
    data = scene(ARM, DOG, BOX.format("box"))
    robot, faults = read_mjcf(data, "scene.xml")
    assert robot is None
    assert "2 robots, world (2 joints), dog (floating, 1 joint)" in faults[0].message
    assert "body='world'" in faults[0].message
    dog, arm = robot_of(data, body="dog"), robot_of(data, body="arm")
    assert (dog.base.kind, dog.n, arm.base.kind, arm.n) == ("floating", 1, "fixed", 2)
    assert robot_of(data, body="world").n == 2
    for one in (dog, arm):
        assert difference(one, model_of(data), states=2) <= 1e-12
    box = robot_of(data, body="box")
    assert (box.n, box.base.kind, box.base.link.name) == (0, "floating", "box")


def test_arms_on_one_world_are_read_apart():
    second = ARM.replace('"arm"', '"arm2"').replace('"hand"', '"hand2"')
    data = scene(ARM, second.replace('"a"', '"a2"').replace('"b"', '"b2"'))
    assert robot_of(data).n == 4
    assert [joint.name for joint in robot_of(data, body="arm2").joints] == ["a2", "b2"]


def test_unknown_body_and_other_formats():
    _, faults = read_mjcf(scene(ARM, DOG), "scene.xml", body="cat")
    assert "no body 'cat' under the world moves: there are world (2 joints), dog" in str(faults[0])
    _, faults = read_bytes(b"<robot name='a'/>", "a.urdf", body="cat")
    assert "MJCF" in faults[0].message


def test_total_mass_counts_what_is_left_out():
    box = BOX.format("box")
    data = scene(ARM, box, outside='<compiler settotalmass="7"/>')
    assert difference(robot_of(data), model_of(data), states=2) <= 1e-12


def test_a_body_that_flies_is_a_robot():
    data = scene(BOX.format("drone"))
    robot = robot_of(data)
    assert robot.n == 0
    assert difference(robot, model_of(data), states=2) <= 1e-12
    assert np.shape(cardan.model(robot, "inertia-matrix").evaluate(q=[])) == (6, 6)
    fall = cardan.model(robot, "direct-dynamics")
    g0 = [0, 0, -9.81]
    result = fall.evaluate(q=[], qd=[], tau=[], V0=np.zeros(6), g0=g0)
    assert np.allclose(result[list(fall.outputs).index("V0d")][:3], g0)
    for name in ("inverse-dynamics-derivatives", "direct-dynamics-derivatives"):
        with pytest.raises(cardan.ModelError, match="no joint"):
            cardan.model(robot, name)


@pytest.mark.parametrize("name", ["three axes", "along the rod"])
def test_ball_joints_are_three_hinges(name):
    hold = '<equality><connect name="end" body1="rod" anchor=".1 .3 .4"/></equality>'
    data = ROD.format("" if name == "three axes" else hold).encode()
    robot = robot_of(data)
    assert [joint.name for joint in robot.joints] == ["crank", "ball_1", "ball_2", "ball_3"]
    assert difference(robot, model_of(data), states=3) <= 1e-12


def test_what_resists_the_turns_of_ball_joints_resists_those_of_hinges():
    data = ROD.format('<default><joint armature=".1" frictionloss=".2"/></default>').encode()
    robot, faults = read_mjcf(data, "rod.xml")
    assert any("friction of ball joints are taken as those of three" in str(x) for x in faults)
    assert [float(joint.FS) for joint in robot.joints] == [0.2] * 4
    model = model_of(data)
    peer = mujoco.MjData(model)
    peer.qpos[:] = 0.3, 1, 0, 0, 0
    mujoco.mj_forward(model, peer)
    A = cardan.model(robot, "inertia-matrix", effort="plain").evaluate(q=[0.3, 0, 0, 0])
    assert np.allclose(A, full_matrix(model, peer), rtol=0, atol=1e-14)


def test_the_armature_of_a_free_joint_is_left_out_with_a_line():
    data = scene(BOX.format("box")).replace(b"<freejoint/>", b'<joint type="free" armature="2"/>')
    robot, faults = read_mjcf(data, "scene.xml", body="box")
    assert robot is not None
    assert any("the armature of a free joint is left out" in str(fault) for fault in faults)
    assert robot.base.link.M == robot_of(scene(BOX.format("box"))).base.link.M


def test_bodies_without_a_name_are_numbered():
    data = scene(BOX.format("one"), BOX.format("two")).replace(b'<body name="one"', b"<body")
    _, faults = read_mjcf(data.replace(b'<body name="two"', b"<body"), "scene.xml")
    assert "#1 (floating, 0 joints), #2 (floating" in str(faults[0])
    second, _ = read_mjcf(data.replace(b'<body name="two"', b"<body"), "scene.xml", body="#2")
    assert second is not None


def test_of_several_robots_the_largest_is_the_example():
    pole = '<body name="pole"><joint/><geom size=".1"/></body>'
    legs = DOG.replace("</body></body>", "</body>") + ARM.replace("arm", "arm2") + "</body>"
    _, faults = read_mjcf(scene(pole, legs), "scene.xml")
    assert "--body dog" in str(faults[0])


def test_files_elsewhere_are_read_when_trusted(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "scenes").mkdir()
    part = f"<mujocoinclude>{ARM}</mujocoinclude>"
    (tmp_path / "parts/arm.xml").write_text(part)
    main = tmp_path / "scenes/main.xml"
    main.write_bytes(scene('<include file="../parts/arm.xml"/>'))
    with pytest.raises(DescriptionError, match="trust_includes=True"):
        cardan.load(main)
    assert cardan.load(main, trust_includes=True).n == 2
    main.write_bytes(scene(f'<include file="{tmp_path}/parts/arm.xml"/>'))
    assert read(main)[0] is None
    assert cardan.load(main, trust_includes=True).n == 2
    main.write_bytes(scene('<include file="../parts/none.xml"/>'))
    with pytest.raises(DescriptionError, match="no file"):
        cardan.load(main, trust_includes=True)


def test_the_command_line_reads_scenes(tmp_path):
    from typer.testing import CliRunner

    from cardan.app.cli.main import app

    path = tmp_path / "scene.xml"
    path.write_bytes(scene(ARM, DOG))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        listed = CliRunner().invoke(app, ["check", str(path)])
        one = CliRunner().invoke(app, ["show", str(path), "--body", "dog"])
    assert listed.exit_code == 1
    assert "dog (floating, 1 joint)" in " ".join(listed.output.split())
    assert one.exit_code == 0
    assert "1 joint variable" in one.output


def test_show_lists_what_is_in_a_scene(tmp_path):
    key = '<keyframe><key name="home" qpos="0 0 0 0"/></keyframe>'
    wall = '<body name="wall"><geom size="1"/></body>'
    path = tmp_path / "scene.xml"
    path.write_bytes(scene(ARM, BOX.format("box"), wall, DOG, outside=key))
    answer = CliRunner().invoke(app, ["show", str(path)])
    assert answer.exit_code == 0, answer.output
    rows = [line.split(maxsplit=2) for line in answer.output.splitlines() if line]
    listed = {(row[0], row[1]): row[2].strip() for row in rows if len(row) == 3}
    assert listed["robot", "world"] == "on the world, 2 joints, 2 bodies"
    assert listed["robot", "dog"] == "floating, 1 joint, 2 bodies"
    assert listed["prop", "box"] == "floating, 1 body"
    assert listed["scenery", "wall"] == "stands still"
    assert listed["keyframe", "home"] == "4 positions"
    assert "--body NAME" in answer.output
    path.write_bytes(scene(ARM, BOX.format("box")))
    answer = CliRunner().invoke(app, ["show", str(path)])
    assert answer.exit_code == 0
    assert "prop" in answer.output
    assert "Geometry" in answer.output
