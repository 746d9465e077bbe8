"""All ways in which an arm can follow a path of its tool: the branches of its inverse geometry.

At every pose the inverse geometric model gives all configurations. A branch is a continuous line of
them: the next one is that nearest to where the Jacobian leads, and where it is not near, the path
is looked at more closely until it is, or the branch ends. It ends where the path leaves the reach
of the arm, at a singular configuration, at a joint limit, or where something is touched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..arguments import named_arguments
from ..catalogue import model
from ..describe.limits import joint_limits
from ..describe.robot import PRISMATIC, Robot
from ..errors import InputError, ModelError
from .derived import compiled
from .joints import moving, names, require_numbers
from .paths import Path

Clear = Callable[[np.ndarray], np.ndarray]
_NEAR = 0.05  # rad, m: a step of a branch, away from where the Jacobian leads
_FINEST = 2.0**-14  # of the path: a smaller step is none
_SINGULAR = 0.05  # of the largest singular value


@dataclass(frozen=True)
class Branch:
    """Configurations q (m, n) at s (m) of a path from 0 to 1, as far as they go, and why not on."""

    s: np.ndarray
    q: np.ndarray
    reason: str = ""  # why it ends before 1

    @property
    def whole(self) -> bool:
        """Does it go to the end of the path?"""
        return not self.reason

    @property
    def travel(self) -> float:
        """The way of the joint that goes farthest, rad or m."""
        return float(np.abs(np.diff(self.q, axis=0)).sum(axis=0).max(initial=0.0))

    def __str__(self) -> str:
        start = np.array2string(self.q[0], precision=3, suppress_small=True, separator=", ")
        end = (
            "goes to the end" if self.whole else f"ends at {100 * self.s[-1]:.2f} %: {self.reason}"
        )
        return f"from {start}: {end}"


@named_arguments
def branches(
    robot: Robot, path: Path, *, frame: Any = None, samples: int = 200,
    clear: Clear | None = None,
) -> list[Branch]:  # fmt: skip
    """The branches that begin at the first pose, those that go all the way first, then the longest;
    of equals the one whose joints go least far.

    Whole turns of the joints are chosen so that a branch stays within its limits for as long as can
    be. `clear`: (m, n) configurations -> (m) booleans, false where one must not be
    (`collision.Clearance.clear`).

    >>> from cardan.motion import branches, paths
    >>> robot = cardan.load("ur5")
    >>> T = cardan.model(robot, "transform").evaluate(q=[0, -1, 1, -0.5, 0.5, 0])
    >>> end = T.copy(); end[0, 3] += 0.1
    >>> every = branches.branches(robot, paths.line(T, end, 1.0))
    >>> len(every), all(branch.whole for branch in every)
    (8, True)"""
    require_numbers(robot, "a path in task space")
    if path.along is None:
        raise InputError(f"'{path.name}' is a motion, not a way: use line, circle or through")
    if isinstance(samples, bool) or not isinstance(samples, int | np.integer) or samples < 2:
        raise InputError(f"{samples} samples of a path; expected a whole number, at least 2")
    s = np.linspace(0.0, 1.0, int(samples) + 1)
    tracked = [_within(robot, Branch(*row), clear) for row in _Tracker(robot, path, frame).rows(s)]
    return sorted(tracked, key=lambda branch: (not branch.whole, -branch.s[-1], branch.travel))


@named_arguments
def whole_branch(
    robot: Robot, path: Path, q0: Any = None, *, frame: Any = None, samples: int = 200,
    clear: Clear | None = None,
) -> Branch:  # fmt: skip
    """The branch nearest to q0, or without it the best, which must go to the end of the path."""
    listed = branches(robot, path, frame=frame, samples=samples, clear=clear)
    chosen = listed
    if q0 is not None:
        turn = _turns(robot)
        away = [np.abs(_wrapped(branch.q[0] - q0, turn)).max() for branch in listed]
        chosen = [listed[int(np.argmin(away))]] if listed else []
    if chosen and chosen[0].whole:
        return chosen[0]
    shown = "\n".join(f"  {branch}" for branch in (*chosen, *(x for x in listed if x.whole)))
    asked = "the branch of the start does not go" if q0 is not None else "no branch goes"
    raise InputError(
        f"{asked} along the {path.name} to its end\n{shown}\n",
        remedy="begin on another branch, or move the path",
    )


@lru_cache(maxsize=8)
def inverse_geometry(robot: Robot, frame: Any) -> Any:
    """All configurations of a pose of the frame, or None where no method gives them."""
    try:
        return model(robot, "inverse-geometry", **({} if frame is None else {"frame": frame}))
    except ModelError:
        return None


def _turns(robot: Robot) -> np.ndarray:
    return np.array([0.0 if j.sigma == PRISMATIC else 2 * np.pi for j in moving(robot)])


def _wrapped(away: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Differences of joint values less whole turns."""
    return np.asarray(away - turn * np.rint(away / (2 * np.pi)))


