"""The textbook form beside SymPy's simplify, trigsimp and cse: symbols and operations, and seconds.

python -m bench.textbook [SECONDS]      SymPy gets so many seconds per model, 60 by default

All start from the plain page of the model. A symbol counts 1 wherever it stands, an operation 1, a
sine or cosine 1, as they have names in both. `shared` writes equal parts once, as cse does.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import sympy
from rich.console import Console
from rich.table import Table

import cardan
from cardan.ir.code import Code, arguments

__all__ = ["MODELS", "length", "lengths", "sympy_length", "sympy_values"]

MODELS = [
    *((robot, model) for robot in ("planar1r", "planar2r", "cartpole", "planar3r", "scara", "rpr")
      for model in ("inertia-matrix", "gravity", "inverse-dynamics")),
    ("planar2r", "lagrange"), ("planar2r", "energies"), ("scara", "jacobian"),
    ("puma560", "transform"), ("puma560", "gravity"), ("puma560", "inertia-matrix"),
]  # fmt: skip
NAMED = ("input", "const", "sin", "cos", "sign")


def lengths(code: Code) -> tuple[int, int]:
    """(every output written out, equal parts written once) of a program in textbook form."""
    outputs = [abs(ref) for out in code.outputs.values() for ref in out.refs]
    return _length(code, outputs, False), _length(code, outputs, True)


def length(code: Code) -> int:
    """Symbols and operations of a program in textbook form, as it is printed."""
    return lengths(code)[0]


def _length(code: Code, outputs: Sequence[int], shared: bool) -> int:
    written, total = [0] * len(code.nodes), 0
    for id, node in enumerate(code.nodes):
        if node[0] in NAMED:
            written[id] = 1
            continue
        parts = sum(written[arg] for arg in arguments(node))
        if node[0] == "mul" and node[1] == node[2]:
            written[id] = written[node[1]] + 2  # x^2
        else:
            written[id] = parts + (node[0] not in ("neg", "none"))
        if shared and code.uses[id] > 1 and node[0] != "neg":
            total, written[id] = total + written[id], 1
    return total + sum(written[id] for id in outputs)


def sympy_length(x: Any) -> int:
    """Symbols and operations of a SymPy expression, as it is printed."""
    if x.is_Atom or isinstance(x, sympy.sin | sympy.cos | sympy.sign):
        return 1
    parts = [part for part in x.args if part != -1]
    if x.is_Pow and x.exp.is_Integer:
        return sympy_length(x.base) + 2
    if x.is_Mul:  # x/2 has a number, 3*x/2 two
        quotients = [part for part in parts if part.is_Rational and part.q != 1 and part.p != 1]
        return sum(map(sympy_length, parts)) + len(parts) - 1 + 2 * len(quotients)
    return sum(map(sympy_length, parts)) + len(parts) - 1


def sympy_values(program: cardan.Program) -> list[Any]:
    """The outputs of the plain page as SymPy expressions."""
    arrays = program.plain.to_sympy().values()
    nested = [x.tolist() if hasattr(x, "tolist") else [x] for x in arrays]
    return list(sympy.flatten(nested))


def _timed(work: Callable[[], int], seconds: int) -> str:
    """What it gives and how long it took, or that it took too long."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    start = time.perf_counter()
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        return f"{work()} in {time.perf_counter() - start:.1f} s"
    except TimeoutError:
        return f"> {seconds} s"
    finally:
        signal.alarm(0)


def main() -> None:
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    table = Table("robot", "model", "textbook", "shared", "simplify", "trigsimp", "cse")
    for robot, model in MODELS:
        program = cardan.model(cardan.load(robot), model)
        start = time.perf_counter()
        whole, shared = lengths(program.textbook.code)
        own = f"{whole} in {time.perf_counter() - start:.2f} s"
        values = sympy_values(program)
        others = [
            _timed(lambda f=f, values=values: sum(sympy_length(f(x)) for x in values), seconds)
            for f in (sympy.simplify, sympy.trigsimp)
        ]
        names, reduced = sympy.cse(values)
        parts = [x for _, x in names if not isinstance(x, sympy.sin | sympy.cos)]
        cse = sum(map(sympy_length, [*parts, *reduced]))
        table.add_row(robot, model, own, str(shared), *others, str(cse))
    Console().print(table)


if __name__ == "__main__":
    main()
