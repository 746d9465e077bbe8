"""The CUDA text as C++: threads of the system stand for those of the device, a barrier for a warp.

Both kernels give what the interpreter gives, for any number of states, and write nowhere else."""

from __future__ import annotations

import ctypes
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.backends.agreement import case_of, outputs
from tests.backends.runners import checked_run, tool, write

import cardan
from cardan.emit import cuda_staged
from cardan.emit.cuda import row_numbers
from cardan.emit.cuda_staged import THREADS, staged
from cardan.program import Program

DEVICE = """
#include <algorithm>
#include <barrier>
#include <cmath>
#include <thread>
#include <vector>
#define __global__
#define __device__
#define __shared__
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline
struct Index { unsigned x; };
static thread_local Index threadIdx, blockIdx;
static Index blockDim, gridDim;
static thread_local std::barrier<> *warp;
static void __syncwarp() { warp->arrive_and_wait(); }
REAL tile[1 << 16];
using std::fabs; using std::min; using std::max;
"""
LAUNCH = """
extern "C" void launch_NAME(unsigned blocks, unsigned threads, long long count, PARAMETERS)
{
    blockDim.x = threads; gridDim.x = blocks;
    for (unsigned block = 0; block < blocks; block++) {
        std::vector<std::barrier<> *> warps;
        for (unsigned k = 0; k < threads; k += 32)
            warps.push_back(new std::barrier<>(32));
        std::vector<std::thread> all;
        for (unsigned k = 0; k < threads; k++)
            all.emplace_back([=] {
                threadIdx.x = k; blockIdx.x = block; warp = warps[k/32];
                NAME(count, ARGUMENTS);
            });
        for (auto &thread : all)
            thread.join();
        for (auto each : warps)
            delete each;
    }
}
"""


def built(program: Program, dtype: str, folder: Path) -> ctypes.CDLL:
    """Both kernels, with a launch of each."""
    real = "double" if dtype == "float64" else "float"
    text = program.emit("cuda", function="work", dtype=dtype)
    text = text.replace(f"extern __shared__ {real} tile[];", "")
    names = [*program.inputs, *program.outputs]
    typed = ", ".join(
        f"{'const ' if k < len(program.inputs) else ''}{real} *x{k}" for k in range(len(names))
    )
    parts = [DEVICE.replace("REAL", real), text]
    for kernel in ("work_batch", "work_rows"):
        launch = LAUNCH.replace("NAME", kernel).replace("PARAMETERS", typed)
        parts.append(launch.replace("ARGUMENTS", ", ".join(f"x{k}" for k in range(len(names)))))
    source = write(folder, "device.cpp", "\n".join(parts))
    library = folder / "device.so"
    flags = ["-std=c++20", "-fPIC", "-shared", "-pthread", "-Wno-unknown-pragmas"]
    checked_run([tool("g++"), *flags, source, "-o", library])
    return ctypes.CDLL(str(library))


PROGRAMS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "odd rows": ("panda", "inverse-dynamics", {"effort": "plain"}),
    "a matrix": ("panda", "inertia-matrix", {"effort": "plain"}),
    "rows of eight": ("tree", "inverse-dynamics", {"effort": "plain"}),
    "parameters": ("scara", "inverse-dynamics", {}),
    "two results": ("tree", "energies", {}),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_both_layouts(name: str, dtype: str, tmp_path: Path) -> None:
    robot, model, options = PROGRAMS[name]
    program = cardan.model(cardan.load(robot), model, **options)
    library = built(program, dtype, tmp_path)
    sizes = [prod(shape) for key, shape in program.inputs.items() if key != "p"]
    numbers = row_numbers(sizes, map(prod, program.outputs.values()))
    assert f"threads * {numbers} *" in program.emit("cuda")
    for count, blocks, threads in ((1, 1, 32), (31, 1, 64), (64, 2, 64), (101, 2, 32)):
        inputs = dict(case_of(name, program, count, count).inputs)
        inputs["q"][0] *= 1e6  # beyond the fast path
        inputs = {key: x.astype(dtype) for key, x in inputs.items()}
        expected = outputs(program, {key: x.astype(float) for key, x in inputs.items()})
        for layout in ("batch", "rows"):
            given = [
                np.ascontiguousarray(x.reshape(count, -1).T if layout == "batch" else x)
                if key != "p" else x
                for key, x in inputs.items()
            ]  # fmt: skip
            found = {k: np.full(y.size + 64, np.nan, dtype) for k, y in expected.items()}
            arrays = [ctypes.c_void_p(x.ctypes.data) for x in (*given, *found.values())]
            run = getattr(library, f"launch_work_{layout}")
            run(ctypes.c_uint(blocks), ctypes.c_uint(threads), ctypes.c_longlong(count), *arrays)
            for key, y in expected.items():
                flat, rest = found[key][: y.size], found[key][y.size :]
                assert np.isnan(rest).all()
                rows = flat.reshape(-1, count).T if layout == "batch" else flat.reshape(count, -1)
                apart = np.abs(rows - y.reshape(count, -1)).max() / np.abs(y).max()
                assert apart < (1e-12 if dtype == "float64" else 2e-4), (layout, count, key)


def staged_on_cpu(program: Program, dtype: str, folder: Path) -> tuple[Any, int]:
    """The kernel whose values wait in shared memory, with a launch; the slots of a thread."""
    real = "double" if dtype == "float64" else "float"
    text, slots = staged(program, "work", dtype) or ("", 0)
    text = text.replace(f"extern __shared__ {real} tile[];", "").replace("__launch_bounds__", "//")
    text = text.replace(f"//({THREADS})", "")
    names = [*program.inputs, *program.outputs]
    typed = ", ".join(f"{real} *x{k}" for k in range(len(names)))
    launch = LAUNCH.replace("NAME", "work_batch").replace("PARAMETERS", typed)
    launch = launch.replace("ARGUMENTS", ", ".join(f"x{k}" for k in range(len(names))))
    source = write(folder, "staged.cpp", "\n".join([DEVICE.replace("REAL", real), text, launch]))
    library = folder / "staged.so"
    flags = ["-std=c++20", "-fPIC", "-shared", "-pthread", "-w"]
    checked_run([tool("g++"), *flags, source, "-o", library])
    return ctypes.CDLL(str(library)).launch_work_batch, slots


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_values_wait_in_shared_memory(
    dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With so little room that values wait in both memories; angles of any size."""
    monkeypatch.setattr(cuda_staged, "_ROOM", {dtype: (12, 40)})
    program = cardan.model(cardan.load("iiwa14"), "direct-dynamics")
    launch, slots = staged_on_cpu(program, dtype, tmp_path)
    assert slots == 40
    rng = np.random.default_rng(3)
    count = 300
    given = {x: rng.normal(size=(count, *shape)) for x, shape in program.inputs.items()}
    given["q"][::7] *= 1e6
    given = {x: y.astype(dtype) for x, y in given.items()}
    expected = program.evaluate(**{x: y.astype(float) for x, y in given.items()})
    arrays = [np.ascontiguousarray(x.T) for x in given.values()]
    result = np.full((7, count), np.nan, dtype)
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (*arrays, result)]
    launch(2, THREADS, ctypes.c_longlong(count), *pointers)
    error = np.abs(result.T - expected).max() / np.abs(expected).max()
    assert error < (1e-13 if dtype == "float64" else 1e-4)


def test_programs_that_turn_more_than_angles_are_not_staged() -> None:
    assert staged(cardan.model(cardan.load("rx90"), "inverse-dynamics"), "work", "float64") is None
