"""Equality constraints of MJCF between joints -> couplings.

<equality><joint joint1="" joint2="" polycoef="a0 a1 a2 a3 a4"/> holds, with x and y the positions
of joint2 and joint1 less their `ref`,

    y = a0 + a1 x + a2 x² + a3 x³ + a4 x⁴

Linear ones become couplings. MJCF does not say who leads: of joints that are tied together, in a
row or a star, it is one with an actuator, else one that nothing else leads; the others follow."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..frames import decimal_value
from ..robot import FIXED, Coupling, Joint
from ..xml.source import shown
from .loops import active
from .model import Mjcf

__all__ = ["couplings_of"]

Line = tuple[float, float]  # ratio, offset
Ties = dict[str, dict[str, Line]]  # [j][k]: q_j = ratio q_k + offset


def couplings_of(
    mjcf: Mjcf, joints: Sequence[Joint], refs: Mapping[str, float], driven: Collection[Any]
) -> dict[str, Coupling]:
    """What every joint follows that another one leads, by name."""
    numbers = {joint.name: j for j, joint in enumerate(joints, 1) if joint.sigma != FIXED}
    ties, natural = _ties(mjcf, joints, numbers, refs)
    found: dict[str, Coupling] = {}
    reached: set[str] = set()
    for root in (*(j for j in ties if j in driven), *natural, *ties):
        queue = [] if root in reached else [root]
        reached.add(root)
        while queue:
            k = queue.pop(0)
            for j in (j for j in ties[k] if j not in reached):
                ratio, offset = (decimal_value(x, 1e-15) for x in ties[j][k])
                found[j] = Coupling(numbers[k], ratio, offset)
                reached.add(j)
                queue.append(j)
    for j in found.keys() & set(driven):
        words = f"the actuator of joint '{shown(j)}' is left out: the joint follows another"
        mjcf.fault(words, mjcf.root, "warning")
    return found


def _ties(
    mjcf: Mjcf, joints: Sequence[Joint], numbers: Mapping[str, int], refs: Mapping[str, float]
) -> tuple[Ties, list[str]]:
    """Both ways of every linear constraint, and the joints that are a joint1 of none."""
    names = {joint.name for joint in joints}
    ties: Ties = {}
    led: set[str] = set()
    for element in active(mjcf, "joint"):
        y, x = element.get("joint1", ""), element.get("joint2", "")
        if not x or y not in names:  # held, or a fault already
            continue
        a = [*(mjcf.numbers(element, "polycoef", (0, 1, 0, 0, 0)) or []), 0, 0, 0, 0, 0][:5]
        what = f"<equality><joint> of '{shown(y)}' and '{shown(x)}'"
        if x not in names or x == y:
            mjcf.fault(f"{what}: joint2 must be another joint of this file", element)
        elif any(a[2:]):
            words = "<equality><joint> of higher order than linear is left out: they move freely"
            mjcf.remark(words, f"{y} and {x}", element)
        elif a[1] == 0:
            continue  # held
        elif x not in numbers or y not in numbers:
            mjcf.fault(f"{what} is left out: one of them is held", element, "warning")
        elif _tied(ties, x, y):
            mjcf.fault(f"{what} is left out: they are tied already", element, "warning")
        else:
            offset = refs.get(y, 0.0) + a[0] - a[1] * refs.get(x, 0.0)
            ties.setdefault(y, {})[x] = a[1], offset
            ties.setdefault(x, {})[y] = 1 / a[1], -offset / a[1]
            led.add(y)
    return ties, [j for j in ties if j not in led]


def _tied(ties: Ties, x: str, y: str) -> bool:
    """Does a row of constraints lead from x to y?"""
    reached, queue = {x}, [x]
    while queue:
        for j in ties.get(queue.pop(), {}):
            if j not in reached:
                reached.add(j)
                queue.append(j)
    return y in reached
