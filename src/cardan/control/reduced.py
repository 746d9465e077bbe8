"""Simpler models: leave out what contributes little over given motions, and say what it costs.

[B23] 3.3.1: models are simplified "by eliminating terms requiring too much computing power in
relation to the contribution they bring". A term is an operand of a sum in the program. Its
contribution to an output is its own value times the output's sensitivity to the sum, at its largest
over the states given; dropping starts with the smallest and goes on as long as the error measured
on those states, relative to the largest value of each output, stays below the tolerance. An output
that is nothing but rounding, or zero, is measured by `FLOOR` of the largest one beside it.

What was chosen is tried half-way between the states; terms that count there are put back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arguments import named_arguments
from ..errors import InputError
from ..ir.code import Code, arguments
from ..ir.cost import Cost
from ..ir.graph import Graph, Node
from ..ir.interpret import FUNCTIONS, interpret, node_values
from ..ir.passes import rebuild, replay
from ..ir.spell import ATOM, MINUS, Piece, Speller
from ..motion.trajectory import Trajectory
from ..program import Program

FLOOR = 1e-5  # of the largest element of an output: less is rounding of the robot's file
_ROUNDING = 1e-12  # of a whole number
_ASTRAY = 2.0  # times the tolerance: an error between the states that is not one of chance
Edge = tuple[int, int]  # (node of a sum, which operand)
States = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Term:
    """An operand of a sum: where it stands, and its largest contribution to any output, relative to
    that output's largest value."""

    sum: str
    text: str
    contribution: float
    edge: Edge


@dataclass(frozen=True)
class Reduction:
    """The reduced program, what was dropped, and the errors measured.

    `error` is relative to the largest value of each output over the states; `check` is the same on
    states that were not used to choose."""

    program: Program
    dropped: tuple[Term, ...]
    before: Cost
    after: Cost
    error: float
    check: float | None
    errors: Mapping[str, np.ndarray]  # largest absolute error of each output element

    @property
    def saved(self) -> float:
        """The share of operations that is saved."""
        return 1 - self.after.total / self.before.total if self.before.total else 0.0

    def __str__(self) -> str:
        check = "" if self.check is None else f", {self.check:.2g} on other states"
        return (
            f"{len(self.dropped)} terms dropped: {self.before} -> {self.after}"
            f" ({100 * self.saved:.0f} % saved); largest error {self.error:.2g} of the peak{check}"
        )


def states_of(program: Program, motions: Trajectory | Sequence[Trajectory]) -> dict[str, Any]:
    """The inputs q, qd, qdd of a program along one or more motions."""
    listed = [motions] if isinstance(motions, Trajectory) else list(motions)
    missing = set(program.inputs) - {"q", "qd", "qdd"}
    if missing or not listed:
        raise InputError(f"a motion does not give the inputs {', '.join(sorted(missing))}")
    return {name: np.concatenate([getattr(x, name) for x in listed]) for name in program.inputs}


@named_arguments
def rank(program: Program, states: States) -> list[Term]:
    """Every term of a program, the least important first."""
    return _ranked(program, program.arrays(states))


def _ranked(program: Program, inputs: States) -> list[Term]:
    code = program.code
    values = node_values(code, inputs)
    worst: dict[Edge, float] = {}
    for output in code.outputs.values():
        scales = _scales(np.array([np.abs(values[abs(ref)]).max() for ref in output.refs], float))
        for ref, scale in zip(output.refs, scales.tolist(), strict=True):
            if scale == 0:
                continue
            for id, weight in _sensitivities(code, values, abs(ref)).items():
                if code.nodes[id][0] in ("add", "sub"):
                    for k, arg in enumerate(arguments(code.nodes[id])):
                        share = float(np.abs(weight * values[arg]).max()) / scale
                        worst[id, k] = max(worst.get((id, k), 0.0), share)
    terms = [
        Term(_name(code, id), _text(code, code.nodes[id][1 + k]), share, (id, k))
        for (id, k), share in worst.items()
    ]
    return sorted(terms, key=lambda term: (term.contribution, term.edge))


