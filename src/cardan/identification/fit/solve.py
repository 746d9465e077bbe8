"""Weighted least squares on y = W K: estimates, standard deviations, essential parameters.

The rows of joint j are divided by the standard deviation of their residual, which is estimated
from the fit itself and iterated (M. Gautier, Ph. Poignet, Control Engineering Practice 9, 2001);
or samples are whitened by the full covariance of the joints' residuals. Everything after that
happens on the triangular factor R of the weighted [W y].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import InputError
from ..model.equations import Equations

Array = np.ndarray
_HUBER = 1.345  # efficiency 95 % on normal residuals
_PIECE = 4096  # rows of which a spectrum is taken
_BANDS = 16  # over which a spectrum is smooth
_LEFT = 0.05  # of the noise at a frequency, that a fit leaves at least
_ROUNDING = 1e-10  # of the torques: smaller residuals tell nothing


@dataclass(frozen=True)
class Estimate:
    """K with its covariance; R, z: the weighted equations reduced to R K = z; rest: |residual|^2.

    spread: standard deviation of the residual of each joint; rows: equations that took part, and
    how many of them are independent; least: the variance of a weighted equation that rounding
    leaves where there is no noise."""

    K: Array
    covariance: Array
    R: Array
    z: Array
    rest: float
    spread: Array
    rows: int
    independent: float
    condition: float
    least: float = 0.0

    @property
    def sigma(self) -> Array:
        return np.sqrt(np.diag(self.covariance))


def relative_error(W: Array, y: Array, K: Array) -> float:
    """|y - W K| / |y| over all rows."""
    scale = float(np.linalg.norm(y))
    return float(np.linalg.norm(y - W @ K)) / scale if scale else 0.0


def estimate(
    data: Equations, weights: str = "joint", robust: bool = False, iterations: int = 12
) -> Estimate:
    """The weighted least squares estimate of K."""
    p = data.W.shape[2]
    if int(data.valid.sum()) < 2 * p:
        raise InputError(
            f"{data.name}: too short: {int(data.valid.sum())} equations for {p} parameters; at "
            f"least {2 * p} are needed, ten times as many are good: record longer, decimate less"
        )
    if not robust and weights != "covariance":
        return _by_joint(data, weights, iterations)
    whitening = np.diag(1 / _by_joint(data, "joint", iterations).spread)
    outer = data.valid.astype(float)
    fit: Estimate | None = None
    for _ in range(iterations):
        A, b = _weighted(data, whitening, outer)
        last, fit = fit, _solved(_triangular(A, b), data, whitening)
        residual = data.y - data.W @ fit.K
        whitening = _whitening(residual, data, weights, p)
        if robust:
            e = np.abs(residual @ whitening.T)
            outer = data.valid * np.sqrt(np.minimum(1.0, _HUBER / np.maximum(e, 1e-300)))
        if last is not None and _close(fit.K, last.K, fit.sigma):
            break
    assert fit is not None
    return fit


def projected(Z: Array, A: Array, b: Array) -> Array:
    """Q^T [A b], Q an orthonormal basis of the columns of Z: p equations; R of A where Z is A."""
    return np.asarray(_basis(Z).T @ np.column_stack([A, b]))


def _basis(Z: Array) -> Array:
    """Orthonormal columns that span those of Z."""
    norms = np.linalg.norm(Z, axis=0)
    return np.asarray(np.linalg.qr(Z / np.where(norms, norms, 1))[0])


def instrumental(data: Equations, Z: Array, iterations: int = 12) -> Estimate:
    """K of Z^T y = Z^T W K, each joint weighted by its residual.

    Noise of the positions is in W, and biases least squares. Instruments Z (rows, r, p), the
    equations along a motion without that noise, do not (A. Janot, P.-O. Vandanjon, M. Gautier, IEEE
    Trans. Control Systems Technology 22, 2014). It is left in the residual, mostly faster than the
    motion: the covariance is that of noise with the residual's spectrum."""
    p = data.W.shape[2]
    counts = np.maximum(data.valid.sum(axis=0), 1)
    floor = _ROUNDING * _scale(data.y)
    spread = _by_joint(data, "joint", iterations).spread
    for _ in range(iterations):
        scale = (data.valid / spread)[..., None]
        A, B = ((x * scale).reshape(-1, p) for x in (data.W, Z))
        b = (data.y * scale[..., 0]).ravel()
        R = projected(B, A, b)
        fit = _solved(np.asarray(np.linalg.qr(R, mode="r")), data, np.diag(1 / spread))
        rest = float(np.sum((b - A @ fit.K) ** 2))
        before, squares = spread, (data.valid * (data.y - data.W @ fit.K) ** 2).sum(axis=0)
        spread = np.maximum(np.sqrt(squares / np.maximum(counts - p / len(counts), 1)), floor)
        if (np.abs(spread - before) <= 1e-3 * spread).all():
            break
    Q = _basis(B)
    inverse = np.linalg.inv(Q.T @ A)
    noise = _noise(Q.reshape(*data.y.shape, p), (b - A @ fit.K).reshape(data.y.shape))
    return replace(fit, covariance=inverse @ noise @ inverse.T, rest=rest, spread=spread)


