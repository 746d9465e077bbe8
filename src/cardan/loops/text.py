"""The equations of loops as text or LaTeX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..describe.couplings import formula
from ..inverse.closed_form.latex import greek
from ..ir.code import Code
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
_SUM, _PRODUCT, _ATOM = 1, 2, 3
# the sign, how tightly it binds, and how tightly its two sides must
_INFIX = {
    "add": (" + ", _SUM, _SUM, _SUM),
    "sub": (" - ", _SUM, _SUM, _PRODUCT),
    "mul": ("*", _PRODUCT, _PRODUCT, _PRODUCT),
    "div": ("/", _PRODUCT, _PRODUCT, _ATOM),
}


def text_of(geometry: LoopGeometry, form: str = "text") -> str:
    """Every loop: where the twin stands in the cut's frame, written out; then how it is solved."""
    link = geometry.connection
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
            rows.append(_Speller(code, names, parameters, latex).output(name))
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


@dataclass(frozen=True)
class _Speller:
    """Writes a code out in the names of the robot."""

    code: Code
    variables: tuple[str, ...]
    parameters: tuple[str, ...]
    latex: bool

    def output(self, name: str) -> str:
        ref = self.code.outputs[name].refs[0]
        if ref > 0:
            return self._node(ref)[0]
        node = self.code.nodes[-ref]
        if node[0] == "sub":  # -(a - b) is b - a
            return self._infix("sub", node[2], node[1])[0]
        return f"-{self._tight(-ref, _PRODUCT)}"

    def _tight(self, id: int, wanted: int) -> str:
        text, own = self._node(id)
        if own >= wanted:
            return text
        return rf"\left({text}\right)" if self.latex else f"({text})"

    def _node(self, id: int) -> tuple[str, int]:
        node = self.code.nodes[id]
        if node[0] == "input":
            name = (self.parameters if node[1] == "p" else self.variables)[node[2]]
            return greek(name) if self.latex else name, _ATOM
        if node[0] == "const":
            return self._number(node[1])
        if node[0] in _INFIX:
            return self._infix(*node)
        args = ", ".join(self._node(arg)[0] for arg in node[1:])
        if not self.latex:
            return f"{node[0]}({args})", _ATOM
        if node[0] == "sqrt":
            return rf"\sqrt{{{args}}}", _ATOM
        return rf"\{node[0]}\left({args}\right)", _ATOM

    def _infix(self, op: str, a: int, b: int) -> tuple[str, int]:
        mark, own, left, right = _INFIX[op]
        if self.latex and op == "div":
            return rf"\frac{{{self._node(a)[0]}}}{{{self._node(b)[0]}}}", _ATOM
        if self.latex and op == "mul":
            mark = r"\,"
            if self.code.nodes[b][0] == "const":
                a, b = b, a  # numbers in front
        return f"{self._tight(a, left)}{mark}{self._tight(b, right)}", own

    def _number(self, x: object) -> tuple[str, int]:
        text = str(x)
        if self.latex:
            text = text.replace("*", r"\,").replace("pi", r"\pi")
        loose = text.startswith("-") or " " in text or "/" in text
        return text, _SUM if loose else _ATOM
