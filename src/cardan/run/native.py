"""Native execution: LLVM text to machine code in this process, through llvmlite. No C compiler.

A `Machine` describes the host; a `Kernels` object holds the compiled variants of one program:
vectors for batches and a scalar loop for few states, each with the parameters the same for all
states (`uniform`) or one set per state, and arrays that lie in several ways. Variants are compiled
when first needed.
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

from ..cache import cached_object
from ..ir.code import Code
from ..ir.passes import fuse
from .llvm.program import kernel_text
from .llvm.single import single_text
from .single import layout

_SIGNATURE = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64)
_LOCK = threading.Lock()

# width, arrays that are the same for all states, how each array lies
Variant = tuple[int, frozenset[str], tuple[str, ...]]


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
    if sys.platform == "win32":  # LLVM calls it where a function needs more than a page of stack
        probe = getattr(ctypes.CDLL("ntdll"), "__chkstk")
        llvm.add_symbol("__chkstk", ctypes.cast(probe, ctypes.c_void_p).value)
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
        self._compiled: dict[Variant, Any] = {}

    def get(self, *variant: *Variant) -> Any:
        """The function over states, `width` at a time; calling it releases the GIL."""
        function = self._compiled.get(variant)
        if function is None:
            with _LOCK:
                function = self._compiled.get(variant)
                if function is None:
                    function = self._compiled[variant] = self._compile(*variant)
        return function

    def single(self) -> Any | None:
        """The engine with the method `single`, or None where objects lie in unknown ways."""
        known = layout()
        if known is None:
            return None
        with _LOCK:
            if self._single is None:
                outputs = {name: out.shape for name, out in self.code.outputs.items()}
                text = single_text(self.code.inputs, outputs, self.dtype.num, known)
                self._single = self._engine(self._text(1) + text)
        return self._single

    def _compile(self, *variant: *Variant) -> Any:
        engine = self._engine(self._text(*variant))
        function = _SIGNATURE(engine.get_function_address("kernel"))
        # the machine code lives as long as the function
        function.engine = engine  # type: ignore[attr-defined]
        return function

    def _text(
        self, width: int, uniform: frozenset[str] = frozenset(),
        lies: tuple[str, ...] = (), surveyed: bool = False,
    ) -> str:  # fmt: skip
        return kernel_text(
            self.code, name="kernel", width=width, vector=self.width, dtype=self.dtype.name,
            fma=self.machine.fma, uniform=uniform, lies=lies, surveyed=surveyed,
        )  # fmt: skip

    def _engine(self, text: str) -> Any:
        """Machine code of LLVM text, from the cache if it was compiled before."""
        host = self.machine
        key = (text, host.name, host.features, llvmlite.__version__)
        return engine_of(cached_object(key, lambda: object_of(text, host)), host)


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


def object_of(text: str, host: Machine) -> bytes:
    machine_code: bytes = target_of(host).emit_object(llvm.parse_assembly(text))
    return machine_code
