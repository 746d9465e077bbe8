"""The native code beside its peers, in one run: one state called from native code and from Python,
batches on one thread and more, and what the machine could do at most.

Every measuring function returns a `Measure`, whose `seconds` gives the best time of one evaluation
in a short burst; `interleaved` takes turns, so that a change of the machine's pace meets all alike.
Pinocchio is installed as a Python wheel: its own cost is that of a call from Python less the cost
of a binding, the difference between its rnea called from Python and its batch call.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from bench.pinocchio_peer import in_a_loop, in_one_call, pinocchio_model
from bench.timing import Figure, best_of

import cardan
from cardan.bench.casadi import casadi_case
from cardan.bench.limits import fma_seconds
from cardan.bench.one_by_one import one_by_one
from cardan.describe.robot import Robot
from cardan.program import Program
from cardan.run.function import Function

__all__ = [
    "Measure",
    "bare_batch",
    "batch_figures",
    "binding_seconds",
    "compile_figures",
    "fma_peak",
    "interleaved",
    "native_loop",
    "operations",
    "python_call",
    "single_figures",
    "states",
]  # fmt: skip

ROBOT = "iiwa14"
MODELS = ("inverse-dynamics", "inertia-matrix", "direct-dynamics")
STATES = 100_000
COMPARED = 20_000  # states given to Pinocchio
FEW = 256  # states of a burst of single calls
ROUNDS = 15
PER_SINCOS = 19  # operations counted for a sine or a cosine: 38 for the pair


@dataclass(frozen=True)
class Measure:
    """Something that can be timed; `agreement` is its largest relative difference from Cardan."""

    name: str
    seconds: Callable[[], float]
    agreement: float = 0.0


def interleaved(*measures: Measure, rounds: int = ROUNDS) -> dict[str, float]:
    """Seconds per evaluation by name, the best of turns taken about."""
    best = dict.fromkeys((measure.name for measure in measures), float("inf"))
    for _ in range(rounds):
        for measure in measures:
            best[measure.name] = min(best[measure.name], measure.seconds())
    return best


def operations(program: Program) -> int:
    cost = program.cost
    return cost.mul + cost.add + cost.div + PER_SINCOS * cost.trig


def states(program: Program, count: int, dtype: str = "float64") -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        name: rng.uniform(-3, 3, (count, *shape)).astype(dtype)
        for name, shape in program.inputs.items()
    }


def fma_peak(dtype: str = "float64") -> Measure:
    """Seconds per floating-point operation of nothing but fused multiply-adds in registers."""
    return Measure(f"FMA peak {dtype}", lambda: min(fma_seconds(dtype, 20_000) for _ in range(3)))


def bare_batch(program: Program, dtype: str, count: int, columns: bool = False) -> Measure:
    """The vector kernel alone over states in rows (N, n) or in columns (n, N)."""
    from cardan.run.function import table_of
    from cardan.run.views import view

    function = program.compile(dtype=dtype)
    arrays = [*states(program, count, dtype).values()]
    arrays += [np.empty((count, *shape), dtype) for shape in program.outputs.values()]
    if columns:
        arrays = [np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 0, -1)), -1, 0) for x in arrays]
    axes = [len(shape) for shape in (*program.inputs.values(), *program.outputs.values())]
    places = [view(x, k) for x, k in zip(arrays, axes, strict=True)]
    found = [place for place in places if place is not None]
    kernels = function._kernels
    kernel = kernels.get(kernels.width, frozenset(), tuple(place.lie for place in found))
    inputs = len(program.inputs)
    tables = (*table_of(found[:inputs], 0), *table_of(found[inputs:], 0))
    name = f"batch {program.model} {dtype} {'columns' if columns else 'rows'}"

    def seconds() -> float:
        assert all((function, found))  # kept alive
        return best_of(3, lambda: kernel(*tables, count)) / count

    return Measure(name, seconds)


def native_loop(program: Program) -> Measure:
    """The kernel for one state, called for each of a few states from native code."""
    x = states(program, FEW)
    run = one_by_one(program)
    found, expected = run(x), program.evaluate(**x)
    overhead = best_of(20, lambda: run({name: array[:1] for name, array in x.items()}))

    def seconds() -> float:
        return (best_of(20, lambda: run(x)) - overhead) / (FEW - 1)

    return Measure("one state, native", seconds, _apart(found, expected))


def _apart(found: Any, expected: Any) -> float:
    """The largest difference relative to the largest value."""
    pairs = zip(
        *(x if isinstance(x, list | tuple) else [x] for x in (found, expected)), strict=True
    )
    return max(float(np.max(np.abs(a - b)) / np.max(np.abs(b))) for a, b in pairs)


def python_call(program: Program) -> Measure:
    """One state from Python, less an empty call."""
    function, x = program.compile(), {k: a[0] for k, a in states(program, 1).items()}
    function(**x)

    def seconds() -> float:
        return best_of(3000, lambda: function(**x)) - best_of(3000, lambda: None)

    return Measure("one state, Python", seconds)


def casadi_loop(robot: Robot, program: Program) -> Measure:
    """CasADi's C code for the same states."""
    import casadi

    x = states(program, FEW)
    case = casadi_case(casadi, robot, program.model)
    assert case is not None
    assert case.loop is not None
    run = case.loop
    apart = _apart(run(x), program.compile()(**x))
    return Measure("CasADi", lambda: best_of(20, lambda: run(x)) / FEW, apart)


