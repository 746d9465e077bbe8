"""Numerical inverse kinematics: one configuration near a guess, for what has no closed form.

Redundant arms, trees with several targets, closed loops, points instead of poses. Damped least
squares with joint limits and random restarts (kernels.py), compiled, over batches. It gives
one configuration, not all: cardan.model(robot, "inverse-geometry") gives all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arguments import floats, named_arguments
from ...describe.limits import limits_of
from ...describe.robot import FIXED, GEOMETRY, PRISMATIC, REVOLUTE, Joint, Robot
from ...describe.values.expression import Value, number
from ...describe.values.parser import to_value
from ...errors import InputError, ModelError, translated
from ...kernel.records import layout_of
from ...mechanism.coordinates import Coordinates
from ...mechanism.frames import with_frames
from ...mechanism.tree import Tree
from ..poses import asked, poses, refuse_rotations
from .kernels import (
    MOST_FRAMES,
    MOST_ROWS,
    MOST_VARIABLES,
    Report,
    damped_least_squares,
)

Array = NDArray[np.float64]
Constraints = Callable[[Array], tuple[Array, Array]]
RESTARTS = 60  # an arm with narrow limits reaches some poses from one start in six only


@dataclass(frozen=True)
class Reached:
    """What numerical inverse kinematics found, for poses (...).

    q (..., n); residual (...): the largest error, m or rad; converged (...); iterations (...)."""

    q: Array
    residual: Array
    converged: NDArray[np.bool_]
    iterations: NDArray[np.int64]


@dataclass(frozen=True)
class Problem:
    """A robot and its targets in numbers: what the kernels and the hook share."""

    tables: Mapping[str, Array]  # tree, variables and task of kernels.py
    numbers: tuple[int, int, float]  # iterations of a start, starts, tolerance
    n: int  # variables of the robot that are unknown
    cuts: int  # variables of cut joints, unknown too
    lower: Array
    upper: Array
    first: Array  # ends of random starts
    last: Array
    turning: NDArray[np.bool_]
    own: list[int]  # the unknown variables of the robot
    slope: Array  # (all, unknown), and
    offset: Array  # (all): how they give all its variables
    several: tuple[tuple[int, float, float], ...]  # of them, those several lead, and their limits

    @property
    def targets(self) -> int:
        return int(self.tables["task"][0])

    def every(self, x: Array) -> Array:
        """(..., all) the variables of the robot."""
        return np.asarray(x[..., : self.n] @ self.slope.T + self.offset)

    def within(self, x: Array) -> NDArray[np.bool_]:
        """(...) are the joints that several others lead within their limits?"""
        q, inside = self.every(x), np.ones(x.shape[:-1], bool)
        for row, lower, upper in self.several:
            inside &= (q[..., row] >= lower - 1e-9) & (q[..., row] <= upper + 1e-9)
        return inside


@named_arguments
@translated("the pose cannot be solved for", remedy="check the values of the robot and the pose")
def inverse_kinematics(
    robot: Robot, T: Any, frame: Any = None, *, guess: Any = None, restarts: int = RESTARTS,
    limits: bool = True, seed: int = 0, tolerance: float = 1e-10, mask: Any = None,
    iterations: int = 100, constraints: Constraints | None = None, threads: int | None = None,
) -> Reached:  # fmt: skip
    """A configuration that brings a frame to a pose T (..., 4, 4), or its origin to (..., 3).

    T may be a dictionary frame -> pose or point: all are to be met at once. mask: six zeros or ones
    (or weights) of x y z and of the turns about them, axes of frame 0. The loops of a closed robot
    are closed as well; q is then that of the whole tree. guess (n) or (..., n): where to start; the
    default is the middle of the limits, or 0. restarts: random starts tried after it, drawn from
    `seed`; limits=False forgets the joint limits. tolerance: m and rad. constraints: a function of
    q (N, n) that gives residuals (N, m), to be zero as well, and their derivatives (N, m, n).

    >>> robot = cardan.load("ur5")
    >>> T = cardan.model(robot, "transform").evaluate(q=[0.1, -1, 1, 0.2, 0.3, 0])
    >>> reached = cardan.inverse_kinematics(robot, T, guess=[0, -1, 1, 0, 0, 0])
    >>> bool(reached.converged), np.allclose(reached.q, [0.1, -1, 1, 0.2, 0.3, 0])
    (True, True)"""
    if not isinstance(robot, Robot):
        raise InputError(f"inverse_kinematics takes a Robot, not {type(robot).__name__}")
    _require_numbers(tolerance, restarts=(restarts, 0), iterations=(iterations, 1), seed=(seed, 0))
    wanted = T if isinstance(T, Mapping) else {frame: T}
    robot, links = with_frames(robot, list(wanted))
    targets, lead, weights = _targets(robot, links, list(wanted.values()), mask)
    numbers = (iterations, restarts + 1, tolerance)
    problem = problem_of(robot, weights, asked(limits), numbers)
    rows = prod(lead)
    T_all = np.concatenate(
        [np.broadcast_to(x, (*lead, 4, 4)).reshape(rows, 16) for x in targets], axis=1
    )
    T_all = np.concatenate([T_all, np.zeros((rows, 16 * (problem.targets - len(targets))))], axis=1)
    start = _start(problem, guess, lead)
    if constraints is None:
        q, info = _compiled(problem, T_all, start, seed, threads)
    else:
        from .hook import with_constraints

        q, info = with_constraints(problem, T_all, start, seed, constraints, threads)
    q = q[:, : problem.n]
    if guess is None:
        free = problem.turning & np.isinf(problem.lower) & np.isinf(problem.upper)
        free = free[: problem.n] & ~_tied(robot)[problem.own]
        q[:, free] = np.pi - np.mod(np.pi - q[:, free], 2 * np.pi)
    q = problem.every(q)
    report = info.view(layout_of(Report).dtype)[:, 0]
    return Reached(
        q.reshape(*lead, robot.n), report["largest"].reshape(lead),
        (report["converged"] > 0).reshape(lead),
        report["iterations"].astype(np.int64).reshape(lead),
    )  # fmt: skip


def _tied(robot: Robot) -> NDArray[np.bool_]:
    """(n) which joints a coupling ties to others: their turns count."""
    tied = {i for j, led in robot.couplings.items() for i in (j, *dict(led.leaders))}
    return np.isin(_moving(robot), sorted(tied))


def _moving(robot: Robot) -> list[int]:
    """The joints of the variables, in their order."""
    return [j for j, joint in enumerate(robot.joints, 1) if joint.sigma != FIXED]


def _leading(robot: Robot) -> dict[int, tuple[dict[int, float], float]]:
    """By joint: the joints that no other leads whose multiples add up to it, and the offset."""

    def value(j: int, x: Value) -> float:
        if (known := number(x)) is None:
            raise InputError(
                f"'{robot.name}': the coupling of {robot.joints[j - 1].name} has no value",
                action="values",
            )
        return known

    sums = {j: ({j: 1.0}, 0.0) for j in _moving(robot) if j not in robot.couplings}
    for j in Coordinates.of(robot).led:  # those that lead come first
        led = robot.couplings[j]
        total, offset = dict[int, float](), value(j, led.offset)
        for k, ratio in led.leaders:
            terms, shift = sums[k]
            own = value(j, ratio)
            offset += own * shift
            for i, x in terms.items():
                total[i] = total.get(i, 0.0) + own * x
        sums[j] = total, offset
    return sums


def _require_numbers(tolerance: Any, **integers: tuple[Any, int]) -> None:
    for name, (value, least) in integers.items():
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or value < least:
            raise InputError(f"{name} = {value!r}; expected an integer, at least {least}")
    if not isinstance(tolerance, int | float | np.number) or not 0 < tolerance < 1:
        raise InputError(f"tolerance = {tolerance!r}; expected a small positive number (m and rad)")


def _compiled(
    problem: Problem, T: Array, start: Array, seed: int, threads: int | None
) -> tuple[Array, Array]:
    """q and Reports. Limits of joints that several others lead are looked at here: where one is
    left, the search goes on from a random start."""
    kernel = _function(T.shape[1], start.shape[1])
    rng = np.random.default_rng(seed)
    q, info = start.copy(), np.zeros((len(T), layout_of(Report).size))
    todo, count = np.arange(len(T)), 0
    while len(todo):
        seeds = rng.integers(1, 2**31 - 2, (len(todo), 1)).astype(float)
        arrays = {"T": T[todo], "start": start[todo], "seed": seeds, **problem.tables}
        ends = kernel(arrays, len(todo), threads)
        q[todo], report = ends["q"], ends["info"].view(layout_of(Report).dtype)[:, 0]
        outside = ~problem.within(ends["q"]) & (report["converged"] > 0)
        report["converged"][outside] = 0
        report["iterations"] += info.view(report.dtype)[todo, 0]["iterations"]
        info[todo] = ends["info"]
        count += 1
        todo = todo[outside] if count < problem.numbers[1] else todo[:0]
        start[todo] = rng.uniform(problem.first, problem.last, start[todo].shape)
    return q, info


@cache
def _function(poses: int, variables: int) -> Any:
    from ...run.kernel import KernelFunction

    inputs = {"T": poses, "start": variables, "seed": 1, "tree": 0, "variables": 0, "task": 0}
    return KernelFunction(damped_least_squares, inputs, {"q": variables, "info": 4})


def _targets(
    robot: Robot, links: Sequence[int], wanted: Sequence[Any], mask: Any
) -> tuple[list[Array], tuple[int, ...], list[tuple[int, Array]]]:
    """Poses (..., 4, 4), their common leading axes, and (frame, weights) of each target."""
    if not wanted:
        raise InputError("T names no frame; expected {frame: pose or point, ...}")
    asked = mask_of(mask)
    tree = Tree.of(robot)
    found, targets = [], []
    for link, value in zip(links, wanted, strict=True):
        if not any(tree.sigma[j] != FIXED for j in tree.path(link)):
            raise ModelError(f"no joint of '{robot.name}' moves frame {tree.names[link]}")
        weights = asked.copy()
        try:
            array = floats(value)
        except (TypeError, ValueError):
            raise InputError("T is not an array of real numbers") from None
        if array.shape[-2:] == (4, 4):
            pose = poses(array)
        elif array.shape[-1:] == (3,):
            if not np.isfinite(array).all():
                raise InputError(f"the point of frame {tree.names[link]} is not finite")
            if array.shape[-2:] == (3, 3):
                refuse_rotations(array)
            pose = np.broadcast_to(np.eye(4), (*array.shape[:-1], 4, 4)).copy()
            pose[..., :3, 3] = array
            weights[3:] = 0
        else:
            raise InputError(
                f"T has shape {array.shape}; expected poses (..., 4, 4) or points (..., 3)"
            )
        found.append(pose)
        targets.append((link, weights))
    try:
        lead = np.broadcast_shapes(*(x.shape[:-2] for x in found))
    except ValueError:
        shapes = ", ".join(str(x.shape[:-2]) for x in found)
        raise InputError(f"leading axes of the targets do not broadcast: {shapes}") from None
    return found, lead, targets


def mask_of(mask: Any) -> Array:
    """Weights of x y z and of the turns about them."""
    if mask is None:
        return np.ones(6)
    try:
        found = np.asarray(mask, float)
    except (TypeError, ValueError):
        found = np.full(6, np.nan)
    if found.shape != (6,) or not np.isfinite(found).all() or (found < 0).any() or not found.any():
        raise InputError(f"mask = {mask!r}; expected six numbers >= 0: x y z rx ry rz")
    return found


def problem_of(
    robot: Robot, targets: Sequence[tuple[int, Array]], limits: bool,
    numbers: tuple[int, int, float],
) -> Problem:  # fmt: skip
    """The tables of kernels.py. A joint that others lead moves with them: a frame for each, turned
    or shifted one after the other about the same axis."""
    joints, closing = _with_loops(robot)
    leading = _leading(robot)
    moving = _moving(robot)
    free = [
        j for j, joint in enumerate(joints, 1)
        if joint.sigma != FIXED and j not in robot.couplings
    ]  # fmt: skip
    column = {j: k for k, j in enumerate(free)}
    rows: list[list[float]] = []
    frame = [0]  # by joint: the last of its frames
    size = 0.0
    for j, joint in enumerate(joints, 1):
        gamma, b, alpha, d, theta, r = (_value(robot, joint, key) for key in GEOMETRY)
        size += abs(b) + abs(d) + abs(r)
        terms, offset = leading.get(j, ({j: 1.0}, 0.0))
        theta, r = (theta, r + offset) if joint.sigma == PRISMATIC else (theta + offset, r)
        before = frame[joint.antecedent]
        for k, ratio in terms.items():
            turns = np.cos(gamma), np.sin(gamma), b, np.cos(alpha), np.sin(alpha), d, theta, r
            rows.append([before, column.get(k, -1), joint.sigma, *turns, ratio])
            before = len(rows)
            gamma = b = alpha = d = theta = r = 0.0
        frame.append(before)
    size = size or 1.0
    wanted = [*((frame[link], -1, weights) for link, weights in targets),
              *((frame[cut], frame[twin], weights) for cut, twin, weights in closing)]  # fmt: skip
    if len(rows) >= MOST_FRAMES or len(free) > MOST_VARIABLES or 6 * len(wanted) > MOST_ROWS:
        raise ModelError(
            f"'{robot.name}' with {len(wanted)} targets is too large: at most {MOST_FRAMES - 1}"
            f" frames, {MOST_VARIABLES} variables and {MOST_ROWS // 6} targets and loops"
        )
    if not free:
        raise ModelError(f"'{robot.name}' has no joint that moves")
    ends = np.array([_ends(robot, joints[k - 1], limits, size, leading, k) for k in free])
    listed = [[link, other, *weights] for link, other, weights in wanted]
    tables = {
        "tree": np.array([len(rows) + 1, *np.ravel(rows)], float),
        "variables": np.array([len(free), *np.ravel(np.clip(ends, -1e300, 1e300))], float),
        "task": np.array([len(wanted), *numbers, size, *np.ravel(listed)], float),
    }
    turning = np.array([joints[k - 1].sigma != PRISMATIC for k in free])
    lower, upper, first, last = ends.T
    n = sum(k in leading for k in free)
    slope = np.array([[leading[j][0].get(k, 0.0) for k in free[:n]] for j in moving])
    shifts = np.array([leading[j][1] for j in moving])
    several = tuple(
        (row, *limits_of(robot.joints[j - 1])) for row, j in enumerate(moving)
        if limits and len(leading[j][0]) > 1
    )  # fmt: skip
    own_rows = [moving.index(k) for k in free[:n]]
    return Problem(
        tables, numbers, n, len(free) - n, lower, upper, first, last, turning, own_rows, slope,
        shifts, several,
    )  # fmt: skip


def _with_loops(robot: Robot) -> tuple[list[Joint], list[tuple[int, int, Array]]]:
    """All frames, and (frame, its twin, weights) of every loop.

    A cut of several freedoms turns or slides by frames of its own, after all others; a ball's twin
    may turn as it likes, and needs none."""
    loops = robot.loops
    joints = [*robot.joints, *(x.cut for x in loops), *(x.twin for x in loops)]
    first = len(robot.joints) + 1
    found = []
    for k, loop in enumerate(loops):
        at, weights = first + k, np.ones(6)
        if loop.kind == "spherical":
            weights[3:] = 0
        for own in _FREEDOMS.get(loop.kind, ()):
            joints.append(replace(own, name=loop.cut.name, antecedent=at))
            at = len(joints)
        found.append((at, first + len(loops) + k, weights))
    return joints, found


_QUARTER = to_value("pi/2")
# after the cut's frame: the turn about z and the slide along it; the turns about z, then about x
_FREEDOMS = {
    "cylindrical": (Joint("", 0, REVOLUTE), Joint("", 0, PRISMATIC)),
    "universal": (
        Joint("", 0, REVOLUTE),
        Joint("", 0, REVOLUTE, gamma=_QUARTER, alpha=_QUARTER, theta=to_value("-pi/2")),
        Joint("", 0, FIXED, gamma=_QUARTER, alpha=to_value("-pi/2"), theta=to_value("-pi/2")),
    ),
}


def _value(robot: Robot, joint: Joint, key: str) -> float:
    found = number(getattr(joint, key))
    if found is None:
        raise InputError(f"'{robot.name}': {key} of {joint.name} has no value", action="values")
    return found


def _ends(
    robot: Robot, joint: Joint, limits: bool, size: float,
    leading: Mapping[int, tuple[dict[int, float], float]], own: int,
) -> list[float]:  # fmt: skip
    """Limits, then ends of random starts; the limits of those that it leads alone are its own
    too."""
    reach = size if joint.sigma == PRISMATIC else np.pi
    lower, upper = limits_of(joint) if limits else (-np.inf, np.inf)
    for j, (terms, offset) in leading.items() if limits else ():
        ratio = terms.get(own, 0.0)
        if len(terms) == 1 and ratio and j != own:
            ends = sorted((x - offset) / ratio for x in limits_of(robot.joints[j - 1]))
            lower, upper = max(lower, ends[0]), min(upper, ends[1])
    first = lower if np.isfinite(lower) else min(-reach, upper - 2 * reach)
    last = upper if np.isfinite(upper) else max(reach, lower + 2 * reach)
    if lower > upper:
        raise InputError(f"'{robot.name}': the limits of {joint.name} are empty: {lower} > {upper}")
    return [lower, upper, first, last]


def _start(problem: Problem, guess: Any, lead: tuple[int, ...]) -> Array:
    """Where to begin, (rows, variables): the guess, else the middle of the limits, else 0."""
    bounded = np.isfinite(problem.lower) & np.isfinite(problem.upper)
    with np.errstate(invalid="ignore"):
        middle = np.where(bounded, (problem.lower + problem.upper) / 2, 0.0)
    start = np.broadcast_to(middle, (*lead, len(middle))).copy()
    if guess is not None:
        try:
            given = floats(guess)
            every = len(problem.offset)
            start[..., : problem.n] = np.broadcast_to(given, (*lead, every))[..., problem.own]
        except (TypeError, ValueError):
            raise InputError(
                f"guess has shape {np.shape(guess)}; expected ({len(problem.offset)},), or one per"
                " pose"
            ) from None
        if not np.isfinite(given).all():
            raise InputError("guess has an entry that is not finite")
    return np.ascontiguousarray(start.reshape(prod(lead), len(middle)))
