"""Cardan itself, asked in the three ways."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ...catalogue import model
from ...describe.robot import Robot
from ...program import Program
from ...version import __version__
from .c_loop import compiled_loop
from .case import INPUTS, MODELS, Case, Peer, States
from .one_by_one import one_by_one

__all__ = ["cardan_c_peer", "cardan_peer"]


def cardan_peer(robot: Robot) -> Peer:
    """Cardan compiled by LLVM, in this process; no C compiler is used."""
    note = "native code by LLVM; loop: the one-state kernel over the states, batch: vectors"
    cases = {name: _case(robot, name) for name in MODELS}
    return Peer("Cardan", __version__, note, cases)


def _case(robot: Robot, name: str) -> Case:
    start = time.perf_counter()
    program = model(robot, name)
    function = program.compile()
    one = {key: np.zeros(robot.n) for key in INPUTS[name]}
    function(**one)
    generation = time.perf_counter() - start
    single = program.compile(dtype="float32")
    shape = next(iter(program.outputs.values()))

    calls: dict[str, Callable[..., Any]] = {  # as a user writes them
        "inverse-dynamics": lambda q, qd, qdd: function(q=q, qd=qd, qdd=qdd),
        "inertia-matrix": lambda q: function(q=q),
        "direct-dynamics": lambda q, qd, tau: function(q=q, qd=qd, tau=tau),
    }
    return Case(
        calls[name],
        loop=_loop(program),
        batch=_batch(function, shape, "float64"),
        single=_batch(single, shape, "float32"),
        generation=generation,
        operations=program.cost.mul + program.cost.add + program.cost.div,
        trig=program.cost.trig,
    )


def _loop(program: Program) -> Callable[[States], np.ndarray]:
    run = one_by_one(program)
    return lambda states: run(states)[0]


def _batch(function: Any, shape: tuple[int, ...], dtype: str) -> Callable[[States], np.ndarray]:
    kept: dict[Any, Any] = {}

    def run(states: States) -> np.ndarray:
        """Inputs of the right type and memory for the result are made once, outside the timing."""
        key = id(states)
        if key not in kept:
            arrays = {name: np.ascontiguousarray(x, dtype) for name, x in states.items()}
            kept[key] = arrays, np.empty((len(arrays["q"]), *shape), dtype)
        arrays, result = kept[key]
        return np.asarray(function(**arrays, out=result))

    return run


def cardan_c_peer(robot: Robot) -> Peer | None:
    """The C that Cardan prints, built by the machine's own compiler."""
    cases = {}
    for name in MODELS:
        start = time.perf_counter()
        program = model(robot, name)
        function = "cardan_case"
        source = program.emit("c", function=function)
        arguments = ", ".join(f"{key} + i*{robot.n}" for key in INPUTS[name])
        size = int(np.prod(next(iter(program.outputs.values()))))
        call = f"{function}({arguments}, out + i*{size});"
        loop = compiled_loop(source, call, INPUTS[name], next(iter(program.outputs.values())))
        if loop is None:
            return None
        cost = program.cost
        cases[name] = Case(
            loop.one, loop=loop, generation=time.perf_counter() - start,
            operations=cost.mul + cost.add + cost.div, trig=cost.trig,
        )  # fmt: skip
    return Peer("Cardan, C", __version__, "emitted C, compiled by cc -O3 -march=native", cases)