def pinocchio_calls(pinocchio: Any, robot: Robot, program: Program) -> Measure:
    """Pinocchio's function for the model, state by state from Python."""
    model = pinocchio_model(pinocchio, robot)
    data, x = model.createData(), states(program, FEW)
    work = dict(zip(MODELS, (pinocchio.rnea, pinocchio.crba, pinocchio.aba), strict=True))
    function, rows = work[program.model], list(zip(*x.values(), strict=True))
    found = np.array([np.array(function(model, data, *row)) for row in rows])
    if program.model == "inertia-matrix":
        found = np.triu(found) + np.swapaxes(np.triu(found, 1), 1, 2)

    def seconds() -> float:
        start = time.perf_counter()
        for row in rows:
            function(model, data, *row)
        return (time.perf_counter() - start) / len(rows)

    return Measure("Pinocchio", seconds, _apart(found, program.compile()(**x)))


def single_figures() -> list[Figure]:
    """One state: Cardan, Pinocchio (less its binding) and CasADi's C side by side."""
    import pinocchio

    robot = cardan.load(ROBOT)
    limits = {
        "inverse-dynamics": (15, 2.5),
        "inertia-matrix": (11, 2.5),
        "direct-dynamics": (18, 3),
    }
    found = []
    binding = binding_seconds(pinocchio, robot)
    for name, (wheel, generated) in limits.items():
        program = cardan.model(robot, name)
        measures = [
            native_loop(program),
            python_call(program),
            pinocchio_calls(pinocchio, robot, program),
            casadi_loop(robot, program),
        ]
        best = interleaved(*measures)
        ours, call = best["one state, native"], best["one state, Python"]
        peer = best["Pinocchio"] - binding
        apart = max(measure.agreement for measure in measures)
        found += [
            Figure(f"{name}, one state, native", 1e9 * ours, "ns"),
            Figure(f"{name}, Pinocchio less binding", 1e9 * peer, "ns"),
            Figure(f"{name}, CasADi C", 1e9 * best["CasADi"], "ns"),
            Figure(f"{name}, times Pinocchio", peer / ours, "", wheel, at_least=True),
            Figure(f"{name}, times CasADi", best["CasADi"] / ours, "", generated, at_least=True),
            Figure(f"{name}, from Python over the kernel", 1e6 * (call - ours), "us", 0.4),
            Figure(f"{name}, agreement", apart, "", 1e-10),
        ]
    return found


def binding_seconds(pinocchio: Any, robot: Robot) -> float:
    """What a call of Pinocchio from Python costs beside its work."""
    x = states(cardan.model(robot, "inverse-dynamics"), COMPARED)
    model = pinocchio_model(pinocchio, robot)
    loop = Measure("loop", in_a_loop(pinocchio, model, x)[0])
    together = Measure("together", in_one_call(pinocchio, model, x))
    best = interleaved(loop, together, rounds=5)
    return max(0.0, best["loop"] - best["together"])


def limit_figures() -> list[Figure]:
    """Kernels in batches against the machine's fused multiply-adds; rows against columns."""
    found = []
    for name in MODELS:
        program = cardan.model(cardan.load(ROBOT), name)
        times = {}
        for dtype in ("float64", "float32"):
            rows, columns = (bare_batch(program, dtype, 10_007, x) for x in (False, True))
            peak = fma_peak(dtype)
            best = interleaved(rows, columns, peak)
            times[dtype] = best[columns.name]
            share = operations(program) * best[peak.name]
            limit = 0.65 if (name, dtype) == ("inverse-dynamics", "float64") else None
            found += [
                Figure(f"{rows.name}", 1e9 * best[rows.name], "ns"),
                Figure(f"{columns.name}", 1e9 * best[columns.name], "ns"),
                Figure(f"{rows.name}, of the peak", share / best[rows.name], "", limit, True),
                Figure(f"{columns.name}, of the peak", share / best[columns.name], "", limit, True),
                Figure(f"{rows.name} over columns", best[rows.name] / best[columns.name], "",
                       1.15 if dtype == "float64" else None),
            ]  # fmt: skip
        ratio = times["float64"] / times["float32"]
        least = 2.2 if name == "inverse-dynamics" else None
        found.append(Figure(f"{name}, float32 over float64", ratio, "times", least, at_least=True))
    return found