def _noise(Q: Array, e: Array) -> Array:
    """The covariance of Q^T e, sum of Q^H S Q over the frequencies, of noise e (rows, r) with the
    smoothed spectrum S of a residual; Q (rows, r, p): what of it the fit took away is given back.
    """
    pieces = np.array_split(np.arange(len(e)), -(-len(e) // _PIECE))
    size = 2 * len(pieces[0])  # twice as long: rows do not wrap round
    r, bins = e.shape[1], size // 2 + 1
    width = max(4, bins // _BANDS)
    window = np.hanning(2 * width + 3)[1:-1]

    def smooth(x: Array) -> Array:
        return np.convolve(np.pad(x, width, mode="reflect"), window / window.sum(), mode="valid")

    def waves(rows: Array) -> Array:
        return np.fft.rfft(Q[rows], size, axis=0)

    power, left = np.zeros((bins, r, r), dtype=complex), np.zeros((bins, r))
    for rows in pieces:
        taper = np.hanning(len(rows) + 2)[1:-1, None]
        E = np.fft.rfft(e[rows] * taper, size, axis=0)
        power += E[:, :, None].conj() * E[:, None] / np.sum(taper**2)
        left += 1 - np.sum(np.abs(waves(rows)) ** 2, axis=2) / len(rows)
    free = np.stack([np.maximum(smooth(x), _LEFT * len(pieces)) for x in left.T], axis=1)
    S = np.empty_like(power)
    for i, j in np.ndindex(r, r):
        both = power[:, i, j]
        S[:, i, j] = (smooth(both.real) + 1j * smooth(both.imag)) / np.sqrt(free[:, i] * free[:, j])
    S[1:-1] *= 2  # negative frequencies
    covariance = np.zeros((Q.shape[2], Q.shape[2]))
    for rows in pieces:
        q = waves(rows)
        covariance += np.einsum("fip,fij,fjq->pq", q, S, q.conj(), optimize=True).real / size
    return covariance


def _by_joint(data: Equations, weights: str, iterations: int) -> Estimate:
    """Weights by joint: the rows of each joint are reduced to a triangle once, then reweighted."""
    r, p = data.W.shape[1:]
    parts = [
        _triangular(data.W[data.valid[:, j], j], data.y[data.valid[:, j], j]) for j in range(r)
    ]
    counts = data.valid.sum(axis=0)
    floor = _ROUNDING * _scale(data.y)
    spread = np.full(r, _scale(data.y))
    fit: Estimate | None = None
    for _ in range(iterations):
        stack = np.vstack([part / s for part, s in zip(parts, spread, strict=True)])
        last, fit = (
            fit,
            _solved(_triangular(stack[:, :p], stack[:, p]), data, np.diag(1 / spread)),
        )
        done = last is not None and _close(fit.K, last.K, fit.sigma)
        if weights == "none" or done:
            break
        away = np.append(fit.K, -1.0)
        squares = np.array([np.sum((part @ away) ** 2) for part in parts])
        spread = np.maximum(np.sqrt(squares / np.maximum(counts - p / r, 1)), floor)
    assert fit is not None
    return fit


def _triangular(A: Array, b: Array) -> Array:
    """R of [A b]: the same normal equations in p + 1 rows."""
    return np.asarray(np.linalg.qr(np.column_stack([A, b]), mode="r"))


def _close(K: Array, last: Array, sigma: Array) -> bool:
    return bool((np.abs(K - last) <= 1e-3 * sigma + 1e-13 * np.abs(K)).all())


def _scale(y: Array) -> float:
    return float(np.sqrt(np.mean(y**2))) or 1.0


def _whitening(residual: Array, data: Equations, weights: str, p: int) -> Array:
    """The matrix that gives residuals of a sample unit variance: diagonal, or of the full
    covariance."""
    r = residual.shape[1]
    floor = _ROUNDING * _scale(data.y)
    counts = data.valid.sum(axis=0)
    squares = (residual**2 * data.valid).sum(axis=0) / np.maximum(counts - p / r, 1)
    spread = np.sqrt(np.maximum(squares, floor**2))
    if weights != "covariance" or r == 1:
        return np.diag(1 / spread)
    whole = data.valid.all(axis=1)
    e = residual[whole] / spread
    correlation = e.T @ e / max(len(e) - p / r, 1)
    correlation += 1e-9 * np.eye(r)
    return np.asarray(np.linalg.inv(np.linalg.cholesky(correlation)) / spread)


def _weighted(data: Equations, whitening: Array, outer: Array) -> tuple[Array, Array]:
    """Rows of the weighted equations; those that do not take part are zero."""
    p = data.W.shape[2]
    if np.count_nonzero(whitening - np.diag(np.diag(whitening))):
        whole = outer.min(axis=1, keepdims=True) > 0
        W = np.einsum("ij,njp->nip", whitening, data.W * whole[..., None])
        y = (data.y * whole) @ whitening.T
        return (W * outer[..., None]).reshape(-1, p), (y * outer).ravel()
    scale = outer * np.diag(whitening)
    return (data.W * scale[..., None]).reshape(-1, p), (data.y * scale).ravel()


def _solved(triangle: Array, data: Equations, whitening: Array) -> Estimate:
    """The estimate of weighted equations that were reduced to a triangle [R z; 0 rest]."""
    p = triangle.shape[1] - 1
    columns = np.linalg.norm(triangle[:, :p], axis=0)
    columns[columns == 0] = 1
    R, z = triangle[:p, :p], triangle[:p, p]
    rest = float(np.sum(triangle[p:, p] ** 2))
    scaled = R / columns
    condition = float(np.linalg.cond(scaled))
    inverse = np.linalg.inv(scaled) / columns[:, None]
    K = np.linalg.solve(scaled, z) / columns
    rows = int(data.valid.sum())
    free = max(rows - p, 1)
    independent = max(rows * data.share - p, 1.0)
    unit = rest / free  # one where the weights are those of the residual
    covariance = inverse @ inverse.T * unit * free / independent
    spread = np.linalg.norm(np.linalg.inv(whitening), axis=1) * np.sqrt(unit)
    least = float((_ROUNDING * _scale(data.y) * np.abs(np.diag(whitening)).max()) ** 2)
    return Estimate(K, covariance, R, z, rest, spread, rows, rows * data.share, condition, least)


def solve_reduced(R: Array, z: Array, kept: Sequence[int]) -> tuple[Array, float]:
    """(K of the kept columns, what the squared residual grows by)."""
    K, *_ = np.linalg.lstsq(R[:, list(kept)], z, rcond=None)
    return K, float(np.sum((z - R[:, list(kept)] @ K) ** 2))


def essential(fit: Estimate, confidence: float) -> tuple[list[int], Array, Array, float]:
    """Backward elimination: (kept columns, their K, their sigma, F of the last step accepted).

    The parameter with the smallest |K|/sigma leaves, as long as the growth of the residual is not
    significant by the F test against the full model."""
    from scipy.special import fdtri

    p = len(fit.K)
    free = max(fit.independent - p, 1.0)
    unit = max(fit.rest / max(fit.rows - p, 1), fit.least)  # variance of a weighted equation
    unit *= fit.rows / fit.independent  # filtered residuals say less than they are many
    columns = list(range(p))
    accepted = 0.0
    while len(columns) > 1:
        K, growth = solve_reduced(fit.R, fit.z, columns)
        sigma = np.sqrt(np.diag(np.linalg.inv(fit.R[:, columns].T @ fit.R[:, columns])) * unit)
        weakest = int(np.argmin(np.abs(K) / np.maximum(sigma, 1e-300)))
        trial = [k for k in columns if k != columns[weakest]]
        growth = solve_reduced(fit.R, fit.z, trial)[1]
        left = p - len(trial)
        F = growth / left / unit if unit > 0 else np.inf
        if fdtri(left, free, confidence) < F:
            break
        columns, accepted = trial, float(F)
    K, _ = solve_reduced(fit.R, fit.z, columns)
    inverse = np.linalg.inv(fit.R[:, columns].T @ fit.R[:, columns])
    return columns, K, np.sqrt(np.diag(inverse) * unit), accepted


def fit_shape(
    build: Callable[[dict[str, float]], dict[int, Array]], data: Equations,
    start: dict[str, float], weights: str, rounds: int = 3,
) -> dict[str, float]:  # fmt: skip
    """The widths and velocities of the friction curves, by variable projection.

    For every shape the linear parameters are eliminated; what remains is least squares in the
    logarithms of the shape (G. Golub, V. Pereyra, SIAM J. Numer. Anal. 10, 1973)."""
    from scipy.optimize import least_squares

    names = list(start)
    x = np.log([start[name] for name in names])
    W = data.W.copy()
    for _ in range(rounds):
        for column, rows in build(dict(zip(names, np.exp(x), strict=True))).items():
            W[..., column] = rows
        fit = estimate(replace(data, W=W), weights)
        scale = data.valid / np.maximum(fit.spread, 1e-300)
        residual = _projector(build, data, names, scale)
        bounds = (np.log(1e-4), np.log(20.0))
        x = least_squares(residual, x, bounds=bounds, diff_step=1e-3, max_nfev=15, xtol=1e-4).x
    return dict(zip(names, np.exp(x).tolist(), strict=True))


def _projector(
    build: Callable[[dict[str, float]], dict[int, Array]], data: Equations, names: Sequence[str],
    scale: Array,
) -> Callable[[Array], Array]:  # fmt: skip
    """residual(log shape) of the weighted equations, all linear parameters eliminated."""
    curved = sorted(build(dict.fromkeys(names, 0.1)))
    p = data.W.shape[2]
    straight = [k for k in range(p) if k not in curved]
    A = (data.W[..., straight] * scale[..., None]).reshape(-1, len(straight))
    Q, _ = np.linalg.qr(A / np.maximum(np.linalg.norm(A, axis=0), 1e-300))
    y = (data.y * scale).ravel()
    y = y - Q @ (Q.T @ y)

    def residual(x: Array) -> Array:
        columns = build(dict(zip(names, np.exp(x), strict=True)))
        V = np.stack([(columns[k] * scale).ravel() for k in curved], axis=1)
        V = V - Q @ (Q.T @ V)
        Q2, _ = np.linalg.qr(V)
        return np.asarray(y - Q2 @ (Q2.T @ y))

    return residual
