"""What is derived and how it is judged: traces of a model's algorithm, their price, their check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..describe.check import extremes
from ..describe.robot import Robot
from ..errors import ModelError
from ..formulate.formulation import Formulation
from ..ir.code import LEAVES, Code, Output, reached
from ..ir.cost import TRIG, cost
from ..ir.factor import factored, improved, rewritten_sums
from ..ir.graph import Expr, Graph, Node
from ..ir.interpret import interpret, node_values, outputs_of
from ..ir.page import Page
from ..ir.passes import inline, transplanted
from ..ir.trace import PARAMETERS, Tracer
from ..models.bodies import Bodies, bodies
from ..models.composite import inertia_matrix
from ..program import Program

_STATES = 3  # that programs are compared at
_REMEMBERED = 256  # programs whose sums are rewritten, in one search
_SKETCHED = 400_000  # nodes of one graph of sketches
_VAST = 4000  # nodes: a program beyond it still falls when it is rewritten a second time
_WEIGHT = {"add": 1, "sub": 1, "mul": 1, "div": 1, "sqrt": 1} | dict.fromkeys(
    ("sin", "cos", "atan2"), TRIG
)


@dataclass(frozen=True)
class Result:
    """What an algorithm gives back: outputs (name -> shape, scalars) and the record that names
    them."""

    outputs: Mapping[str, tuple[tuple[int, ...], Sequence[Any]]]
    record: Any = None


Form = Callable[[Bodies, dict[str, Any]], Result]
Call = Callable[..., dict[str, list[Any]]]  # (program, **arrays) -> its outputs, row by row


@dataclass(frozen=True)
class Route:
    """A model by way of others: its outputs from those of their programs, run where `formula`
    calls them.

    Programs of robots with the same symbols: a parameter is the same wherever it occurs."""

    programs: Sequence[Program]
    formula: Callable[[Call, dict[str, Any]], Mapping[str, tuple[tuple[int, ...], Sequence[Any]]]]


Way = tuple[Form, Sequence[str]]  # an algorithm, and what its formulations may choose


def written(form: Form, formulation: Formulation) -> Form:
    """The algorithm on the robot in this formulation."""

    def run(scene: Bodies, x: dict[str, Any]) -> Result:
        return form(scene.written(formulation), x)

    return run


@dataclass(frozen=True)
class Candidate:
    """One traced form."""

    price: int
    code: Code
    parameters: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    final: bool = False  # rewritten as far as it goes


@dataclass(frozen=True)
class Derivation:
    """What is derived: a model of a robot with these input arrays."""

    robot: Robot
    model: str
    inputs: Mapping[str, tuple[int, ...]]
    rewritten: dict[Any, tuple[int, Code]] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The robot's parameters, which every trace asks for."""
        return self.robot.parameters

    @cached_property
    def numbers(self) -> Bodies | None:
        """The bodies of a robot without symbols, shared by all traces."""
        if self.symbols:
            return None
        return bodies(self.robot, lambda name: 0)

    def undefined(self) -> ModelError:
        """The model divides by zero in every state: the first joint at fault is named."""
        j = weightless(self.robot)
        where = f"'{self.model}' of '{self.robot.name}' divides by zero"
        if not j:
            return ModelError(
                f"{where} in every state: check masses, inertias and lengths that are zero"
            )
        return ModelError(
            f"{where}: joint {j} ('{self.robot.joints[j - 1].name}') moves no inertia along its"
            " axis; give the links beyond it mass or inertia, or the joint a rotor inertia IA"
        )

    def trace(self, form: Form, factor: bool = False) -> Candidate:
        """Run a form on expressions; `factor`: rewrite its sums."""
        tracer = Tracer()
        result = self.run(form, *self.stage(tracer))
        code, parameters = tracer.program(result.outputs, result.record, self.symbols)
        cost, code = self._factored(code) if factor else (price(code), code)
        return Candidate(cost, code, parameters)

    def page(self, form: Form) -> Page:
        """The form as a person reads it: its program, with the quantities of its record."""
        tracer = Tracer()
        result = self.run(form, *self.stage(tracer))
        return tracer.page(result.outputs, result.record, self.symbols)

    def stage(self, tracer: Tracer) -> tuple[Bodies, dict[str, Any]]:
        """The bodies and the input arrays of a trace."""
        scene: Bodies = self.numbers or bodies(self.robot, tracer.parameter)
        x = {name: tracer.array(name, *shape) for name, shape in self.inputs.items()}
        if "V0" in x:  # a floating base: its motion and gravity are inputs where they are read
            scene = scene.moving_base(x["V0"], x.get("g0", scene.gravity), x.get("V0d", (0,) * 6))
        return scene, x

    def run(self, form: Form, scene: Bodies, x: dict[str, Any]) -> Result:
        """What a form gives, or the reason why it divides by zero."""
        try:
            return form(scene, x)
        except ZeroDivisionError:
            raise self.undefined() from None

    def compose(self, route: Route) -> Candidate:
        """The programs of a route as one, its sums rewritten; what they share is computed once."""
        tracer = Tracer()
        x = {name: tracer.array(name, *shape) for name, shape in self.inputs.items()}
        labels: dict[int, str] = {}

        def call(program: Program, **arrays: Any) -> dict[str, list[Any]]:
            p = [tracer.parameter(name) for name in program.parameters]
            return inline(tracer.graph, program.code, {**arrays, "p": p}, labels)

        outputs = route.formula(call, x)
        names = [(label, ref) for ref, label in labels.items()]
        code, parameters = tracer.program(outputs, None, self.symbols, names)
        code = improved(code)
        remarks = dict.fromkeys(x for program in route.programs for x in program.remarks)
        return Candidate(price(code), code, parameters, tuple(remarks))

    def _factored(self, code: Code) -> tuple[int, Code]:
        """(price, program) with its sums rewritten; a choice that changes nothing leaves a program
        that was rewritten before."""
        known = self.rewritten.get(code.key)
        if known is None:
            new = factored(code)
            known = price(new), new
            if len(self.rewritten) < _REMEMBERED:
                self.rewritten[code.key] = known
        return known


