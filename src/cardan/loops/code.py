"""Loops in closed form as source text: the kernel with a robot's frames and plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..emit import require_name
from ..emit.header import quoted
from ..errors import ModelError
from ..kernel.text import Face, kernel_source
from .analytic import Step, plan_of
from .kernels import MOST, assemblies
from .place_kernels import placed

if TYPE_CHECKING:
    from .geometry import LoopGeometry

__all__ = ["emitted"]


def emitted(geometry: LoopGeometry, language: str, function: str, p: Any = None) -> str:
    """Self-contained code, c, cpp, python or matlab, of all assemblies at given positions."""
    link = geometry.coordinates
    require_name(language, function)
    steps, platform = geometry.steps, geometry.platform
    if steps is not None:
        platform = None  # loop by loop
    elif platform is not None:
        steps = platform.steps
    else:
        raise ModelError(
            f"the loops of '{geometry.robot.name}' have no closed form, one unknown after the"
            f" other, for {link.named(geometry.given)}: code that closes them from a guess is"
            " that of inverse_kinematics"
        )
    unchecked = set(link.led) - {j for step in steps if step.loop is None for j in step.order}
    if unchecked:
        raise ModelError(
            f"code of the assemblies of '{geometry.robot.name}' is not available: the couplings of"
            f" {link.named(tuple(unchecked))} repeat its loops; solve works them out in Python"
        )
    chain = geometry.system(p).chain
    tables = {"frames": chain.table()}
    entry: Callable[..., None] = assemblies
    if platform is None:
        tables["plan"] = plan_of(chain, steps, geometry._columns[0][: len(geometry.given)])
    else:
        entry = placed
        tables |= {"hold": platform.table(chain), "plan": platform.plan(chain)}
    sizes = {"q": MOST * len(link.moving), "info": 2}
    face = Face(
        function, {"given": len(geometry.given)}, sizes,
        {key: [float(x) for x in table] for key, table in tables.items()},
        _header(geometry, [platform.text] if platform is not None else [], steps),
    )  # fmt: skip
    return kernel_source(language, entry, face)


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
