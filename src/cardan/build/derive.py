"""Deriving: run a model's algorithm on expressions and keep the program.

Where formulations compete, each is traced and the cheapest kept: a trace costs milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..describe.expression import Expression, symbol
from ..describe.robot import DRIVE, GEOMETRY, INERTIA, Joint, Robot
from ..errors import ModelError
from ..exact import Exact
from ..ir.cost import Cost, cost
from ..ir.trace import Tracer
from ..models.bodies import Bodies, bodies
from ..program import Program

__all__ = ["Result", "derive", "parametrised"]

_TRIG = 20  # a sine or cosine against an addition, when formulations are compared


@dataclass(frozen=True)
class Result:
    """What an algorithm gives back: outputs (name -> shape, scalars) and the record that names
    them."""

    outputs: Mapping[str, tuple[tuple[int, ...], Sequence[Any]]]
    record: Any = None


def derive(
    robot: Robot,
    model: str,
    inputs: Mapping[str, tuple[int, ...]],
    forms: Iterable[Callable[..., Result]],
    *,
    meaning: Mapping[str, str],
    symbolic: bool = False,
    expanded: bool = False,
) -> Program:
    """The cheapest program among `forms`, functions (bodies, {input: array}) -> Result."""
    defaults: dict[str, float] = {}
    if symbolic:
        robot, defaults = parametrised(robot)
    best: tuple[int, Any, tuple[str, ...]] | None = None
    for form in forms:
        tracer = Tracer()
        scene: Bodies = bodies(robot, tracer.parameter)
        x = {name: tracer.array(name, *shape) for name, shape in inputs.items()}
        if "V0" in x:  # a moving base: its motion and gravity are inputs, its acceleration is found
            scene = scene.moving_base(x["V0"], x["g0"])
        try:
            result = form(scene, x)
        except ZeroDivisionError:
            raise ModelError(
                f"'{model}' of '{robot.name}' divides by zero: some link has no inertia along its"
                " joint; give the links beyond it mass or inertia, or the joint a rotor inertia IA"
            ) from None
        code, parameters = tracer.program(result.outputs, result.record, robot.parameters)
        price = _price(cost(code)[0])
        if best is None or price < best[0]:
            best = (price, code, parameters)
    assert best is not None
    _, code, parameters = best
    known = {name: defaults[name] for name in parameters if name in defaults}
    return Program(model, robot.name, code, parameters, known, dict(meaning), expanded)


def _price(loop: Cost) -> int:
    return loop.total + _TRIG * loop.trig


def parametrised(robot: Robot) -> tuple[Robot, dict[str, float]]:
    """The robot with its numbers turned into symbols (XX3, d2, ...), and their values.

    Every inertial and drive parameter becomes one; lengths when they are not zero, angles when
    they are not multiples of a right angle, gravity when not zero: the structure of the robot
    stays in the code."""
    taken = set(robot.parameters) | set(robot.variables)
    values: dict[str, float] = {}

    def named(key: str, value: Any) -> Any:
        if isinstance(value, Expression):
            return value
        name = key
        while name in taken:
            name += "_"
        taken.add(name)
        values[name] = float(value)
        return symbol(name)

    def frame(j: int, joint: Joint) -> Joint:
        changed = {
            key: named(f"{key}{j}", getattr(joint, key))
            for key in GEOMETRY
            if not _structural(key, getattr(joint, key))
        }
        drive = {key: named(f"{key}{j}", getattr(joint, key)) for key in DRIVE}
        return replace(joint, **changed, **drive)

    joints = tuple(frame(j, joint) for j, joint in enumerate(robot.joints, 1))
    links = tuple(
        replace(link, **{key: named(f"{key}{j}", getattr(link, key)) for key in INERTIA})
        for j, link in enumerate(robot.links, 1)
    )
    gravity = tuple(
        g if isinstance(g, int) and g == 0 else named(f"G{k}", g)
        for k, g in enumerate(robot.gravity, 1)
    )
    return replace(robot, joints=joints, links=links, gravity=gravity), values


def _structural(key: str, value: Any) -> bool:
    """Zeros and right angles belong to the structure, not to its parameters."""
    if isinstance(value, Expression):
        return False
    if key in ("gamma", "alpha", "theta"):
        quarters = isinstance(value, Exact) and not value.a and (2 * value.b).denominator == 1
        return bool(value == 0) or quarters
    return bool(value == 0)
