"""Kinematic models: jacobian and its inverse, velocities, accelerations, jdot-qdot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ..algebra.vector import Vec, matrix_product
from ..describe.robot import FIXED, Frame, Robot
from ..describe.values.expression import Expression
from ..describe.values.parser import to_value
from ..errors import ModelError
from ..formulate.posture import formulated
from ..ir.code import Code
from ..ir.cost import cost
from ..ir.trace import Tracer
from ..mechanism.frames import placed
from ..mechanism.tree import Tree
from ..models.bodies import Bodies, bodies
from ..models.flexible.loops import side
from ..models.jacobian import Jacobian, decoupled, determinant_factor, inverse, rotation
from ..models.jacobian import jacobian as jacobian_model
from ..models.kinematics import accelerations as accelerations_model
from ..models.kinematics import velocities as velocities_model
from ..models.motion import seats
from ..program import Program
from .common import MEANING, Arrays, flat, slid, unsupported
from .derivation import Form, Result, written
from .flexible import kinematic as flexible
from .flexible.equations import tree_rates
from .mechanism import Mechanism

Scalar = Any
ROWS = ("x", "y", "z", "rx", "ry", "rz")  # components of a twist


def jacobian(
    robot: Robot, *, frame: Any = None, projection: Any = 0, intermediate: Any = None,
    tool: Sequence[Any] = (0, 0, 0), rows: Any = None, factors: bool = False,
    symbolic: bool = False,
) -> Program:  # fmt: skip
    """J of a point of a frame, over the independent joints: that of the tree times G; or its three
    factors. With flexible links over the elastic coordinates too, which come last."""
    if robot.ne:
        unsupported(robot, "jacobian", intermediate=intermediate, rows=rows, factors=factors)
        n, r = Tree.of(robot).link(frame), Tree.of(robot).link(projection)
        mechanism = Mechanism.of(robot, "jacobian", symbolic=symbolic)
        bent = flexible.jacobian(mechanism, n, r, tool_point(tool))
        return mechanism.program("jacobian", mechanism.inputs("q"), [bent], ["J"])
    robot, frame, tool = with_point(robot, frame, tool)
    mechanism = Mechanism.of(robot, "jacobian", symbolic=symbolic)
    chosen = range(6) if rows is None else _written(rows)

    def outputs(scene: Bodies, q: Any, record: Jacobian) -> dict[str, Any]:
        if factors:
            first, second = record.first(), record.second()
            third = _columns(mechanism, scene, q, record.third)
            return {
                "F1": ((len(chosen), 6), flat([first[r] for r in chosen])),
                "F2": ((6, 6), flat(second)),
                "F3": ((6, mechanism.na), flat(third)),
            }
        J = _columns(mechanism, scene, q, record.rows)
        return {"J": ((len(chosen), mechanism.na), flat([J[r] for r in chosen]))}

    forms = _forms(mechanism, frame, projection, intermediate, tool, outputs)
    words = MEANING["J"]
    if robot.constrained:
        words = words.replace("joint variable", "active joint")
    if len(chosen) < 6:
        words = words.replace("rows (linear, angular)", f"rows {_named(chosen)}")
    described = _described(robot, frame, projection)
    meaning = {"J": f"{words}; {described}"}
    if factors:
        meaning = {
            "F1": f"first of Renaud's factors, J = F1 F2 F3: the turn to its axes; {described}",
            "F2": "second: from the origin of the intermediate frame to the point",
            "F3": "third: the motion of that origin, in the axes of the intermediate frame",
        }
    return mechanism.program(
        "jacobian", mechanism.inputs("q"), forms, list(meaning), meaning=meaning
    )


def jacobian_inverse(
    robot: Robot, *, frame: Any = None, projection: Any = 0, intermediate: Any = None,
    tool: Sequence[Any] = (0, 0, 0), rows: Any = None, symbolic: bool = False,
) -> Program:  # fmt: skip
    """The inverse of the task's rows of J and its determinant; generalized inverse when they are
    not square."""
    robot, frame, tool = with_point(robot, frame, tool)
    mechanism = Mechanism.of(robot, "jacobian-inverse", symbolic=symbolic)
    na = mechanism.na
    chosen = task_rows(mechanism, frame, projection, tool, rows)
    tree = Tree.of(robot)
    columns, plan = na, None
    if not robot.constrained:
        columns = sum(robot.joints[j - 1].sigma != FIXED for j in tree.path(tree.link(frame)))
        planned = len(chosen) == 6 and not any(tool_point(tool))
        plan = _determinant_plan(mechanism.tree, frame) if planned else None

    def outputs(scene: Bodies, q: Any, record: Jacobian) -> dict[str, Any]:
        if len(chosen) == na == len(record.a) == 6 and not robot.constrained:
            inverted, det = record.inverse(_planned_determinant(scene, q, plan) if plan else None)
        else:
            J = _columns(mechanism, scene, q, record.rows)
            moving: Sequence[int] = range(na)
            if not robot.constrained:  # joints of other branches get rows of zeros
                moving = [c for c, m in enumerate(record.K) if m in record.a]
            small, det = pseudo_inverse([[J[r][c] for c in moving] for r in chosen])
            table = dict(zip(moving, small, strict=True))
            inverted = [table.get(c, [0] * len(chosen)) for c in range(na)]
        return {"Jinv": ((na, len(chosen)), flat(inverted)), "det": ((), [det])}

    few = 7 if na <= 6 and not robot.constrained else 3
    forms = _forms(mechanism, frame, projection, intermediate, tool, outputs, tried=few)
    return mechanism.program(
        "jacobian-inverse", mechanism.inputs("q"), forms, ["Jinv", "det"],
        meaning=inverse_meaning(chosen, columns, _described(robot, frame, projection)),
    )  # fmt: skip


def _columns(
    mechanism: Mechanism, scene: Bodies, q: Any, rows: Callable[[], list[list[Scalar]]]
) -> list[list[Scalar]]:
    """Rows over the joints of the tree as rows over the independent joints."""
    if not mechanism.robot.constrained:
        return rows()
    G = mechanism.constraint(scene, {"q": q})[0].G()
    return matrix_product(rows(), [G[j] for j in mechanism.coordinates.moving])


def inverse_meaning(rows: Sequence[int], columns: int, described: str) -> dict[str, str]:
    """What Jinv and det are for these rows of a Jacobian and so many columns of joints that move
    the frame. Where it is not square, det is no determinant of it."""
    named = "" if len(rows) == 6 else f", rows {_named(rows)}"
    if columns == len(rows):
        det = f"{MEANING['det']}{named}"
        return {"Jinv": f"{MEANING['Jinv']}{named}; {described}", "det": det}
    if columns < len(rows):
        way, product = "(J^T J)^-1 J^T", "J^T J"
        zero = (
            "zero where the joints no longer move the frame independently, not where a task of"
            f" {columns} of the rows is singular"
        )
    else:
        way, product = "J^T (J J^T)^-1", "J J^T"
        ways = "all six ways" if len(rows) == 6 else f"all of {_named(rows)}"
        zero = f"zero where the frame cannot move in {ways}"
    taken = "all six rows (m and rad together)" if len(rows) == 6 else f"rows {_named(rows)}"
    return {
        "Jinv": f"generalized inverse {way} of the Jacobian, {len(rows)} x {columns}{named};"
        f" {described}",
        "det": f"det({product}), J of {taken} and {columns} columns: not a determinant of J;"
        f" {zero}",
    }


def _named(rows: Sequence[int]) -> str:
    return " ".join(ROWS[r] for r in rows)


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


def pseudo_inverse(rows: list[list[Any]]) -> tuple[list[list[Any]], Any]:
    """(inverse, determinant) of rows: J^-1, (J^T J)^-1 J^T or J^T (J J^T)^-1."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    if len(columns) == len(rows):
        return inverse(rows)
    if len(columns) < len(rows):
        small, det = inverse(matrix_product(columns, rows))
        return matrix_product(small, columns), det
    small, det = inverse(matrix_product(rows, columns))
    return matrix_product(columns, small), det


