"""CasADi: the textbook recursions over its scalars; its generated C, built by the compiler."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import version
from math import prod
from typing import Any

from ..describe.robot import FIXED, Robot
from . import spatial
from .c_loop import compiled_loop
from .case import DYNAMICS, Case, Peer, floats, inputs_of, rows_of
from .plain import gravity, plain_bodies, plain_body

_SIZES = {"V0": 6, "V0d": 6, "g0": 3}  # of the base
_COUNTED = ("OP_ADD", "OP_SUB", "OP_MUL", "OP_DIV", "OP_SQ", "OP_TWICE", "OP_INV")


def casadi_peer(robot: Robot) -> Peer | str:
    """CasADi's generated C, or why it is not compared."""
    import casadi

    if any(joint.sigma == FIXED for joint in robot.joints):
        return "fixed frames are not part of the plain recursion"
    cases = {}
    for name in DYNAMICS:
        case = casadi_case(casadi, robot, name)
        if case is None:
            return "no C compiler"
        cases[name] = case
    note = "spatial recursions over SX, generated C, cc -O3 -march=native"
    return Peer("CasADi C", version("casadi"), note, cases)


def casadi_case(casadi: Any, robot: Robot, name: str) -> Case | None:
    """One model; None without a C compiler."""
    start = time.perf_counter()
    bodies, g, inputs = plain_bodies(robot), gravity(robot), inputs_of(robot, name)
    sizes = {key: _SIZES.get(key, robot.n) for key in inputs}
    of = {key: casadi.SX.sym(key, size) for key, size in sizes.items()}
    joints = [of[key] for key in inputs if key not in _SIZES]
    motion = {key: of[key] for key in inputs if key in _SIZES}
    root = spatial.Root(plain_body(robot.base.link), **motion) if floats(robot) else None
    recursions: dict[str, Callable[[], Any]] = {
        "inverse-dynamics": lambda: spatial.inverse(casadi, bodies, g, *joints, root=root),
        "inertia-matrix": lambda: spatial.inertia(casadi, bodies, *joints, root=root),
        "direct-dynamics": lambda: spatial.direct(casadi, bodies, g, *joints, root=root),
    }
    symbols = list(of.values())
    result = recursions[name]()
    function = casadi.Function("peer", symbols, [casadi.densify(result)], {"cse": True})
    source = _generated(casadi, function)
    pointers = ", ".join(f"{key} + i*{size}" for key, size in sizes.items())
    shape = rows_of(robot, name)
    call = (
        f"const double *arg[] = {{{pointers}}}; double *res[] = {{out + i*{prod(shape)}}}; "
        "casadi_int iw[64]; double w[64]; peer(arg, res, iw, w, 0);"
    )
    loop = compiled_loop(source, call, inputs, shape)
    if loop is None:
        return None
    return Case(
        loop.one, loop=loop, generation=time.perf_counter() - start,
        operations=_operations(casadi, function),
    )  # fmt: skip


def _generated(casadi: Any, function: Any) -> str:
    generator = casadi.CodeGenerator("peer.c")
    generator.add(function)
    return str(generator.dump())


def _operations(casadi: Any, function: Any) -> int:
    counted = {getattr(casadi, name) for name in _COUNTED if hasattr(casadi, name)}
    return sum(function.instruction_id(k) in counted for k in range(function.n_instructions()))
