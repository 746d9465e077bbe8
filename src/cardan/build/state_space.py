"""State equations: xd = f(x, tau) of direct dynamics, symbols kept, [B23] 3.2.1.3."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..describe.robot import Robot
from ..errors import ModelError
from ..ir.passes import inline
from ..ir.trace import Tracer
from ..mechanism.coordinates import Coordinates
from ..program import Program
from .dynamic import direct_dynamics
from .kept import part
from .loop_kinematic import loop_kinematics

__all__ = ["state_space"]


def state_space(
    robot: Robot, *, friction: bool = True, f_e: bool = False, symbolic: bool = False,
    effort: str = "normal",
) -> Program:  # fmt: skip
    """x = [q, qd] -> xd; with closed loops qd of the active joints, the rates of the others are
    W qd_a. Friction is that of the model: simulations smooth its dry part."""
    if robot.base.kind != "fixed":
        why = "follows a motion of its own" if robot.base.kind == "mobile" else "floats"
        raise ModelError(
            f"'state-space' of '{robot.name}': its base {why}",
            remedy="simulation.statespace has that of a floating base of numbers",
        )
    options = {"friction": friction, "f_e": f_e, "symbolic": symbolic, "effort": effort}
    direct = part("direct-dynamics", direct_dynamics, robot, options)
    link = Coordinates.of(robot)
    (n,), (m,) = direct.inputs["q"], direct.inputs["qd"]
    tracer = Tracer()
    x = tracer.array("x", n + m)
    inputs: dict[str, list[Any]] = {"q": x[:n], "qd": x[n:]}
    inputs["tau"] = tracer.array("tau", *direct.inputs["tau"])
    if f_e:
        inputs["f_e"] = [w for row in tracer.array("f_e", *direct.inputs["f_e"]) for w in row]
    names, rates = list(direct.parameters), list(x[n:])
    if robot.constrained:
        loops = part("loop-kinematics", loop_kinematics, robot, {"symbolic": symbolic})
        names += [name for name in loops.parameters if name not in names]
    p = tracer.array("p", len(names)) if names else []
    own = dict(zip(names, p, strict=True))
    if robot.constrained:
        mine = [own[name] for name in loops.parameters]
        W = inline(tracer.graph, loops.code, {**inputs, "p": mine})["W"]
        rates = _of_tree(link, W, x[n:])
    mine = [own[name] for name in direct.parameters]
    rates += inline(tracer.graph, direct.code, {**inputs, "p": mine})["qdd"]
    code, _ = tracer.program({"xd": ((n + m,), rates)})
    meaning = {
        **{key: text for key, text in direct.meaning.items() if key in ("tau", "f_e")},
        "x": "state: positions, then velocities" + (" of the active joints" if m < n else ""),
        "xd": "its rate",
    }
    return replace(
        direct, model="state-space", code=code, parameters=tuple(names), meaning=meaning,
        page=None, coordinates={},
    )  # fmt: skip


def _of_tree(link: Coordinates, W: list[Any], v: list[Any]) -> list[Any]:
    """Rates of all joints of the rates v of the independent ones."""
    known = dict(zip(link.active, v, strict=True))
    for row, j in enumerate(link.passive):
        total: Any = 0
        for weight, rate in zip(W[len(v) * row :], v, strict=False):
            total = total + weight * rate
        known[j] = total
    return [known[j] for j in link.moving]
