"""Generated source as a Python function: C through gcc and ctypes, Python through an import."""

from __future__ import annotations

import ctypes
import importlib.util
import itertools
import re
import shutil
import subprocess
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from cardan.program import Program

__all__ = ["GCC", "c_function", "python_function"]

_NUMBER = itertools.count()  # a library of the same path would not be loaded again
GCC = shutil.which("gcc")
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fPIC", "-shared"]


def c_function(program: Program, folder: Path, **options: Any) -> Callable[..., dict[str, Any]]:
    """The program printed as C, compiled with every warning an error; takes one state."""
    dtype = options.get("dtype", "float64")
    text = program.emit("c", function="generated", **options)
    name = f"generated{next(_NUMBER)}"
    source, library = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text, encoding="utf-8")
    command = [GCC, *FLAGS, str(source), "-o", str(library), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    function = ctypes.CDLL(str(library)).generated
    function.restype = None

    def call(**inputs: Any) -> dict[str, Any]:
        given = [
            np.ascontiguousarray(inputs[name], dtype).reshape(prod(shape))
            for name, shape in program.inputs.items()
        ]
        found = {name: np.empty(prod(shape), dtype) for name, shape in program.outputs.items()}
        function(*(ctypes.c_void_p(x.ctypes.data) for x in [*given, *found.values()]))
        return {name: found[name].reshape(shape) for name, shape in program.outputs.items()}

    return call


def python_function(
    program: Program, folder: Path, **options: Any
) -> Callable[..., dict[str, Any]]:
    """The program printed as Python, imported from a file."""
    text = program.emit("python", function="generated", **options)
    path = folder / f"generated{next(_NUMBER)}.py"
    path.write_text(text, encoding="utf-8")
    name = re.search(r"^def (\w+)\(", text, re.MULTILINE)
    assert name is not None
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, name[1])

    def call(**inputs: Any) -> dict[str, Any]:
        found = function(*(inputs[key] for key in program.inputs))
        return dict(
            zip(program.outputs, found if len(program.outputs) > 1 else [found], strict=True)
        )

    return call
