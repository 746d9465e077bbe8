"""Physically consistent full parameters: the fit that real bodies can have, as a convex problem.

Link j is a real body when its pseudo-inertia is positive definite (P. Wensing, S. Kim, J.-J.
Slotine, IEEE RA-L 3, 2018; positive density everywhere can realise it):

    P_j = | S  h |      S = tr(J)/2 1 - J,   J the inertia about O_j,  h = M c           (1)
          | h' M |

    minimise |R M x - z|^2 / 2 + strength · (distance of all P_j to their priors)        (2)
    subject to P_j > 0 for every link, IA, FV, FS >= 0

R K = z are the reduced equations of the fit, K = M x the base parameters of the full ones. What
the torques do not determine is decided by the prior: the robot's own parameters, or neutral bodies.
The distance is quadratic in scaled parameters, or entropic: tr(P0^-1 P) - log det P (T. Lee,
P. Wensing, F. Park, IEEE T-RO 36, 2020). Solved by Clarabel's interior point method.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...describe.expression import number
from ...describe.robot import INERTIA, Robot
from ...errors import InputError, MissingExtraError
from .columns import Model
from .recipe import Consistent

__all__ = ["FullParameters", "consistent_fit", "is_consistent", "parameter_map", "pseudo_inertia"]

Array = np.ndarray
Column = tuple[str, int]
_LEAST = 1e-7  # of the pull to the prior, in units of the squared torques
_MARGIN = 1e-4  # of a neutral body, that every link keeps from the border


@dataclass(frozen=True)
class FullParameters:
    """Parameters of every link and drive; K: the base parameters they give."""

    values: Mapping[str, float]
    K: Array
    prior: str
    distance: str
    smallest: float  # eigenvalue of the scaled pseudo-inertias


def pseudo_inertia(parameters: Any) -> Array:
    """P (1) of XX XY XZ YY YZ ZZ MX MY MZ M; linear in them."""
    XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = parameters
    J = np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]], float)
    P = np.empty((4, 4))
    P[:3, :3] = np.trace(J) / 2 * np.eye(3) - J
    P[:3, 3] = P[3, :3] = MX, MY, MZ
    P[3, 3] = M
    return P


def is_consistent(robot: Robot) -> bool:
    """Are all links of a robot with numbers real bodies?"""
    listed = [_body(robot, j) for j in range(len(robot.links))]
    return all(x is not None and np.linalg.eigvalsh(pseudo_inertia(x)).min() > 0 for x in listed)


def _body(robot: Robot, j: int) -> Array | None:
    values = [number(getattr(robot.links[j], key)) for key in INERTIA]
    return None if None in values else np.array(values, float)


def parameter_map(model: Model) -> tuple[list[str], Array]:
    """(names of the full parameters x, M): K = M x, for the columns the model keeps."""
    base = model.base
    full = [f"{name}{j}" for name, j in base.full]
    numbers = base.original.with_values(dict.fromkeys(base.original.parameters, 1))
    table = replace(base, original=numbers).map  # it depends on the geometry alone
    inertial = dict(zip(base.names, table, strict=True))
    wanted = [
        k for k, (name, j) in enumerate(base.full) if j > 0 and (model.rotors or name != "IA")
    ]
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
    model: Model, R: Array, z: Array, rest: float, chosen: Consistent
) -> FullParameters:
    """The full parameters of real bodies that fit the reduced equations R K = z best (2)."""
    names, M = parameter_map(model)
    problem = _Problem(model, names, chosen)
    scale = problem.scale
    A = R @ M * scale
    weight = chosen.strength * max(rest, 1e-12 * float(z @ z), 1e-300)
    x = problem.solve(A, z, weight) * scale
    values = dict(zip(names, x.tolist(), strict=True))
    smallest = min(problem.eigenvalue(values, body) for body in problem.bodies)
    return FullParameters(values, M @ x, problem.prior, chosen.distance, smallest)


class _Problem:
    """The cones and the pull to the priors, in scaled variables."""

    def __init__(self, model: Model, names: list[str], chosen: Consistent) -> None:
        self.names, self.entropic = names, chosen.distance == "entropic"
        self.bodies = [str(j) for j in range(1, len(model.robot.links) + 1)]
        if all(f"{key}L" in names for key in INERTIA):
            self.bodies.append("L")  # the payload
        self.at = {name: k for k, name in enumerate(names)}
        size = _size(model.robot)
        mass = _mass(model.robot)
        unit = {"M": mass, "F": 1.0, "o": 1.0}
        self.scale = np.array(
            [
                mass * size**2 if name[:2] in _SECOND else mass * size if name[:2] in _FIRST
                else unit.get(name[0], 1.0)
                for name in names
            ]
        )  # fmt: skip
        own = chosen.prior != "none" and is_consistent(model.robot)
        if chosen.prior == "robot" and not own:
            raise InputError(
                f"[consistent] prior = \"robot\": '{model.robot.name}' has no mass and inertia of "
                'a real body for every link; use prior = "none"'
            )
        self.prior = "the robot's own parameters" if own else "neutral bodies"
        drives = {f"IA{j}": number(joint.IA) for j, joint in enumerate(model.robot.joints, 1)}
        self.rotors = {k: x for k, x in drives.items() if own and x is not None and k in self.at}
        neutral = np.array([0.02, 0, 0, 0.02, 0, 0.02, 0, 0, 0, 1.0])
        self.neutral = pseudo_inertia(neutral)
        self.priors = []
        for name in self.bodies:
            body = _body(model.robot, int(name) - 1) if own and name != "L" else None
            k = self.link(name)
            self.priors.append(neutral if body is None else body / self.scale[k])

    def link(self, j: str) -> list[int]:
        return [self.at[f"{key}{j}"] for key in INERTIA]

    def eigenvalue(self, values: Mapping[str, float], j: str) -> float:
        """The smallest eigenvalue of the scaled pseudo-inertia of link j."""
        x = np.array([values[f"{key}{j}"] for key in INERTIA]) / self.scale[self.link(j)]
        return float(np.linalg.eigvalsh(pseudo_inertia(x)).min())

    def solve(self, A: Array, z: Array, weight: float) -> Array:
        """x (scaled) of (2)."""
        clarabel, sparse = _solver()
        n = len(self.names)
        extra = 14 * len(self.bodies) if self.entropic else 0
        unit = max(float(z @ z), 1e-300)
        H = np.zeros((n + extra, n + extra))
        g = np.zeros(n + extra)
        H[:n, :n] = A.T @ A / unit
        g[:n] = -A.T @ z / unit
        self.pull(H, g, A, weight / unit)
        rows, bound, cones = self.cones(n + extra, clarabel)
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
        settings.max_iter = 400
        solver = clarabel.DefaultSolver(
            sparse.csc_matrix(np.triu(H)), g, sparse.csc_matrix(rows), bound, cones, settings
        )
        found = solver.solve()
        status = str(found.status)
        if "Solved" not in status and status != "InsufficientProgress":
            raise InputError(f"no physically consistent parameters were found: Clarabel: {status}")
        return np.array(found.x)[:n]

    def pull(self, H: Array, g: Array, A: Array, weight: float) -> None:
        """The distance to the priors; where the equations say nothing, it is never negligible."""
        n = len(self.names)
        if self.entropic:
            weight = max(weight, _LEAST)
        else:
            target = np.zeros(n)
            for name, prior in zip(self.bodies, self.priors, strict=True):
                target[self.link(name)] = prior
            for name, inertia in self.rotors.items():
                target[self.at[name]] = inertia / self.scale[self.at[name]]
            free = _null_space(A)
            H[:n, :n] += _LEAST * free @ free.T
            g[:n] -= _LEAST * free @ (free.T @ target)
        for j, prior in enumerate(self.priors):
            k = self.link(self.bodies[j])
            if self.entropic:
                inverse = np.linalg.inv(pseudo_inertia(prior))
                g[k] += weight * np.array(
                    [np.sum(inverse * pseudo_inertia(unit)) for unit in np.eye(10)]
                )
                first = n + 14 * j + 10
                g[first : first + 4] -= weight
            else:
                H[k, k] += weight
                g[k] -= weight * prior
        for name in self.names:  # what the data leave open stays near zero
            if name[:2] not in (*_SECOND, *_FIRST) and name[0] != "M":
                H[self.at[name], self.at[name]] += 1e-6 * weight

    def cones(self, width: int, clarabel: Any) -> tuple[Array, Array, list[Any]]:
        """A x + s = b, s in cones."""
        rows, bound, cones = [], [], []
        signed = [k for k, name in enumerate(self.names) if name[:2] in ("IA", "FV", "FS")]
        if signed:
            rows.append(-np.eye(width)[signed])
            bound.append(np.zeros(len(signed)))
            cones.append(clarabel.NonnegativeConeT(len(signed)))
        for j in range(len(self.bodies)):
            for block, b, cone in self.entropy(j, width, clarabel) if self.entropic else (
                self.positive(j, width, clarabel),
            ):  # fmt: skip
                rows.append(block)
                bound.append(b)
                cones.append(cone)
        return np.vstack(rows), np.concatenate(bound), cones

    def positive(self, j: int, width: int, clarabel: Any) -> tuple[Array, Array, Any]:
        """P_j - margin in the cone of positive matrices."""
        block = np.zeros((10, width))
        for column, unit in zip(self.link(self.bodies[j]), np.eye(10), strict=True):
            block[:, column] = -_packed(pseudo_inertia(unit))
        return block, -_packed(_MARGIN * self.neutral), clarabel.PSDTriangleConeT(4)

    def entropy(self, j: int, width: int, clarabel: Any) -> list[tuple[Array, Array, Any]]:
        """[P Z; Z' diag Z] positive, Z lower triangular, t_i <= log Z_ii: sum t <= log det P."""
        first = len(self.names) + 14 * j
        block = np.zeros((36, width))
        for column, unit in zip(self.link(self.bodies[j]), np.eye(10), strict=True):
            big = np.zeros((8, 8))
            big[:4, :4] = pseudo_inertia(unit)
            block[:, column] = -_packed(big)
        lower = [(a, b) for a in range(4) for b in range(a + 1)]
        for k, (a, b) in enumerate(lower):
            big = np.zeros((8, 8))
            big[a, 4 + b] = big[4 + b, a] = 1
            if a == b:
                big[4 + a, 4 + a] = 1
            block[:, first + k] = -_packed(big)
        found = [(block, np.zeros(36), clarabel.PSDTriangleConeT(8))]
        for i in range(4):
            rows = np.zeros((3, width))
            rows[0, first + 10 + i] = -1
            rows[2, first + lower.index((i, i))] = -1
            found.append((rows, np.array([0.0, 1.0, 0.0]), clarabel.ExponentialConeT()))
        return [*found, self.positive(j, width, clarabel)]


_SECOND = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "IA")
_FIRST = ("MX", "MY", "MZ")


