"""Random straight-line programs: what the tests of `ir`, `emit` and `run` share."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from cardan.exact import exact, pi
from cardan.ir.code import Code
from cardan.ir.graph import Expr
from cardan.ir.trace import Tracer
from cardan.program import Program

__all__ = ["apply", "program_of", "random_inputs", "random_program"]

CONSTANTS = (2, 3, -1, exact("0.1"), exact("-2.75"), pi / 3, 0.7310585786300049)


def apply(function: str, *args: Any) -> Any:
    """A function node of the graph the arguments live in."""
    return next(arg for arg in args if isinstance(arg, Expr)).graph.apply(function, *args)


def program_of(code: Code, parameters: tuple[str, ...] = (), **options: Any) -> Program:
    return Program("test", "random", code, parameters, **options)


def random_program(
    seed: int,
    size: int = 40,
    *,
    functions: bool = True,
    parameters: bool = True,
    jumps: bool = True,
) -> Program:
    """A program with inputs x (3,), y (2, 2) and p, whose values stay of moderate size.

    Without `jumps` it is continuous: rounding cannot decide between two values."""
    rng = random.Random(seed)
    tracer = Tracer()
    x, y = tracer.array("x", 3), tracer.array("y", 2, 2)
    pool: list[Any] = [*x, *y[0], *y[1]]
    if parameters:
        pool += [tracer.parameter(name) for name in ("b", "a", "c")]
    for _ in range(size):
        pool.append(_operation(rng, rng.choice(pool[-12:]), rng.choice(pool), functions, jumps))
    outputs = {"u": ((2,), pool[-2:]), "v": ((2, 3), [-pool[-3], *pool[-7:-3], 0])}
    code, names = tracer.program(outputs, None, ("a", "b", "c"))
    return program_of(code, names, defaults={"a": 0.3, "b": -1.2, "c": 2.0})


def _operation(rng: random.Random, a: Any, b: Any, functions: bool, jumps: bool) -> Any:
    kind = rng.choice(["+", "-", "*", "const", "neg", *(["sin", "other"] if functions else [])])
    if kind == "const":
        c: Any = rng.choice(CONSTANTS)
        return rng.choice([a + c, a - c, c - a, a * c, a / c])
    if kind == "sin" and isinstance(a, Expr):
        return apply(rng.choice(["sin", "cos"]), a)
    if kind == "other" and isinstance(a, Expr):
        smooth = ["min", "max", "sqrt", "abs", "/"]
        two = rng.choice([*smooth, *(["atan2", "select", "sign"] if jumps else [])])
        if two == "/":
            return a / (1 + b * b)
        if two == "select":
            return apply("select", a, b, a * 2)
        if two == "sqrt":
            return apply("sqrt", 1 + a * a)
        return apply(two, a) if two in ("abs", "sign") else apply(two, a, b)
    if kind == "*":
        product = a * b
        return apply("sin", product) if functions and isinstance(product, Expr) else product / 4
    return {"+": a + b, "-": a - b, "neg": -a}.get(kind, a + b)


def random_inputs(program: Program, lead: tuple[int, ...] = (), seed: int = 0) -> dict[str, Any]:
    """Values for every input but p."""
    rng = np.random.default_rng(seed)
    return {
        name: rng.uniform(-2, 2, (*lead, *shape))
        for name, shape in program.inputs.items()
        if name != "p"
    }
