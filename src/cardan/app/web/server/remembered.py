"""What a page finds again of itself in the file of its project, and the shape that each part has.

A file may come from another version, another program or a damaged disk: a part of another shape
must not reach the page, which would fail on it at every load.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ....describe.values.parser import to_value
from ....errors import CardanError


def fitting(page: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The parts that the page can take, and the names of the others. Parts that this version does
    not know are kept: nothing reads them."""
    wrong = [
        name
        for name, value in page.items()
        if not (_shown(value) if name.startswith("show-") else _SHAPES.get(name, _any)(value))
    ]
    return {name: value for name, value in page.items() if name not in wrong}, sorted(wrong)


def _any(value: Any) -> bool:
    return True


def _shown(value: Any) -> bool:
    return isinstance(value, bool)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _number(value: Any) -> bool:
    real = isinstance(value, int | float) and not isinstance(value, bool)
    return real and abs(value) < 1e300 and math.isfinite(value)


def _scalar(value: Any) -> bool:
    return value is None or isinstance(value, bool | str) or _number(value)


def _list(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(fits, value))


def _table(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(fits, value.values()))


def _value(value: Any) -> bool:
    """A number or a formula that a symbol of the robot stands for."""
    if not (_text(value) or _number(value)):
        return False
    try:
        to_value(value)
    except CardanError:
        return False
    return True


def _surfaces(value: Any) -> bool:
    """Nothing, or the robot they are of and (link's name, digest, colour) of each."""
    if value in ({}, None):
        return True
    each = _list(lambda item: _list(_text)(item) and len(item) == 3)
    return isinstance(value, dict) and _text(value.get("of")) and each(value.get("list"))


_SHAPES: dict[str, Callable[[Any], bool]] = {
    "q": _list(_number),
    "degrees": _shown,
    "openings": _list(_text),
    "values_of": _table(_table(_value)),
    "seconds": lambda value: _number(value) and 1 <= value <= 3600,
    "split": lambda value: _number(value) and 5 <= value <= 97,
    "toured": _shown,
    "dark": lambda value: value is None or _shown(value),
    "tab": _text,
    "table": _text,
    "panels": _list(_text),
    "at_work": _table(_text),
    "model": _text,
    "language": _text,
    "options": _table(_scalar),
    "values": _table(_value),
    "surfaces": _surfaces,
}
