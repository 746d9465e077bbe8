"""Changes of the structure, helper of inertia, joints that follow: without a browser."""

from __future__ import annotations

import numpy as np
import pytest
from tests.compare import among

import cardan
from cardan.app.web.panels.shapes import shape_inertia
from cardan.app.web.panels.structure import (
    added,
    looped,
    moved_down,
    removed,
    structure,
    swapped,
    unlooped,
)
from cardan.app.web.scene.continuation import closed_next_to, follow, follow_on, reach_for
from cardan.describe.check import check
from cardan.loops.numeric import equations, skeleton
from cardan.loops.standing import assembled, standing
from cardan.motion.frames import frame_poses, link_frames
from cardan.sheets.marks import marks
from cardan.sheets.solids import Solid, bodies, drawable, examples, reach, solids

CLOSED = [name for name in cardan.robots() if cardan.load(name).loops]


def moving(robot: cardan.Robot) -> list:
    return [joint for joint in robot.joints if joint.sigma != 2]


def errors(robot: cardan.Robot) -> list[str]:
    return [str(fault) for fault in check(robot) if fault.severity == "error"]


@pytest.mark.parametrize("name", ["rx90", "tree", "sr400", "akr3000"])
def test_links_come_and_go(name: str) -> None:
    robot = cardan.load(name)
    more = added(robot)
    assert errors(more) == []
    assert len(more.links) == len(robot.links) + 1
    assert removed(more, len(robot.links)) == robot


def test_what_a_removed_link_carried_is_carried_by_its_antecedent() -> None:
    robot = cardan.load("tree")
    for j in range(len(robot.links)):
        found = removed(robot, j)
        assert errors(found) == []
        assert all(joint.antecedent <= k for k, joint in enumerate(found.joints))
    with pytest.raises(cardan.CardanError, match="at least one link"):
        removed(cardan.load("planar1r"), 0)


def test_exchanged_links_are_the_same_robot() -> None:
    robot = cardan.load("tree")
    free = [j for j in range(len(robot.links) - 1) if robot.joints[j + 1].antecedent != j + 1]
    assert free
    for j in free:
        found = swapped(robot, j)
        assert errors(found) == []
        at = {
            joint.name: x
            for joint, x in zip(moving(robot), np.linspace(-1, 1, robot.n), strict=True)
        }
        T = link_frames(drawn(robot), [at[joint.name] for joint in moving(robot)])
        T_found = link_frames(drawn(found), [at[joint.name] for joint in moving(found)])
        names = [link.name for link in found.links]
        for k, link in enumerate(robot.links, 1):
            assert T_found[names.index(link.name) + 1] == pytest.approx(T[k])
    with pytest.raises(cardan.CardanError, match="carried by"):
        swapped(cardan.load("rx90"), 0)


def test_links_of_a_chain_change_places() -> None:
    robot = cardan.load("rx90")
    found = moved_down(robot, 2)
    assert errors(found) == []
    assert [link.name for link in found.links[2:4]] == ["link4", "link3"]
    assert [joint.antecedent for joint in found.joints] == list(range(6))
    assert moved_down(found, 2) == robot
    assert moved_down(cardan.load("tree"), 1) is not None


def test_loops_are_closed_and_opened() -> None:
    robot = cardan.load("planar3r")
    closed = looped(robot)
    assert errors(closed) == []
    assert structure(robot) == "serial"
    assert structure(closed) == "closed, 1 loop"
    assert structure(cardan.load("tree")) == "tree"
    assert unlooped(closed, 0) == robot
    assert errors(looped(cardan.load("sr400"))) == []


@pytest.mark.parametrize(
    ("shape", "sizes", "points"),
    [
        ("box", [0.2, 0.3, 0.5], lambda u: (u - 0.5) * [0.2, 0.3, 0.5]),
        ("cylinder", [0.1, 0.4], lambda u: np.stack([
            0.1 * np.sqrt(u[:, 0]) * np.cos(2 * np.pi * u[:, 1]),
            0.1 * np.sqrt(u[:, 0]) * np.sin(2 * np.pi * u[:, 1]), 0.4 * (u[:, 2] - 0.5)], 1)),
        ("rod", [0.7], lambda u: (u - 0.5) * [0.7, 0, 0]),
    ],
)  # fmt: skip
def test_inertia_of_shapes_is_that_of_many_points(shape: str, sizes: list, points: object) -> None:
    u = np.random.default_rng(1).random((400_000, 3))
    centre = np.array([0.1, -0.2, 0.3])
    r = points(u) + centre  # type: ignore[operator]
    expected = 2.5 * ((r**2).sum(1).mean() * np.eye(3) - r.T @ r / len(r))
    J, MS = shape_inertia(shape, 2.5, sizes, centre.tolist())
    assert pytest.approx(expected, abs=2e-3) == J
    assert pytest.approx(2.5 * centre) == MS


