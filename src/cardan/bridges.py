"""Bridges to other systems: a program as SymPy expressions or as a CasADi function.

Both replay the nodes of the program over the other system's scalars; neither is ever the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .emit.reading.symbols import elements
from .errors import MissingExtraError
from .exact import Exact
from .ir.code import Code

if TYPE_CHECKING:
    from .program import Program

__all__ = ["required", "to_casadi", "to_sympy"]


def to_sympy(program: Program, expanded: bool = True) -> Any:
    """Outputs as SymPy matrices (arrays beyond two axes), in the plain form, in symbols q1, qd1 ...
    (or as the robot's description calls its variables) and parameters.

    expanded=False gives (assignments, outputs) as sympy.cse does: a list of (symbol, expression)
    for the intermediate values, named as in the paper, and the outputs in terms of them."""
    sympy, program = required("sympy", "sympy", "to_sympy"), program.plain
    arrays = {name: elements(program, name, shape) for name, shape in program.inputs.items()}
    functions = {
        "sin": sympy.sin, "cos": sympy.cos, "sqrt": sympy.sqrt, "abs": sympy.Abs,
        "sign": sympy.sign, "atan2": sympy.atan2, "min": sympy.Min, "max": sympy.Max,
        "select": lambda c, a, b: sympy.Piecewise((a, c > 0), (b, True)),
    }  # fmt: skip

    def number(x: Any) -> Any:
        if isinstance(x, Exact):
            return sympy.Rational(x.a.numerator, x.a.denominator) + sympy.pi * sympy.Rational(
                x.b.numerator, x.b.denominator
            )
        return sympy.Integer(x) if isinstance(x, int) else sympy.Float(x, 17)

    def symbol(array: str, k: int) -> Any:
        name = program.parameters[k] if array == "p" else arrays[array][k].symbol
        return sympy.Symbol(name, real=True)

    assignments: list[tuple[Any, Any]] = []
    uses, labels = program.code.uses, program.code.labels

    def keep(id: int, value: Any) -> Any:
        if expanded or (uses[id] < 2 and id not in labels) or not value.args:
            return value
        name = sympy.Symbol(labels.get(id, f"t{id}"), real=True)
        assignments.append((name, value))
        return name

    outputs = _replayed(program.code, functions, number, symbol, keep)
    shaped = {name: _shaped(sympy, flat, program.outputs[name]) for name, flat in outputs.items()}
    return shaped if expanded else (assignments, shaped)


def _shaped(sympy: Any, flat: list[Any], shape: tuple[int, ...]) -> Any:
    if not shape:
        return flat[0]
    if len(shape) <= 2:
        return sympy.Matrix(*(shape if len(shape) == 2 else (shape[0], 1)), flat)
    return sympy.ImmutableDenseNDimArray(flat, shape)


def to_casadi(program: Program) -> Any:
    """The program as a CasADi function; arrays of two axes are matrices, larger ones flat."""
    casadi = required("casadi", "casadi", "to_casadi")
    functions = {
        "sin": casadi.sin, "cos": casadi.cos, "sqrt": casadi.sqrt, "abs": casadi.fabs,
        "sign": casadi.sign, "atan2": casadi.atan2, "min": casadi.fmin, "max": casadi.fmax,
        "select": lambda c, a, b: casadi.if_else(c > 0, a, b),
    }  # fmt: skip
    arrays = {
        name: casadi.SX.sym(name, *_matrix_shape(shape)) for name, shape in program.inputs.items()
    }

    def element(array: str, k: int) -> Any:
        columns = _matrix_shape(program.inputs[array])[1]
        return arrays[array][k // columns, k % columns]

    outputs = _replayed(
        program.code, functions, lambda x: casadi.SX(float(x)), element, lambda id, value: value
    )
    results = []
    for name, flat in outputs.items():
        rows, columns = _matrix_shape(program.outputs[name])
        matrix = casadi.SX(rows, columns)
        for k, value in enumerate(flat):
            matrix[k // columns, k % columns] = value
        results.append(matrix)
    name = "".join(c if c.isalnum() else "_" for c in f"{program.robot}_{program.model}")
    return casadi.Function(
        f"cardan_{name}", list(arrays.values()), results, list(arrays), list(outputs)
    )


def _matrix_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    rows = shape[0] if shape else 1
    columns = 1
    for size in shape[1:]:
        columns *= size
    return rows, columns


def _replayed(
    code: Code, functions: Mapping[str, Callable[..., Any]], number: Callable[[Any], Any],
    element: Callable[[str, int], Any], keep: Callable[[int, Any], Any],
) -> dict[str, list[Any]]:  # fmt: skip
    """Every output element over another system's scalars."""
    values: list[Any] = [None]
    arithmetic: dict[str, Callable[..., Any]] = {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b, "neg": lambda a: -a,
    }  # fmt: skip
    table = {**arithmetic, **functions}
    for id, node in enumerate(code.nodes[1:], 1):
        if node[0] == "const":
            values.append(number(node[1]))
        elif node[0] == "input":
            values.append(element(node[1], node[2]))
        else:
            values.append(keep(id, table[node[0]](*(values[arg] for arg in node[1:]))))
    return {
        name: [values[r] if r > 0 else -values[-r] for r in out.refs]
        for name, out in code.outputs.items()
    }


def required(module: str, extra: str, purpose: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError.of(module, extra, purpose) from None
