"""Robots made or changed in Python are held to the same rules as files; nothing is silent."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cardan
from cardan.errors import (
    CardanWarning,
    DescriptionError,
    InputError,
    ModelError,
    UnknownNameError,
)  # fmt: skip

URDF = """<robot name="arm"><link name="world"/>
<link name="arm"><inertial><mass value="2"/><origin xyz="0.1 0 0"/>
<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="tool"/>
<joint name="turn" type="revolute"><parent link="world"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/>
<dynamics damping="0.3" friction="0.2"/></joint>
<joint name="flange" type="fixed"><parent link="arm"/><child link="tool"/>
<origin xyz="0.3 0 0.05" rpy="0 0.5 0"/></joint></robot>"""


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    return path


def test_a_negative_mass_is_refused_however_it_comes() -> None:
    with pytest.raises(DescriptionError, match="negative"):
        cardan.load("rx90").with_values({"M3": -4})
    robot = cardan.load("ur5")
    heavy = replace(robot, links=(replace(robot.links[0], M=-1), *robot.links[1:]))
    with pytest.raises(DescriptionError, match="negative"):
        cardan.model(heavy, "gravity")


@pytest.mark.parametrize(
    "change",
    [
        lambda r: replace(r, links=r.links[:3]),
        lambda r: replace(r, base=replace(r.base, kind="flying")),
        lambda r: replace(r, links=(replace(r.links[0], M=float("nan")), *r.links[1:])),
    ],
)
def test_an_impossible_robot_is_refused(change: object) -> None:
    with pytest.raises(DescriptionError):
        cardan.model(change(cardan.load("ur5")), "gravity")  # type: ignore[operator]


def test_wrong_arguments_are_named() -> None:
    robot = cardan.load("ur5")
    with pytest.raises(InputError, match="takes a Robot"):
        cardan.model("ur5", "gravity")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"frame 3\.5"):
        cardan.model(robot, "transform", frame=3.5)
    with pytest.raises(UnknownNameError, match="no frame 'tool0'"):
        cardan.model(robot, "transform", frame="tool0")
    with pytest.raises(InputError, match="by name"):
        cardan.model(robot, "gravity").compile()(np.zeros(6))


def test_fixed_frames_of_a_urdf_are_kept_on_request(urdf: Path) -> None:
    assert [link.name for link in cardan.load(urdf).links] == ["arm"]
    robot = cardan.load(urdf, fixed="keep")
    T = cardan.model(robot, "transform", frame="tool").evaluate(q=[0.0])
    c, s = np.cos(0.5), np.sin(0.5)
    expected = [[c, 0, s, 0.3], [0, 1, 0, 0], [-s, 0, c, 0.05], [0, 0, 0, 1]]
    np.testing.assert_allclose(T, expected, atol=1e-12)
    with pytest.raises(UnknownNameError, match="merge"):
        cardan.load(urdf, fixed="drop")


def test_friction_can_be_left_out(urdf: Path) -> None:
    robot = cardan.load(urdf)
    x = {"q": [0.2], "qd": [0.5], "qdd": [0.0]}
    with_it = cardan.model(robot, "inverse-dynamics").evaluate(**x)
    without = cardan.model(robot, "inverse-dynamics", friction=False).evaluate(**x)
    np.testing.assert_allclose(with_it - without, [0.3 * 0.5 + 0.2], atol=1e-12)


def test_warnings_are_issued() -> None:
    with pytest.warns(CardanWarning, match="inertia"):
        cardan.load("puma560-numeric")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cardan.load("ur5")


def test_columns_of_a_regressor_are_the_base_parameters() -> None:
    robot = cardan.load("ur5")
    base = cardan.model(robot, "base-parameters")
    program = cardan.model(robot, "regressor", base_parameters=True)
    inertial = [name for name in program.columns if name[:2] not in ("FV", "FS")]
    assert inertial == list(base.names)
    rng = np.random.default_rng(0)
    x = dict(zip(("q", "qd", "qdd"), rng.normal(size=(3, 6)), strict=True))
    K = [float(base.values.get(name, 0)) for name in program.columns]  # the UR5 has no friction
    tau = cardan.model(robot, "inverse-dynamics").evaluate(**x)
    np.testing.assert_allclose(program.evaluate(**x) @ K, tau, rtol=1e-10, atol=1e-10)
    assert cardan.Program.from_json(program.to_json()).columns == program.columns
