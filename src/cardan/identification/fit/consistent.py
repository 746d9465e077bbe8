"""Physically consistent full parameters: the bodies that real links can have, as a convex problem.

K are the identified base parameters, x the full ones, B the map K = B x. Where real bodies have
exactly these base parameters, they are taken, nearest to the prior:

    minimise  distance of all P_j to their priors     subject to  B x = K                (2)

and where none have them, the bodies that fit the reduced equations R K = z of the recording best:

    minimise  |R M x - z|^2 / 2 + strength · (distance of all P_j to their priors)       (3)

both with P_j > 0 for every link and IA, FV, FS >= 0 (see `bodies`). What the torques do not
determine is decided by the prior: the robot's own parameters, or neutral bodies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...algebra.ranks import null_space
from ...build.base import rotors_apart
from ...describe.robot import INERTIA
from ..model.columns import Model
from ..recipe import Consistent
from .bodies import Bodies, massless

Array = np.ndarray
_STRENGTH = 1e-4  # of the pull where no bodies have the base parameters, in units of the residual
_FIXED = 1e-9


@dataclass(frozen=True)
class FullParameters:
    """Parameters of every link and drive; K: the base parameters they give.

    exact: K are the identified base parameters, but for friction and rotors that were negative
    (`raised`, to zero)."""

    values: Mapping[str, float]
    K: Array
    prior: str
    distance: str
    smallest: float  # eigenvalue of the pseudo-inertias in units of their priors
    exact: bool
    raised: tuple[str, ...] = ()


def parameter_map(model: Model) -> tuple[list[str], Array]:
    """(names of the full parameters x, M): K = M x, for the columns the model keeps."""
    base = model.base
    full = [f"{name}{j}" for name, j in base.full]
    numbers = base.original.with_values(dict.fromkeys(base.original.parameters, 1))
    table = replace(base, original=numbers).map  # it depends on the geometry alone
    inertial = dict(zip(base.names, table, strict=True))
    apart = rotors_apart(model.robot)  # of joints that follow: terms, where they count
    apart |= {(key, j) for j in massless(model.robot) for key in INERTIA}
    wanted = [
        k for k, (name, j) in enumerate(base.full)
        if j > 0 and (model.rotors or name != "IA") and (name, j) not in apart
    ]  # fmt: skip
    names = [full[k] for k in wanted]
    names += [name for name in model.names if name not in inertial]
    M = np.zeros((len(model.names), len(names)))
    for row, name in enumerate(model.names):
        if name in inertial:
            M[row, : len(wanted)] = inertial[name][wanted]
        else:
            M[row, names.index(name)] = 1
    return names, M


def consistent_fit(
    model: Model, R: Array, z: Array, rest: float, seen: Array, K: Array, chosen: Consistent
) -> FullParameters:
    """The full parameters of real bodies. R, z: the reduced equations of all of the model's
    columns; K: the identified parameters, `seen` (len(K), columns) times the model's."""
    names, M = parameter_map(model)
    bodies = Bodies(model, names, chosen)
    B = seen @ M @ bodies.basis
    exact = None if chosen.strength else _exact(bodies, B, K, R @ np.linalg.pinv(seen))
    if exact is not None:
        u, raised = exact
    else:
        weight = (chosen.strength or _STRENGTH) * max(rest, 1e-12 * float(z @ z), 1e-300)
        u, raised = bodies.nearest(R @ M @ bodies.basis, z, weight), ()
    values = {f"{key}{j}": 0.0 for j in massless(model.robot) for key in INERTIA}
    values |= zip(names, (bodies.basis @ u).tolist(), strict=True)
    return FullParameters(
        values, B @ u, bodies.prior, chosen.distance, bodies.eigenvalue(u), exact is not None,
        raised,
    )  # fmt: skip


def _exact(bodies: Bodies, B: Array, K: Array, R: Array) -> tuple[Array, tuple[str, ...]] | None:
    """(2): u with B u = K. A friction or rotor inertia that K alone determines and that is negative
    becomes zero, and the others what fits R K = z best then: noise around zero is not a fault."""
    free, inverse = null_space(B, 1e-10), np.linalg.pinv(B)
    fixed = [k for k in bodies.signed if np.linalg.norm(free[k]) < _FIXED]
    free[fixed] = 0
    spread = np.linalg.pinv(R)
    S = spread @ spread.T
    raised: list[int] = []
    told: list[str] = []
    start = bodies.target + inverse @ (K - B @ bodies.target)
    while True:
        lower = [k for k in fixed if k not in raised and start[k] < 0]
        if not lower:
            break
        raised += lower
        told += [bodies.names[k] for k in lower if start[k] < -_FIXED]
        C = inverse[raised]  # u of these is C K
        K = K - S @ C.T @ np.linalg.solve(C @ S @ C.T, C @ K)
        start = bodies.target + inverse @ (K - B @ bodies.target)
        start[raised] = 0
    u = bodies.within(start, free)
    return None if u is None else (u, tuple(told))
