"""The cones of real bodies: positive pseudo-inertias, and how far bodies are from their priors.

Link j is a real body when its pseudo-inertia is positive definite (P. Wensing, S. Kim, J.-J.
Slotine, IEEE RA-L 3, 2018; positive density everywhere can realise it):

    P_j = | S  h |      S = tr(J)/2 1 - J,   J the inertia about O_j,  h = M c           (1)
          | h' M |

The distance to a prior is quadratic in scaled parameters, or entropic: tr(P0^-1 P) - log det P
(T. Lee, P. Wensing, F. Park, IEEE T-RO 36, 2020). Solved by Clarabel's interior point method.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...algebra.ranks import null_space
from ...describe.robot import DRIVE, INERTIA, Robot
from ...describe.values.expression import number
from ...errors import InputError, MissingExtraError, translated
from ..model.columns import Model
from ..recipe import Consistent

Array = np.ndarray
_LEAST = 1e-7  # of the pull to the prior, in units of the squared torques
_MARGIN = 1e-4  # of its prior, that every link keeps from the border
_SMALLEST = 1e-8  # margin that can be told from none
_FIXED = 1e-9  # of a direction: this parameter does not move along it
_SECOND = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "IA")
_FIRST = ("MX", "MY", "MZ")
Block = tuple[Array, Array, str]  # rows u + s = bound, s in a cone


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
    """Are all links of a robot with numbers real bodies, massless ones apart?"""
    listed = [_body(robot, j - 1) for j in _real(robot)]
    return all(x is not None and np.linalg.eigvalsh(pseudo_inertia(x)).min() > 0 for x in listed)


def massless(robot: Robot) -> set[int]:
    """Links without mass in a robot with closed loops or couplings, some of whose links have one:
    frames between joints, as the coordinates of a platform are."""
    bare = {
        j for j, link in enumerate(robot.links, 1)
        if not any(number(getattr(link, key)) != 0 for key in INERTIA)
    }  # fmt: skip
    return bare if robot.constrained and len(bare) < len(robot.links) else set()


def _real(robot: Robot) -> list[int]:
    bare = massless(robot)
    return [j for j in range(1, len(robot.links) + 1) if j not in bare]


def _body(robot: Robot, j: int) -> Array | None:
    values = [number(getattr(robot.links[j], key)) for key in INERTIA]
    return None if None in values else np.array(values, float)


class Bodies:
    """The cones and the pull to the priors, in variables u: of every body the entries of T P T',
    where T P0 T' = 1 for its prior P0. x = basis u are the parameters."""

    def __init__(self, model: Model, names: list[str], chosen: Consistent) -> None:
        self.names, self.entropic = names, chosen.distance == "entropic"
        self.bodies = [str(j) for j in _real(model.robot)]
        if all(f"{key}L" in names for key in INERTIA):
            self.bodies.append("L")  # the payload
        self.at = {name: k for k, name in enumerate(names)}
        self.signed = [k for k, name in enumerate(names) if name.rstrip("0123456789R") in DRIVE]
        own = chosen.prior != "none" and is_consistent(model.robot)
        if chosen.prior == "robot" and not own:
            raise InputError(
                f"[consistent] prior = \"robot\": '{model.robot.name}' has no mass and inertia of "
                'a real body for every link; use prior = "none"'
            )
        self.prior = "the robot's own parameters" if own else "neutral bodies"
        self._priors(model.robot, own)

    def _priors(self, robot: Robot, own: bool) -> None:
        """`basis`, and `target`: the u of all priors."""
        size, mass = _size(robot), _mass(robot)
        scale = np.array([_unit(name, size, mass) for name in self.names])
        self.basis, self.target = np.diag(scale), np.zeros(len(self.names))
        for name in self.bodies:
            k = self.link(name)
            body = _body(robot, int(name) - 1) if own and name != "L" else None
            prior = pseudo_inertia(scale[k] * _NEUTRAL if body is None else body)
            T = np.linalg.inv(np.linalg.cholesky(prior))
            entries = [_packed(T @ pseudo_inertia(x) @ T.T) for x in np.eye(10)]
            self.basis[np.ix_(k, k)] = np.linalg.inv(np.array(entries).T)
            self.target[k] = _packed(np.eye(4))
        for j, joint in enumerate(robot.joints, 1):
            rotor, at = number(joint.IA), self.at.get(f"IA{j}")
            if own and rotor is not None and at is not None:
                self.target[at] = rotor / scale[at]

    def link(self, j: str) -> list[int]:
        return [self.at[f"{key}{j}"] for key in INERTIA]

    def eigenvalue(self, u: Array) -> float:
        """The smallest eigenvalue of the pseudo-inertias, in units of their priors."""
        return float(min(np.linalg.eigvalsh(_matrix(u[self.link(j)])).min() for j in self.bodies))

    def nearest(self, A: Array, z: Array, weight: float) -> Array:
        """The u in the cones of least |A u - z|^2 / 2 + weight · distance to the priors."""
        n = len(self.names)
        unit = max(float(z @ z), 1e-300)
        H, g = self._pull(A, weight / unit)
        H[:n, :n] += A.T @ A / unit
        g[:n] -= A.T @ z / unit
        x, status = self._minimum(H, g, np.zeros(n), np.eye(n), _MARGIN)
        if x is None:
            raise InputError(f"no physically consistent parameters were found: Clarabel: {status}")
        return x

    def within(self, start: Array, free: Array) -> Array | None:
        """The u = start + free v in the cones nearest to the priors; None where there is none."""
        margin = self._room(start, free)
        if margin < _SMALLEST:
            return None
        H, g = self._pull(np.zeros((1, len(start))), 1.0)
        x, _ = self._minimum(H, g, start, free, min(_MARGIN, margin / 2))
        return None if x is None or self.eigenvalue(x) <= 0 else x

    def _room(self, start: Array, free: Array) -> float:
        """How far from the border u = start + free v can stay, in units of the priors."""
        blocks = [self._signs(free), *map(self._positive, range(len(self.bodies)))]
        k = free.shape[1]
        restricted: list[Block] = []
        for rows, bound, kind in blocks:
            distance = _packed(np.eye(4)) if kind == "psd" else np.zeros(len(rows))
            wide = np.column_stack([rows @ free, distance])
            restricted.append((wide, bound - rows @ start, kind))
        restricted.append((np.eye(k + 1)[k:], np.ones(1), "nonnegative"))  # bounded
        x, _ = _solved(np.zeros((k + 1, k + 1)), -np.eye(k + 1)[k], restricted)
        return -np.inf if x is None else float(x[k])

    def _minimum(
        self, H: Array, g: Array, start: Array, free: Array, margin: float
    ) -> tuple[Array | None, str]:
        """The u = start + free v in the cones of least u' H u / 2 + g' u, and Clarabel's word."""
        n, k, extra = len(start), free.shape[1], len(g) - len(start)
        N = np.zeros((n + extra, k + extra))
        N[:n, :k], N[n:, k:] = free, np.eye(extra)
        at = np.append(start, np.zeros(extra))
        blocks = [self._signs(free)]
        for j in range(len(self.bodies)):
            blocks += self._entropy(j) if self.entropic else []
            blocks.append(self._positive(j, margin))
        restricted = []
        for rows, bound, kind in blocks:
            wide = np.pad(rows, ((0, 0), (0, n + extra - rows.shape[1])))
            restricted.append((wide @ N, bound - wide @ at, kind))
        x, status = _solved(N.T @ H @ N, N.T @ (g + H @ at), restricted)
        return (None if x is None else start + free @ x[:k]), status

    def _pull(self, A: Array, weight: float) -> tuple[Array, Array]:
        """H, g of the distance to the priors; where A says nothing, it is never negligible."""
        n = len(self.names)
        extra = 14 * len(self.bodies) if self.entropic else 0
        H, g = np.zeros((n + extra, n + extra)), np.zeros(n + extra)
        if self.entropic:
            weight = max(weight, _LEAST)
        else:
            free = null_space(A, 1e-10)
            H[:n, :n] += _LEAST * free @ free.T
            g[:n] -= _LEAST * free @ (free.T @ self.target)
        for j, name in enumerate(self.bodies):
            k = self.link(name)
            if self.entropic:
                g[k] += weight * self.target[k]  # the trace
                first = n + 14 * j + 10
                g[first : first + 4] -= weight
            else:
                H[k, k] += weight
                g[k] -= weight * self.target[k]
        for name, at in self.at.items():  # what the data leave open stays near zero
            if name[:2] not in (*_SECOND, *_FIRST) and name[0] != "M":
                H[at, at] += 1e-6 * weight
        return H, g

    def _signs(self, free: Array) -> Block:
        """IA, FV, FS are not negative; those that do not move are what they are."""
        moving = [k for k in self.signed if np.linalg.norm(free[k]) > _FIXED]
        return -np.eye(len(free))[moving], np.zeros(len(moving)), "nonnegative"

    def _positive(self, j: int, margin: float = 0.0) -> Block:
        """P_j less a margin in the cone of positive matrices."""
        rows = -np.eye(len(self.names))[self.link(self.bodies[j])]
        return rows, -margin * _packed(np.eye(4)), "psd"

    def _entropy(self, j: int) -> list[Block]:
        """[P Z; Z' diag Z] positive, Z lower triangular, t_i <= log Z_ii: sum t <= log det P."""
        first = len(self.names) + 14 * j
        width = first + 14
        block = np.zeros((36, width))
        for column, unit in zip(self.link(self.bodies[j]), np.eye(10), strict=True):
            block[:, column] = -_packed(np.pad(_matrix(unit), ((0, 4), (0, 4))))
        lower = [(a, b) for a in range(4) for b in range(a + 1)]
        for k, (a, b) in enumerate(lower):
            big = np.zeros((8, 8))
            big[a, 4 + b] = big[4 + b, a] = 1
            if a == b:
                big[4 + a, 4 + a] = 1
            block[:, first + k] = -_packed(big)
        blocks: list[Block] = [(block, np.zeros(36), "psd")]
        for i in range(4):
            rows = np.zeros((3, width))
            rows[0, first + 10 + i] = -1
            rows[2, first + lower.index((i, i))] = -1
            blocks.append((rows, np.array([0.0, 1.0, 0.0]), "exponential"))
        return blocks