@named_arguments
def reduce_model(
    program: Program, states: States | Trajectory | Sequence[Trajectory], tolerance: float = 0.01,
    *, check: States | Trajectory | Sequence[Trajectory] | None = None, rounds: int = 4,
) -> Reduction:  # fmt: skip
    """Drop the least terms of a program as long as its error stays below a tolerance.

    states: inputs (m, ...) by name, or motions; check: others, for the error where it was not
    chosen. The tolerance is relative to the largest value of each output."""
    if not (np.isfinite(tolerance) and tolerance >= 0):
        raise InputError(f"a tolerance of {tolerance}; expected 0 or more")
    samples = states if isinstance(states, Mapping) else states_of(program, states)
    inputs = program.arrays(samples)
    current, dropped = _chosen(program, inputs, tolerance, rounds)
    between = {name: _between(x) if name in samples else x for name, x in inputs.items()}
    remarks = []
    if _departure(program, current, between) > max(_ASTRAY * tolerance, 1e-12):
        wider = {
            name: np.concatenate([x, between[name]]) if name in samples else x
            for name, x in inputs.items()
        }
        current, dropped = _chosen(program, wider, tolerance, rounds)
        remarks = ["terms that count between the given states were put back"]
    exact, values = interpret(program.code, inputs), interpret(current.code, inputs)
    errors = {
        name: np.abs(values[name] - x).reshape(-1, *program.outputs[name]).max(axis=0)
        for name, x in exact.items()
    }
    check_error = None
    if check is not None:
        other = check if isinstance(check, Mapping) else states_of(program, check)
        check_error = _departure(program, current, program.arrays(other))
    return Reduction(
        _named(current, program, tolerance, remarks), tuple(dropped), program.cost, current.cost,
        _error(exact, values), check_error, errors,
    )  # fmt: skip


def _chosen(
    program: Program, inputs: States, tolerance: float, rounds: int
) -> tuple[Program, list[Term]]:
    """The program with as few terms as stay within the tolerance, and the terms dropped."""
    exact = interpret(program.code, inputs)
    current, dropped = program, []
    for _ in range(rounds):
        terms = [t for t in _ranked(current, inputs) if t.contribution <= 2 * tolerance]
        best, taken = current, 0
        low, high = 0, len(terms)
        while low < high:  # the largest number of terms within the tolerance
            middle = (low + high + 1) // 2
            trial = _without(current, terms[:middle])
            if _error(exact, interpret(trial.code, inputs)) <= tolerance:
                low, best, taken = middle, trial, middle
            else:
                high = middle - 1
        if not taken or best.cost.total >= current.cost.total:
            break
        dropped += terms[:taken]
        current = best
    return current, dropped


def _between(x: np.ndarray) -> np.ndarray:
    """Half-way from each state (m, ...) to the next."""
    return np.asarray((x[:-1] + x[1:]) / 2)


def _departure(program: Program, reduced: Program, inputs: States) -> float:
    """The error of a reduced program at some states; none without states."""
    if not all(len(x) for x in inputs.values()):
        return 0.0
    return _error(interpret(program.code, inputs), interpret(reduced.code, inputs))


def _named(reduced: Program, program: Program, tolerance: float, more: Sequence[str]) -> Program:
    remark = f"reduced: terms below {tolerance:g} of the peak over given motions are left out"
    remarks = (*program.remarks, remark, *more)
    return replace(reduced, model=f"{program.model} reduced", remarks=remarks)


def _scales(peaks: np.ndarray) -> np.ndarray:
    """What errors of the elements of an output are measured by: their largest values."""
    return np.asarray(np.maximum(peaks, FLOOR * peaks.max(initial=0.0)))


