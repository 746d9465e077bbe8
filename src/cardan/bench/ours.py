"""Cardan itself, asked in the three ways."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ..catalogue import model
from ..describe.robot import Robot
from ..program import Program
from ..version import __version__
from .c_loop import compiled_loop
from .case import (
    DERIVATIVES,
    DYNAMICS,
    Case,
    Peer,
    States,
    inputs_of,
    models_of,
    options_of,
    rows_of,
)
from .one_by_one import one_by_one


def cardan_peer(robot: Robot) -> Peer:
    """Cardan compiled by LLVM, in this process; no C compiler is used."""
    note = "native code by LLVM; loop: the one-state kernel over the states, batch: vectors"
    cases = {name: _case(robot, name) for name in models_of(robot)}
    return Peer("Cardan", __version__, note, cases)


def _case(robot: Robot, name: str) -> Case:
    start = time.perf_counter()
    program = model(robot, name, **options_of(robot, name))
    function = program.compile()
    function(**{key: np.zeros(shape) for key, shape in program.inputs.items()})
    generation = time.perf_counter() - start
    single = program.compile(dtype="float32")
    calls: dict[tuple[str, ...], Callable[..., Any]] = {  # as a user writes them
        ("q", "qd", "qdd"): lambda q, qd, qdd: function(q=q, qd=qd, qdd=qdd),
        ("q",): lambda q: function(q=q),
        ("q", "qd", "tau"): lambda q, qd, tau: function(q=q, qd=qd, tau=tau),
        ("q", "qd", "qdd", "V0", "V0d", "g0"): lambda q, qd, qdd, V0, V0d, g0: function(
            q=q, qd=qd, qdd=qdd, V0=V0, V0d=V0d, g0=g0
        ),
        ("q", "qd", "tau", "V0", "g0"): lambda q, qd, tau, V0, g0: function(
            q=q, qd=qd, tau=tau, V0=V0, g0=g0
        ),
    }
    return Case(
        calls[inputs_of(robot, name)],
        loop=one_by_one(program),  # type: ignore[arg-type]
        batch=_batch(function, program, "float64"),
        single=_batch(single, program, "float32"),
        generation=generation,
        operations=program.cost.mul + program.cost.add + program.cost.div,
        trig=program.cost.trig,
        ours=_arranged(name) if len(program.outputs) > 1 else None,
    )


def _arranged(name: str) -> Callable[[Any, States], np.ndarray]:
    return _blocks if name in DERIVATIVES else _base_first


def _blocks(outputs: Any, states: States) -> np.ndarray:
    """The partial derivatives side by side."""
    return np.concatenate(outputs[1:], axis=-1)


def _base_first(outputs: Any, states: States) -> np.ndarray:
    """The joints' rows come first in our models."""
    return np.concatenate([outputs[1], outputs[0]], axis=-1)


def _batch(function: Any, program: Program, dtype: str) -> Callable[[States], Any]:
    buffers: dict[Any, Any] = {}
    shapes = list(program.outputs.values())

    def run(states: States) -> Any:
        """Inputs of the right type and memory for the result are made once, outside the timing."""
        key = id(states)
        if key not in buffers:
            arrays = {name: np.ascontiguousarray(x, dtype) for name, x in states.items()}
            results = [np.empty((len(arrays["q"]), *shape), dtype) for shape in shapes]
            buffers[key] = arrays, results if len(results) > 1 else results[0]
        arrays, out = buffers[key]
        return function(**arrays, out=out)

    return run


def cardan_c_peer(robot: Robot) -> Peer | None:
    """The C that Cardan prints, built by the machine's own compiler."""
    cases = {}
    for name in DYNAMICS:
        start = time.perf_counter()
        program = model(robot, name, **options_of(robot, name))
        function = "cardan_case"
        source = program.emit("c", function=function, split=False)
        arguments = [f"{key} + i*{prod(shape)}" for key, shape in program.inputs.items()]
        size = prod(rows_of(robot, name))
        places = [f"out + i*{size}"] if len(program.outputs) == 1 else [
            f"out + i*{size} + 6", f"out + i*{size}"
        ]  # fmt: skip
        call = f"{function}({', '.join(arguments + places)});"
        loop = compiled_loop(source, call, tuple(program.inputs), rows_of(robot, name))
        if loop is None:
            return None
        cost = program.cost
        cases[name] = Case(
            loop.one, loop=loop, generation=time.perf_counter() - start,
            operations=cost.mul + cost.add + cost.div, trig=cost.trig,
        )  # fmt: skip
    return Peer("Cardan, C", __version__, "emitted C, compiled by cc -O3 -march=native", cases)
