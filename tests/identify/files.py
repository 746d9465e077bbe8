"""The error of a robot file, computed on another route than the report's: the file is loaded with
`cardan.load`, and its compiled inverse dynamic model evaluated along the recorded motion."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import cardan
from cardan.identification import Identification
from cardan.identification.model.equations import Reduction

POINTS = 5e-4  # 0.05 percentage points
FILES = ("robot.toml", "robot.par", "robot.urdf", "robot-base.toml")


def by_hand(result: Identification, path: Path) -> dict[str, float]:
    """Errors of a robot file by role, through the compiled model of the loaded robot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # base parameters need not be those of real bodies
        robot = cardan.load(path)
    function = cardan.model(robot, "inverse-dynamics", effort="plain").compile()
    rest: dict[str, float] = {}
    total: dict[str, float] = {}
    for track in result.tracks:
        motion = track.motion
        driven = {key: motion.of_driven(getattr(motion, key)) for key in ("qd", "qdd")}
        tau = np.asarray(function(q=motion.q, **driven))
        reduce = Reduction(motion, track.plan, "dynamic", 0.0)
        y, valid = reduce.rows(motion.tau), reduce.flags(motion.valid)
        away = y - reduce.rows(tau)
        for role, rows in track.roles(len(y)):
            mask = valid[rows]
            rest[role] = rest.get(role, 0.0) + float(np.sum((away[rows] * mask) ** 2))
            total[role] = total.get(role, 0.0) + float(np.sum((y[rows] * mask) ** 2))
    return {role: (rest[role] / x) ** 0.5 for role, x in total.items() if x}


def printed(report: str, name: str) -> list[float]:
    """The percentages of a row of the report's table of files."""
    (row,) = [line for line in report.splitlines() if line.startswith(f"| file {name} |")]
    return [float(cell) / 100 for cell in row.split("|")[2:-1] if cell.strip() != "-"]


def as_written(result: Identification, folder: Path, files: tuple[str, ...] = FILES) -> None:
    """Every file that is written has the error that the report prints for it."""
    written = {path.name for path in result.save(folder)}
    assert written >= set(files)
    report = (folder / "report.md").read_text()
    data = json.loads((folder / "parameters.json").read_text())
    for name in files:
        own = by_hand(result, folder / name)
        assert printed(report, name) == pytest.approx(list(own.values()), abs=POINTS), name
        assert data["file_errors"][name] == pytest.approx(own, abs=POINTS), name
    toml = (folder / "robot.toml").read_text()
    said = re.search(r"error of this robot: fit ([0-9.]+) %", toml)
    assert said is not None
    own = by_hand(result, folder / "robot.toml")
    assert float(said[1]) / 100 == pytest.approx(own["fit"], abs=POINTS)
