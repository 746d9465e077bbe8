"""Pictures with matplotlib: one style, units on every axis, figures that are files or notebook
output. Nothing here touches pyplot's global state.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import named_arguments
from ..describe.robot import Robot
from ..errors import InputError, MissingExtraError
from ..files import write_whole
from .joints import names, units

if TYPE_CHECKING:
    from .trajectory import Trajectory

# eight colours that stay apart for colour-blind readers (M. Okabe, K. Ito, 2008)
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C564B", "#000000",
)  # fmt: skip
_DASHES = ("-", "--", ":", "-.")  # when the colours come again
_LISTED = 9  # labels under each other beside a panel
FORMATS = (".png", ".pdf", ".svg", ".jpg")
_STYLE: dict[str, Any] = {
    "font.size": 9, "axes.titlesize": 9, "axes.labelsize": 9, "legend.fontsize": 8,
    "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6, "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#555555",
    "xtick.color": "#333333", "ytick.color": "#333333", "lines.linewidth": 1.3,
    "legend.frameon": False, "figure.dpi": 100, "savefig.dpi": 130,
    "axes.formatter.limits": (-3, 4),
}  # fmt: skip


@dataclass(frozen=True)
class Panel:
    """One set of axes: curves over time with one unit. Rows of y (m) are labelled curves; limits
    (low, high) of a curve are dotted lines of its colour, other ones black; infinite ones none."""

    title: str
    unit: str
    y: Mapping[str, np.ndarray]
    dashed: frozenset[str] = frozenset()
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@contextmanager
def style() -> Iterator[Any]:
    """matplotlib with Cardan's style in force; gives the module."""
    try:
        import matplotlib
        from cycler import cycler
    except ImportError:
        raise MissingExtraError.of("matplotlib", "plot", "a plot") from None
    chosen: Any = {**_STYLE, "axes.prop_cycle": cycler(color=COLOURS)}
    with matplotlib.rc_context(chosen):
        yield matplotlib


def lines(
    t: np.ndarray, panels: Sequence[Panel], title: str = "", *, columns: int = 1,
    x_label: str = "time, s",
) -> Any:  # fmt: skip
    """A figure of panels over a common axis."""
    with style():
        from matplotlib.figure import Figure

        rows = -(-len(panels) // columns)
        figure = Figure(figsize=(6.8 if columns == 1 else 4.6 * columns, 1.9 * rows + 0.7))
        axes = np.atleast_1d(figure.subplots(rows, columns, sharex=True, squeeze=False)).ravel()
        same = len({tuple(panel.y) for panel in panels}) == 1
        for ax, panel in zip(axes, panels, strict=False):
            for k, (label, y) in enumerate(panel.y.items()):
                again = _DASHES[k // len(COLOURS) % len(_DASHES)]
                dash = "--" if label in panel.dashed else again
                ax.plot(t, y, dash, label=label, color=COLOURS[k % len(COLOURS)])
            for label, values in panel.limits.items():
                at = list(panel.y).index(label) if label in panel.y else len(COLOURS) - 1
                for value in filter(np.isfinite, values):
                    ax.axhline(
                        value, linestyle=":", linewidth=0.9, color=COLOURS[at % len(COLOURS)]
                    )
            ax.set_title(panel.title, loc="left")
            ax.set_ylabel(panel.unit)
            if len(panel.y) > 1 and not same:
                beside = -(-len(panel.y) // _LISTED)
                ax.legend(
                    loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.8, ncols=beside
                )
        if same and len(panels[0].y) > 1:  # one legend for all
            where: Any = "outside right center" if columns == 1 else "outside lower center"
            handles, labels = axes[0].get_legend_handles_labels()
            across = 1 if columns == 1 else len(labels)
            figure.legend(handles, labels, loc=where, ncols=across, handlelength=1.4)
        for ax in axes[len(panels) :]:
            ax.set_visible(False)
        for ax in axes[max(0, len(panels) - columns) : len(panels)]:
            ax.set_xlabel(x_label)
            ax.tick_params(labelbottom=True)
        if title:
            figure.suptitle(title, x=0.02, ha="left", fontsize=10, fontweight="bold")
        figure.set_layout_engine("constrained")
        return figure


def joint_panels(robot: Robot, title: str, values: np.ndarray, kind: str) -> list[Panel]:
    """Values of all joints (m, n) as panels, one per unit; kind: q, qd, qdd or tau. Joints without
    values (not a number throughout) are left out."""
    panels: dict[str, dict[str, np.ndarray]] = {}
    for name, unit, column in zip(names(robot), units(robot), values.T, strict=True):
        if np.isnan(column).all():
            continue
        suffix = {"q": "", "qd": "/s", "qdd": "/s²"}.get(kind)
        text = unit.effort if suffix is None else unit.position + suffix
        panels.setdefault(text, {})[name] = column
    return [Panel(title, unit, curves) for unit, curves in panels.items()]


def plot_trajectory(motion: Trajectory, robot: Robot | None = None) -> Any:
    """Positions, velocities and accelerations of all joints."""
    parts = (("positions", "q"), ("velocities", "qd"), ("accelerations", "qdd"))
    panels: list[Panel] = []
    for title, key in parts:
        values = getattr(motion, key)
        if robot is not None:
            panels += joint_panels(robot, title, values, key)
        else:
            unit = {"q": "rad or m", "qd": "rad/s or m/s", "qdd": "rad/s² or m/s²"}[key]
            curves = {f"q{j}": column for j, column in enumerate(values.T, 1)}
            panels.append(Panel(title, unit, curves))
    return lines(motion.t, panels, f"{robot.name}: {motion.name}" if robot else motion.name)


def image(figure: Callable[[], Any]) -> bytes:
    """A figure as PNG; empty where matplotlib is not installed."""
    stream = io.BytesIO()
    with suppress(MissingExtraError):
        figure().savefig(stream, format="png", dpi=110)
    return stream.getvalue()


@named_arguments
def picture_format(path: str | Path) -> str:
    """The format that the extension chooses."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"{path}: a picture is written as {', '.join(FORMATS)}")
    return suffix[1:]


@named_arguments
def save_figure(figure: Any, path: str | Path, dpi: float | None = None) -> None:
    """To a file; the extension chooses the format. The file appears whole or not at all."""
    options = {"format": picture_format(path), **({"dpi": dpi} if dpi else {})}
    write_whole(path, lambda file: figure.savefig(file, **options))
