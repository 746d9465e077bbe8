"""Faults any format can have."""

from dataclasses import replace

import pytest

from cardan.describe.check import check
from cardan.describe.robot import Base, Joint, Limits, Link, Loop, Robot
from cardan.describe.values.expression import symbol
from cardan.describe.values.parser import parse

LINKS = (Link("one", M=1), Link("two", M=1))
JOINTS = (Joint("j1", 0), Joint("j2", 1))
GOOD = Robot("good", LINKS, JOINTS)


def messages(robot):
    return [str(fault) for fault in check(robot)]


def with_joint(**changes):
    return replace(GOOD, joints=(JOINTS[0], replace(JOINTS[1], **changes)))


def with_link(**changes):
    return replace(GOOD, links=(LINKS[0], replace(LINKS[1], **changes)))


def test_good():
    assert not check(GOOD)


@pytest.mark.parametrize(
    ("robot", "words"),
    [
        (Robot("empty", (), ()), "no link"),
        (replace(GOOD, joints=JOINTS[:1]), "link j needs joint j"),
        (with_joint(sigma=3), "link two: sigma = 3 is not a joint type"),
        (with_joint(antecedent=7), "antecedent 7 does not exist; allowed: 0 to 1"),
        (with_joint(antecedent=-1), "antecedent -1 does not exist"),
        (with_joint(antecedent=2), "closes a cycle"),
        (replace(GOOD, joints=(Joint("j1", 2), Joint("j2", 0))), "number the links from the base"),
        (with_joint(name="j1"), "joint name 'j1' is used twice"),
        (with_link(name="one"), "link name 'one' is used twice"),
        (with_link(name="base"), "link name 'base' is used twice"),
        (with_link(name=""), "cannot be a name"),
        (with_link(name="a\x07"), "cannot be a name"),
        (with_joint(variable="q1"), "also that of one"),
        (with_joint(variable="a b"), "cannot be a joint variable"),
        (with_joint(d=symbol("q1")), "also a parameter"),
        (with_joint(d=True), "is no value"),
        (with_joint(d=float("nan")), "is no value"),
        (with_joint(d=parse("1/(sqrt(2) - 2^0.5)")), "no finite value"),
        (with_joint(limits=Limits(lower=1, upper=-1)), "exchange them"),
        (with_link(M=-1), "link two: mass -1 is negative"),
        (with_link(M=parse("-1/2")), "is negative"),
        (replace(GOOD, base=Base("swimming")), "allowed: fixed, mobile, floating"),
        (replace(GOOD, base=Base(Z=(0,) * 16)), "not a placement"),
        (replace(GOOD, base=Base(Z=(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1))), "right-h"),
        (replace(GOOD, base=Base(Z=(1,))), "Z has 1 values, not 16"),
        (replace(GOOD, gravity=(0, 0)), "gravity has 2 values"),
        (replace(GOOD, loops=(Loop("l", Joint("c", 9), Joint("t", 0, 2)),)), "antecedent 9"),
        (replace(GOOD, loops=(Loop("l", Joint("c", 2), Joint("t", 0, 0)),)), "must be fixed"),
    ],
)
def test_errors(robot, words):
    found = check(robot)
    assert any(words in str(fault) and fault.severity == "error" for fault in found), found


def test_symbolic_placement_is_taken_on_trust():
    Z = tuple(parse(t) for t in [*"cm0xsc0y00100001"])
    assert not check(replace(GOOD, base=Base(Z=Z)))


@pytest.mark.parametrize(
    "inertia",
    [
        {"XX": 1, "YY": 1, "ZZ": 3},  # triangle inequality
        {"XX": -1, "YY": 1, "ZZ": 1},
        {"XX": 1, "YY": 1, "ZZ": 1, "XY": 2},
        {"XX": 1, "YY": 1, "ZZ": 1, "MX": 5},  # centre of mass too far for this inertia
        {"M": 0, "MX": 1, "XX": 1, "YY": 1, "ZZ": 1},
    ],
)
def test_impossible_inertia_is_a_warning_that_names_the_link(inertia):
    found = check(with_link(**{"M": 1, **inertia}))
    assert [(fault.link, fault.severity) for fault in found] == [("two", "warning")]
    assert "no body has this inertia" in found[0].message


@pytest.mark.parametrize(
    "inertia",
    [
        {},  # a point
        {"M": 0},
        {"YY": parse("1/3"), "ZZ": parse("1/3"), "MX": parse("1/2")},  # a rod
        {"YY": parse("0.3333333"), "ZZ": parse("0.3333333"), "MX": parse("0.5")},  # rounded
        {"XX": symbol("a"), "ZZ": -5},  # unknown
        {"M": parse("1e300"), **dict.fromkeys(("XX", "YY", "ZZ"), parse("1e-300"))},
    ],
)
def test_possible_inertia(inertia):
    assert not check(with_link(**inertia))


def test_all_at_once_with_lines():
    robot = replace(with_joint(sigma=5, antecedent=9), gravity=())
    found = check(robot, "f.par", lambda key, j: {"sigma": 3, "antecedent": 4}.get(key, 0))
    assert [(fault.line, fault.file) for fault in found] == [
        (3, "f.par"),
        (4, "f.par"),
        (0, "f.par"),
    ]
