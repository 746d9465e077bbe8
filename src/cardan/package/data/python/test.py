"""Compares every function with numbers that were computed by another route."""

import numpy as np
import pytest

import @NAME@

CASES = [
@CASES@
]


@pytest.mark.parametrize(("function", "inputs", "expected"), CASES)
def test_numbers(function, inputs, expected):
    found = function(*inputs.values())
    found = found if isinstance(found, tuple) else (found,)
    for array, wanted in zip(found, expected.values()):
        scale = max(1.0, np.abs(wanted).max())
        assert np.abs(array - wanted).max() <= @TOLERANCE@ * scale


@pytest.mark.parametrize(("function", "inputs", "expected"), CASES)
def test_many_states_at_once(function, inputs, expected):
    found = function(*(np.stack([x, x, x]) for x in inputs.values()))
    found = found if isinstance(found, tuple) else (found,)
    for array, wanted in zip(found, expected.values()):
        scale = max(1.0, np.abs(wanted).max())
        assert array.shape == (3, *wanted.shape)
        assert np.abs(array - wanted).max() <= @TOLERANCE@ * scale
