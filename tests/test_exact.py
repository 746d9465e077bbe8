"""Exact constants a + b·π: arithmetic against fractions, values against correctly rounded ones."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardan import exact
from cardan.describe.values.parser import to_value
from cardan.exact import Exact, pi

rationals = st.fractions(min_value=-1000, max_value=1000, max_denominator=10**6)
numbers = st.builds(exact.exact, rationals, st.one_of(st.just(Fraction(0)), rationals))


def parts(x: Any) -> tuple[Fraction, Fraction]:
    return (Fraction(x), Fraction(0)) if isinstance(x, int) else (x.a, x.b)


@given(numbers, numbers)
def test_sums_and_differences_are_exact(x: Any, y: Any) -> None:
    (xa, xb), (ya, yb) = parts(x), parts(y)
    assert parts(x + y) == (xa + ya, xb + yb)
    assert parts(x - y) == (xa - ya, xb - yb)
    assert x - y + y == x
    assert 0 - (0 - x) == x


@given(numbers, rationals)
def test_products_and_quotients_by_rationals_are_exact(x: Any, f: Fraction) -> None:
    y = exact.exact(f)
    (xa, xb) = parts(x)
    assert parts(x * y) == (xa * f, xb * f)
    if f and (isinstance(x, Exact) or isinstance(y, Exact)):  # int / int is Python's own
        assert parts(x / y) == (xa / f, xb / f)


@given(numbers)
def test_integers_are_ints_and_zero_is_the_int_0(x: Any) -> None:
    assert x - x == 0
    assert type(x - x) is int
    assert isinstance(x, int) == (parts(x)[1] == 0 and parts(x)[0].denominator == 1)


@given(numbers, numbers)
def test_equal_numbers_have_equal_hashes(x: Any, y: Any) -> None:
    z = x + y - y
    assert z == x
    assert hash(z) == hash(x)


@given(rationals)
def test_a_rational_becomes_the_nearest_double(f: Fraction) -> None:
    assert float(exact.exact(f)) == float(f)


@given(rationals)
def test_text_reads_back_equal(f: Fraction) -> None:
    for x in (exact.exact(f), exact.exact(0, f), exact.exact(f, 1)):
        assert to_value(str(x)) == x


def test_multiples_of_pi_are_the_nearest_double() -> None:
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        for top in range(-40, 41):
            for bottom in (1, 2, 3, 7, 180, 1000):
                x = exact.exact(0, Fraction(top, bottom))
                assert float(x) == float(mpmath.pi * top / bottom)


@pytest.mark.parametrize("k", range(-30, 31))
def test_cos_and_sin_at_multiples_of_a_twelfth_turn(k: int) -> None:
    x = exact.exact(0, Fraction(k, 6))
    c, s = exact.cos(x), exact.sin(x)
    assert float(c) == pytest.approx(math.cos(float(x)), abs=1e-15)
    assert float(s) == pytest.approx(math.sin(float(x)), abs=1e-15)
    assert exact.is_exact(c) == (k % 3 == 0 or k % 2 == 0)
    assert exact.is_exact(s) == (k % 3 == 0 or (k - 3) % 2 == 0)
    if k % 3 == 0:
        assert type(c) is int
        assert type(s) is int


def test_other_angles_are_floats() -> None:
    assert exact.cos(exact.exact("0.3")) == math.cos(0.3)
    assert exact.sin(1) == math.sin(1)
    assert exact.sin(0) == 0
    assert exact.cos(0) == 1


def test_square_roots_of_squares_are_exact() -> None:
    assert exact.sqrt(exact.exact(Fraction(9, 4))) == exact.exact(Fraction(3, 2))
    assert exact.sqrt(16) == 4
    assert type(exact.sqrt(16)) is int
    assert exact.sqrt(2) == math.sqrt(2)


def test_products_outside_the_ring_are_floats() -> None:
    assert pi * pi == math.pi**2
    assert pi / pi == 1
    assert type(pi / pi) is int
    assert 1 / pi == 1 / math.pi


def test_numbers_do_not_grow_without_bound() -> None:
    x: Any = exact.exact(Fraction(3, 7))
    for _ in range(14):
        x = x * x
    assert isinstance(x, float)


def test_mixed_with_floats_and_arrays_it_is_a_scalar_of_that_kind() -> None:
    half = exact.exact("0.5")
    assert half + 0.25 == 0.75
    assert 1.0 / half == 2.0
    array = np.array([1.0, 2.0])
    for found, expected in (
        (half * array, [0.5, 1.0]),
        (array * half, [0.5, 1.0]),
        (array - half, [0.5, 1.5]),
        (half - array, [-0.5, -1.5]),
        (array / half, [2.0, 4.0]),
        (half / array, [0.5, 0.25]),
    ):
        assert isinstance(found, np.ndarray)
        np.testing.assert_array_equal(found, expected)


def test_division_by_zero_raises() -> None:
    with pytest.raises(ZeroDivisionError):
        pi / 0


@given(numbers, numbers)
def test_order_agrees_with_floats(x: Any, y: Any) -> None:
    if float(x) != float(y):
        assert (x < y) == (float(x) < float(y))
        assert (x >= y) == (float(x) >= float(y))


def test_powers() -> None:
    half = exact.exact("0.5")
    assert half**3 == exact.exact("0.125")
    assert half**-2 == 4
    assert half**0 == 1
    assert isinstance(abs(-half), Exact)