def drawn(robot: cardan.Robot) -> cardan.Robot:
    return skeleton(drawable(robot, {}))


@pytest.mark.parametrize("name", CLOSED)
def test_loops_stay_closed(name: str) -> None:
    robot = drawn(cardan.load(name))
    q = assembled(robot, np.zeros(robot.n))
    system = equations(robot)
    assert system.error(q[None])[0] < 1e-9
    assert closed_next_to(robot, q) == pytest.approx(q, abs=1e-9)
    k = next(k for k, joint in enumerate(moving(robot)) if joint.active)
    wanted = q.copy()
    wanted[k] += 0.05
    found = follow(robot, q, wanted)
    assert found[k] == pytest.approx(wanted[k])
    assert system.error(found[None])[0] < 1e-9


@pytest.mark.parametrize("name", ["rx90", "sr400"])
def test_examples_are_enough_to_move_the_robot(name: str) -> None:
    robot = cardan.load(name)
    numeric = robot.with_values(examples(robot))
    assert numeric.parameters == ()
    assert not any("no body" in str(fault) for fault in check(numeric))


def test_a_joint_goes_as_far_as_the_loops_close() -> None:
    robot = drawn(cardan.load("fivebar"))
    q = assembled(robot, np.zeros(robot.n))
    wanted = q.copy()
    wanted[0] += 9.0
    found, there = follow_on(robot, q, wanted)
    assert not there
    assert equations(robot).error(found[None])[0] < 1e-9
    further = found.copy()
    further[0] += 0.02
    with pytest.raises(cardan.CardanError, match="cannot close"):
        follow(robot, found, further)


def test_the_tool_goes_where_it_is_dragged() -> None:
    robot = drawn(cardan.load("ur5"))
    q = np.array([0.3, -1.0, 1.2, 0.4, 0.9, -0.3])
    T = link_frames(robot, q)[-1]
    reached, there = reach_for(robot, q, T[:3, 3] + [0.03, -0.05, 0.04])
    found = link_frames(robot, reached)[-1]
    assert there
    assert found[:3, 3] == pytest.approx(T[:3, 3] + [0.03, -0.05, 0.04], abs=1e-5)
    assert found[:3, :3] == pytest.approx(T[:3, :3], abs=1e-5)


def test_the_tool_goes_as_near_as_it_can() -> None:
    robot = drawn(cardan.load("ur5"))
    q, there = reach_for(robot, np.full(6, 0.4), [9, 9, 0])
    assert not there
    shown = link_frames(robot, q)[-1][:3, 3]
    assert shown[:2] / np.linalg.norm(shown) == pytest.approx([0.7, 0.7], abs=0.1)  # stretched


@pytest.mark.parametrize("name", ["fivebar", "planar3r", "cartpole"])
def test_a_tool_in_a_plane_follows_what_is_above_it(name: str) -> None:
    robot = drawn(cardan.load(name))
    q = np.full(robot.n, 0.4)
    q = assembled(robot, q) if robot.loops else q
    T = frame_poses(robot, link_frames(robot, q))
    wanted, normal = T[:3, 3].copy(), T[:3, 2]  # the axes of all joints but the sliding one
    away, there = reach_for(robot, q, wanted + 0.2 * normal)
    assert not there
    tool = frame_poses(robot, link_frames(robot, away))
    assert tool[:3, 3] == pytest.approx(wanted, abs=1e-3)
    if robot.loops:
        assert equations(robot).error(away[None])[0] < 1e-9


def ends_of(part: Solid, T: np.ndarray) -> np.ndarray:
    """Both ends of a solid and its middle in frame 0; of a plate, its corners."""
    middle = np.array(part.middle)
    half = part.turn[:, 2] * part.length / 2
    points = np.array([middle - half, middle, middle + half])
    if part.outline is not None:
        points = middle + part.outline @ part.turn[:, :2].T
    return points @ T[part.frame, :3, :3].T + T[part.frame, :3, 3]


