"""A picture of a robot with its frames and lengths, in the manner of the books: joints as cylinders
and blocks, axes z and x of every frame, the lengths of the table along the links.

It is drawn from the table alone, in a configuration in which links and frames stand apart. A robot
that moves in a plane is seen along the normal of that plane.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape
from itertools import pairwise, product
from typing import Any

import numpy as np

from ..describe.limits import joint_limits
from ..describe.robot import FIXED, GEOMETRY, PRISMATIC, REVOLUTE, Joint, Robot
from ..describe.values.expression import Value, number, symbols
from ..document.formula import formula, width
from ..document.structure import Drawing, Label, Line, Stroke
from ..emit.latex import symbol_of
from ..errors import CardanError
from ..loops.numeric import skeleton
from ..loops.standing import standing
from ..mechanism.coordinates import Coordinates
from ..motion.frames import link_frames
from .facets import COLOURS, facets, seen, shaded, tube
from .solids import bodies, drawable, ends, hull, reach, thickness
from .vehicles import parts

Array = Any
_LINK = Stroke("#5b6670", 3.2)
_BODY = Stroke("#3a424a", 0.7, fill="#e3e8ec")
_SLIDE = Stroke("#3a424a", 0.7, fill="#cfd8df")
_CUT = Stroke("#3a424a", 0.7, fill="#ffffff")
_Z = Stroke("#0b4f9e", 1.0, arrow=True)
_X = Stroke("#a83c00", 0.9, arrow=True)
_GROUND = Stroke("#3a424a", 0.8)
_TOOL = Stroke("#3a424a", 0.7, fill="#3a424a")
_MOST_FRAMES = 9  # more frames than these are not labelled
_EDGE = 14.0
_CARD = np.array([260.0, 150.0])  # of a picture without labels


@dataclass(frozen=True)
class _Piece:
    """A part of a link: from one point to another, and the length it shows."""

    start: Array
    end: Array
    value: Value = 0
    variable: str = ""


@dataclass(frozen=True)
class _View:
    """The directions to the right, up and towards the reader."""

    right: Array
    up: Array
    near: Array
    plane: bool = False  # the robot moves in the plane of the picture

    def flat(self, points: Array) -> Array:
        return np.stack([points @ self.right, points @ self.up], axis=-1)


def robot_drawing(robot: Robot, wide: float = 330.0, high: float = 215.0) -> Drawing:
    """The picture, its frames and lengths labelled."""
    whole = drawable(robot, {})
    view, q = viewed(whole)
    T = link_frames(skeleton(whole), q)
    pieces = [*_pieces(robot, whole, T), *stubs(whole, T, view)]
    scale, shift = _fitting(whole, T, pieces, view, wide, high)

    def place(points: Array) -> Array:
        return scale * view.flat(np.asarray(points, float)) + shift

    shapes: list[tuple[float, Line]] = []
    unit = max(min(0.12 * thickness(whole), 16.0 / scale), 6.0 / scale)
    for piece in pieces:
        ends_ = place([piece.start, piece.end])
        middle = (piece.start + piece.end) / 2
        shapes.append((float(middle @ view.near), Line(_tuples(ends_), _LINK)))
    for solid in _joints(whole, T, unit, view, place):
        shapes.append(solid)
    for j in ends(whole):
        tip = T[j, :3, 3] + T[j, :3, :3] @ bodies(whole).get(j, np.zeros(3))
        stub = [x.end for x in pieces if np.array_equal(x.start, T[j, :3, 3])]
        tip = stub[0] if stub else tip
        shapes.append((float(tip @ view.near) + 1e-3, Line(_disc(place(tip), 2.2), _TOOL)))
    listed = [
        *_ground(place(np.zeros(3)), view, place),
        *(s for _, s in sorted(shapes, key=_depth)),
    ]
    return _framed([*listed, *_annotated(robot, T, pieces, view, place, listed)])


@lru_cache(maxsize=64)
def sketch(robot: Robot) -> str:
    """A small picture of its solids, shaded, as an <svg> element. Its only text is the name."""
    whole = drawable(robot, {})
    view, q = viewed(whole)
    T = link_frames(skeleton(whole), q)
    drawn = facets(whole, parts(whole), T, around=10)
    for piece in stubs(whole, T, view):
        rod = tube(piece.start, piece.end, 0.018 * thickness(whole), 10)
        drawn += [(points, COLOURS["body"]) for points in rod]
    drawn = [facet for facet in drawn if seen(facet, view.near)]
    drawn.sort(key=lambda facet: float(facet[0].mean(axis=0) @ view.near))
    flat = [view.flat(points) * [1, -1] for points, _ in drawn]
    low, high = np.concatenate(flat).min(axis=0), np.concatenate(flat).max(axis=0)
    scale = float(min((_CARD - _EDGE) / np.maximum(high - low, 1e-9)))
    paths = []
    for facet, points in zip(drawn, flat, strict=True):
        at = np.round((points - (low + high) / 2) * scale + _CARD / 2, 1).tolist()
        tone = "#" + "".join(f"{round(255 * x):02x}" for x in shaded(facet, view.near))
        d = "L".join(f"{x:g} {y:g}" for x, y in at)
        paths.append(f'<path d="M{d}Z" fill="{tone}" stroke="{tone}"/>')
    return (
        f'<svg viewBox="0 0 {_CARD[0]:g} {_CARD[1]:g}" role="img" stroke-width=".4" '
        f'xmlns="http://www.w3.org/2000/svg"><title>{escape(robot.name)}</title>'
        f"{''.join(paths)}</svg>"
    )


def _depth(item: tuple[float, Line]) -> float:
    return item[0]


# ---- where to look from, and in which configuration ----


def viewed(robot: Robot) -> tuple[_View, Array]:
    """From where a drawable robot is looked at, and in which configuration q."""
    view = _view(robot)
    return view, _pose(robot, view)


def _view(robot: Robot) -> _View:
    """Along the normal of the plane in which a robot moves; else from the front right, above."""
    axes = link_frames(skeleton(robot), np.zeros(robot.n))[1:, :3, 2]
    turns = [z for z, joint in zip(axes, robot.joints, strict=True) if joint.sigma == REVOLUTE]
    slides = [z for z, joint in zip(axes, robot.joints, strict=True) if joint.sigma == PRISMATIC]
    if turns:
        normal = turns[0]
        flat = all(abs(abs(z @ normal) - 1) < 1e-9 for z in turns)
        if flat and all(abs(z @ normal) < 1e-9 for z in slides):
            return _along(normal)
    near = np.array([0.52, -0.72, 0.46])
    near = near / np.linalg.norm(near)
    right = np.cross([0.0, 0.0, 1.0], near)
    right = right / np.linalg.norm(right)
    return _View(right, np.cross(near, right), near)


def _along(normal: Array) -> _View:
    """Towards a plane: x of frame 0 to the right where it lies in the plane, z upwards else."""
    axis = int(np.argmax(np.abs(normal)))
    if axis == 2:
        right = np.array([1.0, 0.0, 0.0])
        near = np.array([0.0, 0.0, 1.0])
    elif axis == 1:
        right, near = np.array([1.0, 0.0, 0.0]), np.array([0.0, -1.0, 0.0])
    else:
        right, near = np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])
    near = np.asarray(normal) * np.sign(normal @ near)
    right = right - (right @ near) * near
    right = right / np.linalg.norm(right)
    return _View(right, np.cross(near, right), near, plane=True)


def _pose(robot: Robot, view: _View) -> Array:
    """A configuration in which the links stand apart: of those with joints at right angles (in a
    plane: at others), the one with the fewest points upon one another."""
    bare = skeleton(robot)
    if robot.constrained:
        try:
            return standing(bare)
        except CardanError:
            return np.zeros(robot.n)
    low, high = joint_limits(bare)
    moving = [joint for joint in robot.joints if joint.sigma != FIXED]
    slides = np.array([joint.sigma == PRISMATIC for joint in moving])
    home = np.array([float(number(joint.home or 0) or 0) for joint in moving])
    out = 0.6 * reach(robot) / max(len(moving), 2)
    flat = view.plane
    angles = (np.pi / 5, np.pi / 3, -np.pi / 4) if flat else (0.0, np.pi / 2, -np.pi / 2)
    best, least = home, np.inf
    for choice in product(angles, repeat=min(len(moving), 4)):
        q = home.copy()
        q[: len(choice)] += np.where(slides[: len(choice)], 0.0, choice)
        q[slides] = home[slides] + out
        q = np.clip(q, low, high)
        badness = _crowded(robot, bare, q, view) + 0.02 * np.count_nonzero(choice)
        badness += (0.3 if flat else 0.01) * sum(c < 0 for c in choice)
        if badness < least:
            best, least = q, badness
    return best


def _crowded(robot: Robot, bare: Robot, q: Array, view: _View) -> float:
    """How much of the picture lies upon itself: pairs of joints that are apart in space and near in
    the picture, and a shape that is long and thin."""
    T = link_frames(bare, q)
    points = T[:, :3, 3]
    flat, size = view.flat(points), reach(robot)
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1) > 1e-6 * size
    near = np.linalg.norm(flat[:, None] - flat[None], axis=-1) / size
    crowd = float((np.exp(-((near / 0.12) ** 2)) * apart).sum()) / 2
    middles = [view.flat((x.start + x.end) / 2) for x in _pieces(robot, robot, T)]
    for a, b in ((a, b) for k, a in enumerate(middles) for b in middles[k + 1 :]):
        crowd += 0.5 * float(np.exp(-((np.linalg.norm(a - b) / size / 0.1) ** 2)))
    low = min(0.0, float(points[:, 2].min())) if abs(view.near[2]) < 0.9 else 0.0
    span = np.ptp(flat, axis=0)
    return crowd - 0.6 * float(span.min() / max(span.max(), 1e-9)) - 3.0 * low / size


# ---- what is drawn ----


def _pieces(robot: Robot, whole: Robot, T: Array) -> Iterator[_Piece]:
    """The ways from frame to frame along the table: b, d, r; those of the loops' cuts too."""
    for j, (joint, solid) in enumerate(zip(robot.joints, whole.joints, strict=True), 1):
        name = joint.variable or f"q{j}"
        yield from _way(joint, solid, T[solid.antecedent], T[j], name)
    for loop, closed in zip(robot.loops, whole.loops, strict=True):
        for frame, drawn in ((loop.cut, closed.cut), (loop.twin, closed.twin)):
            yield from _way(frame, drawn, T[drawn.antecedent], None, "")
    for j, centre in bodies(whole).items():
        yield _Piece(T[j, :3, 3], T[j, :3, 3] + T[j, :3, :3] @ centre)


