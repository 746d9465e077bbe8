"""The GPU against its own memory: evaluations per second and fraction of the copy bandwidth.

python -m bench.gpu       needs CuPy and a CUDA device; checks the results first
"""

from __future__ import annotations

import json
from math import prod
from typing import Any

import numpy as np

import cardan

ROBOT, STATES = "iiwa14", 1 << 24


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
    """Largest error against the interpreter, relative to the largest value; huge angles too."""
    rng = np.random.default_rng(0)
    given = {k: rng.normal(size=(1001, *s)) * 3 for k, s in program.inputs.items()}
    given["q"][:7] *= 1e6
    given = {k: x.astype(dtype) for k, x in given.items()}
    expected = program.evaluate(**{k: x.astype(float) for k, x in given.items()})
    rows = cupy.asnumpy(function(**given))
    flat = {k: np.ascontiguousarray(x.reshape(len(x), -1).T) for k, x in given.items()}
    columns = cupy.asnumpy(function(layout="columns", **flat)).T.reshape(expected.shape)
    scale = np.abs(expected).max()
    return float(max(np.abs(rows - expected).max(), np.abs(columns - expected).max()) / scale)


def main() -> None:
    import cupy

    copied = bandwidth(cupy)
    print(json.dumps({"copy bandwidth, TB/s": round(copied / 1e12, 3)}))
    for model in ("inverse-dynamics", "inertia-matrix", "direct-dynamics"):
        program = cardan.model(cardan.load(ROBOT), model)
        for dtype in ("float32", "float64"):
            function = program.compile("cuda", dtype)
            error = check(cupy, program, function, dtype)
            for layout in ("columns", "rows"):
                figures = measure(cupy, program, function, dtype, layout, copied)
                head = {"model": model, "dtype": dtype, "layout": layout}
                print(json.dumps({**head, **figures, "error": f"{error:.1e}"}), flush=True)
                cupy.get_default_memory_pool().free_all_blocks()


def measure(
    cupy: Any, program: cardan.Program, function: Any, dtype: str, layout: str, copied: float
) -> dict[str, Any]:
    """Evaluations per second from and to device memory."""
    count = STATES if dtype == "float32" else STATES // 2
    arrays = {}
    for name, shape in program.inputs.items():
        size = (prod(shape), count) if layout == "columns" else (count, *shape)
        arrays[name] = cupy.random.standard_normal(size).astype(dtype)
    out = function(layout=layout, **arrays)
    best = seconds(cupy, lambda: function(layout=layout, out=out, **arrays))
    moved = sum(x.nbytes for x in arrays.values()) + out.nbytes
    operations = program.cost.total + 19 * program.cost.trig
    return {
        "evaluations/s": f"{count / best:.3e}",
        "of copy bandwidth": round(moved / best / copied, 3),
        "TFLOP/s": round(operations * count / best / 1e12, 2),
    }


if __name__ == "__main__":
    main()
