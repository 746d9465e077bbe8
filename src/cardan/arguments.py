"""Arguments of public functions: one of the wrong kind ends in an error that names it.

Nothing is checked where a call succeeds, so whatever behaves like an array, a path or a robot is
one. Where something else than an error of ours comes out of a call, its arguments are compared with
the annotations of the function: the first that does not fit is at fault. If all fit, the fault is
ours and passes as it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import Parameter, signature, unwrap
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin
from typing import get_type_hints as hints_of

import numpy as np

from .errors import CardanError, InputError

Numbers = Annotated[Any, "numbers"]  # what NumPy reads as an array of real numbers
F = TypeVar("F", bound=Callable[..., Any])

_CALL = "()"  # ends the place of an error that is made here
_REMEDIES = {
    "Robot": "cardan.load gives one",
    "Program": "cardan.model gives one",
    "Trajectory": "cardan.trajectory gives one",
}
_WORDS: dict[Any, str] = {
    float: "a number", int: "a whole number", bool: "true or false", str: "a name",
    NoneType: "None", Numbers: "an array of real numbers", np.ndarray: "an array of real numbers",
    os.PathLike: "a path", Path: "a path", Mapping: "a mapping", Callable: "a function",
}  # fmt: skip


def named_arguments(function: F) -> F:
    """The function, whose failure on an argument of the wrong kind is an InputError."""

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except Exception as error:
            cause: BaseException | None = error
            if isinstance(error, CardanError):
                if not error.where.endswith(_CALL):
                    raise
                cause = error.__cause__  # of a function inside: name the one that the user called
            fault = _mismatch(function, args, options)
            if fault is None:
                raise
            raise fault from cause

    return cast("F", call)


def _mismatch(
    function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> InputError | None:
    """The error that names the first argument that does not fit its annotation."""
    declared = signature(function)
    try:
        bound = declared.bind(*args, **options).arguments
    except TypeError:  # too many, too few or unknown ones: said well by Python itself
        return None
    for name, value in bound.items():
        parameter = declared.parameters[name]
        if parameter.annotation is Parameter.empty:
            continue
        hint = _hint(function, parameter)
        values = {name: value}
        if parameter.kind is Parameter.VAR_KEYWORD:
            values = value
        elif parameter.kind is Parameter.VAR_POSITIONAL:
            values = {f"{name}[{k}]": x for k, x in enumerate(value)}
        for key, x in values.items():
            if x is not parameter.default and not fits(x, hint):
                what = f"{key} is {_kind(x)}; expected {_word(hint)}"
                remedy = next((_REMEDIES[x] for x in _classes(hint) if x in _REMEDIES), "")
                return InputError(what, where=function.__name__ + _CALL, remedy=remedy)
    return None


def _hint(function: Callable[..., Any], parameter: Parameter) -> Any:
    """The type of a parameter; a name that is imported for type checkers only stays a name."""
    source = SimpleNamespace(__annotations__={"x": parameter.annotation})
    names: dict[str, Any] = unwrap(function).__globals__
    while True:
        try:
            return hints_of(source, names, include_extras=True)["x"]
        except NameError as error:
            name = str(error.name)
            names = {**names, name: type(name, (_Named,), {})}


class _Named:
    """A class that is known by its name alone."""

    def __class_getitem__(cls, item: Any) -> type[_Named]:
        return cls


def fits(value: Any, hint: Any) -> bool:
    """Is the value of this type, in the wide sense in which functions take it?"""
    if hint == Numbers or hint is np.ndarray:
        return _numeric(value)
    if hint is None or hint is NoneType:
        return value is None
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, x) for x in args)
    if origin is Literal:
        return isinstance(value, str | int | None) and value in args
    if origin is Annotated:
        return fits(value, args[0])
    kind = origin or hint
    if not isinstance(kind, type):
        return True
    if issubclass(kind, _Named):
        return any(x.__name__ == kind.__name__ for x in type(value).__mro__)
    if kind is bool:
        return isinstance(value, bool | np.bool_)
    if kind in (float, int):
        number = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
        return isinstance(number, Real if kind is float else Integral)
    if issubclass(kind, Mapping):
        return isinstance(value, Mapping) and all(fits(x, args[0]) for x in value if args)
    if issubclass(kind, Iterable) and kind is not str and args:
        several = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
        return several and (kind is tuple or all(fits(x, args[0]) for x in value))
    return kind in (object, Any) or isinstance(value, kind)


def _numeric(value: Any) -> bool:
    if value is None:
        return False
    try:
        np.asarray(value, float)
    except (TypeError, ValueError):
        return False
    return True


def _kind(value: Any) -> str:
    """What a value is, in a few words."""
    if value is None:
        return "None"
    name = type(value).__name__
    if isinstance(value, str | int | float):
        return f"{value!r:.40} ({name})"
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _classes(hint: Any) -> list[str]:
    if get_origin(hint) in (Union, UnionType):
        return [name for x in get_args(hint) for name in _classes(x)]
    return [getattr(hint, "__name__", "")]


def _word(hint: Any) -> str:
    """What a type allows, in words."""
    if hint == Numbers:
        return _WORDS[hint]
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return ", or ".join(dict.fromkeys(map(_word, args)))
    if origin is Literal:
        return " or ".join(map(repr, args))
    if origin in _WORDS:
        return _WORDS[origin]
    if origin is not None and args:
        return f"a {origin.__name__.lower()} of values, each {_word(args[0])}"
    return _WORDS.get(hint) or f"a {getattr(hint, '__name__', hint)}"


def floats(value: Any) -> np.ndarray:
    """What NumPy reads as real numbers, as floats; a TypeError where it would drop something (an
    imaginary part, the mask of an array) or read text."""
    found = np.asarray(value)
    if found.dtype.kind not in "fiubO" or np.ma.is_masked(value):
        raise TypeError("no real numbers")
    return np.asarray(found, float)
