"""Robots that are written read back as the same robot, or are not written."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.random_robots import random_robot

import cardan
from cardan.describe.files import checked, dumps, load, save
from cardan.describe.read_back import _mechanics, compared
from cardan.describe.robot import Motor, Robot
from cardan.errors import CardanError, CardanWarning, DescriptionError
from cardan.files import write_atomic

ARMS = ("rx90", "ur5", "panda", "cartpole", "stanford", "orthoglide")


def silently(name: str) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load(name)


@pytest.mark.parametrize("name", ARMS)
def test_bundled_robots_come_back(name: str, tmp_path: Path) -> None:
    robot = silently(name)
    for form in ("toml", "par", "urdf", "xml"):
        try:
            dumps(robot, form)
        except CardanError:
            continue  # symbols, loops: the format says so itself
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            save(robot, tmp_path / f"x.{form}")


def test_the_mechanics_are_those_of_the_models() -> None:
    """A and Q link by link, against the recursive models."""
    robot = silently("ur5")
    rng = np.random.default_rng(1)
    A, Q = (cardan.model(robot, name) for name in ("inertia-matrix", "gravity"))
    for _ in range(3):
        q = rng.uniform(-1, 1, robot.n)
        mechanics = _mechanics(robot, q)
        rotors = np.diag([float(joint.IA) for joint in robot.joints if joint.sigma != 2])
        np.testing.assert_allclose(mechanics.A + rotors, A.evaluate(q=q), atol=1e-12)
        np.testing.assert_allclose(mechanics.Q, Q.evaluate(q=q), atol=1e-11)


@pytest.mark.parametrize("form", ["toml", "urdf", "xml"])
@pytest.mark.parametrize("key", ["MX", "YY", "alpha", "d", "FV"])
def test_another_robot_is_seen(form: str, key: str) -> None:
    robot = silently("ur5")
    where = robot.joints if key in ("alpha", "d", "FV") else robot.links
    part = where[2]
    changed = replace(part, **{key: getattr(part, key) + 1e-3})
    listed = tuple(changed if x is part else x for x in where)
    other = replace(robot, **{"joints" if where is robot.joints else "links": listed})
    comparison = compared(robot, other, form)
    assert comparison.wrong or comparison.drives
    assert not compared(robot, robot, form).wrong
    with pytest.raises(DescriptionError, match="what is read back is not the same robot"):
        checked(robot, dumps(other, form), form)


def test_what_a_format_cannot_hold_is_told(tmp_path: Path) -> None:
    with pytest.warns(CardanWarning, match="limits, names cannot be held and are left out"):
        save(silently("ur5"), tmp_path / "x.par")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save(silently("ur5"), tmp_path / "x.toml")


def test_the_body_of_a_fixed_base_moves_nothing() -> None:
    heavy = silently("rx90")
    heavy = replace(heavy, base=replace(heavy.base, link=replace(heavy.base.link, M=5, ZZ=1)))
    with pytest.warns(CardanWarning, match="inertia of the fixed base"):
        checked(heavy, dumps(heavy, "par"), "par")
    floating = replace(heavy, base=replace(heavy.base, kind="floating"))
    assert compared(floating, silently("rx90"), "par").wrong


@pytest.mark.parametrize("seed", range(6))
def test_random_robots_come_back(seed: int) -> None:
    robot = random_robot(seed, 4)
    for form in ("toml", "urdf"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                text = dumps(robot, form)
            except CardanError:
                continue
            checked(robot, text, form)


def test_bytes_that_come_back_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.toml").write_text("before")
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: read(self)[:-1])
    with pytest.raises(CardanError, match="does not read back the same"):
        write_atomic(tmp_path / "x.toml", "after")
    monkeypatch.undo()
    assert (tmp_path / "x.toml").read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["x.toml"]


@pytest.mark.parametrize("form", ["par", "urdf", "xml"])
def test_what_motors_can_do_is_told_to_be_left_out(form: str) -> None:
    robot = load("ur5")
    joints = [replace(x, motor=Motor(rated=50)) for x in robot.joints]
    strong = replace(robot, joints=tuple(joints))
    with pytest.warns(CardanWarning, match="what motors can do"):
        checked(strong, dumps(strong, form), form)