_NEUTRAL = np.array([0.02, 0, 0, 0.02, 0, 0.02, 0, 0, 0, 1.0])
_PAIRS = [(a, b) for b in range(4) for a in range(b + 1)]


def _solved(H: Array, g: Array, blocks: Sequence[Block]) -> tuple[Array | None, str]:
    """The v of least v' H v / 2 + g' v with rows v + s = bound, s in the cones."""
    try:
        import clarabel
        from scipy import sparse
    except ImportError:
        raise MissingExtraError.of("clarabel", "id", "the physically consistent fit") from None
    blocks = [block for block in blocks if len(block[1])]
    cones = []
    for _, bound, kind in blocks:
        order = (math.isqrt(8 * len(bound) + 1) - 1) // 2
        cones.append(
            clarabel.PSDTriangleConeT(order) if kind == "psd"
            else clarabel.ExponentialConeT() if kind == "exponential"
            else clarabel.NonnegativeConeT(len(bound))
        )  # fmt: skip
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    settings.max_iter = 400
    remedy = "check [consistent] and the gains of the recipe, or use consistent=False"
    with translated("the physically consistent fit failed", remedy=remedy, of=(Exception,)):
        solution = clarabel.DefaultSolver(
            sparse.csc_matrix(np.triu(H)), g, sparse.csc_matrix(np.vstack([b[0] for b in blocks])),
            np.concatenate([b[1] for b in blocks]), cones, settings,
        ).solve()  # fmt: skip
    status = str(solution.status)
    good = "Solved" in status or status == "InsufficientProgress"
    return (np.array(solution.x) if good else None), status


