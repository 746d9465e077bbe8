"""Checking and completing the arrays a user gives to a program."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

import numpy as np

from ..errors import InputError

Shape = tuple[int, ...]


def prepare(
    shapes: Mapping[str, Shape],
    given: Mapping[str, Any],
    parameters: Sequence[str],
    defaults: Mapping[str, float],
    dtype: str = "float64",
) -> dict[str, np.ndarray]:
    """The inputs as arrays of the program's type, in its order; every misfit is an InputError."""
    given = without_idle(shapes, given)
    unknown = [name for name in given if name not in shapes]
    if unknown:
        takes = f"this program takes {_listed(shapes)}"
        raise InputError(f"there is no input '{unknown[0]}'", remedy=takes)
    if "p" in shapes:
        given = {**given, "p": parameter_vector(given.get("p"), parameters, defaults)}
    missing = [name for name in shapes if name not in given]
    if missing:
        takes = f"this program takes {_listed(shapes)}"
        place = f"input '{missing[0]}'"
        raise InputError(f"{place} is missing", where=place, remedy=takes)
    arrays = {name: _array(name, given[name], shape, dtype) for name, shape in shapes.items()}
    leading_shape(arrays, shapes)
    return arrays


def without_idle(shapes: Mapping[str, Shape], given: Mapping[str, Any]) -> dict[str, Any]:
    """What is given, less the part of a floating base's state (V0, g0) that the model does not
    read: its state may be given whole to every model that takes some of it."""
    base = ("V0", "g0") if "V0" in shapes or "g0" in shapes else ()
    return {name: value for name, value in given.items() if name in shapes or name not in base}


def leading_shape(arrays: Mapping[str, np.ndarray], shapes: Mapping[str, Shape]) -> Shape:
    """The shape of the batch: what the leading axes of all inputs broadcast to."""
    leads = {
        name: arrays[name].shape[: arrays[name].ndim - len(shape)] for name, shape in shapes.items()
    }
    different = set(leads.values())
    if len(different) == 1:
        return different.pop()
    try:
        return np.broadcast_shapes(*different)
    except ValueError:
        found = ", ".join(f"{name} {lead}" for name, lead in leads.items())
        raise InputError(f"leading axes do not broadcast together: {found}") from None


def _array(name: str, value: Any, shape: Shape, dtype: str) -> np.ndarray:
    place = f"input '{name}'"
    if type(value) is np.ndarray and value.dtype == dtype:
        array = value
    else:
        try:
            array = np.asarray(value)
        except ValueError as error:
            why = f"{place} is not a rectangular array: {error}"
            raise InputError(why, where=place) from None
        if np.ma.is_masked(value):
            what = f"{place} has masked values"
            raise InputError(what, where=place, remedy="give every value, or leave the rows out")
        if array.dtype.kind not in "fiu":
            what = f"{place} has type {array.dtype}"
            raise InputError(what, where=place, remedy="real numbers are expected")
        array = array.astype(dtype)
    require_shape(name, array.shape, shape)
    return array


def require_shape(name: str, found: Shape, shape: Shape) -> None:
    """Do the last axes of an input have its shape?"""
    if len(found) < len(shape) or found[len(found) - len(shape) :] != shape:
        place = f"input '{name}'"
        what = f"{place} has shape {tuple(found)}"
        raise InputError(what, where=place, remedy=f"expected (..., {_comma(shape)})")


def parameter_vector(given: Any, parameters: Sequence[str], defaults: Mapping[str, float]) -> Any:
    """p from an array, from a mapping of names, or from the robot's own values."""
    if given is not None and not isinstance(given, Mapping):
        return given
    table = {**defaults, **(given or {})}
    unknown = [name for name in given or {} if name not in parameters]
    if unknown:
        raise InputError(f"there is no parameter '{unknown[0]}'; p holds {', '.join(parameters)}")
    missing = [name for name in parameters if name not in table]
    if missing:
        raise InputError(
            f"{len(missing)} parameters have no value ({', '.join(missing[:8])}"
            f"{', ...' if len(missing) > 8 else ''})",
            where="p",
            remedy="pass p=, an array ordered as Program.parameters or a dict, or fix them first"
            " with robot.with_values({...})",
            action="values",
        )
    columns = [np.asarray(table[name]) for name in parameters]
    return np.stack(np.broadcast_arrays(*columns), axis=-1)


def thread_count(threads: Any) -> int:
    """How many threads: one unless told otherwise, 0 means all cores; integers of any kind."""
    try:
        count = 1 if threads is None else index(threads)
    except TypeError:
        count = -1
    if count < 0:
        raise InputError(f"threads = {threads!r}; expected a whole number, 0 for all cores")
    return count or os.cpu_count() or 1


def _comma(shape: Shape) -> str:
    return ", ".join(map(str, shape))


def _listed(shapes: Mapping[str, Shape]) -> str:
    return ", ".join(f"{name} (..., {_comma(shape)})" for name, shape in shapes.items())