class _Tracker:
    """Follows branches along the poses of a path."""

    def __init__(self, robot: Robot, path: Path, frame: Any) -> None:
        assert path.along is not None
        self.along, self.turn = path.along, _turns(robot)
        geometry = inverse_geometry(robot, frame)
        if geometry is None:
            raise ModelError(f"no method gives all configurations of '{robot.name}' for a pose")
        self.solve = geometry.solve
        self.jacobian = compiled(robot, "jacobian", **({} if frame is None else {"frame": frame}))

    def rows(self, s: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, str]]:
        """(s, q, reason) of every branch."""
        every = self.solve(self.along(s).T)
        first = every[0]
        if not len(first):
            raise InputError("the first pose of the path is out of reach")
        return [self._branch(s, every, q) for q in first]

    def _branch(
        self, s: np.ndarray, every: Any, q: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, str]:
        places, rows = [0.0], [q]
        for k in range(1, len(s)):
            ways, reason = self._step(rows[-1], s[k - 1], s[k], every[k])
            places += [at for at, _ in ways]
            rows += [x for _, x in ways]
            if reason:
                return np.array(places), np.array(rows), reason
        return np.array(places), np.array(rows), ""

    def _step(
        self, q: np.ndarray, a: float, b: float, solutions: np.ndarray
    ) -> tuple[list[tuple[float, np.ndarray]], str]:
        """The configurations from a to b, in smaller steps where one is too long."""
        way: list[tuple[float, np.ndarray]] = []
        targets = [(b, solutions)]
        while targets:
            at, rows = targets[-1]
            nearest = self._nearest(q, a, at, rows)
            if nearest is not None:
                q, a = nearest, at
                way.append((at, nearest))
                targets.pop()
                continue
            if at - a < _FINEST:
                return way, self._ending(q, rows)
            middle = (a + at) / 2
            targets.append((middle, self.solve(self.along(np.array(middle)).T)))
        return way, ""

    def _nearest(self, q: np.ndarray, a: float, b: float, rows: np.ndarray) -> np.ndarray | None:
        """The solution nearest to where the Jacobian leads, if it is near and no other is."""
        if not len(rows):
            return None
        V = self.along(np.array(a)).V
        step = np.linalg.lstsq(self.jacobian(q=q), V * (b - a), rcond=1e-9)[0]
        away = np.abs(_wrapped(rows - q - step, self.turn)).max(axis=1)
        k = int(np.argmin(away))
        apart = np.delete(away, k).min(initial=np.inf)
        if away[k] > _NEAR or apart < 4 * away[k]:
            return None
        return np.asarray(q + _wrapped(rows[k] - q, self.turn))

    def _ending(self, q: np.ndarray, rows: np.ndarray) -> str:
        if not len(rows):
            return "the path leaves the reach"
        values = np.linalg.svd(self.jacobian(q=q), compute_uv=False)
        if values[-1] < _SINGULAR * values[0]:
            return "a singular configuration"
        return "no configuration near the last was found"


def _within(robot: Robot, branch: Branch, clear: Clear | None) -> Branch:
    """The branch by whole turns within the joint limits, cut where it leaves them or touches."""
    low, high = joint_limits(robot)
    q = branch.q.copy()
    for j, turn in enumerate(_turns(robot)):
        if turn and np.isfinite([low[j], high[j]]).any():
            shifts = turn * np.arange(-2, 3)
            moved = q[:, j, None] + shifts
            inside = (moved >= low[j] - 1e-9) & (moved <= high[j] + 1e-9)
            length = np.where(inside.all(0), len(q), np.argmin(inside, axis=0))
            best = np.lexsort((np.abs(q[0, j] + shifts), -length))[0]
            q[:, j] += shifts[best]
    outside = (q < low - 1e-9) | (q > high + 1e-9)
    ends = [(len(q), branch.reason)]
    if outside.any():
        k = int(np.argmax(outside.any(axis=1)))
        j = int(np.argmax(outside[k]))
        limit = low[j] if q[k, j] < low[j] else high[j]
        ends.append((k, f"the limit {limit:.4g} of {names(robot)[j]}"))
    if clear is not None and not (free := np.asarray(clear(q), bool)).all():
        ends.append((int(np.argmin(free)), "a collision"))
    end, reason = min(ends, key=lambda x: x[0])
    return Branch(branch.s[: max(end, 1)], q[: max(end, 1)], reason)
