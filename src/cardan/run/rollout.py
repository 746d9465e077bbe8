"""Many simulations side by side: fixed steps inside compiled code, in blocks that stay in cache.

rollout = Rollout(program, "rk4")        program: x, tau, ... -> xd
x = rollout(x0, step=1e-3, steps=100, tau=tau)
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, ProgramError, UnknownNameError
from .function import saved
from .inputs import parameter_vector, thread_count
from .llvm.rollout import Layout, rollout_text
from .native import Kernels
from .steps import METHODS

if TYPE_CHECKING:
    from ..program import Program

_VECTORS = 4  # of a block
_CHUNK = 2048  # states turned into columns at a time
_TYPES = {"float64": ("double", ctypes.c_double), "float32": ("float", ctypes.c_float)}


class Rollout:
    """Fixed-step integration of a program x (s), inputs -> xd (s) for many states at once.

    `positions`: how many leading elements of x are positions (half of them by default). `alone`:
    made for one state at a time, which would leave the lanes of a vector idle."""

    def __init__(
        self, program: Program, method: str = "rk4", *, dtype: str = "float64",
        positions: int | None = None, iterations: int = 8, alone: bool = False,
    ) -> None:  # fmt: skip
        if method not in METHODS:
            raise UnknownNameError.of("fixed-step method", method, METHODS)
        if dtype not in _TYPES:
            raise UnknownNameError.of("dtype", dtype, _TYPES)
        size = program.inputs.get("x")
        if size is None or len(size) != 1 or program.outputs != {"xd": size}:
            raise ProgramError(f"a rollout needs a program x (s), ... -> xd (s), not {program!r}")
        self.program, self.method, self.dtype = program, method, dtype
        self.iterations, self.alone = iterations, alone
        self.size = size[0]
        self.positions = self.size // 2 if positions is None else positions
        self._setup, self._loop = program.split()
        self._prepare = self._setup.compile("native", dtype) if self._setup else None
        self._kernels = Kernels(self._loop.code, dtype)
        self._compiled: dict[Layout, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        settings = (self.method, self.dtype, self.positions, self.iterations, self.alone)
        return restore_rollout, (*saved(self.program), *settings)

    def __call__(
        self, x0: Any, *, step: float, steps: int, every: int = 0, threads: int | None = None,
        stepped: Mapping[str, Any] | None = None, **held: Any,
    ) -> np.ndarray:  # fmt: skip
        """The states after `steps` steps, (..., s); with `every`, also those on the way.

        x0 (..., s). Inputs given by name do not change: (..., size). Those in `stepped` change at
        every step: (steps, size) for all, or (..., steps, size). With every = k the result is
        (..., 1 + steps // k, s): x0 and the state after every k-th step."""
        if not (np.isfinite(step) and steps > 0 and 0 <= every <= steps):
            raise InputError(f"step = {step}, steps = {steps}, every = {every}: cannot be")
        x0 = np.asarray(x0, self.dtype)
        if not x0.shape or x0.shape[-1] != self.size:
            raise InputError(f"x0 has shape {x0.shape}; expected (..., {self.size})")
        lead, rows = x0.shape[:-1], prod(x0.shape[:-1])
        groups = self._groups(lead, steps, held, stepped or {})
        records = steps // every if every else 0
        shape = (rows, 1 + records, self.size) if every else (rows, self.size)
        states = np.empty(shape, self.dtype)
        flat = x0.reshape(rows, self.size)
        if every:
            states[:, 0] = flat

        def work(first: int) -> None:
            last = min(rows, first + _CHUNK)
            self._run(flat, groups, states, slice(first, last), step, steps, every)

        starts = range(0, rows, _CHUNK)
        count = thread_count(threads)
        if count == 1 or len(starts) == 1:
            for first in starts:
                work(first)
        else:
            with ThreadPoolExecutor(count) as pool:
                list(pool.map(work, starts))
        return states.reshape(*lead, *states.shape[1:])

    def _groups(
        self, lead: tuple[int, ...], steps: int, held: Mapping[str, Any], stepped: Mapping[str, Any]
    ) -> dict[str, dict[str, np.ndarray]]:
        """The inputs by the way they reach the kernel, as arrays with flat states."""
        arrays = {**held, **stepped}
        known = {name: shape for name, shape in self._loop.inputs.items() if name != "x"}
        program = self.program
        if "p" in program.inputs:
            p = parameter_vector(arrays.pop("p", None), program.parameters, program.defaults)
            if "h" in known and self._prepare is not None:
                arrays["h"] = self._prepare(p=p)
            if "p" in known:
                arrays["p"] = p
        for name in arrays:
            if name not in known:
                raise UnknownNameError.of("input", name, known)
        groups: dict[str, dict[str, np.ndarray]] = {
            key: {} for key in ("held", "stepped", "shared", "uniform")
        }
        rows = prod(lead)
        for name, shape in known.items():
            if name not in arrays:
                raise InputError(f"input '{name}' {shape} is missing")
            array = np.asarray(arrays[name], self.dtype)
            own = array.shape[: array.ndim - len(shape)]
            if array.shape[len(own) :] != shape:
                raise InputError(f"input '{name}' has shape {array.shape}; expected {shape} last")
            size = prod(shape)
            if name in stepped:
                if own == (steps,):
                    groups["shared"][name] = array.reshape(steps, size)
                else:
                    whole = np.broadcast_to(array, (*lead, steps, *shape))
                    groups["stepped"][name] = whole.reshape(rows, steps, size)
            elif name in ("p", "h") and not own:
                groups["uniform"][name] = np.ascontiguousarray(array)
            else:
                try:
                    whole = np.broadcast_to(array, (*lead, *shape))
                except ValueError:
                    raise InputError(
                        f"input '{name}' has shape {array.shape}; x0 has {lead} states"
                    ) from None
                groups["held"][name] = whole.reshape(rows, size)
        return groups

    def _run(
        self, flat: np.ndarray, groups: dict[str, dict[str, np.ndarray]], kept: np.ndarray,
        part: slice, step: float, steps: int, every: int,
    ) -> None:  # fmt: skip
        """One chunk of states: into columns, through the steps, and back."""
        layout = self._layout({key: tuple(found) for key, found in groups.items()})
        count = part.stop - part.start
        lanes = -(-count // layout.lanes) * layout.lanes

        def columns(arrays: list[np.ndarray], axis: int) -> np.ndarray:
            """(states, ..., size) -> (..., size, lanes); the last state fills up the block."""
            if not arrays:
                return np.zeros(1, self.dtype)
            joined = np.concatenate([x[part] for x in arrays], axis=-1)
            filled = np.empty((*joined.shape[1:], lanes), self.dtype)
            filled[..., :count] = np.moveaxis(joined, 0, -1)
            filled[..., count:] = filled[..., count - 1 : count]
            return filled

        x = columns([flat], 0)
        held = columns(list(groups["held"].values()), 0)
        stepped = columns(list(groups["stepped"].values()), 1)
        listed = list(groups["shared"].values())
        shared = np.ascontiguousarray(np.concatenate(listed, -1)) if listed else np.zeros(1)
        shared = shared.astype(self.dtype, copy=False)
        record = np.empty((steps // every if every else 0, self.size, lanes), self.dtype)
        uniform = [groups["uniform"][name] for name in layout.uniform]
        pointers = (ctypes.c_void_p * max(1, len(uniform)))(*(u.ctypes.data for u in uniform))
        arrays = (x, held, stepped, shared, record)
        self._function(layout)(
            *(a.ctypes.data for a in arrays), lanes, steps, every, step, ctypes.addressof(pointers)
        )
        if every:
            kept[part, 1:] = np.moveaxis(record[..., :count], -1, 0)
        else:
            kept[part] = x[:, :count].T

    def _layout(self, names: Mapping[str, tuple[str, ...]]) -> Layout:
        width, vectors = (1, 1) if self.alone else (self._kernels.width, _VECTORS)
        return Layout(
            names["held"], names["stepped"], names["shared"], names["uniform"], self.positions,
            width, vectors, _TYPES[self.dtype][0],
        )  # fmt: skip

    def _function(self, layout: Layout) -> Any:
        function = self._compiled.get(layout)
        if function is None:
            kernels = self._kernels
            lies = ("columns",) * (len(kernels.code.inputs) + len(kernels.code.outputs))
            text = kernels._text(layout.width, frozenset(layout.uniform), lies)
            text += rollout_text(kernels.code, layout, self.method, self.iterations)
            engine = kernels._engine(text)
            real = _TYPES[self.dtype][1]
            signature = ctypes.CFUNCTYPE(
                None, *[ctypes.c_void_p] * 5, *[ctypes.c_int64] * 3, real, ctypes.c_void_p
            )
            function = signature(engine.get_function_address("rollout"))
            function.engine = engine  # type: ignore[attr-defined]
            self._compiled[layout] = function
        return function


def restore_rollout(
    read: Callable[[str], Program], text: str, method: str, dtype: str, positions: int,
    iterations: int, alone: bool = False,
) -> Rollout:  # fmt: skip
    """Unpickle: compile again."""
    return Rollout(
        read(text), method, dtype=dtype, positions=positions, iterations=iterations, alone=alone
    )
