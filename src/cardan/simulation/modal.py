"""Vibration of robots with flexible links or elastic joints: frequencies, modes, static deflection.

Small motion about a configuration obeys M q̈ + K q = 0 over the coordinates that are free:
deformation and elastic joints, with the actuators locked; the driven joints too when they are free.
Passive joints of closed loops are eliminated by [BK13] (34), and those that wheels hold by rolling.
About the undeformed robot, K is the stiffness of links and joints; about a static equilibrium it is
the exact derivative of the forces, so that gravity and loads stiffen or soften the robot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal, overload

import numpy as np

from ..algebra.newton import Rule, newton
from ..algebra.ranks import null_space
from ..arguments import Numbers, named_arguments
from ..build.flexible.closure import Closing, closing
from ..build.flexible.equations import static_forces
from ..describe.robot import Robot
from ..describe.values.expression import number
from ..errors import InputError, ModelError, UnknownNameError, translated
from ..mechanism.coordinates import is_floating
from ..models.composite import inertia_matrix
from ..models.flexible.loops import FREE
from ..models.flexible.modes import eigen
from ..motion.coordinates import coordinates
from ..program import Program

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
    """An equilibrium: coordinates, the torques of the driven joints that hold it, and the forces
    of the loops, a value per independent row."""

    q: Array
    tau: Array
    pulls: Array


@overload
def natural_frequencies(
    robot: Robot, q_a: Any = ..., actuators: str = ..., *, modes: Literal[False] = ...,
    about: str = ..., guess: Sequence[float] | None = ..., loads: Any = ...,
) -> Array: ...  # fmt: skip


@overload
def natural_frequencies(
    robot: Robot, q_a: Any = ..., actuators: str = ..., *, modes: Literal[True],
    about: str = ..., guess: Sequence[float] | None = ..., loads: Any = ...,
) -> Modes: ...  # fmt: skip


@overload
def natural_frequencies(
    robot: Robot, q_a: Any = ..., actuators: str = ..., *, modes: bool,
    about: str = ..., guess: Sequence[float] | None = ..., loads: Any = ...,
) -> Array | Modes: ...  # fmt: skip


@named_arguments
@translated("the frequencies cannot be computed", remedy="check the values of the robot")
def natural_frequencies(
    robot: Robot, q_a: Numbers = None, actuators: str = "locked", *, modes: bool = False,
    about: str = "undeformed", guess: Sequence[float] | None = None, loads: Numbers = None,
) -> Array | Modes:  # fmt: skip
    """Natural frequencies in Hz, ascending, at positions q_a of the driven joints (0).

    actuators: 'locked', or 'free' to move (motions without stiffness have frequency 0).
    about: 'undeformed', or 'equilibrium' under gravity and `loads`. modes=True gives `Modes`.
    guess: passive joints near the wanted assembly of a closed loop.

    >>> cardan.natural_frequencies(cardan.load("flexible1r"), 0.0)[:2].round(2).tolist()
    [1.51, 12.13]"""
    _one_of("actuators", actuators, _ACTUATORS)
    _one_of("about", about, _ABOUT)
    loops = _vibrating(robot, actuators)
    if about == "equilibrium":
        rest = static_deflection(robot, q_a, loads=loads, guess=guess)
        q, K = rest.q, _tangent(robot, rest, loads)
    else:
        q = loops.assemble(q_a, guess=guess)
        K = _stiffness(loops)
    base = 6 * is_floating(robot)
    N = _free_motion(robot, loops, q, actuators)
    M = N.T @ _mass(loops, q, base > 0) @ N
    squares, vectors = _solved(N[base:].T @ K @ N[base:], M)
    if not modes:
        return _hertz(squares)
    return Modes(_hertz(squares), N @ vectors, q, _names(robot, loops))


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
    pulsations = np.sqrt(
        np.where(np.abs(squares) <= small, 0, np.where(squares < 0, np.nan, squares))
    )
    return pulsations / (2 * np.pi)


def _one_of(kind: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise UnknownNameError.of(f"value of '{kind}'", value, allowed)


def _vibrating(robot: Robot, actuators: str = "locked") -> Closing:
    if not isinstance(robot, Robot):
        raise InputError(f"a Robot is needed, not {type(robot).__name__}: cardan.load gives one")
    sprung = any(joint.spring != 0 for joint in robot.joints)
    if not (robot.ne or any(joint.elastic for joint in robot.joints)) and (
        actuators == "locked" or not sprung
    ):
        raise ModelError(
            f"'{robot.name}' is rigid: nothing vibrates; give a link `flexible`, or a joint a"
            " stiffness",
            remedy='actuators="free" lets the motors swing on their springs' if sprung else "",
        )
    if robot.wheels and robot.ne:
        raise ModelError(f"'{robot.name}' has wheels and flexible links: not available together")
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
    composite = inertia_matrix(loops.scene, [float(v) for v in q], base=base)
    first = [("base", 0, k) for k in range(6 * base)]
    M = np.array(composite.rows([*first, *loops.keys]), float)
    for cut in loops.driving:
        rotor = float(loops.scene.links[cut.cut - 1].IA)
        rates = loops.matrix(q, [replace(cut, rows=FREE[cut.kind])])
        M[len(first) :, len(first) :] += rotor * rates.T @ rates
    for drive in loops.robot.drives:
        ratios = {("joint", j, 0): float(number(ratio) or 0) for j, ratio in drive.joints}
        row = np.array([0.0] * len(first) + [ratios.get(key, 0.0) for key in loops.keys])
        M += float(number(drive.IA) or 0) * np.outer(row, row)
    return M


def _stiffness(loops: Closing) -> Array:
    """K over all coordinates of the tree: springs, those beside motors too, and the links' own."""
    K = np.zeros((len(loops.keys), len(loops.keys)))
    scene = loops.scene
    for k, (kind, j, _) in enumerate(loops.keys):
        if kind == "joint":
            body = scene.links[j - 1]
            K[k, k] = float(body.stiffness if body.elastic else body.spring)
    for j, elastic in scene.flexible.items():
        own = loops.columns([("elastic", j, k) for k in range(elastic.N)])
        K[np.ix_(own, own)] = np.array(elastic.integrals.Kee, float)
    return K


