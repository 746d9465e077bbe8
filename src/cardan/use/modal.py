"""Vibration of robots with flexible links or elastic joints: frequencies, modes, static deflection.

Small motion about a configuration obeys M q̈ + K q = 0 over the coordinates that are free:
deformation and elastic joints, with the actuators locked; the driven joints too when they are free.
Passive joints of closed loops are eliminated by [BK13] (34). About the undeformed robot, K is the
stiffness of links and joints; about a static equilibrium it is the exact derivative of the forces,
so that gravity and loads stiffen or soften the robot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ..build.common import is_floating
from ..build.flexible import static_forces
from ..build.flexible_closure import Closing, closing
from ..describe.robot import Robot
from ..errors import InputError, ModelError, UnknownNameError
from ..models.flexible_dynamics import mass_matrix
from ..models.flexible_modes import eigen
from ..models.flexible_tree import motion
from ..program import Program

__all__ = ["Modes", "Statics", "frequency_map", "natural_frequencies", "static_deflection"]

Array = np.ndarray
_ACTUATORS = ("locked", "free")
_ABOUT = ("undeformed", "equilibrium")


@dataclass(frozen=True)
class Modes:
    """Natural frequencies in Hz, ascending, and mode shapes.

    Column k of `shapes` is the small motion of all coordinates (of `q`) in mode k, scaled so that
    its modal mass is 1; of a floating base the six base coordinates come first."""

    frequencies: Array
    shapes: Array
    q: Array
    coordinates: tuple[str, ...]


@dataclass(frozen=True)
class Statics:
    """An equilibrium: coordinates, and the torques of the driven joints that hold it."""

    q: Array
    tau: Array


def natural_frequencies(
    robot: Robot, q_a: Any = None, actuators: str = "locked", *, modes: bool = False,
    about: str = "undeformed", guess: Sequence[float] | None = None, loads: Any = None,
) -> Any:  # fmt: skip
    """Natural frequencies in Hz, ascending, at positions q_a of the driven joints (0).

    actuators: 'locked', or 'free' to move (motions without stiffness have frequency 0).
    about: 'undeformed', or 'equilibrium' under gravity and `loads`. modes=True gives `Modes`.
    guess: passive joints near the wanted assembly of a closed loop."""
    _one_of("actuators", actuators, _ACTUATORS)
    _one_of("about", about, _ABOUT)
    loops = _vibrating(robot)
    if about == "equilibrium":
        q = static_deflection(robot, q_a, loads=loads, guess=guess).q
        K = _tangent(robot, loops, q, loads)
    else:
        q = loops.assemble(q_a, guess=guess)
        K = _stiffness(loops)
    free, J = _free_motion(robot, loops, q, actuators)
    base = 6 * is_floating(robot)
    if about == "undeformed":
        K = J[base:].T @ K @ J[base:]
    else:
        K = _padded(K, base)[np.ix_(free, free)]
    M = J.T @ _mass(loops, q, base > 0) @ J
    squares, vectors = _solved(K, M)
    if not modes:
        return _hertz(squares)
    return Modes(_hertz(squares), J @ vectors, q, _names(robot, loops))


def _solved(K: Array, M: Array) -> tuple[Array, Array]:
    """(ω², modes); loads that follow the links make K unsymmetric, and flutter has no real ω."""
    if np.abs(K - K.T).max() <= 1e-9 * np.abs(K).max():
        return eigen((K + K.T) / 2, M)
    values, vectors = np.linalg.eig(np.linalg.solve(M, K))
    real = np.where(np.abs(values.imag) <= 1e-9 * np.abs(values).max(), values.real, np.nan)
    order = np.argsort(real)
    return real[order], vectors.real[:, order]


def _hertz(squares: Array) -> Array:
    """ω² -> Hz; round-off about zero is zero, instability is nan."""
    small = 1e-12 * max(np.abs(squares).max(initial=0), 1e-300)
    found = np.sqrt(np.where(np.abs(squares) <= small, 0, np.where(squares < 0, np.nan, squares)))
    return found / (2 * np.pi)


def _one_of(kind: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise UnknownNameError.of(f"value of '{kind}'", value, allowed)


def _vibrating(robot: Robot) -> Closing:
    if not isinstance(robot, Robot):
        raise InputError(f"a Robot is needed, not {type(robot).__name__}: cardan.load gives one")
    if not robot.ne and not any(joint.elastic for joint in robot.joints):
        raise ModelError(
            f"'{robot.name}' is rigid: nothing vibrates; give a link `flexible`, or a joint a"
            " stiffness"
        )
    return closing(robot)


def _names(robot: Robot, loops: Closing) -> tuple[str, ...]:
    names = [f"base{k}" for k in range(1, 7)] if is_floating(robot) else []
    for kind, j, k in loops.keys:
        if kind == "joint":
            names.append(robot.joints[j - 1].variable or f"q{j}")
        else:
            names.append(f"{robot.links[j - 1].name}.e{k + 1}")
    return tuple(names)


def _mass(loops: Closing, q: Array, base: bool) -> Array:
    x = motion(loops.scene, [float(v) for v in q], [0] * len(q))
    return np.array(mass_matrix(loops.scene, x, base=base).rows(), float)


def _stiffness(loops: Closing) -> Array:
    """K over all coordinates of the tree: springs, and the links' own."""
    K = np.zeros((len(loops.keys), len(loops.keys)))
    scene = loops.scene
    for j in scene.elastic:
        k = loops.keys.index(("joint", j, 0))
        K[k, k] = float(scene.links[j - 1].stiffness)
    for j, elastic in scene.flexible.items():
        own = loops.columns([("elastic", j, k) for k in range(elastic.N)])
        K[np.ix_(own, own)] = np.array(elastic.integrals.Kee, float)
    return K


