"""`Function`: a compiled program as a function of arrays (..., n) whose leading axes broadcast."""

from __future__ import annotations

import ctypes
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial
from itertools import combinations
from math import prod
from threading import Lock
from types import MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CardanWarning, InputError
from ..ir.interpret import interpret
from .inputs import leading_shape, parameter_vector, prepare, thread_count
from .llvm.memory import STREAMED
from .outputs import outputs_type
from .single import method
from .views import View, broadcast_view, view

if TYPE_CHECKING:
    import inspect

    from ..program import Program

Arrays = Mapping[str, np.ndarray]
Shape = tuple[int, ...]
_SMALLEST_SHARE = 512  # states: less is not worth a thread
_LARGE = 1 << 24  # bytes of an output that no cache holds
_SHORT = 16  # elements of an output whose pieces are lines of memory anyway


class Function:
    """f(q=..., qd=..., out=None, threads=None): an array for one output, else a named tuple.

    `threads` splits a batch (default 1; 0 means all cores); the GIL is released while it runs.

    >>> f = cardan.model(cardan.load("planar2r"), "transform").compile()
    >>> f.target, f.dtype
    ('native', 'float64')
    >>> f(q=np.zeros((5, 2)), p=[0.5]).shape
    (5, 4, 4)"""

    def __init__(self, program: Program, target: str, dtype: str) -> None:
        self.program = program
        self.target = target
        self.dtype = dtype
        self._inputs = dict(program.code.inputs)
        self._outputs = {name: out.shape for name, out in program.code.outputs.items()}
        self._result = outputs_type(tuple(self._outputs))
        self._type = np.dtype(dtype)
        self._seen: bytes | None = None  # parameters that were looked at
        self._hazard = any(divisor.avoidable for divisor in program.divisors)  # look every time
        if target == "native":
            from .native import Kernels

            self._kernels = Kernels(program.code, dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (*saved(self.program), self.target, self.dtype)

    def __repr__(self) -> str:
        return f"Function({self.program!r}, target={self.target!r}, dtype={self.dtype!r})"

    @property
    def __signature__(self) -> inspect.Signature:
        """What inspect and editors show: the inputs by name."""
        import inspect

        only = inspect.Parameter.KEYWORD_ONLY
        names = [inspect.Parameter(name, only) for name in self._inputs]
        options = [inspect.Parameter(name, only, default=None) for name in ("out", "threads")]
        return inspect.Signature([*names, *options])

    def __call__(
        self, *unnamed: Any, out: Any = None, threads: int | None = None, **inputs: Any
    ) -> Any:
        """The outputs of states (...): an array (..., *shape) for one output, else a named tuple.

        Inputs are given by name, (..., *shape); their leading axes broadcast. `p` may be left out
        where the robot has values. out: arrays that take the results. threads: among how many a
        batch is split; 1 by default, 0 for all cores.

        >>> f = cardan.model(cardan.load("planar2r"), "transform").compile()
        >>> f(q=[0.0, np.pi / 2], p=[0.5])[:2, 3].round(6).tolist()
        [0.5, 0.0]"""
        if unnamed:
            raise InputError(f"give inputs by name: {', '.join(f'{n}=...' for n in self._inputs)}")
        count, program = thread_count(threads), self.program
        arrays = prepare(self._inputs, inputs, program.parameters, program.defaults, self.dtype)
        lead = leading_shape(arrays, self._inputs)
        if program.divisors and "p" in arrays:
            self._look_at(arrays["p"])
        results = self._allocate(out, lead)
        if not lead and type(self) is Function and self.target == "native" and not self._hazard:
            self._shorten()
        run = self._native if self.target == "native" else self._numpy
        if prod(lead):
            run(arrays, results, lead, count)
        return self._finish(results)

    def bound(self, inputs: Arrays, outputs: Arrays) -> Callable[[], None]:
        """The machine code on one state that lies in these contiguous arrays, which are read and
        written where they are.

        >>> robot = cardan.load("planar2r").with_values({"L1": 0.5})
        >>> f = cardan.model(robot, "transform").compile()
        >>> q, T = np.zeros(2), np.empty((4, 4))
        >>> step = f.bound({"q": q}, {"T": T})
        >>> q[0] = np.pi
        >>> step()
        >>> T[:2, 3].round(6).tolist()
        [-0.5, 0.0]"""
        inside = [self._input(name, inputs[name], ()) for name in self._inputs]
        outside = [View(outputs[name], 0, "packed") for name in self._outputs]
        uniform = frozenset({"p"} & set(inputs))
        lies = ("packed",) * (len(inside) + len(outside))
        call = partial(
            self._kernels.get(1, uniform, lies), *table_of(inside, 0), *table_of(outside, 0), 1
        )
        call.arrays = (inside, outside)  # type: ignore[attr-defined] # they must live
        return call

    def _look_at(self, p: np.ndarray) -> None:
        """Say that the program divides by a parameter that is zero; once for the same values."""
        values = p.tobytes() if p.ndim == 1 else None
        if values is not None and values == self._seen:
            return
        self._seen = values
        fault = self.program.zeros(p)
        if fault:
            warnings.warn(fault, CardanWarning, stacklevel=3)

    def _shorten(self) -> None:
        """From the first call with one state on, such calls go straight to the machine code: the
        object's class becomes one of its own, whose __call__ is a method of the C API."""
        engine = self._kernels.single()
        if engine is None:
            return
        program, defaults = self.program, {}
        if "p" in self._inputs and set(program.parameters) <= set(program.defaults):
            parameters = parameter_vector(None, program.parameters, program.defaults)
            defaults["p"] = np.ascontiguousarray(parameters, self._type)
        call = method(
            engine, tuple(self._inputs), self._type, self._result,
            MethodType(Function.__call__, self), defaults,
        )  # fmt: skip
        self.__class__ = type("Function", (Function,), {"__call__": call})

    def _finish(self, results: dict[str, np.ndarray]) -> Any:
        values = list(results.values())
        return values[0] if len(values) == 1 else self._result(*values)

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
        for (name, x), (other, y) in combinations(given.items(), 2):
            if np.may_share_memory(x, y):
                raise InputError(f"out for '{name}' and for '{other}' overlap: give two arrays")
        return given

    def _spread(self, work: Callable[[int, int], None], rows: int, threads: int) -> None:
        """work(first, last) for all states: every thread takes a share of what is left when it is
        done with the one before, so that one that starts late does less."""
        count = max(1, min(threads, rows // _SMALLEST_SHARE))
        if count == 1:
            work(0, rows)
            return
        shares, lock = _shares(rows, count), Lock()

        def worker() -> None:
            while True:
                with lock:
                    share = next(shares, None)
                if share is None:
                    return
                work(*share)

        running = [_pool(count - 1, os.getpid()).submit(worker) for _ in range(count - 1)]
        try:
            worker()
        finally:  # the arrays must live until all are done
            for done in running:
                if not done.cancel():
                    done.result()

    def _numpy(self, arrays: Arrays, results: Arrays, lead: Shape, threads: int) -> None:
        rows = prod(lead)
        flat = {
            name: np.broadcast_to(x, (*lead, *self._inputs[name])).reshape(
                rows, *self._inputs[name]
            )
            for name, x in arrays.items()
        }
        buffers = {name: np.empty((rows, *x.shape[len(lead) :]), x.dtype)
                   for name, x in results.items()}  # fmt: skip

        def work(first: int, last: int) -> None:
            part = {name: x[first:last] for name, x in flat.items()}
            for name, value in interpret(self.program.code, part).items():
                buffers[name][first:last] = value

        self._spread(work, rows, threads)
        for name, x in results.items():
            x[...] = buffers[name].reshape(x.shape)

    def _native(self, arrays: Arrays, results: Arrays, lead: Shape, threads: int) -> None:
        rows = prod(lead)
        inputs = [self._input(name, x, lead) for name, x in arrays.items()]
        outputs = [
            self._output(name, x, rows, [place.array for place in inputs])
            for name, x in results.items()
        ]
        uniform = {"p"} if "p" in arrays and arrays["p"].ndim == 1 else set()
        width = self._kernels.width if rows >= self._kernels.width else 1
        lies = tuple(place.lie for place in (*inputs, *outputs))
        kernel = self._kernels.get(width, frozenset(uniform), lies)

        def work(first: int, last: int) -> None:
            kernel(*table_of(inputs, first), *table_of(outputs, first), last - first)

        self._spread(work, rows, threads)
        for place, x in zip(outputs, results.values(), strict=True):
            if place.array is not x:
                x[...] = place.array.reshape(x.shape)

    def _input(self, name: str, array: np.ndarray, lead: Shape) -> View:
        shape = self._inputs[name]
        if name == "p" and array.ndim == 1:
            return View(np.ascontiguousarray(array), 0, "packed")
        if prod(lead) < self._kernels.width:  # few states: not worth a kernel of their own
            array = np.ascontiguousarray(np.broadcast_to(array, (*lead, *shape)))
        return broadcast_view(array, lead, len(shape))

    def _output(self, name: str, array: np.ndarray, rows: int, inputs: list[np.ndarray]) -> View:
        """Where to write: the result itself, unless it is strided or overlaps an input."""
        shape = self._outputs[name]
        free = not any(np.may_share_memory(array, x) for x in inputs)
        own = view(array, len(shape)) if free else None
        if own is None or (own.lie != "packed" and rows < self._kernels.width):
            own = view(np.empty((rows, *shape), self._type), len(shape))
        if own is None:
            raise AssertionError("a new array lies in rows")
        size = prod(shape)
        if own.lie == "packed" and _SHORT < size <= STREAMED and own.array.nbytes > _LARGE:
            return replace(own, lie="streamed")
        return own


def table_of(views: list[View], first: int) -> tuple[Any, Any]:
    """Addresses of the first state and strides, as a kernel takes them."""
    addresses = [place.address + first * place.step for place in views]
    strides = [place.stride for place in views]
    return (ctypes.c_void_p * len(views))(*addresses), (ctypes.c_int64 * len(views))(*strides)


def _shares(rows: int, count: int) -> Iterator[tuple[int, int]]:
    """Parts of the states for that many threads: a large one for each, and what is left in small
    ones for those that are done first. Every part costs a turn of the interpreter's lock."""
    first = 0
    for share in (0.9, 0.1):
        size = max(_SMALLEST_SHARE, int(share * rows) // count)
        for _ in range(count):
            if first < rows:
                last = first + size if rows - first - size >= _SMALLEST_SHARE else rows
                yield first, last
                first = last
    if first < rows:
        yield first, rows


@cache
def _pool(count: int, process: int) -> ThreadPoolExecutor:
    """Threads that wait for the next batch; a forked process needs its own."""
    return ThreadPoolExecutor(count, thread_name_prefix="cardan")


def saved(program: Program) -> tuple[Callable[[str], Program], str]:
    """A program for pickling: its text, and what reads it."""
    return type(program).from_json, program.to_json()


def restore(read: Callable[[str], Program], text: str, target: str, dtype: str) -> Any:
    """Unpickle: compile the program again."""
    return read(text).compile(target, dtype)
