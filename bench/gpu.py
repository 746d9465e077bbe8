"""The GPU against its own memory: evaluations per second and fraction of the copy bandwidth.

python -m bench.gpu       needs CuPy and a CUDA device; checks the results first
"""

from __future__ import annotations

import json
from math import prod
from typing import Any

import numpy as np

import cardan
from cardan.bench.humanoid import humanoid

ROBOT, STATES = "iiwa14", 1 << 24
_BOTH = ("inverse", "direct")


def seconds(cupy: Any, run: Any, times: int = 20) -> float:
    """Best time of a launch, by events."""
    run()
    best = float("inf")
    for _ in range(times):
        start, stop = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        run()
        stop.record()
        stop.synchronize()
        best = min(best, cupy.cuda.get_elapsed_time(start, stop) / 1e3)
    return best


def bandwidth(cupy: Any) -> float:
    """Bytes per second of a device copy, read and written."""
    a = cupy.zeros(1 << 29, cupy.float32)
    b = cupy.empty_like(a)
    return 2 * a.nbytes / seconds(cupy, lambda: cupy.copyto(b, a))


def check(cupy: Any, program: cardan.Program, function: Any, dtype: str) -> float:
    """Largest error against the interpreter, relative to the largest value; huge angles too.

    These are even numbers, so that float32 adds angles of parallel axes without rounding."""
    rng = np.random.default_rng(0)
    given = {k: rng.normal(size=(1001, *s)) * 3 for k, s in program.inputs.items()}
    given["q"][:7] = 2 * np.round(given["q"][:7] * 5e5)
    given = {k: x.astype(dtype) for k, x in given.items()}
    expected = program.evaluate(**{k: x.astype(float) for k, x in given.items()})
    flat = {k: np.ascontiguousarray(x.reshape(len(x), -1).T) for k, x in given.items()}
    both = function(**given), function(layout="columns", **flat)
    listed = [x if isinstance(x, tuple) else (x,) for x in (expected, *both)]
    worst = 0.0
    for y, rows, columns in zip(*listed, strict=True):
        turned = cupy.asnumpy(columns).T.reshape(y.shape)
        for found in (cupy.asnumpy(rows), turned):
            worst = np.maximum(worst, np.abs(found - y).max() / np.abs(y).max())  # keeps NaN
    return float(worst)


_FMA = """
extern "C" __global__ void fma_peak(T *out, int steps)
{
    T x[8];
    for (int k = 0; k < 8; k++)
        x[k] = (T)(threadIdx.x + k);
    for (int i = 0; i < steps; i++)
        for (int k = 0; k < 8; k++)
            x[k] = x[k]*(T)0.999 + (T)0.001;
    T sum = 0;
    for (int k = 0; k < 8; k++)
        sum += x[k];
    out[blockIdx.x*blockDim.x + threadIdx.x] = sum;
}
"""


def arithmetic(cupy: Any, dtype: str) -> float:
    """Operations per second of multiply-adds in registers."""
    real = "float" if dtype == "float32" else "double"
    kernel = cupy.RawModule(code=_FMA.replace("T ", f"{real} ").replace("(T)", f"({real})"))
    run = kernel.get_function("fma_peak")
    blocks, threads, steps = 132 * 64, 256, 2048
    out = cupy.empty(blocks * threads, dtype)
    best = seconds(cupy, lambda: run((blocks,), (threads,), (out, np.int32(steps))), 5)
    return 2 * 8 * steps * blocks * threads / best


def main() -> None:
    import cupy

    copied = bandwidth(cupy)
    peak = {dtype: arithmetic(cupy, dtype) for dtype in ("float32", "float64")}
    head = {f"{dtype}, T operations/s": round(x / 1e12, 1) for dtype, x in peak.items()}
    print(json.dumps({"copy bandwidth, TB/s": round(copied / 1e12, 3), **head}), flush=True)
    for robot, model, options in _cases():
        outputs = options.pop("outputs", ())
        program = cardan.model(robot, model, **options)
        program = program.only(*outputs) if outputs else program
        for dtype in ("float32", "float64"):
            function = program.compile("cuda", dtype)
            error = check(cupy, program, function, dtype)
            for layout in ("columns", "rows"):
                figures = measure(cupy, program, function, dtype, layout, copied, peak[dtype])
                about = {
                    "robot": robot.name,
                    "model": " ".join((model, *outputs)),
                    "dtype": dtype,
                    "layout": layout,
                }
                print(json.dumps({**about, **figures, "error": f"{error:.1e}"}), flush=True)
                cupy.get_default_memory_pool().free_all_blocks()


def _cases() -> list[tuple[Any, str, dict[str, Any]]]:
    """A 7R, a 6R (rows of an even size), a humanoid on a floating base."""
    models = ("inverse-dynamics", "inertia-matrix", "direct-dynamics")
    arms = [(cardan.load(name), model, {}) for name in (ROBOT, "ur5") for model in models]
    arms += [(cardan.load(ROBOT), f"{model}-dynamics-derivatives", {}) for model in _BOTH]
    gradient = {"outputs": ("dqdd_dq", "dqdd_dqd")}  # what GRiD gives
    return [
        *arms, (cardan.load(ROBOT), "direct-dynamics-derivatives", gradient),
        (humanoid(), "inverse-dynamics", {"base": "given", "effort": "plain"}),
        (humanoid(), "direct-dynamics", {"effort": "plain"}),
    ]  # fmt: skip


def measure(
    cupy: Any, program: cardan.Program, function: Any, dtype: str, layout: str, copied: float,
    peak: float,
) -> dict[str, Any]:  # fmt: skip
    """Evaluations per second from and to device memory."""
    numbers = sum(map(prod, (*program.inputs.values(), *program.outputs.values())))
    count = min(STATES, 28 * STATES // numbers) // (1 if dtype == "float32" else 2)
    count -= count % 1024  # columns of whole lines of memory
    arrays = {}
    for name, shape in program.inputs.items():
        size = (prod(shape), count) if layout == "columns" else (count, *shape)
        arrays[name] = cupy.random.standard_normal(size).astype(dtype)
    out = function(layout=layout, **arrays)
    out = out if isinstance(out, tuple) else (out,)
    best = seconds(cupy, lambda: function(layout=layout, out=out, **arrays))
    moved = sum(x.nbytes for x in (*arrays.values(), *out))
    operations = program.cost.total + 19 * program.cost.trig
    return {
        "evaluations/s": f"{count / best:.3e}",
        "of copy bandwidth": round(moved / best / copied, 3),
        "of the arithmetic": round(operations * count / best / peak, 3),
        "of the nearer limit": round(max(moved / copied, operations * count / peak) / best, 3),
    }


if __name__ == "__main__":
    main()