def _free_motion(robot: Robot, loops: Closing, q: Array, actuators: str) -> Array:
    """A basis of the small motions that locks and loops allow: all coordinates by free motions.

    The six of a floating base come first. Passive joints follow, (34); hyperstatic loops hold
    combinations of the elastic coordinates too."""
    base = 6 * is_floating(robot)
    held = set(loops.active) if actuators == "locked" else set()
    if robot.wheels:
        on = coordinates(robot)
        rolling = on.matrix(q, np.zeros(on.nv))[0]
        return rolling[:, [k for k, x in enumerate(on.place) if loops.keys[x] not in held]]
    free = [*range(base), *(base + k for k, key in enumerate(loops.keys) if key not in held)]
    unit = np.eye(base + len(loops.keys))[:, free]
    if loops.everything:
        unit = unit @ null_space(loops.matrix(q) @ unit[base:], 1e-9, 1.0)
    if not unit.shape[1]:
        raise ModelError(f"nothing of '{robot.name}' is free to move with its actuators locked")
    return unit


@named_arguments
def static_deflection(
    robot: Robot, q_a: Numbers = None, *, loads: Numbers = None,
    guess: Sequence[float] | None = None,
) -> Statics:  # fmt: skip
    """The equilibrium under gravity and loads, the driven joints locked at q_a.

    loads: wrenches (force, moment) of the environment on each link, in its frame, (nl, 6).
    Newton's method on Q + G^T lam = 0 together with the closing of the loops."""
    loops = _vibrating(robot)
    if is_floating(robot) or robot.wheels:
        moves = "rolls away" if robot.wheels else "floats"
        raise ModelError(f"'{robot.name}' {moves}: it has no static equilibrium")
    program = static_forces(robot)
    slope = program.derivative("R", "q")
    q = loops.assemble(q_a, guess=guess)
    free = [k for k, key in enumerate(loops.keys) if key not in loops.active]
    n = len(q)
    rest = Statics(q, np.zeros(0), np.zeros(sum(len(cut.rows) for cut in loops.cuts)))
    stiffest = np.abs(np.asarray(slope.evaluate(**_static_inputs(robot, rest, loads))))
    scale = float(stiffest[np.ix_(free, free)].max(initial=0)) or 1.0  # of forces, beside lengths

    def at(x: Array) -> Statics:
        return Statics(x[0, :n], np.zeros(0), scale * x[0, n:])

    def forces(x: Array, _: Array) -> Array:
        """What is left of the forces, over the scale, and how far the loops are open."""
        R = np.asarray(program.evaluate(**_static_inputs(robot, at(x), loads)))
        return np.asarray(np.r_[R[free] / scale, loops.error(x[0, :n])])[None]

    def stiffness(x: Array, _: Array) -> Array:
        K = np.asarray(slope.evaluate(**_static_inputs(robot, at(x), loads)))[np.ix_(free, free)]
        if not loops.everything:
            return np.asarray(K / scale)[None]
        G, every = (loops.matrix(x[0, :n], cuts)[:, free] for cuts in (loops.cuts, None))
        none = np.zeros((len(every), len(G)))
        return np.asarray(np.block([[K / scale, G.T], [every, none]]))[None]

    def moved(x: Array, step: Array) -> Array:
        ahead = x.copy()
        ahead[:, [*free, *range(n, x.shape[1])]] += step
        return ahead

    unit = np.r_[np.ones(len(free)), np.full(len(rest.pulls), np.inf)]
    rank = 1e-13 if loops.everything else 0.0
    rule = Rule(step=1e-11, longest=0.3, unit=unit, rounds=60, rank=rank)
    ends = newton(np.r_[rest.q, rest.pulls][None], forces, stiffness, rule, move=moved)
    if not ends.solved[0]:
        raise ModelError(
            f"no equilibrium of '{robot.name}' was found near q_a = {np.asarray(q_a).tolist()}"
            f" (last step {ends.step[0]:.1e}): its loads may be beyond buckling"
        )
    rest = at(ends.x)
    R = np.asarray(program.evaluate(**_static_inputs(robot, rest, loads)))
    return replace(rest, tau=R[loops.columns(loops.active)])


