"""A robot as x' = f(x, tau): one program for rollouts, linearisation and code.

    fixed or moving base     x = [q, qd]; with closed loops qd of the active joints only
    floating base            x = [q, P, e, qd, V0]

P is the position of frame 0 in the world, e the unit quaternion (w, x, y, z) of its orientation,
V0 its twist in its own axes. The quaternion is normalised where it is used, and drawn back to unit
length by its own rate, so any integrator may be applied to x. Coulomb friction is smoothed:
qd / sqrt(qd² + v²) for the sign, at least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra.vector import Mat, Vec, cross, dot
from ..arguments import named_arguments
from ..describe.robot import Robot
from ..describe.world import gravity_in_world
from ..errors import ModelError
from ..exact import exact
from ..ir.graph import Graph
from ..ir.passes import inline
from ..ir.trace import Tracer
from ..mechanism.coordinates import is_floating
from ..motion.coordinates import coordinates
from ..motion.derived import derived
from ..motion.joints import require_numbers
from ..program import Program
from .friction import SMOOTH, smoothed
from .interactions import interactions, thrusters


@dataclass(frozen=True)
class StateSpace:
    """The program x, tau(, f_e) -> xd and the parts of x."""

    program: Program
    n: int
    floating: bool
    nv: int

    @property
    def positions(self) -> int:
        """Leading elements of x that are positions."""
        return self.n + 7 * self.floating

    @property
    def size(self) -> int:
        return self.n + self.nv + 13 * self.floating

    def state(
        self, q: Any, qd: Any, P: Any = (0, 0, 0), e: Any = (1, 0, 0, 0), V0: Any = (0,) * 6
    ) -> np.ndarray:
        """x of its parts; leading axes broadcast."""
        parts = [q, P, e, qd, V0] if self.floating else [q, qd]
        arrays = [np.asarray(part, float) for part in parts]
        lead = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
        return np.concatenate([np.broadcast_to(a, (*lead, a.shape[-1])) for a in arrays], -1)


def joint_rates(
    robot: Robot, graph: Graph, q: Sequence[Any], v: Sequence[Any]
) -> tuple[list[Any], list[list[Any]]]:
    """(rates of all joints, M) with qd = M v: of closed loops the passive joints follow."""
    on = coordinates(robot)
    M: list[list[Any]] = [[0] * on.nv for _ in range(on.nq)]
    for c, k in enumerate(on.place.tolist()):
        M[k][c] = 1
    speeds: list[Any] = [0] * on.nq
    for k, x in zip(on.place.tolist(), v, strict=True):
        speeds[k] = x
    if robot.constrained:
        W = inline(graph, derived(robot, "loop-kinematics").code, {"q": q, "qd": v})["W"]
        for row, k in enumerate(k for k in range(on.nq) if k not in on.place):
            M[k] = W[on.nv * row : on.nv * (row + 1)]
            speeds[k] = dot(M[k], v)
    return speeds, M


@named_arguments
def state_space(
    robot: Robot, *, friction: bool = True, smooth: float = SMOOTH, f_e: bool = False
) -> StateSpace:
    """The state-space program of a tree robot."""
    require_numbers(robot, "the state space")
    source = smoothed(robot, smooth) if friction else robot
    acted = f_e or bool(robot.interactions)
    direct = derived(source, "direct-dynamics", friction=friction, f_e=acted)
    floats = is_floating(robot)
    on = coordinates(robot)
    n = on.nq
    if n != robot.n:
        raise ModelError(f"'{robot.name}' has flexible links: use cardan.rigid first")
    tracer = Tracer()
    space = StateSpace(direct, n, floats, on.nv)
    x = tracer.array("x", space.size)
    inputs: dict[str, list[Any]] = {"q": x[:n], "qd": x[space.positions :][: on.nv]}
    tau = tracer.array("tau", on.nu)
    inputs["tau"] = list(tau)
    speeds = joint_rates(robot, tracer.graph, x[:n], inputs["qd"])[0]
    if f_e:
        shape = direct.inputs["f_e"]
        inputs["f_e"] = [w for row in tracer.array("f_e", *shape) for w in row]
    rates: list[Any] = list(speeds)
    if floats:
        V0 = x[-6:]
        R, rate = _orientation(x[n + 3 : n + 7], V0[3:])
        inputs["V0"] = V0
        inputs["g0"] = list(R.T @ Vec(*map(float, gravity_in_world(robot))))
        rates += [*(R @ Vec(*V0[:3])), *rate]
    if robot.interactions:
        around = {"q": inputs["q"], "qd": speeds, **{k: inputs[k] for k in ("V0",) if floats}}
        if floats:
            around |= {"R0": [e for row in R.rows for e in row], "P0": list(x[n : n + 3])}
        if thrusters(robot):
            around["thrust"] = list(tracer.array("thrust", len(thrusters(robot))))
        wrenches = inline(tracer.graph, interactions(robot).code, around)["f_e"]
        zeros = inputs.get("f_e", [0] * len(wrenches))
        inputs["f_e"] = [a + b for a, b in zip(zeros, wrenches, strict=True)]
    outputs = inline(tracer.graph, direct.code, inputs)
    rates = rates + outputs["qdd"]
    if floats:
        v, w = Vec(*V0[:3]), Vec(*V0[3:])
        acceleration = outputs["V0d"]
        rates += [*(Vec(*acceleration[:3]) - cross(w, v)), *acceleration[3:]]
    code, _ = tracer.program({"xd": ((space.size,), rates)})
    parts = "q, P, quaternion, qd, V0" if floats else "q, qd"
    meaning = {
        **{key: text for key, text in direct.meaning.items() if key in ("tau", "f_e")},
        **({"thrust": "factors of the thrusters"} if thrusters(robot) else {}),
        "x": f"state: {parts}",
        "xd": "its rate",
    }
    program = Program("state-space", robot.name, code, meaning=meaning)
    return StateSpace(program, n, floats, on.nv)


def _orientation(e: Sequence[Any], w: Sequence[Any]) -> tuple[Mat, list[Any]]:
    """(rotation matrix, rate) of a quaternion of any length near 1, under the body's spin w.

    The rate is half the product of e and (0, w), plus a pull towards unit length."""
    e0, e1, e2, e3 = e
    square = e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3
    k = 2 / square
    R = Mat(
        [
            [1 - k * (e2 * e2 + e3 * e3), k * (e1 * e2 - e0 * e3), k * (e1 * e3 + e0 * e2)],
            [k * (e1 * e2 + e0 * e3), 1 - k * (e1 * e1 + e3 * e3), k * (e2 * e3 - e0 * e1)],
            [k * (e1 * e3 - e0 * e2), k * (e2 * e3 + e0 * e1), 1 - k * (e1 * e1 + e2 * e2)],
        ]
    )
    half = exact("1/2")
    pull = 1 - square
    turned = [
        -(e1 * w[0] + e2 * w[1] + e3 * w[2]),
        e0 * w[0] + e2 * w[2] - e3 * w[1],
        e0 * w[1] + e3 * w[0] - e1 * w[2],
        e0 * w[2] + e1 * w[1] - e2 * w[0],
    ]
    return R, [half * r + pull * c for r, c in zip(turned, e, strict=True)]