def _null_space(A: Array) -> Array:
    """Directions (n, k) that A does not see."""
    _, s, Vt = np.linalg.svd(A)
    rank = int((s > 1e-10 * s[0]).sum())
    return np.asarray(Vt[rank:].T)


def _packed(S: Array) -> Array:
    """The upper triangle by columns, off-diagonal entries times sqrt 2."""
    n = len(S)
    pairs = [(a, b) for b in range(n) for a in range(b + 1)]
    return np.array([S[a, b] * (1 if a == b else np.sqrt(2)) for a, b in pairs])


def _solver() -> tuple[Any, Any]:
    try:
        import clarabel
        from scipy import sparse
    except ImportError:
        raise MissingExtraError.of("clarabel", "id", "the physically consistent fit") from None
    return clarabel, sparse


def _size(robot: Robot) -> float:
    """A length of the robot: the longest offset between its frames."""
    lengths = [abs(number(getattr(joint, key)) or 0.0) for joint in robot.joints for key in "bdr"]
    return max(max(lengths, default=0.0), 0.05)


def _mass(robot: Robot) -> float:
    """A mass of the robot: the mean of its links, where known."""
    masses = [number(link.M) or 0.0 for link in robot.links]
    return float(np.mean(masses)) if min(masses, default=0.0) > 0 else 3.0