def task_rows(
    mechanism: Mechanism, frame: Any, projection: Any, tool: Sequence[Any], rows: Any
) -> tuple[int, ...]:
    """The rows of J that a task has, by name; where none are named those that the robot moves in:
    of position alone, where these are as many as its joints, or all, where they are no more than
    these; else the six. Rows that are dependent wherever one looks have no inverse."""
    robot, tree = mechanism.robot, Tree.of(mechanism.robot)
    n, r = tree.link(frame), tree.link(projection)
    listed, joints = [], 0
    for values, states in _samples(mechanism):
        scene = bodies(mechanism.tree, values.__getitem__)
        for q in states:
            record = jacobian_model(scene, q, n, r, 0, tool=tool_point(tool))
            J = np.array(_columns(mechanism, scene, q, record.rows), dtype=float)
            listed.append(J)
            joints = mechanism.na if robot.constrained else len(record.a)

    def rank(chosen: Sequence[int]) -> int:
        ranks = (np.linalg.matrix_rank(J[list(chosen)], tol=1e-9) for J in listed)
        return int(max(ranks, default=0)) if chosen else 0

    chosen = _written(rows)
    if not chosen:
        moved = [k for k in range(6) if max(np.abs(J[k]).max(initial=0) for J in listed) > 1e-9]
        position = [k for k in moved if k < 3]
        chosen = tuple(range(6))
        if len(position) == joints == rank(position):
            chosen = tuple(position)
        elif len(moved) <= joints and rank(moved) == len(moved):
            chosen = tuple(moved)
    if rank(chosen) < min(len(chosen), joints) or not joints:
        named = "" if len(chosen) == 6 else f", rows {_named(chosen)},"
        raise ModelError(
            f"the Jacobian of frame {tree.label(n)} of '{robot.name}'{named} has rank"
            f" {rank(chosen)} at most, for {joints} joints: it has no inverse; choose another frame"
            f"{' or other rows' if named else ''}"
        )
    return chosen


