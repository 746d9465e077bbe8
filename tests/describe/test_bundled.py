"""The bundled robots: all load, cite a source, and have the figures of the URDFs they cite.

The dynamics here are a plain floating recursion of their own, so that a fault of `models` cannot
hide one of the data.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from cardan.describe import files
from cardan.describe.bundled import robots
from cardan.describe.robot import FIXED, GEOMETRY, INERTIA, PRISMATIC, REVOLUTE, Robot
from cardan.describe.values.expression import number

PROJECT = Path(__file__).parents[2]
SHARED = PROJECT.parent / "shared"
ROBOTS = PROJECT / "src/cardan/describe/robots"
NAMES = sorted(path.stem for path in ROBOTS.glob("*.toml"))

# links whose published inertia no body can have, explained in the robot's notes
NOT_A_BODY = {"puma560-numeric": {"link1", "link3"}}


def with_random_values(robot: Robot, seed: int) -> Robot:
    rng = np.random.default_rng(seed)
    return robot.with_values({name: rng.uniform(0.2, 1) for name in robot.parameters})


# dynamics


def transform(gamma, b, alpha, d, theta, r):
    """Rotation and position of frame j in its antecedent: the six modified DH parameters."""
    turn = _turn_z(gamma)
    tilted = turn @ _turn_x(alpha)
    return tilted @ _turn_z(theta), turn @ [0, 0, b] + tilted @ [d, 0, r]


def _turn_z(x):
    c, s = math.cos(x), math.sin(x)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def _turn_x(x):
    c, s = math.cos(x), math.sin(x)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def regressor(robot: Robot, q, qd, qdd):
    """The torques' matrix of coefficients of (XX .. M of link 1, of link 2 ...; IA)."""
    moving = [j for j, joint in enumerate(robot.joints) if joint.sigma != FIXED]
    n, links, z = len(moving), len(robot.links), np.array([0, 0, 1.0])
    D = np.zeros((n, 10 * links + n))
    w, wd = [np.zeros(3)] * (links + 1), [np.zeros(3)] * (links + 1)
    acceleration = [-np.array([number(g) for g in robot.gravity])] * (links + 1)
    frames = []
    for j, joint in enumerate(robot.joints, 1):
        i = joint.antecedent
        six = [number(getattr(joint, key)) for key in GEOMETRY]
        x, v, a = (u[moving.index(j - 1)] if j - 1 in moving else 0.0 for u in (q, qd, qdd))
        turns, slides = float(joint.sigma == REVOLUTE), float(joint.sigma == PRISMATIC)
        iRj, iPj = transform(*six[:4], six[4] + turns * x, six[5] + slides * x)
        frames.append((iRj, iPj))
        jwi = iRj.T @ w[i]
        w[j] = jwi + turns * v * z
        wd[j] = iRj.T @ wd[i] + turns * (a * z + np.cross(jwi, v * z))
        carried = acceleration[i] + np.cross(wd[i], iPj) + np.cross(w[i], np.cross(w[i], iPj))
        acceleration[j] = iRj.T @ carried + slides * (a * z + 2 * np.cross(jwi, v * z))
    for j in range(1, links + 1):
        force, moment = _wrench(w[j], wd[j], acceleration[j])
        k = j
        while k:
            joint = robot.joints[k - 1]
            if joint.sigma != FIXED:
                row = force[2] if joint.sigma == PRISMATIC else moment[2]
                D[moving.index(k - 1), 10 * (j - 1) : 10 * j] = row
            iRj, iPj = frames[k - 1]
            force, moment = iRj @ force, iRj @ moment
            moment = moment + np.cross(iPj, force, axisb=0).T
            k = joint.antecedent
    D[:, 10 * links :] = np.diag(qdd)
    return D


def _wrench(w, wd, a):
    """Force and moment of a link about its frame's origin, (3, 10) each, linear in XX .. M."""

    def hat(u):
        return np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])

    def inertia(u):
        x, y, z = u
        return np.array([[x, y, z, 0, 0, 0], [0, x, 0, y, z, 0], [0, 0, x, 0, y, z]])

    force = np.hstack([np.zeros((3, 6)), hat(wd) + hat(w) @ hat(w), a[:, None]])
    moment = np.hstack([inertia(wd) + hat(w) @ inertia(w), -hat(a), np.zeros((3, 1))])
    return force, moment


def inertial_values(robot: Robot):
    """XX .. M link by link, then IA of the joints that move: numbers."""
    links = [number(getattr(link, key)) for link in robot.links for key in INERTIA]
    return np.array(links + [number(joint.IA) for joint in robot.joints if joint.sigma != FIXED])


# tests


def test_the_listing_is_the_folder():
    assert robots() == sorted([*NAMES, "snake30"])  # the one made by a function
    assert len(NAMES) >= 24


@pytest.mark.parametrize("name", NAMES)
def test_loads_without_a_fault(name):
    robot, faults = files.read(ROBOTS / f"{name}.toml")
    assert not [fault for fault in faults if fault.severity == "error"]
    assert {fault.link for fault in faults} == NOT_A_BODY.get(name, set())
    assert len(robot.source) > 20
    assert robot == files.load(name)


@pytest.mark.parametrize("name", robots())
def test_is_listed_in_the_docs(name):
    robot = files.load(name)
    rows = re.findall(rf"^\| `{name}` \|(.*)\|$", (PROJECT / "docs/robots.md").read_text(), re.M)
    assert len(rows) == 1
    _, joints, values, loops, _ = (cell.strip() for cell in rows[0].split("|"))
    assert joints == "".join("RPF"[joint.sigma] for joint in robot.joints)
    assert (values == "numeric") == (not robot.parameters)
    assert int(loops or 0) == len(robot.loops)