def _static_inputs(robot: Robot, rest: Statics, loads: Any) -> dict[str, Array]:
    lam = {"lam": rest.pulls} if robot.constrained else {}
    return {"q": rest.q, **_loads(robot, loads), **lam}


def _loads(robot: Robot, loads: Any) -> dict[str, Array]:
    """The program's f_e: what each link exerts on the environment, the opposite of the loads."""
    nl = len(robot.links)
    if loads is None:
        return {"f_e": np.zeros((nl, 6))}
    forces = np.asarray(loads, float)
    if forces.shape != (nl, 6):
        raise InputError(f"loads have shape {forces.shape}; allowed: ({nl}, 6), a wrench per link")
    return {"f_e": -forces}


def _tangent(robot: Robot, rest: Statics, loads: Any) -> Array:
    """dR/dq over all coordinates, the pull of the loops included."""
    slope: Program = static_forces(robot).derivative("R", "q")
    return np.asarray(slope.evaluate(**_static_inputs(robot, rest, loads)))


@named_arguments
def frequency_map(
    robot: Robot, axes: Sequence[Sequence[float]], actuators: str = "locked", *,
    guess: Sequence[float] | None = None, progress: Callable[[int, int], None] | None = None,
) -> Array:  # fmt: skip
    """Frequencies over a grid of driven positions: shape (len(axes[0]), ..., modes).

    nan where the robot cannot be assembled."""
    grid = [np.asarray(axis, float) for axis in axes]
    shape = tuple(map(len, grid))
    maps: dict[int, Array] = {}
    total = int(np.prod(shape))
    for k, q_a in enumerate(product(*grid)):
        try:
            maps[k] = natural_frequencies(robot, q_a, actuators, guess=guess)
        except ModelError:
            if not maps and k == total - 1:
                raise
        if progress is not None:
            progress(k + 1, total)
    size = max(len(f) for f in maps.values())
    out = np.full((total, size), np.nan)
    for k, f in maps.items():
        out[k] = f
    return out.reshape((*shape, size))
