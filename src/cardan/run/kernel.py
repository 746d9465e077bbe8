"""Kernels (kernel/language.py) in machine code, over rows of arrays, on one or several threads."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from ..cache import cached_object
from ..errors import InputError
from ..kernel.language import Bound, Kernel, kernels_of
from .inputs import thread_count
from .llvm.kernel import kernel_module
from .native import Machine, engine_of, machine, target_of

_SIGNATURE = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64)
_LOCK = threading.Lock()
_STACK = 1 << 24  # bytes: kernels of loops need one megabyte, threads of macOS have half of it


class KernelFunction:
    """f(inputs, threads) -> outputs: the kernel on every row.

    The parameters of the kernel are arrays: inputs (rows, size), or (size,) when they are the same
    for all rows, and outputs (rows, size), allocated here or given as `out`. Size 0 of an input:
    any. Slots get the kernels bound to them with every call, as KernelFunctions."""

    def __init__(
        self, entry: Callable[..., Any] | Sequence[Kernel], inputs: Mapping[str, int],
        outputs: Mapping[str, int], bound: Bound | None = None,
    ) -> None:  # fmt: skip
        self.inputs = dict(inputs)
        self.outputs = dict(outputs)
        kernels = kernels_of(entry, bound) if callable(entry) else entry
        self.slots = [kernel.name for kernel in kernels if kernel.slot]
        self._text = kernel_module(kernels, [*inputs, *self.slots])
        self._function: Any = None

    def __call__(
        self, arrays: Mapping[str, np.ndarray], rows: int, threads: int | None = None,
        out: Mapping[str, np.ndarray] | None = None,
        slots: Mapping[str, KernelFunction] | None = None,
    ) -> dict[str, np.ndarray]:  # fmt: skip
        inputs = {name: np.ascontiguousarray(arrays[name], np.float64) for name in self.inputs}
        for name, array in inputs.items():
            size = self.inputs[name] or array.shape[-1]
            if array.shape not in ((rows, size), (size,)):
                raise InputError(f"'{name}' has shape {array.shape}; expected {self.inputs[name]}")
        results = dict(out or {name: np.zeros((rows, size)) for name, size in self.outputs.items()})
        addresses = [(slots or {})[name].address for name in self.slots]
        if rows:
            self._spread(inputs, addresses, results, rows, threads)
        return results

    @property
    def address(self) -> int:
        """Where the machine code of the kernel itself is, for slots."""
        address: int = self._compiled().engine.get_function_address("direct")
        return address

    def bound(
        self, arrays: Mapping[str, np.ndarray], out: Mapping[str, np.ndarray],
        slots: Mapping[str, KernelFunction] | None = None,
    ) -> Callable[[], None]:  # fmt: skip
        """The kernel on one row that lies in these arrays, read and written where they are."""
        addresses = [(slots or {})[name].address for name in self.slots]
        inside = _table({name: arrays[name] for name in self.inputs}, 0, addresses)
        outside = _table({name: out[name] for name in self.outputs}, 0)
        call = partial(self._compiled(), *inside, *outside, 1)
        call.lives = (dict(arrays), dict(out), slots)  # type: ignore[attr-defined] # they must
        return call

    def _spread(
        self, given: dict[str, np.ndarray], slots: list[int], results: dict[str, np.ndarray],
        rows: int, threads: int | None,
    ) -> None:  # fmt: skip
        count = max(1, min(thread_count(threads), rows))
        if count == 1:
            self._run(given, slots, results, 0, rows)
            return
        edges = [rows * k // count for k in range(count + 1)]
        with ThreadPoolExecutor(count) as pool:
            with _LOCK:  # the size is that of all threads that start meanwhile
                before = threading.stack_size(_STACK)
                running = [
                    pool.submit(self._run, given, slots, results, *share)
                    for share in pairwise(edges)
                ]
                threading.stack_size(before)
            for share in running:
                share.result()

    def _run(
        self, given: dict[str, np.ndarray], slots: list[int], results: dict[str, np.ndarray],
        first: int, last: int,
    ) -> None:  # fmt: skip
        inputs = _table(given, first, slots)
        self._compiled()(*inputs, *_table(results, first), last - first)

    def _compiled(self) -> Any:
        with _LOCK:
            if self._function is None:
                host = machine()
                key = (self._text, "O2", host.name, host.features, llvmlite.__version__)
                content = cached_object(key, lambda: _optimised(self._text, host))
                engine = engine_of(content, host)
                self._function = _SIGNATURE(engine.get_function_address("kernel"))
                self._function.engine = engine
        return self._function


def _table(arrays: dict[str, np.ndarray], first: int, slots: Sequence[int] = ()) -> tuple[Any, Any]:
    """Pointers to the first row, and strides in elements; then addresses of slots."""
    pointers = [
        x.ctypes.data + (first * x.strides[0] if x.ndim == 2 else 0) for x in arrays.values()
    ]
    strides = [x.shape[1] if x.ndim == 2 else 0 for x in arrays.values()]
    pointers += slots
    strides += [0] * len(slots)
    return (
        (ctypes.c_void_p * len(pointers))(*pointers),
        (ctypes.c_int64 * len(strides))(*strides),
    )


def _optimised(text: str, host: Machine) -> bytes:
    """Machine code. Functions are kept apart and loops as they are: unrolled, inlined and
    vectorised code was 5 % faster and took five times as long to make."""
    target = target_of(host)
    module = llvm.parse_assembly(text)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = False
    options.slp_vectorization = False
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(target, options)
    passes = builder.getModulePassManager()
    passes.run(module, builder)
    machine_code: bytes = target.emit_object(module)
    return machine_code
