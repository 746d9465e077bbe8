"""The comparison that all tests use says what is off, and where."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.compare import among, near


def test_near() -> None:
    near([1, 2, 3], [1, 2, 3])
    near([1.0, 1e-7], [1.0, 0.0], 1e-6)
    near([1e-7], [0.0], 1e-6, scale=1.0)
    near(np.ones((4, 3)), [1, 1, 1])  # what is expected of each of many
    near(np.ones((2, 2)), 1)
    near(np.zeros((0, 3)), np.zeros((0, 3)))


@pytest.mark.parametrize(
    ("found", "expected", "options", "said"),
    [
        ([1, 2, 5], [1, 2, 4], {"absolute": 0.5}, "off by 1, allowed 0.5, in component 2 of"),
        ([1.0, 1e-7], [1.0, 0.0], {"relative": 1e-6, "each": True}, "component 1 .* 1 of 2 off"),
        ([1.0, np.nan], [1.0, 2.0], {"absolute": 9}, "off by nan"),
        ([1, 2], [[1, 2], [1, 2]], {}, r"the shape is \(2,\), expected \(2, 2\)"),
        (3.0, 4.0, {"what": "tau"}, "tau: off by 1, .* the largest expected is 4"),
    ],
)
def test_what_is_off_is_said(found: Any, expected: Any, options: Any, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        near(found, expected, **options)


def test_among() -> None:
    rows = [[0.0, 1.0], [2.0, 3.0]]
    among(rows, [2.0, 3.0 + 1e-10], 1e-9)
    with pytest.raises(AssertionError, match=r"the nearest of 2 rows: off by 0.5, allowed 1e-09"):
        among(rows, [2.0, 2.5], 1e-9)
    with pytest.raises(AssertionError, match="off by nan"):
        among([*rows, [np.nan, 0.0]], [2.0, 3.0], 1e-9)
    with pytest.raises(AssertionError, match="there is no row"):
        among([], [2.0, 3.0], 1e-9)
