"""Records of kernels: a named layout of numbers, flat in memory.

    @record(base=12, joints=OPEN)
    class Arm:
        count: int
        size: float
        base: Array
        joints: list[Joint]

A record is a run of float64 at offsets known when the kernel is read: numbers, integers and
booleans take one each, a Vector three, an Array, Integers, Booleans or list of records as many as
the decorator says. OPEN leaves the length of the last field to the table. So a record in a kernel
is an array and an offset (lower.py), the tables of the host are NumPy, and every language prints
it.

A record that inherits another has its fields first, and is taken where the other is expected; it
may say the length of a field that is open there.

In Python a record is a view of a list of floats: the kernel runs as it stands. For NumPy,
`layout_of(Arm).dtype` names the fields of the numbers.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ..errors import ProgramError

T = TypeVar("T")
OPEN = 0
Integers = list[int]
Booleans = list[bool]
Part = list[float]  # of a larger array
SCALARS = {"float": float, "int": int, "bool": bool}
ARRAYS = {"Array": "float", "Integers": "int", "Booleans": "bool"}


@dataclass(frozen=True)
class Field:
    """A field: where it begins, what one element is, how many there are (None: not indexed)."""

    name: str
    offset: int
    kind: str  # float, int, bool, vector, or record
    count: int | None = None
    record: Any = None  # the class of a record, or of the records of a list

    @property
    def stride(self) -> int:
        if self.record is not None:
            return layout_of(self.record).size
        return 3 if self.kind == "vector" else 1


@dataclass(frozen=True)
class Layout:
    """The fields of a record."""

    name: str
    fields: dict[str, Field]
    size: int  # without the last field where its length is open

    @property
    def open(self) -> bool:
        """Is the length of its last field that of the table?"""
        return any(
            field.count == OPEN or (field.record is not None and layout_of(field.record).open)
            for field in self.fields.values()
        )

    def fits(self, other: Layout) -> bool:
        """Can it stand where the other is expected?"""
        return all(
            (mine := self.fields.get(name)) is not None
            and replace(mine, count=its.count) == its
            and its.count in (mine.count, OPEN)
            for name, its in other.fields.items()
        )

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The fields for NumPy, all of them float64; an open one is left out."""
        parts: list[Any] = []
        for field in self.fields.values():
            if field.count == OPEN:
                continue
            kind = layout_of(field.record).dtype if field.record else np.dtype(float)
            shape = (3,) if field.kind == "vector" else ()
            parts.append((field.name, kind, shape if field.count is None else (field.count,)))
        return np.dtype(parts)


OWN = ("numbers", "at", "layout")  # names of a record itself


def record(**counts: int) -> Callable[[type[T]], type[T]]:
    """The decorator of a record; counts: the lengths of its arrays and lists."""

    def decorate(cls: type[T]) -> type[T]:
        layout = _layout(cls, counts)
        for field in layout.fields.values():
            setattr(cls, field.name, _property(field))
        cls.__init__ = _begin  # type: ignore[method-assign]
        cls.layout = layout  # type: ignore[attr-defined]
        return cls

    return decorate


def layout_of(cls: Any) -> Layout:
    """The layout of a record."""
    layout = getattr(cls, "layout", None)
    if not isinstance(layout, Layout):
        raise ProgramError(f"{getattr(cls, '__name__', cls)!r} is not a record")
    return layout


def view(cls: type[T], numbers: Any, at: int = 0) -> T:
    """A record over a list or an array of floats."""
    return cls(numbers, at)  # type: ignore[call-arg]


def _layout(cls: type, counts: dict[str, int]) -> Layout:
    names = vars(sys.modules[cls.__module__])
    base = getattr(cls, "layout", None)  # of a record that it inherits
    fields: dict[str, Field] = dict(base.fields) if base else {}
    offset = base.size if base else 0
    for name, field in fields.items():
        if field.count == OPEN and name in counts:
            fields[name] = replace(field, count=counts[name])
            offset += field.stride * counts[name]
    for name, annotation in vars(cls).get("__annotations__", {}).items():
        if Layout(cls.__name__, fields, offset).open:
            raise ProgramError(f"record '{cls.__name__}': only the last field can be open")
        if name in OWN:
            raise ProgramError(f"record '{cls.__name__}': its own numbers are called '{name}'")
        field = _field(cls, name, str(annotation), offset, counts.get(name), names)
        fields[name] = field
        offset += field.stride * (1 if field.count is None else field.count)
    if unknown := set(counts) - set(fields):
        raise ProgramError(f"record '{cls.__name__}': no field is called {min(unknown)!r}")
    return Layout(cls.__name__, fields, offset)


