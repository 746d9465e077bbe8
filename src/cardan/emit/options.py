"""What `emit` can be asked for, checked once for all languages."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from ..errors import InputError, UnknownNameError

WHOLE = 2000  # statements that stay in one function unless `chunk` says otherwise
CHUNK = 500  # statements of a helper function beyond that


@dataclass(frozen=True)
class Options:
    """Options of `emit`; a language that cannot honour one says so."""

    function: str = ""  # name of the function; default <robot>_<model>
    dtype: str = "float64"  # or float32
    arguments: str = "array"  # or struct: one structure of inputs, one of outputs
    expanded: bool | None = None  # without intermediate variables; default as the model says
    # two functions: setup (parameters -> h) and the work of every state; default: these, and a
    # third that calls both
    split: bool | None = None
    chunk: int | None = None  # statements per function; 0: never cut
    # of the equations that people read: plain, textbook or cheapest; default: what reads best
    form: str | None = None


_CHOICES: dict[str, tuple[Any, ...]] = {
    "dtype": ("float64", "float32"),
    "arguments": ("array", "struct"),
    "expanded": (None, True, False),
    "split": (None, True, False),
    "form": (None, "plain", "textbook", "cheapest"),
}


def checked(language: str, honoured: frozenset[str], given: dict[str, Any]) -> Options:
    """The options, or an error that says what is allowed. A default may always be given."""
    known = {f.name: f.default for f in fields(Options)}
    for key, value in given.items():
        if key not in known:
            raise UnknownNameError.of("option of emit", key, known)
        if key not in honoured and value != known[key]:
            allowed = [name for name in known if name in honoured]
            raise UnknownNameError.of(f"option of emit for '{language}'", key, allowed)
        choices = _CHOICES.get(key)
        if choices is not None and not any(value is c or value == c for c in choices):
            names = [str(c) for c in choices if c is not None]
            raise UnknownNameError.of(key, value, names)
    function, chunk = given.get("function", ""), given.get("chunk")
    if not isinstance(function, str):
        raise InputError(f"function={function!r} is not a name: give it as text")
    if chunk is not None and (type(chunk) is not int or chunk < 0):
        raise InputError(
            f"chunk={chunk!r} is not a number of statements: give an int, 0 for one function"
        )
    return Options(**given)
