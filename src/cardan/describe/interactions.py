"""What surrounds a robot, as its file declares it: ground under points of links, a fluid that drags
at them, thrusters. Simulations have it in their equations ([K10] 7: walking, swimming, flying)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from .values.expression import Value, number
from .values.parser import to_value

_ORIGIN: tuple[Value, ...] = (0, 0, 0)
_SLOW = to_value("1/100")  # m/s


@dataclass(frozen=True)
class Contact:
    """Points of a link that a plane pushes back: k d + c d' where the depth d > 0, never a pull;
    friction is mu times that, smoothed below the sliding speed `slip`.

    The plane is normal·P = height in the world, which is frame 0 of a base that does not float."""

    name: str
    link: int
    points: tuple[tuple[Value, ...], ...] = (_ORIGIN,)  # in the link's frame
    stiffness: Value = 0
    damping: Value = 0
    friction: Value = 0
    slip: Value = _SLOW
    normal: tuple[Value, ...] = (0, 0, 1)
    height: Value = 0


@dataclass(frozen=True)
class Drag:
    """A fluid against a link, axis by axis of its frame: -(linear v + quadratic |v| v) of the point
    `at`, relative to the fluid, whose velocity is given in the world; and so of its turning."""

    name: str
    link: int
    at: tuple[Value, ...] = _ORIGIN
    linear: tuple[Value, ...] = _ORIGIN
    quadratic: tuple[Value, ...] = _ORIGIN
    turning: tuple[Value, ...] = _ORIGIN
    turning_quadratic: tuple[Value, ...] = _ORIGIN
    fluid: tuple[Value, ...] = _ORIGIN


@dataclass(frozen=True)
class Thruster:
    """A force along a direction of a link's frame, at a point of it; simulations scale it."""

    name: str
    link: int
    force: Value = 0
    at: tuple[Value, ...] = _ORIGIN
    direction: tuple[Value, ...] = (1, 0, 0)


Interaction = Contact | Drag | Thruster
KINDS: dict[str, type[Interaction]] = {"contact": Contact, "drag": Drag, "thruster": Thruster}
_NOT_NEGATIVE = ("stiffness", "damping", "friction", "linear", "quadratic", "turning",
                 "turning_quadratic")  # fmt: skip


def parameters(item: Interaction) -> Iterator[tuple[str, Value]]:
    """The values of an interaction, with the names of their fields."""
    for field in fields(item)[2:]:
        yield from ((field.name, x) for x in _flat(getattr(item, field.name)))


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for part in value:
            yield from _flat(part)
    else:
        yield value


def interaction_faults(items: Sequence[Interaction], links: int) -> Iterator[str]:
    """What is wrong with these, in words."""
    names = [item.name for item in items]
    yield from (
        f"the name {name!r:.40} of an interaction is used twice; give each its own"
        for k, name in enumerate(names) if name in names[:k]
    )  # fmt: skip
    for item in items:
        what = f"{type(item).__name__.lower()} {item.name[:40]!r}"
        if not 0 <= item.link <= links:
            yield f"{what} is on link {item.link}, which does not exist: 0 to {links} do"
        for key, x in parameters(item):
            value = number(x)
            if value is not None and value < 0 and key in _NOT_NEGATIVE:
                yield f"{what}: {key} = {x}; 0 or more is expected"
        for key in ("normal", "direction"):
            axis = [number(x) for x in getattr(item, key, (1,))]
            if None not in axis and abs(sum(x * x for x in axis if x is not None) - 1) > 1e-9:
                yield f"{what}: {key} has another length than 1"
        if isinstance(item, Contact):
            slip = number(item.slip)
            if slip is not None and slip <= 0:
                yield f"{what}: slip = {item.slip}; a positive speed is expected"
