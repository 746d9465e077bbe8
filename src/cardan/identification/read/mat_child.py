"""Reads a MAT file in a process of its own: a damaged one may end SciPy's reader, and the process.

    python mat_child.py FILE FOLDER BYTES

The arrays of numbers go to FOLDER/arrays.npz as a0, a1, ...; a line of JSON on stdout says their
names, or what is wrong. BYTES is what the arrays may take in memory. This file is run by its path
and imports nothing of Cardan: the process starts quickly.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

_DEEPEST = 20


def arrays(path: str, limit: int) -> dict[str, np.ndarray]:
    """The arrays of numbers in a file, vectors and matrices; structures as name.field."""
    from scipy.io import loadmat, whosmat

    _bounded(limit)
    size = sum(8 * prod(shape) for _, shape, _ in whosmat(path))
    if size > limit:
        raise MemoryError(size)
    table = loadmat(path, simplify_cells=True)
    flat: dict[str, np.ndarray] = {}
    _flatten("", {k: v for k, v in table.items() if not k.startswith("__")}, flat, 0)
    return flat


def _flatten(
    prefix: str, table: Mapping[str, Any], flat: dict[str, np.ndarray], depth: int
) -> None:
    for name, value in table.items():
        if isinstance(value, Mapping):
            if depth < _DEEPEST:
                _flatten(f"{prefix}{name}.", value, flat, depth + 1)
            continue
        x = np.asarray(value)
        if x.dtype.kind in "fiubc" and 1 <= x.ndim <= 2 and x.size > 1:
            flat[f"{prefix}{name}"] = x if x.dtype.kind == "c" else x.astype(float)


def _bounded(limit: int) -> None:
    """Of memory the process may take no more, where the system can see to it."""
    with contextlib.suppress(ImportError, AttributeError, ValueError, OSError):
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            taken = int(file.read().split()[0]) * resource.getpagesize()
        most = taken + 3 * limit  # as bytes, as the file's type, as floats
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(path: str, folder: str, limit: str) -> None:
    """Read, write, and say how it went."""
    try:
        flat = arrays(path, int(limit))
        numbered: dict[str, Any] = {f"a{k}": x for k, x in enumerate(flat.values())}
        np.savez(f"{folder}/arrays.npz", **numbered)
        answer: dict[str, Any] = {"names": list(flat)}
    except NotImplementedError:
        answer = {"wrong": "version"}
    except MemoryError as error:
        answer = {"wrong": "size", "bytes": error.args[0] if error.args else 0}
    except Exception as error:
        answer = {"wrong": "file", "why": " ".join(str(error).split())[:500]}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
