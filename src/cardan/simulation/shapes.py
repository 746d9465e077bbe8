"""Pictures of deformed robots: mode shapes side by side (PNG, SVG), moving modes (HTML, GIF).

Beams are drawn as the curves they bend into, rigid links as lines between their frames. A mode is
drawn as large as can be seen, not as large as it is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import Numbers, named_arguments
from ..build.flexible.closure import Closing, closing
from ..describe.flexible import Beam
from ..describe.robot import Robot
from ..errors import InputError, MissingExtraError
from ..files import write_atomic
from ..models.flexible.loops import side
from ..motion.joints import array
from ..motion.plots import save_figure
from .modal import Modes

Array = np.ndarray
_SHARE = 0.12  # of the robot's size: the largest displacement drawn
_SAMPLES = 25
_FORMATS = (".html", ".gif")


@named_arguments
def curves(robot: Robot, q: Numbers) -> list[Array]:
    """The robot at coordinates q (n + ne) as curves (k, 3) in frame 0: links in order."""
    loops = closing(robot)
    scene = loops.scene
    values = array("q", q)
    if values.ndim != 1:
        raise InputError(f"q has shape {values.shape}; expected one configuration")
    x = loops.seats(values)
    frames: dict[int, tuple[Array, Array]] = {0: (np.zeros(3), np.eye(3))}
    for link in scene.links:
        seen = side(scene, x, 0, link.j)
        R = np.array([[float(v) for v in row] for row in seen.R.matrix().rows])
        frames[link.j] = (np.array([float(v) for v in seen.P]), R)
    lines = []
    for link in scene.links:
        if link.flexible is not None and link.j <= len(robot.links):
            lines.append(_bent(robot, loops, link.j, x.q.elastic[link.j], frames[link.j]))
        for child in scene.tree.children[link.j]:
            if link.flexible is None:
                lines.append(np.array([frames[link.j][0], frames[child][0]]))
    return [line for line in lines if np.ptp(line, axis=0).max() > 1e-12]


def _bent(
    robot: Robot, loops: Closing, j: int, qe: Sequence[float], frame: tuple[Array, Array]
) -> Array:
    """Points along a flexible link."""
    item = robot.links[j - 1].flexible
    elastic = loops.scene.links[j - 1].flexible
    assert elastic is not None
    if isinstance(item, Beam):
        axis = "xyz".index(item.along)
        start, length = float(item.start), float(item.length)  # type: ignore[arg-type]
        along = start + length * np.linspace(0, 1, _SAMPLES)
        places = [elastic.at(_on_axis(axis, x)) for x in along]
    else:
        places = [elastic.at(p.position) for p in item.points]
    points = [frame[0]] if not isinstance(item, Beam) else []
    for place in places:
        r = np.array([float(v) for v in place.position])
        for value, phi in zip(qe, place.displacement, strict=True):
            r = r + value * np.array([float(v) for v in phi])
        points.append(frame[0] + frame[1] @ r)
    return np.array(points)


def _on_axis(axis: int, x: float) -> Any:
    return tuple(x if a == axis else 0 for a in range(3))


def _drawn(robot: Robot, modes: Modes, k: int) -> tuple[list[Array], list[Array]]:
    """(curves at rest, displacement of each) of mode k, counted from 1, at the size drawn."""
    if not 1 <= k <= len(modes.frequencies):
        raise InputError(f"mode {k} does not exist; allowed: 1 to {len(modes.frequencies)}")
    still = curves(robot, modes.q)
    points = np.vstack(still)
    size = float(np.ptp(points, axis=0).max())
    shape = modes.shapes[-len(modes.q) :, k - 1]
    shape = shape / max(float(np.abs(shape).max()), 1e-300)
    step = 1e-4
    moved = curves(robot, modes.q + step * shape)
    rates = [(b - a) / step for a, b in zip(still, moved, strict=True)]
    largest = max(float(np.abs(rate).max()) for rate in rates)
    return still, [rate * (_SHARE * size / max(largest, 1e-300)) for rate in rates]


def _view(still: Sequence[Array]) -> Array:
    """Two directions to look along: the plane of a planar robot, else from above at an angle."""
    points = np.vstack(still)
    spans = np.ptp(points, axis=0)
    if spans.min() < 1e-6 * spans.max():
        flat = int(np.argmin(spans))
        axes = [a for a in range(3) if a != flat]
        return np.eye(3)[axes]
    return np.array([[0.82, -0.57, 0.0], [0.25, 0.36, 0.9]])


@named_arguments
def plot_modes(
    robot: Robot, modes: Modes, path: str | Path, which: Sequence[int] | None = None
) -> None:
    """Mode shapes side by side, over the robot at rest, as a picture (.png, .svg, .pdf)."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError.of("matplotlib", "plot", "drawing modes") from None
    chosen = list(which or range(1, min(6, len(modes.frequencies)) + 1))
    columns = min(3, len(chosen))
    rows = -(-len(chosen) // columns)
    figure = Figure(figsize=(3.4 * columns, 2.9 * rows), layout="constrained")
    for n, k in enumerate(chosen, 1):
        still, moved = _drawn(robot, modes, k)
        view = _view(still)
        axes = figure.add_subplot(rows, columns, n)
        for line, change in zip(still, moved, strict=True):
            axes.plot(*(view @ line.T), color="0.75", lw=1)
            axes.plot(*(view @ (line + change).T), color="tab:blue", lw=1.8)
            axes.plot(*(view @ (line - change).T), color="tab:orange", lw=0.8)
        axes.set_title(f"{k}: {modes.frequencies[k - 1]:.4g} Hz", fontsize=10)
        axes.set_aspect("equal")
        axes.set_axis_off()
    save_figure(figure, path, dpi=110)


@named_arguments
def animate_mode(robot: Robot, modes: Modes, path: str | Path, mode: int = 1) -> None:
    """A moving mode as a page that needs nothing else (.html), or a picture (.gif)."""
    suffix = Path(path).suffix
    if suffix not in _FORMATS:
        raise InputError(f"{path}: an animation is written as {' or '.join(_FORMATS)}")
    still, moved = _drawn(robot, modes, mode)
    view = _view(still)
    pairs = [((view @ a.T).T, (view @ b.T).T) for a, b in zip(still, moved, strict=True)]
    title = f"{robot.name}, mode {mode}: {modes.frequencies[mode - 1]:.4g} Hz"
    if suffix == ".html":
        write_atomic(path, _page(title, pairs))
    else:
        _gif(title, pairs, path)


def _page(title: str, pairs: Sequence[tuple[Array, Array]]) -> str:
    """The animation as one page: curves at rest and their displacements, drawn by a script."""
    import html

    points = np.vstack([np.vstack([a + b, a - b]) for a, b in pairs])
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    scale = 640 / max(float(span[0]), 1.3 * float(span[1]), 1e-9)
    box = (span * scale + 40).round(1).tolist()

    def flat(a: Array, origin: Array) -> list[list[float]]:
        out = (a - origin) * scale
        out[:, 1] *= -1
        rounded: list[list[float]] = out.round(2).tolist()
        return rounded

    top = np.array([low[0] - 20 / scale, low[1] + span[1] + 20 / scale])
    data = json.dumps([[flat(a, top), flat(b, np.zeros(2))] for a, b in pairs])
    return _PAGE.format(title=html.escape(title), width=box[0], height=box[1], data=data)


_PAGE = """<!doctype html>
<meta charset="utf-8"><title>{title}</title>
<style>body{{font:15px system-ui;margin:1.5em;color:#222;background:#fff}}</style>
<p>{title}</p>
<canvas id="c" width="{width}" height="{height}"></canvas>
<script>
const lines = {data}, c = document.getElementById("c").getContext("2d");
function draw(s, style, width) {{
  c.strokeStyle = style; c.lineWidth = width; c.lineJoin = "round";
  for (const [a, b] of lines) {{
    c.beginPath();
    a.forEach((p, i) => c[i ? "lineTo" : "moveTo"](p[0] + s * b[i][0], p[1] + s * b[i][1]));
    c.stroke();
  }}
}}
function frame(t) {{
  c.clearRect(0, 0, c.canvas.width, c.canvas.height);
  draw(0, "#bbb", 1); draw(Math.sin(t / 300), "#1f77b4", 2.5);
  requestAnimationFrame(frame);
}}
requestAnimationFrame(frame);
</script>
"""


def _gif(title: str, pairs: Sequence[tuple[Array, Array]], path: str | Path) -> None:
    try:
        from matplotlib.animation import FuncAnimation, PillowWriter
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError.of("matplotlib", "plot", "a moving picture") from None
    figure = Figure(figsize=(5, 3.6))
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_title(title, fontsize=9)
    axes.set_aspect("equal")
    axes.set_axis_off()
    lines = []
    for a, b in pairs:
        axes.plot(*a.T, color="0.75", lw=1)
        axes.plot(*(a + b).T, alpha=0)
        axes.plot(*(a - b).T, alpha=0)
        lines.append(axes.plot(*a.T, color="tab:blue", lw=2)[0])

    def frame(k: int) -> Any:
        s = np.sin(2 * np.pi * k / 24)
        for line, (a, b) in zip(lines, pairs, strict=True):
            line.set_data(*(a + s * b).T)
        return lines

    FuncAnimation(figure, frame, 24).save(path, PillowWriter(20))
