"""What every language is run on: programs, states and the reference results.

`cases` are 100 states of 5 models of 5 robots; `special_cases` what could go wrong otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from tests.compare import near
from tests.random_programs import program_of, random_program
from tests.random_robots import bundled_trees, random_values

import cardan
from cardan.ir.trace import Tracer
from cardan.program import Program

__all__ = ["LIMIT", "Case", "cases", "check", "special_cases", "split_cases"]

STATES = 100
LIMIT = 1e-12
ROBOTS: dict[str, dict[str, Any]] = {
    "panda": {}, "tree": {}, "puma560-numeric": {}, "cartpole": {}, "ur5": {"symbolic": True},
}  # fmt: skip
MODELS = ("transform", "jacobian", "inertia-matrix", "inverse-dynamics", "direct-dynamics")
# keywords, built-in functions, constants and macros of all languages, names the printers use
# themselves, names of the papers, and things that are no identifiers at all
WORDS = """
double W32 C1 U3_12 lambda E q tau p h x y int for if return sin cos atan2f M_PI M_E NAN I linux
unix errno complex static inline np lead print list float None True class def and not import q_
tau_ p_ q__ t5 t17 t5_ S1 S2 F2_3 f2_3 n6_3 N6_3 Vd3_1 main cardan_sign const void auto T std
using D N C O K Pi gamma Gamma Sin module end subroutine real merge wp fn let mut Math M f64
self begin local proc od fi jnp torch device stride count state zeros cardan_select eps i j pi w
w_ in out function
"""
HOSTILE = WORDS.split()
HOSTILE += ["α", "a b", "*/ int z; /*", "\n import os", "1st", "_", "__", "", "q[0]", "#define X"]


@dataclass(frozen=True)
class Case:
    """A function of a generated file, states, and what the interpreter makes of them."""

    name: str  # the function
    file: str  # the main function of its file
    program: Program
    inputs: Mapping[str, np.ndarray]  # (states, *shape); p and h are (size,)
    expected: Mapping[str, np.ndarray]
    options: Mapping[str, Any]  # of emit
    source: Program | None = None  # what was printed, where it is not the program itself

    @property
    def states(self) -> int:
        return next(iter(self.expected.values())).shape[0]

    def emit(self, language: str) -> str:
        return (self.source or self.program).emit(language, function=self.name, **self.options)


def case_of(
    name: str, program: Program, seed: Any = 0, count: int = STATES, p: Any = None, **options: Any
) -> Case:
    rng = np.random.default_rng(seed)
    inputs = {key: rng.uniform(-3, 3, (count, *shape)) for key, shape in program.inputs.items()}
    if "p" in inputs:
        values = [program.defaults.get(key, 1.0) for key in program.parameters]
        inputs["p"] = np.array(values if p is None else p)
    return Case(name, name, program, inputs, outputs(program, inputs), options)


def outputs(program: Program, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    found = program.evaluate(**inputs)
    return dict.fromkeys(program.outputs, found) if len(program.outputs) == 1 else dict(found)


def derived(robot: str, model: str, options: dict[str, Any]) -> Program:
    """Without a search for fewer operations: printers do not care, and tests are faster."""
    known = next(entry for entry in cardan.catalogue() if entry.name == model).options
    plain = {"effort": "plain"} if "effort" in known else {}
    return cardan.model(bundled_trees()[robot], model, **plain, **options)


@cache
def cases() -> tuple[Case, ...]:
    """The 25 cases."""
    return tuple(
        case_of(f"case{i}{k}", derived(robot, model, options), [i, k])
        for i, (robot, options) in enumerate(ROBOTS.items())
        for k, model in enumerate(MODELS)
    )


@cache
def special_cases(cut: bool = False) -> tuple[Case, ...]:
    """Every operation, matrices, scalars, arrays of nothing, hostile names; whole, or cut into many
    functions."""
    trees, options = bundled_trees(), {"chunk": 7} if cut else {}
    rx90 = cardan.model(trees["rx90"], "inverse-dynamics", symbolic=True)
    count = len(rx90.parameters)
    names = (HOSTILE * 2)[:count], (HOSTILE[::-1] * 2)[:count]
    title = {"robot": "a\n*/ \\evil \\\n'''\"\"\" *) (*", "model": "m\r\nx"}
    hostile = [replace(rx90, parameters=tuple(unique(x)), **title) for x in names]
    p = np.random.default_rng(3).uniform(0.5, 1.5, count)
    stanford = cardan.model(trees["stanford"], "inverse-dynamics")
    values = random_values(trees["stanford"])
    made = [
        ("jumps", program_of(jumps()), {}),
        ("empty", program_of(nothing()), {}),
        ("scalar", program_of(scalars()), {}),
        ("same", program_of(one_name()), {}),
        ("energies", cardan.model(trees["tree"], "energies"), {}),
        ("hostile", hostile[0], {"p": p}),
        ("hostile2", hostile[1], {"p": p}),
        ("stanford", stanford, {"p": [values[key] for key in stanford.parameters]}),
        *((f"random{k}", random_program(k, 60, jumps=False), {}) for k in range(4)),
    ]
    suffix = "_cut" if cut else ""
    return tuple(case_of(f"{name}{suffix}", x, 1, 5, **more, **options) for name, x, more in made)


def unique(names: list[str]) -> list[str]:
    """Parameters have different names, but they may become the same identifier."""
    return [f"{name} " * (1 + names[:k].count(name)) for k, name in enumerate(names)]


def split_cases() -> tuple[Case, ...]:
    """The setup function and the function of every state, which are in one file."""
    program = cardan.model(bundled_trees()["ur5"], "inverse-dynamics", symbolic=True)
    whole = case_of("divided", program, 2, 5, split=True)
    setup, loop = program.split()
    assert setup is not None
    p = whole.inputs["p"]
    h = setup.evaluate(p=p)
    first = Case("divided_setup", "divided", setup, {"p": p}, {"h": h[None]}, {})
    return first, replace(whole, source=program, program=loop, inputs={**whole.inputs, "h": h})


def jumps() -> Any:
    """sign, select, atan2 and their like, and every place of a minus."""
    tracer = Tracer()
    a, b = tracer.array("x", 2)
    apply = tracer.graph.apply
    values = [
        apply("sign", a), apply("sign", -a * b), apply("select", a, b, 3 - b),
        apply("select", -a, -b, a + b), apply("atan2", a, b), apply("atan2", -a, -b),
        apply("min", -a, b), apply("max", a - b, -b), apply("abs", a - b),
        -(a - b) * -(a + b) - (a - (b - 2)) / (3 / (a * a + 1)), -apply("sqrt", a * a),
        apply("select", apply("select", a, b, 1), apply("min", a, 0.1), apply("max", b, -0.3)),
        apply("fma", a, b, a), apply("sin", 0.5) + apply("sqrt", 2) * a, apply("atan2", a, 0.3),
        a * 1e-300 * 1e300, a * 1.5e-9 + b * 123456789012345680000, 1 / (a * a + 1e-5) * a,
    ]  # fmt: skip
    return tracer.program({"y": ((len(values),), values)})[0]


def nothing() -> Any:
    """An input and an output of no elements, an input that is never read, constants."""
    tracer = Tracer()
    tracer.array("q", 0)
    tracer.array("unread", 2, 2)
    return tracer.program({"T": ((2,), [1, -3]), "tau": ((0,), [])})[0]


def scalars() -> Any:
    """An input that is one number."""
    tracer = Tracer()
    (a,) = tracer.array("a")
    (b,) = tracer.array("b", 1)
    return tracer.program({"s": ((), [a * b]), "t": ((1, 1), [a - b])})[0]


def one_name() -> Any:
    """An input and an output of one name."""
    tracer = Tracer()
    h, k = tracer.array("h", 2)
    return tracer.program({"h": ((2,), [k, h * k])})[0]


def check(case: Case, found: Mapping[str, Any], limit: float = LIMIT) -> None:
    """All outputs in all states, each by its largest component."""
    for name, expected in case.expected.items():
        array = np.asarray(found[name], dtype=float).reshape(expected.shape)
        for k, (x, y) in enumerate(zip(array, expected, strict=True)):
            near(x, y, limit, what=f"{case.name}, {case.program.model}, {name} of state {k}")