def _written(rows: Any) -> tuple[int, ...]:
    """The rows that names say, in the order of a twist; none for none."""
    if rows is None:
        return ()
    names = rows.replace(",", " ").split() if isinstance(rows, str) else list(rows)
    unknown = [name for name in names if name not in ROWS]
    if unknown or not names or len(set(names)) < len(names):
        raise ModelError(
            f"rows = {rows!r}: names of {', '.join(ROWS)} are expected, each once, such as 'x y rz'"
        )
    return tuple(k for k, name in enumerate(ROWS) if name in names)


def _samples(mechanism: Mechanism) -> list[tuple[dict[str, float], list[list[float]]]]:
    """Values of the symbols, and a few configurations, with closed loops."""
    robot, rng = mechanism.robot, np.random.default_rng(0)
    values = {name: float(rng.uniform(0.5, 1.5)) for name in robot.parameters}
    if not robot.constrained:
        return [(values, rng.normal(size=(5, robot.n)).tolist())]
    return [(values | x.values, x.q[:4].tolist()) for x in mechanism.analysis.samples[:1]]


def with_point(robot: Robot, frame: Any, tool: Any) -> tuple[Robot, Any, Any]:
    """(robot, frame, tool); a point of formulas is the origin of a frame of its own."""
    point = coordinates_of(tool)
    if not any(isinstance(x, Expression) for x in point):
        return robot, frame, tool
    n = Tree.of(robot).link(frame)
    robot, (k,) = placed(robot, Frame("tool", n, xyz=tuple(point)))
    return robot, k, (0, 0, 0)


def coordinates_of(tool: Any) -> list[Any]:
    """Three values, numbers or formulas."""
    listed = isinstance(tool, Iterable) and not isinstance(tool, str)
    point = [to_value(x) for x in tool] if listed else []
    if len(point) != 3:
        shown = list(tool) if listed else tool
        raise ModelError(f"tool = {shown!r}: three values are expected, coordinates of a point")
    return point


def tool_point(tool: Any) -> Vec:
    """The point of a frame that is followed: three numbers."""
    point = coordinates_of(tool)
    if any(isinstance(x, Expression) for x in point):
        raise ModelError(f"tool = {list(tool)!r}: three numbers are expected, of flexible links")
    return Vec(*point)


