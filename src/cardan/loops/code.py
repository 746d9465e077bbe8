"""Loops in closed form as source text: the kernel with a robot's frames and plan. Where the
geometry has symbols, a program writes the table of the frames from p first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..algebra.scalar import cos_sin, function
from ..describe.robot import FIXED, GEOMETRY
from ..describe.values.expression import evaluate, symbols
from ..emit import require_name
from ..emit.header import quoted
from ..errors import ModelError
from ..ir.code import Code, reordered
from ..ir.trace import Tracer
from ..kernel.language import Bound
from ..kernel.text import Face, kernel_source
from ..mechanism.loops import opened
from .analytic import Step, plan_of
from .chain import Chain
from .kernels import MOST, assemblies, assemblies_of_symbols
from .place_kernels import placed

if TYPE_CHECKING:
    from .geometry import LoopGeometry


def emitted(geometry: LoopGeometry, language: str, function: str, p: Any = None) -> str:
    """Self-contained code, c, cpp, python, matlab or rust, of all assemblies at given positions."""
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
    entry: Callable[..., None] = assemblies
    tables, inputs = dict[str, Any](), {"given": len(geometry.given)}
    bound: Bound | None = None  # kernels to which nothing is bound are read once
    if geometry.parameters and p is None and platform is None:
        require_numbers(geometry)
        chain, entry = in_metres(geometry), assemblies_of_symbols
        inputs["p"] = len(geometry.parameters)
        bound = Bound({"tree_of": frames_code(geometry, geometry.parameters)})
    else:
        chain = geometry.system(p).chain
        tables["frames"] = chain.table
    if platform is None:
        tables["plan"] = plan_of(chain, steps, geometry._columns[0][: len(geometry.given)])
    else:
        entry = placed
        tables |= {"hold": platform.table(chain), "plan": platform.plan(chain)}
    face = Face(
        function, inputs, {"q": MOST * len(link.moving), "info": 2},
        {key: [float(x) for x in table] for key, table in tables.items()},
        _header(geometry, [platform.text] if platform is not None else [], steps, "p" in inputs),
    )  # fmt: skip
    return kernel_source(language, entry, face, bound)


def require_steps(geometry: LoopGeometry) -> tuple[Step, ...]:
    """The closed form, loop by loop."""
    if geometry.steps is None:
        raise ModelError(
            f"the loops of '{geometry.robot.name}' have no closed form, one unknown after the"
            f" other, for {geometry.coordinates.named(geometry.given)}: code that closes them from"
            " a guess is that of inverse_kinematics"
        )
    return geometry.steps


def require_numbers(geometry: LoopGeometry) -> None:
    """Refuse symbols in couplings, whose ratios and offsets stand in constant tables."""
    led = [geometry.robot.couplings[j] for j in geometry.coordinates.led]
    free = sorted(
        {name for x in led for v in (x.offset, *dict(x.leaders).values()) for name in symbols(v)}
    )
    if free:
        raise ModelError(
            f"couplings of '{geometry.robot.name}' hold the symbols {', '.join(free)}, which code"
            " of its assemblies does not take: fix them with robot.with_values({...})"
        )


def in_metres(geometry: LoopGeometry) -> Chain:
    """The frames of loops with symbols: from p they are in metres, and so are thresholds then."""
    return replace(geometry.analysis.samples[0].equations.chain, size=1.0)


def frames_code(geometry: LoopGeometry, names: Sequence[str]) -> Code:
    """The Tree of the frames from the symbols of the loops, p with these names; others move no
    loop."""
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
    code, own_names = tracer.program({"frames": ((len(table),), table)}, None, known)
    return reordered(code, own_names, names)


def _header(
    geometry: LoopGeometry, first: list[str], steps: tuple[Step, ...], symbolic: bool
) -> list[str]:
    link, idle = geometry.coordinates, geometry.analysis.idle
    return [
        f"{quoted(geometry.robot.name)}: every assembly of its loops, in closed form",
        *first,
        *(step.text for step in steps),
        "",
        f"given  {link.named(geometry.given)}, rad or m",
        *([f"p      {', '.join(geometry.parameters)}, SI units"] if symbolic else []),
        f"q      up to {MOST} configurations, one after the other: {link.named(link.moving)}"
        + (f"; {link.named(idle)} are idle, and zero" if idle else ""),
        f"info   number of configurations, 1 when there are more than {MOST}",
        "",
    ]