def stubs(robot: Robot, T: Array, view: _View) -> Iterator[_Piece]:
    """Last links in a plane that the table does not show: along x of their frames."""
    far = bodies(robot)
    for j in ends(robot) if view.plane and not robot.loops else ():
        joint = robot.joints[j - 1]
        if j not in far and joint.sigma == REVOLUTE:
            yield _Piece(T[j, :3, 3], T[j, :3, 3] + 0.75 * _typical(robot) * T[j, :3, 0])


def _typical(robot: Robot) -> float:
    """The length of most links: the middle one, or the reach where there is none."""
    lengths = sorted(float(abs(number(joint.d) or 0)) for joint in robot.joints)
    real = [x for x in lengths if x > 1e-9]
    return real[len(real) // 2] if real else 0.5 * reach(robot)


def _way(
    joint: Joint, solid: Joint, before: Array, after: Array | None, name: str
) -> Iterator[_Piece]:
    gamma, b, alpha, d, _, r = (float(number(getattr(solid, key)) or 0) for key in GEOMETRY)
    foot = np.array([0.0, 0.0, b])
    corner = np.array([d * np.cos(gamma), d * np.sin(gamma), b])
    axis = np.array([np.sin(gamma) * np.sin(alpha), -np.cos(gamma) * np.sin(alpha), np.cos(alpha)])
    end = corner + r * axis
    points = [np.zeros(3), foot, corner, end]
    points = [before[:3, :3] @ x + before[:3, 3] for x in points]
    if after is not None:
        points[3] = after[:3, 3]
    slides = solid.sigma == PRISMATIC and after is not None
    for start, stop, key in zip(points, points[1:], ("b", "d", "r"), strict=False):
        if np.linalg.norm(stop - start) > 1e-9:
            variable = name if slides and key == "r" else ""
            yield _Piece(start, stop, getattr(joint, key), variable)


def _joints(
    robot: Robot, T: Array, unit: float, view: _View, place: Any
) -> Iterator[tuple[float, Line]]:
    """Cylinders of revolute joints and blocks of prismatic ones, with the ends that one sees."""
    for j, joint in enumerate(robot.joints, 1):
        if joint.sigma == FIXED:
            continue
        R, P = T[j, :3, :3], T[j, :3, 3]
        r = float(number(joint.r) or 0)
        if joint.sigma == PRISMATIC:
            yield from _block(R, T[j, :3, 3], unit, view, place)
        else:
            yield from _cylinder(R, P - r * R[:, 2], unit, view, place, _BODY)
    for loop in robot.loops:
        twin = loop.twin
        gamma, b, alpha, d, _, r = (float(number(getattr(twin, key)) or 0) for key in GEOMETRY)
        z = np.array([np.sin(gamma) * np.sin(alpha), -np.cos(gamma) * np.sin(alpha), np.cos(alpha)])
        at = np.array([d * np.cos(gamma), d * np.sin(gamma), b]) + r * z
        frame = T[twin.antecedent]
        axis = frame[:3, :3] @ z
        other = np.cross(axis, [0.3, 0.5, 0.8])
        x = other / np.linalg.norm(other)
        R = np.column_stack([x, np.cross(axis, x), axis])
        yield from _cylinder(R, frame[:3, :3] @ at + frame[:3, 3], 0.9 * unit, view, place, _CUT)


def _cylinder(
    R: Array, at: Array, unit: float, view: _View, place: Any, stroke: Stroke
) -> Iterator[tuple[float, Line]]:
    turns = np.linspace(0, 2 * np.pi, 33)[:-1]
    ring = 0.42 * unit * np.stack([np.cos(turns), np.sin(turns), 0 * turns], axis=-1)
    half = np.array([0, 0, 0.62 * unit])
    rings = [at + (ring + end) @ R.T for end in (-half, half)]
    depth = float(at @ view.near)
    yield depth, Line(hull(place(np.concatenate(rings))), stroke)
    front = max(rings, key=lambda points: float(points.mean(axis=0) @ view.near))
    if abs(float(R[:, 2] @ view.near)) > 0.05:
        yield depth + 1e-6, Line(_tuples(place(front)), stroke)


def _block(
    R: Array, at: Array, unit: float, view: _View, place: Any
) -> Iterator[tuple[float, Line]]:
    size = np.array([0.42, 0.42, 0.75]) * unit
    depth = float(at @ view.near)
    for axis in range(3):
        for sign in (-1.0, 1.0):
            normal = sign * R[:, axis]
            if float(normal @ view.near) <= 1e-6:
                continue  # seen from behind
            u, v = (k for k in range(3) if k != axis)
            corners = []
            for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                x = np.zeros(3)
                x[axis], x[u], x[v] = sign * size[axis], a * size[u], b * size[v]
                corners.append(at + R @ x)
            yield depth, Line(_tuples(place(corners)), _SLIDE)


def _ground(origin: Array, view: _View, place: Any) -> Iterator[Line]:
    """The base: a line with hatches below it."""
    x, y = origin
    y -= 5.0
    yield Line(((x - 13, y), (x + 13, y)), _GROUND)
    for k in range(6):
        yield Line(((x - 10 + 4.4 * k, y), (x - 14 + 4.4 * k, y - 4.5)), Stroke("#3a424a", 0.5))


def _fitting(
    robot: Robot, T: Array, pieces: Sequence[_Piece], view: _View, wide: float, high: float
) -> tuple[float, Array]:
    """The scale, and where the origin comes to lie in a picture of a width and a height."""
    points = [np.zeros(3), *T[:, :3, 3], *(p for x in pieces for p in (x.start, x.end))]
    flat = view.flat(np.array(points))
    low, most = flat.min(axis=0), flat.max(axis=0)
    span = np.maximum(most - low, 1e-6 * reach(robot) + 1e-9)
    scale = float(min((np.array([wide, high]) - 2 * _EDGE) / span))
    scale = min(scale, 0.75 * max(wide, high) / reach(robot))
    return scale, np.array([wide, high]) / 2 - scale * (low + most) / 2


def _framed(shapes: Sequence[Line | Label]) -> Drawing:
    """The shapes with as much paper as they need."""
    boxes = []
    for shape in shapes:
        if isinstance(shape, Label):
            wide = 0.5 * shape.size * width(formula(shape.latex)) + 2.0
            around = np.array([wide, 5.0])
            boxes += [np.array(shape.at) - around, np.array(shape.at) + around]
        else:
            boxes += [np.array(point) for point in shape.points]
    low, most = np.min(boxes, axis=0) - 3.0, np.max(boxes, axis=0) + 3.0

    def moved(shape: Line | Label) -> Line | Label:
        if isinstance(shape, Label):
            x, y = np.array(shape.at) - low
            return replace(shape, at=(float(x), float(y)))
        return replace(shape, points=_tuples(np.array(shape.points) - low))

    wide, high = most - low
    return Drawing(float(wide), float(high), tuple(map(moved, shapes)))


# ---- frames and lengths ----


def _annotated(
    robot: Robot, T: Array, pieces: Sequence[_Piece], view: _View, place: Any,
    drawn: Sequence[Line],
) -> list[Line | Label]:  # fmt: skip
    arrows, wanted = list[Line](), list[tuple[str, Array, Array, str]]()
    few = len(robot.links) <= _MOST_FRAMES
    unit = _unit_length(place)
    for axis, stroke, letter in ((2, _Z, "z"), (0, _X, "x")):
        for at, direction, frames in _grouped(T, range(len(T)) if few else [0], axis):
            start = place(at)
            way = place(at + direction) - start
            size = float(np.linalg.norm(way))
            names = ", ".join(f"{letter}_{{{j}}}" for j in frames)
            if size < 0.12 * unit:  # towards the reader: a point in a circle
                arrows += _towards(start, stroke)
                wanted.append((names, start, np.array([-0.7, -0.7]), stroke.colour))
                continue
            end = start + way / size * max(26.0 * size / unit, 13.0)
            arrows.append(Line(_tuples([start, end]), stroke))
            wanted.append((names, end, way / size, stroke.colour))
    if view.plane and few:
        for name, line, end, way in _angles(robot, T, place):
            arrows += line
            wanted.append((name, end, way, "#000000"))
    labels = _Labels([*drawn, *arrows])
    placed: list[Line | Label] = [labels.at_end(*item) for item in wanted]
    for piece in pieces if few else ():
        text = _length(piece)
        if text:
            placed.append(labels.beside(text, place(piece.start), place(piece.end)))
    if not few and len(robot.links) <= 24:
        for j in Coordinates.of(robot).active:
            name = robot.joints[j - 1].variable or f"q{j}"
            item = (symbol_of(name), place(T[j, :3, 3]), np.array([0.7, 0.7]), "#000000")
            placed.append(labels.at_end(*item))
    return [*arrows, *placed]


def _angles(robot: Robot, T: Array, place: Any) -> Iterator[tuple[str, list[Line], Array, Array]]:
    """The angles of revolute joints in the plane: from x of the frame before to x of their own."""
    for j, joint in enumerate(robot.joints, 1):
        if joint.sigma != REVOLUTE or joint.theta != 0 or joint.gamma != 0:
            continue
        at = place(T[j, :3, 3])
        before, after = (
            place(T[j, :3, 3] + T[i, :3, 0]) - at for i in (joint.antecedent, j)
        )  # fmt: skip
        start, end = (float(np.arctan2(y, x)) for x, y in (before, after))
        turn = (end - start + np.pi) % (2 * np.pi) - np.pi
        if abs(turn) < 0.15:
            continue
        angles = start + turn * np.linspace(0, 1, 17)
        arc = at + 21.0 * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        way = np.array([np.cos(angles[8]), np.sin(angles[8])])
        base = at + 30.0 * before / np.linalg.norm(before)
        lines = [Line(_tuples(arc), Stroke("#000000", 0.6, arrow=True))]
        lines.append(Line(_tuples([at, base]), Stroke("#000000", 0.4, dashed=True)))
        yield symbol_of(joint.variable or f"q{j}"), lines, at + 21.0 * way, way


def _unit_length(place: Any) -> float:
    """How long a length of 1 in the plane of the picture is."""
    zero = place(np.zeros(3))
    return float(max(np.linalg.norm(place(np.eye(3)[k]) - zero) for k in range(3)))


def _grouped(T: Array, shown: Any, axis: int) -> list[tuple[Array, Array, list[int]]]:
    """Axes of the frames, those of the same origin and direction once."""
    groups: list[tuple[Array, Array, list[int]]] = []
    for j in shown:
        at, direction = T[j, :3, 3], T[j, :3, axis]
        for other, way, frames in groups:
            if np.allclose(at, other, atol=1e-6) and np.allclose(direction, way, atol=1e-6):
                frames.append(j)
                break
        else:
            groups.append((at, direction, [j]))
    return groups


def _towards(at: Array, stroke: Stroke) -> list[Line]:
    line = Stroke(stroke.colour, 0.8, fill="#ffffff")
    return [
        Line(_disc(at, 3.4), line),
        Line(_disc(at, 0.9), Stroke(stroke.colour, 0.4, fill=stroke.colour)),
    ]


def _length(piece: _Piece) -> str:
    """The label of a length: its symbol or number, or the variable of a prismatic joint."""
    value = piece.value
    if piece.variable:
        text = symbol_of(piece.variable)
        return text if value == 0 else f"{text} + {_value(value)}"
    return "" if value == 0 else _value(value)


def _value(value: Value) -> str:
    if symbols(value):
        text = str(value)
        plain = text.lstrip("-")
        return symbol_of(plain) if plain.isidentifier() else ""
    x = number(value)
    return "" if x is None else f"{abs(float(x)):.4g}"


class _Labels:
    """Labels beside the lines: each where it covers the least of what is already there."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.points = np.array([p for line in lines for p in _dense(line.points)])
        self.boxes: list[tuple[float, float, float, float]] = []

    def at_end(self, text: str, end: Array, way: Array, colour: str) -> Label:
        """Beyond the end of an arrow."""
        wide = 4.0 * width(formula(text)) + 3.0
        side = np.array([-way[1], way[0]])
        places = [
            end + way * (4.0 + abs(way[0]) * wide + abs(way[1]) * 4.5) + side * shift
            for shift in (0.0, 6.0, -6.0, 11.0, -11.0)
        ]
        places += [end + side * sign * (4.0 + abs(side[0]) * wide + 5.0) for sign in (1, -1)]
        return self.best(text, places, wide, colour)

    def beside(self, text: str, start: Array, end: Array) -> Label:
        """Beside the middle of a line."""
        way = end - start
        far = float(np.linalg.norm(way)) or 1.0
        wide = 4.0 * width(formula(text)) + 3.0
        side = np.array([-way[1], way[0]]) / far
        off = 5.0 + abs(side[0]) * wide + abs(side[1]) * 4.5
        places = [
            start + way * along + side * sign * (off + more)
            for more in (0.0, 7.0) for along in (0.5, 0.35, 0.65, 0.2, 0.8) for sign in (1, -1)
        ]  # fmt: skip
        return self.best(text, places, wide, "#000000")

    def best(self, text: str, places: Sequence[Array], wide: float, colour: str) -> Label:
        def box(at: Array) -> tuple[float, float, float, float]:
            return at[0] - wide, at[0] + wide, at[1] - 5.0, at[1] + 5.0

        def covered(k: int) -> float:
            left, right, low, high = box(places[k])
            x, y = self.points[:, 0], self.points[:, 1]
            hidden = int(((x > left) & (x < right) & (y > low) & (y < high)).sum())
            overlap = sum(
                max(0.0, min(right, b) - max(left, a)) * max(0.0, min(high, d) - max(low, c))
                for a, b, c, d in self.boxes
            )
            return 1.0 * hidden + 0.6 * overlap + 0.8 * k

        at = places[min(range(len(places)), key=covered)]
        self.boxes.append(box(at))
        return Label((float(at[0]), float(at[1])), text, colour)


def _dense(points: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Points along a line, two units apart."""
    for (a, b), (c, d) in pairwise(points):
        count = max(2, int(np.hypot(c - a, d - b) / 2.0))
        for t in np.linspace(0, 1, count):
            yield a + t * (c - a), b + t * (d - b)


def _tuples(points: Any) -> tuple[tuple[float, float], ...]:
    return tuple((float(x), float(y)) for x, y in points)


def _disc(at: Array, radius: float) -> tuple[tuple[float, float], ...]:
    turns = np.linspace(0, 2 * np.pi, 17)[:-1]
    return _tuples(np.stack([at[0] + radius * np.cos(turns), at[1] + radius * np.sin(turns)], -1))
