"""A program of ir/ as a kernel: straight-line, one statement for each value that is used again.

So a kernel can call a program, and whatever prints or compiles kernels prints and compiles it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from math import prod

from ..emit.lower import lower
from ..ir.code import LEAVES, Code, arguments

_OPERATORS: dict[str, type[ast.operator]] = {
    "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "div": ast.Div,
}  # fmt: skip
_FUNCTIONS = ("sin", "cos", "sqrt", "abs", "atan2", "min", "max")
# P of atan t = t + t z P(z), z = t^2, |t| <= tan(pi/8): the polynomial nearest in Chebyshev's sense
ARCTANGENT = (
    -0.3333333333333333, 0.1999999999999552, -0.14285714284666526, 0.11111111015254975,
    -0.09090904578067568, 0.07692183189517367, -0.06664511428947303, 0.058581487526600855,
    -0.05085448899918921, 0.03923163408550222, -0.01917685746960811,
)  # fmt: skip
LONGEST = 16  # operations in one statement


@dataclass(frozen=True)
class Straight:
    """A program as statements: its variables with their types, and its arrays with their sizes."""

    variables: dict[str, str]
    arrays: dict[str, int]
    body: list[ast.stmt]


def straight_line(code: Code) -> Straight:
    """A program as a kernel.

    One with an input `sign` is run for all combinations of signs, the first the slowest: its
    outputs are rows of as many as there are. They are the same statements on other numbers, stored
    column by column first, so that a compiler can run several at once."""
    signs = prod(code.inputs["sign"]) if "sign" in code.inputs else 0
    code = lower(code, (*_FUNCTIONS, "select"))
    values: list[ast.expr] = [ast.Constant(0.0)]
    sizes, varies = [0], [False]
    variables: dict[str, str] = {}
    before: list[ast.stmt] = []  # what does not depend on the signs
    body: list[ast.stmt] = []

    def name(k: int) -> None:
        """A statement of its own for value k."""
        variables[f"t{k}"] = "float"
        place = ast.Name(f"t{k}", ast.Store())
        (body if varies[k] else before).append(ast.Assign([place], values[k]))
        values[k], sizes[k] = ast.Name(f"t{k}", ast.Load()), 0

    for k in range(signs):
        variables[f"sign{k}"] = "float"
        sign = f"sign{k} = 1.0 - 2.0 * float(b // {2 ** (signs - 1 - k)} % 2)"
        body += ast.parse(sign).body
    for k, node in enumerate(code.nodes[1:], 1):
        args = arguments(node)
        varies.append(node[:2] == ("input", "sign") or any(varies[x] for x in args))
        for x in args:
            # both values of a choice are evaluated: a compiler need not ask which one
            if sizes[x] and (varies[x] != varies[k] or (node[0] == "select" and x in args[1:])):
                name(x)
        values.append(_value(node, values))
        sizes.append(0 if node[0] in LEAVES else 1 + sum(sizes[x] for x in args))
        if sizes[k] and (code.uses[k] > 1 or sizes[k] > LONGEST):
            name(k)
    arrays: dict[str, int] = {}
    rows: list[ast.stmt] = []
    count = 2**signs
    for output, listed in code.outputs.items():
        n = len(listed.refs)
        for k, ref in enumerate(listed.refs):
            value = values[abs(ref)] if ref >= 0 else _negative(values[-ref])
            place = f"{output}[{k}]"
            if signs:
                place = f"{output}[b]" if n == 1 else f"{output}_columns[{count * k} + b]"
            body.append(ast.Assign([_stored(place)], value))
        if signs and n > 1:
            arrays[f"{output}_columns"] = count * n
            rows += ast.parse(
                f"for b in range({count}):\n for k in range({n}):\n"
                f"  {output}[{n} * b + k] = {output}_columns[{count} * k + b]"
            ).body
    if signs:
        variables |= {"b": "int", "k": "int"} if rows else {"b": "int"}
        (loop,) = ast.parse(f"for b in range({count}): pass").body
        assert isinstance(loop, ast.For)
        loop.body = body
        new = [ast.parse(f"{array} = empty({size})").body[0] for array, size in arrays.items()]
        body = [*new, loop, *rows]
    body = [*before, *body]
    return Straight(variables, arrays, [ast.fix_missing_locations(node) for node in body])


def _stored(text: str) -> ast.expr:
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Subscript)
    return ast.Subscript(node.value, node.slice, ast.Store())


def _negative(value: ast.expr) -> ast.expr:
    if isinstance(value, ast.Constant):
        return ast.Constant(-value.value)  # type: ignore[operator]
    return ast.UnaryOp(ast.USub(), value)


def _value(node: tuple, values: list[ast.expr]) -> ast.expr:  # type: ignore[type-arg]
    op = node[0]
    if op == "const":
        return ast.Constant(float(node[1]))
    if op == "input" and node[1] == "sign":
        return ast.Name(f"sign{node[2]}", ast.Load())
    if op == "input":
        return ast.Subscript(ast.Name(node[1], ast.Load()), ast.Constant(node[2]), ast.Load())
    args = [values[k] for k in node[1:]]
    if op in _OPERATORS:
        return ast.BinOp(args[0], _OPERATORS[op](), args[1])
    if op == "neg":
        return _negative(args[0])
    if op == "select":
        test = ast.Compare(args[0], [ast.Gt()], [ast.Constant(0.0)])
        return ast.IfExp(test, args[1], args[2])
    return ast.Call(ast.Name(op, ast.Load()), args, [])
