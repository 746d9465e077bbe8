"""DH tables of other conventions: the poses and inertias that their own formulas give."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from mechanics import inertia_at, poses, rotation, translation
from tests.compare import near

import cardan
from cardan.describe.dh.tables import COLUMNS, from_dh, read_dh_table
from cardan.describe.robot import FIXED, INERTIA, Link
from cardan.describe.values.expression import number
from cardan.errors import DescriptionError, UnknownNameError
from cardan.exact import exact, pi

PUMA_STANDARD = [  # theta d a alpha, Corke and Armstrong-Helouvry 1994
    (0, 0, 0, "pi/2"),
    (0, 0, "0.4318", 0),
    (0, "0.15005", "0.0203", "-pi/2"),
    (0, "0.4318", 0, "pi/2"),
    (0, 0, 0, "-pi/2"),
    (0, 0, 0, 0),
]
KEYS = ("M", "X", "Y", "Z", "IXX", "IXY", "IXZ", "IYY", "IYZ", "IZZ")


def own_transform(convention: str, row, q: float) -> np.ndarray:
    """The transform of a row as its textbook writes it."""
    theta, d, a, alpha = (row[key] for key in ("theta", "d", "a", "alpha"))
    theta, d = (theta + q, d) if row["sigma"] == 0 else (theta, d + q * (row["sigma"] == 1))
    turn = rotation(2, theta) @ translation(2, d)
    if convention == "standard":
        return turn @ translation(0, a) @ rotation(0, alpha)
    return rotation(0, alpha) @ translation(0, a) @ turn


def own_inertia(row, T: np.ndarray):
    """Mass, first moments and inertia in frame 0 of what the row says about its own frame."""
    m, *c = (row[key] for key in KEYS[:4])
    xx, xy, xz, yy, yz, zz = (row[key] for key in KEYS[4:])
    R, c = T[:3, :3], T[:3, :3] @ np.array(c) + T[:3, 3]
    J = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
    return m, m * c, J + m * (c @ c * np.eye(3) - np.outer(c, c))


def random_table(seed: int) -> list[dict[str, float]]:
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(5):
        row = {key: float(rng.uniform(-1, 1)) for key in ("d", "a", "theta", *KEYS)}
        row |= {"alpha": float(rng.choice([0, math.pi / 2, -math.pi / 2, 0.3])), "M": 1.5}
        rows.append(row | {"sigma": int(rng.choice([0, 0, 1, 2]))})
    return rows


@pytest.mark.parametrize("convention", ["standard", "craig"])
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("symbolic", [False, True])
def test_poses_and_inertias_of_a_random_table(convention, seed, symbolic):
    table = random_table(seed)
    rows, values = [dict(row) for row in table], {}
    if symbolic:
        for j, row in enumerate(rows, 1):
            for key in ("d", "a", "theta", "alpha", *KEYS):
                values[f"{key}0{j}"], row[key] = row[key], f"{key}0{j}"
    robot = from_dh(rows, convention)
    if symbolic:
        robot = robot.with_values({k: v for k, v in values.items() if k in robot.parameters})
    q = np.random.default_rng(seed).uniform(-2, 2, robot.n)
    T, own, moving = poses(floats(robot), q), np.eye(4), iter(q)
    for j, row in enumerate(table, 1):
        own = own @ own_transform(convention, row, next(moving) if row["sigma"] != 2 else 0)
        for found, expected in zip(
            inertia_at(floats(robot).links[j - 1], T[j]), own_inertia(row, own), strict=True
        ):
            near(found, expected, absolute=1e-13)
    near(T[-1], own, absolute=1e-14)  # tool of a standard table, last frame of the other


def floats(robot):
    """The robot with numbers that float() takes, for formulas such as cos(0.3)*0.2."""
    links = [
        Link(link.name, **{k: number(getattr(link, k)) for k in INERTIA}) for link in robot.links
    ]
    return replace(robot, links=tuple(links))


def test_puma_in_three_conventions():
    standard = from_dh(PUMA_STANDARD, "standard")
    craig = [(0, 0, 0, 0)] + [  # a alpha d theta
        (a, alpha, d, 0) for (_, _, a, alpha), (_, d, _, _) in itertools.pairwise(PUMA_STANDARD)
    ]
    khalil = [(alpha, a, 0, d) for a, alpha, d, _ in craig]
    same = replace(standard, frames=())  # in a standard table names mean the far frames
    assert from_dh(craig, "craig") == from_dh(khalil, "khalil") == same
    assert standard.n == 6
    assert standard.joints[2].d == exact("0.4318")
    assert standard.gravity == (0, 0, exact("-9.81"))


def test_last_transform_becomes_a_tool():
    robot = from_dh([(0, 0, "L1", "pi/2")], "standard")
    tool = robot.joints[-1]
    assert (tool.name, tool.sigma, tool.antecedent) == ("tool", FIXED, 1)
    assert (str(tool.d), tool.alpha) == ("L1", pi / 2)
    assert [joint.name for joint in from_dh([(0, 0, 0, 0)], "standard").joints] == ["joint1"]


def test_inertia_stays_exact():
    row = {"a": "L", "alpha": "pi/2", "M": "m", "MX": "-m*L/2", "YY": "J", "ZZ": "J"}
    link = from_dh([row], "standard").links[0]
    assert (str(link.MX), str(link.M)) == ("-m*L/2 + m*L", "m")
    assert link.XX == 0
    assert link.YZ == 0
    assert link == from_dh([row], "standard").links[0]


def test_angles_given_as_floats_are_exact():
    joint = from_dh([(0.1, math.pi / 2, 0.2, -3 * math.pi / 4)], "craig").joints[0]
    assert (joint.alpha, joint.theta) == (pi / 2, pi * -3 / 4)
    assert joint.d == exact("0.1")
    assert from_dh([(0, 1.5707963268, 0, 0)], "craig").joints[0].alpha == pi / 2
    assert from_dh([(0, 1.5708, 0, 0)], "craig").joints[0].alpha == exact("1.5708")
    assert from_dh([(0, "90 deg", "5 mm", 0)], "craig").joints[0].alpha == pi / 2


def test_variables_in_their_cells():
    rows = [("q1", 0, 0, 0), ("theta2 - pi/2", 0, 0, 0), (0, "d3", 0, 0, 1), ("a0", 0, 0, 0)]
    joints = from_dh(rows, "standard").joints
    assert [joint.theta for joint in joints[:3]] == [0, -pi / 2, 0]
    assert joints[2].r == 0
    assert str(joints[3].theta) == "a0"
    with pytest.raises(DescriptionError, match="joint variable"):
        from_dh([("2*q1", 0, 0, 0)], "standard")


def test_drive_limits_offset_and_names():
    row = {
        "sigma": "P",
        "d": 1,
        "offset": "0.5",
        "IA": "Ia",
        "FV": 2,
        "FS": 3,
        "lower": 0,
        "upper": 1,
    }
    robot = from_dh(
        [row | {"name": "slide", "link": "sled", "variable": "x"}], "standard", name="s"
    )
    joint = robot.joints[0]
    assert (robot.name, joint.name, robot.links[0].name, joint.variable) == (
        "s",
        "slide",
        "sled",
        "x",
    )
    assert (joint.sigma, joint.r, str(joint.IA)) == (1, exact("1.5"), "Ia")
    assert (joint.FV, joint.FS) == (2, 3)
    assert (joint.limits.lower, joint.limits.upper, joint.limits.velocity) == (0, 1, None)


def test_convention_must_be_named():
    with pytest.raises(TypeError):
        from_dh(PUMA_STANDARD)
    with pytest.raises(UnknownNameError, match="standard, craig, khalil"):
        from_dh(PUMA_STANDARD, "modified")


def test_text_table():
    text = """# PUMA arm
    theta; d; a; alpha; sigma; M
    ; 0; 0; pi/2; 0; 3 kg    # shoulder
    ; ; 431.8 mm; 0; R; m2

    0; 0.15005; 0.0203; -90 deg; revolute; 1
    """
    robot, faults = read_dh_table(text, "standard", "puma.csv")
    assert faults == []
    assert robot is not None
    assert robot.source == "puma.csv"
    assert robot.joints[2].d == exact("0.4318")
    assert robot.joints[3].alpha == -pi / 2
    assert str(robot.links[1].M) == "m2"
    commas, _ = read_dh_table("a,alpha,d,theta\n0,0,1,0\n", "craig")
    tabs, _ = read_dh_table("a\talpha\td\ttheta\n0\t0\t1\t0\n", "craig")
    assert commas == tabs


HEAD = "theta,d,a,alpha,sigma,M\n"
FAULTS = {
    "empty": ("", "empty", 0),
    "only comments": ("# nothing\n", "empty", 0),
    "no rows": (HEAD, "0 rows", 0),
    "column": ("theta,d,a,beta\n0,0,0,0\n", "no column 'beta' of a standard table", 1),
    "column twice": ("theta,d,a,a\n0,0,0,0\n", "'a' appears twice", 1),
    "cells": (HEAD + "0,0,0\n", "3 cells under 6 columns", 2),
    "formula": (HEAD + "0,0,0,pi/,0,0\n", "alpha of row 1", 2),
    "nan": (HEAD + "0,0,0,1e999,0,0\n", "alpha of row 1", 2),
    "unit": (HEAD + "0,0,5 kg,0,0,0\n", "wrong unit", 2),
    "sigma": (HEAD + "0,0,0,0,4,0\n", "sigma of row 1 is '4' (0 revolute", 2),
    "mass": (HEAD + "0,0,0,0,0,-1\n", "mass -1 is negative", 2),
    "both": ("d,X,MX\n0,1,1\n", "give one of the two forms", 2),
    "names": ("d,name\n0,a\n0,a\n", "two rows are called 'a'", 0),
    "long": ("d\n" + "0\n" * 500_001, "longer than", 0),
}


@pytest.mark.parametrize(("text", "message", "line"), FAULTS.values(), ids=FAULTS.keys())
def test_faults_of_a_text_table(text, message, line):
    robot, faults = read_dh_table(text, "standard", "table.csv")
    assert robot is None
    assert any(message in fault.message and fault.line == line for fault in faults), faults
    assert all(fault.file == "table.csv" for fault in faults)


@pytest.mark.parametrize(
    "row", [(1, 2, 3), 4, "abcd", {"theta": float("nan")}, {"theta": object()}, {3: 4}]
)
def test_faults_of_rows(row):
    with pytest.raises(DescriptionError):
        from_dh([row], "standard")


def test_every_convention_names_four_columns():
    assert all(len(columns) == 4 for columns in COLUMNS.values())


def test_drives_base_tool_and_gravity_of_a_text_table():
    """A rotor behind a gear, friction that is not symmetric, a base, a tool, gravity."""
    text = (
        "gravity = 0, 9.81, 0\nsigma,d,theta,a,alpha,M,X,Jm,G,FV,FS,FSA,spring\n"
        "2,0.3,pi/2,0.1,0,,,,,,,,\n0,0,q2,0.5,0,2,-0.2,1/5000,-50,0.1,0.4,0.05,3\n"
        "2,0,0,0.2,pi/2,,,,,,,,\n"
    )
    robot, faults = read_dh_table(text, "standard")
    assert robot is not None, faults
    joint = next(joint for joint in robot.joints if joint.sigma == 0)
    values = [number(getattr(joint, key)) for key in ("IA", "FV", "FS", "FSA", "spring")]
    assert values == pytest.approx([0.5, 0.1, 0.4, 0.05, 3])
    x = {"q": [0.7], "qd": [0.0], "qdd": [0.0]}
    tau = cardan.model(robot, "inverse-dynamics").evaluate(**x)[0]
    # the base turns by pi/2 about z: the arm hangs from q = 0 on along gravity's line
    lean = 0.7 + np.pi / 2
    expected = -2 * 0.3 * 9.81 * np.cos(lean) + 3 * 0.7
    assert tau == pytest.approx(expected, abs=1e-12)
    tip = cardan.model(robot, "transform").evaluate(q=[0.7])[:3, 3]
    assert tip == pytest.approx([0.7 * np.cos(lean), 0.1 + 0.7 * np.sin(lean), 0.3], abs=1e-12)
    for line, words in (("gravity = 1 2\n", "2 numbers"), ("", "without an inertia")):
        bad = line + text[text.index("sigma") :].replace("1/5000", "")
        robot, faults = read_dh_table(bad, "standard")
        assert robot is None
        assert any(words in str(fault) for fault in faults)


@pytest.mark.parametrize("convention", ["standard", "craig"])
def test_a_variable_that_counts_backwards(convention):
    rows = [
        {"d": 0.3, "a": 0.1, "alpha": "pi/2", "offset": 0.4, "M": 2, "X": 0.1, "Y": 0.2, "Z": 0.3,
         "IXX": 0.2, "IYY": 0.3, "IZZ": 0.4, "IXY": 0.01, "IXZ": 0.02, "IYZ": 0.03},
        {"theta": 0.2, "a": 0.2, "alpha": "-pi/2", "sigma": 1, "M": 1, "Y": 0.1, "IXX": 0.1},
        {"d": 0.1, "a": 0.3, "alpha": 0.3, "M": 1, "X": 0.2, "IZZ": 0.1, "FSA": 0.1, "FS": 0.2},
    ]  # fmt: skip
    sense = np.array([-1, -1, 1])
    plain = cardan.from_dh(rows, convention)
    flips = [{**row, "flip": flip} for row, flip in zip(rows, ("true", "1", "0"), strict=True)]
    flipped = cardan.from_dh(flips, convention)
    with pytest.raises(DescriptionError, match="flip of row 1"):
        cardan.from_dh([{"flip": "maybe"}], convention)
    q, qd, qdd = np.array([0.3, 0.5, -0.7]), np.array([0.2, -0.4, 1.0]), np.array([1.0, 2.0, -3.0])
    models = [cardan.model(one, "inverse-dynamics", effort="plain") for one in (plain, flipped)]
    tau = models[0].evaluate(q=sense * q, qd=sense * qd, qdd=sense * qdd)
    np.testing.assert_allclose(models[1].evaluate(q=q, qd=qd, qdd=qdd), sense * tau, atol=1e-13)
    for frame in ("link1", "link2", "link3"):
        T = [cardan.model(one, "transform", frame=frame) for one in (plain, flipped)]
        wanted = T[0].evaluate(q=sense * q)
        np.testing.assert_allclose(T[1].evaluate(q=q), wanted, atol=1e-14)
