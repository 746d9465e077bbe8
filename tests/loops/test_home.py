"""Where robots stand: `home` in the description, loops closed about it; faults of that."""

from __future__ import annotations

import tomllib

import pytest
from tests.compare import near

import cardan
from cardan.describe.files import dumps
from cardan.errors import DescriptionError, InputError, ModelError
from cardan.loops.numeric import equations, skeleton
from cardan.loops.standing import standing
from cardan.sheets.solids import drawable
from cardan.simulation.simulate import simulate

CLOSED = [name for name in cardan.robots() if cardan.load(name).loops]
PLATFORMS = {
    "stewart": [0, 0, 0.6, 0, 0, 0], "stewart-sps": [0, 0, 0.6, 0, 0, 0], "delta": [0, 0, -0.45],
    "orthoglide-platform": [0, 0, 0], "planar3rrr": [0, 0, 0],
}  # fmt: skip


@pytest.mark.parametrize("name", CLOSED)
def test_every_closed_robot_stands_with_its_loops_closed(name: str) -> None:
    robot = skeleton(drawable(cardan.load(name), {}))
    assert equations(robot).error(standing(robot)[None])[0] < 1e-9


@pytest.mark.parametrize("name", PLATFORMS)
def test_platforms_stand_as_their_notes_say(name: str) -> None:
    geometry = cardan.model(cardan.load(name), "loop-geometry")
    assert geometry.home[: len(PLATFORMS[name])] == pytest.approx(PLATFORMS[name], abs=1e-12)
    assert geometry.singular(geometry.home) > 1e-3


def test_a_platform_without_home_is_not_turned() -> None:
    table = tables(cardan.load("stewart"))
    for link in table["link"]:
        link.pop("home", None)
    found = cardan.load(table)
    q = standing(found)
    assert q[3:6] == pytest.approx([0, 0, 0], abs=1e-9)
    assert equations(found).error(q[None])[0] < 1e-9


def tables(robot: cardan.Robot) -> dict:
    return tomllib.loads(dumps(robot, "toml"))


def test_home_is_written_and_read_again() -> None:
    robot = cardan.load("stewart")
    again = cardan.load(tables(robot))
    assert [joint.home for joint in again.joints] == [joint.home for joint in robot.joints]
    assert [joint.home for joint in robot.joints[:4]] == [0, 0, robot.joints[2].home, 0]


def test_a_simulation_starts_where_the_robot_stands() -> None:
    robot = cardan.load("fivebar")
    geometry = cardan.model(robot, "loop-geometry")
    run = simulate(robot, duration=0.01, dt=0.01)
    assert run.q[0] == pytest.approx(geometry.home, abs=1e-9)
    assert run.q[0][[0, 2]] == pytest.approx([2.2, 0.9])
    run = simulate(robot, [2.3, 0.8], duration=0.01, dt=0.01)
    near(run.q[0], geometry.home, absolute=0.5)  # the same assembly
    tree = cardan.load({"link": [{"home": 0.4, "mass": 1, "com": [0.1, 0, 0]}]})
    assert simulate(tree, duration=0.01, dt=0.01).q[0] == pytest.approx([0.4])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"platform": {"freedoms": ["x", "y"], "home": [0]}}, "a list of 2 values"),
        ({"platform": {"freedoms": ["x", "q"]}}, "freedoms = "),
        ({"link": [{"joint": "fixed", "home": 1}]}, "a fixed joint has no home"),
        ({"loop": [{"frames": ["arm", "nowhere"]}]}, "frames of loop loop1: .*nowhere"),
        ({"loop": [{"frames": ["arm", "arm"]}]}, "name two different ones"),
        (
            {"loop": [{"name": "k", "cut": {"antecedent": 1}, "twin": {"antecedent": "x"}}]},
            "^twin of loop k: antecedent 'x' is no link",
        ),
    ],
)
def test_one_fault_is_told_once(change: dict, words: str) -> None:
    with pytest.raises(DescriptionError, match=words) as error:
        cardan.load({"link": [{"name": "arm"}], **change})
    assert len(error.value.faults) == 1


def test_arrays_of_a_wrong_kind_are_refused() -> None:
    geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
    for call in (
        lambda: geometry.solve("x"),
        lambda: geometry.solve([2.2, 0.9], "x"),
        lambda: geometry.residual([1, 2]),
        lambda: geometry.singular([[1, 2]]),
        lambda: geometry.residual("x"),
    ):
        with pytest.raises(InputError):
            call()


def test_a_platform_that_its_legs_do_not_reach() -> None:
    """As many motors as freedoms, but the legs end on the base."""
    leg = {
        "copies": 2,
        "link": [{"name": "turn", "active": False, "d": 0.5},
                 {"name": "slide", "joint": "prismatic", "alpha": "pi/2", "variable": "s"}],
        "loop": [{"name": "pin", "cut": {"antecedent": "slide", "alpha": "-pi/2"},
                  "twin": {"antecedent": 0, "d": 0.1}}],
    }  # fmt: skip
    robot = cardan.load({"platform": {"freedoms": ["x", "y"]}, "leg": [leg]})
    with pytest.raises(ModelError, match=r"no loop holds the passive joints platform_x"):
        cardan.model(robot, "inverse-dynamics")
