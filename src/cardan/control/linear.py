"""Robots near an equilibrium: exact linearisation, with or without a control law, and its modes.

    xd = A (x - x0) + B (tau - tau0),   x = [q, qd];   with a law, A + B ∂tau/∂x

For one arm this is [B23] (3.7): I qdd + kd qd + kp q = ...; its eigenvalues are
-d/2I ± sqrt((d/2I)² - p/I).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra.newton import Rule, newton
from ..arguments import Numbers, named_arguments
from ..describe.robot import Robot
from ..errors import InputError, ModelError
from ..motion.coordinates import JointSpace, coordinates
from ..motion.derived import derived
from ..motion.joints import vector
from ..program import Program
from ..simulation.statespace import SMOOTH, state_space

__all__ = ["Linear", "equilibrium", "linearise"]


@dataclass(frozen=True)
class Linear:
    """xd = A x + B tau about a state; A includes the law if there is one."""

    A: np.ndarray
    B: np.ndarray

    @property
    def eigenvalues(self) -> np.ndarray:
        """Of A, 1/s, the slowest first."""
        roots = np.linalg.eigvals(self.A)
        return roots[np.lexsort((roots.imag, -roots.real))]

    @property
    def stable(self) -> bool:
        """Do all motions die out?"""
        return bool(self.eigenvalues.real.max() < 0)

    @property
    def frequencies(self) -> np.ndarray:
        """Hz of each eigenvalue, by its size."""
        return np.asarray(np.abs(self.eigenvalues) / (2 * np.pi))

    @property
    def damping(self) -> np.ndarray:
        """Damping ratio of each eigenvalue; 1 and more does not oscillate."""
        roots = self.eigenvalues
        size = np.where(np.abs(roots) > 0, np.abs(roots), 1)
        return np.asarray(-roots.real / size)


@named_arguments
def linearise(
    robot: Robot, q: Numbers, qd: Numbers = 0.0, *, tau: Numbers = None, law: Program | None = None,
    reference: Numbers = None, friction: bool = True, smooth: float = SMOOTH,
) -> Linear:  # fmt: skip
    """The linear system about a state; tau defaults to the torques that hold it (of qdd = 0).

    law: a program q, qd, q_r, qd_r, qdd_r -> tau (see `control.joint_law`) with its reference at
    rest in `reference` (default q); of one with a state x = [q, qd, z]. With closed loops
    x = [q_a, qd_a] of the active joints: the passive ones follow, dq = M dq_a; q is all joints, or
    the active ones (the first assembly).

    >>> linear = cardan.linearise(cardan.load("ur5"), np.zeros(6))
    >>> linear.A.shape, linear.B.shape
    ((12, 12), (12, 6))"""
    space = state_space(robot, friction=friction, smooth=smooth)
    if space.floating:
        raise ModelError(f"'{robot.name}' has a floating base: not linearised")
    if robot.wheels:
        raise ModelError(
            f"'{robot.name}' has wheels that roll: not linearised; its state is x = [q, qd_a], and"
            " state_space(robot).program.derivative('xd', 'x') its matrix"
        )
    on = coordinates(robot)
    q, qd = on.first("q", q), vector("qd", qd, on.nv)
    given: dict[str, np.ndarray] = {}
    if law is not None:
        given = _reference(law, q[on.place], reference)
        given |= _integral(robot, law, q, qd, given) if "z" in law.inputs else {}
        tau = _torques(law, q, qd, given)
    elif tau is None and on.nu == on.nv:
        tau = derived(robot, "bias").evaluate(q=q, qd=qd)
    held = vector("tau", 0.0 if tau is None else tau, on.nu)
    at = {"x": np.concatenate([q, qd]), "tau": held}
    A = np.asarray(space.program.derivative("xd", "x").evaluate(**at))
    B = np.asarray(space.program.derivative("xd", "tau").evaluate(**at))
    along, rows = _motions(on, q, qd)
    if law is None:
        return Linear((A @ along)[rows], B[rows])

    def slope(output: str, *wrt: str) -> np.ndarray:
        blocks = [law.derivative(output, key).evaluate(q=q, qd=qd, **given) for key in wrt]
        return np.concatenate(blocks, axis=1)

    A, B = ((A + B @ slope("tau", "q", "qd")) @ along)[rows], B[rows]
    if "z" in law.inputs:  # the state of the law after that of the robot
        own = slope("zd", "q", "qd") @ along
        A = np.block([[A, B @ slope("tau", "z")], [own, slope("zd", "z")]])
        B = np.vstack([B, np.zeros((len(own), B.shape[1]))])
    return Linear(A, B)


def _motions(on: JointSpace, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, Any]:
    """(columns, rows): the changes of the state that loops allow, and which of its entries are
    independent; without loops all."""
    if not on.closed:
        return np.eye(on.nq + on.nv), slice(None)
    M = on.matrix(q, qd)[0]
    along = np.block([[M, np.zeros_like(M)], [np.zeros((on.nv, on.nv)), np.eye(on.nv)]])
    return along, [*on.place, *range(on.nq, on.nq + on.nv)]


def _torques(
    law: Program, q: np.ndarray, qd: np.ndarray, given: dict[str, np.ndarray]
) -> np.ndarray:
    values = law.evaluate(q=q, qd=qd, **given)
    return np.asarray(values.tau if len(law.outputs) > 1 else values)


def _integral(
    robot: Robot, law: Program, q: np.ndarray, qd: np.ndarray, given: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """The state of a law at which its torques hold the robot there."""
    z = np.zeros(law.inputs["z"])
    wanted = derived(robot, "bias").evaluate(q=q, qd=qd)
    lacking = wanted - _torques(law, q, qd, {**given, "z": z})
    gain = law.derivative("tau", "z").evaluate(q=q, qd=qd, **given, z=z)
    z = np.linalg.lstsq(gain, lacking, rcond=None)[0]
    rest = np.abs(wanted - _torques(law, q, qd, {**given, "z": z})).max()
    if rest > 1e-6 * (1 + np.abs(wanted).max()):
        raise InputError("the law cannot hold the robot there: its torques have reached a limit")
    return {"z": z}


def _reference(law: Program, q: np.ndarray, reference: Any) -> dict[str, np.ndarray]:
    n = len(q)
    missing = {"q", "qd", "q_r", "qd_r", "qdd_r"} - set(law.inputs)
    if missing:
        raise InputError(f"the law lacks the inputs {', '.join(sorted(missing))}")
    point = q if reference is None else vector("reference", reference, n)
    return {"q_r": point, "qd_r": np.zeros(n), "qdd_r": np.zeros(n)}


@named_arguments
def equilibrium(robot: Robot, law: Program, reference: Numbers, *, tolerance: float = 1e-12) -> Any:
    """Where the robot comes to rest under a law with a fixed reference: tau(q) = Q(q), by Newton
    from the reference. A PD law sags under gravity; this is where."""
    on = coordinates(robot)
    q = on.first("reference", reference)
    point, still = q[on.place], np.zeros(on.nv)
    fixed: dict[str, Any] = _reference(law, point, point)
    gravity = derived(robot, "gravity")
    slope = gravity.derivative("Q", "q").compile()
    stiffness = law.derivative("tau", "q").compile()
    hold, pull = gravity.compile(), law.compile()

    def free(q: np.ndarray) -> np.ndarray:
        return np.asarray(on.matrix(q, still)[0] if on.closed else np.eye(on.nv))

    def missing(q: np.ndarray, _: np.ndarray) -> np.ndarray:
        return np.asarray(hold(q=q[0]) - pull(q=q[0], qd=still, **fixed))[None]

    def stiff(q: np.ndarray, _: np.ndarray) -> np.ndarray:
        difference = slope(q=q[0]) - stiffness(q=q[0], qd=still, **fixed)
        return np.asarray(difference @ free(q[0]))[None]

    def moved(q: np.ndarray, change: np.ndarray) -> np.ndarray:
        ahead = q[0] + free(q[0]) @ change[0]
        return np.asarray(on.closed_at(ahead) if on.closed else ahead)[None]

    rule = Rule(step=tolerance * (1 + np.abs(q).max()), longest=1.0, rounds=100, rank=0.0)
    ends = newton(q[None], missing, stiff, rule, move=moved)
    if not ends.solved[0]:
        raise InputError("no equilibrium was found near the reference: are the gains too small?")
    return ends.x[0]