def _field(
    cls: type, name: str, text: str, offset: int, count: int | None, names: dict[str, Any]
) -> Field:
    several = text in ARRAYS or text.startswith("list[")
    if several != (count is not None):
        wanted = "needs" if several else "has no"
        raise ProgramError(f"record '{cls.__name__}': {name} {wanted} length in the decorator")
    if text in SCALARS:
        return Field(name, offset, text)
    if text in ARRAYS:
        return Field(name, offset, ARRAYS[text], count)
    if text == "Vector":
        return Field(name, offset, "vector")
    matched = re.fullmatch(r"list\[(\w+)\]|(\w+)", text)
    other = names.get(matched[1] or matched[2]) if matched else None
    if other is None or not isinstance(getattr(other, "layout", None), Layout):
        raise ProgramError(
            f"record '{cls.__name__}': {name} is {text!r}; expected float, int, bool, Vector,"
            " Array, Integers, Booleans, a record or a list of records"
        )
    return Field(name, offset, "record", count, other)


# plain Python


def _begin(self: Any, numbers: Any = None, at: int = 0) -> None:
    self.numbers = [0.0] * self.layout.size if numbers is None else numbers
    self.at = at


def _property(field: Field) -> property:
    def get(self: Any) -> Any:
        return _read(self.numbers, self.at + field.offset, field)

    def put(self: Any, value: Any) -> None:
        _write(self.numbers, self.at + field.offset, field, value)

    return property(get, put)


class _View:
    """An array or a list of records inside a record."""

    def __init__(self, numbers: Any, at: int, field: Field) -> None:
        self.numbers, self.at, self.field = numbers, at, field

    def __getitem__(self, k: int) -> Any:
        return _element(self.numbers, self.at + self.field.stride * k, self.field)

    def __setitem__(self, k: int, value: Any) -> None:
        _write(self.numbers, self.at + self.field.stride * k, self.field, value)


def _read(numbers: Any, at: int, field: Field) -> Any:
    return _element(numbers, at, field) if field.count is None else _View(numbers, at, field)


def _element(numbers: Any, at: int, field: Field) -> Any:
    if field.record is not None:
        return field.record(numbers, at)
    if field.kind == "vector":
        return Vector(numbers, at)
    if field.kind == "bool":
        return numbers[at] != 0.0
    return SCALARS[field.kind](numbers[at])


def _write(numbers: Any, at: int, field: Field, value: Any) -> None:
    if field.record is not None:
        numbers[at : at + field.stride] = value.numbers[value.at : value.at + field.stride]
    elif field.kind == "vector":
        numbers[at : at + 3] = [value[k] for k in range(3)]
    else:
        numbers[at] = float(value)


class Vector:
    """Three numbers, of an array or of their own."""

    def __init__(self, numbers: Any, at: int = 0) -> None:
        self.numbers, self.at = numbers, at

    def __getitem__(self, k: int) -> float:
        value: float = self.numbers[self.at + k]
        return value

    def __setitem__(self, k: int, value: float) -> None:
        self.numbers[self.at + k] = value

    def __add__(self, other: Vector) -> Vector:
        return Vector([self[k] + other[k] for k in range(3)])

    def __sub__(self, other: Vector) -> Vector:
        return Vector([self[k] - other[k] for k in range(3)])

    def __neg__(self) -> Vector:
        return Vector([-self[k] for k in range(3)])

    def __mul__(self, factor: float) -> Vector:
        return Vector([self[k] * factor for k in range(3)])

    def __rmul__(self, factor: float) -> Vector:
        return Vector([factor * self[k] for k in range(3)])

    def __truediv__(self, divisor: float) -> Vector:
        return Vector([self[k] / divisor for k in range(3)])


def cross(a: Vector, b: Vector) -> Vector:
    """a x b."""
    return Vector([
        a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0],
    ])  # fmt: skip


def dot(a: Vector, b: Vector) -> float:
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
