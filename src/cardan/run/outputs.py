"""Several outputs of one call: a named tuple that can also be asked by name, as a dict is."""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from typing import Any


@cache
def outputs_type(names: tuple[str, ...]) -> type[Any]:
    """The type of a result with these outputs: x.E, x["E"], x[0], dict(x), E, U = x."""
    fields = namedtuple("Outputs", names, rename=True)  # type: ignore[misc]

    class Outputs(fields):
        __slots__ = ()

        def __getitem__(self, key: Any) -> Any:
            return super().__getitem__(names.index(key) if isinstance(key, str) else key)

        def __contains__(self, key: object) -> bool:
            return key in names

        def keys(self) -> tuple[str, ...]:
            return names

        def values(self) -> tuple[Any, ...]:
            return tuple(self)

        def items(self) -> tuple[tuple[str, Any], ...]:
            return tuple(zip(names, self, strict=True))

        def __reduce__(self) -> tuple[Any, ...]:
            return _restored, (names, tuple(self))

    return Outputs


def _restored(names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    return outputs_type(names)(*values)
