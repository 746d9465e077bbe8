"""A robot with its numbers turned into symbols: what `symbolic=True` derives from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..exact import Exact
from .flexible import Beam
from .robot import DRIVE, FRICTION, FURTHER, GEOMETRY, INERTIA, Joint, Robot
from .values.expression import Expression, symbol


def parametrised(
    robot: Robot, names: Mapping[tuple[str, int], str] | None = None
) -> tuple[Robot, dict[str, float]]:
    """The robot with its numbers turned into symbols (XX3, d2, ...), and their values.

    Every inertial and drive parameter becomes one; lengths when they are not zero, angles when
    they are not multiples of a right angle, gravity when not zero: the structure of the robot
    stays in the code. names: of inertial and drive parameters (key, j) that are called otherwise;
    where it is empty the number stays."""
    taken = set(robot.parameters) | set(robot.variables)
    driven = range(1, len(robot.joints) + 1)
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

    def inertial(key: str, j: int, value: Any) -> Any:
        name = (names or {}).get((key, j), f"{key}{j}")
        return named(name, value) if name else value

    def frame(j: int, joint: Joint) -> Joint:
        changed = {
            key: named(f"{key}{j}", getattr(joint, key))
            for key in GEOMETRY
            if not _structural(key, getattr(joint, key))
        }
        drive = {key: inertial(key, j, getattr(joint, key)) for key in DRIVE if j in driven}
        drive |= {
            key: named(f"{key}{j}", getattr(joint, key))
            for key in FURTHER
            if not _structural(key, getattr(joint, key))
        }
        led = joint.mimic
        if led is not None and not _structural("ratio", led.ratio):
            led = replace(led, ratio=named(f"ratio{j}", led.ratio))
        if led is not None and led.others:
            others = (
                (k, x if _structural("ratio", x) else named(f"ratio{j}_{k}", x))
                for k, x in led.others
            )
            led = replace(led, others=tuple(others))
        return replace(joint, **changed, **drive, mimic=led)

    joints = tuple(frame(j, joint) for j, joint in enumerate(robot.joints, 1))
    n, B = len(robot.joints), len(robot.loops)
    loops = tuple(
        replace(loop, cut=frame(n + k, loop.cut), twin=frame(n + B + k, loop.twin))
        for k, loop in enumerate(robot.loops, 1)
    )
    links = tuple(
        replace(
            link,
            **{key: inertial(key, j, getattr(link, key)) for key in INERTIA},
            flexible=_beam_symbols(robot, joints, j, named),
        )
        for j, link in enumerate(robot.links, 1)
    )
    wheels = tuple(replace(x, radius=named(f"radius{x.link}", x.radius)) for x in robot.wheels)
    drives = tuple(
        replace(
            x, IA=inertial("IA", j, x.IA), FV=inertial("FV", j, x.FV), FS=inertial("FS", j, x.FS),
            joints=tuple(
                (i, ratio if _structural("ratio", ratio) else named(f"ratio{j}_{i}", ratio))
                for i, ratio in x.joints
            ),
            **{
                key: named(f"{key}{j}", getattr(x, key))
                for key in FRICTION[2:]
                if not _structural(key, getattr(x, key))
            },
        )
        for j, x in robot.driving.items()
    )  # fmt: skip
    gravity = tuple(
        g if isinstance(g, int) and g == 0 else named(f"G{k}", g)
        for k, g in enumerate(robot.gravity, 1)
    )
    changed = replace(
        robot,
        joints=joints,
        links=links,
        loops=loops,
        wheels=wheels,
        gravity=gravity,
        drives=drives,
    )
    return changed, values


def _structural(key: str, value: Any) -> bool:
    """Zeros and right angles belong to the structure, not to its parameters."""
    if isinstance(value, Expression):
        return False
    if key in ("gamma", "alpha", "theta"):
        return is_quarter(value)
    return bool(value == 0)


def is_quarter(angle: Any) -> bool:
    """Is the angle a multiple of a right one?"""
    if isinstance(angle, Exact):
        return not angle.a and (2 * angle.b).denominator == 1
    return not isinstance(angle, Expression) and bool(angle == 0)


def _beam_symbols(robot: Robot, joints: Sequence[Joint], j: int, named: Any) -> Any:
    """The flexible body of link j with its numbers as symbols (young2, ...); a beam that ends where
    a successor begins shares that one's length."""
    item = robot.links[j - 1].flexible
    if not isinstance(item, Beam):
        return item
    changed = {
        key: named(f"{key}{j}", getattr(item, key))
        for key in ("young", "density", "area", "Iy", "Iz", "torsion", "shear")
        if getattr(item, key) != 0
    }
    ends = [
        now.d for old, now in zip(robot.joints, joints, strict=True)
        if old.antecedent == j and old.d == item.length and item.along == "x" and item.start == 0
    ]  # fmt: skip
    length = ends[0] if ends else named(f"length{j}", item.length)
    return replace(item, length=length, **changed)
