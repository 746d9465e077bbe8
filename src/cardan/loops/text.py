"""The equations of loops as text or LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..describe.couplings import formula
from ..inverse.closed_form.latex import greek
from ..ir.code import Code
from ..ir.spell import ATOM, SUM, Piece, Speller
from ..ir.trace import Tracer
from ..latex import escaped
from ..mechanism.loops import opened
from ..models.bodies import bodies
from ..models.loops import closing_error

if TYPE_CHECKING:
    from .geometry import LoopGeometry

__all__ = ["text_of"]

_NAMES = {
    "revolute": ("x", "y", "z", "z_x", "z_y"),
    "cylindrical": ("x", "y", "z_x", "z_y"),
    "prismatic": ("x", "y", "turn_x", "turn_y", "turn_z"),
    "fixed": ("x", "y", "z", "turn_x", "turn_y", "turn_z"),
    "universal": ("x", "y", "z", "x_z"),
    "spherical": ("x", "y", "z"),
}


def text_of(geometry: LoopGeometry, form: str = "text") -> str:
    """Every loop: where the twin stands in the cut's frame, written out; then how it is solved."""
    link = geometry.coordinates
    tracer = Tracer()
    scene = bodies(opened(link.robot), tracer.parameter)
    q = tracer.array("q", len(link.moving))
    latex = form == "latex"
    say = escaped if latex else str
    lines = [
        say(
            f"{link.robot.name}: mobility {geometry.mobility}, active {link.named(link.active)};"
            f" passive {link.named(geometry.analysis.following)}"
        )
    ]
    for loop, keep in zip(link.loops, geometry.analysis.chosen, strict=True):
        rows = []
        for name, value in zip(_NAMES[loop.kind], closing_error(scene, q, loop), strict=False):
            if isinstance(value, int) and value == 0:
                continue
            code, parameters = tracer.program({name: ((1,), [value])})
            names = tuple(link.named((j,)) for j in link.moving)
            rows.append(_spelled(code, name, names, parameters, latex))
        lines += ["", r"\noindent"] if latex else []
        lines.append(
            say(
                f"loop {loop.name}: {loop.kind} cut, frame {loop.cut} against frame {loop.twin};"
                f" independent: {' '.join(keep.rows)}"
            )
        )
        lines += _displayed(rows) if latex else [f"  0 = {row}" for row in rows]
    for j, coupling in link.robot.couplings.items():
        lines.append(say(f"coupling: {link.named((j,))} = {formula(link.robot, coupling)}"))
    return "\n".join([*lines, *map(say, _method(geometry))])


def _method(geometry: LoopGeometry) -> list[str]:
    if geometry.steps is not None:
        return [step.text for step in geometry.steps]
    if geometry.platform is not None:
        how = {
            "space": "three spheres", "plane": "a polynomial in its turn", "point": "two circles",
        }[geometry.platform.motion]  # fmt: skip
        legs = geometry.legs.steps or ()
        return [f"platform in closed form: {how}", *(step.text for step in legs)]
    return ["solved by Newton's method"]


def _displayed(rows: list[str]) -> list[str]:
    body = [f"  0 &= {row} \\\\" for row in rows]
    return [r"\begin{align*}", *body[:-1], body[-1].removesuffix(" \\\\"), r"\end{align*}"]


def _spelled(
    code: Code, output: str, variables: Sequence[str], parameters: Sequence[str], latex: bool
) -> str:
    """An equation in the names of the robot."""

    def leaf(id: int, _: int) -> Piece | None:
        node = code.nodes[id]
        if node[0] == "input":
            name = (parameters if node[1] == "p" else variables)[node[2]]
            return greek(name) if latex else name, ATOM
        if node[0] != "const":
            return None
        text = str(node[1])
        if latex:
            text = text.replace("*", r"\,").replace("pi", r"\pi")
        loose = text.startswith("-") or " " in text or "/" in text
        return text, SUM if loose else ATOM

    return Speller(code.nodes, leaf, latex).text(code.outputs[output].refs[0])
