"""Loops in closed form as source text: the kernel with a robot's frames and plan. Where the
geometry has symbols, a program writes the table of the frames from p first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..algebra.scalar import cos_sin, function
from ..describe.robot import FIXED, GEOMETRY
from ..describe.values.expression import evaluate, symbols
from ..emit import require_name
from ..emit.header import quoted
from ..errors import ModelError
from ..ir.trace import Tracer
from ..kernel.text import Face, kernel_source
from ..mechanism.loops import opened
from ..program import Program
from .analytic import Step, plan_of
from .joined import Part, called, joined
from .kernels import MOST, assemblies
from .place_kernels import placed

if TYPE_CHECKING:
    from .geometry import LoopGeometry

__all__ = ["emitted", "require_steps"]


def emitted(geometry: LoopGeometry, language: str, function: str, p: Any = None) -> str:
    """Self-contained code, c, cpp, python or matlab, of all assemblies at given positions."""
    link = geometry.coordinates
    require_name(language, function)
    platform = geometry.platform if geometry.steps is None else None
    steps = platform.steps if platform is not None else require_steps(geometry)
    unchecked = set(link.led) - {j for step in steps if step.loop is None for j in step.order}
    if unchecked:
        raise ModelError(
            f"code of the assemblies of '{geometry.robot.name}' is not available: the couplings of"
            f" {link.named(tuple(unchecked))} repeat its loops; solve works them out in Python"
        )
    if geometry.parameters and p is None and platform is None:
        return with_symbols(geometry, language, function)
    chain = geometry.system(p).chain
    tables = {"frames": chain.table}
    entry: Callable[..., None] = assemblies
    if platform is None:
        tables["plan"] = plan_of(chain, steps, geometry._columns[0][: len(geometry.given)])
    else:
        entry = placed
        tables |= {"hold": platform.table(chain), "plan": platform.plan(chain)}
    face = Face(
        function, {"given": len(geometry.given)}, _outputs(geometry),
        {key: [float(x) for x in table] for key, table in tables.items()},
        _header(geometry, [platform.text] if platform is not None else [], steps),
    )  # fmt: skip
    return kernel_source(language, entry, face)


def require_steps(geometry: LoopGeometry) -> tuple[Step, ...]:
    """The closed form, loop by loop."""
    if geometry.steps is None:
        raise ModelError(
            f"the loops of '{geometry.robot.name}' have no closed form, one unknown after the"
            f" other, for {geometry.coordinates.named(geometry.given)}: code that closes them from"
            " a guess is that of inverse_kinematics"
        )
    return geometry.steps


def with_symbols(geometry: LoopGeometry, language: str, function: str, limited: bool = True) -> str:
    """The code of all assemblies, loop by loop, whose symbols are the elements of p."""
    program = frames_program(geometry)
    steps = require_steps(geometry)
    led = [geometry.robot.couplings[j] for step in steps if step.loop is None for j in step.order]
    free = sorted(
        {name for x in led for v in (x.offset, *dict(x.leaders).values()) for name in symbols(v)}
    )
    if free:
        raise ModelError(
            f"couplings of '{geometry.robot.name}' hold the symbols {', '.join(free)}, which code"
            " of its assemblies does not take: fix them with robot.with_values({...})"
        )
    # the frames from p are in metres, and so are the thresholds then
    chain = replace(geometry.analysis.samples[0].equations.chain, size=1.0)
    plan = plan_of(chain, steps, geometry._columns[0][: len(geometry.given)], limited)
    given, (size,) = len(geometry.given), program.outputs["frames"]
    kernel, table = f"{function}_at", f"{function}_frames"
    face = Face(
        kernel, {"given": given, "frames": size}, _outputs(geometry),
        {"plan": [float(x) for x in plan]}, _header(geometry, [], steps),
    )  # fmt: skip
    parts = [
        Part(table, program.emit(language, function=table)),
        Part(kernel, kernel_source(language, assemblies, face)),
    ]
    rows = _outputs(geometry)["q"]
    names = len(program.parameters)
    arrays = f"double q[{rows}], double info[2]"
    head = f"void {function}(const double given[{given}], const double p[{names}], {arrays})"
    driver = {
        "c": f"""
{head};

{head}
{{
    double frames[{size}];
    {table}(p, frames);
    {kernel}(given, frames, q, info);
}}
""",
        "cpp": f"""
inline void {function}(
    const std::array<double, {given}> &given, const std::array<double, {names}> &p,
    std::array<double, {rows}> &q, std::array<double, 2> &info)
{{
    std::array<double, {size}> frames;
    {table}(p.data(), frames.data());
    {kernel}(given, frames, q, info);
}}
""",
        "python": f"""

def {function}(given, p):
    return {kernel}(given, {table}(p))
""",
        "matlab": f"""function [q, info] = {function}(given, p)
  [q, info] = {kernel}(given, {table}(p));
end
""",
    }[called(language)]  # fmt: skip
    return joined(language, parts, driver)


def frames_program(geometry: LoopGeometry) -> Program:
    """The table of the frames (kernels.Tree) from the symbols of the loops; others move no loop."""
    tracer = Tracer()
    known = geometry.parameters

    def value(x: Any) -> Any:
        return evaluate(x, lambda name: tracer.parameter(name) if name in known else 1, function)

    rows: list[Any] = []
    variable = 0
    joints = opened(geometry.robot).joints
    for joint in joints:
        gamma, b, alpha, d, theta, r = (value(getattr(joint, key)) for key in GEOMETRY)
        own = -1
        if joint.sigma != FIXED:
            own, variable = variable, variable + 1
        rows += [joint.antecedent, own, joint.sigma, *cos_sin(gamma), b, *cos_sin(alpha), d]
        rows += [theta, r, 1]
    table = [len(joints) + 1, *rows]
    code, names = tracer.program({"frames": ((len(table),), table)}, None, known)
    meaning = {"frames": "placements of all frames: constants of the code that takes it"}
    return Program("frames", geometry.robot.name, code, names, meaning=meaning)


def _outputs(geometry: LoopGeometry) -> dict[str, int]:
    return {"q": MOST * len(geometry.coordinates.moving), "info": 2}


def _header(geometry: LoopGeometry, first: list[str], steps: tuple[Step, ...]) -> list[str]:
    link, idle = geometry.coordinates, geometry.analysis.idle
    return [
        f"{quoted(geometry.robot.name)}: every assembly of its loops, in closed form",
        *first,
        *(step.text for step in steps),
        "",
        f"given  {link.named(geometry.given)}, rad or m",
        f"q      up to {MOST} configurations, one after the other: {link.named(link.moving)}"
        + (f"; {link.named(idle)} are idle, and zero" if idle else ""),
        f"info   number of configurations, 1 when there are more than {MOST}",
        "",
    ]