def _jacobian(loops: Closing, q: Array) -> Array:
    """q̇_t = J q̇, (34): passive joints by least squares of all rows, which agree."""
    n = len(loops.keys)
    independent, passive = loops.columns(loops.independent), loops.columns(loops.passive)
    J = np.zeros((n, len(independent)))
    J[independent, np.arange(len(independent))] = 1
    if passive:
        G = loops.matrix(q)
        J[passive] = -np.linalg.lstsq(G[:, passive], G[:, independent], rcond=None)[0]
    return J


def _free_motion(robot: Robot, loops: Closing, q: Array, actuators: str) -> tuple[list[int], Array]:
    """(free independent coordinates, J over them): with the six of a floating base first.

    Hyperstatic loops hold combinations of the elastic coordinates too: J spans what they allow."""
    base = 6 * is_floating(robot)
    J = _padded(_jacobian(loops, q), base)
    held = set(loops.active) if actuators == "locked" else set()
    free = [*range(base), *(base + k for k, key in enumerate(loops.independent) if key not in held)]
    if not free:
        raise ModelError(f"nothing of '{robot.name}' is free to move with its actuators locked")
    J = J[:, free]
    if loops.everything:
        J = J @ _null_space(loops.matrix(q) @ J[base:])
    return free, J


def _null_space(A: Array) -> Array:
    """Orthonormal columns v with A v = 0."""
    _, sizes, Vt = np.linalg.svd(A)
    rank = int((sizes > 1e-9 * max(1.0, float(sizes.max(initial=0)))).sum())
    return np.eye(A.shape[1]) if rank == 0 else Vt[rank:].T


def _padded(K: Array, base: int) -> Array:
    """[[1, 0], [0, K]] for columns, zeros for a stiffness: the base's coordinates first."""
    found = np.zeros((K.shape[0] + base, K.shape[1] + base))
    found[base:, base:] = K
    found[np.arange(base), np.arange(base)] = 1
    return found


