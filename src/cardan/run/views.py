"""Arrays as kernels read and write them: where the states lie in memory, without copying them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np


@dataclass(frozen=True)
class View:
    """States in rows (element k of state i at i*stride + k), packed (rows one after the other) or
    in columns (at k*stride + i)."""

    array: np.ndarray  # keeps the memory alive
    stride: int  # in elements
    lie: str

    @property
    def address(self) -> int:
        pointer: int = self.array.__array_interface__["data"][0]
        return pointer

    @property
    def step(self) -> int:
        """Bytes from one state to the next."""
        return (1 if self.lie == "columns" else self.stride) * self.array.itemsize


def view(array: np.ndarray, axes: int) -> View | None:
    """The array (..., *shape), whose shape has that many axes, where it lies; or None when no
    single stride leads from state to state and from element to element, one of them 1."""
    at = array.ndim - axes
    item, shape, strides = array.itemsize, array.shape, array.strides
    states, elements = _stride(shape[:at], strides[:at]), _stride(shape[at:], strides[at:])
    if states is None or elements is None or not array.flags.aligned:
        return None
    if states % item or elements % item:
        return None
    if states == item:
        return View(array, elements // item, "columns")
    size, alone = prod(shape[at:]), prod(shape[:at]) == 1
    if alone and elements > item:  # columns of one state
        return View(array, elements // item, "columns")
    if elements == item or size <= 1:
        packed = alone or states == size * item
        return View(array, states // item, "packed" if packed else "rows")
    return None


def broadcast_view(array: np.ndarray, lead: tuple[int, ...], axes: int) -> View:
    """An input spread over the leading axes; copied only where it does not lie as it should."""
    full = (*lead, *array.shape[array.ndim - axes :])
    own = view(array if array.shape == full else np.broadcast_to(array, full), axes)
    if own is None:
        own = view(np.broadcast_to(array.copy(), full), axes)
    if own is None:
        own = view(np.broadcast_to(array, full).copy(), axes)
    if own is None:
        raise AssertionError("a new array lies in rows")
    return own


def _stride(shape: Sequence[int], strides: Sequence[int]) -> int | None:
    """Bytes from one to the next along the axes taken as one; None when that differs."""
    if len(shape) == 1:
        return strides[0] if shape[0] != 1 else 0
    found, expected = 0, None
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size == 1:
            continue
        if expected is None:
            found = stride
        elif stride != expected:
            return None
        expected = stride * size
    return found
