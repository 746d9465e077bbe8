"""`Function`: a compiled program as a function of arrays (..., n) whose leading axes broadcast."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..ir.interpret import interpret
from .inputs import leading_shape, prepare
from .outputs import outputs_type

if TYPE_CHECKING:
    from ..program import Program

__all__ = ["Function", "restore"]

Arrays = Mapping[str, np.ndarray]
_SMALLEST_SHARE = 512  # states: less is not worth a thread


class Function:
    """f(q=..., qd=..., out=None, threads=None): an array for one output, else a named tuple.

    `threads` splits a batch (default 1; 0 means all cores); the GIL is released while it runs."""

    def __init__(self, program: Program, target: str, dtype: str) -> None:
        self.program = program
        self.target = target
        self.dtype = dtype
        self._inputs = dict(program.code.inputs)
        self._outputs = {name: out.shape for name, out in program.code.outputs.items()}
        self._result = outputs_type(tuple(self._outputs))
        self._run: Callable[[Arrays, dict[str, np.ndarray], int, int], None]
        self._type = np.dtype(dtype)
        self._single: Any = None
        if target == "native":
            from .native import Kernels

            self._kernels = Kernels(program.code, dtype)
            shapes = (*self._inputs.values(), *self._outputs.values())
            self._reach = max(
                (_reach(prod(shape), self._kernels.width) for shape in shapes), default=0
            )
            self._run = self._run_native
        else:
            self._run = self._run_numpy

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (self.program.to_json(), self.target, self.dtype)

    def __repr__(self) -> str:
        return f"Function({self.program!r}, target={self.target!r}, dtype={self.dtype!r})"

    def __call__(
        self, *unnamed: Any, out: Any = None, threads: int | None = None, **inputs: Any
    ) -> Any:
        if unnamed:
            raise InputError(f"give inputs by name: {', '.join(f'{n}=...' for n in self._inputs)}")
        if out is None and threads is None and self.target == "native":
            found = self._one_state(inputs)
            if found is not None:
                return found
        program = self.program
        arrays = prepare(self._inputs, inputs, program.parameters, program.defaults, self.dtype)
        lead = leading_shape(arrays, self._inputs)
        rows = prod(lead)
        flat = {name: self._rows(name, array, lead, rows) for name, array in arrays.items()}
        results = self._allocate(out, lead)
        buffers = {name: self._buffer(name, array, flat, rows) for name, array in results.items()}
        if rows:
            self._spread(flat, buffers, rows, threads)
        for name, array in results.items():
            if not np.may_share_memory(array, buffers[name]):
                array[...] = buffers[name].reshape(array.shape)
        return self._finish(results)

    def _one_state(self, inputs: dict[str, Any]) -> Any:
        """The shortest way for the commonest call: one state, arrays of the right type and shape.

        None when anything is not exactly so; the general way then finds out what."""
        if len(inputs) != len(self._inputs):
            return None
        arrays = []
        for name, shape in self._inputs.items():
            x = inputs.get(name)
            if type(x) is not np.ndarray or x.shape != shape or x.dtype is not self._type:
                return None
            if not x.flags.c_contiguous:
                return None
            arrays.append(x)
        if self._single is None:
            self._single = self._kernels.single() or _unavailable
        if self._single is _unavailable:
            return None
        results = [np.empty(shape, self._type) for shape in self._outputs.values()]
        self._single(*arrays, *results)
        return results[0] if len(results) == 1 else self._result(*results)

    def _finish(self, results: dict[str, np.ndarray]) -> Any:
        values = list(results.values())
        return values[0] if len(values) == 1 else self._result(*values)

    def _rows(self, name: str, array: np.ndarray, lead: tuple[int, ...], rows: int) -> np.ndarray:
        """The array as (rows, size), or (1, size) when it is the same for every state."""
        size = prod(self._inputs[name])
        own = array.shape[: array.ndim - len(self._inputs[name])]
        if prod(own) == 1 and (name == "p" or rows == 1):
            return np.ascontiguousarray(array.reshape(1, size))
        full = np.broadcast_to(array, (*lead, *self._inputs[name]))
        return np.ascontiguousarray(full).reshape(rows, size)

    def _allocate(self, out: Any, lead: tuple[int, ...]) -> dict[str, np.ndarray]:
        shapes = {name: (*lead, *shape) for name, shape in self._outputs.items()}
        if out is None:
            return {name: np.empty(shape, self.dtype) for name, shape in shapes.items()}
        listed = list(out) if isinstance(out, tuple | list) else [out]
        if len(listed) != len(shapes):
            raise InputError(
                f"out holds {len(listed)} arrays; expected one for {', '.join(shapes)}"
            )
        given = dict(zip(shapes, listed, strict=True))
        for name, shape in shapes.items():
            array = given[name]
            if (
                not isinstance(array, np.ndarray)
                or array.shape != shape
                or array.dtype != self.dtype
            ):
                found = (
                    f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array)
                )
                raise InputError(f"out for '{name}' is {found}; expected {self.dtype} {shape}")
            if not array.flags.writeable:
                raise InputError(f"out for '{name}' is read-only")
        return given

    def _buffer(self, name: str, array: np.ndarray, inputs: Arrays, rows: int) -> np.ndarray:
        """Rows to write to: the result itself, unless it is strided or overlaps an input."""
        shape = (rows, prod(self._outputs[name]))
        free = not any(np.may_share_memory(array, x) for x in inputs.values())
        return (
            array.reshape(shape)
            if free and array.flags.c_contiguous
            else np.empty(shape, self.dtype)
        )

    def _spread(
        self, inputs: Arrays, outputs: dict[str, np.ndarray], rows: int, threads: int | None
    ) -> None:
        if threads is not None and (not isinstance(threads, int) or threads < 0):
            raise InputError(f"threads = {threads}; expected a positive number, or 0 for all cores")
        count = 1 if threads is None else threads or os.cpu_count() or 1
        count = max(1, min(count, rows // _SMALLEST_SHARE))
        if count == 1:
            self._run(inputs, outputs, 0, rows)
            return
        edges = [rows * k // count for k in range(count + 1)]
        with ThreadPoolExecutor(count) as pool:
            shares = pairwise(edges)
            for done in [pool.submit(self._run, inputs, outputs, *share) for share in shares]:
                done.result()

    def _run_numpy(
        self, inputs: Arrays, outputs: dict[str, np.ndarray], first: int, last: int
    ) -> None:
        part = {
            name: (x if len(x) == 1 else x[first:last]).reshape(-1, *self._inputs[name])
            for name, x in inputs.items()
        }
        for name, value in interpret(self.program.code, part).items():
            outputs[name][first:last] = value.reshape(len(value), -1)

    def _run_native(
        self, inputs: Arrays, outputs: dict[str, np.ndarray], first: int, last: int
    ) -> None:
        uniform = frozenset(name for name, x in inputs.items() if name == "p" and len(x) == 1)
        width = self._kernels.width
        rows = last - first
        if rows < width:
            self._call(1, uniform, inputs, outputs, first, rows)
            return
        whole = max(0, rows - self._reach) // width * width
        if whole:
            self._call(width, uniform, inputs, outputs, first, whole)
        if whole < rows:
            self._run_last(width, uniform, inputs, outputs, first + whole, last)

    def _run_last(
        self, width: int, uniform: frozenset[str], inputs: Arrays,
        outputs: dict[str, np.ndarray], first: int, last: int,
    ) -> None:  # fmt: skip
        """The rows from which a vector would reach beyond the last one, in padded copies."""
        count = -(-(last - first) // width) * width

        def pad(x: np.ndarray) -> np.ndarray:
            return np.zeros((count, -(-x.shape[1] // width) * width), self.dtype)

        padded = {}
        for name, x in inputs.items():
            padded[name] = x if name in uniform else pad(x)
            if name not in uniform:
                padded[name][: last - first, : x.shape[1]] = x[first:last]
        results = {name: pad(x) for name, x in outputs.items()}
        self._call(width, uniform, padded, results, 0, count)
        for name, x in outputs.items():
            x[first:last] = results[name][: last - first, : x.shape[1]]

    def _call(
        self, width: int, uniform: frozenset[str], inputs: Arrays,
        outputs: dict[str, np.ndarray], first: int, rows: int,
    ) -> None:  # fmt: skip
        size = np.dtype(self.dtype).itemsize

        def table(arrays: Arrays) -> tuple[Any, Any]:
            pointers, strides = [], []
            for name, x in arrays.items():
                start = 0 if name in uniform or len(x) == 1 else first
                pointers.append(x.ctypes.data + start * x.strides[0])
                strides.append(x.strides[0] // size)
            return (ctypes.c_void_p * len(pointers))(*pointers), (ctypes.c_int64 * len(strides))(
                *strides
            )

        kernel = self._kernels.get(width, uniform)
        kernel(*table(inputs), *table(outputs), rows)


def _unavailable(*arrays: np.ndarray) -> None:
    """Stands for a one-state function that this interpreter does not allow."""


def _reach(size: int, width: int) -> int:
    """How many rows of that size the last vector of a row reaches into."""
    return -(-(-size % width) // size) if size else 0


def restore(text: str, target: str, dtype: str) -> Any:
    """Unpickle: compile the program again."""
    from ..program import Program

    return Program.from_json(text).compile(target, dtype)
