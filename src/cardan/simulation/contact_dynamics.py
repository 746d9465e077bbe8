"""Direct dynamics of a robot some of whose frames the ground holds, with the forces of the ground:

    A u̇ + H = (0, τ) + J^T f        J u̇ + J̇ u = 0        u = (𝕍_0, q̇), 𝕍_0 of a base that floats

the KKT conditions of Gauss's principle of least constraint, solved by J A^-1 J^T. J and f are of
the frames' origins, or of the whole frames, in the axes of frame 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from ..algebra.vector import Vec, dot, hat
from ..arguments import named_arguments
from ..build.common import MEANING
from ..build.equations import solve_backwards
from ..build.mechanism import LOOP_MEANING
from ..catalogue import model
from ..describe.robot import Robot
from ..errors import InputError, ModelError, UnknownNameError
from ..ir.code import Code, gather
from ..ir.factor import improved
from ..ir.graph import Graph
from ..ir.interpret import interpret
from ..ir.passes import inline
from ..mechanism.coordinates import has_springs, is_floating
from ..program import Program

Scalar = Any
Matrix = list[list[Scalar]]
HELD = {"point": 3, "frame": 6}  # rows of a contact
_HELD_BY = {
    "point": "force of the ground on each frame held, at its origin, in frame 0, N",
    "frame": "wrench (force, moment about the origin) of the ground on each frame held, in frame 0,"
    " N and N m",
}


@named_arguments
def contact_dynamics(
    robot: Robot, frames: Sequence[Any], kind: str = "point", *, damping: float = 0.0,
    **options: Any,
) -> Program:  # fmt: skip
    """Accelerations of torques while the ground holds these frames, and its forces:
    q, qd, tau (V0, g0) -> qdd (V0d), f, a row of f for each frame.

    frames   names or numbers
    kind     point: the origin does not accelerate, three forces; frame: nor does it turn, six
    damping  added to the diagonal of J A^-1 J^T: contacts that repeat each other, as four corners
             of one foot, have no forces of their own without it; 1e-9 to 1e-6 shares them evenly
    options  of bias: friction, effort

    >>> robot = cardan.floating(cardan.load("ur5"), 30)
    >>> held = cardan.contact_dynamics(robot, [6], effort="plain")
    >>> held.outputs
    {'qdd': (6,), 'V0d': (6,), 'f': (1, 3)}
    >>> list(held.derivative("f", "tau").outputs)
    ['df_dtau']"""
    if kind not in HELD:
        raise UnknownNameError.of("kind", kind, HELD)
    if not frames or isinstance(frames, str):
        raise InputError("contact_dynamics: frames holds no frame; give a list such as ['foot']")
    if robot.ne or has_springs(robot):
        raise ModelError(
            f"contact_dynamics: '{robot.name}' has elastic joints or flexible links, whose"
            " coordinates a contact would move too; cardan.rigid(robot) makes links rigid"
        )
    effort = {key: options[key] for key in ("effort",) if key in options}
    bias, matrix = model(robot, "bias", **options), model(robot, "inertia-matrix", **effort)
    held = [
        [model(robot, "jacobian", frame=frame), model(robot, "jdot-qdot", frame=frame)]
        + ([model(robot, "transform", frame=frame, reference=0)] if is_floating(robot) else [])
        for frame in frames
    ]
    programs = [matrix, bias, *(program for group in held for program in group)]
    used = {name for program in programs for name in program.parameters}
    names = tuple(name for name in robot.parameters if name in used)
    inputs = {"q": bias.inputs["q"], "qd": bias.inputs["qd"], "tau": bias.inputs["qd"]}
    inputs |= {name: shape for name, shape in bias.inputs.items() if name not in (*inputs, "p")}
    if names:
        inputs["p"] = (len(names),)
    graph = Graph()
    x = {name: [graph.leaf(name, k) for k in range(prod(s))] for name, s in inputs.items()}
    values = dict(zip(names, x.pop("p", []), strict=True))

    def run(program: Program) -> list[Scalar]:
        own = {**x, "p": [values[name] for name in program.parameters]}
        (output,) = inline(graph, program.code, own).values()
        return output

    H = run(bias)
    base = len(H) - len(x["tau"])
    A = _rows(run(matrix), len(H))
    push = [tau - h for tau, h in zip([*[0] * base, *x["tau"]], H, strict=True)]
    J: Matrix = []
    drift: list[Scalar] = []  # J̇ u
    for group in held:
        joint, rate, *place = (run(program) for program in group)
        rows = _rows(joint, len(x["tau"]))
        if base:
            _, _, _, X, _, _, _, Y, _, _, _, Z, *_ = place[0]
            rows = [
                left + right for left, right in zip(_of_the_base(Vec(X, Y, Z)), rows, strict=True)
            ]
        J += rows[: HELD[kind]]
        drift += rate[: HELD[kind]]
    if not damping:
        flat = [entry for row in J for entry in row]
        shape = len(J), len(H)
        _require_independent(robot, gather(graph, inputs, {"J": (shape, flat)}), len(J))
    rates = solve_backwards(A, push)
    moved = [solve_backwards(A, row) for row in J]  # columns of A^-1 J^T
    S = [[dot(row, column) for column in moved] for row in J]
    for k, row in enumerate(S):
        row[k] = row[k] + damping
    force = solve_backwards(S, [-(dot(row, rates) + d) for row, d in zip(J, drift, strict=True)])
    for column, f in zip(moved, force, strict=True):
        rates = [rate + entry * f for rate, entry in zip(rates, column, strict=True)]
    outputs: dict[str, tuple[tuple[int, ...], Sequence[Scalar]]] = {
        "qdd": ((len(rates) - base,), rates[base:])
    }
    if base:
        outputs["V0d"] = ((6,), rates[:6])
    outputs["f"] = ((len(frames), HELD[kind]), force)
    code = improved(gather(graph, inputs, outputs))
    words = MEANING | (LOOP_MEANING if robot.constrained else {}) | dict(bias.meaning)
    meaning = {name: words[name] for name in (*inputs, *outputs) if name in words}
    meaning["f"] = f"{_HELD_BY[kind]}: {', '.join(map(str, frames))}"
    program: Program = replace(
        bias, model="contact-dynamics", code=code, parameters=names, meaning=meaning, page=None,
        defaults={k: v for program in programs for k, v in program.defaults.items()},
        remarks=tuple(dict.fromkeys(line for program in programs for line in program.remarks)),
    )  # fmt: skip
    return program


def _require_independent(robot: Robot, J: Code, size: int) -> None:
    """Contacts that repeat each other would divide by zero in every state."""
    rng = np.random.default_rng(0)
    x = {name: rng.uniform(0.5, 1.5, (1, *shape)) for name, shape in J.inputs.items()}
    values = interpret(J, x)["J"][0]
    rank = np.linalg.matrix_rank(values, 1e-9 * np.abs(values).max(initial=1e-300))
    if rank < size:
        raise ModelError(
            f"contact_dynamics: the {size} conditions on the frames held of '{robot.name}' have"
            f" rank {rank}, so that forces are not unique; hold fewer, or share the forces evenly"
            " with damping=1e-8"
        )


def _rows(flat: list[Scalar], size: int) -> Matrix:
    return [flat[k : k + size] for k in range(0, len(flat), size)]


def _of_the_base(P: Vec) -> Matrix:
    """Columns of J: how (V0, w0) moves a frame at P."""
    shift = [[-entry for entry in row] for row in hat(P).rows]
    unit = [[int(r == c) for c in range(3)] for r in range(3)]
    return [[*a, *b] for a, b in zip(unit, shift, strict=True)] + [[0, 0, 0, *row] for row in unit]
