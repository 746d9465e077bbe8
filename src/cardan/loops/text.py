"""The equations of loops as text or LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..describe.couplings import formula
from ..describe.robot import Robot
from ..emit.latex import broken, points
from ..emit.text import broken as broken_text
from ..inverse.closed_form.latex import greek
from ..ir.code import Code
from ..ir.spell import ATOM, MINUS, SUM, Piece, Speller
from ..ir.textbook import TooLarge, textbook
from ..ir.trace import Tracer
from ..latex import escaped
from ..mechanism.loops import LoopFrames, opened
from ..models.bodies import Bodies, bodies
from ..models.loops import closing_error
from .formulas import Formula, Formulas, opening, root_of

if TYPE_CHECKING:
    from .geometry import LoopGeometry

# of closing_error: the last ones only tell a direction from its opposite
_EQUATIONS = {
    "revolute": 5, "cylindrical": 4, "prismatic": 5, "fixed": 6, "universal": 4, "spherical": 3,
}  # fmt: skip


_LINE = 425  # points of an equation in LaTeX


def text_of(geometry: LoopGeometry, form: str = "text") -> str:
    """Every loop: what is zero where it is closed; then how it is solved."""
    link = geometry.coordinates
    latex = form == "latex"
    say = escaped if latex else str
    page = _Page(geometry, latex)
    lines = [
        say(
            f"{link.robot.name}: mobility {geometry.mobility}, active {link.named(link.active)};"
            f" passive {link.named(geometry.analysis.following)}"
        )
    ]
    for loop, keep in zip(link.loops, geometry.analysis.chosen, strict=True):
        lines += ["", r"\noindent"] if latex else []
        root = root_of(link, loop)
        lines.append(
            say(
                f"loop {loop.name}: {loop.kind} cut, frame {loop.cut} against frame {loop.twin};"
                f" independent: {' '.join(keep.rows)}"
            )
        )
        lines += page.shown([("0", row) for row in page.closing(loop, root)], "  ")
    for j, coupling in link.robot.couplings.items():
        lines.append(say(f"coupling: {link.named((j,))} = {formula(link.robot, coupling)}"))
    lines += map(say, _method(geometry))
    formulas = geometry.formulas
    if formulas is None and (geometry.platform or geometry.hexapod) is not None:
        formulas = geometry.legs.formulas
        lines += page.prose("legs, from the coordinates of the platform:") if formulas else []
    if formulas is not None:
        lines += page.derivation(formulas)
    return "\n".join(lines)


def _method(geometry: LoopGeometry) -> list[str]:
    if geometry.steps is not None:
        return [step.text for step in geometry.steps]
    if geometry.platform is not None:
        how = {
            "space": "three spheres", "plane": "a polynomial in its turn", "point": "two circles",
        }[geometry.platform.motion]  # fmt: skip
        legs = geometry.legs.steps or ()
        return [f"platform in closed form: {how}", *(step.text for step in legs)]
    if geometry.hexapod is not None:
        how = "all complex poses of the platform, followed from a general one; then"
        return [how, *(step.text for step in geometry.hexapod.steps)]
    return ["solved by Newton's method"]


class _Page:
    """Equations of a robot in its names, as text or LaTeX."""

    def __init__(self, geometry: LoopGeometry, latex: bool) -> None:
        self.link, self.latex = geometry.coordinates, latex
        self.robot = opened(geometry.robot)

    def closing(self, loop: LoopFrames, root: int) -> list[str]:
        """What is zero where a loop is closed: points in the axes of the link that both its sides
        hang on, or of the cut where that slides; then directions."""

        def rows(scene: Bodies, q: Sequence[Any]) -> list[Any]:
            error = closing_error(scene, q, loop)[: _EQUATIONS[loop.kind]]
            if loop.kind in ("prismatic", "cylindrical"):
                return error
            return [*opening(scene, q, loop, root), *error[3:]]

        return [row for row in self.spelled(rows) if row != "0"]

    def derivation(self, formulas: Formulas) -> list[str]:
        """One unknown after the other: its equations, their type, and what they give."""
        lines: list[str] = []
        branch = 0
        for number, own in enumerate(formulas.formulas, 1):
            name = self.link.named((own.link,))
            if own.kind == "coupling":
                continue
            branch += own.roots > 1
            e = f"e_{branch}" if self.latex else f"e{branch}"
            x = greek(name) if self.latex else name

            def coefficients(scene: Bodies, q: Sequence[Any], own: Formula = own) -> list[Any]:
                first = 1 if own.kind == "linear" else 0  # whose square is zero
                return [y for terms in formulas.terms(scene, q, own) for y in terms[first:]]

            values = self.spelled(coefficients)
            assert own.loop is not None
            what = f"{number}. {name}, by loop {own.loop.name} ({own.kind}): "
            lines += self.prose(what + ", ".join(own.words))
            shapes, symbols, solution = _type(own.kind, x, e, self.latex)
            lines += self.shown(shapes, "   ")
            lines += self.prose("   where")
            lines += self.shown(list(zip(symbols, values, strict=True)), "      ")
            lines += self.prose("   so that")
            lines += self.shown(solution, "      ")
            if own.roots > 1:
                lines += self.prose(f"   branches: e{branch} = +1, -1 where the root is real")
        return lines

    def prose(self, text: str) -> list[str]:
        return ["", rf"\noindent {escaped(text.strip())}"] if self.latex else [text]

    def shown(self, rows: Sequence[tuple[str, str]], indent: str) -> list[str]:
        """Equations, left and right sides."""
        if not self.latex:
            starts = [f"{indent}{left} = " for left, _ in rows]
            wide = (
                start + broken_text(right, len(start))
                for start, (_, right) in zip(starts, rows, strict=True)
            )
            return [line for whole in wide for line in whole.splitlines()]
        parts = (part for a, b in rows for part in broken(f"{a} &= {b}", _LINE, points))
        body = [rf"  {part} \\" for part in parts]
        return [r"\begin{align*}", *body[:-1], body[-1].removesuffix(r" \\"), r"\end{align*}"]

    def spelled(self, rows: Callable[[Bodies, Sequence[Any]], list[Any]]) -> list[str]:
        """Values in textbook form."""
        code, parameters = in_books(self.robot, self.link.moving, rows)
        names = tuple(self.link.named((j,)) for j in self.link.moving)
        return [
            _spelled(code, ref, names, parameters, self.latex) for ref in code.outputs["r"].refs
        ]


def in_books(
    robot: Robot, moving: Sequence[int], rows: Callable[[Bodies, Sequence[Any]], list[Any]]
) -> tuple[Code, tuple[str, ...]]:
    """(program q -> r, its parameters) of values in textbook form."""
    tracer = Tracer()
    scene = bodies(robot, tracer.parameter)
    values = rows(scene, tracer.array("q", len(moving)))
    code, parameters = tracer.program({"r": ((len(values),), values)})
    labels = {("input", "q", k): str(j) for k, j in enumerate(moving)}
    labels |= {("input", "p", k): name for k, name in enumerate(parameters)}
    with suppress(TooLarge):
        code = textbook(code, labels)
    return code, parameters


def _type(
    kind: str, x: str, e: str, latex: bool
) -> tuple[list[tuple[str, str]], list[str], list[tuple[str, str]]]:
    """(the form of the equations, their coefficients, the solution) of a type."""
    S, C = (rf"\{f} {x}" if latex else f"{f}({x})" for f in ("sin", "cos"))
    root, power, atan2 = (r"\sqrt{%s}", "^2", r"\operatorname{atan2}") if latex else (
        "sqrt(%s)", "^2", "atan2")  # fmt: skip
    if kind == "type 3":
        names = ["X1", "Y1", "Z1", "X2", "Y2", "Z2"]
        X1, Y1, Z1, X2, Y2, Z2 = (f"{y[0]}_{y[1]}" for y in names) if latex else names
        form = [(f"{X1} {S} + {Y1} {C}", Z1), (f"{X2} {S} + {Y2} {C}", Z2)]
        solution = [("D", f"{X1} {Y2} - {X2} {Y1}"),
                    ("S", f"({Z1} {Y2} - {Z2} {Y1})/D"), ("C", f"({X1} {Z2} - {X2} {Z1})/D"),
                    (x, f"{atan2}(S, C)")]  # fmt: skip
        return form, [X1, Y1, Z1, X2, Y2, Z2], solution
    if kind == "type 2":
        solution = [("D", f"X{power} + Y{power}"), ("w", root % f"D - Z{power}"),
                    ("S", f"(X Z + {e} Y w)/D"), ("C", f"(Y Z - {e} X w)/D"),
                    (x, f"{atan2}(S, C)")]  # fmt: skip
        return [(f"X {S} + Y {C}", "Z")], ["X", "Y", "Z"], solution
    if kind == "linear":
        return [(f"b {x} + c", "0")], ["b", "c"], [(x, "-c/b")]
    solution = [("w", root % f"b{power} - 4 a c"), (x, f"(-b + {e} w)/(2 a)")]
    return [(f"a {x}{power} + b {x} + c", "0")], ["a", "b", "c"], solution


def _spelled(
    code: Code, ref: int, variables: Sequence[str], parameters: Sequence[str], latex: bool
) -> str:
    """An equation in the names of the robot."""

    def leaf(id: int, _: int) -> Piece | None:
        node = code.nodes[id]
        if node[0] == "input":
            name = (parameters if node[1] == "p" else variables)[node[2]]
            return greek(name) if latex else name, ATOM
        if node[0] != "const":
            return None
        value = node[1]
        text = f"{value:.6g}" if isinstance(value, float) else str(value)
        if latex:
            text = text.replace("*", r"\,").replace("pi", r"\pi")
        if text.startswith("-"):
            return text, MINUS
        return text, SUM if " " in text or "/" in text else ATOM

    return Speller(code.nodes, leaf, latex).text(ref)