@dataclass(frozen=True)
class Sketch:
    """A form in the graph of sketches: its price as it stands, and its outputs. Where these are the
    same, so are the programs."""

    price: int
    graph: _Book
    refs: tuple[int, ...]
    met: Sequence[int]  # nodes, with their signs, in the order in which it came to them


class _Book(Graph):
    """A graph that notes which nodes a form comes to, new or not."""

    __slots__ = ("met", "products", "recalled", "sums")

    def __init__(self) -> None:
        super().__init__()
        self.met: list[int] = []  # with their signs
        self.products: dict[tuple[int, int], Expr] = {}
        self.sums: dict[tuple[int, int], Any] = {}
        self.recalled: dict[tuple[Any, ...], tuple[Any, tuple[int, ...]]] = {}

    def recall(self, step: Callable[..., Any], *values: Any) -> Any:
        """What the step gave for these values, which it comes to as it did then."""
        key = (step, *values)
        known = self.recalled.get(key)
        if known is None:
            start = len(self.met)
            result = step(*values)
            self.recalled[key] = result, tuple(dict.fromkeys(self.met[start:]))
            return result
        result, met = known
        self.met += met
        return result

    def forget(self) -> None:
        """Leave the nodes alone: what refers to the graph is not referred to by it any more."""
        self.products, self.sums, self.recalled = {}, {}, {}

    def node(self, node: Node) -> int:
        id = super().node(node)
        self.met.append(id)
        return id

    def add(self, x: int, y: int) -> Any:
        total = self.sums.get((x, y))
        if total is None:
            total = self.sums[x, y] = super().add(x, y)
        if type(total) is Expr:
            self.met.append(total.ref)
        return total

    def mul(self, x: int, y: int) -> Expr:
        product = self.products.get((x, y))
        if product is None:
            product = self.products[x, y] = super().mul(x, y)
        self.met.append(product.ref)
        return product

    def alone(self, sketch: Sketch, inputs: Mapping[str, tuple[int, ...]]) -> Code:
        """The program of this sketch, as if it had been traced by itself."""
        graph, refs = Graph(), dict[int, int]()
        live = reached(self.nodes, sketch.refs)
        met = dict.fromkeys(filter(live.__contains__, map(abs, sketch.met)))
        waiting = [*reversed(met), *sorted(live - met.keys(), reverse=True)]
        while waiting:
            if (id := waiting.pop()) in refs:
                continue
            node = self.nodes[id]
            leaf = node[0] in LEAVES
            if not leaf and (missing := [arg for arg in node[1:] if arg not in refs]):
                waiting += [id, *missing]
            else:
                refs[id] = transplanted(graph, node, refs)
        outputs = tuple(refs[abs(ref)] * (1 if ref > 0 else -1) for ref in sketch.refs)
        return Code(inputs, tuple(graph.nodes), {"": Output((len(outputs),), outputs)})


