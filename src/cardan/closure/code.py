"""Loops in closed form as source text: the kernel with a robot's frames and plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..emit import require_name
from ..emit.kernel_text import Face, kernel_source
from ..errors import ModelError
from .analytic import Chain, plan_of
from .kernels import MOST, assemblies

if TYPE_CHECKING:
    from .geometry import LoopGeometry

__all__ = ["emitted"]


def emitted(geometry: LoopGeometry, language: str, function: str, p: Any = None) -> str:
    """Self-contained code, c, cpp, python or matlab, of all assemblies at given positions."""
    link = geometry.connection
    require_name(language, function)
    if geometry.steps is None:
        legs = " its legs have one, geometry.legs.code;" if geometry.platform else ""
        raise ModelError(
            f"the loops of '{geometry.robot.name}' have no closed form, one unknown after the"
            f" other, for {link.named(geometry.given)}:{legs} code that closes them from a guess is"
            " that of inverse_kinematics"
        )
    chain = Chain.of(link.robot, geometry.system(p).values)
    known = geometry._columns[0]
    n = len(link.moving)
    held = geometry.analysis.idle
    header = [
        f"{geometry.robot.name}: every assembly of its loops, in closed form",
        *(step.text for step in geometry.steps),
        "",
        f"given  {link.named(geometry.given)}, rad or m",
        f"q      up to {MOST} configurations, one after the other: {link.named(link.moving)}"
        + (f"; {link.named(held)} are idle, and zero" if held else ""),
        f"info   number of configurations, 1 when there are more than {MOST}",
        "",
    ]
    face = Face(
        function, {"given": len(known)}, {"q": MOST * n, "info": 2},
        {
            "frames": [float(x) for x in chain.table()],
            "plan": [float(x) for x in plan_of(chain, geometry.steps, known)],
        },
        header,
    )  # fmt: skip
    return kernel_source(language, assemblies, face)
