"""Surfaces of a URDF: read from every format, placed where the file says, from files that cannot
reach anything."""

from __future__ import annotations

import base64
import importlib.util
import io
import struct
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.web.conftest import Server

import cardan
from cardan.app.web.files.meshes import (
    as_stl,
    capsule,
    cuboid,
    cylinder,
    ellipsoid,
    read_mesh,
    read_surfaces,
    sphere,
)
from cardan.app.web.files.visuals import opened
from cardan.app.web.files.visuals_urdf import attached
from cardan.app.web.server.state import Page
from cardan.app.web.server.store import Shapes, Store
from cardan.describe.files import READABLE, dumps, read_bytes
from cardan.describe.frames import frame
from cardan.describe.urdf.elements import read_elements
from cardan.describe.xml.source import Source
from cardan.loops.numeric import skeleton
from cardan.motion.frames import link_frames

SLOW = 60_000
URDF = """<robot name="arm">
<material name="red"><color rgba="1 0 0 1"/></material>
<link name="base"><visual><geometry><box size="0.2 0.2 0.1"/></geometry></visual></link>
<link name="a"><visual><origin xyz="0.1 0 0" rpy="0 1.5707963267948966 0"/>
 <geometry><mesh filename="package://arm/meshes/A.stl" scale="0.001 0.001 0.002"/></geometry>
 <material name="red"/></visual>
 <inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
</link>
<link name="b"><visual><geometry><mesh filename="meshes/b.obj"/></geometry></visual></link>
<link name="c"><visual><geometry><mesh filename="file:///etc/passwd.stl"/></geometry></visual></link>
<joint name="j1" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
 <origin xyz="0 0 0.3" rpy="0.2 0.1 0.4"/>
 <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="f" type="fixed"><parent link="a"/><child link="b"/>
 <origin xyz="0.4 0 0" rpy="0 0 1"/></joint>
<joint name="j2" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="1 0 0"/>
 <origin xyz="0 0.2 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""
OBJ = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1 4/1\nf -4 -3 -2\n"
DAE = b"""<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema">
<asset><unit meter="0.01"/><up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="s"><float_array id="f" count="12">0 0 0 1 0 0 1 1 0 0 1 0</float_array>
<technique_common><accessor source="#f" count="4" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
<polylist count="1"><input semantic="VERTEX" source="#v" offset="0"/>
<input semantic="NORMAL" source="#s" offset="1"/><vcount>4</vcount><p>0 0 1 0 2 0 3 0</p></polylist>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="x"><node><translate>0 0 5</translate>
<rotate>0 0 1 90</rotate><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
</COLLADA>"""


def pack(files: dict[str, bytes]) -> dict[str, Any]:
    return {"attached": [[name, base64.b64encode(x).decode()] for name, x in files.items()]}


def zipped(files: dict[str, bytes]) -> bytes:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return memory.getvalue()


def silent(text: str) -> None: ...


def test_stl_comes_back() -> None:
    for shape in (cuboid(1, 2, 3), cylinder(0.2, 1.0), sphere(0.3)):
        assert read_mesh("x.STL", as_stl(shape)) == pytest.approx(shape, abs=1e-6)
    text = b"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1e0 0\n"
    assert read_mesh("x.stl", text).tolist() == [[[0, 0, 0], [1, 0, 0], [0, 1, 0]]]


@pytest.mark.parametrize(
    ("shape", "volume"),
    [(cuboid(1, 2, 3), 6), (cylinder(0.5, 2), 0.5 * np.pi), (sphere(1), 4 / 3 * np.pi)],
)
def test_shapes_are_closed_and_face_outwards(shape: Any, volume: float) -> None:
    assert np.linalg.det(shape).sum() / 6 == pytest.approx(volume, rel=0.02)


def test_faces_of_obj_and_collada() -> None:
    assert len(read_mesh("x.obj", OBJ)) == 3
    found = read_mesh("x.dae", DAE)
    assert found[0] == pytest.approx(np.array([[0, 0, 5], [0, 1, 5], [-1, 1, 5]]) / 100)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.stl", b"solid"),
        ("x.stl", struct.pack("<80sI", b"", 10**9)),
        ("x.obj", b"f 1 2 9"),
        ("x.obj", b"v a b c"),
        ("x.dae", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"),
        ("x.dae", b"<a"),
        ("x.glb", b""),
        ("x", b""),
    ],
)
def test_unsound_files_are_refused(name: str, data: bytes) -> None:
    with pytest.raises(cardan.CardanError):
        read_mesh(name, data)


def test_surfaces_move_with_the_links_of_the_file() -> None:
    """Two routes to where a link is: joint by joint as URDF says, and by the robot's frames."""
    robot, _ = read_bytes(URDF.encode(), "arm.urdf")
    assert robot is not None
    elements = read_elements(URDF.encode(), Source("arm.urdf", 0.0))
    carrier, place = attached(robot, elements)
    for q in np.random.default_rng(3).uniform(-1, 1, (5, 2)):
        c, s = np.cos(q[0]), np.sin(q[0])
        move = {"j1": frame(np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]), (0, 0, 0)),
                "j2": frame(np.eye(3), (q[1], 0, 0))}  # fmt: skip
        world = {"base": np.eye(4)}
        for joint in elements.joints:
            T = world[joint.parent] @ joint.placement
            world[joint.child] = T @ move.get(joint.name, np.eye(4))
        frames = link_frames(skeleton(robot), q)
        names = ["", *(link.name for link in robot.links)]
        for link, expected in world.items():
            found = frames[names.index(carrier[link])] @ place[link]
            assert found == pytest.approx(expected, abs=1e-9)


