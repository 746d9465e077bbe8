"""Joint trajectories of paths in task space, through an inverse geometric model.

Positions come from a solver, any callable `solve(T, guess) -> q`: `damped(robot)` here, or the
closed forms of `cardan.model(robot, "inverse-geometry")` through `nearest`. Velocities and
accelerations are exact: J qd = V, J qdd = Vd - Jdot qd; with closed loops those of the active
joints, which the passive ones follow. Of the velocities of a redundant robot the least is taken,
qd = J⁺ V, and qdd is its derivative (G. Golub, V. Pereyra, SIAM J. Numer. Anal. 10, 1973):

    qdd = J⁺ (Vd - Jdot qd) + (1 - J⁺ J) Jdot^T J⁺^T qd

Where a singular configuration forbids to stay on the path, a `deviation` may be allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..algebra import so3
from ..algebra.newton import Rule, newton
from ..arguments import Numbers, named_arguments
from ..build.kinematic import ROWS
from ..describe.robot import PRISMATIC, Robot
from ..errors import InputError
from ..run.steps import rk4
from .coordinates import coordinates
from .derived import compiled, derived
from .joints import moving, require_numbers, vector
from .paths import Path
from .trajectory import Trajectory, differentiated, instants

_CLOSE = 1e-9  # m and rad: on the path
_STEPS = 1000  # of the solver at most; beside singular configurations it needs many
Solver = Callable[[np.ndarray, np.ndarray], Any]


def rows_of(task: Sequence[str] | str | None, n: int) -> list[int]:
    """The components of the task: names of ROWS; all six by default, the position if n < 6."""
    names = (ROWS if n >= 6 else ROWS[:3]) if task is None else task
    names = names.replace(",", " ").split() if isinstance(names, str) else names
    unknown = [name for name in names if name not in ROWS]
    if unknown or not names:
        raise InputError(f"task {list(names)}: allowed are {', '.join(ROWS)}")
    return [ROWS.index(name) for name in names]


@named_arguments
def damped(
    robot: Robot, frame: Any = None, *, task: Sequence[str] | str | None = None,
    tolerance: float = 1e-11, deviation: float = _CLOSE,
) -> Solver:  # fmt: skip
    """A solver by damped least squares from a guess, inside joint limits (inverse_kinematics).

    `task`: the components that matter, such as "x y rz"; the others are left free. `deviation`: how
    far from the pose the best configuration may be, m and rad."""
    from ..inverse.numeric.solver import inverse_kinematics

    require_numbers(robot, "inverse kinematics")
    rows = rows_of(task, robot.n)
    mask = [float(k in rows) for k in range(6)]

    def solve(T: np.ndarray, guess: np.ndarray) -> np.ndarray:
        solved = inverse_kinematics(
            robot, T, frame, guess=guess, restarts=0, mask=mask, tolerance=tolerance,
            iterations=_STEPS,
        )  # fmt: skip
        if not solved.converged and float(solved.residual) > deviation:
            raise InputError(
                f"no configuration of '{robot.name}' was found within {float(solved.residual):.2g}"
                f" of the position {np.round(T[:3, 3], 6).tolist()}: is it out of reach, or the"
                " guess too far? Beside a singular configuration, deviation= (m and rad) lets the"
                " motion leave the path"
            )
        return np.asarray(solved.q)

    return solve


@named_arguments
def nearest(robot: Robot, solutions: Callable[[np.ndarray], Any]) -> Solver:
    """A solver that takes, of all configurations (k, n) of a pose, the one nearest to the guess;
    revolute joints may be whole turns away.

    `nearest(robot, cardan.model(robot, "inverse-geometry").solve)` follows one branch of it."""
    turn = np.array([0.0 if j.sigma == PRISMATIC else 2 * np.pi for j in moving(robot)])

    def solve(T: np.ndarray, guess: np.ndarray) -> np.ndarray:
        solved = np.atleast_2d(np.asarray(solutions(T), float))
        if not solved.size:
            raise InputError(f"the pose at {np.round(T[:3, 3], 6).tolist()} is out of reach")
        away = solved - guess
        away -= turn * np.rint(away / (2 * np.pi))
        best = int(np.argmin(np.abs(away).max(axis=1)))
        return np.asarray(guess + away[best])

    return solve


@named_arguments
def follow(
    robot: Robot, path: Path, q0: Numbers, *, solve: Solver | None = None,
    frame: str | int | None = None,
    task: Sequence[str] | str | None = None, dt: float = 1e-3, differentiate: bool = False,
    deviation: float | None = None,
) -> Trajectory:  # fmt: skip
    """The joint trajectory of a path, starting from the configuration nearest to q0.

    With `differentiate` velocities and accelerations are taken from the positions by splines; so
    they are where a `deviation` from the path (m and rad) is allowed. With closed loops q is that
    of the whole tree, and q0 may be that of the active joints."""
    require_numbers(robot, "a path in task space")
    guess = coordinates(robot).first("q0", q0) if robot.constrained else vector("q0", q0, robot.n)
    if deviation is not None and not deviation > 0:
        raise InputError(f"deviation = {deviation}; expected a positive one, in m and rad")
    ahead = _redundant(robot, guess, frame, task)
    find = solve or (
        _along_loops(robot, frame, task)
        if ahead and robot.constrained and deviation is None
        else damped(robot, frame, task=task, deviation=deviation or _CLOSE)
    )
    t = instants(path.duration, dt)
    poses = path(t)
    q = np.empty((len(t), robot.n))
    for k, T in enumerate(poses.T):
        if k and ahead:
            guess = _ahead(robot, path, t[k - 1 : k + 1], guess, frame, task)
        q[k] = guess = np.asarray(find(T, guess), float)
    if differentiate or deviation is not None:
        qd = differentiated(t, q)
        return Trajectory(t, q, qd, differentiated(t, qd), None, path.name)
    return Trajectory(t, *rates(robot, q, poses.V, poses.Vd, frame, task), None, path.name)


def _redundant(robot: Robot, q: np.ndarray, frame: Any, task: Any) -> bool:
    """Can the robot move without moving the components of the task?"""
    J = _jacobian(robot, frame)(q=q)[rows_of(task, robot.n)]
    return bool(np.linalg.matrix_rank(J, rtol=1e-9) < J.shape[1])


def _along_loops(robot: Robot, frame: Any, task: Any) -> Solver:
    """Least changes of the active joints, the loops closed after each: what closes them must not
    use the freedom that the task leaves."""
    on, rows = coordinates(robot), rows_of(task, robot.n)
    pose = compiled(robot, "transform", **({} if frame is None else {"frame": frame}))
    J, rule = _jacobian(robot, frame), Rule(residual=_CLOSE / 10, rounds=30)

    def solve(T: np.ndarray, guess: np.ndarray) -> np.ndarray:
        def missing(q: np.ndarray, _: np.ndarray) -> np.ndarray:
            now = pose(q=q[0])
            turn = so3.log(T[:3, :3] @ now[:3, :3].T)
            return np.asarray(np.concatenate([now[:3, 3] - T[:3, 3], -turn])[None, rows])

        def moved(q: np.ndarray, v: np.ndarray) -> np.ndarray:
            return on.closed_at(q[0] + on.matrix(q[0], v[0])[0] @ v[0])[None]

        ends = newton(guess[None], missing, lambda q, _: J(q=q)[:, rows], rule, move=moved)
        if ends.solved[0]:
            return np.asarray(ends.x[0])
        raise InputError(
            f"no configuration of '{robot.name}' was found at the position"
            f" {np.round(T[:3, 3], 6).tolist()}: is it out of reach, or the guess too far?"
        )

    return solve


def _ahead(
    robot: Robot, path: Path, t: np.ndarray, q: np.ndarray, frame: Any, task: Any
) -> np.ndarray:
    """Where the least velocities lead to from t[0] to t[1], by a Runge-Kutta step: which of its
    configurations a redundant robot takes must not depend on how the solver goes there."""
    h = float(t[1] - t[0])
    V = path(np.array([t[0], t[0] + h / 2, t[1]])).V

    def least(s: float, q: np.ndarray) -> np.ndarray:
        J = _jacobian(robot, frame)(q=q)[rows]
        v = np.linalg.pinv(J, rcond=1e-9) @ V[round(2 * s / h)][rows]
        return np.asarray(coordinates(robot).matrix(q, v)[0] @ v if robot.constrained else v)

    rows = rows_of(task, robot.n)
    return np.asarray(rk4(least, 0.0, q, h))


def _jacobian(robot: Robot, frame: Any) -> Any:
    return compiled(robot, "jacobian", **({} if frame is None else {"frame": frame}))


@lru_cache(maxsize=16)
def _slopes(robot: Robot, frame: Any) -> Any:
    """q -> ∂J/∂q."""
    chosen = {} if frame is None else {"frame": frame}
    return derived(robot, "jacobian", **chosen).derivative("J", "q").compile()


def rates(
    robot: Robot, q: np.ndarray, V: np.ndarray, Vd: np.ndarray, frame: Any, task: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, qd, qdd of a task motion: least squares of least norm where J is not square. Closed loops:
    of all joints of the tree, q among them."""
    chosen = {} if frame is None else {"frame": frame}
    rows = rows_of(task, robot.n)
    J = _jacobian(robot, frame)(q=q)[:, rows]
    Jplus = np.linalg.pinv(J, rcond=1e-9)
    qd = np.einsum("tij,tj->ti", Jplus, V[:, rows])
    bias = compiled(robot, "jdot-qdot", **chosen)(q=q, qd=qd)[:, rows]
    qdd = np.einsum("tij,tj->ti", Jplus, Vd[:, rows] - bias)
    worst = np.abs(np.einsum("tij,tj->ti", J, qd) - V[:, rows]).max()
    if worst > 1e-6 * (1 + np.abs(V).max()):
        raise InputError(
            f"the path passes a configuration of '{robot.name}' from which it cannot go on"
            " (singular Jacobian); deviation= (m and rad) lets the motion leave it"
        )
    tree = qd
    if robot.constrained:
        M, psi = coordinates(robot).matrix(q, qd)
        tree = (M @ qd[..., None])[..., 0]
    free = np.eye(qd.shape[1]) - Jplus @ J
    if np.abs(free).max() > 1e-6:  # redundant
        Jd = np.einsum("trij,tj->tri", _slopes(robot, frame)(q=q)[:, rows], tree)
        pull = np.einsum("tlk,tl->tk", Jplus, qd)
        qdd += np.einsum("tij,tkj,tk->ti", free, Jd, pull)
    if robot.constrained:
        qdd = (M @ qdd[..., None])[..., 0] + psi
    return q, tree, qdd
