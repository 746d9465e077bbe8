"""URDF written: read back, and read by Pinocchio, it is the same mechanism."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from mechanics import poses, same_mechanics
from test_urdf import (
    ARM,
    SHARED,
    difference_from_pinocchio,
    every_file,
    needs_files,
    random_tree,
    robot_of,
)
from tests.compare import near

from cardan.describe.robot import Base, Joint, Limits, Link, Loop, Robot
from cardan.describe.urdf.read import read_urdf, write_urdf
from cardan.describe.values.expression import call, symbol
from cardan.errors import DescriptionError
from cardan.exact import exact, pi

DOWN = (0, 0, exact("-9.81"))


def back(robot: Robot, **options) -> Robot:
    return robot_of(write_urdf(robot), **options)


def pendulum(**changes) -> Robot:
    joint = Joint("hinge", 0, alpha=pi / 2, d=exact("0.2"), theta=pi / 3, FV=exact("0.1"))
    link = Link("rod", XX=2, YY=2, ZZ=1, MX=1, M=2)
    return replace(Robot("pendulum", (link,), (joint,), gravity=DOWN), **changes)


@needs_files
@every_file
def test_public_robots_come_back(path):
    for fixed in ("merge", "keep"):
        robot = robot_of(path.read_text(), fixed=fixed)
        again = back(robot, fixed=fixed)
        q = np.random.default_rng(2).uniform(-3, 3, robot.n)
        assert same_mechanics(robot, again, q, q) < 1e-13
        for one, other in zip(robot.joints, again.joints, strict=True):
            assert (one.name, one.sigma, one.limits) == (other.name, other.sigma, other.limits)
            assert (one.FV, one.FS) == (other.FV, other.FS)
        assert write_urdf(robot) == write_urdf(robot)


@pytest.mark.parametrize("seed", range(30))
def test_random_robots_come_back(seed):
    robot = robot_of(random_tree(seed))
    q = np.random.default_rng(seed).uniform(-3, 3, robot.n)
    text = write_urdf(robot)
    assert same_mechanics(robot, robot_of(text), q, q) < 1e-12
    assert difference_from_pinocchio(text, samples=2) < 1e-12


def test_zero_of_the_joint_and_frame_of_a_revolute_stay():
    text = write_urdf(pendulum())
    assert '<axis xyz="0 0 1"/>' in text
    again = robot_of(text)
    assert same_mechanics(pendulum(), again, [0.3], [0.3]) < 1e-15


def test_limits_damping_and_friction():
    limits = Limits(lower=-1, upper=None, velocity=3, effort=None)
    joint = replace(pendulum().joints[0], limits=limits, FS=exact("0.02"))
    again = back(pendulum(joints=(joint,))).joints[0]
    assert again.limits == limits
    assert (exact("0.1"), exact("0.02")) == (again.FV, again.FS)
    assert 'type="continuous"' in write_urdf(pendulum())


def test_names_are_escaped():
    robot = pendulum(links=(replace(pendulum().links[0], name="a<b>&\"c'"),))
    assert back(robot).links[0].name == "a<b>&\"c'"


def test_formulas_without_symbols_are_numbers():
    joint = replace(pendulum().joints[0], d=call("sqrt", 2))
    assert abs(float(back(pendulum(joints=(joint,))).joints[0].d)) == pytest.approx(2**0.5)


def test_gravity_that_points_elsewhere_turns_the_base():
    for gravity in ((0, 0, 10), (0, 10, 0), (3, -4, 5), (0, exact("1e-9"), 1)):
        robot = pendulum(gravity=gravity)
        again = back(robot, fixed="keep")
        assert again.links[0].name == "base"
        R = poses(again, [0.0])[1][:3, :3]
        down = R @ np.array([float(g) for g in gravity])
        near(down / np.linalg.norm(down), [0, 0, -1], absolute=1e-11)


def test_placement_of_the_base_is_kept():
    Z = (0, -1, 0, 5, 1, 0, 0, 6, 0, 0, 1, 7, 0, 0, 0, 1)
    again = back(pendulum(base=Base(Z=Z)), fixed="keep")
    near(poses(again, [0.0])[1].ravel(), np.array(Z), absolute=1e-15)


def test_floating_base_comes_back():
    Z = (1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1)
    base = Base("floating", Z=Z, link=Link("body", XX=1, YY=1, ZZ=1, M=3))
    assert back(pendulum(base=base)).base == base


def test_free_symbols_are_named():
    joint = replace(pendulum().joints[0], d=symbol("L1"))
    with pytest.raises(DescriptionError, match=r"\(L1\).*with_values"):
        write_urdf(pendulum(joints=(joint,)))


ROTOR = replace(pendulum().joints[0], IA=exact("0.3"), elastic=True, active=False)
LOST = {
    "elastic": pendulum(joints=(replace(ROTOR, active=True),)),
    "passive": pendulum(joints=(ROTOR,)),
    "wrench": pendulum(links=(replace(pendulum().links[0], CZ=1),)),
    "loop 'k'": pendulum(loops=(Loop("k", Joint("k", 1), Joint("k+B", 0, sigma=2)),)),
    "motion of the base": pendulum(base=Base("mobile", V0=(1, 0, 0))),
}


@pytest.mark.parametrize(("what", "robot"), LOST.items(), ids=LOST.keys())
def test_what_urdf_cannot_hold_is_refused_or_listed(what, robot):
    with pytest.raises(DescriptionError, match="URDF cannot hold") as error:
        write_urdf(robot)
    assert what in str(error.value)
    assert "drop=True" in str(error.value)
    text = write_urdf(robot, drop=True)
    assert what in text
    assert robot_of(text).n == 1


def test_rotors_come_back_and_gears_are_squared():
    robot = pendulum(joints=(replace(ROTOR, elastic=False, active=True),))
    text = write_urdf(robot)
    assert exact("0.3") == back(robot).joints[0].IA
    geared = text.replace('<drake:gear_ratio value="1"/>', '<drake:gear_ratio value="-50"/>')
    assert exact(750) == robot_of(geared).joints[0].IA
    ungeared = text.replace('      <drake:gear_ratio value="1"/>\n', "")
    assert exact("0.3") == robot_of(ungeared).joints[0].IA
    motor = text[text.index("  <transmission") : text.index("</robot>")]
    assert exact("0.6") == robot_of(text.replace(motor, motor + motor)).joints[0].IA


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('value="0.3"', 'value="-0.3"', r":\d+: <rotor_inertia> -0.3 is negative"),
        ('value="0.3"', 'value="x"', "value of <rotor_inertia> is 'x', not a finite number"),
        ('rotor_inertia value="0.3"', "rotor_inertia", "<rotor_inertia> has no value"),
        ('    <joint name="hinge"/>', '    <joint name="elsewhere"/>', "'elsewhere' is left out"),
        ('    <joint name="hinge"/>', "", "of 0 joints is left out"),
    ],
)
def test_bad_rotors_are_named(old, new, message):
    text = write_urdf(pendulum(joints=(replace(ROTOR, elastic=False, active=True),)))
    _, faults = read_urdf(text.replace(old, new).encode(), "arm.urdf")
    assert re.search(message, "\n".join(map(str, faults)))


def test_base_parameters_have_no_centre_of_mass():
    robot = pendulum(links=(Link("rod", ZZ=1, MX=1),))
    with pytest.raises(DescriptionError, match=r"rod.*physical parameters"):
        write_urdf(robot)


def test_names_must_be_usable():
    two = pendulum(links=(Link("base"),))
    with pytest.raises(DescriptionError, match="two links are called 'base'"):
        write_urdf(two)
    with pytest.raises(DescriptionError, match="printable"):
        write_urdf(pendulum(links=(Link("a\x00"),)))


@needs_files
def test_written_text_is_stable():
    panda = robot_of((SHARED / "robots/urdf/panda.urdf").read_text())
    text = write_urdf(panda)
    assert text.count("<joint ") == 9 + text.count('type="fixed"') == 12
    parts = [re.split(r"(-?\d[\d.e+-]*)", x) for x in (text, write_urdf(robot_of(text)))]
    assert parts[0][::2] == parts[1][::2]
    first, second = (np.array([float(x) for x in part[1::2]]) for part in parts)
    np.testing.assert_allclose(first, second, rtol=1e-12, atol=1e-15)


def test_small_robot_in_full():
    text = write_urdf(robot_of(ARM))
    assert '<robot name="arm">' in text
    assert text.index('name="upper"') < text.index('name="fore"') < text.index("<joint")
