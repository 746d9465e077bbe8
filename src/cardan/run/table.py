"""A compiled program over a table: columns are read where they lie, and looked at on the way.

    batch = Table(program, "float64")
    seen = batch(inputs, out)

inputs: name -> columns [(rows,), ...] or an array (rows, *shape); out: of each output its array
(rows, *shape), packed or in columns.

`seen.finite` is false when an input is not a finite number; `seen.digest` tells inputs apart.
"""

from __future__ import annotations

import ctypes
import hashlib
import threading
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CardanWarning, InputError
from ..ir.code import Code
from .inputs import parameter_vector
from .llvm.table import BLOCK, buffer_size, table_text
from .native import Kernels
from .views import View, view

if TYPE_CHECKING:
    from ..program import Program

_SIGNATURE = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 5, ctypes.c_int64)
_LOCK = threading.Lock()

Given = Mapping[str, np.ndarray | Sequence[np.ndarray]]


@dataclass(frozen=True)
class Seen:
    """What a pass over the inputs has shown."""

    finite: bool
    digest: int  # 64 bits, never 0


class Table:
    """The machine code of a program over rows of a table, in the thread that calls it."""

    def __init__(self, program: Program, dtype: str = "float64") -> None:
        self.program, self.dtype = program, np.dtype(dtype)
        self._kernels = Kernels(program.code, dtype)
        self._look = Kernels(_reading(program.code), dtype)
        self._compiled: dict[Any, Any] = {}
        self._local = threading.local()
        self._told = False

    def __call__(self, inputs: Given, out: Sequence[np.ndarray] | None) -> Seen:
        """Fill `out`, an array (rows, *shape) of each output in order; None: only look.

        An input p that is not given has the program's own values."""
        kernels = self._look if out is None else self._kernels
        lies: dict[str, str] = {}
        sources: list[int] = []
        held: list[Any] = []
        rows = 0
        for name, shape in kernels.code.inputs.items():
            lie, arrays = self._arrays(inputs.get(name))
            lies[name] = lie
            rows = rows if lie == "uniform" else len(arrays[0])
            expected = {"columns": [(rows,)] * prod(shape), "packed": [(rows, *shape)]}
            if lie != "uniform" and [x.shape for x in arrays] != expected[lie]:
                raise InputError(f"input '{name}' is not {prod(shape)} columns of {rows} rows")
            if name == "p" and self.program.divisors:
                self._look_at(arrays if lie == "columns" else arrays[0])
            sources += [x.__array_interface__["data"][0] for x in arrays]
            held += arrays
        width = kernels.width if rows >= BLOCK else 1
        seen = np.zeros((2, width), "i8" if self.dtype.itemsize == 8 else "i4")
        places = [] if out is None else self._places(out, rows)
        strides = [place.stride for place in places]
        results = tuple(place.lie for place in places)
        self._function(kernels, width, lies, results)(
            _pointers(sources), _pointers([place.address for place in places]),
            (ctypes.c_int64 * max(1, len(strides)))(*strides), self._buffer(), seen.ctypes.data,
            rows,
        )  # fmt: skip
        return Seen(bool((seen[0] >= 0).all()), _digest(seen[1], rows))

    def _look_at(self, p: np.ndarray | list[np.ndarray]) -> None:
        """Say once that the program divides by a parameter that is zero in a row."""
        fault = "" if self._told else self.program.zeros(p)
        if fault:
            self._told = True
            warnings.warn(fault, CardanWarning, stacklevel=4)

    def _arrays(self, given: Any) -> tuple[str, list[np.ndarray]]:
        """How an input lies, and the arrays it is made of."""
        if given is None:
            values = parameter_vector(None, self.program.parameters, self.program.defaults)
            return "uniform", [np.ascontiguousarray(values, self.dtype)]
        if isinstance(given, np.ndarray):
            return "packed", [np.ascontiguousarray(given, self.dtype)]
        return "columns", [np.ascontiguousarray(column, self.dtype) for column in given]

    def _places(self, out: Sequence[np.ndarray], rows: int) -> list[View]:
        """Where each output goes."""
        places = []
        outputs = self._kernels.code.outputs.values()
        for array, output in zip(out, outputs, strict=True):
            place = view(array, len(output.shape))
            fits = array.shape == (rows, *output.shape) and array.dtype == self.dtype
            if place is None or place.lie == "rows" or not fits or not array.flags.writeable:
                raise AssertionError("a result is packed, or columns, of the type computed with")
            places.append(place)
        return places

    def _buffer(self) -> int:
        """Working memory of this thread."""
        if not hasattr(self._local, "buffer"):
            self._local.buffer = np.empty(buffer_size(self._kernels.code) + 8, self.dtype)
        address: int = self._local.buffer.ctypes.data
        return -(-address // 64) * 64

    def _function(
        self, kernels: Kernels, width: int, lies: dict[str, str], results: tuple[str, ...]
    ) -> Any:
        key = width, tuple(lies.values()), results
        with _LOCK:
            if key not in self._compiled:
                self._compiled[key] = self._compile(kernels, width, lies, results)
        return self._compiled[key]

    def _compile(
        self, kernels: Kernels, width: int, lies: dict[str, str], results: tuple[str, ...]
    ) -> Any:
        same = frozenset(name for name, lie in lies.items() if lie == "uniform")
        given = ("columns" if lie == "columns" else "packed" for lie in lies.values())
        text = kernels._text(width, same, (*given, *results), surveyed=True)
        text += table_text(kernels.code, lies, results, width, self.dtype.name)
        engine = kernels._engine(text)
        function = _SIGNATURE(engine.get_function_address("table"))
        # the machine code lives as long as the function
        function.engine = engine  # type: ignore[attr-defined]
        return function


def _reading(code: Code) -> Code:
    """A program with the same inputs that computes nothing."""
    return replace(code, nodes=(("none",),), outputs={}, labels={})


def _pointers(addresses: Sequence[int]) -> Any:
    return (ctypes.c_void_p * max(1, len(addresses)))(*addresses)


def _digest(lanes: np.ndarray, rows: int) -> int:
    digest = hashlib.blake2b(lanes.tobytes() + rows.to_bytes(8, "little"), digest_size=8).digest()
    return int.from_bytes(digest, "little") | 1
