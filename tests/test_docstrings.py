"""Every public object says what it is, and its docstring has an example that runs."""

from __future__ import annotations

import doctest
import inspect
import warnings
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import cardan
from cardan import control

METHODS = FunctionType | property | cached_property | classmethod | staticmethod


def public() -> Iterator[tuple[str, Any]]:
    """(name, object) of all that `cardan` exports, and of the public methods of its classes."""
    for name in cardan.__all__:
        if name == "__version__":
            continue
        item = getattr(cardan, name)
        yield name, item
        if inspect.isclass(item):
            for key, method in vars(item).items():
                if isinstance(method, METHODS) and (key == "__call__" or not key.startswith("_")):
                    yield f"{name}.{key}", method
    for name in control.__all__:
        yield f"control.{name}", getattr(control, name)


OBJECTS = dict(public())


def examples(name: str) -> doctest.DocTest:
    item = OBJECTS[name]
    text = inspect.getdoc(item.__func__ if isinstance(item, classmethod) else item) or ""
    names = {"cardan": cardan, "np": np}
    return doctest.DocTestParser().get_doctest(text, names, f"cardan.{name}", None, 0)


def test_every_public_object_has_an_example() -> None:
    """And shows what comes out of it."""
    assert len(OBJECTS) > 100
    silent = [name for name in OBJECTS if not any(x.want for x in examples(name).examples)]
    assert silent == []


@pytest.mark.parametrize("name", OBJECTS)
def test_the_example_gives_what_it_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error", cardan.CardanWarning)
        failed, _ = doctest.DocTestRunner(verbose=False).run(examples(name), out=written.append)
    assert not failed, "".join(written)
