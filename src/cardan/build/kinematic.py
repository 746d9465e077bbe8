"""Kinematic models: jacobian and its inverse, velocities, accelerations, jdot-qdot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ..algebra.vector import Vec
from ..describe.robot import FIXED, Robot
from ..describe.values.expression import Expression
from ..describe.values.parser import to_value
from ..errors import ModelError
from ..ir.code import Code
from ..ir.cost import cost
from ..ir.trace import Tracer
from ..mechanism.tree import Tree
from ..models.bodies import Bodies, bodies
from ..models.jacobian import Jacobian, decoupled, determinant_factor, inverse, rotation
from ..models.jacobian import jacobian as jacobian_model
from ..models.kinematics import accelerations as accelerations_model
from ..models.kinematics import velocities as velocities_model
from ..program import Program
from .common import MEANING, Arrays, build, flat, refuse, state
from .derivation import Form, Result

__all__ = [
    "accelerations", "jacobian", "jacobian_inverse", "jdot_qdot", "tool_point", "velocities",
]  # fmt: skip


def jacobian(
    robot: Robot, *, frame: Any = None, projection: Any = 0, intermediate: Any = None,
    tool: Sequence[Any] = (0, 0, 0), symbolic: bool = False,
) -> Program:  # fmt: skip
    """J of a point of a frame."""
    refuse(robot, "jacobian", loops=False)

    def outputs(scene: Bodies, q: Any, found: Jacobian) -> dict[str, Any]:
        return {"J": ((6, robot.n), flat(found.rows()))}

    forms = forms_of(robot, frame, projection, intermediate, tool, outputs)
    return build(
        robot, "jacobian", {"q": (robot.n,)}, forms, ["J"], symbolic=symbolic,
        meaning={"J": f"{MEANING['J']}; {_described(robot, frame, projection)}"},
    )  # fmt: skip


def jacobian_inverse(
    robot: Robot, *, frame: Any = None, projection: Any = 0, intermediate: Any = None,
    tool: Sequence[Any] = (0, 0, 0), symbolic: bool = False,
) -> Program:  # fmt: skip
    """The inverse of J and its determinant; generalized inverse when J is not square."""
    refuse(robot, "jacobian-inverse", loops=False)
    _refuse_singular(robot, frame)
    n = robot.n

    plan = _determinant_plan(robot, frame) if not any(tool_point(tool)) else None

    def outputs(scene: Bodies, q: Any, found: Jacobian) -> dict[str, Any]:
        det = _planned_determinant(scene, q, plan) if plan else None
        inverted, det = _inverted(found, n, robot, det)
        return {"Jinv": ((n, 6), flat(inverted)), "det": ((), [det])}

    forms = forms_of(
        robot, frame, projection, intermediate, tool, outputs, tried=7 if n <= 6 else 3
    )
    inputs, tree = {"q": (n,)}, Tree.of(robot)
    columns = sum(robot.joints[j - 1].sigma != FIXED for j in tree.path(tree.link(frame)))
    return build(
        robot, "jacobian-inverse", inputs, forms, ["Jinv", "det"], symbolic=symbolic,
        meaning=inverse_meaning(columns, _described(robot, frame, projection)),
    )  # fmt: skip


def inverse_meaning(columns: int, described: str) -> dict[str, str]:
    """What Jinv and det are for a Jacobian of six rows and so many columns of joints that move the
    frame. Where it is not square, det is no determinant of it: all six rows are in the product,
    so that a planar arm that is stretched gives no zero."""
    if columns == 6:
        return {"Jinv": f"{MEANING['Jinv']}; {described}", "det": MEANING["det"]}
    if columns < 6:
        way, product = "(J^T J)^-1 J^T", "J^T J"
        zero = (
            "zero where the joints no longer move the frame independently, not where a task of"
            f" {columns} of the rows is singular"
        )
    else:
        way, product = "J^T (J J^T)^-1", "J J^T"
        zero = "zero where the frame cannot move in all six ways"
    return {
        "Jinv": f"generalized inverse {way} of the Jacobian, 6 x {columns}; {described}",
        "det": f"det({product}), J of all six rows (m and rad together) and {columns} columns: not"
        f" a determinant of J; {zero}",
    }


def _described(robot: Robot, frame: Any, projection: Any) -> str:
    """Which frame is followed, in whose axes: said because both have defaults."""
    tree = Tree.of(robot)
    n, r = tree.link(frame), tree.link(projection)
    return f"of frame {tree.label(n)} in the axes of frame {tree.label(r) if r else 0}"


@dataclass(frozen=True)
class _Plan:
    """Where the determinant of a decoupled arm is cheapest: its point, and each factor's axes."""

    frame: int
    point: int
    arm: int
    wrist: int


