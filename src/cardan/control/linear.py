"""Robots near an equilibrium: exact linearisation, with or without a control law, and its modes.

    xd = A (x - x0) + B (tau - tau0),   x = [q, qd];   with a law, A + B ∂tau/∂x

For one arm this is [B23] (3.7): I qdd + kd qd + kp q = ...; its eigenvalues are
-d/2I ± sqrt((d/2I)² - p/I).

Dry friction jumps at rest and has no slope there. Joints with a width VS have that of their law,
FS/VS; of the others the linear system leaves it out, in the robot and in a law that compensates it,
and names it (`left_out`); `smooth=` gives them a width instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import so3
from ..algebra.newton import Rule, newton
from ..algebra.ranks import null_space
from ..arguments import Numbers, named_arguments
from ..bridges import required
from ..describe.robot import Robot
from ..describe.world import gravity_in_world, placement
from ..errors import InputError
from ..mechanism.coordinates import holonomic, is_floating
from ..motion.coordinates import JointSpace, coordinates
from ..motion.derived import derived
from ..motion.joints import vector
from ..program import Program
from ..simulation.friction import positive_width, slopeless, smoothed
from ..simulation.statespace import StateSpace, state_space
from .elastic import pairs
from .laws import REFERENCE, STATES, state_name

_ROUNDING = 1e-13


@dataclass(frozen=True)
class Linear:
    """xd = A x + B tau, y = C x + D tau about a state; A includes the law if there is one, and y
    are the positions of the joints. `left_out`: friction without a slope there, "FS of joint1"."""

    A: np.ndarray
    B: np.ndarray
    positions: int = 0
    left_out: tuple[str, ...] = ()

    @property
    def C(self) -> np.ndarray:
        return np.eye(self.positions, len(self.A))

    @property
    def D(self) -> np.ndarray:
        return np.zeros((self.positions, self.B.shape[1]))

    def transfer(self) -> tuple[np.ndarray, np.ndarray]:
        """(num (outputs, inputs, k+1), den (k+1)) of C (s - A)^-1 B + D, by falling powers of s.

        >>> linear = cardan.linearise(cardan.load("cartpole"), [0.0, 0.0])
        >>> num, den = linear.transfer()
        >>> num.shape, den.shape
        ((2, 2, 5), (5,))"""
        den = np.real(np.poly(self.A))
        shape = (self.positions, self.B.shape[1], len(den))
        parts = [np.real(np.poly(self.A - np.outer(b, c))) - den for c in self.C for b in self.B.T]
        num = np.array(parts).reshape(shape)
        num[np.abs(num) < _ROUNDING * np.abs(den).max()] = 0  # what is left of equal terms
        return num, den

    def to_scipy(self) -> Any:
        """The system as scipy.signal.StateSpace."""
        signal = required("scipy.signal", "sim", "a StateSpace of SciPy")
        return signal.StateSpace(self.A, self.B, self.C, self.D)

    def to_control(self) -> Any:
        """The system as python-control has it, with the names of its states and inputs left out."""
        package = required("control", "control", "a system of python-control")
        return package.ss(self.A, self.B, self.C, self.D)

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
        return np.asarray(0.0 - roots.real / size)


@named_arguments
def linearise(
    robot: Robot, q: Numbers, qd: Numbers = 0.0, *, tau: Numbers = None, law: Program | None = None,
    reference: Numbers = None, friction: bool = True, smooth: float | None = None,
) -> Linear:  # fmt: skip
    """The linear system about a state; tau defaults to the torques that hold it (of qdd = 0).

    law: a program q, qd, q_r, qd_r, qdd_r -> tau (see `control.joint_law`), or one of a frame, with
    its reference at rest in `reference` (default q, or the pose there); of one with a state
    x = [q, qd, z]. With closed loops x = [q_a, qd_a] of the active joints: the passive ones follow,
    dq = M dq_a; q is all joints, or the active ones (the first assembly). Wheels tie velocities
    alone: x has the positions of all joints that no loop or coupling holds. With a floating base,
    which is at rest as described, x = [q, P, turn, qd, V0]: turn is a small rotation vector in the
    axes of the base.

    Dry friction of joints at rest without a width VS has no slope: it is left out, and named in
    `left_out`; `smooth` (rad/s or m/s) is a width for them, and a law then keeps its own.

    >>> linear = cardan.linearise(cardan.load("ur5"), np.zeros(6))
    >>> linear.A.shape, linear.B.shape
    ((12, 12), (12, 6))"""
    source = robot if smooth is None else smoothed(robot, positive_width(smooth))
    if law is not None and law.jumping and smooth is None:
        law = law.jumping()
    space = state_space(source, friction=friction, smooth=0.0)
    if robot.interactions and (tau is None and law is None):
        raise InputError(
            f"'{robot.name}' has interactions, against which the models do not hold it: give tau"
        )
    on = coordinates(robot)
    q, qd = on.first("q", q), vector("qd", qd, on.nv)
    arrays: dict[str, np.ndarray] = {}
    if law is not None:
        arrays = _reference(robot, law, q, reference)
        arrays |= _state(robot, law, q, qd, arrays)
        tau = _values(law, q, qd, arrays)["tau"]
    elif tau is None and on.nu == on.nv and not space.floating:
        tau = derived(robot, "bias").evaluate(q=q, qd=qd)
    held = vector("tau", 0.0 if tau is None else tau, on.nu)
    at = {"x": _whole(robot, space, q, qd), "tau": held}
    A = np.asarray(space.program.derivative("xd", "x").evaluate(**at))
    B = np.asarray(space.program.derivative("xd", "tau").evaluate(**at))
    motions = _motions(robot, on, space, at["x"])
    A, B = motions.back @ A @ motions.along, motions.back @ B
    count = motions.along.shape[1] - on.nv if on.closed else on.nq
    rates = (on.matrix(q, qd)[0] @ qd if on.closed else qd).tolist()
    left_out = slopeless(source, rates) if friction else ()
    if law is None:
        return Linear(A, B, count, left_out)
    parts = {
        "q": slice(0, space.n), "qd": slice(space.positions, space.positions + space.nv),
        "V0": slice(space.size - 6, None),
    }  # fmt: skip

    def slope(output: str) -> np.ndarray:
        """By the state of the robot, as the law measures it."""
        total = np.zeros((law.outputs[output][0], space.size))
        for key, place in parts.items():
            if key in law.inputs:
                total[:, place] = law.derivative(output, key).evaluate(q=q, qd=qd, **arrays)
        for key, turning in _turning(robot, space, at["x"]).items():
            if key in law.inputs:
                rates = law.derivative(output, key).evaluate(q=q, qd=qd, **arrays)
                total += np.tensordot(rates, turning, rates.ndim - 1)
        return np.asarray(total @ motions.along)

    A = A + B @ slope("tau")
    name = state_name(law)
    if name:  # the state of the law after that of the robot
        by_z = {
            key: law.derivative(key, name).evaluate(q=q, qd=qd, **arrays)
            for key in ("tau", f"{name}d")
        }
        own = slope(f"{name}d")
        A = np.block([[A, B @ by_z["tau"]], [own, by_z[f"{name}d"]]])
        B = np.vstack([B, np.zeros((len(own), B.shape[1]))])
    return Linear(A, B, count, left_out)


@dataclass(frozen=True)
class _Motions:
    """The changes of x that are free, and what gives their rates back from xd."""

    along: np.ndarray
    back: np.ndarray


def _whole(robot: Robot, space: StateSpace, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """The state x; a floating base rests as described."""
    if not space.floating:
        return np.concatenate([q, qd])
    T = placement(robot)
    return space.state(q, qd, T[:3, 3], so3.quaternion(T[:3, :3]))


def _motions(robot: Robot, on: JointSpace, space: StateSpace, x: np.ndarray) -> _Motions:
    """Of loops: along them, the independent entries alone; wheels tie velocities, not positions. Of
    a floating base: a rotation vector in place of its quaternion, de = E turn."""
    if on.closed:
        free = coordinates(holonomic(robot)) if robot.wheels else on
        M = np.eye(on.nq)
        if free.closed:
            M = free.matrix(x[: on.nq], np.zeros(free.nv) if robot.wheels else x[on.nq :])[0]
        along = np.zeros((on.nq + on.nv, free.nv + on.nv))
        along[: on.nq, : free.nv], along[on.nq :, free.nv :] = M, np.eye(on.nv)
        return _Motions(along, np.eye(on.nq + on.nv)[[*free.place, *range(on.nq, on.nq + on.nv)]])
    if not space.floating:
        return _Motions(np.eye(len(x)), np.eye(len(x)))
    n, E = space.n, _half_turn(x[space.n + 3 : space.n + 7])
    along = np.zeros((space.size, space.size - 1))
    along[: n + 3, : n + 3] = np.eye(n + 3)
    along[n + 3 : n + 7, n + 3 : n + 6] = E
    along[n + 7 :, n + 6 :] = np.eye(space.nv + 6)
    back = along.T.copy()
    back[n + 3 : n + 6, n + 3 : n + 7] = 4 * E.T  # E^T E = 1/4
    return _Motions(along, back)


def _half_turn(e: np.ndarray) -> np.ndarray:
    """E (4, 3) of a unit quaternion (w, x, y, z): its change by a small turn in its own axes."""
    w, x, y, z = e
    return np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]]) / 2


def _turning(robot: Robot, space: StateSpace, x: np.ndarray) -> dict[str, np.ndarray]:
    """How the pose T0 of a floating base and gravity g0 in it change with x."""
    if not space.floating:
        return {}
    n = space.n
    e = x[n + 3 : n + 7]
    R, E = so3.from_quaternion(e), _half_turn(e)
    T0, g0 = np.zeros((4, 4, space.size)), np.zeros((3, space.size))
    T0[:3, 3, n : n + 3] = np.eye(3)
    gravity = R.T @ gravity_in_world(robot)
    for k in range(3):
        spin = so3.hat(np.eye(3)[k])
        T0[:3, :3, n + 3 : n + 7] += np.multiply.outer(R @ spin, 4 * E.T[k])
        g0[:, n + 3 : n + 7] += np.multiply.outer(-spin @ gravity, 4 * E.T[k])
    return {"T0": T0, "g0": g0}


def _values(
    law: Program, q: np.ndarray, qd: np.ndarray, given: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    values = law.evaluate(q=q, qd=qd, **given)
    names = list(law.outputs)
    listed = values if len(names) > 1 else (values,)
    return {key: np.asarray(x) for key, x in zip(names, listed, strict=True)}


def _state(
    robot: Robot, law: Program, q: np.ndarray, qd: np.ndarray, given: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """The state of a law at which its torques hold the robot there; where that leaves a choice, one
    that rests."""
    name = state_name(law)
    if not name:
        return {}
    z, rate = np.zeros(law.inputs[name]), f"{name}d"
    driven = coordinates(robot).driven
    wanted = np.zeros(int(driven.sum()))
    if not is_floating(robot):
        wanted = np.asarray(derived(robot, "bias").evaluate(q=q, qd=qd))[driven]
    now = _values(law, q, qd, {**given, name: z})
    gain, own = (
        law.derivative(key, name).evaluate(q=q, qd=qd, **given, **{name: z})
        for key in ("tau", rate)
    )
    z = np.linalg.lstsq(gain, wanted - now["tau"], rcond=None)[0]
    idle = null_space(gain, 1e-9)
    if idle.shape[1]:
        z = z - idle @ np.linalg.lstsq(own @ idle, now[rate] + own @ z, rcond=None)[0]
    rest = np.abs(wanted - _values(law, q, qd, {**given, name: z})["tau"]).max()
    if rest > 1e-6 * (1 + np.abs(wanted).max()):
        raise InputError("the law cannot hold the robot there: its torques have reached a limit")
    return {name: z}


def _reference(robot: Robot, law: Program, q: np.ndarray, reference: Any) -> dict[str, np.ndarray]:
    """What the law is to hold, at rest: the positions of its joints or links, or the pose of its
    frame; and what it measures of a base that floats and rests."""
    asked = [key for key in law.inputs if key not in ("q", "qd", *STATES)]
    missing = {"q", "qd"} - set(law.inputs)
    if "T_r" not in asked:
        missing |= set(REFERENCE) - set(asked)
    if missing:
        raise InputError(f"the law lacks the inputs {', '.join(sorted(missing))}")
    arrays = {key: np.zeros(law.inputs[key]) for key in asked}
    base = placement(robot) if is_floating(robot) else np.eye(4)
    if "T_r" in arrays:
        T = base @ derived(robot, "transform").evaluate(q=q) if reference is None else reference
        arrays["T_r"] = np.asarray(T, float)
        if arrays["T_r"].shape != (4, 4):
            raise InputError(f"reference: a pose of shape {arrays['T_r'].shape}; expected (4, 4)")
    else:
        on, (size,) = coordinates(robot), law.inputs["q_r"]
        if size == on.nq != on.nv:  # all joints of a closed robot
            arrays["q_r"] = q if reference is None else on.first("reference", reference)
        else:
            held = held_positions(robot, q) if reference is None else reference
            arrays["q_r"] = vector("reference", held, size)
    measured = {"T0": base, "g0": base[:3, :3].T @ gravity_in_world(robot)}
    return {**arrays, **{key: x for key, x in measured.items() if key in arrays}}


def held_positions(robot: Robot, q: np.ndarray) -> np.ndarray:
    """What a law in joint space refers to: the driven joints, or the links behind their springs."""
    on = coordinates(robot)
    return q[on.place] if on.driven.all() else np.array(pairs(robot).links(q.tolist()))


@named_arguments
def equilibrium(robot: Robot, law: Program, reference: Numbers, *, tolerance: float = 1e-12) -> Any:
    """Where the robot comes to rest under a law with a fixed reference: tau(q) = Q(q), by Newton
    from the reference. A PD law sags under gravity; this is where."""
    on = coordinates(robot)
    q = on.first("reference", reference)
    still = np.zeros(on.nv)
    fixed: dict[str, Any] = _reference(robot, law, q, None)
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