def _error(exact: States, reduced: States) -> float:
    """The largest error over the largest value, by output element."""
    worst = 0.0
    for name, x in exact.items():
        rows, other = x.reshape(len(x), -1), reduced[name].reshape(len(x), -1)
        scale = _scales(np.abs(rows).max(axis=0, initial=0.0))
        lost = np.abs(rows - other).max(axis=0, initial=0.0)
        if (lost[scale == 0] > 0).any():
            return np.inf
        worst = max(worst, float((lost[scale > 0] / scale[scale > 0]).max(initial=0.0)))
    return worst if np.isfinite(worst) else np.inf


def _without(program: Program, terms: Sequence[Term]) -> Program:
    """The program with those operands left out of their sums."""
    gone = {term.edge for term in terms}

    def rewrite(graph: Graph, id: int, node: Node, scalars: list[Any]) -> Any:
        first, second = (id, 0) in gone, (id, 1) in gone
        if not (first or second):
            return _folded(graph, node, scalars)
        if first and second:
            return 0
        if second:
            return scalars[node[1]]
        return scalars[node[2]] if node[0] == "add" else -scalars[node[2]]

    return replace(program, code=rebuild(program.code, rewrite), page=None)


def _folded(graph: Graph, node: Node, scalars: list[Any]) -> Any:
    """The node again; a function of numbers becomes a number, and a number that is a whole one but
    for rounding that one: 1 is no factor, the cosine of an angle with seven decimals is."""
    args = arguments(node)
    if node[0] == "const":
        return _whole(node[1])
    if args and all(not hasattr(scalars[arg], "ref") for arg in args):
        return _whole(float(FUNCTIONS[node[0]](*(float(scalars[arg]) for arg in args))))
    return replay(graph, node, scalars)


def _whole(x: Any) -> Any:
    nearest = round(float(x))
    return nearest if nearest and abs(float(x) - nearest) <= _ROUNDING * abs(nearest) else x


def _sensitivities(code: Code, x: list[Any], output: int) -> dict[int, Any]:
    """∂output/∂node for every node it depends on, at all states: one sweep back."""
    weight: dict[int, Any] = {output: np.float64(1)}
    for id in range(output, 0, -1):
        if id not in weight:
            continue
        node, w = code.nodes[id], weight[id]
        for arg, partial in zip(arguments(node), _partials(node, x, id), strict=True):
            weight[arg] = weight.get(arg, 0.0) + w * partial
    return weight


def _partials(node: Node, x: list[Any], id: int) -> list[Any]:
    """Partial derivatives of a node by its arguments, as numbers."""
    op, u = node[0], [x[arg] for arg in arguments(node)]
    if op in ("add", "sub"):
        return [1.0, 1.0 if op == "add" else -1.0]
    if op == "mul":
        return [u[1], u[0]]
    if op == "div":
        return [1 / u[1], -x[id] / u[1]]
    if op in ("sin", "cos"):
        return [np.cos(u[0]) if op == "sin" else -np.sin(u[0])]
    if op == "neg":
        return [-1.0]
    if op == "sqrt":
        return [1 / (2 * x[id])]
    if op == "abs":
        return [np.sign(u[0])]
    if op == "select":
        return [0.0, u[0] > 0, u[0] <= 0]
    if op in ("min", "max"):
        first = (u[0] <= u[1]) == (op == "min")
        return [1.0 * first, 1.0 - first]
    if op == "atan2":
        square = u[0] * u[0] + u[1] * u[1]
        return [u[1] / square, -u[0] / square]
    return [0.0] * len(u)


def _name(code: Code, id: int) -> str:
    return code.labels.get(id, f"v{id}")


def _text(code: Code, id: int, depth: int = 2) -> str:
    """A term as a short formula, in the names of the paper where there are some."""

    def leaf(id: int, level: int) -> Piece | None:
        node = code.nodes[id]
        if id in code.labels:
            return code.labels[id], ATOM
        if node[0] == "const":
            return f"{float(node[1]):.6g}", ATOM if node[1] >= 0 else MINUS
        if node[0] == "input":
            return f"{node[1]}{node[2] + 1}", ATOM
        return (f"v{id}", ATOM) if level == depth else None

    return Speller(code.nodes, leaf).text(id)
