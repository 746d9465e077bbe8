"""What tests share in one run: models derived, and machine code compiled, once.

A program is frozen, so tests that ask for the same model of the same robot with the same options
may have the same one. The same: every number of the same type (1 and 1.0 are printed differently).
Machine code is kept in a folder of this run, by the text it was compiled from."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any

import numpy as np

from cardan.catalogue import Entry
from cardan.describe.robot import Robot
from cardan.program import Program

__all__ = ["derive_once", "keep_machine_code"]

_MOST = 256  # programs


def derive_once() -> None:
    """Let `cardan.model` remember its programs for the rest of this process."""
    build = Entry.build
    known: dict[Any, Program] = {}  # the one asked for last is the last

    @wraps(build)
    def remembered(self: Entry, robot: Robot, **options: Any) -> Any:
        key = self.name, spelled(self.builder), spelled(robot), spelled(options)
        if (found := known.pop(key, None)) is None:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                found = build(self, robot, **options)
            for each in said:  # what warns is derived every time
                warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
            if said:
                return found
        if isinstance(found, Program):
            known[key] = found
            if len(known) > _MOST:
                del known[next(iter(known))]
        return found

    Entry.build = remembered  # type: ignore[method-assign]


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
