"""`cardan.trajectory`: a motion of a robot from what it should do: go to a point of its joints,
through points, or along a path of its tool; by a profile of time, or as fast as its limits allow.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..arguments import named_arguments
from ..describe.robot import Robot
from ..errors import InputError
from .branches import inverse_geometry, whole_branch
from .collision import Clearance
from .coordinates import coordinates
from .joints import array, driven, vector
from .optimal import along_points, retimed, time_optimal
from .paths import Path
from .piecewise import LAWS, time_law
from .taskspace import follow, rates
from .trajectory import Trajectory, at_home, move, read_trajectory, through

PROFILES = (*LAWS, "time-optimal")
_LOOKED_AT = 2001  # places of a path, for its peaks


def trajectory(
    robot: Robot, to: Any, duration: float | None = None, *, start: Any = None, times: Any = None,
    profile: str | None = None, velocity: Any = None, acceleration: Any = None, jerk: Any = None,
    torque: Any = None, frame: Any = None, clearance: Clearance | None = None, dt: float = 1e-3,
) -> Trajectory:  # fmt: skip
    """A motion of a robot's joints, sampled every dt: from rest at `start` to rest at `to`.

    Positions are one value for all joints or one per joint, rad or m; with closed loops or
    couplings the motion is that of the active joints, and values of all joints may be given.
    Without `start` it begins where the robot stands. `to` may also be

    - points (m, n): with `times` (m) a spline through them at these times; without, a smooth path
      from the first to the last (from `start`, where it is given);
    - a path of the tool (`cardan.motion.paths`: line, circle, through poses), which `frame`
      follows: an arm takes the branch of its inverse geometry that `start` is on, without it the
      one that goes to the end and turns the joints least; where none does, each is told;
    - a .csv or .parquet file, which is read: t, q1 .. qn and, if there, qd1 .., qdd1 ..

    `profile` is the law of time: cubic, quintic (if nothing is said), septic, bang-bang,
    trapezoidal, s-curve; limits (velocity, acceleration, jerk) give the shortest duration that
    respects them; without any it is 1 s, that of a path of the tool its own. "time-optimal" is the
    fastest motion under limits of velocity, acceleration and torque, those of the description where
    none are given. `clearance`: what must not be touched.

    >>> robot = cardan.load("ur5")
    >>> motion = cardan.trajectory(robot, [0.5, -1.0, 1.0, 0, 0, 0], duration=2.0)
    >>> q, qd, qdd = motion(1.0)
    >>> q.round(3)[:3].tolist()
    [0.25, -0.5, 0.5]
    >>> points = [[0, -1, 1, 0, 0, 0], [0.5, -0.8, 1, 0, 0, 0], [1, -1, 1, 0, 0, 0]]
    >>> cardan.trajectory(robot, points, profile="time-optimal").duration < 1
    True"""
    if profile is not None and profile not in PROFILES:
        raise InputError(f"there is no profile '{profile}'; allowed: {', '.join(PROFILES)}")
    limits = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk}
    optimal = profile == "time-optimal"
    if torque is not None and not optimal:
        raise InputError(
            "limits of torque are those of a time-optimal motion", where="torque",
            remedy='give profile="time-optimal"',
        )  # fmt: skip
    if optimal and (duration, times, jerk) != (None, None, None):
        raise InputError("a time-optimal motion takes no duration, times or limit of jerk")
    if isinstance(to, str | os.PathLike):
        if start is not None or times is not None:
            raise InputError("a trajectory from a file begins as the file says: leave start out")
        return _clear(read_trajectory(os.fspath(to), robot.n), clearance)
    if times is not None:
        return _clear(through(_points(robot, to), times, dt=dt), clearance)
    if not isinstance(to, Path) and np.ndim(to) < 2 and not optimal:
        first, last = _ends(robot, start, to)
        if duration is None and all(x is None for x in limits.values()):
            duration = 1.0
        motion = move(first, last, duration, law=profile or "quintic", dt=dt, **limits)
        return _clear(motion, clearance)
    law = None
    if isinstance(to, Path):
        way, law = tool_path(robot, to, start, frame=frame, clearance=clearance), to.law
    elif np.ndim(to) < 2:
        way = along_points(np.stack(_ends(robot, start, to)))
    else:
        points = _points(robot, to)
        way = along_points(
            points if start is None else [_of_drives("start", start, robot), *points]
        )
    if optimal:
        of = {"velocity": velocity, "acceleration": acceleration, "torque": torque}
        motion = time_optimal(robot, way, dt=dt, **of)
    elif law is not None and duration is None and profile is None and _none(limits):
        motion = retimed(way, law, dt, way.name)
    else:
        motion = _profiled(way, profile or "quintic", duration, limits, dt)
    return _clear(motion, clearance)


@named_arguments
def tool_path(
    robot: Robot, path: Path, start: Any = None, *, frame: Any = None,
    clearance: Clearance | None = None, samples: int = 200,
) -> Trajectory:  # fmt: skip
    """The joints along a path of the tool, as a function of s from 0 to 1 in place of the time.

    An arm of six joints takes a branch of its inverse geometry, of which all are tried; others
    follow the path by numbers, from the configuration nearest to `start`."""
    if path.along is None:
        raise InputError(
            f"'{path.name}' is a motion, not a path", remedy="taskspace.follow gives its joints"
        )
    geometry = None if robot.constrained or robot.n != 6 else inverse_geometry(robot, frame)
    if geometry is None:
        first = at_home(robot) if start is None and not robot.constrained else start
        even = Path(1.0, path.along, path.name, path.along)
        return follow(robot, even, first, frame=frame, dt=1 / samples)
    q0 = None if start is None else vector("start", start, robot.n)
    clear = None if clearance is None else clearance.clear
    branch = whole_branch(robot, path, q0, frame=frame, samples=samples, clear=clear)
    way = path.along(branch.s)
    return Trajectory(
        branch.s, *rates(robot, branch.q, way.V, way.Vd, frame, None), None, path.name
    )


def _none(limits: dict[str, Any]) -> bool:
    return all(x is None for x in limits.values())


def _profiled(
    way: Trajectory, profile: str, duration: float | None, limits: dict[str, Any], dt: float
) -> Trajectory:
    """A path by a profile of time, in a duration, or the shortest that limits allow."""
    if limits["jerk"] is not None:
        raise InputError(
            "a limit of jerk is one of a motion from one point to another", where="jerk"
        )
    ends = (np.array([float(way.t[0])]), np.array([float(way.t[-1])]))
    law = time_law(profile).stretched(1.0).mapped(*ends)
    _, qd, qdd = retimed(way, law, 1 / _LOOKED_AT, way.name)(np.linspace(0, 1, _LOOKED_AT))
    needed = 0.0
    for order, (key, rate) in enumerate((("velocity", qd), ("acceleration", qdd)), 1):
        if limits[key] is not None:
            limit = vector(key, limits[key], way.n)
            if (limit <= 0).any():
                raise InputError(f"{key} = {limit.tolist()}: limits must be positive", where=key)
            needed = max(needed, float((np.abs(rate) / limit).max()) ** (1 / order))
    if duration is not None and duration < needed * (1 - 1e-12):
        raise InputError(
            f"{duration} s is too short for the limits: a {profile} law needs {needed:.6g} s"
        )
    return retimed(way, law.stretched(duration or needed or 1.0), dt, way.name)


def _clear(motion: Trajectory, clearance: Clearance | None) -> Trajectory:
    """The motion, if it touches nothing."""
    if clearance is None:
        return motion
    k, distance, told = clearance.nearest(_tree(clearance.robot, motion))
    if distance <= 0:
        raise InputError(
            f"{told} are {-distance:.4g} m inside each other at t = {motion.t[k]:.6g} s",
            remedy="give other points, another path, or another start",
        )
    return motion


def _tree(robot: Robot, motion: Trajectory) -> np.ndarray:
    """Positions of all joints along a motion, which may be that of the drives."""
    on = coordinates(robot)
    return motion.q if motion.n == on.nq else on.follow(motion.q, on.first("q", motion.q[0]))


def _points(robot: Robot, to: Any) -> np.ndarray:
    """Points of the joints that a motion moves, (m, n)."""
    columns, points = driven(robot), array("to", to)
    if points.ndim != 2 or points.shape[1] not in (len(columns), robot.n):
        raise InputError(
            f"to has shape {points.shape}; expected (m, {len(columns)}): a point per time, a column"
            " per joint"
        )
    return points if points.shape[1] == len(columns) else points[:, columns]


def _ends(robot: Robot, start: Any, to: Any) -> tuple[np.ndarray, np.ndarray]:
    first = at_home(robot) if start is None else _of_drives("start", start, robot)
    return first, _of_drives("to", to, robot)


def _of_drives(name: str, values: Any, robot: Robot) -> np.ndarray:
    """Positions of the joints that a motion moves, of which all joints may be given."""
    columns = driven(robot)
    whole = np.size(values) == robot.n
    return vector(name, values, robot.n)[columns] if whole else vector(name, values, len(columns))
