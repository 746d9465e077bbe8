"""Newton's method on the direct model in NumPy: an independent way to configurations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cardan.inverse.chain.chain import NumericChain
from cardan.inverse.chain.differences import _units, distance, scaled, wrapped

__all__ = ["merged", "polish", "rank_lost"]

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
ROUNDS = 40
SAME = 1e-6  # angles and relative lengths closer than this are one configuration
LOST = 1e-6  # smallest singular value of a Jacobian that has lost rank


def residuals(chain: NumericChain, q: Array, T: Array) -> Array:
    """The largest difference of an entry of the pose."""
    found: Array = np.abs(chain.pose(q) - T).max((-2, -1), initial=0)
    return found


def polish(chain: NumericChain, q: Array, T: Array, held: Bools) -> tuple[Array, Array]:
    """Configurations (m, n) moved to the pose T, and their residuals; never for the worse."""
    q = wrapped(chain, np.array(q, float))
    if not len(q):
        return q, np.empty(0)
    best, error = q.copy(), residuals(chain, q, T)
    for _ in range(ROUNDS):
        todo = error > 1e-15 * chain.scale
        if not todo.any():
            break
        q = q + _step(chain, q, T, held)
        now = residuals(chain, q, T)
        better = now < error
        best[better], error[better] = q[better], now[better]
        if not better.any():
            break
    return wrapped(chain, best), error


def _step(chain: NumericChain, q: Array, T: Array, held: Bools) -> Array:
    """The Gauss-Newton step: J dq = (position error, rotation error), small and least."""
    pose, J = chain.pose_jacobian(q)
    R = pose[..., :3, :3]
    turn = np.cross(R.swapaxes(-1, -2), T[..., :3, :3].swapaxes(-1, -2)).sum(-2) / 2
    error = np.concatenate([(T[..., :3, 3] - pose[..., :3, 3]) / chain.size, turn], -1)
    J = scaled(chain, J) * ~held
    step = (np.linalg.pinv(J, rcond=1e-9) @ error[..., None])[..., 0]
    largest = np.abs(step).max(-1, keepdims=True)
    found: Array = step * np.minimum(1, 0.3 / np.maximum(largest, 1e-300)) * _units(chain)
    return found


def rank_lost(chain: NumericChain, q: Array, held: Bools) -> Bools:
    """Is the Jacobian of the joints that are not held of less than full column rank?"""
    if not len(q):
        return np.zeros(0, bool)
    J = scaled(chain, chain.jacobian(q))[..., ~held]
    found: Bools = np.linalg.svd(J, compute_uv=False)[..., -1] < LOST
    return found


def merged(
    chain: NumericChain, q: Array, residual: Array
) -> tuple[Array, Array, NDArray[np.int64]]:
    """Configurations without repetition, best first of each, with their multiplicities."""
    kept: list[int] = []
    times: list[int] = []
    for i in np.argsort(residual, kind="stable"):
        near = distance(chain, q[i], q[kept]) < SAME if kept else np.zeros(0, bool)
        if near.any():
            times[int(np.argmax(near))] += 1
        else:
            kept.append(int(i))
            times.append(1)
    order = np.argsort(kept, kind="stable")
    index = np.array(kept, int)[order]
    return q[index], residual[index], np.array(times, np.int64)[order]