def _packed(S: Array) -> Array:
    """The upper triangle by columns, off-diagonal entries times sqrt 2."""
    n = len(S)
    pairs = [(a, b) for b in range(n) for a in range(b + 1)]
    return np.array([S[a, b] * (1 if a == b else np.sqrt(2)) for a, b in pairs])


def _matrix(u: Array) -> Array:
    """The matrix (4, 4) whose triangle is packed."""
    S = np.zeros((4, 4))
    for x, (a, b) in zip(u, _PAIRS, strict=True):
        S[a, b] = S[b, a] = x * (1 if a == b else np.sqrt(0.5))
    return S


def _unit(name: str, size: float, mass: float) -> float:
    """The scale of a parameter of a robot of that size and mass of a link."""
    if name[:2] in _SECOND:
        return mass * size**2
    if name[:2] in _FIRST:
        return mass * size
    return mass if name[0] == "M" else 1.0


def _size(robot: Robot) -> float:
    """A length of the robot: the longest offset between its frames."""
    lengths = [abs(number(getattr(joint, key)) or 0.0) for joint in robot.joints for key in "bdr"]
    return max(max(lengths, default=0.0), 0.05)


def _mass(robot: Robot) -> float:
    """A mass of the robot: the mean of its links, where known."""
    masses = [number(robot.links[j - 1].M) or 0.0 for j in _real(robot)]
    return float(np.mean(masses)) if min(masses, default=0.0) > 0 else 3.0
