"""What makes a robot follow a motion, and control laws side by side on one: errors, torques,
eigenvalues of the closed loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arguments import Numbers, named_arguments
from ..describe.robot import Robot
from ..errors import UnknownNameError
from ..motion.coordinates import coordinates
from ..motion.joints import names, units
from ..motion.plots import Panel, lines
from ..motion.trajectory import Trajectory
from ..simulation.simulate import Simulation, simulate
from .adaptation import adaptive
from .laws import LAWS, gains, law, of_drives, positive_bandwidth, with_error
from .linear import linearise

__all__ = ["DRIVES", "Comparison", "compare", "driven"]

DRIVES = ("prescribed", *LAWS, "adaptive")


@dataclass(frozen=True)
class Comparison:
    """Runs by law, and the eigenvalues of each closed loop at the end of the motion."""

    motion: Trajectory
    runs: Mapping[str, Simulation]
    eigenvalues: Mapping[str, np.ndarray]

    def table(self) -> list[dict[str, Any]]:
        """A row per law."""
        rows = []
        for name, run in self.runs.items():
            error = np.abs(tracked(run, self.motion))
            slowest = self.eigenvalues[name][0]
            rows.append(
                {
                    "law": name,
                    "largest error": float(error.max()),
                    "RMS error": float(np.sqrt((error**2).mean())),
                    "last error": float(error[-1].max()),
                    "largest torque": float(np.abs(run.tau).max()),
                    "slowest eigenvalue": f"{slowest.real:.4g}{slowest.imag:+.4g}j",
                    "stable": bool(self.eigenvalues[name].real.max() < 0),
                }
            )
        return rows

    def plot(self) -> Any:
        """Tracking errors, a panel per joint."""
        first = next(iter(self.runs.values()))
        robot, t, place = first.robot, first.t, coordinates(first.robot).place
        labels = [(names(robot)[k], units(robot)[k].position) for k in place]
        errors = {key: tracked(run, self.motion) for key, run in self.runs.items()}
        panels = [
            Panel(*label, {key: error[:, j] for key, error in errors.items()})
            for j, label in enumerate(labels)
        ]
        title = f"{robot.name}: tracking errors"
        return lines(t, panels, title, columns=1 if len(panels) < 4 else 2)


def tracked(run: Simulation, motion: Trajectory) -> np.ndarray:
    """Wanted less found positions of the joints that the motion moves, (m, n)."""
    return np.asarray(motion(run.t)[0] - run.q[:, coordinates(run.robot).place])


@named_arguments
def compare(
    robot: Robot, motion: Trajectory, laws: Sequence[str] = ("pd", "computed-torque"),
    bandwidth: float = 10.0, *, error: float = 0.0, settling: float = 0.25, dt: float = 5e-3,
    q0: Numbers = None,
) -> Comparison:  # fmt: skip
    """Simulate laws of equal bandwidth (rad/s) on a motion; `error`: by how much the model that the
    laws know is wrong (a fraction); `settling`: seconds watched after the motion; `q0`: all joints
    of closed loops at the beginning, where the first assembly is not the wanted one."""
    known = with_error(robot, error) if error else robot
    runs, errors = {}, {}
    on = coordinates(robot)
    start = on.first("q0", motion.q[0] if q0 is None else q0)
    motion = of_drives(robot, motion)
    for kind in laws:
        controller = law(known, motion, kind, *gains(known, bandwidth, kind, start))
        runs[kind] = simulate(
            robot, start, motion.qd[0], duration=motion.duration + settling, law=controller,
            rtol=1e-8, atol=1e-10, dt=dt,
        )  # fmt: skip
        end = runs[kind].q[-1].copy()
        end[on.place] = motion.q[-1]  # passive joints: the assembly nearest to the run's
        errors[kind] = linearise(robot, end, law=controller.program).eigenvalues
    return Comparison(motion, runs, errors)


@named_arguments
def driven(
    robot: Robot, motion: Trajectory, drive: str, bandwidth: float, q0: Numbers = None
) -> dict[str, Any]:
    """The argument of `simulate` for one of `DRIVES`; q0: where the motion starts, the loops of a
    robot closed, if not where its first positions say."""
    if drive == "prescribed":
        return {"motion": motion}
    if drive == "adaptive":
        w = positive_bandwidth(bandwidth)
        return {"law": adaptive(robot, motion, 2 * w, slope=w)}
    if drive not in LAWS:
        raise UnknownNameError.of("control law", drive, DRIVES)
    start = motion.q[0] if q0 is None else q0
    return {"law": law(robot, motion, drive, *gains(robot, bandwidth, drive, start))}