def _forms(
    mechanism: Mechanism, frame: Any, projection: Any, intermediate: Any, tool: Sequence[Any],
    outputs: Any, tried: int = 0,
) -> list[Form]:  # fmt: skip
    """One form per intermediate frame on the path, per way of seeing the axes.

    `tried`: only so many frames, those where the third factor is simplest."""
    robot = mechanism.tree
    tree = Tree.of(mechanism.robot)
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
            record = factors(scene, x["q"], choice)
            return Result(outputs(scene, x["q"], record), record)

        return run

    def price(choice: tuple[int, bool, bool]) -> int:
        tracer = Tracer()
        scene = bodies(robot, tracer.parameter)
        record = factors(scene, tracer.array("q", robot.n), choice)
        code, _ = tracer.program({"K": ((robot.n, 6), flat(list(record.K.values())))})
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
    mechanism = Mechanism.of(robot, "velocities", symbolic=symbolic)
    nl = len(robot.links)

    def page(scene: Bodies, x: Arrays) -> Result:
        if robot.ne:
            qd = tree_rates(mechanism, scene, x)[0]
        else:
            qd = mechanism.row(mechanism.constraint(scene, x)[0].velocities(x["qd"]))
        record = velocities_model(formulated(scene), x["q"], qd)
        rows = [[*record.V[link.j], *record.w[link.j]] for link in scene.links[:nl]]
        return Result({"V": ((nl, 6), flat(rows))}, record)

    inputs = mechanism.inputs("q", "qd", base=["V0"])
    return mechanism.program("velocities", inputs, cut_or_not(mechanism, page), ["V"])


def accelerations(robot: Robot, *, symbolic: bool = False) -> Program:
    """Vd of every link; of a floating base its own acceleration V0d is given."""
    nl = len(robot.links)

    def outputs(scene: Bodies, x: Arrays, record: Any) -> dict[str, Any]:
        rows = [[*record.Vd[link.j], *record.wd[link.j]] for link in scene.links[:nl]]
        return {"Vd": ((nl, 6), flat(rows))}

    return _accelerated(robot, "accelerations", outputs, "Vd", symbolic)


def jdot_qdot(
    robot: Robot, *, frame: Any = None, projection: Any = 0, symbolic: bool = False
) -> Program:
    """Jdot qdot of a frame: the accelerations (8)-(10) of independent joints that do not
    accelerate, and V0d = 0 if the base floats."""
    tree = Tree.of(robot)
    n, r = tree.link(frame), tree.link(projection)

    def outputs(scene: Bodies, x: Arrays, record: Any) -> dict[str, Any]:
        if robot.ne:
            still = seats(scene, x["q"])
            R = side(scene, still, 0, r).R.T @ side(scene, still, 0, n).R
        else:
            R = rotation(scene, x["q"], r, n)
        return {"Jdqd": ((6,), [*(R @ record.Vd[n]), *(R @ record.wd[n])])}

    words = {"Jdqd": f"{MEANING['Jdqd']}; {_described(robot, frame, projection)}"}
    return _accelerated(robot, "jdot-qdot", outputs, "Jdqd", symbolic, words)


def _accelerated(
    robot: Robot, model: str, outputs: Callable[..., dict[str, Any]], output: str, symbolic: bool,
    meaning: Mapping[str, str] | None = None,
) -> Program:  # fmt: skip
    """What follows from the accelerations of the links."""
    mechanism = Mechanism.of(robot, model, symbolic=symbolic)

    def page(scene: Bodies, x: Arrays) -> Result:
        if robot.ne:
            qd, qdd, _ = tree_rates(mechanism, scene, x)
        else:
            _, qd, qdd = mechanism.motion(scene, x)
        record = accelerations_model(formulated(scene), x["q"], qd, qdd)
        return Result(outputs(scene, x, record), record)

    joints, base = (["q", "qd", "qdd"], ["V0", "V0d"]) if output == "Vd" else (["q", "qd"], ["V0"])
    inputs = mechanism.inputs(*joints, base=base)
    return mechanism.program(model, inputs, cut_or_not(mechanism, page), [output], meaning=meaning)


def cut_or_not(mechanism: Mechanism, page: Form) -> list[Form]:
    """The page with the frames described, and with all of them cut in two."""
    return [page] if mechanism.ne else [page, written(page, slid(mechanism.tree))]
