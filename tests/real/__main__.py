"""Arms as vendors write them, all of them: python -m tests.real [--only UR5] [--poses 10] [--urdf].

For every arm and every way of writing it one line: the method, poses whose own configuration is
lost, poses whose number of answers is not that of the general method, the largest residual. With
--scales every arm in other units of length; with --strangers 90 so many arms of strangers.py
instead, drawn from --seed. Exit 1 when something is lost.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.real.arms import (
    ARMS,
    Arm,
    Writing,
    direct,
    direct_of_urdf,
    table,
    urdf_text,
    writings,
    written_rows,
)
from tests.real.checks import Outcome, outcome
from tests.real.strangers import strangers

import cardan
from cardan.describe.robot import Robot
from cardan.errors import ModelError

Direct = Callable[[Any], Any]  # pose of a configuration
SCALES = (1e-6, 1e-3, 1e3, 1e6, 1e9)


def loaded(arm: Arm, writing: Writing) -> tuple[Robot, Direct]:
    """The arm through a URDF file, and its direct model."""
    text = urdf_text(arm, writing)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arm.urdf"
        path.write_text(text, encoding="utf-8")
        return cardan.load(path, fixed="keep"), lambda q: direct_of_urdf(text, q)


def tabled(arm: Arm, writing: Writing) -> tuple[Robot, Direct]:
    """The arm as a table, and its direct model."""
    rows = written_rows(arm, writing)
    return table(arm, writing), lambda q: direct(rows, q)


def report(done: Outcome, name: str) -> None:
    print(
        f"{'  ' if done.sound else '! '}{name} {done.solution.method:8s} lost {done.lost:2d}"
        f" differ {done.differ:2d} residual {done.residual:.0e}",
        flush=True,
    )


def unknown_arms(number: int, seed: int, only: str, poses: int) -> int:
    bad = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for one in strangers(number, seed, Path(folder), only):
            name = f"{one.arm.name:22s} {one.format:9s} {one.writing.name:38s}"
            try:
                done = outcome(one.robot, one.arm, poses, direct=one.direct)
            except ModelError as error:
                print(f"  {name} {error}", flush=True)
                continue
            count += 1
            bad += not done.sound
            report(done, name)
    print(f"{count} arms, {bad} of them not sound")
    return bool(bad)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--poses", type=int, default=10)
    parser.add_argument("--urdf", action="store_true")
    parser.add_argument("--scales", action="store_true")
    parser.add_argument("--strangers", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.strangers:
        return unknown_arms(asked.strangers, asked.seed, asked.only, asked.poses)
    ways = list(writings())
    if asked.scales:
        ways = [Writing(f"lengths times {scale:g}", scale=scale) for scale in SCALES]
    bad = count = 0
    for arm in ARMS.values():
        for writing in ways if asked.only.lower() in arm.name.lower() else []:
            robot, model = (loaded if asked.urdf else tabled)(arm, writing)
            done = outcome(robot, arm, asked.poses, direct=model)
            count += 1
            bad += not done.sound
            report(done, f"{arm.name:26s} {writing.name:22s}")
    print(f"{count} arms, {bad} of them not sound")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
