"""Robots that stand far away in the frame of their base, as map coordinates place them."""

from __future__ import annotations

import numpy as np
import pytest

import cardan
from cardan.describe.bodies import Mass, inertial_values
from cardan.describe.files import read_bytes
from cardan.describe.values.expression import number

LINK = """<link name="{name}"><inertial><origin xyz="{at}"/><mass value="1"/><inertia ixx="{i}"
  iyy="{i}" izz="{k}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="{at}" rpy="{rpy}"/><axis xyz="0 0 1"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>"""
DISTANCES = (1.0, 1e2, 1e4, 5e5, 1e6, 2e6, 5e6)


def urdf(distance: float, i: float, at: str = "0 0 0", second: str = "") -> str:
    """A tilted joint at (D, D, D), and perhaps a second one on it."""
    D = repr(distance)
    text = "<robot name='far'><link name='base'/>" + LINK.format(name="a", at=at, i=i, k=2 * i)
    text += JOINT.format(
        name="j", kind="revolute", parent="base", child="a", at=f"{D} {D} {D}", rpy="0.5 0.3 0"
    )
    if second:
        kind, rpy = second.split(" ", 1)
        text += LINK.format(name="b", at="0.1 0.02 0.03", i=i, k=2 * i)
        text += JOINT.format(name="k", kind=kind, parent="a", child="b", at="0.3 0.1 0", rpy=rpy)
    return text + "</robot>"


@pytest.mark.parametrize("i", [0.01, 0.002, 1e-4])
@pytest.mark.parametrize("distance", DISTANCES)
def test_inertia_about_the_axis(distance: float, i: float) -> None:
    """Izz of a link whose centre of mass is on the axis."""
    robot, faults = read_bytes(urdf(distance, i).encode(), "far.urdf")
    assert robot is not None
    assert not faults
    A = cardan.model(robot, "inertia-matrix").evaluate(q=np.array([0.3]))
    assert np.ravel(A) == pytest.approx([2 * i], rel=1e-12)


@pytest.mark.parametrize(
    "second", ["", "revolute 0.4 0.2 0.1", "revolute 0 0 0.1", "prismatic 0.4 0 0"]
)
@pytest.mark.parametrize("distance", DISTANCES)
def test_against_pinocchio(distance: float, second: str) -> None:
    pin = pytest.importorskip("pinocchio")
    text = urdf(distance, 1e-4, "0.1 0 0.05", second)
    robot, _ = read_bytes(text.encode(), "far.urdf")
    assert robot is not None
    model = pin.buildModelFromXML(text)
    data = model.createData()
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, model.nv))
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    A = cardan.model(robot, "inertia-matrix").evaluate(q=q)
    assert np.atleast_2d(A) == pytest.approx(M, rel=2e-9, abs=2e-9 * np.abs(M).max())
    tau = cardan.model(robot, "inverse-dynamics").evaluate(q=q, qd=qd, qdd=qdd)
    expected = pin.rnea(model, data, q, qd, qdd)
    assert tau == pytest.approx(expected, abs=2e-9 * np.abs(expected).max())


def test_own_inertia_is_not_round_off() -> None:
    """About an origin 1e6 m along z the moment about z is 1e-14 of the others."""
    own = np.diag([1e-3, 1e-3, 2e-3])
    values = inertial_values([Mass(1.0, np.array([0.0, 0.0, 1e6]), own)], 1.0)
    assert number(values["ZZ"]) == pytest.approx(2e-3)
    assert values["XY"] == values["XZ"] == 0


def test_what_doubles_cannot_hold_is_said() -> None:
    """A fixed frame is kept where it is, however far its mass is."""
    text = urdf(1.0, 1e-4, at="2000000 0 0").replace(
        'name="j" type="revolute"', 'name="j" type="fixed"'
    )
    text = text.replace(
        "</robot>",
        LINK.format(name="b", at="0 0 0.1", i=0.1, k=0.1)
        + JOINT.format(name="k", kind="revolute", parent="a", child="b", at="0 0 0", rpy="0 0 0")
        + "</robot>",
    )
    robot, faults = read_bytes(text.encode(), "far.urdf", fixed="keep")
    assert robot is not None
    assert any("the inertia of a is small beside M d^2" in str(fault) for fault in faults)