class Sketches:
    """Forms traced only for their prices, into one graph: what they share is there already."""

    def __init__(self, derivation: Derivation) -> None:
        self.derivation = derivation
        self.prices: dict[tuple[int, tuple[int, ...]], int] = {}
        self._begin()

    def _begin(self) -> None:
        self.graph = _Book()
        self.tracer = Tracer(self.graph)
        scene, x = self.derivation.stage(self.tracer)
        self.stage = replace(scene, recall=self.graph.recall), x
        self.inputs = {**self.tracer.inputs, PARAMETERS: (len(self.derivation.symbols),)}
        self.weights = _Weights(frozenset(self.tracer.inputs))

    def sketch(self, form: Form) -> Sketch:
        """The form, traced."""
        if len(self.graph.nodes) > _SKETCHED:
            self.graph.forget()
            self._begin()
        graph = self.graph
        graph.met = []
        outputs = self.derivation.run(form, *self.stage).outputs
        refs = tuple(graph.reference(x) for _, flat in outputs.values() for x in flat)
        return Sketch(self.weights.price(graph.nodes, refs), graph, refs, graph.met)

    def rewritten(self, sketch: Sketch) -> int:
        """The price with the sums rewritten."""
        key = id(sketch.graph), sketch.refs
        if key not in self.prices:
            code = sketch.graph.alone(sketch, self.inputs)
            graph, refs = rewritten_sums(code, frozenset({PARAMETERS}))
            self.prices[key] = _Weights(self.weights.inputs).price(graph.nodes, refs)
        return self.prices[key]


class _Weights:
    """What the nodes of a growing graph weigh in a price: nothing where they do not depend on these
    input arrays."""

    def __init__(self, inputs: frozenset[str]) -> None:
        self.inputs = inputs
        self.weights = [0]
        self.varying = bytearray(1)
        self.below: list[tuple[int, ...]] = [()]  # the operations a node reads that vary

    def price(self, nodes: Sequence[Node], refs: Iterable[int]) -> int:
        """Of the nodes that these signed references need."""
        self._weigh(nodes[len(self.weights) :])
        weights, varying, below = self.weights, self.varying, self.below
        live, new = set[int](), {id for ref in refs if varying[id := abs(ref)]}
        while new:
            live |= new
            new = set[int]().union(*map(below.__getitem__, new)) - live
        return sum(map(weights.__getitem__, live))

    def _weigh(self, nodes: Sequence[Node]) -> None:
        inputs, weights, varying, below = self.inputs, self.weights, self.varying, self.below
        for node in nodes:
            if node[0] in LEAVES:
                varying.append(node[1] in inputs)
                reads: tuple[int, ...] = ()
            else:
                if len(node) == 3:  # most of them
                    _, x, y = node
                    if varying[x]:
                        reads = (x, y) if varying[y] else (x,)
                    else:
                        reads = (y,) if varying[y] else ()
                else:
                    reads = tuple(arg for arg in node[1:] if varying[arg])
                varying.append(bool(reads))
            weights.append(_WEIGHT.get(node[0], 0) if reads else 0)
            below.append(reads)


