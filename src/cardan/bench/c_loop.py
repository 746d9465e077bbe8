"""Generated C of any system, built by the machine's compiler with a loop over states around it."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .case import States

_FLAGS = ["-O3", "-march=native", "-fno-math-errno", "-shared", "-fPIC", "-w"]


@dataclass(frozen=True)
class CLoop:
    """A compiled loop over states; called, it returns the results of all of them."""

    function: Any
    names: tuple[str, ...]
    shape: tuple[int, ...]

    def __call__(self, states: States) -> np.ndarray:
        arrays = [np.ascontiguousarray(states[name], float) for name in self.names]
        result = np.empty((len(arrays[0]), *self.shape))
        pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (*arrays, result)]
        self.function(ctypes.c_long(len(arrays[0])), *pointers)
        return result

    def one(self, *state: np.ndarray) -> np.ndarray:
        """One state from Python, through ctypes."""
        states = {name: x[None] for name, x in zip(self.names, state, strict=True)}
        return np.asarray(self(states)[0])


def compiled_loop(
    source: str, call: str, names: tuple[str, ...], shape: tuple[int, ...]
) -> CLoop | None:
    """`call` is the statement that evaluates state i from the arrays to `out`. None: no compiler.

    States are taken one after the other: nothing is shared between the evaluations."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or os.name == "nt":
        return None
    arguments = ", ".join(f"const double *{name}" for name in names)
    loop = f"""
{source}
void cardan_loop(long count, {arguments}, double *out)
{{
    long i;
    for (i = 0; i < count; i++) {{
        {call}
    }}
}}
"""
    with tempfile.TemporaryDirectory() as folder:
        text, library = Path(folder, "loop.c"), Path(folder, "loop.so")
        text.write_text(loop, encoding="utf-8")
        command = [compiler, *_FLAGS, str(text), "-o", str(library), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return None
        loaded = ctypes.CDLL(str(library))
    function = loaded.cardan_loop
    function.restype = None
    return CLoop(function, names, shape)
