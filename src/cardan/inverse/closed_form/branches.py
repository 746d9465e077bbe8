"""All branches of a solution as one straight-line program.

The steps are traced once, with signs as inputs; every combination of signs is then inlined into
one graph, where branches share what they have in common. Validity is data: an output `margin` per
branch (negative: no real solution) and its `residual` against the direct model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

from ...algebra.scalar import cos_sin, function
from ...describe.robot import PRISMATIC
from ...ir.code import Code
from ...ir.passes import inline, permuted
from ...ir.trace import Tracer
from ...program import Program
from ..chain.chain import Chain
from ..settle import CLEAR
from .matrices import IDENTITY, Frame, arm_values, before, compose, placed_frame, placements
from .paul import Derivation
from .roots import select

Scalar = Any
MEANING = {
    "T": "pose of the frame: homogeneous matrix, m",
    "free": "values of the joints that are given, rad or m",
    "guess": "joint values taken where any would do, rad or m; then the square below which a"
    " vector has no direction",
    "q": "joint values of each branch, rad in (-pi, pi] or m",
    "margin": "of each branch: negative, there is no real solution; near 0, it is singular",
    "residual": "of each branch: largest difference of its pose to T, lengths over the robot's size"
    " where that is not near 1 m",
    "p": "free parameters, SI units",
}


def program(found: Derivation, model: str) -> Program:
    """T (, free, guess, p) -> q (k, n), margin (k), residual (k)."""
    code, names = _one_branch(found)
    tracer = Tracer()
    arrays = {
        name: _flat(tracer.array(name, *shape))
        for name, shape in code.inputs.items()
        if name not in ("sign", "p")
    }
    if names:
        arrays["p"] = _flat(tracer.array("p", len(names)))
    count = len(found.signs)
    outputs: dict[str, list[Scalar]] = {"q": [], "margin": [], "residual": []}
    for signs in product((1, -1), repeat=count):
        rows = inline(tracer.graph, code, {**arrays, "sign": signs})
        for name, flat in outputs.items():
            flat += rows[name]
    k, n = 2**count, found.chain.n
    shapes = {"q": (k, n), "margin": (k,), "residual": (k,)}
    listed = {name: (shapes[name], flat) for name, flat in outputs.items()}
    whole, _ = tracer.program(listed)
    order = _ordered(found.chain, names)
    whole = permuted(whole, "p", [names.index(name) for name in order])
    meaning = {name: MEANING[name] for name in (*whole.inputs, *listed)}
    return Program(model, found.chain.robot, whole, order, {}, meaning)


def one_branch(found: Derivation) -> Code:
    """T (, free, guess, p), sign -> q (n), margin (1), residual (1) of a branch; p: all symbols of
    the geometry."""
    code, names = _one_branch(found)
    rest = [name for name in _ordered(found.chain, found.chain.parameters) if name not in names]
    every = [*names, *rest]
    order = [every.index(name) for name in _ordered(found.chain, every)]
    return permuted(code, "p", order)


def arm_program(chain: Chain, held: Sequence[bool]) -> Code:
    """p, all symbols of the geometry -> the table `arm` of approach.py."""
    tracer = Tracer()
    names = _ordered(chain, chain.parameters)
    symbols = dict(zip(names, _flat(tracer.array("p", len(names))), strict=True))
    table = arm_values(chain, held, symbols)  # unit 1: it has symbols
    return tracer.program({"arm": ((len(table),), table)})[0]


def _ordered(chain: Chain, names: Iterable[str]) -> tuple[str, ...]:
    """Symbols in the order in which programs take them."""
    return tuple(sorted(names, key=chain.order.index))


def _flat(items: Any) -> list[Scalar]:
    if isinstance(items, list):
        return [x for item in items for x in _flat(item)]
    return [items]


def _one_branch(found: Derivation) -> tuple[Code, tuple[str, ...]]:
    """The program of one branch, its signs as an input."""
    q = [_joint_value(found, j) for j in range(found.chain.n)]
    outputs = {
        "q": ((found.chain.n,), q),
        "margin": ((1,), [_margin(found)]),
        "residual": ((1,), [residual(found) if found.true is None else _true_residual(found, q)]),
    }
    return found.geo.tracer.program(outputs, None, found.chain.parameters)


def _margin(found: Derivation) -> Scalar:
    """The least margin up to the first equation that vanishes altogether; 0, which is doubtful,
    where one does and no root before it was missing."""
    graph = found.geo.tracer.graph
    margin: Scalar = 1
    span: Scalar = 1
    for step in found.steps:
        for x in step.root.spans:
            span = function("min", span, x)
        for x in step.root.margins:
            least = function("min", margin, x)
            margin = least if isinstance(span, int) else select(graph, span - CLEAR, least, margin)
    if isinstance(span, int):
        return margin
    vanished = select(graph, margin + CLEAR, 0, margin)
    return select(graph, span - CLEAR, function("min", margin, span), vanished)


def _joint_value(found: Derivation, j: int) -> Scalar:
    """q_j from the solved unknowns."""
    geo = found.geo
    joint = geo.joints[j]
    if j in geo.free or joint.sigma == PRISMATIC:
        own = geo.free[j] if j in geo.free else found.known[j] - joint.r
        return own * geo.unit if joint.sigma == PRISMATIC and geo.unit != 1 else own
    step = next(step for step in found.steps if step.unknown == j)
    S, C = step.root.angle or (0, 1)
    if joint.previous is not None:
        c, s = found.known[joint.previous]
        C, S = C * c + S * s, S * c - C * s
    c, s = cos_sin(joint.turn + joint.sign * joint.theta)
    C, S = C * c + S * s, S * c - C * s
    return function("atan2", S * joint.sign, C)


def residual(found: Derivation) -> Scalar:
    """The largest entry of iT0 U0 - iTn, for the frame i where it is cheapest."""
    groups = placements(found.geo, found.known)
    best: tuple[int, Scalar] | None = None
    left = found.geo.U0
    for i in range(len(groups) + 1):
        if i:
            left = before(groups[i - 1], left)
        right = Frame(IDENTITY, left.P * 0)
        for group in reversed(groups[i:]):
            right = compose(group, right)
        value = _distance(left, right)
        price = found.shadow.unpaid([value])
        if best is None or price < best[0]:
            best = price, value
    assert best is not None
    worst = best[1]
    for step in found.steps:  # two equations give C and S apart: only together are they an angle
        if step.relation.kind == "two":
            C, S = step.root.value
            worst = _larger(worst, C * C + S * S - 1)
    return worst


def _true_residual(found: Derivation, q: Sequence[Scalar]) -> Scalar:
    """The largest difference of the pose of q on the chain itself to T."""
    assert found.true is not None
    unit = found.geo.unit
    if unit != 1:
        slides = [joint.sigma == PRISMATIC for joint in found.true.joints]
        q = [x * (1 / unit) if slide else x for x, slide in zip(q, slides, strict=True)]
    return _distance(placed_frame(found.true, q, found.geo.tracer), found.geo.T)


def _distance(A: Frame, B: Frame) -> Scalar:
    worst: Scalar = 0
    for a, b in zip(A.R.rows, B.R.rows, strict=True):
        for x, y in zip(a, b, strict=True):
            worst = _larger(worst, x - y)
    for x, y in zip(A.P, B.P, strict=True):
        worst = _larger(worst, x - y)
    return worst


def _larger(worst: Scalar, x: Scalar) -> Scalar:
    if isinstance(x, int | float) and x == 0:
        return worst
    size = function("abs", x)
    return size if isinstance(worst, int) and worst == 0 else function("max", worst, size)
