"""Joints that follow others, q_j = ratio q_k + ... + offset: what may be wrong with them, and how
the names of other formats become numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..errors import ModelError
from .robot import FIXED, Coupling, Joint, Robot
from .values.expression import Value, add, multiply, symbol
from .values.parser import to_value

MOST_LEADERS = 6  # of one joint


def coupled(joints: Sequence[Joint], couplings: Mapping[str, Coupling]) -> list[Joint]:
    """The joints, those named following another one, without a motor of their own."""
    return [
        replace(joint, active=False, mimic=couplings[joint.name])
        if joint.name in couplings
        else joint
        for joint in joints
    ]


def formula(robot: Robot, coupling: Coupling) -> Value:
    """ratio q_k + offset, with the name of q_k; of all joints that lead."""
    total: Value = 0
    for k, ratio in coupling.leaders:
        name = (robot.joints[k - 1].variable if 0 < k <= len(robot.joints) else "") or f"q{k}"
        total = add(total, multiply(to_value(ratio), symbol(name)))
    return add(total, to_value(coupling.offset))


def require_one_leader(robot: Robot, joint: Joint) -> None:
    """Refuse a joint that several lead, for what has a word for one only."""
    if joint.mimic is not None and joint.mimic.others:
        raise ModelError(
            f"joint '{joint.name}' of '{robot.name}' is led by several joints: here one can lead"
        )


def coupling_faults(robot: Robot) -> Iterator[tuple[str, int]]:
    """(what is wrong, frame): a joint that follows has no motor, and leads itself in no way."""
    n, told = len(robot.joints), set[int]()
    for j, joint in enumerate(robot.numbered, 1):
        if joint.mimic is None:
            continue
        leaders = [k for k, _ in joint.mimic.leaders]
        missing = [k for k in leaders if not 0 < k <= n]
        fixed = [k for k in leaders if k not in missing and robot.joints[k - 1].sigma == FIXED]
        if j > n:
            yield "a frame of a loop cannot mimic a joint; remove mimic", j
        elif joint.sigma == FIXED:
            yield "a fixed joint cannot mimic another; remove mimic", j
        elif missing:
            yield f"mimics joint {missing[0]}, which does not exist; allowed: 1 to {n}", j
        elif j in leaders:
            yield "mimics itself; name the joint that leads", j
        elif len(set(leaders)) < len(leaders):
            yield "mimics a joint twice; add up its ratios", j
        elif len(leaders) > MOST_LEADERS:
            yield f"mimics {len(leaders)} joints; {MOST_LEADERS} can lead at most", j
        elif fixed:
            yield (
                f"mimics '{robot.joints[fixed[0] - 1].name}', which is fixed; name one that moves",
                j,
            )
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
    """The joints that lead from j back to it; none where others lead them all."""
    ways, seen = [[j]], {j}
    while ways:
        order = ways.pop()
        led = joints[order[-1] - 1].mimic
        for k, _ in led.leaders if led is not None else ():
            if k == j:
                return order
            if 0 < k <= len(joints) and k not in seen:
                seen.add(k)
                ways.append([*order, k])
    return []