def _determinant_plan(robot: Robot, frame: Any) -> _Plan | None:
    """The plan for an arm of six joints of which three leave some O_k at rest, else None."""
    tree = Tree.of(robot)
    n = tree.link(frame)
    if robot.n != 6 or len(tree.path(n)) < 6:
        return None
    frames = [0, *tree.path(n)]

    def price(point: int, axes: int, wrist: bool) -> tuple[int, int]:
        tracer = Tracer()
        scene = bodies(robot, tracer.parameter)
        det = determinant_factor(scene, tracer.array("q", robot.n), n, point, axes, wrist)
        code, _ = tracer.program({"det": ((), [det])})
        return _price(code), axes

    tracer = Tracer()
    scene, q = bodies(robot, tracer.parameter), tracer.array("q", robot.n)
    point = next((k for k in frames if decoupled(scene, q, n, k)), None)
    if point is None:
        return None
    best = {w: min(price(point, axes, w) for axes in frames)[1] for w in (False, True)}
    return _Plan(n, point, best[False], best[True])


def _price(code: Code) -> int:
    counted = cost(code)[0]
    return counted.total + 20 * counted.trig


def _planned_determinant(scene: Bodies, q: Any, plan: _Plan) -> Any:
    arm = determinant_factor(scene, q, plan.frame, plan.point, plan.arm, False)
    return arm * determinant_factor(scene, q, plan.frame, plan.point, plan.wrist, True)


def _inverted(
    found: Jacobian, n: int, robot: Robot, det: Any = None
) -> tuple[list[list[Any]], Any]:
    """(J^-1, det J); with fewer joints (J^T J)^-1 J^T, with more J^T (J J^T)^-1.

    Joints that do not move the frame (other branches) get rows of zeros."""
    if n == 6 and len(found.a) == 6:
        return found.inverse(det)
    rows = found.rows()
    moving = [c for c, m in enumerate(found.K) if m in found.a]
    rows = [[row[c] for c in moving] for row in rows]
    inverted, det = pseudo_inverse(rows)
    table = dict(zip(moving, inverted, strict=True))
    return [table.get(c, [0] * 6) for c in range(n)], det