def static_deflection(
    robot: Robot, q_a: Sequence[float], *, loads: Any = None, guess: Sequence[float] | None = None,
) -> Statics:  # fmt: skip
    """The equilibrium under gravity and loads, the driven joints locked at q_a.

    loads: wrenches (force, moment) of the environment on each link, in its frame, (nl, 6)."""
    loops = _vibrating(robot)
    if is_floating(robot):
        raise ModelError(f"'{robot.name}' floats: it has no static equilibrium")
    if sum(len(cut.rows) for cut in loops.cuts) > len(loops.passive):
        raise ModelError(
            f"the loops of '{robot.name}' hold its deformation: its equilibrium under load is not"
            " available; frequencies about the undeformed robot are"
        )
    program = static_forces(robot)
    slope = program.derivative("R", "q")
    inputs = _loads(robot, loads)
    driven = [k for k, key in enumerate(loops.independent) if key in loops.active]
    free = [k for k in range(len(loops.independent)) if k not in driven]
    places = loops.columns([loops.independent[k] for k in free])
    q = loops.assemble(q_a, guess=guess)
    size = 0.0
    for _ in range(60):
        R = np.asarray(program.evaluate(q=q, **inputs))
        K = np.asarray(slope.evaluate(q=q, **inputs)) @ _jacobian(loops, q)
        step = -np.linalg.solve(K[np.ix_(free, free)], R[free])
        size = float(np.abs(step).max(initial=0))
        q[places] += step * min(1.0, 0.3 / max(size, 1e-300))
        q = _reclosed(loops, q)
        if size < 1e-11:
            return Statics(q, np.asarray(program.evaluate(q=q, **inputs))[driven])
    raise ModelError(
        f"no equilibrium of '{robot.name}' was found near q_a = {np.asarray(q_a).tolist()} (last"
        f" step {size:.1e}): its loads may be beyond buckling"
    )


def _reclosed(loops: Closing, q: Array) -> Array:
    if not loops.passive:
        return q
    found = loops.closed(q, loops.columns(loops.passive))
    if found is None:
        raise ModelError(f"the loops of '{loops.robot.name}' open under this deformation")
    return found


def _loads(robot: Robot, loads: Any) -> dict[str, Array]:
    """The program's f_e: what each link exerts on the environment, the opposite of the loads."""
    nl = len(robot.links)
    if loads is None:
        return {"f_e": np.zeros((nl, 6))}
    given = np.asarray(loads, float)
    if given.shape != (nl, 6):
        raise InputError(f"loads have shape {given.shape}; allowed: ({nl}, 6), a wrench per link")
    return {"f_e": -given}


def _tangent(robot: Robot, loops: Closing, q: Array, loads: Any) -> Array:
    """dR/dq along the loops, over the independent coordinates."""
    slope: Program = static_forces(robot).derivative("R", "q")
    found: Array = np.asarray(slope.evaluate(q=q, **_loads(robot, loads))) @ _jacobian(loops, q)
    return found


def frequency_map(
    robot: Robot, axes: Sequence[Sequence[float]], actuators: str = "locked", *,
    guess: Sequence[float] | None = None, progress: Callable[[int, int], None] | None = None,
) -> Array:  # fmt: skip
    """Frequencies over a grid of driven positions: shape (len(axes[0]), ..., modes).

    nan where the robot cannot be assembled."""
    grid = [np.asarray(axis, float) for axis in axes]
    shape = tuple(map(len, grid))
    found: dict[int, Array] = {}
    total = int(np.prod(shape))
    for k, q_a in enumerate(product(*grid)):
        try:
            found[k] = natural_frequencies(robot, q_a, actuators, guess=guess)
        except ModelError:
            if not found and k == total - 1:
                raise
        if progress is not None:
            progress(k + 1, total)
    size = max(len(f) for f in found.values())
    out = np.full((total, size), np.nan)
    for k, f in found.items():
        out[k] = f
    return out.reshape((*shape, size))
