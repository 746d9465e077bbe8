"""A motion as a page that shows it in 3D: one .html file, complete in itself.

The mechanism is drawn from its frames: links as lines between joint axes, joints as cylinders or
blocks, centres of mass as dots. The page needs no network; a small canvas program draws it.
"""

from __future__ import annotations

import html
import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import Numbers, named_arguments
from ..describe.frames import matrix_of
from ..describe.robot import FIXED, GEOMETRY, PRISMATIC, Robot
from ..describe.world import gravity_in_world
from ..errors import InputError
from ..files import write_whole
from ..mechanism.frames import frame_of
from .frames import centres_of_mass, link_frames, placement
from .joints import number

_MOST = 3000  # pictures: more are left out evenly


@named_arguments
def animation(
    robot: Robot,
    t: Numbers,
    q: Numbers,
    base: Any = None,
    *,
    title: str = "",
    tool: Any = (0, 0, 0),
) -> str:
    """The page's text for joint positions q (m, n) at times t (m); base poses (m, 4, 4).

    `tool`: the point of the end effector's frame whose path is drawn."""
    t, q = np.asarray(t, float), np.asarray(q, float)
    if t.ndim != 1 or q.shape != (len(t), robot.n) or not len(t):
        raise InputError(f"t {t.shape} and q {q.shape}; expected (m) and (m, {robot.n})")
    if not np.isfinite(q).all():
        raise InputError("a motion that is not finite cannot be shown")
    if len(t) > _MOST:
        keep = np.unique(np.linspace(0, len(t) - 1, _MOST).round().astype(int))
        t, q = t[keep], q[keep]
        base = None if base is None else np.asarray(base)[keep]
    T = _with_cuts(robot, link_frames(robot, q, base))
    end = frame_of(robot)
    point = (placement(end) @ [*np.asarray(tool, float), 1.0])[:3]
    data = {
        "name": title or robot.name,
        "t": np.round(t, 6).tolist(),
        "bodies": _bodies(robot),
        "frames": _packed(T),
        "centres": _centres(robot, T),
        "last": end.link,
        "tool": point.tolist(),
        "up": _up(robot),
    }
    page = (resources.files(__package__) / "viewer.html").read_text(encoding="utf-8")
    # no "<" in the data: it could end the element, or open a comment in it
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    head, rest = page.split("@TITLE@")  # a name is never searched for the place of the data
    return head + html.escape(data["name"]) + rest.replace("@DATA@", text)


@named_arguments
def write_animation(
    path: str | Path, robot: Robot, t: Numbers, q: Numbers, base: Any = None, **options: Any
) -> None:
    """The page as a file, whole or not at all."""
    require_page(path)
    text = animation(robot, t, q, base, **options)
    write_whole(path, lambda file: Path(file).write_text(text, encoding="utf-8"))


def require_page(path: str | Path) -> None:
    """The extension of an animation."""
    if Path(path).suffix.lower() != ".html":
        raise InputError(f"{path}: an animation is written as .html")


def _bodies(robot: Robot) -> list[dict[str, Any]]:
    """For every frame but 0, and those of the cuts: antecedent and kind of the joint."""
    return [
        {
            "of": joint.antecedent,
            "kind": "fixed" if joint.sigma == FIXED else "slide" if joint.sigma == PRISMATIC
            else "turn",
            "name": link.name,
        }
        for joint, link in zip(robot.joints, robot.links, strict=True)
    ] + [
        {"of": joint.antecedent, "kind": "cut", "name": loop.name}
        for loop in robot.loops for joint in (loop.cut, loop.twin)
    ]  # fmt: skip


def _with_cuts(robot: Robot, T: np.ndarray) -> np.ndarray:
    """Frames of the links, then of every loop where it was cut: once on either side, so that both
    links are drawn as far as there. Loops are closed, so both are where the twin is."""
    twins = [
        T[:, loop.twin.antecedent] @ matrix_of([number(getattr(loop.twin, k)) for k in GEOMETRY])
        for loop in robot.loops
    ]
    both = [x[:, None] for x in twins for _ in range(2)]
    return np.concatenate([T, *both], axis=1)


def _packed(T: np.ndarray) -> list[list[float]]:
    """Rows 1 to 3 of every pose, picture after picture, five digits."""
    flat = np.round(T[:, :, :3, :].reshape(len(T), -1), 5) + 0.0
    rows: list[list[float]] = flat.tolist()
    return rows


def _centres(robot: Robot, T: np.ndarray) -> list[dict[str, Any]]:
    """Links with a mass: number, share of the total, and the point in their frame."""
    M, moments = centres_of_mass(robot, T[:1, : len(robot.links) + 1])
    total = float(M.sum()) or 1.0
    centres = []
    for j, mass in enumerate(M):
        if mass > 0:
            R, P = T[0, j, :3, :3], T[0, j, :3, 3]
            point = R.T @ (moments[0, j] / mass - P)
            centres.append({"link": j, "share": mass / total, "at": np.round(point, 5).tolist()})
    return centres


def _up(robot: Robot) -> list[float]:
    """The direction against gravity in the world, z without any."""
    g = gravity_in_world(robot)
    size = float(np.linalg.norm(g))
    return [0.0, 0.0, 1.0] if size == 0 else (-g / size).tolist()
