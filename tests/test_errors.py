"""What is said to a user: the noun before its name, and the joint or robot at fault."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cardan
from cardan.describe.robot import Link, Robot
from cardan.errors import (
    ACTIONS,
    DescriptionError,
    Fault,
    InputError,
    MissingExtraError,
    UnknownNameError,
)
from cardan.motion.torques import torques
from cardan.package import write_package


def test_the_name_stands_behind_its_noun() -> None:
    said = str(UnknownNameError.of("option of 'gravity'", "--frame", ["--effort"]))
    assert said.startswith("there is no option '--frame' of 'gravity'. Allowed: --effort")
    said = str(UnknownNameError.of("key in [fit]", "weight", ["weights"]))
    assert said == "there is no key 'weight' in [fit]; did you mean 'weights'? Allowed: weights"
    assert (
        str(UnknownNameError.of("robot", "x", [])) == "there is no robot 'x'. There is none at all"
    )


def test_a_value_of_no_name_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(UnknownNameError, match=r"no parameter 'foo' of robot 'Universal.*M1, "):
        cardan.load("ur5").with_values({"foo": 1})
    with pytest.raises(UnknownNameError, match="no parameter 'foo' of robot 'RX90'"):
        cardan.load("rx90").with_values({"foo": 1})
    with pytest.raises(UnknownNameError, match="did you mean 'M3'"):
        cardan.load("ur5").with_values({"m3": 1})


def empty_from(robot: Robot, j: int) -> Robot:
    """The links from j on have no body, and no joint has a rotor."""
    links = [Link(link.name) if k >= j else link for k, link in enumerate(robot.links, 1)]
    joints = tuple(replace(joint, IA=0) for joint in robot.joints)
    return replace(robot, links=tuple(links), joints=joints)


@pytest.mark.parametrize("j", [2, 4, 6])
@pytest.mark.parametrize("method", ["recursive", "inertia-matrix"])
def test_the_first_joint_without_inertia_is_named(j: int, method: str) -> None:
    robot = empty_from(cardan.load("ur5"), j)
    with pytest.raises(cardan.CardanError, match=rf"joint {j} \('joint{j}'\) moves no inertia"):
        cardan.model(robot, "direct-dynamics", method=method)
    A = cardan.model(robot, "inertia-matrix").evaluate(q=np.ones(6))
    assert not A[j - 1 :].any()
    assert np.linalg.matrix_rank(A) == j - 1


def test_a_joint_that_moves_what_another_moves_is_named() -> None:
    """Two joints on one axis, and nothing between them: the torque of the first has no effect."""
    robot = cardan.load("planar2r").with_values(
        dict.fromkeys(cardan.load("planar2r").parameters, 1)
    )
    robot = empty_from(robot, 3)
    first = replace(robot.links[0], **dict.fromkeys(("ZZ", "XX", "YY", "M", "MX", "MY"), 0))
    joint = replace(robot.joints[1], d=0)
    robot = replace(robot, links=(first, robot.links[1]), joints=(robot.joints[0], joint))
    with pytest.raises(cardan.CardanError, match="joint 1 "):
        cardan.model(robot, "direct-dynamics", method="recursive")


def test_no_unit_of_closed_loops_that_bend(tmp_path: Path) -> None:
    robot = cardan.load("prrrp")
    with pytest.raises(cardan.CardanError, match=r"no FMU of .* closed loops.*cardan.simulate"):
        write_package(robot, "direct-dynamics", "fmu", tmp_path / "x")


def two_links(**values: object) -> dict[str, object]:
    first = {"joint": "revolute", "ZZ": 0.1, "M": 1, "MX": 0.1}
    second = {"joint": "revolute", "ZZ": 0.1, "M": 1, "MX": 0.1, "d": 0.5, "alpha": 0.3} | values
    return {"cardan": 1, "name": "x", "gravity": [0, 0, -9.81], "link": [first, second]}


@pytest.mark.parametrize(
    ("key", "value", "model"),
    [
        ("d", 1e155, "inverse-dynamics"),
        ("d", 5e-324, "inverse-dynamics"),
        ("d", 1e200, "regressor"),
        ("M", 1.7e308, "direct-dynamics"),
        ("ZZ", 1e-310, "direct-dynamics"),
        ("ZZ", 1e300, "direct-dynamics"),
    ],
)
def test_values_that_cannot_be_computed_with_are_named(key: str, value: float, model: str) -> None:
    """Products of such values leave the range of numbers: the value is at fault, not Cardan."""
    with pytest.raises(cardan.CardanError, match=rf"extreme values: {key} = .* of link2") as caught:
        cardan.model(cardan.load(two_links(**{key: value})), model).emit("c")
    assert "report" not in str(caught.value)


def test_the_remedy_is_data_that_a_face_says_in_its_own_words(tmp_path: Path) -> None:
    """No face looks into the text of a message: what helps is named by its action."""
    words = {"values": "type numbers into the table", "drop": ""}
    with pytest.raises(cardan.CardanError) as caught:
        torques(cardan.load("planar2r"), np.zeros(2))
    error = caught.value
    assert (error.action, error.where) == ("values", "")
    assert str(error) == f"{error.what}; {error.remedy}"
    assert error.told(words) == f"{error.what}; type numbers into the table"
    with pytest.raises(cardan.CardanError, match=r"holds numbers only; .*with_values") as caught:
        cardan.load("rx90").save(tmp_path / "x.urdf")
    assert "with_values" not in caught.value.told(words)
    with pytest.raises(cardan.CardanError, match=r"drop=True") as caught:
        cardan.load("fivebar").save(tmp_path / "x.urdf")
    assert "drop=True" not in caught.value.told(words)
    assert "URDF cannot hold this" in caught.value.told(words)


@pytest.mark.parametrize(
    "error",
    [
        InputError("q has 5 values", where="q", remedy="give 6", action="values"),
        UnknownNameError.of("robot", "rx9", ["rx90"]),
        DescriptionError(
            [Fault("bad", "x.toml", 3), Fault("worse", remedy="mend it")], action="drop"
        ),
        MissingExtraError.of("lxml", "urdf", "URDF"),
    ],
)
def test_errors_pass_between_processes_whole(error: cardan.CardanError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(again) is type(error)
    assert str(again) == str(error)
    for key in ("what", "where", "remedy", "action"):
        assert getattr(again, key) == getattr(error, key)


def test_the_place_of_the_first_fault_is_that_of_the_error() -> None:
    error = DescriptionError([Fault("bad", "x.toml", 3), Fault("worse", "x.toml", 9)])
    assert error.where == "x.toml:3"
    assert str(error) == "x.toml:3: bad\nx.toml:9: worse"
    assert str(InputError("is 5", where="q")) == "q: is 5"
    assert str(InputError("q is 5", where="q")) == "q is 5"


def test_inputs_that_do_not_fit_are_named_as_data() -> None:
    function = cardan.model(cardan.load("ur5"), "gravity").compile()
    with pytest.raises(
        InputError, match=r"^input 'q' has shape \(5,\); expected \(..., 6\)$"
    ) as wrong:
        function(q=np.zeros(5))
    assert (wrong.value.where, wrong.value.remedy) == ("input 'q'", "expected (..., 6)")


def test_every_action_has_a_name_and_the_faces_know_it() -> None:
    from cardan.app import web
    from cardan.app.cli.output import WORDS

    source = Path(cardan.__file__).parent
    texts = [path.read_text(encoding="utf-8") for path in source.rglob("*.py")]
    used = {name for text in texts for name in re.findall(r'action="(\w+)"', text)}
    assert used <= set(ACTIONS)
    assert set(WORDS) == set(ACTIONS)
    assert set(web.WORDS) <= set(ACTIONS)


def test_one_fault_in_many_places_is_told_in_a_few_lines() -> None:
    with pytest.raises(DescriptionError) as caught:
        cardan.load({"name": "chain", "link": [{"inertia": 1, "mass": -1} for _ in range(100)]})
    lines = str(caught.value).splitlines()
    assert len(lines) == 8
    assert lines[3].startswith("and 97 more places: 'inertia' is not a field here")
    assert len(caught.value.faults) == 200