def compile_figures() -> list[Figure]:
    from cardan.run.native import machine

    machine()  # LLVM itself is started once per process
    program = cardan.model(cardan.load(ROBOT), "inverse-dynamics")
    x = {name: np.zeros((64, *shape)) for name, shape in program.inputs.items()}

    def batch() -> None:
        program.compile()(**x)

    def one_state() -> None:
        program.compile()(**{name: array[0] for name, array in x.items()})

    return [
        Figure(f"compile {ROBOT}, vectors", best_of(5, batch), "s", 0.3),
        Figure(f"compile {ROBOT}, one state", best_of(5, one_state), "s", 0.3),
    ]


def batch_figures() -> list[Figure]:
    robot = cardan.load(ROBOT)
    program = cardan.model(robot, "inverse-dynamics")
    function, x = program.compile(), states(program, STATES)
    out = np.empty((STATES, robot.n))
    function(**x, out=out)
    ours = Measure("ours", lambda: best_of(3, lambda: function(**x, out=out)) / STATES)
    more = Measure("more", lambda: best_of(3, lambda: function(**x, out=out, threads=2)) / STATES)
    try:
        import pinocchio
    except ImportError:
        return [Figure(f"native batch {ROBOT}", 1e9 * interleaved(ours)["ours"], "ns per state")]
    some = {name: array[:COMPARED] for name, array in x.items()}
    model = pinocchio_model(pinocchio, robot)
    measure, torques = in_a_loop(pinocchio, model, some)
    together = in_one_call(pinocchio, model, some)
    best = interleaved(ours, Measure("loop", measure), Measure("call", together), more)
    return [
        Figure(f"native batch {ROBOT}", 1e9 * best["ours"], "ns per state"),
        Figure("Pinocchio, rnea in a loop", 1e9 * best["loop"], "ns per state"),
        Figure("Pinocchio, rneaInParallel on one thread", 1e9 * best["call"], "ns per state"),
        Figure("times faster than the loop", best["loop"] / best["ours"], ""),
        Figure("times faster than rneaInParallel", best["call"] / best["ours"], "", 55, True),
        Figure("torques agree, relative", _apart(out[:COMPARED], torques), "", 1e-10),
        Figure(f"two threads over one, {STATES:,} states", best["ours"] / best["more"], "times"),
        *_threads(function, robot.n),
        *_direct_figures(robot),
    ]


def _threads(function: Function, n: int, count: int = 1_000_000) -> list[Figure]:
    """A batch in which the time to wake a thread is not seen; every core at most."""
    x, out = states(function.program, count), np.empty((count, n))
    numbers = [2**k for k in range(7) if 2**k <= (os.cpu_count() or 1)]

    def measure(threads: int) -> Measure:
        run = partial(function, **x, out=out, threads=threads)
        return Measure(str(threads), lambda: best_of(3, run))

    best = interleaved(*map(measure, numbers))
    return [
        Figure(
            f"{k} threads over one, {count:,} states", best["1"] / best[str(k)], "times",
            {2: 1.8, 16: 13}.get(k), at_least=True,
        )
        for k in numbers[1:]
    ]  # fmt: skip


def _direct_figures(robot: Robot) -> list[Figure]:
    """Batches of direct dynamics beside Pinocchio's aba."""
    import pinocchio

    program = cardan.model(robot, "direct-dynamics")
    function, x = program.compile(), states(program, STATES)
    out = np.empty((STATES, robot.n))
    ours = Measure("ours", lambda: best_of(3, lambda: function(**x, out=out)) / STATES)
    best = interleaved(ours, pinocchio_calls(pinocchio, robot, program))
    peer = best["Pinocchio"] - binding_seconds(pinocchio, robot)
    return [
        Figure("direct dynamics, native batch", 1e9 * best["ours"], "ns per state"),
        Figure("direct dynamics, times Pinocchio less binding", peer / best["ours"], "", 60, True),
    ]
