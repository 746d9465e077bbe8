"""Partial poses: the position of a frame alone, or its position and the direction of its axis z.

What is not asked for is left to virtual joints about the origin of the frame, a spherical wrist or
one turn about z: the longer arm has a whole pose, and any orientation will do. Its configurations
without the virtual joints, each once, are those of the arm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import floats
from ..describe.robot import PRISMATIC
from ..errors import InputError, ModelError
from .chain.chain import NumericChain
from .chain.differences import distance, scaled
from .doubt import Found
from .general.kept import sample_values
from .poses import refuse_rotations

if TYPE_CHECKING:
    from .geometry import InverseGeometry

Array = NDArray[np.float64]
SAME = 1e-6  # configurations closer than this are one
SINGULAR = 1e-6  # smallest singular value of a Jacobian that has lost rank
# an orientation that is nothing special: no usual arm has its wrist straight there
ANY = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
WORDS = {3: "position", 1: "position and axis z"}


def is_partial(T: Any) -> bool:
    """Is it a point (..., 3), or a point and a direction (..., 6), not a pose?"""
    if isinstance(T, np.ndarray):
        return T.ndim > 0 and T.shape[-1] in (3, 6)
    try:
        T = np.asarray(T)
    except ValueError:  # ragged
        return False
    return T.ndim > 0 and T.shape[-1] in (3, 6)


def partial(ik: InverseGeometry, x: Any) -> Partial:
    """The solution of the longer arm for points, or points and directions; derived once."""
    shape = np.shape(x)
    if shape[-2:] == (3, 3):
        refuse_rotations(x)
    turns = 3 if shape[-1] == 3 else 1
    known = ik._partials.get(turns)
    if known is None:
        others = [j for j in range(ik.chain.n) if j not in ik.free]
        known = ik._partials[turns] = Partial(_longer(ik, turns, others, shape), turns, others)
    return known


def _longer(
    ik: InverseGeometry, turns: int, others: list[int], shape: tuple[int, ...]
) -> InverseGeometry:
    if ik.plane or ik.origin is None:
        raise ModelError("partial poses are solved for given joints, not for an arm angle")
    numeric = ik.chain.numeric({**sample_values(ik.chain), **ik.defaults})
    q = np.random.default_rng(0).uniform(-2, 2, (3, ik.chain.n))
    q *= np.where(numeric.sigma == PRISMATIC, numeric.unit, 1.0)
    J = _rows(numeric, q, turns)[..., others]
    spare = len(others) - int(np.linalg.matrix_rank(J, tol=1e-9).max())
    if spare:
        held = [ik.chain.names[j] for j in (*ik.free, *others[-spare:])]
        raise ModelError(
            f"T has shape {shape}, which asks for the {WORDS[turns]} of a frame alone:"
            f" {len(others)} joints of '{ik.chain.robot}' move that of {ik.chain.frame} in"
            f" {len(others) - spare} independent ways only: {len(held)} must be given, such as"
            f" {', '.join(held)}",
            action="free",
        )
    again, (robot, method, frame, _, reference, symbolic) = ik.origin
    free = [ik.chain.names[j] for j in ik.free]
    longer: InverseGeometry = again(robot, method, frame, free or None, reference, symbolic, turns)
    return longer


@dataclass(frozen=True)
class Partial:
    """The longer arm."""

    longer: InverseGeometry
    turns: int
    others: list[int]  # joints of the arm that are solved for

    def poses(self, x: Any) -> Array:
        """Poses (..., 4, 4) that partial ones stand for."""
        try:
            values = floats(x)
        except (TypeError, ValueError):
            raise InputError("the points are not arrays of real numbers") from None
        if not np.isfinite(values).all():
            raise InputError("a point has a coordinate that is not a finite number; expected m")
        T = np.zeros((*values.shape[:-1], 4, 4))
        T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = ANY, values[..., :3], 1.0
        if self.turns == 1:
            z = values[..., 3:]
            size = np.linalg.norm(z, axis=-1, keepdims=True)
            if (np.abs(size - 1) > 1e-6).any():
                raise InputError(
                    "the direction of the axis z, the last three of (..., 6), has a length that is"
                    f" not 1: {size[np.abs(size - 1) > 1e-6].ravel()[0]:.6g}"
                )
            T[..., :3, :3] = _axes(z / size)
        return T

    def answers(self, whole: Found, aim: Array, numeric: NumericChain) -> Found:
        """The configurations of the arm among those (N, k) of the longer one, each once."""
        n = numeric.n
        N, k = whole.q.shape[:2]
        own = whole.q[..., :n]
        gap = distance(numeric, own[:, :, None], own[:, None])
        leader = np.argmax(gap < SAME, 2)  # the first that is the same
        valid = np.arange(k) < whole.count[:, None]
        first = valid & (leader == np.arange(k))
        hot = (leader[..., None] == np.arange(k)) & valid[..., None]
        times = (hot * whole.multiplicity[..., None]).sum(1)
        count = first.sum(1)
        order = np.argsort(~first, 1, kind="stable")
        q = np.take_along_axis(own, order[..., None], 1)
        times = np.take_along_axis(times, order, 1)
        there = np.arange(k) < count[:, None]
        q[~there] = np.nan
        error = numeric.pose(q) - aim[:, None]
        entries = error[..., :3, 3:] if self.turns == 3 else error[..., :3, 2:]
        residual = np.where(there, np.abs(entries).max((-2, -1)), np.nan)
        rows = _rows(numeric, q[there], self.turns)[..., self.others]
        smallest = np.ones((N, k))
        smallest[there] = np.linalg.svd(rows, compute_uv=False)[..., -1]
        singular = smallest < SINGULAR
        # a spherical wrist has two configurations for an orientation
        roots = np.rint(times / (2 if self.turns == 3 else 1))
        multiplicity = np.where(singular, np.maximum(1, roots), there).astype(np.int64)
        return Found(q, count, residual, singular, multiplicity)


def _rows(numeric: NumericChain, q: Array, turns: int) -> Array:
    """The Jacobian, without units, of a position, or of a position and the direction of z."""
    J = scaled(numeric, numeric.jacobian(q))
    if turns == 3:
        return J[..., :3, :]
    axes = np.swapaxes(numeric.pose(q)[..., :3, :2], -1, -2)
    return np.concatenate([J[..., :3, :], axes @ J[..., 3:, :]], -2)


def _axes(z: Array) -> Array:
    """Rotations with these axes z."""
    x = np.cross(ANY[0], z)
    short = np.linalg.norm(x, axis=-1, keepdims=True) < 0.1
    x = np.where(short, np.cross(ANY[1], z), x)
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    return np.stack([x, np.cross(z, x), z], -1)
