"""Chains for the tests of the general method, and a search that finds their configurations too."""

from __future__ import annotations

from math import pi, sin

import numpy as np

import cardan
from cardan.inverse.chain.chain import Chain, NumericChain, screw_matrix

__all__ = [
    "CHAINS",
    "MANSEUR_DOTY_POSE",
    "bundled",
    "by_search",
    "gaps",
    "random_chain",
    "special_chain",
]

H = pi / 2


def chain(
    rows: list[tuple[float, ...]], sigma: str = "RRRRRR", tool: object = None
) -> NumericChain:
    """Rows (alpha, d, theta, r) of modified Denavit-Hartenberg."""
    alpha, d, theta, r = np.array(rows, float).T
    limits = np.full(6, np.inf)
    end = np.eye(4) if tool is None else np.asarray(tool, float)
    kinds = np.array([int(kind == "P") for kind in sigma])
    return NumericChain(kinds, alpha, d, theta, r, np.eye(4), end, -limits, limits)


def standard(rows: list[tuple[float, ...]]) -> NumericChain:
    """Rows (a, alpha, d) of standard Denavit-Hartenberg."""
    a, alpha, d = np.array(rows, float).T
    moved = zip([0, *alpha[:-1]], [0, *a[:-1]], [0] * 6, d, strict=True)
    return chain(list(moved), tool=screw_matrix("x", alpha[-1], a[-1]))


def random_chain(sigma: str, seed: int) -> NumericChain:
    rng = np.random.default_rng([seed, *map(ord, sigma)])
    rows = np.column_stack([rng.uniform(-3, 3, 6), rng.uniform(-1, 1, 6), rng.uniform(-3, 3, 6),
                            rng.uniform(-1, 1, 6)])  # fmt: skip
    base = screw_matrix("x", 0.4, 0.1) @ screw_matrix("z", 1.1, 0.3)
    made = chain([tuple(map(float, row)) for row in rows], sigma, screw_matrix("x", -0.7, 0.2))
    return NumericChain(made.sigma, made.alpha, made.d, made.theta, made.r, base, made.tool,
                        made.lower, made.upper)  # fmt: skip


def bundled(name: str) -> NumericChain:
    robot = cardan.load(name)
    values = {p: 0.3 + 0.1 * k for k, p in enumerate(robot.parameters)}
    return Chain.of(robot.with_values(values) if values else robot).numeric()


_BEND = 11 * pi / 72  # half the bend of the wrist of a Jaco
_D4 = 0.0741 * sin(_BEND) / sin(2 * _BEND)
CHAINS = {
    # no spherical wrist: three offsets (FANUC CRX-10iA), and a bent wrist (Jaco)
    "crx": standard([(0, -H, 0), (0.54, pi, 0), (0, -H, 0), (0, H, -0.54), (0, -H, 0.15),
                     (0, pi, -0.16)]),
    "jaco": standard([(0, H, 0.2755), (0.41, pi, 0), (0, H, -0.0098), (0, 2 * _BEND, -0.2073 - _D4),
                      (0, 2 * _BEND, -2 * _D4), (0, pi, -0.16 - _D4)]),
    # R. Manseur and K. L. Doty, A robot manipulator with 16 real inverse kinematic solution sets,
    # International Journal of Robotics Research 8(5), 1989
    "manseur-doty": standard([(0.3, H, 0), (1, pi / 180, 0), (0, H, 0.2), (1.5, pi / 180, 0),
                              (0, H, 0), (0, 0, 0)]),
    # special: three axes that meet in the middle
    "middle": chain([(0, 0, 0, 0.2), (1.2, 0.3, 0, 0.4), (H, 0.2, 0, 0), (1, 0, 0, 0), (1, 0, 0, 0),
                     (0.7, 0.2, 0, 0.1)]),
    "gantry": chain([(0, 0, 0, 0), (H, 0, H, 0), (H, 0, H, 0), (0, 0, 0, 0.2), (H, 0, 0, 0),
                     (-H, 0, 0, 0.1)], "PPPRRR"),
    **{name: random_chain(name, 1) for name in
       ("RRRRRR", "RRPRRR", "PRRRRR", "RPRRPR", "PRPRPR", "PPPRRR", "RRPPRR", "RRRPPP", "RRRRRP")},
}  # fmt: skip
MANSEUR_DOTY_POSE = np.array([
    [-0.760117, -0.641689, 0.102262, -1.140175], [0.133333, 0, 0.991071, 0],
    [-0.635959, 0.766965, 0.085558, 0], [0, 0, 0, 1]])  # fmt: skip


def gaps(numeric: NumericChain, found: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Distance (N,) of configurations q (N, 6) to the nearest found (N, k, 6), NaN padded."""
    gap = found - q[:, None]
    turning = numeric.sigma == 0
    gap[..., turning] = (gap[..., turning] + pi) % (2 * pi) - pi
    far = np.abs(gap).max(-1)
    nearest: np.ndarray = np.where(np.isnan(far), np.inf, far).min(-1)
    return nearest


def by_search(numeric: NumericChain, T: np.ndarray, starts: int, seed: int = 0) -> np.ndarray:
    """Configurations (k, 6) of a pose by Newton's method from many random starts."""
    rng = np.random.default_rng(seed)
    size = numeric.size
    q = rng.uniform(-pi, pi, (starts, 6))
    q[:, numeric.sigma == 1] *= size / 2
    for _ in range(60):
        pose, J = numeric.pose_jacobian(q)
        turn = np.cross(pose[:, :3, :3].swapaxes(1, 2), T[:3, :3].T).sum(1) / 2
        e = np.concatenate([(T[:3, 3] - pose[:, :3, 3]) / size, turn], 1)
        J = np.concatenate([J[:, :3] / size, J[:, 3:]], 1)
        A = J.swapaxes(1, 2) @ J + 1e-4 * (e**2).sum(1)[:, None, None] * np.eye(6)
        A += 1e-14 * np.eye(6)
        step = np.linalg.solve(A, J.swapaxes(1, 2) @ e[:, :, None])[:, :, 0]
        q = q + step * np.minimum(1, 0.5 / np.abs(step).max(1))[:, None]
    q = q[np.abs(numeric.pose(q) - T).max((1, 2)) < 1e-9]
    found: list[np.ndarray] = []
    for one in q:
        if not found or gaps(numeric, np.array(found)[None], one[None])[0] > 1e-4:
            found.append(one)
    return np.array(found).reshape(-1, 6)


def special_chain(seed: int) -> NumericChain:
    """Right angles, parallel and intersecting axes, slides: as many degeneracies as it goes."""
    rng = np.random.default_rng(seed)
    rows = []
    for j in range(6):
        alpha = rng.choice([0, H, -H, H, pi, 0.7, -1.1, rng.uniform(-3, 3)]) if j else 0.0
        d = rng.choice([0, 0, 0.3, rng.uniform(-1, 1)]) if j else 0.0
        theta, r = (
            rng.choice([0, H, rng.uniform(-3, 3)]),
            rng.choice([0, 0, 0.4, rng.uniform(-1, 1)]),
        )
        rows.append((float(alpha), float(d), float(theta), float(r)))
    sigma = ["R"] * 6
    for k in rng.choice(6, rng.choice([0, 0, 0, 1, 1, 2, 3]), replace=False):
        sigma[k] = "P"
    return chain(rows, "".join(sigma))
