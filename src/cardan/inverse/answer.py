"""`Configurations`: the answer to a batch of poses, padded and counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Configurations:
    """All real configurations of poses (...): the first count[...] of kmax are there.

    q (..., kmax, n), rest NaN; residual (..., kmax): largest difference to an entry of the pose;
    singular (..., kmax): the Jacobian loses rank there; multiplicity (..., kmax): how many
    solutions of the equations coincide there."""

    q: NDArray[np.float64]
    count: NDArray[np.int64]
    residual: NDArray[np.float64]
    singular: NDArray[np.bool_]
    multiplicity: NDArray[np.int64]

    @property
    def shape(self) -> tuple[int, ...]:
        """Leading axes: those of the poses."""
        return self.count.shape

    def __getitem__(self, index: Any) -> NDArray[np.float64]:
        """The configurations of one pose, (k, n)."""
        found: NDArray[np.float64] = self.q[index][: int(self.count[index])]
        return found
