"""The example of a Delta's lengths: its reach and torques against formulas by hand."""

import importlib.util
import sys
from pathlib import Path

import numpy as np

import cardan

PATH = Path(__file__).resolve().parents[2] / "examples" / "delta_design.py"


def example():
    spec = importlib.util.spec_from_file_location("delta_design", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules["delta_design"] = module
    spec.loader.exec_module(module)
    return module


def reachable(points, arm, rod, offset):
    """Legs at 0, 120, 240 degrees: elbow (offset + arm cos a, 0, -arm sin a), a sphere of radius
    rod around the platform's joint; |E cos a + F sin a| may be as large as the rest, and the rod
    stays within 80 degrees of the plane of the arm."""
    good = np.ones(len(points), bool)
    for k in range(3):
        c, s = np.cos(2 * np.pi * k / 3), np.sin(2 * np.pi * k / 3)
        x, y = points[:, 0] * c + points[:, 1] * s - offset, points[:, 1] * c - points[:, 0] * s
        z = points[:, 2]
        rest = (x**2 + y**2 + z**2 + arm**2 - rod**2) / (2 * arm)
        good &= np.hypot(x, z) >= np.abs(rest)
        good &= np.abs(y) <= rod * np.sin(np.radians(80))
    return good


def test_a_study_of_lengths(tmp_path):
    module = example()
    study = module.Study(cardan.load("delta"), 3)
    designs = study.designs()
    pairs = [(x.arm, x.rod) for x in designs]
    assert pairs
    for lengths, reached in zip(study.lengths, study.reached, strict=True):
        expected = reachable(module.points(), lengths[0], lengths[3], module.OFFSET)
        assert (reached == expected).mean() > 0.999
    # by a second route: the measures of one design
    one = designs[0]
    robot = module.lengths_of(cardan.load("delta"), one.arm, one.rod)
    inside = module.points()
    inside = inside[
        (inside[:, 2] < one.top + 1e-9) & (inside[:, 2] > one.top - module.HEIGHT - 1e-9)
    ]
    legs = cardan.model(robot, "loop-geometry").legs.solve(inside).q
    q = np.array([rows[(rows[:, 4::3] > 0).all(axis=1)][0] for rows in legs])
    from cardan.motion import measures

    assert abs(measures.dexterity(robot, q).min() - one.dexterity) < 1e-9
    front = module.pareto(designs)
    assert module.chosen(front) in front
    for x in front:
        beaten = [
            y for y in designs
            if y.length < x.length and y.dexterity > x.dexterity and y.torque < x.torque
        ]  # fmt: skip
        assert not beaten
    module.picture(str(tmp_path / "design.png"), cardan.load("delta"), designs, front)
    assert (tmp_path / "design.png").stat().st_size > 10_000
