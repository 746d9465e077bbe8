"""The one comparison of numbers: two routes to the same array.

The limit of the deviation is a part of the largest expected component, a number, or both; with
`each` it is a part of each component, which then stands for itself."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["among", "near"]


def near(
    found: Any,
    expected: Any,
    relative: float = 0.0,
    absolute: Any = 0.0,
    *,
    scale: float = 0.0,
    each: bool = False,
    what: str = "",
) -> None:
    """|found - expected| <= relative max(|expected|, scale) + absolute, in every component.

    `scale` is the size of what cancelled, where the expected value is what remained of it. What is
    expected of many, as one pose of all configurations, may be given once."""
    found, expected = np.asarray(found), np.asarray(expected)
    told = f"{what}: " if what else ""
    alike = found.shape[max(0, found.ndim - expected.ndim) :] == expected.shape
    assert alike, f"{told}the shape is {found.shape}, expected {expected.shape}"
    if not found.size:
        return
    size = np.abs(expected) if each else np.max(np.abs(expected))
    apart, limit = np.broadcast_arrays(
        np.abs(found - expected), relative * np.maximum(size, scale) + absolute
    )
    wrong = ~(apart <= limit)  # NaN is never near
    if not wrong.any():
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.where(wrong, np.where(np.isfinite(apart), apart / limit, np.inf), -1.0)
    at = np.unravel_index(np.argmax(excess), apart.shape)
    one = np.broadcast_to(expected, found.shape)[at]
    raise AssertionError(
        f"{told}off by {apart[at]:.3g}, allowed {limit[at]:.3g}"
        + (f", in component {', '.join(map(str, at))} of {found.shape}" if at else "")
        + f": {found[at]!s}, expected {one!s}; the largest expected is"
        f" {np.max(np.abs(expected)):.3g}; {int(wrong.sum())} of {wrong.size} off"
    )


def among(rows: Any, expected: Any, absolute: float) -> None:
    """One of the rows is near to what is expected, as a configuration among the answers."""
    rows = np.asarray(rows)
    assert len(rows), f"there is no row; expected {expected}"
    apart = np.abs(rows - expected).max(axis=-1)
    nearest = int(np.argmin(apart))  # NaN before all
    near(rows[nearest], expected, absolute=absolute, what=f"the nearest of {len(rows)} rows")
