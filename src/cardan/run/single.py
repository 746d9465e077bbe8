"""One state from Python at the cost of a C extension, without a C compiler.

The machine code holds a method of CPython's C API beside the kernel (run/llvm/single.py). What it
needs to know of this process (addresses of objects and functions) is in a table that the method
gets as its self. `layout` checks on living objects that they lie in memory as the code expects;
where they do not (another interpreter, a free-threaded build) there is no such method, and nothing
else changes.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import sysconfig
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from .llvm.single import TABLE, Layout

_ARRAY_NEW = 93  # place of PyArray_New in NumPy's table of functions, fixed by its binary interface
_VARARGS_KEYWORDS = 0x1 | 0x2


@cache
def layout() -> Layout | None:
    """Where objects keep their fields; None where that is not as expected."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return None
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return None
    offsets = Layout(object.__basicsize__, tuple.__basicsize__, bytes.__basicsize__ - 1)
    try:
        fits = _fits(offsets) and bool(_array_new())
    except (AttributeError, ImportError, ValueError, TypeError):
        return None
    return offsets if fits else None


def _fits(offsets: Layout) -> bool:
    """Do tuples, bytes and arrays of several kinds lie so?"""
    items, text = (object(), 3.5), b"some bytes"
    good = _pointer(id(items) + offsets.tuple_items) == id(items[0])
    good &= ctypes.c_int64.from_address(id(items) + offsets.head).value == len(items)
    good &= ctypes.string_at(id(text) + offsets.bytes_text, len(text)) == text
    locked = np.arange(24.0).reshape(2, 3, 4)[:, ::2]
    locked.flags.writeable = False
    at = offsets.array
    for array in (np.zeros(3), np.ones((2, 5), np.float32), locked, np.array(1.0)):
        where = id(array)
        sizes, steps = (
            [ctypes.c_int64.from_address(_pointer(where + at[name]) + 8 * k).value
             for k in range(array.ndim)]
            for name in ("dimensions", "strides")
        )  # fmt: skip
        good &= _pointer(where + offsets.head - 8) == id(np.ndarray)
        good &= _pointer(where + at["data"]) == array.ctypes.data
        good &= ctypes.c_int.from_address(where + at["nd"]).value == array.ndim
        good &= tuple(sizes) == array.shape and tuple(steps) == array.strides
        good &= _pointer(where + at["descr"]) == id(array.dtype)
        good &= ctypes.c_int.from_address(where + at["flags"]).value == array.flags.num
    return good


def _pointer(address: int) -> int:
    return ctypes.c_void_p.from_address(address).value or 0


@cache
def _array_new() -> int:
    """The address of NumPy's PyArray_New."""
    try:
        from numpy._core import multiarray
    except ImportError:  # NumPy before 2
        from numpy.core import multiarray  # type: ignore[no-redef]
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.argtypes, get.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    table = get(multiarray._ARRAY_API, None)
    return _pointer(table + ctypes.sizeof(ctypes.c_void_p) * _ARRAY_NEW)


def method(
    engine: Any, names: tuple[str, ...], dtype: np.dtype[Any], result: type[Any],
    general: Callable[..., Any], defaults: Mapping[str, np.ndarray],
) -> Any:  # fmt: skip
    """The machine code's `single` as an object that Python calls, with all it needs kept alive."""
    interned = [sys.intern(name) for name in (*names, "out")]
    held = {
        "ndarray": np.ndarray, "dtype": dtype, "general": general, "result": result, "None": None,
        "out": interned[-1], "tuple": tuple,
    }  # fmt: skip
    addresses = []
    for name in TABLE:
        if name in held:
            addresses.append(id(held[name]))
        elif name == "PyArray_New":
            addresses.append(_array_new())
        else:
            function = getattr(ctypes.pythonapi, name)
            addresses.append(ctypes.cast(function, ctypes.c_void_p).value or 0)
    addresses += [id(name) for name in interned[:-1]]
    addresses += [id(defaults[name]) if name in defaults else 0 for name in names]
    table = struct.pack(f"={len(addresses)}Q", *addresses)
    # PyMethodDef as bytes: the garbage collector empties the structures of ctypes, and would free
    # this one before the method that reads it
    offset, title = bytes.__basicsize__ - 1, b"__call__"
    definition = struct.pack(
        "=QQi4xQ", id(title) + offset, engine.get_function_address("single"), _VARARGS_KEYWORDS, 0
    )
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    new.restype = ctypes.py_object
    owner = (table, title, definition, engine, held, interned, dict(defaults))
    return new(id(definition) + offset, owner, None)