def geometry(name: str):
    return [[getattr(joint, key) for key in GEOMETRY] for joint in files.load(name).joints]


@pytest.mark.parametrize(
    ("name", "standard", "count"),
    [
        ("rx90-base", "rx90", 40),
        ("puma560-base", "puma560", 40),
        ("stanford-base", "stanford", 37),
        ("general6r", None, 41),
    ],
)
def test_base_parameters_are_a_basis(name, standard, count):
    """What is kept is independent and spans what any inertia of the links can do."""
    robot = with_random_values(files.load(name), 1)
    if standard:
        assert geometry(name) == geometry(standard)
    rng = np.random.default_rng(2)
    D = np.vstack([regressor(robot, *rng.uniform(-2, 2, (3, robot.n))) for _ in range(60)])
    kept = inertial_values(robot) != 0
    assert kept.sum() == count
    size = np.linalg.norm(D, 2)
    assert np.linalg.matrix_rank(D, tol=1e-9 * size) == count
    assert np.linalg.matrix_rank(D[:, kept], tol=1e-9 * size) == count


@pytest.mark.parametrize(("name", "count"), [("scara", 11), ("sr400", 55), ("stanford", 37)])
def test_rank_of_standard_parameters(name, count):
    robot = with_random_values(files.load(name).tree(), 1)
    rng = np.random.default_rng(2)
    D = np.vstack([regressor(robot, *rng.uniform(-2, 2, (3, robot.n))) for _ in range(60)])
    assert np.linalg.matrix_rank(D, tol=1e-9 * np.linalg.norm(D, 2)) == count


URDFS = [
    ("panda", "robots/urdf/panda.urdf"),
    ("ur5", "robots/urdf/ur5_robot.urdf"),
    ("ur10", "robots/urdf/ur10_robot.urdf"),
    ("tx40", "data/tx40/tx40_mdh_modified.urdf"),
]


@pytest.mark.parametrize(("name", "urdf"), URDFS)
def test_torques_are_those_of_the_urdf(name, urdf):
    pinocchio = pytest.importorskip("pinocchio")
    path = SHARED / urdf
    if not path.exists():
        pytest.skip(f"no {path.name}")
    model = pinocchio.buildModelFromXML(_arm_only(path))
    model.gravity.linear = np.array([0, 0, -9.81])
    data = model.createData()
    robot = files.load(name)
    values = inertial_values(robot)
    rng = np.random.default_rng(3)
    for _ in range(20):
        q, qd, qdd = rng.uniform(-2, 2, (3, robot.n))
        expected = pinocchio.rnea(model, data, q, qd, qdd)
        found = regressor(robot, q, qd, qdd) @ values
        # 1e-9: the URDFs write pi/2 with 12 digits
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * abs(expected).max())


def _arm_only(path: Path) -> str:
    """The URDF without gripper, meshes and simulator settings."""
    root = ElementTree.parse(path).getroot()
    for element in list(root):
        gripper = re.search("hand|finger", element.get("name", ""))
        if element.tag not in ("link", "joint") or gripper:
            root.remove(element)
    return ElementTree.tostring(root, encoding="unicode")


def test_sr400_closes_as_its_notes_say():
    th2, th7 = 0.3, -0.4
    th8 = th2 - th7
    q = [0.1, th2, math.pi / 2 - th8, 0.2, 0.3, 0.4, th7, th8]
    assert max(openings(with_random_values(files.load("sr400"), 4), q, [math.pi - th8])) < 1e-12


def test_orthoglide_closes_as_its_notes_say():
    """Isotropic posture: every leg along its slide."""
    robot = files.load("orthoglide")
    numbers = dict.fromkeys(robot.parameters, 1) | {"a": 1, "d4": "0.6"}
    leg = [-math.pi / 2, 0, 0]
    q = [0.4] * 3 + [*leg, math.pi / 2] + leg + leg
    assert max(openings(robot.with_values(numbers), q, [math.pi / 2] * 2)) < 1e-12


def test_fivebar_closes():
    """By symmetry about the middle of its base, 0.25 m wide."""
    robot = files.load("fivebar")
    q1 = 2.2
    reach = 0.125 - 0.3 * math.cos(q1)
    q2 = math.acos(reach / 0.4) - q1
    q = [q1, q2, math.pi - q1, -q2]
    assert max(openings(robot, q, [math.pi - 2 * (q1 + q2)])) < 1e-12


def openings(robot: Robot, q, cut):
    """How far each loop's two frames are apart, position and rotation."""
    placed = [(np.eye(3), np.zeros(3))]

    def place(joint, x):
        six = [number(getattr(joint, key)) for key in GEOMETRY]
        six[4] += x * (joint.sigma == REVOLUTE)
        six[5] += x * (joint.sigma == PRISMATIC)
        R, P = placed[joint.antecedent]
        iRj, iPj = transform(*six)
        return R @ iRj, P + R @ iPj

    for joint, x in zip(robot.joints, q, strict=True):
        placed.append(place(joint, x))
    for loop, x in zip(robot.loops, cut, strict=True):
        one, other = place(loop.cut, x), place(loop.twin, 0)
        yield max(abs(one[0] - other[0]).max(), abs(one[1] - other[1]).max())
