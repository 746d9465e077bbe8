"""First derivatives of an iiwa's dynamics beside Pinocchio's: one state natively, and batches."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from bench.native import (
    FEW,
    ROBOT,
    Measure,
    bare_batch,
    binding_seconds,
    fma_peak,
    interleaved,
    native_loop,
    operations,
    python_call,
    states,
)
from bench.pinocchio_peer import pinocchio_model
from bench.timing import Figure

import cardan

__all__ = ["figures"]

LIMITS = {"inverse-dynamics-derivatives": None, "direct-dynamics-derivatives": 20}


def figures() -> list[Figure]:
    import pinocchio

    robot = cardan.load(ROBOT)
    binding = binding_seconds(pinocchio, robot)
    found = []
    for name, least in LIMITS.items():
        program = cardan.model(robot, name)
        rows, columns = (bare_batch(program, "float64", 1000, x) for x in (False, True))
        own, call, peak = native_loop(program), python_call(program), fma_peak()
        peer = _pinocchio(pinocchio, robot, program)
        best = interleaved(own, call, peer, rows, columns, peak)
        theirs = best[peer.name] - binding
        share = operations(program) * best[peak.name]
        found += [
            Figure(f"{name}, one state, native", 1e9 * best[own.name], "ns"),
            Figure(f"{name}, from Python", 1e6 * best[call.name], "us"),
            Figure(f"{name}, Pinocchio less binding", 1e9 * theirs, "ns"),
            Figure(f"{name}, times Pinocchio", theirs / best[own.name], "", least, at_least=True),
            Figure(f"{name}, batch in rows", 1e9 * best[rows.name], "ns", 200),
            Figure(f"{name}, batch in columns, of the peak", share / best[columns.name], ""),
            Figure(f"{name}, agreement", peer.agreement, "", 1e-10),
        ]
    return found


def _pinocchio(pinocchio: Any, robot: cardan.Robot, program: cardan.Program) -> Measure:
    """computeRNEADerivatives or computeABADerivatives, state by state from Python."""
    model = pinocchio_model(pinocchio, robot)
    data, x = model.createData(), states(program, FEW)
    direct = "tau" in x
    work = pinocchio.computeABADerivatives if direct else pinocchio.computeRNEADerivatives
    rows, apart = list(zip(*x.values(), strict=True)), 0.0
    for row, *own in zip(rows, *program.compile()(**x), strict=True):
        by_q, by_qd, inverse = (np.array(block) for block in work(model, data, *row))
        inverse = np.triu(inverse) + np.triu(inverse, 1).T
        for found, expected in zip(own[1:], (by_q, by_qd, inverse), strict=True):
            apart = max(apart, float(np.abs(found - expected).max() / np.abs(expected).max()))

    def seconds() -> float:
        start = time.perf_counter()
        for row in rows:
            work(model, data, *row)
        return (time.perf_counter() - start) / len(rows)

    return Measure("Pinocchio", seconds, apart)
