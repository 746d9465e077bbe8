"""The GPU: programs compiled by NVRTC through CuPy, on arrays that stay on the device.

Inputs may be CuPy, PyTorch or JAX arrays (anything with DLPack, taken without a copy) or NumPy
arrays (copied). Two layouts: rows (..., n), the usual one, and columns (n, N), a structure of
arrays, which the memory likes best. Results are CuPy arrays; torch.from_dlpack and
jax.dlpack.from_dlpack take them as they are.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..emit.cuda import row_numbers
from ..emit.cuda_staged import THREADS as _STAGED
from ..emit.cuda_staged import staged
from ..errors import CardanWarning, InputError, MissingExtraError
from ..ir.order import calm
from .function import restore, saved
from .inputs import parameter_vector, without_idle
from .outputs import outputs_type

if TYPE_CHECKING:
    from ..program import Program

_KERNEL = 'extern "C" __global__'  # how a kernel begins: that of columns, then that of rows

_THREADS = 64  # of a block: programs hold much in registers, small blocks fill a processor better
_FULL, _MANY = 200, 256  # from so many registers on one block fills it: of so many threads
_SHARED_BYTES = 48 * 1024  # of a block, without asking for more
# registers of a thread that let more warps run and hide the memory's delay, the bytes of them that
# may go to memory instead, and from how many registers on that was never worth a trial (H200)
_FEWER = {"float64": ((128, 320),), "float32": ((72, 64), (80, 96))}
_TOO_MANY = {"float64": 200, "float32": 128}
_WAITING = 200  # bytes of a thread's values in memory from which on other places for them are tried
# states of a trial for each multiprocessor, so that launches are no part of its time, and the most
# bytes of its arrays
_TRIED, _TRIAL_BYTES = 2048, 1 << 28


class CudaFunction:
    """f(q=..., layout="rows" or "columns", out=None) on the GPU.

    rows: inputs (..., *shape), outputs (..., *shape); columns: inputs and outputs (size, N)."""

    def __init__(self, program: Program, dtype: str) -> None:
        self.cupy = _cupy()
        self.program = program
        self.dtype = dtype
        self.target = "cuda"
        self._inputs = dict(program.code.inputs)
        self._outputs = {name: out.shape for name, out in program.code.outputs.items()}
        self._result = outputs_type(tuple(self._outputs))
        ordered = replace(program, code=calm(program.code))
        text = ordered.emit("cuda", function="cardan_program", dtype=dtype)
        self._text = dict(zip(("common", "columns", "rows"), text.split(_KERNEL), strict=True))
        self._ordered = ordered
        self._kernels: dict[str, Any] = {}  # by layout, each compiled when it is first asked for
        self._slots: dict[str, int] = {}  # of the shared memory of a thread, of staged kernels

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (*saved(self.program), "cuda", self.dtype)

    def __repr__(self) -> str:
        return f"CudaFunction({self.program!r}, dtype={self.dtype!r})"

    def __call__(self, *, layout: str = "rows", out: Any = None, **inputs: Any) -> Any:
        if layout not in ("rows", "columns"):
            raise InputError(f"layout = {layout!r}; expected 'rows' (..., n) or 'columns' (n, N)")
        arrays = self._gather(inputs)
        if layout == "columns":
            lead, flat = self._columns(arrays)
        else:
            lead, flat = self._rows(arrays)
        count = prod(lead)
        results = self._allocate(out, lead, layout)
        if count and layout == "rows" and not self._fits():
            self._turned(count, flat, results)
        elif count:
            self._launch(layout, count, flat, results)
        values = list(results.values())
        return values[0] if len(values) == 1 else self._result(*values)

    def _kernel(self, layout: str) -> Any:
        """The kernel of a layout, compiled as is best on this device."""
        if layout not in self._kernels:
            kernel = self._compiled(layout)
            for registers, bytes_ in _FEWER[self.dtype]:
                if registers < kernel.num_regs <= _TOO_MANY[self.dtype]:
                    lean = self._compiled(layout, f"--maxrregcount={registers}")
                    if lean.local_size_bytes <= kernel.local_size_bytes + bytes_:
                        kernel = lean
            self._kernels[layout] = kernel
            if layout == "columns" and kernel.local_size_bytes > _WAITING:
                self._try_staged(kernel)
        return self._kernels[layout]

    def _try_staged(self, kernel: Any) -> None:
        """Let the values of a long program wait in shared memory, if that is faster here."""
        text, slots = staged(self._ordered, "cardan_program", self.dtype) or ("", 0)
        size = slots * _STAGED * np.dtype(self.dtype).itemsize
        if not text or size > self._shared_bytes():
            return
        seconds = self._seconds()
        self._slots["columns"] = slots
        self._kernels["columns"] = self._module(text).get_function("cardan_program_batch")
        if self._seconds() >= seconds:
            self._kernels["columns"] = kernel
            del self._slots["columns"]

    def _seconds(self) -> float:
        """The time of some states by the kernel of columns, the best of a few."""
        cupy = self.cupy
        numbers = sum(map(prod, (*self._inputs.values(), *self._outputs.values())))
        most = _TRIAL_BYTES // (numbers * np.dtype(self.dtype).itemsize)
        processors = cupy.cuda.Device().attributes["MultiProcessorCount"]
        count = max(32, min(_TRIED * processors, most))
        rng = cupy.random.RandomState(0)  # the user's own draws stay as they are
        inputs = {
            name: rng.uniform(-1, 1, prod(shape) * (1 if name == "p" else count)).astype(self.dtype)
            for name, shape in self._inputs.items()
        }
        results = self._allocate(None, (count,), "columns")
        best = float("inf")
        for _ in range(4):
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            begin.record()
            self._launch("columns", count, inputs, results)
            end.record()
            end.synchronize()
            best = min(best, cupy.cuda.get_elapsed_time(begin, end))
        return best

    def _compiled(self, layout: str, *options: str) -> Any:
        module = self._module(f"{self._text['common']}{_KERNEL}{self._text[layout]}", *options)
        return module.get_function(f"cardan_program_{'rows' if layout == 'rows' else 'batch'}")

    def _module(self, code: str, *options: str) -> Any:
        return self.cupy.RawModule(code=code, options=("-std=c++17", *options))

    def _gather(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Every input as a CuPy array of the program's type."""
        given = without_idle(self._inputs, given)
        unknown = [name for name in given if name not in self._inputs]
        if unknown:
            raise InputError(
                f"there is no input '{unknown[0]}'; expected {', '.join(self._inputs)}"
            )
        program = self.program
        arrays = dict(given)
        if "p" in self._inputs:
            p = parameter_vector(arrays.get("p"), program.parameters, program.defaults)
            fault = program.zeros(p) if isinstance(p, np.ndarray) and program.divisors else ""
            if fault:
                warnings.warn(fault, CardanWarning, stacklevel=4)
            arrays["p"] = p
        missing = [name for name in self._inputs if name not in arrays]
        if missing:
            raise InputError(f"input '{missing[0]}' is missing")
        return {name: self._device(name, arrays[name]) for name in self._inputs}

    def _device(self, name: str, value: Any) -> Any:
        cupy = self.cupy
        if not isinstance(value, cupy.ndarray):
            on_device = hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray)
            value = cupy.from_dlpack(value) if on_device else cupy.asarray(value)
        if value.dtype.kind not in "fiu":
            raise InputError(f"input '{name}' has type {value.dtype}; real numbers are expected")
        return value.astype(self.dtype, copy=False)

    def _rows(self, arrays: Mapping[str, Any]) -> tuple[tuple[int, ...], dict[str, Any]]:
        cupy = self.cupy
        leads = {}
        for name, shape in self._inputs.items():
            array = arrays[name]
            at = array.ndim - len(shape)
            if at < 0 or array.shape[at:] != shape:
                raise InputError(f"input '{name}' has shape {array.shape}; expected (..., {shape})")
            leads[name] = array.shape[:at]
        varying = [lead for name, lead in leads.items() if name != "p"]
        if leads.get("p"):
            raise InputError("p is shared by all states on the GPU: give one vector")
        try:
            lead = np.broadcast_shapes(*varying)
        except ValueError:
            raise InputError(f"leading axes do not broadcast together: {leads}") from None
        flat = {
            name: array if name == "p" else cupy.ascontiguousarray(
                cupy.broadcast_to(array, (*lead, *self._inputs[name]))
            )
            for name, array in arrays.items()
        }  # fmt: skip
        return lead, flat

    def _columns(self, arrays: Mapping[str, Any]) -> tuple[tuple[int, ...], dict[str, Any]]:
        counts = {arrays[name].shape[-1] for name in self._inputs if name != "p"}
        for name, shape in self._inputs.items():
            expected = shape if name == "p" else (prod(shape), *counts)
            if len(counts) != 1 or arrays[name].shape != expected:
                raise InputError(
                    f"input '{name}' has shape {arrays[name].shape}; columns are expected as"
                    f" ({prod(shape)}, N), the same N for all"
                )
        return tuple(counts), {name: self.cupy.ascontiguousarray(x) for name, x in arrays.items()}

    def _allocate(self, out: Any, lead: tuple[int, ...], layout: str) -> dict[str, Any]:
        shapes = {
            name: (*lead, *shape) if layout == "rows" else (prod(shape), *lead)
            for name, shape in self._outputs.items()
        }
        if out is None:
            return {name: self.cupy.empty(shape, self.dtype) for name, shape in shapes.items()}
        listed = list(out) if isinstance(out, tuple | list) else [out]
        for array, (name, shape) in zip(listed, shapes.items(), strict=False):
            fits = isinstance(array, self.cupy.ndarray) and array.shape == shape
            if not fits or array.dtype != self.dtype or not array.flags.c_contiguous:
                raise InputError(f"out for '{name}' must be a CuPy {self.dtype} array {shape}")
        if len(listed) != len(shapes):
            raise InputError(f"out holds {len(listed)} arrays; expected {len(shapes)}")
        return dict(zip(shapes, listed, strict=True))

    def _launch(
        self, layout: str, count: int, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> None:
        kernel = self._kernel(layout)
        threads, numbers = _MANY if kernel.num_regs > _FULL else _THREADS, 0
        itemsize = np.dtype(self.dtype).itemsize
        if layout in self._slots:
            threads, numbers = _STAGED, self._slots[layout]
        elif layout == "rows":
            numbers = self._row_numbers()
            threads = _THREADS if _THREADS * numbers * itemsize <= _SHARED_BYTES else 32
        shared = threads * numbers * itemsize
        if shared > _SHARED_BYTES:  # more than every device has by default
            kernel.max_dynamic_shared_size_bytes = shared
        blocks = min(-(-count // threads), 1 << 20)
        arguments = (np.int64(count), *inputs.values(), *outputs.values())
        kernel((blocks,), (threads,), arguments, shared_mem=shared)

    def _row_numbers(self) -> int:
        inputs = (prod(shape) for name, shape in self._inputs.items() if name != "p")
        return row_numbers(inputs, map(prod, self._outputs.values()))

    def _fits(self) -> bool:
        """Do the rows of the fewest states of a block fit its shared memory?"""
        size = 32 * np.dtype(self.dtype).itemsize * self._row_numbers()
        return size <= self._shared_bytes()

    def _shared_bytes(self) -> int:
        """The most shared memory of a block, when it asks for it."""
        known = self.cupy.cuda.Device().attributes
        return int(known.get("MaxSharedMemoryPerBlockOptin", _SHARED_BYTES))

    def _turned(self, count: int, inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        """Rows too long for a block: as columns, and back."""
        cupy = self.cupy
        columns = {
            name: x if name == "p" else cupy.ascontiguousarray(x.reshape(count, -1).T)
            for name, x in inputs.items()
        }
        turned = {
            name: cupy.empty((prod(shape), count), self.dtype)
            for name, shape in self._outputs.items()
        }
        self._launch("columns", count, columns, turned)
        for name, x in results.items():
            x[...] = turned[name].T.reshape(x.shape)


def _cupy() -> Any:
    try:
        import cupy  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise MissingExtraError.of("CuPy", "gpu", "the GPU") from None
    try:
        devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        devices = 0
    if not devices:
        raise InputError("there is no CUDA device on this machine: use compile('native')")
    return cupy
