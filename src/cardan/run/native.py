"""Native execution: LLVM text to machine code in this process, through llvmlite. No C compiler.

A `Machine` describes the host; a `Kernels` object holds the compiled variants of one program:
vectors for batches and a scalar loop for few states, each with the parameters the same for all
states (`uniform`) or one set per state. Variants are compiled when first needed.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
import threading
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from ..emit.llvm import kernel_text
from ..emit.llvm_single import single_text
from ..ir.code import Code
from ..ir.passes import fuse
from .cache import cached_object

__all__ = ["Kernels", "Machine", "engine_of", "machine", "target_of"]

_SIGNATURE = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64)
_LOCK = threading.Lock()


@dataclass(frozen=True)
class Machine:
    """The host processor: bytes of a vector register; does it multiply and add in one step?"""

    name: str
    features: str
    vector_bytes: int
    fma: bool


@cache
def machine() -> Machine:
    """This machine, with the C library's functions made known to LLVM under our names."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    library = _c_library()
    for name in ("sin", "cos", "atan2", "sinf", "cosf", "atan2f"):
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        llvm.add_symbol(f"cardan_{name}", address)
    features = llvm.get_host_cpu_features()
    triple = llvm.get_default_triple()
    arm = triple.startswith(("aarch64", "arm64"))
    has = {name for name, on in features.items() if on}
    size = 64 if "avx512f" in has else 32 if "avx" in has else 16
    return Machine(llvm.get_host_cpu_name(), features.flatten(), size, arm or "fma" in has)


def _c_library() -> ctypes.CDLL:
    if sys.platform == "win32":
        return ctypes.CDLL("ucrtbase")
    return ctypes.CDLL(ctypes.util.find_library("m") or None)


class Kernels:
    """The machine code of one program."""

    def __init__(self, code: Code, dtype: str) -> None:
        self.machine = machine()
        self.code = fuse(code) if self.machine.fma else code
        self.dtype = np.dtype(dtype)
        self.width = self.machine.vector_bytes // self.dtype.itemsize
        self._single: Any = None
        self._compiled: dict[tuple[int, frozenset[str]], Any] = {}

    def get(self, width: int, uniform: frozenset[str]) -> Any:
        """The function over rows, `width` states at a time; calling it releases the GIL."""
        found = self._compiled.get((width, uniform))
        if found is None:
            with _LOCK:
                found = self._compiled.get((width, uniform))
                if found is None:
                    found = self._compile(width, uniform)
                    self._compiled[width, uniform] = found
        return found

    def single(self) -> Any | None:
        """A function of array objects for one state, or None where their layout is not known."""
        offset = data_offset()
        if offset is None:
            return None
        with _LOCK:
            if self._single is None:
                count = len(self.code.inputs) + len(self.code.outputs)
                text = self._text(1, frozenset())
                text += single_text(count, len(self.code.inputs), offset)
                engine = self._engine(text)
                address = engine.get_function_address("single")
                self._single = ctypes.PYFUNCTYPE(None, *[ctypes.py_object] * count)(address)
                self._single.engine = engine
        return self._single

    def _compile(self, width: int, uniform: frozenset[str]) -> Any:
        engine = self._engine(self._text(width, uniform))
        function = _SIGNATURE(engine.get_function_address("kernel"))
        # the machine code lives as long as the function
        function.engine = engine  # type: ignore[attr-defined]
        return function

    def _text(self, width: int, uniform: frozenset[str]) -> str:
        return kernel_text(
            self.code, name="kernel", width=width, dtype=self.dtype.name, fma=self.machine.fma,
            uniform=uniform,
        )  # fmt: skip

    def _engine(self, text: str) -> Any:
        """Machine code of LLVM text, from the cache if it was compiled before."""
        host = self.machine
        key = (text, host.name, host.features, llvmlite.__version__)
        return engine_of(cached_object(key, lambda: _object(text, host)), host)


def engine_of(content: bytes, host: Machine) -> Any:
    """Machine code loaded into this process."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_of(host))
    engine.add_object_file(llvm.ObjectFileRef.from_data(content))
    engine.finalize_object()
    return engine


def target_of(host: Machine) -> Any:
    """LLVM's description of this machine."""
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=host.name, features=host.features, opt=2, jit=True
    )


def _object(text: str, host: Machine) -> bytes:
    found: bytes = target_of(host).emit_object(llvm.parse_assembly(text))
    return found


@cache
def data_offset() -> int | None:
    """Where a NumPy array object keeps the pointer to its data; None if it is not where CPython's
    object header says (another interpreter, a free-threaded build): then nothing relies on it."""
    offset = object.__basicsize__
    for array in (np.zeros(3), np.ones((2, 5), np.float32)):
        found = ctypes.c_void_p.from_address(id(array) + offset).value
        if sys.implementation.name != "cpython" or found != array.ctypes.data:
            return None
    return offset
