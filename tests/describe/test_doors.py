"""Other ways to a robot: DH tables, the package robot_descriptions, formats that are not read."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import cardan
from cardan.describe.mjcf.meshes import solid
from cardan.describe.surfaces import read_obj
from cardan.errors import DescriptionError, MissingExtraError, UnknownNameError

URDF = """<robot name="arm"><link name="base"/><link name="tip"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><joint name="j"
type="continuous"><parent link="base"/><child link="tip"/></joint></robot>"""


def test_a_table_is_loaded_by_its_convention(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("theta,d,a,alpha,M\nq1,0,L1,90 deg,2\nq2,0.1,0.4,0,1\n")
    rows = [
        {"theta": "q1", "a": "L1", "alpha": "90 deg", "M": 2},
        {"theta": "q2", "d": 0.1, "a": 0.4, "M": 1},
    ]
    robot = cardan.load(path, convention="standard")
    again = cardan.from_dh(rows, "standard", name="two", source=str(path))
    assert robot.joints == again.joints
    assert robot.links == again.links
    with pytest.raises(DescriptionError, match=r'convention="standard"'):
        cardan.load(path)
    with pytest.raises(UnknownNameError, match="craig"):
        cardan.load(path, convention="crag")
    with pytest.raises(DescriptionError, match="check the path"):
        cardan.load(tmp_path / "none.csv", convention="craig")


def test_robots_of_robot_descriptions(tmp_path, monkeypatch):
    package = tmp_path / "robot_descriptions"
    package.mkdir()
    (tmp_path / "arm.urdf").write_text(URDF)
    (package / "__init__.py").write_text("")
    (package / "_own_description.py").write_text("raise SystemExit")
    (package / "arm_description.py").write_text(f"URDF_PATH = {str(tmp_path / 'arm.urdf')!r}")
    macros = f"XACRO_PATH = {str(tmp_path / 'arm.xacro')!r}; XACRO_ARGS = {{'unused': '1'}}"
    (tmp_path / "arm.xacro").write_text(URDF)
    (package / "old_description.py").write_text(macros)
    (package / "far_description.py").write_text("raise RuntimeError('no network')")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    assert cardan.load("robot_descriptions:arm_description").name == "arm"
    assert cardan.load("robot_descriptions:old_description").name == "arm"
    with pytest.raises(DescriptionError, match="no network"):
        cardan.load("robot_descriptions:far_description")
    for name in ("arm", "_own_description", "../arm_description", "os"):
        with pytest.raises(UnknownNameError, match="arm_description"):
            cardan.load(f"robot_descriptions:{name}")


def test_robot_descriptions_is_not_there(monkeypatch):
    monkeypatch.setattr("cardan.describe.files.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="pip install robot_descriptions"):
        cardan.load("robot_descriptions:panda_description")


@pytest.mark.parametrize("corners", [5, 9, 40, 100, 101])
def test_faces_of_many_corners_weigh_as_in_mujoco(tmp_path, corners):
    """A star-shaped prism beside the origin, and a second object that does not count."""
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(corners)
    angle = 2 * np.pi * np.arange(corners) / corners
    ring = (1 + 0.3 * rng.uniform(-1, 1, corners))[:, None] * np.column_stack(
        (np.cos(angle), np.sin(angle))
    )
    x = np.vstack([np.column_stack((ring + 0.4, np.full(corners, z))) for z in (0.2, 1.1)])
    n = corners
    faces = [list(range(n - 1, -1, -1)), list(range(n, 2 * n))]
    faces += [[k, (k + 1) % n, n + (k + 1) % n, n + k] for k in range(n)]
    lines = [f"v {' '.join(f'{value:.9g}' for value in point)}" for point in x]
    lines += ["o first", *(f"f {' '.join(str(k + 1) for k in face)}" for face in faces)]
    lines += ["o second", "f 1 2 3"]
    path = tmp_path / f"prism{corners}.obj"
    path.write_text("\n".join(lines))
    text = f"""<mujoco><asset><mesh name="m" file="{path}" inertia="shell"/></asset><worldbody>
    <body><freejoint/><geom type="mesh" mesh="m" density="1"/></body></worldbody></mujoco>"""
    points, triangles, _ = read_obj(path.read_bytes(), first=True)
    ours = solid(points, np.concatenate(list(triangles.values())), "shell")
    mass = mujoco.MjModel.from_xml_string(text).body_mass[1]
    assert ours.volume == pytest.approx(mass, rel=1e-9)
