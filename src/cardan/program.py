"""`Program`: the public face of a derived model. Read it, count it, print it, run it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from .arguments import named_arguments
from .errors import (
    FOREIGN,
    CardanWarning,
    InputError,
    ModelError,
    ProgramError,
    UnknownNameError,
    translated,
)
from .files import write_atomic
from .ir import code as ir_code
from .ir import page as ir_page
from .ir.code import Code
from .ir.cost import Cost, cost
from .ir.divisors import Divisor, divisors, formula, vanishing
from .ir.interpret import interpret
from .ir.page import Page, Quantity

if TYPE_CHECKING:
    from .document.structure import Part
    from .run.cuda import CudaFunction
    from .run.function import Function

Form = Literal["plain", "textbook", "cheapest"]
_TOO_LONG = "the textbook form has too many terms to be read: these are the plain equations"
# operations of models that books write out: no roots, no choices
_SUMS = frozenset({"none", "const", "input", "add", "sub", "mul", "neg", "sin", "cos", "sign"})
_IN_BOOKS = {
    **dict.fromkeys(
        ("transform", "jacobian", "inertia-matrix", "coriolis-matrix", "gravity", "lagrange",
         "inverse-dynamics", "bias", "energies", "generalized-momentum", "jdot-qdot"), _SUMS,
    ),
    **dict.fromkeys(("jacobian-inverse", "direct-dynamics", "state-space"), _SUMS | {"div"}),
}  # fmt: skip
_FEW_TERMS, _SHORT = 300, 300  # terms of the sums, operations of a text that is read at a glance
_MATRICES = {
    "A": "inertia matrix",
    "C": "Coriolis matrix: centrifugal and Coriolis torques are C qd",
    "Q": "gravity torques",
    "F": "friction torques, and those of applied wrenches",
}


@dataclass(frozen=True)
class Program:
    """A model of a robot as a straight-line program with named inputs, outputs and values
    between.

    >>> program = cardan.model(cardan.load("ur5"), "transform", frame=2)
    >>> program.inputs, program.outputs
    ({'q': (6,)}, {'T': (4, 4)})
    >>> program.evaluate(q=np.zeros(6))[:3, 3].round(6).tolist()
    [0.0, 0.0, 0.089159]"""

    model: str
    robot: str
    code: Code
    parameters: tuple[str, ...] = ()  # names of the symbols still free, in the order of the input p
    defaults: Mapping[str, float] = field(default_factory=dict)  # values of parameters, where known
    meaning: Mapping[str, str] = field(default_factory=dict)  # of inputs and outputs, with units
    expanded: bool = False  # print without intermediate variables
    remarks: tuple[str, ...] = ()  # what a reader of the intermediate values must know
    columns: tuple[str, ...] = ()  # of a regressor: the parameter of each column
    # of arrays over joints: (link number, variable) of each element
    coordinates: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    page: Page | None = field(default=None, compare=False, repr=False)  # the plain form, to read
    # of a law that smooths dry friction: makes it with the jumps left in, to be linearised at rest
    jumping: Callable[[], Program] | None = field(default=None, compare=False, repr=False)

    @cached_property
    def divisors(self) -> tuple[Divisor, ...]:
        """What depends on the parameters alone and is divided by.

        >>> dynamics = cardan.model(cardan.load("planar1r"), "direct-dynamics")
        >>> len(dynamics.divisors)
        1"""
        return tuple(divisors(self.code)) if self.parameters else ()

    @property
    def nonzero(self) -> tuple[str, ...]:
        """Formulas in the parameters by which the program divides: none of them may be zero.

        >>> dynamics = cardan.model(cardan.load("planar1r"), "direct-dynamics")
        >>> dynamics.nonzero
        ('ZZ1',)"""
        ids = dict.fromkeys(id for divisor in self.divisors for id in divisor.factors)
        return tuple(dict.fromkeys(formula(self.code, id, self.parameters) for id in ids))

    def zeros(self, p: np.ndarray | Sequence[np.ndarray]) -> str:
        """What is wrong with these values of the parameters, if the program divides by one of them
        that is zero; and the remedy.

        >>> dynamics = cardan.model(cardan.load("planar1r"), "direct-dynamics")
        >>> p = np.zeros(len(dynamics.parameters))
        >>> dynamics.zeros(p).partition(":")[0]
        "'direct-dynamics' of 'Planar 1R (pendulum)' divides by ZZ1, and that is 0 here"
        >>> dynamics.zeros(p + 1)
        ''"""
        found = vanishing(self.code, self.divisors, p) if self.divisors else []
        if not found:
            return ""
        names = ", ".join(dict.fromkeys(formula(self.code, id, self.parameters) for id in found))
        ids = set(found)
        avoidable = any(x.avoidable and ids & set(x.factors) for x in self.divisors)
        where = f"'{self.model}' of '{self.robot}' divides by {names}, and that is 0 here"
        if not avoidable:
            return f"{where}: no number comes out; check masses and inertias"
        return (
            f"{where}: give the robot the value (robot.with_values({{...}}), --set) and derive"
            " again, or derive with effort='safe'"
        )

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Ordered name -> shape.

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> gravity.inputs
        {'q': (2,), 'p': (7,)}"""
        return dict(self.code.inputs)

    @property
    def outputs(self) -> dict[str, tuple[int, ...]]:
        """Ordered name -> shape.

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> gravity.outputs
        {'Q': (2,)}"""
        return {name: output.shape for name, output in self.code.outputs.items()}

    @property
    def sparsity(self) -> dict[str, np.ndarray]:
        """Name -> array of the output's shape, False where it is zero in every state.

        >>> robot = cardan.load("scara")
        >>> program = cardan.model(robot, "inverse-dynamics-derivatives")
        >>> program.sparsity["dtau_dq"].astype(int).tolist()
        [[0, 1, 1, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]"""
        zero = ("const", 0)
        return {
            name: np.array([self.code.nodes[abs(ref)] != zero for ref in output.refs]).reshape(
                output.shape
            )
            for name, output in self.code.outputs.items()
        }

    @property
    def packed(self) -> Program:
        """The program that gives of each output only the elements that are not zero in every state,
        row by row: y[program.sparsity["y"]] = those of `packed`. Of the regressor of a humanoid
        they are a sixth, and what a batch takes is the writing.

        >>> regressor = cardan.model(cardan.load("rx90"), "regressor")
        >>> regressor.outputs, regressor.packed.outputs
        ({'D': (6, 78)}, {'D': (200,)})"""
        outputs: dict[str, ir_code.Output] = {}
        for name, there in self.sparsity.items():
            refs = self.code.outputs[name].refs
            own = tuple(refs[k] for k in np.flatnonzero(there).tolist())
            outputs[name] = ir_code.Output((len(own),), own)
        meaning = {
            **self.meaning,
            **{x: f"{self.meaning.get(x, x)}; elements that may differ from 0" for x in outputs},
        }
        return replace(
            self, code=replace(self.code, outputs=outputs), meaning=meaning, coordinates={
                x: own for x, own in self.coordinates.items() if x not in outputs
            }, page=None,
        )  # fmt: skip

    def only(self, *outputs: str) -> Program:
        """The program of these outputs alone, in this order, without the work of the others.

        >>> program = cardan.model(cardan.load("ur5"), "direct-dynamics-derivatives")
        >>> inverse = program.only("dqdd_dtau")  # of the inertia matrix
        >>> inverse.outputs, inverse.cost.total < program.cost.total / 6
        ({'dqdd_dtau': (6, 6)}, True)"""
        from .ir.passes import live

        def chosen(code: Code) -> Code:
            return replace(code, outputs={name: code.outputs[name] for name in outputs})

        for name in outputs:
            if name not in self.outputs:
                raise UnknownNameError.of(f"output of {self.model}", name, self.outputs)
        if not outputs:
            raise InputError(f"only() names outputs of {self.model}: {', '.join(self.outputs)}")
        page = self.page and replace(self.page, code=chosen(self.page.code))
        left_out = set(self.outputs) - set(outputs)
        meaning = {name: words for name, words in self.meaning.items() if name not in left_out}
        return replace(self, code=live(chosen(self.code)), meaning=meaning, page=page)

    @property
    def cost(self) -> Cost:
        """Operations done for every state; those on parameters alone are `once`.

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> gravity.cost.trig
        3"""
        from .ir.passes import expanded_cost

        if self.expanded:
            return expanded_cost(self.code)
        loop, setup = cost(self.code)
        return setup if set(self.code.inputs) <= {"p"} else loop

    @property
    def once(self) -> Cost:
        """Operations on the parameters alone: done once per parameter set, by `setup`.

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> gravity.once.trig
        1"""
        apart = "p" in self.code.inputs and len(self.code.inputs) > 1
        return cost(self.code)[1] if apart else Cost()

    @property
    def setup(self) -> Program | None:
        """The parameter-only work as a program p -> h, or None when there is none.

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> gravity.setup.inputs
        {'p': (7,)}"""
        return self.split()[0]

    @property
    def loop(self) -> Program:
        """The work of every state as a program that takes the setup's values h as an input.

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> list(gravity.loop.inputs)
        ['q', 'p', 'h']"""
        return self.split()[1]

    def split(self) -> tuple[Program | None, Program]:
        """(setup, loop): hoist what depends on parameters alone. loop(h=setup(p)) is this
        program.

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> setup, loop = gravity.split()
        >>> p = np.ones(len(gravity.parameters))
        >>> Q = loop.evaluate(q=[0.1, 0.2], p=p, h=setup.evaluate(p=p))
        >>> np.allclose(Q, gravity.evaluate(q=[0.1, 0.2], p=p))
        True"""
        from .ir.passes import split

        setup, loop = split(self.code)
        if setup is None:
            return None, self
        note = {"h": "values computed once from the parameters by the setup program"}
        return (
            Program(f"{self.model}-setup", self.robot, setup, self.parameters, self.defaults, note),
            replace(self, code=loop, meaning={**self.meaning, **note}, expanded=False, page=None),
        )

    def evaluate(self, **inputs: Any) -> Any:
        """Run the reference interpreter on floats or arrays (..., *shape); leading axes broadcast.

        An array for one output, else a named tuple of arrays, as a compiled function gives.

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> gravity.parameters
        ('L1', 'MX1', 'MY1', 'MX2', 'MY2', 'M2', 'G')
        >>> gravity.evaluate(q=[0.0, 0.0], p=[0.5, 2, 0, 1, 0, 3, 9.81]).round(3).tolist()
        [44.145, 9.81]"""
        from .run.outputs import outputs_type

        arrays = self.arrays(inputs)
        fault = self.zeros(arrays["p"]) if self.divisors else ""
        if fault and arrays["p"].ndim == 1:
            raise InputError(fault)
        if fault:
            warnings.warn(fault, CardanWarning, stacklevel=2)
        with translated(f"'{self.model}' of '{self.robot}' cannot be evaluated"):
            result = interpret(self.code, arrays)
        values = list(result.values())
        return values[0] if len(values) == 1 else outputs_type(tuple(result))(*values)

    def arrays(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """The given inputs as float arrays, completed by known parameter values, and checked.

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> gravity.arrays({"q": [0, 0], "p": np.ones(7)})["q"]
        array([0., 0.])"""
        from .run.inputs import prepare

        return prepare(self.code.inputs, inputs, self.parameters, self.defaults)

    @named_arguments
    def derivative(self, output: str, wrt: str) -> Program:
        """The program of the exact partial derivatives ∂output/∂wrt, shape output + input.

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> stiffness = gravity.derivative("Q", "q")
        >>> stiffness.outputs
        {'dQ_dq': (2, 2)}"""
        from .ir.derivative import derivative

        if output not in self.outputs:
            raise UnknownNameError.of("output", output, self.outputs)
        if wrt not in self.inputs:
            raise UnknownNameError.of("input", wrt, self.inputs)
        name = f"d{output}_d{wrt}"
        meaning = {
            **self.meaning,
            name: f"partial derivatives of {output} (first axes) by {wrt} (last axes)",
        }
        page = None  # with symbols what runs may hold guards, which nobody wants to read
        if self.page is not None and self.parameters == self.page.parameters != ():
            plain = derivative(self.page.code, output, wrt, name, mode="forward")
            page = Page(plain, self.parameters, elsewhere=self.page.elsewhere)
        return replace(
            self,
            model=f"{self.model} d{output}/d{wrt}",
            code=derivative(self.code, output, wrt, name),
            meaning=meaning,
            page=page,
        )

    @named_arguments
    def derivatives(self, wrt: str | Sequence[str] = ()) -> Program:
        """The outputs and their exact partial derivatives in one program that shares its values:
        dy_dx, shape y + x, of every output y by every input x, or by those of `wrt`.

        Of loops by the positions of the tree; the models called -derivatives are by those of the
        independent joints.

        >>> energies = cardan.model(cardan.load("planar2r"), "energies")
        >>> list(energies.derivatives(wrt=["q", "p"]).outputs)
        ['E', 'U', 'dE_dq', 'dE_dp', 'dU_dq', 'dU_dp']"""
        from .ir.derivative import jacobians

        names = self._differentiated_by(wrt)
        wanted = {f"d{y}_d{x}": (y, x) for y in self.outputs for x in names}
        words = {
            name: f"partial derivatives of {y} (first axes) by {x} (last axes)"
            for name, (y, x) in wanted.items()
        }
        return self._derived("derivatives", jacobians(self.code, wanted), words)

    @named_arguments
    def adjoint(self, wrt: str | Sequence[str] = ()) -> Program:
        """The gradient of the weighted sum of all outputs, sum of w_y y, by every input x or those
        of `wrt`: inputs w_y beside those of the program, outputs g_x. One sweep back, so that it
        costs a few times the program, whatever the number of inputs.

        >>> torques = cardan.model(cardan.load("ur5"), "inverse-dynamics")
        >>> adjoint = torques.adjoint(wrt=["q", "qd"])
        >>> list(adjoint.inputs), list(adjoint.outputs)
        (['q', 'qd', 'qdd', 'w_tau'], ['g_q', 'g_qd'])"""
        from .ir.derivative import adjoint

        names = self._differentiated_by(wrt)
        weights = self._new_inputs("w", self.outputs)
        code = adjoint(self.code, weights, {x: f"g_{x}" for x in names})
        words = {weight: f"weights of {y}" for y, weight in weights.items()}
        words |= {f"g_{x}": f"gradient of the weighted sum of the outputs by {x}" for x in names}
        return self._derived("adjoint", code, words)

    @named_arguments
    def tangent(self, wrt: str | Sequence[str] = ()) -> Program:
        """The derivative t_y of each output y along a direction v_x of every input x, or of those
        of `wrt`: the partial derivatives times the direction, without forming them.

        >>> torques = cardan.model(cardan.load("ur5"), "inverse-dynamics")
        >>> tangent = torques.tangent(wrt="q")
        >>> list(tangent.inputs), list(tangent.outputs)
        (['q', 'qd', 'qdd', 'v_q'], ['t_tau'])"""
        from .ir.derivative import tangent

        directions = self._new_inputs("v", self._differentiated_by(wrt))
        code = tangent(self.code, directions, {y: f"t_{y}" for y in self.outputs})
        words = {v: f"direction of {x}" for x, v in directions.items()}
        words |= {f"t_{y}": f"derivative of {y} along the direction" for y in self.outputs}
        return self._derived("tangent", code, words)

    @named_arguments
    def hessian_product(self, wrt: str | Sequence[str] = ()) -> Program:
        """The Hessian of the weighted sum of all outputs, sum of w_y y, times a direction v_x of
        the inputs: outputs h_x. Full tensors of second order are `derivatives` of `derivatives`.

        >>> torques = cardan.model(cardan.load("ur5"), "inverse-dynamics")
        >>> product = torques.hessian_product(wrt=["q", "qd"])
        >>> list(product.inputs), list(product.outputs)
        (['q', 'qd', 'qdd', 'w_tau', 'v_q', 'v_qd'], ['h_q', 'h_qd'])"""
        from .ir.derivative import tangent

        directions = self._new_inputs("v", self._differentiated_by(wrt))
        names = list(directions)
        gradient = self.adjoint(names)
        code = tangent(gradient.code, directions, {f"g_{x}": f"h_{x}" for x in names})
        words = {w: gradient.meaning[w] for w in gradient.inputs if w not in self.inputs}
        words |= {v: f"direction of {x}" for x, v in directions.items()}
        words |= {f"h_{x}": f"Hessian times the direction, rows of {x}" for x in names}
        return self._derived("hessian-product", code, words)

    def _differentiated_by(self, wrt: str | Sequence[str]) -> list[str]:
        names = [wrt] if isinstance(wrt, str) else list(wrt) or list(self.inputs)
        for name in names:
            if name not in self.inputs:
                raise UnknownNameError.of("input", name, self.inputs)
        return names

    def _new_inputs(self, prefix: str, names: Iterable[str]) -> dict[str, str]:
        """A new input for each of these, w_tau of tau; numbered where derivatives of derivatives
        have one already: w_g_q, w_g_q_2."""
        table: dict[str, str] = {}
        for name in dict.fromkeys(names):
            new, number = f"{prefix}_{name}", 1
            while new in self.inputs or new in table.values():
                number += 1
                new = f"{prefix}_{name}_{number}"
            table[name] = new
        return table

    def _derived(self, kind: str, code: Code, words: Mapping[str, str]) -> Program:
        """The program of derivatives of this one."""
        from .ir.factor import improved

        return replace(
            self, model=f"{self.model} {kind}", code=improved(code),
            meaning={**self.meaning, **words}, expanded=False, page=None,
        )  # fmt: skip

    @named_arguments
    def emit(self, language: str, **options: Any) -> str:
        """Source text in a language; see cardan.emit.languages().

        >>> program = cardan.model(cardan.load("ur5"), "transform", frame=1)
        >>> "void first(" in program.emit("c", function="first")
        True"""
        from .emit import emit

        with translated(f"'{self.model}' of '{self.robot}' cannot be written", ModelError):
            return emit(self, language, **options)

    @property
    def plain(self) -> Program:
        """The model in the plain form of its paper: more operations, and values that have
        their names there. It is what people read; programs without one are their own.

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> np.allclose(gravity.plain.evaluate(q=[1, 2], p=np.ones(7)),
        ...             gravity.evaluate(q=[1, 2], p=np.ones(7)))
        True"""
        page = self.page
        if page is None:
            return self
        remarks = tuple(x for x in self.remarks if x not in page.elsewhere)
        return replace(self, code=page.code, parameters=page.parameters, remarks=remarks)

    @cached_property
    def textbook(self) -> Program:
        """The model as a textbook writes it: every output one sum, in the sines and cosines of
        joint angles and of their sums about parallel axes, common factors taken out. What has too
        many terms to be read comes in the plain form, with a remark.

        >>> A = cardan.model(cardan.load("planar2r"), "inertia-matrix").textbook
        >>> "2*L1*(MX2*C2 - MY2*S2)" in A.emit("text", form="cheapest")
        True"""
        from .ir.textbook import LARGEST

        plain = self.plain
        return plain._written(LARGEST) or replace(plain, remarks=(*plain.remarks, _TOO_LONG))

    @cached_property
    def readable(self) -> Program:
        """What is read where no form is asked for: the textbook form of a model that books have, if
        it is short and nothing but sums and products, or their quotients; else the plain one.

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> gravity.readable.code == gravity.textbook.code
        True
        >>> dynamics = cardan.model(cardan.load("ur5"), "inverse-dynamics", effort="plain")
        >>> dynamics.readable.code == dynamics.plain.code
        True"""
        from .ir.passes import expanded_cost

        plain = self.plain
        operations = {node[0] for node in plain.code.nodes}
        known = operations <= _IN_BOOKS.get(self.model, frozenset())
        book = plain._written(_FEW_TERMS) if known else None
        if book is None:
            return plain
        refs = {abs(ref) for output in book.code.outputs.values() for ref in output.refs}
        once = ir_code.Output((len(refs),), tuple(sorted(refs)))  # half of what is symmetric
        length = expanded_cost(replace(book.code, outputs={"": once})).total
        return book if length <= _SHORT else plain

    def _written(self, largest: int, matrices: bool = False) -> Program | None:
        """In textbook form, or as its matrices; None where there are more terms than `largest`."""
        from .ir import textbook

        write = textbook.matrices if matrices else textbook.textbook
        try:
            code = write(self.code, self._angles, largest)
        except textbook.TooLarge:
            return None
        if code is None:
            return None
        sines = tuple(Quantity(x[0], x[1:], (), (id,)) for id, x in code.labels.items())
        page = Page(code, self.parameters, sines)
        return replace(self, code=code, expanded=True, page=page)

    @cached_property
    def matrices(self) -> Program | None:
        """Of the torques of a motion: A, C and Q, and the rest F where there is one (friction,
        applied wrenches), in textbook form,

            tau = A(q) qdd + C(q, qd) qd + Q(q) + F(qd)        ([B23] 3.4.2)

        with Adot - 2C skew; None of what are no such torques.

        >>> torques = cardan.model(cardan.load("planar2r"), "inverse-dynamics")
        >>> torques.matrices.outputs
        {'A': (2, 2), 'C': (2, 2), 'Q': (2,), 'F': (2,)}"""
        from .ir.textbook import LARGEST

        parts = self.plain._written(LARGEST, matrices=True)
        inputs = {name: words for name, words in self.meaning.items() if name in self.inputs}
        return parts and replace(parts, meaning=inputs | _MATRICES)

    @property
    def _angles(self) -> dict[tuple[str, str, int], str]:
        """What an input is called in the name of its sine: 2 in S2, and a parameter by its name."""
        size = prod(self.inputs.get("q", (0,)))
        joints = {("input", "q", k): str(k + 1) for k in range(size)} | self.positions
        return joints | {("input", "p", k): name for k, name in enumerate(self.parameters)}

    @property
    def positions(self) -> dict[tuple[str, str, int], str]:
        """The links of the joint positions among the inputs: q, or the first of a state.

        >>> cardan.model(cardan.load("planar2r"), "gravity").positions
        {('input', 'q', 0): '1', ('input', 'q', 1): '2'}"""
        active = [link for link, _ in self.coordinates.get("q_a", ())]
        links = [link for link, _ in self.coordinates.get("q", ())]
        state = [link for link, _ in self.coordinates.get("x", ())]
        listed = {("input", "q", k): link for k, link in enumerate(links)}
        listed |= {("input", "q_a", k): link for k, link in enumerate(active)}
        first = ((k, link) for k, link in enumerate(state) if link not in state[:k])
        return listed | {("input", "x", k): link for k, link in first}

    @named_arguments
    def equations(
        self, form: Form | None = None, to: Literal["text", "latex", "markdown", "html"] = "text"
    ) -> str:
        """The equations for people to read.

        form  plain: the quantities of the paper in its order; textbook: few equations, in
              trigonometric form; cheapest: those that run, with the fewest operations; default:
              textbook where that is short, else plain

        >>> pendulum = cardan.model(cardan.load("planar1r"), "inverse-dynamics")
        >>> print(pendulum.equations().partition("Outputs")[2].strip())
        tau1 = ZZ1*qdd1 + G*(MX1*C1 - MY1*S1)"""
        return self.emit(to, form=form)

    @overload
    def compile(
        self, target: Literal["native", "numpy"] = ..., dtype: str = ...
    ) -> Function: ...  # fmt: skip
    @overload
    def compile(self, target: Literal["cuda"], dtype: str = ...) -> CudaFunction: ...
    @overload
    def compile(self, target: str, dtype: str = ...) -> Function | CudaFunction: ...

    def compile(self, target: str = "native", dtype: str = "float64") -> Function | CudaFunction:
        """A fast function of arrays; targets: native (LLVM, no compiler needed), numpy, cuda.

        >>> f = cardan.model(cardan.load("ur5"), "transform", frame=2).compile()
        >>> f(q=np.zeros((1000, 6))).shape
        (1000, 4, 4)"""
        from .run import compile_program

        what = f"'{self.model}' of '{self.robot}' cannot be compiled"
        with translated(what, ModelError, of=(*FOREIGN, RuntimeError)):
            function: Function | CudaFunction = compile_program(self, target, dtype)
        return function

    def to_sympy(self, expanded: bool = True) -> Any:
        """Outputs as SymPy expressions; see bridges.to_sympy. Needs the extra [sympy].

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> Q = gravity.to_sympy()["Q"]
        >>> sorted(map(str, Q.free_symbols))[:3]
        ['G', 'L1', 'M2']"""
        from .bridges import to_sympy

        return to_sympy(self, expanded)

    def to_casadi(self) -> Any:
        """The program as a CasADi function. Needs the extra [casadi].

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> try:
        ...     names = gravity.to_casadi().name_in()
        ... except cardan.MissingExtraError:  # pip install "cardan[casadi]"
        ...     names = list(gravity.inputs)
        >>> names
        ['q', 'p']"""
        from .bridges import to_casadi

        return to_casadi(self)

    def to_jax(self) -> Any:
        """The program as a JAX function that runs its machine code, with gradients of every order
        by adjoint programs: under jit, grad and vmap. Needs the extra [jax].

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> try:
        ...     Q = gravity.to_jax()([0.0, 0.0], np.ones(7))
        ... except cardan.MissingExtraError:  # pip install "cardan[jax]"
        ...     Q = gravity.evaluate(q=[0.0, 0.0], p=np.ones(7))
        >>> Q.shape
        (2,)"""
        from .bridges import to_jax

        return to_jax(self)

    def to_torch(self) -> Any:
        """The program as a PyTorch function that runs its machine code on tensors without copies,
        CUDA code on those of a GPU, with exact gradients of every order: under autograd and
        torch.func. Needs the extra [torch].

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> try:
        ...     Q = gravity.to_torch()([0.0, 0.0], np.ones(7))
        ... except cardan.MissingExtraError:  # pip install "cardan[torch]"
        ...     Q = gravity.evaluate(q=[0.0, 0.0], p=np.ones(7))
        >>> tuple(Q.shape)
        (2,)"""
        from .bridges import to_torch

        return to_torch(self)

    def to_crocoddyl(self, step: float, cost: Callable[..., tuple[Any, ...]]) -> Any:
        """A step of `discretise` as an action model of Crocoddyl, of that length, with a cost
        (x, u) -> l, Lx, Lu, Lxx, Lxu, Luu; at the last node u is None. Needs Crocoddyl.

        >>> step = cardan.discretise(cardan.load("cartpole"), effort="plain")
        >>> step.outputs["A"], step.outputs["B"]
        ((4, 4), (4, 2))
        >>> try:
        ...     action = step.to_crocoddyl(0.01, lambda x, u: (0.0,))
        ... except cardan.MissingExtraError:  # pip install crocoddyl
        ...     pass"""
        from .bridges import to_crocoddyl

        return to_crocoddyl(self, step, cost)

    @named_arguments
    def save(self, path: str | Path) -> None:
        """Write the program as JSON.

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> gravity.save("gravity.json")
        >>> cardan.Program.load("gravity.json") == gravity
        True"""
        write_atomic(path, self.to_json())

    def to_json(self) -> str:
        """The program as JSON text, of which `from_json` makes it again.

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> gravity.to_json()[:20]
        '{"cardan-program":1,'"""
        data = {
            "cardan-program": 1,
            "model": self.model,
            "robot": self.robot,
            "parameters": list(self.parameters),
            "defaults": dict(self.defaults),
            "meaning": dict(self.meaning),
            "expanded": self.expanded,
            "remarks": list(self.remarks),
            "columns": list(self.columns),
            "coordinates": {name: list(map(list, x)) for name, x in self.coordinates.items()},
            "code": ir_code.to_json(self.code),
            "page": self.page and ir_page.to_json(self.page),
        }
        return json.dumps(data, indent=None, separators=(",", ":"), allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Program:
        """The program of JSON text, verified.

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> cardan.Program.from_json(gravity.to_json()) == gravity
        True"""
        try:
            data = json.loads(text)
            if data["cardan-program"] != 1:
                raise ProgramError(f"program version {data['cardan-program']!r} is not 1")
            program = cls(
                model=str(data["model"]),
                robot=str(data["robot"]),
                code=ir_code.from_json(data["code"]),
                parameters=tuple(map(str, data["parameters"])),
                defaults={str(k): float(v) for k, v in data["defaults"].items()},
                meaning={str(k): str(v) for k, v in data["meaning"].items()},
                expanded=bool(data["expanded"]),
                remarks=tuple(map(str, data.get("remarks", ()))),
                columns=tuple(map(str, data.get("columns", ()))),
                coordinates={
                    str(name): tuple((str(link), str(variable)) for link, variable in listed)
                    for name, listed in data.get("coordinates", {}).items()
                },
                page=ir_page.from_json(data["page"]) if data.get("page") else None,
            )
        except ProgramError:
            raise
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise ProgramError(f"not a saved program: {error!r}") from None
        except RecursionError:
            raise ProgramError("not a saved program: it is nested too deeply") from None
        if (len(program.parameters),) != program.code.inputs.get("p", (0,)):
            raise ProgramError("the number of parameter names is not the size of the input p")
        return program

    @classmethod
    @named_arguments
    def load(cls, path: str | Path) -> Program:
        """A program saved by `save`.

        >>> gravity = cardan.model(cardan.load("planar2r"), "gravity")
        >>> gravity.save("gravity.json")
        >>> cardan.Program.load("gravity.json").cost == gravity.cost
        True"""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"cannot be read as a program: {error}", where=str(path)) from None

    def __str__(self) -> str:
        """The equations, for people to read."""
        return self.equations()

    def _parts(self) -> tuple[str, Sequence[Part]]:
        """What a notebook shows: a line on the program, and its equations."""
        from .document.notebook import equations_shown

        return repr(self), equations_shown(self.equations(to="latex"), "print(program.equations())")

    def _repr_html_(self) -> str:
        from .document.notebook import notebook_html

        return notebook_html(*self._parts())

    def _repr_latex_(self) -> str:
        from .document.notebook import notebook_latex

        return notebook_latex(*self._parts())

    def __repr__(self) -> str:
        def arrays(shapes: Mapping[str, tuple[int, ...]]) -> str:
            return ", ".join(f"{name}{list(shape)}" for name, shape in shapes.items())

        once = f"; once per parameter set: {self.once}" if self.once != Cost() else ""
        return (
            f"Program({self.model} of {self.robot}: {arrays(self.inputs)}"
            f" -> {arrays(self.outputs)}; {self.cost}{once})"
        )
