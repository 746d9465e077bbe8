"""What the file declares around a robot as one program: q, qd(, V0, R0, P0)(, thrust) -> f_e and
power.

f_e is what the models take: the wrenches of the links on their surroundings, of the base first
where it floats; power is what the surroundings give. describe.interactions has the laws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..algebra.scalar import function, sqrt
from ..algebra.vector import Mat, Vec, cross, zero
from ..build.common import Arrays, state
from ..build.derivation import Result
from ..build.derive import build
from ..describe.interactions import Contact, Drag, Interaction, Thruster
from ..describe.robot import Robot
from ..errors import ModelError
from ..exact import exact
from ..mechanism.coordinates import is_floating
from ..models.bodies import Bodies
from ..models.kinematics import velocities
from ..motion.joints import number
from ..program import Program
from .scene import placed_links

Scalar = Any
Pair = tuple[Vec, Vec]
_SOFT = exact("1/1000")  # m: over so much depth the damping of a contact sets in


def thrusters(robot: Robot) -> tuple[Thruster, ...]:
    """Those of a robot, in the order of the input `thrust`."""
    return tuple(item for item in robot.interactions if isinstance(item, Thruster))


@lru_cache(maxsize=32)
def interactions(robot: Robot) -> Program:
    """The program of the interactions that a robot's file declares; thrust: a factor for each
    thruster; R0, P0: rotation and place of a floating base in the world."""
    if robot.ne:
        raise ModelError(
            f"interactions of '{robot.name}' are not available with flexible links; its rigid twin"
            " is cardan.rigid(robot)"
        )
    floats, drives = is_floating(robot), thrusters(robot)
    tree, first = robot.tree(), 0 if floats else 1
    inputs = state(tree, "q", "qd", gravity=False)
    inputs |= {"R0": (3, 3), "P0": (3,)} if floats else {}
    inputs |= {"thrust": (len(drives),)} if drives else {}
    rows = range(first, len(robot.links) + 1)

    def run(scene: Bodies, x: Arrays) -> Result:
        motion = velocities(scene, x["q"], x["qd"])
        R, P = placed_links(scene, x["q"])
        world = Mat(x["R0"]) if floats else Mat([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
        origin = Vec(*x["P0"]) if floats else zero
        factors = dict(zip((item.name for item in drives), x.get("thrust", ()), strict=True))
        total: dict[int, Pair] = {}
        power: Scalar = 0
        for item in robot.interactions:
            j = item.link
            here = _Here((R[j].T @ world.T).T, origin + world @ P[j], motion.V[j], motion.w[j])
            f, n = _ACTS[type(item)](item, here, factors)
            before = total.get(j, (zero, zero))
            total[j] = before[0] + f, before[1] + n
            power = power + f @ here.V + n @ here.w
        wrenches = [total.get(j, (zero, zero)) for j in rows]
        f_e = [-component for pair in wrenches for part in pair for component in part]
        return Result({"f_e": ((len(rows), 6), f_e), "power": ((), [power])})

    return build(tree, "interactions", inputs, [run], ["f_e", "power"])


class _Here:
    """A link: its pose in the world, its twist in its own axes."""

    def __init__(self, R: Mat, P: Vec, V: Vec, w: Vec) -> None:
        self.R, self.P, self.V, self.w = R, P, V, w

    def velocity(self, point: Vec) -> Vec:
        return self.V + cross(self.w, point)

    def local(self, direction: Vec) -> Vec:
        """A direction of the world in the link's axes."""
        return Vec(*(self.R.T @ direction))


def _vector(values: Sequence[Any]) -> Vec:
    return Vec(*map(_scalar, values))


def _scalar(value: Any) -> Scalar:
    return value if isinstance(value, int) else number(value)


def _contact(item: Contact, here: _Here, factors: Mapping[str, Scalar]) -> Pair:
    normal = _vector(item.normal)
    n = here.local(normal)
    k, c, mu, slip = map(_scalar, (item.stiffness, item.damping, item.friction, item.slip))
    force, moment = zero, zero
    for values in item.points:
        p = _vector(values)
        v = here.velocity(p)
        depth = function("max", _scalar(item.height) - normal @ here.P - n @ p, 0)
        rate = -(n @ v)
        press = function("max", k * depth + c * rate * function("min", depth / _SOFT, 1), 0)
        slide = v + rate * n
        drag = mu * press / sqrt(slide @ slide + slip * slip)
        push = press * n - drag * slide
        force, moment = force + push, moment + cross(p, push)
    return force, moment


def _drag(item: Drag, here: _Here, factors: Mapping[str, Scalar]) -> Pair:
    p = _vector(item.at)
    v = here.velocity(p) - here.local(_vector(item.fluid))
    f = _resisted(v, item.linear, item.quadratic)
    return f, cross(p, f) + _resisted(here.w, item.turning, item.turning_quadratic)


def _resisted(v: Vec, linear: Sequence[Any], quadratic: Sequence[Any]) -> Vec:
    """-(linear v + quadratic |v| v), axis by axis."""
    gains = zip(v, map(_scalar, linear), map(_scalar, quadratic), strict=True)
    return Vec(*(-(a * x) - (b * function("abs", x) * x if b else 0) for x, a, b in gains))


def _thruster(item: Thruster, here: _Here, factors: Mapping[str, Scalar]) -> Pair:
    f = (_scalar(item.force) * factors[item.name]) * _vector(item.direction)
    return f, cross(_vector(item.at), f)


_ACTS: dict[type[Interaction], Callable[[Any, _Here, Mapping[str, Scalar]], Pair]] = {
    Contact: _contact, Drag: _drag, Thruster: _thruster,
}  # fmt: skip
