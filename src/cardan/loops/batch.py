"""The loops closed at many active positions at once: answers padded and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..inverse.answer import Configurations
from .analytic import Answers
from .numeric import Array, Equations, numeric

if TYPE_CHECKING:
    from .geometry import LoopGeometry

_SINGULAR = 1e-6  # of singular(q): assemblies meet there
_DOUBTFUL = 1e-3  # of flatness, which is that but for a factor


def many(
    geometry: LoopGeometry, system: Equations, q: Array, guess: Any, threads: int | None = None
) -> Any:
    """All assemblies at every q (..., n), whose active columns are set; or those nearest to a
    guess, (..., n), NaN where the loops cannot be closed."""
    lead = q.shape[:-1]
    flat = q.reshape(-1, system.n)
    if guess is None:
        return _counted(geometry, system, flat, lead, threads)
    starts = _starts(numeric("guess", guess), lead)
    guesses = [geometry._guess(start, x) for start, x in zip(starts, flat, strict=True)]
    near = geometry.nearest(system, flat, np.reshape(guesses, flat.shape), threads)
    return near.reshape((*lead, system.n))


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
    geometry: LoopGeometry, system: Equations, q: Array, lead: tuple[int, ...],
    threads: int | None,
) -> Configurations:  # fmt: skip
    every = geometry.in_closed_form(system, q, threads)
    if every is None:
        every = _padded(system, geometry._listed(system, q, threads))
    most = int(every.count.max(initial=0))
    q, residual, flat = (x[:, :most] for x in (every.q, every.residual, every.flat))
    singular = flat < _DOUBTFUL
    if singular.any():
        singular[singular] = geometry._conditioned(system, q[singular]) < _SINGULAR
    there = np.arange(most) < every.count[:, None]

    def shaped(x: Any) -> Any:
        return x.reshape((*lead, *x.shape[1:]))

    times = there.astype(np.int64)
    return Configurations(
        shaped(q), shaped(every.count), shaped(residual), shaped(singular), shaped(times)
    )


def _padded(system: Equations, every: list[Array]) -> Answers:
    """Lists of configurations side by side; whether one is singular is not known."""
    count = np.array([len(own) for own in every], dtype=np.int64)
    most = int(count.max(initial=0))
    there = np.arange(most) < count[:, None]
    q = np.full((*there.shape, system.n), np.nan)
    residual, flat = np.full(there.shape, np.nan), np.where(there, 0.0, 1.0)
    if there.any():
        q[there] = np.concatenate(every)
        residual[there] = system.error(q[there])
    no = np.zeros(len(every), bool)
    return Answers(q, count, residual, flat, no, no)
