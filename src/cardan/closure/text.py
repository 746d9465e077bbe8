"""The equations of loops as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir.trace import Tracer
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


def text_of(geometry: LoopGeometry) -> str:
    """Every loop: where the twin stands in the cut's frame, written out; then how it is solved."""
    link = geometry.connection
    tracer = Tracer()
    scene = bodies(opened(link.robot), tracer.parameter)
    q = tracer.array("q", len(link.moving))
    lines = [
        f"{link.robot.name}: mobility {geometry.mobility}, active {link.named(link.active)};"
        f" passive {link.named(link.passive)}"
    ]
    for loop, keep in zip(link.loops, geometry.analysis.chosen, strict=True):
        lines.append(
            f"loop {loop.name}: {loop.kind} cut, frame {loop.cut} against frame {loop.twin};"
            f" independent: {' '.join(keep.rows)}"
        )
        found = closing_error(scene, q, loop)
        for name, value in zip(_NAMES[loop.kind], found, strict=False):
            if isinstance(value, int) and value == 0:
                continue
            code, parameters = tracer.program({name: ((1,), [value])})
            lines.append(f"  0 = {_expression(code, name, link, parameters)}")
    steps = geometry.steps
    lines += [step.text for step in steps] if steps else ["solved by Newton's method"]
    return "\n".join(lines)


def _expression(code: object, name: str, link: object, parameters: object) -> str:
    """One output written out in the names of the robot."""
    from ..ir.code import Code
    from ..mechanism.loops import Connection

    assert isinstance(code, Code)
    assert isinstance(link, Connection)
    assert isinstance(parameters, tuple)
    variables = [link.named((j,)) for j in link.moving]
    words: list[str] = [""]
    sums: set[int] = set()
    infix = {"add": " + ", "sub": " - ", "mul": "*", "div": "/"}
    for node in code.nodes[1:]:
        if node[0] == "input":
            words.append(parameters[node[2]] if node[1] == "p" else variables[node[2]])
        elif node[0] == "const":
            words.append(str(node[1]))
        elif node[0] in infix:
            left, right = (words[arg] for arg in node[1:])
            tight = node[0] in ("mul", "div")
            left = f"({left})" if tight and node[1] in sums else left
            right = f"({right})" if node[0] != "add" and node[2] in sums else right
            sums |= set() if tight else {len(words)}
            words.append(f"{left}{infix[node[0]]}{right}")
        else:
            words.append(f"{node[0]}({', '.join(words[arg] for arg in node[1:])})")
    ref = code.outputs[name].refs[0]
    return words[ref] if ref > 0 else f"-({words[-ref]})"