def weightless(robot: Robot) -> int:
    """The first joint whose torque accelerates nothing, or 0: a zero pivot of A, tips first.

    Another joint may move the only inertia beyond it in the same way; the one nearer to the base
    then has no pivot left."""
    rng = np.random.default_rng(0)
    scene = bodies(robot, {x: float(rng.uniform(0.5, 1.5)) for x in robot.parameters}.__getitem__)
    bend = [0.0] * robot.ne
    composite = inertia_matrix(scene, [*(float(x) for x in rng.normal(size=robot.n)), *bend])
    A = np.array(composite.matrix(scene.tree.moving), dtype=float)
    least = 0
    for k in reversed(range(len(A))):
        if A[k, k] <= 1e-12 * np.abs(A).max():
            least = scene.tree.moving[k]
            continue
        A[:k, :k] -= np.outer(A[:k, k], A[k, :k]) / A[k, k]
    return least


def price(code: Code, setup: frozenset[str] = frozenset({"p"})) -> int:
    """Operations of every state, sines and cosines weighted."""
    return cost(code, setup)[0].price


def polished(
    derivation: Derivation, candidate: Candidate, rewrite: Callable[[Code], Code] = improved
) -> Candidate:
    """The candidate with its sums rewritten, checked against what it was."""
    if candidate.final and rewrite is improved and len(candidate.code.nodes) <= _VAST:
        return candidate
    code = rewrite(candidate.code)
    if code is not candidate.code:
        verify(derivation, candidate.code, candidate.parameters, code, candidate.parameters)
    return replace(candidate, price=price(code), code=code, final=True)


def random_states(
    derivation: Derivation, parameters: Sequence[str], nudge: float = 0.0
) -> dict[str, np.ndarray]:
    """Some states; a parameter has the same value wherever it occurs.

    nudge: by how much of themselves the inputs are moved."""
    rng = np.random.default_rng(0)
    inputs = {
        name: (1 + nudge) * rng.normal(size=(_STATES, *shape))
        for name, shape in derivation.inputs.items()
    }
    names = derivation.symbols
    values = dict(zip(names, rng.uniform(0.5, 1.5, len(names)), strict=True))
    if parameters:
        inputs["p"] = np.array([values[name] for name in parameters])
    return inputs


def largest_value(values: Sequence[Any]) -> float:
    """Of all values between inputs and outputs: differences of such have its round-off."""
    sizes = (float(np.abs(x).max(initial=0)) for x in values[1:])
    return max((size for size in sizes if size < np.inf), default=0.0)


def is_defined(derivation: Derivation, candidate: Candidate) -> bool:
    """Is the program finite somewhere? Without a division it always is."""
    if not any(node[0] == "div" for node in candidate.code.nodes):
        return True
    values = interpret(candidate.code, random_states(derivation, candidate.parameters)).values()
    return all(bool(np.isfinite(value).all()) for value in values)


def verify(
    derivation: Derivation, plain: Code, names: Sequence[str], code: Code, used: Sequence[str]
) -> None:
    """Both programs give the same values at random states, or the search is at fault."""
    got = interpret(code, random_states(derivation, used))
    # how ill-conditioned the model is there: near a singularity round-off is no fault
    here, near = (random_states(derivation, names, nudge) for nudge in (0.0, 1e-13))
    both = {name: x if name == "p" else np.concatenate([x, near[name]]) for name, x in here.items()}
    values = node_values(plain, both)
    outputs = outputs_of(plain, both, values)
    expected = {name: x[:_STATES] for name, x in outputs.items()}
    moved = {name: x[_STATES:] for name, x in outputs.items()}
    largest = max((float(np.abs(x).max(initial=0)) for x in expected.values()), default=0.0)
    rounding = 1e-13 * largest_value(values)
    for name, value in expected.items():
        # an output that is nothing but round-off is measured by the others
        scale = np.abs(value).max(initial=0) + 1e-6 * largest + 1e-300
        shaken = 10 * np.abs(moved[name] - value).max(initial=0)
        if not np.abs(got[name] - value).max(initial=0) <= 1e-7 * scale + rounding + shaken:
            what = f"'{derivation.model}' of '{derivation.robot.name}'"
            reason = extremes(derivation.robot)
            if reason:
                raise ModelError(f"{what} cannot be computed with these values: {reason}")
            raise ModelError(
                f"the search changed '{name}' of {what}: use effort='plain', and please report it"
            )
