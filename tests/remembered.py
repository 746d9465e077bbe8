"""What tests share in one run: models derived, and machine code compiled, once.

A program is frozen, so tests that ask for the same model of the same robot with the same options
may have the same one. The same: every number of the same type (1 and 1.0 are printed differently).
Programs and machine code are kept in a folder of this run, for all its processes: programs by what
was asked for, machine code by the text it was compiled from."""

from __future__ import annotations

import atexit
import hashlib
import os
import pickle
import shutil
import tempfile
import time
import warnings
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np

from cardan.catalogue import Entry
from cardan.describe.robot import Robot
from cardan.files import replacing
from cardan.program import Program

__all__ = ["derive_once", "keep_machine_code"]

_MOST = 256  # programs
_LONG = 0.05  # seconds: what was derived more quickly is not worth a file


def derive_once() -> None:
    """Let `cardan.model` remember its programs for the rest of this run."""
    build, folder = Entry.build, Path(os.environ["CARDAN_CACHE"])
    known: dict[Any, Program] = {}  # the one asked for last is the last

    @wraps(build)
    def remembered(self: Entry, robot: Robot, **options: Any) -> Any:
        key = self.name, spelled(self.builder), spelled(robot), spelled(options)
        found = known.pop(key, None)
        file = _file(folder, key) if found is None and isinstance(self.builder, str) else None
        if file is not None and file.exists():
            found = pickle.loads(file.read_bytes())  # noqa: S301  of a process of this run
        if found is None:
            start = time.process_time()
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                found = build(self, robot, **options)
            for each in said:  # what warns is derived every time
                warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
            if said:
                return found
            if file is not None and isinstance(found, Program):
                _keep(found, file, time.process_time() - start)
        if isinstance(found, Program):
            known[key] = found
            if len(known) > _MOST:
                del known[next(iter(known))]
        return found

    Entry.build = remembered  # type: ignore[method-assign]


def _file(folder: Path, key: Any) -> Path | None:
    """Where the processes of this run find the program; nowhere if its key holds an address."""
    text = repr(key)
    name = hashlib.sha256(text.encode()).hexdigest()
    return None if " at 0x" in text else folder / f"{name}.program"


def _keep(program: Program, file: Path, spent: float) -> None:
    if spent > _LONG:
        with replacing(file) as temporary:
            Path(temporary).write_bytes(pickle.dumps(program))


def spelled(item: Any) -> Any:
    """Something hashable that says of an item all that a model can depend on."""
    if is_dataclass(item):
        return type(item), *(spelled(getattr(item, f.name)) for f in fields(item))
    if isinstance(item, Mapping):
        return tuple((key, spelled(value)) for key, value in sorted(item.items()))
    if isinstance(item, list | tuple):
        return type(item), *map(spelled, item)
    if isinstance(item, float):
        return type(item), item.hex()
    if isinstance(item, np.ndarray):
        return item.shape, item.dtype, item.tobytes()
    if hasattr(item, "op"):  # a formula
        return item.op, *map(spelled, item.args)
    return type(item), item


def keep_machine_code() -> None:
    """A cache of this run for all its processes: nothing is taken from the user's, nor kept."""
    if "PYTEST_XDIST_WORKER" not in os.environ:  # else the first process made it
        folder = tempfile.mkdtemp(prefix="cardan-tests-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["CARDAN_CACHE"] = folder
