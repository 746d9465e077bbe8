"""Many calls of compiled programs, one after the other, as one: no interpreter between them.

Each call runs on arrays that lie where they are; what one writes the next may read."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from .function import table_of
from .native import Kernels, engine_of, machine, object_of
from .views import View, view

_TEXT = """
define void @sequence(ptr %table, i64 %count) {
entry:
  br label %loop
loop:
  %k = phi i64 [0, %entry], [%next, %loop]
  %row = getelementptr [6 x ptr], ptr %table, i64 %k
  %function = load ptr, ptr %row
  %p1 = getelementptr ptr, ptr %row, i64 1
  %p2 = getelementptr ptr, ptr %row, i64 2
  %p3 = getelementptr ptr, ptr %row, i64 3
  %p4 = getelementptr ptr, ptr %row, i64 4
  %p5 = getelementptr ptr, ptr %row, i64 5
  %in = load ptr, ptr %p1
  %is = load ptr, ptr %p2
  %out = load ptr, ptr %p3
  %os = load ptr, ptr %p4
  %states = load i64, ptr %p5
  call void %function(ptr %in, ptr %is, ptr %out, ptr %os, i64 %states)
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""


@cache
def _driver() -> Any:
    engine = engine_of(object_of(_TEXT, machine()), machine())
    signature = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
    function = signature(engine.get_function_address("sequence"))
    function.engine = engine  # type: ignore[attr-defined] # the machine code lives as long
    return function


@dataclass(frozen=True)
class Call:
    """A kernel with its arrays."""

    words: tuple[int, ...]  # address of the kernel, of four tables, number of states
    alive: tuple[Any, ...]  # what the addresses point to


def whole(array: np.ndarray) -> View:
    """One contiguous array: of a single state, or the same for all."""
    return View(array, 0, "packed")


def lanes(array: np.ndarray) -> View:
    """States side by side along the last axis of a contiguous array."""
    return View(array, array.shape[-1], "columns")


def call(
    kernels: Kernels, inputs: Mapping[str, np.ndarray | View],
    outputs: Mapping[str, np.ndarray | View], states: int = 1,
) -> Call:  # fmt: skip
    """A program on its arrays. Plain arrays are those of its states, (states, *shape), or of its
    one state; views lie as they say, and of many states a `whole` one is the same for all."""
    code = kernels.code
    uniform = frozenset(
        name for name, x in inputs.items()
        if states > 1 and isinstance(x, View) and x.lie == "packed"
    )  # fmt: skip
    shapes = {name: output.shape for name, output in code.outputs.items()}
    views = [
        [_view(arrays[name], states, len(shape)) for name, shape in listed.items()]
        for arrays, listed in ((inputs, code.inputs), (outputs, shapes))
    ]
    width = kernels.width if states >= kernels.width else 1
    lies = tuple(place.lie for side in views for place in side)
    kernel = kernels.get(width, uniform, lies)
    tables = (*table_of(views[0], 0), *table_of(views[1], 0))
    address = ctypes.cast(kernel, ctypes.c_void_p).value or 0
    return Call(
        (address, *map(ctypes.addressof, tables), states), (kernel, tables, views, inputs, outputs)
    )


def _view(array: np.ndarray | View, states: int, axes: int) -> View:
    if isinstance(array, View):
        return array
    shape = array.shape[array.ndim - axes :]
    lie = view(np.broadcast_to(array, (states, *shape)), axes) if states > 1 else whole(array)
    if lie is None:
        raise AssertionError("arrays of a chain lie as kernels read them")
    return lie


class Chain:
    """Calls one after the other, run by one call; the GIL is released while they run."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self.calls = tuple(calls)
        self._table = np.array([x.words for x in self.calls], np.int64)
        self._driver, self._at = _driver(), self._table.ctypes.data

    def __call__(self) -> None:
        self._driver(self._at, len(self.calls))
