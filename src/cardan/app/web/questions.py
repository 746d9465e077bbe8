"""What jobs are asked, read and checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InputError

__all__ = ["Data", "Say", "vector"]

Data = dict[str, Any]
Say = Callable[[str], None]


def vector(data: Data, key: str, n: int) -> np.ndarray:
    """n finite numbers."""
    x = np.array(data[key], float)
    if x.shape != (n,) or not np.isfinite(x).all():
        raise InputError(f"{key}: {x.size} numbers were given, {n} finite ones are needed")
    return x
