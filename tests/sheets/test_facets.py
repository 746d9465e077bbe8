"""The facets of solids: closed surfaces, seen from outside."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import cardan
from cardan.describe.values.expression import number
from cardan.loops.numeric import skeleton
from cardan.motion.frames import link_frames
from cardan.sheets.facets import facets, seen
from cardan.sheets.picture import viewed
from cardan.sheets.solids import drawable
from cardan.sheets.vehicles import parts

NAMES = ("ur5", "stewart", "cartpole", "stanford", "car", "unicycle", "mobile-manipulator")


def _whole(name: str) -> cardan.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return drawable(cardan.load(name), {})


@pytest.mark.parametrize("name", NAMES)
def test_solids_are_closed_and_seen_from_outside(name: str) -> None:
    """The areas of all facets of a solid add up to zero, and its volume is positive."""
    robot = _whole(name)
    view, q = viewed(robot)
    T = link_frames(skeleton(robot), q)
    for solid in parts(robot):
        drawn = facets(robot, [solid], T)
        triangles = [
            (x[0], x[k], x[k + 1]) for x, _ in drawn for k in range(1, len(x) - 1)
        ]  # fmt: skip
        areas = np.array([np.cross(b - a, c - a) / 2 for a, b, c in triangles]).reshape(-1, 3)
        size = np.linalg.norm(areas, axis=1).sum()
        assert np.abs(areas.sum(axis=0)).max() <= 1e-9 * size
        if drawn:
            assert sum(a @ np.cross(b, c) for a, b, c in triangles) > 0
            fronts = [seen(facet, view.near) for facet in drawn]
            assert 0 < sum(fronts) < len(fronts)


@pytest.mark.parametrize("name", ["car", "differential-drive", "unicycle"])
def test_vehicles_have_tyres_of_their_wheels(name: str) -> None:
    robot = _whole(name)
    tyres = {x.joint: x.radii[0] for x in parts(robot) if x.kind == "tyre"}
    radii = {x.link: pytest.approx(float(number(x.radius) or 0)) for x in robot.wheels}
    assert tyres == radii
