"""A ROS 2 package: the models as C++ headers, a plugin of `inverse_dynamics_solver`, and an example
of an effort controller for ros2_control.

The interface asks for the inertia matrix, the Coriolis, gravity and friction vectors and the
torques of a motion without friction; the plugin computes them from four models and the friction
coefficients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape

import numpy as np

from ..catalogue import model as derive
from ..describe.robot import FRICTION, WRENCH, Joint, Robot
from ..describe.values.expression import number
from ..emit.header import one_line
from ..errors import ModelError
from ..loops.standing import standing
from ..mechanism.coordinates import Coordinates, has_springs
from ..models.friction import COEFFICIENTS
from .cpp import headers
from .cpp import test_program as test_of_functions
from .folder import Files, template
from .loops import CLOSING, loops_of
from .plan import Plan, Wanted, name_of
from .reference import TOLERANCE, Values
from .text import braced, numbers, readme

_NEAR = 1e-9  # rad or m: configurations nearer than this are one
_NEEDED = ("inverse-dynamics", "inertia-matrix", "bias", "gravity")


def models(robot: Robot, wanted: list[Wanted]) -> list[Wanted]:
    """What was asked for and what the plugin is made of."""
    _refuse(robot)
    names = [name_of(item) for item in wanted]
    others = [item for item in wanted if not robot.constrained or name_of(item) != name_of(CLOSING)]
    needed = [model for model in _NEEDED if model not in names]
    return [*others, *needed, *([CLOSING] if robot.constrained else [])]


def _refuse(robot: Robot) -> None:
    why = action = ""
    if robot.parameters:
        names = ", ".join(robot.parameters[:8])
        why, action = f"it has symbols without a value ({names} ...)", "values"
    elif robot.base.kind != "fixed":
        why = f"its base is {robot.base.kind}, and the interface knows a fixed base only"
    elif robot.ne:
        why = "its links bend, which the interface does not know"
    elif robot.wheels:
        why = "its wheels roll, and the interface takes q as a function of the motors"
    elif robot.constrained and _rubs(robot):
        why = (
            "joints that follow others by closed loops have friction; the interface's friction is"
            " of the velocities alone: set theirs to 0"
        )
    elif has_springs(robot):
        why = "it has elastic joints, which the interface does not know"
    elif any(number(getattr(link, key)) for link in robot.links for key in WRENCH):
        why = "its links carry external wrenches, which the interface does not know: remove them"
    if why:
        raise ModelError(f"no ROS 2 plugin of '{robot.name}': {why}", action=action)


def _rubs(robot: Robot) -> bool:
    """Has a passive joint friction?"""
    passive = [robot.joints[j - 1] for j in Coordinates.of(robot).passive]
    every = [*passive, *(loop.cut for loop in robot.loops)]
    return any(number(getattr(joint, key)) for joint in every for key in COEFFICIENTS)


def _further(joints: Sequence[Joint]) -> str:
    """The whole law of the joints that have more than FV and FS, in C++."""
    lines = []
    for i, joint in enumerate(joints):
        f = {key: repr(number(getattr(joint, key)) or 0.0) for key in FRICTION}
        if not any(float(f[key]) for key in FRICTION[2:]):
            continue
        smooth = f"qd / std::sqrt(qd * qd + {f['VS']} * {f['VS']})" if float(f["VS"]) else "sign"
        s, bell = f"({smooth})", f"(1.0 + (qd / {f['VB']}) * (qd / {f['VB']}))"
        terms = {
            "FV": "qd", "FS": s, "FQ": "qd * std::abs(qd)", "FVA": "std::abs(qd)",
            "FSA": f"std::abs{s}", "FB": f"{s} / {bell}", "FO": "1.0",
        }  # fmt: skip
        law = [f"{f[key]} * {text}" for key, text in terms.items() if float(f[key])] or ["0.0"]
        lines += [f"        if (i == {i})", f"            return {' + '.join(law)};"]
    return "".join(f"\n{line}" for line in lines)


def files(plan: Plan) -> tuple[Files, tuple[str, ...]]:
    """The files of the package."""
    for model in _NEEDED:
        function = plan.function(model)
        if function.program.parameters or "f_e" in function.program.inputs:
            raise ModelError(
                f"no ROS 2 plugin of '{plan.robot.name}': its models have no parameters and no "
                "wrenches as inputs; leave the options symbolic and f_e out"
            )
    joints = _driven(plan)
    names = {"name": plan.name, "title": escape(plan.title), "n": len(joints)}
    friction = {
        key.lower(): numbers(number(getattr(joint, key)) or 0.0 for joint in joints)
        for key in ("FV", "FS")
    }
    friction["further"] = _further(joints)
    how = {
        "nq": plan.robot.n,
        "include": f"\n#include <{plan.name}/closing.hpp>" if plan.robot.constrained else "",
        "positions": ("Loops::closed({})" if plan.robot.constrained else "{}").format(
            'array("joint_positions", q)'
        ),
    }
    solver, controller = (f"include/{plan.name}/{x}.hpp" for x in ("solver", "controller"))
    called = ", ".join(f'"{_plain(joint.name)}"' for joint in joints)
    law = {
        "joints": called, "q": "Loops::closed(q)" if plan.robot.constrained else "q",
        "include": how["include"], "guard": plan.name.upper(),
    }  # fmt: skip
    gains = {key: numbers([x] * len(joints)) for key, x in (("kp", 100.0), ("kd", 20.0))}
    return {
        "README.md": _readme(plan),
        "package.xml": template("ros2/package.xml", **names),
        "plugin.xml": template("ros2/plugin.xml", **names),
        "CMakeLists.txt": template("ros2/CMakeLists.txt", **names),
        **headers(plan),
        solver: template("ros2/solver.hpp", guard=plan.name.upper(), **names, **friction, **how),
        **_closing(plan),
        "src/solver.cpp": template("ros2/solver.cpp", **names),
        controller: template("ros2/controller.hpp", **names, **law),
        "src/controller.cpp": template("ros2/controller.cpp", **names),
        "controller.xml": template("ros2/controller.xml", **names),
        "config/controllers.yaml": template(
            "ros2/controllers.yaml", name=plan.name, joints=called, **gains
        ),
        f"test/test_{plan.name}.cpp": test_of_functions(plan),
        "test/test_solver.cpp": _test(plan),
    }, ("package.xml: fill in the maintainer and the license",)


def _plain(name: str) -> str:
    """The name of a joint in strings of C++ and YAML: letters, digits, _ - and /."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "_-/") else "_" for c in name)


