"""Poses and limits given by users: checked; poses made exactly rigid when they nearly are."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import floats
from ..errors import InputError
from .closed_form.collect import checked

Array = NDArray[np.float64]
ROUND_OFF = 1e-12
RIGID = 1e-6  # how far from a rotation a matrix may be


def poses(T: Any) -> Array:
    """T (..., 4, 4) as floats; an InputError says what is wrong with it, and where."""
    try:
        found = floats(T)
    except (TypeError, ValueError):
        raise InputError("T is not an array of real numbers; expected a pose (..., 4, 4)") from None
    if found.ndim < 2 or found.shape[-2:] != (4, 4):
        raise InputError(f"T has shape {found.shape}; expected homogeneous matrices (..., 4, 4)")
    flat = found.reshape(-1, 4, 4)
    if (_gaps(flat.reshape(-1, 16)) <= ROUND_OFF).all():
        return found
    if not np.isfinite(flat).all():
        _refuse(found, ~np.isfinite(flat).all((1, 2)), "has an entry that is not finite")
    last = np.abs(flat[:, 3] - (0, 0, 0, 1)).max(1, initial=0) > RIGID
    if last.any():
        _refuse(found, last, "has a last row that is not 0 0 0 1", flat[:, 3])
    R = flat[:, :3, :3]
    gap = np.abs(np.einsum("nij,nik->njk", R, R) - np.eye(3)).max((1, 2), initial=0)
    if not (gap <= ROUND_OFF).all():
        if (gap > RIGID).any():
            worst = f"{gap[gap > RIGID][0]:.1g}"
            _refuse(found, gap > RIGID, f"is not rigid: R^T R differs from 1 by {worst}")
        rough = gap > ROUND_OFF
        u, _, v = np.linalg.svd(R[rough])
        flat = flat.copy()
        flat[rough, :3, :3] = u @ v
        R = flat[:, :3, :3]
    mirrored = np.einsum("ni,ni->n", R[:, :, 0], np.cross(R[:, :, 1], R[:, :, 2])) < 0
    if mirrored.any():
        _refuse(found, mirrored, "is a reflection: det R is -1, expected 1")
    return flat.reshape(found.shape)


def refuse_rotations(x: Any) -> None:
    """Three points at right angles of length 1 are a rotation by mistake."""
    try:
        R = floats(x)
    except (TypeError, ValueError):
        return
    if np.allclose(R @ np.swapaxes(R, -1, -2), np.eye(3)):
        raise InputError(
            f"T has shape {R.shape}, a rotation; expected a pose (..., 4, 4), or points (..., 3)"
        )


def asked(limits: Any) -> bool:
    """Do joint limits count? They are the robot's: arrays of others are not taken for yes."""
    if limits is not None and not isinstance(limits, bool | np.bool_):
        raise InputError(
            f"limits is {type(limits).__name__}; expected True or False: the limits themselves are"
            " part of the robot's description, a field of each link"
        )
    return bool(limits)


@cache
def checking() -> Any:
    """The kernel that says how far a matrix is from a pose."""
    from ..run.kernel import KernelFunction

    return KernelFunction(checked, {"T": 16}, {"gap": 1})


def _gaps(T: Array) -> Array:
    """How far each of the matrices (N, 16) is from a pose."""
    found: Array = checking()({"T": T}, len(T))["gap"]
    return found


def _refuse(T: Array, bad: NDArray[np.bool_], why: str, values: Any = None) -> None:
    k = int(np.argmax(bad))
    where = f" at {tuple(map(int, np.unravel_index(k, T.shape[:-2])))}" if T.ndim > 2 else ""
    shown = "" if values is None else f" ({np.array2string(np.asarray(values[k]), precision=3)})"
    raise InputError(
        f"the pose T{where} {why}{shown}; expected a rotation and a position over 0 0 0 1"
    )
