"""Numerical inverse kinematics as source text: the kernels with a robot's table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...arguments import named_arguments
from ...describe.robot import Robot
from ...emit.header import quoted
from ...kernel.text import Face, kernel_source
from ...mechanism.frames import with_frames
from ...mechanism.tree import Tree
from .kernels import damped_least_squares
from .solver import RESTARTS, mask_of, problem_of


@named_arguments
def numeric_code(
    robot: Robot, language: str, frames: Any = None, *, function: str = "inverse_kinematics",
    restarts: int = RESTARTS, limits: bool = True, tolerance: float = 1e-10, mask: Any = None,
    iterations: int = 100,
) -> str:  # fmt: skip
    """Self-contained code, c, cpp, python, matlab or rust, of `inverse_kinematics` for a pose.

    frames: one frame, or a list of frames that are to reach their poses together."""
    listed = list(frames) if isinstance(frames, Sequence) and not isinstance(frames, str) else None
    robot, links = with_frames(robot, listed if listed is not None else [frames])
    tree = Tree.of(robot)
    weights = mask_of(mask)
    made = problem_of(
        robot, [(link, weights) for link in links], limits, (iterations, restarts + 1, tolerance)
    )
    n = made.n + made.cuts
    own = [robot.variables[k] for k in made.own]
    followed = [
        f"       {name} = {''.join(f'{x:+.17g} {own[k]} ' for k, x in enumerate(row) if x)}"
        f"{shift:+.17g}"
        for name, row, shift in zip(robot.variables, made.slope, made.offset, strict=True)
        if name not in own
    ]
    several = ", ".join(
        robot.variables[row] for row, low, up in made.several if low > -1e300 or up < 1e300
    )
    cuts = f", then {made.cuts} of cut joints" if made.cuts else ""
    loops = made.targets - len(links)
    header = [
        f"{quoted(robot.name)}: a configuration for poses of"
        f" {', '.join(tree.names[k] for k in links)}, by",
        f"damped least squares with{' limits and' if limits else ''} random restarts",
        "",
        f"T      poses (4x4, row by row, lengths in m), {len(links)} of them"
        + (f", then {loops} that are not read (loops)" if loops else ""),
        f"start  where to begin: {', '.join(own)}{cuts}, rad or m",
        "seed   of the restarts: an integer from 1 to 2147483645",
        "q      in the order of start" + (" (coupled joints follow):" if followed else ""),
        *followed,
        *(
            [f"       limits of {several}, which several joints lead, are not looked at"]
            if several
            else []
        ),
        "info   largest error (m, rad), iterations, 1 when it converged, starts used",
        "",
    ]
    face = Face(
        function, {"T": 16 * made.targets, "start": n, "seed": 1}, {"q": n, "info": 4},
        {name: [float(x) for x in table] for name, table in made.tables.items()}, header,
    )  # fmt: skip
    return kernel_source(language, damped_least_squares, face)
