"""Pictures of simulations: one run, and several control laws side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..motion.coordinates import coordinates
from ..motion.joints import names, units
from ..motion.plots import Panel, joint_panels, lines

if TYPE_CHECKING:
    from ..motion.trajectory import Trajectory
    from .result import Simulation

__all__ = ["plot_errors", "plot_simulation"]


def plot_simulation(run: Simulation) -> Any:
    """Positions, velocities, torques, the base and the energy balance."""
    robot = run.robot
    n, on = robot.n, coordinates(robot)
    panels = joint_panels(robot, "positions", run.q[:, :n], "q")
    panels += joint_panels(robot, "velocities", run.qd[:, :n], "qd")
    if on.nq > n:
        curves = {f"e{k}": column for k, column in enumerate(run.q[:, n:].T, 1)}
        panels.append(Panel("elastic coordinates", "m or rad", curves))
    if run.tau.any():
        tau = np.full((len(run.t), n), np.nan)
        tau[:, on.place[on.driven]] = run.tau
        panels += joint_panels(robot, "torques of the drives", tau, "tau")
    if run.T0 is not None:
        position = dict(zip(("x", "y", "z"), run.T0[:, :3, 3].T, strict=True))
        panels.append(Panel("position of the base", "m", position))
    if run.energy is not None:
        e = run.energy
        balance = {"kinetic": e.kinetic, "potential": e.potential - e.potential[0]}
        others = {
            "elastic": e.elastic, "of the drives": e.drives, "lost": e.friction, "loads": e.loads,
        }  # fmt: skip
        balance |= {key: x for key, x in others.items() if np.abs(x).max() > 0}
        within = "" if np.isnan(e.drift) else f" (balance within {e.drift:.1e})"
        title = f"energy since the start{within}"
        panels.append(Panel(title, "J", balance))
    return lines(run.t, panels, f"{robot.name}: simulation")


def plot_errors(runs: Mapping[str, Simulation], motion: Trajectory) -> Any:
    """Tracking errors of several laws, a panel per joint."""
    first = next(iter(runs.values()))
    robot, t = first.robot, first.t
    wanted, listed = motion(t)[0], list(zip(names(robot), units(robot), strict=True))
    panels = [
        Panel(
            listed[k][0],
            listed[k][1].position,
            {key: wanted[:, j] - run.q[:, k] for key, run in runs.items()},
        )
        for j, k in enumerate(coordinates(robot).place)
    ]
    title = f"{robot.name}: tracking errors"
    return lines(t, panels, title, columns=1 if len(panels) < 4 else 2)