def _driven(plan: Plan) -> list[Joint]:
    """The joints that the vectors of the interface belong to."""
    return [plan.robot.joints[j - 1] for j in Coordinates.of(plan.robot).active]


def _closing(plan: Plan) -> dict[str, str]:
    """The header that closes loops, if there are any."""
    if not plan.robot.constrained:
        return {}
    loops = loops_of(plan)
    listed = {"driving": loops.driving, "following": loops.following}
    exact: dict[str, Iterable[float]] = {
        "start": standing(plan.robot),
        "reach": loops.reach,
        "weights": loops.weights,
    }
    text = template(
        "ros2/closing.hpp", name=plan.name, guard=plan.name.upper(), nq=plan.robot.n,
        nv=len(loops.driving), nf=len(loops.following), nr=len(loops.weights),
        **{key: ", ".join(map(str, places)) for key, places in listed.items()},
        **{key: ", ".join(repr(float(x)) for x in values) for key, values in exact.items()},
    )  # fmt: skip
    return {f"include/{plan.name}/closing.hpp": text}


def _test(plan: Plan) -> str:
    function = plan.function("inverse-dynamics")
    states = [(example.inputs, example.outputs["tau"]) for example in function.examples]
    if plan.robot.constrained:
        states = [(_reached(plan, given), tau) for given, tau in states]
        states = [(given, tau) for given, tau in states if given]
    arrays = {
        key: braced([given[key] for given, _ in states], "    ") for key in ("q", "qd", "qdd")
    }
    return template(
        "ros2/test_solver.cpp", name=plan.name, n=len(_driven(plan)), count=len(states),
        tau=braced([tau for _, tau in states], "    "), tolerance=f"{TOLERANCE:g}",
        beyond=template("ros2/beyond.cpp") if plan.robot.constrained else "", **arrays,
    )  # fmt: skip


def _reached(plan: Plan, given: Values) -> Values:
    """The state with q of the driven joints, if the robot gets there from where it stands."""
    geometry, driving = derive(plan.robot, "loop-geometry"), list(loops_of(plan).driving)
    q = geometry.solve(given["q"][driving], geometry.home)
    if np.abs(q - given["q"]).max() > _NEAR:
        return {}
    return {**given, "q": given["q"][driving]}


def _readme(plan: Plan) -> str:
    listed = "\n".join(f"{k}. `{one_line(x.name)}`" for k, x in enumerate(_driven(plan), 1))
    loops = template("ros2/loops.md", name=plan.name)
    sections = [
        ("What it expects", template("ros2/expects.md", name=plan.name)),
        *([("Closed loops", loops)] if plan.robot.constrained else []),
        ("Build", template("ros2/build.md", name=plan.name)),
        ("An effort controller", template("ros2/controller.md", name=plan.name)),
        ("Joints", f"The order of all vectors:\n\n{listed}\n"),
    ]
    return readme(plan, f"{plan.name}: inverse dynamics plugin for ROS 2", sections)
