"""A ROS 2 package: the models as C++ headers, and a plugin of `inverse_dynamics_solver`.

The interface asks for the inertia matrix, the Coriolis, gravity and friction vectors and the
torques of a motion without friction; the plugin computes them from four models and the friction
coefficients."""

from __future__ import annotations

from xml.sax.saxutils import escape

from ..describe.expression import number
from ..describe.robot import FIXED, WRENCH, Robot
from ..emit.header import one_line
from ..errors import ModelError
from .cpp import headers
from .cpp import test_program as test_of_functions
from .folder import Files
from .plan import Plan, Wanted
from .reference import TOLERANCE
from .template import template
from .text import braced, numbers, readme

__all__ = ["files", "models"]

_NEEDED = ("inverse-dynamics", "inertia-matrix", "bias", "gravity")


def models(robot: Robot, wanted: list[Wanted]) -> list[Wanted]:
    """What was asked for and what the plugin is made of."""
    _refuse(robot)
    given = [item if isinstance(item, str) else item[0] for item in wanted]
    return [*wanted, *(model for model in _NEEDED if model not in given)]


def _refuse(robot: Robot) -> None:
    why = ""
    if robot.parameters:
        names = ", ".join(robot.parameters[:8])
        why = f"it has symbols without a value ({names} ...): give them one with_values({{...}})"
    elif robot.base.kind != "fixed":
        why = f"its base is {robot.base.kind}, and the interface knows a fixed base only"
    elif any(joint.elastic for joint in robot.joints):
        why = "it has elastic joints, which the interface does not know"
    elif any(number(getattr(link, key)) for link in robot.links for key in WRENCH):
        why = "its links carry external wrenches, which the interface does not know: remove them"
    if why:
        raise ModelError(f"no ROS 2 plugin of '{robot.name}': {why}")


def files(plan: Plan) -> tuple[Files, tuple[str, ...]]:
    """The files of the package."""
    for model in _NEEDED:
        function = plan.function(model)
        if function.program.parameters or "f_e" in function.program.inputs:
            raise ModelError(
                f"no ROS 2 plugin of '{plan.robot.name}': its models have no parameters and no "
                "wrenches as inputs; leave the options symbolic and f_e out"
            )
    names = {"name": plan.name, "title": escape(plan.title), "n": plan.robot.n}
    joints = [joint for joint in plan.robot.joints if joint.sigma != FIXED]
    friction = {
        key.lower(): numbers(number(getattr(joint, key)) or 0.0 for joint in joints)
        for key in ("FV", "FS")
    }
    solver = f"include/{plan.name}/solver.hpp"
    return {
        "README.md": _readme(plan),
        "package.xml": template("ros2/package.xml", **names),
        "plugin.xml": template("ros2/plugin.xml", **names),
        "CMakeLists.txt": template("ros2/CMakeLists.txt", **names),
        **headers(plan),
        solver: template("ros2/solver.hpp", guard=plan.name.upper(), **names, **friction),
        "src/solver.cpp": template("ros2/solver.cpp", **names),
        f"test/test_{plan.name}.cpp": test_of_functions(plan),
        "test/test_solver.cpp": _test(plan),
    }, ("package.xml: fill in the maintainer and the license",)


def _test(plan: Plan) -> str:
    function = plan.function("inverse-dynamics")
    arrays = {}
    for key in ("q", "qd", "qdd"):
        arrays[key] = braced([example.inputs[key] for example in function.examples], "    ")
    tau = braced([example.outputs["tau"] for example in function.examples], "    ")
    return template(
        "ros2/test_solver.cpp", name=plan.name, n=plan.robot.n, count=len(function.examples),
        tau=tau, tolerance=f"{TOLERANCE:g}", **arrays,
    )  # fmt: skip


def _readme(plan: Plan) -> str:
    joints = [one_line(joint.name) for joint in plan.robot.joints if joint.sigma != FIXED]
    listed = "\n".join(f"{k}. `{name}`" for k, name in enumerate(joints, 1))
    sections = [
        ("What it expects", template("ros2/expects.md", name=plan.name)),
        ("Build", template("ros2/build.md", name=plan.name)),
        ("Joints", f"The order of all vectors:\n\n{listed}\n"),
    ]
    return readme(plan, f"{plan.name}: inverse dynamics plugin for ROS 2", sections)
