"""State equations: xd = f(x, tau) of direct dynamics, symbols kept, [B23] 3.2.1.3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..algebra.vector import dot
from ..describe.robot import Robot
from ..errors import ModelError
from ..ir.page import Page
from ..ir.trace import Tracer
from ..mechanism.coordinates import Coordinates
from ..program import Program
from .dynamic import direct_dynamics
from .kept import part
from .loop_kinematic import loop_kinematics


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
    parts = [direct]
    if robot.constrained:
        parts.append(part("loop-kinematics", loop_kinematics, robot, {"symbolic": symbolic}))
    programs = [Page(x.code, x.parameters) for x in parts]
    tracer, outputs, _ = _traced(robot, programs)
    code, _ = tracer.program(outputs)
    page = None
    if direct.page:
        pages = [x.page or program for x, program in zip(parts, programs, strict=True)]
        tracer, outputs, listed = _traced(robot, pages)
        plain = tracer.page(outputs, listed=listed)
        page = replace(plain, parameters=_parameters(pages), elsewhere=direct.page.elsewhere)
    (n,), (m,) = direct.inputs["q"], direct.inputs["qd"]
    meaning = {
        **{key: text for key, text in direct.meaning.items() if key in ("tau", "f_e")},
        "x": "state: positions, then velocities" + (" of the active joints" if m < n else ""),
        "xd": "its rate",
    }
    return replace(
        direct, model="state-space", code=code, parameters=_parameters(programs), meaning=meaning,
        page=page, coordinates={},
    )  # fmt: skip


def _parameters(parts: Sequence[Page]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for part in parts for name in part.parameters))


def _traced(robot: Robot, parts: Sequence[Page]) -> tuple[Tracer, Mapping[str, Any], list[Any]]:
    """(trace, outputs, quantities) of xd from direct dynamics and, of loops, their kinematics."""
    shapes = parts[0].code.inputs
    (n,), (m,) = shapes["q"], shapes["qd"]
    tracer = Tracer()
    x = tracer.array("x", n + m)
    inputs: dict[str, list[Any]] = {"q": x[:n], "qd": x[n:]}
    inputs["tau"] = tracer.array("tau", *shapes["tau"])
    if "f_e" in shapes:
        inputs["f_e"] = [w for row in tracer.array("f_e", *shapes["f_e"]) for w in row]
    names = _parameters(parts)
    own = dict(zip(names, tracer.array("p", len(names)) if names else [], strict=True))
    values: dict[str, list[Any]] = {}
    listed: dict[tuple[str, str], Any] = {}
    for page in parts:
        mine = [own[name] for name in page.parameters]
        outputs, quantities = page.inlined(tracer.graph, {**inputs, "p": mine})
        values |= outputs
        listed = {(x[0], x[1]): x for x in quantities} | listed
    rates = list(x[n:])
    if "W" in values:
        rates = _of_tree(Coordinates.of(robot), values["W"], rates)
    return tracer, {"xd": ((n + m,), rates + values["qdd"])}, list(listed.values())


def _of_tree(link: Coordinates, W: list[Any], v: list[Any]) -> list[Any]:
    """Rates of all joints of the rates v of the independent ones."""
    known = dict(zip(link.active, v, strict=True))
    for row, j in enumerate(link.passive):
        known[j] = dot(W[len(v) * row : len(v) * (row + 1)], v)
    return [known[j] for j in link.moving]
