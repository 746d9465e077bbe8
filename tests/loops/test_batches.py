"""Batches of closed-loop robots: row by row what one call gives, on any number of threads."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from tests.loops.couplings import coupled
from tests.loops.mechanisms import MECHANISMS

import cardan
from cardan.describe.limits import joint_limits
from cardan.loops.numeric import difference

NAMES = ["fivebar", "delta", "delta legs", "stewart legs", "rssr", "bennett", "geared five-bar"]


def geometry_of(name: str) -> Any:
    robot = name.removesuffix(" legs")
    if robot in MECHANISMS:
        return cardan.model(MECHANISMS[robot](), "loop-geometry")
    loaded = coupled(robot) if " " in robot else cardan.load(robot)
    geometry = cardan.model(loaded, "loop-geometry")
    return geometry.legs if name.endswith(" legs") else geometry


def drawn(geometry: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(closed configurations (count, n), given positions: at them, and every other one beside)."""
    sample = geometry.analysis.samples[0]
    rng = np.random.default_rng(3)
    q = sample.equations.walk(rng, sample.q[0], count)
    given = [geometry.coordinates.moving.index(j) for j in geometry.given]
    away = 0.3 * sample.equations.unit[given] * rng.normal(size=(count, len(given)))
    return q, q[:, given] + away * (np.arange(count) % 2)[:, None]


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_gives_what_one_call_gives(name: str) -> None:
    geometry = geometry_of(name)
    system = geometry.system()
    q, given = drawn(geometry, 70)  # more than are looked at for the room they need
    batch = geometry.solve(given)
    shared = geometry.solve(given, threads=2)
    np.testing.assert_array_equal(shared.q, batch.q)
    np.testing.assert_array_equal(shared.count, batch.count)
    there = np.arange(batch.q.shape[1]) < batch.count[:, None]
    assert np.isnan(batch.q[~there]).all()
    assert batch.count.max() > 0
    error = system.error(batch.q[there])
    assert error.max() < 1e-13
    assert np.abs(error - batch.residual[there]).max() < 1e-13
    exact = geometry._conditioned(system, batch.q[there]) < 1e-6
    np.testing.assert_array_equal(batch.singular[there], exact)
    for k in range(0, len(given), 7):
        if batch.count[k]:
            np.testing.assert_array_equal(geometry.solve(given[k]), batch[k])
        else:
            with pytest.raises(cardan.CardanError):
                geometry.solve(given[k])
    low, high = joint_limits(geometry.robot)
    for k in range(0, len(q), 2):  # a configuration that is closed is among them, limits apart
        if ((q[k] >= low) & (q[k] <= high)).all():
            apart = np.abs(difference(batch[k], q[k], system.periodic) / system.unit).max(axis=1)
            assert apart.min() < 1e-6


@pytest.mark.parametrize("name", ["fivebar", "delta legs", "rssr", "geared five-bar"])
def test_the_nearest_of_a_batch_is_that_of_each(name: str) -> None:
    geometry = geometry_of(name)
    q, given = drawn(geometry, 12)
    closed, guessed = (geometry.solve(given, guess) for guess in (q, q + 0.05))
    np.testing.assert_array_equal(geometry.solve(given, q, threads=2), closed)
    np.testing.assert_allclose(closed[::2], q[::2], atol=1e-8)
    for k, x in enumerate(given):
        for near, guess in ((closed[k], q[k]), (guessed[k], q[k] + 0.05)):
            if np.isnan(near).any():
                with pytest.raises(cardan.CardanError):
                    geometry.solve(x, guess)
            else:
                assert geometry.residual(near) < 1e-11
                np.testing.assert_array_equal(geometry.solve(x, guess), near)


def test_a_path_is_followed_point_by_point() -> None:
    geometry = cardan.model(cardan.load("fivebar"), "loop-geometry")
    start = geometry.solve([0.5, 2.5])[0]
    turn = np.linspace(0, 1, 40)[:, None]
    path = np.array([0.5, 2.5]) + turn * [0.4, -0.3]
    q = geometry.follow(path, start)
    assert geometry.residual(q).max() < 1e-11
    assert np.abs(np.diff(q, axis=0)).max() < 0.1
    one = start
    for k, x in enumerate(path):
        one = geometry.solve(x, one)
        np.testing.assert_allclose(q[k], one, atol=1e-9)


def test_threads_have_room_for_the_kernels_whatever_the_system_gives_them() -> None:
    """Threads of macOS have half a megabyte: less than the closing of a Delta needs."""
    script = """
import threading
import cardan
threading.stack_size(256 * 1024)
legs = cardan.model(cardan.load("delta"), "loop-geometry")
print(legs.solve([[0.1, 0.2, 0.3]] * 200, threads=2).count.tolist() == [2] * 200)
print(threading.stack_size())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", str(256 * 1024)]