def pseudo_inverse(rows: list[list[Any]]) -> tuple[list[list[Any]], Any]:
    """(inverse, determinant) of six rows: J^-1, (J^T J)^-1 J^T or J^T (J J^T)^-1."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    if len(columns) == 6:
        return inverse(rows)
    if len(columns) < 6:
        small, det = inverse(_product(columns, rows))
        return _product(small, columns), det
    small, det = inverse(_product(rows, columns))
    return _product(columns, small), det


def _refuse_singular(robot: Robot, frame: Any) -> None:
    """A Jacobian whose rank is too small wherever one looks has no inverse to generate."""
    tree = Tree.of(robot)
    k = tree.link(frame)
    rng = np.random.default_rng(0)
    values = {name: float(rng.uniform(0.5, 1.5)) for name in robot.parameters}
    scene = bodies(robot, values.__getitem__)
    rank, joints = 0, 0
    for q in rng.normal(size=(5, robot.n)):
        found = jacobian_model(scene, list(q), k, 0, 0)
        J = np.array(found.rows(), dtype=float)
        rank, joints = max(rank, int(np.linalg.matrix_rank(J))), len(found.a)
    if rank < min(6, joints) or not joints:
        raise ModelError(
            f"the Jacobian of frame {tree.label(k)} of '{robot.name}' has rank {rank} at most, for"
            f" {joints} joints: it has no inverse; choose another frame"
        )


def _product(a: list[list[Any]], b: list[list[Any]]) -> list[list[Any]]:
    def dot(row: list[Any], c: int) -> Any:
        total: Any = 0
        for k, x in enumerate(row):
            total = total + x * b[k][c]
        return total

    return [[dot(row, c) for c in range(len(b[0]))] for row in a]


def tool_point(tool: Any) -> Vec:
    """The point of a frame that is followed: three numbers."""
    listed = isinstance(tool, Iterable) and not isinstance(tool, str)
    point = [to_value(x) for x in tool] if listed else []
    if len(point) != 3 or any(isinstance(x, Expression) for x in point):
        shown = list(tool) if listed else tool
        raise ModelError(f"tool = {shown!r}: three numbers are expected, coordinates of a point")
    return Vec(*point)


def forms_of(
    robot: Robot, frame: Any, projection: Any, intermediate: Any, tool: Sequence[Any],
    outputs: Any, tried: int = 0,
) -> list[Form]:  # fmt: skip
    """One form per intermediate frame on the path, per way of seeing the axes.

    `tried`: only so many frames, those where the third factor is simplest."""
    tree = Tree.of(robot)
    n, r = tree.link(frame), tree.link(projection)
    point = tool_point(tool)
    frames = [0, *tree.path(n)]
    if intermediate is not None:
        frames = [tree.link(intermediate)]
    elif len(frames) > _LONG:  # the ends and the middle
        frames = [frames[0], frames[len(frames) // 2], frames[-1]]

    def factors(scene: Bodies, q: Any, choice: tuple[int, bool, bool]) -> Jacobian:
        k, merge, accumulate = choice
        return jacobian_model(scene, q, n, r, k, tool=point, merge=merge, accumulate=accumulate)

    def form(choice: tuple[int, bool, bool]) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            found = factors(scene, x["q"], choice)
            return Result(outputs(scene, x["q"], found), found)

        return run

    def price(choice: tuple[int, bool, bool]) -> int:
        tracer = Tracer()
        scene = bodies(robot, tracer.parameter)
        found = factors(scene, tracer.array("q", robot.n), choice)
        code, _ = tracer.program({"K": ((robot.n, 6), flat(list(found.K.values())))})
        return _price(code)

    choices = list(product(frames, (True, False), (True, False)))
    if tried:
        prices = {choice: price(choice) for choice in choices}
        best = [min((c for c in choices if c[0] == k), key=prices.__getitem__) for k in frames]
        choices = sorted(best, key=prices.__getitem__)[:tried]
    return list(map(form, choices))


_LONG = 14  # frames on the path: beyond it not every intermediate frame is tried


def velocities(robot: Robot, *, symbolic: bool = False) -> Program:
    """V of every link."""
    refuse(robot, "velocities", loops=False)
    inputs = state(robot, "q", "qd", gravity=False)

    def form(slide: bool) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            found = velocities_model(scene, x["q"], x["qd"], slide)
            rows = [[*found.V[link.j], *found.w[link.j]] for link in scene.links]
            return Result({"V": ((len(rows), 6), flat(rows))}, found)

        return run

    return build(robot, "velocities", inputs, map(form, (False, True)), ["V"], symbolic=symbolic)


def accelerations(robot: Robot, *, symbolic: bool = False) -> Program:
    """Vd of every link; of a floating base its own acceleration V0d is given."""
    refuse(robot, "accelerations", loops=False)
    inputs = state(robot, "q", "qd", "qdd", gravity=False, driven=True)

    def form(slide: bool) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            found = accelerations_model(scene, x["q"], x["qd"], x["qdd"], slide)
            rows = [[*found.Vd[link.j], *found.wd[link.j]] for link in scene.links]
            return Result({"Vd": ((len(rows), 6), flat(rows))}, found)

        return run

    return build(
        robot, "accelerations", inputs, map(form, (False, True)), ["Vd"], symbolic=symbolic
    )


def jdot_qdot(
    robot: Robot, *, frame: Any = None, projection: Any = 0, symbolic: bool = False
) -> Program:
    """Jdot qdot of a frame: the accelerations (8)-(10) with qdd = 0, and V0d = 0 if the base
    floats."""
    refuse(robot, "jdot-qdot", loops=False)
    tree = Tree.of(robot)
    n, r = tree.link(frame), tree.link(projection)
    inputs = state(robot, "q", "qd", gravity=False)

    def form(slide: bool) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            found = accelerations_model(scene, x["q"], x["qd"], [0] * robot.n, slide)
            R = rotation(scene, x["q"], r, n)
            values = [*(R @ found.Vd[n]), *(R @ found.wd[n])]
            return Result({"Jdqd": ((6,), values)}, found)

        return run

    return build(
        robot, "jdot-qdot", inputs, map(form, (False, True)), ["Jdqd"], symbolic=symbolic,
        meaning={"Jdqd": f"{MEANING['Jdqd']}; {_described(robot, frame, projection)}"},
    )  # fmt: skip
