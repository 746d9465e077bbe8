"""Block diagrams of robots and their laws, as SVG: [B23] exercise 3.4.4.

The robot is A(q) qdd + H(q, qd) = tau: a sum, the inverse of the inertia, two integrators, and H
fed back. Before it stands the law with what it follows, measures and keeps.
"""

from __future__ import annotations

from html import escape

from ..arguments import named_arguments
from ..describe.robot import Robot
from ..program import Program
from .laws import BASE, STATES, Law, state_name
from .names import LAWS

_HEIGHT, _MIDDLE = 250, 110
_STYLE = (
    "text{font:14px sans-serif;text-anchor:middle}.small{font-size:12px}"
    "rect,circle,path{fill:none;stroke:#222;stroke-width:1.4}.head{fill:#222;stroke:none}"
)


class _Drawing:
    """Blocks, sums and arrows on a line, from left to right."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.x = 16.0

    def words(self, x: float, y: float, text: str, small: bool = False) -> None:
        mark = ' class="small"' if small else ""
        self.parts.append(f'<text x="{x:g}" y="{y:g}"{mark}>{escape(text)}</text>')

    def line(self, *points: tuple[float, float]) -> None:
        """A way through points, with a head at its end."""
        way = " ".join(f"{'ML'[k > 0]}{x:g} {y:g}" for k, (x, y) in enumerate(points))
        self.parts.append(f'<path d="{way}"/>')
        (x0, y0), (x, y) = points[-2:]
        dx, dy = (x > x0) - (x < x0), (y > y0) - (y < y0)
        back, side = (x - 8 * dx, y - 8 * dy), (3.5 * dy, 3.5 * dx)
        corners = ((x, y), (back[0] + side[0], back[1] + side[1]),
                   (back[0] - side[0], back[1] - side[1]))  # fmt: skip
        listed = " ".join(f"{a:g},{b:g}" for a, b in corners)
        self.parts.append(f'<polygon class="head" points="{listed}"/>')

    def arrow(self, text: str = "", length: float = 46) -> float:
        """Go on; the words stand above. Gives where it starts."""
        start, length = self.x, max(length, 9.0 * len(text) + 14)
        self.x += length
        self.line((start, _MIDDLE), (self.x, _MIDDLE))
        self.words(start + length / 2 - 4, _MIDDLE - 8, text)
        return start

    def block(self, *lines: str) -> tuple[float, float]:
        """A box with words; gives its left and right ends."""
        left, width = self.x, max(44.0, 8.4 * max(map(len, lines)) + 18)
        height = 26 + 18 * len(lines)
        top = _MIDDLE - height / 2
        self.parts.append(
            f'<rect x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}" rx="3"/>'
        )
        for k, text in enumerate(lines):
            self.words(left + width / 2, _MIDDLE + 5 + 18 * (k - (len(lines) - 1) / 2), text)
        self.x += width
        return left, self.x

    def sum(self) -> float:
        """A circle; gives its middle."""
        middle = self.x + 11
        self.parts.append(f'<circle cx="{middle:g}" cy="{_MIDDLE}" r="11"/>')
        self.words(middle, _MIDDLE + 5, "Σ")
        self.x += 22
        return middle

    def svg(self, title: str) -> str:
        width = self.x + 16
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {_HEIGHT}"'
            f' width="{width:g}" height="{_HEIGHT}"><title>{escape(title)}</title>'
        )
        return "\n".join([head, f"<style>{_STYLE}</style>", *self.parts, "</svg>\n"])


@named_arguments
def block_diagram(robot: Robot, law: Law | Program | None = None) -> str:
    """The picture of a robot, or of a law with its robot, as SVG text.

    >>> robot = cardan.load("ur5")
    >>> motion = cardan.trajectory(robot, 0.5, duration=1.0)
    >>> from cardan.control.diagram import block_diagram
    >>> picture = block_diagram(robot, cardan.control.computed_torque(robot, motion))
    >>> picture.startswith("<svg") and "computed-torque" in picture
    True"""
    program = law.program if isinstance(law, Law) else law
    draw = _Drawing()
    centre, bottom = (0.0, 0.0) if program is None else _law(draw, program)
    first = draw.arrow("tau")
    middle = draw.sum()
    draw.words(middle - 18, _MIDDLE + 24, "−")
    draw.arrow()
    draw.block("A(q)⁻¹")
    draw.arrow("qdd")
    draw.block("∫")
    speed = draw.arrow("qd") + 20
    draw.block("∫")
    position = draw.arrow("q") + 18
    _fed_back(draw, (speed, position), middle)
    if program is not None:
        low = _HEIGHT - 22
        seen = ["q", "qd", *(key for key in BASE if key in program.inputs)]
        draw.line((position, _MIDDLE), (position, low), (centre, low), (centre, bottom))
        draw.words((centre + first) / 2 + 30, low - 6, ", ".join(seen), small=True)
    what = "its dynamics" if program is None else program.model
    return draw.svg(f"{robot.name}: {what}")


def _law(draw: _Drawing, program: Program) -> tuple[float, float]:
    """The block of a law, what it follows and its state; gives the middle of its lower edge."""
    measured = {"q", "qd", "tau", *BASE, *STATES}
    asked = [key for key in program.inputs if key not in measured]
    draw.arrow(", ".join(asked))
    name = program.model.removeprefix("control ")
    entry = LAWS.get(name.removesuffix(" observed"))
    formula = [entry.formula] if entry is not None else []
    watched = ["tau - r, r = K (A qd - z)"] if "r" in program.outputs else []
    ends = draw.block(name, *formula, *watched)
    half = (26 + 18 * (1 + len(formula) + len(watched))) / 2
    state = state_name(program)
    if state:
        left, right = ends[0] + 14, ends[1] - 14
        centre, top = (left + right) / 2, 26.0
        edge = _MIDDLE - half
        draw.line((right, edge), (right, top), (centre + 15, top))
        draw.line((centre - 15, top), (left, top), (left, edge))
        draw.parts.append(f'<rect x="{centre - 15:g}" y="{top - 13:g}" width="30" height="26"/>')
        draw.words(centre, top + 5, "∫")
        draw.words(right + 14, top + 18, f"{state}d", small=True)
        draw.words(left - 10, top + 18, state, small=True)
    return (ends[0] + ends[1]) / 2, _MIDDLE + half


def _fed_back(draw: _Drawing, taken: tuple[float, float], middle: float) -> None:
    """H(q, qd) from where q and qd are to the sum."""
    level, left = _MIDDLE + 68.0, (middle + taken[0]) / 2 - 36
    for x in taken:
        draw.line((x, _MIDDLE), (x, level), (left + 72, level))
    draw.parts.append(f'<rect x="{left:g}" y="{level - 15:g}" width="72" height="30" rx="3"/>')
    draw.words(left + 36, level + 5, "H(q, qd)")
    draw.line((left, level), (middle, level), (middle, _MIDDLE + 11))
