"""The loops closed at many active positions at once: answers padded and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, ModelError
from ..inverse.answer import Configurations
from .numeric import Array, Equations

if TYPE_CHECKING:
    from .geometry import LoopGeometry

__all__ = ["many"]

_SINGULAR = 1e-6  # of singular(q): assemblies meet there


def many(geometry: LoopGeometry, system: Equations, q: Array, guess: Any) -> Any:
    """All assemblies at every q (..., n), whose active columns are set; or those nearest to a
    guess, (..., n), NaN where the loops cannot be closed."""
    lead = q.shape[:-1]
    flat = q.reshape(-1, system.n)
    if guess is None:
        return _counted(geometry, system, flat, lead)
    starts = _starts(np.asarray(guess, float), lead)
    found = np.full_like(flat, np.nan)
    for k, (x, start) in enumerate(zip(flat, starts, strict=True)):
        near = geometry._guess(start, x)
        try:
            found[k] = geometry._nearest(system, x, near)
        except ModelError:
            continue
    return found.reshape((*lead, system.n))


def _starts(guess: Array, lead: tuple[int, ...]) -> Array:
    """The guess of every state, (N, n)."""
    if guess.ndim < 1:
        raise InputError(f"guess is {guess}; expected a configuration")
    try:
        whole = np.broadcast_to(guess, (*lead, guess.shape[-1]))
    except ValueError:
        raise InputError(
            f"guess {guess.shape} and a batch {lead} of active positions do not fit together"
        ) from None
    return whole.reshape(-1, guess.shape[-1])


def _counted(
    geometry: LoopGeometry, system: Equations, q: Array, lead: tuple[int, ...]
) -> Configurations:
    solved = geometry.in_closed_form(system, q)
    every = [geometry._assemblies(system, x)[0] for x in q] if solved is None else solved[0]
    count = np.array([len(found) for found in every], dtype=np.int64)
    most = int(count.max(initial=0))
    found = np.full((len(q), most, system.n), np.nan)
    residual = np.full((len(q), most), np.nan)
    there = np.arange(most) < count[:, None]
    singular = np.zeros((len(q), most), bool)
    if there.any():
        joined = np.concatenate(every)
        found[there] = joined
        residual[there] = system.error(joined)
        singular[there] = geometry._conditioned(system, joined) < _SINGULAR

    def shaped(x: Any) -> Any:
        return x.reshape((*lead, *x.shape[1:]))

    times = there.astype(np.int64)
    return Configurations(
        shaped(found), shaped(count), shaped(residual), shaped(singular), shaped(times)
    )
