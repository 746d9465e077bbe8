"""The picture of an exciting motion: its curves with their limits, and what it is worth."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...motion.joints import driven
from ...motion.plots import COLOURS, Panel, joint_panels, lines, style

if TYPE_CHECKING:
    from ..excite import Excitation

_WIDE = 3.0  # inches, of the panel of the deviations


def figure(design: Excitation) -> Any:
    """Curves over one period, and predicted standard deviations beside those of random motions."""
    motion, limits = design.whole, design.limits
    symmetric = {key: (-limits[key], limits[key]) for key in ("velocity", "acceleration", "effort")}
    panels = _limited(design, "positions", motion.q, "q", limits["lower"], limits["upper"])
    panels += _limited(design, "velocities", motion.qd, "qd", *symmetric["velocity"])
    panels += _limited(design, "accelerations", motion.qdd, "qdd", *symmetric["acceleration"])
    if design.torque is not None:
        tau = np.full(motion.q.shape, np.nan)
        tau[:, driven(design.robot)] = design.torque
        panels += _limited(design, "torques", tau, "tau", *symmetric["effort"])
    if design.room is not None and not design.room.open:
        parts = design.room.distances(motion.q)
        curves = {kind: x.min(axis=1) for kind, (x, _) in parts.items() if x.size}
        panels.append(Panel("least distances", "m", curves, limits={"": (0.0, np.inf)}))
    title = f"{design.robot.name}: exciting motion, condition number {design.condition:.4g}"
    drawing = lines(motion.t, panels, title)
    _deviations(drawing, design)
    return drawing


def _limited(
    design: Excitation, title: str, values: np.ndarray, kind: str, lower: np.ndarray,
    upper: np.ndarray,
) -> list[Panel]:  # fmt: skip
    bounds = dict(zip(design.robot.variables, zip(lower, upper, strict=True), strict=True))
    return [
        replace(panel, limits={name: bounds[name] for name in panel.y})
        for panel in joint_panels(design.robot, title, values, kind)
    ]


def _deviations(drawing: Any, design: Excitation) -> None:
    """A panel below the others: parameters from left to right."""
    with style():
        axes = drawing.axes
        wide, high = drawing.get_size_inches()
        count, p = len(axes), len(design.names)
        heights = [*[(high - 0.7) / count] * count, _WIDE]
        drawing.set_size_inches(max(wide, 0.16 * p + 2), high + _WIDE)
        grid = drawing.add_gridspec(count + 1, 1, height_ratios=heights)
        for k, ax in enumerate(axes):
            ax.set_subplotspec(grid[k])
        ax = drawing.add_subplot(grid[count])
        x = np.arange(p)
        low, middle, high = (np.quantile(design.random, share, axis=0) for share in (0, 0.5, 1))
        ax.vlines(x, low, high, color=COLOURS[5], linewidth=3, alpha=0.5)
        ax.plot(x, middle, "_", color=COLOURS[5], markersize=7,
                label=f"{len(design.random)} random motions within the same limits: "
                      "from least to largest, and the median")  # fmt: skip
        ax.plot(x, design.deviations, "o", color=COLOURS[1], markersize=4, label="this motion")
        ax.set_yscale("log")
        ax.set_xticks(x, design.names, rotation=90, fontsize=7)
        ax.set_xlim(-0.6, p - 0.4)
        ax.set_ylabel("SI units")
        ax.set_title(
            "predicted standard deviations of the parameters, torque noise 1 % of the limits; "
            f"median gain {design.gain:.3g}", loc="left",
        )  # fmt: skip
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1.1), ncols=2)