def test_a_zip_with_meshes() -> None:
    box = as_stl(cuboid(100, 100, 100))
    files = {"arm/arm.urdf": URDF.encode(), "arm/meshes/a.stl": box, "arm/meshes/b.obj": OBJ,
             "arm/other/a.stl": b"wrong", "arm/package.xml": b"<package/>"}  # fmt: skip
    found = opened(None, pack({"arm.zip": zipped(files)}), silent)
    assert [mesh[0] for mesh in found["meshes"]] == ["", "a", "a"]
    assert found["meshes"][1][2] == "#ff0000"
    assert found["notes"] == ["passwd.stl is not among the files"]
    again = opened(None, pack({name.rpartition("/")[2]: x for name, x in files.items()
                         if "other" not in name}), silent)  # fmt: skip
    assert again["meshes"] == found["meshes"]
    points = read_mesh("a.stl", base64.b64decode(found["parts"][found["meshes"][1][1]]))
    assert np.ptp(points, axis=(0, 1)).max() < 0.35  # in metres: the scale was taken


@pytest.mark.parametrize("name", ["../../evil.stl", "/etc/evil.stl", "..\\evil.stl", "C:\\x.stl"])
def test_names_in_archives_are_not_paths(tmp_path: Path, name: str, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    found = opened(None, pack({"x.zip": zipped({"arm.urdf": URDF.encode(), name: b"x"})}), silent)
    assert found["robot"]
    assert list(tmp_path.rglob("*")) == []


def test_archives_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    from cardan.app.web.files import uploads

    monkeypatch.setattr(uploads, "_MOST_BYTES", 10_000)
    bomb = zipped({"arm.urdf": URDF.encode(), "big.stl": b"\0" * 1_000_000})
    with pytest.raises(cardan.CardanError, match="more than"):
        opened(None, pack({"bomb.zip": bomb}), silent)
    monkeypatch.setattr(uploads, "_MOST_FILES", 3)
    with pytest.raises(cardan.CardanError, match="at most 3"):
        opened(None, pack({"many.zip": zipped({f"{k}.stl": b"" for k in range(5)})}), silent)
    for data in (b"", b"PK", b"PK\x03\x04" + b"\0" * 40):
        with pytest.raises(cardan.CardanError):
            opened(None, pack({"x.zip": data}), silent)
    with pytest.raises(cardan.CardanError, match="no robot"):
        opened(None, pack({"a.stl": b"", "b.stl": b""}), silent)
    two = {"a.urdf": URDF.encode(), "b.urdf": URDF.encode()}
    assert opened(None, pack(two), silent) == {"several": ["a.urdf", "b.urdf"]}
    assert opened(None, {**pack(two), "choice": "b.urdf"}, silent)["robot"]


def test_all_robots_of_an_archive_are_offered() -> None:
    """Of every format, however deep; settings of programs and parts of robots are none."""
    files = {
        "ws/a/ur5.urdf": URDF, "ws/b/urdf/panda.urdf": URDF, "ws/c/x.sdf": SDF,
        "rx90.par": dumps(cardan.load("rx90"), "par"),
        "ws/d/my.toml": dumps(cardan.load("rx90"), "toml"),
        "ws/pyproject.toml": "[project]\nname = 'links'", "ws/c/package.xml": "<package/>",
        "ws/e/arm.urdf.xacro": XACRO, "ws/e/parts.xacro": PARTS, "__MACOSX/._rx90.par": "",
    }  # fmt: skip
    archive = zipped({name: text.encode() for name, text in files.items()})
    answer = opened(None, pack({"ws.zip": archive}), silent)
    assert answer == {"several": ["rx90.par", "ws/a/ur5.urdf", "ws/c/x.sdf", "ws/d/my.toml",
                                  "ws/e/arm.urdf.xacro", "ws/b/urdf/panda.urdf"]}  # fmt: skip


XACRO = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="arm">
<xacro:include filename="$(find arm)/urdf/parts.xacro"/>
<link name="base"/><xacro:rod length="${2*0.2}"/></robot>"""
PARTS = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:macro name="rod" params="length"><link name="rod"><visual>
<geometry><box size="${length} 0.1 0.1"/></geometry></visual></link>
<joint name="swing" type="continuous"><parent link="base"/><child link="rod"/></joint>
</xacro:macro></robot>"""
SDF = """<sdf version="1.7"><model name="arm"><link name="base"/><link name="rod"/>
<joint name="fix" type="fixed"><parent>world</parent><child>base</child></joint>
<joint name="swing" type="revolute"><parent>base</parent><child>rod</child>
<axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"""


USDA = """#usda 1.0
def Xform "Arm" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] )
{
  def Xform "rod" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
    float physics:mass = 2
    float3 physics:diagonalInertia = (1, 1, 1)
  }
  def PhysicsRevoluteJoint "swing" {
    rel physics:body1 = </Arm/rod>
    uniform token physics:axis = "Z"
  }
}"""


def test_every_format_that_load_reads_can_be_uploaded(tmp_path: Path) -> None:
    texts = {".xacro": XACRO.replace("$(find arm)/urdf/", ""), ".sdf": SDF, ".world": SDF,
             ".urdf": URDF, ".xml": MJCF, ".usda": USDA, ".usd": USDA}  # fmt: skip
    for form in (".toml", ".par"):
        cardan.load("scara").save(tmp_path / f"arm{form}")
        texts[form] = (tmp_path / f"arm{form}").read_text()
    assert {*texts, ".usdc", ".usdz"} == set(READABLE)  # packed ones are opened by path alone
    if importlib.util.find_spec("pxr") is None:
        del texts[".usda"], texts[".usd"]
    (tmp_path / "parts.xacro").write_text(PARTS)
    for form, text in texts.items():
        (tmp_path / f"arm{form}").write_text(text)
        with warnings.catch_warnings(action="ignore", category=cardan.CardanWarning):
            expected = cardan.load(tmp_path / f"arm{form}")
        files = {f"arm{form}": text.encode(), "a/notes.md": b"", "a/parts.xacro": PARTS.encode()}
        answer = opened(None, pack(files), silent)
        robot, _ = read_bytes(answer["robot"].encode(), "robot.toml")
        assert robot is not None
        assert [x.name for x in robot.joints] == [x.name for x in expected.joints], form
    with pytest.raises(cardan.CardanError, match=r"no robot among .*xacro"):
        opened(None, pack({"a.stl": b"", "b.stl": b""}), silent)


def test_a_xacro_package_is_read_and_drawn() -> None:
    files = {"arm/urdf/arm.urdf.xacro": XACRO.encode(), "arm/urdf/parts.xacro": PARTS.encode()}
    answer = opened(None, pack({"arm.zip": zipped(files)}), silent)
    ((link, digest, _),) = answer["meshes"]
    points = read_mesh("x.stl", base64.b64decode(answer["parts"][digest]))
    assert link == "rod"
    assert np.ptp(points, axis=(0, 1)).max() == pytest.approx(0.4)


def test_sdf_is_said_to_be_drawn_without_its_surfaces() -> None:
    answer = opened(None, pack({"arm.sdf": SDF.encode()}), silent)
    assert answer["meshes"] == []
    assert "SDFormat" in answer["notes"][0]


MJCF = """<mujoco model="arm"><compiler angle="radian" meshdir="assets"/>
<default><default class="seen"><geom group="1" type="mesh"/></default>
<mesh scale="0.5 1 1"/></default>
<asset><mesh file="plate.obj" refpos="0.1 0 0"/><material name="red" rgba="1 0 0 1"/></asset>
<worldbody><geom type="plane" size="1 1 1"/><geom name="post" type="cylinder" size="0.1 0.2"/>
<body name="a" pos="0 0.1 0.3" euler="0.2 0.1 0.4">
 <joint name="j1" axis="0 1 0" ref="0.3" pos="0.05 0 0"/>
 <geom name="rod" type="capsule" fromto="0 0 0 0.3 0.1 0" size="0.03" material="red"/>
 <geom type="box" size="1 1 1" group="3"/>
 <body name="f" pos="0.3 0.1 0" quat="0.9 0.1 0.3 0.2">
  <geom name="knob" type="ellipsoid" size="0.1 0.05 0.02" pos="0 0.02 0" rgba="0 1 0 1"/>
  <body name="b" pos="0 0 0.1"><joint name="j2" type="slide" axis="1 0 1"/>
   <joint name="j3" axis="0 0 1"/><geom class="seen" mesh="plate" pos="0 0.2 0" mass="0"/>
   <geom name="held" type="sphere" size="0.05" pos="0.1 0 0"/>
   <body name="c" pos="0.2 0 0"><joint name="j4" axis="1 0 0"/>
    <geom name="tip" type="box" size="0.01 0.02 0.03" euler="0.1 0.2 0.3"/></body>
  </body></body></body></worldbody>
<equality><joint joint1="j4" polycoef="0.4 0 0 0 0"/></equality></mujoco>"""


def test_geoms_of_mjcf_are_where_mujoco_puts_them() -> None:
    mujoco = pytest.importorskip("mujoco")
    oracle = mujoco.MjModel.from_xml_string(
        MJCF.replace('<mesh file="plate.obj" refpos="0.1 0 0"/>', "").replace(
            '<geom class="seen" mesh="plate" pos="0 0.2 0" mass="0"/>', ""
        )
    )
    state = mujoco.MjData(oracle)
    found = opened(None, pack({"arm.xml": MJCF.encode(), "assets/plate.obj": OBJ}), silent)
    assert found["notes"] == []
    robot, _ = read_bytes(found["robot"].encode(), "arm.toml")
    assert robot is not None
    names = ["", *(link.name for link in robot.links)]
    surfaces = [
        (names.index(link), read_mesh("x.stl", base64.b64decode(found["parts"][digest])))
        for link, digest, _ in found["meshes"]
    ]
    assert [colour for _, _, colour in found["meshes"]][1:3] == ["#ff0000", "#00ff00"]
    shown = ("post", "rod", "knob", None, "held", "tip")  # None: the mesh, which has no mass here
    for q in np.random.default_rng(5).uniform(-1, 1, (4, 3)):
        state.qpos[:] = [*q, 0.4]
        mujoco.mj_forward(oracle, state)
        T = link_frames(skeleton(robot), q)
        for (frame_, x), name in zip(surfaces, shown, strict=True):
            if name:
                at = T[frame_][:3, :3] @ x.reshape(-1, 3).mean(axis=0) + T[frame_][:3, 3]
                expected = state.geom_xpos[oracle.geom(name).id]
                assert at == pytest.approx(expected, abs=1e-5), name
    plate = surfaces[3][1].reshape(-1, 3)
    across = np.linalg.norm(plate - plate[0], axis=1).max()
    assert across == pytest.approx(np.hypot(0.5, 1.0), abs=1e-6)  # scaled as the default says


def test_a_scene_that_includes_the_robot_is_passed_over() -> None:
    scene = b'<mujoco><include file="arm.xml"/><worldbody><light/></worldbody></mujoco>'
    files = {"arm/scene.xml": scene, "arm/arm.xml": MJCF.encode(), "arm/assets/plate.obj": OBJ}
    assert len(opened(None, pack({"arm.zip": zipped(files)}), silent)["meshes"]) == 6
    lacking = opened(None, pack({"arm.xml": MJCF.encode()}), silent)
    assert lacking["notes"] == ["plate.obj is not among the files"]


def test_files_that_mjcf_includes_come_with_it() -> None:
    start = MJCF.index('<body name="f"')
    end = MJCF.rindex("</body></worldbody>")
    part = f"<mujocoinclude>{MJCF[start:end]}</mujocoinclude>"
    main = f'{MJCF[:start]}<include file="parts/f.xml"/>{MJCF[end:]}'
    files = {"arm.xml": main.encode(), "parts/f.xml": part.encode(), "assets/plate.obj": OBJ}
    whole = opened(None, pack({"arm.xml": MJCF.encode(), "plate.obj": OBJ}), silent)
    for upload in ({"arm.zip": zipped(files)}, {x.rpartition("/")[2]: files[x] for x in files}):
        found = opened(None, pack(upload), silent)
        assert (found["robot"], found["meshes"]) == (whole["robot"], whole["meshes"])
    with pytest.raises(cardan.CardanError, match=r"f\.xml is not among the files: upload it with"):
        opened(None, pack({"arm.xml": main.encode()}), silent)
    with pytest.raises(cardan.CardanError, match="open the file that includes it"):
        opened(None, pack({"f.xml": part.encode()}), silent)


def test_obj_has_the_colours_of_its_materials() -> None:
    obj = OBJ.replace(b"f 1/1", b"mtllib ./two colours.mtl\nusemtl dark red\nf 1/1", 1)
    obj = obj.replace(b"f -4", b"usemtl nothing\nf -4") + b"usemtl blue\nf 1 2 3\n"
    mtl = b"newmtl dark red\nNs 1\nKd 0.5 0 0\nnewmtl blue\nKd 0 0 1\n"
    found = dict(read_surfaces("x.obj", obj, {"meshes/two colours.mtl": mtl}))
    assert {colour: len(x) for colour, x in found.items()} == {"#7f0000": 2, "": 1, "#0000ff": 1}
    for files in ({}, {"other.mtl": mtl}):
        ((colour, triangles),) = read_surfaces("x.obj", obj, files)
        assert colour == ""
        assert len(triangles) == 4
    with pytest.raises(cardan.CardanError, match="not a sound"):
        read_surfaces("x.obj", obj, {"two colours.mtl": b"newmtl a\nKd a b c\n"})
    urdf = URDF.replace("A.stl", "two.obj")
    upload = {"arm.urdf": urdf.encode(), "two.obj": obj, "b.obj": OBJ, "two colours.mtl": mtl}
    colours = [mesh[2] for mesh in opened(None, pack(upload), silent)["meshes"]]
    assert colours[1:4] == ["#ff0000", "#7f0000", "#0000ff"]  # where it has none: the URDF's


def test_collada_has_its_colours() -> None:
    coloured = DAE.replace(
        b"<library_geometries>",
        b"""<library_effects><effect id="e">
<profile_COMMON><technique><phong><diffuse><color>1 0.5 0 1</color></diffuse></phong></technique>
</profile_COMMON></effect></library_effects><library_materials><material id="m">
<instance_effect url="#e"/></material></library_materials><library_geometries>""",
    )
    coloured = coloured.replace(b'<polylist count="1">', b'<polylist count="1" material="paint">')
    bound = b"""<instance_geometry url="#g"><bind_material><technique_common><instance_material
 symbol="paint" target="#m"/></technique_common></bind_material></instance_geometry>"""
    coloured = coloured.replace(b'<instance_geometry url="#g"/>', bound)
    ((colour, triangles),) = read_surfaces("x.dae", coloured)
    assert colour == "#ff7f00"
    assert triangles == pytest.approx(read_mesh("x.dae", DAE))


@pytest.mark.parametrize("shape", [capsule(0.1, 0.4), ellipsoid(0.1, 0.2, 0.3)])
def test_round_shapes_are_closed(shape: Any) -> None:
    volume = np.linalg.det(shape).sum() / 6
    low, high = shape.min(axis=(0, 1)), shape.max(axis=(0, 1))
    assert 0.5 < volume / np.prod(high - low) < 0.8


@pytest.mark.parametrize("digest", ["../../etc/passwd", "", "0" * 63, "A" * 64, "0" * 64 + "/"])
def test_surfaces_are_named_by_their_content(tmp_path: Path, digest: str) -> None:
    shapes = Shapes(tmp_path)
    assert shapes.path(digest) is None
    with pytest.raises(cardan.CardanError):
        shapes.add(digest, b"x")


def test_surfaces_belong_to_the_robot_they_came_with(tmp_path: Path) -> None:
    project = Store(tmp_path).project("a" * 32)
    page = Page(project, None)  # type: ignore[arg-type]
    robot = cardan.load("planar2r")
    link = robot.links[0].name
    assert page.open(robot, [[link, "0" * 64, "#ffffff"], ["gone", "0" * 64, "#ffffff"]]) == ""
    assert page.surfaces() == [(1, "0" * 64, "#ffffff")]
    assert page.kept_surfaces() == [[link, "0" * 64, "#ffffff"]]
    assert page.lost_surfaces() == 1  # no such file is on the disk: it is said
    assert page.change(replace(robot, name="another name")) == ""
    assert page.surfaces()
    page.undo()
    assert page.surfaces()
    page.undo()  # the robot from before
    assert page.surfaces() == []
    page.redo()
    assert page.surfaces()
    page.undo()
    page.change(replace(page.robot, name="edited"))  # what was undone is gone
    assert page.surfaces() == []
    page.open(robot)
    assert page.surfaces() == []


def test_surfaces_follow_a_link_that_is_renamed(tmp_path: Path) -> None:
    page = Page(Store(tmp_path).project("a" * 32), None)  # type: ignore[arg-type]
    robot = cardan.load("planar2r")
    old = robot.links[0].name
    page.open(robot, [[old, "0" * 64, "#ffffff"]])
    links = (replace(robot.links[0], name="upper"), *robot.links[1:])
    assert page.change(replace(robot, links=links), (old, "upper")) == ""
    assert page.surfaces() == [(1, "0" * 64, "#ffffff")]
    page.undo()
    assert page.surfaces() == [(1, "0" * 64, "#ffffff")]


def test_a_urdf_is_drawn_with_its_meshes(page: Any, server: Server, tmp_path: Path) -> None:
    target = tmp_path / "arm.zip"
    box = as_stl(cuboid(100, 100, 100))
    target.write_bytes(zipped({"arm.urdf": URDF.encode(), "meshes/a.stl": box,
                               "meshes/b.obj": OBJ}))  # fmt: skip
    page.get_by_role("button", name="Robot", exact=True).click()
    page.get_by_text("Open a file").click()
    with page.expect_response(lambda answer: "/surface/" in answer.url, timeout=SLOW) as found:
        page.locator("input[type=file]").first.set_input_files(target)
    assert found.value.ok
    page.get_by_text("Not drawn: passwd.stl").wait_for(timeout=SLOW)
    with page.expect_response(lambda answer: "/surface/" in answer.url, timeout=SLOW):
        page.reload()


def test_nodes_that_are_doubled_again_and_again() -> None:
    """40 levels of two instances each are 2^40 of the last: refused after a bounded walk."""
    from cardan.app.web.files.collada import collada

    nodes = "".join(
        f'<node id="n{k}">' + f'<instance_node url="#n{k + 1}"/>' * 2 + "</node>" for k in range(40)
    )
    scene = '<visual_scene><node><instance_node url="#n0"/></node></visual_scene>'
    text = f'<COLLADA><library_nodes>{nodes}<node id="n40"/></library_nodes>{scene}</COLLADA>'
    with pytest.raises(cardan.CardanError, match="nested too deeply, or repeats"):
        collada(text.encode())