@pytest.mark.parametrize("name", cardan.robots())
def test_drawn_links_connect_their_frames(name: str) -> None:
    """Every frame that a body is in is where a body ends, or where another frame is; rods of slides
    are drawn as far as the joint is. No body is larger than the robot."""
    robot = drawn(cardan.load(name))
    q = assembled(robot, np.zeros(robot.n)) if robot.loops else np.full(robot.n, 0.3)
    T = link_frames(robot, q)
    parts = solids(robot)
    points = np.concatenate([np.zeros((1, 3)), *(ends_of(part, T) for part in parts)])
    plates = {part.frame for part in parts if part.kind == "plate"}
    for j in {part.frame for part in parts} - plates - {0}:
        among(points, T[j, :3, 3], 1e-9)
    assert np.linalg.norm(points - T[0, :3, 3], axis=1).max() < 3 * reach(robot) + 0.1
    assert all(0 <= radius < reach(robot) / 4 for part in parts for radius in part.radii)


def test_a_platform_is_a_plate_on_legs() -> None:
    """The joints that only place it are not drawn; its corners are where the legs hold it."""
    robot = drawn(cardan.load("stewart"))
    parts = solids(robot)
    assert {part.frame for part in parts if part.kind == "plate"} == {0, 6}
    assert not {1, 2, 3, 4, 5} & {part.frame for part in parts}
    top = next(part for part in parts if part.kind == "plate" and part.frame == 6)
    assert top.outline is not None
    assert len(top.outline) == 6
    radii = np.linalg.norm(np.array(top.middle) + top.outline @ top.turn[:, :2].T, axis=1)
    assert radii == pytest.approx(np.full(6, 0.35), rel=0.2)


@pytest.mark.parametrize("name", ["rx90", "ur5", "scara", "sr400"])
def test_dimensions_lead_from_frame_to_frame(name: str) -> None:
    """Lengths end where the next frame is, angles turn the axes as it has them."""
    robot = drawn(cardan.load(name))
    T = link_frames(robot, np.zeros(robot.n))
    for j, joint in enumerate(robot.joints, 1):
        i, at, axis = joint.antecedent, np.zeros(3), np.eye(3)[2]
        for mark in (mark for mark in marks(j, joint, joint) if mark.frame == i):
            line = mark.points(1.0)
            if mark.axis is None:
                assert line[0] == pytest.approx(at)
                at = line[-1]
            elif mark.words.startswith("α"):
                axis = line[-1] - mark.start
        jTi = np.linalg.inv(T[i]) @ T[j]
        assert jTi[:3, 3] == pytest.approx(at)
        assert jTi[:3, 2] == pytest.approx(axis)


def test_wheels_are_discs_of_their_radius() -> None:
    robot = drawable(cardan.load("car"), {})
    discs = {x.frame: x.outline for x in solids(robot) if x.kind == "plate"}
    assert sorted(discs) == sorted(wheel.link for wheel in robot.wheels)
    for wheel in robot.wheels:
        assert np.linalg.norm(discs[wheel.link], axis=1) == pytest.approx(float(wheel.radius))


def test_a_pendulum_is_drawn_to_its_centre_of_mass() -> None:
    pole = cardan.load("cartpole")
    assert bodies(pole)[2].tolist() == [0.5, 0, 0]
    assert [x.length for x in solids(pole) if x.frame == 2 and x.kind == "body"] == [0.5]
    assert bodies(cardan.load("ur5")) == {}  # its table reaches as far as its links
    assert bodies(cardan.load("planar1r")) == {}  # nothing is known of its mass


def test_a_loop_whose_joints_are_all_driven_stands() -> None:
    """No joint is left to close it by: as it comes when a loop is made in the page."""
    robot = looped(removed(cardan.load("rx90"), 5))
    bare = skeleton(drawable(robot, {}))
    assert all(joint.active for joint in bare.joints)
    assert equations(bare).error(standing(bare)[None]) < 1e-6
    assert closed_next_to(bare, np.zeros(5)) is None
    assert not follow_on(bare, np.zeros(5), np.full(5, 0.1))[1]
