"""What a designer asks of configurations: how well a robot moves, holds and resists there.

    J       of a frame, d(position)/d(joints that are driven), the rows in which it moves
    Jx, Jq  of closed loops, Jx xd + Jq qd = 0: where Jx is singular the platform moves while the
            drives stand (type 2), where Jq is, the drives move while it stands (type 1)
            (C. Gosselin, J. Angeles, "Singularity analysis of closed-loop kinematic chains",
            IEEE Trans. Robotics Automat. 6(3), 1990)

Passive joints are not eliminated: of the equations C qd = 0 of all joints, type 2 is C without the
columns of the drives, type 1 C without those of the platform, which are singular where Jx and Jq
are, and also where a leg is by itself. Lengths are in units of the robot's size there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import so3
from ..arguments import Numbers, named_arguments
from ..describe.robot import Robot
from ..errors import InputError, ModelError, UnknownNameError
from ..loops.numeric import equations, skeleton
from ..mechanism.coordinates import Coordinates
from ..mechanism.platform import Modules
from .coordinates import coordinates
from .derived import compiled
from .frames import frame_poses, link_frames
from .joints import array, bounds, number, require_numbers, vector

Array = np.ndarray
_AT_ONCE = 50_000  # configurations
MEASURES = {
    "manipulability": "sqrt(det(J J^T)): volume of the velocity ellipsoid",
    "dexterity": "least over greatest singular value of J: 1 is isotropic, 0 singular",
    "type-1": "1/condition of the loop equations with the platform at rest: 0 is singular",
    "type-2": "1/condition of the loop equations with the drives at rest: 0 is singular",
    "speed": "m/s in the slowest direction, joint speeds within their limits (unit ball)",
    "force": "N in the weakest direction, joint torques within their limits (unit ball)",
    "stiffness": "N/m in the softest direction",
    "torque": "largest torque that holds weight and force, N m or N",
}


@named_arguments
def position_jacobian(robot: Robot, q: Numbers, frame: Any = None) -> Array:
    """(N, rows, drives): of the position of a frame, the rows in which it can move."""
    J = compiled(skeleton(robot), "jacobian", **_of(frame))(q=np.atleast_2d(array("q", q)))
    J = np.asarray(J)[..., :3, :]
    rows = [k for k in range(3) if np.abs(J[..., k, :]).max(initial=0) > 1e-12]
    return J[..., (rows or [0])[: J.shape[-1]], :]  # a frame that does not move has a row of 0


def _of(frame: Any) -> dict[str, Any]:
    return {} if frame is None else {"frame": frame}


@named_arguments
def manipulability(robot: Robot, q: Numbers, frame: Any = None) -> Array:
    """sqrt(det(J J^T)), (N)."""
    J = position_jacobian(robot, q, frame)
    return np.asarray(np.sqrt(np.maximum(np.linalg.det(J @ np.swapaxes(J, -1, -2)), 0)))


@named_arguments
def dexterity(robot: Robot, q: Numbers, frame: Any = None) -> Array:
    """The inverse of the condition number of J, (N), from 0 (singular) to 1 (isotropic).

    >>> from cardan.motion import measures
    >>> delta = cardan.load("delta")
    >>> q = cardan.model(delta, "loop-geometry").legs.solve([0.0, 0.0, -0.6])[:1]
    >>> bool(0 < measures.dexterity(delta, q)[0] <= 1)
    True"""
    return _inverse_condition(position_jacobian(robot, q, frame))


def _inverse_condition(A: Array) -> Array:
    """Least over greatest singular value; 0 where a Jacobian is infinite: a singularity too."""
    whole = np.isfinite(A).all(axis=(-2, -1))
    values = np.linalg.svd(np.where(whole[..., None, None], A, 0.0), compute_uv=False)
    return np.asarray(values[..., -1] / np.maximum(values[..., 0], 1e-300))


@named_arguments
def singularity(robot: Robot, q: Numbers, kind: int, frame: Any = None) -> Array:
    """How far from a singularity of type 1 or 2, (N): the inverse of a condition number.

    Of an arm without loops there is type 1 alone: that of its Jacobian in units of its size, of six
    rows where it has as many joints, else of its position."""
    rows = np.atleast_2d(array("q", q))
    if kind not in (1, 2):
        raise InputError(f"singularities of type {kind}; allowed: 1, 2")
    if not robot.constrained:
        if kind == 2:
            raise ModelError(f"'{robot.name}' has no closed loops, so no singularities of type 2")
        if robot.n < 6:
            return dexterity(robot, rows, frame)
        J = np.array(compiled(skeleton(robot), "jacobian", **_of(frame))(q=rows))
        J[..., :3, :] /= sum(abs(number(x)) for j in robot.joints for x in (j.d, j.r))
        return _inverse_condition(J)
    link = Coordinates.of(robot)
    try:
        platform = [j for part in Modules.of(link, "singularities").parts for j in part.joints]
    except ModelError:
        platform = []
    system = equations(robot, {})
    if kind == 1 and not platform:  # the frame's own position takes the platform's place
        return _inverse_condition(position_jacobian(robot, rows, frame) / system.size)
    out = set(link.active if kind == 2 else platform)
    columns = [k for k, j in enumerate(link.moving) if j not in out]
    parts = [
        _inverse_condition((system.J(rows[k : k + _AT_ONCE]) * system.unit)[..., columns])
        for k in range(0, len(rows), _AT_ONCE)
    ]
    return np.concatenate(parts) if parts else np.zeros(0)


@dataclass(frozen=True)
class Ellipsoids:
    """Axes (N, rows, rows; columns are directions) and half lengths (N, rows), greatest first: of
    velocities, or of forces."""

    axes: Array
    lengths: Array


@named_arguments
def ellipsoids(
    robot: Robot, q: Numbers, frame: Any = None, *, of: str = "velocity", limits: Numbers = 1.0
) -> Ellipsoids:
    """Velocities of a frame while sum (qd_i / limit_i)² <= 1, or forces it can exert while the
    same holds of torques: the dual, J^T f = tau.

    >>> from cardan.motion import measures
    >>> measures.ellipsoids(cardan.load("ur5"), [0, -1, 1, 0, 1, 0]).lengths.shape
    (1, 3)"""
    if of not in ("velocity", "force"):
        raise UnknownNameError.of("ellipsoid", of, ("velocity", "force"))
    J = position_jacobian(robot, q, frame)
    limit = vector("limits", limits, J.shape[-1])
    if (limit <= 0).any():
        raise InputError(f"limits = {limit.tolist()}: they must be positive", where="limits")
    scaled = J * limit if of == "velocity" else J / limit
    U, s, _ = np.linalg.svd(scaled, full_matrices=False)
    if of == "force":
        with np.errstate(divide="ignore"):
            return Ellipsoids(U[..., ::-1], 1 / s[..., ::-1])
    return Ellipsoids(U, s)


@named_arguments
def stiffness(
    robot: Robot, q: Numbers, joints: Numbers, frame: Any = None,
    links: Mapping[Any, Numbers] | None = None,
) -> Array:  # fmt: skip
    """The Cartesian stiffness of a frame, (N, 6, 6), force and moment by displacement and turn, in
    the axes of frame 0; of springs in the drives, N m/rad or N/m, and of links.

    K = (J diag(1/k) J^T + sum of X_j C_j X_j^T)^-1: `links` gives for a link the stiffness (6, 6)
    of its end against its frame, in its axes (C_j is the inverse); for trees only. Directions that
    nothing moves are rigid: the compliance is inverted where it has rank."""
    require_numbers(skeleton(robot), "the stiffness")
    rows = np.atleast_2d(array("q", q))
    J = np.asarray(compiled(skeleton(robot), "jacobian", **_of(frame))(q=rows))
    k = vector("joints", joints, J.shape[-1])
    if (k <= 0).any():
        raise InputError(f"joints = {k.tolist()}: stiffness must be positive", where="joints")
    C = (J / k) @ np.swapaxes(J, -1, -2)
    if links:
        C = C + _link_compliance(robot, rows, frame, links)
    return _inverse(C)


def _inverse(C: Array) -> Array:
    """The inverse where C has rank; zero elsewhere, which stands for rigid."""
    return np.linalg.pinv(C, rcond=1e-9, hermitian=True)


def _link_compliance(robot: Robot, q: Array, frame: Any, links: Mapping[Any, Numbers]) -> Array:
    if robot.constrained:
        raise ModelError(
            f"'{robot.name}' has closed loops, whose links bear loads together",
            remedy="describe the links as flexible; its modes and statics know them",
        )
    T = link_frames(skeleton(robot), q)
    tool = frame_poses(skeleton(robot), T, frame)[..., :3, 3]
    known = [link.name for link in robot.links]
    total = np.zeros((len(q), 6, 6))
    for name, value in links.items():
        if name not in known:
            raise UnknownNameError.of("link", name, known)
        K = array(f"links[{name!r}]", value)
        if K.shape != (6, 6) or np.abs(K - K.T).max() > 1e-9 * np.abs(K).max():
            raise InputError(f"links[{name!r}] has shape {K.shape}; expected a symmetric (6, 6)")
        if np.linalg.eigvalsh(K)[0] <= 0:
            raise InputError(f"links[{name!r}]: a stiffness is positive definite")
        own = T[:, known.index(name) + 1]
        R = own[:, :3, :3]
        X = np.zeros((len(q), 6, 6))
        X[:, :3, :3] = X[:, 3:, 3:] = R
        X[:, :3, 3:] = -so3.hat(tool - own[:, :3, 3]) @ R
        total += X @ np.linalg.inv(K) @ np.swapaxes(X, -1, -2)
    return total


@named_arguments
def holding_torques(
    robot: Robot, q: Numbers, frame: Any = None, *, force: Numbers = (0.0, 0.0, 0.0)
) -> Array:
    """Torques of the drives, (N, drives), that hold the weight and a force on the frame."""
    if robot.ne:
        raise ModelError(
            f"'{robot.name}' has links that bend: what holds it depends on how they do",
            remedy="ask for the torques of the robot with rigid links",
        )
    require_numbers(robot, "a holding torque")
    rows = np.atleast_2d(array("q", q))
    f = array("force", force)
    if f.shape != (3,):
        raise InputError(f"force has shape {f.shape}; expected (3), N in frame 0", where="force")
    own = compiled(robot, "gravity")(q=rows)
    if not f.any():
        return np.asarray(own)
    J = np.asarray(compiled(skeleton(robot), "jacobian", **_of(frame))(q=rows))[..., :3, :]
    return np.asarray(own - np.swapaxes(J, -1, -2) @ f)


@named_arguments
def orientation(robot: Robot, q: Numbers, frame: Any = None) -> Array:
    """The sign of det J, (N): of six rows where there are six joints or more, else of position;
    square Jacobians only. It changes at singularities, of type 2 through infinity."""
    rows = np.atleast_2d(array("q", q))
    J = np.asarray(compiled(skeleton(robot), "jacobian", **_of(frame))(q=rows))
    J = J if J.shape[-1] >= 6 else position_jacobian(robot, rows, frame)
    if J.shape[-2] != J.shape[-1]:
        raise ModelError(
            f"the Jacobian of '{robot.name}' is {J.shape[-2]} x {J.shape[-1]}, not square"
        )
    return np.asarray(np.sign(np.linalg.det(J)))


@named_arguments
def measure(robot: Robot, q: Numbers, name: str, frame: Any = None, **options: Any) -> Array:
    """One number per configuration, (N), of `MEASURES`. options: joints= (and links=) of the
    stiffness, force= of the torque; limits of speed and force are the description's, else 1."""
    if name == "manipulability":
        return manipulability(robot, q, frame)
    if name == "dexterity":
        return dexterity(robot, q, frame)
    if name in ("type-1", "type-2"):
        return singularity(robot, q, int(name[-1]), frame)
    if name in ("speed", "force"):
        key = {"speed": "velocity", "force": "effort"}[name]
        limit = bounds(robot, key)[coordinates(skeleton(robot)).place]
        limit = np.where(np.isfinite(limit), limit, 1.0)
        of = "velocity" if name == "speed" else "force"
        return ellipsoids(robot, q, frame, of=of, limits=limit).lengths[..., -1]
    if name == "stiffness":
        if "joints" not in options:
            raise InputError("the stiffness of the drives is missing", action="springs")
        K = stiffness(robot, q, options["joints"], frame, options.get("links"))
        C = _inverse(K)[..., :3, :3]
        return np.asarray(1 / np.linalg.eigvalsh(C)[..., -1])
    if name == "torque":
        held = holding_torques(robot, q, frame, force=options.get("force", (0, 0, 0)))
        return np.asarray(np.abs(held).max(axis=-1))
    raise UnknownNameError.of("measure", name, tuple(MEASURES))
