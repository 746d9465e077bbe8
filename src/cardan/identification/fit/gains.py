"""Gains of the drives from a payload whose mass is known.

A current is a torque but for a factor: (1 + g) y = W K + w, where y is what was measured with the
gains of the recipe and w the torque of the known payload, in newtons. The factors of all joints are
found with the parameters at once (S. Briot, M. Gautier, J. Dynamic Systems, Measurement, and
Control 136, 2014; here by instruments instead of total least squares: w stands for y where y is a
regressor, so that its noise does no harm)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import InputError
from ..model.equations import Reduction
from .fitting import Fitting
from .solve import instrumental

_VAGUE = 0.2  # standard deviation of a factor that is not believed


@dataclass(frozen=True)
class Gains:
    """Factors (driven joints) of the recipe's gains, with standard deviations; nan where the
    payload does not tell: the factor is 1 there."""

    factors: np.ndarray
    sigma: np.ndarray

    def words(self, names: Sequence[str]) -> list[str]:
        """What is said of them."""
        sure = [
            f"{name} {x:.4g} ± {s:.2g}"
            for name, x, s in zip(names, self.factors, self.sigma, strict=True)
            if np.isfinite(s)
        ]
        vague = [name for name, s in zip(names, self.sigma, strict=True) if not np.isfinite(s)]
        told = (
            [f"gains of the drives, times those of the recipe: {', '.join(sure)}"] if sure else []
        )
        if vague:
            told.append(
                f"the known payload does not tell the gains of {', '.join(vague)}: as given"
            )
        return told


def drive_gains(fit: Fitting) -> Gains:
    """The factors of the gains, from recordings with and without the payload."""
    data = fit.data
    parts = []
    for source in fit.sources:
        reduce = Reduction(source.motion, source.plan, "dynamic", 0.0)
        rows = reduce.rows(source.motion.tau)
        parts.append(rows[: source.fitted(len(rows)) : fit.step])
    measured = np.concatenate(parts)
    known = measured - data.y
    n, p = known.shape[1], data.W.shape[2]
    told = [j for j in range(n) if np.abs(known[:, j]).max() > 1e-9 * np.abs(known).max()]
    if not told or not np.abs(known).max():
        raise InputError("[fit] gains = true: the known payload takes no torque in the recordings")
    while True:
        own = np.eye(n)[told]  # (told, n)
        W = np.concatenate([data.W, -measured[..., None] * own.T], axis=-1)
        Z = np.concatenate([data.W, known[..., None] * own.T], axis=-1)
        estimate = instrumental(replace(data, W=W), Z)
        sigma = estimate.sigma[p:]
        vague = [j for j, s in zip(told, sigma, strict=True) if not s < _VAGUE]
        if not vague:
            break
        told = [j for j in told if j not in vague]
        if not told:
            return Gains(np.ones(n), np.full(n, np.nan))
    factors, deviations = np.ones(n), np.full(n, np.nan)
    factors[told], deviations[told] = 1 + estimate.K[p:], sigma
    return Gains(factors, deviations)
