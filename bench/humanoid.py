"""A humanoid with 29 joints on a floating base: one state beside Pinocchio, and compiling.

Both do the same work: the acceleration of the base is given in inverse dynamics (Pinocchio's rnea;
`base="given"` here), the inertia matrix and direct dynamics are of base and joints together.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from bench.native import (
    FEW,
    Measure,
    bare_batch,
    fma_peak,
    interleaved,
    native_loop,
    operations,
)
from bench.timing import Figure, best_of

import cardan
from cardan.bench.case import comparable, inputs_of, options_of, states_of
from cardan.bench.free_flyer import free_flyer_peer
from cardan.bench.humanoid import humanoid

__all__ = ["figures"]

LIMITS = {"inverse-dynamics": 8, "inertia-matrix": 4, "direct-dynamics": 6}


def figures() -> list[Figure]:
    """One state, called from native code, by Pinocchio's wheel less the cost of its binding."""
    import pinocchio

    robot = comparable(humanoid())
    peer: Any = free_flyer_peer(pinocchio, robot)
    binding = _binding(robot, peer)
    found = []
    for name, least in LIMITS.items():
        program = cardan.model(robot, name, **options_of(robot, name))
        found += _batches(program)
        calls = _calls(robot, peer, name)
        best = interleaved(native_loop(program), calls)
        ours, theirs = best["one state, native"], best["Pinocchio"] - binding
        found += [
            Figure(f"humanoid {name}, one state, native", 1e9 * ours, "ns"),
            Figure(f"humanoid {name}, Pinocchio less binding", 1e9 * theirs, "ns"),
            Figure(f"humanoid {name}, times Pinocchio", theirs / ours, "", least, at_least=True),
        ]
    x = {key: np.zeros((64, *shape)) for key, shape in program.inputs.items()}
    seconds = best_of(2, lambda: program.compile()(**x))
    return [*found, Figure("compile humanoid direct-dynamics, vectors", seconds, "s", 3)]


def _batches(program: cardan.Program) -> list[Figure]:
    """A thousand states on one core against the machine's fused multiply-adds."""
    peak = fma_peak()
    ways = {x: bare_batch(program, "float64", 1000, x == "columns") for x in ("rows", "columns")}
    best = interleaved(*ways.values(), peak)
    share = operations(program) * best[peak.name]
    least = None if program.model == "inertia-matrix" else 0.5
    return [
        Figure(
            f"humanoid {way.name}, of the peak", share / best[way.name], "", least, at_least=True
        )
        for way in ways.values()
    ]


def _own(robot: Any, peer: Any, name: str) -> Any:
    x = states_of(robot, FEW, 0)
    return peer.cases[name].own({key: x[key] for key in inputs_of(robot, name)})


def _calls(robot: Any, peer: Any, name: str) -> Measure:
    """Pinocchio's function for the model, state by state from Python."""
    rows = list(zip(*_own(robot, peer, name).values(), strict=True))
    return Measure("Pinocchio", lambda: _each(peer.cases[name].call, rows))


def _each(call: Callable[..., Any], rows: list[Any]) -> float:
    start = time.perf_counter()
    for row in rows:
        call(*row)
    return (time.perf_counter() - start) / len(rows)


def _binding(robot: Any, peer: Any) -> float:
    """What a call from Python costs beside its work: rnea called, and in its own loop."""
    case, own = peer.cases["inverse-dynamics"], _own(robot, peer, "inverse-dynamics")
    loop = Measure("loop", lambda: best_of(3, lambda: case.loop(own)) / FEW)
    best = interleaved(_calls(robot, peer, "inverse-dynamics"), loop)
    return max(0.0, best["Pinocchio"] - best["loop"])
