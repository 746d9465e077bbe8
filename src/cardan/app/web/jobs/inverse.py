"""The work of inverse geometry: all configurations that bring the end effector to a pose.

In closed form or by the general method where the chain to it has one, joints that loops tie to it
then from the loops; else by a search from many starts, which may miss some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....catalogue import model
from ....describe.frames import frame, rotation_of_rpy
from ....describe.limits import joint_limits
from ....describe.robot import FIXED, PRISMATIC, Robot
from ....errors import ModelError
from ....loops.numeric import skeleton
from ....mechanism.frames import frame_of
from ....mechanism.tree import Tree
from ....motion.frames import frame_poses, link_frames
from .questions import Data, require_closed, vector

_STARTS = 96
_MOST = 12  # joints of a chain: of more, infinitely many configurations are the rule
_FEW = 64  # assemblies that are listed
_METHODS = {"paul": "Paul's method", "pieper": "Pieper's method", "general": "the general method"}
_APART = 1e-3  # rad, m: nearer ones are the same; a search near a singularity is no finer


def inverse(robot: Robot, data: Data, say: Callable[[str], None]) -> Data:
    """Those of a given pose, or of that in which given joint positions put it; of the frame that
    is named, or the end effector."""
    name = str(data.get("frame") or "") or None
    q = vector(data, "q", robot.n)
    pose = _pose(data)
    say("deriving the inverse geometric model")
    path = Tree.of(robot).path(frame_of(robot, name).link)
    bare = skeleton(robot)
    if robot.loops and pose is None:
        require_closed(bare, q)
    if not robot.ne and len(path) <= _MOST:
        now = model(robot, "transform", frame=name).evaluate(q=q)
        T = np.asarray(now) if pose is None else pose
        try:
            geometry = model(
                robot, "inverse-geometry", method=data.get("method", "auto"), frame=name
            )
        except ModelError:
            if not robot.constrained:
                raise
        else:
            say("solving")
            on = [k for k in range(robot.n) if robot.variables[k] in geometry.variables]
            rows = _completed(geometry.solve(T, guess=q[on], limits=bool(robot.loops)), q, on)
            reason = "; ".join((geometry.reason, *geometry.remarks))
            why = "" if len(rows) or geometry.free else geometry.reach(T).text
            return _answer(rows, geometry.method, reason, geometry.equations(), why)
    say("searching")
    return _answer(_searched(bare, q, pose, name), "search",
                   f"from {_STARTS} starts: there may be others")  # fmt: skip


def assemblies(robot: Robot, data: Data, say: Callable[[str], None]) -> Data:
    """Those of closed loops at the active joints of q; where the legs of a platform have many
    arrangements, one of every pose."""
    q = vector(data, "q", robot.n)
    say("deriving the geometry of the loops")
    geometry = model(robot, "loop-geometry")
    link = geometry.coordinates
    say("solving")
    every = geometry.solve(q[[link.moving.index(j) for j in link.active]])
    words, rows = f"{len(every)} assembl{'y' if len(every) == 1 else 'ies'}", np.asarray(every)
    if every.poses is not None:
        words = str(every.poses)
        if len(rows) > _FEW:
            rows = rows[[own[0] for own in every.poses.arrangements]]
            words += ", one of each pose listed"
    says = "; ".join(filter(None, (words, every.note)))
    return {"configurations": rows[:_FEW].tolist(), "says": says}


def _completed(chain: np.ndarray, q: np.ndarray, on: list[int]) -> np.ndarray:
    """Positions of all joints: those that do not carry the end effector stay where they are."""
    rows = np.tile(q, (len(chain), 1))
    rows[:, on] = chain
    return rows


def _answer(q: Any, method: str, reason: str, equations: str = "", why: str = "") -> Data:
    rows = np.atleast_2d(q).tolist() if np.size(q) else []
    answer: Data = {"configurations": rows, "method": method}
    if not rows:
        words = why or f"tried by {method}"
        return {**answer, "fails": f"no configuration reaches this pose; {words}"}
    count = f"{len(rows)} configuration{'s' * (len(rows) != 1)}"
    texts = {"Equations": f"{reason}\n\n{equations}"} if equations else {}
    words = _METHODS.get(method, f"{method} {reason}")
    return {**answer, "says": f"{count} by {words}", "texts": texts}


def _pose(data: Data) -> np.ndarray | None:
    """Place and URDF's three angles as a transformation; None where no pose is given."""
    if not data.get("pose"):
        return None
    x = vector(data, "pose", 6)
    return frame(rotation_of_rpy(x[3:].tolist()), x[:3])


def _searched(
    robot: Robot, q: np.ndarray, pose: np.ndarray | None = None, name: str | None = None
) -> np.ndarray:
    """Distinct configurations with a pose, or with that of q, then q among them."""
    from .... import inverse_kinematics

    T = frame_poses(robot, link_frames(robot, q), name) if pose is None else pose
    low, high = (np.where(np.isfinite(x), x, end) for x, end in zip(
        joint_limits(robot), (q - np.pi, q + np.pi), strict=True))  # fmt: skip
    starts = np.random.default_rng(1).uniform(low, high, (_STARTS, robot.n))
    starts[0] = q
    search = inverse_kinematics(robot, np.broadcast_to(T, (_STARTS, 4, 4)), name, guess=starts,
                               restarts=0, tolerance=1e-9)  # fmt: skip
    tied = {i for j, led in robot.couplings.items() for i in (j, *dict(led.leaders))}
    moving = [(j, x) for j, x in enumerate(robot.joints, 1) if x.sigma != FIXED]
    turning = np.array([x.sigma != PRISMATIC and j not in tied for j, x in moving], bool)
    configurations = [q] if pose is None else []
    for row in search.q[search.converged]:
        row = np.where(turning, q + np.mod(row - q + np.pi, 2 * np.pi) - np.pi, row)
        if not configurations:
            configurations.append(row)
        apart = np.array(configurations) - row
        apart = np.where(turning, np.mod(apart + np.pi, 2 * np.pi) - np.pi, apart)
        if np.abs(apart).max(axis=1).min() > _APART:
            configurations.append(row)
    return np.array(configurations[:64])
