"""Loops followed to other active positions: by their equations, and by compiled kinematics."""

from __future__ import annotations

import numpy as np

import cardan
from cardan.identification.model.ties import ties_of
from cardan.loops.continuation import ByEquations, carried
from cardan.loops.numeric import equations


def test_two_ways_to_close_loops_follow_the_same_assembly() -> None:
    robot = cardan.load("fivebar")
    ties, system = ties_of(robot), equations(robot)
    home, active = ties.home(), [int(k) for k in ties.active]
    rng = np.random.default_rng(3)
    q_a = home[active] + rng.uniform(-0.5, 0.5, (40, len(active)))
    start = np.repeat(home[None], len(q_a), axis=0)
    q, share = carried(ByEquations(system, active, ties.passive), start, q_a)
    other, good = ties.carried(start, q_a)
    assert good.all()
    assert (share == 1).all()
    np.testing.assert_allclose(q, other, atol=1e-10)
    np.testing.assert_array_equal(q[:, active], q_a)
    assert system.error(q).max() < 1e-11
    geometry = cardan.model(robot, "loop-geometry")
    np.testing.assert_allclose(q[:5], [geometry.solve(x, home) for x in q_a[:5]], atol=1e-10)


def test_a_way_that_ends_is_gone_as_far_as_it_leads() -> None:
    """The arms of a five-bar turned apart until they are stretched: each row on its own."""
    robot = cardan.load("fivebar")
    ties, system = ties_of(robot), equations(robot)
    home, active = ties.home(), [int(k) for k in ties.active]
    far = home[active] + np.array([[0.1, -0.1], [3.0, -3.0]])
    start = np.repeat(home[None], 2, axis=0)
    by = ByEquations(system, active, ties.passive)
    q, share = carried(by, start, far)
    assert share[0] == 1
    assert 0 < share[1] < 1
    assert system.error(q).max() < 1e-11
    gone = start[1, active] + share[1] * (far[1] - start[1, active])
    np.testing.assert_allclose(q[1, active], gone, atol=1e-12)
    again, once = carried(by, start[:1], far[1:], least=1.0)
    assert once[0] < share[1] + 1e-12
    assert system.error(again).max() < 1e-11
    assert ties.carried(start, far)[1].tolist() == [True, False]
