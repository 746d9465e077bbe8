"""Joints that follow others, q_j = ratio q_k + offset: what may be wrong with them, and how the
names of other formats become numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from .robot import FIXED, Coupling, Joint, Robot
from .values.expression import Value, add, multiply, symbol
from .values.parser import to_value

__all__ = ["coupled", "coupling_faults", "formula"]


def coupled(joints: Sequence[Joint], couplings: Mapping[str, Coupling]) -> list[Joint]:
    """The joints, those named following another one, without a motor of their own."""
    return [
        replace(joint, active=False, mimic=couplings[joint.name])
        if joint.name in couplings
        else joint
        for joint in joints
    ]


def formula(robot: Robot, coupling: Coupling) -> Value:
    """ratio q_k + offset, with the name of q_k."""
    k = coupling.joint
    name = (robot.joints[k - 1].variable if 0 < k <= len(robot.joints) else "") or f"q{k}"
    ratio, offset = (to_value(x) for x in (coupling.ratio, coupling.offset))
    return add(multiply(ratio, symbol(name)), offset)


def coupling_faults(robot: Robot) -> Iterator[tuple[str, int]]:
    """(what is wrong, frame): a joint that follows has no motor, and leads itself in no way."""
    n, told = len(robot.joints), set[int]()
    for j, joint in enumerate(robot.numbered, 1):
        if joint.mimic is None:
            continue
        k = joint.mimic.joint
        if j > n:
            yield "a frame of a loop cannot mimic a joint; remove mimic", j
        elif joint.sigma == FIXED:
            yield "a fixed joint cannot mimic another; remove mimic", j
        elif not 0 < k <= n:
            yield f"mimics joint {k}, which does not exist; allowed: 1 to {n}", j
        elif k == j:
            yield "mimics itself; name the joint that leads", j
        elif robot.joints[k - 1].sigma == FIXED:
            yield f"mimics '{robot.joints[k - 1].name}', which is fixed; name one that moves", j
        elif joint.active:
            words = "mimics another joint and is active: a joint that follows has no motor; say"
            yield f"{words} active = false, or let the other one mimic this", j
        elif j not in told:
            circle = _circle(robot.joints, j)
            told.update(circle)
            if circle:
                names = " mimics ".join(f"'{robot.joints[i - 1].name}'" for i in (*circle, j))
                yield f"{names}: a circle; let one of them move by itself", j


def _circle(joints: Sequence[Joint], j: int) -> list[int]:
    """The joints that lead from j back to it; none where another one leads them all."""
    order = [j]
    while (led := joints[order[-1] - 1].mimic) is not None and 0 < led.joint <= len(joints):
        if led.joint in order:
            return order if led.joint == j else []
        order.append(led.joint)
    return []
